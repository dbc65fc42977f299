//! Why there is no plugin.

use std::io;
use std::path::{Path, PathBuf};

use oz0_plugin::LoadError;
use oz0_server::EnvironmentError;

/// Something that cannot be wrapped, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    message: String,
    hint: Option<String>,
}

impl Refusal {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same, said of a file.
    #[must_use]
    pub fn of(self, file: &Path) -> Self {
        Self { message: format!("{}: {}", file.display(), self.message), ..self }
    }

    /// What to do instead.
    pub fn help(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WrapError {
    /// The command is one that is not wrapped, or not as it stands.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A registry could not be asked, or said no.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// A file could not be read or written.
    #[error("could not {operation} {path}", path = path.display())]
    File {
        /// What was tried.
        operation: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A text could not be written.
    #[error(transparent)]
    Write(#[from] LoadError),
}
