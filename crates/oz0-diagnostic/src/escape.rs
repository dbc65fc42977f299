//! Making characters visible.
//!
//! The notation and the set are those of [`oz0_escape`], and here every space that is not U+0020 is written out as
//! well: in a source line it looks like one and is none.

use std::borrow::Cow;

/// Whether a character could fool a reader or a terminal.
pub(crate) fn is_hidden(c: char) -> bool {
    c != ' ' && (c.is_whitespace() || oz0_escape::is_invisible(c))
}

/// Adds a character, as an escape where it is hidden.
pub(crate) fn push(out: &mut String, c: char) {
    if is_hidden(c) {
        oz0_escape::write_out(out, c);
    } else {
        out.push(c);
    }
}

/// How many columns [`push`] takes for a hidden character.
pub(crate) fn width(c: char) -> usize {
    let digits = (u32::BITS - u32::from(c).leading_zeros()).div_ceil(4).max(1);
    "\\u{}".len() + digits as usize
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
