//! The process between oz0 and a server: see [`super`].

use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use nix::sched::CloneFlags;
use nix::sys::signal::{SigSet, Signal};
use rustix::process::{Pid, WaitOptions};

use super::protocol::{Failure, FailureKind, Report};
use super::wiring::{
    KILL_ALL, Reports, block_signals, close_inherited_reports, close_strays, let_go_of_stdio,
    pid_in_proc, unavailable,
};
use super::{MISUSED, SANDBOX_ARGUMENT, confine, inner, processes, root};

/// Asks the kernel for a signal when the launcher ends, and ends if that was before it was asked.
fn die_with(parent: i32, signal: rustix::process::Signal) -> bool {
    rustix::process::set_parent_process_death_signal(Some(signal)).is_ok()
        && rustix::process::getppid().is_some_and(|pid| pid.as_raw_nonzero().get() == parent)
}

/// Tier 1: leaves the host's namespaces and starts the first process of the new ones.
pub(crate) fn namespaces(parent: i32, network: bool) -> u8 {
    let signals = block_signals();
    if !die_with(parent, rustix::process::Signal::KILL) {
        return MISUSED;
    }
    close_strays();
    let Ok(mut reports) = Reports::inherit() else { return MISUSED };
    match start_inner(parent, network) {
        Ok(mut child) => {
            close_inherited_reports();
            let_go_of_stdio();
            drop(reports);
            attend(&signals, &mut child)
        }
        Err(failure) => {
            reports.send(&Report::Failed(failure));
            MISUSED
        }
    }
}

fn start_inner(parent: i32, network: bool) -> Result<Child, Failure> {
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
    if !die_with(parent, rustix::process::Signal::KILL) {
        return Err(Failure {
            kind: FailureKind::Broken,
            operation: "stay with the launcher".to_owned(),
            reason: "it has ended".to_owned(),
        });
    }
    let me = pid_in_proc().map_err(unavailable("read /proc/self"))?;
    Command::new("/proc/self/exe")
        .arg0("oz0")
        .args([SANDBOX_ARGUMENT, "inner", &me.to_string()])
        .env_clear()
        .spawn()
        .map_err(unavailable("start the first process of a PID namespace"))
}

/// Waits for the first process, and passes on what the launcher wants of it.
fn attend(signals: &SigSet, child: &mut Child) -> u8 {
    let pid = Pid::from_child(child);
    loop {
        match signals.wait() {
            Ok(Signal::SIGCHLD) => {
                if let Ok(Some(status)) = child.try_wait() {
                    return status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(137);
                }
            }
            Ok(Signal::SIGTERM) => {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            }
            Ok(signal) if signal == KILL_ALL => {
                let _ = child.kill();
            }
            // Ctrl-C and a closed terminal are the launcher's to act on.
            Ok(_) => {}
            Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return MISUSED;
            }
        }
    }
}

/// Tier 0: stays the parent of everything the server leaves behind.
pub(crate) fn sub_reaper(parent: i32) -> u8 {
    let signals = block_signals();
    if !die_with(parent, rustix::process::Signal::USR1) {
        return MISUSED;
    }
    close_strays();
    let Ok(mut reports) = Reports::inherit() else { return MISUSED };
    close_inherited_reports();
    match start_plainly() {
        Ok((mut server, missing, room)) => {
            let_go_of_stdio();
            reports.send(&Report::Ready { missing });
            let ended = inner::attend(&signals, &mut server);
            processes::end_descendants();
            // A server that made a directory unreadable keeps it; nothing else can be done.
            let _ = room.close();
            reports.send(&Report::Ended(ended));
            inner::exit_code(ended)
        }
        Err(failure) => {
            processes::end_descendants();
            reports.send(&Report::Failed(failure));
            MISUSED
        }
    }
}

type Started = (Child, Vec<super::protocol::MissingLayer>, tempfile::TempDir);

fn start_plainly() -> Result<Started, Failure> {
    let broken = |operation: &str| {
        let operation = operation.to_owned();
        move |error: std::io::Error| Failure {
            kind: FailureKind::Broken,
            operation,
            reason: error.to_string(),
        }
    };
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| broken("become the parent of orphans")(error.into()))?;
    let order = super::wiring::read_order()?;
    let room = tempfile::Builder::new()
        .prefix("oz0-")
        .tempdir()
        .map_err(broken("make a temporary folder"))?;
    let places = root::furnish_plainly(&order, room.path())?;
    let mut missing: Vec<_> = confine::limits(false).into_iter().collect();
    missing.extend(confine::forbid_new_privileges());
    missing.extend(confine::landlock(&root::plain_rules(&order, &places, room.path()), order.network));
    missing.extend(confine::seccomp(if order.network {
        confine::Sockets::Internet
    } else {
        confine::Sockets::Local
    }));
    let server = inner::start(&order, &places)?;
    Ok((server, missing, room))
}

/// Waits for whatever child has ended, if one has.
pub(crate) fn reap() -> Option<(Pid, rustix::process::WaitStatus)> {
    rustix::process::wait(WaitOptions::NOHANG).ok().flatten()
}
