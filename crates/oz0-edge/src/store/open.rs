//! Opening the store: the checks that stand between a file and trust in it.

use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use oz0_api::EdgeId;
use sqlx::Connection as _;
use sqlx::migrate::MigrateError;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use tokio::sync::watch;

use super::folder::Folder;
use super::poll::Pulse;
use super::together::Together;
use super::{Actor, Db, Store, StoreError, audit, random, tokens};
use crate::metrics::Metrics;
use crate::seal::{Seal, SealError, SealKey};
use crate::small::{open_regular, read_small};

/// Connections that read.
const READERS: u32 = 4;

/// The file that holds the first admin token.
const ADMIN_TOKEN: &str = "admin.token";

/// The file that holds the key which secrets are sealed with.
const SEAL_KEY: &str = "seal.key";

impl Store {
    /// Opens the store in `folder`, or makes one where there never was one.
    pub(crate) async fn open(
        root: &Path,
        live_for: Duration,
        key: Option<&SealKey>,
    ) -> Result<Self, StoreError> {
        let folder = Folder::open(root)?;
        let path = folder.database();
        let known = folder.edge_id()?;
        let damaged = |what: String| StoreError::Damaged { path: path.clone(), what };
        if known.is_some() {
            check_length(&path).map_err(damaged)?;
        }
        folder.make_database()?;

        let options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(false)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(10));
        let judge = |error: sqlx::Error| judge(&path, error);
        let writer = connections(1).connect_with(options.clone()).await.map_err(judge)?;
        let problems: Vec<String> =
            sqlx::query_scalar("PRAGMA quick_check").fetch_all(&writer).await.map_err(judge)?;
        if problems != ["ok"] {
            return Err(damaged(problems.join("; ")));
        }
        sqlx::migrate!("migrations/sqlite").run(&writer).await.map_err(|error| match error {
            MigrateError::VersionMissing(version) => StoreError::Newer {
                path: path.clone(),
                what: format!("its schema has step {version}"),
            },
            MigrateError::Execute(error) => judge(error),
            other => damaged(other.to_string()),
        })?;
        let edge = identify(&writer, known.as_ref()).await.map_err(|error| match error {
            StoreError::Database(error) => judge(error),
            StoreError::Row(what) => damaged(what),
            other => other,
        })?;
        folder.remember(&edge)?;
        let readers =
            connections(READERS).connect_with(options.read_only(true)).await.map_err(judge)?;
        let files = folder.files()?;
        let seal = match key {
            Some(key) => Seal::with(key),
            None => kept_key(&folder, &readers).await?,
        };
        let store = Self {
            db: Db::Sqlite { writer, readers },
            folder,
            files,
            replaced: OnceLock::new(),
            edge,
            seal,
            live_for,
            commits: watch::Sender::new(0),
            pulse: Pulse::default(),
            together: Together::default(),
            winding_down: watch::Sender::new(false),
            presence: Mutex::default(),
            asking: Mutex::default(),
            metrics: Metrics::new(),
            probed: tokio::sync::Mutex::default(),
        };
        store.check_head(&path).await?;
        store.first_token().await?;
        store.lose_all().await?;
        Ok(store)
    }

    /// An older copy of the database knows nothing of what was accepted or refused since.
    async fn check_head(&self, path: &Path) -> Result<(), StoreError> {
        let Some((seq, hash)) = self.folder.head() else { return Ok(()) };
        let mut tx = self.read().await?;
        let found = audit::hash_at(&mut tx, &self.edge, seq).await?;
        if found.as_deref() == Some(hash.as_str()) {
            return Ok(());
        }
        Err(StoreError::Damaged {
            path: path.to_owned(),
            what: format!(
                "its audit log had entry {seq} with hash {hash} before, and {}",
                if found.is_some() { "has another one now" } else { "ends earlier now" },
            ),
        })
    }

    /// An edge that starts for the first time writes its first admin token into the folder. The
    /// file is written before the token counts, so that there is no token that nobody has.
    async fn first_token(&self) -> Result<(), StoreError> {
        let mut write = self.write(&Actor::Edge).await?;
        let tokens: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM tokens WHERE kind = 'admin'")
            .fetch_one(write.conn())
            .await?;
        if tokens > 0 {
            return Ok(());
        }
        let secret = tokens::insert_first(&mut write).await?;
        self.folder.write_secret(ADMIN_TOKEN, &format!("{secret}\n"))?;
        write.commit().await
    }

    /// The data folder.
    pub(crate) fn root(&self) -> &Path {
        self.folder.root()
    }
}

/// The key in the folder. One is made where nothing was sealed yet; where something was, another key would open none of it.
async fn kept_key(folder: &Folder, readers: &SqlitePool) -> Result<Seal, StoreError> {
    let path = folder.root().join(SEAL_KEY);
    match read_small(&path) {
        Ok(bytes) => {
            let bytes = zeroize::Zeroizing::new(bytes);
            let key = std::str::from_utf8(&bytes).ok().and_then(|text| text.parse().ok());
            let key: Option<SealKey> = key;
            Ok(key.map_or_else(|| Seal::None(SealError::NoKey(path)), |key| Seal::with(&key)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let sealed: i64 = sqlx::query_scalar(
                "SELECT (SELECT COUNT(*) FROM secrets) + (SELECT COUNT(*) FROM connections)",
            )
            .fetch_one(readers)
            .await?;
            if sealed > 0 {
                return Ok(Seal::None(SealError::Absent(path)));
            }
            let key = SealKey::from_random(random()?);
            folder.write_secret(SEAL_KEY, &key.written())?;
            Ok(Seal::with(&key))
        }
        Err(source) => Err(StoreError::Folder { operation: "read", path, source }),
    }
}

/// Connections that stay, so that no other file gets the identity of one that they have open, and
/// that begin each transaction outside of any other.
///
/// Where a disk is full or fails, `SQLite` rolls a transaction back by itself. The rollback that
/// follows then fails, and the driver goes on counting a transaction that is not there: on such a
/// connection nothing could ever be begun again. It is closed, which ends whatever may be open on
/// it, and another one is opened.
fn connections(limit: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(limit)
        .idle_timeout(None)
        .max_lifetime(None)
        .before_acquire(|connection, _| {
            let ended = !connection.is_in_transaction();
            Box::pin(async move { Ok(ended) })
        })
}

/// Finds a file that is gone, empty, or does not end with a page. `SQLite` makes a new database of
/// an empty file, and fills a page that is cut short with zeros.
fn check_length(path: &Path) -> Result<(), String> {
    let gone = |error: io::Error| format!("a store was made here and is gone ({error})");
    let mut file = open_regular(path).map_err(gone)?;
    let length = file.metadata().map_err(gone)?.len();
    if length == 0 {
        return Err("a store was made here and the file is empty".to_owned());
    }
    // Of SQLite's file header: 16 bytes of magic, then the page size, where 1 stands for 65536.
    let mut header = [0; 18];
    file.read_exact(&mut header).map_err(|_| "it ends within its header".to_owned())?;
    let page = match u64::from(u16::from_be_bytes([header[16], header[17]])) {
        1 => 65_536,
        size => size,
    };
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    // With a log beside it the last page may be one that a crash left half written, and that the
    // log still has.
    let whole = std::fs::metadata(wal).is_ok_and(|wal| wal.len() > 0)
        || length.checked_rem(page).is_none_or(|rest| rest == 0);
    if whole { Ok(()) } else { Err(format!("its last page is cut short at {length} bytes")) }
}

/// The store's ID: the one it has, or a new one in a new store.
async fn identify(writer: &SqlitePool, known: Option<&EdgeId>) -> Result<EdgeId, StoreError> {
    let mut tx = writer.begin_with("BEGIN IMMEDIATE").await?;
    let stored: Option<String> = sqlx::query_scalar("SELECT value FROM meta WHERE name = 'edge'")
        .fetch_optional(&mut *tx)
        .await?;
    let edge = match (stored, known) {
        (Some(stored), Some(known)) if stored != known.as_str() => {
            return Err(StoreError::Row(format!(
                "it is the store of edge {}, and this folder had that of {known}",
                oz0_listing::escape::line(&stored)
            )));
        }
        (Some(stored), _) => super::parse(&stored)?,
        (None, Some(known)) => {
            return Err(StoreError::Row(format!(
                "it is new, and this folder had the store of {known}"
            )));
        }
        (None, None) => {
            let edge = EdgeId::from_random(random()?);
            sqlx::query("INSERT INTO meta (name, value) VALUES ('edge', $1)")
                .bind(edge.as_str())
                .execute(&mut *tx)
                .await?;
            edge
        }
    };
    tx.commit().await?;
    Ok(edge)
}

/// Tells a damaged file from a database that failed.
fn judge(path: &Path, error: sqlx::Error) -> StoreError {
    match super::result_code(&error) {
        Some(super::CORRUPT | super::NOT_A_DATABASE) => {
            StoreError::Damaged { path: path.to_owned(), what: error.to_string() }
        }
        _ => StoreError::from(error).at(path),
    }
}
