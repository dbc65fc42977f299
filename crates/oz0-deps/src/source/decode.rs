//! A source's bytes as text.
//!
//! Python's are UTF-8 unless a byte order mark or a comment in one of the first two lines says otherwise (PEP 263). What Python
//! would refuse is refused here: nobody knows what such a file says. An encoding that Python knows and this reader does not is
//! refused as well, never guessed. JavaScript's engines read UTF-8 and put U+FFFD for what is none, so nothing is refused there.

use std::borrow::Cow;

use encoding_rs::Encoding;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Why Python refuses the bytes, in words that follow the file's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Undecodable {
    pub(crate) problem: String,
    /// The first byte that is wrong, where one is.
    pub(crate) at: usize,
}

impl Undecodable {
    fn new(at: usize, problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), at }
    }
}

/// A Python source's text, its byte order mark included.
pub(crate) fn python(bytes: &[u8]) -> Result<Cow<'_, str>, Undecodable> {
    let marked = bytes.starts_with(BOM);
    let cookie = cookie(bytes.strip_prefix(BOM).unwrap_or(bytes));
    let name = cookie.as_ref().map(|cookie| normalised(&cookie.name));
    let name = name.as_deref().unwrap_or("utf-8");
    let mark = if marked { BOM.len() } else { 0 };
    let at = cookie.as_ref().map_or(0, |cookie| mark + cookie.at);
    match name {
        "utf-8" | "utf8" | "u8" | "utf" | "utf8-ucs2" | "utf8-ucs4" | "cp65001" | "utf-8-sig" => {
            utf8(bytes)
        }
        _ if name.starts_with("utf-8-") => utf8(bytes),
        _ if marked => Err(Undecodable::new(
            at,
            format!(
                "begins with the byte order mark of UTF-8 and says that it is {name}, which Python refuses"
            ),
        )),
        "ascii" | "us-ascii" | "646" | "ansi-x3.4-1968" | "iso646-us" => {
            match bytes.iter().position(|byte| !byte.is_ascii()) {
                None => utf8(bytes),
                Some(at) => Err(Undecodable::new(
                    at,
                    "says that it is ASCII and is not, which Python refuses",
                )),
            }
        }
        "latin-1" | "iso-8859-1" | "iso8859-1" | "latin1" | "latin" | "l1" | "8859" | "cp819"
        | "iso8859" | "iso-ir-100" => {
            Ok(Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()))
        }
        _ if name.starts_with("latin-1-")
            || name.starts_with("iso-8859-1-")
            || name.starts_with("iso-latin-1") =>
        {
            Ok(Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()))
        }
        _ => legacy(name, bytes, at),
    }
}

fn utf8(bytes: &[u8]) -> Result<Cow<'_, str>, Undecodable> {
    std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| {
        Undecodable::new(
            error.valid_up_to(),
            "is no UTF-8, and says no other encoding, which Python refuses",
        )
    })
}

/// One of the encodings that hold ASCII unchanged.
fn legacy<'a>(name: &str, bytes: &'a [u8], at: usize) -> Result<Cow<'a, str>, Undecodable> {
    let unknown = || {
        Undecodable::new(at, format!("says that it is {name}, an encoding that is not read here"))
    };
    let label = match name {
        "cp936" | "936" | "ms936" => "gbk",
        "mac-roman" | "macroman" => "macintosh",
        "mac-cyrillic" | "maccyrillic" => "x-mac-cyrillic",
        "sjis" | "s-jis" | "cp932" | "932" | "ms932" | "mskanji" => "shift_jis",
        "eucjp" | "ujis" | "u-jis" => "euc-jp",
        "cp949" | "949" | "uhc" | "euckr" | "korean" => "euc-kr",
        "cp1251" => "windows-1251",
        _ => name,
    };
    let encoding = Encoding::for_label(label.as_bytes())
        .or_else(|| Encoding::for_label(label.replace('-', "_").as_bytes()))
        .filter(|encoding| encoding.is_ascii_compatible() && *encoding != encoding_rs::ISO_2022_JP)
        .ok_or_else(unknown)?;
    encoding.decode_without_bom_handling_and_without_replacement(bytes).ok_or_else(|| {
        Undecodable::new(at, format!("says that it is {name} and is not, which Python refuses"))
    })
}

/// What a comment says the encoding is.
struct Cookie {
    name: String,
    at: usize,
}

/// The declaration of PEP 263: `^[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)` in the first line, or in the second after a line
/// that holds nothing but a comment.
fn cookie(bytes: &[u8]) -> Option<Cookie> {
    let mut start = 0;
    for _ in 0..2 {
        let rest = &bytes[start..];
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let line = &rest[..end];
        let code = line.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\x0c'));
        match code.map(|at| line[at]) {
            Some(b'#') => {
                if let Some(cookie) = cookie_in(line) {
                    return Some(Cookie { at: start + cookie.at, ..cookie });
                }
            }
            None => {}
            Some(_) => return None,
        }
        start += end + 1;
        if bytes.get(start - 1) == Some(&b'\r') && bytes.get(start) == Some(&b'\n') {
            start += 1;
        }
        if start >= bytes.len() {
            return None;
        }
    }
    None
}

fn cookie_in(line: &[u8]) -> Option<Cookie> {
    memchr::memmem::find_iter(line, b"coding").find_map(|at| {
        let at = at + "coding".len();
        if !matches!(line.get(at), Some(b':' | b'=')) {
            return None;
        }
        let rest = &line[at + 1..];
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let name = &rest[blanks..];
        let length = name
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
            .count();
        let name = String::from_utf8_lossy(&name[..length]).into_owned();
        (length > 0).then_some(Cookie { name, at: at + 1 + blanks })
    })
}

fn normalised(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

/// A JavaScript source's text: UTF-8, or UTF-16 with its byte order mark as TypeScript and the bundlers read it. What is neither
/// is replaced by U+FFFD, as Node.js does.
pub(crate) fn javascript(bytes: &[u8]) -> Cow<'_, str> {
    match bytes {
        [0xff, 0xfe, ..] => encoding_rs::UTF_16LE.decode_without_bom_handling(&bytes[2..]).0,
        [0xfe, 0xff, ..] => encoding_rs::UTF_16BE.decode_without_bom_handling(&bytes[2..]).0,
        _ => String::from_utf8_lossy(bytes),
    }
}
