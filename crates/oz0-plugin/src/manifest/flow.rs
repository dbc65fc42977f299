//! Flows, hooks, and where events come from and messages go.

use oz0_diagnostic::{Check, Diagnostic};
use oz0_yaml::{Node, Value};
use serde_json::Map as JsonObject;

use super::address::{AgentAddress, FunctionAddress, FunctionTarget, OwnFunction};
use super::name::{ConnectionName, PartName, PluginName, Prose, function, id, plugin};
use super::version::Schedule;
use crate::NonEmpty;
use crate::check::OZ_L002;
use crate::decode::declare::{choice, record};
use crate::decode::reference::Target;
use crate::decode::text::{Text, pattern, text};
use crate::decode::{Constraint, Context};

record! {
    /// A fixed sequence of calls and agents.
    pub struct Flow {
        /// What it does.
        [optional] description = "description": Prose,
        /// What it is for, in a sentence.
        [optional] purpose = "purpose": Prose,
        /// What starts it; a person or an agent, where it is left out.
        [optional] trigger = "trigger": Trigger,
        /// What it does, in order.
        [required] steps = "steps": NonEmpty<Step>,
    }
    then check_results;
}

record! {
    /// What starts a flow: exactly one of the three.
    pub struct Trigger {
        /// A time: five fields, as cron has them.
        [optional] schedule = "schedule": Schedule,
        /// A request to a webhook of this name.
        [optional] webhook = "webhook": PartName,
        /// An event: `SOURCE.NAME`.
        [optional] event = "event": EventAddress,
    }
    constraints &[Constraint::ExactlyOne(&["schedule", "webhook", "event"])];
}

record! {
    /// One step of a flow: a call or an agent.
    pub struct Step {
        /// The function to call.
        [optional] call = "call": StepCall,
        /// The agent to run.
        [optional] agent = "agent": AgentAddress,
        /// The arguments or the agent's input; a text `$steps.N` stands for the result of step N, from 0.
        [optional] with = "with": JsonObject<String, serde_json::Value>,
    }
    constraints &[Constraint::ExactlyOne(&["call", "agent"])];
}

/// A step reads only the results of steps before it.
fn check_results(node: &Node, cx: &mut Context<'_>) {
    let Some(Value::Sequence(steps)) = node.get("steps").map(|entry| &entry.value.value) else {
        return;
    };
    for (index, step) in steps.iter().enumerate() {
        let mut open: Vec<&Node> = step.get("with").map(|entry| &entry.value).into_iter().collect();
        while let Some(node) = open.pop() {
            match &node.value {
                Value::Sequence(nodes) => open.extend(nodes),
                Value::Mapping(entries) => open.extend(entries.iter().map(|entry| &entry.value)),
                Value::String(text) => {
                    let Some(path) = text.strip_prefix("$steps.") else { continue };
                    let number = path.split('.').next().unwrap_or_default();
                    if number.parse::<usize>().is_ok_and(|number| number < index) {
                        continue;
                    }
                    let message = format!(
                        "{}: step {index} reads `{}`, which is no step before it",
                        cx.subject(),
                        crate::decode::brief(text)
                    );
                    let help = match index {
                        0 => "the first step has no results to read".to_owned(),
                        _ => format!("it can read $steps.0 to $steps.{}", index - 1),
                    };
                    let span = cx.span(node.range.clone());
                    cx.report(Diagnostic::new(&OZ_L002, span, message).help(help));
                }
                _ => {}
            }
        }
    }
}

/// The one function that a step calls: `<tool>.<function>`, and `<plugin>/` before it for another plugin's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepCall(FunctionAddress);

impl StepCall {
    /// The address.
    pub fn address(&self) -> &FunctionAddress {
        &self.0
    }
}

impl Text for StepCall {
    const WHAT: &'static str = "a function's address";
    const RULE: &'static str =
        "write `<tool>.<function>`, and `<plugin>/` before it for another plugin's";
    const CHECK: &'static Check = &OZ_L002;
    pattern!(concat!("^(", plugin!(), "/)?", id!(), r"\.", function!(), "$"));

    fn parse(text: &str) -> Result<Self, String> {
        let address = FunctionAddress::read(text)?;
        match address.target {
            FunctionTarget::WholeTool(_) => Err("is not one function".to_owned()),
            _ => Ok(Self(address)),
        }
    }

    fn refer(&self, node: &Node, cx: &mut Context<'_>) {
        cx.refer(self.0.target(), cx.span(node.range.clone()));
    }
}

/// An event: `<source>.<name>`, and `<plugin>/` before it for another plugin's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventAddress {
    /// The other plugin's name, where the address says one.
    pub plugin: Option<PluginName>,
    /// The event source.
    pub source: PartName,
    /// The event's name.
    pub event: String,
}

impl Text for EventAddress {
    const WHAT: &'static str = "an event's address";
    const RULE: &'static str = "write `<source>.<event>`, with one of the plugin's event sources";
    const CHECK: &'static Check = &OZ_L002;
    pattern!(concat!("^(", plugin!(), "/)?", id!(), r"\.", function!(), "$"));

    fn parse(text: &str) -> Result<Self, String> {
        let (plugin, rest) = match text.split_once('/') {
            Some((plugin, rest)) => (Some(PluginName::parse(plugin)?), rest),
            None => (None, text),
        };
        let (source, event) =
            rest.split_once('.').ok_or_else(|| "is not <source>.<event>".to_owned())?;
        Ok(Self { plugin, source: PartName::parse(source)?, event: event.to_owned() })
    }

    fn refer(&self, node: &Node, cx: &mut Context<'_>) {
        let target = match &self.plugin {
            Some(plugin) => Target::Plugin(plugin.as_str().to_owned()),
            None => Target::EventSource(self.source.as_str().to_owned()),
        };
        cx.refer(target, cx.span(node.range.clone()));
    }
}

record! {
    /// A function that the platform calls around other calls.
    pub struct Hook {
        /// When.
        [required] on = "on": HookPoint,
        /// Around which functions: an address in which `*` stands for any run of characters; all, where it is left out.
        [optional] pattern = "match": CallPattern,
        /// The function that is called: one of the plugin's own.
        [required] call = "call": OwnFunction,
    }
}

choice! {
    /// When a hook is called.
    pub enum HookPoint: "a moment for a hook" {
        /// Before a function is called.
        BeforeCall = "before_call",
        /// After a function was called.
        AfterCall = "after_call",
        /// Before a model is asked.
        BeforeModel = "before_model",
        /// After a model answered.
        AfterModel = "after_model",
    }
}

text! {
    /// Which calls a hook is about: a function's address in which `*` stands for any run of characters.
    pub struct CallPattern: "a pattern of functions", &OZ_L002,
    concat!("^(", plugin!(), r"/)?[A-Za-z0-9_.*-]{1,200}$"),
    "write an address in which `*` stands for any run of characters, such as `*.create_*`";
}

record! {
    /// Where events come from.
    pub struct EventSource {
        /// The connection whose system sends them.
        [optional] connection = "connection": ConnectionName,
        /// The name of the webhook that receives them.
        [required] webhook = "webhook": PartName,
    }
}

record! {
    /// Where messages to people go.
    pub struct Channel {
        /// The connection that they go through.
        [optional] connection = "connection": ConnectionName,
        /// The function that sends one.
        [required] send = "send": OwnFunction,
    }
}
