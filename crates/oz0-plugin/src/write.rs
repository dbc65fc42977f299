//! Files that are there whole or not at all.

use std::fs::{File, Permissions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::LoadError;
use crate::folder;

/// A new file in `folder` under a name that is never packed, for whoever writes a large file in parts and renames it when it
/// is whole. It goes when it is dropped; what is older than an hour of such files in the folder is removed.
///
/// # Errors
///
/// [`LoadError::Io`] when the system refuses.
pub fn unfinished_file(folder: &Path) -> Result<tempfile::NamedTempFile, LoadError> {
    folder::sweep(folder);
    folder::temporary().tempfile_in(folder).map_err(LoadError::io("write into", folder))
}

/// Writes a file so that whoever reads it, even after a power cut, finds the old bytes or the new ones.
///
/// The bytes go to a new file in the same folder, are synced, and are renamed over `path`; then the folder is synced.
/// The file's mode is 644 whatever the umask. A link at `path` is replaced, not followed. A process that is killed on the
/// way leaves its new file behind, which is never packed; what is older than an hour of such files in the folder is
/// removed.
///
/// # Errors
///
/// [`LoadError::Io`] when the system refuses; what stood at `path` stands there still, and nothing is left beside it.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), LoadError> {
    write(path, bytes, Permissions::from_mode(0o644))
}

/// Writes a file in the place of one that holds `before`, as [`write_atomically`] does, and keeps its mode.
///
/// # Errors
///
/// [`LoadError::Changed`] when the file is gone, a link, or holds something else by now: somebody wrote it meanwhile, and
/// nothing of that is lost. [`LoadError::Io`] when the system refuses.
pub fn replace_atomically(path: &Path, before: &[u8], bytes: &[u8]) -> Result<(), LoadError> {
    let changed = || LoadError::Changed { path: path.to_owned() };
    let mut file = folder::open(path).map_err(|_| changed())?;
    let mode = file.metadata().map_err(LoadError::io("read", path))?.permissions();
    let mut now = Vec::new();
    (&mut file)
        .take(before.len() as u64 + 1)
        .read_to_end(&mut now)
        .map_err(LoadError::io("read", path))?;
    if now != before {
        return Err(changed());
    }
    write(path, bytes, mode)
}

fn write(path: &Path, bytes: &[u8], mode: Permissions) -> Result<(), LoadError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let write = || -> std::io::Result<()> {
        let mut file = folder::temporary().tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().set_permissions(mode)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        File::open(folder)?.sync_all()
    };
    folder::sweep(folder);
    write().map_err(LoadError::io("write", path))
}
