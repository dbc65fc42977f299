//! The process that confines itself and starts the server: see [`super`].

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use super::protocol::{Failure, FailureKind, Layer, MissingLayer, Order, Report};
use super::wiring::{
    Reports, attend, close_inherited_reports, exit_code, let_go_of_stdio, listen, parent_in_proc,
    read_order, unavailable,
};
use super::{MISUSED, confine, root};
use crate::surroundings::Places;

type Started = (Child, Vec<MissingLayer>);

/// Tier 1: the first process of a PID namespace, which builds the root.
pub(crate) fn first_process(parent: i32) -> u8 {
    run(parent, || {
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
        Ok((start(&order, &places)?, missing))
    })
}

/// Tier 0: confines itself as far as that goes without namespaces; `room` is an empty folder.
pub(crate) fn plain_process(parent: i32, room: &Path) -> u8 {
    run(parent, || {
        let order = read_order()?;
        let places = root::furnish_plainly(&order, room)?;
        let mut missing = Vec::new();
        missing.extend(confine::limits(false));
        missing.extend(confine::forbid_new_privileges());
        missing.extend(confine::drop_capabilities());
        let rules = root::plain_rules(&order, &places, room);
        let files = confine::landlock(&rules, order.network);
        let sockets =
            if order.network { confine::Sockets::Internet } else { confine::Sockets::Local };
        let calls = confine::seccomp(sockets);
        if !order.network && files.is_some() && calls.is_some() {
            missing.push(MissingLayer {
                layer: Layer::Network,
                reason: "neither a namespace, Landlock nor seccomp takes it away".to_owned(),
            });
        }
        missing.extend(files);
        missing.extend(calls);
        Ok((start(&order, &places)?, missing))
    })
}

/// What both tiers have in common: set up, start, report, wait, end as the server did.
fn run(parent: i32, set_up: impl FnOnce() -> Result<Started, Failure>) -> u8 {
    let Some(mut signals) = listen() else { return MISUSED };
    let asked =
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    // `getppid` is 0 where the parent is in another PID namespace; the host's `/proc`, which is
    // still this process's, knows it.
    if asked.is_err() || parent_in_proc().ok() != Some(parent) {
        return MISUSED;
    }
    let Ok(mut reports) = Reports::inherit() else { return MISUSED };
    close_inherited_reports();
    // No controlling terminal, and a process group that a Ctrl-C does not reach.
    let started = rustix::process::setsid()
        .map_err(|error| unavailable("start a session")(error.into()))
        .and_then(|_| set_up());
    match started {
        Ok((server, missing)) => {
            let_go_of_stdio();
            reports.send(&Report::Ready { missing });
            let ended = attend(&mut signals, &server);
            reports.send(&Report::Ended(ended));
            exit_code(ended)
        }
        Err(failure) => {
            reports.send(&Report::Failed(failure));
            MISUSED
        }
    }
}

/// Starts the server, in the surroundings that it was ordered in.
fn start(order: &Order, places: &Places) -> Result<Child, Failure> {
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
