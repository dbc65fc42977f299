//! Who the MCP clients are, by the tokens that they show.
//!
//! The edge alone knows tokens, and only as hashes. A node asks it about each one that a client shows, and remembers
//! the answer for [`CHECKED_FOR`], under the token's hash: so a token that was revoked lets its client begin something
//! new for that long at most. What was let in before (a call in flight, an open event stream) goes on to its end.
//! Without an edge nobody is let in once that time is over, since nobody can say who they are.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use oz0_api::Client as Edge;
use oz0_api::token::ClientIdentity;
use oz0_listing::Digest;
use oz0_mcp::server::{Denied, Principal};

use crate::event::{Event, Tell};

/// How long the edge's word on a token holds, counted from when it was asked.
const CHECKED_FOR: Duration = Duration::from_secs(5);
/// How long the edge may take to say it.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// Tokens that are remembered at once, and bytes of one that is worth a question.
const REMEMBERED: usize = 1024;
const LONGEST: usize = 256;

/// The clients that came.
pub(crate) struct Clients {
    edge: Edge,
    /// Whether a client without a token is turned away.
    required: bool,
    known: Mutex<HashMap<Digest, Known>>,
    tell: Tell,
}

struct Known {
    asked: Instant,
    client: Option<ClientIdentity>,
}

impl Clients {
    pub(crate) fn new(edge: Edge, required: bool, tell: Tell) -> Self {
        Self { edge, required, known: Mutex::default(), tell }
    }

    /// Who shows this token. Where none is needed, one that is wrong is still not taken for none: somebody meant to be
    /// somebody.
    pub(crate) async fn authenticate(&self, token: Option<&str>) -> Result<Principal, Denied> {
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

    async fn ask(&self, token: &str, key: Digest) -> Result<Option<ClientIdentity>, Denied> {
        let asked = Instant::now();
        let answer = tokio::time::timeout(ANSWER_WITHIN, self.edge.check_client(token)).await;
        let Ok(Ok(client)) = answer else { return Err(Denied::Unavailable) };
        let mut known = self.known();
        if known.len() >= REMEMBERED {
            known.retain(|_, known| known.holds() && known.client.is_some());
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

    fn known(&self) -> MutexGuard<'_, HashMap<Digest, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn holds(&self) -> bool {
        self.asked.elapsed() < CHECKED_FOR
    }
}
