//! A request that is being answered, and what comes before its answer.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::LazyLock;

use bytes::Bytes;
use memchr::memmem::Finder;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use super::gateway::AskError;
use super::params::ours_in;
use super::splice::{Splice, insertion, may_have};
use crate::error::RpcError;
use crate::message::{Members, string};
use crate::version::Era;

/// What a call can have said, beside its answer, before its client took any of it.
pub(crate) const ASIDES: usize = 32;
/// From this size on a message's parts are handed to the socket or pipe as they are.
const LARGE: usize = 16 << 10;

/// What comes before an answer.
#[derive(Debug)]
pub(crate) enum Aside {
    /// A whole notification.
    Notify(String),
    /// A progress notification, but for its token, which is that of the request in flight.
    Progress { before: String, after: String },
    /// Something that the client is asked.
    Ask(Asked),
}

#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) params: Option<String>,
    pub(crate) answer: oneshot::Sender<Result<Box<RawValue>, AskError>>,
}

/// A result's text.
#[derive(Debug)]
pub(crate) enum Body {
    /// Written here: complete.
    Own(String),
    /// A server's, untouched.
    Passed(Box<RawValue>),
}

pub(crate) type Outcome = Result<Body, RpcError>;

/// What happens next.
#[derive(Debug)]
pub(crate) enum Step {
    /// A notification.
    Notify(String),
    /// A question to the client.
    Ask(Asked),
    /// The answer: the last step.
    Done(Outcome),
}

/// A request that is being answered. Dropping it cancels what it waits for.
pub(crate) struct Exchange {
    future: Pin<Box<dyn Future<Output = Outcome> + Send>>,
    asides: mpsc::Receiver<Aside>,
    /// Steps that were taken while the call was parked.
    held: VecDeque<Step>,
    outcome: Option<Outcome>,
    /// The progress token of the request in flight, as written.
    pub(crate) token: Option<String>,
}

impl Exchange {
    pub(crate) fn new(
        token: Option<String>,
        asides: mpsc::Receiver<Aside>,
        future: impl Future<Output = Outcome> + Send + 'static,
    ) -> Self {
        Self { future: Box::pin(future), asides, held: VecDeque::new(), outcome: None, token }
    }

    /// The next step. What was said before the answer comes before it. Loses nothing when it is dropped half-way.
    pub(crate) async fn next(&mut self) -> Step {
        if let Some(step) = self.held.pop_front() {
            return step;
        }
        loop {
            let aside = if self.outcome.is_some() {
                self.asides.try_recv().ok()
            } else {
                tokio::select! {
                    biased;
                    Some(aside) = self.asides.recv() => Some(aside),
                    outcome = &mut self.future => {
                        self.outcome = Some(outcome);
                        continue;
                    }
                }
            };
            match aside {
                Some(aside) => {
                    if let Some(step) = self.step(aside) {
                        return step;
                    }
                }
                None => {
                    if let Some(outcome) = self.outcome.take() {
                        return Step::Done(outcome);
                    }
                }
            }
        }
    }

    /// A question that was asked already.
    pub(crate) fn asked(&mut self) -> Option<Asked> {
        loop {
            match self.asides.try_recv() {
                Ok(Aside::Ask(asked)) => return Some(asked),
                Ok(aside) => self.held.extend(self.step(aside)),
                Err(_) => return None,
            }
        }
    }

    pub(crate) fn hold(&mut self, step: Step) {
        self.held.push_back(step);
    }

    fn step(&self, aside: Aside) -> Option<Step> {
        match aside {
            Aside::Notify(text) => Some(Step::Notify(text)),
            Aside::Progress { before, after } => self
                .token
                .as_ref()
                .map(|token| Step::Notify([&before, token.as_str(), &after].concat())),
            Aside::Ask(asked) => Some(Step::Ask(asked)),
        }
    }
}

/// A message on its way to a client, in parts that are not copied.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outgoing {
    pieces: Vec<Bytes>,
    len: usize,
}

impl From<String> for Outgoing {
    fn from(text: String) -> Self {
        Self::from_pieces(vec![text.into()])
    }
}

impl Outgoing {
    pub(crate) fn from_pieces(pieces: Vec<Bytes>) -> Self {
        let len = pieces.iter().map(Bytes::len).sum();
        if len < LARGE && pieces.len() > 1 {
            return Self { pieces: vec![pieces.concat().into()], len };
        }
        Self { pieces, len }
    }

    /// The answer to the request of this ID.
    pub(crate) fn answer(id: &str, outcome: Outcome, era: Era) -> Self {
        match outcome {
            Ok(Body::Own(result)) => {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).into()
            }
            Ok(Body::Passed(result)) => Self::passed(id, result, era),
            Err(error) => {
                let error = error.to_json();
                format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#).into()
            }
        }
    }

    fn passed(id: &str, result: Box<RawValue>, era: Era) -> Self {
        let text = String::from(Box::<str>::from(result));
        let mut splice = Splice::new(&text);
        let mut fits = true;
        for range in ours_in(&text) {
            fits &= splice.remove(range).is_ok();
        }
        if era == Era::Modern && text.starts_with('{') && result_type(&text).is_none() {
            let (at, member) = insertion(&text, "resultType", "\"complete\"");
            fits &= splice.replace(at..at, member).is_ok();
        }
        if !fits {
            let error =
                RpcError::new(super::codes::INTERNAL, "the server's result cannot be passed on");
            return Self::answer(id, Err(error), era);
        }
        let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#);
        if text.len() < LARGE {
            let text = if splice.is_empty() { text } else { splice.apply() };
            return [&head, text.as_str(), "}"].concat().into();
        }
        let mut pieces = vec![head.into()];
        if splice.is_empty() {
            pieces.push(text.into());
        } else {
            let edits = splice.edits();
            Splice::pieces(&text.into(), &edits, &mut pieces);
        }
        pieces.push(Bytes::from_static(b"}"));
        Self::from_pieces(pieces)
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn into_pieces(self) -> Vec<Bytes> {
        self.pieces
    }

    /// The same without line ends, which JSON has only between tokens: for transports where a line end ends more.
    pub(crate) fn in_one_line(mut self) -> Self {
        for piece in &mut self.pieces {
            if memchr::memchr2(b'\n', b'\r', piece).is_some() {
                let mut bytes = piece.to_vec();
                for byte in &mut bytes {
                    if matches!(byte, b'\n' | b'\r') {
                        *byte = b' ';
                    }
                }
                *piece = bytes.into();
            }
        }
        self
    }

    /// The same between two texts.
    pub(crate) fn between(self, before: &str, after: &'static str) -> Self {
        let mut pieces = Vec::with_capacity(self.pieces.len() + 2);
        if !before.is_empty() {
            pieces.push(Bytes::copy_from_slice(before.as_bytes()));
        }
        pieces.extend(self.pieces);
        pieces.push(Bytes::from_static(after.as_bytes()));
        Self::from_pieces(pieces)
    }
}

/// A result's `resultType`, where it has one.
pub(crate) fn result_type(result: &str) -> Option<String> {
    static RESULT_TYPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("resultType"));
    if !may_have(result, &RESULT_TYPE) {
        return None;
    }
    let members = Members::read(result).ok()?;
    members.get("resultType").and_then(string).map(std::borrow::Cow::into_owned)
}
