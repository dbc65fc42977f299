//! What a node does, for whoever watches: a terminal, a log, a test.

mod logged;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use oz0_api::approval::ApprovalState;
use oz0_api::{ApprovalId, Endpoint, NodeName, PluginName, PluginVersion, TokenId};
use oz0_listing::{FunctionId, ToolId};
use oz0_server::Tier;

use crate::asking::short;

/// Something that a node did or saw. Displayed without a full stop, as one line, or two where there is something to do.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// The edge cannot be reached.
    EdgeLost {
        /// Why.
        reason: String,
    },
    /// The edge does not take this node's token, so nothing is called.
    Dismissed {
        /// What it said.
        reason: String,
    },
    /// The edge answers again.
    EdgeBack,
    /// A plugin version is run from now on.
    Assigned {
        /// The plugin.
        plugin: PluginName,
        /// The version.
        version: PluginVersion,
    },
    /// Another version of a plugin is to take the place of the one that is run.
    Coming {
        /// The plugin.
        plugin: PluginName,
        /// The version that comes.
        version: PluginVersion,
        /// The one that goes on until it is there.
        goes_on: PluginVersion,
    },
    /// A version cannot take the place of the one that is run, which goes on.
    GoesOn {
        /// The plugin.
        plugin: PluginName,
        /// The version that was to come.
        version: PluginVersion,
        /// The one that goes on.
        goes_on: PluginVersion,
    },
    /// A plugin's servers are started anew, with other secrets or as another account.
    Renewed {
        /// The plugin.
        plugin: PluginName,
    },
    /// A plugin is no longer run.
    Unassigned {
        /// The plugin.
        plugin: PluginName,
    },
    /// A plugin that this node runs from one folder is installed from somewhere else, so it is not run here.
    Elsewhere {
        /// The plugin.
        plugin: PluginName,
        /// This node's folder.
        folder: PathBuf,
        /// The other folder; none where it is a bundle.
        now: Option<PathBuf>,
    },
    /// A server runs and has listed its functions.
    Started {
        /// Its tool.
        tool: ToolId,
        /// How many functions it lists.
        functions: usize,
        /// How well it is contained; none for a remote one.
        tier: Option<Tier>,
    },
    /// A server did not start, or ended. Told once, and again when it fails in another way.
    Failed {
        /// Its tool.
        tool: ToolId,
        /// What happened, with the end of what it wrote to stderr.
        reason: String,
        /// Whether it is tried again.
        again: bool,
    },
    /// A server that failed runs, and has for a while.
    Recovered {
        /// Its tool.
        tool: ToolId,
        /// How often it failed before.
        failures: u32,
    },
    /// A server's command names a folder that it does not see.
    Unshared {
        /// Its tool.
        tool: ToolId,
        /// Which, and what to do.
        what: String,
    },
    /// A server's listing could not be read.
    NotListed {
        /// Its tool.
        tool: ToolId,
        /// Why.
        reason: String,
    },
    /// Functions that wait for approval since a server's last listing.
    Waiting {
        /// The plugin.
        plugin: PluginName,
        /// Its tool.
        tool: ToolId,
        /// The functions, sorted.
        functions: Vec<FunctionId>,
        /// Where the tool's endpoint moved: from where it was accepted to where it is now.
        moved: Option<(Endpoint, Endpoint)>,
    },
    /// The first complete listing of a tool's version was taken as its snapshot.
    Snapshot {
        /// The plugin.
        plugin: PluginName,
        /// The version.
        version: PluginVersion,
        /// Its tool.
        tool: ToolId,
        /// How many functions it has.
        functions: usize,
    },
    /// Functions that waited are approved as they are listed.
    Approved {
        /// The plugin.
        plugin: PluginName,
        /// The functions, sorted.
        functions: Vec<FunctionId>,
    },
    /// Functions that waited are listed again as they were approved.
    Reverted {
        /// The plugin.
        plugin: PluginName,
        /// The functions, sorted.
        functions: Vec<FunctionId>,
    },
    /// A call waits for a person.
    Asked {
        /// The function.
        function: FunctionId,
        /// What to approve or deny.
        approval: ApprovalId,
        /// Who calls.
        client: String,
        /// Why a person is asked.
        why: String,
    },
    /// A call that waited waits no longer.
    Decided {
        /// The function.
        function: FunctionId,
        /// What was approved or denied.
        approval: ApprovalId,
        /// How it ended.
        state: ApprovalState,
        /// Who decided.
        by: String,
    },
    /// An MCP client showed a token that the edge knows.
    Client {
        /// Its name.
        name: NodeName,
        /// Its token's ID.
        token: TokenId,
    },
    /// A server wrote what is no message to its standard output.
    Junk {
        /// Its tool.
        tool: ToolId,
        /// The first of it, escaped.
        sample: String,
    },
    /// A call brought no result, for a reason that its client is told in general words alone.
    CallFailed {
        /// The function.
        function: FunctionId,
        /// What happened, with what the server said.
        reason: String,
    },
    /// A result does not match its function's output schema.
    ResultMismatch {
        /// The function.
        function: FunctionId,
        /// Where and how.
        reason: String,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EdgeLost { reason } => write!(f, "the edge is lost: {reason}"),
            Self::Dismissed { reason } => {
                write!(
                    f,
                    "the edge does not know this node any more, so nothing is called: {reason}"
                )
            }
            Self::EdgeBack => f.write_str("the edge answers again"),
            Self::Assigned { plugin, version } => write!(f, "{plugin} {version} is run here"),
            Self::Coming { plugin, version, goes_on } => {
                write!(
                    f,
                    "{plugin} {version} is installed here; {goes_on} goes on until it is there"
                )
            }
            Self::GoesOn { plugin, version, goes_on } => write!(
                f,
                "{plugin} {version} does not run here, and {goes_on} goes on; `oz0 plugin rollback {plugin}` takes it back"
            ),
            Self::Renewed { plugin } => write!(
                f,
                "{plugin} is started anew: what it is given of secrets or connections has changed"
            ),
            Self::Unassigned { plugin } => write!(f, "{plugin} is no longer run here"),
            Self::Elsewhere { plugin, folder, now } => {
                write!(f, "{plugin} is no longer run from {}: it is now ", folder.display())?;
                match now {
                    Some(now) => write!(f, "run from {}", now.display()),
                    None => f.write_str("installed from a bundle"),
                }
            }
            Self::Started { tool, functions, tier } => {
                let s = if *functions == 1 { "" } else { "s" };
                write!(f, "{tool} lists {functions} function{s}")?;
                match tier {
                    Some(Tier::Zero { .. }) => write!(f, " ({})", tier.as_ref().expect("matched")),
                    _ => Ok(()),
                }
            }
            Self::Failed { tool, reason, again: true } => {
                write!(f, "the server of {tool} failed, and is tried again until it runs: {reason}")
            }
            Self::Failed { tool, reason, again: false } => {
                write!(f, "the server of {tool} is not started: {reason}")
            }
            Self::Unshared { what, .. } => f.write_str(what),
            Self::Recovered { tool, failures } => {
                let s = if *failures == 1 { "" } else { "s" };
                write!(f, "the server of {tool} runs again, after {failures} failure{s}")
            }
            Self::NotListed { tool, reason } => write!(f, "{tool} is not called: {reason}"),
            Self::Waiting { plugin, tool, functions, moved } => {
                match moved {
                    Some((from, to)) => write!(f, "{tool} moved from {from} to {to}")?,
                    None => write!(f, "{tool} lists itself differently than when it was approved")?,
                }
                write!(
                    f,
                    ": {}; look and approve with: oz0 plugin approve-tools {plugin}",
                    names(functions)
                )
            }
            Self::Snapshot { plugin, version, tool, functions } => {
                let s = if *functions == 1 { "" } else { "s" };
                write!(
                    f,
                    "snapshot of {tool} ({plugin} {version}) taken: {functions} function{s} as they are listed now"
                )
            }
            Self::Approved { functions, .. } => {
                write!(f, "approved, and called again: {}", names(functions))
            }
            Self::Reverted { functions, .. } => {
                write!(f, "listed as approved again, and called again: {}", names(functions))
            }
            Self::Asked { function, approval, client, why } => {
                f.write_str(&asked(function, approval, client, why))
            }
            Self::Decided { function, approval, state, by } => {
                f.write_str(&decided(function, approval, *state, by))
            }
            Self::Client { name, token } => {
                write!(f, "the MCP client {name} is let in (token {token})")
            }
            Self::Junk { tool, sample } => {
                write!(
                    f,
                    "the server of {tool} writes to its standard output what is no message: {sample}"
                )
            }
            Self::CallFailed { function, reason } => {
                write!(f, "a call of {function} failed: {reason}")
            }
            Self::ResultMismatch { function, reason } => {
                write!(f, "a result of {function} does not match its output schema: {reason}")
            }
        }
    }
}

fn asked(function: &FunctionId, approval: &ApprovalId, client: &str, why: &str) -> String {
    format!(
        "{function} waits for a person, since {why} (called by {client}): oz0 approvals approve {}\nto let it through from \
         now on: oz0 policy set {function} allow",
        short(approval)
    )
}

fn decided(function: &FunctionId, approval: &ApprovalId, state: ApprovalState, by: &str) -> String {
    let approval = short(approval);
    match state {
        ApprovalState::Approved | ApprovalState::Used => {
            format!("{function} is called: {by} approved {approval}")
        }
        ApprovalState::Denied => format!("{function} is not called: {by} denied {approval}"),
        ApprovalState::Expired => {
            format!("{function} is not called: nobody decided about {approval} in time")
        }
        _ => format!("{function} is not called: {approval} waits no longer"),
    }
}

fn names(functions: &[FunctionId]) -> String {
    let names: Vec<&str> = functions.iter().map(FunctionId::as_str).collect();
    names.join(", ")
}

/// Who is told. Called from the node's own tasks, so it must not block.
#[derive(Clone)]
pub struct Tell(Arc<dyn Fn(Event) + Send + Sync>);

impl Tell {
    /// Tells this function.
    pub fn new(tell: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    pub(crate) fn event(&self, event: Event) {
        event.log();
        (self.0)(event);
    }
}

/// Nobody.
impl Default for Tell {
    fn default() -> Self {
        Self::new(|_| {})
    }
}

impl fmt::Debug for Tell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tell")
    }
}
