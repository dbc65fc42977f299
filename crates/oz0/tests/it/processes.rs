//! Nothing that a plugin starts outlives `oz0`, however `oz0` ends.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{folder, oz0};

/// A server that starts a daemon in a session of its own, deaf to every polite signal, and then says nothing.
const SERVER: &str = r#"
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, ["daemon", "-c", "import time; time.sleep(600)", MARK])
    os._exit(0)
open(os.environ["TMPDIR"] + "/started", "w").close()
time.sleep(600)
"#;

/// The processes whose command line has the mark.
fn marked(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("/proc is there").flatten() {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(mark) && !line.contains("plugin test") {
            found.push(line);
        }
    }
    found
}

fn within(bound: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + bound;
    while Instant::now() < end {
        if holds() {
            return true;
        }
        sleep(Duration::from_millis(20));
    }
    holds()
}

fn started(tier_zero: bool, mark: &str) -> (tempfile::TempDir, Child) {
    let manifest = format!(
        "name: deaf\nversion: 1.0.0\ndescription: d\nlicense: MIT\ntools:\n  deaf:\n    mcp: {{command: [python3, server.py, {mark}]}}\n"
    );
    let plugin = folder(&[
        ("oz0-plugin.yaml", &manifest),
        ("server.py", &SERVER.replace("MARK", &format!("\"{mark}\""))),
    ]);
    let mut command: Command = oz0(["plugin", "test"]);
    command.arg(plugin.path()).stdout(Stdio::null()).stderr(Stdio::null());
    if tier_zero {
        command.env("OZ0_SANDBOX", "0");
    }
    let child = command.spawn().expect("oz0 starts");
    let both =
        || marked(mark).iter().any(|line| line.starts_with("daemon")) && marked(mark).len() >= 2;
    assert!(
        within(Duration::from_mins(1), both),
        "the server and its daemon run: {:?}",
        marked(mark)
    );
    (plugin, child)
}

fn signal(child: &Child, name: &str) {
    let sent =
        Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
}

fn leaves_nothing(tier_zero: bool, name: &str) {
    let mark = format!(
        "mark-{}-{}-{}",
        std::process::id(),
        name.trim_start_matches('-'),
        u8::from(tier_zero)
    );
    let (plugin, mut child) = started(tier_zero, &mark);
    signal(&child, name);
    assert!(within(Duration::from_secs(30), || child
        .try_wait()
        .expect("it can be waited for")
        .is_some()));
    assert!(
        within(Duration::from_secs(15), || marked(&mark).is_empty()),
        "{name}: {:?}",
        marked(&mark)
    );
    assert!(!Path::new(plugin.path()).join("tools.listing.json").exists());
}

#[test]
fn kill_minus_9_leaves_nothing() {
    leaves_nothing(false, "-KILL");
}

#[test]
fn ctrl_c_leaves_nothing() {
    leaves_nothing(false, "-INT");
}

#[test]
fn termination_leaves_nothing() {
    leaves_nothing(false, "-TERM");
}

#[test]
fn kill_minus_9_leaves_nothing_in_tier_0() {
    leaves_nothing(true, "-KILL");
}

#[test]
fn ctrl_c_leaves_nothing_in_tier_0() {
    leaves_nothing(true, "-INT");
}
