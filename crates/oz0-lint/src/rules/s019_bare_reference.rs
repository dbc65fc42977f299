//! The page of this rule, `s019_bare_reference.md`, says what it finds, what it must not find, and why.

use oz0_diagnostic::{Fix, Level, Span};
use oz0_plugin::manifest::PluginName;

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
    let mut bare = bare_in_manifest(view);
    drop_unsafe(view, &mut bare);
    let agents = view.plugin().evals().iter().filter_map(|file| file.eval.as_ref()?.agent.as_ref());
    for agent in agents.filter(|agent| agent.plugin.is_none()) {
        let found = Bare::of(view.owner_of_agent(agent), agent.value.to_string(), &agent.span);
        // What else an alias would bring the address to, nobody looks at.
        let anchored = |span: &Span| span.file().text()[..span.range().start].contains('&');
        bare.extend(found.map(|found| {
            let fix = found.fix.filter(|_| !anchored(found.span));
            Bare { fix, ..found }
        }));
    }
    for Bare { name, plugin, span, fix } in bare {
        let message =
            format!("`{name}` is of the plugin `{plugin}`, and its bare name says so nowhere");
        let finding = Finding::at(span, message).fix(fix);
        sink.push(finding.help(format!("write the address: `{plugin}/{name}`")));
    }
}

/// A bare name of another plugin's part.
struct Bare<'v> {
    name: String,
    plugin: &'v PluginName,
    span: &'v Span,
    fix: Option<Fix>,
}

impl<'v> Bare<'v> {
    fn of(owner: Owner<'v>, name: String, span: &'v Span) -> Option<Self> {
        let Owner::Other(plugin) = owner else { return None };
        let fix = qualify(span, &name, plugin.as_str());
        Some(Self { name, plugin, span, fix })
    }
}

fn bare_in_manifest<'v>(view: &'v View<'_>) -> Vec<Bare<'v>> {
    let manifest = view.manifest();
    let mut bare = Vec::new();
    for address in manifest.agents.values().flat_map(|agent| &agent.tools) {
        if address.plugin.is_none() {
            bare.extend(Bare::of(view.owner_of(address), address.value.to_string(), &address.span));
        }
    }
    for step in manifest.flows.values().flat_map(|flow| flow.steps.iter()) {
        if let Some(call) = step.call.as_ref().filter(|call| call.address().plugin.is_none()) {
            let address = call.address();
            bare.extend(Bare::of(view.owner_of(address), address.to_string(), &call.span));
        }
        if let Some(agent) = step.agent.as_ref().filter(|agent| agent.plugin.is_none()) {
            bare.extend(Bare::of(view.owner_of_agent(agent), agent.value.to_string(), &agent.span));
        }
    }
    for pattern in manifest.hooks.iter().filter_map(|hook| hook.pattern.as_ref()) {
        let text = pattern.as_str();
        // A pattern whose tool is a pattern itself is about whatever matches, and names nobody's.
        let tool = text.split('.').next().filter(|tool| !tool.contains(['*', '/']));
        if let Some(tool) = tool {
            bare.extend(Bare::of(view.owner_of_tool(tool), text.to_owned(), &pattern.span));
        }
    }
    bare
}

/// Takes the fixes away where they would change more than the names that they are about: an alias elsewhere, such as under
/// `uses:`, may stand for the same text.
fn drop_unsafe(view: &View<'_>, bare: &mut [Bare<'_>]) {
    let mut splices: Vec<_> = bare
        .iter()
        .filter_map(|found| found.fix.as_ref())
        .flat_map(|fix| &fix.edits)
        .map(|edit| (edit.range.clone(), edit.replacement.clone()))
        .collect();
    if splices.is_empty() {
        return;
    }
    splices.sort_by_key(|(range, _)| range.start);
    splices.dedup();
    let text = oz0_yaml::edit::splice(view.plugin().source().text(), &splices);
    if !text.is_ok_and(|text| view.plugin().means_the_same(&text)) {
        for found in bare {
            found.fix = None;
        }
    }
}
