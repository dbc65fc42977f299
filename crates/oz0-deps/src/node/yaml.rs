//! YAML locks, which may hold several documents.

use std::ops::Range;

use oz0_yaml::{Limits, Node, Style, Value, parse};

use crate::file::{File, Sink};

/// A document of a text, and where in the text it begins.
pub(super) struct Document<'t> {
    pub(super) root: Node,
    text: &'t str,
    offset: usize,
}

/// The documents of a text; what is wrong with one is unread, and the others are read all the same.
pub(super) fn documents<'t>(file: &File<'_>, text: &'t str, sink: &mut Sink) -> Vec<Document<'t>> {
    let limits = Limits {
        bytes: usize::try_from(file.limits.file_bytes).unwrap_or(usize::MAX),
        depth: file.limits.depth,
        ..Limits::MANIFEST
    };
    let mut documents = Vec::new();
    for part in parts(text) {
        let offset = part.start;
        let body = &text[part];
        let parsed = parse(body, &limits);
        if let Some(problem) = parsed.problems.first() {
            let range = problem.range.start + offset..problem.range.end + offset;
            let help = "correct it, or have the program that wrote it write it anew";
            sink.unread(text, range, format!("is no YAML: {}", problem.message), Some(help.into()));
        }
        documents.extend(parsed.root.map(|root| Document { root, text: body, offset }));
    }
    if documents.is_empty() && sink.unread.is_empty() {
        sink.unread(text, 0..0, "is no YAML: it is empty", None);
    }
    documents
}

/// The texts of the documents. A line that begins with `---` is a document's in whatever it stands (YAML 1.2.2, section
/// 9.1.2).
fn parts(text: &str) -> Vec<Range<usize>> {
    let mut starts = vec![0];
    let mut at = 0;
    let mut begun = false;
    for line in text.split_inclusive(['\n', '\r']) {
        let rest = line.strip_prefix("---");
        let marks =
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r']));
        // The first mark of a text belongs to what stands before it, when that is comments alone.
        if marks && begun {
            starts.push(at);
        }
        let bare = line.trim_start_matches('\u{feff}').trim();
        begun |= !bare.is_empty() && !bare.starts_with(['#', '%']);
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

impl Document<'_> {
    /// A scalar as it is read, or as it is written where it is no string: `5.4`.
    pub(super) fn scalar<'n>(&'n self, node: &'n Node) -> &'n str {
        match &node.value {
            Value::String(text) => text,
            Value::Sequence(_) | Value::Mapping(_) => "",
            _ => self.text.get(node.range.clone()).unwrap_or(""),
        }
    }

    /// Where a part of a string stands in the whole text; all of it, where escapes keep that from being told.
    pub(super) fn place(&self, node: &Node, part: Range<usize>) -> Range<usize> {
        let range = node.anchored().unwrap_or(node.range.clone());
        let quotes = usize::from(matches!(node.style(), Style::SingleQuoted | Style::DoubleQuoted));
        let inner =
            range.start + quotes..range.end.saturating_sub(quotes).max(range.start + quotes);
        let place = if inner.len() == self.scalar(node).len() {
            inner.start + part.start..inner.start + part.end
        } else {
            inner
        };
        place.start + self.offset..place.end + self.offset
    }

    /// The whole node's place in the whole text.
    pub(super) fn range(&self, node: &Node) -> Range<usize> {
        node.range.start + self.offset..node.range.end + self.offset
    }

    /// The entries of a mapping; empty for anything else.
    pub(super) fn entries(node: &Node) -> impl Iterator<Item = (&Node, &Node)> {
        let entries = match &node.value {
            Value::Mapping(entries) => entries.as_slice(),
            _ => &[],
        };
        entries.iter().map(|entry| (&entry.key, &entry.value))
    }

    /// The entries of a member of a mapping.
    pub(super) fn of<'n>(node: &'n Node, key: &str) -> impl Iterator<Item = (&'n Node, &'n Node)> {
        node.get(key).into_iter().flat_map(|entry| Self::entries(&entry.value))
    }
}
