//! What is wrong with a file that declares or locks dependencies.

use std::fmt;
use std::sync::Arc;

use oz0_diagnostic::{Level, SourceFile, Span};

/// A problem in a file that declares or locks dependencies, which its author can fix.
#[derive(Debug, Clone)]
pub struct DependencyProblem {
    /// Where.
    pub span: Span,
    /// What is wrong, in one line.
    pub message: String,
    /// What to do.
    pub help: String,
    /// A warning where everything can be measured without the file.
    pub level: Level,
}

impl DependencyProblem {
    /// A problem that keeps servers from being installed.
    pub fn error(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: help.into(), level: Level::Error }
    }

    /// A problem of a file as a whole, whose text is of no help or was not read.
    pub fn of_file(path: &str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::error(Span::start_of(&SourceFile::new(path, "")), message, help)
    }

    /// A problem at a line of a file, from 1.
    pub(super) fn at_line(
        source: &Arc<SourceFile>,
        line: usize,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        let text = source.text();
        let start = match line.checked_sub(2) {
            None => 0,
            Some(breaks) => text.match_indices('\n').nth(breaks).map_or(0, |(at, _)| at + 1),
        };
        let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        Self::error(Span::new(source, start..end), message, help)
    }
}

impl fmt::Display for DependencyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { span, message, .. } = self;
        if span.range().is_empty() {
            write!(f, "{}: {message}", span.file().path())
        } else {
            write!(f, "{}:{}: {message}", span.file().path(), span.start().line)
        }
    }
}

/// Text of a file as a message quotes it: 80 characters of one line at most. Whoever prints it escapes it.
pub(super) fn shown(text: &str) -> String {
    oz0_listing::escape::line_within(text, 80).into_owned()
}
