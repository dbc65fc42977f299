//! What goes wrong, without anything secret.

use crate::endpoint::EndpointError;

/// Why an authorization server did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OauthError {
    /// A URL that nothing secret is sent to.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// No answer.
    #[error("could not reach {at}: {reason}")]
    Unreachable {
        /// Whom.
        at: String,
        /// Why.
        reason: String,
    },
    /// It said no (RFC 6749, section 5.2).
    #[error("{at} refused it: {code}")]
    Refused {
        /// Who.
        at: String,
        /// The error's code, such as `invalid_grant`.
        code: String,
    },
    /// An answer that is none of the protocol.
    #[error("{at} did not answer as an authorization server does: {reason}")]
    Unreadable {
        /// Who answered.
        at: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Metadata that are not believed.
    #[error("the metadata at {at} are not taken: {reason}")]
    Metadata {
        /// Where they are.
        at: String,
        /// Why not.
        reason: String,
    },
    /// There are none.
    #[error("{at} has no metadata of {what}")]
    NoMetadata {
        /// Whose.
        at: String,
        /// Of what.
        what: &'static str,
    },
    /// The browser came back without a code.
    #[error("the authorization did not come about: {0}")]
    Denied(String),
    /// Nobody came back in time.
    #[error("nobody authorized it within {seconds} s")]
    Late {
        /// How long it was waited.
        seconds: u64,
    },
    /// This machine does not do its part.
    #[error("could not {operation}: {reason}")]
    System {
        /// What.
        operation: &'static str,
        /// Why.
        reason: String,
    },
}

impl OauthError {
    /// Whether asking again would be answered the same: what was granted is gone.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Refused { code, .. } if code != "temporarily_unavailable"
            && code != "slow_down" && code != "server_error")
    }
}

/// An error's code as it may be repeated: of the characters that codes have, and no longer than one.
pub(crate) fn code(said: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if (1..=64).contains(&said.len()) && said.chars().all(plain) {
        said.to_owned()
    } else {
        "an error without a code".to_owned()
    }
}
