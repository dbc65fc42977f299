//! `pnpm-lock.yaml`, of the versions 5 to 9, with several documents as newer pnpm writes it.
//!
//! A package's key says what it is: `/name/1.0.0_peer@2` in version 5, `/name@1.0.0(peer@2)` in 6, `name@1.0.0` in 9. What
//! a project asks for stands in `importers` with the version it got, and that version is the only value that names an
//! alias' package: `x: {specifier: npm:name@1, version: name@1.0.0}`.

use std::collections::BTreeMap;
use std::ops::Range;

use oz0_yaml::Node;

use super::graph::Graph;
use super::specifier::{address, name_of};
use super::yaml::{Document, documents};
use crate::file::{File, Sink};
use crate::{Ecosystem, How, Package, Via};

const ASKED: [&str; 3] = ["dependencies", "devDependencies", "optionalDependencies"];
const NEEDED: [&str; 3] = ["dependencies", "optionalDependencies", "peerDependencies"];

pub(super) fn read(file: &File<'_>, text: &str, sink: &mut Sink) {
    let before = sink.unread.len();
    let documents = documents(file, text, sink);
    for document in &documents {
        let version = document.root.get("lockfileVersion").map(|entry| &entry.value);
        let major = version.map(|version| document.scalar(version)).unwrap_or_default();
        let major: String = major.chars().take_while(char::is_ascii_digit).collect();
        match major.parse::<u32>() {
            Ok(major @ 5..=9) => Lock { file, text, document, major }.read(sink),
            // What was left out of a broken document may have been its version.
            _ if sink.unread.len() > before => {}
            _ => {
                let range = document.range(version.unwrap_or(&document.root));
                let help = "have pnpm write it anew: pnpm install --lockfile-only";
                sink.unread(
                    text,
                    range.start..range.end.min(range.start + 64),
                    "is no lock of pnpm's versions 5 to 9",
                    Some(help.into()),
                );
            }
        }
    }
}

struct Lock<'f> {
    file: &'f File<'f>,
    text: &'f str,
    document: &'f Document<'f>,
    major: u32,
}

/// A package that is looked for.
struct Found<'n> {
    /// Its key in `packages` or `snapshots`, where it stands there.
    key: Option<&'n str>,
    package: &'n Package,
    place: Range<usize>,
    /// The name it goes by, if that is another.
    alias: Option<&'n str>,
}

/// What a key or a version names.
struct Named<'t> {
    name: &'t str,
    version: &'t str,
    /// Where the name begins.
    at: usize,
}

impl<'f> Lock<'f> {
    fn read(&self, sink: &mut Sink) {
        let mut found: Vec<Found<'_>> = Vec::new();
        let root = &self.document.root;
        // A package may stand in both tables, once for each set of peers in the second: each version is one finding.
        let mut told: Vec<(&str, &str)> = Vec::new();
        for table in ["packages", "snapshots"] {
            for (key, entry) in Document::of(root, table) {
                let Some((package, place)) = self.package(key, entry) else { continue };
                let key = self.document.scalar(key);
                let version = self.parse(key).map_or(key, |named| without_peers(named.version));
                if told.contains(&(&package.name, version)) {
                    continue;
                }
                told.push((&package.name, version));
                found.push(Found { key: Some(key), package, place, alias: None });
            }
        }
        for (_, key, version) in self.asked() {
            let Some((package, place, alias)) = self.reference(key, version) else { continue };
            if !told.iter().any(|(name, _)| *name == package.name) {
                found.push(Found { key: None, package, place, alias });
            }
        }
        if found.is_empty() {
            return;
        }
        let (graph, indices) = self.graph();
        for Found { key, package, place, alias } in found {
            let index = key.and_then(|key| indices.get(bare(key)));
            let via =
                match (index.and_then(|index| graph.via_unless(sink.is_full(), *index)), alias) {
                    (None, Some(alias)) => Some(Via::Alias(alias.to_owned())),
                    (via, _) => via,
                };
            sink.mention(package, How::Locked, self.text, place, via);
        }
    }

    /// Splits `/name/1.0.0`, `/name@1.0.0` or `name@1.0.0`.
    fn parse<'t>(&self, key: &'t str) -> Option<Named<'t>> {
        let bare = bare(key);
        let start = key.len() - bare.len();
        if self.major > 5 {
            let (name, versioned) = name_of(bare);
            let version = if versioned { &bare[name.len() + 1..] } else { "" };
            return Some(Named { name, version, at: start });
        }
        // A host may stand before the name, where the package is not the default registry's.
        let skipped = if key.starts_with('/') { 0 } else { bare.find('/')? + 1 };
        let rest = &bare[skipped..];
        let scope = if rest.starts_with('@') { rest.find('/')? + 1 } else { 0 };
        let end = scope + rest[scope..].find('/')?;
        let version = &rest[end + 1..];
        Some(Named { name: &rest[..end], version, at: start + skipped })
    }

    /// The package that an entry of `packages` or `snapshots` is, where it is looked for.
    fn package(&self, key: &Node, entry: &Node) -> Option<(&'f Package, Range<usize>)> {
        let wanted = self.file.wanted;
        let text = self.document.scalar(key);
        // Of a package that is no registry's, the entry says the name.
        if let Some(name) = entry.get("name")
            && let Some(package) = wanted.package(Ecosystem::Npm, self.document.scalar(&name.value))
        {
            let len = self.document.scalar(&name.value).len();
            return Some((package, self.document.place(&name.value, 0..len)));
        }
        let named = self.parse(text);
        if let Some(named) = &named
            && let Some(package) = wanted.package(Ecosystem::Npm, named.name)
        {
            return Some((
                package,
                self.document.place(key, named.at..named.at + named.name.len()),
            ));
        }
        let version = named.map_or(text, |named| named.version);
        let start = version.as_ptr() as usize - text.as_ptr() as usize;
        for (address_text, start) in [(version, start), (text, 0)] {
            if let Some((package, at)) = address(wanted, address_text) {
                let range = at.start + start..at.end + start;
                return Some((package, self.document.place(key, range)));
            }
        }
        None
    }

    /// What `key: version` of a list installs, where it is looked for: what names it, and the name it goes by if that is
    /// another.
    fn reference<'n>(
        &self,
        key: &'n Node,
        version: &Node,
    ) -> Option<(&'f Package, Range<usize>, Option<&'n str>)> {
        let wanted = self.file.wanted;
        let name = key.as_str()?;
        let text = self.document.scalar(version);
        if is_own(text) {
            let package = wanted.package(Ecosystem::Npm, name)?;
            return Some((package, self.document.place(key, 0..name.len()), None));
        }
        if let Some(named) = self.parse(text)
            && let Some(package) = wanted.package(Ecosystem::Npm, named.name)
        {
            let range = named.at..named.at + named.name.len();
            return Some((package, self.document.place(version, range), Some(name)));
        }
        let (package, at) = address(wanted, text)?;
        Some((package, self.document.place(version, at), Some(name)))
    }

    /// What the projects of the lock ask for: the list, the name, the version.
    fn asked(&self) -> Vec<(&'static str, &'f Node, &'f Node)> {
        let root = &self.document.root;
        let mut projects: Vec<&Node> = vec![root];
        projects.extend(Document::of(root, "importers").map(|(_, project)| project));
        let mut asked = Vec::new();
        for project in projects {
            for list in ASKED {
                for (key, value) in Document::of(project, list) {
                    let version = value.get("version").map_or(value, |entry| &entry.value);
                    asked.push((list, key, version));
                }
            }
        }
        asked
    }

    /// What needs what, and each entry's index by its key without a leading `/`.
    fn graph(&self) -> (Graph, BTreeMap<&'f str, usize>) {
        let mut graph = Graph::default();
        let mut indices: BTreeMap<&str, usize> = BTreeMap::new();
        let root = &self.document.root;
        let tables = ["packages", "snapshots"];
        for table in tables {
            for (key, _) in Document::of(root, table) {
                let Some(key) = key.as_str() else { continue };
                let name = self.parse(key).map_or(key, |named| named.name);
                let bare = bare(key);
                if let std::collections::btree_map::Entry::Vacant(slot) = indices.entry(bare) {
                    slot.insert(graph.add(name));
                }
            }
        }
        // A key of `packages` has no peers in version 9, where the ones of `snapshots` have: they are one package.
        let target = |name: &str, version: &str| -> Vec<usize> {
            let joined = if self.major > 5 {
                format!("{name}@{version}")
            } else {
                format!("{name}/{version}")
            };
            let mut found = Vec::new();
            for key in [joined.as_str(), bare(version)] {
                found.extend(indices.get(key).copied());
                found.extend(indices.get(without_peers(key)).copied());
            }
            found
        };
        for table in tables {
            for (key, entry) in Document::of(root, table) {
                let Some(from) = key.as_str().and_then(|key| indices.get(bare(key))) else {
                    continue;
                };
                for list in NEEDED {
                    for (name, version) in Document::of(entry, list) {
                        let Some(name) = name.as_str() else { continue };
                        for to in target(name, self.document.scalar(version)) {
                            graph.need(*from, to);
                        }
                    }
                }
            }
        }
        for (list, key, version) in self.asked() {
            let Some(name) = key.as_str() else { continue };
            for to in target(name, self.document.scalar(version)) {
                graph.ask(to, Some(list.to_owned()));
            }
        }
        (graph, indices)
    }
}

/// Whether a version is the key's own package's, and not another's: `1.0.0(peer@2)`, `link:../x`.
fn is_own(version: &str) -> bool {
    let local = ["link:", "file:", "workspace:", "portal:"];
    version.is_empty()
        || version.starts_with(|c: char| c.is_ascii_digit())
        || local.iter().any(|prefix| version.starts_with(prefix))
}

fn bare(key: &str) -> &str {
    key.strip_prefix('/').unwrap_or(key)
}

/// A version without the peers that it was resolved with: `1.0.0(peer@2)`, `1.0.0_peer@2`.
fn without_peers(version: &str) -> &str {
    let end = version.find('(').unwrap_or(version.len());
    let version = &version[..end];
    let start = version.rfind('/').map_or(0, |at| at + 1);
    match version[start..].find('_') {
        Some(at) if version[start..].starts_with(|c: char| c.is_ascii_digit()) => {
            &version[..start + at]
        }
        _ => version,
    }
}
