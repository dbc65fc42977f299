//! Where the cursor stands in a document that is only half written.
//!
//! What is being typed is no YAML yet: `agents: {greeter: {to` has neither its value nor its brackets. So the word below the
//! cursor is replaced by one that stands nowhere else, with what may be missing behind it, and the text is read again: as soon
//! as that word is a key or a value of its own in the tree, its path is where the cursor stands. Mistakes elsewhere do not
//! matter, since the parser reads on after each.

use std::collections::BTreeSet;
use std::ops::Range;

use oz0_yaml::{Limits, Node, Style, Value, parse};

use crate::schema::Step;

/// A word of a private-use character, letters, and nothing that YAML gives a meaning to.
const MARK: &str = "oz0\u{f8ff}cursor";

/// The longest text that is looked at, in bytes: it is read several times for one word.
const LONGEST: usize = 256 * 1024;

/// Where the cursor stands.
#[derive(Debug)]
pub(crate) struct Cursor {
    /// The word that is being written, in bytes of the text; empty where none is.
    pub(crate) word: Range<usize>,
    pub(crate) place: Place,
    /// The path of the mapping that a key is of, or of the value.
    pub(crate) path: Vec<Step>,
    /// What could be read of the document, with the mark in it.
    pub(crate) root: Node,
    /// Whether the word stands in quotes.
    pub(crate) quoted: bool,
}

/// What the cursor is at.
#[derive(Debug)]
pub(crate) enum Place {
    /// A key of a mapping, which has these others.
    Key { others: BTreeSet<String>, in_flow: bool, has_colon: bool },
    /// A value, or an item of a sequence; alone on its line where a mapping could begin.
    Value { begins_line: bool },
}

/// Characters of names, addresses and paths.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '*' | '@')
}

impl Cursor {
    /// Where the cursor stands in a text; `None` where nothing of the document's structure is written: in a comment, in a text
    /// of several words, in a block of text.
    pub(crate) fn find(text: &str, offset: usize) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let word = word(text, offset);
        let quote = text[..word.start].chars().next_back().filter(|c| matches!(c, '"' | '\''));
        let rest = text[word.end..].trim_start_matches([' ', '\t']);
        let has_colon = rest.starts_with(':') && !rest[1..].starts_with(is_word);
        let plain: &[&str] = if has_colon { &[""] } else { &["", ":", "]", "}", ": }", "]}"] };
        let open: Vec<String> = match quote {
            Some(quote) => ["", "]", "}", ":", "]}"].map(|it| format!("{quote}{it}")).to_vec(),
            None => Vec::new(),
        };
        let closed = plain.iter().map(|it| (*it).to_owned());
        for missing in closed.chain(open) {
            let marked = [&text[..word.start], MARK, &missing, &text[word.end..]].concat();
            let Some(root) = parse(&marked, &Limits::MANIFEST).root else { continue };
            let mut path = Vec::new();
            let mark = word.start..word.start + MARK.len();
            if let Some(place) = search(&root, &marked, &mark, &mut path, has_colon) {
                return Some(Self { word, place, path, root, quoted: quote.is_some() });
            }
        }
        None
    }
}

fn word(text: &str, offset: usize) -> Range<usize> {
    let offset = text.floor_char_boundary(offset.min(text.len()));
    let start = text[..offset].char_indices().rev().take_while(|(_, c)| is_word(*c)).last();
    let mut start = start.map_or(offset, |(at, _)| at);
    // A dash that begins an item is no letter of it.
    if text[start..offset].starts_with("- ") || &text[start..offset] == "-" {
        start = offset;
    }
    let rest = &text[offset..];
    let end = offset + rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    start..end
}

/// Looks for the mark, and leaves its path behind.
fn search(
    node: &Node,
    text: &str,
    mark: &Range<usize>,
    path: &mut Vec<Step>,
    has_colon: bool,
) -> Option<Place> {
    let is_mark = |node: &Node| {
        node.as_str() == Some(MARK)
            && node.anchored().is_none()
            && !matches!(node.style(), Style::Literal | Style::Folded)
    };
    if is_mark(node) {
        let line = text[..mark.start].rsplit(['\n', '\r']).next().unwrap_or_default();
        let begins_line = line.chars().all(|c| matches!(c, ' ' | '-' | '\u{feff}'));
        return Some(Place::Value { begins_line });
    }
    match &node.value {
        Value::Mapping(entries) => {
            if entries.iter().any(|entry| is_mark(&entry.key)) {
                let names = entries.iter().filter_map(|entry| entry.key.as_str());
                let others = names.filter(|name| *name != MARK).map(str::to_owned).collect();
                let in_flow = node.style() == Style::Flow;
                return Some(Place::Key { others, in_flow, has_colon });
            }
            for entry in entries {
                let Some(name) = entry.key.as_str() else { continue };
                path.push(Step::Key(name.to_owned()));
                if let Some(place) = search(&entry.value, text, mark, path, has_colon) {
                    return Some(place);
                }
                path.pop();
            }
            None
        }
        Value::Sequence(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Index(index));
                if let Some(place) = search(item, text, mark, path, has_colon) {
                    return Some(place);
                }
                path.pop();
            }
            None
        }
        _ => None,
    }
}
