//! A bundle that is written and read back before it has its name.

use std::fs::{File, Permissions};
use std::io::{self, BufReader, Seek as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;

use oz0_plugin::{Plugin, unfinished_file};
use tempfile::NamedTempFile;

use crate::error::PackError;
use crate::pack::{Packed, pack};
use crate::read::{Bundle, read};

/// A bundle beside the place where it will stand. Dropped, it is gone.
#[derive(Debug)]
pub struct Draft {
    file: NamedTempFile,
    path: PathBuf,
    /// What was packed.
    pub packed: Packed,
    /// The bundle as whoever gets it reads it: what is judged is what was packed, not the folder, which may have changed.
    pub bundle: Bundle,
}

/// Packs a plugin for a file at `path`, and reads it back by the strict reader.
///
/// # Errors
///
/// As [`pack`]; and [`PackError::Unreadable`] when the bundle does not read as what was packed.
pub fn draft(plugin: &Plugin, path: &Path) -> Result<Draft, PackError> {
    let mut file = unfinished_file(folder_of(path))?;
    let packed = pack(plugin, file.as_file_mut())?;
    file.rewind().map_err(PackError::Write)?;
    // The disk writes what was packed while it is read back.
    let (synced, bundle) = thread::scope(|scope| {
        let syncing = scope.spawn(|| file.as_file().sync_all());
        let bundle = read(BufReader::new(file.as_file()), path);
        (syncing.join(), bundle)
    });
    match synced {
        Ok(synced) => synced.map_err(PackError::Write)?,
        Err(panic) => std::panic::resume_unwind(panic),
    }
    let bundle = bundle.map_err(PackError::Unreadable)?;
    if bundle.digest != packed.digest {
        return Err(PackError::Write(io::Error::other(
            "the file holds other bytes than were written",
        )));
    }
    Ok(Draft { file, path: path.to_owned(), packed, bundle })
}

impl Draft {
    /// Gives the bundle its name: whoever reads the file, even after a power cut, finds what was there before or all of
    /// it. Its mode is 644 whatever the umask.
    ///
    /// # Errors
    ///
    /// [`PackError::Write`] when the system refuses; what stood there stands there still.
    pub fn keep(self) -> Result<(Packed, Bundle), PackError> {
        let Self { file, path, packed, bundle } = self;
        let keep = || -> io::Result<()> {
            file.as_file().set_permissions(Permissions::from_mode(0o644))?;
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|error| error.error)?;
            File::open(folder_of(&path))?.sync_all()
        };
        keep().map_err(PackError::Write)?;
        Ok((packed, bundle))
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
