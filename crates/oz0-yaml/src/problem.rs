//! What can be wrong with a text.

use std::ops::Range;

/// Something the author of a text has to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What kind of thing is wrong.
    pub kind: ProblemKind,
    /// Where, in bytes of the text that was handed in.
    pub range: Range<usize>,
    /// What is wrong, in one line. It may quote the text as it stands, control characters too.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Another place that has to do with it, and how.
    pub related: Option<(Range<usize>, String)>,
}

impl Problem {
    pub(crate) fn new(kind: ProblemKind, range: Range<usize>, message: impl Into<String>) -> Self {
        Self { kind, range, message: message.into(), help: None, related: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn related(mut self, range: Range<usize>, message: impl Into<String>) -> Self {
        self.related = Some((range, message.into()));
        self
    }
}

/// The kinds of [`Problem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The text is longer than [`crate::Limits::bytes`]; nothing of it was read.
    TooLarge,
    /// A character that YAML 1.2.2 section 5.1 does not allow in a text.
    Character,
    /// The text is not YAML here. What could be read around it is in the tree.
    Syntax,
    /// A tab stands where indentation must.
    Tab,
    /// A second document begins.
    Documents,
    /// A key that the same mapping has already.
    DuplicateKey,
    /// An alias whose anchor does not exist before it.
    UnknownAnchor,
    /// An alias inside the node that it names.
    RecursiveAlias,
    /// Aliases add more than [`crate::Limits::alias_nodes`].
    AliasExpansion,
    /// Collections lie deeper than [`crate::Limits::depth`].
    TooDeep,
    /// A tag outside the core schema.
    UnknownTag,
    /// A core tag on a value that is not of its type, as in `!!int x`.
    TagMismatch,
}

impl ProblemKind {
    /// Whether a part of the text is missing from the tree because of it, so that a key which seems
    /// to be absent may just not have been read.
    pub fn hides_text(self) -> bool {
        !matches!(self, Self::Character | Self::DuplicateKey | Self::UnknownTag | Self::TagMismatch)
    }
}
