//! What a client says of itself, how long it waits and how much it takes.

use std::time::Duration;

use tokio::sync::mpsc;

use crate::core::ServerRequest;

/// What the client says of itself to every server.
///
/// A server may list other functions to another client, so this is part of *the same surroundings everywhere*: it is
/// the same for a test node, a gate and a node, on every machine and in every release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// `clientInfo.name`.
    pub name: &'static str,
    /// `clientInfo.version`.
    pub version: &'static str,
    /// The `capabilities` object, as JSON text.
    pub capabilities: &'static str,
}

impl Identity {
    /// The identity that oz0 always uses.
    ///
    /// The version counts changes of what oz0 says and supports on this wire. It is deliberately not the version of
    /// the program: with that, an upgrade of oz0 could change what a server lists, and every function would wait for
    /// approval. Elicitation and sampling are always declared, whether or not somebody is there to answer, since a
    /// server may hide functions from a client without them.
    pub const OZ0: Self =
        Self { name: "oz0", version: "1", capabilities: r#"{"elicitation":{},"sampling":{}}"# };

    pub(crate) fn client_info(&self) -> String {
        format!(r#"{{"name":"{}","version":"{}"}}"#, self.name, self.version)
    }
}

impl Default for Identity {
    fn default() -> Self {
        Self::OZ0
    }
}

/// Which era to open a connection in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EraChoice {
    /// `server/discover` first; on any error, or silence for [`Timeouts::probe`], `initialize`.
    #[default]
    Probe,
    /// Modern or an error: for a server whose era is on record.
    Modern,
    /// `initialize` at once: for a server whose era is on record, or one that dies of the probe.
    Legacy,
}

/// How long each step may take. Every request has a hard end that no progress notification moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Silence at the modern probe before `initialize` is tried. Default 2 s.
    pub probe: Duration,
    /// Opening: the TCP and TLS connection, and `initialize`; servers that install on start are slow. Default 30 s.
    pub connect: Duration,
    /// One request. Default 60 s.
    pub call: Duration,
    /// One whole listing, every page. Default 60 s.
    pub listing: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            probe: Duration::from_secs(2),
            connect: Duration::from_secs(30),
            call: Duration::from_mins(1),
            listing: Duration::from_mins(1),
        }
    }
}

/// How much is taken from a server before it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes in one message, either way: a line, an SSE event, a body. Default 16 MiB.
    pub message: usize,
    /// Requests that wait for an answer at once. Default 1024.
    pub pending: usize,
    /// Functions in one listing. Default 10 000.
    pub functions: usize,
    /// Bytes in one listing, all pages together. Default 16 MiB.
    pub listing: usize,
    /// Pages in one listing. Default 10 000, so that empty pages end as well.
    pub pages: usize,
    /// Bytes of a notification's params; a longer one is dropped and counted. Default 256 KiB.
    pub notification: usize,
    /// Notifications kept for a reader that lags. Default 256.
    pub notifications: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message: 16 << 20,
            pending: 1024,
            functions: 10_000,
            listing: 16 << 20,
            pages: 10_000,
            notification: 256 << 10,
            notifications: 256,
        }
    }
}

/// Everything a connection is opened with. [`Default`] is right for a listing.
#[derive(Clone, Debug, Default)]
pub struct ClientOptions {
    /// Who the client says it is.
    pub identity: Identity,
    /// Which era to open in.
    pub era: EraChoice,
    /// How long to wait.
    pub timeouts: Timeouts,
    /// How much to take.
    pub limits: Limits,
    /// Where the server's own requests (elicitation, sampling) go. Without it, or while it is full, they are answered
    /// by [`ServerRequest`]'s rules for nobody being there; `ping` is always answered here.
    pub requests: Option<mpsc::Sender<ServerRequest>>,
}
