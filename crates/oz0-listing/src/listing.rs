//! One function's listing.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::json::{self, Json, JsonError, MAX_DEPTH, Object, Repeated};
use crate::unstable::{self, UnstableError};
use crate::{ListingHash, Pointer, escape, schema};

/// The members of a function that are pinned. Nothing else that a server sends with one (icons,
/// `_meta`, `execution`, unknown members) is, and so nothing else reaches a model, a person or a
/// client.
pub const MEMBERS: [&str; 6] =
    ["annotations", "description", "inputSchema", "name", "outputSchema", "title"];

/// How many bytes a canonical form gets from the start, at most.
const ROOM: usize = 16 * 1024;

/// What a server says of one function, in the form that is hashed, shown and served: cut to
/// [`MEMBERS`], escaped, canonical.
#[derive(Clone)]
pub struct Listing {
    canonical: String,
    hash: ListingHash,
    name: String,
    uncallable: Option<String>,
    /// Read from `canonical` when somebody asks: most listings are only hashed and compared.
    value: OnceLock<Box<Json>>,
}

/// Why a function cannot be listed. The function is left out, and the others of its tool are not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unlistable {
    /// What the server sent is not JSON that every reader understands in one way.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// It is JSON, and no object.
    #[error("a function is an object, and this is {0}")]
    NotAnObject(&'static str),
    /// It has no `name` that is a string.
    #[error("it has no `name` that is a string")]
    NoName,
    /// Two members of one object would have one name; as it is shown, bounded.
    #[error("two members of one object are both `{0}` once invisible characters are written out")]
    SameOnceEscaped(String),
    /// A pointer that is declared unstable may not be.
    #[error("`{pointer}` cannot be declared unstable: {error}")]
    Unstable {
        /// The pointer; escaped for one line and bounded.
        pointer: String,
        /// What is wrong with it.
        error: UnstableError,
    },
}

impl Listing {
    /// Reads one function of a `tools/list` answer.
    ///
    /// `raw` is the function's own JSON as the server sent it; repeated members are looked for in
    /// all of it, also in what is not listed. `unstable` are the places that its plugin declares
    /// unstable ([`unstable`]); one that is not there is no error, since what changes may be absent.
    pub fn read(raw: &str, unstable: &[Pointer]) -> Result<Self, Unlistable> {
        Raw::parse(raw)?.list(unstable)
    }

    /// A listing that was written before, such as one in a file: refused unless it is in its final
    /// form. `uncallable` is what was found when it was read from its server, since the escaped
    /// form cannot tell.
    pub(crate) fn reread(value: Json, uncallable: Option<String>) -> Result<Self, NotFinal> {
        let Json::Object(members) = &value else {
            return Err(NotFinal::Unlistable(Unlistable::NotAnObject(value.kind())));
        };
        if let Some(other) = members.names().find(|name| !MEMBERS.contains(name)) {
            return Err(NotFinal::Member(other.to_owned()));
        }
        let Some(name) = members.get("name").and_then(Json::as_str) else {
            return Err(NotFinal::Unlistable(Unlistable::NoName));
        };
        if has_invisible(&value) {
            return Err(NotFinal::NotEscaped);
        }
        let name = name.to_owned();
        let listing = Self::of(&value, 256, name, uncallable);
        Ok(Self { value: OnceLock::from(Box::new(value)), ..listing })
    }

    fn of<S: AsRef<str>>(
        value: &Json<S>,
        room: usize,
        name: String,
        uncallable: Option<String>,
    ) -> Self {
        let canonical = value.canonical_within(room);
        let hash = ListingHash::of_canonical(&canonical);
        Self { canonical, hash, name, uncallable, value: OnceLock::new() }
    }

    /// The hash of [`Self::canonical`].
    pub fn hash(&self) -> ListingHash {
        self.hash
    }

    /// The listing as RFC 8785 writes it: the bytes that are hashed.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// The listing as a value: always an object, of no other members than [`MEMBERS`].
    pub fn value(&self) -> &Json {
        self.value.get_or_init(|| {
            Box::new(json::parse(&self.canonical).expect("canonical JSON of parsed JSON parses"))
        })
    }

    /// The function's name as its server gives it, escaped.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Why the function cannot be called though it is listed: an invisible code point in a property
    /// name, an `enum`, a `const` or a `pattern` of its schemas. A caller that goes by the listing
    /// would send the escaped form, and its server knows another.
    pub fn uncallable(&self) -> Option<&str> {
        self.uncallable.as_deref()
    }
}

impl PartialEq for Listing {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.uncallable == other.uncallable
    }
}

impl Eq for Listing {}

impl std::fmt::Debug for Listing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listing")
            .field("canonical", &self.canonical)
            .field("hash", &self.hash)
            .field("uncallable", &self.uncallable)
            .finish_non_exhaustive()
    }
}

/// Why a listing that was written before is not one that is written here.
pub(crate) enum NotFinal {
    Unlistable(Unlistable),
    Member(String),
    NotEscaped,
}

/// A function that parsed, before it is listed: its name says which declarations apply to it.
pub(crate) struct Raw<'a> {
    members: Object<Cow<'a, str>>,
    /// How long its text is.
    len: usize,
    /// Every string in it is certainly visible.
    plain: bool,
}

impl<'a> Raw<'a> {
    pub(crate) fn parse(raw: &'a str) -> Result<Self, Unlistable> {
        let (value, plain) = json::parse_noting_plain(raw, MAX_DEPTH)?;
        match value {
            Json::Object(members) => {
                let raw = Self { members, len: raw.len(), plain };
                raw.name().ok_or(Unlistable::NoName)?;
                Ok(raw)
            }
            other => Err(Unlistable::NotAnObject(other.kind())),
        }
    }

    /// The name as the server gives it, not escaped.
    pub(crate) fn name(&self) -> Option<&str> {
        self.members.get("name").and_then(Json::as_str)
    }

    pub(crate) fn list(self, unstable: &[Pointer]) -> Result<Listing, Unlistable> {
        let Self { mut members, len, plain } = self;
        members.retain(|name| MEMBERS.contains(&name.as_ref()));
        for pointer in unstable {
            unstable::check(pointer).map_err(|error| Unlistable::Unstable {
                pointer: escape::line_within(&pointer.to_string(), 256).into_owned(),
                error,
            })?;
            unstable::cut(&mut members, pointer);
        }
        let mut value = Json::Object(members);
        let mut uncallable = None;
        if !plain && has_invisible(&value) {
            uncallable = schema::SCHEMAS
                .iter()
                .find_map(|member| value.get(member).and_then(schema::uncallable));
            value = escaped(value)?;
        }
        let name = value.get("name").and_then(Json::as_str).unwrap_or_default().to_owned();
        // Most of a function is listed; but what is dropped can be as long as its server likes.
        Ok(Listing::of(&value, len.min(ROOM), name, uncallable))
    }
}

fn has_invisible<S: AsRef<str>>(value: &Json<S>) -> bool {
    match value {
        Json::String(text) => escape::has_invisible(text.as_ref()),
        Json::Array(items) => items.iter().any(has_invisible),
        Json::Object(members) => {
            members.iter().any(|(name, value)| escape::has_invisible(name) || has_invisible(value))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

/// Every string with its invisible code points written out, the names of members included.
fn escaped<'a>(value: Json<Cow<'a, str>>) -> Result<Json<Cow<'a, str>>, Unlistable> {
    let text = |text: Cow<'a, str>| match escape::text(&text) {
        Cow::Owned(escaped) => Cow::Owned(escaped),
        Cow::Borrowed(_) => text,
    };
    Ok(match value {
        Json::String(string) => Json::String(text(string)),
        Json::Array(items) => {
            Json::Array(items.into_iter().map(escaped).collect::<Result<_, _>>()?)
        }
        Json::Object(members) => {
            let members = members
                .into_members()
                .into_iter()
                .map(|(name, value)| Ok((text(name), escaped(value)?)))
                .collect::<Result<_, Unlistable>>()?;
            Json::Object(Object::from_members(members).map_err(|Repeated(name)| {
                Unlistable::SameOnceEscaped(escape::line_within(&name, 128).into_owned())
            })?)
        }
        plain @ (Json::Null | Json::Bool(_) | Json::Number(_)) => plain,
    })
}
