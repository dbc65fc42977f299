//! `uv.lock`, `poetry.lock`, `pdm.lock` and `pylock.toml`: what is locked, and through whom.
//!
//! All four are a list of packages; a package that is not in it is not installed, whatever the metadata of others says of it.

use std::collections::BTreeSet;

use super::decode::{Node, Value, toml};
use super::graph::Graph;
use super::include;
use super::pyproject::folded;
use super::reader::Reader;
use super::requirement::Requirement;
use crate::How;

/// Says of each package of a lock whether it is one that is looked for.
fn packages(reader: &mut Reader<'_, '_, '_>, packages: &Node<'_>, graph: &Graph) {
    for package in packages.items() {
        let name = package.get("name");
        let written = name.and_then(Node::text).unwrap_or_default();
        if let Some(name) = name
            && let Some(wanted) = reader.file.wanted.package(crate::Ecosystem::PyPi, written)
        {
            reader.mention(
                wanted,
                How::Locked,
                name.range.clone(),
                if reader.sink.is_full() { None } else { graph.via(written) },
            );
            continue;
        }
        // Under another name, by the address that it comes from.
        let mut places = vec![package];
        places.extend(
            ["source", "vcs", "archive", "directory", "sdist"]
                .iter()
                .filter_map(|key| package.get(key)),
        );
        let files = ["wheels", "files"].iter().filter_map(|key| package.get(key));
        places.extend(files.flat_map(Node::items));
        for place in places {
            let before = reader.sink.mentions.len();
            if reader.source(place, How::Locked, None) {
                // The way to a package is looked for only where there is something to say of it: a lock has thousands.
                if let Some(mention) = reader.sink.mentions.get_mut(before) {
                    mention.via = graph.via(written);
                }
                break;
            }
        }
    }
}

/// The list of packages of a lock, or a word about its absence where other members say that there should be one.
fn list<'n, 't>(
    reader: &mut Reader<'_, '_, '_>,
    root: &'n Node<'t>,
    key: &str,
) -> Option<&'n Node<'t>> {
    let list = root.get(key)?;
    if matches!(list.value, Value::List(_)) {
        return Some(list);
    }
    reader.unread(list.range.clone(), format!("has a `{key}` that is no list of packages"), None);
    None
}

fn words(node: Option<&Node<'_>>) -> Vec<String> {
    let items = node.map(Node::items).unwrap_or_default();
    items.iter().filter_map(Node::text).map(str::to_owned).collect()
}

pub(super) fn read_uv(reader: &mut Reader<'_, '_, '_>, root: &Node<'_>) {
    let Some(list) = list(reader, root, "package") else { return };
    let mut graph = Graph::default();
    let members = words(root.at(&["manifest", "members"]));
    let members: BTreeSet<String> = members.iter().map(|member| folded(member)).collect();
    for package in list.items() {
        let Some(name) = package.word("name") else { continue };
        let source = package.get("source");
        let own = |key: &str| source.and_then(|source| source.get(key)).is_some();
        let is_root = if members.is_empty() {
            own("editable") || own("virtual")
        } else {
            members.contains(&folded(name))
        };
        let mut lists = vec![(package.get("dependencies"), None, None)];
        for entry in package.get("optional-dependencies").map(Node::entries).unwrap_or_default() {
            let list = format!("optional-dependencies.{}", entry.key);
            lists.push((Some(&entry.value), Some(&*entry.key), Some(list)));
        }
        // A group is for its own project alone.
        for entry in package.get("dev-dependencies").map(Node::entries).unwrap_or_default() {
            if is_root {
                let list = format!("dependency-groups.{}", entry.key);
                lists.push((Some(&entry.value), None, Some(list)));
            }
        }
        for (needs, extra, list) in lists {
            for need in needs.map(Node::items).unwrap_or_default() {
                let Some(needed) = need.word("name") else { continue };
                let extras = words(need.get("extra"));
                if is_root {
                    graph.root(needed, &extras, list.as_deref());
                } else {
                    graph.need(name, extra, needed, &extras);
                }
            }
        }
    }
    // A lock of a script (PEP 723) has no project of its own, but what the script asks for.
    for need in root.at(&["manifest", "requirements"]).map(Node::items).unwrap_or_default() {
        if let Some(name) = need.word("name") {
            graph.root(name, &words(need.get("extras")), None);
        }
    }
    packages(reader, list, &graph);
}

pub(super) fn read_poetry(reader: &mut Reader<'_, '_, '_>, root: &Node<'_>) {
    let Some(list) = list(reader, root, "package") else { return };
    let mut graph = Graph::default();
    for package in list.items() {
        let Some(name) = package.word("name") else { continue };
        let extras = package.get("extras").map(Node::entries).unwrap_or_default();
        for need in package.get("dependencies").map(Node::entries).unwrap_or_default() {
            let one = [&need.value];
            let several: Vec<&Node<'_>> = need.value.items().iter().collect();
            for value in if several.is_empty() { &one[..] } else { &several[..] } {
                let asked = words(value.get("extras"));
                if !value.get("optional").is_some_and(Node::is_true) {
                    graph.need(name, None, &need.key, &asked);
                    continue;
                }
                // What is optional comes with an extra, whose list names it.
                for extra in extras {
                    if words(Some(&extra.value)).iter().any(|text| is_named(text, &need.key)) {
                        graph.need(name, Some(&extra.key), &need.key, &asked);
                    }
                }
            }
        }
    }
    project(reader, &mut graph);
    if !graph.has_roots() {
        graph
            .root_what_nobody_needs(list.items().iter().filter_map(|package| package.word("name")));
    }
    packages(reader, list, &graph);
}

fn is_named(requirement: &str, name: &str) -> bool {
    Requirement::read(requirement)
        .is_some_and(|read| folded(&requirement[read.name]) == folded(name))
}

pub(super) fn read_pdm(reader: &mut Reader<'_, '_, '_>, root: &Node<'_>) {
    let Some(list) = list(reader, root, "package") else { return };
    let mut graph = Graph::default();
    for package in list.items() {
        let Some(name) = package.word("name") else { continue };
        // A package with extras has an entry of its own for them.
        let mut extras: Vec<Option<String>> =
            words(package.get("extras")).into_iter().map(Some).collect();
        if extras.is_empty() {
            extras.push(None);
        }
        for need in words(package.get("dependencies")) {
            let Some((needed, asked)) = name_and_extras(&need) else { continue };
            for extra in &extras {
                graph.need(name, extra.as_deref(), &needed, &asked);
            }
        }
    }
    project(reader, &mut graph);
    if !graph.has_roots() {
        graph
            .root_what_nobody_needs(list.items().iter().filter_map(|package| package.word("name")));
    }
    packages(reader, list, &graph);
}

pub(super) fn read_pylock(reader: &mut Reader<'_, '_, '_>, root: &Node<'_>) {
    let Some(list) = list(reader, root, "packages") else { return };
    let mut graph = Graph::default();
    for package in list.items() {
        let Some(name) = package.word("name") else { continue };
        for need in package.get("dependencies").map(Node::items).unwrap_or_default() {
            if let Some(needed) = need.word("name") {
                graph.need(name, None, needed, &[]);
            }
        }
    }
    project(reader, &mut graph);
    if !graph.has_roots() {
        graph
            .root_what_nobody_needs(list.items().iter().filter_map(|package| package.word("name")));
    }
    packages(reader, list, &graph);
}

/// A requirement's name and extras.
pub(super) fn name_and_extras(text: &str) -> Option<(String, Vec<String>)> {
    let read = Requirement::read(text)?;
    let extras = read.extras.map_or("", |range| &text[range]);
    let extras =
        extras.split(',').map(|extra| extra.trim().to_owned()).filter(|extra| !extra.is_empty());
    Some((text[read.name].to_owned(), extras.collect()))
}

/// What the project beside the lock asks for, from its `pyproject.toml`: the lock does not say it.
fn project(reader: &Reader<'_, '_, '_>, graph: &mut Graph) {
    let file = reader.file;
    let path = include::beside(file.path, "pyproject.toml");
    let Ok(Some(bytes)) = file.tree.include(&path, file.limits) else { return };
    let Ok(text) = std::str::from_utf8(&bytes) else { return };
    let Ok(root) = toml(text, file.limits) else { return };
    let mut requirements = |list: Option<&Node<'_>>, named: Option<String>| {
        for text in words(list) {
            if let Some((name, extras)) = name_and_extras(&text) {
                graph.root(&name, &extras, named.as_deref());
            }
        }
    };
    requirements(root.at(&["project", "dependencies"]), None);
    let tables: [(&[&str], &str); 3] = [
        (&["project", "optional-dependencies"], "optional-dependencies"),
        (&["dependency-groups"], "dependency-groups"),
        (&["tool", "pdm", "dev-dependencies"], "tool.pdm.dev-dependencies"),
    ];
    for (path, shown) in tables {
        for entry in root.at(path).map(Node::entries).unwrap_or_default() {
            requirements(Some(&entry.value), Some(format!("{shown}.{}", entry.key)));
        }
    }
    let Some(poetry) = root.at(&["tool", "poetry"]) else { return };
    let mut table = |table: Option<&Node<'_>>, named: Option<String>| {
        for entry in table.map(Node::entries).unwrap_or_default() {
            graph.root(&entry.key, &words(entry.value.get("extras")), named.as_deref());
        }
    };
    table(poetry.get("dependencies"), None);
    table(poetry.get("dev-dependencies"), Some("tool.poetry.dev-dependencies".to_owned()));
    for group in poetry.get("group").map(Node::entries).unwrap_or_default() {
        let shown = format!("tool.poetry.group.{}.dependencies", group.key);
        table(group.value.get("dependencies"), Some(shown));
    }
}
