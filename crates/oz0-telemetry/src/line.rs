//! An event, one line, nothing in it that is not seen.
//!
//! Names, reasons and descriptions come from servers and clients. A line end in one would be a line of its own in the log,
//! and a terminal that shows the log obeys what it is sent. So the formatted event is looked at as a whole, and whatever a
//! formatter let through is written out here: in JSON as JSON's own escape, which means the same to every reader, and in text
//! as everywhere in oz0.

use std::fmt::Write as _;
use std::io::{self, Write};

use tracing::Metadata;
use tracing_subscriber::fmt::MakeWriter;

use crate::flood::Flood;
use crate::log::Format;

/// The longest line, in bytes of what was formatted; of one that is longer the start is written as text. No event is near it.
const LONGEST: usize = 64 << 10;

/// Where lines go: stderr, and for tests into memory.
pub(crate) struct Lines<W> {
    format: Format,
    flood: Flood,
    out: W,
}

impl<W> Lines<W> {
    pub(crate) fn new(format: Format, flood: Flood, out: W) -> Self {
        Self { format, flood, out }
    }
}

impl<'a, W: MakeWriter<'a>> MakeWriter<'a> for Lines<W> {
    type Writer = Line<W::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        Line { format: self.format, out: Some(self.out.make_writer()) }
    }

    fn make_writer_for(&'a self, kind: &Metadata<'_>) -> Self::Writer {
        let written = self.flood.lets_through(kind);
        Line { format: self.format, out: written.then(|| self.out.make_writer()) }
    }
}

/// Takes one event, whole, with its line end.
pub(crate) struct Line<W> {
    format: Format,
    /// None where too many of its kind came.
    out: Option<W>,
}

impl<W: Write> Write for Line<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(out) = &mut self.out else { return Ok(bytes.len()) };
        let text = String::from_utf8_lossy(bytes);
        let mut line = visible(self.format, text.strip_suffix('\n').unwrap_or(&text));
        line.push('\n');
        // Whole, so that the lines of two threads, or of two processes on one pipe, are not mixed.
        out.write_all(line.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }
}

fn visible(format: Format, event: &str) -> String {
    match format {
        Format::Text => oz0_escape::line_within(event, LONGEST).into_owned(),
        Format::Json => {
            let mut line = String::with_capacity(event.len());
            let mut units = [0; 2];
            for c in event.chars() {
                if oz0_escape::is_invisible(c) || matches!(c, '\n' | '\r') {
                    for unit in c.encode_utf16(&mut units) {
                        write!(line, "\\u{unit:04x}").expect("writing to a String cannot fail");
                    }
                } else {
                    line.push(c);
                }
            }
            line
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_in_which_everything_is_seen() {
        let text = visible(Format::Text, "a\nb\u{202e}c\u{1b}[2Jd");
        assert!(!text.contains(['\n', '\u{202e}', '\u{1b}']), "{text}");
        let json = visible(Format::Json, "{\"message\":\"a\u{202e}b\u{e0041}c\"}");
        assert!(json.is_ascii(), "{json}");
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["message"], "a\u{202e}b\u{e0041}c");
    }
}
