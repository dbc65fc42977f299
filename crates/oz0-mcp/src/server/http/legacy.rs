//! 2024-11-05 to 2025-11-25 over Streamable HTTP: sessions.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use serde_json::value::RawValue;
use tokio::sync::{Notify, watch};

use super::guard::{Accept, Unclear, single};
use super::reply::{self, Source, accepted, problem, refused, turned};
use super::session::{Next, STANDALONE, Session, event, event_id, read_event_id};
use super::{Http, LAST_EVENT, Permit, SESSION, VERSION};
use crate::error::RpcError;
use crate::message::{self, Members, Message};
use crate::server::codes;
use crate::server::engine::{Engine, Later, Started};
use crate::server::exchange::{Body as Text, Outgoing, Step};
use crate::server::gateway::{Gateway, Principal};
use crate::server::incoming;
use crate::server::modern::LIST_CHANGED;
use crate::version::{Era, ProtocolVersion};

/// What one message of a session brings.
enum Reply {
    Now(Outgoing),
    Stream(u64),
    Nothing,
}

impl<G: Gateway> Http<G> {
    pub(super) async fn legacy(
        &self,
        principal: Principal,
        headers: &HeaderMap,
        accept: Accept,
        message: &Message<'_>,
    ) -> Response<Body> {
        if let Message::Request { id, method, params } = message
            && method == "initialize"
        {
            if headers.contains_key(&SESSION) {
                let why = "`initialize` opens a session, and names none";
                return refused(400, id.get(), &RpcError::new(codes::INVALID_REQUEST, why));
            }
            return self.open(principal, id.get(), params.map(RawValue::get));
        }
        if !accept.events {
            return turned((406, "the client must accept application/json and text/event-stream"));
        }
        let session = match self.session(&principal, headers) {
            Ok(session) => session,
            Err(refused) => return *refused,
        };
        match self.take(&session, message) {
            Reply::Now(answer) => reply::json(200, answer),
            Reply::Nothing => accepted(),
            Reply::Stream(stream) => self.stream(session, stream).await,
        }
    }

    fn open(&self, principal: Principal, id: &str, params: Option<&str>) -> Response<Body> {
        let (peer, result) = match self.engine.initialize(principal, params) {
            Ok(opened) => opened,
            Err(error) => return refused(400, id, &error),
        };
        let number = self.engine.seal.number();
        let name = format!("{:032x}", u128::from_be_bytes(number));
        let revision = self.engine.gateway.revision(&peer.principal);
        if self.sessions.open(name.clone(), peer, revision).is_none() {
            let error = RpcError::new(codes::BUSY, "too many sessions are open");
            return refused(503, id, &error);
        }
        let answer = Outgoing::answer(id, Ok(Text::Own(result)), Era::Legacy);
        let mut response = reply::json(200, answer);
        if let Ok(name) = HeaderValue::from_str(&name) {
            response.headers_mut().insert(SESSION, name);
        }
        response
    }

    /// The session that a request names, and whether its version header fits.
    fn session(
        &self,
        principal: &Principal,
        headers: &HeaderMap,
    ) -> Result<Arc<Session>, Box<Response<Body>>> {
        let bad =
            |why: &'static str| Box::new(problem(400, &RpcError::new(codes::INVALID_REQUEST, why)));
        let name = single(headers, &SESSION)
            .map_err(|Unclear| bad("the header Mcp-Session-Id cannot be read"))?
            .ok_or_else(|| bad("the header Mcp-Session-Id is missing: begin with `initialize`"))?;
        let session = self.sessions.find(name, principal).ok_or_else(|| {
            let why = "no such session: begin anew with `initialize`";
            Box::new(problem(404, &RpcError::new(codes::INVALID_REQUEST, why)))
        })?;
        let named = single(headers, &VERSION)
            .map_err(|Unclear| bad("the header MCP-Protocol-Version cannot be read"))?;
        if named.is_some_and(|named| ProtocolVersion::known(named) != Some(session.peer.version)) {
            return Err(bad(
                "the header MCP-Protocol-Version names another version than the session",
            ));
        }
        Ok(session)
    }

    fn take(&self, session: &Arc<Session>, message: &Message<'_>) -> Reply {
        let (id, method, params) = match message {
            Message::Request { id, method, params } => (id.get(), method.as_ref(), params),
            Message::Notification { method, params } => {
                match method.as_ref() {
                    "notifications/initialized" => session.set_ready(),
                    "notifications/cancelled" => {
                        let id = params
                            .and_then(|params| Members::read(params.get()).ok())
                            .and_then(|members| members.get("requestId"));
                        if let Some(id) = id {
                            session.cancel(id.get());
                        }
                    }
                    _ => {}
                }
                return Reply::Nothing;
            }
            Message::Answer { id, outcome } => {
                session.questions.answer(id, outcome.clone());
                return Reply::Nothing;
            }
        };
        let refuse = |error: RpcError| Reply::Now(Outgoing::answer(id, Err(error), Era::Legacy));
        if method == "initialize" {
            let why = "`initialize` stands by itself";
            return refuse(RpcError::new(codes::INVALID_REQUEST, why));
        }
        session.asks(method);
        let params = params.map(RawValue::get);
        match self.engine.begin(&session.peer, session.level(), id, method, params) {
            Started::Now(outcome) => Reply::Now(Outgoing::answer(id, outcome, Era::Legacy)),
            Started::Level(level) => {
                session.set_level(level);
                Reply::Now(Outgoing::answer(id, Ok(Text::Own("{}".to_owned())), Era::Legacy))
            }
            Started::Later(later) => {
                let permit = match self.permit(&session.peer.principal) {
                    Ok(permit) => permit,
                    Err(error) => return refuse(error),
                };
                let Some(stream) = session.open(id) else {
                    let why = "a request with this ID is in flight already";
                    return refuse(RpcError::new(codes::INVALID_REQUEST, why));
                };
                let ending = Ending { session: Arc::clone(session), stream, id: id.to_owned() };
                let task = tokio::spawn(run(Arc::clone(&self.engine), later, ending, permit));
                session.runs(id, stream, task.abort_handle());
                Reply::Stream(stream)
            }
        }
    }

    /// Answers with what a call's stream brings: plain JSON when that is the answer alone, and soon.
    async fn stream(&self, session: Arc<Session>, stream: u64) -> Response<Body> {
        let Some(wake) = session.wake(stream) else { return accepted() };
        // A client that is gone before it has seen an event's ID cannot come back to it.
        let unseen = Unseen(Some((Arc::clone(&session), stream)));
        let mut patience = std::pin::pin!(tokio::time::sleep(self.engine.options.timeouts.plain));
        while !session.has_news(stream) {
            tokio::select! {
                () = wake.notified() => {}
                () = &mut patience => break,
            }
        }
        unseen.seen();
        if let Some(answer) = session.only(stream) {
            return reply::json(200, answer);
        }
        self.events(session, stream, None)
    }

    fn events(&self, session: Arc<Session>, stream: u64, after: Option<u64>) -> Response<Body> {
        let (Some(reader), Some(wake)) = (session.attach(stream, after), session.wake(stream))
        else {
            return turned((400, "the event that Last-Event-ID names is not known (any more)"));
        };
        // From 2025-11-25 on an event without data tells the ID to come back with.
        let primes = after.is_none()
            && stream != STANDALONE
            && session.peer.version >= ProtocolVersion::V2025_11_25;
        reply::events(Events {
            keep_alive: self.engine.options.timeouts.keep_alive,
            closing: self.engine.closing.subscribe(),
            news: (stream == STANDALONE)
                .then(|| session.knows())
                .flatten()
                .map(|knows| (session.revision(), knows)),
            session,
            stream,
            reader,
            after: after.unwrap_or(0),
            wake,
            primes,
        })
    }

    pub(super) fn legacy_batch(
        &self,
        principal: &Principal,
        headers: &HeaderMap,
        accept: Accept,
        batch: &[&RawValue],
    ) -> Response<Body> {
        if !accept.events {
            return turned((406, "the client must accept application/json and text/event-stream"));
        }
        let session = match self.session(principal, headers) {
            Ok(session) => session,
            Err(refused) => return *refused,
        };
        if !session.peer.version.has_batches() {
            let why = "a batch, which only 2025-03-26 has";
            return problem(400, &RpcError::new(codes::INVALID_REQUEST, why));
        }
        let mut answers = Vec::new();
        let mut streams = Vec::new();
        for message in batch {
            match incoming::one(message.get()) {
                Ok(message) => match self.take(&session, &message) {
                    Reply::Now(answer) => answers.push(answer),
                    Reply::Stream(stream) => streams.push(stream),
                    Reply::Nothing => {}
                },
                Err(refused) => answers.push(refused.answer()),
            }
        }
        answers.reverse();
        if answers.is_empty() && streams.is_empty() {
            return accepted();
        }
        if streams.is_empty() {
            return reply::json(
                200,
                crate::server::stdio::array(answers.into_iter().rev().collect()),
            );
        }
        let streams = streams
            .into_iter()
            .filter_map(|stream| {
                let reader = session.attach(stream, None)?;
                Some((stream, reader, 0, session.wake(stream)?))
            })
            .collect();
        reply::events(Batch { session, answers, streams })
    }

    pub(super) fn get(&self, principal: &Principal, headers: &HeaderMap) -> Response<Body> {
        if !Accept::read(headers).events {
            return turned((406, "the client must accept text/event-stream"));
        }
        let session = match self.session(principal, headers) {
            Ok(session) => session,
            Err(refused) => return *refused,
        };
        match single(headers, &LAST_EVENT) {
            Ok(None) => self.events(session, STANDALONE, None),
            Ok(Some(id)) => match read_event_id(id) {
                Some((stream, number)) => self.events(session, stream, Some(number)),
                None => turned((400, "Last-Event-ID names no event of this server")),
            },
            Err(Unclear) => turned((400, "Last-Event-ID cannot be read")),
        }
    }

    pub(super) fn delete(&self, principal: &Principal, headers: &HeaderMap) -> Response<Body> {
        match self.session(principal, headers) {
            Ok(session) => {
                self.sessions.end(&session);
                let mut response = Response::new(Body::empty());
                *response.status_mut() = StatusCode::NO_CONTENT;
                response
            }
            Err(refused) => *refused,
        }
    }
}

/// Forgets a stream unless its client has seen it.
struct Unseen(Option<(Arc<Session>, u64)>);

impl Unseen {
    fn seen(mut self) {
        self.0 = None;
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        if let Some((session, stream)) = self.0.take() {
            session.forget(stream);
        }
    }
}

/// Ends a call's stream, also when the call is cancelled.
struct Ending {
    session: Arc<Session>,
    stream: u64,
    id: String,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.session.finish(self.stream, &self.id, None);
        for back in self.session.questions.taken_back() {
            self.session.tell(STANDALONE, back);
        }
    }
}

async fn run<G: Gateway>(engine: Arc<Engine<G>>, mut later: Later, ending: Ending, permit: Permit) {
    let Ending { session, stream, id } = &ending;
    loop {
        match later.next(&engine).await {
            Step::Notify(text) => session.tell(*stream, text.into()),
            // A question that there is no room for is dropped, and whoever asked hears so at once.
            Step::Ask(asked) if session.has_room() => {
                session.tell(*stream, session.questions.ask(asked));
            }
            Step::Ask(_) => {}
            Step::Done(outcome) => {
                let answer = Outgoing::answer(id, outcome, Era::Legacy);
                let why = "the client has left too much unread; read the event streams";
                let short =
                    Outgoing::answer(id, Err(RpcError::new(codes::TOO_SLOW, why)), Era::Legacy);
                // Room for the client's next request, before it can have this one's answer.
                drop(permit);
                session.finish(*stream, id, Some((answer, short)));
                return;
            }
        }
    }
}

/// How long, in ms, a client whose stream broke is asked to wait before it comes back.
const RETRY: u32 = 500;

/// One stream's events.
struct Events {
    session: Arc<Session>,
    stream: u64,
    reader: u64,
    after: u64,
    wake: Arc<Notify>,
    keep_alive: std::time::Duration,
    closing: watch::Receiver<bool>,
    /// Only on the standalone stream.
    news: Option<(watch::Receiver<u64>, watch::Receiver<Option<u64>>)>,
    primes: bool,
}

impl Source for Events {
    async fn next(&mut self) -> Option<Outgoing> {
        if std::mem::take(&mut self.primes) {
            let id = event_id(self.stream, 0);
            return Some(format!("id: {id}\nretry: {RETRY}\ndata: \n\n").into());
        }
        loop {
            if let Some((revision, knows)) = &mut self.news {
                knows.mark_unchanged();
                let now = *revision.borrow_and_update();
                if self.session.tells(now) {
                    self.session.tell(STANDALONE, message::notification(LIST_CHANGED, None).into());
                }
            }
            match self.session.next(self.stream, self.reader, self.after) {
                Next::Event(number, message) => {
                    self.after = number;
                    return Some(event(self.stream, number, message));
                }
                Next::End => return None,
                Next::Wait => {}
            }
            let changed = async {
                let Some((revision, knows)) = &mut self.news else {
                    return std::future::pending().await;
                };
                let changed = tokio::select! {
                    changed = revision.changed() => changed,
                    changed = knows.changed() => changed,
                };
                if changed.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            // A stream of a call in flight still brings its answer when the server closes.
            let standalone = self.stream == STANDALONE;
            tokio::select! {
                () = self.wake.notified() => {}
                () = changed => {}
                _ = self.closing.wait_for(|&closing| closing), if standalone => return None,
                () = tokio::time::sleep(self.keep_alive) => {
                    self.session.touch();
                    return Some(reply::keep_alive());
                }
            }
        }
    }
}

/// The answers of a batch, each when it is there.
struct Batch {
    session: Arc<Session>,
    answers: Vec<Outgoing>,
    streams: Vec<(u64, u64, u64, Arc<Notify>)>,
}

impl Source for Batch {
    async fn next(&mut self) -> Option<Outgoing> {
        if let Some(answer) = self.answers.pop() {
            return Some(reply::event(None, answer));
        }
        loop {
            let mut ended = Vec::new();
            for (index, (stream, reader, after, _)) in self.streams.iter_mut().enumerate() {
                match self.session.next(*stream, *reader, *after) {
                    Next::Event(number, message) => {
                        *after = number;
                        return Some(event(*stream, number, message));
                    }
                    Next::End => ended.push(index),
                    Next::Wait => {}
                }
            }
            for index in ended.into_iter().rev() {
                self.streams.swap_remove(index);
            }
            if self.streams.is_empty() {
                return None;
            }
            let wakes = self.streams.iter().map(|(_, _, _, wake)| Box::pin(wake.notified()));
            futures_util::future::select_all(wakes).await;
        }
    }
}
