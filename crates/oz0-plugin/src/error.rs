//! What can keep oz0 from reading a plugin.

use std::io;
use std::path::{Path, PathBuf};

use crate::manifest::MANIFEST;

/// oz0 could not read or write what it was given. What is wrong *in* a plugin is a diagnostic, never one of these.
///
/// A message has paths as they are, and never repeats what [`std::error::Error::source`] gives: whoever prints it
/// escapes the one and adds the other. [`LoadError::help`] says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// There is no folder.
    #[error("there is no folder {}", path.display())]
    NoFolder {
        /// What was given.
        path: PathBuf,
    },
    /// What was given is no folder.
    #[error("{} is not a folder, and a plugin is", path.display())]
    NotAFolder {
        /// What was given.
        path: PathBuf,
    },
    /// The folder is not a plugin.
    #[error("{} is not a plugin: it has no {MANIFEST}", path.display())]
    NoManifest {
        /// The folder.
        path: PathBuf,
        /// The name of a file in it that was likely meant to be the manifest.
        near: Option<String>,
    },
    /// The manifest is a link, a device or the like, which is not followed.
    #[error("{} is {kind}, not a file", path.display())]
    NotAFile {
        /// Its path.
        path: PathBuf,
        /// What it is, as a noun phrase.
        kind: &'static str,
    },
    /// A file is no longer what it was when the folder was walked.
    #[error("{} changed while it was read", path.display())]
    Changed {
        /// Its path.
        path: PathBuf,
    },
    /// One of a plugin's files is none that a walk of its folder would find.
    #[error("{} is no file of a plugin: every walk leaves it out", path.display())]
    Stray {
        /// Its path.
        path: PathBuf,
    },
    /// The plugin's files are more than are copied: OZ-L021 is among its diagnostics.
    #[error("{} is not copied: {message}", path.display())]
    TooLarge {
        /// The plugin's folder.
        path: PathBuf,
        /// What the diagnostic says.
        message: String,
        /// What the diagnostic says to do.
        help: Option<String>,
    },
    /// The system refused.
    #[error("could not {operation} {}", path.display())]
    Io {
        /// What was being done: "read", "write".
        operation: &'static str,
        /// To what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl LoadError {
    /// Wraps what the system said about an operation on a path.
    pub(crate) fn io(
        operation: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { operation, path, source }
    }

    /// What to do about it, where that is known.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::NoFolder { .. } => format!("give the folder that has the plugin's {MANIFEST}"),
            Self::NotAFolder { path } => match path.parent() {
                Some(folder) if folder.join(MANIFEST).is_file() => {
                    format!("give the plugin's folder: {}", folder.display())
                }
                _ => format!("give the folder that has the plugin's {MANIFEST}"),
            },
            Self::NoManifest { near: Some(near), .. } => {
                format!("the manifest's name is {MANIFEST}: rename {near}")
            }
            Self::NoManifest { .. } => format!("write {MANIFEST}, or give the folder that has it"),
            Self::NotAFile { .. } => "put a file in its place".to_owned(),
            Self::Changed { .. } => "try again when nothing writes to the plugin".to_owned(),
            Self::Stray { .. } => "pack the plugin anew with: oz0 plugin pack".to_owned(),
            Self::TooLarge { help, .. } => return help.clone(),
            Self::Io { path, source, .. } => return help_with_io(path, source),
        })
    }
}

fn help_with_io(path: &Path, error: &io::Error) -> Option<String> {
    Some(match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "check the permissions of the file and of the folders above it".to_owned()
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room on the disk".to_owned()
        }
        io::ErrorKind::ReadOnlyFilesystem => "give a folder that can be written to".to_owned(),
        io::ErrorKind::IsADirectory => {
            format!("remove the folder that stands at {}", path.display())
        }
        _ => return None,
    })
}
