//! Files that are there whole or not at all.

use std::fs::{File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::LoadError;

/// Writes a file so that whoever reads it, even after a power cut, finds the old bytes or the new ones.
///
/// The bytes go to a new file in the same folder, are synced, and are renamed over `path`; then the folder is synced.
/// The file's mode is 644 whatever the umask. A link at `path` is replaced, not followed.
///
/// # Errors
///
/// [`LoadError::Io`] when the system refuses; what stood at `path` stands there still, and nothing is left beside it.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), LoadError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let write = || -> std::io::Result<()> {
        let mut file =
            tempfile::Builder::new().prefix(".oz0-").suffix(".tmp").tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().set_permissions(Permissions::from_mode(0o644))?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        File::open(folder)?.sync_all()
    };
    write().map_err(LoadError::io("write", path))
}
