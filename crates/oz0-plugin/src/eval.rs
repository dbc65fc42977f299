//! Evals: `evals/<eval>.yaml`, read and checked for shape. They are not replayed yet.

use std::sync::Arc;

use oz0_diagnostic::{Diagnostic, SourceFile, Span};
use oz0_yaml::Node;

use crate::check::OZ_L002;
use crate::decode::Constraint;
use crate::decode::declare::record;
use crate::decode::reference::{Names, Target};
use crate::decode::text::{Text, text};
use crate::manifest::{AgentAddress, PartName, read_file};
use crate::{NonEmpty, Spanned};

record! {
    /// What an agent or a flow must do: exactly one of the two, and cases.
    pub struct Eval {
        /// The agent.
        [optional] agent = "agent": AgentAddress,
        /// The flow of the plugin's own.
        [optional] flow = "flow": FlowName,
        /// The cases.
        [required] cases = "cases": NonEmpty<EvalCase>,
    }
    constraints &[Constraint::ExactlyOne(&["agent", "flow"])];
}

record! {
    /// One case of an eval.
    pub struct EvalCase {
        /// Its name, which its recording's file has too.
        [required] name = "name": PartName,
        /// What the agent or flow is given.
        [required] input = "input": serde_json::Value,
        /// What must come of it.
        [required] expect = "expect": serde_json::Value,
    }
}

text! {
    /// The name of one of the plugin's flows.
    pub struct FlowName: "a flow's name", &OZ_L002, concat!("^", crate::manifest::id!(), "$"),
    "it begins with a letter, and has letters, digits, `_` and `-`, at most 63";

    fn refer(&self, node: &Node, cx: &mut crate::decode::Context<'_>) {
        cx.refer(Target::Flow(self.0.clone()), cx.span(node.range.clone()));
    }
}

/// One eval's file.
#[derive(Debug)]
#[non_exhaustive]
pub struct EvalFile {
    /// The eval's name: the file's, without its ending.
    pub name: String,
    /// The file.
    pub source: Arc<SourceFile>,
    /// What it says, when nothing is wrong with it.
    pub eval: Option<Eval>,
}

/// Reads an eval. `manifest` is the manifest's tree, where all of it could be read.
pub(crate) fn read(
    path: &str,
    bytes: &[u8],
    manifest: Option<&Node>,
) -> (EvalFile, Vec<Diagnostic>) {
    let name = path.trim_start_matches("evals/").trim_end_matches(".yaml").to_owned();
    let file = read_file::<Eval>(path, bytes, &|_| manifest.map(|root| Names::of(Some(root))));
    let mut diagnostics = file.diagnostics;
    if !PartName::pattern().is_match(&name) {
        let message =
            format!("the file's name: `{}` is not an eval's name", crate::decode::brief(&name));
        let span = Span::start_of(&file.source);
        diagnostics.insert(0, Diagnostic::new(&OZ_L002, span, message).help(PartName::RULE));
    }
    if let Some(eval) = &file.value {
        repeated_names(eval, &mut diagnostics);
    }
    let eval = file.value.filter(|_| diagnostics.is_empty());
    (EvalFile { name, source: file.source, eval }, diagnostics)
}

/// Two cases of one name would share a recording.
fn repeated_names(eval: &Eval, diagnostics: &mut Vec<Diagnostic>) {
    let mut first: std::collections::HashMap<&str, &Spanned<PartName>> =
        std::collections::HashMap::new();
    for case in eval.cases.iter() {
        match first.get(case.name.as_str()) {
            Some(earlier) => {
                let message = format!("there is another case `{}`", case.name.value);
                let diagnostic = Diagnostic::new(&OZ_L002, case.name.span.clone(), message)
                    .related(earlier.span.clone(), "the first one")
                    .help("give each case a name of its own");
                diagnostics.push(diagnostic);
            }
            None => {
                first.insert(case.name.as_str(), &case.name);
            }
        }
    }
}
