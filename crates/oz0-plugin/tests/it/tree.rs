//! Manifests as JSON trees, to change them one node at a time.

use oz0_yaml::{Limits, Node, Value};
use serde_json::json;

/// The tree of the manifest with every key.
pub(crate) fn full() -> serde_json::Value {
    let text = std::fs::read_to_string(super::full::path().join("oz0-plugin.yaml")).unwrap();
    to_json(&oz0_yaml::parse(&text, &Limits::MANIFEST).root.unwrap())
}

fn to_json(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Null => json!(null),
        Value::Bool(value) => json!(value),
        Value::Int(value) => json!(value),
        Value::BigInt(digits) => json!(digits.parse::<f64>().unwrap()),
        Value::Float(value) => json!(value),
        Value::String(text) => json!(text),
        Value::Sequence(nodes) => nodes.iter().map(to_json).collect(),
        Value::Mapping(entries) => entries
            .iter()
            .map(|entry| (entry.key.as_str().unwrap().to_owned(), to_json(&entry.value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}

/// The JSON pointers of every value below the root.
pub(crate) fn pointers(value: &serde_json::Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(value, "", &mut found);
    found
}

fn collect(value: &serde_json::Value, at: &str, found: &mut Vec<String>) {
    let children: Vec<(String, &serde_json::Value)> = match value {
        serde_json::Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.replace('~', "~0").replace('/', "~1"), value))
            .collect(),
        serde_json::Value::Array(items) => {
            items.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    for (step, child) in children {
        let pointer = format!("{at}/{step}");
        found.push(pointer.clone());
        collect(child, &pointer, found);
    }
}

/// The parent of a pointer, and its last step as it is in the tree.
fn split(pointer: &str) -> (&str, String) {
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    (parent, last.replace("~1", "/").replace("~0", "~"))
}

/// Removes the value at a pointer.
pub(crate) fn remove(tree: &mut serde_json::Value, pointer: &str) {
    let (parent, last) = split(pointer);
    match tree.pointer_mut(parent).unwrap() {
        serde_json::Value::Object(members) => drop(members.remove(&last)),
        serde_json::Value::Array(items) => drop(items.remove(last.parse().unwrap())),
        _ => unreachable!(),
    }
}

/// Gives the value at a pointer another key. `None` in a list.
pub(crate) fn rename(
    tree: &serde_json::Value,
    pointer: &str,
    name: impl Fn(&str) -> String,
) -> Option<serde_json::Value> {
    let mut tree = tree.clone();
    let (parent, last) = split(pointer);
    let members = tree.pointer_mut(parent).unwrap().as_object_mut()?;
    let value = members.remove(&last).unwrap();
    members.insert(name(&last), value);
    Some(tree)
}

/// Puts another value at a pointer.
pub(crate) fn replace(
    tree: &serde_json::Value,
    pointer: &str,
    value: serde_json::Value,
) -> serde_json::Value {
    let mut tree = tree.clone();
    *tree.pointer_mut(pointer).unwrap() = value;
    tree
}

/// The least manifest with the section of the full one that a pointer leads into: quick to decode again and again.
pub(crate) fn section(full: &serde_json::Value, pointer: &str) -> serde_json::Value {
    let key = pointer.split('/').nth(1).unwrap();
    let keep = ["name", "version", "kind", "description", "license", key];
    let mut tree = full.clone();
    tree.as_object_mut().unwrap().retain(|name, _| keep.contains(&name.as_str()));
    tree
}
