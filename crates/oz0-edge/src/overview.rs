//! What a page shows of every plugin at once: how versions and their functions stand, without the listings.
//!
//! The API's answers hold each listing twice and each change with both its sides, which is what a program asks for. A page of
//! two hundred plugins shows numbers and names, and is made in a few statements: this is what they read.

use std::collections::BTreeSet;

use oz0_api::change::ChangeKind;
use oz0_api::plugin::{FunctionState, FunctionStatus, PluginDescription, ToolStatus};
use oz0_api::rollout::Rollout;
use oz0_api::{ChangeId, NodeName, PluginName, PluginVersion, UnixMillis};
use oz0_listing::{FunctionId, ToolId};

/// A plugin, with the versions that nodes run of it.
#[derive(Debug, Clone)]
pub struct PluginOverview {
    /// The version that is installed.
    pub installed: VersionOverview,
    /// Another one, which some nodes run in its place.
    pub candidate: Option<VersionOverview>,
    /// The version that a rollback of the installed one brings back.
    pub before: Option<PluginVersion>,
}

/// A version, and how it stands.
#[derive(Debug, Clone)]
pub struct VersionOverview {
    /// What it is.
    pub description: PluginDescription,
    /// Since when it is installed, or offered.
    pub installed_at: UnixMillis,
    /// The nodes that run it, of a candidate.
    pub rollout: Option<Rollout>,
    /// Its tools, with what each node says of them.
    pub tools: Vec<ToolStatus>,
    /// Its functions, callable or not.
    pub functions: Vec<FunctionStatus>,
    /// What waits for approval, in the order in which changes are shown.
    pub waiting: Vec<Waiting>,
    /// Functions whose snapshot differs from the measured listing.
    pub mismatches: BTreeSet<FunctionId>,
}

/// A change that waits, without its sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Its ID.
    pub id: ChangeId,
    /// The tool.
    pub tool: ToolId,
    /// The function; none where a whole tool's endpoint moved.
    pub function: Option<FunctionId>,
    /// What kind of change it is.
    pub kind: ChangeKind,
    /// When it was first seen.
    pub opened_at: UnixMillis,
    /// The nodes that see it.
    pub nodes: Vec<NodeName>,
}

/// A function with the listing that was accepted last.
#[derive(Debug, Clone)]
pub struct ListedFunction {
    /// Its ID.
    pub id: FunctionId,
    /// Its plugin.
    pub plugin: PluginName,
    /// The listing: escaped, canonical, as its server gave it.
    pub listing: String,
}

impl PluginOverview {
    /// Its name.
    pub fn name(&self) -> &PluginName {
        &self.installed.description.name
    }

    /// The installed version, and the candidate after it.
    pub fn versions(&self) -> impl Iterator<Item = &VersionOverview> {
        std::iter::once(&self.installed).chain(&self.candidate)
    }
}

impl VersionOverview {
    /// How many functions stand in a way.
    pub fn count(&self, of: impl Fn(&FunctionState) -> bool) -> usize {
        self.functions.iter().filter(|function| of(&function.state)).count()
    }

    /// The nodes that have said something of its tools.
    pub fn nodes(&self) -> BTreeSet<&NodeName> {
        self.tools.iter().flat_map(|tool| &tool.nodes).map(|seen| &seen.node).collect()
    }
}
