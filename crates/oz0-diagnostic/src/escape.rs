//! Making characters visible.

use std::borrow::Cow;
use std::fmt::Write as _;

use icu_properties::props::{
    BinaryProperty as _, DefaultIgnorableCodePoint, EnumeratedProperty as _, GeneralCategory,
};

/// Whether a character could fool a reader or a terminal: it acts on the terminal, cannot be seen,
/// changes the direction of the text around it, or has no fixed look. TAB counts too, as does every
/// space that is not U+0020, and U+2800, which is blank without being a space.
pub(crate) fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    matches!(
        GeneralCategory::for_char(c),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::SpaceSeparator
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned
            | GeneralCategory::Surrogate
    ) || DefaultIgnorableCodePoint::for_char(c)
        || c == '\u{2800}'
}

/// Adds a character, as an escape where it is hidden.
pub(crate) fn push(out: &mut String, c: char) {
    match c {
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        c if is_hidden(c) => {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:04X}}}", u32::from(c));
        }
        c => out.push(c),
    }
}

/// A text on one line with its hidden characters as escapes.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| push(&mut out, c));
    Cow::Owned(out)
}

/// The same, with line breaks kept.
pub(crate) fn lines(text: &str) -> String {
    let mut lines = text.lines().map(line);
    let first = lines.next().unwrap_or_default().into_owned();
    lines.fold(first, |mut out, line| {
        out.push('\n');
        out.push_str(&line);
        out
    })
}
