//! The page of this rule, `s018_unasked_write.md`, says what it finds, what it must not find, and why.

use oz0_policy::Action;

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::rules::s004_unmarked_write::{place, uncovered};
use crate::sink::{Finding, Sink};
use crate::view::View;

const METADATA: Metadata = Metadata {
    code: "OZ-S018",
    name: "unasked-write",
    plain: Plain::Off,
    runs_on: RunsOn::EveryPlugin,
    reads_functions: true,
    fixable: false,
    exemptible: false,
    page: include_str!("s018_unasked_write.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

fn check(view: &View<'_>, sink: &mut Sink) {
    for function in view.functions() {
        if function.hints().read_only == Some(true) || function.requires_approval() {
            continue;
        }
        // A judge is no person.
        let counts = |action| matches!(action, Action::Ask | Action::Refuse);
        let Some(why) = uncovered(view, function, counts) else { continue };
        let message = format!(
            "the plugin's policy does not ask before `{}` writes{}",
            function.id(),
            why.clause
        );
        let finding = Finding::at(function.span(), message).help(format!(
            "add to `policy:` the rule `{{match: {}, action: ask, reason: \"the plugin asks before it writes\"}}`",
            function.id()
        ));
        sink.push(why.relate(view, place(function, finding)));
    }
}
