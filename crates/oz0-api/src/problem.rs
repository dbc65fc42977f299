//! The one shape of an error answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a request was not done. Every answer of the API outside 2xx is one of these, in JSON.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// What kind of problem it is; programs branch on this.
    pub code: Code,
    /// What happened, and to what: a sentence for people without a full stop.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Problem {
    /// A problem without a hint.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The kinds of problem, with their HTTP status and the kind of exit they lead a command to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The request is not one the API knows: malformed JSON, a malformed identifier.
    Malformed,
    /// No token, or one that is unknown or revoked.
    Unauthenticated,
    /// A token that may not do this.
    Forbidden,
    /// A `Host` that this surface does not serve; or an `Origin` that is not its own.
    WrongOrigin,
    /// There is no such thing.
    NotFound,
    /// There is such a thing, and it has no such method; `Allow` says which it has.
    MethodNotAllowed,
    /// It contradicts what the edge holds.
    Conflict,
    /// What was looked at is no longer what is: a change that was listed differently since, a report
    /// about a version that the node no longer runs.
    Stale,
    /// The body or an entry in it is above a limit.
    TooLarge,
    /// The body is not of the media type that is taken here.
    WrongMediaType,
    /// It was asked for and did not end in time. Whether it ran is not known.
    TimedOut,
    /// Nobody is there to do it: no node runs the function, or the edge's store does not answer.
    Unavailable,
    /// The edge failed; or a code that this build does not know, from a newer peer.
    #[serde(other)]
    Internal,
}

/// What a command line makes of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The edge understood and said no: exit 1.
    Refused,
    /// The request was wrong: exit 2.
    Usage,
    /// The edge, or what it needs, could not be reached or failed: exit 3.
    Failed,
}

impl Code {
    /// Every code, for tables and tests.
    pub const ALL: [Self; 13] = [
        Self::Malformed,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::WrongOrigin,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::Conflict,
        Self::Stale,
        Self::TooLarge,
        Self::WrongMediaType,
        Self::TimedOut,
        Self::Unavailable,
        Self::Internal,
    ];

    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::WrongOrigin => "wrong_origin",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::Conflict => "conflict",
            Self::Stale => "stale",
            Self::TooLarge => "too_large",
            Self::WrongMediaType => "wrong_media_type",
            Self::TimedOut => "timed_out",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }

    /// The HTTP status that carries it.
    pub const fn status(self) -> u16 {
        match self {
            Self::Malformed => 400,
            Self::Unauthenticated => 401,

            Self::Forbidden | Self::WrongOrigin => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::Conflict | Self::Stale => 409,

            Self::TooLarge => 413,
            Self::WrongMediaType => 415,
            Self::TimedOut => 504,
            Self::Unavailable => 503,
            Self::Internal => 500,
        }
    }

    /// How a command ends because of it.
    pub const fn kind(self) -> Kind {
        match self {
            Self::Unauthenticated
            | Self::Forbidden
            | Self::WrongOrigin
            | Self::NotFound
            | Self::Conflict
            | Self::Stale => Kind::Refused,
            Self::Malformed | Self::MethodNotAllowed | Self::TooLarge | Self::WrongMediaType => {
                Kind::Usage
            }
            Self::TimedOut | Self::Unavailable | Self::Internal => Kind::Failed,
        }
    }
}
