//! Servers that are real processes, in both tiers of the sandbox.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod containment;
mod environments;
mod isolation;
mod launching;
mod sharing;
mod surroundings;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use oz0_server::{LaunchSpec, Launcher, Running, TierChoice};
use tokio::io::AsyncReadExt;

/// The program that becomes the sandbox.
const PROGRAM: &str = env!("CARGO_BIN_EXE_oz0-launch");

/// Both tiers: what holds in one has to hold in the other.
fn tiers() -> [TierChoice; 2] {
    [TierChoice::Best, TierChoice::Zero { reason: "a test asks for it".to_owned() }]
}

/// A folder of a plugin, with a cache beside it.
struct Bench {
    root: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("plugin")).unwrap();
        Self { root }
    }

    fn folder(&self) -> PathBuf {
        self.root.path().join("plugin")
    }

    fn cache(&self) -> PathBuf {
        self.root.path().join("cache")
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.folder().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn launcher(&self, tier: &TierChoice) -> Launcher {
        Launcher::new(PROGRAM, &self.cache(), tier.clone()).unwrap()
    }

    fn spec(&self, argv: &[&str]) -> LaunchSpec {
        LaunchSpec::new(self.folder(), argv.iter().map(|word| (*word).to_owned()).collect())
    }

    /// A server of these lines of Python.
    fn python(&self, script: &str) -> LaunchSpec {
        self.write("server.py", script);
        self.spec(&["python3", "server.py"])
    }

    /// Starts another oz0, as a process that a test can kill.
    fn other_oz0(&self, spec: &LaunchSpec, tier: &TierChoice) -> Child {
        let mut command = Command::new(PROGRAM);
        command.arg(self.cache()).arg(serde_json::to_string(spec).unwrap());
        if let TierChoice::Zero { reason } = tier {
            command.arg(reason);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

/// Everything that a server writes to stdout until it ends; its stdin is closed at once.
async fn output(mut running: Running) -> String {
    let (stdin, mut stdout) = running.take_stdio().unwrap();
    drop(stdin);
    let mut text = String::new();
    stdout.read_to_string(&mut text).await.unwrap();
    running.wait().await;
    text
}

/// A word that no other process has on its command line.
fn token(name: &str) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{name}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The processes of this machine whose command line has the token: the server's, whichever PID
/// namespace they are in. The test's own, and the other oz0 that was given the specification, are
/// told by their program.
fn processes(token: &str) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            let path = Path::new("/proc").join(i32::to_string(pid));
            let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).into_owned();
            line.contains(token) && !line.starts_with(PROGRAM)
        })
        .collect()
}

/// Waits until something holds, for ten seconds at most.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < deadline, "not within 10 s: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
