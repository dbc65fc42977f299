//! What can keep oz0 from reading a plugin.

use std::io;
use std::path::PathBuf;

/// oz0 could not read or write what it was given. What is wrong *in* a plugin is a diagnostic, never one of these.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// There is no folder.
    #[error("there is no folder {}", path.display())]
    NoFolder {
        /// What was given.
        path: PathBuf,
    },
    /// The folder is not a plugin.
    #[error("{} is not a plugin: it has no oz0-plugin.yaml", path.display())]
    NoManifest {
        /// The folder.
        path: PathBuf,
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
    #[error("{} changed while it was read; try again when nothing writes to the plugin", path.display())]
    Changed {
        /// Its path.
        path: PathBuf,
    },
    /// The system refused.
    #[error("could not {operation} {}: {source}", path.display())]
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
}
