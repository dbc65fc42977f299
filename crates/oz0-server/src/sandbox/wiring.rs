//! What both processes of the sandbox do with descriptors, signals and their parent.

use std::fs::File;
use std::io::{self, Write};
use std::process::Child;

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

use super::MISUSED;
use super::protocol::{Ended, Failure, FailureKind, ORDER_LIMIT, Order, REPORTS, Report};

/// *Kill everything and end*: what the launcher sends to a sandbox. A signal of its own, since
/// `SIGTERM` is passed on to the server, and since a sub-reaper must never be killed outright.
pub(crate) const KILL_ALL: i32 = SIGUSR1;

/// Listens for the signals that the sandbox acts on; before anything else is done, so that none is
/// lost and none ends it. By handlers, not by a mask: a child gets neither, but it would inherit
/// the mask.
pub(crate) fn listen() -> Option<Signals> {
    Signals::new([SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, KILL_ALL]).ok()
}

/// The pipe to the launcher.
pub(crate) struct Reports(File);

impl Reports {
    /// Takes the inherited descriptor. It is opened anew through `/proc`, which is how a number
    /// becomes an owned descriptor without trusting it, and closed on `exec` from then on.
    pub(crate) fn inherit() -> io::Result<Self> {
        let file = File::options().write(true).open(format!("/proc/self/fd/{REPORTS}"))?;
        Ok(Self(file))
    }

    /// Tells the launcher. That it is gone is noticed elsewhere (see [`super`]).
    pub(crate) fn send(&mut self, report: &Report) {
        let mut line = serde_json::to_vec(report).expect("a report is plain data");
        line.push(b'\n');
        let _ = self.0.write_all(&line);
    }
}

/// Closes the inherited descriptor itself, so that no child gets it.
pub(crate) fn close_inherited_reports() {
    let _ = nix::unistd::close(REPORTS);
}

/// Closes whatever the launcher's own parent let slip into it, but the first four. To be called
/// before this process opens anything itself.
pub(crate) fn close_strays() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let numbers: Vec<i32> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number > REPORTS)
        .collect();
    for number in numbers {
        // One of them was the directory just read, which is closed already: an error to ignore.
        let _ = nix::unistd::close(number);
    }
}

/// Points stdin and stdout at nothing, so that the server's are its own: the launcher sees the
/// end of its output when it closes it, and a broken pipe when it stops reading.
pub(crate) fn let_go_of_stdio() {
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
    }
}

/// Reads the order from stdin: not a byte more, since the rest is the server's.
pub(crate) fn read_order() -> Result<Order, Failure> {
    let fail = |reason: String| Failure {
        kind: FailureKind::Broken,
        operation: "read what to start".to_owned(),
        reason,
    };
    let mut length = [0; 4];
    read_exactly(&mut length).map_err(|error| fail(error.to_string()))?;
    let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
    if length > ORDER_LIMIT {
        return Err(fail(format!("{length} bytes are above the limit of {ORDER_LIMIT}")));
    }
    let mut order = vec![0; length];
    read_exactly(&mut order).map_err(|error| fail(error.to_string()))?;
    serde_json::from_slice(&order).map_err(|error| fail(error.to_string()))
}

fn read_exactly(mut buffer: &mut [u8]) -> io::Result<()> {
    while !buffer.is_empty() {
        match rustix::io::read(rustix::stdio::stdin(), &mut *buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => buffer = &mut buffer[count..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The process ID that `/proc` knows this process by, which after a change of PID namespace is
/// not the one that `getpid` gives.
pub(crate) fn pid_in_proc() -> io::Result<i32> {
    let link = std::fs::read_link("/proc/self")?;
    link.to_str()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The parent's process ID as `/proc` knows it.
pub(crate) fn parent_in_proc() -> io::Result<i32> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok())
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// A failure of the first tier's own set-up.
pub(crate) fn unavailable<'a>(
    operation: impl Into<String> + 'a,
) -> impl FnOnce(io::Error) -> Failure + 'a {
    move |error| Failure {
        kind: FailureKind::Unavailable,
        operation: operation.into(),
        reason: error.to_string(),
    }
}

/// Waits for a child to end, reaps whatever else ends, and passes on what the launcher wants.
pub(crate) fn attend(signals: &mut Signals, child: &Child) -> Ended {
    let pid = Pid::from_child(child);
    loop {
        for signal in signals.wait() {
            match signal {
                SIGCHLD => {
                    while let Some((ended, status)) = reap() {
                        if ended == pid {
                            return how(status);
                        }
                    }
                }
                SIGTERM => {
                    let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
                }
                KILL_ALL => {
                    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                }
                // Ctrl-C and a closed terminal are the launcher's to act on.
                _ => {}
            }
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

/// Reaps whatever child has ended, if one has.
pub(crate) fn reap() -> Option<(Pid, WaitStatus)> {
    rustix::process::wait(WaitOptions::NOHANG).ok().flatten()
}
