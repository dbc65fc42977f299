//! npm's locks: `package-lock.json` and `npm-shrinkwrap.json` of the versions 1 to 3, and `node_modules/.package-lock.json`.
//!
//! Versions 2 and 3 have a flat table by place (`node_modules/a/node_modules/b`), version 1 and, for older programs, version 2
//! a tree. Both are read into one table by place: which of them an npm obeys depends on the npm.

use std::collections::BTreeMap;

use jsonc_parser::ast::Value;

use super::graph::Graph;
use super::json::{Text, member, members, range, string};
use super::specifier::{Place, address, dependency};
use crate::file::{File, Sink};
use crate::{Ecosystem, How, Package, Via};

/// What an entry needs, by the names of its lists; the first two of a version 1.
const NEEDS: [&str; 4] = ["dependencies", "optionalDependencies", "peerDependencies", "requires"];

pub(super) fn read(file: &File<'_>, text: &str, root: &Value<'_>, sink: &mut Sink) {
    let version = match member(root, "lockfileVersion") {
        None => 1,
        Some(Value::NumberLit(number)) => number.value.parse::<u64>().unwrap_or(u64::MAX),
        Some(_) => u64::MAX,
    };
    if version > 3 || !matches!(root, Value::Object(_)) {
        let place = member(root, "lockfileVersion").unwrap_or(root);
        let help = "have npm write it anew, with lockfileVersion 3";
        sink.unread(text, range(place), "is no lock of npm's versions 1 to 3", Some(help.into()));
        return;
    }
    let mut table = Table::default();
    if let Some(packages) = member(root, "packages") {
        for (key, entry) in members(packages) {
            table.add(key.value.to_owned(), key, entry, false);
        }
    }
    let flat = table.entries.len();
    let mut open: Vec<(String, &Value<'_>)> = Vec::new();
    open.extend(member(root, "dependencies").map(|tree| (String::new(), tree)));
    while let Some((above, tree)) = open.pop() {
        for (key, entry) in members(tree) {
            let slash = if above.is_empty() { "" } else { "/" };
            let place = format!("{above}{slash}node_modules/{}", key.value);
            open.extend(member(entry, "dependencies").map(|below| (place.clone(), below)));
            table.add(place, key, entry, true);
        }
    }
    let mut found: Vec<(usize, &Package, std::ops::Range<usize>, Option<&str>)> = Vec::new();
    for index in 0..table.entries.len() {
        let entry = &table.entries[index];
        let Some((package, place, alias)) = entry.names(file) else { continue };
        // The tree of a version 2 says the same again.
        let again = index >= flat
            && found.iter().any(|(at, ..)| *at < flat && table.entries[*at].place == entry.place);
        if !again {
            found.push((index, package, place, alias));
        }
    }
    if found.is_empty() {
        return;
    }
    let graph = table.graph();
    found.sort_by_key(|(_, _, place, _)| place.start);
    for (index, package, place, alias) in found {
        let via = match (graph.via_unless(sink.is_full(), index), alias) {
            (None | Some(Via::List(_)), Some(alias)) => Some(Via::Alias(alias.to_owned())),
            (via, _) => via,
        };
        sink.mention(package, How::Locked, text, place, via);
    }
}

struct Entry<'v> {
    /// `node_modules/a/node_modules/b`; empty for the project itself, a folder for a workspace of it.
    place: String,
    key: Text<'v>,
    value: &'v Value<'v>,
    /// From the tree, whose keys are names and not places.
    tree: bool,
}

impl Entry<'_> {
    /// The name it is installed under; nothing for the project and its workspaces.
    fn installed(&self) -> Option<&str> {
        self.place.rfind("node_modules/").map(|at| &self.place[at + "node_modules/".len()..])
    }

    /// The package that it locks, where it is one that is looked for: what names it, and the name it goes by if that is
    /// another.
    fn names<'w>(
        &self,
        file: &'w File<'_>,
    ) -> Option<(&'w Package, std::ops::Range<usize>, Option<&str>)> {
        let installed = self.installed()?;
        let wanted = file.wanted;
        let by_key = || {
            let end = self.key.value.len();
            self.key.place(end - installed.len()..end)
        };
        let name = string(self.value, "name").filter(|_| !self.tree);
        let version = string(self.value, "version");
        let found = match name {
            Some(name) => wanted.package(Ecosystem::Npm, name.value).map(|package| {
                if name.value == installed {
                    (package, by_key(), None)
                } else {
                    (package, name.whole(), Some(installed))
                }
            }),
            None => match dependency(wanted, installed, version.map_or("", |text| text.value)) {
                Some((package, Place::Key)) => Some((package, by_key(), None)),
                Some((package, Place::Value(at))) => {
                    version.map(|version| (package, version.place(at), Some(installed)))
                }
                None => None,
            },
        };
        found.or_else(|| {
            let resolved = string(self.value, "resolved")?;
            let (package, at) = address(wanted, resolved.value)?;
            Some((package, resolved.place(at), Some(installed)))
        })
    }
}

#[derive(Default)]
struct Table<'v> {
    entries: Vec<Entry<'v>>,
}

impl<'v> Table<'v> {
    fn add(&mut self, place: String, key: Text<'v>, value: &'v Value<'v>, tree: bool) {
        self.entries.push(Entry { place, key, value, tree });
    }

    /// What needs what. Node.js looks for a package in the `node_modules` of each folder upwards.
    fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, entry) in self.entries.iter().enumerate() {
            graph.add(entry.installed().unwrap_or(&entry.place));
            places.entry(&entry.place).or_insert(index);
        }
        let mut needed = vec![false; self.entries.len()];
        let mut asks = false;
        for (index, entry) in self.entries.iter().enumerate() {
            let is_project = entry.installed().is_none();
            let lists = NEEDS.into_iter().chain(is_project.then_some("devDependencies"));
            for list in lists {
                // In a tree, `dependencies` are what lies below, and `requires` what is needed.
                if entry.tree && list == "dependencies" {
                    continue;
                }
                for (name, _) in member(entry.value, list).map(members).unwrap_or_default() {
                    let Some(target) = resolve(&places, &entry.place, name.value) else { continue };
                    needed[target] = true;
                    if is_project {
                        asks = true;
                        graph.ask(target, Some(list.to_owned()));
                    } else {
                        graph.need(index, target);
                    }
                }
            }
        }
        if !asks {
            // A lock of version 1 does not say what the project asks for; it is what nothing else needs.
            for (index, _) in needed.iter().enumerate().filter(|(_, needed)| !**needed) {
                graph.ask(index, None);
            }
        }
        graph
    }
}

fn resolve(places: &BTreeMap<&str, usize>, place: &str, name: &str) -> Option<usize> {
    let mut folder = place;
    loop {
        let slash = if folder.is_empty() { "" } else { "/" };
        let candidate = format!("{folder}{slash}node_modules/{name}");
        if let Some(found) = places.get(candidate.as_str()) {
            return Some(*found);
        }
        folder = match folder.rfind("/node_modules/") {
            Some(at) => &folder[..at],
            None if folder.is_empty() => return None,
            None => "",
        };
    }
}
