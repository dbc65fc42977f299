//! The names that functions go by, each parsed once, at the door.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Digest, escape};

/// The tool ID that is the platform's own (`oz.delegate`, `oz.ask_user`, …).
const RESERVED: &str = "oz";

/// Why some text is no ID.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// It has another form. The text is escaped for one line and bounded.
    #[error("`{text}` is not {wanted}")]
    Malformed {
        /// What was read, fit to print.
        text: String,
        /// What the form is, as a noun phrase.
        wanted: &'static str,
    },
    /// It is `oz`.
    #[error("the tool ID `oz` is the platform's own; choose another")]
    Reserved,
}

impl IdError {
    fn malformed(text: &str, wanted: &'static str) -> Self {
        Self::Malformed { text: escape::line_within(text, 128).into_owned(), wanted }
    }
}

/// A tool's ID within its plugin: `[A-Za-z][A-Za-z0-9_-]{0,62}`, and never `oz`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolId(String);

impl ToolId {
    /// The ID as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&str> for ToolId {
    type Error = IdError;

    fn try_from(text: &str) -> Result<Self, IdError> {
        let mut bytes = text.bytes();
        let well_formed = text.len() <= 63
            && bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !well_formed {
            return Err(IdError::malformed(
                text,
                "a tool ID: a letter, then at most 62 letters, digits, `_` and `-`",
            ));
        }
        if text == RESERVED {
            return Err(IdError::Reserved);
        }
        Ok(Self(text.to_owned()))
    }
}

/// Whether a server's own name of a function is one that MCP allows: `[A-Za-z0-9_.-]{1,128}`
/// (MCP 2025-11-25 and 2026-07-28, server/tools, "Tool Names").
pub(crate) fn is_function_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

/// A function's ID within its plugin: `<tool>.<function>`. Ordered by its bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId {
    text: String,
    /// A tool's ID holds no dot, so the first one is the separator.
    dot: usize,
}

impl FunctionId {
    /// The ID of a tool's function, by the name its server gives it.
    pub fn new(tool: &ToolId, function: &str) -> Result<Self, IdError> {
        if !is_function_name(function) {
            return Err(IdError::malformed(
                function,
                "a function's name: 1 to 128 letters, digits, `_`, `-` and `.`",
            ));
        }
        Ok(Self { text: format!("{tool}.{function}"), dot: tool.0.len() })
    }

    /// The ID as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Its tool.
    pub fn tool(&self) -> ToolId {
        ToolId(self.text[..self.dot].to_owned())
    }

    /// The name that its server gives it.
    pub fn function(&self) -> &str {
        &self.text[self.dot + 1..]
    }
}

impl FromStr for FunctionId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let (tool, function) = text.split_once('.').ok_or_else(|| {
            IdError::malformed(text, "a function's ID: a tool ID, `.` and a function's name")
        })?;
        Self::new(&ToolId::try_from(tool)?, function)
    }
}

impl TryFrom<&str> for FunctionId {
    type Error = IdError;

    fn try_from(text: &str) -> Result<Self, IdError> {
        text.parse()
    }
}

impl FromStr for ToolId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        Self::try_from(text)
    }
}

/// The name under which models and MCP clients see a function: its ID with each `.` written `__`,
/// since model APIs allow no dot. Above 64 characters (the shortest limit of a model API in use)
/// it is its first 55 characters, `_` and 8 hexadecimal digits of the SHA-256 of the whole name.
///
/// Two functions can have one model name (`a.b__c` and `a__b.c`); [`crate::merge`] leaves out both.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelName(String);

impl ModelName {
    const LIMIT: usize = 64;
    const KEPT: usize = 55;

    /// The model name of a function.
    pub fn of(id: &FunctionId) -> Self {
        let whole = id.text.replace('.', "__");
        if whole.len() <= Self::LIMIT {
            return Self(whole);
        }
        // IDs are ASCII, so bytes are characters.
        let hash = Digest::of(&whole).hex();
        Self(format!("{}_{}", &whole[..Self::KEPT], &hash[..8]))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

macro_rules! as_text {
    ($($type:ty),*) => {$(
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self.as_str(), f)
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    )*};
}

as_text!(ToolId, FunctionId, ModelName);

macro_rules! from_text {
    ($($type:ty),*) => {$(
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                Self::try_from(text.as_ref()).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

from_text!(ToolId, FunctionId);
