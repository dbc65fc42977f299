//! A plugin's folder before it is written, and the writing.

use std::fs;
use std::path::{Path, PathBuf};

use oz0_plugin::manifest::MANIFEST;

use crate::local::CopiedFile;
use crate::refusal::{Refusal, WrapError};

/// Something that whoever wraps should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Whether something is likely wrong.
    pub warns: bool,
    /// What it is.
    pub text: String,
    /// What to do.
    pub hint: Option<String>,
}

impl Note {
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { warns: false, text: text.into(), hint: None }
    }

    pub(crate) fn warning(text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { warns: true, text: text.into(), hint: Some(hint.into()) }
    }
}

/// Where the plugin is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Folder {
    /// A folder that is made, or was asked for.
    Own(PathBuf),
    /// The server's project.
    Project(PathBuf),
}

impl Folder {
    /// The folder, absolute.
    pub fn path(&self) -> &Path {
        match self {
            Self::Own(path) | Self::Project(path) => path,
        }
    }
}

/// Everything that is written, before it is.
#[derive(Debug)]
pub struct Plan {
    /// The plugin's name.
    pub name: String,
    /// Its folder.
    pub folder: Folder,
    /// What the plugin starts, in one line.
    pub runs: String,
    /// What to know of it.
    pub notes: Vec<Note>,
    /// Folders that the command names, to be shared by whoever runs the plugin.
    pub shares: Vec<PathBuf>,
    /// The names of the secrets to hand over.
    pub secrets: Vec<String>,
    pub(crate) texts: Vec<(String, String)>,
    pub(crate) copies: Vec<CopiedFile>,
    pub(crate) overwrite: bool,
}

impl Plan {
    /// Writes the folder. A file that is there already is left as it is and refused, unless the plan was made to write
    /// over it; nothing is written then.
    pub fn write(&self) -> Result<(), WrapError> {
        let root = self.folder.path();
        let failed = |operation, path: &Path| {
            let path = path.to_owned();
            move |source| WrapError::File { operation, path, source }
        };
        let paths =
            self.texts.iter().map(|(path, _)| path).chain(self.copies.iter().map(|copy| &copy.to));
        if !self.overwrite {
            for path in paths {
                let path = root.join(path);
                if path.symlink_metadata().is_ok() {
                    return Err(Refusal::new(format!("{} is there already", path.display()))
                        .hint("name another folder with --dir, or write over it with --force")
                        .into());
                }
            }
        }
        fs::create_dir_all(root).map_err(failed("create", root))?;
        for copy in &self.copies {
            let bytes = fs::read(&copy.from).map_err(failed("read", &copy.from))?;
            let path = root.join(&copy.to);
            let folder = path.parent().unwrap_or(root);
            fs::create_dir_all(folder).map_err(failed("create", folder))?;
            oz0_plugin::write_atomically(&path, &bytes)?;
            if copy.executable {
                use std::os::unix::fs::PermissionsExt;
                let mode = fs::Permissions::from_mode(0o755);
                fs::set_permissions(&path, mode).map_err(failed("make executable", &path))?;
            }
        }
        // The manifest last: a folder that has one has everything.
        let (manifest, others): (Vec<_>, Vec<_>) =
            self.texts.iter().partition(|(path, _)| path == MANIFEST);
        for (path, text) in others.into_iter().chain(manifest) {
            oz0_plugin::write_atomically(&root.join(path), text.as_bytes())?;
        }
        Ok(())
    }

    /// The manifest's text.
    pub fn manifest(&self) -> &str {
        let manifest = self.texts.iter().find(|(path, _)| path == MANIFEST);
        manifest.map_or("", |(_, text)| text)
    }

    /// The paths of what is written, in the plugin's folder.
    pub fn files(&self) -> Vec<&str> {
        let texts = self.texts.iter().map(|(path, _)| path.as_str());
        let mut files: Vec<&str> =
            texts.chain(self.copies.iter().map(|copy| copy.to.as_str())).collect();
        files.sort_unstable();
        files
    }

    /// What comes behind `oz0 up` and `oz0 mcp` to run it, as words.
    pub fn run_arguments(&self) -> Vec<String> {
        let mut words = Vec::new();
        for name in &self.secrets {
            words.extend(["--secret".to_owned(), name.clone()]);
        }
        for share in &self.shares {
            words.extend(["--share".to_owned(), share.to_string_lossy().into_owned()]);
        }
        words
    }
}
