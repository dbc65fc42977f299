//! The walk: one pass over the folder, deterministic in everything.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, FileType};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use oz0_diagnostic::Diagnostic;

use super::ignore::{self, Rules};
use super::temporary::is_temporary;
use super::{Contents, Mode, PackedFile, Reason, Stamp, Unpackable, Unsaved, open};
use crate::manifest::MANIFEST;
use crate::{LISTING, LoadError};

/// What a folder holds.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    /// In the order of their paths' bytes.
    pub(crate) packed: Vec<PackedFile>,
    /// In the same order.
    pub(crate) unpackable: Vec<Unpackable>,
    /// Paths of folders that are not ignored, in the same order.
    pub(crate) folders: Vec<String>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Folders and files that no plugin means to carry, wherever they stand. `.git` is a file in a linked worktree.
const LEFT_OUT: [&str; 4] = [".git", "__pycache__", ".pytest_cache", ".DS_Store"];

/// A folder that is still to be read.
struct Open {
    path: PathBuf,
    /// From the root, ending in `/`, or empty.
    prefix: String,
    rules: Rules,
    /// Whether it is there, or only documents that are not saved yet are in it.
    exists: bool,
}

/// What stands in a folder.
struct Found {
    name: OsString,
    kind: Kind,
    /// `None` for what only an editor has.
    entry: Option<DirEntry>,
}

enum Kind {
    Folder,
    File,
    Unpackable(Reason),
}

/// Walks the folder of the plugin called `name`, which is `None` when its manifest does not say, as it is when `unsaved` is
/// saved.
pub(crate) fn walk(
    root: &Path,
    name: Option<&str>,
    unsaved: &Unsaved,
) -> Result<Folder, LoadError> {
    let mut folder = Folder::default();
    let mut open = vec![Open {
        path: root.to_owned(),
        prefix: String::new(),
        rules: Rules::default(),
        exists: true,
    }];
    while let Some(next) = open.pop() {
        read_folder(&next, name, unsaved, &mut folder, &mut open)?;
    }
    folder.packed.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
    folder.unpackable.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
    folder.folders.sort_unstable();
    folder.diagnostics.sort_by(|a, b| {
        let place = |d: &Diagnostic| (d.span.file().path().to_owned(), d.span.range().start);
        place(a).cmp(&place(b))
    });
    Ok(folder)
}

fn read_folder(
    at: &Open,
    plugin: Option<&str>,
    unsaved: &Unsaved,
    folder: &mut Folder,
    open: &mut Vec<Open>,
) -> Result<(), LoadError> {
    let entries = list(at, unsaved)?;
    let rules = match entries.iter().find(|found| found.name == *ignore::NAME) {
        Some(Found { name, kind: Kind::File, .. }) => {
            let path = at.path.join(name);
            let shown = format!("{}{}", at.prefix, ignore::NAME);
            let bytes = match unsaved.bytes(&shown, &path) {
                Some(bytes) => bytes.to_vec(),
                None => read_bounded(&path)?,
            };
            at.rules.with(&at.path, &shown, &bytes, &mut folder.diagnostics)
        }
        _ => at.rules.clone(),
    };
    for Found { name, kind, entry } in entries {
        let path = at.path.join(&name);
        let is_folder = matches!(kind, Kind::Folder);
        // Without these two a plugin is none, or is never measured.
        let is_kept = at.prefix.is_empty() && (name == *MANIFEST || name == *LISTING);
        let left_out = left_out(&name, is_folder, plugin)
            || (matches!(kind, Kind::File) && is_temporary(&name));
        if left_out || (rules.ignore(&path, is_folder) && !is_kept) {
            continue;
        }
        let shown = format!("{}{}", at.prefix, name.to_string_lossy());
        if let Some(reason) = unpackable_name(&name) {
            folder.unpackable.push(Unpackable { path: shown, reason });
            continue;
        }
        match kind {
            Kind::Unpackable(reason) => folder.unpackable.push(Unpackable { path: shown, reason }),
            Kind::Folder => {
                let (prefix, rules) = (format!("{shown}/"), rules.clone());
                open.push(Open { path, prefix, rules, exists: entry.is_some() });
                folder.folders.push(shown);
            }
            Kind::File => folder.packed.push(packed(shown, &path, entry.as_ref(), unsaved)?),
        }
    }
    Ok(())
}

/// What stands in a folder: on the disk, and beside it in the editor.
fn list(at: &Open, unsaved: &Unsaved) -> Result<Vec<Found>, LoadError> {
    let mut entries = Vec::new();
    if at.exists {
        for entry in fs::read_dir(&at.path).map_err(LoadError::io("read the folder", &at.path))? {
            let entry = entry.map_err(LoadError::io("read the folder", &at.path))?;
            let kind = entry.file_type().map_err(LoadError::io("read", entry.path()))?;
            let kind = match unpackable_kind(kind) {
                Some(reason) => Kind::Unpackable(reason),
                None if kind.is_dir() => Kind::Folder,
                None => Kind::File,
            };
            entries.push(Found { name: entry.file_name(), kind, entry: Some(entry) });
        }
    }
    let on_disk = entries.len();
    for (name, is_folder) in unsaved.names(&at.prefix) {
        if entries[..on_disk].iter().all(|found| found.name != *name) {
            let kind = if is_folder { Kind::Folder } else { Kind::File };
            entries.push(Found { name: name.into(), kind, entry: None });
        }
    }
    Ok(entries)
}

fn packed(
    shown: String,
    path: &Path,
    entry: Option<&DirEntry>,
    unsaved: &Unsaved,
) -> Result<PackedFile, LoadError> {
    // The entry's own, found from its folder: a link is not followed, and no path is walked again.
    let metadata =
        entry.map(DirEntry::metadata).transpose().map_err(LoadError::io("read", path))?;
    if metadata.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        return Err(LoadError::Changed { path: path.to_owned() });
    }
    let mode = metadata.as_ref().map_or(Mode::Plain, Mode::of);
    let (len, contents) = match (unsaved.bytes(&shown, path), metadata) {
        (Some(bytes), _) => (bytes.len() as u64, Contents::Memory(bytes)),
        (None, Some(metadata)) => (metadata.len(), Contents::Folder(Stamp::of(&metadata))),
        (None, None) => return Err(LoadError::Changed { path: path.to_owned() }),
    };
    Ok(PackedFile { path: shown, mode, len, contents })
}

/// Whether a plugin never carries this, whatever its `.oz0ignore` says.
pub(super) fn left_out(name: &OsStr, is_folder: bool, plugin: Option<&str>) -> bool {
    if LEFT_OUT.iter().any(|left_out| name == OsStr::new(left_out)) {
        return true;
    }
    if is_folder {
        return false;
    }
    let bytes = name.as_bytes();
    bytes.ends_with(b".pyc") || plugin.is_some_and(|plugin| is_bundle(bytes, plugin))
}

/// Whether a file is a bundle of this very plugin: `NAME-VERSION.oz0`. `git-hub-1.0.0.oz0` is not one of `git`.
fn is_bundle(name: &[u8], plugin: &str) -> bool {
    name.strip_prefix(plugin.as_bytes())
        .and_then(|rest| rest.strip_prefix(b"-"))
        .and_then(|rest| rest.strip_suffix(b".oz0"))
        .and_then(|version| std::str::from_utf8(version).ok())
        .is_some_and(|version| semver::Version::parse(version).is_ok())
}

fn unpackable_name(name: &OsStr) -> Option<Reason> {
    match name.to_str() {
        None => Some(Reason::NotUtf8),
        Some(name) if name.chars().any(char::is_control) => Some(Reason::ControlCharacter),
        Some(_) => None,
    }
}

pub(crate) fn unpackable_kind(kind: FileType) -> Option<Reason> {
    if kind.is_symlink() {
        Some(Reason::Link)
    } else if kind.is_fifo() {
        Some(Reason::Pipe)
    } else if kind.is_socket() {
        Some(Reason::Socket)
    } else if kind.is_block_device() || kind.is_char_device() {
        Some(Reason::Device)
    } else {
        None
    }
}

/// Reads an ignore file, or as much of it as shows that it is too large.
fn read_bounded(path: &Path) -> Result<Vec<u8>, LoadError> {
    let mut bytes = Vec::new();
    let file = open(path).map_err(LoadError::io("read", path))?;
    file.take(ignore::LIMIT as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(LoadError::io("read", path))?;
    Ok(bytes)
}
