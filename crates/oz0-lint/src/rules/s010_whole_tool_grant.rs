//! The page of this rule, `s010_whole_tool_grant.md`, says what it finds, what it must not find, and why.

use oz0_diagnostic::Level;
use oz0_plugin::manifest::FunctionTarget;

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::sink::{Finding, Sink};
use crate::view::View;

const METADATA: Metadata = Metadata {
    code: "OZ-S010",
    name: "whole-tool-grant",
    plain: Plain::On(Level::Warning),
    runs_on: RunsOn::EveryPlugin,
    reads_functions: false,
    fixable: false,
    exemptible: false,
    page: include_str!("s010_whole_tool_grant.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

fn check(view: &View<'_>, sink: &mut Sink) {
    for (plugin, uses) in &view.manifest().uses {
        for grant in &uses.tools {
            if let FunctionTarget::WholeTool(tool) = grant.target() {
                let message = format!(
                    "`{tool}.*` grants every function of the tool, and those that a later version of `{}` adds",
                    plugin.value
                );
                let help = "name each function that the plugin's agents and flows call";
                sink.push(Finding::at(&grant.span, message).help(help));
            }
        }
    }
}
