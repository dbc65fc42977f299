//! The page of this rule, `s019_bare_reference.md`, says what it finds, what it must not find, and why.

use oz0_diagnostic::{Level, Span};

use crate::fix::qualify;
use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::sink::{Finding, Sink};
use crate::view::{Owner, View};

const METADATA: Metadata = Metadata {
    code: "OZ-S019",
    name: "bare-reference",
    plain: Plain::On(Level::Warning),
    runs_on: RunsOn::EveryPlugin,
    reads_functions: false,
    fixable: true,
    exemptible: false,
    page: include_str!("s019_bare_reference.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

fn check(view: &View<'_>, sink: &mut Sink) {
    let manifest = view.manifest();
    for address in manifest.agents.values().flat_map(|agent| &agent.tools) {
        if address.plugin.is_none() {
            tell(view.owner_of(address), &address.value.to_string(), &address.span, sink);
        }
    }
    for step in manifest.flows.values().flat_map(|flow| flow.steps.iter()) {
        if let Some(call) = step.call.as_ref().filter(|call| call.address().plugin.is_none()) {
            tell(view.owner_of(call.address()), &call.address().to_string(), &call.span, sink);
        }
        if let Some(agent) = step.agent.as_ref().filter(|agent| agent.plugin.is_none()) {
            tell(view.owner_of_agent(agent), &agent.value.to_string(), &agent.span, sink);
        }
    }
    for pattern in manifest.hooks.iter().filter_map(|hook| hook.pattern.as_ref()) {
        let text = pattern.as_str();
        // A pattern whose tool is a pattern itself is about whatever matches, and names nobody's.
        let tool = text.split('.').next().filter(|tool| !tool.contains(['*', '/']));
        if let Some(tool) = tool {
            tell(view.owner_of_tool(tool), text, &pattern.span, sink);
        }
    }
    for file in view.plugin().evals() {
        let agent = file.eval.as_ref().and_then(|eval| eval.agent.as_ref());
        if let Some(agent) = agent.filter(|agent| agent.plugin.is_none()) {
            tell(view.owner_of_agent(agent), &agent.value.to_string(), &agent.span, sink);
        }
    }
}

fn tell(owner: Owner<'_>, name: &str, span: &Span, sink: &mut Sink) {
    let Owner::Other(plugin) = owner else { return };
    let message =
        format!("`{name}` is of the plugin `{plugin}`, and its bare name says so nowhere");
    let finding = Finding::at(span, message).fix(qualify(span, name, plugin.as_str()));
    sink.push(finding.help(format!("write the address: `{plugin}/{name}`")));
}
