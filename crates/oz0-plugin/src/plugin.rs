//! A plugin, loaded once and seen by everything that works on it.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oz0_diagnostic::{Diagnostic, SourceFile};
use oz0_listing::file::{ListingFile, SnapshotFile};
use oz0_listing::{Digest, ToolId};
use oz0_yaml::Comment;

use crate::LoadError;
use crate::check::OZ_L002;
use crate::eval::{self, EvalFile};
use crate::folder::{self, Folder, PackedFile, Unpackable};
use crate::listing::{self, LISTING, ListingState, SnapshotState};
use crate::manifest::{self, Decoded, FileUse, MANIFEST, Manifest};

/// A plugin's folder, read: its manifest, the files that belong to it, and what is wrong with them. Runs nothing.
///
/// What it says of the files is what the walk saw; whoever reads a file later through it gets that very file or
/// [`LoadError::Changed`].
#[derive(Debug)]
pub struct Plugin {
    root: PathBuf,
    source: Arc<SourceFile>,
    manifest: Option<Manifest>,
    comments: Vec<Comment>,
    diagnostics: Vec<Diagnostic>,
    packed: Vec<PackedFile>,
    unpackable: Vec<Unpackable>,
    evals: Vec<EvalFile>,
}

impl Plugin {
    /// Loads the plugin in the folder `root`.
    ///
    /// # Errors
    ///
    /// Only when oz0 could not read: there is no folder or no manifest, or the system refused. What is wrong with the
    /// plugin itself is in [`Plugin::diagnostics`].
    pub fn load(root: &Path) -> Result<Self, LoadError> {
        let root = std::path::absolute(root).map_err(LoadError::io("find", root))?;
        if !root.is_dir() {
            return Err(LoadError::NoFolder { path: root });
        }
        let decoded = manifest::decode(MANIFEST, &read_manifest(&root)?);
        let Folder { packed, unpackable, diagnostics: ignore_diagnostics } =
            folder::walk(&root, decoded.name())?;
        let Decoded { source, manifest, root: tree, mut diagnostics, comments, paths, .. } =
            decoded;
        for path in &paths {
            diagnostics.extend(missing_file(path, &packed, &unpackable));
        }
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.range().start);
        let manifest = manifest.filter(|_| diagnostics.is_empty());
        diagnostics.extend(ignore_diagnostics);
        let mut plugin = Self {
            root,
            source,
            manifest,
            comments,
            diagnostics,
            packed,
            unpackable,
            evals: Vec::new(),
        };
        let mut evals = Vec::new();
        for file in plugin.packed.iter().filter(|file| is_eval(&file.path)) {
            let bytes = plugin.read_file(file, oz0_yaml::Limits::MANIFEST.bytes as u64)?;
            let (eval, diagnostics) = eval::read(&file.path, &bytes, tree.as_ref());
            plugin.diagnostics.extend(diagnostics);
            evals.push(eval);
        }
        plugin.evals = evals;
        Ok(plugin)
    }

    /// The plugin's folder, as an absolute path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The manifest, when nothing is wrong with it.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// What the loader's checks found: in the manifest, then in `.oz0ignore` files, then in evals, each in file order.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The manifest's file.
    pub fn source(&self) -> &Arc<SourceFile> {
        &self.source
    }

    /// The manifest's comments.
    pub fn comments(&self) -> &[Comment] {
        &self.comments
    }

    /// The files that belong to the plugin, in the order of their paths' bytes.
    pub fn packed(&self) -> &[PackedFile] {
        &self.packed
    }

    /// What stands in the folder and cannot be packed, with the reason, in the order of the paths' bytes. No digest and
    /// no copy has it.
    pub fn unpackable(&self) -> &[Unpackable] {
        &self.unpackable
    }

    /// The packed file with this path.
    pub fn file(&self, path: &str) -> Option<&PackedFile> {
        self.packed
            .binary_search_by(|file| file.path.as_bytes().cmp(path.as_bytes()))
            .ok()
            .map(|at| &self.packed[at])
    }

    /// The digest over every packed file but the ones that oz0 writes from them.
    ///
    /// # Errors
    ///
    /// [`LoadError::Changed`] when a file is no longer what it was when the plugin was loaded, or changes on the way;
    /// never a digest of something that was not there at one time.
    pub fn source_digest(&self) -> Result<Digest, LoadError> {
        folder::digest(&self.root, &self.packed)
    }

    /// Copies the packed files into the folder `to`, which is made when it is not there. Modes are exactly the packed
    /// ones, whatever the umask.
    ///
    /// # Errors
    ///
    /// [`LoadError::Changed`] as for [`Plugin::source_digest`], so what was copied is what the digest is of; and
    /// [`LoadError::Io`], also when a file is already there.
    pub fn copy_packed(&self, to: &Path) -> Result<(), LoadError> {
        folder::copy(&self.root, &self.packed, to)
    }

    /// What is known of `tools.listing.json`. Computes the source digest when there is one.
    pub fn listing_state(&self) -> Result<ListingState, LoadError> {
        let text = match self.read_text(LISTING)? {
            Found::Nothing => return Ok(ListingState::Missing),
            Found::Unreadable(diagnostic) => return Ok(ListingState::Unreadable(diagnostic)),
            Found::Text(text) => text,
        };
        let listing = match ListingFile::read(&text) {
            Ok(listing) => listing,
            Err(error) => {
                return Ok(ListingState::Unreadable(listing::unreadable(LISTING, text, error)));
            }
        };
        let now = self.source_digest()?;
        Ok(if listing.source_digest == now {
            ListingState::Fresh(listing)
        } else {
            ListingState::Stale { listing, now }
        })
    }

    /// What is known of `snapshots/<tool>.json`.
    pub fn snapshot(&self, tool: &ToolId) -> Result<SnapshotState, LoadError> {
        let path = format!("snapshots/{tool}.json");
        let text = match self.read_text(&path)? {
            Found::Nothing => return Ok(SnapshotState::Missing),
            Found::Unreadable(diagnostic) => return Ok(SnapshotState::Unreadable(diagnostic)),
            Found::Text(text) => text,
        };
        Ok(match SnapshotFile::read(&text) {
            Ok(snapshot) if snapshot.tool == *tool => SnapshotState::Present(snapshot),
            Ok(snapshot) => {
                let at = text.find("\"tool\"").unwrap_or(0);
                let source = SourceFile::new(path, text);
                let span = oz0_diagnostic::Span::new(&source, at..at + 6);
                let message = format!("the snapshot is of the tool `{}`", snapshot.tool);
                let diagnostic = Diagnostic::new(&OZ_L002, span, message)
                    .help(format!("write `{tool}`, or give the file the tool's name"));
                SnapshotState::Unreadable(Box::new(diagnostic))
            }
            Err(error) => SnapshotState::Unreadable(listing::unreadable(&path, text, error)),
        })
    }

    /// Where a package tool's lock stands, whether it is there or not: an absolute path.
    pub fn lock_path(&self, tool: &ToolId) -> PathBuf {
        self.root.join("locks").join(format!("{tool}.lock"))
    }

    /// A package tool's lock, where the plugin has one.
    pub fn lock(&self, tool: &ToolId) -> Option<&PackedFile> {
        self.file(&format!("locks/{tool}.lock"))
    }

    /// The bytes of a packed file, which must be what it was when the plugin was loaded. At most `limit` and one more,
    /// by which a longer file shows.
    pub fn read_file(&self, file: &PackedFile, limit: u64) -> Result<Vec<u8>, LoadError> {
        folder::read(&self.root, file, limit)
    }

    /// The contract tests in `tests/`.
    pub fn contract_tests(&self) -> ContractTests {
        let in_tests = |file: &&PackedFile| file.path.starts_with("tests/");
        let is_pytest = |file: &&PackedFile| {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            name.starts_with("test_")
                && Path::new(name).extension().is_some_and(|extension| extension == "py")
        };
        let pytest = self.packed.iter().filter(in_tests).filter(is_pytest);
        let has_tests = self.packed.iter().any(|file| in_tests(&file));
        ContractTests {
            pytest: pytest.map(|file| file.path.clone()).collect(),
            npm: ["tests/package.json", "package.json"]
                .into_iter()
                .find(|path| has_tests && self.file(path).is_some()),
        }
    }

    /// The evals, in the order of their paths' bytes.
    pub fn evals(&self) -> &[EvalFile] {
        &self.evals
    }

    fn read_text(&self, path: &str) -> Result<Found, LoadError> {
        if let Some(file) = self.file(path) {
            let bytes = self.read_file(file, listing::LIMIT)?;
            return Ok(match listing::text(path, bytes) {
                Ok(text) => Found::Text(text),
                Err(diagnostic) => Found::Unreadable(diagnostic),
            });
        }
        let unpackable = self.unpackable.iter().find(|unpackable| unpackable.path == path);
        Ok(match unpackable {
            Some(found) => Found::Unreadable(listing::not_a_file(path, found.reason.as_str())),
            None => Found::Nothing,
        })
    }
}

/// A file of the plugin that may not be there.
enum Found {
    Nothing,
    Text(String),
    Unreadable(Box<Diagnostic>),
}

/// The contract tests of a plugin, which run against fakes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContractTests {
    /// The files that pytest runs: `test_*.py` anywhere in `tests/`.
    pub pytest: Vec<String>,
    /// The `package.json` whose `npm test` is run: the one in `tests/`, else the plugin's own when it has a `tests/`.
    pub npm: Option<&'static str>,
}

impl ContractTests {
    /// Whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.pytest.is_empty() && self.npm.is_none()
    }
}

fn is_eval(path: &str) -> bool {
    path.strip_prefix("evals/")
        .and_then(|name| name.strip_suffix(".yaml"))
        .is_some_and(|name| !name.contains('/'))
}

/// Reads the manifest, or as much of it as shows that it is too large.
fn read_manifest(root: &Path) -> Result<Vec<u8>, LoadError> {
    let path = root.join(MANIFEST);
    let metadata = match std::fs::symlink_metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(LoadError::NoManifest { path: root.to_owned() });
        }
        Err(error) => return Err(LoadError::io("read", path)(error)),
    };
    let kind = if metadata.is_dir() {
        Some("a folder")
    } else {
        folder::unpackable_kind(metadata.file_type()).map(folder::Reason::as_str)
    };
    if let Some(kind) = kind {
        return Err(LoadError::NotAFile { path, kind });
    }
    let limit = oz0_yaml::Limits::MANIFEST.bytes as u64;
    let file = folder::open(&path).map_err(LoadError::io("read", &path))?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(LoadError::io("read", &path))?;
    Ok(bytes)
}

/// A finding when the file that the manifest names is not the plugin's.
fn missing_file(
    named: &FileUse,
    packed: &[PackedFile],
    unpackable: &[Unpackable],
) -> Option<Diagnostic> {
    let found =
        packed.binary_search_by(|file| file.path.as_bytes().cmp(named.path.as_bytes())).is_ok();
    if found {
        return None;
    }
    let path = crate::decode::brief(&named.path);
    let within = |unpackable: &&Unpackable| {
        named.path == unpackable.path || named.path.starts_with(&format!("{}/", unpackable.path))
    };
    let message = match unpackable.iter().find(within) {
        Some(found) => {
            format!("`{}`: {} is {}, which is not followed", named.place, found.path, found.reason)
        }
        None => format!("`{}`: the plugin has no file {path}", named.place),
    };
    let help =
        "add the file, or correct the path; what `.oz0ignore` names is no part of the plugin";
    Some(Diagnostic::new(&OZ_L002, named.span.clone(), message).help(help))
}
