//! What the tests with other people's clients share: a running `oz0 up`, other running programs, and approval.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use oz0_api::change::Approve;
use oz0_peers::Peers;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{OZ0, cache, let_all_through, oz0};

/// How long anything here may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// The pinned programs.
pub(crate) fn peers() -> Peers {
    Peers::find().unwrap_or_else(|error| panic!("{error}"))
}

/// The pinned Node.js.
pub(crate) fn node() -> Command {
    let peers = peers();
    let mut command = Command::new("node");
    command.env("PATH", peers.path());
    command
}

/// Waits until there is a value.
pub(crate) fn eventually<T>(what: &str, mut value: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = value() {
            return value;
        }
        assert!(Instant::now() < until, "{what}: not within {PATIENCE:?}");
        sleep(Duration::from_millis(20));
    }
}

/// A program that runs until the test is over, and what it prints.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
    stdin: Option<ChildStdin>,
}

impl Running {
    /// Starts it; its stderr is this test's.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        // Read whether anybody asks or not: a full pipe would stop it.
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let stdin = child.stdin.take();
        Self { child, lines, stdin }
    }

    /// The next line that it prints; none when it has ended.
    pub(crate) fn line(&self) -> Option<String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("it has said nothing for {PATIENCE:?}"),
        }
    }

    pub(crate) fn stdin(&mut self) -> &mut ChildStdin {
        self.stdin.as_mut().expect("it is open until the end")
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it as a power cut does.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    /// Ends its input, and waits for it to end by itself.
    pub(crate) fn finish(mut self) {
        self.stdin = None;
        let child = &mut self.child;
        let status = eventually("a client ends when its input does", || {
            child.try_wait().expect("a child can be waited for")
        });
        assert!(status.success(), "it ended with {status}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stdin = None;
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        let pid = Pid::from_raw(i32::try_from(self.child.id()).expect("process IDs are small"));
        // Asked first, so that it ends what it has started.
        let _ = kill(pid, Signal::SIGTERM);
        let until = Instant::now() + Duration::from_secs(10);
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A data folder, and what runs on it.
pub(crate) struct House {
    folder: TempDir,
}

impl House {
    pub(crate) fn new() -> Self {
        let house = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        let_all_through(&house.data());
        house
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Serves a plugin's folder to MCP clients over HTTP, until the result is dropped; and the URL.
    pub(crate) fn up(&self, plugin: &Path) -> (Running, String) {
        let mut command =
            oz0(["up", "--json", "--listen", "127.0.0.1:0", "--mcp-listen", "127.0.0.1:0"]);
        command.arg("--data").arg(self.data()).arg(plugin).env("PATH", peers().path());
        let running = Running::start(&mut command);
        let first = running.line().expect("oz0 up says where it listens");
        let first: Value = serde_json::from_str(&first).expect("the first line is JSON");
        let url = first["mcp"].as_str().expect("it names the MCP endpoint").to_owned();
        (running, url)
    }

    /// The command by which an MCP client starts a plugin's gateway on its own stdio.
    pub(crate) fn stdio(&self, plugin: &Path) -> Vec<String> {
        let (data, cache) = (self.data(), cache());
        let text = |path: &Path| path.to_str().expect("paths here are UTF-8").to_owned();
        ["--data", &text(&data), "--cache", &text(&cache), "--quiet", &text(plugin)].iter().fold(
            vec![OZ0.to_owned(), "mcp".to_owned()],
            |mut command, part| {
                command.push((*part).to_owned());
                command
            },
        )
    }

    /// Approves what waits, once this many changes do.
    pub(crate) fn approve(&self, plugin: &str, count: usize) {
        let token = fs::read_to_string(self.data().join("admin.token")).expect("the first token");
        let edge = oz0_api::Client::unix(&self.data().join("oz0.sock")).with_token(token.trim());
        let name = plugin.parse().expect("a plugin's name");
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let changes = eventually("the changes are waiting", || {
            let changes = runtime.block_on(edge.changes(&name)).expect("the edge answers").changes;
            (changes.len() == count).then_some(changes)
        });
        let approve = Approve { changes: changes.into_iter().map(|change| change.id).collect() };
        runtime.block_on(edge.approve(&name, &approve)).expect("they are approved");
    }
}
