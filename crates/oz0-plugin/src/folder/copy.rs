//! Copies of the packed files, for servers and tests to run on.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use super::{Opened, PackedFile};
use crate::LoadError;

/// Copies the packed files into `to`, which is made when it is not there and must hold none of them yet.
///
/// Folders get mode 755 and files their packed mode, whatever the umask and whatever the originals' other bits.
pub(crate) fn copy(root: &Path, packed: &[PackedFile], to: &Path) -> Result<(), LoadError> {
    fs::create_dir_all(to).map_err(LoadError::io("make the folder", to))?;
    let mut last = "";
    for file in packed {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        if folder != last {
            make_folders(to, folder)?;
            last = folder;
        }
        copy_file(root, file, to)?;
    }
    Ok(())
}

fn make_folders(to: &Path, folder: &str) -> Result<(), LoadError> {
    let mut path = to.to_owned();
    for name in folder.split('/').filter(|name| !name.is_empty()) {
        path.push(name);
        match DirBuilder::new().mode(0o755).create(&path) {
            Ok(()) => fs::set_permissions(&path, Permissions::from_mode(0o755))
                .map_err(LoadError::io("set the mode of", &path))?,
            // A link would lead the copy elsewhere.
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists
                    && fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir()) => {}
            Err(error) => return Err(LoadError::io("make the folder", path)(error)),
        }
    }
    Ok(())
}

fn copy_file(root: &Path, packed: &PackedFile, to: &Path) -> Result<(), LoadError> {
    let opened = Opened::open(root, packed)?;
    let target = to.join(&packed.path);
    let mut copy = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(packed.mode.bits())
        .open(&target)
        .map_err(LoadError::io("write", &target))?;
    // One byte more than it should have shows that it grew.
    let mut source = (&opened.file).take(packed.len.saturating_add(1));
    let len = io::copy(&mut source, &mut copy).map_err(LoadError::io("copy", &opened.path))?;
    opened.finish(len)?;
    copy.set_permissions(Permissions::from_mode(packed.mode.bits()))
        .map_err(LoadError::io("set the mode of", &target))
}
