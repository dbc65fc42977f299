//! Printing: data on standard output, talk on standard error.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use anyhow::{Error, Result};
use oz0_api::ClientError;
use oz0_diagnostic::{Diagnostic, Level, report};
use oz0_listing::escape;
use oz0_local::LocalError;
use oz0_measure::MeasureError;
use oz0_plugin::LoadError;
use oz0_scaffold::{NewError, Refusal, WrapError};
use oz0_server::{EnvironmentError, ShareError};
use oz0_telemetry::target::TALK;
use serde_json::value::RawValue;

use crate::cli::Color;
use crate::exit::Refused;

/// The longest text of an event, in characters.
const LONGEST: usize = 4000;

/// Where a command prints.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    color: Color,
    quiet: bool,
    /// Standard error is a log's, an event a line: what would be said there is an event as well.
    logged: bool,
}

impl Output {
    pub(crate) fn new(color: Color, quiet: bool) -> Self {
        Self { color, quiet, logged: false }
    }

    /// The same, for a process that logs.
    pub(crate) fn logged(self) -> Self {
        Self { logged: true, ..self }
    }

    /// Whether standard error is a log's.
    pub(crate) fn is_logged(self) -> bool {
        self.logged
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

    /// Prints JSON, indented. A terminal may be reading: a character that nobody sees, or that moves the cursor, stands as
    /// JSON's own escape, which means the same to every reader of JSON.
    pub(crate) fn json(self, value: &serde_json::Value) -> Result<()> {
        let text = serde_json::to_string_pretty(value)?;
        Ok(self.data(&visible(&text))?)
    }

    /// Prints JSON as it came, on one line of its own where it is one. A character that nobody sees stands as JSON's own
    /// escape, as in [`Self::json`].
    pub(crate) fn raw_json(self, value: &RawValue) -> Result<()> {
        Ok(self.data(&visible(value.get()))?)
    }

    /// Whether only what went wrong, and the result, is to be said.
    pub(crate) fn is_quiet(self) -> bool {
        self.quiet
    }

    /// Says something on standard error, unless asked to be quiet.
    pub(crate) fn say(self, text: &str) {
        if !self.quiet {
            self.error_line(text);
        }
    }

    /// Says something on standard error in any case. A standard error that is gone is nobody's problem.
    pub(crate) fn error_line(self, text: &str) {
        if self.logged {
            tracing::info!(target: TALK, "{}", escape::line_within(text, LONGEST));
            return;
        }
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

    /// Says what oz0 could not do: the operation, then each cause that it does not say itself on a line of its own, then what to do about it. Causes
    /// may quote file names and what other programs printed, so each is escaped.
    pub(crate) fn failure(self, error: &Error) {
        if self.logged {
            let hint = help(error);
            let hint = hint.as_deref().map(|hint| escape::line_within(hint, LONGEST));
            let text = format!("{error:#}");
            tracing::error!(
                target: TALK,
                hint = hint.as_deref(),
                "{}",
                escape::line_within(&text, LONGEST)
            );
            return;
        }
        let mut text = format!("\u{1b}[1;31merror\u{1b}[0m: {}", escape::text(&error.to_string()));
        for cause in error.chain().skip(1) {
            let cause = escape::text(&cause.to_string()).into_owned();
            // Many an error's text ends with that of its cause already.
            if !text.ends_with(&cause) {
                let _ = write!(text, "\n  caused by: {cause}");
            }
        }
        if let Some(help) = help(error) {
            let _ = write!(text, "\nhint: {}", escape::text(&help));
        }
        self.error_line(&text);
    }

    /// Whether standard error is a terminal on which progress may move.
    pub(crate) fn moves(self) -> bool {
        let plain = ["CI", "NO_COLOR"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
        !self.quiet && !plain && io::stderr().is_terminal()
    }
}

/// JSON with what nobody sees in its strings as JSON's escapes. Outside of strings JSON has no such character but the CR of a
/// line end, which means nothing there.
fn visible(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    let mut units = [0; 2];
    for character in json.chars() {
        match character {
            '\n' => shown.push(character),
            '\r' => {}
            _ if escape::is_invisible(character) => {
                for unit in character.encode_utf16(&mut units) {
                    let _ = write!(shown, "\\u{unit:04x}");
                }
            }
            _ => shown.push(character),
        }
    }
    shown
}

/// Whether a command failed only because the reader of its output went away.
pub(crate) fn is_broken_pipe(error: &Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// What to do about a failure, where the library that failed knows.
fn help(error: &Error) -> Option<String> {
    error.chain().find_map(|cause| {
        if let Some(error) = cause.downcast_ref::<LocalError>() {
            return error.hint();
        }
        if let Some(error) = cause.downcast_ref::<ClientError>() {
            return error.hint().map(str::to_owned);
        }
        if let Some(refused) = cause.downcast_ref::<Refused>() {
            return refused.what_to_do().map(str::to_owned);
        }
        if let Some(share) = cause.downcast_ref::<ShareError>() {
            return Some(share.help().to_owned());
        }
        let refusal = cause.downcast_ref::<Refusal>().or_else(|| {
            match (cause.downcast_ref::<WrapError>(), cause.downcast_ref::<NewError>()) {
                (Some(WrapError::Refused(refusal)), _) | (_, Some(NewError::Refused(refusal))) => {
                    Some(refusal)
                }
                _ => None,
            }
        });
        if let Some(refusal) = refusal {
            return refusal.help().map(str::to_owned);
        }
        let environment = cause.downcast_ref::<EnvironmentError>().or_else(|| {
            if let Some(WrapError::Environment(error)) = cause.downcast_ref::<WrapError>() {
                return Some(error);
            }
            match cause.downcast_ref::<MeasureError>() {
                Some(MeasureError::Environment(error)) => Some(error),
                _ => None,
            }
        });
        environment.and_then(EnvironmentError::help).or_else(|| {
            let load = cause.downcast_ref::<LoadError>().or_else(|| {
                match (cause.downcast_ref::<MeasureError>(), cause.downcast_ref::<NewError>()) {
                    (Some(MeasureError::Load(error)), _) | (_, Some(NewError::Load(error))) => {
                        Some(error)
                    }
                    _ => None,
                }
            });
            load.and_then(LoadError::help)
        })
    })
}
