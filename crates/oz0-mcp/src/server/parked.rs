//! Calls of modern clients that wait, across requests, for an answer to what a legacy server asked.
//!
//! A modern server keeps nothing between requests; a legacy server waits with its question open. So the call stays
//! alive here, under a number that only its own client can name, for a bounded time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use super::exchange::{Asked, Exchange, Step};
use super::gateway::Principal;

/// How many principals' calls can wait, where each has as many as it may.
const PRINCIPALS: usize = 16;

/// A call that waits.
pub(crate) struct Waiting {
    principal: Principal,
    /// Its questions, by the key that they were given.
    pub(crate) questions: Vec<(String, Asked)>,
    claim: oneshot::Sender<oneshot::Sender<Exchange>>,
}

impl Waiting {
    /// The call, back from where it waited.
    pub(crate) async fn exchange(self) -> Option<(Exchange, Vec<(String, Asked)>)> {
        let (give, take) = oneshot::channel();
        self.claim.send(give).ok()?;
        Some((take.await.ok()?, self.questions))
    }
}

type Numbered = HashMap<[u8; 16], Waiting>;

#[derive(Clone)]
pub(crate) struct Parked {
    waiting: Arc<Mutex<Numbered>>,
    limit: usize,
}

impl Parked {
    pub(crate) fn new(limit: usize) -> Self {
        Self { waiting: Arc::default(), limit }
    }

    fn waiting(&self) -> MutexGuard<'_, Numbered> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a call in; gives it back where there is no room.
    pub(crate) fn park(
        &self,
        number: [u8; 16],
        principal: &Principal,
        mut exchange: Exchange,
        questions: Vec<(String, Asked)>,
        life: Duration,
    ) -> bool {
        let (claim, mut claimed) = oneshot::channel::<oneshot::Sender<Exchange>>();
        {
            let mut waiting = self.waiting();
            let own = waiting.values().filter(|other| other.principal == *principal).count();
            if own >= self.limit || waiting.len() >= self.limit.saturating_mul(PRINCIPALS) {
                return false;
            }
            let principal = principal.clone();
            waiting.insert(number, Waiting { principal, questions, claim });
        }
        let waiting = Arc::clone(&self.waiting);
        // It goes on meanwhile: its server may give up, or finish without the answer.
        tokio::spawn(async move {
            let end = tokio::time::sleep(life);
            tokio::pin!(end);
            let mut settled = false;
            let mut steps = 0;
            loop {
                tokio::select! {
                    claim = &mut claimed => {
                        if let Ok(give) = claim {
                            let _ = give.send(exchange);
                        }
                        return;
                    }
                    () = &mut end => break,
                    step = exchange.next(), if !settled => {
                        steps += 1;
                        settled = matches!(step, Step::Done(_)) || steps >= super::exchange::ASIDES;
                        // Progress cannot be told to anybody now, and is stale by the time it could be.
                        if !matches!(step, Step::Notify(_)) {
                            exchange.hold(step);
                            settled = true;
                        }
                    }
                }
            }
            waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
        });
        true
    }

    pub(crate) fn claim(&self, number: [u8; 16]) -> Option<Waiting> {
        self.waiting().remove(&number)
    }

    /// Ends every call that waits.
    pub(crate) fn clear(&self) {
        self.waiting().clear();
    }
}
