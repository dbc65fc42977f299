//! Folders in the cache that are built once and then only read.
//!
//! A folder is built beside its place and renamed into it, and its marker is written last, so a
//! folder with a marker is complete whatever happened. A file lock keeps two processes from
//! building the same one: the second waits and finds it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::error::EnvironmentError;

const MARKER: &str = ".oz0-ready";

/// Where folders are built, and for whom progress is said.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    folder: PathBuf,
}

impl Cache {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The complete folder of this name; `build` makes it, in an empty folder, where there is none.
    /// `waiting` is called where another process is at it.
    pub(crate) fn folder<E: From<EnvironmentError>>(
        &self,
        name: &str,
        waiting: impl FnOnce(),
        build: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        let place = self.folder.join(name);
        if is_ready(&place) {
            return Ok(place);
        }
        let io = |operation, path: &Path| {
            let path = path.to_owned();
            move |source| EnvironmentError::Cache { operation, path, source }
        };
        fs::create_dir_all(&self.folder).map_err(io("create", &self.folder))?;
        let lock_path = self.folder.join(format!("{name}.lock"));
        // Held until this file is closed, and given up by the kernel if this process dies.
        let lock = File::options()
            .create(true)
            .write(true)
            .truncate(false)
            .open(&lock_path)
            .map_err(io("open", &lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                waiting();
                lock.lock().map_err(io("lock", &lock_path))?;
            }
            Err(fs::TryLockError::Error(error)) => return Err(io("lock", &lock_path)(error).into()),
        }
        if is_ready(&place) {
            return Ok(place);
        }
        // What an interrupted process left: incomplete, whichever of the two it is.
        let partial = self.folder.join(format!("{name}.partial"));
        for path in [&place, &partial] {
            match fs::remove_dir_all(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(io("remove", path)(error).into());
                }
                _ => {}
            }
        }
        fs::create_dir(&partial).map_err(io("create", &partial))?;
        if let Err(error) = build(&partial) {
            let _ = fs::remove_dir_all(&partial);
            return Err(error);
        }
        fs::rename(&partial, &place).map_err(io("rename", &partial))?;
        let marker = place.join(MARKER);
        File::create(&marker).and_then(|file| file.sync_all()).map_err(io("write", &marker))?;
        Ok(place)
    }
}

fn is_ready(place: &Path) -> bool {
    place.join(MARKER).is_file()
}

/// Replaces a file in one step: whoever reads it sees the old text or the new.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".oz0-")
        .permissions(fs::Permissions::from_mode(0o644))
        .tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// A name for what these texts describe: 32 hex digits of a SHA-256 over them.
pub(crate) fn key<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(text);
    }
    hash.finalize().iter().take(16).fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// A build that another would see half done, had it not to wait.
    fn build(cache: &Cache, built: &AtomicU32) -> PathBuf {
        let slowly = |folder: &Path| -> Result<(), EnvironmentError> {
            fs::write(folder.join("half"), "").unwrap();
            std::thread::sleep(std::time::Duration::from_millis(50));
            fs::write(folder.join("whole"), "").unwrap();
            built.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        cache.folder("name", || (), slowly).unwrap()
    }

    #[test]
    fn eight_at_once_build_once_and_see_it_whole() {
        let root = tempfile::tempdir().unwrap();
        let built = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let cache = Cache::new(root.path().to_owned());
                    let place = build(&cache, &built);
                    assert!(place.join("whole").is_file());
                });
            }
        });
        assert_eq!(built.into_inner(), 1);
    }

    #[test]
    fn what_an_interruption_left_is_built_anew() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::new(root.path().to_owned());
        for left in ["name", "name.partial"] {
            fs::create_dir_all(root.path().join(left)).unwrap();
            fs::write(root.path().join(left).join("rubbish"), "").unwrap();
        }
        let built = AtomicU32::new(0);
        let place = build(&cache, &built);
        assert!(place.join("whole").is_file() && !place.join("rubbish").exists());
        assert!(!root.path().join("name.partial").exists());
    }

    #[test]
    fn a_build_that_fails_leaves_nothing_and_can_be_tried_again() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::new(root.path().to_owned());
        let missing = || EnvironmentError::Missing { program: "npm", purpose: "this".to_owned() };
        let failed = cache.folder("name", || (), |_| Err(missing()));
        assert!(matches!(failed, Err(EnvironmentError::Missing { .. })));
        assert!(!root.path().join("name").exists());
        let built = AtomicU32::new(0);
        build(&cache, &built);
        assert_eq!(built.into_inner(), 1);
    }

    #[test]
    fn keys_tell_texts_apart_wherever_they_are_cut() {
        assert_ne!(key(["ab", "c"]), key(["a", "bc"]));
        assert_eq!(key(["ab", "c"]).len(), 32);
    }
}
