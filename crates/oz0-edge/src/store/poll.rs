//! What changed for a node since it last asked, and what wakes it when something does.
//!
//! What wakes a poll is not a commit but what it means for nodes: another revision, a call that waits for this very node, a
//! node's token that was revoked. One task looks after each commit, of this edge or another one over the same store, which of
//! these it was ([`Store::beat`]), and the polls that it concerns hear of it. A report that decides nothing wakes none.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use oz0_api::node::PollQuery;
use oz0_api::{NodeName, Revision, TokenId};
use tokio::sync::watch;

use super::db::{Conn, query, query_scalar};
use super::functions::VersionKey;
use super::standing::Standing;
use super::{Store, StoreError, Write, audit, parse, steady, tokens, versions};

/// Before a store that could not be read is read again.
const AGAIN: Duration = Duration::from_millis(200);

/// The store's revision.
pub(super) async fn current(conn: &mut Conn) -> Result<Revision, StoreError> {
    Ok(Revision(
        query_scalar("SELECT value FROM counters WHERE name = 'revision'").fetch_one(conn).await?,
    ))
}

/// What polls wait for.
#[derive(Default)]
pub(super) struct Pulse {
    beats: watch::Sender<Beat>,
    /// Held by whoever reads how things stand.
    reading: tokio::sync::Mutex<()>,
    /// What says to each node's polls that a call waits for it.
    calls: Mutex<HashMap<NodeName, watch::Sender<()>>>,
}

/// What every poll is to know of.
#[derive(Clone, Default)]
pub(crate) struct Beat {
    pub(crate) standing: Option<Arc<Standing>>,
    /// Rises when a node's token is revoked.
    pub(crate) tokens: i64,
    /// Rises when the store cannot be read.
    pub(crate) failures: u64,
}

/// How things stand for a node that asks.
pub(crate) struct Asks {
    pub(crate) standing: Arc<Standing>,
    /// Whether this is the history that its revisions are of.
    pub(crate) known: bool,
    /// Whether a call waits for it.
    pub(crate) called: bool,
    /// Whether its token still counts.
    pub(crate) live: bool,
}

/// That a call waits for a node, for as long as a poll of it does.
pub(crate) struct Called<'a> {
    pulse: &'a Pulse,
    node: NodeName,
    pub(crate) signal: watch::Receiver<()>,
}

impl Drop for Called<'_> {
    fn drop(&mut self) {
        let mut calls = self.pulse.calls.lock().unwrap_or_else(PoisonError::into_inner);
        // This one is still there.
        if calls.get(&self.node).is_some_and(|sender| sender.receiver_count() <= 1) {
            calls.remove(&self.node);
        }
    }
}

impl Store {
    /// What every poll hears of.
    pub(crate) fn beats(&self) -> watch::Receiver<Beat> {
        self.pulse.beats.subscribe()
    }

    /// What this node's polls hear of besides.
    pub(crate) fn called(&self, node: &NodeName) -> Called<'_> {
        let mut calls = self.pulse.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let signal = calls.entry(node.clone()).or_default().subscribe();
        drop(calls);
        Called { pulse: &self.pulse, node: node.clone(), signal }
    }

    /// How things stand for a node that asks.
    pub(crate) async fn asks(
        &self,
        node: &NodeName,
        token: &TokenId,
        query: &PollQuery,
    ) -> Result<Asks, StoreError> {
        let mut tx = self.read().await?;
        let revision = current(&mut tx).await?;
        let same = match &query.head {
            Some(head) => {
                let ours = audit::hash_at(&mut tx, head.seq).await?;
                ours.is_some_and(|ours| ours == head.hash)
            }
            None => true,
        };
        let called: Option<String> =
            query_scalar("SELECT id FROM calls WHERE node = $1 AND state = 'waiting' LIMIT 1")
                .bind(node.as_str())
                .fetch_optional(&mut tx)
                .await?;
        let goes_on = versions::goes_on(&mut tx, node).await?;
        let live = tokens::is_live(&mut tx, token).await?;
        drop(tx);
        let newest = self.pulse.beats.borrow().standing.clone();
        // What a node goes on with is no decision, and no revision tells of it.
        let is_now =
            |newest: &Arc<Standing>| newest.revision == revision && newest.kept_on(node) == goes_on;
        let standing = match newest.filter(is_now) {
            Some(newest) => newest,
            None => self.look(Some((node, &goes_on))).await?,
        };
        let known = same && standing.is_past(query);
        Ok(Asks { standing, known, called: called.is_some(), live })
    }

    /// Reads how things stand, and says so to every poll where that is news. `goes_on` is what a node goes on with, if it must
    /// be known.
    async fn look(
        &self,
        goes_on: Option<(&NodeName, &BTreeSet<VersionKey>)>,
    ) -> Result<Arc<Standing>, StoreError> {
        let _alone = self.pulse.reading.lock().await;
        let mut tx = self.read().await?;
        let revision = current(&mut tx).await?;
        let tokens: Option<i64> =
            query_scalar("SELECT value FROM counters WHERE name = 'node_tokens'")
                .fetch_optional(&mut tx)
                .await?;
        let waiting: Vec<String> = query_scalar(
            "SELECT DISTINCT node FROM calls WHERE state = 'waiting' AND expires_at > $1",
        )
        .bind(steady().0)
        .fetch_all(&mut tx)
        .await?;
        let before = self.pulse.beats.borrow().standing.clone();
        let standing = match &before {
            Some(before)
                if before.revision == revision
                    && goes_on.is_none_or(|(node, goes_on)| before.kept_on(node) == *goes_on) =>
            {
                Arc::clone(before)
            }
            _ => Arc::new(Standing::load(self, &mut tx, before.as_deref()).await?),
        };
        drop(tx);
        self.metrics.at(revision);
        let tokens = tokens.unwrap_or(0);
        self.pulse.beats.send_if_modified(|beat| {
            let same = beat.standing.as_ref().is_some_and(|old| Arc::ptr_eq(old, &standing));
            if same && beat.tokens == tokens {
                return false;
            }
            beat.standing = Some(Arc::clone(&standing));
            beat.tokens = tokens;
            true
        });
        let calls = self.pulse.calls.lock().unwrap_or_else(PoisonError::into_inner);
        for node in waiting {
            if let Some(signal) = calls.get(&parse::<NodeName>(&node)?) {
                signal.send_replace(());
            }
        }
        drop(calls);
        Ok(standing)
    }

    /// Looks after each commit what it means for nodes, for as long as there is a store.
    pub(crate) async fn beat(store: Weak<Self>) {
        let Some(mut commits) = store.upgrade().map(|store| store.commits()) else { return };
        loop {
            commits.mark_unchanged();
            let looked = match store.upgrade() {
                None => return,
                Some(store) => {
                    let looked = store.look(None).await;
                    if looked.is_err() {
                        // Whoever waits is to hear why.
                        store.pulse.beats.send_modify(|beat| beat.failures += 1);
                    }
                    looked.is_ok()
                }
            };
            let again = async {
                if looked { std::future::pending().await } else { tokio::time::sleep(AGAIN).await }
            };
            tokio::select! {
                changed = commits.changed() => if changed.is_err() { return },
                () = again => {}
            }
        }
    }
}

impl Write<'_> {
    /// The polls of nodes look whether their tokens count.
    pub(super) async fn doubt_node_tokens(&mut self) -> Result<(), StoreError> {
        query(
            "INSERT INTO counters (name, value) VALUES ('node_tokens', 1)
             ON CONFLICT (name) DO UPDATE SET value = counters.value + 1",
        )
        .execute(self.conn())
        .await?;
        Ok(())
    }
}
