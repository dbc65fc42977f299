//! Printing: data on standard output, talk on standard error.

use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use anyhow::Error;
use oz0_diagnostic::{Diagnostic, Level, report};

use crate::cli::Color;

/// Where a command prints.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    color: Color,
    quiet: bool,
}

impl Output {
    pub(crate) fn new(color: Color, quiet: bool) -> Self {
        Self { color, quiet }
    }

    /// For what goes wrong before the settings are known.
    pub(crate) fn plain() -> Self {
        Self::new(Color::Auto, false)
    }

    fn choice(self, stream: &impl anstream::stream::RawStream) -> ColorChoice {
        match self.color {
            Color::Auto => AutoStream::choice(stream),
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
    }

    /// Whether data is coloured.
    pub(crate) fn colors_data(self) -> bool {
        self.choice(&io::stdout()) != ColorChoice::Never
    }

    /// Prints data: to standard output, with a line end.
    pub(crate) fn data(self, text: &str) -> io::Result<()> {
        let stdout = io::stdout();
        let choice = self.choice(&stdout);
        let mut out = AutoStream::new(stdout, choice);
        writeln!(out, "{}", text.strip_suffix('\n').unwrap_or(text))?;
        out.flush()
    }

    /// Says something on standard error, unless asked to be quiet.
    pub(crate) fn say(self, text: &str) {
        if !self.quiet {
            self.error_line(text);
        }
    }

    /// Says something on standard error in any case. A standard error that is gone is nobody's problem.
    pub(crate) fn error_line(self, text: &str) {
        let stderr = io::stderr();
        let choice = self.choice(&stderr);
        let _ = writeln!(AutoStream::new(stderr, choice), "{text}");
    }

    /// Prints findings on standard error: errors always, the rest unless asked to be quiet.
    pub(crate) fn findings(self, findings: &[Diagnostic]) {
        let shown: Vec<Diagnostic> = findings
            .iter()
            .filter(|finding| !self.quiet || finding.level == Level::Error)
            .cloned()
            .collect();
        if !shown.is_empty() {
            let color = match self.choice(&io::stderr()) {
                ColorChoice::Never => report::Color::Never,
                _ => report::Color::Always,
            };
            self.error_line(report::pretty(&shown, color).trim_end());
        }
    }

    /// Says what oz0 could not do: the operation, then each cause on a line of its own.
    pub(crate) fn failure(self, error: &Error) {
        let mut text = format!("\u{1b}[1;31merror\u{1b}[0m: {error}");
        for cause in error.chain().skip(1) {
            text.push_str("\n  caused by: ");
            text.push_str(&cause.to_string());
        }
        self.error_line(&text);
    }

    /// Whether standard error is a terminal on which progress may move.
    pub(crate) fn moves(self) -> bool {
        !self.quiet && io::stderr().is_terminal() && std::env::var_os("CI").is_none()
    }
}

/// Whether a command failed only because the reader of its output went away.
pub(crate) fn is_broken_pipe(error: &Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
