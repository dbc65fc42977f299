//! Copies of the packed files, for servers and tests to run on.
//!
//! What a program can see of its folder must not differ from one copy to the next, or its listing could: not the time
//! that the copy was made, not the umask, not what an earlier run wrote. So all of it is set, and what may vary on
//! purpose, to find a program that looks at it, is in [`CopyOptions`].

use std::fs::{self, DirBuilder, File, FileTimes, OpenOptions, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{Opened, PackedFile, is_written};
use crate::LoadError;

/// What copies of a plugin's files may differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyOptions {
    /// When every file and folder was last modified.
    pub modified: SystemTime,
    /// Whether files and folders are made in the reverse order of their paths. Some file systems list a folder in the
    /// order in which it was filled.
    pub reversed: bool,
    /// Whether the copy has what oz0 writes from the other files (`tools.listing.json`, `tools.amplification.json`,
    /// `sbom.cdx.json`), which no digest covers.
    pub written: bool,
}

impl Default for CopyOptions {
    /// The copy that servers run on: everything modified at the start of 1980 in UTC, the earliest time that a ZIP
    /// archive can say, and without what oz0 writes, so that a second run sees what the first one saw.
    fn default() -> Self {
        Self { modified: after(3_652), reversed: false, written: false }
    }
}

impl CopyOptions {
    /// A copy that differs from the default one in all that a program should not look at: modified at the start of 2000,
    /// and filled in the reverse order.
    #[must_use]
    pub fn other() -> Self {
        Self { modified: after(10_957), reversed: true, ..Self::default() }
    }
}

/// This many days after the start of 1970 in UTC.
fn after(days: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_hours(days * 24)
}

/// Copies the packed files into `to`, which is made when it is not there and must hold none of them yet.
///
/// Folders get mode 755 and files their packed mode, whatever the umask and whatever the originals' other bits.
pub(crate) fn copy(
    root: &Path,
    packed: &[PackedFile],
    to: &Path,
    options: &CopyOptions,
) -> Result<(), LoadError> {
    let mut files: Vec<&PackedFile> =
        packed.iter().filter(|file| options.written || !is_written(&file.path)).collect();
    if options.reversed {
        files.reverse();
    }
    make_root(to)?;
    let mut folders = vec![to.to_owned()];
    let mut last = "";
    for file in files {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        if folder != last {
            make_folders(to, folder, &mut folders)?;
            last = folder;
        }
        copy_file(root, file, to, options)?;
    }
    // A folder's time moves with each entry that is made in it, so folders come when all is there.
    for folder in folders {
        File::open(&folder)
            .and_then(|open| open.set_times(times(options)))
            .map_err(LoadError::io("set the times of", folder))?;
    }
    Ok(())
}

fn times(options: &CopyOptions) -> FileTimes {
    FileTimes::new().set_accessed(options.modified).set_modified(options.modified)
}

/// Makes `to` and what is missing above it. A umask that takes the owner's own rights away must not stop at the first.
fn make_root(to: &Path) -> Result<(), LoadError> {
    let missing: Vec<&Path> =
        to.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.is_dir()).collect();
    for path in missing.into_iter().rev() {
        match DirBuilder::new().mode(0o755).create(path) {
            Ok(()) => set_folder_mode(path)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
            Err(error) => return Err(LoadError::io("make the folder", path)(error)),
        }
    }
    set_folder_mode(to)
}

fn set_folder_mode(path: &Path) -> Result<(), LoadError> {
    fs::set_permissions(path, Permissions::from_mode(0o755))
        .map_err(LoadError::io("set the mode of", path))
}

/// Makes `folder` in `to`, and adds what is new to `made`.
fn make_folders(to: &Path, folder: &str, made: &mut Vec<PathBuf>) -> Result<(), LoadError> {
    let mut path = to.to_owned();
    for name in folder.split('/').filter(|name| !name.is_empty()) {
        path.push(name);
        match DirBuilder::new().mode(0o755).create(&path) {
            Ok(()) => {
                set_folder_mode(&path)?;
                made.push(path.clone());
            }
            // A link would lead the copy elsewhere.
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists
                    && fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir()) => {}
            Err(error) => return Err(LoadError::io("make the folder", path)(error)),
        }
    }
    Ok(())
}

fn copy_file(
    root: &Path,
    packed: &PackedFile,
    to: &Path,
    options: &CopyOptions,
) -> Result<(), LoadError> {
    let mut opened = Opened::open(root, packed)?;
    let target = to.join(&packed.path);
    let mut copy = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(packed.mode.bits())
        .open(&target)
        .map_err(LoadError::io("write", &target))?;
    // Never more than was walked, of which the limits hold; that a file grew shows in its metadata.
    let mut source = (&mut opened).take(packed.len);
    let len = io::copy(&mut source, &mut copy);
    let len = len.map_err(LoadError::io("copy", &opened.path))?;
    opened.finish(len)?;
    copy.set_permissions(Permissions::from_mode(packed.mode.bits()))
        .map_err(LoadError::io("set the mode of", &target))?;
    copy.set_times(times(options)).map_err(LoadError::io("set the times of", &target))
}
