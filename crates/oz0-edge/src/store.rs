//! The edge's store: everything that must survive it.
//!
//! One database, in which one write follows another and several views are read. Every write is one transaction with
//! the audit entries that tell of it, so there is no act without its entry and no entry without its
//! act, whenever the process ends. `SQLite` runs with `synchronous=FULL`, `PostgreSQL` with `synchronous_commit`: what was
//! acknowledged was on the disk before.
//!
//! The SQL is of the kind that both databases take (numbered parameters, `ON CONFLICT`,
//! `RETURNING`; text and 64-bit integers only): see [`db`].

mod approvals;
mod audit;
mod backup;
mod calls;
mod catalog;
mod changes;
mod clock;
mod credentials;
mod db;
mod endpoints;
mod error;
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
mod postgres;
mod presence;
pub(crate) mod standing;
mod together;
mod tokens;
mod versions;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use oz0_api::{ApprovalId, EdgeId, NodeName, Revision, UnixMillis};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub(crate) use self::approvals::AWAY;
use self::approvals::Asking;
pub(crate) use self::audit::{Act, Actor};
pub use self::backup::{Backup, Migration};
pub(crate) use self::backup::{back_up, migrate, restore};
pub(crate) use self::clock::now;
use self::clock::{steady, time_of_day};
pub(crate) use self::credentials::Kept;
use self::db::{CHANNEL, Conn, Db, query, query_scalar};
pub use self::error::StoreError;
pub(crate) use self::error::{Answer, Refusal};
use self::folder::{Files, Folder};
pub(crate) use self::poll::Asks;
use self::poll::Pulse;
use self::postgres::Beat;
pub(crate) use self::postgres::watch;
use self::presence::Presence;
use self::together::Together;
pub(crate) use self::tokens::Identity;
use crate::metrics::Metrics;
use crate::place::PostgresAt;
use crate::seal::Seal;

/// The store of one edge.
pub(crate) struct Store {
    db: Db,
    folder: Folder,
    /// The files of a database that is in the folder.
    files: Option<Files>,
    /// Where the database is: its file, or its address without the password.
    path: PathBuf,
    /// The database that other edges keep as well.
    postgres: Option<PostgresAt>,
    /// What was deleted or replaced while it was open, and what was found.
    replaced: OnceLock<(PathBuf, String)>,
    /// The store's own ID, of whose history revisions are.
    id: EdgeId,
    /// This edge's, whose entries of the log are one chain.
    edge: EdgeId,
    seal: Seal,
    live_for: Duration,
    commits: watch::Sender<u64>,
    pulse: Pulse,
    together: Together,
    winding_down: watch::Sender<bool>,
    /// What is known of each node that has polled in this process.
    presence: Mutex<BTreeMap<NodeName, Presence>>,
    /// The calls that nodes ask about here, for as long as they ask.
    asking: Mutex<BTreeMap<ApprovalId, Asking>>,
    /// The other edges.
    edges: Mutex<BTreeMap<EdgeId, Beat>>,
    /// Whether the database that others keep as well was not reached when it was looked for last.
    away: watch::Sender<bool>,
    /// What looks after those.
    watchers: Mutex<Vec<JoinHandle<()>>>,
    /// The last entry that this process knows to be written.
    written: Mutex<Option<(i64, String)>>,
    pub(crate) metrics: Metrics,
    /// When something was last written to see whether it can be.
    probed: tokio::sync::Mutex<Option<Instant>>,
}

/// How long it counts that something could be written, and how long a write may take to count.
const PROBED_FOR: Duration = Duration::from_secs(1);
const PROBE: Duration = Duration::from_secs(5);

/// An edge with less room than this on its disk, in bytes, is not ready.
const ROOM: u64 = 256 << 10;

impl Store {
    /// The store's ID, which is the same at every edge that keeps it.
    pub(crate) fn id(&self) -> &EdgeId {
        &self.id
    }

    /// Wakes whenever something was committed.
    pub(crate) fn commits(&self) -> watch::Receiver<u64> {
        self.commits.subscribe()
    }

    /// Turns true when nobody is to be made to wait any more.
    pub(crate) fn winds_down(&self) -> watch::Receiver<bool> {
        self.winding_down.subscribe()
    }

    /// How many polls wait here, and how many calls for a person.
    pub(crate) fn waiting(&self) -> (usize, usize) {
        (self.polls(), self.asked_about())
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
        match self.files.as_ref().map_or(Ok(()), Files::check) {
            Err(StoreError::Replaced { path, what }) => Err(self.retire(path, what)),
            checked => checked,
        }
    }

    /// Goes out of service for good.
    fn retire(&self, path: PathBuf, what: String) -> StoreError {
        let (path, what) = self.replaced.get_or_init(|| (path, what)).clone();
        // Whoever waits is to hear of it now.
        self.wake();
        StoreError::Replaced { path, what }
    }

    fn wake(&self) {
        self.commits.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// A view that no write moves while it is read.
    async fn read(&self) -> Result<Conn, StoreError> {
        self.in_service()?;
        self.reached(self.db.read()).await
    }

    /// Begins a write as `actor`; nothing of it is there before [`Write::commit`].
    async fn write(&self, actor: &Actor) -> Result<Write<'_>, StoreError> {
        self.in_service()?;
        let tx = self.reached(self.db.write()).await.map_err(|error| {
            self.metrics.store_errors.inc();
            error.at(&self.path)
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

    /// Answers whether the database answers, and takes a write: an edge whose disk is full, or read-only, answers every
    /// question and can do nothing. Whoever asks often costs no more than a write a second.
    pub(crate) async fn check(&self) -> Result<(), StoreError> {
        let mut tx = self.read().await?;
        query_scalar::<i64>("SELECT value FROM counters").fetch_all(&mut tx).await?;
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
            query(
                "INSERT INTO counters (name, value) VALUES ('probe', 1)
                 ON CONFLICT (name) DO UPDATE SET value = counters.value + 1",
            )
            .execute(write.conn())
            .await?;
            write.commit().await
        };
        tokio::time::timeout(PROBE, probe)
            .await
            .unwrap_or_else(|_| Err(StoreError::from(sqlx::Error::PoolTimedOut)))?;
        *probed = Some(Instant::now());
        Ok(())
    }

    /// Ends every connection, and folds the log into the database file.
    pub(crate) async fn close(&self) {
        self.end_watch().await;
        self.db.close().await;
    }

    /// Whether its connections have ended.
    fn is_closed(&self) -> bool {
        self.db.is_closed()
    }
}

/// One write: a transaction, the time it happens at, and who acts.
pub(crate) struct Write<'a> {
    store: &'a Store,
    tx: Conn,
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
    fn conn(&mut self) -> &mut Conn {
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
        let nodes = store.nodes_seen(self.conn(), now).await?;
        Ok(nodes.into_iter().filter(|(_, seen)| seen.live).map(|(node, _)| node).collect())
    }

    /// Makes it so, and wakes whoever waits.
    async fn commit(mut self) -> Result<(), StoreError> {
        let wakes = self.wakes || self.head.is_some();
        let metrics = &self.store.metrics;
        let failed = |error| {
            metrics.store_errors.inc();
            StoreError::from(error).at(&self.store.path)
        };
        if wakes && self.store.postgres.is_some() {
            let notify = query("SELECT pg_notify($1, $2)").bind(CHANNEL);
            notify.bind(self.store.edge.as_str()).execute(&mut self.tx).await.map_err(failed)?;
        }
        self.tx.commit().await.map_err(failed)?;
        // Before anybody is told: a file without a name takes a commit, and loses it.
        self.store.in_service()?;
        metrics.written(self.began.elapsed(), self.revision);
        for (actor, act) in &self.acts {
            act.log(actor);
        }
        if let Some((seq, hash)) = self.head {
            self.store.folder.remember_head(seq, &hash);
            self.store.has_written(seq, hash);
        }
        if wakes {
            self.store.wake();
        }
        Ok(())
    }
}

/// The next value of a counter.
async fn next(conn: &mut Conn, counter: &'static str) -> Result<i64, StoreError> {
    Ok(query_scalar("UPDATE counters SET value = value + 1 WHERE name = $1 RETURNING value")
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
