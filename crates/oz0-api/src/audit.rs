//! The audit log as it is read.
//!
//! An entry's `hash` is `SHA-256(previous hash, as 64 hex digits ‖ LF ‖ canonical JSON of the entry
//! without prev and hash)`; the first entry of an edge follows 64 zeros. So anyone who holds the
//! entries can check them, and anyone who wrote down one hash can tell whether anything before it
//! was edited, deleted, inserted or put in another order.

use std::collections::BTreeMap;

use oz0_listing::{FunctionId, ToolId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{EdgeId, NodeName, PluginName, PluginVersion, UnixMillis};

/// One act of a person, a node or an edge.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Its place in the log that is read; rises, by itself says nothing.
    pub position: i64,
    /// The edge that wrote it.
    pub edge: EdgeId,
    /// Its place in that edge's chain, from 1, without gaps.
    pub seq: i64,
    /// When it was written.
    pub at: UnixMillis,
    /// Who acted: `token:NAME`, `node:NAME`, `local` (over the socket, without a token) or `edge`.
    pub actor: String,
    /// What was done, such as `plugin.tools.approve`.
    pub action: String,
    /// To what.
    #[serde(flatten)]
    pub subject: AuditSubject,
    /// The hash of the entry before it in its edge's chain: 64 hex digits.
    pub prev: String,
    /// Its own hash: 64 hex digits.
    pub hash: String,
}

/// What an act was done to. Members that do not apply are absent, from the hash as well.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct AuditSubject {
    /// The plugin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<PluginName>,
    /// The version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<PluginVersion>,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolId>,
    /// The functions, each with the hash it is about (`null`: not listed).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub functions: BTreeMap<FunctionId, Option<String>>,
    /// The node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeName>,
    /// What else belongs to this kind of act, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub detail: BTreeMap<String, String>,
}

/// Which part of the log to read.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditQuery {
    /// Entries after this position; from the first when absent.
    #[serde(default)]
    pub after: i64,
    /// At most so many, 1,000 at most; 200 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// How long to wait for one when there is none, in seconds: at most 30; 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<u64>,
}

/// A page of the log.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct AuditPage {
    /// The entries, in order of their position.
    pub entries: Vec<AuditEntry>,
    /// To ask with for the next page.
    pub next: i64,
    /// Whether there is one now.
    pub more: bool,
}

/// What a check of the chains found.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct AuditCheck {
    /// Each edge's chain.
    pub chains: Vec<Chain>,
    /// Everything that is wrong. Empty: nothing that can be found.
    pub faults: Vec<Fault>,
}

/// One edge's chain.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Chain {
    /// The edge.
    pub edge: EdgeId,
    /// How many entries there are.
    pub entries: i64,
    /// The last one's hash. Whoever writes it down can find any later rewriting of what is before.
    pub head: String,
}

/// Something wrong with a chain.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Fault {
    /// The edge whose chain it is.
    pub edge: String,
    /// The place in its chain.
    pub seq: i64,
    /// What is wrong.
    pub what: String,
}
