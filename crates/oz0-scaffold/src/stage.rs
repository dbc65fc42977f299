//! Writing a folder whole or not at all.
//!
//! Files are written into a folder beside the place where they will be, and moved there when the last of them stands: no
//! program finds half a plugin, and what fails on the way is gone. A folder that is there already, and empty, stays the same
//! folder, since somebody's shell may be in it: what is staged inside of it is moved up, the manifest last.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use oz0_plugin::manifest::MANIFEST;
use oz0_plugin::{LoadError, PluginFile};
use tempfile::TempDir;

use crate::new::NewError;
use crate::refusal::Refusal;

/// Writes files into `folder`, which must be empty where it is there.
pub(crate) fn write(folder: &Path, files: &[PluginFile]) -> Result<(), NewError> {
    let folder = std::path::absolute(folder).map_err(failed("find", folder))?;
    match folder.symlink_metadata() {
        Ok(_) => fill(&folder, files),
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(&folder, files),
        Err(error) => Err(failed("find", &folder)(error).into()),
    }
}

/// Makes the folder, and those above it that are missing.
fn make(folder: &Path, files: &[PluginFile]) -> Result<(), NewError> {
    let parent = folder.parent().unwrap_or(folder);
    let mut above = Above::make(parent)?;
    let stage = stage(parent, folder, files)?;
    fs::rename(stage.path(), folder).map_err(failed("write", folder))?;
    // Under its old name there is nothing left to remove.
    let _ = stage.keep();
    above.0.clear();
    Ok(())
}

/// Fills the folder, which is there.
fn fill(folder: &Path, files: &[PluginFile]) -> Result<(), NewError> {
    check_empty(folder)?;
    let stage = stage(folder, folder, files)?;
    let mut moved = Moved(Vec::new());
    let mut names: Vec<&str> =
        files.iter().map(|file| file.path.split('/').next().unwrap_or_default()).collect();
    names.sort_unstable_by_key(|name| (*name == MANIFEST, *name));
    names.dedup();
    for name in names {
        let to = folder.join(name);
        fs::rename(stage.path().join(name), &to).map_err(failed("write", &to))?;
        moved.0.push(to);
    }
    moved.0.clear();
    Ok(())
}

fn check_empty(folder: &Path) -> Result<(), NewError> {
    let refused = |what: &str| {
        Refusal::new(format!("{} {what}", folder.display())).hint("name another folder with --dir")
    };
    match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(refused("is there already, and is not empty").into()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            Err(refused("is there already, and is no folder").into())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(refused("is a link that leads nowhere").into())
        }
        Err(error) => Err(failed("read the folder", folder)(error).into()),
    }
}

/// Writes the files into a new folder in `place`. What goes wrong is told of `folder`, where they are to be.
fn stage(place: &Path, folder: &Path, files: &[PluginFile]) -> Result<TempDir, LoadError> {
    let mut builder = tempfile::Builder::new();
    // As any folder that is made: what the umask leaves of it.
    builder.prefix(".oz0-new-").permissions(Permissions::from_mode(0o777));
    let stage = builder.tempdir_in(place).map_err(failed("write into", place))?;
    for file in files {
        let path = stage.path().join(&file.path);
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, &file.bytes))
            .map_err(failed("write", &folder.join(&file.path)))?;
    }
    Ok(stage)
}

/// Folders that were made for a new one; those that hold nothing go when this is dropped.
struct Above(Vec<PathBuf>);

impl Above {
    fn make(folder: &Path) -> Result<Self, LoadError> {
        let missing: Vec<&Path> =
            folder.ancestors().take_while(|path| path.symlink_metadata().is_err()).collect();
        let mut above = Self(Vec::new());
        for path in missing.into_iter().rev() {
            fs::create_dir(path).map_err(failed("create", path))?;
            above.0.push(path.to_owned());
        }
        Ok(above)
    }
}

impl Drop for Above {
    fn drop(&mut self) {
        for path in self.0.iter().rev() {
            let _ = fs::remove_dir(path);
        }
    }
}

/// What was moved to its place already; it goes when this is dropped.
struct Moved(Vec<PathBuf>);

impl Drop for Moved {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

fn failed(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LoadError {
    let path = path.to_owned();
    move |source| LoadError::Io { operation, path, source }
}

#[cfg(test)]
mod tests {
    use oz0_plugin::Mode;

    use super::*;

    fn files(texts: &[(&str, &str)]) -> Vec<PluginFile> {
        let file = |(path, text): &(&str, &str)| PluginFile {
            path: (*path).to_owned(),
            mode: Mode::Plain,
            bytes: text.as_bytes().into(),
        };
        texts.iter().map(file).collect()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_write_that_fails_on_the_way_leaves_nothing() {
        let here = tempfile::tempdir().unwrap();
        // No folder can be made where a file stands.
        let files = files(&[("a/b", "1"), ("c", "2"), ("c/d", "3")]);
        for place in ["new", "above/and/new"] {
            let error = write(&here.path().join(place), &files).unwrap_err();
            let shown = error.to_string();
            assert!(shown.contains(&format!("{place}/c/d")), "{shown}");
            assert_eq!(names(here.path()), [""; 0]);
        }
        let empty = here.path().join("empty");
        fs::create_dir(&empty).unwrap();
        write(&empty, &files).unwrap_err();
        assert_eq!(names(&empty), [""; 0]);
        assert_eq!(names(here.path()), ["empty"]);
    }

    #[test]
    fn what_was_moved_already_goes_too() {
        let here = tempfile::tempdir().unwrap();
        fs::create_dir(here.path().join("a")).unwrap();
        fs::write(here.path().join("b"), "").unwrap();
        drop(Moved(vec![here.path().join("a"), here.path().join("b")]));
        assert_eq!(names(here.path()), [""; 0]);
    }

    #[test]
    fn a_folder_that_is_there_and_empty_stays_the_same_folder() {
        use std::os::unix::fs::MetadataExt as _;

        let here = tempfile::tempdir().unwrap();
        let inode = fs::metadata(here.path()).unwrap().ino();
        write(here.path(), &files(&[(MANIFEST, "1"), ("a/b", "2"), ("a/c", "3")])).unwrap();
        assert_eq!(fs::metadata(here.path()).unwrap().ino(), inode);
        assert_eq!(names(here.path()), ["a", MANIFEST]);
        assert_eq!(names(&here.path().join("a")), ["b", "c"]);
        let error = write(here.path(), &files(&[("d", "4")])).unwrap_err();
        assert!(matches!(error, NewError::Refused(_)), "{error}");
        assert_eq!(names(here.path()), ["a", MANIFEST]);
    }
}
