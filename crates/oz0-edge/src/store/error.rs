//! Why the store could not do something, or did not.

use std::path::{Path, PathBuf};

use oz0_api::Problem;
use sqlx::postgres::PgDatabaseError;

use crate::seal::SealError;

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
    /// The folder's edge keeps its store elsewhere than where it is asked to.
    #[error("the edge of {} keeps its store in {kept}, and not in {asked}", folder.display())]
    OtherStore {
        /// The folder.
        folder: PathBuf,
        /// Where.
        kept: &'static str,
        /// Where it was to be.
        asked: &'static str,
    },
    /// The store is not what it was when it was last written. Nothing in it is trusted.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file, or the database's address without its password.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The store is not the one that this edge opened. The edge is out of service for good.
    #[error(
        "the edge is out of service: {} was deleted or replaced while it ran ({what}), and nothing \
         is acknowledged any more",
        path.display()
    )]
    Replaced {
        /// The file, or the database's address without its password.
        path: PathBuf,
        /// What is there now.
        what: String,
    },
    /// A newer oz0 wrote it.
    #[error("{} was written by a newer oz0: {what}", path.display())]
    Newer {
        /// The file, or the database's address without its password.
        path: PathBuf,
        /// What this one does not know.
        what: String,
    },
    /// A row that no edge writes.
    #[error("the store holds something that no edge writes: {0}")]
    Row(String),
    /// The database is not there now. It may be again.
    #[error("the database does not answer: {what}")]
    Unreachable {
        /// What was met instead.
        what: String,
    },
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
    /// Where bundles are kept.
    #[error("could not {operation} the bundles in {place}: {what}")]
    Bundles {
        /// What was tried.
        operation: &'static str,
        /// Where they are.
        place: String,
        /// Why it failed.
        what: String,
    },
    /// A backup that cannot be restored, or not here.
    #[error("{} cannot be restored: {what}", path.display())]
    Backup {
        /// The backup.
        path: PathBuf,
        /// Why not.
        what: String,
    },
    /// Something is where a backup is to be restored.
    #[error("{place} holds a store already, and a backup is restored into an empty one")]
    NotEmpty {
        /// The folder, or the database's address without its password.
        place: String,
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
            Self::OtherStore { .. } => Some(
                "give `--store` as it was given before, or another `--data DIR`; `oz0 edge backup` and \
                 `oz0 edge restore` take a store from one place to another",
            ),
            Self::Damaged { .. } | Self::Row(_) => Some(
                "restore the folder from a backup; to begin anew, with every tool to be looked at \
                 again, use another `--data DIR`",
            ),
            Self::Replaced { .. } => {
                Some("stop the edge, restore its data folder from a backup, and start it again")
            }
            Self::Unreachable { .. } => Some(
                "see that the database runs and is reached from here; the edge needs no restart",
            ),
            Self::Full { .. } => Some("make room on that disk; the edge needs no restart"),
            Self::Seal(SealError::OthersKey { .. }) => Some(
                "give this edge the key of the other edges over that database (`seal.key`, `OZ0_SEAL_KEY`)",
            ),
            Self::Seal(_) => Some(
                "give the edge the key that it had (`seal.key`, `OZ0_SEAL_KEY`), or unset what was sealed with it and set \
                 it anew",
            ),
            Self::Newer { .. } => Some("use that version of oz0 or a later one"),
            Self::Bundles { .. } => Some(
                "check `--bundles`, and for a bucket the credentials and region in the environment",
            ),
            Self::Backup { .. } => Some("make another one with: oz0 edge backup FILE"),
            Self::NotEmpty { .. } => {
                Some("give another `--data DIR`, or another database with `--store`")
            }
            Self::Database(_) | Self::Random(_) => None,
        }
    }

    /// Whether nothing that the edge said before counts any more. While its database is merely away, nodes go on by that.
    pub(crate) fn ends_service(&self) -> bool {
        matches!(self, Self::Replaced { .. })
    }

    /// The same, of this file or database.
    pub(super) fn at(self, path: &Path) -> Self {
        match self {
            Self::Full { .. } => Self::Full { place: Some(path.to_owned()) },
            other => other,
        }
    }
}

/// `SQLite`'s primary result codes.
const CORRUPT: u32 = 11;
const FULL: u32 = 13;
const NOT_A_DATABASE: u32 = 26;

/// What kind of failure it is, as either database tells it.
enum Kind {
    Corrupt,
    Full,
    Unreachable,
    Other,
}

fn kind(error: &sqlx::Error) -> Kind {
    let database = match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        // What is read of a server that ended in the middle.
        | sqlx::Error::Protocol(_) => return Kind::Unreachable,
        sqlx::Error::Database(database) => database,
        _ => return Kind::Other,
    };
    let code = database.code().unwrap_or_default();
    if database.try_downcast_ref::<PgDatabaseError>().is_some() {
        return match &*code {
            // disk_full
            "53100" => Kind::Full,
            // data_corrupted, index_corrupted
            "XX001" | "XX002" => Kind::Corrupt,
            // too_many_connections; a server that ends, or begins; a standby, which may not be written to; a write that did
            // not come to its turn, or took too long between two statements
            "53300" | "57P01" | "57P02" | "57P03" | "25006" | "55P03" | "25P03" => {
                Kind::Unreachable
            }
            // connection_exception
            code if code.starts_with("08") => Kind::Unreachable,
            _ => Kind::Other,
        };
    }
    // The primary result code; extended ones keep it in the low byte.
    match code.parse::<u32>().map(|code| code & 0xff) {
        Ok(CORRUPT | NOT_A_DATABASE) => Kind::Corrupt,
        Ok(FULL) => Kind::Full,
        _ => Kind::Other,
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match kind(&error) {
            Kind::Full => Self::Full { place: None },
            Kind::Unreachable => Self::Unreachable { what: error.to_string() },
            Kind::Corrupt | Kind::Other => Self::Database(error),
        }
    }
}

/// Tells a damaged store from a database that failed.
pub(super) fn judge(path: &Path, error: sqlx::Error) -> StoreError {
    match kind(&error) {
        Kind::Corrupt => StoreError::Damaged { path: path.to_owned(), what: error.to_string() },
        _ => StoreError::from(error).at(path),
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
