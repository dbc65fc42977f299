//! What the manifest starts: the packages and commands of its servers.
//!
//! The text is read anew and without types, since a manifest with errors starts what it names as soon as they are mended.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use oz0_deps::{Ecosystem, Format, Package, Wanted, command};
use oz0_diagnostic::Span;
use oz0_plugin::Plugin;
use oz0_yaml::{Limits, Node, Style, Value, parse};

use super::packages::FORBIDDEN;

/// A place of the manifest that names a forbidden package.
pub(super) struct Named {
    pub(super) span: Span,
    pub(super) ecosystem: Ecosystem,
    pub(super) name: String,
    /// Whether it is the server's own package, and not one that a command starts.
    pub(super) is_package: bool,
}

/// What the manifest says of what its tools start.
#[derive(Default)]
pub(super) struct Started {
    pub(super) named: Vec<Named>,
    /// The formats of the files that it makes dependency files: the tools' locks, where their package tells, and what a command
    /// gives an installer.
    pub(super) formats: BTreeMap<String, Format>,
    /// Where a command gives an installer a file that is none of the plugin's.
    pub(super) unread: Vec<Span>,
}

pub(super) fn read(plugin: &Plugin, wanted: &Wanted) -> Started {
    let mut started = Started::default();
    let text = plugin.source().text();
    let Some(root) = parse(text, &Limits::MANIFEST).root else { return started };
    let mut reader = Reader { plugin, wanted, text, started: &mut started };
    for (tool, value) in entries(root.get("tools").map(|entry| &entry.value)) {
        if let (Some(tool), Some(package)) = (tool.as_str(), value.get("package")) {
            let package = package.value.as_str().unwrap_or_default();
            let format = match package.split_once(':') {
                Some(("pypi", _)) => Format::Requirements,
                Some(("npm", _)) => Format::PackageLock,
                _ => continue,
            };
            reader.started.formats.insert(format!("locks/{tool}.lock"), format);
        }
    }
    reader.visit(&root);
    started
}

struct Reader<'r> {
    plugin: &'r Plugin,
    wanted: &'r Wanted,
    text: &'r str,
    started: &'r mut Started,
}

impl Reader<'_> {
    /// Every mapping with a command or a package, wherever it stands: tools, harnesses.
    fn visit(&mut self, node: &Node) {
        match &node.value {
            Value::Sequence(items) => {
                for item in items {
                    self.visit(item);
                }
            }
            Value::Mapping(entries) => {
                let arguments =
                    node.get("args").map(|entry| items(&entry.value)).unwrap_or_default();
                if let Some(command) = node.get("command") {
                    let mut words = items(&command.value);
                    words.extend(&arguments);
                    self.command(&words);
                }
                if let Some(package) = node.get("package") {
                    self.package(&package.value);
                    // Its program is not known; what stands behind `--` is one that it starts.
                    let mut words = vec![&package.value];
                    words.extend(&arguments);
                    self.command(&words);
                }
                for entry in entries {
                    self.visit(&entry.value);
                }
            }
            _ => {}
        }
    }

    fn command(&mut self, words: &[&Node]) {
        // What is no string names no package.
        let texts: Vec<&str> = words.iter().map(|word| word.as_str().unwrap_or_default()).collect();
        let brought = command(&texts, self.wanted);
        for named in brought.named {
            let range = self.place(words[named.word], named.range);
            self.found(named.package.ecosystem, &named.package.name, range, false);
        }
        for file in brought.files {
            let is_packed =
                |path: &String| self.plugin.packed().iter().any(|file| file.path == *path);
            match file.path.filter(is_packed) {
                // uv reads these for what stands in them as sources or projects, and so does the walk.
                Some(path) if has_own_format(&path) => {}
                Some(path) => {
                    self.started.formats.insert(path, Format::Requirements);
                }
                None => {
                    let range = self.place(words[file.word], file.range);
                    let span = Span::new(self.plugin.source(), range);
                    if !self.started.unread.contains(&span) {
                        self.started.unread.push(span);
                    }
                }
            }
        }
    }

    /// `pypi:NAME==1`, `npm:NAME@1`, `oci:IMAGE@sha256:…`.
    fn package(&mut self, node: &Node) {
        let Some((kind, rest)) = node.as_str().and_then(|text| text.split_once(':')) else {
            return;
        };
        let start = kind.len() + 1;
        let end = match kind {
            "pypi" => rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))),
            "npm" => rest.get(1..).and_then(|rest| rest.find('@')).map(|at| at + 1),
            "oci" => rest.find('@'),
            _ => return,
        };
        let name = &rest[..end.unwrap_or(rest.len())];
        let found: Option<(Ecosystem, String)> = match kind {
            "oci" => {
                let is_image = |image: &&'static str| {
                    let path =
                        name.find(*image).filter(|at| *at == 0 || name[..*at].ends_with('/'));
                    path.is_some_and(|at| !name[at + image.len()..].contains('/'))
                };
                let row = FORBIDDEN.iter().find(|row| row.images.iter().any(is_image));
                row.map(|row| (row.ecosystem, row.name.to_owned()))
            }
            _ => {
                let ecosystem = if kind == "npm" { Ecosystem::Npm } else { Ecosystem::PyPi };
                let package: Option<&Package> = self.wanted.package(ecosystem, name);
                package.map(|package| (ecosystem, package.name.clone()))
            }
        };
        if let Some((ecosystem, package)) = found {
            let range = self.place(node, start..start + name.len());
            self.found(ecosystem, &package, range, true);
        }
    }

    fn found(&mut self, ecosystem: Ecosystem, name: &str, range: Range<usize>, is_package: bool) {
        let span = Span::new(self.plugin.source(), range);
        let named = &mut self.started.named;
        // An alias of YAML brings the same place again.
        if named.iter().all(|known| known.span != span) {
            named.push(Named { span, ecosystem, name: name.to_owned(), is_package });
        }
    }

    /// Where a part of a string stands; all of it, where escapes keep that from being told.
    fn place(&self, node: &Node, part: Range<usize>) -> Range<usize> {
        let range = node.anchored().unwrap_or(node.range.clone());
        let quotes = usize::from(matches!(node.style(), Style::SingleQuoted | Style::DoubleQuoted));
        let inner = range.start + quotes..range.end.saturating_sub(quotes);
        let verbatim = self.text.get(inner.clone()).is_some_and(|text| Some(text) == node.as_str());
        if verbatim { inner.start + part.start..inner.start + part.end } else { range }
    }
}

/// Whether a file that an installer takes requirements from is a source or a project.
fn has_own_format(path: &str) -> bool {
    let ending = Path::new(path).extension();
    ending.is_some_and(|ending| ["py", "toml"].iter().any(|own| ending.eq_ignore_ascii_case(own)))
}

fn entries(node: Option<&Node>) -> impl Iterator<Item = (&Node, &Node)> {
    let entries = match node.map(|node| &node.value) {
        Some(Value::Mapping(entries)) => entries.as_slice(),
        _ => &[],
    };
    entries.iter().map(|entry| (&entry.key, &entry.value))
}

/// The items of a sequence, or a scalar as one.
fn items(node: &Node) -> Vec<&Node> {
    match &node.value {
        Value::Sequence(items) => items.iter().collect(),
        Value::Mapping(_) => Vec::new(),
        _ => vec![node],
    }
}
