//! From bytes to text.

use crate::Limits;
use crate::read::{Parsed, parse};

/// The bytes are not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotUtf8 {
    /// A byte sequence that is not UTF-8.
    #[error("not UTF-8: invalid byte at offset {offset}")]
    Invalid {
        /// Where the first invalid sequence begins, in bytes.
        offset: usize,
    },
    /// UTF-16, by its byte order mark or by its zero bytes.
    #[error("encoded as UTF-16 ({}), not UTF-8", if *big_endian { "big-endian" } else { "little-endian" })]
    Utf16 {
        /// Whether the first byte is the more significant one.
        big_endian: bool,
    },
}

impl NotUtf8 {
    /// Where the first byte is that is not UTF-8.
    pub fn offset(&self) -> usize {
        match self {
            Self::Invalid { offset } => *offset,
            Self::Utf16 { .. } => 0,
        }
    }
}

/// The text of some bytes. A byte order mark stays in it.
pub fn decode(bytes: &[u8]) -> Result<&str, NotUtf8> {
    let utf16 = match bytes {
        [0xff, 0xfe, ..] => Some(false),
        [0xfe, 0xff, ..] => Some(true),
        // A text of YAML begins with an ASCII character, so a zero byte beside it gives UTF-16 away
        // (YAML 1.2.2 section 5.2).
        [0, second, ..] if *second != 0 => Some(true),
        [first, 0, ..] if *first != 0 => Some(false),
        _ => None,
    };
    if let Some(big_endian) = utf16 {
        return Err(NotUtf8::Utf16 { big_endian });
    }
    std::str::from_utf8(bytes).map_err(|error| NotUtf8::Invalid { offset: error.valid_up_to() })
}

/// [`decode`] and [`parse`].
pub fn parse_bytes(bytes: &[u8], limits: &Limits) -> Result<(String, Parsed), NotUtf8> {
    let text = decode(bytes)?;
    Ok((text.to_owned(), parse(text, limits)))
}
