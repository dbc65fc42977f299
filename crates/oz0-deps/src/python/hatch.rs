//! Hatch's environments and builds: `[tool.hatch]`, and `hatch.toml`, which has the same tables at its root.

use super::decode::{Node, Value};
use super::pyproject::read_files;
use super::reader::Reader;
use crate::{How, Via};

pub(super) fn read(reader: &mut Reader<'_, '_, '_>, hatch: &Node<'_>) {
    let requires = Via::List("env.requires".to_owned());
    reader.requirements(hatch.at(&["env", "requires"]), How::Direct, Some(&requires));
    for key in ["envs", "build"] {
        if let Some(table) = hatch.get(key) {
            lists(reader, table, key);
        }
    }
    // A plugin that takes the project's dependencies from requirements files.
    if let Some(hook) = hatch.at(&["metadata", "hooks", "requirements_txt"]) {
        if let Some(files) = hook.get("files") {
            read_files(reader, files);
        }
        for entry in hook.get("optional-dependencies").map(Node::entries).unwrap_or_default() {
            read_files(reader, &entry.value);
        }
    }
}

/// Every list of dependencies in a table: an environment's own, those of its overrides, a build target's, a hook's.
fn lists(reader: &mut Reader<'_, '_, '_>, table: &Node<'_>, path: &str) {
    for entry in table.entries() {
        let path = format!("{path}.{}", entry.key);
        let names = matches!(
            entry.key.strip_prefix("set-").unwrap_or(&entry.key),
            "dependencies" | "extra-dependencies" | "requires"
        );
        match &entry.value.value {
            Value::List(items) if names => {
                let via = Via::List(path);
                for item in items {
                    // An override may say when it counts.
                    reader.requirement(item.get("value").unwrap_or(item), How::Direct, Some(&via));
                }
            }
            Value::Table(_) if entry.key != "scripts" && entry.key != "env-vars" => {
                lists(reader, &entry.value, &path);
            }
            _ => {}
        }
    }
}
