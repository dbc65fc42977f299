//! `conda-lock.yml` and `pixi.lock`: packages of conda's channels and of Python's index in one list.

use std::ops::Range;

use super::conda;
use super::decode::{Node, Value};
use super::graph::Graph;
use super::locks::name_and_extras;
use super::reader::Reader;
use super::url;
use crate::{Ecosystem, How, Via};

pub(super) fn read(reader: &mut Reader<'_, '_, '_>, root: &Node<'_>) {
    if !matches!(root.value, Value::Table(_)) {
        reader.unread(
            root.range.clone(),
            "is no lock of conda's or pixi's: it is no mapping",
            None,
        );
        return;
    }
    let mut graph = Graph::default();
    let lists: Vec<&Node<'_>> =
        ["package", "packages"].iter().filter_map(|key| root.get(key)).collect();
    let packages: Vec<&Node<'_>> = lists.iter().flat_map(|list| list.items()).collect();
    for package in &packages {
        let Some((name, _)) = name(package) else { continue };
        needs(package, &name, &mut graph);
    }
    let names: Vec<String> = packages.iter().filter_map(|package| Some(name(package)?.0)).collect();
    graph.root_what_nobody_needs(names.iter().map(String::as_str));
    for package in packages {
        let Some((name, place)) = name(package) else { continue };
        let via = graph.via(&name);
        if let Some(wanted) = reader.file.wanted.package(Ecosystem::PyPi, &name) {
            reader.mention(wanted, How::Locked, place, via);
            continue;
        }
        by_address(reader, package, via.as_ref());
    }
}

fn by_address(reader: &mut Reader<'_, '_, '_>, package: &Node<'_>, via: Option<&Via>) {
    for key in ["conda", "pypi", "url"] {
        let Some(node) = package.get(key) else { continue };
        if reader.address(node, url::Kind::Any, How::Locked, via) {
            return;
        }
    }
}

/// A locked package's name, and where it says so: in `name`, else in the address of its archive.
fn name(package: &Node<'_>) -> Option<(String, Range<usize>)> {
    if let Some(name) = package.get("name") {
        return Some((name.text()?.to_owned(), name.range.clone()));
    }
    let address = ["conda", "pypi", "url"].iter().find_map(|key| package.get(key))?;
    let text = address.text()?;
    let path = text.split(['#', '?']).next().unwrap_or(text);
    let file = path.rsplit('/').next().unwrap_or(path);
    let name = url::file_name(file)?;
    let start = address.range.start + path.len() - file.len();
    let exact = address.range.len() == text.len();
    let place = if exact { start..start + name.len() } else { address.range.clone() };
    Some((name.to_owned(), place))
}

fn needs(package: &Node<'_>, name: &str, graph: &mut Graph) {
    for key in ["depends", "requires_dist", "dependencies"] {
        let Some(list) = package.get(key) else { continue };
        for entry in list.entries() {
            graph.need(name, None, &entry.key, &[]);
        }
        for item in list.items() {
            let Some(text) = item.text() else { continue };
            if key == "depends" {
                if let Some(range) = conda::name(text) {
                    graph.need(name, None, &text[range], &[]);
                }
            } else if let Some((needed, extras)) = name_and_extras(text) {
                // What an extra alone needs comes with the extra.
                let extra = text.split_once(';').and_then(|(_, marker)| extra_of(marker));
                graph.need(name, extra, &needed, &extras);
            }
        }
    }
}

/// The extra that a marker asks for: `extra == 'proxy'`.
fn extra_of(marker: &str) -> Option<&str> {
    let rest = marker.split_once("extra")?.1.trim_start().strip_prefix("==")?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    rest[1..].split(quote).next()
}
