//! The tree of a text.

use std::ops::Range;

use crate::data::Data;
use crate::edit::PathStep;

/// A value and its place.
///
/// A node that an alias put here has the alias's own range (`*name`), while what lies in it keeps the
/// ranges of the anchored text: [`Node::anchored`] tells the two apart.
#[derive(Debug, Clone)]
pub struct Node {
    /// Where the value stands, without its tag and anchor. A block collection reaches from its first
    /// key or dash to the end of its last value; a block scalar from its `|` or `>` to the end of its
    /// last line; a value that is not written at all is an empty range behind its `:` or `-`.
    pub range: Range<usize>,
    /// What the text says.
    pub value: Value,
    pub(crate) style: Style,
    /// The range with tag, anchor, and all line breaks of a block scalar.
    pub(crate) outer: Range<usize>,
    /// The anchored node's range, where this node is an alias.
    pub(crate) anchored: Option<Range<usize>>,
    /// Whether an anchor (`&name`) stands before it.
    pub(crate) anchor: bool,
}

/// A value, as the core schema resolves it.
#[derive(Debug, Clone)]
pub enum Value {
    /// `null`, `~`, or nothing at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer, written in base 10, 8 (`0o17`) or 16 (`0x1F`).
    Int(i64),
    /// An integer that an `i64` does not hold: its digits as written, without `+` and leading zeros.
    BigInt(String),
    /// A number with a fraction or an exponent, `.inf`, `-.inf` or `.nan`.
    Float(f64),
    /// Everything else that is no collection.
    String(String),
    /// A sequence.
    Sequence(Vec<Node>),
    /// A mapping, in the order of the text. A duplicate key's later entries are here too.
    Mapping(Vec<Entry>),
}

/// A key and its value in a mapping.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The key. It need not be a string: YAML allows any node.
    pub key: Node,
    /// The value.
    pub value: Node,
}

/// How a node is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Style {
    /// Not written: the null of `key:`.
    Absent,
    /// A plain scalar.
    Plain,
    /// A scalar in `'single quotes'`.
    SingleQuoted,
    /// A scalar in `"double quotes"`.
    DoubleQuoted,
    /// A `|` block scalar.
    Literal,
    /// A `>` block scalar.
    Folded,
    /// A block collection: entries on lines of their own.
    Block,
    /// A flow collection: `{...}` or `[...]`.
    Flow,
}

/// A comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Where it stands, from its `#` to the end of the line, without the line break.
    pub range: Range<usize>,
    /// What stands after the `#`.
    pub text: String,
    /// Whether nothing but blanks stands before it on its line.
    pub own_line: bool,
}

impl Node {
    /// The first entry of a mapping with this string as its key. Nothing for any other kind of node.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Mapping(entries) => entries.iter().find(|entry| entry.key.as_str() == Some(key)),
            _ => None,
        }
    }

    /// The text of a string. Nothing for any other kind of node.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a sequence. Nothing for any other kind of node.
    pub fn as_sequence(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a mapping. Nothing for any other kind of node.
    pub fn as_mapping(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    /// What it is, for a message: `"a mapping"`, `"a string"`, `"an integer"`.
    pub fn kind(&self) -> &'static str {
        self.value.kind()
    }

    /// How it is written.
    pub fn style(&self) -> Style {
        self.style
    }

    /// Where an alias's value really stands. Nothing for a node that is no alias.
    pub fn anchored(&self) -> Option<Range<usize>> {
        self.anchored.clone()
    }

    /// The node that a path leads to.
    pub fn at(&self, path: &[PathStep<'_>]) -> Option<&Node> {
        path.iter().try_fold(self, Node::step)
    }

    pub(crate) fn step(&self, step: &PathStep<'_>) -> Option<&Node> {
        match (step, &self.value) {
            (PathStep::Key(key), _) => self.get(key).map(|entry| &entry.value),
            (PathStep::Index(index), Value::Sequence(items)) => items.get(*index),
            (PathStep::Index(_), _) => None,
        }
    }

    /// The index of a step's entry or item.
    pub(crate) fn index(&self, step: &PathStep<'_>) -> Option<usize> {
        match (step, &self.value) {
            (PathStep::Key(key), Value::Mapping(entries)) => {
                entries.iter().position(|entry| entry.key.as_str() == Some(key))
            }
            (PathStep::Index(index), Value::Sequence(_)) => Some(*index),
            _ => None,
        }
    }

    /// Whether an anchor stands before this node or in it.
    pub(crate) fn holds_anchor(&self) -> bool {
        self.anchor
            || self.anchored.is_none()
                && match &self.value {
                    Value::Sequence(items) => items.iter().any(Self::holds_anchor),
                    Value::Mapping(entries) => entries
                        .iter()
                        .any(|entry| entry.key.holds_anchor() || entry.value.holds_anchor()),
                    _ => false,
                }
    }

    /// The value without places.
    pub fn data(&self) -> Data {
        Data::from(&self.value)
    }
}

impl Value {
    /// What it is, for a message: `"a mapping"`, `"a string"`, `"an integer"`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::BigInt(_) => "an integer",
            Self::Float(_) => "a float",
            Self::String(_) => "a string",
            Self::Sequence(_) => "a sequence",
            Self::Mapping(_) => "a mapping",
        }
    }
}
