//! One connection's book-keeping, whatever carries it: which request waits for which answer, where notifications and
//! the server's own requests go, and what the peer sent that nobody asked for.
//!
//! Everything here is bounded: requests that wait, notifications that nobody has read, samples of junk. Nothing here
//! waits for the peer, so a reader never blocks on a writer, and a server that floods one direction without reading
//! the other ends in time-outs and never in a deadlock.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::error::{Closed, Fault, RpcError, shown};
use crate::message::{self, Message};
use crate::options::Limits;
use crate::version::{Era, ProtocolVersion};

pub(crate) type Outcome = Result<Box<RawValue>, Fault>;

/// Answers, notifications and cancellations that wait to be written.
const OUTBOX: usize = 256;
/// Samples of junk that are kept, and how long each may be.
const SAMPLES: usize = 8;
const SAMPLE_CHARS: usize = 200;
/// Requests given up whose late answers are still told apart from answers to nothing.
const ABANDONED: usize = 1024;

/// What a server tells without being asked.
#[derive(Clone, Debug)]
pub struct Notification {
    /// The method, such as `notifications/tools/list_changed`.
    pub method: String,
    /// Its parameters, untouched.
    pub params: Option<Box<RawValue>>,
    /// The request whose HTTP answer carried it; never known over stdio.
    pub during: Option<u64>,
}

/// Something to know about a connection.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The server sent a notification.
    Notification(Arc<Notification>),
    /// The reader was too slow, and this many were dropped: whatever a notification can mean may have happened.
    Lagged(u64),
    /// The HTTP session was lost and opened anew: the server may be another process, its listing another one.
    Reinitialized,
}

/// The receiving end of [`Client::events`](crate::Client::events).
#[derive(Debug)]
pub struct Events(pub(crate) broadcast::Receiver<Event>);

impl Events {
    /// The next event; `None` once the connection is over and everything was read.
    pub async fn next(&mut self) -> Option<Event> {
        match self.0.recv().await {
            Ok(event) => Some(event),
            Err(broadcast::error::RecvError::Lagged(count)) => Some(Event::Lagged(count)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// A request of the server's own, with the means to answer it.
///
/// One that is dropped unanswered is answered as if nobody were there: an elicitation is cancelled, a sampling request
/// rejected, anything else is a method that this client does not have.
#[derive(Debug)]
pub struct ServerRequest {
    /// The method, such as `elicitation/create`.
    pub method: String,
    /// Its parameters, untouched.
    pub params: Option<Box<RawValue>>,
    /// The request whose HTTP answer carried it; never known over stdio.
    pub during: Option<u64>,
    id: String,
    core: Option<Arc<Core>>,
}

impl ServerRequest {
    /// Sends the answer.
    pub fn answer(mut self, outcome: &Result<Box<RawValue>, RpcError>) {
        if let Some(core) = self.core.take() {
            core.post(message::answer(&self.id, outcome));
        }
    }
}

impl Drop for ServerRequest {
    fn drop(&mut self) {
        if let Some(core) = self.core.take() {
            core.post(message::answer(&self.id, &nobody(&self.method)));
        }
    }
}

/// The answer to a server's request when nobody is there to give one.
fn nobody(method: &str) -> Result<Box<RawValue>, RpcError> {
    match method {
        "elicitation/create" => {
            Ok(RawValue::from_string(r#"{"action":"cancel"}"#.to_owned())
                .expect("the text is JSON"))
        }
        // The code that MCP's own text uses for a sampling request that was turned down.
        "sampling/createMessage" => Err(RpcError::new(-1, "Sampling request rejected")),
        _ => Err(RpcError::new(-32601, "Method not found")),
    }
}

/// What a peer sent that is no message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Junk {
    /// How many lines, events or bodies.
    pub lines: u64,
    /// The first few, each cut short and escaped, with what is wrong with it.
    pub sample: Vec<String>,
}

/// Counts of what a well-behaved peer never does, for reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Answers that came after their request was given up.
    pub late_answers: u64,
    /// Second answers to one request.
    pub duplicate_answers: u64,
    /// Answers to a request that was never sent, or to no request.
    pub unknown_answers: u64,
    /// Messages above the size limit.
    pub oversized: u64,
    /// Notifications dropped for their size.
    pub dropped_notifications: u64,
    /// The server's own requests that were answered as nobody being there.
    pub refused_requests: u64,
    /// The server's own requests in an era that has none.
    pub foreign_requests: u64,
    /// Answers, notifications and cancellations of ours that were dropped since the peer did not read.
    pub unsent: u64,
}

#[derive(Debug, Default)]
struct State {
    last_id: u64,
    pending: HashMap<u64, oneshot::Sender<Outcome>>,
    abandoned: VecDeque<u64>,
    closed: Option<Closed>,
    junk: Junk,
    stats: Stats,
    version: Option<ProtocolVersion>,
    /// Dropped when the connection is over, so that readers of events see the end.
    events: Option<broadcast::Sender<Event>>,
}

#[derive(Debug)]
pub(crate) struct Core {
    state: Mutex<State>,
    outbox: mpsc::Sender<Out>,
    requests: Option<mpsc::Sender<ServerRequest>>,
    pub(crate) limits: Limits,
}

/// Takes a request back when its caller no longer waits.
pub(crate) struct Waiting<'a> {
    pub(crate) core: &'a Core,
    pub(crate) id: u64,
    /// Whether the server is told.
    pub(crate) says_so: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.core.abandon(self.id) && self.says_so {
            let params = format!(r#"{{"requestId":{}}}"#, self.id);
            self.core.post(message::notification("notifications/cancelled", Some(&params)));
        }
    }
}

/// What the writing task is handed.
#[derive(Debug)]
pub(crate) enum Out {
    Message(String),
    End,
}

impl Core {
    pub(crate) fn new(
        limits: Limits,
        requests: Option<mpsc::Sender<ServerRequest>>,
    ) -> (Arc<Self>, mpsc::Receiver<Out>) {
        let (outbox, outgoing) = mpsc::channel(OUTBOX);
        let (events, _) = broadcast::channel(limits.notifications.max(1));
        let state = State { events: Some(events), ..State::default() };
        (Arc::new(Self { state: Mutex::new(state), outbox, requests, limits }), outgoing)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for one more answer.
    pub(crate) fn open(&self) -> Result<(u64, oneshot::Receiver<Outcome>), Fault> {
        let mut state = self.state();
        if let Some(closed) = &state.closed {
            return Err(Fault::Closed(closed.clone()));
        }
        if state.pending.len() >= self.limits.pending {
            return Err(Fault::Busy { limit: self.limits.pending });
        }
        state.last_id += 1;
        let id = state.last_id;
        let (sender, receiver) = oneshot::channel();
        state.pending.insert(id, sender);
        Ok((id, receiver))
    }

    /// Gives a request up; says whether it still waited.
    pub(crate) fn abandon(&self, id: u64) -> bool {
        let mut state = self.state();
        let waited = state.pending.remove(&id).is_some();
        if waited {
            if state.abandoned.len() == ABANDONED {
                state.abandoned.pop_front();
            }
            state.abandoned.push_back(id);
        }
        waited
    }

    /// Ends the connection: everything that waits hears why. The first reason stays.
    pub(crate) fn close(&self, why: &Closed) {
        let mut state = self.state();
        if state.closed.is_none() {
            state.closed = Some(why.clone());
        }
        state.events = None;
        for (_, waiting) in std::mem::take(&mut state.pending) {
            // A caller that is gone has its own end of this.
            let _ = waiting.send(Err(Fault::Closed(why.clone())));
        }
    }

    pub(crate) fn closed(&self) -> Option<Closed> {
        self.state().closed.clone()
    }

    pub(crate) fn agree(&self, version: Option<ProtocolVersion>) {
        self.state().version = version;
    }

    pub(crate) fn junk(&self) -> Junk {
        self.state().junk.clone()
    }

    pub(crate) fn stats(&self) -> Stats {
        self.state().stats
    }

    pub(crate) fn events(&self) -> Events {
        match &self.state().events {
            Some(events) => Events(events.subscribe()),
            None => Events(broadcast::channel(1).1),
        }
    }

    pub(crate) fn tell(&self, event: Event) {
        if let Some(events) = &self.state().events {
            // Without a reader there is nobody to tell.
            let _ = events.send(event);
        }
    }

    /// Queues a message behind those that already wait, for as long as that takes.
    pub(crate) async fn send(&self, message: String) -> Result<(), Fault> {
        self.outbox.send(Out::Message(message)).await.map_err(|_| {
            Fault::Closed(self.closed().unwrap_or(Closed::Broken("its writer ended".to_owned())))
        })
    }

    /// Queues a message that nothing waits for; dropped and counted when the peer does not read.
    pub(crate) fn post(&self, message: String) {
        if self.outbox.try_send(Out::Message(message)).is_err() {
            self.state().stats.unsent += 1;
        }
    }

    /// Lets the writer end after what is queued.
    pub(crate) async fn end(&self) {
        let _ = self.outbox.send(Out::End).await;
    }

    /// What was seen that may explain a missing answer.
    pub(crate) fn note(&self) -> String {
        let state = self.state();
        let mut note = String::new();
        if state.stats.oversized > 0 {
            note.push_str(", and sent a message above the size limit meanwhile");
        }
        if let Some(first) = state.junk.sample.first() {
            note.push_str("; it also wrote what is no message: ");
            note.push_str(first);
        }
        note
    }

    /// A message above the limit was skipped. Which request it answered is not known unless only one waits.
    pub(crate) fn oversized(&self, what: &'static str) {
        let mut state = self.state();
        state.stats.oversized += 1;
        let mut waiting = state.pending.keys();
        if let (Some(&id), None) = (waiting.next(), waiting.next())
            && let Some(only) = state.pending.remove(&id)
        {
            let _ = only.send(Err(Fault::TooLarge { what, limit: self.limits.message }));
        }
    }

    /// A message was skipped of which not even the ID can be read. Where only one request waits, nothing else can come for it
    /// in time; where several wait, nobody knows whose it was.
    fn unreadable(&self, during: Option<u64>) {
        let only = {
            let state = self.state();
            let mut waiting = state.pending.keys();
            match (waiting.next(), waiting.next()) {
                (Some(&only), None) => Some(only),
                _ => None,
            }
        };
        if let Some(id) = during.or(only) {
            self.settle(id, Err(Fault::Malformed("it is not UTF-8".to_owned())));
        }
    }

    /// A message above the limit was skipped, on the stream that carries this request's answer.
    pub(crate) fn too_large(&self, id: u64, what: &'static str) {
        self.state().stats.oversized += 1;
        self.settle(id, Err(Fault::TooLarge { what, limit: self.limits.message }));
    }

    /// Takes one message, or a batch, from the peer. `during` is the request whose HTTP answer carried it.
    pub(crate) fn take(self: &Arc<Self>, bytes: &[u8], during: Option<u64>) {
        let Ok(text) = std::str::from_utf8(bytes) else {
            self.waste(&String::from_utf8_lossy(bytes), "not UTF-8");
            // Other junk is no answer, and answers may follow it.
            if bytes.trim_ascii_start().first() == Some(&b'{') {
                self.unreadable(during);
            }
            return;
        };
        let text = text.trim_matches([' ', '\t', '\r', '\n']);
        if text.is_empty() {
            return;
        }
        if text.starts_with('[') {
            self.take_batch(text, during);
        } else {
            self.take_one(text, during);
        }
    }

    fn take_batch(self: &Arc<Self>, text: &str, during: Option<u64>) {
        let Ok(messages) = serde_json::from_str::<Vec<&RawValue>>(text) else {
            self.waste(text, "not JSON");
            return;
        };
        let version = self.state().version;
        if version.is_some_and(ProtocolVersion::has_batches) {
            for message in messages {
                self.take_one(message.get(), during);
            }
            return;
        }
        self.waste(text, "a batch, which only 2025-03-26 has");
        for message in messages {
            if let Ok(Message::Answer { id, .. }) = Message::read(message.get())
                && let Some(id) = message::number(id)
            {
                self.settle(id, Err(Fault::Malformed("it stands in a batch".to_owned())));
            }
        }
    }

    fn take_one(self: &Arc<Self>, text: &str, during: Option<u64>) {
        match Message::read(text) {
            Ok(Message::Answer { id, outcome }) => {
                let outcome = match outcome {
                    Ok(result) => Ok(result.to_owned()),
                    Err(error) => Err(Fault::Answered(error)),
                };
                // An HTTP answer belongs to its request even where the server could not read the ID.
                let id = message::number(id).or(match id.get() {
                    "null" if outcome.is_err() => during,
                    _ => None,
                });
                match id {
                    Some(id) => self.settle(id, outcome),
                    None => self.state().stats.unknown_answers += 1,
                }
            }
            Ok(Message::Notification { method, params }) => {
                if params.map_or(0, |params| params.get().len()) > self.limits.notification {
                    self.state().stats.dropped_notifications += 1;
                } else {
                    self.tell(Event::Notification(Arc::new(Notification {
                        method: method.into_owned(),
                        params: params.map(RawValue::to_owned),
                        during,
                    })));
                }
            }
            Ok(Message::Request { id, method, params }) => {
                self.serve(id.get(), &method, params, during);
            }
            Err(malformed) => {
                self.waste(text, &malformed.why);
                if let Some(id) = malformed.id {
                    self.settle(id, Err(Fault::Malformed(malformed.why)));
                }
            }
        }
    }

    fn settle(&self, id: u64, outcome: Outcome) {
        let mut state = self.state();
        if let Some(waiting) = state.pending.remove(&id) {
            let _ = waiting.send(outcome);
        } else if let Some(at) = state.abandoned.iter().position(|&gone| gone == id) {
            state.abandoned.remove(at);
            state.stats.late_answers += 1;
        } else if id <= state.last_id {
            state.stats.duplicate_answers += 1;
        } else {
            state.stats.unknown_answers += 1;
        }
    }

    fn serve(
        self: &Arc<Self>,
        id: &str,
        method: &str,
        params: Option<&RawValue>,
        during: Option<u64>,
    ) {
        let modern = self.state().version.is_some_and(|version| version.era() == Era::Modern);
        if modern {
            // That era lets no server ask and no client answer.
            self.state().stats.foreign_requests += 1;
            return;
        }
        if method == "ping" {
            self.post(message::answer(id, &Ok(empty_object())));
            return;
        }
        let request = ServerRequest {
            method: method.to_owned(),
            params: params.map(RawValue::to_owned),
            during,
            id: id.to_owned(),
            core: Some(Arc::clone(self)),
        };
        let handed = match &self.requests {
            Some(requests) => requests.try_send(request).is_ok(),
            None => false,
        };
        if !handed {
            self.state().stats.refused_requests += 1;
        }
    }

    pub(crate) fn waste(&self, text: &str, why: &str) {
        let mut state = self.state();
        state.junk.lines += 1;
        if state.junk.sample.len() < SAMPLES {
            let sample = format!("{} ({})", shown(text, SAMPLE_CHARS), shown(why, SAMPLE_CHARS));
            state.junk.sample.push(sample);
        }
    }
}

pub(crate) fn empty_object() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).expect("the text is JSON")
}
