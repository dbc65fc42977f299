//! The page of this rule, `s020_open_combination.md`, says what it finds, what it must not find, and why.

use std::collections::HashMap;

use oz0_diagnostic::Level;
use oz0_plugin::manifest::{Agent, FunctionTarget};
use oz0_policy::{Part, combine, outcomes};

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::phrase::listed;
use crate::rules::Rule;
use crate::sink::{Finding, Sink};
use crate::view::{Kind, Owner, Seen, View};

const METADATA: Metadata = Metadata {
    code: "OZ-S020",
    name: "open-combination",
    plain: Plain::On(Level::Warning),
    runs_on: RunsOn::EveryPlugin,
    reads_functions: true,
    fixable: false,
    exemptible: false,
    page: include_str!("s020_open_combination.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

fn check(view: &View<'_>, sink: &mut Sink) {
    let functions: HashMap<&str, Part<String>> =
        view.functions().map(|function| (function.id(), part(view, function))).collect();
    let triggered = triggered(view);
    for (key, agent) in &view.manifest().agents {
        let trigger = triggered.get(key.as_str()).copied();
        let mut combination = combine(parts(view, agent, &functions, trigger));
        if !combination.is_open() {
            continue;
        }
        for names in [&mut combination.private, &mut combination.outside, &mut combination.unasked]
        {
            names.sort();
            names.dedup();
        }
        let message = format!(
            "the agent `{}` reads private data ({}), takes input from outside ({}), and sends with nobody asked ({})",
            key.value,
            listed(&combination.private),
            listed(&combination.outside),
            listed(&combination.unasked)
        );
        let help = format!(
            "ask in `policy:` before each of them sends, such as `{{match: {}, action: ask}}`, or take an ingredient away",
            combination.unasked[0]
        );
        let mut finding = Finding::at(&key.span, message).help(help);
        for name in &combination.unasked {
            if let Some(function) = name.parse().ok().and_then(|id| view.function(&id)) {
                finding =
                    finding.related(function.span(), format!("`{name}` may run with nobody asked"));
            }
        }
        let capability = view.kind() == Some(Kind::Capability);
        sink.push(if capability { finding } else { finding.verified_note() });
    }
}

/// What an agent is made of, as far as the plugin alone tells. `trigger` is a flow from outside that runs it.
fn parts(
    view: &View<'_>,
    agent: &Agent,
    functions: &HashMap<&str, Part<String>>,
    trigger: Option<&str>,
) -> Vec<Part<String>> {
    let mut parts = Vec::new();
    for address in &agent.tools {
        match (view.owner_of(address), &address.target) {
            // Another plugin's function is Unknown to lint: it may bring anything in, it sends, and it asks.
            (Owner::Other(plugin), target) => parts.push(Part {
                what: format!("{plugin}/{target}"),
                private: false,
                outside: true,
                sends: true,
                unasked: false,
            }),
            (_, FunctionTarget::Function(id)) => parts.extend(functions.get(id.as_str()).cloned()),
            (_, FunctionTarget::WholeTool(tool)) => {
                let of_tool = view.functions_of(tool);
                parts.extend(of_tool.filter_map(|function| functions.get(function.id()).cloned()));
            }
            (_, FunctionTarget::Platform(name)) if name == "wait_for_event" => {
                parts.push(outside("oz.wait_for_event"));
            }
            (_, FunctionTarget::Platform(_)) => {}
        }
    }
    parts.extend(trigger.map(|flow| outside(&format!("the trigger of the flow {flow}"))));
    parts
}

/// The plugin's agents that a flow with a webhook or an event runs, each with one such flow.
fn triggered<'v>(view: &'v View<'_>) -> HashMap<&'v str, &'v str> {
    let mut triggered = HashMap::new();
    for (name, flow) in &view.manifest().flows {
        let from_outside = flow
            .trigger
            .as_ref()
            .is_some_and(|trigger| trigger.webhook.is_some() || trigger.event.is_some());
        for agent in flow.steps.iter().filter_map(|step| step.agent.as_ref()) {
            if from_outside && view.owner_of_agent(agent) == Owner::Own {
                triggered.entry(agent.agent.as_str()).or_insert(name.as_str());
            }
        }
    }
    triggered
}

fn outside(what: &str) -> Part<String> {
    Part { what: what.to_owned(), private: false, outside: true, sends: false, unasked: false }
}

fn part(view: &View<'_>, function: Seen<'_>) -> Part<String> {
    let tool = function.tool();
    let labels = tool.labels.as_ref();
    let untrusted = labels
        .and_then(|labels| labels.untrusted.as_ref())
        .is_some_and(|untrusted| untrusted.value);
    Part {
        what: function.id().to_owned(),
        private: tool.connection.is_some() || labels.is_some_and(|labels| labels.source.is_some()),
        outside: function.hints().open_world != Some(false) || tool.is_remote() || untrusted,
        sends: function.kind().sends(),
        unasked: outcomes(&function.policy(), &[], view.policy()).allow,
    }
}
