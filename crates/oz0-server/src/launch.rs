//! The launcher: starts servers in their sandbox and hands out their stdio.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;

use crate::interpreter::Interpreters;
use crate::running::{Process, Running, next_report};
use crate::sandbox::SANDBOX_ARGUMENT;
use crate::sandbox::protocol::{
    Failure, FailureKind, FolderAccess, MissingLayer, ORDER_LIMIT, Order, REPORTS, Report,
};
use crate::share::Shares;
use crate::spawner;
use crate::stderr::Stderr;
use crate::surroundings::Variation;

/// How long a sandbox may take to report that its server runs. It took 5 ms when this was written.
const PATIENCE: Duration = Duration::from_secs(30);

/// What to start, and in which surroundings.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchSpec {
    /// The program and its arguments. A bare name is searched on the server's own `PATH`; one
    /// with a `/` is below the plugin's folder.
    pub argv: Vec<String>,
    /// The declared variables: the only ones beside the surroundings' own.
    #[serde(default)]
    pub declared: BTreeMap<String, String>,
    /// Which surroundings.
    #[serde(default)]
    pub variation: Variation,
    /// The plugin's folder on the host: a copy of its packed files, or the folder itself.
    pub folder: PathBuf,
    /// What the server may do there.
    #[serde(default)]
    pub folder_access: FolderAccess,
    /// A virtual environment on the host, from [`crate::Environments`].
    #[serde(default)]
    pub python_environment: Option<PathBuf>,
    /// A folder with `node_modules` on the host, from [`crate::Environments`].
    #[serde(default)]
    pub node_environment: Option<PathBuf>,
    /// Whether the server has the host's network, or none but its own loopback.
    #[serde(default)]
    pub network: bool,
    /// The operator's folders that the server may use.
    #[serde(default)]
    pub shares: Shares,
}

/// Without the values of variables, of which some are secrets.
impl std::fmt::Debug for LaunchSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LaunchSpec")
            .field("argv", &self.argv)
            .field("declared", &self.declared.keys())
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl LaunchSpec {
    /// A server in the standard surroundings, from a copied folder, without environment, declared
    /// variables, network or shared folders.
    pub fn new(folder: impl Into<PathBuf>, argv: Vec<String>) -> Self {
        Self {
            argv,
            declared: BTreeMap::new(),
            variation: Variation::Standard,
            folder: folder.into(),
            folder_access: FolderAccess::Read,
            python_environment: None,
            node_environment: None,
            network: false,
            shares: Shares::none(),
        }
    }
}

/// How well a server is contained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tier {
    /// Namespaces of its own, with everything at fixed paths.
    One,
    /// A sub-reaper. Paths differ from machine to machine, and so may what a server lists.
    Zero {
        /// Why not more.
        reason: String,
    },
}

impl std::fmt::Display for Tier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::One => f.write_str("sandbox tier 1"),
            Self::Zero { reason } => {
                write!(f, "sandbox tier 0, where paths differ from machine to machine: {reason}")
            }
        }
    }
}

/// Which tier a launcher goes for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TierChoice {
    /// The first, and tier 0 where the kernel refuses it.
    #[default]
    Best,
    /// Tier 0, for this reason, which is shown wherever the tier is.
    Zero {
        /// Such as "`OZ0_SANDBOX=0` is set".
        reason: String,
    },
}

/// Why a server was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The program that becomes the sandbox did not start.
    #[error("could not start the sandbox, {program}", program = program.display())]
    Sandbox {
        /// The path of oz0's own program.
        program: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A folder that the launcher keeps could not be made.
    #[error("could not create {path}", path = path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A pipe or a thread could not be made.
    #[error("could not {operation} to start a server")]
    System {
        /// What was tried.
        operation: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// A path that has to be handed on is not UTF-8.
    #[error("{path} is not UTF-8, and servers are given paths as text", path = path.display())]
    NotUtf8 {
        /// Which.
        path: PathBuf,
    },
    /// The command and the declared variables together are too long.
    #[error(
        "the command and variables of a server take {size} bytes, above the limit of {ORDER_LIMIT}"
    )]
    TooLong {
        /// How long.
        size: usize,
    },
    /// The server's own program is missing or does not run.
    #[error("could not {operation}: {reason}")]
    Program {
        /// Such as "run server.py".
        operation: String,
        /// Why not.
        reason: String,
    },
    /// The sandbox could not be set up.
    #[error("could not set up the sandbox: {operation}: {reason}")]
    SetUp {
        /// What was tried.
        operation: String,
        /// Why it failed.
        reason: String,
    },
    /// The sandbox ended, or said nothing in time.
    #[error("the sandbox {what} before its server ran{tail}", tail = tail(stderr))]
    Lost {
        /// "ended" or "said nothing for 30 s".
        what: String,
        /// What it wrote to stderr.
        stderr: String,
    },
}

fn tail(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!(", and wrote: {}", stderr.trim_end()) }
}

/// Starts servers. Cheap to clone; one is enough for a process.
#[derive(Debug, Clone)]
pub struct Launcher {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    program: PathBuf,
    mountpoint: PathBuf,
    users_home: Option<PathBuf>,
    interpreters: Interpreters,
    /// Why there is no tier 1, once that is known.
    tier_zero: Mutex<Option<String>>,
}

impl Launcher {
    /// A launcher that re-executes `program`, whose `main` calls [`crate::sandbox_if_asked`] first
    /// ([`std::env::current_exe`] for oz0 itself), and keeps two small folders in `cache`.
    pub fn new(
        program: impl Into<PathBuf>,
        cache: &Path,
        choice: TierChoice,
    ) -> Result<Self, LaunchError> {
        let mountpoint = cache.join("mountpoint");
        make_folder(&mountpoint)?;
        let mountpoint = mountpoint
            .canonicalize()
            .map_err(|source| LaunchError::Folder { path: mountpoint, source })?;
        let shared = Shared {
            program: program.into(),
            mountpoint,
            users_home: std::env::home_dir().and_then(|home| home.canonicalize().ok()),
            interpreters: Interpreters::of_host(cache.join("interpreters")),
            tier_zero: Mutex::new(match choice {
                TierChoice::Best => None,
                TierChoice::Zero { reason } => Some(reason),
            }),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Starts a server and returns when it runs.
    ///
    /// Where the kernel refuses the first tier, this server and all later ones are started in
    /// tier 0, which [`Running::tier`] says. A sandbox that fails for any other reason is an error
    /// of this start. A future that is dropped leaves no process.
    ///
    /// Must be called within a Tokio runtime with I/O and time enabled.
    pub async fn start(&self, spec: &LaunchSpec) -> Result<Running, LaunchError> {
        let order = self.order(spec)?;
        if self.tier_zero().is_none() {
            // Somebody may have cleared the cache since.
            make_folder(&self.shared.mountpoint)?;
            match self.attempt(&order, spec.network, &Tier::One).await {
                Err(Attempt::Unavailable(reason)) => {
                    self.remember(reason);
                }
                Err(Attempt::Error(error)) => return Err(error),
                Ok(running) => return Ok(running),
            }
        }
        let reason = self.tier_zero().unwrap_or_default();
        match self.attempt(&order, spec.network, &Tier::Zero { reason }).await {
            Ok(running) => Ok(running),
            Err(Attempt::Error(error)) => Err(error),
            Err(Attempt::Unavailable(reason)) => {
                Err(LaunchError::SetUp { operation: "start in tier 0".to_owned(), reason })
            }
        }
    }

    fn tier_zero(&self) -> Option<String> {
        self.shared.tier_zero.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn remember(&self, reason: String) {
        let mut tier_zero = self.shared.tier_zero.lock().unwrap_or_else(PoisonError::into_inner);
        tier_zero.get_or_insert(reason);
    }

    fn order(&self, spec: &LaunchSpec) -> Result<Vec<u8>, LaunchError> {
        for path in
            [Some(&spec.folder), spec.python_environment.as_ref(), spec.node_environment.as_ref()]
                .into_iter()
                .flatten()
        {
            if path.to_str().is_none() {
                return Err(LaunchError::NotUtf8 { path: path.clone() });
            }
        }
        let order = Order {
            argv: spec.argv.clone(),
            declared: spec.declared.clone(),
            variation: spec.variation,
            folder: spec.folder.clone(),
            folder_access: spec.folder_access,
            python_environment: spec.python_environment.clone(),
            node_environment: spec.node_environment.clone(),
            interpreters: self.shared.interpreters.needed_by(spec.argv.first().map(String::as_str)),
            network: spec.network,
            shares: spec.shares.clone(),
            mountpoint: self.shared.mountpoint.clone(),
            users_home: self.shared.users_home.clone(),
        };
        let order = serde_json::to_vec(&order)
            .map_err(|_| LaunchError::NotUtf8 { path: self.shared.mountpoint.clone() })?;
        if order.len() > ORDER_LIMIT {
            return Err(LaunchError::TooLong { size: order.len() });
        }
        let length = u32::try_from(order.len()).expect("it is below the limit");
        Ok([&length.to_be_bytes()[..], &order].concat())
    }

    async fn attempt(&self, order: &[u8], network: bool, tier: &Tier) -> Result<Running, Attempt> {
        let system = |operation| move |source| LaunchError::System { operation, source };
        let (reports, inherited) = std::io::pipe().map_err(system("make a pipe"))?;
        let mut command = Command::new(&self.shared.program);
        command
            .arg0("oz0")
            .arg(SANDBOX_ARGUMENT)
            .arg("outer")
            .arg(if *tier == Tier::One { "1" } else { "0" })
            .arg(if network { "network" } else { "alone" })
            .arg(std::process::id().to_string())
            .env_clear()
            .current_dir("/")
            // A Ctrl-C in the terminal, or its closing, is for oz0 alone. Whichever way oz0 ends
            // then, its servers end: it drops them, or the kernel tells their sandbox.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .fd_mappings(vec![FdMapping { parent_fd: inherited.into(), child_fd: REPORTS }])
            .expect("one mapping collides with no other");
        if let Some(folder) = std::env::var_os("TMPDIR") {
            command.env("TMPDIR", folder);
        }
        let mut child = spawner::spawn(command).await.map_err(|source| LaunchError::Sandbox {
            program: self.shared.program.clone(),
            source,
        })?;
        let ends = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = Process::watch(child).map_err(system("watch a process"))?;
        let (Some(input), Some(output), Some(errors)) = ends else {
            unreachable!("all three are pipes");
        };
        let pipe = system("read a pipe");
        let mut stdin = pipe::Sender::from_owned_fd(OwnedFd::from(input)).map_err(pipe)?;
        let stdout = pipe::Receiver::from_owned_fd(OwnedFd::from(output)).map_err(pipe)?;
        let stderr = pipe::Receiver::from_owned_fd(OwnedFd::from(errors)).map_err(pipe)?;
        let reports = pipe::Receiver::from_owned_fd(OwnedFd::from(reports)).map_err(pipe)?;
        let stderr = Stderr::drain(stderr);
        let mut reports = BufReader::new(reports);

        let answer = tokio::time::timeout(PATIENCE, async {
            // A sandbox that ended cannot be written to; what it reported says why.
            let (_, report) = tokio::join!(stdin.write_all(order), next_report(&mut reports));
            report
        })
        .await;
        match answer {
            Ok(Some(Report::Ready { missing })) => {
                process.follow(reports);
                Ok(Running::new(process, stdin, stdout, stderr, tier.clone(), missing))
            }
            Ok(Some(Report::Failed(failure))) => {
                process.kill_and_wait().await;
                Err(failed(failure))
            }
            Ok(_) | Err(_) => {
                let what = if answer.is_ok() { "ended" } else { "said nothing for 30 s" };
                process.kill_and_wait().await;
                let _ = tokio::time::timeout(Duration::from_secs(1), stderr.ended()).await;
                let stderr = stderr.last_lines(20);
                Err(LaunchError::Lost { what: what.to_owned(), stderr }.into())
            }
        }
    }
}

fn make_folder(path: &Path) -> Result<(), LaunchError> {
    std::fs::create_dir_all(path)
        .map_err(|source| LaunchError::Folder { path: path.to_owned(), source })
}

enum Attempt {
    /// There is no first tier here.
    Unavailable(String),
    Error(LaunchError),
}

impl From<LaunchError> for Attempt {
    fn from(error: LaunchError) -> Self {
        Self::Error(error)
    }
}

fn failed(failure: Failure) -> Attempt {
    let Failure { kind, operation, reason } = failure;
    match kind {
        FailureKind::Unavailable => {
            Attempt::Unavailable(format!("could not {operation}: {reason}"))
        }
        FailureKind::Program => Attempt::Error(LaunchError::Program { operation, reason }),
        FailureKind::Broken => Attempt::Error(LaunchError::SetUp { operation, reason }),
    }
}

/// What a launcher says of what is missing, one layer a line.
impl std::fmt::Display for MissingLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.layer, self.reason)
    }
}
