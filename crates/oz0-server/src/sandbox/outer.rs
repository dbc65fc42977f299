//! The process between oz0 and a server: see [`super`].

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use nix::sched::CloneFlags;
use rustix::process::Signal;

use super::protocol::{Failure, FailureKind, Report};
use super::wiring::{
    Reports, attend, close_inherited_reports, close_strays, exit_code, let_go_of_stdio, listen,
    pid_in_proc, unavailable,
};
use super::{MISUSED, SANDBOX_ARGUMENT, confine, processes};

/// Asks the kernel for a signal when the launcher ends, and looks whether that was before it was
/// asked.
fn die_with(parent: i32, signal: Signal) -> bool {
    rustix::process::set_parent_process_death_signal(Some(signal)).is_ok()
        && rustix::process::getppid().is_some_and(|pid| pid.as_raw_nonzero().get() == parent)
}

/// Tier 1: leaves the host's namespaces and starts the first process of the new ones.
pub(crate) fn namespaces(parent: i32, network: bool) -> u8 {
    run(parent, Signal::KILL, || {
        leave(parent, network)?;
        let me = pid_in_proc().map_err(unavailable("read /proc/self"))?;
        start_inner(&["inner".as_ref(), me.to_string().as_ref()])
            .map_err(unavailable("start the first process of a PID namespace"))
    })
}

/// Tier 0: stays the parent of everything that the server leaves behind, and kills it in the end.
/// Being confined is for the process below it, which therefore cannot kill this one.
pub(crate) fn sub_reaper(parent: i32) -> u8 {
    let mut room = None;
    let code = run(parent, Signal::USR1, || {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
            .map_err(|error| broken("become the parent of orphans")(error.into()))?;
        let folder = tempfile::Builder::new()
            .prefix("oz0-")
            .tempdir()
            .map_err(broken("make a temporary folder"))?;
        let me = rustix::process::getpid().as_raw_nonzero().to_string();
        let child = start_inner(&["inner-plain".as_ref(), me.as_ref(), folder.path().as_os_str()])
            .map_err(broken("start the sandbox's second process"))?;
        room = Some(folder);
        Ok(child)
    });
    processes::end_descendants();
    // A server that made a directory of its own unreadable keeps that one.
    drop(room);
    code
}

/// Runs an installer, unconfined, that is not to outlive oz0 either.
pub(crate) fn attached(parent: i32, program: &OsStr, arguments: &[OsString]) -> u8 {
    close_strays();
    let Some(mut signals) = listen() else { return MISUSED };
    if !die_with(parent, Signal::USR1) {
        return MISUSED;
    }
    // Where it cannot be had, an installer that leaves something behind is not hindered.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let code = match Command::new(program).args(arguments).spawn() {
        Ok(child) => exit_code(attend(&mut signals, &child)),
        Err(error) => {
            let _ = writeln!(io::stderr(), "could not run {}: {error}", program.display());
            NOT_RUN
        }
    };
    processes::end_descendants();
    code
}

/// The exit code of [`attached`] where the program did not start, as a shell has it.
const NOT_RUN: u8 = 127;

/// What both tiers have in common: start the inner process, wait for it, end as it did.
fn run(parent: i32, death: Signal, start: impl FnOnce() -> Result<Child, Failure>) -> u8 {
    close_strays();
    let Some(mut signals) = listen() else { return MISUSED };
    if !die_with(parent, death) {
        return MISUSED;
    }
    let Ok(mut reports) = Reports::inherit() else { return MISUSED };
    match start() {
        Ok(child) => {
            close_inherited_reports();
            let_go_of_stdio();
            drop(reports);
            exit_code(attend(&mut signals, &child))
        }
        Err(failure) => {
            reports.send(&Report::Failed(failure));
            MISUSED
        }
    }
}

fn start_inner(words: &[&OsStr]) -> io::Result<Child> {
    Command::new("/proc/self/exe").arg0("oz0").arg(SANDBOX_ARGUMENT).args(words).env_clear().spawn()
}

fn leave(parent: i32, network: bool) -> Result<(), Failure> {
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let mut flags = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    if !network {
        flags |= CloneFlags::CLONE_NEWNET;
    }
    nix::sched::unshare(flags)
        .map_err(|error| unavailable("leave the host's namespaces")(error.into()))?;
    confine::map_ids((0, uid), (0, gid)).map_err(unavailable("map the user"))?;
    // Leaving a user namespace changes credentials, and some changes of those forget this.
    if die_with(parent, Signal::KILL) {
        Ok(())
    } else {
        Err(broken("stay with the launcher")(io::Error::other("it has ended")))
    }
}

fn broken(operation: &'static str) -> impl FnOnce(io::Error) -> Failure {
    move |error| Failure {
        kind: FailureKind::Broken,
        operation: operation.to_owned(),
        reason: error.to_string(),
    }
}
