//! What an editor holds of a plugin's files and has not written yet.
//!
//! An author wants to know what is wrong with what stands on the screen. So a plugin can be loaded as its folder will be once
//! every open document is saved: one walk, in which such a document's bytes take the place of the file's. A document of
//! a file that is not there yet counts as that file, unless the walk would leave it out.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use super::open;

/// Up to which length, in bytes, the file below a document is looked at for how it is encoded: no editor's document is longer.
const LIMIT: u64 = 64 * 1024 * 1024;

const MARK: &[u8] = "\u{feff}".as_bytes();

/// Documents that are open in an editor, by their paths from the plugin's root, with `/`.
#[derive(Debug, Clone, Default)]
pub struct Unsaved(BTreeMap<String, Arc<str>>);

impl Unsaved {
    /// Adds a document, or replaces it.
    pub fn insert(&mut self, path: impl Into<String>, text: impl Into<Arc<str>>) {
        self.0.insert(path.into(), text.into());
    }

    /// The names that documents have in the folder with this prefix, and whether each is a folder's.
    pub(super) fn names<'u>(&'u self, prefix: &'u str) -> impl Iterator<Item = (&'u str, bool)> {
        let below = self.0.range(prefix.to_owned()..).map(|(path, _)| path.as_str());
        let mut last = "";
        below
            .map_while(move |path| path.strip_prefix(prefix))
            .map(|rest| rest.split_once('/').map_or((rest, false), |(name, _)| (name, true)))
            .filter(move |(name, _)| {
                let new = *name != last;
                last = name;
                new
            })
    }

    /// The bytes that the file `path`, which stands at `disk`, has once its document is saved; `None` where no document is
    /// open, or saving it changes nothing that can be told from here.
    ///
    /// Editors hide a byte order mark and keep it, so it stays. They write a file back in the encoding that they read it in:
    /// one that is not UTF-8 stays what it is.
    pub(crate) fn bytes(&self, path: &str, disk: &Path) -> Option<Arc<[u8]>> {
        let text = self.0.get(path)?;
        let bytes = text.as_bytes();
        let mut on_disk = Vec::new();
        let read = open(disk).and_then(|file| file.take(LIMIT + 1).read_to_end(&mut on_disk));
        if read.is_err() || on_disk.len() as u64 > LIMIT {
            return Some(bytes.into());
        }
        if on_disk == bytes || oz0_yaml::decode(&on_disk).is_err() {
            return None;
        }
        if on_disk.starts_with(MARK) && !bytes.starts_with(MARK) {
            let marked = [MARK, bytes].concat();
            return (marked != on_disk).then(|| marked.into());
        }
        Some(bytes.into())
    }
}
