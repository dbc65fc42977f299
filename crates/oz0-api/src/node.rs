//! What a node and its edge say to each other: reports, and the poll.
//!
//! The edge never dials a node. A node asks, says how far it has come in each part of what it
//! holds, and gets what changed since; nothing new is answered after a while with nothing. Each
//! part has its own [`Revision`], so that a job that arrives does not make a node read its plugins
//! again.

use std::collections::BTreeMap;

use oz0_listing::{Digest, FunctionId, ListingHash, ToolId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::change::ChangeKind;
use crate::credential::ChangedCredentials;
use crate::id::{CallId, ChangeId, EdgeId, Endpoint, PluginName, PluginVersion, Revision};
use crate::plugin::PluginDescription;
use crate::policy::TenantRule;

/// How far a node has come; all zero for one that holds nothing. Sent as the poll's query.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PollQuery {
    /// The ID of the store that the revisions are of; every edge over it has the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge: Option<EdgeId>,
    /// The plugin set's.
    #[serde(default)]
    pub plugins: Revision,
    /// The decisions'.
    #[serde(default)]
    pub decisions: Revision,
    /// The tenant's policy's.
    #[serde(default)]
    pub policy: Revision,
    /// That of secrets and connections.
    #[serde(default)]
    pub credentials: Revision,
    /// Where the store's audit log ended when the edge said all of that. A store that was restored from an older copy may have
    /// come past these revisions by another way since: its log does not have this entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Head>,
    /// How long to wait when there is nothing, in seconds: at most 30, which is also the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<u64>,
    /// Whether the node takes jobs now. Each job is handed out once.
    #[serde(default)]
    pub jobs: bool,
    /// The sandbox tier that the node's servers run in, once it has started one: the lowest of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<u8>,
    /// Why it is no higher one, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The version of oz0 that the node is, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// An entry of a store's audit log, whichever edge wrote it.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Its position in the whole log.
    pub seq: i64,
    /// Its hash, which is over the one before it of the same edge as well.
    pub hash: String,
}

/// What changed for a node.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Poll {
    /// The store whose history the revisions are of; every edge over it has the same.
    pub edge: EdgeId,
    /// The node's revisions are not of this history (a restored store, another edge): this answer
    /// holds everything, and what the node held before is to be forgotten.
    pub reset: bool,
    /// The plugin set.
    pub plugins: Part<Assignment>,
    /// What is accepted, by function.
    pub decisions: Part<Decision>,
    /// The tenant's whole policy, where it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// The plugins whose secrets or connections changed, where any did. What they are now is asked for by plugin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<ChangedCredentials>,
    /// Calls to run, each handed out this once.
    pub jobs: Vec<Job>,
    /// Where the store's audit log ends by now, to ask with next time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Head>,
}

/// The tenant's policy: it stands in place of what was there before.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Policy {
    /// To ask with next time.
    pub revision: Revision,
    /// The rules, the first first.
    pub rules: Vec<TenantRule>,
}

/// A part's revision, and what changed in it since the one that was asked with.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "{T}s")]
pub struct Part<T> {
    /// To ask with next time.
    pub revision: Revision,
    /// What changed.
    pub changed: Vec<T>,
}

/// A plugin version that a node is to run, or no longer.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Assignment {
    /// The plugin.
    pub plugin: PluginName,
    /// The version.
    pub version: PluginVersion,
    /// What it is; absent where the node is to stop running it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<PluginDescription>,
    /// Remote tools whose endpoint moved, with the endpoint that they are pinned at. Until the move
    /// is approved, such a tool is listed without token, headers or secrets, and not called.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub moved: BTreeMap<ToolId, Endpoint>,
    /// Whether it was taken back or its plugin removed, so that it is not called from now on. A version that was replaced goes
    /// on until the other one is there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub taken_back: bool,
}

impl Assignment {
    /// Where a remote tool of this version may be sent what is its server's alone: headers, tokens, calls. It is where the
    /// version's manifest goes and is pinned, or will be by its first listing; none while a move waits for approval.
    pub fn pin(&self, tool: &ToolId) -> Option<&Endpoint> {
        if self.moved.contains_key(tool) {
            return None;
        }
        self.description.as_ref()?.tools.get(tool)?.endpoint()
    }
}

/// What stands on one function of one version: everything a node needs to decide a call.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Decision {
    /// The plugin.
    pub plugin: PluginName,
    /// The version.
    pub version: PluginVersion,
    /// The function.
    pub function: FunctionId,
    /// The accepted listings. A node serves the one that its own server lists; none is callable on
    /// a node whose server lists another. Empty: nothing is.
    pub accepted: Vec<Accepted>,
    /// The function because of whose model name this one is left out, though its listing is accepted:
    /// one of another plugin that had the name first, or a twin in its own, which is left out as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out_for: Option<FunctionId>,
}

/// An accepted listing.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Accepted {
    /// Its hash.
    pub hash: ListingHash,
    /// What models and MCP clients read: the listing with the overrides merged over it, escaped,
    /// canonical. Absent where the overrides make it unreadable, and then it is not served.
    pub served: Option<Box<RawValue>>,
}

/// What a node's server listed. Sent after each listing that differs from the last one sent.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The plugin.
    pub plugin: PluginName,
    /// The version.
    pub version: PluginVersion,
    /// The digest of the assignment that the server was started from.
    pub digest: Digest,
    /// The tool.
    pub tool: ToolId,
    /// Where the listing came from, of a remote tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Endpoint>,
    /// What came.
    pub outcome: Outcome,
}

/// What came of a listing.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// Every page was read.
    Complete {
        /// The functions that are listed.
        functions: Vec<ListedFunction>,
        /// What is left out, and why.
        #[serde(default)]
        left_out: Vec<LeftOut>,
    },
    /// There is no complete listing. Nothing is decided by it; people are shown the reason.
    Failed {
        /// Why, at most 4 KiB.
        reason: String,
        /// The version that this node goes on with, where this one was to take its place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        goes_on: Option<PluginVersion>,
    },
}

/// What a server lists and nobody calls: an [`oz0_listing::LeftOut`] of a known tool.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Its name, escaped to one line.
    pub name: String,
    /// Why.
    pub reason: String,
}

impl From<oz0_listing::LeftOut> for LeftOut {
    fn from(left_out: oz0_listing::LeftOut) -> Self {
        Self { name: left_out.name, reason: left_out.reason }
    }
}

/// A listed function.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedFunction {
    /// Its ID.
    pub id: FunctionId,
    /// The hash of its listing, which the edge computes anew.
    pub hash: ListingHash,
    /// The listing: escaped, canonical.
    pub listing: Box<RawValue>,
    /// Why the node refuses its calls though it is listed, which nothing in the escaped listing tells:
    /// an invisible code point where its server compares values. At most 4 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncallable: Option<String>,
}

/// The edge's answer to a report, for the node that sent it.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Verdicts {
    /// Whether this report became the tool's snapshot.
    pub snapshot: bool,
    /// The decisions' revision at which this holds.
    pub revision: Revision,
    /// What stands on each reported function, and on each that is missing from the report.
    pub functions: BTreeMap<FunctionId, Verdict>,
    /// The change of the tool's endpoint that waits, because of which nothing of it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<ChangeId>,
}

/// What stands on a function as one node lists it.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It lists itself as accepted.
    Accepted,
    /// It waits for approval.
    Waiting {
        /// The change.
        change: ChangeId,
        /// What kind.
        kind: ChangeKind,
    },
    /// There is no snapshot of its tool yet, and this report is not the one to make it.
    NoSnapshot,
}

/// A call for a node to run.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Job {
    /// The call.
    pub id: CallId,
    /// The function.
    pub function: FunctionId,
    /// Its arguments, as they were given.
    pub arguments: Box<RawValue>,
    /// How long the asker still waits, in milliseconds.
    pub timeout_ms: u64,
    /// Whether the asker waits for a person as well, should one be asked, for as long as that may take.
    #[serde(default)]
    pub patient: bool,
    /// How far the edge had come when it handed the call out: whoever asked may rely on what was decided before, so the
    /// node runs it when it has come as far.
    #[serde(default)]
    pub revision: Revision,
}
