//! The page of this rule, `s008_no_output_schema.md`, says what it finds, what it must not find, and why.

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::rules::s004_unmarked_write::place;
use crate::sink::{Finding, Sink};
use crate::view::View;

const METADATA: Metadata = Metadata {
    code: "OZ-S008",
    name: "no-output-schema",
    plain: Plain::Off,
    runs_on: RunsOn::EveryPlugin,
    reads_functions: true,
    fixable: false,
    exemptible: false,
    page: include_str!("s008_no_output_schema.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

fn check(view: &View<'_>, sink: &mut Sink) {
    for function in view.functions().filter(|function| !function.has_output_schema()) {
        let finding =
            Finding::at(function.span(), format!("`{}` has no output schema", function.id()));
        sink.push(place(function, finding).help(
            "return structured content with an output schema; in the Python MCP SDK a typed return value becomes one",
        ));
    }
}
