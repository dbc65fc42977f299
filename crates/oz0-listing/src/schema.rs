//! Where subschemas stand in a JSON Schema, and what in a schema its server compares arguments
//! with.
//!
//! MCP schemas are JSON Schema 2020-12 by default, and older drafts are met in the wild, so the
//! table knows the keywords of both.

use crate::escape;
use crate::json::Json;

/// What stands under a keyword of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Under {
    /// One schema; in older drafts `items` can be a list of them.
    Schema,
    /// A list of schemas.
    List,
    /// Schemas by names (or patterns of names) that the schema's author chose.
    Named,
    /// No schema: a constraint, an annotation, or a keyword that nobody here knows.
    Value,
}

pub(crate) fn under(keyword: &str) -> Under {
    match keyword {
        "additionalItems"
        | "additionalProperties"
        | "contains"
        | "contentSchema"
        | "else"
        | "if"
        | "items"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Under::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Under::List,
        "$defs" | "definitions" | "dependencies" | "dependentSchemas" | "patternProperties"
        | "properties" => Under::Named,
        _ => Under::Value,
    }
}

/// The members of a listing that are schemas.
pub(crate) const SCHEMAS: [&str; 2] = ["inputSchema", "outputSchema"];

/// Why arguments that fit this schema as it is shown would not fit it as its server has it: the
/// first place where an invisible code point stands in text that values are compared with. `schema`
/// is as the server sent it, not escaped.
pub(crate) fn uncallable<S: AsRef<str>>(schema: &Json<S>) -> Option<String> {
    let Json::Object(members) = schema else {
        return None;
    };
    members.iter().find_map(|(keyword, value)| match keyword {
        "const" | "enum" | "pattern" | "required" => find_invisible(value).map(|text| {
            let what = if keyword == "required" { "a property's name" } else { keyword };
            reason(what, text)
        }),
        "dependentRequired" => find_invisible(value).map(|text| reason("a property's name", text)),
        _ => match (under(keyword), value) {
            (Under::Named, Json::Object(named)) => named.iter().find_map(|(name, schema)| {
                let is_property = !matches!(keyword, "$defs" | "definitions");
                if is_property && escape::has_invisible(name) {
                    return Some(reason("a property's name", name));
                }
                // `dependencies` of older drafts names properties in arrays.
                match schema {
                    Json::Array(_) => {
                        find_invisible(schema).map(|text| reason("a property's name", text))
                    }
                    schema => uncallable(schema),
                }
            }),
            // An unknown keyword may hold schemas that a `$ref` reaches; what only describes
            // (`default`, `examples`, `description`, …) is compared with nothing.
            (Under::Value, _) if is_annotation(keyword) => None,
            (_, Json::Array(items)) => items.iter().find_map(uncallable),
            (_, value) => uncallable(value),
        },
    })
}

/// Keywords that say something about a value and allow or refuse none.
pub(crate) fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "$comment"
            | "$schema"
            | "default"
            | "deprecated"
            | "description"
            | "example"
            | "examples"
            | "readOnly"
            | "title"
            | "writeOnly"
    )
}

fn reason(what: &str, text: &str) -> String {
    format!(
        "{what} in its schema holds an invisible character: `{}`",
        escape::line_within(text, 128)
    )
}

fn find_invisible<S: AsRef<str>>(value: &Json<S>) -> Option<&str> {
    match value {
        Json::String(text) => Some(text.as_ref()).filter(|text| escape::has_invisible(text)),
        Json::Array(items) => items.iter().find_map(find_invisible),
        Json::Object(members) => members.iter().find_map(|(name, value)| {
            if escape::has_invisible(name) { Some(name) } else { find_invisible(value) }
        }),
        Json::Null | Json::Bool(_) | Json::Number(_) => None,
    }
}
