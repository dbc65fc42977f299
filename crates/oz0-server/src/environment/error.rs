//! What can go wrong with an environment: we failed, or the plugin has a problem.

use std::path::PathBuf;

/// Why there is no environment.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// We failed.
    #[error(transparent)]
    Failed(#[from] EnvironmentError),
    /// The plugin's own files have a problem, which its author can fix.
    #[error("{0}")]
    Plugin(DependencyProblem),
}

impl From<DependencyProblem> for PrepareError {
    fn from(problem: DependencyProblem) -> Self {
        Self::Plugin(problem)
    }
}

/// A problem in a file that declares or locks dependencies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DependencyProblem {
    /// The file, relative to the plugin's folder.
    pub file: String,
    /// The line, from 1, where there is one to name.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl std::fmt::Display for DependencyProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// We failed to make an environment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// A program that installs is not on this machine.
    #[error("{program} is not on the PATH, and {purpose} needs it")]
    Missing {
        /// Which program.
        program: &'static str,
        /// What for.
        purpose: String,
    },
    /// An installer did not run at all.
    #[error("could not run {program} to {operation}")]
    NotRun {
        /// What it was to do.
        operation: String,
        /// Which program.
        program: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// An installer failed.
    #[error("could not {operation}: {program} ended with {status}{}", indent(.output))]
    Installer {
        /// What it was to do.
        operation: String,
        /// Which program.
        program: String,
        /// How it ended.
        status: String,
        /// The end of what it said, 30 lines at most.
        output: String,
    },
    /// A file of the cache could not be handled.
    #[error("could not {operation} {path} in the cache", path = path.display())]
    Cache {
        /// What was tried.
        operation: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file of the plugin could not be read or written.
    #[error("could not {operation} {path}", path = path.display())]
    Plugin {
        /// What was tried.
        operation: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// An installer succeeded, and what it should have made is not there.
    #[error("{program} said that it could {operation}, but {what}")]
    Unexpected {
        /// What it was to do.
        operation: String,
        /// Which program.
        program: &'static str,
        /// What is not as it should be.
        what: String,
    },
}

impl EnvironmentError {
    /// What to do about it, where that is known.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Missing { program: "npm", .. } => "install Node.js, which brings npm".to_owned(),
            Self::Missing { program, .. } => format!("install {program}, or put it on the PATH"),
            Self::Installer { output, .. } if looks_offline(output) => {
                "the first install needs the registry; later runs use the cache and ask the \
                 network for nothing"
                    .to_owned()
            }
            Self::Cache { .. } => {
                "check the folder's permissions, or name another with OZ0_CACHE".to_owned()
            }
            _ => return None,
        })
    }
}

fn looks_offline(output: &str) -> bool {
    ["dns error", "ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "Network is unreachable", "Connection"]
        .iter()
        .any(|word| output.contains(word))
}

fn indent(output: &str) -> String {
    output.lines().fold(String::new(), |text, line| text + "\n  | " + line)
}
