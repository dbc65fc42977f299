//! Exit codes, the same for every command.

use std::process::ExitCode;

use oz0_api::Kind;
use oz0_local::LocalError;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: done.
    Done,
    /// 1: there are findings, or something was refused.
    Findings,
    /// 2: wrong usage.
    Usage,
    /// 3: something that was given could not be read or reached.
    Unreachable,
    /// 128 and the signal's number: a signal asked for the end, as a shell says it.
    Stopped(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => Self::SUCCESS,
            Exit::Findings => Self::from(1),
            Exit::Usage => Self::from(2),
            Exit::Unreachable => Self::from(3),
            Exit::Stopped(signal) => Self::from(128 + signal),
        }
    }
}

/// Arguments that cannot be taken for a reason that only the command itself can see.
#[derive(Debug)]
pub(crate) struct WrongUsage(pub(crate) String);

impl std::fmt::Display for WrongUsage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongUsage {}

/// How a command ends that failed with this error.
pub(crate) fn of(error: &anyhow::Error) -> Exit {
    if error.is::<WrongUsage>() {
        return Exit::Usage;
    }
    match error.chain().find_map(|cause| cause.downcast_ref::<LocalError>()).map(LocalError::kind) {
        Some(Kind::Refused) => Exit::Findings,
        Some(Kind::Usage) => Exit::Usage,
        Some(Kind::Failed) | None => Exit::Unreachable,
    }
}
