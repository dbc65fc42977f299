//! Opening the store: the checks that stand between a file, or a database, and trust in it.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use oz0_api::EdgeId;
use sqlx::Connection as _;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use tokio::sync::watch;

use super::db::{Conn, Db, query, query_scalar};
use super::error::judge;
use super::folder::Folder;
use super::poll::Pulse;
use super::together::Together;
use super::{Actor, Store, StoreError, audit, postgres, random, tokens};
use crate::metrics::Metrics;
use crate::place::StoreAt;
use crate::seal::{Seal, SealError, SealKey};
use crate::small::{open_regular, read_small};

/// Connections that read.
const READERS: u32 = 4;

/// The file that holds the first admin token.
pub(super) const ADMIN_TOKEN: &str = "admin.token";

/// The file that holds the key which secrets are sealed with.
const SEAL_KEY: &str = "seal.key";

/// What the store says of the key that every edge over one database seals with: its fingerprint.
pub(super) const SEALED_WITH: &str = "seal";

/// The steps of the schema, by the same numbers for both databases.
static SQLITE: Migrator = sqlx::migrate!("migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("migrations/postgres");

/// A database that is open, of the newest schema, and not yet anybody's.
pub(super) struct Database {
    pub(super) db: Db,
    pub(super) folder: Folder,
    /// Where it is: its file, or its address without the password.
    pub(super) path: PathBuf,
}

/// How far to bring the schema.
#[derive(Clone, Copy)]
pub(super) enum Steps {
    All,
    To(i64),
    None,
}

impl Database {
    /// Opens the database of a data folder, which is locked from now on, and brings its schema so far.
    pub(super) async fn open(root: &Path, at: &StoreAt, steps: Steps) -> Result<Self, StoreError> {
        let folder = Folder::open(root)?;
        folder.is_for(at)?;
        let (path, db) = match at {
            StoreAt::Folder => {
                let path = folder.database();
                let db = sqlite(&folder, &path).await?;
                (path, db)
            }
            StoreAt::Postgres(address) => {
                let path = PathBuf::from(address.to_string());
                let db = postgres::connect(address).await.map_err(|error| judge(&path, error))?;
                (path, db)
            }
        };
        let database = Self { db, folder, path };
        database.migrate(steps).await?;
        Ok(database)
    }

    /// Brings the schema so far. What is there already is left alone.
    pub(super) async fn migrate(&self, steps: Steps) -> Result<(), StoreError> {
        let ran = match (&self.db, steps) {
            (_, Steps::None) => Ok(()),
            (Db::Sqlite { writer, .. }, Steps::All) => SQLITE.run(writer).await,
            (Db::Sqlite { writer, .. }, Steps::To(step)) => SQLITE.run_to(step, writer).await,
            (Db::Postgres { writer, .. }, Steps::All) => POSTGRES.run(writer).await,
            (Db::Postgres { writer, .. }, Steps::To(step)) => POSTGRES.run_to(step, writer).await,
        };
        ran.map_err(|error| match error {
            MigrateError::VersionMissing(version) => StoreError::Newer {
                path: self.path.clone(),
                what: format!("its schema has step {version}"),
            },
            MigrateError::Execute(error) => judge(&self.path, error),
            other => StoreError::Damaged { path: self.path.clone(), what: other.to_string() },
        })
    }

    /// The steps that this oz0 knows.
    pub(super) fn steps() -> Vec<i64> {
        SQLITE.iter().map(|step| step.version).collect()
    }

    /// The steps that the schema has come through; none where there is no store.
    pub(super) async fn step(&self) -> Result<Vec<i64>, StoreError> {
        let there = match self.db {
            Db::Sqlite { .. } => {
                "SELECT COUNT(*) FROM sqlite_master WHERE name = '_sqlx_migrations'"
            }
            Db::Postgres { .. } => {
                "SELECT COUNT(*) FROM pg_tables
                 WHERE schemaname = current_schema() AND tablename = '_sqlx_migrations'"
            }
        };
        let read = async {
            let mut conn = self.db.read().await?;
            if query_scalar::<i64>(there).fetch_one(&mut conn).await? == 0 {
                return Ok(Vec::new());
            }
            query_scalar("SELECT version FROM _sqlx_migrations ORDER BY version")
                .fetch_all(&mut conn)
                .await
        };
        read.await.map_err(|error| judge(&self.path, error))
    }

    fn damaged(&self, what: String) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what }
    }

    /// Who keeps this store: the store's ID and the edge's, which in a file are one.
    async fn identify(&self, at: &StoreAt) -> Result<(EdgeId, EdgeId), StoreError> {
        let known = self.folder.store_id(at)?;
        let mut tx = self.db.write().await.map_err(|error| judge(&self.path, error))?;
        let store = identify(&mut tx, known.as_ref()).await.map_err(|error| match error {
            StoreError::Database(error) => judge(&self.path, error),
            StoreError::Row(what) => self.damaged(what),
            other => other,
        })?;
        tx.commit().await.map_err(|error| judge(&self.path, error))?;
        let edge = match at {
            StoreAt::Folder => store.clone(),
            StoreAt::Postgres(_) => match self.folder.edge_id()? {
                Some(edge) => edge,
                None => EdgeId::from_random(random()?),
            },
        };
        self.folder.remember(at, &store, &edge)?;
        Ok((store, edge))
    }

    /// What secrets are sealed with: the key that is given, or the one in the folder. One is made where nothing was sealed yet;
    /// where something was, or other edges over the database have theirs, another key would open none of it.
    async fn seal(&self, at: &StoreAt, given: Option<&SealKey>) -> Result<Seal, StoreError> {
        let file = self.folder.root().join(SEAL_KEY);
        let kept = match given {
            Some(key) => Some(key.clone()),
            None => match read_small(&file) {
                Ok(bytes) => {
                    let bytes = zeroize::Zeroizing::new(bytes);
                    let key = std::str::from_utf8(&bytes).ok().and_then(|text| text.parse().ok());
                    let Some(key) = key else { return Ok(Seal::None(SealError::NoKey(file))) };
                    Some(key)
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(source) => {
                    return Err(StoreError::Folder { operation: "read", path: file, source });
                }
            },
        };
        let shared = matches!(at, StoreAt::Postgres(_));
        if let (Some(key), false) = (&kept, shared) {
            return Ok(Seal::with(key));
        }
        let mut tx = self.db.write().await?;
        let theirs: Option<String> = query_scalar("SELECT value FROM meta WHERE name = $1")
            .bind(SEALED_WITH)
            .fetch_optional(&mut tx)
            .await?;
        let theirs = theirs.filter(|_| shared);
        let key = match kept {
            Some(key) => key,
            None => {
                let sealed: i64 = query_scalar(
                    "SELECT (SELECT COUNT(*) FROM secrets) + (SELECT COUNT(*) FROM connections)",
                )
                .fetch_one(&mut tx)
                .await?;
                if theirs.is_some() || sealed > 0 {
                    return Ok(Seal::None(SealError::Absent(file)));
                }
                let key = SealKey::from_random(random()?);
                self.folder.write_secret(SEAL_KEY, &key.written())?;
                key
            }
        };
        let has = key.fingerprint();
        match theirs {
            Some(needs) if needs != has => {
                let needs = oz0_listing::escape::line_within(&needs, 20).into_owned();
                return Err(SealError::OthersKey { needs, has }.into());
            }
            None if shared => {
                query(
                    "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
                )
                .bind(SEALED_WITH)
                .bind(has)
                .execute(&mut tx)
                .await?;
                tx.commit().await?;
            }
            _ => {}
        }
        Ok(Seal::with(&key))
    }
}

/// Opens the file of a data folder, or makes one where there never was one.
async fn sqlite(folder: &Folder, path: &Path) -> Result<Db, StoreError> {
    let damaged = |what: String| StoreError::Damaged { path: path.to_owned(), what };
    if folder.edge_id()?.is_some() {
        check_length(path).map_err(damaged)?;
    }
    folder.make_database()?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(Duration::from_secs(10));
    let judge = |error: sqlx::Error| judge(path, error);
    let writer = connections(1).connect_with(options.clone()).await.map_err(judge)?;
    let problems: Vec<String> =
        sqlx::query_scalar("PRAGMA quick_check").fetch_all(&writer).await.map_err(judge)?;
    if problems != ["ok"] {
        return Err(damaged(problems.join("; ")));
    }
    let readers =
        connections(READERS).connect_with(options.read_only(true)).await.map_err(judge)?;
    Ok(Db::Sqlite { writer, readers })
}

impl Store {
    /// Opens the store of a data folder, or makes one where there never was one.
    pub(crate) async fn open(
        root: &Path,
        at: &StoreAt,
        live_for: Duration,
        key: Option<&SealKey>,
    ) -> Result<Self, StoreError> {
        let database = Database::open(root, at, Steps::All).await?;
        let (id, edge) = database.identify(at).await?;
        let seal = database.seal(at, key).await?;
        let Database { db, folder, path } = database;
        let (files, postgres) = match at {
            StoreAt::Folder => (Some(folder.files()?), None),
            StoreAt::Postgres(address) => (None, Some(address.clone())),
        };
        let store = Self {
            db,
            folder,
            files,
            path,
            postgres,
            replaced: OnceLock::new(),
            id,
            edge,
            seal,
            live_for,
            commits: watch::Sender::new(0),
            pulse: Pulse::default(),
            together: Together::default(),
            winding_down: watch::Sender::new(false),
            presence: Mutex::default(),
            asking: Mutex::default(),
            edges: Mutex::default(),
            away: watch::Sender::new(false),
            watchers: Mutex::default(),
            written: Mutex::default(),
            metrics: Metrics::new(),
            probed: tokio::sync::Mutex::default(),
        };
        store.check_head().await?;
        store.first_token().await?;
        store.lose_held_by(&store.edge).await?;
        if store.postgres.is_some() {
            store.count(true).await?;
        }
        Ok(store)
    }

    /// An older copy of the database knows nothing of what was accepted or refused since.
    async fn check_head(&self) -> Result<(), StoreError> {
        let Some((seq, hash)) = self.folder.head() else { return Ok(()) };
        let mut tx = self.read().await?;
        let found = audit::hash_of(&mut tx, &self.edge, seq).await?;
        if found.as_deref() == Some(hash.as_str()) {
            return Ok(());
        }
        Err(StoreError::Damaged {
            path: self.path.clone(),
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
        let tokens: i64 = query_scalar("SELECT COUNT(*) FROM tokens WHERE kind = 'admin'")
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
async fn identify(tx: &mut Conn, known: Option<&EdgeId>) -> Result<EdgeId, StoreError> {
    let stored: Option<String> =
        query_scalar("SELECT value FROM meta WHERE name = 'edge'").fetch_optional(tx).await?;
    Ok(match (stored, known) {
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
            let id = EdgeId::from_random(random()?);
            query("INSERT INTO meta (name, value) VALUES ('edge', $1)")
                .bind(id.as_str())
                .execute(tx)
                .await?;
            id
        }
    })
}
