//! The page of this rule, `s011_untested_connector.md`, says what it finds, what it must not find, and why.

use std::collections::HashMap;

use oz0_diagnostic::Span;
use oz0_plugin::manifest::{Agent, PartName};
use oz0_plugin::{Eval, EvalFile, Spanned};

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::rules::s002_logic_in_connector::is_tagged_delegate;
use crate::sink::{Finding, Sink};
use crate::view::View;

const METADATA: Metadata = Metadata {
    code: "OZ-S011",
    name: "untested-connector",
    plain: Plain::Off,
    runs_on: RunsOn::Connectors,
    reads_functions: false,
    fixable: false,
    exemptible: false,
    page: include_str!("s011_untested_connector.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

fn check(view: &View<'_>, sink: &mut Sink) {
    let Some(because) = view.connector_because() else { return };
    let manifest = view.manifest();
    if let Some(tool) = manifest.tools.keys().next()
        && view.plugin().contract_tests().is_empty()
    {
        let message =
            format!("the connector has functions and no contract tests in tests/{because}");
        sink.push(Finding::at(&tool.span, message).help(
            "add tests that run against a fake of the system, with one for each function that sends to people that the AI label \
             is on what arrives",
        ));
    }
    let evals = Evals::of(view);
    for key in manifest.flows.keys() {
        check_part(view, Kind::Flow, key, &evals, &because, sink);
    }
    for (key, agent) in &manifest.agents {
        if !is_delegate(view, agent) {
            check_part(view, Kind::Agent, key, &evals, &because, sink);
        }
    }
}

/// What an eval is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Flow,
    Agent,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Flow => "flow",
            Self::Agent => "agent",
        }
    }
}

/// The plugin's evals by what of its own they are about.
struct Evals<'v> {
    about: HashMap<(Kind, &'v str), Vec<(&'v EvalFile, &'v Eval)>>,
    /// Whether one could not be read. That is the loader's finding, and a part may well have its eval there.
    unread: bool,
}

impl<'v> Evals<'v> {
    fn of(view: &'v View<'_>) -> Self {
        let mut evals = Self { about: HashMap::new(), unread: false };
        for file in view.plugin().evals() {
            let Some(eval) = &file.eval else {
                evals.unread = true;
                continue;
            };
            let flow = eval.flow.as_ref().map(|flow| (Kind::Flow, flow.as_str()));
            let own = eval.agent.as_ref().filter(|agent| agent.plugin.is_none());
            let agent = own.map(|agent| (Kind::Agent, agent.agent.as_str()));
            if let Some(part) = flow.or(agent) {
                evals.about.entry(part).or_default().push((file, eval));
            }
        }
        evals
    }
}

/// A connector's generic delegate: tagged so, and calling only the connector's own functions.
fn is_delegate(view: &View<'_>, agent: &Agent) -> bool {
    is_tagged_delegate(agent)
        && !agent.tools.iter().any(|address| view.owner_of(address).is_other())
}

/// A part needs an eval whose every case replays.
fn check_part(
    view: &View<'_>,
    kind: Kind,
    key: &Spanned<PartName>,
    evals: &Evals<'_>,
    because: &str,
    sink: &mut Sink,
) {
    let what = kind.word();
    let mut incomplete: Option<(&EvalFile, &Span, &str)> = None;
    for (file, eval) in evals.about.get(&(kind, key.as_str())).into_iter().flatten() {
        let mut cases = eval.cases.iter();
        match cases.find(|case| !is_recorded(view, kind, &file.name, case.name.as_str())) {
            None => return,
            Some(case) => {
                incomplete.get_or_insert((file, &case.name.span, case.name.as_str()));
            }
        }
    }
    let steps = if kind == Kind::Flow { ", or evals/steps/<eval>/<case>.json" } else { "" };
    let help = format!("record each case: evals/cassettes/<eval>/<case>.jsonl{steps}");
    match incomplete {
        Some((file, span, case)) => {
            let message =
                format!("the case `{case}` of the eval `{}` has no recording to replay", file.name);
            sink.push(
                Finding::at(span, message)
                    .related(&key.span, format!("the {what} that it is about"))
                    .help(help),
            );
        }
        None if evals.unread => {}
        None => {
            let message = format!(
                "the {what} `{}` of the connector has no eval that replays offline{because}",
                key.value
            );
            sink.push(
                Finding::at(&key.span, message)
                    .help(format!("add an eval of it in evals/; {help}")),
            );
        }
    }
}

fn is_recorded(view: &View<'_>, kind: Kind, eval: &str, case: &str) -> bool {
    let holds = |path: String| view.plugin().file(&path).is_some_and(|file| file.len > 0);
    holds(format!("evals/cassettes/{eval}/{case}.jsonl"))
        || kind == Kind::Flow && holds(format!("evals/steps/{eval}/{case}.json"))
}
