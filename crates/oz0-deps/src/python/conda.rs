//! conda's `environment.yml`: match specifications, and what pip installs beside them.

use std::ops::Range;

use super::decode::{Node, Value, part};
use super::reader::Reader;
use super::{requirements, url};
use crate::{Ecosystem, How, Via};

pub(super) fn read(reader: &mut Reader<'_, '_, '_>, root: &Node<'_>) {
    if matches!(root.value, Value::Other) {
        return;
    }
    if !matches!(root.value, Value::Table(_)) {
        reader.unread(root.range.clone(), "is no environment of conda's: it is no mapping", None);
        return;
    }
    // conda reads YAML with merge keys.
    let merged = root.get("<<");
    let merged = merged.into_iter().flat_map(|node| {
        if node.items().is_empty() { std::slice::from_ref(node) } else { node.items() }
    });
    for table in std::iter::once(root).chain(merged) {
        if let Some(list) = table.get("dependencies") {
            dependencies(reader, list);
        }
    }
}

fn dependencies(reader: &mut Reader<'_, '_, '_>, list: &Node<'_>) {
    match &list.value {
        Value::List(items) => {
            for item in items {
                dependency(reader, item);
            }
        }
        Value::Other => {}
        _ => reader.unread(list.range.clone(), "has `dependencies` that are no list", None),
    }
}

fn dependency(reader: &mut Reader<'_, '_, '_>, item: &Node<'_>) {
    match &item.value {
        Value::String(text) => {
            spec(reader, text, &item.range, How::Direct, None);
        }
        Value::Table(entries) => {
            for entry in entries {
                // micromamba's `sel(linux): name` is a specification for one system.
                if entry.key.starts_with("sel(") {
                    dependency(reader, &entry.value);
                } else if !entry.value.items().is_empty() {
                    // Each is a line of a requirements file that conda gives to pip.
                    let via = Via::List(entry.key.to_string());
                    requirements::read_lines_of(reader, entry.value.items(), Some(&via));
                } else if entry.value.text().is_some() {
                    let via = Via::List(entry.key.to_string());
                    requirements::read_lines_of(
                        reader,
                        std::slice::from_ref(&entry.value),
                        Some(&via),
                    );
                }
            }
        }
        Value::List(items) => {
            for item in items {
                dependency(reader, item);
            }
        }
        Value::Bool(_) | Value::Other => {}
    }
}

/// One match specification, or the address of a package's archive.
pub(super) fn spec(
    reader: &mut Reader<'_, '_, '_>,
    text: &str,
    whole: &Range<usize>,
    how: How,
    via: Option<&Via>,
) {
    let found = match name(text) {
        Some(range) => {
            let package = reader.file.wanted.package(Ecosystem::PyPi, &text[range.clone()]);
            package.map(|package| (package, range))
        }
        None => url::package(text, url::Kind::Any, reader.file.wanted),
    };
    if let Some((package, range)) = found {
        let range = part(reader.text, whole, text, range);
        reader.mention(package, how, range, via.cloned());
    }
}

/// Where the name stands in a specification: `channel/subdir::name version build`, `name=version`, `name[key=value]`. Nothing for
/// an address or a path of an archive.
pub(super) fn name(text: &str) -> Option<Range<usize>> {
    let bare = text.split(" #").next().unwrap_or(text);
    let archive = [".conda", ".tar.bz2"].iter().any(|ending| bare.trim_end().ends_with(ending));
    if archive || bare.contains("://") {
        return None;
    }
    let bracket = bare.find('[').unwrap_or(bare.len());
    let from = bare[..bracket].rfind("::").map_or(0, |at| at + 2);
    // `channel:namespace:name`, which conda takes as well.
    let from = bare[from..bracket]
        .find(':')
        .map_or(from, |_| from + bare[from..bracket].rfind(':').map_or(0, |at| at + 1));
    let rest = &bare[from..];
    let start = from + (rest.len() - rest.trim_start().len());
    let name = &bare[start..];
    let end = name
        .find(|c: char| {
            c.is_whitespace()
                || matches!(c, '=' | '<' | '>' | '!' | '~' | '[' | '(' | ',' | '|' | '@' | '#')
        })
        .unwrap_or(name.len());
    (end > 0).then_some(start..start + end)
}
