//! The compiled manifest: what a bundle begins with, for whoever reads JSON only.
//!
//! It is the manifest's own data, with nothing added: no default is written out, so a later version of oz0 compiles the
//! same manifest to the same bytes. One thing is taken away. Nodes of before addresses know another plugin's part by its
//! bare name, so an address stands in it by that name, wherever the name alone means the same part: whether an author
//! writes the one or the other changes nothing for a node.

use std::collections::HashMap;
use std::ops::Range;

use oz0_listing::json::Json;
use oz0_yaml::{Node, Value};
use serde_json::{Map, Number};

use super::{GUIDE, MANIFEST, Manifest, read_file};
use crate::decode::reference::Names;

/// The path of the compiled manifest in a bundle, where no plugin has a file of its own.
pub const COMPILED_MANIFEST: &str = "oz0-plugin.json";

/// The compiled form of a manifest's text; `None` when something is wrong with it.
pub(crate) fn compile(text: &str) -> Option<String> {
    let file =
        read_file::<Manifest>(MANIFEST, text.as_bytes(), GUIDE, &|root| Some(Names::of(root)));
    let root = file.root.filter(|_| file.diagnostics.is_empty())?;
    let names = Names::of(Some(&root));
    let mut bare: HashMap<Range<usize>, &str> = file
        .references
        .iter()
        .filter_map(|reference| Some((reference.span.range(), names.bare(&reference.target)?)))
        .collect();
    let hooks = match root.get("hooks").map(|entry| &entry.value.value) {
        Some(Value::Sequence(hooks)) => hooks.as_slice(),
        _ => &[],
    };
    for pattern in hooks.iter().filter_map(|hook| hook.get("match")).map(|entry| &entry.value) {
        if let Some(name) = pattern.as_str().and_then(|text| names.bare_pattern(text)) {
            bare.insert(pattern.range.clone(), name);
        }
    }
    let value = to_json(&root, &bare)?;
    Some(Json::from(&value).canonical())
}

fn to_json(node: &Node, bare: &HashMap<Range<usize>, &str>) -> Option<serde_json::Value> {
    Some(match &node.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => (*value).into(),
        Value::Float(value) => Number::from_f64(*value)?.into(),
        Value::BigInt(digits) => Number::from_f64(digits.parse().ok()?)?.into(),
        Value::String(text) => (*bare.get(&node.range).unwrap_or(&text.as_str())).into(),
        Value::Sequence(nodes) => {
            nodes.iter().map(|node| to_json(node, bare)).collect::<Option<Vec<_>>>()?.into()
        }
        Value::Mapping(entries) => {
            let member = |entry: &oz0_yaml::Entry| {
                Some((entry.key.as_str()?.to_owned(), to_json(&entry.value, bare)?))
            };
            entries.iter().map(member).collect::<Option<Map<_, _>>>()?.into()
        }
    })
}
