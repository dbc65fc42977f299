//! The page of this rule, `s021_unbounded_range.md`, says what it finds, what it must not find, and why.

use oz0_plugin::manifest::VersionRange;
use semver::{Op, Version};

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::sink::{Finding, Sink};
use crate::view::{Kind, View};

const METADATA: Metadata = Metadata {
    code: "OZ-S021",
    name: "unbounded-range",
    plain: Plain::Off,
    runs_on: RunsOn::Capabilities,
    reads_functions: false,
    fixable: false,
    exemptible: false,
    page: include_str!("s021_unbounded_range.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

fn check(view: &View<'_>, sink: &mut Sink) {
    if view.kind() != Some(Kind::Capability) {
        return;
    }
    let help = "give the versions that the capability was tested with, from the lowest to below the next major one, such as \
                `\">=1.1, <2\"`";
    for (plugin, uses) in &view.manifest().uses {
        let Some(range) = &uses.version else {
            let message =
                format!("`{}` is used in any version, a next major one among them", plugin.value);
            sink.push(Finding::at(&plugin.span, message).help(help));
            continue;
        };
        let mut mistakes = mistakes(range);
        mistakes.sort_unstable();
        mistakes.dedup();
        for mistake in mistakes {
            let text = oz0_listing::escape::line_within(range.as_str(), 128);
            let message = match mistake {
                Mistake::Exact => format!(
                    "`{text}` takes one version of `{}`, which holds back its next security fix",
                    plugin.value
                ),
                Mistake::NoUpperBound => {
                    format!(
                        "`{text}` has no upper bound, so it takes a next major version of `{}`",
                        plugin.value
                    )
                }
            };
            sink.push(Finding::at(&range.span, message).help(help));
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mistake {
    Exact,
    NoUpperBound,
}

/// What is wrong with each branch of a range.
fn mistakes(range: &VersionRange) -> Vec<Mistake> {
    let texts = range.as_str().split("||").map(str::trim);
    let branch = |(text, branch): (&str, &semver::VersionReq)| {
        // A bare full version reads as a caret range to Cargo, and as one version to whoever writes it here.
        let exact = Version::parse(text).is_ok()
            || branch.comparators.iter().any(|comparator| comparator.op == Op::Exact);
        let bounded = branch.comparators.iter().any(|comparator| {
            matches!(comparator.op, Op::Less | Op::LessEq | Op::Tilde | Op::Caret | Op::Wildcard)
        });
        match (exact, bounded) {
            (true, _) => Some(Mistake::Exact),
            (false, true) => None,
            (false, false) => Some(Mistake::NoUpperBound),
        }
    };
    texts.zip(range.branches()).filter_map(branch).collect()
}
