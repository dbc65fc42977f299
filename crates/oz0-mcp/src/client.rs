//! The client: opening a connection in the right era, listing, calling.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;

use crate::core::{Core, Events, Junk, Outcome, Stats, Waiting};
use crate::error::{CallError, Closed, ConnectError, Fault, ListError, Step, shown};
use crate::http::{Endpoint, Http};
use crate::listing::{Page, PageError, RawListing, ServerInfo};
use crate::message;
use crate::opening::Agreement;
use crate::options::{ClientOptions, EraChoice};
use crate::stdio;
use crate::version::{Era, ProtocolVersion};

pub(crate) const NO_PARAMS: &str = "{}";
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
pub(crate) struct Wire {
    pub(crate) core: Arc<Core>,
    pub(crate) carrier: Carrier,
    pub(crate) options: ClientOptions,
    tasks: Vec<AbortHandle>,
}

#[derive(Debug)]
pub(crate) enum Carrier {
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

impl Client {
    /// Opens a connection over a pair of byte streams, such as a child process's stdout and stdin.
    ///
    /// Needs a Tokio runtime. The process stays its owner's: when this client closes the connection it ends the
    /// stream that it writes to, and nothing else.
    ///
    /// # Errors
    ///
    /// The server is silent, which takes [`Timeouts::connect`](crate::Timeouts) and about a second more at most, ends, speaks the
    /// other era than the one that was asked for or no version that is known. After an attempt with
    /// [`EraChoice::Probe`], [`ConnectError::reopen`] says whether another server process should be opened in a
    /// named era.
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
    ///
    /// # Errors
    ///
    /// As [`stdio`](Self::stdio), and the server cannot be reached, redirects out of its origin or breaks the rules
    /// of the transport. A session that was opened in vain is ended, and the connection opened again, here.
    pub async fn http(endpoint: &Endpoint, options: &ClientOptions) -> Result<Self, ConnectError> {
        match Self::http_once(endpoint, options).await {
            Err(ConnectError::Reopen { era: Era::Modern, .. }) => {
                let options = ClientOptions { era: EraChoice::Modern, ..options.clone() };
                Self::http_once(endpoint, &options).await
            }
            opened => opened,
        }
    }

    async fn http_once(endpoint: &Endpoint, options: &ClientOptions) -> Result<Self, ConnectError> {
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
        let agreement = match wire.open().await {
            Ok(agreement) => agreement,
            Err(error) => {
                let _ = tokio::time::timeout(FAREWELL, http.end()).await;
                return Err(error);
            }
        };
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
    ///
    /// # Errors
    ///
    /// A page that fails, is late or is no listing, a cursor that repeats, or more functions, pages or bytes than the
    /// limits. A part of a listing is never handed out.
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
    ///
    /// # Errors
    ///
    /// The server answers with an error, not as JSON-RPC says, above [`Limits::message`](crate::Limits) or not in time;
    /// the connection ends; [`Limits::pending`](crate::Limits) requests wait already; `params` is no object or above
    /// `Limits::message`.
    pub async fn request(
        &self,
        method: &str,
        params: &RawValue,
    ) -> Result<Box<RawValue>, CallError> {
        self.request_within(method, params, self.0.wire.options.timeouts.call).await
    }

    /// [`request`](Self::request) with a time-out of its own, and the same errors.
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
    ///
    /// # Errors
    ///
    /// The connection has ended, or the server takes no more input within [`Timeouts::call`](crate::Timeouts).
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
    pub(crate) async fn call(
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
                Cow::Owned(message::with_meta(params, &meta).map_err(Fault::Params)?)
            }
            None if params.starts_with('{') => Cow::Borrowed(params),
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
}
