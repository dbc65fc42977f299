//! Which parts of a listing may be declared unstable.
//!
//! Some servers describe themselves differently at every start: a default that is the present time,
//! examples in the order of a hash map. Pinned as they are, their functions would be refused for
//! ever. A plugin can declare such places, as JSON pointers into the listing, and they are cut
//! before the listing is escaped and hashed: neither pinned nor shown to anybody.
//!
//! What is cut can change without approval, so it must not matter to a call and cannot be what
//! people approve a function by. [`check`] allows the keywords `default`, `examples` and
//! `description` of a subschema below `properties`, and nothing else: no constraint, no property
//! (even one that is called `default`), and never the function's own description.

use crate::Pointer;
use crate::json::{Json, Object, array_index};
use crate::schema::{SCHEMAS, Under, under};

/// Why a pointer may not be declared unstable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnstableError {
    /// It points at the listing itself, its name, title, description or annotations.
    #[error(
        "an unstable pointer starts with `/inputSchema/` or `/outputSchema/`: a function's own \
         name, title, description and annotations are always pinned"
    )]
    NotInASchema,
    /// It points at an entry of a map of schemas, such as a property.
    #[error(
        "an unstable pointer ends at the keyword `default`, `examples` or `description` of a \
         schema, and here that is the name of an entry of `{0}`"
    )]
    Entry(&'static str),
    /// It points at another keyword, or into the value of one.
    #[error(
        "an unstable pointer ends at the keyword `default`, `examples` or `description` of a schema"
    )]
    NotAKeyword,
    /// It points at a keyword of a schema that describes no property.
    #[error("an unstable pointer leads through an entry of `properties`")]
    NotBelowProperties,
}

/// Whether the pointer may be declared unstable.
pub fn check(pointer: &Pointer) -> Result<(), UnstableError> {
    match walk(pointer.segments())? {
        end if end == pointer.segments().len() => Ok(()),
        _ => Err(UnstableError::NotAKeyword),
    }
}

/// The pointer to declare so that what stands at `pointer` is cut: itself, or the keyword around
/// it (`…/default` for a change at `…/default/3`). None if it may not be cut.
pub fn nearest(pointer: &Pointer) -> Option<Pointer> {
    let end = walk(pointer.segments()).ok()?;
    Some(Pointer::of(&pointer.segments()[..end]))
}

/// How many segments lead to the first keyword on the way that may be cut.
fn walk(segments: &[String]) -> Result<usize, UnstableError> {
    let mut rest = segments.iter().enumerate();
    if !rest.next().is_some_and(|(_, first)| SCHEMAS.contains(&first.as_str())) {
        return Err(UnstableError::NotInASchema);
    }
    let mut below_properties = false;
    while let Some((at, keyword)) = rest.next() {
        match under(keyword) {
            Under::Value if is_cuttable(keyword) => {
                return if below_properties {
                    Ok(at + 1)
                } else {
                    Err(UnstableError::NotBelowProperties)
                };
            }
            Under::Value => return Err(UnstableError::NotAKeyword),
            Under::Named => {
                let map = named(keyword);
                // Its end is the map itself or an entry of it.
                match rest.next() {
                    Some((at, _)) if at + 1 == segments.len() => {
                        return Err(UnstableError::Entry(map));
                    }
                    Some(_) => below_properties |= keyword == "properties",
                    None => return Err(UnstableError::NotAKeyword),
                }
            }
            Under::List => {
                let item = rest.next().and_then(|(_, item)| array_index(item));
                item.ok_or(UnstableError::NotAKeyword)?;
            }
            Under::Schema => {
                let is_item = |segment: &str| array_index(segment).is_some();
                if keyword == "items" && rest.clone().next().is_some_and(|(_, next)| is_item(next))
                {
                    rest.next();
                }
            }
        }
    }
    Err(UnstableError::NotAKeyword)
}

fn is_cuttable(keyword: &str) -> bool {
    matches!(keyword, "default" | "examples" | "description")
}

fn named(keyword: &str) -> &'static str {
    match keyword {
        "properties" => "properties",
        "patternProperties" => "patternProperties",
        "dependentSchemas" => "dependentSchemas",
        "dependencies" => "dependencies",
        "definitions" => "definitions",
        _ => "$defs",
    }
}

/// Takes what stands at the pointer out of a function's members, if anything does. A segment names
/// a member by its name as the server sent it, or as it is shown.
pub(crate) fn cut<S: AsRef<str>>(members: &mut Object<S>, pointer: &Pointer) {
    let Some((last, way)) = pointer.segments().split_last() else {
        return;
    };
    let mut object = members;
    let mut way = way.iter();
    while let Some(segment) = way.next() {
        let Some(mut value) = member_mut(object, segment) else {
            return;
        };
        while let Json::Array(items) = value {
            let index = way.next().and_then(|segment| array_index(segment));
            match index.and_then(|index| items.get_mut(index)) {
                Some(item) => value = item,
                None => return,
            }
        }
        match value {
            Json::Object(next) => object = next,
            _ => return,
        }
    }
    object.retain(|name| name.as_ref() != last);
}

fn member_mut<'o, S: AsRef<str>>(
    object: &'o mut Object<S>,
    segment: &str,
) -> Option<&'o mut Json<S>> {
    object
        .values_mut()
        .find(|(name, _)| {
            let name = name.as_ref();
            name == segment || crate::escape::text(name) == segment
        })
        .map(|(_, value)| value)
}
