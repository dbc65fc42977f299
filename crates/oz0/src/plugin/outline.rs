//! A YAML tree as an outline of lines, and as JSON: the whole of it, whatever it says.

use std::fmt::Write as _;

use oz0_listing::escape;
use oz0_yaml::{Node, Value as Yaml};
use serde_json::Value;

/// Writes the entries of a mapping but for the named ones, each at the given depth.
pub(crate) fn entries(text: &mut String, node: &Node, depth: usize, but: &[&str]) {
    let Yaml::Mapping(entries) = &node.value else { return };
    for entry in entries {
        let key = scalar(&entry.key);
        if depth <= 1 && but.contains(&key.as_str()) {
            continue;
        }
        let indent = "  ".repeat(depth);
        if depth == 0 {
            let _ = write!(text, "\u{1b}[1m{key}\u{1b}[0m");
        } else {
            let _ = write!(text, "{indent}{key}");
        }
        match &entry.value.value {
            Yaml::Mapping(inner) if !inner.is_empty() => {
                text.push('\n');
                self::entries(text, &entry.value, depth + 1, &[]);
            }
            Yaml::Sequence(items) if !items.is_empty() => sequence(text, items, depth),
            _ => {
                let _ = writeln!(text, ": {}", scalar(&entry.value));
            }
        }
    }
}

/// Scalars stand on one line; anything else has an item a line.
fn sequence(text: &mut String, items: &[Node], depth: usize) {
    let is_scalar = |node: &Node| !matches!(node.value, Yaml::Mapping(_) | Yaml::Sequence(_));
    if items.iter().all(is_scalar) {
        let items: Vec<String> = items.iter().map(scalar).collect();
        let _ = writeln!(text, ": {}", items.join(", "));
        return;
    }
    text.push('\n');
    for item in items {
        let indent = "  ".repeat(depth + 1);
        let _ = writeln!(text, "{indent}{}", escape::line(&json(item).to_string()));
    }
}

fn scalar(node: &Node) -> String {
    let text = match json(node) {
        Value::String(text) => text,
        other => other.to_string(),
    };
    escape::line(&text).into_owned()
}

/// The tree as JSON. A key that is no string stands as its JSON text.
pub(crate) fn json(node: &Node) -> Value {
    match &node.value {
        Yaml::Null => Value::Null,
        Yaml::Bool(value) => (*value).into(),
        Yaml::Int(value) => (*value).into(),
        Yaml::BigInt(digits) => digits.clone().into(),
        // JSON has no infinity.
        Yaml::Float(value) => serde_json::Number::from_f64(*value)
            .map_or_else(|| value.to_string().into(), Value::Number),
        Yaml::String(text) => text.clone().into(),
        Yaml::Sequence(items) => items.iter().map(json).collect(),
        Yaml::Mapping(entries) => entries
            .iter()
            .map(|entry| {
                let key = match json(&entry.key) {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                (key, json(&entry.value))
            })
            .collect(),
    }
}
