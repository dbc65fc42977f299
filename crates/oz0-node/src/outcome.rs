//! How a call ends, in one word: for numbers, logs and spans. Never what anybody said.

use oz0_mcp::Fault;

use crate::refusal::Why;

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// With a result.
    Answered,
    /// With a result that says that the function failed.
    ToolError,
    /// With the server's own protocol error.
    ServerError,
    /// Nobody here has such a function.
    Unknown,
    /// It lists itself differently than it was accepted.
    Changed,
    /// Nobody accepted it yet.
    Unaccepted,
    /// It cannot be called as it is listed, or its name is another's.
    Barred,
    /// Its server does not run, is being made, or does not list itself.
    Unavailable,
    /// The edge is away for too long, or does not know this node.
    CutOff,
    /// A connection that it needs gives it no token.
    Unconnected,
    /// Its arguments are not what its schema allows.
    Arguments,
    /// They, or the result, are too large.
    TooLarge,
    /// The policy refuses it.
    Policy,
    /// A hook said no, or nothing that counts.
    Hook,
    /// A person said no.
    Denied,
    /// No person said anything in time, or nobody could be asked.
    Undecided,
    /// As many calls as may be are in flight.
    Busy,
    /// The server ended, answered too late, or not as MCP has it.
    ServerFailed,
    /// Its result may not be passed on.
    Result,
    /// The client took it back, or is gone.
    Cancelled,
}

impl Outcome {
    /// Every outcome, in order.
    pub(crate) const ALL: [Self; 20] = [
        Self::Answered,
        Self::ToolError,
        Self::ServerError,
        Self::Unknown,
        Self::Changed,
        Self::Unaccepted,
        Self::Barred,
        Self::Unavailable,
        Self::CutOff,
        Self::Unconnected,
        Self::Arguments,
        Self::TooLarge,
        Self::Policy,
        Self::Hook,
        Self::Denied,
        Self::Undecided,
        Self::Busy,
        Self::ServerFailed,
        Self::Result,
        Self::Cancelled,
    ];

    /// Its name, in numbers and logs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::ToolError => "tool_error",
            Self::ServerError => "server_error",
            Self::Unknown => "unknown",
            Self::Changed => "changed",
            Self::Unaccepted => "unaccepted",
            Self::Barred => "barred",
            Self::Unavailable => "unavailable",
            Self::CutOff => "cut_off",
            Self::Unconnected => "unconnected",
            Self::Arguments => "arguments",
            Self::TooLarge => "too_large",
            Self::Policy => "policy",
            Self::Hook => "hook",
            Self::Denied => "denied",
            Self::Undecided => "undecided",
            Self::Busy => "busy",
            Self::ServerFailed => "server_failed",
            Self::Result => "result",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether the function itself was called, and said what came of it.
    pub(crate) const fn is_answer(self) -> bool {
        matches!(self, Self::Answered | Self::ToolError | Self::ServerError)
    }

    /// Whether something of this node's, or behind it, failed.
    pub(crate) const fn is_failure(self) -> bool {
        matches!(self, Self::ServerFailed | Self::Result | Self::Unavailable | Self::CutOff)
    }
}

impl From<&Why> for Outcome {
    fn from(why: &Why) -> Self {
        match why {
            Why::Changed | Why::Gone | Why::Moved => Self::Changed,
            Why::New | Why::NoSnapshot => Self::Unaccepted,
            Why::Installing | Why::NotListed | Why::Down => Self::Unavailable,
            Why::LeftOut | Why::NameTaken(_) | Why::Uncallable(_) | Why::Unserved => Self::Barred,
            Why::EdgeLost | Why::Dismissed(_) | Why::OutOfService(_) => Self::CutOff,
            Why::Unconnected(..) => Self::Unconnected,
        }
    }
}

impl From<&Fault> for Outcome {
    fn from(fault: &Fault) -> Self {
        match fault {
            Fault::Answered(_) => Self::ServerError,
            Fault::Busy { .. } => Self::Busy,
            Fault::TooLarge { .. } => Self::TooLarge,
            _ => Self::ServerFailed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_has_its_place_and_a_name_of_its_own() {
        let mut names: Vec<&str> = Outcome::ALL.iter().map(|outcome| outcome.name()).collect();
        for (place, outcome) in Outcome::ALL.into_iter().enumerate() {
            assert_eq!(outcome as usize, place);
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Outcome::ALL.len());
    }
}
