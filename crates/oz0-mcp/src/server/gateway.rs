//! What stands behind the protocol: the trait that a node implements, and what it is handed with a call.

use std::borrow::Cow;
use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot, watch};

use super::exchange::{Aside, Asked};
use super::known::Known;
use super::params::{CallParams, ours_in};
use super::splice::{Splice, range_in};
use crate::error::RpcError;
use crate::message::{self, Members, string};
use crate::version::{Era, ProtocolVersion};

/// What the server side stands in front of.
///
/// Listings and results are raw JSON text, and pass as they are. A future that is dropped is a call that was
/// cancelled: by the client, by its connection's end, or by the server's shutdown.
pub trait Gateway: Send + Sync + 'static {
    /// Who sends this request, by its bearer token. Asked for each HTTP request, and never over stdio. The default
    /// takes everybody for [`Principal::local`].
    fn authenticate(
        &self,
        token: Option<&str>,
    ) -> impl Future<Output = Result<Principal, Denied>> + Send {
        let _ = token;
        async { Ok(Principal::local()) }
    }

    /// The functions that this client may see. Also asked before each modern call over HTTP, whose headers are checked
    /// against the function's schema: the same listing is to be the same [`Arc`].
    fn list(
        &self,
        client: &Principal,
    ) -> impl Future<Output = Result<Arc<Functions>, RpcError>> + Send;

    /// The revision of that listing, which rises whenever the listing changes, and only then. A client is told once it is
    /// higher than that of what the client listed.
    fn revision(&self, client: &Principal) -> watch::Receiver<u64>;

    /// Calls a function. What it gives back is the result (or an `InputRequiredResult` of a modern server, which is
    /// presented to the client as its era has it), or the error.
    fn call(&self, call: Call) -> impl Future<Output = Result<Box<RawValue>, RpcError>> + Send;
}

/// A listing as clients get it.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    /// Which one this is: a higher number means other functions.
    pub revision: u64,
    /// Each function's JSON object, in order. What is not an object would spoil the listing for every client, so it
    /// must be one.
    pub items: Vec<Box<str>>,
    /// Whether other clients see the same (`cacheScope`).
    pub public: bool,
}

/// Who a request comes from, as far as the gateway can tell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Principal(Arc<str>);

impl Principal {
    /// A client that was authenticated: the ID of its token or account, never the token.
    pub fn new(id: &str) -> Self {
        Self(Arc::from(id))
    }

    /// Whoever can reach this process.
    pub fn local() -> Self {
        Self::new("")
    }

    /// The ID; empty for [`local`](Self::local).
    pub fn id(&self) -> &str {
        &self.0
    }
}

/// A request that is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denied {
    /// No token, or none that is known (401).
    Unauthenticated {
        /// Where the OAuth metadata of this resource is (RFC 9728), if it has any.
        resource_metadata: Option<String>,
    },
    /// A known token that may not do this (403).
    Forbidden,
    /// Whether it may could not be found out (503).
    Unavailable,
}

/// What a client says of itself. For people and logs, never for a decision of trust.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Who it is, as authenticated.
    pub principal: Principal,
    /// The version it speaks.
    pub version: ProtocolVersion,
    /// `clientInfo.name`, as sent.
    pub name: Option<String>,
    /// `clientInfo.version`, as sent.
    pub client_version: Option<String>,
    /// What it can be asked.
    pub capabilities: Capabilities,
    /// What it knows of the listing; none where its requests are not known to be one client's.
    pub(crate) known: Option<Arc<Known>>,
}

/// What a client can be asked.
#[expect(clippy::struct_excessive_bools, reason = "a set of independent capabilities")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Forms for its user.
    pub elicitation: bool,
    /// URLs for its user to open.
    pub elicitation_url: bool,
    /// Its model.
    pub sampling: bool,
    /// Its folders.
    pub roots: bool,
}

impl Capabilities {
    pub(crate) fn read(object: Option<&RawValue>) -> Self {
        let Some(members) = object.and_then(|object| Members::read(object.get()).ok()) else {
            return Self::default();
        };
        let (form, url) = match members.get("elicitation") {
            None => (false, false),
            Some(elicitation) => {
                let modes = Members::read(elicitation.get()).ok();
                let has =
                    |mode: &str| modes.as_ref().is_some_and(|modes| modes.get(mode).is_some());
                // Before URLs there was only one mode, and it was not named.
                (has("form") || !has("url"), has("url"))
            }
        };
        Self {
            elicitation: form,
            elicitation_url: url,
            sampling: members.get("sampling").is_some(),
            roots: members.get("roots").is_some(),
        }
    }

    /// Whether a request of this method can be answered; else the capability that is missing.
    pub(crate) fn allow(
        self,
        version: ProtocolVersion,
        method: &str,
        params: Option<&str>,
    ) -> Result<(), &'static str> {
        let (able, name) = match method {
            "elicitation/create" => {
                let url = params.is_some_and(|params| {
                    Members::read(params).is_ok_and(|members| {
                        members.get("mode").and_then(string).is_some_and(|mode| mode == "url")
                    })
                });
                let able = if url {
                    self.elicitation_url && version >= ProtocolVersion::V2025_11_25
                } else {
                    self.elicitation && version >= ProtocolVersion::V2025_06_18
                };
                (able, if url { r#"{"elicitation":{"url":{}}}"# } else { r#"{"elicitation":{}}"# })
            }
            "sampling/createMessage" => (self.sampling, r#"{"sampling":{}}"#),
            "roots/list" => (self.roots, r#"{"roots":{}}"#),
            _ => (false, "{}"),
        };
        if able { Ok(()) } else { Err(name) }
    }
}

impl Peer {
    /// Reads `clientInfo` and `capabilities`, each an object or nothing.
    pub(crate) fn read(
        principal: Principal,
        version: ProtocolVersion,
        info: Option<&RawValue>,
        capabilities: Option<&RawValue>,
    ) -> Self {
        let info = info.and_then(|info| Members::read(info.get()).ok());
        let text = |name: &str| {
            let value = info.as_ref().and_then(|info| info.get(name)).and_then(string);
            value.map(Cow::into_owned).filter(|text| text.len() <= 256)
        };
        Self {
            principal,
            version,
            name: text("name"),
            client_version: text("version"),
            capabilities: Capabilities::read(capabilities),
            known: None,
        }
    }

    /// The era of its version.
    pub fn era(&self) -> Era {
        self.version.era()
    }
}

/// One call of a function, with the ways back to its client.
#[derive(Clone, Debug)]
pub struct Call {
    pub(crate) params: Arc<CallParams>,
    pub(crate) peer: Arc<Peer>,
    pub(crate) asides: mpsc::Sender<Aside>,
    pub(crate) ask: Duration,
    pub(crate) level: Option<Level>,
    pub(crate) mark: Arc<OnceLock<[u8; 16]>>,
}

impl Call {
    /// The function's name as this gateway lists it.
    pub fn name(&self) -> &str {
        self.params.name()
    }

    /// The parameters.
    pub fn params(&self) -> &CallParams {
        &self.params
    }

    /// What the gateway knows this call by, drawn when it is first asked for. It stays the same where a server asks for input
    /// and is called again with it.
    pub fn mark(&self, draw: impl FnOnce() -> [u8; 16]) -> [u8; 16] {
        *self.mark.get_or_init(draw)
    }

    /// Who calls.
    pub fn client(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// Where progress goes; `None` when the client did not ask for any.
    pub fn progress(&self) -> Option<Progress> {
        self.params.progress_token()?;
        Some(Progress { asides: self.asides.clone() })
    }

    /// Passes a log message of the server on (`notifications/message`), if the client wants that level.
    pub fn log(&self, params: &RawValue) {
        let Some(least) = self.level else { return };
        let level = Members::read(params.get()).ok().and_then(|members| {
            members.get("level").and_then(string).and_then(|name| Level::read(&name))
        });
        if level.is_some_and(|level| level >= least) {
            let text =
                message::notification("notifications/message", Some(&without_ours(params.get())));
            // A client that does not read loses log messages, and nothing else.
            let _ = self.asides.try_send(Aside::Notify(text));
        }
    }

    /// The log level that a client of the legacy era has set on its connection. A server of the modern era is told on
    /// each call ([`Forward::log_level`](super::Forward::log_level)); a modern client says it in its own parameters.
    pub fn log_level(&self) -> Option<Level> {
        self.level.filter(|_| self.peer.era() == Era::Legacy)
    }

    /// The way to ask the client something on behalf of the server that is called.
    pub fn asker(&self) -> Asker {
        Asker { peer: Arc::clone(&self.peer), asides: self.asides.clone(), limit: self.ask }
    }
}

/// The levels of `notifications/message` (RFC 5424).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For developers.
    Debug,
    /// What goes on.
    Info,
    /// Normal, and worth a look.
    Notice,
    /// Something may be wrong.
    Warning,
    /// Something is.
    Error,
    /// A part fails.
    Critical,
    /// Somebody must act at once.
    Alert,
    /// Nothing works.
    Emergency,
}

impl Level {
    pub(crate) fn read(name: &str) -> Option<Self> {
        Some(match name {
            "debug" => Self::Debug,
            "info" => Self::Info,
            "notice" => Self::Notice,
            "warning" => Self::Warning,
            "error" => Self::Error,
            "critical" => Self::Critical,
            "alert" => Self::Alert,
            "emergency" => Self::Emergency,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

/// Where a call's progress goes.
#[derive(Clone, Debug)]
pub struct Progress {
    asides: mpsc::Sender<Aside>,
}

impl Progress {
    /// Passes a `notifications/progress` of the server on: its parameters, with the client's token in place of the
    /// server's. Says whether the client will see it: one that reads too slowly misses some, since the next one says
    /// more anyway.
    pub fn forward(&self, params: &RawValue) -> bool {
        let params = without_ours(params.get());
        let Ok(members) = Members::read(&params) else { return false };
        match members.get("progressToken") {
            Some(token) if members.repeated(&["progressToken"]).is_none() => {
                let at = range_in(&params, token.get());
                self.send(&params[..at.start], &params[at.end..])
            }
            _ => false,
        }
    }

    /// Tells progress of the gateway's own.
    pub fn report(&self, progress: f64, total: Option<f64>, message: Option<&str>) -> bool {
        let mut params = serde_json::Map::new();
        params.insert("progress".to_owned(), progress.into());
        if let Some(total) = total {
            params.insert("total".to_owned(), total.into());
        }
        if let Some(message) = message {
            params.insert("message".to_owned(), message.into());
        }
        let rest = serde_json::Value::Object(params).to_string();
        self.send(r#"{"progressToken":"#, &rest.replacen('{', ",", 1))
    }

    fn send(&self, before: &str, after: &str) -> bool {
        let before =
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{before}"#);
        let after = format!("{after}}}");
        self.asides.try_send(Aside::Progress { before, after }).is_ok()
    }
}

/// A result without the `_meta` keys under `oz0/`, which only this gateway may set. What a client gets through a
/// [`Server`](super::Server) is cleared of them already; this is for results that are handed out in another way.
pub fn without_ours(text: &str) -> Cow<'_, str> {
    let ours = ours_in(text);
    if ours.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut splice = Splice::new(text);
    for range in ours {
        if splice.remove(range).is_err() {
            return Cow::Borrowed("{}");
        }
    }
    Cow::Owned(splice.apply())
}

/// The way to ask the client of one call, whatever its era.
///
/// A legacy client gets a request of its own; a modern one gets an `InputRequiredResult` and brings the answer with
/// its next request, while the call waits here.
#[derive(Clone, Debug)]
pub struct Asker {
    peer: Arc<Peer>,
    asides: mpsc::Sender<Aside>,
    limit: Duration,
}

/// Why a client did not answer.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// It did not say that it can be asked this.
    #[error("the client cannot be asked: it does not have the capability {0}")]
    Unable(&'static str),
    /// It answered with an error.
    #[error("the client answered with error {0}")]
    Answered(RpcError),
    /// It did not answer in time.
    #[error("the client did not answer within {0:?}")]
    TimedOut(Duration),
    /// The call is over, or its client is gone.
    #[error("the client is gone")]
    Gone,
}

impl Asker {
    /// Asks, and waits for the answer, for at most [`ServerTimeouts::ask`](super::ServerTimeouts).
    pub async fn ask(
        &self,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<Box<RawValue>, AskError> {
        self.peer
            .capabilities
            .allow(self.peer.version, method, params.map(RawValue::get))
            .map_err(AskError::Unable)?;
        let (answer, answered) = oneshot::channel();
        let params = params.map(|params| without_ours(params.get()).into_owned());
        let asked = Asked { method: method.to_owned(), params, answer };
        let exchange = async {
            self.asides.send(Aside::Ask(asked)).await.map_err(|_| AskError::Gone)?;
            answered.await.unwrap_or(Err(AskError::Gone))
        };
        tokio::time::timeout(self.limit, exchange)
            .await
            .unwrap_or(Err(AskError::TimedOut(self.limit)))
    }
}
