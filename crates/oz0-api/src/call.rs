//! Calls that a person asks for, run as jobs by a node.

use oz0_listing::FunctionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::approval::Approval;
use crate::id::{CallId, NodeName};
use crate::problem::Problem;

/// Asks for a call.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// The function.
    pub function: FunctionId,
    /// Its arguments: a JSON object.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub arguments: Box<RawValue>,
    /// How long to wait for it, in milliseconds: at most ten minutes. When absent it is one minute, and for as long as a
    /// person is asked about the call on top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The node to run it on; any that runs the function when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeName>,
}

/// An asked call.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Call {
    /// The call.
    pub id: CallId,
    /// The function.
    pub function: FunctionId,
    /// How far it has come.
    pub state: CallState,
    /// The node that runs it or ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeName>,
    /// The person's decision that it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// What the server answered, byte for byte, where it answered: a `CallToolResult`, `isError`
    /// included. Kept for ten minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<RawValue>>,
    /// Why there is no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// How far a call has come. A call is handed to a node at most once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// No node has taken it.
    Waiting,
    /// A node has it.
    Running,
    /// It has a result.
    Done,
    /// It has none, and the problem says why.
    Failed,
}

impl CallState {
    /// Whether nothing more will come.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed)
    }

    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// A node's answer to a job.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum JobResult {
    /// What the server answered.
    Result(Box<RawValue>),
    /// Why the call was not made, or has no answer.
    Problem(Problem),
}
