//! Lines and places in a text. A line ends at LF, CR LF or a lone CR (YAML 1.2.2 section 5.4).

/// Where the line of `offset` begins. A byte order mark is no part of the first line.
pub(crate) fn line_start(text: &str, offset: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = offset;
    while at > 0 {
        match bytes[at - 1] {
            b'\n' => break,
            // In the middle of CR LF the line is still the one that it ends.
            b'\r' if bytes.get(at) != Some(&b'\n') => break,
            _ => at -= 1,
        }
    }
    if at == 0 && text.starts_with('\u{feff}') && offset >= 3 { 3 } else { at }
}

/// Where the line of `offset` ends, before its line break.
pub(crate) fn line_end(text: &str, offset: usize) -> usize {
    text[offset..].find(['\n', '\r']).map_or(text.len(), |found| offset + found)
}

/// Behind the line break that stands at `offset`, or `offset` where there is none.
pub(crate) fn after_break(text: &str, offset: usize) -> usize {
    match text.as_bytes().get(offset..) {
        Some([b'\r', b'\n', ..]) => offset + 2,
        Some([b'\r' | b'\n', ..]) => offset + 1,
        _ => offset,
    }
}

/// How many bytes of indentation the line that begins at `start` has; tabs count.
pub(crate) fn indentation(text: &str, start: usize) -> usize {
    text[start..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Whether only blanks stand between the beginning of its line and `offset`.
pub(crate) fn first_on_line(text: &str, offset: usize) -> bool {
    let start = line_start(text, offset);
    start + indentation(text, start) >= offset
}

/// The nearest character boundary at or below.
pub(crate) fn floor(text: &str, offset: usize) -> usize {
    text.floor_char_boundary(offset.min(text.len()))
}

/// From `at`, over blanks, line breaks, comments and, as long as `over` holds, other characters; where
/// that ends.
pub(crate) fn skip_space(text: &str, mut at: usize, over: impl Fn(char) -> bool) -> usize {
    let bytes = text.as_bytes();
    while let Some(c) = text[at..].chars().next() {
        let blank_before = at == 0 || matches!(bytes[at - 1], b' ' | b'\t' | b'\n' | b'\r');
        match c {
            ' ' | '\t' | '\n' | '\r' | '\u{feff}' => at += c.len_utf8(),
            '#' if blank_before => at = line_end(text, at),
            c if over(c) => at += c.len_utf8(),
            _ => break,
        }
    }
    at
}
