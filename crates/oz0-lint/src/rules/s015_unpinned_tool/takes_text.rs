//! Whether an input schema gives the argument at a pointer as a string.
//!
//! A pointer is pinned when every server that keeps the schema takes text there. An object that names no properties and takes
//! any key takes it too; one that names its properties takes what it names and nothing else, whatever it says of the rest.

use oz0_listing::Pointer;
use oz0_listing::json::{Json, Object};

/// How many references and branches one question may follow: schemas may refer to themselves.
const STEPS: usize = 10_000;

/// What makes a schema of several.
const BRANCHES: [&str; 3] = ["anyOf", "oneOf", "allOf"];

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
            || BRANCHES.into_iter().any(|keyword| {
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
        match members.get("additionalProperties") {
            Some(Json::Bool(true)) => !self.names(members, depth),
            Some(Json::Object(schema)) if schema.is_empty() => !self.names(members, depth),
            // Text there must fit this schema, so the server takes it, and with `properties` beside it as well.
            Some(schema @ Json::Object(_)) => self.takes(schema, rest, depth + 1),
            Some(_) => false,
            None => {
                let is_closed = members.get("unevaluatedProperties") == Some(&Json::Bool(false));
                says_type(members, "object") && !is_closed && !self.names(members, depth)
            }
        }
    }

    /// Whether a schema names properties, itself or in what it refers to and branches into: such an object is not open.
    fn names(&mut self, members: &'s Object, depth: usize) -> bool {
        if self.steps == 0 || depth > Self::DEPTH {
            return false;
        }
        self.steps -= 1;
        let properties = members.get("properties").and_then(Json::as_object);
        if properties.is_some_and(|properties| !properties.is_empty())
            || members.get("patternProperties").is_some()
        {
            return true;
        }
        let referred = self.referred(members).and_then(Json::as_object);
        if referred.is_some_and(|target| self.names(target, depth + 1)) {
            return true;
        }
        BRANCHES.into_iter().any(|keyword| {
            let branches = members.get(keyword).and_then(Json::as_array).unwrap_or_default();
            let mut branches = branches.iter().filter_map(Json::as_object);
            branches.any(|branch| self.names(branch, depth + 1))
        })
    }

    /// What a local `$ref` leads to.
    fn referred(&self, members: &Object) -> Option<&'s Json> {
        let reference = members.get("$ref").and_then(Json::as_str)?;
        let pointer: Pointer = decoded(reference.strip_prefix('#')?)?.parse().ok()?;
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

/// A URI's fragment with its `%24` and the like decoded, as RFC 6901, section 6 has a pointer there.
fn decoded(fragment: &str) -> Option<String> {
    let mut parts = fragment.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let digits =
            part.get(..2).filter(|digits| digits.bytes().all(|c| c.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend(part[2..].bytes());
    }
    String::from_utf8(bytes).ok()
}
