//! What a node does, as its log has it: names and numbers in fields of their own.
//!
//! What servers say in their own words (the end of their stderr, what they write to stdout, where a result does not fit) is
//! for whoever looks at the plugin: it can hold arguments, results and secrets, and is not logged at any level.

use oz0_listing::{FunctionId, escape};
use oz0_server::Tier;
use oz0_telemetry::target::NODE;
use tracing::{debug, error, info, warn};

use super::Event;
use crate::host::STDERR;

/// How much of a reason is logged, in characters; how many functions are named.
const REASON: usize = 400;
const FUNCTIONS: usize = 20;

impl Event {
    /// Logs it.
    pub(super) fn log(&self) {
        match self {
            Self::EdgeLost { reason } => warn!(target: NODE, reason = %short(reason), "edge lost"),
            Self::Dismissed { reason } => {
                error!(target: NODE, reason = %short(reason), "edge does not know this node");
            }
            Self::EdgeBack => info!(target: NODE, "edge found"),
            Self::Assigned { plugin, version } => {
                info!(target: NODE, %plugin, %version, "plugin assigned");
            }
            Self::Coming { plugin, version, goes_on } => {
                info!(target: NODE, %plugin, %version, %goes_on, "plugin version started beside");
            }
            Self::GoesOn { plugin, version, goes_on } => {
                warn!(target: NODE, %plugin, %version, %goes_on, "plugin version does not take over");
            }
            Self::Renewed { plugin } => {
                info!(target: NODE, %plugin, "servers started anew with other credentials");
            }
            Self::Unassigned { plugin } => {
                info!(target: NODE, %plugin, "plugin no longer assigned");
            }
            Self::Elsewhere { plugin, .. } => {
                warn!(target: NODE, %plugin, "plugin is run from elsewhere, and not here");
            }
            Self::Started { tool, functions, tier } => {
                let tier = tier.as_ref().map(|tier| match tier {
                    Tier::One => 1_u8,
                    Tier::Zero { .. } => 0,
                });
                info!(target: NODE, tool = tool.as_ref(), functions, tier, "server started");
            }
            Self::Failed { tool, reason, again } => warn!(
                target: NODE,
                tool = tool.as_ref(),
                reason = %short(reason),
                again,
                "server failed"
            ),
            Self::Recovered { tool, failures } => {
                info!(target: NODE, tool = tool.as_ref(), failures, "server runs again");
            }
            Self::Unshared { tool, what } => {
                warn!(target: NODE, tool = tool.as_ref(), what = %short(what), "folder not shared");
            }
            Self::NotListed { tool, reason } => {
                warn!(target: NODE, tool = tool.as_ref(), reason = %short(reason), "listing failed");
            }
            Self::Waiting { plugin, tool, functions, moved } => warn!(
                target: NODE,
                %plugin,
                tool = tool.as_ref(),
                count = functions.len(),
                functions = %names(functions),
                moved = moved.is_some(),
                "functions changed and wait for approval"
            ),
            Self::Snapshot { plugin, version, tool, functions } => info!(
                target: NODE, %plugin, %version, tool = tool.as_ref(), functions, "snapshot taken"
            ),
            Self::Approved { plugin, functions } => {
                info!(target: NODE, %plugin, functions = %names(functions), "functions approved");
            }
            Self::Reverted { plugin, functions } => info!(
                target: NODE, %plugin, functions = %names(functions), "functions listed as approved again"
            ),
            Self::Asked { function, approval, client, .. } => info!(
                target: NODE,
                %function,
                %approval,
                client = %escape::line_within(client, REASON),
                "approval asked"
            ),
            Self::Decided { function, approval, state, by } => info!(
                target: NODE,
                %function,
                %approval,
                state = state.as_str(),
                by = %escape::line_within(by, REASON),
                "approval decided"
            ),
            Self::Client { name, token } => {
                info!(target: NODE, client = %name, %token, "client let in");
            }
            Self::Junk { tool, .. } => {
                warn!(target: NODE, tool = tool.as_ref(), "server writes what is no message");
            }
            // How the call ended says so, under its ID.
            Self::CallFailed { function, .. } => {
                debug!(target: NODE, %function, "server failed a call");
            }
            Self::ResultMismatch { function, .. } => {
                warn!(target: NODE, %function, "result does not match its output schema");
            }
        }
    }
}

/// A reason without what its server wrote.
fn short(reason: &str) -> String {
    let own = reason.split_once(STDERR).map_or(reason, |(own, _)| own);
    let own = own.split_once(crate::instance::JUNK).map_or(own, |(own, _)| own);
    escape::line_within(own, REASON).into_owned()
}

fn names(functions: &[FunctionId]) -> String {
    let mut names: Vec<&str> = functions.iter().take(FUNCTIONS).map(FunctionId::as_str).collect();
    if functions.len() > FUNCTIONS {
        names.push("…");
    }
    names.join(",")
}
