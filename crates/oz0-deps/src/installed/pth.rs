//! `.pth` files, as `site.py` reads them: each line is a folder for `sys.path`, or a statement that every start of Python runs.

use std::borrow::Cow;

use oz0_diagnostic::Span;

use super::name;
use crate::file::{File, Sink};
use crate::{Ecosystem, Format, How, source};

/// Line ends of `str.splitlines`, which `site.py` asks for since 3.13. The older ones know the first two.
const ENDS: [char; 10] =
    ['\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];

pub(super) fn read(file: &File<'_>, sink: &mut Sink) {
    // What is not UTF-8 is read in the locale's encoding, and in all of these ASCII is itself.
    let text = match file.text() {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => file.bytes.iter().map(|byte| char::from(*byte)).collect(),
    };
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    while at < text.len() {
        let end = text[at..].find(ENDS).map_or(text.len(), |end| at + end);
        let line = &text[at..end];
        if line.starts_with("import ") || line.starts_with("import\t") {
            statement(file, &text, at, line, sink);
        } else if !line.starts_with('#') {
            folder(file, &text, at, line, sink);
        }
        at = end + text[end..].chars().next().map_or(1, char::len_utf8);
    }
}

/// Reads a statement as a source of its own, and moves what was found to the line's place.
fn statement(file: &File<'_>, text: &str, at: usize, line: &str, sink: &mut Sink) {
    let statement = File { bytes: line.as_bytes(), ..*file };
    let mut found = Sink::new(file.path);
    source::read(Format::Python, &statement, &mut found);
    found.close();
    let mut moved = |span: &Span| sink.span(text, at + span.range().start..at + span.range().end);
    for mention in &mut found.mentions {
        mention.span = moved(&mention.span);
    }
    for unread in &mut found.unread {
        unread.span = moved(&unread.span);
    }
    sink.mentions.append(&mut found.mentions);
    sink.unread.append(&mut found.unread);
}

/// Reads a path: a package that is installed in place is a folder of its name, or an egg. Its sources may be in a folder of that.
fn folder(file: &File<'_>, text: &str, at: usize, line: &str, sink: &mut Sink) {
    let path = line.trim_end().trim_end_matches(['/', '\\']);
    let mut end = path.len();
    for _ in 0..2 {
        let start = path[..end].rfind(['/', '\\']).map_or(0, |slash| slash + 1);
        let part = &path[start..end];
        let stem = super::stem(part, ".egg").unwrap_or(part);
        let package = name::distribution(file.wanted, Ecosystem::PyPi, stem);
        if let Some(package) = package {
            sink.mention(package, How::Vendored, text, at + start..at + start + stem.len(), None);
            return;
        }
        if !matches!(part, "src" | "python" | "lib") || start == 0 {
            return;
        }
        end = start - 1;
    }
}
