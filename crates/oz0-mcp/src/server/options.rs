//! What a server says of itself, how much it takes and how long it waits.

use std::time::Duration;

use crate::message::quote;

/// Everything a server is started with.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// `serverInfo.name`.
    pub name: String,
    /// `serverInfo.version`.
    pub version: String,
    /// `serverInfo.title`, for people.
    pub title: Option<String>,
    /// What a model is told about the whole server. None unless somebody wrote it.
    pub instructions: Option<String>,
    /// How much is taken.
    pub limits: ServerLimits,
    /// How long to wait.
    pub timeouts: ServerTimeouts,
    /// Functions on one page of `tools/list`. Default 1000: many clients read the first page only.
    pub page: usize,
    /// `ttlMs` of listings in the modern era. Default 0: the change is told by `listChanged`, and a listing that was
    /// refused a second ago must not be called from a cache.
    pub ttl: Duration,
    /// The key under which what modern clients carry back and forth is protected. Default: a random one, so that what
    /// one process gave out means nothing to another. Nodes behind one address share one.
    pub key: Option<[u8; 32]>,
}

impl ServerOptions {
    /// The defaults, under this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            title: None,
            instructions: None,
            limits: ServerLimits::default(),
            timeouts: ServerTimeouts::default(),
            page: 1000,
            ttl: Duration::ZERO,
            key: None,
        }
    }

    pub(crate) fn server_info(&self) -> String {
        let title = match &self.title {
            Some(title) => format!(r#","title":{}"#, quote(title)),
            None => String::new(),
        };
        format!(r#"{{"name":{},"version":{}{title}}}"#, quote(&self.name), quote(&self.version))
    }
}

/// How much is taken from clients before they are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Bytes in one message from a client. Default 4 MiB.
    pub message: usize,
    /// How deep JSON may nest in it. Default 128.
    pub depth: usize,
    /// Messages in one batch of 2025-03-26. Default 100.
    pub batch: usize,
    /// Requests in flight of one client: of a stdio connection, or of a principal over HTTP. Default 256.
    pub in_flight: usize,
    /// HTTP sessions of the legacy eras, all together. Default 1024.
    pub sessions: usize,
    /// HTTP sessions of one principal. Default 256.
    pub sessions_each: usize,
    /// Bytes of messages that wait for a client to read them: above it, progress and log messages are dropped, and a
    /// client that still does not read is cut off. One answer is always taken. Default 32 MiB.
    pub unread: usize,
    /// Bytes of messages that an HTTP session keeps for a client that comes back to a broken stream. Default 4 MiB.
    pub replay: usize,
    /// Calls of one principal that wait, across requests, for its answer to what a server asked; all together, 16
    /// times as many. Default 64.
    pub parked: usize,
    /// Rounds in which one call's server may ask. Default 16.
    pub rounds: usize,
    /// TCP connections. Default 1024.
    pub connections: usize,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            message: 4 << 20,
            depth: 128,
            batch: 100,
            in_flight: 256,
            sessions: 1024,
            sessions_each: 256,
            unread: 32 << 20,
            replay: 4 << 20,
            parked: 64,
            rounds: 16,
            connections: 1024,
        }
    }
}

/// How long each wait may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerTimeouts {
    /// For a client's answer to what a server asked: people answer. Default 10 min.
    pub ask: Duration,
    /// Before an HTTP answer becomes an event stream, so that a client may come back to it. Default 250 ms.
    pub plain: Duration,
    /// Between two signs of life on an event stream. Default 15 s.
    pub keep_alive: Duration,
    /// Without a request, before an HTTP session ends. Default 1 h.
    pub session: Duration,
    /// For a client that does not take a single byte, and for one that sends its request by drops. Default 30 s.
    pub stall: Duration,
    /// For calls in flight when the server is shut down. Default 10 s.
    pub shutdown: Duration,
    /// For calls in flight once a stdio client has closed its end, which is how it says that it is done (MCP 2025-11-25,
    /// lifecycle, shutdown): hardly anybody waits for them. Default 1 s.
    pub closed: Duration,
}

impl Default for ServerTimeouts {
    fn default() -> Self {
        Self {
            ask: Duration::from_mins(10),
            plain: Duration::from_millis(250),
            keep_alive: Duration::from_secs(15),
            session: Duration::from_hours(1),
            stall: Duration::from_secs(30),
            shutdown: Duration::from_secs(10),
            closed: Duration::from_secs(1),
        }
    }
}
