//! A modern client's call: one request, or several when a server asks in between.

use std::sync::Arc;

use tokio::sync::watch;

use super::codes;
use super::engine::{Engine, Later, Started};
use super::exchange::{Asked, Body, Exchange, Step};
use super::gateway::{Gateway, Level, Peer};
use super::known::Known;
use super::params::CallParams;
use super::parked::Waiting;
use super::seal::State;
use crate::error::RpcError;
use crate::message::{self, Members, quote};

/// A call as one modern request sees it.
pub(crate) struct ModernCall {
    peer: Arc<Peer>,
    params: CallParams,
    from: From,
}

enum From {
    Begun(Exchange),
    Waiting(Waiting),
    /// Questions that are still open.
    Asking(Exchange, Vec<(String, Asked)>),
    Over,
}

impl<G: Gateway> Engine<G> {
    pub(crate) fn modern(
        self: &Arc<Self>,
        peer: &Arc<Peer>,
        level: Option<Level>,
        params: CallParams,
    ) -> Started {
        let expired = || {
            let why = "requestState is not one that was given out for this call, or it has expired; call anew";
            Started::Now(Err(RpcError::new(codes::INVALID_PARAMS, why)))
        };
        let state = match params.request_state() {
            None => None,
            Some(sealed) => match self.seal.open(&sealed, &peer.principal, &params) {
                Some(state) => Some(state),
                None => return expired(),
            },
        };
        let from = match state {
            None => From::Begun(self.run(peer, level, params.clone())),
            Some(State::Server(state)) => match params.with(params.input_responses(), Some(&state))
            {
                Ok(params) => From::Begun(self.run(peer, level, params)),
                Err(_) => return expired(),
            },
            Some(State::Parked(number)) => match self.parked.claim(number) {
                Some(waiting) => From::Waiting(waiting),
                None => return expired(),
            },
        };
        Started::Later(Later::Modern(Box::new(ModernCall { peer: Arc::clone(peer), params, from })))
    }
}

impl ModernCall {
    pub(crate) async fn next<G: Gateway>(&mut self, engine: &Engine<G>) -> Step {
        let gone = || {
            Step::Done(Err(RpcError::new(
                codes::EXPIRED,
                "the call that waited for this answer is over",
            )))
        };
        if let From::Waiting(_) = self.from {
            let From::Waiting(waiting) = std::mem::replace(&mut self.from, From::Over) else {
                return gone();
            };
            let Some((exchange, questions)) = waiting.exchange().await else { return gone() };
            self.resume(exchange, questions);
        }
        match std::mem::replace(&mut self.from, From::Over) {
            From::Asking(exchange, questions) => return self.park(engine, exchange, questions),
            From::Begun(exchange) => self.from = From::Begun(exchange),
            From::Waiting(_) | From::Over => return gone(),
        }
        let From::Begun(exchange) = &mut self.from else { return gone() };
        match exchange.next().await {
            Step::Ask(asked) => {
                let mut asks = vec![asked];
                // A server may ask several things at once; what it asks later stands in the next round.
                while let Some(asked) = exchange.asked() {
                    asks.push(asked);
                }
                let named =
                    |(index, asked): (usize, Asked)| (format!("input-{}", index + 1), asked);
                let questions = asks.into_iter().enumerate().map(named).collect();
                match std::mem::replace(&mut self.from, From::Over) {
                    From::Begun(exchange) => self.park(engine, exchange, questions),
                    _ => gone(),
                }
            }
            step => step,
        }
    }

    /// Hands the answers that came to those who asked.
    fn resume(&mut self, mut exchange: Exchange, questions: Vec<(String, Asked)>) {
        exchange.token = self.params.progress_token().map(str::to_owned);
        let responses = self.params.input_responses().and_then(|text| Members::read(text).ok());
        let mut open = Vec::new();
        for (key, asked) in questions {
            match responses.as_ref().and_then(|responses| responses.get(&key)) {
                Some(answer) => {
                    // Whoever asked may have given up.
                    let _ = asked.answer.send(Ok(answer.to_owned()));
                }
                None if asked.answer.is_closed() => {}
                None => open.push((key, asked)),
            }
        }
        self.from =
            if open.is_empty() { From::Begun(exchange) } else { From::Asking(exchange, open) };
    }

    fn park<G: Gateway>(
        &self,
        engine: &Engine<G>,
        exchange: Exchange,
        questions: Vec<(String, Asked)>,
    ) -> Step {
        let requests: Vec<String> = questions
            .iter()
            .map(|(key, asked)| {
                let params = match &asked.params {
                    Some(params) => format!(r#","params":{params}"#),
                    None => String::new(),
                };
                format!(r#"{}:{{"method":{}{params}}}"#, quote(key), quote(&asked.method))
            })
            .collect();
        let number = engine.seal.number();
        let life = engine.state_life();
        let state =
            engine.seal.close(&State::Parked(number), &self.peer.principal, &self.params, life);
        if !engine.parked.park(number, &self.peer.principal, exchange, questions, life) {
            let why = "too many calls wait for an answer of their clients";
            return Step::Done(Err(RpcError::new(codes::BUSY, why)));
        }
        let result = format!(
            r#"{{"resultType":"input_required","inputRequests":{{{}}},"requestState":"{state}"}}"#,
            requests.join(",")
        );
        Step::Done(Ok(Body::Own(result)))
    }
}

/// A modern client that listens for changes.
pub(crate) struct Listening {
    id: String,
    /// `None` where it did not ask for changes of the listing.
    revision: Option<(watch::Receiver<u64>, Arc<Known>)>,
    told: u64,
    closing: watch::Receiver<bool>,
    acknowledged: bool,
}

impl Listening {
    pub(crate) fn new<G: Gateway>(engine: &Engine<G>, peer: &Peer, id: &str, tools: bool) -> Self {
        let revision = tools.then(|| {
            let revision = engine.gateway.revision(&peer.principal);
            let known = peer.known.clone();
            let now = *revision.borrow();
            (revision, known.unwrap_or_else(|| Arc::new(Known::all_until(now))))
        });
        let closing = engine.closing.subscribe();
        Self { id: id.to_owned(), revision, told: 0, closing, acknowledged: false }
    }

    pub(crate) async fn next(&mut self) -> Step {
        let tag = format!(r#"{{"io.modelcontextprotocol/subscriptionId":{}}}"#, self.id);
        if !std::mem::replace(&mut self.acknowledged, true) {
            let honoured =
                if self.revision.is_some() { r#"{"toolsListChanged":true}"# } else { "{}" };
            let params = format!(r#"{{"notifications":{honoured},"_meta":{tag}}}"#);
            let method = "notifications/subscriptions/acknowledged";
            return Step::Notify(message::notification(method, Some(&params)));
        }
        let changed = async {
            match &mut self.revision {
                Some((revision, known)) => known.news(revision, &mut self.told).await,
                None => std::future::pending().await,
            }
        };
        let goes_on = tokio::select! {
            biased;
            _ = self.closing.wait_for(|&closing| closing) => false,
            changed = changed => changed,
        };
        if goes_on {
            let params = format!(r#"{{"_meta":{tag}}}"#);
            Step::Notify(message::notification(LIST_CHANGED, Some(&params)))
        } else {
            // The end in order: the stream was closed on purpose, and not lost.
            Step::Done(Ok(Body::Own(format!(r#"{{"resultType":"complete","_meta":{tag}}}"#))))
        }
    }
}

pub(crate) const LIST_CHANGED: &str = "notifications/tools/list_changed";
