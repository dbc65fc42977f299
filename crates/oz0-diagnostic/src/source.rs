//! Files, places in them, and ranges.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A text file as its author sees it, with its line table.
pub struct SourceFile {
    path: String,
    text: String,
    /// Where each line begins, in bytes. A line ends at LF, CR LF or a lone CR.
    lines: Vec<usize>,
}

impl SourceFile {
    /// A file with its path, relative to the plugin's folder and with `/`, and its text.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        let (path, text) = (path.into(), text.into());
        let bytes = text.as_bytes();
        let mut lines = vec![if text.starts_with('\u{feff}') { 3 } else { 0 }];
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b'\n' || *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n') {
                lines.push(at + 1);
            }
        }
        Arc::new(Self { path, text, lines })
    }

    /// The path it was made with.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The text, with a byte order mark if there is one.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The line and column of a byte. Offsets behind the end count as the end, one inside of a
    /// character as that character.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset.min(self.text.len()));
        let line = self.line_of(offset);
        let start = self.lines[line].min(offset);
        let column = self.text[start..offset].chars().count();
        Position { line: line + 1, column: column + 1 }
    }

    /// The index of a byte's line, from 0.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// A line's bytes by its index from 0, without its line break.
    pub(crate) fn line(&self, index: usize) -> Range<usize> {
        let start = self.lines[index];
        let end = self.lines.get(index + 1).copied().unwrap_or(self.text.len());
        let line = &self.text[start..end];
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        start..start + line.len()
    }
}

impl fmt::Debug for SourceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceFile").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A line and a column, both from 1. Columns count Unicode scalar values; a byte order mark at the
/// start of the file is not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct Position {
    /// From 1. Lines end at LF, CR LF or a lone CR.
    pub line: usize,
    /// From 1, in Unicode scalar values.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A range of a file's bytes, with the file.
#[derive(Clone)]
pub struct Span {
    file: Arc<SourceFile>,
    range: Range<usize>,
}

impl Span {
    /// A range of bytes. One that reaches behind the end or into a character is made to fit.
    pub fn new(file: &Arc<SourceFile>, range: Range<usize>) -> Self {
        let text = file.text();
        let start = text.floor_char_boundary(range.start.min(text.len()));
        let end = text.ceil_char_boundary(range.end.min(text.len())).max(start);
        Self { file: Arc::clone(file), range: start..end }
    }

    /// The file's beginning: for what is wrong with a file as a whole.
    pub fn start_of(file: &Arc<SourceFile>) -> Self {
        let start = file.lines[0];
        Self::new(file, start..start)
    }

    /// The file.
    pub fn file(&self) -> &Arc<SourceFile> {
        &self.file
    }

    /// The bytes, a byte order mark counted.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// The text of the range.
    pub fn text(&self) -> &str {
        &self.file.text[self.range.clone()]
    }

    /// Where it begins.
    pub fn start(&self) -> Position {
        self.file.position(self.range.start)
    }

    /// The place right behind its last character.
    pub fn end(&self) -> Position {
        self.file.position(self.range.end)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}-{}", self.file.path, self.start(), self.end())
    }
}

impl PartialEq for Span {
    fn eq(&self, other: &Self) -> bool {
        self.range == other.range && self.file.path == other.file.path
    }
}

impl Eq for Span {}
