//! Exit codes, the same for every command.

use std::process::ExitCode;

use oz0_api::{ClientError, Kind};
use oz0_local::LocalError;
use oz0_scaffold::{NewError, Refusal, WrapError};
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

/// Something that was understood and not done, for a reason that the command itself sees; exit 1.
#[derive(Debug)]
pub(crate) struct Refused {
    what: String,
    hint: Option<String>,
}

impl Refused {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), hint: None }
    }

    /// Says what to do about it.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn what_to_do(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Refused {}

/// How a command that failed ends: by what the edge said, by what the command itself saw, else 3.
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
            _ => {
                cause.is::<Refusal>()
                    || matches!(cause.downcast_ref::<NewError>(), Some(NewError::Refused(_)))
            }
        }
    });
    if refused {
        return Exit::Findings;
    }
    if error.is::<Refused>() {
        return Exit::Findings;
    }
    let kind = error.chain().find_map(|cause| {
        let local = cause.downcast_ref::<LocalError>().map(LocalError::kind);
        local.or_else(|| cause.downcast_ref::<ClientError>().map(ClientError::kind))
    });
    match kind {
        Some(Kind::Refused) => Exit::Findings,
        Some(Kind::Usage) => Exit::Usage,
        Some(Kind::Failed) | None => Exit::Unreachable,
    }
}
