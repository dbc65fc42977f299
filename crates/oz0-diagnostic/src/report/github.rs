//! For GitHub Actions: workflow commands, which GitHub shows beside the lines of a pull request.

use crate::check::{Diagnostic, Level};
use crate::escape;

/// One command a finding: `::error file=…,line=…,…,title=CODE::message`. `base` stands before each path, with its `/`: where
/// the files lie in the checkout. Hidden characters of paths and messages are shown as escapes.
pub fn github(diagnostics: &[Diagnostic], base: &str) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        let (start, end) = (diagnostic.span.start(), diagnostic.span.end());
        let level = match diagnostic.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let path = format!("{base}{}", diagnostic.span.file().path());
        let mut message = escape::line(&diagnostic.message).into_owned();
        if let Some(help) = &diagnostic.help {
            message.push_str("\nhint: ");
            message.push_str(&escape::lines(help));
        }
        // Of a span over several lines GitHub takes the lines, and refuses the columns.
        let columns = if start.line == end.line {
            format!(",col={},endColumn={}", start.column, end.column)
        } else {
            String::new()
        };
        let command = format!(
            "::{level} file={},line={},endLine={}{columns},title={}::{}\n",
            property(&escape::line(&path)),
            start.line,
            end.line,
            property(diagnostic.check.code),
            data(&message)
        );
        out.push_str(&command);
    }
    out
}

/// A command's message, in which `%` and line ends are written as GitHub reads them.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property, in which what ends one is written so too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
