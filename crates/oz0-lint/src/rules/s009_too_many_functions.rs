//! The page of this rule, `s009_too_many_functions.md`, says what it finds, what it must not find, and why.

use std::collections::BTreeSet;

use oz0_diagnostic::{Edit, Fix, Level, Safety, SourceFile};
use oz0_plugin::manifest::{Agent, FunctionAddress, FunctionTarget, ToolLoading};
use oz0_yaml::edit::{Change, PathStep, splices};

use std::sync::Arc;

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::sink::{Finding, Sink};
use crate::view::{Owner, View};

const METADATA: Metadata = Metadata {
    code: "OZ-S009",
    name: "too-many-functions",
    plain: Plain::On(Level::Warning),
    runs_on: RunsOn::EveryPlugin,
    reads_functions: false,
    fixable: true,
    exemptible: false,
    page: include_str!("s009_too_many_functions.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

/// The most functions that an agent lists without lazy tools.
const MOST: usize = 30;

/// How many fixes one run makes: each takes a parse of the manifest, and `--fix` runs until nothing is left.
const FIXES: usize = 32;

fn check(view: &View<'_>, sink: &mut Sink) {
    let mut fixes = 0;
    for (key, agent) in &view.manifest().agents {
        let lazy =
            agent.tool_loading.as_ref().is_some_and(|loading| loading.value == ToolLoading::Lazy);
        let count = functions(view, agent).len();
        if lazy || count <= MOST {
            continue;
        }
        fixes += 1;
        let fix =
            (fixes <= FIXES).then(|| fix(view.plugin().source(), key.as_str(), agent)).flatten();
        let message = format!(
            "the agent `{}` lists {count} functions, above {MOST}, and every one is in each model request",
            key.value
        );
        let finding = Finding::at(&key.span, message).fix(fix);
        sink.push(finding.help("set `tool_loading: lazy` on the agent, or split its work"));
    }
}

/// What an agent lists, each function once, with whole tools taken apart as far as their functions are known.
fn functions(view: &View<'_>, agent: &Agent) -> BTreeSet<String> {
    let mut functions = BTreeSet::new();
    for address in &agent.tools {
        let FunctionAddress { target, .. } = &address.value;
        let owner = view.owner_of(address);
        let prefix = match owner {
            Owner::Other(plugin) => format!("{plugin}/"),
            Owner::Own | Owner::Platform => String::new(),
        };
        let FunctionTarget::WholeTool(tool) = target else {
            functions.insert(format!("{prefix}{target}"));
            continue;
        };
        let known: Vec<String> = match owner {
            Owner::Other(plugin) => {
                let uses = view.manifest().uses.get(plugin.as_str());
                let granted = uses.iter().flat_map(|uses| uses.tools.iter());
                let of_tool = granted.filter_map(|grant| match grant.target() {
                    FunctionTarget::Function(id) if id.tool() == *tool => {
                        Some(format!("{prefix}{id}"))
                    }
                    _ => None,
                });
                of_tool.collect()
            }
            Owner::Own | Owner::Platform => {
                view.functions_of(tool).map(|function| function.id().to_owned()).collect()
            }
        };
        if known.is_empty() {
            functions.insert(format!("{prefix}{target}"));
        }
        functions.extend(known);
    }
    functions
}

/// Sets `tool_loading: lazy`; `None` where that cannot be done without changing something else.
fn fix(source: &Arc<SourceFile>, agent: &str, said: &Agent) -> Option<Fix> {
    let mut path = vec![PathStep::Key("agents"), PathStep::Key(agent)];
    let value = "lazy".into();
    let change = if said.tool_loading.is_some() {
        path.push(PathStep::Key("tool_loading"));
        Change::Replace { path, value }
    } else {
        Change::Insert { path, key: "tool_loading", value }
    };
    let edits = splices(source.text(), &[change]).ok()?.into_iter();
    let edits =
        edits.map(|(range, replacement)| Edit { file: Arc::clone(source), range, replacement });
    Some(Fix {
        title: "set `tool_loading: lazy`".to_owned(),
        safety: Safety::Safe,
        edits: edits.collect(),
    })
}
