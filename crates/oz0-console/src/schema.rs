//! A JSON Schema as rows that people read: each parameter with its type, what it may be, and what it is for.

use oz0_listing::escape;
use oz0_listing::json::Json;

use crate::text::{Piece, pieces};

/// How deep parameters in parameters are drawn.
const DEPTH: usize = 4;

/// Rows of one schema, at most.
const ROWS: usize = 400;

/// The longest type in words, in characters.
const TYPE: usize = 200;

/// One parameter.
pub(crate) struct Row {
    pub(crate) name: Vec<Piece>,
    pub(crate) depth: usize,
    pub(crate) required: bool,
    pub(crate) kind: Vec<Piece>,
    pub(crate) about: Vec<Piece>,
    pub(crate) default: Option<Vec<Piece>>,
}

/// The parameters of a schema; says whether there are more than are drawn.
pub(crate) fn rows(schema: &Json) -> (Vec<Row>, bool) {
    let mut rows = Vec::new();
    let more = draw(schema, schema, 0, &mut rows);
    (rows, more)
}

fn draw(root: &Json, schema: &Json, depth: usize, rows: &mut Vec<Row>) -> bool {
    let schema = resolved(root, schema);
    let Some(properties) = schema.get("properties").and_then(Json::as_object) else { return false };
    for (name, property) in properties.iter() {
        if rows.len() >= ROWS {
            return true;
        }
        let property = resolved(root, property);
        let text = |member: &str| property.get(member).and_then(Json::as_str).unwrap_or_default();
        let default = property.get("default").map(|value| pieces(&within(&value.canonical())));
        rows.push(Row {
            name: pieces(&escape::line_within(name, 200)),
            depth,
            required: is_required(schema, name),
            kind: pieces(&kind(root, property)),
            about: pieces(text("description")),
            default,
        });
        let inner = items(property).map_or(property, |items| resolved(root, items));
        if depth + 1 < DEPTH && draw(root, inner, depth + 1, rows) {
            return true;
        }
    }
    false
}

/// Whether calls without a property are refused.
pub(crate) fn is_required(schema: &Json, name: &str) -> bool {
    let required = schema.get("required").and_then(Json::as_array);
    required.is_some_and(|names| names.iter().any(|of| of.as_str() == Some(name)))
}

/// What an array holds.
pub(crate) fn items(schema: &Json) -> Option<&Json> {
    schema.get("items")
}

/// What a reference inside the same schema leads to, some steps far; another one stays as it is.
pub(crate) fn resolved<'a>(root: &'a Json, schema: &'a Json) -> &'a Json {
    let mut at = schema;
    for _ in 0..8 {
        let reference = at.get("$ref").and_then(Json::as_str);
        let pointer = reference.and_then(|to| to.strip_prefix('#')).and_then(|to| to.parse().ok());
        match pointer.and_then(|pointer| root.at(&pointer)) {
            Some(found) => at = found,
            None => break,
        }
    }
    at
}

/// What a value may be, in words: `string`, `integer, 1 to 10`, `one of "a", "b"`.
pub(crate) fn kind(root: &Json, schema: &Json) -> String {
    within(&said(root, schema, 0))
}

fn said(root: &Json, schema: &Json, depth: usize) -> String {
    let schema = resolved(root, schema);
    if let Some(value) = schema.get("const") {
        return format!("always {}", within(&value.canonical()));
    }
    if let Some(values) = schema.get("enum").and_then(Json::as_array) {
        let values: Vec<String> = values.iter().map(|value| within(&value.canonical())).collect();
        return format!("one of {}", values.join(", "));
    }
    for member in ["anyOf", "oneOf"] {
        if let Some(all) = schema.get(member).and_then(Json::as_array)
            && depth < 3
        {
            let all: Vec<String> = all.iter().map(|one| said(root, one, depth + 1)).collect();
            return all.join(" or ");
        }
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Json::String(one)) => vec![one],
        Some(Json::Array(all)) => all.iter().filter_map(Json::as_str).collect(),
        _ if schema.get("properties").is_some() => vec!["object"],
        _ => vec!["anything"],
    };
    let mut text = types.join(" or ");
    if types.contains(&"array")
        && depth < 3
        && let Some(items) = items(schema)
    {
        text = format!("{text} of {}", said(root, items, depth + 1));
    }
    if let Some(format) = schema.get("format").and_then(Json::as_str) {
        text = format!("{text}, {format}");
    }
    let bound = |name: &str| schema.get(name).map(|value| within(&value.canonical()));
    let (least, most) = (
        bound("minimum").or_else(|| bound("minLength")).or_else(|| bound("minItems")),
        bound("maximum").or_else(|| bound("maxLength")).or_else(|| bound("maxItems")),
    );
    match (least, most) {
        (Some(least), Some(most)) => text = format!("{text}, {least} to {most}"),
        (Some(least), None) => text = format!("{text}, at least {least}"),
        (None, Some(most)) => text = format!("{text}, at most {most}"),
        (None, None) => {}
    }
    if let Some(pattern) = schema.get("pattern").and_then(Json::as_str) {
        text = format!("{text}, like {pattern}");
    }
    text
}

fn within(text: &str) -> String {
    escape::line_within(text, TYPE).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        oz0_listing::json::parse(text).unwrap()
    }

    #[test]
    fn a_type_is_said_in_words() {
        let cases = [
            (r#"{"type":"string"}"#, "string"),
            (r#"{"type":"integer","minimum":1,"maximum":10}"#, "integer, 1 to 10"),
            (r#"{"enum":["a",2]}"#, r#"one of "a", 2"#),
            (r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#, "string or null"),
            (r#"{"type":"array","items":{"type":"number"}}"#, "array of number"),
            (r##"{"$ref":"#/$defs/own","$defs":{"own":{"type":"boolean"}}}"##, "boolean"),
            (r##"{"$ref":"#"}"##, "anything"),
            ("true", "anything"),
        ];
        for (schema, words) in cases {
            let schema = json(schema);
            assert_eq!(kind(&schema, &schema), words);
        }
    }

    #[test]
    fn parameters_in_parameters_are_drawn_within_bounds() {
        let schema = json(
            r##"{"properties":{"a":{"type":"object","required":["b"],"properties":{"b":{"type":"string"}}},
                "list":{"type":"array","items":{"properties":{"c":{}}}},"self":{"$ref":"#"}},"required":["a"]}"##,
        );
        let (drawn, more) = rows(&schema);
        assert!(more || drawn.len() <= ROWS);
        let names: Vec<_> = drawn
            .iter()
            .take(4)
            .map(|row| (row.name[0].text.as_str(), row.depth, row.required))
            .collect();
        assert_eq!(names, [("a", 0, true), ("b", 1, true), ("list", 0, false), ("c", 1, false)]);
    }
}
