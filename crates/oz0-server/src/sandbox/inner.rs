//! The first process of a server's PID namespace: see [`super`].

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use nix::sys::signal::{SigSet, Signal};
use rustix::process::{Pid, WaitStatus};

use super::protocol::{Ended, Failure, FailureKind, MissingLayer, Order, Report};
use super::wiring::{
    KILL_ALL, Reports, block_signals, close_inherited_reports, let_go_of_stdio, parent_in_proc,
    read_order, unavailable,
};
use super::{MISUSED, confine, outer, root};
use crate::surroundings::Places;

/// Builds the server's root, confines itself, starts the server and stays until it ends.
pub(crate) fn first_process(parent: i32) -> u8 {
    let signals = block_signals();
    let die = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    // `getppid` is 0 here, where the parent is in another namespace; the host's `/proc`, which is
    // still this process's, knows it.
    if die.is_err() || parent_in_proc().ok() != Some(parent) {
        return MISUSED;
    }
    let Ok(mut reports) = Reports::inherit() else { return MISUSED };
    close_inherited_reports();
    match set_up() {
        Ok((mut server, missing)) => {
            let_go_of_stdio();
            reports.send(&Report::Ready { missing });
            let ended = attend(&signals, &mut server);
            reports.send(&Report::Ended(ended));
            exit_code(ended)
        }
        Err(failure) => {
            reports.send(&Report::Failed(failure));
            MISUSED
        }
    }
}

fn set_up() -> Result<(Child, Vec<MissingLayer>), Failure> {
    // No controlling terminal, and a process group that a Ctrl-C does not reach.
    rustix::process::setsid().map_err(|error| unavailable("start a session")(error.into()))?;
    let order = read_order()?;
    let places = Places::fixed(order.variation);
    let mut missing = Vec::new();
    if !order.network {
        missing.extend(confine::raise_loopback());
    }
    missing.extend(root::build(&order, &places)?);
    missing.extend(confine::limits(true));
    missing.extend(confine::forbid_new_privileges());
    confine::leave_root()?;
    missing.extend(confine::drop_capabilities());
    missing.extend(confine::landlock(&root::fixed_rules(&order, &places), true));
    missing.extend(confine::seccomp(confine::Sockets::Internet));
    let server = start(&order, &places)?;
    Ok((server, missing))
}

/// Starts the server, in the surroundings that it was ordered in.
pub(crate) fn start(order: &Order, places: &Places) -> Result<Child, Failure> {
    let Some((name, arguments)) = order.argv.split_first() else {
        return Err(no_program("", "the command is empty"));
    };
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    let environment = order.variation.environment(places, &order.declared);
    let path = environment.get("PATH").map_or("", String::as_str);
    let program = find_program(name, path, &places.folder)?;
    Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(&environment)
        .current_dir(&places.folder)
        .spawn()
        .map_err(|error| {
            // A script whose interpreter is missing fails as if the script were.
            let reason = match error.kind() {
                std::io::ErrorKind::NotFound => {
                    "the interpreter that its first line names is missing".to_owned()
                }
                _ => error.to_string(),
            };
            no_program(name, &reason)
        })
}

fn no_program(name: &str, reason: &str) -> Failure {
    Failure {
        kind: FailureKind::Program,
        operation: format!("run {name}"),
        reason: reason.to_owned(),
    }
}

/// The program that a shell would run: by `PATH` for a bare name, else below the plugin's folder.
fn find_program(name: &str, path: &str, folder: &Path) -> Result<PathBuf, Failure> {
    let is_program = |candidate: &Path| {
        candidate
            .metadata()
            .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        let candidate = folder.join(name);
        return if is_program(&candidate) {
            Ok(candidate)
        } else if candidate.exists() {
            Err(no_program(name, "it is no executable file"))
        } else {
            Err(no_program(name, "there is no such file where the server runs"))
        };
    }
    path.split(':')
        .map(|directory| Path::new(directory).join(name))
        .find(|candidate| is_program(candidate))
        .ok_or_else(|| no_program(name, &format!("no such program on its PATH, {path}")))
}

/// Waits for the server to end, reaps whatever else ends, and passes on what the launcher wants.
pub(crate) fn attend(signals: &SigSet, server: &mut Child) -> Ended {
    let pid = Pid::from_child(server);
    loop {
        match signals.wait() {
            Ok(Signal::SIGCHLD) => {
                while let Some((ended, status)) = outer::reap() {
                    if ended == pid {
                        return how(status);
                    }
                }
            }
            Ok(Signal::SIGTERM) => {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            }
            Ok(signal) if signal == KILL_ALL => {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            Ok(_) => {}
            Err(_) => return Ended::Signalled(libc::SIGKILL),
        }
    }
}

fn how(status: WaitStatus) -> Ended {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Ended::Exited(code),
        (None, Some(signal)) => Ended::Signalled(signal),
        (None, None) => Ended::Signalled(libc::SIGKILL),
    }
}

/// As a shell would: the code, or 128 and the signal's number.
pub(crate) fn exit_code(ended: Ended) -> u8 {
    let code = match ended {
        Ended::Exited(code) => code,
        Ended::Signalled(signal) => 128 + signal,
    };
    u8::try_from(code).unwrap_or(MISUSED)
}
