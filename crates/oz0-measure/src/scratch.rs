//! Temporary folders for copies of plugins, which do not outlive what made them.
//!
//! A process that is killed at once cannot clean up. So each folder holds a file that is locked for as long as its owner lives,
//! and whoever makes the next folder removes those that nobody holds any more.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

const PREFIX: &str = "oz0-test-";
const HELD: &str = ".held";
/// A folder without its lock is one that is being made, or one whose maker died then.
const BEING_MADE: Duration = Duration::from_mins(10);

/// A temporary folder of our own.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: Option<TempDir>,
    _held: File,
}

impl Scratch {
    /// Makes one, and removes those whose owners are gone.
    pub(crate) fn new() -> io::Result<Self> {
        sweep(&std::env::temp_dir());
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        let held = File::create(folder.path().join(HELD))?;
        held.lock()?;
        Ok(Self { folder: Some(folder), _held: held })
    }

    /// A path below it, of which nothing is there yet.
    pub(crate) fn join(&self, below: &str) -> PathBuf {
        let folder = self.folder.as_ref().expect("it is there until it is dropped");
        folder.path().join(below)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            // What a test did to its own copy must not make the run fail.
            remove(&folder.keep());
        }
    }
}

/// Removes a folder with everything in it, also folders that nobody may enter.
fn remove(folder: &Path) {
    if fs::remove_dir_all(folder).is_err() {
        open(folder);
        let _ = fs::remove_dir_all(folder);
    }
}

fn open(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open(&entry.path());
        }
    }
}

fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_left(&entry.path()) {
            remove(&entry.path());
        }
    }
}

fn is_left(folder: &Path) -> bool {
    match File::open(folder.join(HELD)) {
        Ok(held) => held.try_lock().is_ok(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let made = fs::symlink_metadata(folder).and_then(|folder| folder.modified());
            made.is_ok_and(|made| {
                SystemTime::now().duration_since(made).is_ok_and(|age| age > BEING_MADE)
            })
        }
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_holds_is_swept_and_what_somebody_holds_is_not() {
        let all = tempfile::tempdir().expect("a folder");
        let (left, held, young) = (
            all.path().join("oz0-test-a"),
            all.path().join("oz0-test-b"),
            all.path().join("oz0-test-c"),
        );
        for folder in [&left, &held, &young] {
            fs::create_dir(folder).expect("a folder");
        }
        fs::create_dir(left.join("closed")).expect("a folder");
        fs::set_permissions(left.join("closed"), fs::Permissions::from_mode(0o000))
            .expect("a mode");
        File::create(left.join(HELD)).expect("a file");
        let owner = File::create(held.join(HELD)).expect("a file");
        owner.lock().expect("a lock");
        sweep(all.path());
        assert!(!left.exists());
        assert!(held.exists() && young.exists());
    }
}
