//! A call that waits for a person: asked for by the node that holds it, decided at the edge, once.
//!
//! What is decided is one call: this function as this listing describes it, with exactly these arguments. The decision is
//! handed to the node that holds the call, one time, and dies with the call: nothing of it is kept for another one.

use std::borrow::Cow;

use oz0_listing::{Digest, FunctionId, ListingHash, escape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::id::{
    ApprovalId, CallId, NodeName, PluginName, PluginVersion, Revision, TokenId, UnixMillis,
};

/// The longest arguments that a person is asked about, in bytes of canonical JSON. Nobody reads more than this, and what
/// nobody reads nobody approves.
pub const ARGUMENTS: usize = 64 * 1024;

/// The longest that anybody is waited for, in milliseconds.
pub const LONGEST: u64 = 24 * 3600 * 1000;

/// Asks for a person's decision about a call. For nodes.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskApproval {
    /// The plugin.
    pub plugin: PluginName,
    /// The version.
    pub version: PluginVersion,
    /// The function.
    pub function: FunctionId,
    /// The accepted listing that the call relies on.
    pub listing: ListingHash,
    /// The arguments that are forwarded if it is approved: an object.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub arguments: Box<RawValue>,
    /// Who calls, in words.
    pub client: String,
    /// The function's type, in words: `Destructive`.
    pub kind: String,
    /// Why a person is asked, in words.
    pub why: String,
    /// Whether only a person's own decision counts.
    #[serde(default)]
    pub requires_approval: bool,
    /// How long the call waits, in milliseconds.
    pub timeout_ms: u64,
    /// The asked call that it is, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
}

/// How far a decision has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// Nobody has decided.
    Pending,
    /// It was approved, and its node does not know yet.
    Approved,
    /// It was approved, and its node was told, which it is this once.
    Used,
    /// It was denied.
    Denied,
    /// Nobody decided in time.
    Expired,
    /// The call was taken back.
    Withdrawn,
    /// The node that held the call, or the edge that asked, ended meanwhile.
    Lost,
}

impl ApprovalState {
    /// Every state.
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Approved,
        Self::Used,
        Self::Denied,
        Self::Expired,
        Self::Withdrawn,
        Self::Lost,
    ];

    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Used => "used",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
            Self::Lost => "lost",
        }
    }
}

/// A call that waits for a person, or waited.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Approval {
    /// Its ID.
    pub id: ApprovalId,
    /// The plugin.
    pub plugin: PluginName,
    /// The version.
    pub version: PluginVersion,
    /// The function.
    pub function: FunctionId,
    /// The function's type, in words.
    pub kind: String,
    /// The accepted listing that the call relies on.
    pub listing: ListingHash,
    /// The arguments as people are shown them: indented JSON in which what nobody sees is written out. Empty once it is
    /// decided: they are not kept.
    pub arguments: String,
    /// SHA-256 over the arguments' canonical JSON.
    pub digest: Digest,
    /// Who calls, in words, on one line.
    pub client: String,
    /// Why a person is asked, in words.
    pub why: String,
    /// Whether only a person's own decision counts, and no elicitation.
    pub requires_approval: bool,
    /// The node that holds the call.
    pub node: NodeName,
    /// How far it has come.
    pub state: ApprovalState,
    /// When it was asked.
    pub asked_at: UnixMillis,
    /// When nobody waits any more.
    pub expires_at: UnixMillis,
    /// Who decided, as it stands in the audit log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// Why, in their words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Of one that is handed out as approved, how far the edge had come by then: what was decided before it counts for
    /// it, so its node calls when it has come as far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
}

/// The calls that wait.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Approvals {
    /// The oldest first.
    pub approvals: Vec<Approval>,
}

/// A person's decision.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decide {
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a client's person answered to an elicitation. For nodes.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Elicited {
    /// The client's token, which must say that it may approve.
    pub client: TokenId,
    /// Whether it was accepted.
    pub accepted: bool,
}

/// JSON as people are shown it: indented, members in order, and what nobody sees written out. Text that is none stays,
/// written out.
pub fn shown(json: &str) -> String {
    let pretty = oz0_listing::json::parse(json).map(|json| json.pretty());
    let pretty: Cow<'_, str> = pretty.map_or(Cow::Borrowed(json), Cow::Owned);
    escape::text(pretty.trim_end()).into_owned()
}
