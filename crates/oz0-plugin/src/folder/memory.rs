//! A plugin's files that stand in no folder, such as those of a bundle.
//!
//! They are held against the walk's own rules: what a walk of the unpacked files would leave out (a `.git`, a file that
//! an `.oz0ignore` among them names) has no place among them. So what was reviewed in a bundle, and what the digest is
//! over, is all that a folder made of it has.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ignore::{self, Rules};
use super::temporary::is_temporary;
use super::walk::left_out;
use super::{Contents, Folder, Mode, PackedFile};
use crate::manifest::MANIFEST;
use crate::{LISTING, LoadError};

/// A file with its bytes.
#[derive(Debug, Clone)]
pub struct PluginFile {
    /// Its path from the plugin's root, with `/`.
    pub path: String,
    /// Its mode.
    pub mode: Mode,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
}

/// The files as a walk would have found them in a folder of the plugin called `name`.
pub(crate) fn of_files(
    place: &Path,
    files: Vec<PluginFile>,
    name: Option<&str>,
) -> Result<Folder, LoadError> {
    let mut folder = Folder::default();
    let mut files = files;
    files.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
    let ignores: HashMap<&str, &[u8]> = files
        .iter()
        .filter_map(|file| {
            let (at, last) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
            (last == ignore::NAME).then_some((at, &*file.bytes))
        })
        .collect();
    let mut walk = Walk { ignores, rules: HashMap::new(), diagnostics: Vec::new(), name };
    walk.enter("", Rules::default());
    for file in &files {
        if walk.leaves_out(&file.path) {
            return Err(LoadError::Stray { path: place.join(&file.path) });
        }
    }
    folder.diagnostics = walk.diagnostics;
    let mut folders: Vec<String> = walk.rules.into_keys().filter(|path| !path.is_empty()).collect();
    folders.sort_unstable();
    folder.folders = folders;
    folder.packed = files
        .into_iter()
        .map(|file| PackedFile {
            path: file.path,
            mode: file.mode,
            len: file.bytes.len() as u64,
            contents: Contents::Memory(file.bytes),
        })
        .collect();
    Ok(folder)
}

/// A walk that never was: the rules of each folder that it would have entered.
struct Walk<'f> {
    /// The `.oz0ignore` of each folder that has one.
    ignores: HashMap<&'f str, &'f [u8]>,
    rules: HashMap<String, Rules>,
    diagnostics: Vec<oz0_diagnostic::Diagnostic>,
    name: Option<&'f str>,
}

/// Paths are told from the root of a file system, as the rules want them.
fn rooted(path: &str) -> PathBuf {
    Path::new("/").join(path)
}

impl Walk<'_> {
    fn enter(&mut self, folder: &str, above: Rules) {
        let rules = match self.ignores.get(folder) {
            None => above,
            Some(bytes) => {
                let path = if folder.is_empty() {
                    ignore::NAME.to_owned()
                } else {
                    format!("{folder}/{}", ignore::NAME)
                };
                above.with(&rooted(folder), &path, bytes, &mut self.diagnostics)
            }
        };
        self.rules.insert(folder.to_owned(), rules);
    }

    fn leaves_out(&mut self, path: &str) -> bool {
        let mut above = "";
        let ends = path.match_indices('/').map(|(at, _)| (at, true));
        for (end, is_folder) in ends.chain([(path.len(), false)]) {
            let here = &path[..end];
            if is_folder && self.rules.contains_key(here) {
                above = here;
                continue;
            }
            let name = OsStr::new(here.rsplit('/').next().unwrap_or(here));
            let rules = self.rules[above].clone();
            let is_kept = here == MANIFEST || here == LISTING;
            if left_out(name, is_folder, self.name)
                || (!is_folder && is_temporary(name))
                || (rules.ignore(&rooted(here), is_folder) && !is_kept)
            {
                return true;
            }
            if is_folder {
                self.enter(here, rules);
                above = here;
            }
        }
        false
    }
}
