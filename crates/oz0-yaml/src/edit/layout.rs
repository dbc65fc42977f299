//! How a text is laid out: its line break, its indentation, and where the entries of a collection
//! begin and end.

use std::ops::Range;

use crate::node::{Node, Style, Value};
use crate::place::{indentation, line_start, skip_space};

/// How this text's author indents.
pub(super) struct Layout {
    pub(super) line_break: &'static str,
    /// Spaces from a mapping to a collection in it.
    pub(super) step: usize,
    /// Spaces from a mapping to the dashes of a sequence in it; often none.
    pub(super) dash: usize,
}

impl Layout {
    pub(super) fn of(text: &str, root: &Node) -> Self {
        let line_break = match text.find(['\n', '\r']) {
            Some(at) if text[at..].starts_with("\r\n") => "\r\n",
            Some(at) if text[at..].starts_with('\r') => "\r",
            _ => "\n",
        };
        let mut found = (None, None);
        measure(text, root, &mut found);
        let step = found.0.unwrap_or(2);
        Self { line_break, step, dash: found.1.unwrap_or(step) }
    }
}

/// Finds the first mapping in a mapping, and the first sequence in one.
fn measure(text: &str, node: &Node, found: &mut (Option<usize>, Option<usize>)) {
    if node.style != Style::Block
        || node.anchored.is_some()
        || found.0.is_some() && found.1.is_some()
    {
        return;
    }
    match &node.value {
        Value::Sequence(items) => {
            for item in items {
                measure(text, item, found);
            }
        }
        Value::Mapping(entries) => {
            let outer = column(text, node.range.start);
            for entry in entries {
                let value = &entry.value;
                if value.style == Style::Block && value.anchored.is_none() {
                    let inner = column(text, value.range.start).checked_sub(outer);
                    match &value.value {
                        Value::Mapping(_) => {
                            found.0 = found.0.or(inner.filter(|step| (1..=8).contains(step)));
                        }
                        _ => found.1 = found.1.or(inner.filter(|step| *step <= 8)),
                    }
                }
                measure(text, value, found);
            }
        }
        _ => {}
    }
}

/// How many bytes stand before a place on its line.
pub(super) fn column(text: &str, offset: usize) -> usize {
    offset - line_start(text, offset)
}

/// An entry of a mapping or an item of a sequence.
pub(super) struct Item {
    /// From its key, `?` or `-` to the end of its value, without line breaks behind that.
    pub(super) range: Range<usize>,
    /// The end with the line breaks that belong to a block scalar.
    pub(super) outer_end: usize,
    /// Right behind its `:` or `-`; nothing where it has none.
    pub(super) lead: Option<usize>,
}

/// The entries or items of a collection, in order.
pub(super) fn items(text: &str, node: &Node) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let mut push = |first: &Node, value: &Node, key: Option<&Node>| {
        let before = items.last().map_or(node.range.start, |item: &Item| item.range.end);
        let start = match node.style {
            Style::Block if items.is_empty() => node.range.start,
            Style::Block => entry_start(text, node, before, first.outer.start),
            // An explicit key of a flow mapping begins with its `?`.
            _ => {
                let from = text[..first.outer.start].trim_end();
                if from.len() > before && from.ends_with('?') {
                    from.len() - 1
                } else {
                    first.outer.start
                }
            }
        };
        let lead = match key {
            None if node.style == Style::Block => Some(start + 1),
            None => None,
            Some(key) => {
                let colon = skip_space(text, key.outer.end, |_| false);
                text[colon..].starts_with(':').then_some(colon + 1)
            }
        };
        let end = value.range.end.max(key.map_or(start, |key| key.range.end));
        let outer_end = value.outer.end.max(end);
        items.push(Item { range: start..end, outer_end, lead });
    };
    match &node.value {
        Value::Mapping(entries) => {
            for entry in entries {
                push(&entry.key, &entry.value, Some(&entry.key));
            }
        }
        Value::Sequence(values) => {
            for value in values {
                push(value, value, None);
            }
        }
        _ => {}
    }
    items
}

/// Where a later entry of a block collection begins: on the first line behind the entry before whose
/// first character stands in the collection's column and is no comment.
fn entry_start(text: &str, node: &Node, before: usize, upto: usize) -> usize {
    let wanted = column(text, node.range.start);
    let mut at = line_start(text, upto);
    let mut found = upto;
    loop {
        let first = at + indentation(text, at);
        if at > before && first - at == wanted && first <= upto && !text[first..].starts_with('#') {
            found = first;
        }
        if at <= before {
            return found;
        }
        at = line_start(text, previous_line(text, at));
    }
}

/// A place on the line before the one that begins at `start`.
fn previous_line(text: &str, start: usize) -> usize {
    let before = &text[..start];
    let before = before.strip_suffix('\n').unwrap_or(before);
    before.strip_suffix('\r').unwrap_or(before).len()
}
