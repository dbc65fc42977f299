//! The lines of a requirements file, as pip makes them: split as Python's `str.splitlines` does, joined across a backslash, and
//! without comments.

use std::ops::Range;

use crate::Via;

/// A line as pip reads it, which may stand on several lines of the text.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) text: String,
    /// Where pieces of it begin: in it, and in the text.
    pieces: Vec<(usize, usize)>,
}

impl Line {
    fn push(&mut self, part: &str, at: usize) {
        if !part.is_empty() {
            self.pieces.push((self.text.len(), at));
            self.text.push_str(part);
        }
    }

    /// Where a part of the line stands in the text.
    pub(super) fn place(&self, range: &Range<usize>) -> Range<usize> {
        let source = |at: usize| {
            let after = self.pieces.partition_point(|(start, _)| *start <= at);
            let (start, source) = self.pieces[after.max(1) - 1];
            source + (at - start)
        };
        if self.pieces.is_empty() {
            return 0..0;
        }
        let start = source(range.start);
        if range.is_empty() { start..start } else { start..source(range.end - 1) + 1 }
    }

    /// Drops the comment and the blanks around the rest. What is dropped in front stays in the places.
    fn trim(mut self) -> Option<Self> {
        if let Some(comment) = comment(&self.text) {
            self.text.truncate(comment);
        }
        self.text.truncate(self.text.trim_end_matches(blank).len());
        let front = self.text.len() - self.text.trim_start_matches(blank).len();
        if self.text.len() == front {
            return None;
        }
        let keep = self.pieces.partition_point(|(start, _)| *start <= front) - 1;
        self.pieces.drain(..keep);
        self.text.drain(..front);
        for (start, source) in &mut self.pieces {
            match start.checked_sub(front) {
                Some(moved) => *start = moved,
                None => {
                    *source += front - *start;
                    *start = 0;
                }
            }
        }
        Some(self)
    }
}

/// The lines of a text that are not empty.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let mut joined = Line::default();
        while at < text.len() {
            let start = at;
            let (end, next) = line_end(text, start);
            at = next;
            let line = &text[start..end];
            let is_comment = line.trim_start_matches(blank).starts_with('#');
            if line.ends_with('\\') && !is_comment {
                let front = line.len() - line.trim_start_matches('\\').len();
                joined.push(line.trim_matches('\\'), start + front);
                if at < text.len() {
                    continue;
                }
            } else {
                if is_comment {
                    // So that it is a comment even right behind a continued line.
                    joined.push(" ", start);
                }
                joined.push(line, start);
            }
            if let Some(line) = std::mem::take(&mut joined).trim() {
                return Some(line);
            }
        }
        None
    })
}

/// Where the line that begins at `at` ends, and where the next one begins. Python's `str.splitlines` knows more ends than others.
pub(in crate::python) fn line_end(text: &str, at: usize) -> (usize, usize) {
    let separator = |character: char| {
        matches!(
            character,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'
                ..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let Some(length) = text[at..].find(separator) else { return (text.len(), text.len()) };
    let end = at + length;
    let rest = &text[end..];
    let width =
        if rest.starts_with("\r\n") { 2 } else { rest.chars().next().map_or(0, char::len_utf8) };
    (end, end + width)
}

/// Where a comment begins: a `#` at the start or behind blanks, those included.
fn comment(line: &str) -> Option<usize> {
    let opens = |&(at, _): &(usize, &str)| at == 0 || line[..at].ends_with(blank);
    let (at, _) = line.match_indices('#').find(opens)?;
    Some(line[..at].trim_end_matches(blank).len())
}

/// Who needs what stands in front of `rest`, as `pip-compile` and `uv` write it in comments behind it: `# via a`, or `# via` with
/// one name a line. Nothing where the project asks for it itself, which they write as a file's name.
pub(super) fn needed_by(rest: &str) -> Option<Via> {
    let mut at = 0;
    let mut listed = false;
    while at < rest.len() {
        let (end, next) = line_end(rest, at);
        let line = rest[at..end].trim_matches(blank);
        let first = at == 0;
        at = next;
        let Some(comment) = line.strip_prefix('#').map(|comment| comment.trim_matches(blank))
        else {
            if first && line.is_empty() {
                continue;
            }
            return None;
        };
        let names = match comment.strip_prefix("via") {
            Some(names) if !listed && (names.is_empty() || names.starts_with(blank)) => {
                listed = true;
                names.trim_matches(blank)
            }
            _ if listed => comment,
            _ => return None,
        };
        let by = |name: &&str| {
            let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            !name.is_empty() && !name.starts_with('-') && name.chars().all(letters)
        };
        if let Some(name) = names.split(',').map(|name| name.trim_matches(blank)).find(by) {
            return Some(Via::Packages(vec![name.to_owned()]));
        }
    }
    None
}

/// What Python's `str.isspace` holds for.
pub(in crate::python) fn blank(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{1c}'..='\u{1f}')
}
