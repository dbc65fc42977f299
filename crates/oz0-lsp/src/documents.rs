//! The documents that are open in the editor.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oz0_plugin::Unsaved;
use oz0_plugin::manifest::MANIFEST;
use tower_lsp_server::ls_types::{
    Range, TextDocumentContentChangeEvent, TextDocumentItem, Uri, VersionedTextDocumentIdentifier,
};

use crate::text::{Encoding, Lines};
use crate::uri::path_of;

/// The longest document that is followed, in bytes. What stands on the disk counts for a longer one.
const LIMIT: usize = 16 * 1024 * 1024;

/// A document.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// Its address, as the editor writes it.
    pub(crate) uri: Uri,
    pub(crate) version: i32,
    /// `None` when it is longer than a document may be.
    text: Option<(Arc<str>, Arc<Lines>)>,
}

impl Document {
    fn new(uri: Uri, version: i32, text: String) -> Self {
        let mut document = Self { uri, version, text: None };
        document.set(text);
        document
    }

    fn set(&mut self, text: String) {
        self.text = (text.len() <= LIMIT).then(|| {
            let lines = Arc::new(Lines::of(&text, false));
            (Arc::from(text), lines)
        });
    }

    /// Its text and lines.
    pub(crate) fn text(&self) -> Option<(&str, &Lines)> {
        self.text.as_ref().map(|(text, lines)| (&**text, &**lines))
    }

    /// Whether it is this very version of this document. A version alone does not say so: a document that is opened anew may
    /// begin with the same one.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (&self.text, &other.text) {
            (Some((text, _)), Some((other_text, _))) => {
                self.version == other.version && Arc::ptr_eq(text, other_text)
            }
            _ => false,
        }
    }

    /// Whether the editor shows a byte order mark as a character of the text.
    pub(crate) fn shows_mark(&self) -> bool {
        self.text().is_some_and(|(text, _)| text.starts_with('\u{feff}'))
    }

    fn replace(&mut self, range: Range, new: &str, encoding: Encoding) {
        let Some((text, lines)) = self.text() else { return };
        let start = lines.offset(text, range.start, encoding);
        let end = lines.offset(text, range.end, encoding).max(start);
        let length = text.len() - (end - start) + new.len();
        if length > LIMIT {
            self.text = None;
            return;
        }
        let mut changed = String::with_capacity(length);
        changed.push_str(&text[..start]);
        changed.push_str(new);
        changed.push_str(&text[end..]);
        self.set(changed);
    }
}

/// The open documents, by their files. Cheap to clone: texts are shared.
#[derive(Debug, Clone, Default)]
pub(crate) struct Documents(BTreeMap<PathBuf, Document>);

impl Documents {
    /// Opens a document; its file, where it has one on this machine.
    pub(crate) fn open(&mut self, item: TextDocumentItem) -> Option<PathBuf> {
        let path = path_of(&item.uri)?;
        self.0.insert(path.clone(), Document::new(item.uri, item.version, item.text));
        Some(path)
    }

    /// Makes the changes of an open document, in their order; its file.
    pub(crate) fn change(
        &mut self,
        document: &VersionedTextDocumentIdentifier,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: Encoding,
    ) -> Option<PathBuf> {
        let path = path_of(&document.uri)?;
        let open = self.0.get_mut(&path)?;
        open.version = document.version;
        for change in changes {
            match change.range {
                None => open.set(change.text),
                Some(range) => open.replace(range, &change.text, encoding),
            }
        }
        Some(path)
    }

    pub(crate) fn close(&mut self, uri: &Uri) -> Option<PathBuf> {
        let path = path_of(uri)?;
        self.0.remove(&path).map(|_| path)
    }

    pub(crate) fn get(&self, path: &Path) -> Option<&Document> {
        self.0.get(path)
    }

    /// The document of an address, with its file.
    pub(crate) fn at(&self, uri: &Uri) -> Option<(PathBuf, &Document)> {
        let path = path_of(uri)?;
        let document = self.0.get(&path)?;
        Some((path, document))
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.keys()
    }

    /// The documents below a folder, by their paths from there.
    pub(crate) fn below<'d>(
        &'d self,
        root: &'d Path,
    ) -> impl Iterator<Item = (&'d Path, &'d Document)> {
        let below = self.0.range(root.to_owned()..);
        below.map_while(move |(path, document)| Some((path.strip_prefix(root).ok()?, document)))
    }

    /// What a plugin's folder is once they are saved.
    pub(crate) fn unsaved(&self, root: &Path) -> Unsaved {
        let mut unsaved = Unsaved::default();
        for (path, document) in self.below(root) {
            if let (Some(path), Some((text, _))) = (relative(path), &document.text) {
                unsaved.insert(path, Arc::clone(text));
            }
        }
        unsaved
    }

    /// The plugin that a file belongs to: the nearest folder above it with a manifest, be it on the disk or only in the
    /// editor yet. The root of the file system is none: a document there must not have the whole machine read.
    pub(crate) fn plugin_of(&self, path: &Path) -> Option<PathBuf> {
        let is_plugin = |folder: &&Path| {
            let manifest = folder.join(MANIFEST);
            let is_root = folder.parent().is_none();
            !is_root && (self.0.contains_key(&manifest) || manifest.symlink_metadata().is_ok())
        };
        path.ancestors().skip(1).find(is_plugin).map(Path::to_owned)
    }
}

/// A path as plugins write it, with `/`. None is made of what is not UTF-8: no plugin can hold it.
pub(crate) fn relative(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> =
        path.components().map(|part| part.as_os_str().to_str()).collect();
    parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join("/"))
}
