//! The page of this rule, `s001_wrong_kind.md`, says what it finds, what it must not find, and why.

use oz0_diagnostic::{Level, Span, did_you_mean};
use oz0_plugin::Spanned;
use oz0_plugin::manifest::{Agent, Flow, Requires};

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::{Rule, rules};
use crate::sink::{Finding, Sink};
use crate::view::{Kind, Owner, View};

const METADATA: Metadata = Metadata {
    code: "OZ-S001",
    name: "wrong-kind",
    plain: Plain::On(Level::Warning),
    runs_on: RunsOn::EveryPlugin,
    reads_functions: false,
    fixable: false,
    exemptible: false,
    page: include_str!("s001_wrong_kind.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

fn check(view: &View<'_>, sink: &mut Sink) {
    let manifest = view.manifest();
    let Some(kind) = &manifest.kind else {
        let message = format!("the manifest says no kind, so {} cannot run", unable(view, sink));
        let finding = Finding::at(&manifest.name.span, message);
        sink.push(finding.help(advice(view)));
        return;
    };
    match Kind::of(kind.as_str()) {
        Some(Kind::Policy) => policy(view, &kind.span, sink),
        Some(Kind::Connector | Kind::Capability) => {}
        None => {
            let word = oz0_listing::escape::line_within(kind.as_str(), 64);
            let message =
                format!("`{word}` is no kind of plugin, so {} cannot run", unable(view, sink));
            let help = match (did_you_mean(kind.as_str(), Kind::WORDS), looks_like(view)) {
                (Some(near), Some((looks, part))) if near == looks => {
                    format!("did you mean `{near}`, which the plugin looks like? It has {part}")
                }
                (Some(near), _) => format!("did you mean `{near}`? Otherwise {}", advice(view)),
                (None, _) => advice(view),
            };
            sink.push(Finding::at(&kind.span, message).help(help));
        }
    }
}

/// The rules of the level in force that stand on the kind, and do not run without one: those that the summary names too.
fn unable(view: &View<'_>, sink: &Sink) -> String {
    let unable = |rule: &&&'static Rule| {
        rule.runs_at(sink.verified()) && view.off_kind(rule.metadata.runs_on).is_some()
    };
    let codes: Vec<&str> = rules().iter().filter(unable).map(|rule| rule.metadata.code).collect();
    match codes.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => "no rule about its kind".to_owned(),
    }
}

/// What to write: the kind that the plugin looks like, with the reason.
fn advice(view: &View<'_>) -> String {
    match looks_like(view) {
        Some((kind, part)) => {
            format!("write `kind: {kind}`, which the plugin looks like: it has {part}")
        }
        None => "write `kind: connector`, `kind: capability` or `kind: policy`, the one it is"
            .to_owned(),
    }
}

/// The kind that the plugin looks like, and by which part of it.
fn looks_like(view: &View<'_>) -> Option<(&'static str, String)> {
    let manifest = view.manifest();
    let outside = view.outside_system();
    Some(if let Some((what, key)) = outside.first() {
        ("connector", format!("the {what} `{}`", key.value))
    } else if !manifest.hooks.is_empty() {
        ("policy", "hooks and nothing of an outside system".to_owned())
    } else if let Some(agent) = manifest.agents.keys().next() {
        ("capability", format!("the agent `{}`", agent.value))
    } else if let Some(flow) = manifest.flows.keys().next() {
        ("capability", format!("the flow `{}`", flow.value))
    } else if let Some(tool) = manifest.tools.keys().next() {
        ("connector", format!("the tool `{}`", tool.value))
    } else {
        return None;
    })
}

/// What makes a plugin that says `policy` none.
fn policy(view: &View<'_>, kind: &Span, sink: &mut Sink) {
    let manifest = view.manifest();
    if manifest.hooks.is_empty() {
        let finding =
            Finding::at(kind, "a policy watches calls with hooks, and this plugin has none");
        sink.push(finding.help(advice(view)));
    }
    for (what, key) in view.outside_system() {
        let message =
            format!("the {what} `{}` is an outside system's, and a policy holds none", key.value);
        sink.push(Finding::at(&key.span, message).help("move it into the system's connector"));
    }
    let Some(requires) = &manifest.requires else { return };
    let Some(secret) = secrets(requires).next() else { return };
    let mut tell = |what: &str, name: &str, span: &Span| {
        let message = format!(
            "the {what} `{name}` reaches hosts with secrets of the plugin's own, which is a capability's work"
        );
        let finding = Finding::at(span, message).related(secret, "a secret of the plugin's own");
        sink.push(finding.help(format!(
            "write `kind: capability`, or move the {what} into a capability; a policy's hooks may keep their secrets"
        )));
    };
    let reaches_hosts = !manifest.egress.is_empty() || !requires.inject.is_empty();
    for (key, agent) in &manifest.agents {
        // A session in a harness holds the plugin's secrets, as a server does.
        let holds_secrets = agent.harness.is_some() || agent_calls_own(view, agent);
        if !agent.egress.is_empty() || reaches_hosts && holds_secrets {
            tell("agent", key.as_str(), &key.span);
        }
    }
    for (key, flow) in &manifest.flows {
        if reaches_hosts && flow_calls_own(view, flow) {
            tell("flow", key.as_str(), &key.span);
        }
    }
}

/// Where the plugin's own secrets stand.
fn secrets(requires: &Requires) -> impl Iterator<Item = &Span> {
    let named = requires.secrets.iter().chain(&requires.optional_secrets);
    named.map(|secret| &secret.span).chain(requires.inject.keys().map(|key| &key.span))
}

fn agent_calls_own(view: &View<'_>, agent: &Spanned<Agent>) -> bool {
    agent.tools.iter().any(|address| view.owner_of(address) == Owner::Own)
}

fn flow_calls_own(view: &View<'_>, flow: &Spanned<Flow>) -> bool {
    let mut calls = flow.steps.iter().filter_map(|step| step.call.as_ref());
    calls.any(|call| view.owner_of(call.address()) == Owner::Own)
}
