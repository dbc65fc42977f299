//! Pixi's tables: `[tool.pixi]`, and `pixi.toml`, which has the same at its root.

use super::decode::{Node, Value};
use super::reader::Reader;
use crate::{How, Via};

/// The tables of requirements, wherever they are: at the root, of a feature, of a target, of a package.
const TABLES: [&str; 6] = [
    "dependencies",
    "host-dependencies",
    "build-dependencies",
    "run-dependencies",
    "pypi-dependencies",
    "extra-dependencies",
];

/// Those that only bound what something else asks for.
const BOUNDS: [&str; 4] =
    ["constraints", "dependency-overrides", "run-constraints", "constraint-dependencies"];

pub(super) fn read(reader: &mut Reader<'_, '_, '_>, pixi: &Node<'_>) {
    tables(reader, pixi, "");
}

fn tables(reader: &mut Reader<'_, '_, '_>, table: &Node<'_>, path: &str) {
    for entry in table.entries() {
        let Value::Table(_) = entry.value.value else { continue };
        let inner =
            if path.is_empty() { entry.key.to_string() } else { format!("{path}.{}", entry.key) };
        let via = Via::List(inner.clone());
        if TABLES.contains(&&*entry.key) {
            let via = (inner != "dependencies" && inner != "pypi-dependencies").then_some(&via);
            reader.table(Some(&entry.value), How::Direct, via);
        } else if BOUNDS.contains(&&*entry.key) {
            reader.table(Some(&entry.value), How::Constraint, Some(&via));
        } else if matches!(
            &*entry.key,
            "target" | "feature" | "pypi-options" | "package" | "workspace" | "project"
        ) || matches!(path.rsplit('.').next(), Some("target" | "feature"))
        {
            tables(reader, &entry.value, &inner);
        } else if entry.key == "build" && path == "package" {
            // The program that builds the package, and what is installed beside it.
            let backend = entry.value.get("backend");
            if let Some(name) = backend.and_then(|backend| backend.get("name")) {
                reader.requirement(name, How::Direct, Some(&via));
            }
            reader.table(entry.value.get("additional-dependencies"), How::Direct, Some(&via));
        }
    }
}
