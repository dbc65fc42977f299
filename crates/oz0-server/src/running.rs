//! A server that runs, and its end.

use std::io;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::unix::pipe;
use tokio::sync::watch;

use crate::launch::Tier;
use crate::sandbox::protocol::{Ended, MissingLayer, Report};
use crate::stderr::Stderr;

/// How long a server is given at each step of being stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopBounds {
    /// After its stdin was closed, which asks an MCP server to end.
    pub after_close: Duration,
    /// After `SIGTERM`. It is killed then, with all that it started.
    pub after_term: Duration,
}

impl Default for StopBounds {
    /// Two seconds for each.
    fn default() -> Self {
        Self { after_close: Duration::from_secs(2), after_term: Duration::from_secs(2) }
    }
}

/// How long a sandbox may take to end once it was told to kill everything. Tier 0 hunts for ten.
const KILL_BOUND: Duration = Duration::from_secs(15);

/// A server in its sandbox.
///
/// Dropped, it is killed at once with all that it started; [`Running::stop`] is the polite way.
#[derive(Debug)]
pub struct Running {
    stdin: Option<pipe::Sender>,
    stdout: Option<pipe::Receiver>,
    stderr: Stderr,
    tier: Tier,
    missing: Vec<MissingLayer>,
    process: Process,
}

impl Running {
    pub(crate) fn new(
        process: Process,
        stdin: pipe::Sender,
        stdout: pipe::Receiver,
        stderr: Stderr,
        tier: Tier,
        missing: Vec<MissingLayer>,
    ) -> Self {
        Self { stdin: Some(stdin), stdout: Some(stdout), stderr, tier, missing, process }
    }

    /// The server's stdin and stdout, once: `stdin` is `AsyncWrite`, `stdout` is `AsyncRead`.
    /// Dropping the first is what tells a server to end.
    pub fn take_stdio(&mut self) -> Option<(pipe::Sender, pipe::Receiver)> {
        Some((self.stdin.take()?, self.stdout.take()?))
    }

    /// What it says on stderr.
    pub fn stderr(&self) -> &Stderr {
        &self.stderr
    }

    /// How well it is contained.
    pub fn tier(&self) -> &Tier {
        &self.tier
    }

    /// The layers that it does without, each with its reason. Empty where all hold.
    pub fn missing(&self) -> &[MissingLayer] {
        &self.missing
    }

    /// Waits until it has ended, and everything it started with it.
    pub async fn wait(&self) -> Ended {
        self.process.wait().await
    }

    /// Stops it: closes its stdin if that was not taken (whoever took it has to drop it first),
    /// waits, sends `SIGTERM`, waits, kills. Returns when nothing of it is left.
    pub async fn stop(mut self, bounds: StopBounds) -> Ended {
        drop(self.stdin.take());
        if let Ok(ended) = tokio::time::timeout(bounds.after_close, self.process.wait()).await {
            return ended;
        }
        self.process.signal(Signal::TERM);
        if let Ok(ended) = tokio::time::timeout(bounds.after_term, self.process.wait()).await {
            return ended;
        }
        self.process.kill_and_wait().await
    }

    /// Kills it at once. Returns when nothing of it is left.
    pub async fn kill(self) -> Ended {
        self.process.kill_and_wait().await
    }
}

/// The sandbox's process, from oz0's side.
#[derive(Debug)]
pub(crate) struct Process {
    /// A handle that never means another process, whatever happens to the number.
    pidfd: std::os::fd::OwnedFd,
    status: watch::Receiver<Option<ExitStatus>>,
    /// How the server ended, as the sandbox saw it.
    reported: Arc<Mutex<Option<Ended>>>,
}

impl Process {
    /// Waits for the sandbox in a thread of its own, so that it is reaped whatever becomes of the
    /// runtime.
    pub(crate) fn watch(mut child: Child) -> io::Result<Self> {
        let pidfd = match pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) {
            Ok(pidfd) => pidfd,
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(error.into());
            }
        };
        let (done, status) = watch::channel(None);
        std::thread::Builder::new()
            .name("oz0-reaper".to_owned())
            // It only waits.
            .stack_size(64 * 1024)
            .spawn(move || {
                if let Ok(status) = child.wait() {
                    let _ = done.send(Some(status));
                }
            })?;
        Ok(Self { pidfd, status, reported: Arc::default() })
    }

    /// Reads the sandbox's later reports.
    pub(crate) fn follow(&self, mut reports: BufReader<pipe::Receiver>) {
        let reported = Arc::clone(&self.reported);
        tokio::spawn(async move {
            let mut line = String::new();
            while let Ok(1..) = reports.read_line(&mut line).await {
                if let Ok(Report::Ended(ended)) = serde_json::from_str(&line) {
                    *reported.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
                }
                line.clear();
            }
        });
    }

    fn signal(&self, signal: Signal) {
        // It may have ended already: then there is nobody to tell.
        let _ = pidfd_send_signal(&self.pidfd, signal);
    }

    async fn wait(&self) -> Ended {
        let mut status = self.status.clone();
        let status = match status.wait_for(Option::is_some).await {
            Ok(status) => *status,
            Err(_) => None,
        };
        let reported = *self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        reported.unwrap_or_else(|| {
            use std::os::unix::process::ExitStatusExt;
            let signal = status.and_then(|status| status.signal());
            match (signal, status.and_then(|status| status.code())) {
                (None, Some(code)) if code > 128 => Ended::Signalled(code - 128),
                (None, Some(code)) => Ended::Exited(code),
                (signal, None) => Ended::Signalled(signal.unwrap_or(libc::SIGKILL)),
                (Some(signal), _) => Ended::Signalled(signal),
            }
        })
    }

    /// Tells the sandbox to kill everything, and kills it should it not.
    pub(crate) async fn kill_and_wait(&self) -> Ended {
        self.signal(Signal::USR1);
        if let Ok(ended) = tokio::time::timeout(KILL_BOUND, self.wait()).await {
            return ended;
        }
        self.signal(Signal::KILL);
        self.wait().await
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::USR1);
    }
}
