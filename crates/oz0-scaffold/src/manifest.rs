//! The text of a new manifest.
//!
//! Values are written by `oz0-yaml`, which quotes what has to be quoted and reads its own text again, and the whole
//! manifest is decoded before it counts: nothing that a command holds can become anything but a value.

use std::collections::BTreeMap;

use oz0_yaml::Data;
use oz0_yaml::edit::{Change, apply};

use crate::refusal::Refusal;

/// What goes into it.
pub(crate) struct Contents<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) license: Option<&'a str>,
    pub(crate) tool: Vec<(&'static str, Data)>,
    pub(crate) egress: &'a [String],
    pub(crate) secrets: &'a [String],
}

/// Stands where nobody said what the licence is.
const UNSTATED: &str = "LicenseRef-unstated";

pub(crate) fn text(contents: &Contents<'_>) -> Result<String, Refusal> {
    let mut text = format!("name: {}\nversion: 0.1.0\ndescription: d\n", contents.name);
    if contents.license.is_none() {
        text.push_str("# The licence of this folder, for whoever publishes it; the server's own is the server's.\n");
    }
    text.push_str("license: MIT\n");
    let replace = |key, value: &str| Change::Replace {
        path: vec![oz0_yaml::PathStep::Key(key)],
        value: Data::String(value.to_owned()),
    };
    let insert = |key, value| Change::Insert { path: Vec::new(), key, value };
    let mut changes = vec![
        replace("description", contents.description),
        replace("license", contents.license.unwrap_or(UNSTATED)),
    ];
    let strings =
        |list: &[String]| Data::sequence(list.iter().map(|one| Data::String(one.clone())));
    if !contents.egress.is_empty() {
        changes.push(insert("egress", strings(contents.egress)));
    }
    let tool = Data::mapping(contents.tool.iter().map(|(key, value)| (*key, value.clone())));
    changes.push(insert("tools", Data::mapping([(contents.name, tool)])));
    if !contents.secrets.is_empty() {
        changes.push(insert("requires", Data::mapping([("secrets", strings(contents.secrets))])));
    }
    for change in changes {
        text = apply(&text, &[change])
            .map_err(|error| Refusal::new(format!("the manifest cannot be written: {error}")))?;
    }
    // Every line that begins with a key of the manifest is one: no value is written in lines of its own.
    Ok(text.replacen("\ntools:", "\n\ntools:", 1).replacen("\nrequires:", "\n\nrequires:", 1))
}

/// Texts as a value.
pub(crate) fn list(words: &[String]) -> Data {
    Data::sequence(words.iter().map(|word| Data::String(word.clone())))
}

/// Variables as a value.
pub(crate) fn map(variables: &BTreeMap<String, String>) -> Data {
    Data::mapping(
        variables.iter().map(|(name, value)| (name.as_str(), Data::String(value.clone()))),
    )
}
