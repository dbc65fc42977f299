//! JSON pointers (RFC 6901).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A JSON pointer: where in a document something stands. Held as its decoded segments.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Pointer(Vec<String>);

impl Pointer {
    /// The pointer to the whole document, written as the empty text.
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// The pointer with these decoded segments.
    pub fn of<S: Into<String>>(segments: impl IntoIterator<Item = S>) -> Self {
        Self(segments.into_iter().map(Into::into).collect())
    }

    /// The decoded segments, from the document's root.
    pub fn segments(&self) -> &[String] {
        &self.0
    }

    /// The pointer to a member or an item below this one.
    #[must_use]
    pub fn child(&self, segment: impl Into<String>) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment.into());
        Self(segments)
    }

    /// Whether `self` stands at `ancestor` or below it.
    pub fn is_within(&self, ancestor: &Self) -> bool {
        self.0.starts_with(&ancestor.0)
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in &self.0 {
            write!(f, "/{}", segment.replace('~', "~0").replace('/', "~1"))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

/// Text that is no JSON pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PointerError {
    /// It neither is empty nor starts with a slash.
    #[error("not a JSON pointer: it starts with `/`, as in `/inputSchema/properties/at/default`")]
    NoSlash,
    /// A `~` that is neither `~0` nor `~1`.
    #[error("not a JSON pointer: `~` is written `~0`, and `/` in a name `~1`")]
    BadTilde,
}

impl FromStr for Pointer {
    type Err = PointerError;

    fn from_str(text: &str) -> Result<Self, PointerError> {
        if text.is_empty() {
            return Ok(Self::root());
        }
        let rest = text.strip_prefix('/').ok_or(PointerError::NoSlash)?;
        rest.split('/').map(decode).collect::<Result<_, _>>().map(Self)
    }
}

fn decode(segment: &str) -> Result<String, PointerError> {
    let mut pieces = segment.split('~');
    let mut decoded = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (decoded_tilde, rest) = match piece.as_bytes().first() {
            Some(b'0') => ('~', &piece[1..]),
            Some(b'1') => ('/', &piece[1..]),
            _ => return Err(PointerError::BadTilde),
        };
        decoded.push(decoded_tilde);
        decoded.push_str(rest);
    }
    Ok(decoded)
}

impl Serialize for Pointer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Pointer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
