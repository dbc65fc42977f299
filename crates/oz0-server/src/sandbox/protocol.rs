//! What the launcher and its sandbox say to each other.
//!
//! The launcher writes one [`Order`] into the pipe that later is the server's stdin, length first,
//! so that neither a command line nor a file ever holds a secret, and nothing has to be inherited
//! for it. The sandbox answers with two [`Report`]s at most, one JSON object a line, through a pipe
//! that it inherits as descriptor [`REPORTS`]: whether the server runs, and how it ended.
//!
//! No server sees that pipe, since the processes that hold it cannot be looked into
//! ([`super::wiring::hide_from_servers`]). Should one reach it all the same, there is little to
//! gain: the first report is read before the server runs, what is read is bounded by
//! [`REPORT_LIMIT`], and the second can tell no more than the exit code of the sandbox already
//! says, but for a server that exited with 137 and one that was killed by signal 9.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::share::Shares;
use crate::surroundings::Variation;

/// The descriptor that the sandbox inherits for its reports.
pub(crate) const REPORTS: i32 = 3;

/// An order above this size is refused on both sides: 8 MiB.
pub(crate) const ORDER_LIMIT: usize = 8 * 1024 * 1024;

/// A report above this size is none: 64 KiB, its newline included.
pub(crate) const REPORT_LIMIT: u64 = 64 * 1024;

/// What a failure quotes of an operation or a reason, in bytes. Either may hold a command or a
/// variable of any length, and both are to fit into a report even if each byte is escaped.
const QUOTED: usize = 4 * 1024;

/// Everything that the sandbox needs to know to start a server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) argv: Vec<String>,
    pub(crate) declared: BTreeMap<String, String>,
    pub(crate) variation: Variation,
    pub(crate) folder: PathBuf,
    pub(crate) folder_access: FolderAccess,
    pub(crate) python_environment: Option<PathBuf>,
    pub(crate) node_environment: Option<PathBuf>,
    pub(crate) interpreters: Vec<Interpreter>,
    pub(crate) network: bool,
    pub(crate) shares: Shares,
    /// An existing directory that a root can be mounted on.
    pub(crate) mountpoint: PathBuf,
    /// The invoking user's home, which must never be bound as a whole.
    pub(crate) users_home: Option<PathBuf>,
}

/// What a server may do in its plugin's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FolderAccess {
    /// Read it. So it is wherever calls are served, also where the folder is the author's own: a server that could write
    /// its manifest would choose its own egress.
    #[default]
    Read,
    /// Read and write it: a copy that is made for one run of tests.
    Write,
}

/// A program of the host that servers are started with, under the name they call it by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Interpreter {
    pub(crate) name: String,
    /// The program itself, no link.
    pub(crate) program: PathBuf,
    /// Where its libraries are (`PREFIX/lib`), where the program is one that has some.
    pub(crate) prefix: Option<PathBuf>,
}

/// What the sandbox says to the launcher.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Report {
    /// The server runs.
    Ready { missing: Vec<MissingLayer> },
    /// The server could not be started.
    Failed(Failure),
    /// The server ended.
    Ended(Ended),
}

/// Why a server could not be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    /// What was tried, such as "mount a file system on /proc".
    pub(crate) operation: String,
    pub(crate) reason: String,
}

impl Failure {
    /// The same, short enough to be reported.
    pub(crate) fn shortened(mut self) -> Self {
        for text in [&mut self.operation, &mut self.reason] {
            if text.len() > QUOTED {
                text.truncate(text.floor_char_boundary(QUOTED));
                text.push('…');
            }
        }
        self
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FailureKind {
    /// The kernel, or who configured it, does not allow the first tier, now or later.
    Unavailable,
    /// The program is not there, or does not run.
    Program,
    /// Anything else: of this start alone, and no reason to contain a server less.
    Broken,
}

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// By itself, with this exit code.
    Exited(i32),
    /// By a signal of this number.
    Signalled(i32),
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit code {code}"),
            Self::Signalled(number) => match nix::sys::signal::Signal::try_from(*number) {
                Ok(signal) => write!(f, "{signal}"),
                Err(_) => write!(f, "signal {number}"),
            },
        }
    }
}

/// One layer of isolation that a server does without, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingLayer {
    /// Which layer.
    pub layer: Layer,
    /// Why it is missing, or which part of it.
    pub reason: String,
}

/// The layers of isolation that a sandbox has beside its namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Landlock rules on files, TCP and signals.
    Landlock,
    /// The seccomp list of refused system calls.
    Seccomp,
    /// Limits on open files, processes, file size and core dumps.
    Limits,
    /// All capabilities given up.
    Capabilities,
    /// Parts of `/proc` that describe or change the machine are out of reach.
    Proc,
    /// The loopback interface of a server's own network namespace.
    Loopback,
    /// A network of its own, without which a server reaches the host's.
    Network,
}

impl std::fmt::Display for Layer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Landlock => "Landlock",
            Self::Seccomp => "seccomp",
            Self::Limits => "limits",
            Self::Capabilities => "capabilities",
            Self::Proc => "/proc",
            Self::Loopback => "loopback",
            Self::Network => "network",
        })
    }
}
