//! A store that several edges keep: its connections, and what the edges tell each other.
//!
//! Each write that wakes anybody notifies the other edges in its own transaction, so that whoever hears of it sees it.
//! A connection that listens may be cut without either end being told. So each edge counts up in the store and says so on
//! the same channel; one that does not hear itself connects anew, and wakes everybody, since it may have missed something.
//!
//! By that count edges also see whether another one is there: one whose count stands still, by the watcher's own clock, has
//! ended, and the calls whose nodes waited at it are lost.

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use oz0_api::EdgeId;
use oz0_telemetry::target;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPool, PgPoolOptions};
use tokio::task::JoinHandle;

use super::db::{CHANNEL, Conn, Db, query, query_as};
use super::{Actor, Store, StoreError, now, parse};
use crate::place::PostgresAt;

/// Connections that read.
const READERS: u32 = 8;
/// How long a request waits for a connection to read by.
const READ: Duration = Duration::from_secs(5);
/// How long a write waits for those before it.
const WRITE: Duration = Duration::from_secs(30);
/// How long a database may take to take a count.
const COUNT: Duration = Duration::from_secs(5);
/// How often an edge counts up.
const BEAT: Duration = Duration::from_secs(2);
/// An edge whose count stands still for so long has ended.
const GONE: Duration = Duration::from_secs(10);
/// What an edge says when it counts up, before its ID.
const COUNTS: &str = "beat ";

/// Another edge, as this one has seen it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beat {
    count: i64,
    since: Instant,
}

/// What is acknowledged is on the server's disk, whatever its configuration says.
const DURABLE: &str = "SELECT set_config('synchronous_commit', 'on', false)
     WHERE current_setting('synchronous_commit') = 'off'";
/// A writer that vanishes in the middle of a write must not keep the others from theirs for long.
const YIELDS: &str = "SELECT set_config('idle_in_transaction_session_timeout', '15s', false),
     set_config('lock_timeout', '20s', false)";

/// Connects to a database. The errors are the driver's: they name no password.
pub(super) async fn connect(at: &PostgresAt) -> sqlx::Result<Db> {
    let writer = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(WRITE)
        .after_connect(|connection, _| {
            Box::pin(async move {
                sqlx::query(DURABLE).execute(&mut *connection).await?;
                sqlx::query(YIELDS).execute(connection).await.map(drop)
            })
        })
        .connect_lazy_with(at.options());
    let readers = PgPoolOptions::new().max_connections(READERS).acquire_timeout(READ);
    // Connected now, to find a database that is not there.
    let readers = readers.connect_with(at.options()).await?;
    // However busy the others are, an edge counts up.
    let beside = PgPoolOptions::new().max_connections(1).acquire_timeout(COUNT);
    let beside = beside.connect_lazy_with(at.options());
    Ok(Db::Postgres { writer, readers, beside })
}

/// Tells nodes what is committed, listens for other edges and counts up, for as long as the store is there.
pub(crate) fn watch(store: &Arc<Store>) {
    let beats = tokio::spawn(Store::beat(Arc::downgrade(store)));
    store.watchers().push(beats);
    let Some(at) = &store.postgres else { return };
    let listens = tokio::spawn(listen(Arc::downgrade(store), at.options()));
    let counts = tokio::spawn(count_up(Arc::downgrade(store)));
    store.watchers().extend([listens, counts]);
}

async fn listen(store: Weak<Store>, options: PgConnectOptions) {
    loop {
        // A pool of its own: the connections of requests are not to wait for this one.
        let pool = PgPoolOptions::new().max_connections(1).acquire_timeout(READ);
        let pool = pool.connect_lazy_with(options.clone());
        let heard = hear(&store, &pool).await;
        // Closed, and not waited for: the other end may not be there.
        drop(pool);
        let Some(store) = store.upgrade().filter(|store| !store.is_closed()) else { return };
        if let Err(error) = heard {
            let what = error.to_string();
            tracing::warn!(target: target::EDGE, what, "edge does not hear the other edges");
        }
        // Something may have happened in between.
        store.wake();
        drop(store);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Wakes whoever waits at each commit of another edge; ends when nothing is heard any more.
async fn hear(store: &Weak<Store>, pool: &PgPool) -> Result<(), StoreError> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    if let Some(store) = store.upgrade() {
        store.wake();
    }
    loop {
        let next = tokio::time::timeout(GONE, listener.try_recv()).await;
        let Some(store) = store.upgrade().filter(|store| !store.is_closed()) else { return Ok(()) };
        let notified = match next {
            Err(_) => {
                let what = "nothing was heard for a while".to_owned();
                return Err(StoreError::Unreachable { what });
            }
            Ok(notified) => notified?,
        };
        let Some(notified) = notified else {
            return Err(StoreError::Unreachable { what: "the connection was lost".to_owned() });
        };
        let own = notified.payload() == store.edge.as_str();
        if !own && !notified.payload().starts_with(COUNTS) {
            store.wake();
        }
    }
}

async fn count_up(store: Weak<Store>) {
    let mut counted = Instant::now();
    loop {
        {
            let Some(store) = store.upgrade().filter(|store| !store.is_closed()) else { return };
            // An edge that could not count could not see others do so.
            let blind = counted.elapsed() > BEAT * 3;
            let counts = tokio::time::timeout(COUNT, store.count(blind)).await;
            let counts = counts.unwrap_or_else(|_| Err(sqlx::Error::PoolTimedOut.into()));
            let away = matches!(counts, Err(StoreError::Unreachable { .. }));
            if store.away.send_replace(away) && !away {
                tracing::info!(target: target::EDGE, "the database answers again");
            }
            match counts {
                Ok(gone) => {
                    counted = Instant::now();
                    for edge in gone {
                        tracing::warn!(target: target::EDGE, %edge, "another edge ended");
                        if let Err(error) = store.lose_all_at(&edge).await {
                            let what = error.to_string();
                            tracing::warn!(target: target::EDGE, what, "its calls are not closed");
                        }
                    }
                }
                Err(error) => {
                    let what = error.to_string();
                    tracing::warn!(target: target::EDGE, what, "edge cannot count up");
                }
            }
        }
        tokio::time::sleep(BEAT).await;
    }
}

impl Store {
    fn watchers(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends what [`watch`] began, so that nobody holds the store any more.
    pub(super) async fn end_watch(&self) {
        let watchers = std::mem::take(&mut *self.watchers());
        for watcher in watchers {
            watcher.abort();
            let _ = watcher.await;
        }
    }

    fn edges(&self) -> MutexGuard<'_, BTreeMap<EdgeId, Beat>> {
        self.edges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection, if the database was there when it was looked for last, and for as long as it is.
    pub(super) async fn reached(
        &self,
        connects: impl Future<Output = sqlx::Result<Conn>>,
    ) -> Result<Conn, StoreError> {
        if self.postgres.is_none() {
            return Ok(connects.await?);
        }
        let mut away = self.away.subscribe();
        let away = async {
            let _ = away.wait_for(|away| *away).await;
        };
        tokio::select! {
            () = away => Err(StoreError::Unreachable { what: "it could not be reached".to_owned() }),
            conn = connects => Ok(conn?),
        }
    }

    /// Whether another edge counts up, as far as this one has seen.
    pub(super) fn is_edge_live(&self, edge: &EdgeId) -> bool {
        self.edges().get(edge).is_some_and(|beat| beat.since.elapsed() < GONE)
    }

    /// Counts up, and looks at the others. Says which of them have ended since.
    pub(super) async fn count(&self, blind: bool) -> Result<Vec<EdgeId>, StoreError> {
        self.in_service()?;
        let mut conn = self.db.beside().await?;
        query(
            "INSERT INTO edges (edge, beat, seen_at) VALUES ($1, 1, $2)
             ON CONFLICT (edge) DO UPDATE SET beat = edges.beat + 1, seen_at = excluded.seen_at",
        )
        .bind(self.edge.as_str())
        .bind(now().0)
        .execute(&mut conn)
        .await?;
        query("SELECT pg_notify($1, $2)")
            .bind(CHANNEL)
            .bind(format!("{COUNTS}{}", self.edge))
            .execute(&mut conn)
            .await?;
        let rows: Vec<(String, i64)> = query_as("SELECT edge, beat FROM edges WHERE edge <> $1")
            .bind(self.edge.as_str())
            .fetch_all(&mut conn)
            .await?;
        conn.commit().await?;
        let mut gone = Vec::new();
        let mut edges = self.edges();
        for (edge, count) in rows {
            let edge: EdgeId = parse(&edge)?;
            let now = Instant::now();
            let beat = edges.entry(edge.clone()).or_insert(Beat { count, since: now });
            if blind || beat.count != count {
                *beat = Beat { count, since: now };
            } else if beat.since.elapsed() >= GONE {
                gone.push(edge);
            }
        }
        Ok(gone)
    }

    /// Forgets an edge that has ended, and closes the calls whose nodes waited at it.
    async fn lose_all_at(&self, edge: &EdgeId) -> Result<(), StoreError> {
        self.lose_held_by(edge).await?;
        let mut write = self.write(&Actor::Edge).await?;
        let count = self.edges().get(edge).map(|beat| beat.count);
        query("DELETE FROM edges WHERE edge = $1 AND beat = $2")
            .bind(edge.as_str())
            .bind(count)
            .execute(write.conn())
            .await?;
        write.commit().await?;
        self.edges().remove(edge);
        Ok(())
    }
}
