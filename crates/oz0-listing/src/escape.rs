//! The visible form of text that may hold invisible characters.
//!
//! Text that nobody sees can still instruct a model: Unicode TAG characters spell ASCII, variation
//! selectors carry bytes, zero-width and bidirectional controls join, hide and reorder. Before a
//! listing is hashed, and before anybody reads it, each such code point becomes `\u{HEX}`
//! (upper-case, not padded), so that a model reads the text that people approve.
//!
//! The set is that of format v1, frozen at Unicode 18:
//!
//! - general categories Cc (but TAB, LF, and CR right before LF), Cf, Co, Zl and Zp;
//! - noncharacters;
//! - every `Default_Ignorable_Code_Point`, the unassigned ones included;
//! - U+2800 BRAILLE PATTERN BLANK, which is a symbol by category and blank on screen.
//!
//! It comes from the Unicode data of `icu_properties`; a test pins every range of it, so that newer
//! data cannot change a hash unnoticed: another set needs another format version.
//!
//! The notation is not injective, on purpose. Text that already says `\u{AD}` stays as it is, so
//! that a listing without invisible characters hashes as plain RFC 8785, and the escape reads the
//! same to everyone.

use std::borrow::Cow;
use std::fmt::Write as _;

use icu_properties::props::{DefaultIgnorableCodePoint, GeneralCategory};
use icu_properties::{
    CodePointMapData, CodePointMapDataBorrowed, CodePointSetData, CodePointSetDataBorrowed,
};

use crate::scan;

const CATEGORY: CodePointMapDataBorrowed<'static, GeneralCategory> = CodePointMapData::new();
const DEFAULT_IGNORABLE: CodePointSetDataBorrowed<'static> =
    CodePointSetData::new::<DefaultIgnorableCodePoint>();

/// Whether format v1 writes this code point out. CR counts as invisible here, though [`text`]
/// leaves it alone right before LF, where it is half of a line break.
pub fn is_invisible(c: char) -> bool {
    match c {
        '\t' | '\n' | ' '..='~' => false,
        '\0'..='\u{9F}' | '\u{2800}' => true,
        _ => {
            matches!(
                CATEGORY.get(c),
                GeneralCategory::Control
                    | GeneralCategory::Format
                    | GeneralCategory::PrivateUse
                    | GeneralCategory::LineSeparator
                    | GeneralCategory::ParagraphSeparator
            ) || is_noncharacter(c)
                || DEFAULT_IGNORABLE.contains(c)
        }
    }
}

fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{FDD0}'..='\u{FDEF}') || u32::from(c) & 0xFFFE == 0xFFFE
}

/// Whether [`text`] would change anything.
pub fn has_invisible(text: &str) -> bool {
    first_change(text, Breaks::Kept).is_some()
}

/// Text of several lines with its invisible code points written out: the form that is hashed, and
/// that models and people read.
pub fn text(text: &str) -> Cow<'_, str> {
    escape(text, Breaks::Kept)
}

/// Text for one line of output (a name, a cell of a table): as [`text`], and TAB, CR and LF are
/// written out as well, so that it cannot start a line of its own.
pub fn line(text: &str) -> Cow<'_, str> {
    escape(text, Breaks::WrittenOut)
}

/// As [`line()`], and cut to `limit` characters with an ellipsis: for names that their writer could
/// make as long as they like.
pub fn line_within(text: &str, limit: usize) -> Cow<'_, str> {
    let whole = line(text);
    match whole.char_indices().nth(limit) {
        None => whole,
        Some((end, _)) => Cow::Owned(format!("{}…", &whole[..end])),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Breaks {
    Kept,
    WrittenOut,
}

fn first_change(text: &str, breaks: Breaks) -> Option<usize> {
    if breaks == Breaks::Kept && scan::is_plain(text.as_bytes()) {
        return None;
    }
    text.char_indices().find(|&(at, c)| changes(text, at, c, breaks)).map(|(at, _)| at)
}

fn changes(text: &str, at: usize, c: char, breaks: Breaks) -> bool {
    match c {
        ' '..='~' => false,
        '\t' | '\n' => breaks == Breaks::WrittenOut,
        '\r' => breaks == Breaks::WrittenOut || text.as_bytes().get(at + 1) != Some(&b'\n'),
        _ => is_invisible(c),
    }
}

fn escape(text: &str, breaks: Breaks) -> Cow<'_, str> {
    let Some(first) = first_change(text, breaks) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    let mut done = 0;
    for (at, c) in text[first..].char_indices() {
        let at = first + at;
        if changes(text, at, c, breaks) {
            out.push_str(&text[done..at]);
            write!(out, "\\u{{{:X}}}", u32::from(c)).expect("writing to a String cannot fail");
            done = at + c.len_utf8();
        }
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// The escapes of invisible code points that stand in `text`, in order: what [`text`] wrote, or
/// what its author typed to look so.
pub fn written_out(text: &str) -> impl Iterator<Item = char> + '_ {
    text.match_indices("\\u{").filter_map(|(at, mark)| {
        let rest = &text[at + mark.len()..];
        let hex = &rest[..rest.find('}')?];
        let upper = |byte: u8| matches!(byte, b'0'..=b'9' | b'A'..=b'F');
        if hex.is_empty() || hex.len() > 6 || hex.starts_with('0') && hex != "0" {
            return None;
        }
        if !hex.bytes().all(upper) {
            return None;
        }
        let c = char::from_u32(u32::from_str_radix(hex, 16).ok()?)?;
        is_invisible(c).then_some(c)
    })
}
