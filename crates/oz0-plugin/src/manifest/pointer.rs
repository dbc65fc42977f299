//! JSON pointers (RFC 6901): into a call's arguments, and at the unstable places of a function's listing.

use oz0_diagnostic::Check;
use oz0_listing::Pointer;

use crate::check::OZ_L002;
use crate::decode::text::{Text, pattern};

/// A JSON pointer into a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPointer {
    text: String,
    pointer: Pointer,
}

impl JsonPointer {
    /// The pointer.
    pub fn pointer(&self) -> &Pointer {
        &self.pointer
    }
}

impl AsRef<str> for JsonPointer {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl Text for JsonPointer {
    const WHAT: &'static str = "a JSON pointer";
    const RULE: &'static str =
        "write each step after a `/`, such as `/fields/description`, with `~` as `~0` and `/` as `~1`";
    const CHECK: &'static Check = &OZ_L002;
    pattern!(r"^(/([^~/]|~[01])*)*$");

    fn parse(text: &str) -> Result<Self, String> {
        let pointer = text.parse().map_err(|_| "is not a JSON pointer".to_owned())?;
        Ok(Self { text: text.to_owned(), pointer })
    }
}

/// A place of a function's listing that differs from start to start: a keyword that only informs, of a subschema.
///
/// It is cut before the listing is hashed, so it must not carry what a call depends on, nor the text that a function is
/// approved by: it ends at `default`, `examples` or `description` of a subschema below `properties`. An entry of
/// `properties` (or `$defs`, `patternProperties`, `dependentSchemas`) that happens to have such a name is a parameter,
/// not a keyword.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnstablePointer(Pointer);

impl UnstablePointer {
    /// The pointer, from the top of the function's listing.
    pub fn pointer(&self) -> &Pointer {
        &self.0
    }
}

/// Keywords whose value is one subschema.
const SCHEMA: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value is an array of subschemas.
const SCHEMAS: &[&str] = &["allOf", "anyOf", "items", "oneOf", "prefixItems"];
/// Keywords whose value is an object of subschemas by names that are not keywords.
const NAMED: &[&str] = &[
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
];
/// What may move: keywords that a call does not depend on.
const MOVABLE: &[&str] = &["default", "description", "examples"];

/// Why a pointer may not be declared unstable, if it may not.
fn fault(segments: &[&str]) -> Option<String> {
    let (top, mut rest) = segments.split_first()?;
    if !matches!(*top, "inputSchema" | "outputSchema") {
        return Some(format!("begins at `{top}`, not at `inputSchema` or `outputSchema`"));
    }
    let mut below_properties = false;
    loop {
        let Some((keyword, after)) = rest.split_first() else {
            return Some("ends at a whole subschema".to_owned());
        };
        if after.is_empty() {
            return if !MOVABLE.contains(keyword) {
                Some(format!("ends at `{keyword}`"))
            } else if below_properties {
                None
            } else {
                Some("is not below `properties`".to_owned())
            };
        }
        let index = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        rest = if SCHEMAS.contains(keyword) && index(after[0]) {
            &after[1..]
        } else if NAMED.contains(keyword) {
            below_properties |= *keyword == "properties";
            if after.len() == 1 {
                return Some(format!("ends at the entry `{}` of `{keyword}`", after[0]));
            }
            &after[1..]
        } else if SCHEMA.contains(keyword) {
            after
        } else {
            return Some(format!("goes through `{keyword}`, which holds no subschema"));
        };
    }
}

impl Text for UnstablePointer {
    const WHAT: &'static str = "a JSON pointer into a function's listing";
    const RULE: &'static str = "point at the `default`, `examples` or `description` of a subschema below `properties`, \
                                such as `/inputSchema/properties/at/default`";
    const CHECK: &'static Check = &OZ_L002;
    pattern!(r"^(/([^~/]|~[01])*)+$");

    fn parse(text: &str) -> Result<Self, String> {
        let pointer: Pointer = text.parse().map_err(|_| "is not a JSON pointer".to_owned())?;
        let segments: Vec<String> =
            text.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        match fault(&segments) {
            Some(why) => Err(format!("cannot be declared unstable: it {why}")),
            None => Ok(Self(pointer)),
        }
    }
}
