//! The data folder: where everything of one oz0 on this machine is.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use oz0_edge::SealKey;
use oz0_edge::small::{open_regular, read_small};

use crate::error::LocalError;

/// What `sun_path` holds, its terminating zero included.
const SOCKET_PATH: usize = 108;

/// The data folder, closed to every other user.
///
/// The edge keeps its store in it; each node has a folder below `nodes/`. Everything in it that is
/// secret is so because of the folder's mode and, where it holds a secret, because of its own.
#[derive(Debug, Clone)]
pub struct DataFolder {
    root: PathBuf,
    key: Option<SealKey>,
}

impl DataFolder {
    /// The folder at this path, whether or not it is there.
    pub fn at(root: &Path) -> Result<Self, LocalError> {
        let root = std::path::absolute(root).map_err(failed("find", root))?;
        Ok(Self { root, key: None })
    }

    /// The same folder, for an edge that seals secrets with this key instead of the one in the folder.
    #[must_use]
    pub fn sealed_with(self, key: SealKey) -> Self {
        Self { key: Some(key), ..self }
    }

    /// What an edge of this folder is given to seal secrets with.
    pub(crate) fn key(&self) -> Option<&SealKey> {
        self.key.as_ref()
    }

    /// Makes the folder where it is not there, and closes it to others.
    pub fn make(&self) -> Result<(), LocalError> {
        if self.socket().as_os_str().len() >= SOCKET_PATH {
            return Err(LocalError::SocketPath { path: self.socket() });
        }
        make_private(&self.root)
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The Unix socket on which the edge listens.
    pub fn socket(&self) -> PathBuf {
        self.root.join("oz0.sock")
    }

    /// The file with the first admin token.
    pub fn admin_token_file(&self) -> PathBuf {
        self.root.join("admin.token")
    }

    /// What the file with the first admin token holds; nothing where there is none.
    pub fn admin_token(&self) -> Result<Option<String>, LocalError> {
        read_secret(&self.admin_token_file())
    }

    pub(crate) fn nodes(&self) -> PathBuf {
        self.root.join("nodes")
    }

    /// Held by the process whose edge this is.
    pub(crate) fn seat_lock(&self) -> PathBuf {
        self.root.join("seat.lock")
    }

    /// Held by an `oz0 up` that waits for the edge.
    pub(crate) fn wanted_lock(&self) -> PathBuf {
        self.root.join("wanted.lock")
    }
}

pub(crate) fn failed(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LocalError {
    let path = path.to_owned();
    move |source| LocalError::Folder { operation, path, source }
}

pub(crate) fn make_private(path: &Path) -> Result<(), LocalError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed("make", path))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
        .map_err(failed("close to others", path))
}

/// Opens a file that is there for its lock.
pub(crate) fn open_lock(path: &Path) -> Result<File, LocalError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(failed("open", path))
}

/// The locked file; none where somebody else holds the lock.
pub(crate) fn try_lock(path: &Path) -> Result<Option<File>, LocalError> {
    let file = open_lock(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(failed("lock", path)(source)),
    }
}

/// Whether somebody else holds the lock. A lock that cannot be looked at counts as free.
pub(crate) fn is_locked(path: &Path) -> bool {
    open_regular(path)
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// A secret out of its file. Text that no header could carry is none.
pub(crate) fn read_secret(path: &Path) -> Result<Option<String>, LocalError> {
    match read_small(path) {
        Ok(bytes) => {
            let text = String::from_utf8(bytes).unwrap_or_default();
            let text = text.trim();
            let whole = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
            Ok(whole.then(|| text.to_owned()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(failed("read", path)(source)),
    }
}

/// Puts a file in the place of another, as a whole, readable by its owner alone.
pub(crate) fn write_secret(path: &Path, text: &str) -> Result<(), LocalError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let temporary = path.with_file_name(name);
    let write = || -> io::Result<()> {
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        if let Some(parent) = path.parent() {
            File::open(parent)?.sync_all()?;
        }
        Ok(())
    };
    write().map_err(failed("write", path))
}
