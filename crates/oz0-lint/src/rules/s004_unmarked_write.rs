//! The page of this rule, `s004_unmarked_write.md`, says what it finds, what it must not find, and why.

use oz0_diagnostic::Level;
use oz0_plugin::manifest::Approval;
use oz0_policy::{Action, Coverage, coverage};

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::sink::{Finding, Sink};
use crate::view::{Seen, View};

const METADATA: Metadata = Metadata {
    code: "OZ-S004",
    name: "unmarked-write",
    plain: Plain::On(Level::Warning),
    runs_on: RunsOn::EveryPlugin,
    reads_functions: true,
    fixable: false,
    exemptible: false,
    page: include_str!("s004_unmarked_write.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

fn check(view: &View<'_>, sink: &mut Sink) {
    for function in view.functions() {
        let hints = function.hints();
        if hints.read_only.is_some() || hints.destructive.is_some() {
            continue;
        }
        if function.requires_approval() || function.tool().approval() != Approval::Never {
            continue;
        }
        let counts = |action| action != Action::Allow;
        let Some(why) = uncovered(view, function, counts) else { continue };
        let message = format!(
            "`{}` says neither readOnlyHint nor destructiveHint, and is behind no approval{}",
            function.id(),
            why.clause
        );
        let finding = Finding::at(function.span(), message).help(
            "give it `readOnlyHint: true` where it only reads; else `readOnlyHint: false`, and `destructiveHint: true` where it \
             deletes or overwrites: in the server, or under `overrides:`",
        );
        sink.push(why.relate(view, place(function, finding)));
    }
}

/// Why the plugin's policy does not cover a function.
pub(super) struct Uncovered {
    pub(super) clause: String,
    /// The index of a rule that has to do with it, and what.
    rule: Option<(usize, &'static str)>,
}

impl Uncovered {
    /// Adds the place of the rule that has to do with it.
    pub(super) fn relate(&self, view: &View<'_>, finding: Finding) -> Finding {
        match self.rule {
            Some((index, what)) => {
                finding.related(&view.manifest().policy[index].matches.span, what)
            }
            None => finding,
        }
    }
}

/// Why no rule of the plugin's policy with an action that `counts` always holds for a function; `None` when one does.
pub(super) fn uncovered(
    view: &View<'_>,
    function: Seen<'_>,
    counts: impl Fn(Action) -> bool,
) -> Option<Uncovered> {
    let tool = function.policy().tool;
    Some(match coverage(tool, function.name(), view.policy(), counts) {
        Coverage::Covered(_) => return None,
        Coverage::Uncovered => Uncovered { clause: String::new(), rule: None },
        Coverage::Sometimes(rule) => Uncovered {
            clause: ": the rule about it holds only for some arguments".to_owned(),
            rule: Some((rule, "the rule with a condition")),
        },
        Coverage::Undone { by, .. } => Uncovered {
            clause: ": a rule before the one about it decides first".to_owned(),
            rule: Some((by, "the first match wins")),
        },
    })
}

/// Adds where the measured listing has the function.
pub(super) fn place(function: Seen<'_>, finding: Finding) -> Finding {
    match function.listed_at() {
        Some(span) => finding.related(&span, "as its server lists it"),
        None => finding,
    }
}
