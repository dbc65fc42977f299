//! Whether an input schema gives the argument at a pointer as a string.
//!
//! A pointer is pinned when every server that keeps the schema takes text there. An object that names no properties and takes
//! any key takes it too; one that names its properties takes what it names and nothing else, whatever it says of the rest.

use oz0_listing::Pointer;
use oz0_listing::json::{Json, Object};

/// How many references and branches one question may follow: schemas may refer to themselves.
const STEPS: usize = 10_000;

/// Whether `schema` gives the argument at `pointer` as a string: `type: string`, or a nullable one. A local `$ref` and a
/// branch of `anyOf`, `oneOf` or `allOf` count; a reference to another document does not.
pub(super) fn takes_text(schema: &Json, pointer: &Pointer) -> bool {
    let mut walk = Walk { root: schema, steps: STEPS };
    walk.takes(schema, pointer.segments(), 0)
}

struct Walk<'s> {
    root: &'s Json,
    steps: usize,
}

impl<'s> Walk<'s> {
    /// How deep references may lead into each other.
    const DEPTH: usize = 64;

    fn takes(&mut self, schema: &'s Json, path: &[String], depth: usize) -> bool {
        let Json::Object(members) = schema else { return false };
        if self.steps == 0 || depth > Self::DEPTH {
            return false;
        }
        self.steps -= 1;
        let here = match path.split_first() {
            None => is_text(members),
            Some((first, rest)) => self.step(members, first, rest, depth),
        };
        here || self.referred(members).is_some_and(|target| self.takes(target, path, depth + 1))
            || ["anyOf", "oneOf", "allOf"].into_iter().any(|keyword| {
                let branches = members.get(keyword).and_then(Json::as_array).unwrap_or_default();
                branches.iter().any(|branch| self.takes(branch, path, depth + 1))
            })
    }

    /// One step of the path, into a member or an item.
    fn step(&mut self, members: &'s Object, first: &str, rest: &[String], depth: usize) -> bool {
        let named = members.get("properties").and_then(Json::as_object);
        if let Some(schema) = named.and_then(|named| named.get(first)) {
            return self.takes(schema, rest, depth + 1);
        }
        let items = members.get("items").filter(|_| is_index(first));
        if items.is_some_and(|items| self.takes(items, rest, depth + 1)) {
            return true;
        }
        let names_none =
            named.is_none_or(Object::is_empty) && members.get("patternProperties").is_none();
        match members.get("additionalProperties") {
            Some(Json::Bool(any)) => *any && names_none,
            Some(Json::Object(schema)) if schema.is_empty() => names_none,
            // Text there must fit this schema, so the server takes it, and with `properties` beside it as well.
            Some(schema @ Json::Object(_)) => self.takes(schema, rest, depth + 1),
            Some(_) => false,
            None => names_none && says_type(members, "object"),
        }
    }

    /// What a local `$ref` leads to.
    fn referred(&self, members: &Object) -> Option<&'s Json> {
        let reference = members.get("$ref").and_then(Json::as_str)?;
        let pointer: Pointer = reference.strip_prefix('#')?.parse().ok()?;
        self.root.at(&pointer)
    }
}

fn is_index(segment: &str) -> bool {
    !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a schema's own `type` is a string, or a string and null.
fn is_text(members: &Object) -> bool {
    match members.get("type") {
        Some(Json::String(name)) => name == "string",
        Some(Json::Array(names)) => {
            let mut names = names.iter().filter_map(Json::as_str);
            says_type(members, "string") && names.all(|name| matches!(name, "string" | "null"))
        }
        _ => false,
    }
}

fn says_type(members: &Object, wanted: &str) -> bool {
    match members.get("type") {
        Some(Json::String(name)) => name == wanted,
        Some(Json::Array(names)) => names.iter().any(|name| name.as_str() == Some(wanted)),
        _ => false,
    }
}
