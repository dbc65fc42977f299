//! Who the MCP clients are, by the tokens that they show.
//!
//! The edge alone knows tokens, and only as hashes. A node asks it about each one that a client shows, and remembers
//! the answer for [`CHECKED_FOR`], under the token's hash: so a token that was revoked lets its client begin something
//! new for that long at most. What was let in before (a call in flight, an open event stream) goes on to its end.
//!
//! A node that has lost its edge goes on with what it holds, and who its clients are is part of that: a token that the
//! edge knew when it was asked last is taken for as long as the node goes on, and one that nobody has asked about yet is
//! nobody's. So without its edge a node hears of a revoked token when it has it again, or stops by itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use oz0_api::token::ClientIdentity;
use oz0_api::{Client as Edge, ClientError, Code, TokenId};
use oz0_listing::Digest;
use oz0_mcp::server::{Denied, Principal};
use oz0_telemetry::target;

use crate::event::{Event, Tell};
use crate::metrics::Metrics;

/// How long the edge's word on a token holds, counted from when it was asked.
const CHECKED_FOR: Duration = Duration::from_secs(5);
/// How long the edge may take to say it.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// How long one that did not is not asked again about a client that it knew.
const SILENT_FOR: Duration = Duration::from_secs(2);
/// Tokens that are remembered at once, and bytes of one that is worth a question.
const REMEMBERED: usize = 1024;
const LONGEST: usize = 256;

/// The clients that came.
pub(crate) struct Clients {
    edge: Edge,
    /// Whether a client without a token is turned away.
    required: bool,
    /// How long a node goes on with what it holds.
    grace: Duration,
    known: Mutex<HashMap<Digest, Known>>,
    /// When the edge last failed to answer, if it has not answered since.
    silent: Mutex<Option<Instant>>,
    tell: Tell,
    metrics: Arc<Metrics>,
}

struct Known {
    asked: Instant,
    client: Option<ClientIdentity>,
}

impl Clients {
    pub(crate) fn new(
        edge: Edge,
        required: bool,
        grace: Duration,
        tell: Tell,
        metrics: Arc<Metrics>,
    ) -> Self {
        let (known, silent) = (Mutex::default(), Mutex::default());
        Self { edge, required, grace, known, silent, tell, metrics }
    }

    /// Who shows this token.
    pub(crate) async fn authenticate(&self, token: Option<&str>) -> Result<Principal, Denied> {
        let who = self.identify(token).await;
        if let Err(denied) = &who {
            let why = match (denied, token) {
                (Denied::Unavailable, _) => "not checked",
                (_, None) => "no token",
                (_, Some(_)) => "unknown token",
            };
            self.metrics.denied(why);
            tracing::info!(target: target::HTTP, why, "MCP client not let in");
        }
        who
    }

    /// Where none is needed, one that is wrong is still not taken for none: somebody meant to be somebody.
    async fn identify(&self, token: Option<&str>) -> Result<Principal, Denied> {
        let nobody = Denied::Unauthenticated { resource_metadata: None };
        let Some(token) = token else {
            return if self.required { Err(nobody) } else { Ok(Principal::local()) };
        };
        if token.is_empty() || token.len() > LONGEST {
            return Err(nobody);
        }
        let key = Digest::of(token);
        let remembered =
            self.known().get(&key).filter(|known| known.holds()).map(|known| known.client.clone());
        let client = match remembered {
            Some(client) => client,
            None => self.ask(token, key).await?,
        };
        match client {
            Some(client) => Ok(Principal::new(&format!("{}:{}", client.name, client.id))),
            None => Err(nobody),
        }
    }

    /// The token of a client whose person may decide about its calls, as far as the edge's word on it holds. The edge is
    /// asked once more when they have.
    pub(crate) fn approver(&self, principal: &Principal) -> Option<TokenId> {
        let (_, id) = principal.id().split_once(':')?;
        let known = self.known();
        let client = known.values().filter_map(|known| known.client.as_ref());
        client
            .filter(|client| client.may_approve && client.id.as_str() == id)
            .map(|client| client.id.clone())
            .next()
    }

    async fn ask(&self, token: &str, key: Digest) -> Result<Option<ClientIdentity>, Denied> {
        if self.is_silent()
            && let Some(client) = self.held(&key)
        {
            return Ok(Some(client));
        }
        let asked = Instant::now();
        let answer = tokio::time::timeout(ANSWER_WITHIN, self.edge.check_client(token)).await;
        let client = match answer {
            Ok(Ok(client)) => client,
            // It is there, and does not say: not to this node, or not since its store is gone. One that failed is as good as
            // away: its database may be.
            Ok(Err(ClientError::Problem(problem))) if problem.code != Code::Internal => {
                return Err(Denied::Unavailable);
            }
            Ok(Err(_)) | Err(_) => {
                self.hears(Some(Instant::now()));
                return self.held(&key).map(Some).ok_or(Denied::Unavailable);
            }
        };
        self.hears(None);
        let mut known = self.known();
        if known.len() >= REMEMBERED {
            known.retain(|_, known| {
                known.client.is_some() && known.asked.elapsed() < self.grace.max(CHECKED_FOR)
            });
        }
        if known.len() >= REMEMBERED {
            known.clear();
        }
        let before = known.insert(key, Known { asked, client: client.clone() });
        drop(known);
        if let (Some(client), None) = (&client, before.and_then(|before| before.client)) {
            self.tell.event(Event::Client { name: client.name.clone(), token: client.id.clone() });
        }
        Ok(client)
    }

    /// Who the edge last said that this is, where a node that has lost it still goes by that.
    fn held(&self, key: &Digest) -> Option<ClientIdentity> {
        let known = self.known();
        let known = known.get(key).filter(|known| known.asked.elapsed() < self.grace)?;
        known.client.clone()
    }

    fn is_silent(&self) -> bool {
        let silent = *self.silent.lock().unwrap_or_else(PoisonError::into_inner);
        silent.is_some_and(|since| since.elapsed() < SILENT_FOR)
    }

    fn hears(&self, silent: Option<Instant>) {
        *self.silent.lock().unwrap_or_else(PoisonError::into_inner) = silent;
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Digest, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn holds(&self) -> bool {
        self.asked.elapsed() < CHECKED_FOR
    }
}
