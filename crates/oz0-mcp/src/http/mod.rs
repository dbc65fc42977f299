//! The HTTP transports: Streamable HTTP as each version has it, and the two endpoints of 2024-11-05.
//!
//! Each request is made by its caller's own task, so a slow answer delays nobody. Whatever stream a message comes on,
//! it goes to the connection's book-keeping, and a request waits there for its answer.

mod dial;
mod endpoint;
pub(crate) mod header;
mod stream;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response, StatusCode};
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinHandle};
use url::Url;

use crate::core::{Core, Event, Out, Outcome, Waiting};
use crate::error::{Closed, Fault, RpcError, shown};
use crate::listing::LeftOut;
use crate::message::{self, Members, Message, string};
use crate::options::{ClientOptions, Limits};
use crate::origin::resolved;
use crate::version::{Era, ProtocolVersion};
use dial::{Dialer, body, content_type};
pub use endpoint::{BoundHeaders, Endpoint, OtherOrigin};
use stream::Stream;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// Of an error's body.
const ERROR_BODY: usize = 64 << 10;
/// For a notification or an answer of ours to be accepted.
const TELL: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
struct State {
    session: Option<HeaderValue>,
    /// Counts sessions, so that one lost session is opened anew once, whoever notices.
    generation: u64,
    version: Option<ProtocolVersion>,
    initialize: String,
    /// Where messages go in the transport with two endpoints.
    post_to: Option<Url>,
    /// What a call's headers are taken from, as of the last listing.
    routes: HashMap<String, Vec<header::Param>>,
    tasks: Vec<AbortHandle>,
    listener: Option<AbortHandle>,
}

impl State {
    /// What every legacy request after the handshake carries.
    fn session_headers(&self, headers: &mut HeaderMap) {
        if let Some(version) = self.version.filter(|version| version.has_version_header()) {
            headers.insert(VERSION, HeaderValue::from_static(version.as_str()));
        }
        if let Some(session) = &self.session {
            headers.insert(SESSION, session.clone());
        }
    }
}

#[derive(Debug)]
pub(crate) struct Http {
    dialer: Dialer,
    limits: Limits,
    state: Mutex<State>,
    reviving: tokio::sync::Mutex<()>,
}

impl Http {
    pub(crate) fn new(endpoint: &Endpoint, options: &ClientOptions) -> Result<Self, Fault> {
        Ok(Self {
            dialer: Dialer::new(endpoint, options.timeouts.connect)?,
            limits: options.limits,
            state: Mutex::default(),
            reviving: tokio::sync::Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn post_headers(&self, version: Option<ProtocolVersion>, method: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let state = self.state();
        let version = version.or(state.version);
        match version {
            Some(version) if version.era() == Era::Modern => {
                headers.insert(VERSION, HeaderValue::from_static(version.as_str()));
                headers.insert(METHOD, header::value(method));
            }
            _ if method == "initialize" => {}
            _ => state.session_headers(&mut headers),
        }
        headers
    }

    /// The headers that a modern request copies from its parameters.
    fn copied(&self, method: &str, params: &str, headers: &mut HeaderMap) -> Result<(), Fault> {
        let members = Members::read(params).map_err(Fault::Params)?;
        if let Some(name) = members.repeated(&["name", "uri", "taskId", "arguments"]) {
            // The header would name one and the server could read the other.
            return Err(Fault::Params(format!("the member `{name}` stands twice")));
        }
        let text = |name: &str| members.get(name).and_then(string);
        let name = match method {
            "tools/call" | "prompts/get" => text("name"),
            "resources/read" => text("uri"),
            _ if method.starts_with("tasks/") => text("taskId"),
            _ => None,
        };
        let Some(name) = name else { return Ok(()) };
        headers.insert(NAME, header::value(&name));
        if method == "tools/call"
            && let Some(arguments) = members.get("arguments")
            && let Some(marked) = self.state().routes.get(&*name)
        {
            headers.extend(header::of_arguments(marked, arguments));
        }
        Ok(())
    }

    /// Sorts out the functions that must not be called over this transport, and keeps what the others' calls need.
    pub(crate) fn route(
        &self,
        functions: Vec<Box<RawValue>>,
    ) -> (Vec<Box<RawValue>>, Vec<LeftOut>) {
        let mut routes = HashMap::new();
        let (mut kept, mut left_out) = (Vec::with_capacity(functions.len()), Vec::new());
        for function in functions {
            match header::params(&function) {
                Ok(route) => {
                    routes.extend(route.filter(|(_, params)| !params.is_empty()));
                    kept.push(function);
                }
                Err(reason) => left_out.push(LeftOut { function, reason }),
            }
        }
        self.state().routes = routes;
        (kept, left_out)
    }

    /// Posts a request and waits for its answer, on whichever stream that comes. One lost session is opened anew.
    #[expect(clippy::too_many_arguments, reason = "one request, spelled out, with one caller")]
    pub(crate) async fn exchange(
        self: &Arc<Self>,
        core: &Arc<Core>,
        version: Option<ProtocolVersion>,
        id: u64,
        method: &str,
        params: &str,
        text: String,
        answer: &mut oneshot::Receiver<Outcome>,
    ) -> Outcome {
        let modern = version.is_some_and(|version| version.era() == Era::Modern);
        let mut revived = false;
        loop {
            let generation = self.state().generation;
            let mut headers = self.post_headers(version, method);
            if modern {
                self.copied(method, params, &mut headers)?;
            }
            let sent_session = headers.contains_key(SESSION);
            let post_to = self.state().post_to.clone();
            let two_endpoints = post_to.is_some();
            let url = post_to.unwrap_or_else(|| self.dialer.endpoint.url().clone());
            let (response, _) = self.dialer.send(&Method::POST, url, headers, Some(&text)).await?;
            if sent_session && !revived && self.lost_session(core, response.status()).await? {
                Box::pin(self.revive(core, generation)).await?;
                revived = true;
                continue;
            }
            if method == "initialize" {
                self.keep_session(&response)?;
            }
            return if two_endpoints && response.status().is_success() {
                drop(response);
                received(answer.await)
            } else {
                self.answered(core, id, modern, response, answer).await
            };
        }
    }

    fn keep_session(&self, response: &Response) -> Result<(), Fault> {
        let session = match response.headers().get(SESSION) {
            None => None,
            Some(id) if id.len() <= 4096 && id.as_bytes().iter().all(u8::is_ascii_graphic) => {
                let mut id = id.clone();
                id.set_sensitive(true);
                Some(id)
            }
            Some(_) => {
                return Err(Fault::Refused("its session ID is not visible ASCII".to_owned()));
            }
        };
        self.state().session = session;
        Ok(())
    }

    /// Reads a POST's response until it gave the answer.
    async fn answered(
        self: &Arc<Self>,
        core: &Arc<Core>,
        id: u64,
        modern: bool,
        response: Response,
        answer: &mut oneshot::Receiver<Outcome>,
    ) -> Outcome {
        let status = response.status();
        if !status.is_success() {
            return Err(failed(id, response).await);
        }
        match content_type(&response) {
            Some(EVENTS) => {
                let mut stream = Stream::new(response, self.limits.message);
                loop {
                    match stream.run_until(core, Some(id), answer).await {
                        Some(outcome) => return outcome,
                        None if modern => {
                            return Err(Fault::BrokeOff(
                                "the event stream ended before the answer".to_owned(),
                            ));
                        }
                        None => self.resume(&mut stream).await?,
                    }
                }
            }
            Some(JSON) => {
                let body = body(response, self.limits.message).await?;
                core.take(&body, Some(id));
                answer.try_recv().unwrap_or_else(|_| {
                    Err(Fault::Malformed("the body is not the answer to this request".to_owned()))
                })
            }
            _ if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) => {
                Err(Fault::Refused(format!("HTTP {} is no answer to a request", status.as_u16())))
            }
            other => Err(Fault::Refused(format!(
                "its Content-Type is {}, not {JSON} or {EVENTS}",
                shown(other.unwrap_or("missing"), 80)
            ))),
        }
    }

    /// Picks a stream up where it broke off (`Last-Event-ID`), as servers of 2025-11-25 may ask a client to.
    async fn resume(&self, stream: &mut Stream) -> Result<(), Fault> {
        let broken = || Fault::BrokeOff("the event stream ended before the answer".to_owned());
        let Some((last, wait)) = stream.to_resume() else { return Err(broken()) };
        tokio::time::sleep(wait).await;
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(EVENTS));
        headers.insert(LAST_EVENT_ID, last);
        self.state().session_headers(&mut headers);
        let (response, _) = self
            .dialer
            .send(&Method::GET, self.dialer.endpoint.url().clone(), headers, None)
            .await?;
        if !response.status().is_success() || content_type(&response) != Some(EVENTS) {
            return Err(broken());
        }
        stream.go_on(response);
        Ok(())
    }

    /// Whether an answer's status says that the server knows our session no more. By the specification that is 404. Servers
    /// of the 1.x SDK's own examples say 400 instead, which may as well be about the request: what a ping in the same session
    /// gets tells the two apart.
    async fn lost_session(&self, core: &Arc<Core>, status: StatusCode) -> Result<bool, Fault> {
        const LOST: [StatusCode; 2] = [StatusCode::NOT_FOUND, StatusCode::BAD_REQUEST];
        if status != StatusCode::BAD_REQUEST {
            return Ok(status == StatusCode::NOT_FOUND);
        }
        let (id, _unread) = core.open()?;
        let _waiting = Waiting { core, id, says_so: false };
        let ping = message::request(id, "ping", "{}");
        let headers = self.post_headers(None, "ping");
        let url = self.dialer.endpoint.url().clone();
        let (response, _) = self.dialer.send(&Method::POST, url, headers, Some(&ping)).await?;
        Ok(LOST.contains(&response.status()))
    }

    /// Opens a session anew after the server ended it, once for all who noticed.
    async fn revive(self: &Arc<Self>, core: &Arc<Core>, generation: u64) -> Result<(), Fault> {
        let _one = self.reviving.lock().await;
        let (params, version) = {
            let state = self.state();
            if state.generation != generation {
                return Ok(());
            }
            // The lost session stays until there is a new one: should this be given up half-way, the next request
            // meets the same 404 and comes here again.
            (state.initialize.clone(), state.version)
        };
        if params.is_empty() {
            return Err(Fault::SessionEnded);
        }
        let (id, mut answer) = core.open()?;
        let text = message::request(id, "initialize", &params);
        let _waiting = Waiting { core, id, says_so: false };
        let result =
            self.exchange(core, None, id, "initialize", &params, text, &mut answer).await?;
        let named = Members::read(result.get())
            .ok()
            .and_then(|members| members.get("protocolVersion").and_then(string))
            .and_then(|named| ProtocolVersion::known(&named));
        if named != version {
            return Err(Fault::Malformed(
                "its new session has another protocol version".to_owned(),
            ));
        }
        self.tell(message::notification("notifications/initialized", None)).await?;
        self.state().generation += 1;
        self.listen(core);
        core.tell(Event::Reinitialized);
        Ok(())
    }

    /// Remembers what was agreed, for the headers of what follows and for a session that is lost.
    pub(crate) fn initialized(&self, version: ProtocolVersion, params: &str) {
        let mut state = self.state();
        state.version = Some(version);
        params.clone_into(&mut state.initialize);
    }

    /// The connection is open.
    pub(crate) fn begin(self: &Arc<Self>, core: &Arc<Core>, version: ProtocolVersion) {
        let two_endpoints = {
            let mut state = self.state();
            state.version = Some(version);
            state.post_to.is_some()
        };
        if version.era() == Era::Legacy && !two_endpoints {
            self.listen(core);
        }
    }

    /// Keeps the stream open on which a legacy server speaks unasked. A server without one says 405.
    fn listen(self: &Arc<Self>, core: &Arc<Core>) {
        let (http, core) = (Arc::clone(self), Arc::clone(core));
        let task = tokio::spawn(async move { http.listening(&core).await }).abort_handle();
        if let Some(old) = self.state().listener.replace(task) {
            old.abort();
        }
    }

    async fn listening(&self, core: &Arc<Core>) {
        const PATIENCE: Duration = Duration::from_secs(30);
        let mut pause = Duration::from_secs(1);
        let mut last: Option<HeaderValue> = None;
        loop {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(EVENTS));
            self.state().session_headers(&mut headers);
            if let Some(last) = last.clone() {
                headers.insert(LAST_EVENT_ID, last);
            }
            match self
                .dialer
                .send(&Method::GET, self.dialer.endpoint.url().clone(), headers, None)
                .await
            {
                Ok((response, _))
                    if response.status().is_success()
                        && content_type(&response) == Some(EVENTS) =>
                {
                    let mut stream = Stream::new(response, self.limits.message);
                    if stream.run(core, None).await > 0 {
                        pause = Duration::from_secs(1);
                    }
                    if let Some((id, wait)) = stream.to_resume() {
                        last = Some(id);
                        pause = pause.max(wait);
                    }
                }
                Ok((response, _)) if response.status().is_server_error() => {}
                // 405: it has no such stream. 404: the session is gone, and the next request sees to that.
                Ok(_) | Err(Fault::Redirect { .. } | Fault::Refused(_)) => return,
                Err(_) => {}
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PATIENCE);
        }
    }

    /// Opens the event stream of the transport with two endpoints and learns where messages go; `false` where a GET
    /// brings no event stream, so that this is no such server.
    pub(crate) async fn two_endpoints(&self, core: &Arc<Core>) -> Result<bool, Fault> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(EVENTS));
        let url = self.dialer.endpoint.url().clone();
        let (response, base) = self.dialer.send(&Method::GET, url, headers, None).await?;
        if !response.status().is_success() || content_type(&response) != Some(EVENTS) {
            return Ok(false);
        }
        let mut stream = Stream::new(response, self.limits.message);
        let (found, place) = oneshot::channel();
        let core = Arc::clone(core);
        let reading = tokio::spawn(async move {
            stream.run(&core, Some(found)).await;
            core.close(&Closed::ByPeer(" (its event stream ended)".to_owned()));
        });
        self.state().tasks.push(reading.abort_handle());
        let place = place.await.map_err(|_| {
            Fault::BrokeOff("the event stream ended before it named its endpoint".to_owned())
        })?;
        let (url, origin) = resolved(&base, place.trim())
            .map_err(|error| Fault::Refused(format!("its message endpoint: {error}")))?;
        if origin != *self.dialer.endpoint.origin() {
            return Err(Fault::Refused(format!(
                "its message endpoint is at {origin}, outside the server's origin"
            )));
        }
        self.state().post_to = Some(url);
        Ok(true)
    }

    /// Posts what is queued (answers, cancellations, notifications), one after another.
    pub(crate) fn post_queued(
        self: Arc<Self>,
        mut outgoing: mpsc::Receiver<Out>,
    ) -> JoinHandle<()> {
        tokio::spawn(async move {
            while let Some(Out::Message(text)) = outgoing.recv().await {
                // Nobody waits for these; what they are about has a time-out of its own.
                let _ = tokio::time::timeout(TELL, self.tell(text)).await;
            }
        })
    }

    /// Posts one message that has no answer.
    pub(crate) async fn tell(&self, text: String) -> Result<(), Fault> {
        let method = match Message::read(&text) {
            Ok(Message::Notification { method, .. }) => method.into_owned(),
            _ => String::new(),
        };
        let headers = self.post_headers(None, &method);
        let url =
            self.state().post_to.clone().unwrap_or_else(|| self.dialer.endpoint.url().clone());
        let (response, _) = self.dialer.send(&Method::POST, url, headers, Some(&text)).await?;
        if response.status().is_success() {
            return Ok(());
        }
        Err(failed(0, response).await)
    }

    /// Ends the session, if there is one. A server that does not let clients do that says 405, which is as good.
    pub(crate) async fn end(&self) {
        self.stop();
        let (session, version) = {
            let mut state = self.state();
            (state.session.take(), state.version)
        };
        let Some(session) = session else { return };
        let mut headers = HeaderMap::new();
        headers.insert(SESSION, session);
        if let Some(version) = version.filter(|version| version.has_version_header()) {
            headers.insert(VERSION, HeaderValue::from_static(version.as_str()));
        }
        let _ = self
            .dialer
            .send(&Method::DELETE, self.dialer.endpoint.url().clone(), headers, None)
            .await;
    }

    /// Ends the streams that are kept open.
    pub(crate) fn stop(&self) {
        let mut state = self.state();
        for task in state.tasks.drain(..) {
            task.abort();
        }
        if let Some(listener) = state.listener.take() {
            listener.abort();
        }
    }
}

fn received(answer: Result<Outcome, oneshot::error::RecvError>) -> Outcome {
    answer.unwrap_or(Err(Fault::Closed(Closed::ByUs)))
}

/// What an HTTP error says: the JSON-RPC error in its body, else its status.
async fn failed(id: u64, response: Response) -> Fault {
    let status = response.status();
    let is_json = content_type(&response) == Some(JSON);
    let body = body(response, ERROR_BODY).await.unwrap_or_default();
    if is_json
        && status != StatusCode::METHOD_NOT_ALLOWED
        && let Some(error) = error_in(&body, id)
    {
        return Fault::Answered(error);
    }
    let text = String::from_utf8_lossy(&body);
    let text = text.trim();
    let detail = if text.is_empty() { String::new() } else { format!(": {}", shown(text, 200)) };
    Fault::Status { status: status.as_u16(), detail }
}

/// The JSON-RPC error that a body is, where it answers this request or could not read its ID.
fn error_in(body: &[u8], id: u64) -> Option<RpcError> {
    let text = std::str::from_utf8(body).ok()?;
    match Message::read(text.trim()).ok()? {
        Message::Answer { id: of, outcome: Err(error) }
            if of.get() == "null" || message::number(of) == Some(id) =>
        {
            Some(error)
        }
        _ => None,
    }
}
