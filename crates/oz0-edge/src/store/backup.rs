//! A store in one file, and a store out of it.
//!
//! A backup is a tar of plain rows and of bundles, and says nothing of the database that they came from: it is restored into
//! either kind. It is read in one view of the store, so an edge may go on writing meanwhile. Its last file has the hash of
//! everything before it, and without that nothing is restored.
//!
//! Rows are put into a schema of the same step that they came from, and then brought to the newest, as the store itself would
//! have been.

mod archive;
mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use oz0_api::audit::AuditSubject;
use oz0_api::token::{CreateToken, TokenKind};
use oz0_api::{EdgeId, UnixMillis};
use oz0_listing::Digest;
use serde::{Deserialize, Serialize};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

use self::archive::{Reader, Writer};
use super::db::{Conn, Db, query, query_scalar};
use super::error::judge;
use super::folder::Folder;
use super::open::{Database, SEALED_WITH, Steps};
use super::{Act, Actor, Store, StoreError, now, parse, postgres};
use crate::bundles::Bundles;
use crate::place::StoreAt;
use crate::seal::SealKey;

/// The first file of a backup.
const ABOUT: &str = "backup.json";
const FORMAT: &str = "oz0.edge-backup.v1";

/// What only edges that run have to do with.
const NOT_KEPT: &[&str] = &["edges", "_sqlx_migrations"];

/// What a backup says of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct About {
    format: String,
    /// The oz0 that made it.
    oz0: String,
    /// The store that it is of.
    store: EdgeId,
    made_at: UnixMillis,
    /// The steps of its schema.
    steps: Vec<i64>,
}

/// A backup that was made, or restored.
#[derive(Debug, Clone)]
pub struct Backup {
    /// The store that it is of.
    pub store: EdgeId,
    /// When it was made.
    pub made_at: UnixMillis,
    /// The rows in it, by their table.
    pub rows: BTreeMap<String, u64>,
    /// The bundles in it.
    pub bundles: usize,
    /// Bundles that versions are known by and that were not where bundles are kept.
    pub missing: Vec<Digest>,
}

/// What became of a store's schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    /// The steps that it had come through; none of a store that was made now.
    pub before: Vec<i64>,
    /// The steps that it has come through.
    pub after: Vec<i64>,
}

/// Brings a store's schema to the newest.
pub(crate) async fn migrate(root: &Path, at: &StoreAt) -> Result<Migration, StoreError> {
    let database = Database::open(root, at, Steps::None).await?;
    let before = database.step().await?;
    database.migrate(Steps::All).await?;
    let after = database.step().await?;
    database.db.close().await;
    Ok(Migration { before, after })
}

/// Opens a database to read it, beside the edge that may run on it.
async fn open_beside(root: &Path, at: &StoreAt) -> Result<(Db, PathBuf), StoreError> {
    match at {
        StoreAt::Folder => {
            let path = root.join("edge.db");
            let options = SqliteConnectOptions::new()
                .filename(&path)
                .create_if_missing(false)
                .busy_timeout(Duration::from_secs(10))
                .read_only(true);
            let pool = SqlitePoolOptions::new().max_connections(1);
            if !path.exists() {
                let source = std::io::ErrorKind::NotFound.into();
                return Err(StoreError::Folder { operation: "open", path, source });
            }
            let readers = pool.connect_with(options).await.map_err(|error| judge(&path, error))?;
            let problems: Vec<String> = sqlx::query_scalar("PRAGMA quick_check")
                .fetch_all(&readers)
                .await
                .map_err(|error| judge(&path, error))?;
            if problems != ["ok"] {
                return Err(StoreError::Damaged { path, what: problems.join("; ") });
            }
            Ok((Db::Sqlite { writer: readers.clone(), readers }, path))
        }
        StoreAt::Postgres(address) => {
            let path = PathBuf::from(address.to_string());
            let db = postgres::connect(address).await.map_err(|error| judge(&path, error))?;
            Ok((db, path))
        }
    }
}

/// Writes a backup into a new file.
pub(crate) async fn back_up(
    root: &Path,
    at: &StoreAt,
    bundles: &Bundles,
    file: &Path,
) -> Result<Backup, StoreError> {
    let (db, path) = open_beside(root, at).await?;
    let mut writer = Writer::create(file)?;
    let mut conn = db.read().await.map_err(|error| judge(&path, error))?;
    let made = write(&mut conn, &path, bundles, &mut writer).await;
    drop(conn);
    db.close().await;
    let backup = made?;
    writer.finish()?;
    Ok(backup)
}

async fn write(
    conn: &mut Conn,
    path: &Path,
    bundles: &Bundles,
    writer: &mut Writer,
) -> Result<Backup, StoreError> {
    let failed = |error| judge(path, error);
    let tables = rows::tables(conn).await.map_err(failed)?;
    if !tables.contains_key("meta") {
        let what = "it holds no store".to_owned();
        return Err(StoreError::Damaged { path: path.to_owned(), what });
    }
    let store: String = query_scalar("SELECT value FROM meta WHERE name = 'edge'")
        .fetch_one(conn)
        .await
        .map_err(failed)?;
    let about = About {
        format: FORMAT.to_owned(),
        oz0: env!("CARGO_PKG_VERSION").to_owned(),
        store: parse(&store)?,
        made_at: now(),
        steps: query_scalar("SELECT version FROM _sqlx_migrations ORDER BY version")
            .fetch_all(conn)
            .await
            .map_err(failed)?,
    };
    writer.file(ABOUT, super::to_json(&about)?.as_bytes())?;
    let mut backup = Backup {
        store: about.store,
        made_at: about.made_at,
        rows: BTreeMap::new(),
        bundles: 0,
        missing: Vec::new(),
    };
    for (table, columns) in tables {
        if NOT_KEPT.contains(&table.as_str()) {
            continue;
        }
        let mut spool = writer.spool()?;
        let count = rows::dump(conn, &table, &columns, &mut spool).await?;
        writer.spooled(&format!("tables/{table}.jsonl"), spool)?;
        backup.rows.insert(table, count);
    }
    let digests: Vec<String> = query_scalar("SELECT digest FROM versions WHERE dev = 0")
        .fetch_all(conn)
        .await
        .map_err(failed)?;
    let digests: Vec<Digest> =
        digests.iter().map(|digest| parse(digest)).collect::<Result<_, _>>()?;
    for digest in digests.into_iter().collect::<BTreeSet<_>>() {
        match bundles.whole(&digest).await {
            Ok(bytes) => {
                writer.file(&format!("bundles/{}", crate::bundles::file_name(&digest)), &bytes)?;
                backup.bundles += 1;
            }
            Err(problem) if problem.code == oz0_api::Code::NotFound => backup.missing.push(digest),
            Err(problem) => {
                return Err(StoreError::Bundles {
                    operation: "read",
                    place: bundles.to_string(),
                    what: problem.message,
                });
            }
        }
    }
    Ok(backup)
}

/// Brings a backup into a store that is not there yet.
pub(crate) async fn restore(
    root: &Path,
    at: &StoreAt,
    key: Option<&SealKey>,
    bundles: &Bundles,
    file: &Path,
) -> Result<Backup, StoreError> {
    let about = check(file)?;
    let no = |what: String| StoreError::Backup { path: file.to_owned(), what };
    let known = Database::steps();
    if let Some(step) = about.steps.iter().find(|step| !known.contains(step)) {
        return Err(StoreError::Newer {
            path: file.to_owned(),
            what: format!("its schema has step {step}"),
        });
    }
    let last = *about.steps.last().ok_or_else(|| no("it has no schema".to_owned()))?;
    let database = Database::open(root, at, Steps::None).await?;
    let restored = async {
        is_empty(&database, at).await?;
        let kept = put_bundles(file, bundles).await?;
        database.migrate(Steps::To(last)).await?;
        let rows = put_rows(&database, file).await?;
        database.migrate(Steps::All).await?;
        Ok((rows, kept))
    };
    let restored: Result<_, StoreError> = restored.await;
    database.db.close().await;
    drop(database);
    let (rows, kept) = restored?;
    let store = Store::open(root, at, Duration::ZERO, key).await?;
    let told = async {
        store.tell_restored(&about).await?;
        store.known_digests().await
    };
    let known = told.await;
    store.close().await;
    Ok(Backup {
        store: about.store,
        made_at: about.made_at,
        rows,
        bundles: kept.len(),
        missing: known?.difference(&kept).copied().collect(),
    })
}

/// Reads a backup through, to its hash.
fn check(file: &Path) -> Result<About, StoreError> {
    let no = |what: &str| StoreError::Backup { path: file.to_owned(), what: what.to_owned() };
    let mut reader = Reader::open(file)?;
    let about = reader.read_all(|name, _| Ok(name == ABOUT))?;
    let about: About = about
        .and_then(|about| serde_json::from_slice(&about).ok())
        .ok_or_else(|| no("it is no backup of an edge"))?;
    if about.format != FORMAT {
        return Err(no("it is of a format that this oz0 does not know"));
    }
    Ok(about)
}

/// That nothing is where the backup goes.
async fn is_empty(database: &Database, at: &StoreAt) -> Result<(), StoreError> {
    let Database { db, folder, path } = database;
    let full = |place: &Path| StoreError::NotEmpty { place: place.display().to_string() };
    if folder.edge_id()?.is_some() || folder.store_id(at)?.is_some() {
        return Err(full(folder.root()));
    }
    let failed = |error| judge(path, error);
    let mut conn = db.read().await.map_err(failed)?;
    if !rows::tables(&mut conn).await.map_err(failed)?.contains_key("meta") {
        return Ok(());
    }
    let rows: i64 = query_scalar("SELECT COUNT(*) FROM meta WHERE name = 'edge'")
        .fetch_one(&mut conn)
        .await
        .map_err(failed)?;
    if rows > 0 { Err(full(path)) } else { Ok(()) }
}

/// Keeps each bundle of a backup, and says which they are.
async fn put_bundles(file: &Path, bundles: &Bundles) -> Result<BTreeSet<Digest>, StoreError> {
    let mut names = Vec::new();
    let mut reader = Reader::open(file)?;
    reader.read_all(|name, _| {
        names.extend(name.strip_prefix("bundles/").map(str::to_owned));
        Ok(false)
    })?;
    let mut kept = BTreeSet::new();
    for name in names {
        let no = |what: String| StoreError::Backup { path: file.to_owned(), what };
        let digest: Digest = name
            .strip_suffix(".oz0")
            .and_then(|hex| format!("sha256:{hex}").parse().ok())
            .ok_or_else(|| no("it holds a bundle without a digest".to_owned()))?;
        let wanted = format!("bundles/{name}");
        let bytes = Reader::open(file)?.read_all(|found, _| Ok(found == wanted))?;
        let bytes = bytes.ok_or_else(|| no(format!("{wanted} is gone from it")))?;
        bundles.keep(&digest, bytes.into()).await.map_err(|problem| StoreError::Bundles {
            operation: "keep",
            place: bundles.to_string(),
            what: problem.message,
        })?;
        kept.insert(digest);
    }
    Ok(kept)
}

/// Puts the rows of a backup in place of those that the schema begins with, all or none.
async fn put_rows(database: &Database, file: &Path) -> Result<BTreeMap<String, u64>, StoreError> {
    let failed = |error| judge(&database.path, error);
    let mut conn = database.db.write().await.map_err(failed)?;
    let tables = rows::tables(&mut conn).await.map_err(failed)?;
    for table in tables.keys().filter(|table| !NOT_KEPT.contains(&table.as_str())) {
        // The log has no row, and lets none go.
        if table != "audit" {
            query(format!("DELETE FROM {table}")).execute(&mut conn).await.map_err(failed)?;
        }
    }
    let mut counts = BTreeMap::new();
    let mut reader = Reader::open(file)?;
    let mut entries = reader.entries()?;
    while let Some(mut entry) = entries.next()? {
        let name = entry.name().to_owned();
        let Some(table) = name.strip_prefix("tables/").and_then(|name| name.strip_suffix(".jsonl"))
        else {
            continue;
        };
        let no = |what: String| StoreError::Backup { path: file.to_owned(), what };
        let columns = tables
            .get(table)
            .filter(|_| !NOT_KEPT.contains(&table))
            .ok_or_else(|| no(format!("this oz0 has no table for its {name}")))?;
        let count = rows::load(&mut conn, table, columns, &mut entry, &database.path)
            .await
            .map_err(|error| match error {
                StoreError::Row(what) => no(format!("{name}: {what}")),
                error => error,
            })?;
        counts.insert(table.to_owned(), count);
    }
    // No backup has the key, and the one that is restored with is told there anew.
    query("DELETE FROM meta WHERE name = $1")
        .bind(SEALED_WITH)
        .execute(&mut conn)
        .await
        .map_err(failed)?;
    conn.commit().await.map_err(failed)?;
    Ok(counts)
}

impl Store {
    /// Writes down that this store was restored, closes the calls that waited when the backup was made, and writes an admin
    /// token into the folder: the one that is in the backup is there as a hash.
    async fn tell_restored(&self, about: &About) -> Result<(), StoreError> {
        let mut write = self.write(&Actor::Edge).await?;
        query("UPDATE approvals SET state = 'lost', arguments = '' WHERE state IN ('pending', 'approved')")
            .execute(write.conn())
            .await?;
        let detail = BTreeMap::from([
            ("store".to_owned(), about.store.to_string()),
            ("made_at".to_owned(), about.made_at.0.to_string()),
        ]);
        let subject = AuditSubject { detail, ..AuditSubject::default() };
        write.audit(Act { action: "edge.restore", subject }).await?;
        write.commit().await?;
        let create =
            CreateToken { kind: TokenKind::Admin, name: parse("admin")?, may_approve: false };
        let created = self.reissue_token(&Actor::Edge, &create).await?;
        self.folder.write_secret(super::open::ADMIN_TOKEN, &format!("{}\n", created.secret))
    }
}

/// Opens a file that is there.
fn open_file(path: &Path) -> Result<File, StoreError> {
    crate::small::open_regular(path).map_err(|source| StoreError::Folder {
        operation: "open",
        path: path.to_owned(),
        source,
    })
}

/// Closed to others, whoever's folder it stands in.
fn private(path: &Path) -> std::io::Result<File> {
    Folder::private().create_new(true).open(path)
}
