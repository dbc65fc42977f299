//! Which nodes are there.
//!
//! Of a node that polls here, this process knows it at once, by a clock that nobody sets. Other edges over the same store
//! know what is written of it: at which edge it polls, when it was seen last, and whether it is lost or has said that it
//! ends. That is written where it changes, and the time every few seconds, and not at each poll: a poll ends and begins at
//! every approval, for every node at once.

use std::collections::BTreeMap;
use std::sync::{MutexGuard, PoisonError};
use std::time::Instant;

use oz0_api::audit::AuditSubject;
use oz0_api::node::PollQuery;
use oz0_api::token::NodeStatus;
use oz0_api::{EdgeId, NodeName, UnixMillis};
use oz0_listing::escape;
use oz0_telemetry::target;

use super::db::{Conn, query, query_as, query_scalar};
use super::{Act, Actor, Store, StoreError, Write, now, parse};

/// What is known of a node beside the store, and goes with this process.
#[derive(Default)]
pub(super) struct Presence {
    /// How many of its polls wait now.
    polling: usize,
    /// It polled, and was not found to be away since.
    there: bool,
    /// When it asked for something last.
    seen: Option<Instant>,
}

/// What the store says of a node.
type Row = (String, i64, Option<String>, String, Option<i64>, Option<String>, Option<String>);

macro_rules! rows {
    ($which:literal) => {
        concat!("SELECT node, seen_at, edge, presence, tier, reason, version FROM nodes", $which)
    };
}

/// It polls, or did until a moment ago.
const THERE: &str = "there";
/// It has not polled for a while, without having said that it would not.
const LOST: &str = "lost";
/// It has said that it ends, and not polled since.
const LEFT: &str = "left";

/// The longest reason, and the longest version, that is kept of a node, in characters.
const REASON: usize = 1000;

/// A node as it is now.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) at: UnixMillis,
    /// Whether it counts as alive.
    pub(super) live: bool,
    /// Whether it polls now, as far as is known.
    pub(super) polls: bool,
    /// How well it contains servers, and why not better.
    tier: Option<(u8, Option<String>)>,
    version: Option<String>,
}

/// What a node says of itself as it begins to poll.
#[derive(Debug, Clone)]
pub(super) struct Begins {
    tier: Option<i64>,
    reason: Option<String>,
    version: Option<String>,
}

impl From<&PollQuery> for Begins {
    fn from(query: &PollQuery) -> Self {
        let said = |text: &String| escape::line_within(text, REASON).into_owned();
        Self {
            tier: query.tier.map(i64::from),
            reason: query.reason.as_ref().map(said),
            version: query.version.as_ref().map(said),
        }
    }
}

/// A node's poll, for as long as it waits.
pub(crate) struct Polling<'a> {
    store: &'a Store,
    node: NodeName,
}

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        if let Some(presence) = self.store.presence().get_mut(&self.node) {
            presence.polling = presence.polling.saturating_sub(1);
            presence.seen = Some(Instant::now());
        }
    }
}

impl Store {
    /// A node polls from now on, until what is returned is dropped. Its process may end at any time and
    /// is believed alive for a while; its connection ends with it.
    pub(crate) fn polling(&self, node: &NodeName, query: &PollQuery) -> Polling<'_> {
        let mut presences = self.presence();
        let presence = presences.entry(node.clone()).or_default();
        presence.polling += 1;
        self.metrics.node_asks(node, query.plugins.max(query.decisions).max(query.policy));
        if !std::mem::replace(&mut presence.there, true) {
            tracing::info!(target: target::EDGE, %node, "node there");
        }
        drop(presences);
        Polling { store: self, node: node.clone() }
    }

    pub(super) fn presence(&self) -> MutexGuard<'_, BTreeMap<NodeName, Presence>> {
        self.presence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many polls wait here.
    pub(super) fn polls(&self) -> usize {
        self.presence().values().map(|presence| presence.polling).sum()
    }

    /// A node asks for something.
    pub(super) fn sees(&self, node: &NodeName) {
        self.presence().entry(node.clone()).or_default().seen = Some(Instant::now());
    }

    /// A node ends: it is away until it polls again.
    pub(crate) async fn leave(&self, node: &NodeName) -> Result<(), StoreError> {
        let mut write = self.write(&Actor::Node(node.clone())).await?;
        query("UPDATE nodes SET presence = $1 WHERE node = $2")
            .bind(LEFT)
            .bind(node.as_str())
            .execute(write.conn())
            .await?;
        write.wakes = true;
        write.commit().await?;
        self.presence().entry(node.clone()).or_default().there = false;
        self.metrics.node_away(node);
        tracing::info!(target: target::EDGE, %node, "node left");
        Ok(())
    }

    /// Whether a node that polled a while ago does not any more is looked at. One that polls at another edge now is not
    /// lost.
    pub(crate) async fn look_for(&self, node: &NodeName) -> Result<(), StoreError> {
        {
            let mut presences = self.presence();
            let Some(presence) = presences.get_mut(node) else { return Ok(()) };
            if presence.polling > 0 || !std::mem::replace(&mut presence.there, false) {
                return Ok(());
            }
        }
        self.metrics.node_away(node);
        let mut write = self.write(&Actor::Edge).await?;
        let lost =
            query("UPDATE nodes SET presence = $1 WHERE node = $2 AND presence = $3 AND edge = $4")
                .bind(LOST)
                .bind(node.as_str())
                .bind(THERE)
                .bind(self.edge.as_str())
                .execute(write.conn())
                .await?;
        write.commit().await?;
        if lost.rows_affected() > 0 {
            tracing::warn!(target: target::EDGE, %node, "node lost");
        }
        Ok(())
    }

    /// Whether a node has said that it ends.
    pub(crate) async fn has_left(&self, node: &NodeName) -> Result<bool, StoreError> {
        let mut tx = self.read().await?;
        let presence: Option<String> = query_scalar("SELECT presence FROM nodes WHERE node = $1")
            .bind(node.as_str())
            .fetch_optional(&mut tx)
            .await?;
        Ok(presence.as_deref() == Some(LEFT))
    }

    /// A node as it is now. What this process saw of it is counted by a clock that nobody sets: one that is
    /// there stays so when the time of day jumps, and its listings with it. Only of a node that has not come back to a
    /// new process, or polls at another edge, there is nothing but the time of day that it was seen.
    fn seen(&self, node: &NodeName, row: Row, now: UnixMillis) -> Result<Seen, StoreError> {
        let (_, at, edge, presence, tier, reason, version) = row;
        let lately = now
            .0
            .checked_sub(at)
            .and_then(|ago| u64::try_from(ago).ok())
            .is_some_and(|ago| u128::from(ago) <= self.live_for.as_millis());
        let edge: Option<EdgeId> = edge.as_deref().map(parse).transpose()?;
        let elsewhere = edge.filter(|edge| *edge != self.edge);
        let (live, polls) = match (&elsewhere, self.presence().get(node)) {
            _ if presence == LEFT => (false, false),
            (Some(edge), _) => (lately, lately && presence == THERE && self.is_edge_live(edge)),
            (None, Some(Presence { polling: 1.., .. })) => (true, true),
            (None, Some(Presence { seen: Some(seen), .. })) => {
                (seen.elapsed() <= self.live_for, false)
            }
            (None, _) => (lately, false),
        };
        let tier = tier.and_then(|tier| u8::try_from(tier).ok()).map(|tier| (tier, reason));
        Ok(Seen { at: UnixMillis(at), live, polls, tier, version })
    }

    /// Every node that ever asked.
    pub(super) async fn nodes_seen(
        &self,
        conn: &mut Conn,
        now: UnixMillis,
    ) -> Result<BTreeMap<NodeName, Seen>, StoreError> {
        let rows: Vec<Row> = query_as(rows!("")).fetch_all(conn).await?;
        rows.into_iter()
            .map(|row| {
                let node: NodeName = parse(&row.0)?;
                let seen = self.seen(&node, row, now)?;
                Ok((node, seen))
            })
            .collect()
    }

    /// Whether a node counts as alive.
    pub(super) async fn is_node_live(
        &self,
        conn: &mut Conn,
        node: &NodeName,
        now: UnixMillis,
    ) -> Result<bool, StoreError> {
        let row: Option<Row> =
            query_as(rows!(" WHERE node = $1")).bind(node.as_str()).fetch_optional(conn).await?;
        let seen = row.map(|row| self.seen(node, row, now)).transpose()?;
        Ok(seen.is_some_and(|seen| seen.live))
    }

    /// The nodes that ever asked.
    pub(crate) async fn nodes(&self) -> Result<Vec<NodeStatus>, StoreError> {
        let mut tx = self.read().await?;
        let nodes = self.nodes_seen(&mut tx, now()).await?;
        Ok(nodes
            .into_iter()
            .map(|(node, Seen { at, live, tier, version, .. })| {
                let (tier, reason) = tier.map_or((None, None), |(tier, why)| (Some(tier), why));
                NodeStatus { node, seen_at: at, live, tier, reason, version }
            })
            .collect())
    }

    /// Notes that a node is there, and polls here where it begins to. Written at most every few seconds: a poll that ends
    /// with a job is followed by the next one at once.
    pub(crate) async fn touch(
        &self,
        node: &NodeName,
        begins: Option<&PollQuery>,
    ) -> Result<(), StoreError> {
        self.sees(node);
        let now = now();
        let step = i64::try_from(self.live_for.as_millis() / 10).unwrap_or(i64::MAX);
        let row: Option<Row> = {
            let mut tx = self.read().await?;
            query_as(rows!(" WHERE node = $1")).bind(node.as_str()).fetch_optional(&mut tx).await?
        };
        let begins = begins.map(Begins::from);
        let known = row.is_some_and(|(_, seen, edge, presence, tier, reason, version)| {
            let lately = (0..step).contains(&now.0.saturating_sub(seen));
            let here = edge.as_deref() == Some(self.edge.as_str()) && presence == THERE;
            let said = begins.as_ref().is_none_or(|begins| {
                here && (begins.tier.is_none()
                    || (&begins.tier, &begins.reason) == (&tier, &reason))
                    && (begins.version.is_none() || begins.version == version)
            });
            lately && said
        });
        if known {
            return Ok(());
        }
        self.see_together(node, begins).await
    }
}

impl Write<'_> {
    /// Notes that a node is there, and that it joined when it was never there before.
    pub(super) async fn see(&mut self, node: &NodeName) -> Result<(), StoreError> {
        self.store.sees(node);
        let known: i64 = query_scalar("SELECT COUNT(*) FROM nodes WHERE node = $1")
            .bind(node.as_str())
            .fetch_one(self.conn())
            .await?;
        if known == 0 {
            let subject = AuditSubject { node: Some(node.clone()), ..AuditSubject::default() };
            self.audit(Act { action: "node.join", subject }).await?;
        }
        let now = self.now;
        query(
            "INSERT INTO nodes (node, seen_at) VALUES ($1, $2)
             ON CONFLICT (node) DO UPDATE SET seen_at = excluded.seen_at",
        )
        .bind(node.as_str())
        .bind(now.0)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Notes that a node polls here from now on, and what it said of itself.
    pub(super) async fn see_begin(
        &mut self,
        node: &NodeName,
        Begins { tier, reason, version }: Begins,
    ) -> Result<(), StoreError> {
        let edge = self.store.edge.clone();
        query(
            "UPDATE nodes SET edge = $1, presence = $2,
             reason = CASE WHEN $3 IS NULL THEN reason ELSE $4 END, tier = COALESCE($3, tier),
             version = COALESCE($5, version)
             WHERE node = $6",
        )
        .bind(edge.as_str())
        .bind(THERE)
        .bind(tier)
        .bind(reason)
        .bind(version)
        .bind(node.as_str())
        .execute(self.conn())
        .await?;
        Ok(())
    }
}
