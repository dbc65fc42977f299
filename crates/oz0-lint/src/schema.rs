//! The JSON Schema of what `oz0 plugin lint --json` prints.

use serde_json::{Value, json};

use crate::report::FORMAT;

/// The JSON Schema (2020-12) of `oz0.lint.v1`.
pub fn report_schema() -> Value {
    let count = |what: &str| json!({ "type": "integer", "minimum": 0, "description": what });
    let line = |what: &str| json!({ "type": "integer", "minimum": 1, "description": what });
    let place = json!({
        "file": { "type": "string", "description": "The file, relative to the plugin's folder, with `/`" },
        "line": line("The line where it begins, from 1"),
        "column": line("The column where it begins, from 1, in Unicode scalar values"),
        "end_line": line("The line where it ends"),
        "end_column": line("The column behind its last character"),
    });
    let mut related = place.clone();
    related["message"] =
        json!({ "type": "string", "description": "What the place has to do with it" });
    let mut problem = place;
    for (name, schema) in [
        (
            "code",
            json!({ "type": "string", "pattern": "^OZ-[A-Z][0-9]{3}$", "description": "What found it" }),
        ),
        (
            "name",
            json!({ "type": "string", "description": "The bad thing, in words joined by `-`" }),
        ),
        (
            "warning",
            json!({ "type": "boolean", "description": "Whether it is a warning at the plain level" }),
        ),
        (
            "strict",
            json!({ "type": "boolean", "description": "Whether it is an error only at the verified level" }),
        ),
        (
            "level",
            json!({ "enum": ["error", "warning", "note"], "description": "The level in force" }),
        ),
        ("message", json!({ "type": "string", "description": "What is wrong" })),
        ("fix", json!({ "type": ["string", "null"], "description": "What to do" })),
        ("fixable", json!({ "type": "boolean", "description": "Whether --fix does it" })),
        (
            "url",
            json!({ "type": ["string", "null"], "format": "uri", "description": "Where to read more" }),
        ),
    ] {
        problem[name] = schema;
    }
    problem["related"] = json!({ "type": "array", "items": closed(&related), "description": "Other places that have to do with it" });
    let summary = json!({
        "errors": count("Errors"),
        "warnings": count("Warnings"),
        "notes": count("Notes"),
        "fixable": count("Of all of them, what --fix mends"),
        "rules": count("Rules that ran"),
        "not_run": {
            "type": "array",
            "description": "Rules that could not run, or not on everything",
            "items": closed(&json!({ "code": { "type": "string" }, "reason": { "type": "string" } })),
        },
        "files": count("Files of the plugin"),
        "unpackable": {
            "type": "array",
            "description": "What stands in the folder and is no part of the plugin, such as a link",
            "items": closed(&json!({ "file": { "type": "string" }, "reason": { "type": "string" } })),
        },
        "links_out": count("Links that lead out of the plugin's folder, where no bundle holds them; they were not followed"),
    });
    let mut root = closed(&json!({
        "format": { "const": FORMAT },
        "plugin": { "type": ["string", "null"], "description": "The plugin's name, where its manifest says one" },
        "version": { "type": ["string", "null"], "description": "Its version, likewise" },
        "verified": { "type": "boolean", "description": "Whether it was held to the verified level" },
        "problems": { "type": "array", "items": closed(&problem) },
        "summary": closed(&summary),
    }));
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("oz0 plugin lint --json");
    root["description"] = json!("What a run of the linter found in a plugin");
    root
}

/// An object with exactly these members.
fn closed(properties: &Value) -> Value {
    let names: Vec<&String> =
        properties.as_object().into_iter().flat_map(|object| object.keys()).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": false,
    })
}
