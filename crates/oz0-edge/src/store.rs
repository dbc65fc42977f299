//! The edge's store: everything that must survive it.
//!
//! One database, written by one connection and read by several. Every write is one transaction with
//! the audit entries that tell of it, so there is no act without its entry and no entry without its
//! act, whenever the process ends. `SQLite` runs with `synchronous=FULL`: what was acknowledged was
//! on the disk before.
//!
//! The SQL is of the kind that `PostgreSQL` takes as well (numbered parameters, `ON CONFLICT`,
//! `RETURNING`; text and 64-bit integers only), so that a second kind of [`Db`] needs no second
//! text of a query.

mod approvals;
mod audit;
mod calls;
mod catalog;
mod changes;
mod clock;
mod credentials;
mod endpoints;
mod flips;
mod folder;
mod functions;
mod held;
mod leaving;
mod listings;
mod names;
mod open;
mod overview;
mod plugins;
mod policy;
mod poll;
pub(crate) mod standing;
mod together;
mod tokens;
mod versions;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use oz0_api::node::PollQuery;
use oz0_api::{ApprovalId, EdgeId, NodeName, Problem, Revision, UnixMillis};
use oz0_listing::escape;
use oz0_telemetry::target;
use sqlx::sqlite::SqlitePool;
use sqlx::{Sqlite, SqliteConnection, Transaction};
use tokio::sync::watch;

pub(crate) use self::approvals::AWAY;
use self::approvals::Asking;
pub(crate) use self::audit::{Act, Actor};
pub(crate) use self::clock::now;
use self::clock::{steady, time_of_day};
pub(crate) use self::credentials::Kept;
use self::folder::{Files, Folder};
pub(crate) use self::poll::Asks;
use self::poll::Pulse;
use self::together::Together;
pub(crate) use self::tokens::Identity;
use crate::metrics::Metrics;
use crate::seal::{Seal, SealError};

/// Why the store could not do something.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The data folder, or a file in it.
    #[error("could not {operation} {}: {source}", path.display())]
    Folder {
        /// What was tried.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// Another edge runs on the folder.
    #[error("another edge is running on {}", folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The store is not what it was when it was last written. Nothing in it is trusted.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The store's file is not the one that this edge opened. The edge is out of service for good.
    #[error(
        "the edge is out of service: {} was deleted or replaced while it ran ({what}), and nothing \
         is acknowledged any more",
        path.display()
    )]
    Replaced {
        /// The file.
        path: PathBuf,
        /// What is there now.
        what: String,
    },
    /// A newer oz0 wrote it.
    #[error("{} was written by a newer oz0: {what}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// What this one does not know.
        what: String,
    },
    /// A row that no edge writes.
    #[error("the store holds something that no edge writes: {0}")]
    Row(String),
    /// The database refused a statement.
    #[error("the database failed: {0}")]
    Database(sqlx::Error),
    /// There is no room for what was to be written, and nothing of it was.
    #[error("the disk that holds {} is full, and nothing was changed", place.as_deref().map_or_else(
        || "the edge's data folder".to_owned(),
        |path| path.display().to_string(),
    ))]
    Full {
        /// The database, where it is known.
        place: Option<PathBuf>,
    },
    /// The system gives no random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(#[from] getrandom::Error),
    /// A secret cannot be sealed, or opened.
    #[error("secrets cannot be used: {0}")]
    Seal(#[from] SealError),
}

impl StoreError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Folder { .. } => Some("check that the folder is yours and the disk is not full"),
            Self::InUse { .. } => {
                Some("stop that one, use its socket, or give this one another `--data DIR`")
            }
            Self::Damaged { .. } | Self::Row(_) => Some(
                "restore the folder from a backup; to begin anew, with every tool to be looked at \
                 again, use another `--data DIR`",
            ),
            Self::Replaced { .. } => {
                Some("stop the edge, restore its data folder from a backup, and start it again")
            }
            Self::Full { .. } => Some("make room on that disk; the edge needs no restart"),
            Self::Seal(_) => Some(
                "give the edge the key that it had (`seal.key`, `OZ0_SEAL_KEY`), or unset what was sealed with it and set \
                 it anew",
            ),
            Self::Newer { .. } => Some("use that version of oz0 or a later one"),
            Self::Database(_) | Self::Random(_) => None,
        }
    }
}

/// `SQLite`'s primary result codes.
const CORRUPT: u32 = 11;
const FULL: u32 = 13;
const NOT_A_DATABASE: u32 = 26;

/// The primary result code of what the database said; extended ones keep it in the low byte.
fn result_code(error: &sqlx::Error) -> Option<u32> {
    let code = error.as_database_error()?.code()?;
    code.parse::<u32>().ok().map(|code| code & 0xff)
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match result_code(&error) {
            Some(FULL) => Self::Full { place: None },
            _ => Self::Database(error),
        }
    }
}

impl StoreError {
    /// The same, of this file.
    fn at(self, path: &Path) -> Self {
        match self {
            Self::Full { .. } => Self::Full { place: Some(path.to_owned()) },
            other => other,
        }
    }
}

/// Why a request to the store was not done: it failed, or it said no.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Problem(#[from] Problem),
}

impl From<sqlx::Error> for Refusal {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

pub(crate) type Answer<T> = Result<T, Refusal>;

/// The database.
enum Db {
    /// A file, with one connection that writes.
    Sqlite { writer: SqlitePool, readers: SqlitePool },
}

/// The store of one edge.
pub(crate) struct Store {
    db: Db,
    folder: Folder,
    files: Files,
    /// The file that was deleted or replaced while it was open, and what was found.
    replaced: OnceLock<(PathBuf, String)>,
    edge: EdgeId,
    seal: Seal,
    live_for: Duration,
    commits: watch::Sender<u64>,
    pulse: Pulse,
    together: Together,
    winding_down: watch::Sender<bool>,
    /// What is known of each node that has polled in this process.
    presence: Mutex<BTreeMap<NodeName, Presence>>,
    /// The calls that nodes ask about, for as long as they ask.
    asking: Mutex<BTreeMap<ApprovalId, Asking>>,
    pub(crate) metrics: Metrics,
    /// When something was last written to see whether it can be.
    probed: tokio::sync::Mutex<Option<Instant>>,
}

/// How long it counts that something could be written, and how long a write may take to count.
const PROBED_FOR: Duration = Duration::from_secs(1);
const PROBE: Duration = Duration::from_secs(5);

/// An edge with less room than this on its disk, in bytes, is not ready.
const ROOM: u64 = 256 << 10;

/// What is known of a node beside the store, and goes with this process.
#[derive(Default)]
struct Presence {
    /// How many of its polls wait now.
    polling: usize,
    /// It has said that it ends, and not polled since.
    left: bool,
    /// It polled, and was not found to be away since.
    there: bool,
    /// How well it contains servers, and why not better.
    tier: Option<(u8, Option<String>)>,
    version: Option<String>,
    /// When it asked for something last.
    seen: Option<Instant>,
}

/// The longest reason, and the longest version, that is kept of a node, in characters.
const REASON: usize = 1000;

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
    /// This edge's ID.
    pub(crate) fn edge(&self) -> &EdgeId {
        &self.edge
    }

    /// Wakes whenever something was committed.
    pub(crate) fn commits(&self) -> watch::Receiver<u64> {
        self.commits.subscribe()
    }

    /// Turns true when nobody is to be made to wait any more.
    pub(crate) fn winds_down(&self) -> watch::Receiver<bool> {
        self.winding_down.subscribe()
    }

    /// A node polls from now on, until what is returned is dropped. Its process may end at any time and
    /// is believed alive for a while; its connection ends with it.
    pub(crate) fn polling(&self, node: &NodeName, query: &PollQuery) -> Polling<'_> {
        let mut presences = self.presence();
        let presence = presences.entry(node.clone()).or_default();
        presence.polling += 1;
        presence.left = false;
        self.metrics.node_asks(node, query.plugins.max(query.decisions).max(query.policy));
        if !std::mem::replace(&mut presence.there, true) {
            tracing::info!(target: target::EDGE, %node, "node there");
        }
        let said = |text: &String| escape::line_within(text, REASON).into_owned();
        if let Some(tier) = query.tier {
            presence.tier = Some((tier, query.reason.as_ref().map(said)));
        }
        presence.version = query.version.as_ref().map(said).or_else(|| presence.version.take());
        drop(presences);
        Polling { store: self, node: node.clone() }
    }

    fn presence(&self) -> MutexGuard<'_, BTreeMap<NodeName, Presence>> {
        self.presence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A node ends: it is away until it polls again.
    pub(crate) fn leave(&self, node: &NodeName) {
        let mut presences = self.presence();
        let presence = presences.entry(node.clone()).or_default();
        presence.left = true;
        presence.there = false;
        drop(presences);
        self.metrics.node_away(node);
        tracing::info!(target: target::EDGE, %node, "node left");
        self.wake();
    }

    /// Whether a node that polled a while ago does not any more is looked at.
    pub(crate) fn look_for(&self, node: &NodeName) {
        let mut presences = self.presence();
        let Some(presence) = presences.get_mut(node) else { return };
        if presence.polling == 0 && std::mem::replace(&mut presence.there, false) {
            self.metrics.node_away(node);
            tracing::warn!(target: target::EDGE, %node, "node lost");
        }
    }

    /// How many polls wait, and how many calls for a person.
    pub(crate) fn waiting(&self) -> (usize, usize) {
        let polls = self.presence().values().map(|presence| presence.polling).sum();
        (polls, self.asked_about())
    }

    /// Whether a node has said that it ends.
    pub(crate) fn has_left(&self, node: &NodeName) -> bool {
        self.presence().get(node).is_some_and(|presence| presence.left)
    }

    /// Whether a poll of this node waits here now.
    fn is_polling(&self, node: &NodeName) -> bool {
        self.presence().get(node).is_some_and(|presence| presence.polling > 0 && !presence.left)
    }

    /// Nobody is made to wait any more.
    pub(crate) fn wind_down(&self) {
        self.winding_down.send_replace(true);
    }

    /// Answers whether this edge's store is still the one in its data folder. Once it was not, it is
    /// not believed again: what was decided meanwhile is in neither file as a whole.
    pub(crate) fn in_service(&self) -> Result<(), StoreError> {
        let out = |(path, what): &(PathBuf, String)| StoreError::Replaced {
            path: path.clone(),
            what: what.clone(),
        };
        if let Some(replaced) = self.replaced.get() {
            return Err(out(replaced));
        }
        match self.files.check() {
            Err(StoreError::Replaced { path, what }) => {
                let error = out(self.replaced.get_or_init(|| (path, what)));
                // Whoever waits is to hear of it now.
                self.wake();
                Err(error)
            }
            checked => checked,
        }
    }

    fn wake(&self) {
        self.commits.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// A view that no write moves while it is read.
    async fn read(&self) -> Result<Transaction<'static, Sqlite>, StoreError> {
        self.in_service()?;
        match &self.db {
            Db::Sqlite { readers, .. } => Ok(readers.begin().await?),
        }
    }

    /// Begins a write as `actor`; nothing of it is there before [`Write::commit`].
    async fn write(&self, actor: &Actor) -> Result<Write<'_>, StoreError> {
        self.in_service()?;
        let tx = match &self.db {
            Db::Sqlite { writer, .. } => writer.begin_with("BEGIN IMMEDIATE").await,
        };
        let tx = tx.map_err(|error| {
            self.metrics.store_errors.inc();
            StoreError::from(error).at(&self.folder.database())
        })?;
        Ok(Write {
            store: self,
            began: Instant::now(),
            acts: Vec::new(),
            tx,
            actor: actor.clone(),
            now: now(),
            revision: None,
            head: None,
            wakes: false,
        })
    }

    /// A node asks for something.
    fn sees(&self, node: &NodeName) {
        self.presence().entry(node.clone()).or_default().seen = Some(Instant::now());
    }

    /// Whether a node counts as alive. What this process saw of it is counted by a clock that nobody sets: one that is
    /// there stays so when the time of day jumps, and its listings with it. Only of a node that has not come back to a
    /// new process there is nothing but the time of day that it was `seen_at`.
    fn is_live(&self, node: &NodeName, seen_at: UnixMillis, now: UnixMillis) -> bool {
        let presences = self.presence();
        match presences.get(node) {
            Some(Presence { left: true, .. }) => false,
            Some(Presence { polling: 1.., .. }) => true,
            Some(Presence { seen: Some(seen), .. }) => seen.elapsed() <= self.live_for,
            _ => now
                .0
                .checked_sub(seen_at.0)
                .and_then(|ago| u64::try_from(ago).ok())
                .is_some_and(|ago| u128::from(ago) <= self.live_for.as_millis()),
        }
    }

    /// Every node that ever asked, with whether it is alive.
    async fn nodes_alive(
        &self,
        conn: &mut SqliteConnection,
        now: UnixMillis,
    ) -> Result<BTreeMap<NodeName, (UnixMillis, bool)>, StoreError> {
        let rows: Vec<(String, i64)> =
            sqlx::query_as("SELECT node, seen_at FROM nodes").fetch_all(conn).await?;
        rows.into_iter()
            .map(|(node, seen)| {
                let seen = UnixMillis(seen);
                let node = parse(&node)?;
                let live = self.is_live(&node, seen, now);
                Ok((node, (seen, live)))
            })
            .collect()
    }

    /// Answers whether the database answers, and takes a write: an edge whose disk is full, or read-only, answers every
    /// question and can do nothing. Whoever asks often costs no more than a write a second.
    pub(crate) async fn check(&self) -> Result<(), StoreError> {
        let mut tx = self.read().await?;
        sqlx::query("SELECT value FROM counters").fetch_all(&mut *tx).await?;
        drop(tx);
        // What there is room for is one small write after another, and not what an approval takes.
        self.folder.has_room(ROOM)?;
        let mut probed = self.probed.lock().await;
        if probed.is_some_and(|at| at.elapsed() < PROBED_FOR) {
            return Ok(());
        }
        *probed = None;
        let probe = async {
            let mut write = self.write(&Actor::Edge).await?;
            // Another value each time: one that is there already is not written.
            sqlx::query(
                "INSERT INTO counters (name, value) VALUES ('probe', 1)
                 ON CONFLICT (name) DO UPDATE SET value = counters.value + 1",
            )
            .execute(write.conn())
            .await?;
            write.commit().await
        };
        tokio::time::timeout(PROBE, probe)
            .await
            .unwrap_or(Err(StoreError::Database(sqlx::Error::PoolTimedOut)))?;
        *probed = Some(Instant::now());
        Ok(())
    }

    /// Ends every connection, and folds the log into the database file.
    pub(crate) async fn close(&self) {
        match &self.db {
            Db::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
        }
    }
}

/// One write: a transaction, the time it happens at, and who acts.
pub(crate) struct Write<'a> {
    store: &'a Store,
    tx: Transaction<'static, Sqlite>,
    actor: Actor,
    now: UnixMillis,
    revision: Option<Revision>,
    head: Option<(i64, String)>,
    wakes: bool,
    began: Instant,
    /// What is logged once it is so.
    acts: Vec<(Actor, Act)>,
}

impl Write<'_> {
    fn conn(&mut self) -> &mut SqliteConnection {
        &mut self.tx
    }

    /// This write's revision, drawn when it is first asked for.
    async fn revision(&mut self) -> Result<Revision, StoreError> {
        if let Some(revision) = self.revision {
            return Ok(revision);
        }
        let revision = Revision(next(self.conn(), "revision").await?);
        self.revision = Some(revision);
        self.wakes = true;
        Ok(revision)
    }

    /// The nodes that are there now.
    async fn alive(&mut self) -> Result<BTreeSet<NodeName>, StoreError> {
        let (store, now) = (self.store, self.now);
        let nodes = store.nodes_alive(self.conn(), now).await?;
        Ok(nodes.into_iter().filter(|(_, (_, live))| *live).map(|(node, _)| node).collect())
    }

    /// Makes it so, and wakes whoever waits.
    async fn commit(self) -> Result<(), StoreError> {
        let path = self.store.folder.database();
        let metrics = &self.store.metrics;
        self.tx.commit().await.map_err(|error| {
            metrics.store_errors.inc();
            StoreError::from(error).at(&path)
        })?;
        // Before anybody is told: a file without a name takes a commit, and loses it.
        self.store.in_service()?;
        metrics.written(self.began.elapsed(), self.revision);
        for (actor, act) in &self.acts {
            act.log(actor);
        }
        if let Some((seq, hash)) = &self.head {
            self.store.folder.remember_head(*seq, hash);
        }
        if self.wakes || self.head.is_some() {
            self.store.wake();
        }
        Ok(())
    }
}

/// The next value of a counter.
async fn next(conn: &mut SqliteConnection, counter: &'static str) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar("UPDATE counters SET value = value + 1 WHERE name = $1 RETURNING value")
        .bind(counter)
        .fetch_one(conn)
        .await?)
}

/// Reads what the store wrote.
fn parse<T: FromStr>(text: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| {
        let what = std::any::type_name::<T>().rsplit("::").next().unwrap_or_default();
        StoreError::Row(format!("`{}` as {what}", oz0_listing::escape::line(text)))
    })
}

/// Reads JSON that the store wrote.
fn parse_json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Row(error.to_string()))
}

/// Writes JSON of our own types.
fn to_json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Row(error.to_string()))
}

/// Random bytes of the system.
fn random<const N: usize>() -> Result<[u8; N], StoreError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
