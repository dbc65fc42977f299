//! `package.json`: what npm, pnpm, Yarn and Bun install for it.
//!
//! Every list of dependencies counts, development's and optional ones too: each is installed by somebody. An override counts
//! where it puts a package in another's place, not where it only says which version. Of a package that is installed already
//! (below `node_modules`), its own development's lists and overrides are read by no installer. A catalog's entry counts
//! where a dependency of the file refers to it.

use jsonc_parser::ast::Value;

use super::json::{Text, items, member, members, string};
use super::specifier::{Place, dependency, name_of};
use crate::file::{File, Sink};
use crate::{Ecosystem, How, Via};

/// The lists of dependencies, and whether an installer reads them of a package that is installed.
const LISTS: [(&str, bool); 4] = [
    ("dependencies", true),
    ("optionalDependencies", true),
    ("peerDependencies", true),
    ("devDependencies", false),
];

/// Lists of names alone, which say what a package carries in its own archive.
const BUNDLES: [&str; 2] = ["bundleDependencies", "bundledDependencies"];

pub(super) fn read(file: &File<'_>, text: &str, root: &Value<'_>, sink: &mut Sink) {
    let reader = Reader { file, text, root };
    let installed = Installed::of(file.path);
    if let Installed::Root(folder) = installed {
        reader.copy(folder, sink);
    }
    for (list, always) in LISTS {
        if always || matches!(installed, Installed::No) {
            reader.list(root, list, list, sink);
        }
    }
    for list in BUNDLES {
        for name in member(root, list).map(items).unwrap_or_default().iter().filter_map(Text::of) {
            if let Some(package) = file.wanted.package(Ecosystem::Npm, name.value) {
                let via = Some(Via::List(list.to_owned()));
                sink.mention(package, How::Direct, text, name.whole(), via);
            }
        }
    }
    if !matches!(installed, Installed::No) {
        return;
    }
    for list in ["overrides", "resolutions"] {
        if let Some(overrides) = member(root, list) {
            reader.overrides(overrides, None, list, sink);
        }
    }
    let Some(pnpm) = member(root, "pnpm") else { return };
    if let Some(overrides) = member(pnpm, "overrides") {
        reader.overrides(overrides, None, "pnpm.overrides", sink);
    }
    for (of, extension) in member(pnpm, "packageExtensions").map(members).unwrap_or_default() {
        for (list, _) in LISTS {
            let shown = format!("pnpm.packageExtensions.{}.{list}", of.value);
            reader.list(extension, list, &shown, sink);
        }
    }
}

/// Whether a file lies in an installed package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Installed<'p> {
    No,
    /// It is the `package.json` of the package that is installed in the folder of this name.
    Root(&'p str),
    /// Somewhere in one.
    Inside,
}

impl<'p> Installed<'p> {
    fn of(path: &'p str) -> Self {
        let inside = match path.rfind("/node_modules/") {
            Some(at) => &path[at + "/node_modules/".len()..],
            None => match path.strip_prefix("node_modules/") {
                Some(inside) => inside,
                None => return Self::No,
            },
        };
        let Some(folder) = inside.strip_suffix("/package.json") else { return Self::Inside };
        let depth = usize::from(folder.starts_with('@'));
        if folder.matches('/').count() == depth { Self::Root(folder) } else { Self::Inside }
    }
}

struct Reader<'f, 'v> {
    file: &'f File<'f>,
    text: &'v str,
    root: &'v Value<'v>,
}

impl Reader<'_, '_> {
    /// A package that lies in a folder of another name: npm puts an alias there.
    fn copy(&self, folder: &str, sink: &mut Sink) {
        let Some(name) = string(self.root, "name").filter(|name| name.value != folder) else {
            return;
        };
        if let Some(package) = self.file.wanted.package(Ecosystem::Npm, name.value) {
            let via = Some(Via::Alias(folder.to_owned()));
            sink.mention(package, How::Vendored, self.text, name.whole(), via);
        }
    }

    /// The dependencies of a list in `of`.
    fn list(&self, of: &Value<'_>, list: &str, shown: &str, sink: &mut Sink) {
        for (key, value) in member(of, list).map(members).unwrap_or_default() {
            let value = Text::of(value);
            let asked = value.map_or("", |value| value.value);
            let catalogued =
                asked.strip_prefix("catalog:").map(|name| self.catalog(name, key.value));
            let found = match (&catalogued, value) {
                (Some(Some(listed)), Some(value)) => {
                    // What the catalog says decides; the place is the reference to it.
                    dependency(self.file.wanted, key.value, listed).map(|(package, place)| {
                        let place = match place {
                            Place::Key => Place::Key,
                            Place::Value(_) => Place::Value(0..value.value.len()),
                        };
                        (package, place)
                    })
                }
                _ => dependency(self.file.wanted, key.value, asked),
            };
            match (found, value) {
                (Some((package, Place::Value(range))), Some(value)) => {
                    let via = Some(Via::Alias(key.value.to_owned()));
                    sink.mention(package, How::Direct, self.text, value.place(range), via);
                }
                (Some((package, _)), _) => {
                    let via = Some(Via::List(shown.to_owned()));
                    sink.mention(package, How::Direct, self.text, key.whole(), via);
                }
                (None, _) => {}
            }
        }
    }

    /// What this file's own catalog of that name says of a package: Bun keeps catalogs in `package.json`.
    fn catalog(&self, catalog: &str, package: &str) -> Option<&str> {
        let workspaces = member(self.root, "workspaces");
        let places = [Some(self.root), workspaces].into_iter().flatten();
        let entry = places.into_iter().find_map(|place| {
            let listed = if matches!(catalog, "" | "default") {
                member(place, "catalog")
            } else {
                member(place, "catalogs").and_then(|catalogs| member(catalogs, catalog))
            };
            listed.and_then(|listed| string(listed, package))
        });
        entry.map(|entry| entry.value)
    }

    /// Overrides, which may lie in each other: `of` is the package that the innermost is about.
    fn overrides(&self, value: &Value<'_>, of: Option<&str>, list: &str, sink: &mut Sink) {
        for (key, value) in members(value) {
            let replaced =
                if key.value == "." { of.unwrap_or_default() } else { overridden(key.value) };
            if let Value::Object(_) = value {
                self.overrides(value, Some(replaced), list, sink);
                continue;
            }
            let Some(by) = Text::of(value) else { continue };
            if let Some((package, Place::Value(range))) = dependency(self.file.wanted, "", by.value)
                && package.name != replaced
            {
                let via = Some(Via::List(list.to_owned()));
                sink.mention(package, How::Constraint, self.text, by.place(range), via);
            }
        }
    }
}

/// The package that an override's key is about: the last of `a>b@1`, of `**/a/@s/b`.
fn overridden(key: &str) -> &str {
    let last = key.rsplit('>').next().unwrap_or(key);
    // A version may stand behind the name, and hold a `/` itself.
    let mut end = last.len();
    for (at, _) in last.match_indices('@') {
        let begins_scope = at == 0 || last[..at].ends_with('/');
        if !begins_scope {
            end = at;
            break;
        }
    }
    let path = &last[..end];
    let start = match path.rfind('/') {
        None => 0,
        Some(at) => match path[..at].rfind('/') {
            _ if path[..at].starts_with('@') && !path[..at].contains('/') => 0,
            Some(scope) if path[scope + 1..].starts_with('@') => scope + 1,
            _ => at + 1,
        },
    };
    name_of(&path[start..]).0
}
