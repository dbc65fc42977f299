//! `pyproject.toml`: what the standards put there, and the tables of the tools that install from it.

use std::collections::{BTreeMap, BTreeSet};

use super::decode::{Node, Value};
use super::reader::Reader;
use super::requirement::Requirement;
use super::{hatch, pixi, requirements};
use crate::{Ecosystem, How, Via};

pub(super) fn read(reader: &mut Reader<'_, '_, '_>, root: &Node<'_>) {
    let project = root.get("project");
    let of_project = |key: &str| project.and_then(|project| project.get(key));
    reader.requirements(of_project("dependencies"), How::Direct, None);
    reader.lists(of_project("optional-dependencies"), How::Direct, "optional-dependencies");
    let build = Via::List("build-system.requires".to_owned());
    reader.requirements(root.at(&["build-system", "requires"]), How::Direct, Some(&build));
    groups(reader, root.get("dependency-groups"));
    let Some(tool) = root.get("tool") else { return };
    if let Some(poetry) = tool.get("poetry") {
        read_poetry(reader, poetry);
    }
    if let Some(pdm) = tool.get("pdm") {
        read_pdm(reader, pdm);
    }
    if let Some(uv) = tool.get("uv") {
        read_uv(reader, uv);
        read_uv_sources(reader, root, uv);
    }
    if let Some(tables) = tool.get("hatch") {
        hatch::read(reader, tables);
    }
    if let Some(tables) = tool.get("pixi") {
        pixi::read(reader, tables);
    }
    read_flit(reader, tool);
    let rye = Via::List("tool.rye.dev-dependencies".to_owned());
    reader.requirements(tool.at(&["rye", "dev-dependencies"]), How::Direct, Some(&rye));
    if let Some(dynamic) = tool.at(&["setuptools", "dynamic"]) {
        read_dynamic(reader, dynamic);
    }
}

/// Groups of dependencies (PEP 735). A group that includes one that is not there, or itself through others, is refused by every
/// installer.
fn groups(reader: &mut Reader<'_, '_, '_>, groups: Option<&Node<'_>>) {
    let entries = groups.map(Node::entries).unwrap_or_default();
    let mut includes: BTreeMap<String, Vec<String>> =
        entries.iter().map(|entry| (folded(&entry.key), Vec::new())).collect();
    for entry in entries {
        let via = Via::List(format!("dependency-groups.{}", entry.key));
        if !matches!(entry.value.value, Value::List(_)) {
            reader.requirements(Some(&entry.value), How::Direct, Some(&via));
            continue;
        }
        for item in entry.value.items() {
            let Some(include) = item.get("include-group") else {
                reader.requirement(item, How::Direct, Some(&via));
                continue;
            };
            let named = include.text().map(folded);
            match named.filter(|named| includes.contains_key(named)) {
                Some(named) => includes.entry(folded(&entry.key)).or_default().push(named),
                None => {
                    let problem = "includes a group of dependencies that is not there";
                    reader.unread(include.range.clone(), problem, None);
                }
            }
        }
    }
    for entry in entries {
        if reaches_itself(&includes, &folded(&entry.key)) {
            let problem = "has a group of dependencies that includes itself";
            reader.unread(entry.range.clone(), problem, None);
        }
    }
}

fn reaches_itself(includes: &BTreeMap<String, Vec<String>>, group: &str) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    let mut waiting = vec![group];
    while let Some(at) = waiting.pop() {
        for next in includes.get(at).into_iter().flatten() {
            if next == group {
                return true;
            }
            if seen.insert(next) {
                waiting.push(next);
            }
        }
    }
    false
}

/// A name as PEP 503 normalises it.
pub(super) fn folded(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            '-' | '_' | '.' if folded.ends_with('-') => {}
            '-' | '_' | '.' => folded.push('-'),
            character => folded.push(character.to_ascii_lowercase()),
        }
    }
    folded
}

fn read_poetry(reader: &mut Reader<'_, '_, '_>, poetry: &Node<'_>) {
    reader.table(poetry.get("dependencies"), How::Direct, None);
    for list in ["dev-dependencies", "requires-plugins"] {
        let via = Via::List(format!("tool.poetry.{list}"));
        reader.table(poetry.get(list), How::Direct, Some(&via));
    }
    for group in poetry.get("group").map(Node::entries).unwrap_or_default() {
        let via = Via::List(format!("tool.poetry.group.{}.dependencies", group.key));
        reader.table(group.value.get("dependencies"), How::Direct, Some(&via));
    }
}

fn read_pdm(reader: &mut Reader<'_, '_, '_>, pdm: &Node<'_>) {
    // Entries of development may be editable, in pip's spelling.
    for group in pdm.get("dev-dependencies").map(Node::entries).unwrap_or_default() {
        let via = Via::List(format!("tool.pdm.dev-dependencies.{}", group.key));
        for item in group.value.items() {
            match item.text().and_then(|text| text.trim_start().strip_prefix("-e")) {
                Some(rest) if rest.starts_with([' ', '=']) => {
                    requirements::read_lines_of(reader, std::slice::from_ref(item), Some(&via));
                }
                _ => reader.requirement(item, How::Direct, Some(&via)),
            }
        }
    }
    let plugins = Via::List("tool.pdm.plugins".to_owned());
    for item in pdm.get("plugins").map(Node::items).unwrap_or_default() {
        if item.text().is_some_and(|text| !text.trim_start().starts_with('-')) {
            reader.requirement(item, How::Direct, Some(&plugins));
        }
    }
    let overrides = Via::List("tool.pdm.resolution.overrides".to_owned());
    reader.table(pdm.at(&["resolution", "overrides"]), How::Constraint, Some(&overrides));
}

/// `[tool.uv]`, or the whole of `uv.toml`.
fn read_uv(reader: &mut Reader<'_, '_, '_>, uv: &Node<'_>) {
    let lists = [
        ("dev-dependencies", How::Direct),
        ("constraint-dependencies", How::Constraint),
        ("override-dependencies", How::Constraint),
        ("build-constraint-dependencies", How::Constraint),
    ];
    for (list, how) in lists {
        let via = Via::List(format!("tool.uv.{list}"));
        let Some(items) = uv.get(list) else { continue };
        if !matches!(items.value, Value::List(_)) {
            reader.requirements(Some(items), how, Some(&via));
        }
        for item in items.items() {
            uv_requirement(reader, item, how, &via);
        }
    }
    for entry in uv.get("extra-build-dependencies").map(Node::entries).unwrap_or_default() {
        let via = Via::List(format!("tool.uv.extra-build-dependencies.{}", entry.key));
        for item in entry.value.items() {
            uv_requirement(reader, item, How::Direct, &via);
        }
    }
    // What a person says that a package needs is resolved as if the package had said it.
    for metadata in uv.get("dependency-metadata").map(Node::items).unwrap_or_default() {
        let via = Via::Packages(vec![metadata.word("name").unwrap_or_default().to_owned()]);
        reader.requirements(metadata.get("requires-dist"), How::Direct, Some(&via));
    }
}

/// Where dependencies come from: from a package's repository, whatever they are called. A source of nothing that the project asks
/// for is not used.
fn read_uv_sources(reader: &mut Reader<'_, '_, '_>, root: &Node<'_>, uv: &Node<'_>) {
    let Some(sources) = uv.get("sources") else { return };
    let lists = [root.at(&["project", "dependencies"]), uv.get("dev-dependencies")];
    let tables = [root.at(&["project", "optional-dependencies"]), root.get("dependency-groups")];
    let tables = tables.into_iter().flatten().flat_map(Node::entries).map(|entry| &entry.value);
    let lists = lists.into_iter().flatten().chain(tables);
    let asked: BTreeSet<String> = lists
        .flat_map(Node::items)
        .filter_map(Node::text)
        .filter_map(|text| Requirement::read(text).map(|read| folded(&text[read.name])))
        .collect();
    for entry in sources.entries() {
        let named = reader.file.wanted.package(Ecosystem::PyPi, &entry.key).is_some();
        if !named && asked.contains(&folded(&entry.key)) {
            let via = Via::List(format!("tool.uv.sources.{}", entry.key));
            reader.source(&entry.value, How::Direct, Some(&via));
        }
    }
}

/// A requirement, alone or in a table beside what else is said of it.
fn uv_requirement(reader: &mut Reader<'_, '_, '_>, item: &Node<'_>, how: How, via: &Via) {
    reader.requirement(item.get("requirement").unwrap_or(item), how, Some(via));
}

pub(super) fn read_uv_toml(reader: &mut Reader<'_, '_, '_>, root: &Node<'_>) {
    read_uv(reader, root);
}

fn read_flit(reader: &mut Reader<'_, '_, '_>, tool: &Node<'_>) {
    let Some(metadata) = tool.at(&["flit", "metadata"]) else { return };
    reader.requirements(metadata.get("requires"), How::Direct, None);
    let dev = Via::List("tool.flit.metadata.dev-requires".to_owned());
    reader.requirements(metadata.get("dev-requires"), How::Direct, Some(&dev));
    reader.lists(metadata.get("requires-extra"), How::Direct, "tool.flit.metadata.requires-extra");
}

/// What setuptools takes from other files.
fn read_dynamic(reader: &mut Reader<'_, '_, '_>, dynamic: &Node<'_>) {
    let lists = dynamic.get("optional-dependencies").map(Node::entries).unwrap_or_default();
    let lists = lists.iter().map(|entry| &entry.value);
    for list in dynamic.get("dependencies").into_iter().chain(lists) {
        if let Some(file) = list.get("file") {
            read_files(reader, file);
        }
    }
}

/// A path, or a list of paths, of requirements files.
pub(super) fn read_files(reader: &mut Reader<'_, '_, '_>, files: &Node<'_>) {
    let one = [files];
    let several: Vec<&Node<'_>> = files.items().iter().collect();
    for file in if several.is_empty() { &one[..] } else { &several[..] } {
        if let Some(path) = file.text() {
            requirements::read_named(reader, path, file.range.clone());
        }
    }
}
