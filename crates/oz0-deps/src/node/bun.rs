//! `bun.lock`: JSON with comments and trailing commas. The first item of an entry says what is installed: `name@version`,
//! also where the key is an alias.

use std::collections::BTreeMap;

use jsonc_parser::ast::Value;

use super::graph::Graph;
use super::json::{Text, items, member, members, range};
use super::specifier::{address, name_of};
use crate::file::{File, Sink};
use crate::{Ecosystem, How, Via};

const NEEDS: [&str; 3] = ["dependencies", "optionalDependencies", "peerDependencies"];

pub(super) fn read(file: &File<'_>, text: &str, root: &Value<'_>, sink: &mut Sink) {
    let help = || Some("have Bun write it anew: bun install --save-text-lockfile".to_owned());
    if !matches!(root, Value::Object(_)) {
        sink.unread(text, range(root), "is no lock of Bun's", help());
        return;
    }
    let entries = member(root, "packages").map(members).unwrap_or_default();
    let mut found = Vec::new();
    for (index, (key, entry)) in entries.iter().enumerate() {
        let Some(first) = items(entry).first().and_then(Text::of) else {
            sink.unread(text, range(entry), "has an entry that names no package", help());
            continue;
        };
        let (name, versioned) = name_of(first.value);
        let version = if versioned { &first.value[name.len() + 1..] } else { "" };
        if version.starts_with("workspace:") {
            continue;
        }
        let named =
            file.wanted.package(Ecosystem::Npm, name).map(|package| (package, 0..name.len()));
        let addressed = || {
            let (package, at) = address(file.wanted, version)?;
            Some((package, at.start + name.len() + 1..at.end + name.len() + 1))
        };
        if let Some((package, at)) = named.or_else(addressed) {
            let under = installed_as(key.value);
            let alias = (under != package.name).then(|| under.to_owned());
            found.push((index, package, first.place(at), alias));
        }
    }
    if found.is_empty() {
        return;
    }
    let graph = graph(root, &entries);
    for (index, package, place, alias) in found {
        let via = match (graph.via_unless(sink.is_full(), index), alias) {
            (None | Some(Via::List(_)), Some(alias)) => Some(Via::Alias(alias)),
            (via, _) => via,
        };
        sink.mention(package, How::Locked, text, place, via);
    }
}

/// The name at the end of `a/b`, a scope included: the packages before it are those that it lies in.
fn installed_as(key: &str) -> &str {
    let Some(at) = key.rfind('/') else { return key };
    let before = &key[..at];
    let scope = before.rfind('/').map_or(0, |at| at + 1);
    if before[scope..].starts_with('@') { &key[scope..] } else { &key[at + 1..] }
}

fn graph(root: &Value<'_>, entries: &[(Text<'_>, &Value<'_>)]) -> Graph {
    let mut graph = Graph::default();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, (key, _)) in entries.iter().enumerate() {
        graph.add(installed_as(key.value));
        places.insert(key.value, index);
    }
    let lists = |of: &Value<'_>, extra: &[&'static str]| -> Vec<(&'static str, String)> {
        let mut needed = Vec::new();
        for list in NEEDS.iter().chain(extra) {
            let names = member(of, list).map(members).unwrap_or_default();
            needed.extend(names.into_iter().map(|(name, _)| (*list, name.value.to_owned())));
        }
        needed
    };
    for (index, (key, entry)) in entries.iter().enumerate() {
        let Some(info) = items(entry).iter().find(|item| matches!(item, Value::Object(_))) else {
            continue;
        };
        for (_, name) in lists(info, &[]) {
            let nested = format!("{}/{name}", key.value);
            if let Some(target) = places.get(nested.as_str()).or_else(|| places.get(name.as_str()))
            {
                graph.need(index, *target);
            }
        }
    }
    for (_, workspace) in member(root, "workspaces").map(members).unwrap_or_default() {
        for (list, name) in lists(workspace, &["devDependencies"]) {
            if let Some(target) = places.get(name.as_str()) {
                graph.ask(*target, Some(list.to_owned()));
            }
        }
    }
    graph
}
