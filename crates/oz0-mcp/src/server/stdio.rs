//! The stdio transport: one client, at the other end of a pair of byte streams.
//!
//! One task does all of it: it reads, answers and writes, and calls in flight are futures that it polls. So a small
//! call wakes nobody but the server that it is for, and nothing has to be handed from thread to thread. What the
//! client does not read is bounded: above a limit nothing more is read from it, and one that takes no byte for a while
//! is cut off.

use std::collections::{HashMap, VecDeque};
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Buf, Bytes};
use futures_util::FutureExt;
use futures_util::future::{AbortHandle, Abortable, join_all};
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::codes;
use super::engine::{Engine, Envelope, Later, Started};
use super::exchange::{Body, Outgoing, Step};
use super::gateway::{Gateway, Level, Peer, Principal};
use super::incoming::{self, Incoming, Refused};
use super::known::Known;
use super::modern::LIST_CHANGED;
use super::params::may_be_modern;
use super::questions::Questions;
use crate::error::RpcError;
use crate::line::{Line, Lines};
use crate::message::{self, Members, Message};
use crate::version::Era;

const CHUNK: usize = 64 << 10;
/// Parts of messages that one system call writes.
const SLICES: usize = 16;

/// Why a stdio connection ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StdioError {
    /// Reading from the client failed.
    #[error("could not read from the MCP client: {0}")]
    Read(std::io::Error),
    /// Writing to the client failed.
    #[error("could not write to the MCP client: {0}")]
    Write(std::io::Error),
    /// The client takes nothing.
    #[error("the MCP client did not read anything for {0:?}, while {1} bytes wait for it")]
    Stalled(std::time::Duration, usize),
}

/// Messages that wait to be written.
#[derive(Debug, Default)]
struct Outbox {
    waiting: Mutex<(VecDeque<Bytes>, usize)>,
    room: Notify,
}

impl Outbox {
    fn waiting(&self) -> MutexGuard<'_, (VecDeque<Bytes>, usize)> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, message: Outgoing) {
        let message = message.in_one_line().between("", "\n");
        let mut waiting = self.waiting();
        waiting.1 += message.len();
        waiting.0.extend(message.into_pieces());
    }

    fn len(&self) -> usize {
        self.waiting().1
    }
}

type Running = FuturesUnordered<Pin<Box<dyn Future<Output = ()> + Send>>>;
/// An answer in the making; `None` when it was cancelled.
type Answering = Pin<Box<dyn Future<Output = Option<Outgoing>> + Send>>;

enum Reply {
    Now(Outgoing),
    Later(Answering),
    Nothing,
}

struct Connection<G> {
    engine: Arc<Engine<G>>,
    principal: Principal,
    outbox: Arc<Outbox>,
    questions: Arc<Questions>,
    in_flight: Arc<Mutex<HashMap<String, AbortHandle>>>,
    /// Who the client is, once it has opened a legacy connection.
    peer: Option<Arc<Peer>>,
    level: Option<Level>,
    /// The listing's changes, once the legacy client can be told of them.
    revision: Option<watch::Receiver<u64>>,
    /// What the client knows of the listing, in whichever era it asks.
    known: Arc<Known>,
    /// What the legacy client was told of.
    told: u64,
    ready: bool,
}

pub(crate) async fn serve<G: Gateway>(
    engine: Arc<Engine<G>>,
    principal: Principal,
    mut reader: impl AsyncRead + Send + Unpin,
    mut writer: impl AsyncWrite + Send + Unpin,
) -> Result<(), StdioError> {
    let limits = engine.options.limits;
    let timeouts = engine.options.timeouts;
    let mut closing = engine.closing.subscribe();
    let outbox = Arc::new(Outbox::default());
    let mut connection = Connection {
        engine,
        principal,
        outbox: Arc::clone(&outbox),
        questions: Arc::default(),
        in_flight: Arc::default(),
        peer: None,
        level: None,
        revision: None,
        known: Arc::new(Known::nothing()),
        told: 0,
        ready: false,
    };
    let mut running = Running::new();
    let mut lines = Lines::new(limits.message);
    let mut chunk = vec![0; CHUNK];
    let mut reading = true;
    let mut flushed = true;
    let mut moved = Instant::now();
    let mut ends: Option<Instant> = None;
    loop {
        let waits = outbox.len();
        let writing = waits > 0 || !flushed;
        if !reading && running.is_empty() && !writing {
            return Ok(());
        }
        let ready = connection.ready;
        let changed = async {
            match &mut connection.revision {
                Some(revision) if ready => {
                    connection.known.news(revision, &mut connection.told).await
                }
                _ => std::future::pending().await,
            }
        };
        let deadline = async {
            match ends {
                Some(end) => tokio::time::sleep_until(end).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            written = write(&mut writer, &outbox), if writing => match written {
                Ok(all) => {
                    flushed = all;
                    moved = Instant::now();
                }
                // It closed its end, as it may at any time: what was still to be said is for nobody.
                Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
                Err(error) => return Err(StdioError::Write(error)),
            },
            Some(()) = running.next(), if !running.is_empty() => {}
            // What runs may have said something just now. It is this task that polls it, so nobody has to be woken.
            () = std::future::poll_fn(|_| match outbox.len() {
                0 => std::task::Poll::Pending,
                _ => std::task::Poll::Ready(()),
            }), if !writing => {}
            read = reader.read(&mut chunk), if reading && waits < limits.unread => match read {
                Ok(0) => {
                    lines.finish(|line| connection.line(&line, &mut running));
                    reading = false;
                    let closed = Instant::now() + timeouts.closed;
                    ends = Some(ends.map_or(closed, |end| end.min(closed)));
                }
                Ok(count) => {
                    if waits == 0 {
                        moved = Instant::now();
                    }
                    lines.feed(&chunk[..count], |line| connection.line(&line, &mut running));
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(StdioError::Read(error)),
            },
            more = changed => {
                if more {
                    connection.outbox.push(message::notification(LIST_CHANGED, None).into());
                } else {
                    connection.revision = None;
                }
            }
            _ = closing.wait_for(|&closing| closing), if ends.is_none() => {
                reading = false;
                ends = Some(Instant::now() + timeouts.shutdown);
            }
            () = tokio::time::sleep_until(moved + timeouts.stall), if writing => {
                return Err(StdioError::Stalled(timeouts.stall, outbox.len()));
            }
            () = deadline => return Ok(()),
        }
    }
}

/// Writes some of what waits, and flushes where nothing does; whether that is all. Dropped half-way, it has written
/// nothing.
async fn write(writer: &mut (impl AsyncWrite + Unpin), outbox: &Outbox) -> std::io::Result<bool> {
    let first: Vec<Bytes> = outbox.waiting().0.iter().take(SLICES).cloned().collect();
    let mut written = match first.as_slice() {
        [] => {
            writer.flush().await?;
            return Ok(true);
        }
        // After a part of one slice the runtime knows that the pipe is full, and does not try it once more in vain.
        [one, rest @ ..] if rest.is_empty() || one.len() >= CHUNK => writer.write(one).await?,
        several => {
            let slices: Vec<IoSlice<'_>> =
                several.iter().map(|bytes| IoSlice::new(bytes)).collect();
            writer.write_vectored(&slices).await?
        }
    };
    if written == 0 {
        return Err(std::io::ErrorKind::WriteZero.into());
    }
    let mut waiting = outbox.waiting();
    waiting.1 -= written;
    while let Some(front) = waiting.0.front_mut() {
        let part = written.min(front.len());
        front.advance(part);
        written -= part;
        if !front.is_empty() {
            break;
        }
        waiting.0.pop_front();
    }
    let empty = waiting.0.is_empty();
    drop(waiting);
    outbox.room.notify_waiters();
    // A pipe has nothing to flush. What does not end at once is flushed next time.
    Ok(empty && matches!(writer.flush().now_or_never(), Some(Ok(()))))
}

impl<G: Gateway> Connection<G> {
    fn line(&mut self, line: &Line<'_>, running: &mut Running) {
        let bytes = match line {
            Line::Whole(bytes) if bytes.trim_ascii().is_empty() => return,
            Line::Whole(bytes) => *bytes,
            Line::TooLong(_) => {
                let limit = self.engine.options.limits.message;
                let why = format!("a message above the limit of {limit} bytes");
                let error = RpcError::new(codes::INVALID_REQUEST, why);
                self.outbox.push(Outgoing::answer("null", Err(error), Era::Legacy));
                return;
            }
        };
        match incoming::read(bytes, &self.engine.options.limits) {
            Ok(Incoming::One(message)) => match self.take(&message) {
                Reply::Now(answer) => self.outbox.push(answer),
                Reply::Later(answering) => running.push(self.put(answering)),
                Reply::Nothing => {}
            },
            Ok(Incoming::Batch(batch)) => self.batch(&batch, running),
            Err(refused) => self.outbox.push(refused.answer()),
        }
    }

    fn batch(&mut self, batch: &[&serde_json::value::RawValue], running: &mut Running) {
        if !self.peer.as_ref().is_some_and(|peer| peer.version.has_batches()) {
            let why = "a batch, which only 2025-03-26 has";
            let error = RpcError::new(codes::INVALID_REQUEST, why);
            self.outbox.push(Outgoing::answer("null", Err(error), Era::Legacy));
            return;
        }
        let mut answers: Vec<Answering> = Vec::new();
        for message in batch {
            match incoming::one(message.get()) {
                Ok(message) => match self.take(&message) {
                    Reply::Now(answer) => answers.push(Box::pin(async { Some(answer) })),
                    Reply::Later(answering) => answers.push(answering),
                    Reply::Nothing => {}
                },
                Err(refused) => answers.push(Box::pin(async move { Some(refused.answer()) })),
            }
        }
        if answers.is_empty() {
            return;
        }
        let all = async { Some(array(join_all(answers).await.into_iter().flatten().collect())) };
        running.push(self.put(Box::pin(all)));
    }

    /// Writes an answer once it is there and there is room.
    fn put(&self, answering: Answering) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let outbox = Arc::clone(&self.outbox);
        let limit = self.engine.options.limits.unread;
        Box::pin(async move {
            let Some(answer) = answering.await else { return };
            while outbox.len() >= limit {
                let room = outbox.room.notified();
                if outbox.len() >= limit {
                    room.await;
                }
            }
            outbox.push(answer);
        })
    }

    fn take(&mut self, message: &Message<'_>) -> Reply {
        match message {
            Message::Request { id, method, params } => {
                let params = params.map(serde_json::value::RawValue::get);
                self.request(id.get(), method, params)
            }
            Message::Notification { method, params } => {
                match method.as_ref() {
                    "notifications/initialized" => self.ready = self.peer.is_some(),
                    "notifications/cancelled" => {
                        let id = params
                            .and_then(|params| Members::read(params.get()).ok())
                            .and_then(|members| members.get("requestId"));
                        if let Some(id) = id
                            && let Some(call) = self.in_flight().remove(id.get())
                        {
                            call.abort();
                        }
                    }
                    _ => {}
                }
                Reply::Nothing
            }
            Message::Answer { id, outcome } => {
                self.questions.answer(id, outcome.clone());
                Reply::Nothing
            }
        }
    }

    fn in_flight(&self) -> MutexGuard<'_, HashMap<String, AbortHandle>> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request(&mut self, id: &str, method: &str, params: Option<&str>) -> Reply {
        let refuse = |error: RpcError| Reply::Now(Outgoing::answer(id, Err(error), Era::Legacy));
        {
            let in_flight = self.in_flight();
            if in_flight.contains_key(id) {
                let why = "a request with this ID is in flight already";
                return refuse(RpcError::new(codes::INVALID_REQUEST, why));
            }
            let limit = self.engine.options.limits.in_flight;
            if in_flight.len() >= limit {
                let why = format!("{limit} requests are in flight already");
                return refuse(RpcError::new(codes::BUSY, why));
            }
        }
        if method == "initialize" {
            if self.peer.is_some() {
                let why = "this connection is initialized already";
                return refuse(RpcError::new(codes::INVALID_REQUEST, why));
            }
            return match self.engine.initialize(self.principal.clone(), params) {
                Ok((mut peer, result)) => {
                    peer.known = Some(Arc::clone(&self.known));
                    self.revision = Some(self.engine.gateway.revision(&peer.principal));
                    self.peer = Some(Arc::new(peer));
                    Reply::Now(Outgoing::answer(id, Ok(Body::Own(result)), Era::Legacy))
                }
                Err(error) => refuse(error),
            };
        }
        // What it looks like may stand anywhere in what a legacy client calls a function with.
        let said = params.filter(|params| may_be_modern(params)).is_some_and(|params| {
            !matches!(Envelope::read(Some(params)), Ok(Envelope { version: None, .. }))
        });
        let modern = method == "server/discover" || said;
        let (peer, level) = match &self.peer {
            Some(peer) if !modern => (Arc::clone(peer), self.level),
            // Even before it is opened a legacy connection may be probed.
            None if !modern && method == "ping" => {
                return Reply::Now(Outgoing::answer(
                    id,
                    Ok(Body::Own("{}".to_owned())),
                    Era::Legacy,
                ));
            }
            _ => match Engine::<G>::modern_peer(&self.principal, params) {
                Ok((mut peer, level)) => {
                    peer.known = Some(Arc::clone(&self.known));
                    (Arc::new(peer), level)
                }
                Err(error) => return refuse(error),
            },
        };
        let era = peer.era();
        match self.engine.begin(&peer, level, id, method, params) {
            Started::Now(outcome) => Reply::Now(Outgoing::answer(id, outcome, era)),
            Started::Level(level) => {
                self.level = Some(level);
                Reply::Now(Outgoing::answer(id, Ok(Body::Own("{}".to_owned())), era))
            }
            Started::Later(later) => Reply::Later(self.answering(id.to_owned(), later, era)),
        }
    }

    fn answering(&self, id: String, mut later: Later, era: Era) -> Answering {
        let (abort, registration) = AbortHandle::new_pair();
        self.in_flight().insert(id.clone(), abort);
        let engine = Arc::clone(&self.engine);
        let (outbox, questions) = (Arc::clone(&self.outbox), Arc::clone(&self.questions));
        let in_flight = Arc::clone(&self.in_flight);
        let call = async move {
            let outcome = loop {
                match later.next(&engine).await {
                    Step::Done(outcome) => break outcome,
                    Step::Ask(asked) => outbox.push(questions.ask(asked)),
                    // What a client does not read is not worth a place in a queue that is full.
                    Step::Notify(text) if outbox.len() < engine.options.limits.unread => {
                        outbox.push(text.into());
                    }
                    Step::Notify(_) => {}
                }
            };
            drop(later);
            for back in questions.taken_back() {
                outbox.push(back);
            }
            in_flight.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            Outgoing::answer(&id, outcome, era)
        };
        let call = Abortable::new(call, registration);
        Box::pin(async move { call.await.ok() })
    }
}

impl Refused {
    pub(crate) fn answer(self) -> Outgoing {
        Outgoing::answer(&self.id, Err(self.error), Era::Legacy)
    }
}

/// The answers of a batch.
pub(crate) fn array(answers: Vec<Outgoing>) -> Outgoing {
    let mut pieces = vec![Bytes::from_static(b"[")];
    for (index, answer) in answers.into_iter().enumerate() {
        if index > 0 {
            pieces.push(Bytes::from_static(b","));
        }
        pieces.extend(answer.into_pieces());
    }
    pieces.push(Bytes::from_static(b"]"));
    Outgoing::from_pieces(pieces)
}
