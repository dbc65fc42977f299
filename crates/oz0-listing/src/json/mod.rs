//! JSON as listings need it: read strictly, written in one way.
//!
//! Two documents that two readers could understand differently must not share a hash, so
//! [`parse`] takes only I-JSON (RFC 7493) and, unlike `serde_json`, refuses a member name that
//! repeats: every reader that keeps the last one is silently told something else than a reader that
//! keeps the first. [`Json::canonical`] writes RFC 8785, the JSON Canonicalization Scheme.
//!
//! Numbers are IEEE 754 doubles, as RFC 8785 has them: `1`, `1.0` and `1e0` are one number, and an
//! integer above 2^53 is the double next to it, in the hash and for everyone who reads it.
//!
//! A document either owns its strings ([`Json`]) or borrows those without escapes from the text
//! that was parsed (`Json<Cow<str>>`), which is what makes hashing a listing cheap.

mod convert;
mod parse;
mod write;

use std::borrow::Cow;
use std::cmp::Ordering;

pub use parse::{JsonError, JsonErrorKind, MAX_DEPTH, parse};
pub(crate) use parse::{locate, parse_borrowed, parse_noting_plain};

use crate::Pointer;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Json<S = String> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number; always finite, never negative zero.
    Number(f64),
    /// A string.
    String(S),
    /// An array.
    Array(Vec<Json<S>>),
    /// An object.
    Object(Object<S>),
}

/// The members of an object, sorted by their names' UTF-16 code units (RFC 8785 section 3.2.3),
/// each name once.
#[derive(Debug, Clone, PartialEq)]
pub struct Object<S = String>(Vec<(S, Json<S>)>);

/// Two members of one object have this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repeated<S>(pub(crate) S);

impl<S: AsRef<str> + Clone> Object<S> {
    pub(crate) fn from_members(mut members: Vec<(S, Json<S>)>) -> Result<Self, Repeated<S>> {
        let order = |a: &(S, Json<S>), b: &(S, Json<S>)| utf16_order(a.0.as_ref(), b.0.as_ref());
        if !members.is_sorted_by(|a, b| order(a, b) == Ordering::Less) {
            members.sort_unstable_by(order);
            let repeated = members.windows(2).find(|pair| pair[0].0.as_ref() == pair[1].0.as_ref());
            if let Some(pair) = repeated {
                return Err(Repeated(pair[0].0.clone()));
            }
        }
        Ok(Self(members))
    }
}

impl<S: AsRef<str>> Object<S> {
    /// The value of a member.
    pub fn get(&self, name: &str) -> Option<&Json<S>> {
        self.position(name).map(|at| &self.0[at].1)
    }

    /// The members in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Json<S>)> + DoubleEndedIterator {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// The names in their order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> + DoubleEndedIterator {
        self.0.iter().map(|(name, _)| name.as_ref())
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.0.binary_search_by(|(other, _)| utf16_order(other.as_ref(), name)).ok()
    }
}

impl<S> Object<S> {
    pub(crate) fn into_members(self) -> Vec<(S, Json<S>)> {
        self.0
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&S) -> bool) {
        self.0.retain(|(name, _)| keep(name));
    }

    /// The values, each with its name; the names stay as they are, so the order does.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = (&S, &mut Json<S>)> {
        self.0.iter_mut().map(|(name, value)| (&*name, value))
    }
}

impl Object {
    /// Sets a member, in the place of one that has its name.
    pub fn insert(&mut self, name: impl Into<String>, value: Json) {
        let name = name.into();
        match self.0.binary_search_by(|(other, _)| utf16_order(other, &name)) {
            Ok(at) => self.0[at].1 = value,
            Err(at) => self.0.insert(at, (name, value)),
        }
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        self.position(name).map(|at| self.0.remove(at).1)
    }
}

impl<S> Default for Object<S> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Of two members with one name, the later one stays.
impl<N: Into<String>> FromIterator<(N, Json)> for Object {
    fn from_iter<I: IntoIterator<Item = (N, Json)>>(members: I) -> Self {
        let mut members: Vec<_> =
            members.into_iter().map(|(name, value)| (name.into(), value)).collect();
        members.sort_by(|a: &(String, Json), b| utf16_order(&a.0, &b.0));
        members.reverse();
        members.dedup_by(|later, earlier| later.0 == earlier.0);
        members.reverse();
        Self(members)
    }
}

/// The order of two strings' UTF-16 code units, without encoding them.
///
/// It is the order of code points, and so of UTF-8 bytes, except that the surrogates of the
/// supplementary planes (D800 to DFFF; UTF-8 leads F0 to F4) come before U+E000 to U+FFFF (leads
/// EE and EF).
pub(crate) fn utf16_order(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    match a.iter().zip(b).find(|(x, y)| x != y) {
        None => a.len().cmp(&b.len()),
        Some((&x, &y)) => match (x >= 0xEE && y >= 0xEE, x >= 0xF0, y >= 0xF0) {
            (true, false, true) => Ordering::Greater,
            (true, true, false) => Ordering::Less,
            _ => x.cmp(&y),
        },
    }
}

impl<S: AsRef<str>> Json<S> {
    /// The text, if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text.as_ref()),
            _ => None,
        }
    }

    /// The members, if it is an object.
    pub fn as_object(&self) -> Option<&Object<S>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The items, if it is an array.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(value) => Some(*value),
            _ => None,
        }
    }

    /// A member of it, if it is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    /// What stands at a pointer.
    pub fn at(&self, pointer: &Pointer) -> Option<&Self> {
        pointer.segments().iter().try_fold(self, |value, segment| match value {
            Self::Object(object) => object.get(segment),
            Self::Array(items) => items.get(array_index(segment)?),
            _ => None,
        })
    }

    /// What kind of value it is, as a noun phrase: "an object", "a string", …
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    /// The canonical form (RFC 8785).
    pub fn canonical(&self) -> String {
        self.canonical_within(256)
    }

    /// As [`Self::canonical`], into a text that has room for so many bytes from the start.
    pub(crate) fn canonical_within(&self, capacity: usize) -> String {
        write::canonical(self, capacity)
    }

    /// The same members in the same order with two spaces a level, for files that people read; no
    /// newline at the end.
    pub fn pretty(&self) -> String {
        write::pretty(self)
    }
}

impl Json<Cow<'_, str>> {
    /// The same value with strings of its own.
    pub fn into_owned(self) -> Json {
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(value),
            Self::Number(value) => Json::Number(value),
            Self::String(text) => Json::String(text.into_owned()),
            Self::Array(items) => Json::Array(items.into_iter().map(Json::into_owned).collect()),
            Self::Object(Object(members)) => Json::Object(Object(
                members
                    .into_iter()
                    .map(|(name, value)| (name.into_owned(), value.into_owned()))
                    .collect(),
            )),
        }
    }
}

/// An index as RFC 6901 writes it: no sign, no leading zero.
pub(crate) fn array_index(segment: &str) -> Option<usize> {
    let canonical = segment == "0" || !segment.starts_with(['0', '+']);
    canonical.then(|| segment.parse().ok())?
}
