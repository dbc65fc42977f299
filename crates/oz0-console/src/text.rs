//! Text that somebody wrote whom nobody has approved: its invisible characters written out, and each explained.

use std::collections::BTreeMap;

use oz0_listing::escape;

/// A piece of a text: as it stands, or an invisible character that was written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) text: String,
    /// What the character is, of one that was written out.
    pub(crate) hidden: Option<String>,
}

/// A text in pieces. What is invisible in it is written out first: listings have that behind them, and other texts not.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let text = escape::text(text);
    let mut pieces = Vec::new();
    let (mut rest, mut plain) = (&*text, String::new());
    while let Some(at) = rest.find("\\u{") {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        match written(from) {
            Some((c, len)) => {
                if !plain.is_empty() {
                    pieces.push(Piece { text: std::mem::take(&mut plain), hidden: None });
                }
                pieces.push(Piece { text: from[..len].to_owned(), hidden: Some(explained(c)) });
                rest = &from[len..];
            }
            None => {
                let (mark, after) = from.split_at(3);
                plain.push_str(mark);
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(Piece { text: plain, hidden: None });
    }
    pieces
}

/// The character whose escape a text begins with, and the escape's length.
fn written(text: &str) -> Option<(char, usize)> {
    let len = text.find('}')? + 1;
    let c = escape::written_out(&text[..len]).next()?;
    Some((c, len))
}

/// The invisible characters that are written out in texts, each once, with what they are.
pub(crate) fn legend<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<(String, String)> {
    let mut found = BTreeMap::new();
    for text in texts {
        for c in escape::written_out(text) {
            found.entry(c).or_insert_with(|| explained(c));
        }
    }
    let all = found.into_iter();
    all.map(|(c, what)| (format!("\\u{{{:X}}}", u32::from(c)), what)).collect()
}

/// What an invisible character is, in words.
fn explained(c: char) -> String {
    let code = u32::from(c);
    let what = match code {
        0xE0020..=0xE007E => {
            let ascii = char::from_u32(code - 0xE0000).unwrap_or(' ');
            return format!(
                "U+{code:04X}: a tag character, which says “{ascii}” to a model and nothing to a reader"
            );
        }
        0xE0000..=0xE007F => "a tag character, which only a model reads",
        0x200B => "a space of no width",
        0x200C | 0x200D => "a joiner of no width",
        0x2060 | 0xFEFF => "a mark of no width that forbids a line break",
        0x202A..=0x202E | 0x2066..=0x2069 | 0x200E | 0x200F | 0x061C => {
            "a mark that turns the direction of writing, so that text reads in another order than it stands"
        }
        0xFE00..=0xFE0F | 0xE0100..=0xE01EF | 0x180B..=0x180F => {
            "a variation selector, which can carry hidden bytes"
        }
        0xAD => "a soft hyphen, which shows at the end of a line alone",
        0x2028 | 0x2029 => "a line break that not everybody shows",
        0x115F | 0x1160 | 0x3164 | 0xFFA0 => "a filler, which shows as nothing",
        0x2800 => "a blank pattern of Braille",
        0x00..=0x1F | 0x7F..=0x9F => "a control character",
        0xE000..=0xF8FF | 0xF0000..=0x0010_FFFF => {
            "a private character, which means what somebody agreed on"
        }
        _ => "a character that nobody sees",
    };
    format!("U+{code:04X}: {what}")
}

/// `1 function`, `2 functions`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_written_out_and_explained() {
        let hidden =
            |text: &str, what: &str| Piece { text: text.to_owned(), hidden: Some(what.to_owned()) };
        let plain = |text: &str| Piece { text: text.to_owned(), hidden: None };
        assert_eq!(
            pieces("a\u{200B}b\u{E0041}"),
            [
                plain("a"),
                hidden("\\u{200B}", "U+200B: a space of no width"),
                plain("b"),
                hidden(
                    "\\u{E0041}",
                    "U+E0041: a tag character, which says “A” to a model and nothing to a reader"
                ),
            ]
        );
        assert_eq!(pieces("\\u{41} \\u{"), [plain("\\u{41} \\u{")], "an escape of what is seen");
        assert_eq!(pieces(""), []);
        assert_eq!(legend(["x\\u{AD}y", "\\u{AD}"]).len(), 1);
    }
}
