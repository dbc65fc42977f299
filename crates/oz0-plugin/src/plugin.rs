//! A plugin, loaded once and seen by everything that works on it.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oz0_diagnostic::{Diagnostic, Level, SourceFile, Span};
use oz0_listing::file::{ListingFile, SnapshotFile};
use oz0_listing::{Digest, ToolId};
use oz0_yaml::Comment;

use crate::LoadError;
use crate::check::OZ_L002;
use crate::decode::text::Text;
use crate::eval::{self, EvalFile};
use crate::folder::{self, CopyOptions, Folder, PackedFile, PluginFile, Unpackable, Unsaved};
use crate::listing::{self, LISTING, ListingState, SnapshotState};
use crate::manifest::{self, Decoded, FileUse, MANIFEST, Manifest, PluginName};

/// A plugin's folder, read: its manifest, the files that belong to it, and what is wrong with them. Runs nothing.
///
/// What it says of the files is what the walk saw; whoever reads a file later through it gets that very file or
/// [`LoadError::Changed`].
#[derive(Debug)]
pub struct Plugin {
    root: PathBuf,
    in_folder: bool,
    source: Arc<SourceFile>,
    manifest: Option<Manifest>,
    name: Option<String>,
    comments: Vec<Comment>,
    diagnostics: Vec<Diagnostic>,
    packed: Vec<PackedFile>,
    unpackable: Vec<Unpackable>,
    folders: Vec<String>,
    evals: Vec<EvalFile>,
}

impl Plugin {
    /// Loads the plugin in the folder `root`.
    ///
    /// # Errors
    ///
    /// Only when oz0 could not read: [`LoadError::NoFolder`], [`LoadError::NotAFolder`], [`LoadError::NoManifest`] or
    /// [`LoadError::NotAFile`] when there is no plugin, [`LoadError::Changed`] when its files change on the way, and
    /// [`LoadError::Io`] when the system refused. What is wrong with the plugin itself is in [`Plugin::diagnostics`].
    pub fn load(root: &Path) -> Result<Self, LoadError> {
        Self::load_unsaved(root, &Unsaved::default())
    }

    /// Loads the plugin in the folder `root` as it is once the documents of an editor are saved: what the walk finds with
    /// their bytes in place of their files'.
    ///
    /// # Errors
    ///
    /// As [`Plugin::load`].
    pub fn load_unsaved(root: &Path, unsaved: &Unsaved) -> Result<Self, LoadError> {
        let root = std::path::absolute(root).map_err(LoadError::io("find", root))?;
        check_folder(&root)?;
        let decoded = manifest::decode(MANIFEST, &read_manifest(&root, unsaved)?);
        let folder = folder::walk(&root, decoded.name(), unsaved)?;
        Self::assemble(root, decoded, folder)
    }

    /// The plugin that consists of these files, which stand in no folder; `place` is what messages call it.
    ///
    /// # Errors
    ///
    /// [`LoadError::NoManifest`] without one, and [`LoadError::Stray`] when a walk of a folder with these files would not
    /// have found one of them.
    pub fn from_files(place: &Path, files: Vec<PluginFile>) -> Result<Self, LoadError> {
        let manifest = files.iter().find(|file| file.path == MANIFEST);
        let Some(manifest) = manifest else {
            return Err(LoadError::NoManifest { path: place.to_owned(), near: None });
        };
        let decoded = manifest::decode(MANIFEST, &manifest.bytes);
        let folder = folder::of_files(place, files, decoded.name())?;
        let plugin = Self::assemble(place.to_owned(), decoded, folder)?;
        Ok(Self { in_folder: false, ..plugin })
    }

    fn assemble(root: PathBuf, decoded: Decoded, folder: Folder) -> Result<Self, LoadError> {
        let Folder { packed, unpackable, folders, diagnostics: ignore_diagnostics } = folder;
        let name = decoded.name().filter(|name| PluginName::pattern().is_match(name));
        let name = name.map(str::to_owned);
        let Decoded { source, manifest, root: tree, mut diagnostics, comments, paths, .. } =
            decoded;
        for path in &paths {
            diagnostics.extend(missing_file(path, &packed, &unpackable));
        }
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.range().start);
        let manifest = manifest.filter(|_| diagnostics.is_empty());
        diagnostics.extend(ignore_diagnostics);
        diagnostics.extend(folder::too_large(&packed, &source));
        let mut plugin = Self {
            root,
            in_folder: true,
            name,
            source,
            manifest,
            comments,
            diagnostics,
            packed,
            unpackable,
            folders,
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

    /// The plugin's folder, as an absolute path; of files that stand in none, what messages call them.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The plugin's name, also where the rest of the manifest is wrong.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The manifest, when nothing is wrong with it.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// What the loader's checks found: in the manifest, then in `.oz0ignore` files, then of the packed files together, then in
    /// evals, each in file order.
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
    /// never a digest of something that was not there at one time. [`LoadError::TooLarge`] as for [`Plugin::copy`]: nobody
    /// waits for a digest of what no plugin may have.
    pub fn source_digest(&self) -> Result<Digest, LoadError> {
        self.check_size()?;
        folder::digest(&self.root, &self.packed)
    }

    /// The finding, OZ-L021, that the packed files are more than a plugin may have: above 256 MiB together, 20,000
    /// files, or a path of 240 bytes. It is one of [`Plugin::diagnostics`].
    pub fn too_large(&self) -> Option<Diagnostic> {
        folder::too_large(&self.packed, &self.source)
    }

    fn check_size(&self) -> Result<(), LoadError> {
        let Some(finding) = self.too_large() else { return Ok(()) };
        let (message, help) = (finding.message, finding.help);
        Err(LoadError::TooLarge { path: self.root.clone(), message, help })
    }

    /// The finding, OZ-L021, that the plugin's bundle is above 64 MiB, for whoever has seen that it is.
    pub fn bundle_too_large(&self) -> Diagnostic {
        folder::bundle_too_large(&self.packed, &self.source)
    }

    /// Copies the packed files into the folder `to`, which is made when it is not there. Modes, that of `to` among them,
    /// and times are set, whatever the umask and the originals': two copies with equal options look alike.
    ///
    /// # Errors
    ///
    /// [`LoadError::TooLarge`] before anything is written, when [`Plugin::too_large`] has something to say;
    /// [`LoadError::Changed`] as for [`Plugin::source_digest`], so what was copied is what the digest is of; and
    /// [`LoadError::Io`], also when a file is already there.
    pub fn copy(&self, to: &Path, options: &CopyOptions) -> Result<(), LoadError> {
        self.check_size()?;
        folder::copy(&self.root, &self.packed, to, options)
    }

    /// What is known of `tools.listing.json`. Computes the source digest when there is one.
    ///
    /// # Errors
    ///
    /// As [`Plugin::source_digest`]. That the file does not decode is [`ListingState::Unreadable`].
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
        // Whether it is stale, nobody can say of a plugin that has more files than can be looked at.
        if let Some(finding) = self.too_large() {
            return Ok(ListingState::Unreadable(Box::new(finding)));
        }
        let now = self.source_digest()?;
        Ok(if listing.source_digest == now {
            ListingState::Fresh(listing)
        } else {
            ListingState::Stale { listing, now }
        })
    }

    /// Warnings, in the order of the tools, about each tool that `listing`, which is the plugin's own, has functions of
    /// and the plugin does not start: a person wrote them, or the manifest changed since. Empty without a manifest.
    ///
    /// # Errors
    ///
    /// As [`Plugin::read_file`], by which the places of the functions are found.
    pub fn foreign_functions(&self, listing: &ListingFile) -> Result<Vec<Diagnostic>, LoadError> {
        let Some(manifest) = &self.manifest else { return Ok(Vec::new()) };
        let mut foreign: BTreeMap<ToolId, (&str, usize)> = BTreeMap::new();
        for function in &listing.functions {
            let tool = function.id.tool();
            if manifest.tools.get(tool.as_str()).is_none_or(|tool| tool.is_remote()) {
                foreign.entry(tool).or_insert((function.id.as_str(), 0)).1 += 1;
            }
        }
        if foreign.is_empty() {
            return Ok(Vec::new());
        }
        let text = match self.read_text(LISTING)? {
            Found::Text(text) => text,
            Found::Nothing | Found::Unreadable(_) => String::new(),
        };
        let source = SourceFile::new(LISTING, text);
        let warn = |(tool, (first, count)): (ToolId, (&str, usize))| {
            let quoted = format!("\"{first}\"");
            let span = match source.text().find(&quoted) {
                Some(at) => Span::new(&source, at..at + quoted.len()),
                None => Span::start_of(&source),
            };
            let functions = if count == 1 { "function" } else { "functions" };
            let (why, help) = if manifest.tools.get(tool.as_str()).is_some() {
                let why = format!("`{tool}`, which is remote and never measured");
                (why, format!("its functions stand in snapshots/{tool}.json"))
            } else {
                (format!("`{tool}`, which the manifest does not have"), String::new())
            };
            let measure = "run `oz0 plugin test`, which writes the file anew";
            let help =
                if help.is_empty() { measure.to_owned() } else { format!("{help}; {measure}") };
            Diagnostic::new(&OZ_L002, span, format!("{count} {functions} of the tool {why}"))
                .level(Level::Warning)
                .help(help)
        };
        Ok(foreign.into_iter().map(warn).collect())
    }

    /// What is known of `snapshots/<tool>.json`.
    ///
    /// # Errors
    ///
    /// As [`Plugin::read_file`]. That the file does not decode, or is another tool's, is
    /// [`SnapshotState::Unreadable`].
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
                let span = Span::new(&source, at..at + 6);
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
    ///
    /// # Errors
    ///
    /// [`LoadError::Changed`] when it is no longer what it was, and [`LoadError::Io`] when the system refuses.
    pub fn read_file(&self, file: &PackedFile, limit: u64) -> Result<Vec<u8>, LoadError> {
        folder::read(&self.root, file, limit)
    }

    /// Hands the bytes of a packed file to `take`, part by part through `buffer`. As much memory as `buffer` is used.
    ///
    /// # Errors
    ///
    /// As [`Plugin::read_file`]; and, inside, what `take` failed with, which ends it.
    pub fn stream_file<E>(
        &self,
        file: &PackedFile,
        buffer: &mut [u8],
        take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<Result<(), E>, LoadError> {
        folder::stream(&self.root, file, buffer, take)
    }

    /// The manifest as a bundle has it: canonical JSON (RFC 8785) of what it says, in which another plugin's part stands
    /// by its bare name wherever that name alone means it. `None` when something is wrong with the manifest.
    ///
    /// Two manifests that differ in comments, order, quoting or in how they address such parts have the same, and it
    /// reads as a manifest itself.
    pub fn compiled_manifest(&self) -> Option<String> {
        self.manifest.as_ref()?;
        manifest::compile(self.source.text())
    }

    /// Whether another text of the manifest says the same: it has the same [`Plugin::compiled_manifest`].
    pub fn means_the_same(&self, text: &str) -> bool {
        let compiled = self.compiled_manifest();
        compiled.is_some() && manifest::compile(text) == compiled
    }

    /// Whether `path` is a folder of the plugin.
    pub(crate) fn has_folder(&self, path: &str) -> bool {
        self.folders.iter().any(|folder| folder == path)
    }

    /// The files of a plugin that stands in no folder, by path; `None` of one that does.
    pub fn files_in_memory(&self) -> Option<BTreeMap<String, &[u8]>> {
        if self.in_folder {
            return None;
        }
        self.packed.iter().map(|file| Some((file.path.clone(), file.in_memory()?))).collect()
    }

    /// What an editor holds of a folder's files and has not written, by path; nothing of a plugin that stands in no folder.
    pub fn unsaved(&self) -> BTreeMap<String, &[u8]> {
        let held = self.packed.iter().filter(|_| self.in_folder);
        held.filter_map(|file| Some((file.path.clone(), file.in_memory()?))).collect()
    }

    /// Whether the plugin is a folder, and not files that stand in none.
    pub fn is_folder(&self) -> bool {
        self.in_folder
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
        let mut unpackable = self.unpackable.iter();
        Ok(match unpackable.find(|unpackable| unpackable.holds(path)) {
            Some(found) => {
                Found::Unreadable(listing::not_a_file(path, &found.path, found.reason.as_str()))
            }
            None if self.folders.iter().any(|folder| folder == path) => {
                Found::Unreadable(listing::not_a_file(path, path, "a folder"))
            }
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

/// Tells what is given instead of a folder.
fn check_folder(root: &Path) -> Result<(), LoadError> {
    match std::fs::metadata(root) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(LoadError::NotAFolder { path: root.to_owned() }),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Err(LoadError::NoFolder { path: root.to_owned() })
        }
        Err(error) => Err(LoadError::io("find", root)(error)),
    }
}

/// The first name, in the order of the bytes, that was likely meant to be the manifest's.
fn near_manifest(root: &Path) -> Result<Option<String>, LoadError> {
    const MEANT: [&str; 4] =
        ["oz0-plugin.yaml", "oz0-plugin.yml", "oz0_plugin.yaml", "oz0_plugin.yml"];
    let mut near: Option<String> = None;
    for entry in std::fs::read_dir(root).map_err(LoadError::io("read the folder", root))? {
        let entry = entry.map_err(LoadError::io("read the folder", root))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if MEANT.iter().any(|meant| name.eq_ignore_ascii_case(meant))
            && near.as_ref().is_none_or(|near| name < *near)
        {
            near = Some(name);
        }
    }
    Ok(near)
}

/// Reads the manifest, or as much of it as shows that it is too large.
fn read_manifest(root: &Path, unsaved: &Unsaved) -> Result<Vec<u8>, LoadError> {
    let path = root.join(MANIFEST);
    let metadata = match std::fs::symlink_metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(bytes) = unsaved.bytes(MANIFEST, &path) {
                return Ok(bytes.to_vec());
            }
            let near = near_manifest(root)?;
            return Err(LoadError::NoManifest { path: root.to_owned(), near });
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
    if let Some(bytes) = unsaved.bytes(MANIFEST, &path) {
        return Ok(bytes.to_vec());
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
    let message = match unpackable.iter().find(|unpackable| unpackable.holds(&named.path)) {
        Some(found) => {
            format!("`{}`: {} is {}, which is not followed", named.place, found.path, found.reason)
        }
        None => format!("`{}`: the plugin has no file {path}", named.place),
    };
    let help =
        "add the file, or correct the path; what `.oz0ignore` names is no part of the plugin";
    Some(Diagnostic::new(&OZ_L002, named.span.clone(), message).help(help))
}
