//! Agents, the harnesses that run them, and skills.

use oz0_yaml::{Node, Value};
use serde_json::json;

use super::address::FunctionAddress;
use super::host::HostPattern;
use super::name::{Argument, HarnessName, Label, Prose};
use super::path::{FilePath, SkillPath};
use crate::decode::declare::{choice, record};
use crate::decode::schema::Definitions;
use crate::decode::{Constraint, Context, Decode};
use crate::{List, NonEmpty};

record! {
    /// An agent that the plugin brings.
    pub struct Agent {
        /// What it does, for whoever hands it work.
        [optional] description = "description": Prose,
        /// What it is for, in a sentence.
        [optional] purpose = "purpose": Prose,
        /// Words about it; `delegate` marks the generic agent of a connector.
        [many] tags = "tags": List<Label>,
        /// The model that it runs on: an alias, a model, or what it needs of one.
        [optional] model = "model": ModelChoice,
        /// The file with its instructions.
        [optional] instructions = "instructions": FilePath,
        /// The functions it may call: `<tool>.<function>`, `<tool>.*`, `oz.<function>`; another plugin's after `<plugin>/`.
        [many] tools = "tools": List<FunctionAddress>,
        /// Whether its model sees every function at once or finds them when it needs them.
        [optional] tool_loading = "tool_loading": ToolLoading,
        /// The hosts that its session reaches.
        [many] egress = "egress": List<HostPattern>,
        /// The harness that runs its sessions.
        [optional] harness = "harness": HarnessName,
    }
}

choice! {
    /// How an agent's model comes to see its functions.
    pub enum ToolLoading: "a way to load tools" {
        /// All in every request.
        Eager = "eager",
        /// By searching for what it needs.
        Lazy = "lazy",
    }
}

/// The model that an agent runs on: an alias or a model as a bare string, or a [`Model`].
#[derive(Debug, Clone)]
pub enum ModelChoice {
    /// An alias (`default`, `fast`, `smart`) or a model (`openai/gpt-5.5`).
    Name(Label),
    /// What is wanted of the model.
    Model(Box<Model>),
}

impl Decode for ModelChoice {
    fn decode(node: &Node, cx: &mut Context<'_>) -> Option<Self> {
        match &node.value {
            Value::String(_) => Label::decode(node, cx).map(Self::Name),
            Value::Mapping(_) => Model::decode(node, cx).map(|model| Self::Model(Box::new(model))),
            _ => {
                cx.mistyped(node, "a string or a mapping");
                None
            }
        }
    }

    fn schema(definitions: &mut Definitions) -> serde_json::Value {
        json!({"anyOf": [Label::schema(definitions), Model::schema(definitions)]})
    }
}

record! {
    /// What an agent wants of its model. Exactly one of `use` and `primary` names it.
    pub struct Model {
        /// An alias that every tenant maps to a model: `default`, `fast`, `smart`.
        [optional] alias = "use": Label,
        /// One vendor's model.
        [optional] primary = "primary": Label,
        /// Why it must be that vendor's, in a sentence.
        [optional] vendor_reason = "vendor_reason": Prose,
        /// What the model must be able to do, such as `tools`.
        [many] needs = "needs": List<Label>,
    }
    constraints &[
        Constraint::ExactlyOne(&["use", "primary"]),
        Constraint::OnlyWith("vendor_reason", "primary"),
    ];
}

record! {
    /// A program that runs an agent's session.
    pub struct Harness {
        /// The program and its arguments.
        [required] command = "command": NonEmpty<Argument>,
    }
}

record! {
    /// Written instructions that agents read when they need them.
    pub struct Skill {
        /// The folder that holds its SKILL.md.
        [required] path = "path": SkillPath,
        /// When to read it.
        [optional] description = "description": Prose,
    }
}
