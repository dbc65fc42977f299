//! The text of a requirements file, as pip decodes it: by a byte order mark, then by a `coding` cookie in a comment of the
//! first two lines (PEP 263), else as UTF-8.
//!
//! Where neither holds, pip asks the machine's locale, which a reader of files does not know: such a file is unread.

use std::borrow::Cow;
use std::ops::Range;

/// Why there is no text: what could be read up to there, where it ends, and what is wrong.
#[derive(Debug)]
pub(super) struct Undecoded {
    pub(super) text: String,
    pub(super) range: Range<usize>,
    pub(super) problem: String,
}

/// The text; a byte order mark of UTF-8 stays in it.
pub(super) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, Undecoded> {
    match bytes {
        [0xef, 0xbb, 0xbf, ..] => utf8(bytes),
        [0xff, 0xfe, 0, 0, rest @ ..] => utf32(rest, u32::from_le_bytes),
        [0, 0, 0xfe, 0xff, rest @ ..] => utf32(rest, u32::from_be_bytes),
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => match cookie(bytes) {
            None => utf8(bytes),
            Some(cookie) => named(bytes, &cookie),
        },
    }
}

fn utf8(bytes: &[u8]) -> Result<Cow<'_, str>, Undecoded> {
    std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| {
        let at = error.valid_up_to();
        let text = String::from_utf8_lossy(bytes).into_owned();
        let problem = "is not UTF-8, and no byte order mark or `coding` comment says what it is";
        Undecoded { text, range: at..at + 1, problem: problem.to_owned() }
    })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Cow<'_, str>, Undecoded> {
    let (units, rest) = bytes.as_chunks::<2>();
    let mut text = String::new();
    for character in char::decode_utf16(units.iter().map(|bytes| unit(*bytes))) {
        match character {
            Ok(character) => text.push(character),
            Err(_) => return Err(broken(text, "UTF-16")),
        }
    }
    if rest.is_empty() { Ok(Cow::Owned(text)) } else { Err(broken(text, "UTF-16")) }
}

fn utf32(bytes: &[u8], unit: fn([u8; 4]) -> u32) -> Result<Cow<'_, str>, Undecoded> {
    let (units, rest) = bytes.as_chunks::<4>();
    let mut text = String::new();
    for bytes in units {
        match char::from_u32(unit(*bytes)) {
            Some(character) => text.push(character),
            None => return Err(broken(text, "UTF-32")),
        }
    }
    if rest.is_empty() { Ok(Cow::Owned(text)) } else { Err(broken(text, "UTF-32")) }
}

fn broken(mut text: String, encoding: &str) -> Undecoded {
    let at = text.len();
    text.push('\u{fffd}');
    let problem = format!("is not {encoding}, which its byte order mark says it is");
    Undecoded { text, range: at..at + '\u{fffd}'.len_utf8(), problem }
}

/// The encoding that a comment of the first two lines names: `coding[:=]\s*([-\w.]+)`, in a line that begins with `#`.
fn cookie(bytes: &[u8]) -> Option<String> {
    bytes.split(|byte| *byte == b'\n').take(2).find_map(|line| {
        let mut rest = line.strip_prefix(b"#")?;
        while let Some(at) = rest.windows(6).position(|window| window == b"coding") {
            rest = &rest[at + 6..];
            let Some((b':' | b'=', value)) = rest.split_first() else { continue };
            let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c);
            let value = &value[value.iter().take_while(blank).count()..];
            let word = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
            let word = &value[..value.iter().take_while(word).count()];
            if !word.is_empty() {
                return Some(String::from_utf8_lossy(word).into_owned());
            }
        }
        None
    })
}

/// The text in the encoding of this name, as Python's codecs are called: case, `-` and `_` do not count.
fn named<'b>(bytes: &'b [u8], cookie: &str) -> Result<Cow<'b, str>, Undecoded> {
    let name: String = cookie.to_ascii_lowercase().replace(['-', '.', ' '], "_");
    match &*name {
        "utf_8" | "utf8" | "u8" | "utf" | "utf8_ucs2" | "utf8_ucs4" | "cp65001" | "utf_8_sig" => {
            utf8(bytes)
        }
        "ascii" | "us_ascii" | "646" | "iso646_us" if bytes.is_ascii() => utf8(bytes),
        "latin_1" | "latin1" | "latin" | "l1" | "iso8859_1" | "iso_8859_1" | "iso8859" | "8859"
        | "cp819" => Ok(bytes.iter().map(|byte| char::from(*byte)).collect()),
        _ => {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let problem = format!("says that it is in {cookie}, which is not read here");
            Err(Undecoded { text, range: 0..0, problem })
        }
    }
}
