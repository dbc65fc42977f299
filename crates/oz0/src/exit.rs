//! Exit codes, the same for every command.

use std::process::ExitCode;

use oz0_api::Kind;
use oz0_local::LocalError;
use oz0_scaffold::{Refusal, WrapError};
use oz0_server::ShareError;

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
    let refused = error.chain().any(|cause| {
        match (cause.downcast_ref::<ShareError>(), cause.downcast_ref::<WrapError>()) {
            (Some(error), _) => matches!(error, ShareError::Refused { .. }),
            (_, Some(WrapError::Refused(_))) => true,
            // The registry answered, and has nothing of that name or version.
            (_, Some(WrapError::Environment(error))) => error.is_refusal(),
            _ => cause.is::<Refusal>(),
        }
    });
    if refused {
        return Exit::Findings;
    }
    match error.chain().find_map(|cause| cause.downcast_ref::<LocalError>()).map(LocalError::kind) {
        Some(Kind::Refused) => Exit::Findings,
        Some(Kind::Usage) => Exit::Usage,
        Some(Kind::Failed) | None => Exit::Unreachable,
    }
}
