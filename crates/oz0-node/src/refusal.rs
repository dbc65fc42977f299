//! Why a function is not called, in words for whoever called it.
//!
//! These texts reach a model. None of them repeats anything that a server says which nobody has approved.

use std::fmt;

use oz0_api::{ConnectionName, PluginName, PluginVersion};
use oz0_listing::FunctionId;

/// A function that is not called.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) function: FunctionId,
    pub(crate) plugin: PluginName,
    pub(crate) version: PluginVersion,
    pub(crate) why: Why,
}

/// Why not.
#[derive(Debug, Clone)]
pub(crate) enum Why {
    /// It lists itself differently.
    Changed,
    /// It was not there when its tool was approved.
    New,
    /// Its server lists it no more.
    Gone,
    /// Its tool has no snapshot yet.
    NoSnapshot,
    /// Its server has not listed anything yet on this node.
    Installing,
    /// There is no listing that is complete and young enough.
    NotListed,
    /// Its server does not run.
    Down,
    /// Its name could pass for another's, or its listing could be read in two ways.
    LeftOut,
    /// Another function had its model name first.
    NameTaken(FunctionId),
    /// Its tool's endpoint moved.
    Moved,
    /// Its listing cannot be called as it is shown.
    Uncallable(String),
    /// Its overrides make its listing unreadable.
    Unserved,
    /// The edge is lost for too long.
    EdgeLost,
    /// The edge does not take this node's token.
    Dismissed(String),
    /// The edge says that it is out of service.
    OutOfService(String),
    /// It needs a connection that gives it no token.
    Unconnected(ConnectionName, Unconnected),
}

/// Why a connection gives a call no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unconnected {
    /// Nobody connected it.
    Not,
    /// Its token has ended, and there is no other one.
    Ended,
    /// It was not granted a scope that the function needs.
    Scope,
    /// Its token cannot stand in a header.
    Unsendable,
    /// The edge did not say.
    Unknown,
}

impl Unconnected {
    /// What is so, and what to do about it.
    pub(crate) fn told(self, plugin: &PluginName, name: &ConnectionName) -> String {
        let (what, how) = match self {
            Self::Not => ("is not connected", "connect it with"),
            Self::Ended => (
                "has no token that counts, and it could not be renewed (`oz0 connection list` says why)",
                "connect it again with",
            ),
            Self::Scope => ("was not granted a scope that this needs", "connect it again with"),
            Self::Unsendable => {
                ("has a token that cannot be sent in a header", "connect it again with")
            }
            Self::Unknown => {
                return format!(
                    "what the connection {plugin}/{name} gives could not be fetched from the edge"
                );
            }
        };
        format!(
            "the connection {plugin}/{name} {what}; {how}: oz0 connection connect {plugin}/{name}"
        )
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, plugin, version, why } = self;
        let check = |f: &mut fmt::Formatter<'_>, what: &str| {
            write!(
                f,
                "{function} {what}, so it is not called; check the\nchange and approve it with: \
                 oz0 plugin approve-tools {plugin}"
            )
        };
        match why {
            Why::Changed => {
                check(f, "lists itself differently than when its plugin's tools were approved")
            }
            Why::New => check(f, "was not listed when its plugin's tools were approved"),
            Why::Gone => check(f, "is no longer listed by its server"),
            Why::Moved => check(f, "has moved to another endpoint than the approved one"),
            Why::NoSnapshot => write!(
                f,
                "{function} has no snapshot yet, so it is not called; `oz0 plugin list` says what its tool waits for"
            ),
            Why::Installing => write!(
                f,
                "{function} is not called: its plugin's version {version} is installing on this node"
            ),
            // The reason quotes what the server says, which is for people: `plugin list` and the node's log have it.
            Why::NotListed => write!(
                f,
                "{function} is not called: its server could not be listed just now, and without that nobody knows \
                 whether it is still what was approved; `oz0 plugin list` says why"
            ),
            Why::Down => write!(
                f,
                "{function} is not called: its server does not run; `oz0 plugin list` says why"
            ),
            Why::LeftOut => write!(
                f,
                "{function} is left out of its tool's listing, so it is not called; `oz0 plugin list` says why"
            ),
            Why::NameTaken(other) => write!(
                f,
                "{function} is not called: models know {other} under the same name, which had it first"
            ),
            Why::Uncallable(reason) => {
                write!(f, "{function} is listed and cannot be called: {reason}")
            }
            Why::Unserved => write!(
                f,
                "{function} is not called: its plugin's overrides make its listing unreadable"
            ),
            Why::EdgeLost => write!(
                f,
                "{function} is not called: this node has not reached its edge for longer than it may go on without"
            ),
            Why::OutOfService(reason) => write!(f, "{function} is not called: {reason}"),
            Why::Unconnected(name, what) => {
                write!(f, "{function} is not called: {}", what.told(plugin, name))
            }
            Why::Dismissed(reason) => write!(
                f,
                "{function} is not called: this node's edge does not know it as one of its nodes any more: {reason}"
            ),
        }
    }
}
