//! Changes: what lists differently than when it was approved, and the approval of it.

use oz0_listing::{FunctionId, ListingHash, ToolId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::id::{ChangeId, Endpoint, NodeName, PluginName, PluginVersion, UnixMillis};

/// What kind of change it is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// A function lists itself differently.
    Changed,
    /// A function that is not in the snapshot.
    New,
    /// A function of the snapshot that its server no longer lists.
    Gone,
    /// A remote tool's endpoint moved.
    Endpoint,
}

impl ChangeKind {
    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::New => "new",
            Self::Gone => "gone",
            Self::Endpoint => "endpoint",
        }
    }
}

/// One change that waits for approval.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Change {
    /// Binds an approval to exactly what is described here.
    pub id: ChangeId,
    /// The plugin.
    pub plugin: PluginName,
    /// The version.
    pub version: PluginVersion,
    /// The tool.
    pub tool: ToolId,
    /// The function; absent where a whole tool's endpoint moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<FunctionId>,
    /// What kind of change.
    pub kind: ChangeKind,
    /// What a tool at its new endpoint lists, to say what waits with it; empty where no node could
    /// list it, and for the change of one function.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionId>,
    /// What moved, for the person who looks. Never a reason to approve by itself.
    pub labels: Vec<String>,
    /// What was accepted; of several, the one that the node listed before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Shown>,
    /// What is listed now; absent where the function is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listed: Option<Shown>,
    /// The nodes that see it so, and since when.
    pub nodes: Vec<Seen>,
    /// When it was first seen.
    pub opened_at: UnixMillis,
}

/// One side of a change.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Shown {
    /// The listing's hash, of a function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<ListingHash>,
    /// The listing, of a function: escaped, canonical.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listing: Option<Box<RawValue>>,
    /// The endpoint, of a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Endpoint>,
}

/// A node that sees a change.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Seen {
    /// The node.
    pub node: NodeName,
    /// Since when.
    pub since: UnixMillis,
}

/// `approve-tools --show`: a plugin's open changes.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Changes {
    /// The plugin.
    pub plugin: PluginName,
    /// What waits, by function.
    pub changes: Vec<Change>,
}

/// Approves the changes that were looked at.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approve {
    /// Their IDs, at most 10,000. One that is no longer what is listed is not approved.
    pub changes: Vec<ChangeId>,
}

/// What an approval did.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Approved {
    /// The changes that are approved now.
    pub approved: Vec<ApprovedChange>,
    /// IDs that are not what is listed now (changed again, reverted, approved before, or of another
    /// plugin): nothing was done for them.
    pub stale: Vec<ChangeId>,
}

/// An approved change.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ApprovedChange {
    /// Its ID.
    pub id: ChangeId,
    /// The tool.
    pub tool: ToolId,
    /// The function, unless a whole tool's endpoint moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<FunctionId>,
    /// What kind of change it was.
    pub kind: ChangeKind,
}
