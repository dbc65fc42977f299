//! What can go wrong with an environment: we failed, or the plugin has a problem.

use std::path::PathBuf;

use oz0_plugin::DependencyProblem;

/// Why there is no environment.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// We failed.
    #[error(transparent)]
    Failed(#[from] EnvironmentError),
    /// The plugin's own files have a problem, which its author can fix.
    #[error("{0}")]
    Plugin(Box<DependencyProblem>),
}

impl From<DependencyProblem> for PrepareError {
    fn from(problem: DependencyProblem) -> Self {
        Self::Plugin(Box::new(problem))
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
    /// A file of the plugin could not be written.
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
    [
        "dns error",
        "ENOTFOUND",
        "EAI_AGAIN",
        "ECONNREFUSED",
        "ECONNRESET",
        "ETIMEDOUT",
        "Network is unreachable",
        "Connection",
        "error sending request",
        "Network connectivity is disabled",
        "ENOTCACHED",
    ]
    .iter()
    .any(|word| output.contains(word))
}

/// What installers say where the registry answered and what was asked for cannot be installed: it is not there, it has
/// other bytes, or it does not fit this machine. Anything else that fails is not the plugin's doing, as far as is known.
const REFUSALS: [&str; 16] = [
    "No solution found",
    "was not found in the package registry",
    "Hash mismatch",
    "no usable wheels",
    "no wheels with",
    "has no wheels",
    "No matching distribution",
    "failed to parse",
    "Failed to parse",
    "code E404",
    "code ETARGET",
    "code EINTEGRITY",
    "code EUSAGE",
    "code EBADPLATFORM",
    "code ERESOLVE",
    "code EALLOWGIT",
];

impl EnvironmentError {
    /// Whether the registry answered, and what was asked for is not there or does not fit this machine.
    pub fn is_refusal(&self) -> bool {
        self.refusal().is_some()
    }

    /// What the installer said, where it is the plugin's files that cannot be installed.
    pub(crate) fn refusal(&self) -> Option<&str> {
        match self {
            Self::Installer { output, .. }
                if !looks_offline(output) && REFUSALS.iter().any(|said| output.contains(said)) =>
            {
                Some(output)
            }
            _ => None,
        }
    }

    /// The same as a problem of the plugin, where it is one; `place` finds where, in what the installer said.
    pub(crate) fn or_problem(
        self,
        place: impl FnOnce(&str) -> oz0_diagnostic::Span,
    ) -> PrepareError {
        let Some(said) = self.refusal() else { return self.into() };
        let span = place(said);
        let Self::Installer { operation, .. } = &self else { return self.into() };
        let help = format!("what the installer said:\n{said}");
        DependencyProblem::error(span, format!("could not {operation}"), help).into()
    }
}

fn indent(output: &str) -> String {
    output.lines().fold(String::new(), |text, line| text + "\n  | " + line)
}
