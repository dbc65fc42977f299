//! What a script may say. Unknown members are refused, so that a misspelt fault never passes for a well-behaved peer.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A whole script.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Script {
    /// Protocol versions that it speaks; their eras follow.
    pub(crate) versions: Vec<String>,
    /// `serverInfo`.
    pub(crate) server: Box<RawValue>,
    /// `capabilities`.
    pub(crate) capabilities: Box<RawValue>,
    /// Each function's raw JSON text, written to the wire as it stands.
    pub(crate) functions: Vec<String>,
    /// A file with one function's text a line, read anew at each `tools/list`; stands before `functions`.
    pub(crate) functions_file: Option<String>,
    /// How the listing is cut into pages.
    pub(crate) paging: Paging,
    /// The `ttlMs` of its modern listings.
    pub(crate) ttl_ms: u64,
    /// What happens at an event instead of, or before, the usual: see [`Scene`].
    pub(crate) on: BTreeMap<String, Vec<Scene>>,
    /// Steps run again and again while the server lives.
    pub(crate) timers: Vec<Timer>,
    /// Outlives the end of its input and SIGTERM.
    pub(crate) stubborn: bool,
    /// How it behaves over HTTP.
    pub(crate) http: HttpScript,
}

impl Default for Script {
    fn default() -> Self {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).expect("the text is JSON");
        Self {
            versions: ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
                .map(str::to_owned)
                .to_vec(),
            server: raw(r#"{"name":"oz0-actor","version":"1"}"#),
            capabilities: raw(r#"{"tools":{"listChanged":true}}"#),
            functions: Vec::new(),
            functions_file: None,
            paging: Paging::default(),
            ttl_ms: 0,
            on: BTreeMap::new(),
            timers: Vec::new(),
            stubborn: false,
            http: HttpScript::default(),
        }
    }
}

/// How the listing is cut into pages.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Paging {
    /// Functions a page; all on one without it.
    pub(crate) size: Option<usize>,
    /// What is odd about it.
    pub(crate) fault: Option<PagingFault>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PagingFault {
    /// Every page has another cursor and the same functions.
    Endless,
    /// Every page names the same cursor.
    RepeatedCursor,
    /// The second page's cursor is the empty string, which is valid.
    EmptyCursor,
}

/// Steps for some of the times that an event happens.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scene {
    /// The first time, counted from 1.
    #[serde(default = "first")]
    pub(crate) from: u64,
    /// The last time; for ever without it.
    #[serde(default)]
    pub(crate) to: Option<u64>,
    pub(crate) steps: Vec<Step>,
}

fn first() -> u64 {
    1
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Timer {
    pub(crate) every_ms: u64,
    pub(crate) steps: Vec<Step>,
}

/// One thing that the server does.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(crate) enum Step {
    // Answers: each ends its scene.
    /// The arguments and `_meta` of the call, as text and as structured content.
    Echo,
    /// This result, its text written as it stands.
    Result(String),
    /// This error.
    Error { code: i64, message: String, data: Option<Box<RawValue>> },
    /// A result with a text of this many bytes.
    Huge(usize),
    /// Everything received so far.
    Received,
    /// What the client answered to `ask`, as text.
    Ask { method: String, params: Option<Box<RawValue>> },
    /// No answer, ever.
    Never,
    /// An end without any.
    Exit(i32),
    /// Over HTTP, this response.
    Status {
        code: u16,
        #[serde(default)]
        headers: BTreeMap<String, String>,
        #[serde(default)]
        body: String,
    },

    // Deeds: the scene goes on.
    /// Waits.
    DelayMs(u64),
    /// Progress, where the request named a token.
    Progress { count: u64, every_ms: u64 },
    /// A notification.
    Notify { method: String, params: Option<Box<RawValue>> },
    /// Lists these functions from now on.
    Functions(Vec<String>),
    /// This line on the wire, as it stands (over HTTP, an event with this data).
    Line(String),
    /// These bytes, in hexadecimal, with nothing added.
    Bytes(String),
    /// This text so many times, in one piece, with nothing added.
    Repeat { text: String, count: usize },
    /// This text on stderr, so many times.
    Stderr { text: String, count: usize },
    /// A child in a session of its own that ignores SIGTERM, for so many seconds; its process ID goes to this file.
    /// With `keeps_pipes` it holds the server's stdout and stderr open.
    Daemon {
        seconds: u64,
        pid_file: Option<PathBuf>,
        #[serde(default)]
        keeps_pipes: bool,
    },
    /// Adds a line to this file: the call's arguments, and the texts that were listed last.
    Record(String),
    /// Over HTTP, forgets every session.
    DropSessions,
}

/// How the server behaves over HTTP.
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a script")]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct HttpScript {
    /// The transport of 2024-11-05 instead of the streamable one.
    pub(crate) two_endpoints: bool,
    /// What its `endpoint` event names.
    pub(crate) endpoint: String,
    /// Answers as event streams, or as JSON where an answer is one message.
    pub(crate) answers: Answers,
    /// Gives out session IDs in the legacy era.
    pub(crate) sessions: bool,
    /// What it answers to a session that it does not know.
    pub(crate) unknown_session: u16,
    /// Serves a GET with an event stream in the legacy era.
    pub(crate) listens: bool,
    /// Sends event streams in pieces of this many bytes, so many milliseconds apart.
    pub(crate) drip: Option<Drip>,
    /// Line ends of event streams.
    pub(crate) line_end: LineEnd,
    /// Ends a request's event stream right after an `id` and lets the client fetch the answer with `Last-Event-ID`.
    pub(crate) polls: bool,
    /// Response headers on every answer.
    pub(crate) headers: BTreeMap<String, String>,
}

impl Default for HttpScript {
    fn default() -> Self {
        Self {
            two_endpoints: false,
            endpoint: "/messages".to_owned(),
            answers: Answers::Events,
            sessions: true,
            unknown_session: 404,
            listens: true,
            drip: None,
            line_end: LineEnd::Lf,
            polls: false,
            headers: BTreeMap::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drip {
    pub(crate) bytes: usize,
    pub(crate) every_ms: u64,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answers {
    Events,
    Json,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LineEnd {
    Lf,
    Cr,
    Crlf,
}

impl LineEnd {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::Cr => "\r",
            Self::Crlf => "\r\n",
        }
    }
}
