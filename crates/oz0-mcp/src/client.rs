//! The client: opening a connection in the right era, listing, calling.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;

use crate::core::{Core, Events, Junk, Outcome, Stats, Waiting};
use crate::error::{CallError, Closed, ConnectError, Fault, ListError, RpcError, Step, shown};
use crate::http::{Endpoint, Http};
use crate::listing::{Page, PageError, RawListing, ServerInfo};
use crate::message::{self, Members, string};
use crate::options::{ClientOptions, EraChoice};
use crate::stdio;
use crate::version::{Era, ProtocolVersion};

/// JSON-RPC's own codes and those that 2026-07-28 reserves for itself (its section on errors).
const METHOD_NOT_FOUND: i64 = -32601;
const HEADER_MISMATCH: i64 = -32020;
const MISSING_CAPABILITY: i64 = -32021;
const UNSUPPORTED_VERSION: i64 = -32022;

const NO_PARAMS: &str = "{}";
/// How long an orderly end may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// A handle on one connection to one MCP server. Cheap to clone; any number of requests may be in flight at once. The
/// connection is dropped with its last handle.
#[derive(Clone, Debug)]
pub struct Client(Arc<Connection>);

#[derive(Debug)]
struct Connection {
    wire: Wire,
    version: ProtocolVersion,
    info: ServerInfo,
}

#[derive(Debug)]
struct Wire {
    core: Arc<Core>,
    carrier: Carrier,
    options: ClientOptions,
    tasks: Vec<AbortHandle>,
}

#[derive(Debug)]
enum Carrier {
    Lines,
    Http(Arc<Http>),
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.core.close(&Closed::ByUs);
        for task in &self.tasks {
            task.abort();
        }
        if let Carrier::Http(http) = &self.carrier {
            http.stop();
        }
    }
}

/// What opening a connection found out.
struct Agreement {
    version: ProtocolVersion,
    info: ServerInfo,
}

impl Client {
    /// Opens a connection over a pair of byte streams, such as a child process's stdout and stdin.
    ///
    /// Needs a Tokio runtime. The process stays its owner's: when this client closes the connection it ends the
    /// stream that it writes to, and nothing else.
    pub async fn stdio(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        options: &ClientOptions,
    ) -> Result<Self, ConnectError> {
        let (core, outgoing) = Core::new(options.limits, options.requests.clone());
        let tasks = vec![
            stdio::read(Arc::clone(&core), reader).abort_handle(),
            stdio::write(Arc::clone(&core), outgoing, writer).abort_handle(),
        ];
        let wire = Wire { core, carrier: Carrier::Lines, options: options.clone(), tasks };
        let agreement = wire.open().await?;
        Ok(wire.connected(agreement))
    }

    /// Opens a connection to an HTTP endpoint: Streamable HTTP, else the two endpoints of 2024-11-05.
    ///
    /// Needs a Tokio runtime. Unless the process has chosen one already, `ring` becomes rustls's provider.
    pub async fn http(endpoint: &Endpoint, options: &ClientOptions) -> Result<Self, ConnectError> {
        let (core, outgoing) = Core::new(options.limits, options.requests.clone());
        let http = Http::new(endpoint, options)
            .map_err(|fault| ConnectError::Handshake { step: Step::Endpoint, fault })?;
        let http = Arc::new(http);
        let poster = Arc::clone(&http).post_queued(outgoing);
        let wire = Wire {
            core,
            carrier: Carrier::Http(Arc::clone(&http)),
            options: options.clone(),
            tasks: vec![poster.abort_handle()],
        };
        let agreement = wire.open().await?;
        http.begin(&wire.core, agreement.version);
        Ok(wire.connected(agreement))
    }

    /// The version that was agreed.
    pub fn protocol(&self) -> ProtocolVersion {
        self.0.version
    }

    /// The era of that version: to be recorded, and asked for the next time.
    pub fn era(&self) -> Era {
        self.0.version.era()
    }

    /// What the server says of itself.
    pub fn server_info(&self) -> &ServerInfo {
        &self.0.info
    }

    /// Reads the whole listing, page by page, within [`Timeouts::listing`](crate::Timeouts) and
    /// [`Limits`](crate::Limits).
    pub async fn list_functions(&self) -> Result<RawListing, ListError> {
        let Connection { wire, version, .. } = &*self.0;
        let after = wire.options.timeouts.listing;
        let mut listing = RawListing::default();
        let read = wire.list(*version, &mut listing);
        match tokio::time::timeout(after, read).await {
            Ok(Ok(())) => Ok(listing),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(ListError::TimedOut { after, pages: listing.pages }),
        }
    }

    /// Sends a request and waits for its answer, for at most [`Timeouts::call`](crate::Timeouts). Parameters and
    /// result pass as they are written; in the modern era the members that its requests need are spliced into
    /// `params._meta`. A request that is given up, or whose future is dropped, is cancelled at the server.
    pub async fn request(
        &self,
        method: &str,
        params: &RawValue,
    ) -> Result<Box<RawValue>, CallError> {
        self.request_within(method, params, self.0.wire.options.timeouts.call).await
    }

    /// [`request`](Self::request) with a time-out of its own.
    pub async fn request_within(
        &self,
        method: &str,
        params: &RawValue,
        limit: Duration,
    ) -> Result<Box<RawValue>, CallError> {
        let Connection { wire, version, .. } = &*self.0;
        wire.call(Some(*version), method, params.get(), limit, true)
            .await
            .map_err(|fault| CallError { method: method.to_owned(), fault })
    }

    /// Sends a notification. Over HTTP it is queued, and a refusal by the server is not told.
    pub async fn notify(&self, method: &str, params: Option<&RawValue>) -> Result<(), CallError> {
        let text = message::notification(method, params.map(RawValue::get));
        let wire = &self.0.wire;
        let limit = wire.options.timeouts.call;
        let sent = tokio::time::timeout(limit, wire.core.send(text)).await.unwrap_or_else(|_| {
            Err(Fault::TimedOut { after: limit, note: ": it does not read its input".to_owned() })
        });
        sent.map_err(|fault| CallError { method: method.to_owned(), fault })
    }

    /// What the server tells from now on. Any number of readers may listen; one that lags is told so. A modern server
    /// tells nothing until it is asked to, by a request `subscriptions/listen` with a long time-out.
    pub fn events(&self) -> Events {
        self.0.wire.core.events()
    }

    /// What the server wrote that is no message.
    pub fn junk(&self) -> Junk {
        self.0.wire.core.junk()
    }

    /// What else the server did that a well-behaved one does not.
    pub fn stats(&self) -> Stats {
        self.0.wire.core.stats()
    }

    /// Why the connection is over; `None` while it is open.
    pub fn closed(&self) -> Option<Closed> {
        self.0.wire.core.closed()
    }

    /// Ends the connection in order: over stdio what is queued is written and the server's input is closed, over HTTP
    /// the session is deleted. Requests in flight on other handles end with [`Closed::ByUs`]. Takes at most 2 s.
    pub async fn close(self) {
        let wire = &self.0.wire;
        let farewell = async {
            match &wire.carrier {
                Carrier::Lines => wire.core.end().await,
                Carrier::Http(http) => http.end().await,
            }
            wire.core.close(&Closed::ByUs);
            if let Carrier::Lines = wire.carrier
                && let Some(writer) = wire.tasks.get(1)
            {
                while !writer.is_finished() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
        };
        let _ = tokio::time::timeout(FAREWELL, farewell).await;
        wire.core.close(&Closed::ByUs);
        for task in &wire.tasks {
            task.abort();
        }
    }
}

impl Wire {
    fn connected(self, agreement: Agreement) -> Client {
        let Agreement { version, info } = agreement;
        Client(Arc::new(Connection { wire: self, version, info }))
    }

    /// One request and its answer. `version` is what it names in the modern era; `cancels` says whether the server is
    /// told when it is given up.
    async fn call(
        &self,
        version: Option<ProtocolVersion>,
        method: &str,
        params: &str,
        limit: Duration,
        cancels: bool,
    ) -> Outcome {
        let modern = version.filter(|version| version.era() == Era::Modern);
        let params = match modern {
            Some(version) => {
                let identity = self.options.identity;
                let meta = [
                    ("io.modelcontextprotocol/protocolVersion", &*message::quote(version.as_str())),
                    ("io.modelcontextprotocol/clientInfo", &*identity.client_info()),
                    ("io.modelcontextprotocol/clientCapabilities", identity.capabilities),
                ];
                message::with_meta(params, &meta).map_err(Fault::Params)?
            }
            None if params.starts_with('{') => params.to_owned(),
            None => return Err(Fault::Params("its parameters are not an object".to_owned())),
        };
        if params.len() > self.options.limits.message {
            let limit = self.options.limits.message;
            return Err(Fault::Params(format!("its parameters are above {limit} bytes")));
        }
        let (id, mut answer) = self.core.open()?;
        let in_place = matches!(self.carrier, Carrier::Http(_)) && modern.is_some();
        let mut waiting = Waiting { core: &self.core, id, says_so: cancels && !in_place };
        let text = message::request(id, method, &params);
        let exchange = async {
            match &self.carrier {
                Carrier::Lines => {
                    self.core.send(text).await?;
                    (&mut answer).await.unwrap_or(Err(Fault::Closed(Closed::ByUs)))
                }
                Carrier::Http(http) => {
                    http.exchange(&self.core, version, id, method, &params, text, &mut answer).await
                }
            }
        };
        if let Ok(outcome) = tokio::time::timeout(limit, exchange).await {
            // Whatever came of it, the server is not working on it any more.
            waiting.says_so = false;
            return outcome;
        }
        Err(Fault::TimedOut { after: limit, note: self.core.note() })
    }

    async fn list(
        &self,
        version: ProtocolVersion,
        listing: &mut RawListing,
    ) -> Result<(), ListError> {
        let limits = self.options.limits;
        let mut seen = HashSet::new();
        let mut params = NO_PARAMS.to_owned();
        let mut raw: Vec<Box<RawValue>> = Vec::new();
        loop {
            let page = listing.pages + 1;
            if page > limits.pages {
                return Err(ListError::TooManyPages { limit: limits.pages });
            }
            let result = self
                .call(Some(version), "tools/list", &params, self.options.timeouts.call, true)
                .await
                .map_err(|fault| ListError::Page { page, fault })?;
            listing.pages = page;
            listing.bytes += result.get().len();
            if listing.bytes > limits.listing {
                return Err(ListError::TooLong { limit: limits.listing });
            }
            let read =
                Page::read(&result, limits.functions - raw.len()).map_err(|error| match error {
                    PageError::TooMany => ListError::TooManyFunctions { limit: limits.functions },
                    PageError::Shape(what) => ListError::Shape { page, what },
                })?;
            raw.extend(read.tools.into_iter().map(RawValue::to_owned));
            let Some(cursor) = read.cursor else { break };
            params = format!(r#"{{"cursor":{}}}"#, message::quote(&cursor));
            if let Some(cursor) = seen.replace(cursor) {
                return Err(ListError::RepeatedCursor { page, cursor: shown(&cursor, 80) });
            }
        }
        match &self.carrier {
            Carrier::Http(http) if version.era() == Era::Modern => {
                (listing.functions, listing.left_out) = http.route(raw);
            }
            _ => listing.functions = raw,
        }
        Ok(())
    }

    async fn open(&self) -> Result<Agreement, ConnectError> {
        match self.options.era {
            EraChoice::Legacy => self.initialize().await,
            EraChoice::Modern => match self.discover().await? {
                Discovery::Modern(agreement) => Ok(agreement),
                Discovery::Legacy(detail) => {
                    Err(ConnectError::WrongEra { asked: Era::Modern, found: Era::Legacy, detail })
                }
                Discovery::Unclear(fault) => {
                    Err(ConnectError::Handshake { step: Step::Discover, fault })
                }
            },
            EraChoice::Probe => match self.discover().await? {
                Discovery::Modern(agreement) => Ok(agreement),
                Discovery::Legacy(_) | Discovery::Unclear(_) => self.initialize().await,
            },
        }
    }

    /// Asks in the modern way.
    async fn discover(&self) -> Result<Discovery, ConnectError> {
        let version = ProtocolVersion::LATEST_MODERN;
        // Held from here on, so that the reader judges what comes right behind the answer by the right rules.
        self.core.agree(Some(version));
        let limit = match self.options.era {
            EraChoice::Probe => self.options.timeouts.probe,
            EraChoice::Modern | EraChoice::Legacy => self.options.timeouts.connect,
        };
        let result =
            match self.call(Some(version), "server/discover", NO_PARAMS, limit, false).await {
                Ok(result) => result,
                Err(fault) => return Self::without_discovery(fault),
            };
        let Ok(members) = Members::read(result.get()) else {
            return Ok(Discovery::Unclear(Fault::Malformed("its result is no object".to_owned())));
        };
        let Some(offered) = members.get("supportedVersions").and_then(texts) else {
            let fault = Fault::Malformed("its result has no `supportedVersions`".to_owned());
            return Ok(Discovery::Unclear(fault));
        };
        Ok(match best(&offered, Era::Modern) {
            Some(version) => {
                self.core.agree(Some(version));
                Discovery::Modern(Agreement { version, info: ServerInfo::read(&result) })
            }
            None => Self::offered(&offered)?,
        })
    }

    fn without_discovery(fault: Fault) -> Result<Discovery, ConnectError> {
        match fault {
            Fault::Answered(error) if error.code == UNSUPPORTED_VERSION => {
                let offered = error
                    .data
                    .as_ref()
                    .and_then(|data| Members::read(data.get()).ok())
                    .and_then(|data| data.get("supported").and_then(texts))
                    .unwrap_or_default();
                Self::offered(&offered)
            }
            Fault::Answered(error) if error.code == METHOD_NOT_FOUND => {
                Ok(Discovery::Legacy(format!("server/discover: {error}")))
            }
            // Errors that only a modern server has, and what another first message would not change.
            Fault::Answered(RpcError { code: HEADER_MISMATCH | MISSING_CAPABILITY, .. })
            | Fault::Closed(_)
            | Fault::Redirect { .. }
            | Fault::Unreachable(_)
            | Fault::Params(_)
            | Fault::Busy { .. }
            | Fault::Status { status: 401 | 403 | 407 | 429, .. } => {
                Err(ConnectError::Handshake { step: Step::Discover, fault })
            }
            fault => Ok(Discovery::Unclear(fault)),
        }
    }

    /// The server named its versions, and our modern one is not among them.
    fn offered(offered: &[String]) -> Result<Discovery, ConnectError> {
        if best(offered, Era::Legacy).is_some() {
            return Ok(Discovery::Legacy(format!("it offers {}", shown(&offered.join(", "), 200))));
        }
        Err(unknown(offered))
    }

    /// Opens in the legacy way.
    async fn initialize(&self) -> Result<Agreement, ConnectError> {
        let failed = |step| move |fault| ConnectError::Handshake { step, fault };
        self.core.agree(None);
        let identity = self.options.identity;
        let params = format!(
            r#"{{"protocolVersion":"{}","capabilities":{},"clientInfo":{}}}"#,
            ProtocolVersion::LATEST_LEGACY,
            identity.capabilities,
            identity.client_info()
        );
        let limit = self.options.timeouts.connect;
        let mut result = self.call(None, "initialize", &params, limit, false).await;
        if let (
            Err(Fault::Status { status: 400 | 404 | 405 | 406 | 410 | 415 | 501, .. }),
            Carrier::Http(http),
        ) = (&result, &self.carrier)
        {
            // No Streamable HTTP here: before 2025-03-26 a GET opened the stream.
            let found = tokio::time::timeout(limit, http.two_endpoints(&self.core));
            match found.await {
                Ok(Ok(true)) => result = self.call(None, "initialize", &params, limit, false).await,
                Ok(Ok(false)) => {}
                Ok(Err(fault)) => return Err(failed(Step::Endpoint)(fault)),
                Err(_) => {
                    let note = self.core.note();
                    return Err(failed(Step::Endpoint)(Fault::TimedOut { after: limit, note }));
                }
            }
        }
        let result = match result {
            Ok(result) => result,
            Err(Fault::Answered(error)) if error.code == UNSUPPORTED_VERSION => {
                return Err(ConnectError::WrongEra {
                    asked: Era::Legacy,
                    found: Era::Modern,
                    detail: format!("initialize: {error}"),
                });
            }
            Err(fault) => return Err(failed(Step::Initialize)(fault)),
        };
        let malformed = |what: &str| failed(Step::Initialize)(Fault::Malformed(what.to_owned()));
        let members =
            Members::read(result.get()).map_err(|_| malformed("its result is no object"))?;
        if members.repeated(&["protocolVersion"]).is_some() {
            return Err(malformed("`protocolVersion` of its result stands twice"));
        }
        let named = members
            .get("protocolVersion")
            .and_then(string)
            .ok_or_else(|| malformed("its result has no `protocolVersion`"))?;
        let version = match ProtocolVersion::known(&named) {
            Some(version) if version.era() == Era::Legacy => version,
            Some(version) => {
                return Err(ConnectError::WrongEra {
                    asked: Era::Legacy,
                    found: Era::Modern,
                    detail: format!("it answered initialize with {version}, which has none"),
                });
            }
            None => return Err(unknown(&[named.into_owned()])),
        };
        self.core.agree(Some(version));
        let text = message::notification("notifications/initialized", None);
        match &self.carrier {
            Carrier::Lines => {
                let sent = tokio::time::timeout(limit, self.core.send(text));
                sent.await.unwrap_or(Err(Fault::TimedOut { after: limit, note: String::new() }))
            }
            Carrier::Http(http) => {
                http.initialized(version, &params);
                let sent = tokio::time::timeout(limit, http.tell(text));
                sent.await.unwrap_or(Err(Fault::TimedOut { after: limit, note: String::new() }))
            }
        }
        .map_err(failed(Step::Initialized))?;
        Ok(Agreement { version, info: ServerInfo::read(&result) })
    }
}

/// What the modern probe showed.
enum Discovery {
    Modern(Agreement),
    /// The server said so, and how.
    Legacy(String),
    /// It said nothing, or nothing that tells.
    Unclear(Fault),
}

fn unknown(offered: &[String]) -> ConnectError {
    let offered = offered.iter().take(16).map(|version| shown(version, 40)).collect();
    ConnectError::UnknownVersion { offered }
}

/// The newest of these versions that is known and of this era.
fn best(offered: &[String], era: Era) -> Option<ProtocolVersion> {
    offered
        .iter()
        .filter_map(|text| ProtocolVersion::known(text))
        .filter(|version| version.era() == era)
        .max()
}

fn texts(array: &RawValue) -> Option<Vec<String>> {
    serde_json::from_str(array.get()).ok()
}
