//! Writing a lock to a plugin's folder.
//!
//! `locks` is the plugin's, so it may be a link to anywhere. It is opened as the folder that it must be, following no
//! link, and everything else is done relative to what was opened.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use oz0_plugin::DependencyProblem;
use rustix::fd::OwnedFd;
use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::error::{EnvironmentError, PrepareError};

const FOLDER: &str = "locks";

/// Whether a lock can be written, before one is made.
pub(super) fn check(plugin: &Path) -> Result<(), DependencyProblem> {
    match plugin.join(FOLDER).symlink_metadata() {
        Ok(meta) if !meta.is_dir() => Err(not_a_folder()),
        _ => Ok(()),
    }
}

fn not_a_folder() -> DependencyProblem {
    DependencyProblem::of_file(
        FOLDER,
        "it is no folder, or a link, which is not followed",
        "put a folder in its place, for the locks that oz0 writes",
    )
}

/// Writes a lock: whoever reads it sees the old text or the new.
pub(super) fn write(plugin: &Path, name: &str, text: &str) -> Result<(), PrepareError> {
    let failed = |source: Errno| {
        PrepareError::from(EnvironmentError::Plugin {
            operation: "write",
            path: plugin.join(FOLDER).join(name),
            source: io::Error::from(source),
        })
    };
    let folder = match open(plugin) {
        Err(Errno::NOTDIR | Errno::LOOP) => return Err(not_a_folder().into()),
        opened => opened.map_err(failed)?,
    };
    let partial = format!(".oz0-{name}-{}", std::process::id());
    let written = create(&folder, &partial, text)
        .and_then(|()| fs::renameat(&folder, &partial, &folder, name));
    if written.is_err() {
        let _ = fs::unlinkat(&folder, &partial, AtFlags::empty());
    }
    written.map_err(failed)
}

fn open(plugin: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let plugin = fs::open(plugin, flags, Mode::empty())?;
    match fs::mkdirat(&plugin, FOLDER, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error),
    }
    fs::openat(&plugin, FOLDER, flags | OFlags::NOFOLLOW, Mode::empty())
}

fn create(folder: &OwnedFd, name: &str, text: &str) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(fs::openat(folder, name, flags, Mode::from_raw_mode(0o644))?);
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}
