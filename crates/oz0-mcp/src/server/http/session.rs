//! Sessions of the legacy eras, and the streams of events that a client can come back to.
//!
//! A session is a name for state, never a proof of who comes: it is bound to its principal, and to any other it does
//! not exist. Each call has a stream; what was sent on it is kept, within limits, until the client is known to have
//! it, so a client whose connection broke names the last event that it saw and goes on from there.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;

use super::reply;
use crate::server::exchange::Outgoing;
use crate::server::gateway::{Level, Peer, Principal};
use crate::server::options::{ServerLimits, ServerOptions};
use crate::server::questions::Questions;

/// The stream that belongs to no call.
pub(super) const STANDALONE: u64 = 0;
/// What an event costs beside its text, so that many small ones count too.
const OVERHEAD: usize = 256;

pub(super) struct Session {
    pub(super) id: String,
    pub(super) peer: Arc<Peer>,
    pub(super) questions: Questions,
    limits: ServerLimits,
    state: Mutex<State>,
}

struct State {
    opened: Instant,
    /// The last sign of life.
    used: Instant,
    /// The last request that was for something: a ping keeps a session, and is no use of it.
    asked: Option<Instant>,
    level: Option<Level>,
    ready: bool,
    streams: BTreeMap<u64, Log>,
    last_stream: u64,
    in_flight: HashMap<String, AbortHandle>,
    unread: usize,
    replay: usize,
    revision: watch::Receiver<u64>,
    told: u64,
    over: bool,
}

#[derive(Default)]
struct Log {
    events: VecDeque<(u64, Outgoing)>,
    /// The number of the last event.
    last: u64,
    /// Events up to this number were handed to a connection.
    read: u64,
    done: bool,
    /// Which reader is the present one: a newer one takes over.
    reader: u64,
    wake: Arc<Notify>,
}

/// What a reader finds.
pub(super) enum Next {
    Event(u64, Outgoing),
    Wait,
    End,
}

fn cost(message: &Outgoing) -> usize {
    message.len() + OVERHEAD
}

impl Session {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn touch(&self) {
        self.state().used = Instant::now();
    }

    /// Notes a request.
    pub(super) fn asks(&self, method: &str) {
        if method != "ping" {
            self.state().asked = Some(Instant::now());
        }
    }

    pub(super) fn level(&self) -> Option<Level> {
        self.state().level
    }

    pub(super) fn set_level(&self, level: Level) {
        self.state().level = Some(level);
    }

    pub(super) fn set_ready(&self) {
        let mut state = self.state();
        state.ready = true;
        if let Some(log) = state.streams.get(&STANDALONE) {
            log.wake.notify_one();
        }
    }

    /// Opens a stream for the call of this ID; none where a request of this ID is in flight, or the session is over.
    pub(super) fn open(&self, id: &str) -> Option<u64> {
        let mut state = self.state();
        if state.over || state.in_flight.contains_key(id) {
            return None;
        }
        state.last_stream += 1;
        let stream = state.last_stream;
        state.streams.insert(stream, Log::default());
        Some(stream)
    }

    /// Notes what runs for the request of this ID.
    pub(super) fn runs(&self, id: &str, stream: u64, task: AbortHandle) {
        let mut state = self.state();
        let done = state.streams.get(&stream).is_none_or(|log| log.done);
        if state.over {
            task.abort();
        } else if !done {
            state.in_flight.insert(id.to_owned(), task);
        }
    }

    pub(super) fn cancel(&self, id: &str) {
        let task = self.state().in_flight.remove(id);
        if let Some(task) = task {
            task.abort();
        }
    }

    /// Whether the client has read enough to be asked something.
    pub(super) fn has_room(&self) -> bool {
        self.state().unread < self.limits.unread / 2
    }

    /// Puts a notification or a question on a stream; dropped where the client has not read too much already.
    pub(super) fn tell(&self, stream: u64, message: Outgoing) {
        let mut state = self.state();
        if state.unread + cost(&message) <= self.limits.unread {
            state.push(stream, message);
        }
    }

    /// Puts the answer on a stream and ends it. Where the client has left too much unread already, `short` stands for
    /// it.
    pub(super) fn finish(&self, stream: u64, id: &str, answer: Option<(Outgoing, Outgoing)>) {
        let mut state = self.state();
        state.in_flight.remove(id);
        if let Some((answer, short)) = answer {
            let fits = state.unread == 0 || state.unread + cost(&answer) <= self.limits.unread;
            state.push(stream, if fits { answer } else { short });
        }
        if let Some(log) = state.streams.get_mut(&stream) {
            log.done = true;
            log.wake.notify_one();
        }
    }

    /// The answer, where it is all that its stream brought; the stream is then gone.
    pub(super) fn only(&self, stream: u64) -> Option<Outgoing> {
        let mut state = self.state();
        let log = state.streams.get(&stream)?;
        if !log.done || log.events.len() != 1 || log.last != 1 || log.read != 0 {
            return None;
        }
        let (_, answer) = state.streams.remove(&stream)?.events.pop_front()?;
        state.unread -= cost(&answer);
        Some(answer)
    }

    /// Forgets a stream that nobody can name.
    pub(super) fn forget(&self, stream: u64) {
        let mut state = self.state();
        if let Some(log) = state.streams.remove(&stream) {
            for (number, message) in &log.events {
                if *number > log.read {
                    state.unread -= cost(message);
                } else {
                    state.replay -= cost(message);
                }
            }
        }
    }

    /// What wakes this stream's reader; `None` where there is no such stream.
    pub(super) fn wake(&self, stream: u64) -> Option<Arc<Notify>> {
        self.state().streams.get(&stream).map(|log| Arc::clone(&log.wake))
    }

    /// Whether anything is on the stream, or it has ended.
    pub(super) fn has_news(&self, stream: u64) -> bool {
        self.state().streams.get(&stream).is_none_or(|log| log.done || !log.events.is_empty())
    }

    /// Makes the caller the reader of a stream, from after this event on; `None` where that is no longer possible.
    pub(super) fn attach(&self, stream: u64, after: Option<u64>) -> Option<u64> {
        let mut state = self.state();
        let log = state.streams.get_mut(&stream)?;
        let after = after.unwrap_or(log.read);
        let kept = log.events.front().map_or(log.last, |(first, _)| first - 1);
        if after < kept || after > log.last {
            return None;
        }
        log.reader += 1;
        // A reader that is replaced has to see it, and so has the new one.
        log.wake.notify_waiters();
        log.wake.notify_one();
        Some(log.reader)
    }

    /// The event after this one.
    pub(super) fn next(&self, stream: u64, reader: u64, after: u64) -> Next {
        let mut state = self.state();
        let over = state.over;
        let Some(log) = state.streams.get_mut(&stream) else { return Next::End };
        if log.reader != reader || over {
            return Next::End;
        }
        let Some((number, message)) =
            log.events.iter().find(|(number, _)| *number > after).cloned()
        else {
            return if log.done { Next::End } else { Next::Wait };
        };
        if number > log.read {
            log.read = number;
            state.unread -= cost(&message);
            state.replay += cost(&message);
            state.shrink(self.limits.replay);
        }
        Next::Event(number, message)
    }

    /// A receiver of the listing's revision, for the standalone stream.
    pub(super) fn revision(&self) -> watch::Receiver<u64> {
        self.state().revision.clone()
    }

    /// Whether the client is to be told of this revision: once, and only after it has said that it is ready.
    pub(super) fn tells(&self, revision: u64) -> bool {
        let mut state = self.state();
        let tells = state.ready && revision != state.told;
        if tells {
            state.told = revision;
        }
        tells
    }

    /// How readily it gives way to a new session; `None` while a request is in flight.
    fn gives_way(&self) -> Option<(bool, Duration)> {
        let state = self.state();
        let idle = state.asked.unwrap_or(state.opened).elapsed();
        state.in_flight.is_empty().then_some((state.asked.is_none(), idle))
    }

    fn end(&self) {
        let mut state = self.state();
        state.over = true;
        for (_, task) in state.in_flight.drain() {
            task.abort();
        }
        for log in state.streams.values() {
            log.wake.notify_one();
        }
    }
}

impl State {
    fn push(&mut self, stream: u64, message: Outgoing) {
        // A stream that was forgotten has no reader, and never will.
        let Some(log) = self.streams.get_mut(&stream) else { return };
        log.last += 1;
        self.unread += cost(&message);
        log.events.push_back((log.last, message));
        log.wake.notify_one();
    }

    /// Forgets the oldest events that were handed out, down to a limit.
    fn shrink(&mut self, limit: usize) {
        let Self { streams, replay, .. } = self;
        for log in streams.values_mut() {
            while *replay > limit {
                match log.events.front() {
                    // The very last is kept, so that a client can still come back for nothing.
                    Some((number, message)) if *number <= log.read => {
                        *replay -= cost(message);
                        log.events.pop_front();
                    }
                    _ => break,
                }
            }
        }
        streams.retain(|stream, log| {
            *stream == STANDALONE || !(log.done && log.events.is_empty() && log.read == log.last)
        });
    }
}

/// All sessions of an endpoint.
pub(super) struct Sessions {
    open: Mutex<HashMap<String, Arc<Session>>>,
    limits: ServerLimits,
    life: Duration,
}

impl Sessions {
    pub(super) fn new(options: &ServerOptions) -> Self {
        Self { open: Mutex::default(), limits: options.limits, life: options.timeouts.session }
    }

    /// Opens a session. Where there is no room, one of the same principal gives way: one that never asked for anything,
    /// else the one that has not for the longest time; never one with a request in flight. `None` where none can.
    pub(super) fn open(
        &self,
        id: String,
        peer: Peer,
        mut revision: watch::Receiver<u64>,
    ) -> Option<Arc<Session>> {
        let mut sessions = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = |session: &Session| {
            let state = session.state();
            if state.in_flight.is_empty() { state.used.elapsed() } else { Duration::ZERO }
        };
        sessions.retain(|_, session| {
            let keeps = idle(session) < self.life;
            if !keeps {
                session.end();
            }
            keeps
        });
        let own = |session: &Session| session.peer.principal == peer.principal;
        let full = sessions.len() >= self.limits.sessions;
        let too_many =
            sessions.values().filter(|session| own(session)).count() >= self.limits.sessions_each;
        if full || too_many {
            let (_, oldest) = sessions
                .values()
                .filter(|session| own(session))
                .filter_map(|session| Some((session.gives_way()?, session.id.clone())))
                .max()?;
            if let Some(session) = sessions.remove(&oldest) {
                session.end();
            }
        }
        let told = *revision.borrow_and_update();
        let state = State {
            opened: Instant::now(),
            used: Instant::now(),
            asked: None,
            level: None,
            ready: false,
            streams: BTreeMap::from([(STANDALONE, Log::default())]),
            last_stream: STANDALONE,
            in_flight: HashMap::new(),
            unread: 0,
            replay: 0,
            revision,
            told,
            over: false,
        };
        let session = Arc::new(Session {
            id: id.clone(),
            peer: Arc::new(peer),
            questions: Questions::default(),
            limits: self.limits,
            state: Mutex::new(state),
        });
        sessions.insert(id, Arc::clone(&session));
        Some(session)
    }

    /// This principal's session of this ID. To any other principal there is none.
    pub(super) fn find(&self, id: &str, principal: &Principal) -> Option<Arc<Session>> {
        let mut sessions = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let session = sessions.get(id).filter(|session| session.peer.principal == *principal)?;
        let session = Arc::clone(session);
        let expired = {
            let state = session.state();
            state.in_flight.is_empty() && state.used.elapsed() >= self.life
        };
        if expired {
            sessions.remove(id);
            session.end();
            return None;
        }
        session.touch();
        Some(session)
    }

    pub(super) fn end(&self, session: &Session) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&session.id);
        session.end();
    }
}

/// The ID of an event: its stream and its number.
pub(super) fn event_id(stream: u64, number: u64) -> String {
    format!("{stream}-{number}")
}

/// Reads what [`event_id`] wrote.
pub(super) fn read_event_id(text: &str) -> Option<(u64, u64)> {
    let (stream, number) = text.split_once('-')?;
    let id = (stream.parse().ok()?, number.parse().ok()?);
    (event_id(id.0, id.1) == text).then_some(id)
}

/// An event of a stream, as it is written.
pub(super) fn event(stream: u64, number: u64, message: Outgoing) -> Outgoing {
    reply::event(Some(&event_id(stream, number)), message)
}
