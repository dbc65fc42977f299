//! The policy that a plugin suggests for its own functions.

use oz0_diagnostic::Check;
use oz0_listing::FunctionId;
use oz0_yaml::Node;

use super::address::FunctionTarget;
use super::name::{Prose, function, id};
use super::pointer::JsonPointer;
use crate::Map;
use crate::check::OZ_L002;
use crate::decode::Context;
use crate::decode::declare::{choice, record};
use crate::decode::json::JsonSchema;
use crate::decode::reference::Target;
use crate::decode::text::{Text, pattern};

record! {
    /// One suggested rule.
    pub struct Rule {
        /// The functions: `<tool>.<function>`, `<tool>.*` or `*`.
        [required] matches = "match": PolicyMatch,
        /// What happens to their calls.
        [required] action = "action": Action,
        /// Why, for whoever installs the plugin.
        [optional] reason = "reason": Prose,
        /// JSON pointers into the arguments, and the JSON Schemas that must all hold there.
        [many] when = "when": Map<JsonPointer, JsonSchema>,
    }
}

choice! {
    /// What happens to a call.
    pub enum Action: "an action" {
        /// It goes through.
        Allow = "allow",
        /// A person is asked.
        Ask = "ask",
        /// It is refused.
        Refuse = "refuse",
        /// A judge decides; for now a person is asked.
        Judge = "judge",
    }
}

/// The functions that a rule is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyMatch {
    /// Every function of the plugin: `*`.
    All,
    /// Every function of a tool: `<tool>.*`.
    Tool(oz0_listing::ToolId),
    /// One function: `<tool>.<function>`.
    Function(FunctionId),
}

impl std::fmt::Display for PolicyMatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::All => f.write_str("*"),
            Self::Tool(tool) => write!(f, "{tool}.*"),
            Self::Function(function) => function.fmt(f),
        }
    }
}

impl Text for PolicyMatch {
    const WHAT: &'static str = "a match of functions";
    const RULE: &'static str =
        "write `<tool>.<function>`, `<tool>.*` or `*`, with a tool of this plugin";
    const CHECK: &'static Check = &OZ_L002;
    pattern!(concat!(r"^(\*|", id!(), r"\.(\*|", function!(), "))$"));

    fn parse(text: &str) -> Result<Self, String> {
        if text == "*" {
            return Ok(Self::All);
        }
        match FunctionTarget::parse(text)? {
            FunctionTarget::Function(function) => Ok(Self::Function(function)),
            FunctionTarget::WholeTool(tool) => Ok(Self::Tool(tool)),
            FunctionTarget::Platform(_) => {
                Err("is the platform's own, and no plugin's policy is about it".to_owned())
            }
        }
    }

    fn refer(&self, node: &Node, cx: &mut Context<'_>) {
        let tool = match self {
            Self::All => return,
            Self::Tool(tool) => tool.clone(),
            Self::Function(function) => function.tool(),
        };
        cx.refer(Target::OwnTool(tool.to_string()), cx.span_within(node, tool.as_ref()));
    }
}
