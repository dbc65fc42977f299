//! Protocol versions and the two eras they fall into.
//!
//! Versions are dates, yet they are only ever looked up in the table below and never compared as text: a pre-release
//! string or a later naming scheme would order wrongly, and an unknown version is an error to be said, not guessed at.

use std::fmt;

/// How a conversation is opened and carried, which changed with 2026-07-28.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// `initialize` first, then a connection or session with state (2024-11-05 to 2025-11-25).
    Legacy,
    /// No handshake: every request names its version, client and capabilities (2026-07-28 on).
    Modern,
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        })
    }
}

/// A released version of the Model Context Protocol that this crate speaks. Ordered by release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProtocolVersion {
    /// stdio, and HTTP with two endpoints.
    V2024_11_05,
    /// Streamable HTTP; the only version with JSON-RPC batches.
    V2025_03_26,
    /// Structured results, elicitation, the version header.
    V2025_06_18,
    /// The last version that begins with `initialize`.
    V2025_11_25,
    /// Stateless: `server/discover`, `_meta` on each request, POST only.
    V2026_07_28,
}

impl ProtocolVersion {
    /// Every known version, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];
    /// What `initialize` offers.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;
    /// What `server/discover` is asked with.
    pub const LATEST_MODERN: Self = Self::V2026_07_28;

    /// The version as it is written on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Looks a version up in the table; `None` for any other text.
    pub fn known(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.as_str() == text)
    }

    /// The era whose rules this version follows.
    pub const fn era(self) -> Era {
        match self {
            Self::V2026_07_28 => Era::Modern,
            _ => Era::Legacy,
        }
    }

    /// Whether a message may be a JSON array of messages: 2025-03-26 added that and 2025-06-18 took it away.
    pub const fn has_batches(self) -> bool {
        matches!(self, Self::V2025_03_26)
    }

    /// Whether every HTTP request after the handshake names the version in a header.
    pub const fn has_version_header(self) -> bool {
        !matches!(self, Self::V2024_11_05 | Self::V2025_03_26)
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
