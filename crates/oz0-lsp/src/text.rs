//! Places in a text as editors tell them: a line, and a column in the units of one of three encodings.
//!
//! A line ends at LF, CR LF or a lone CR, here as in the protocol. Columns count UTF-16 code units unless the editor and the
//! server agreed on another encoding. A place behind a line's end is its end, one inside of a character its beginning.

use tower_lsp_server::ls_types::{Position, PositionEncodingKind, Range as LspRange};

use std::ops::Range;

/// What a column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Encoding {
    Utf8,
    #[default]
    Utf16,
    Utf32,
}

impl Encoding {
    /// The first one that the editor names and the server knows; UTF-16, which every editor knows, where it names none.
    pub(crate) fn of(offered: Option<&[PositionEncodingKind]>) -> Self {
        let known = |kind: &PositionEncodingKind| match kind.as_str() {
            "utf-8" => Some(Self::Utf8),
            "utf-16" => Some(Self::Utf16),
            "utf-32" => Some(Self::Utf32),
            _ => None,
        };
        offered.unwrap_or_default().iter().find_map(known).unwrap_or_default()
    }

    pub(crate) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn units(self, c: char) -> usize {
        match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 => c.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    fn width(self, text: &str) -> usize {
        match self {
            Self::Utf8 => text.len(),
            _ => text.chars().map(|c| self.units(c)).sum(),
        }
    }
}

/// Where the lines of a text begin, in bytes.
#[derive(Debug)]
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    /// The lines of a text. Where the editor hides a byte order mark, the first line begins behind it.
    pub(crate) fn of(text: &str, hides_mark: bool) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![if hides_mark && text.starts_with('\u{feff}') { 3 } else { 0 }];
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b'\n' || *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n') {
                starts.push(at + 1);
            }
        }
        Self(starts)
    }

    /// Where a byte of the text stands.
    pub(crate) fn position(&self, text: &str, offset: usize, encoding: Encoding) -> Position {
        let offset = text.floor_char_boundary(offset.min(text.len()));
        let line = self.0.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.0[line].min(offset);
        let column = encoding.width(&text[start..offset]);
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        Position { line: number(line), character: number(column) }
    }

    pub(crate) fn range(&self, text: &str, range: Range<usize>, encoding: Encoding) -> LspRange {
        LspRange {
            start: self.position(text, range.start, encoding),
            end: self.position(text, range.end, encoding),
        }
    }

    /// The byte that stands at a place.
    pub(crate) fn offset(&self, text: &str, position: Position, encoding: Encoding) -> usize {
        let line = position.line as usize;
        let Some(start) = self.0.get(line).copied() else { return text.len() };
        let end = self.0.get(line + 1).copied().unwrap_or(text.len());
        let content = text[start..end].trim_end_matches('\n').trim_end_matches('\r');
        let mut left = position.character as usize;
        for (at, c) in content.char_indices() {
            let units = encoding.units(c);
            if left < units {
                return start + at;
            }
            left -= units;
        }
        start + content.len()
    }
}
