//! The data folder: who may read it, who owns it now, and what it remembers outside the database.
//!
//! A database alone cannot tell that it is gone: an empty file in its place is a new database, and a
//! new database trusts the first listing that it sees. So the folder remembers two things beside it.
//! `edge.id` says that a store was made here, and which one; `audit.head` says how far its audit log
//! had come. Over a database that several edges keep, `edge.id` is the edge's own ID and `store.id` that of the store,
//! and the log is the part of it that this edge wrote. A store that is missing, empty, another one, or older than it was, is then an error
//! that a person has to look at.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use oz0_api::EdgeId;

use super::StoreError;
use crate::place::StoreAt;
use crate::small;

const EDGE_ID: &str = "edge.id";
const STORE_ID: &str = "store.id";

/// The folder, locked for one edge as long as this lives.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    /// The place in the audit log that is remembered: writes end in the order of their commits, and
    /// come here in any.
    head: Mutex<i64>,
    _lock: File,
}

impl Folder {
    /// Opens or makes the folder, closes it to everyone else, and locks it.
    pub(crate) fn open(root: &Path) -> Result<Self, StoreError> {
        let failed = |operation, path: &Path| {
            let path = path.to_owned();
            move |source| StoreError::Folder { operation, path, source }
        };
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt as _;
            builder.mode(0o700);
        }
        builder.create(root).map_err(failed("make", root))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(root, fs::Permissions::from_mode(0o700))
                .map_err(failed("close to others", root))?;
        }
        let path = root.join("edge.lock");
        let lock =
            private().create(true).truncate(false).open(&path).map_err(failed("open", &path))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { root: root.to_owned(), head: Mutex::new(0), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse { folder: root.to_owned() }),
            Err(TryLockError::Error(source)) => Err(failed("lock", &path)(source)),
        }
    }

    /// How files are opened that only their owner reads.
    pub(crate) fn private() -> OpenOptions {
        private()
    }

    /// Where the database is.
    pub(crate) fn database(&self) -> PathBuf {
        self.root.join("edge.db")
    }

    /// Says so where its disk has less room than that, in bytes.
    pub(crate) fn has_room(&self, bytes: u64) -> Result<(), StoreError> {
        // Where the system does not say, the next write does.
        #[cfg(unix)]
        if let Ok(disk) = rustix::fs::statvfs(&self.root)
            && disk.f_bavail.saturating_mul(disk.f_frsize) < bytes
        {
            return Err(StoreError::Full { place: Some(self.database()) });
        }
        Ok(())
    }

    /// The folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Makes an empty file for the database that only its owner reads; `SQLite` gives its other files
    /// the same mode.
    pub(crate) fn make_database(&self) -> Result<(), StoreError> {
        let path = self.database();
        private()
            .create(true)
            .truncate(false)
            .open(&path)
            .map(drop)
            .map_err(|source| StoreError::Folder { operation: "make", path, source })
    }

    /// The database and its log as they are now. `SQLite` keeps both for as long as anybody has the
    /// database open.
    pub(crate) fn files(&self) -> Result<Files, StoreError> {
        let database = self.database();
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        let known = |path: PathBuf| match identity(&path) {
            Ok(identity) => Ok((path, identity)),
            Err(source) => Err(StoreError::Folder { operation: "look at", path, source }),
        };
        Ok(Files([known(database)?, known(log.into())?]))
    }

    /// The ID of the edge whose folder this is; none in a new folder.
    pub(crate) fn edge_id(&self) -> Result<Option<EdgeId>, StoreError> {
        self.id(EDGE_ID)
    }

    /// The ID of the store that is kept from here; none in a new folder.
    pub(crate) fn store_id(&self, at: &StoreAt) -> Result<Option<EdgeId>, StoreError> {
        self.id(match at {
            StoreAt::Folder => EDGE_ID,
            StoreAt::Postgres(_) => STORE_ID,
        })
    }

    fn id(&self, name: &str) -> Result<Option<EdgeId>, StoreError> {
        let path = self.root.join(name);
        match small::read_small(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).trim().parse().map(Some).map_err(|_| {
                StoreError::Damaged { path, what: "it does not hold the ID of an edge".to_owned() }
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StoreError::Folder { operation: "read", path, source }),
        }
    }

    /// Finds a folder whose edge keeps its store elsewhere: what it was to refuse is not known there.
    pub(crate) fn is_for(&self, at: &StoreAt) -> Result<(), StoreError> {
        const FILE: &str = "the folder";
        const SERVER: &str = "PostgreSQL";
        let (kept, asked) = match (at, self.id(EDGE_ID)?, self.id(STORE_ID)?) {
            (StoreAt::Folder, _, Some(_)) => (SERVER, FILE),
            (StoreAt::Postgres(_), Some(_), None) => (FILE, SERVER),
            _ => return Ok(()),
        };
        Err(StoreError::OtherStore { folder: self.root.clone(), kept, asked })
    }

    /// Remembers that this edge keeps that store from here.
    pub(crate) fn remember(
        &self,
        at: &StoreAt,
        store: &EdgeId,
        edge: &EdgeId,
    ) -> Result<(), StoreError> {
        // The store's first: an edge's alone would be that of a file.
        if let StoreAt::Postgres(_) = at {
            self.replace(STORE_ID, &format!("{store}\n"), true)?;
        }
        self.replace(EDGE_ID, &format!("{edge}\n"), true)
    }

    /// How far the audit log had come: its last known place and hash.
    pub(crate) fn head(&self) -> Option<(i64, String)> {
        let bytes = small::read_small(&self.root.join("audit.head")).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let (seq, hash) = text.trim().split_once(' ')?;
        Some((seq.parse().ok()?, hash.to_owned()))
    }

    /// Remembers how far the audit log has come. Not synced, and no error when it fails: the
    /// database holds what was acknowledged, and a head that is behind is one that the log must
    /// contain all the same.
    pub(crate) fn remember_head(&self, seq: i64, hash: &str) {
        let mut head = self.head.lock().unwrap_or_else(PoisonError::into_inner);
        if seq > *head && self.replace("audit.head", &format!("{seq} {hash}\n"), false).is_ok() {
            *head = seq;
        }
    }

    /// Writes a secret that only its owner reads.
    pub(crate) fn write_secret(&self, name: &str, text: &str) -> Result<(), StoreError> {
        self.replace(name, text, true)
    }

    fn replace(&self, name: &str, text: &str, sync: bool) -> Result<(), StoreError> {
        let path = self.root.join(name);
        let temporary = self.root.join(format!(".{name}.new"));
        let write = || -> io::Result<()> {
            // A file of that name that somebody else made would keep its mode.
            match fs::remove_file(&temporary) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = private().create_new(true).open(&temporary)?;
            file.write_all(text.as_bytes())?;
            if sync {
                file.sync_all()?;
            }
            fs::rename(&temporary, &path)?;
            if sync {
                File::open(&self.root)?.sync_all()?;
            }
            Ok(())
        };
        write().map_err(|source| StoreError::Folder {
            operation: "write",
            path: path.clone(),
            source,
        })
    }
}

/// The files that a database is in, as they were when it was opened.
///
/// Whoever has a file open writes to it also when its name is gone, or stands for another file: the
/// writes do well, and are lost with the process.
#[derive(Debug)]
pub(crate) struct Files([(PathBuf, Identity); 2]);

impl Files {
    /// Finds a file that was deleted, or has another one in its place. No other file has its
    /// identity while it is open.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        for (path, identity) in &self.0 {
            let what = match self::identity(path) {
                Ok(found) if found == *identity => continue,
                Ok(_) => "another file is in its place".to_owned(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => "it is gone".to_owned(),
                Err(error) => format!("it cannot be looked at ({error})"),
            };
            return Err(StoreError::Replaced { path: path.clone(), what });
        }
        Ok(())
    }
}

/// A file's device and number.
#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = ();

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> io::Result<Identity> {
    fs::metadata(path).map(drop)
}

/// How files are opened that only their owner reads.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}
