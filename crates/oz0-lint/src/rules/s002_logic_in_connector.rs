//! The page of this rule, `s002_logic_in_connector.md`, says what it finds, what it must not find, and why.

use oz0_diagnostic::Level;
use oz0_plugin::Spanned;
use oz0_plugin::manifest::{Agent, Flow, PartName};

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::sink::{Finding, Sink};
use crate::view::{Owner, View};

const METADATA: Metadata = Metadata {
    code: "OZ-S002",
    name: "logic-in-connector",
    plain: Plain::On(Level::Warning),
    runs_on: RunsOn::Connectors,
    reads_functions: false,
    fixable: false,
    exemptible: false,
    page: include_str!("s002_logic_in_connector.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

const HELP: &str =
    "move what does a job into a capability that reaches the connector through `uses:`";

fn check(view: &View<'_>, sink: &mut Sink) {
    let Some(because) = view.connector_because() else { return };
    let manifest = view.manifest();
    let mut keys = manifest.agents.keys();
    if let (Some(first), Some(second)) = (keys.next(), keys.next()) {
        let count = manifest.agents.len();
        let message = format!(
            "a connector has one agent at most, its delegate, and this one has {count}{because}"
        );
        sink.push(
            Finding::at(&second.span, message).related(&first.span, "the first one").help(HELP),
        );
    }
    for (key, agent) in &manifest.agents {
        check_agent(view, key, agent, &because, sink);
    }
    for (key, flow) in &manifest.flows {
        check_flow(view, key, flow, &because, sink);
    }
}

/// Whether an agent is tagged as its connector's generic delegate.
pub(super) fn is_tagged_delegate(agent: &Agent) -> bool {
    agent.tags.iter().any(|tag| tag.as_str() == "delegate")
}

fn check_agent(
    view: &View<'_>,
    key: &Spanned<PartName>,
    agent: &Spanned<Agent>,
    because: &str,
    sink: &mut Sink,
) {
    if !is_tagged_delegate(agent) {
        let message =
            format!("the agent `{}` is not tagged as the connector's delegate{because}", key.value);
        let help =
            format!("add `tags: [delegate]` where it only does what it is handed; else {HELP}");
        sink.push(Finding::at(&key.span, message).help(help));
    }
    for address in &agent.tools {
        if let Owner::Other(plugin) = view.owner_of(address) {
            let message = format!(
                "the agent `{}` calls `{}` of the plugin `{plugin}`, and a delegate calls only the connector's own functions{because}",
                key.value, address.target
            );
            sink.push(Finding::at(&address.span, message).help(HELP));
        }
    }
}

fn check_flow(
    view: &View<'_>,
    key: &Spanned<PartName>,
    flow: &Spanned<Flow>,
    because: &str,
    sink: &mut Sink,
) {
    if flow.steps.len() > 1 {
        let message = format!(
            "the flow `{}` has {} steps, and a connector's has one{because}",
            key.value,
            flow.steps.len()
        );
        sink.push(Finding::at(&key.span, message).help(HELP));
    }
    for step in flow.steps.iter() {
        let (span, what) = match (&step.call, &step.agent) {
            (Some(call), _) if view.owner_of(call.address()) == Owner::Own => continue,
            (Some(call), _) => (&call.span, format!("`{}`", call.address())),
            (None, Some(agent)) => (&agent.span, format!("the agent `{}`", agent.value)),
            (None, None) => continue,
        };
        let message = format!(
            "the flow `{}` calls {what}, which is none of the connector's own functions{because}",
            key.value
        );
        sink.push(Finding::at(span, message).help(HELP));
    }
}
