//! Nothing that a server starts outlives it, whichever way it ends or oz0 does.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use oz0_server::{Ended, LaunchSpec, StopBounds, TierChoice};
use rustix::process::{Pid, Signal};

use crate::{Bench, PROGRAM, eventually, processes, tiers, token};

/// A server that leaves a daemon: forked twice, in a session of its own, deaf to every signal that
/// can be ignored, with no descriptor of its parent's. Both have the token on their command line.
const WITH_DAEMON: &str = r"
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(1, 32):
            if number not in (signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD):
                signal.signal(number, signal.SIG_IGN)
        null = os.open('/dev/null', os.O_RDWR)
        for number in range(3): os.dup2(null, number)
        while True: time.sleep(1)
    os._exit(0)
os.wait()
print('started', flush=True)
MODE = sys.argv[1]
if MODE == 'deaf': signal.signal(signal.SIGTERM, signal.SIG_IGN)
if MODE == 'crash': os.kill(os.getpid(), signal.SIGSEGV)
if MODE == 'exit': sys.exit(7)
sys.stdin.read()
while MODE in ('deaf', 'stays'): time.sleep(1)
";

const QUICK: StopBounds =
    StopBounds { after_close: Duration::from_millis(100), after_term: Duration::from_millis(100) };

fn with_daemon(bench: &Bench, mode: &str, token: &str) -> LaunchSpec {
    bench.write("server.py", WITH_DAEMON);
    bench.spec(&["python3", "server.py", mode, token])
}

/// Starts it, waits until server and daemon are there, ends it, and looks.
async fn ends(mode: &str, tier: &TierChoice) -> Ended {
    let bench = Bench::new();
    let token = token("daemon");
    let running = bench.launcher(tier).start(&with_daemon(&bench, mode, &token)).await.unwrap();
    if !matches!(mode, "exit" | "crash") {
        eventually("server and daemon run", || processes(&token).len() == 2);
    }
    let ended = match mode {
        "exit" | "crash" => running.wait().await,
        _ => running.stop(QUICK).await,
    };
    assert_eq!(processes(&token), [0; 0], "something of {mode} is left");
    ended
}

#[tokio::test]
async fn a_daemon_ends_with_a_server_that_ends_by_itself() {
    for tier in tiers() {
        assert_eq!(ends("exit", &tier).await, Ended::Exited(7));
    }
}

#[tokio::test]
async fn a_daemon_ends_with_a_server_that_crashes() {
    for tier in tiers() {
        assert_eq!(ends("crash", &tier).await, Ended::Signalled(11));
    }
}

#[tokio::test]
async fn a_daemon_ends_with_a_server_whose_stdin_is_closed() {
    for tier in tiers() {
        assert_eq!(ends("polite", &tier).await, Ended::Exited(0));
    }
}

#[tokio::test]
async fn a_server_that_stays_is_told_to_terminate() {
    for tier in tiers() {
        assert_eq!(ends("stays", &tier).await, Ended::Signalled(15));
    }
}

#[tokio::test]
async fn a_server_deaf_to_sigterm_is_killed() {
    for tier in tiers() {
        assert_eq!(ends("deaf", &tier).await, Ended::Signalled(9));
    }
}

#[tokio::test]
async fn a_running_server_that_is_dropped_is_killed() {
    for tier in tiers() {
        let bench = Bench::new();
        let token = token("dropped");
        let spec = with_daemon(&bench, "deaf", &token);
        let running = bench.launcher(&tier).start(&spec).await.unwrap();
        eventually("server and daemon run", || processes(&token).len() == 2);
        drop(running);
        eventually("nothing is left", || processes(&token).is_empty());
    }
}

#[tokio::test]
async fn a_start_that_is_cancelled_leaves_nothing() {
    for tier in tiers() {
        let bench = Bench::new();
        let launcher = bench.launcher(&tier);
        let token = token("cancelled");
        let spec = with_daemon(&bench, "deaf", &token);
        for microseconds in (0..12_000).step_by(600) {
            let limit = Duration::from_micros(microseconds);
            drop(tokio::time::timeout(limit, launcher.start(&spec)).await);
        }
        eventually("nothing is left", || {
            processes(&token).is_empty() && sandboxes_of(std::process::id()).is_empty()
        });
    }
}

/// The sandbox processes that a process has started.
fn sandboxes_of(parent: u32) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words: Vec<&str> = line.split('\0').collect();
            words.get(1) == Some(&"__sandbox")
                && words.contains(&parent.to_string().as_str())
                && words.get(2) == Some(&"outer")
        })
        .collect()
}

#[test]
fn killing_oz0_outright_leaves_nothing() {
    for tier in tiers() {
        let bench = Bench::new();
        let token = token("killed");
        let mut oz0 = bench.other_oz0(&with_daemon(&bench, "deaf", &token), &tier);
        eventually("server and daemon run", || processes(&token).len() == 2);
        oz0.kill().unwrap();
        oz0.wait().unwrap();
        eventually("nothing is left", || processes(&token).is_empty());
    }
}

#[test]
fn killing_oz0_outright_while_it_starts_leaves_nothing() {
    for tier in tiers() {
        let bench = Bench::new();
        let token = token("young");
        let spec = with_daemon(&bench, "deaf", &token);
        for microseconds in (0..60_000).step_by(2_500) {
            let mut oz0 = bench.other_oz0(&spec, &tier);
            let id = oz0.id();
            std::thread::sleep(Duration::from_micros(microseconds));
            oz0.kill().unwrap();
            oz0.wait().unwrap();
            eventually("nothing is left", || {
                processes(&token).is_empty() && sandboxes_of(id).is_empty()
            });
        }
    }
}

#[test]
fn killing_the_sandbox_between_leaves_nothing_in_tier_1() {
    let bench = Bench::new();
    let token = token("between");
    let mut oz0 = bench.other_oz0(&with_daemon(&bench, "deaf", &token), &TierChoice::Best);
    eventually("server and daemon run", || processes(&token).len() == 2);
    let [outer] = sandboxes_of(oz0.id())[..] else { panic!("there is one sandbox") };
    rustix::process::kill_process(Pid::from_raw(outer).unwrap(), Signal::KILL).unwrap();
    eventually("nothing is left", || processes(&token).is_empty());
    assert_eq!(oz0.wait().unwrap().code(), Some(137));
}

/// As a terminal does it: the whole foreground process group is interrupted.
#[test]
fn an_interrupt_reaches_oz0_alone_and_the_server_is_stopped_in_order() {
    for tier in tiers() {
        let bench = Bench::new();
        let token = token("interrupted");
        let spec = with_daemon(&bench, "polite", &token);
        let mut command = Command::new(PROGRAM);
        command.arg(bench.cache()).arg(serde_json::to_string(&spec).unwrap());
        if let TierChoice::Zero { reason } = &tier {
            command.arg(reason);
        }
        let stdio = || Stdio::piped();
        let mut oz0 = command
            .process_group(0)
            .stdin(stdio())
            .stdout(stdio())
            .stderr(stdio())
            .spawn()
            .unwrap();
        eventually("server and daemon run", || processes(&token).len() == 2);
        let started = Instant::now();
        rustix::process::kill_process_group(Pid::from_child(&oz0), Signal::INT).unwrap();
        // The server's own answer to its closed stdin: a Ctrl-C that reached it, or a signal of
        // oz0's, would have been another.
        assert_eq!(oz0.wait().unwrap().code(), Some(0));
        assert!(started.elapsed() < Duration::from_millis(1500));
        assert_eq!(processes(&token), [0; 0]);
    }
}

#[tokio::test]
async fn tier_0_leaves_no_temporary_folder() {
    let bench = Bench::new();
    let [_, tier] = tiers();
    let spec = bench.spec(&["sh", "-c", "echo $HOME; mkdir -p $HOME/a/b; touch $HOME/a/b/c"]);
    let running = bench.launcher(&tier).start(&spec).await.unwrap();
    let home = crate::output(running).await;
    let room = std::path::Path::new(home.trim()).parent().unwrap().to_owned();
    assert!(room.file_name().unwrap().to_str().unwrap().starts_with("oz0-"));
    assert!(!room.exists());
}

#[test]
fn an_installer_does_not_outlive_oz0() {
    let token = token("installer");
    // A shell that is the parent oz0 of an attached process, and is killed outright.
    let script = format!("{PROGRAM} __sandbox attached $$ sh -c 'sleep 1000; : {token}' & wait");
    let mut oz0 = Command::new("sh").args(["-c", &script]).arg(PROGRAM).spawn().unwrap();
    let shell = Pid::from_child(&oz0).as_raw_nonzero().get();
    eventually("the installer runs", || processes(&token).iter().any(|pid| *pid != shell));
    oz0.kill().unwrap();
    oz0.wait().unwrap();
    eventually("nothing is left", || processes(&token).is_empty());
}
