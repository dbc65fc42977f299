//! What went wrong, during which operation, and what to do about it.
//!
//! A [`Fault`] is what the peer, or the way to it, did. [`ConnectError`], [`CallError`] and [`ListError`] say during
//! what. Text that came from the peer is cut short and escaped before it stands in a message.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::options::EraChoice;
use crate::version::{Era, ProtocolVersion};

/// The error that a peer answered with.
#[derive(Clone, Debug)]
pub struct RpcError {
    /// The JSON-RPC code.
    pub code: i64,
    /// The peer's message, as it sent it.
    pub message: String,
    /// `error.data`, untouched.
    pub data: Option<Box<RawValue>>,
}

impl RpcError {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn read(error: &RawValue) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Wire {
            code: i64,
            message: String,
            #[serde(default)]
            data: Option<Box<RawValue>>,
        }
        let Wire { code, message, data } =
            serde_json::from_str(error.get()).map_err(|error| error.to_string())?;
        Ok(Self { code, message, data })
    }

    pub(crate) fn to_json(&self) -> String {
        let message = crate::message::quote(&self.message);
        match &self.data {
            Some(data) => {
                format!(r#"{{"code":{},"message":{message},"data":{data}}}"#, self.code)
            }
            None => format!(r#"{{"code":{},"message":{message}}}"#, self.code),
        }
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, shown(&self.message, 400))
    }
}

/// A peer's text for a message of ours: at most `limit` characters, in one line, invisible characters written out.
pub(crate) fn shown(text: &str, limit: usize) -> String {
    oz0_escape::line_within(text, limit).into_owned()
}

/// What the peer, or the way to it, did.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// It answered with a JSON-RPC error.
    #[error("the server answered with error {0}")]
    Answered(RpcError),
    /// No answer in time.
    #[error("the server did not answer within {after:?}{note}")]
    TimedOut {
        /// How long it was given.
        after: Duration,
        /// What else was seen meanwhile, ready to follow the sentence.
        note: String,
    },
    /// The connection ended first, or had ended before.
    #[error("{0}")]
    Closed(Closed),
    /// An answer that JSON-RPC or MCP does not allow.
    #[error("the server's answer is malformed: {0}")]
    Malformed(String),
    /// More bytes than are taken.
    #[error("the server sent {what} above the limit of {limit} bytes")]
    TooLarge {
        /// What was too large.
        what: &'static str,
        /// The limit, in bytes.
        limit: usize,
    },
    /// Too many requests wait already.
    #[error("{limit} requests already wait for this server's answer")]
    Busy {
        /// The limit.
        limit: usize,
    },
    /// What the caller handed in cannot be sent.
    #[error("the request cannot be sent: {0}")]
    Params(String),
    /// An HTTP status that is no answer.
    #[error("the server answered HTTP {status}{detail}")]
    Status {
        /// The status code.
        status: u16,
        /// The start of the body, ready to follow the number; empty where there is none.
        detail: String,
    },
    /// The HTTP session ended (404): a new one was opened, or could not be.
    #[error("the server ended the session")]
    SessionEnded,
    /// A redirect that is not followed.
    #[error("the server redirects with HTTP {status} to {to}, which is not followed: {why}")]
    Redirect {
        /// The status code.
        status: u16,
        /// Where to.
        to: String,
        /// Why not.
        why: &'static str,
    },
    /// An HTTP answer outside the transport's rules.
    #[error("the server's HTTP answer is refused: {0}")]
    Refused(String),
    /// No HTTP answer at all.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// An HTTP answer that ended before it was whole.
    #[error("the server's answer broke off: {0}")]
    BrokeOff(String),
}

/// Why a connection is over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Closed {
    /// The peer ended its output: it exited, was killed, or closed its end.
    #[error("the server ended the connection{0}")]
    ByPeer(String),
    /// Reading from or writing to the peer failed.
    #[error("the connection to the server broke: {0}")]
    Broken(String),
    /// [`Client::close`](crate::Client::close), or the last handle was dropped.
    #[error("the connection was closed on this side")]
    ByUs,
}

/// A request that brought no result.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{method}: {fault}")]
pub struct CallError {
    /// The method that was asked.
    pub method: String,
    /// What happened.
    pub fault: Fault,
}

/// A connection that could not be opened.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// A step of opening failed.
    #[error("could not open the MCP connection: {step}: {fault}")]
    Handshake {
        /// Which step.
        step: Step,
        /// What happened.
        fault: Fault,
    },
    /// The server speaks the other era.
    #[error(
        "the server speaks only the {found} era of MCP, and the {asked} one was asked for: {detail}"
    )]
    WrongEra {
        /// What was asked for.
        asked: Era,
        /// What the server speaks.
        found: Era,
        /// How that showed.
        detail: String,
    },
    /// The server proved to speak this era after a message of the other one had reached it too. What it now takes
    /// the connection for is not known, so it must be opened again, over stdio with another process.
    #[error(
        "the server speaks the {era} era of MCP, and was addressed in the other one as well before that showed: {detail}"
    )]
    Reopen {
        /// The era to open in.
        era: Era,
        /// How that showed.
        detail: String,
    },
    /// No version in common.
    #[error(
        "the server speaks no version of MCP that oz0 knows: it offers {}; oz0 knows {}",
        listed(offered),
        listed(ProtocolVersion::ALL)
    )]
    UnknownVersion {
        /// What the server offered, cut short and escaped.
        offered: Vec<String>,
    },
}

impl ConnectError {
    /// The era to try once more in, with another process and the whole time, after an attempt with
    /// [`EraChoice::Probe`]; `None` where that would change nothing.
    ///
    /// A server whose era showed late is opened in it. One that ended before it answered anything may be of the
    /// legacy era and have ended of `server/discover`, of which it never heard: it is opened with `initialize`.
    pub fn reopen(&self) -> Option<EraChoice> {
        match self {
            Self::Reopen { era: Era::Modern, .. } => Some(EraChoice::Modern),
            Self::Reopen { era: Era::Legacy, .. }
            | Self::Handshake {
                step: Step::Discover,
                fault: Fault::Closed(Closed::ByPeer(_) | Closed::Broken(_)),
            } => Some(EraChoice::Legacy),
            _ => None,
        }
    }
}

/// A step of opening a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `server/discover`.
    Discover,
    /// `initialize`.
    Initialize,
    /// `server/discover`, and `initialize` as well after silence.
    Both,
    /// `notifications/initialized`.
    Initialized,
    /// The event stream of the HTTP transport with two endpoints.
    Endpoint,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Discover => "server/discover",
            Self::Initialize => "initialize",
            Self::Both => "server/discover, then initialize",
            Self::Initialized => "notifications/initialized",
            Self::Endpoint => "event stream",
        })
    }
}

fn listed<T: fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    let all: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

/// A listing that could not be read whole. A part of it is never handed out.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// A page brought no result.
    #[error("could not list the server's functions: page {page}: {fault}")]
    Page {
        /// Which page, from 1.
        page: usize,
        /// What happened.
        fault: Fault,
    },
    /// A page's result is not what `tools/list` answers.
    #[error("could not list the server's functions: page {page}: {what}")]
    Shape {
        /// Which page, from 1.
        page: usize,
        /// What is wrong.
        what: String,
    },
    /// A cursor came again: the pages would never end.
    #[error(
        "could not list the server's functions: page {page} repeats the cursor `{cursor}`, so its pages never end"
    )]
    RepeatedCursor {
        /// Which page, from 1.
        page: usize,
        /// The cursor, cut short and escaped.
        cursor: String,
    },
    /// More functions than are taken.
    #[error("could not list the server's functions: it lists more than {limit}")]
    TooManyFunctions {
        /// The limit.
        limit: usize,
    },
    /// More pages than are taken.
    #[error("could not list the server's functions: it lists them on more than {limit} pages")]
    TooManyPages {
        /// The limit.
        limit: usize,
    },
    /// More bytes than are taken.
    #[error("could not list the server's functions: the listing is longer than {limit} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The whole listing took too long.
    #[error(
        "could not list the server's functions: it was not complete within {after:?} ({pages} pages read)"
    )]
    TimedOut {
        /// How long it was given.
        after: Duration,
        /// How many pages had come.
        pages: usize,
    },
}

impl ListError {
    /// Whether the server was reached and lists nothing to this connection, not even a first page: what was agreed when it was
    /// opened may hold no more (another server stands there now, or one of another era), and a new one may fare better.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Page {
                page: 1,
                fault: Fault::Answered(_)
                    | Fault::Status { .. }
                    | Fault::SessionEnded
                    | Fault::Malformed(_)
                    | Fault::Refused(_),
            }
        )
    }
}
