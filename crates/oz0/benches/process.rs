//! Whole processes of the built `oz0`, beside what they are compared with, in turn in one run.
//!
//! `cargo bench -p oz0 --bench process`. Needs what `cargo xtask setup` installs.
#![expect(clippy::print_stdout, reason = "a bench prints its results")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use oz0_peers::Peers;

mod timing;

use timing::{Times, in_turn, millis, quiet, wall};

const OZ0: &str = env!("CARGO_BIN_EXE_oz0");

fn main() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a checkout");
    let team = checkout.join("examples/team");
    let folder = tempfile::tempdir().expect("a temporary folder");

    let small = folder.path().join("small.py");
    fs::write(&small, "import json\n\nprint(json.dumps({\"a\": 1}))\n").expect("a file");
    let ruff = Peers::find().expect("cargo xtask setup was run").python_program("ruff");
    let inspect = || wall(Command::new(OZ0).args(["plugin", "inspect"]).arg(&team));
    let check =
        || wall(Command::new(&ruff).args(["check", "--no-cache", "--isolated"]).arg(&small));
    let [inspect, check] = in_turn([&inspect, &check]);
    row(
        "plugin inspect examples/team, wall",
        &inspect,
        "ruff check of one small file, wall",
        &check,
    );

    let plugin = folder.path().join("team");
    copy(&team, &plugin);
    let test = || {
        cpu(|| {
            quiet(Command::new(OZ0).args(["plugin", "test", "--no-contract-tests"]).arg(&plugin));
        })
    };
    let python = interpreter();
    let servers = || cpu(|| (0..3).for_each(|_| serve_once(&python, &plugin)));
    let [test, servers] = in_turn([&test, &servers]);
    row(
        "plugin test examples/team, CPU of all processes",
        &test,
        "its server three times by hand, CPU",
        &servers,
    );
    // Signed: a negative difference would say that the comparison is wrong, and must not pass for a good result.
    println!(
        "oz0's own CPU in plugin test: {:.1} ms (goal: at most 50 ms)",
        millis(test.median()) - millis(servers.median())
    );
}

fn row(name: &str, times: &Times, beside: &str, other: &Times) {
    println!(
        "{name}: {}; {beside}: {}; ratio {:.2}",
        times.told(),
        other.told(),
        times.ratio(other)
    );
}

/// The processor time of the processes that `run` starts and waits for, their descendants included.
fn cpu(run: impl FnOnce()) -> Duration {
    let spent = || {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("usage of children");
        let both = usage.user_time() + usage.system_time();
        Duration::from_micros(
            u64::try_from(both.tv_sec() * 1_000_000 + both.tv_usec()).expect("positive"),
        )
    };
    let before = spent();
    run();
    spent().saturating_sub(before)
}

/// The interpreter itself, which is what the sandbox starts: `python3` on a PATH may be a script that looks for it.
fn interpreter() -> String {
    let script = "import os, sys; print(os.path.realpath(sys.executable))";
    let output = Command::new("python3").args(["-c", script]).output().expect("python3 runs");
    String::from_utf8(output.stdout).expect("a path").trim().to_owned()
}

/// What a look does with a server, without anything around it.
fn serve_once(python: &str, plugin: &Path) {
    let mut server: Child = Command::new(python)
        .arg("server.py")
        .current_dir(plugin)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the server starts");
    let mut input = server.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(server.stdout.take().expect("a pipe")).lines();
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"oz0","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"sampling":{}}}"#;
    for (id, method) in ["server/discover", "tools/list"].iter().enumerate() {
        writeln!(input, r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{meta}}}}}"#)
            .expect("it reads");
        let answer = lines.next().expect("it answers").expect("it answers in UTF-8");
        assert!(answer.contains("\"result\""), "{answer}");
    }
    drop(input);
    assert!(server.wait().expect("it ends").success());
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a file");
        }
    }
}
