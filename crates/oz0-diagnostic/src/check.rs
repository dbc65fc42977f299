//! What a diagnostic is made of.

use std::ops::Range;
use std::sync::Arc;

use crate::source::{SourceFile, Span};

/// How much a finding weighs. Ordered: an error is above a warning, and that above a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Worth knowing; fails nothing.
    Note,
    /// Should be changed.
    Warning,
    /// Must be changed.
    Error,
}

impl Level {
    /// `"note"`, `"warning"` or `"error"`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What a finding is an instance of.
#[derive(Debug, PartialEq, Eq)]
pub struct Check {
    /// Its code, as in `OZ-L001`.
    pub code: &'static str,
    /// Its name: the bad thing, in words joined by `-`.
    pub name: &'static str,
    /// Its level when nothing stricter was asked for.
    pub level: Level,
}

/// A finding.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// What it is an instance of.
    pub check: &'static Check,
    /// The level in force.
    pub level: Level,
    /// Whether it is an error only because the stricter set of rules was asked for.
    pub strict: bool,
    /// What is wrong, in one line without a full stop.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// Where.
    pub span: Span,
    /// Other places that have to do with it.
    pub related: Vec<Related>,
    /// A change that mends it.
    pub fix: Option<Fix>,
    /// Where to read more.
    pub url: Option<String>,
}

impl Diagnostic {
    /// A finding at its check's plain level.
    pub fn new(check: &'static Check, span: Span, message: impl Into<String>) -> Self {
        Self {
            check,
            level: check.level,
            strict: false,
            message: message.into(),
            help: None,
            span,
            related: Vec::new(),
            fix: None,
            url: None,
        }
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a place that has to do with it.
    #[must_use]
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Related { span, message: message.into() });
        self
    }

    /// Offers a change.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }

    /// Sets another level than the plain one.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Says where to read more.
    #[must_use]
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }
}

/// Another place that has to do with a finding.
#[derive(Debug, Clone)]
pub struct Related {
    /// Where.
    pub span: Span,
    /// What it has to do with it.
    pub message: String,
}

/// A change that mends a finding.
#[derive(Debug, Clone)]
pub struct Fix {
    /// What it does, in the imperative.
    pub title: String,
    /// Whether it may be made unasked.
    pub safety: Safety,
    /// The changes, which do not overlap.
    pub edits: Vec<Edit>,
}

/// Whether a fix may be made without a look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Safety {
    /// It cannot change what the plugin does.
    Safe,
    /// It can.
    Unsafe,
}

/// A range of a file's bytes, and the text to put there.
#[derive(Debug, Clone)]
pub struct Edit {
    /// The file.
    pub file: Arc<SourceFile>,
    /// The bytes that go.
    pub range: Range<usize>,
    /// What comes instead.
    pub replacement: String,
}
