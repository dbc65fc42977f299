//! What the readers of this area do alike: look at a requirement, at a name, at an address, and say what was found.

use std::ops::Range;

use super::decode::{Entry, Node, Undecoded, Value, part};
use super::requirement::Requirement;
use super::url;
use crate::file::{File, Sink};
use crate::{Ecosystem, How, Limits, Package, Via};

/// A file with its text, and where findings go.
pub(super) struct Reader<'f, 't, 's> {
    pub(super) file: &'f File<'f>,
    pub(super) text: &'t str,
    pub(super) sink: &'s mut Sink,
}

/// Reads a file's UTF-8 and decodes it; what does not decode is unread, with its place.
pub(super) fn decoded(
    file: &File<'_>,
    sink: &mut Sink,
    decode: for<'t> fn(&'t str, &Limits) -> Result<Node<'t>, Undecoded>,
    read: impl FnOnce(&mut Reader<'_, '_, '_>, &Node<'_>),
) {
    let Some(text) = text(file, sink) else { return };
    match decode(text, file.limits) {
        Ok(root) => read(&mut Reader { file, text, sink }, &root),
        Err(error) => sink.unread(text, error.range, error.problem, error.help),
    }
}

/// A file's UTF-8 text, or a word about where it is none.
pub(super) fn text<'f>(file: &File<'f>, sink: &mut Sink) -> Option<&'f str> {
    match file.text() {
        Ok(text) => Some(text),
        Err(error) => {
            let at = error.valid_up_to();
            let shown = String::from_utf8_lossy(file.bytes);
            let help = Some("save it as UTF-8".to_owned());
            sink.unread(&shown, at..at + 1, "is not UTF-8", help);
            None
        }
    }
}

impl Reader<'_, '_, '_> {
    pub(super) fn mention(
        &mut self,
        package: &Package,
        how: How,
        range: Range<usize>,
        via: Option<Via>,
    ) {
        self.sink.mention(package, how, self.text, range, via);
    }

    pub(super) fn unread(
        &mut self,
        range: Range<usize>,
        problem: impl Into<String>,
        help: Option<String>,
    ) {
        self.sink.unread(self.text, range, problem, help);
    }

    /// A string that is a requirement (PEP 508).
    pub(super) fn requirement(&mut self, node: &Node<'_>, how: How, via: Option<&Via>) {
        let Some(text) = node.text() else {
            self.unread(
                node.range.clone(),
                "has something in a list of requirements that is no string",
                None,
            );
            return;
        };
        self.requirement_text(text, &node.range, how, via);
    }

    /// A requirement that stands somewhere as it reads, or is written otherwise there.
    pub(super) fn requirement_text(
        &mut self,
        text: &str,
        whole: &Range<usize>,
        how: How,
        via: Option<&Via>,
    ) {
        match Requirement::read(text) {
            Some(requirement) => {
                if let Some((package, range)) = requirement.package(text, self.file.wanted) {
                    let range = part(self.text, whole, text, range);
                    self.mention(package, how, range, via.cloned());
                }
            }
            None => {
                let found = url::package(text, url::Kind::Any, self.file.wanted);
                match found {
                    Some((package, range)) => {
                        let range = part(self.text, whole, text, range);
                        self.mention(package, how, range, via.cloned());
                    }
                    None => self.unread(
                        whole.clone(),
                        format!("has `{}` in a list of requirements, which is none", shown(text)),
                        Some("write a requirement as PEP 508 has it: `name>=1`".to_owned()),
                    ),
                }
            }
        }
    }

    /// A list of requirements, or nothing.
    pub(super) fn requirements(&mut self, list: Option<&Node<'_>>, how: How, via: Option<&Via>) {
        let Some(list) = list else { return };
        if !matches!(list.value, Value::List(_)) {
            self.unread(
                list.range.clone(),
                "has something else where a list of requirements belongs",
                None,
            );
        }
        for item in list.items() {
            self.requirement(item, how, via);
        }
    }

    /// A table of such lists, by name.
    pub(super) fn lists(&mut self, table: Option<&Node<'_>>, how: How, of: &str) {
        for entry in table.map(Node::entries).unwrap_or_default() {
            let via = Via::List(format!("{of}.{}", entry.key));
            self.requirements(Some(&entry.value), how, Some(&via));
        }
    }

    /// A table whose keys are names and whose values say which version, or from where.
    pub(super) fn table(&mut self, table: Option<&Node<'_>>, how: How, via: Option<&Via>) {
        for entry in table.map(Node::entries).unwrap_or_default() {
            self.named(entry, how, via);
        }
    }

    /// One entry of such a table.
    pub(super) fn named(&mut self, entry: &Entry<'_>, how: How, via: Option<&Via>) {
        if let Some(package) = self.file.wanted.package(Ecosystem::PyPi, entry.key.trim()) {
            self.mention(package, how, entry.range.clone(), via.cloned());
            return;
        }
        self.source(&entry.value, how, via);
    }

    /// What a table says about where something comes from. Whether that is one of the packages.
    pub(super) fn source(&mut self, value: &Node<'_>, how: How, via: Option<&Via>) -> bool {
        let one = [value];
        let several: Vec<&Node<'_>> = value.items().iter().collect();
        let values = if several.is_empty() { &one[..] } else { &several[..] };
        for value in values {
            for (key, kind) in ADDRESSES {
                let Some(node) = value.get(key) else { continue };
                if self.address(node, kind, how, via) {
                    return true;
                }
            }
            if let Some(node) = value.get("subdirectory")
                && self.folder(node, how, via)
            {
                return true;
            }
        }
        false
    }

    fn folder(&mut self, node: &Node<'_>, how: How, via: Option<&Via>) -> bool {
        let Some(text) = node.text() else { return false };
        let trimmed = text.trim_end_matches('/');
        let last = trimmed.rsplit('/').next().unwrap_or(trimmed);
        let Some(package) = self.file.wanted.package(Ecosystem::PyPi, last) else { return false };
        let range = trimmed.len() - last.len()..trimmed.len();
        let range = part(self.text, &node.range, text, range);
        self.mention(package, how, range, via.cloned());
        true
    }

    /// An address. Whether it is one of a package that is looked for.
    pub(super) fn address(
        &mut self,
        node: &Node<'_>,
        kind: url::Kind,
        how: How,
        via: Option<&Via>,
    ) -> bool {
        let Some(text) = node.text() else { return false };
        let Some((package, range)) = url::package(text, kind, self.file.wanted) else {
            return false;
        };
        let range = part(self.text, &node.range, text, range);
        self.mention(package, how, range, via.cloned());
        true
    }
}

/// The members of a table by which installers say where something comes from.
const ADDRESSES: [(&str, url::Kind); 8] = [
    ("git", url::Kind::Repository),
    ("hg", url::Kind::Repository),
    ("svn", url::Kind::Repository),
    ("bzr", url::Kind::Repository),
    ("url", url::Kind::Any),
    ("file", url::Kind::Any),
    ("path", url::Kind::Any),
    ("archive", url::Kind::Any),
];

/// A text short enough for a message.
fn shown(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST {
        text.to_owned()
    } else {
        text.chars().take(MOST).chain(['…']).collect()
    }
}
