//! What holds over all rules.

use std::collections::BTreeSet;

use oz0_lint::{Plugin, Request, lint, rules};
use proptest::prelude::*;

use crate::plugins::{folder, lint_folder, whole};

/// A manifest with something of everything that rules look at.
const EVERYTHING: &str = "\
name: oz0-tracker
kind: capability
egress: ['*.example.com', github.com]
tools:
  t: {mcp: {command: [x]}, connection: tracker}
  wx: {url: 'https://mcp.example.com/mcp'}
connections:
  tracker: {prefix: TRACKER}
requires:
  # OZ-S003 allow NOBODY: this names no secret
  secrets: [TRACKER_TOKEN, OPENAI_API_KEY]
agents:
  triage: {tools: [t.f, oz0_chat.post], model: openai/gpt-5.5, purpose: Help law enforcement.}
flows:
  nightly: {steps: [{agent: reviewer}, {call: t.f}]}
hooks:
  - {on: before_call, match: oz0_chat.post, call: t.check}
uses:
  chat: {tools: [oz0_chat.post, oz0_wiki.*], agents: [reviewer]}
";

#[test]
fn the_rules_one_by_one_find_what_they_find_together() {
    let folder = folder(&[("oz0-plugin.yaml", &whole(EVERYTHING))]);
    let plugin = Plugin::load(folder.path()).unwrap();
    for verified in [false, true] {
        let whole = lint_folder(folder.path(), verified);
        let mut together: Vec<String> = whole
            .problems
            .iter()
            .map(|problem| format!("{} {:?} {}", problem.check.code, problem.span, problem.message))
            .collect();
        let mut one_by_one = Vec::new();
        for rule in rules() {
            let request =
                Request { verified, rules: BTreeSet::from([rule.metadata.code.to_owned()]) };
            let report = lint(&plugin, &request).unwrap();
            let found =
                report.problems.iter().filter(|problem| problem.check.code.starts_with("OZ-S"));
            for problem in found {
                assert_eq!(problem.check.code, rule.metadata.code);
                one_by_one
                    .push(format!("{} {:?} {}", problem.check.code, problem.span, problem.message));
            }
        }
        together.retain(|problem| problem.starts_with("OZ-S"));
        together.sort();
        one_by_one.sort();
        assert_eq!(together, one_by_one);
        assert!(together.len() > 12, "{together:#?}");
    }
}

#[test]
fn every_finding_has_words_in_its_span_a_help_and_its_rules_link() {
    let folder = folder(&[("oz0-plugin.yaml", &whole(EVERYTHING))]);
    for problem in lint_folder(folder.path(), true).problems {
        assert!(!problem.span.text().is_empty(), "{problem:?}");
        assert!(problem.help.as_deref().is_some_and(|help| !help.ends_with('.')), "{problem:?}");
        assert!(!problem.message.ends_with('.') && !problem.message.contains('\n'), "{problem:?}");
        assert_eq!(
            problem.url.as_deref(),
            Some(&*format!("https://oz0.ai/docs/reference/rules/{}/", problem.check.code))
        );
    }
}

#[test]
fn two_runs_give_the_same_report() {
    let folder = folder(&[("oz0-plugin.yaml", &whole(EVERYTHING))]);
    let once = lint_folder(folder.path(), true).to_json();
    for _ in 0..8 {
        assert_eq!(lint_folder(folder.path(), true).to_json(), once);
    }
}

#[test]
fn a_clean_plugin_has_a_summary_that_counts_what_was_looked_at() {
    let folder = folder(&[("oz0-plugin.yaml", &whole("kind: capability\n"))]);
    let report = lint_folder(folder.path(), false);
    assert_eq!(report.problems.len(), 0, "{:?}", report.problems);
    assert_eq!(
        report.summary_text(),
        "example: 0 errors, 0 warnings, 0 notes by 15 rules over 3 files"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A manifest with lines taken out and doubled: every outcome is a report, and every span lies in its file.
    #[test]
    fn no_manifest_panics_and_every_span_lies_in_its_file(
        order in proptest::collection::vec(0..19_usize, 0..30), verified in any::<bool>(),
    ) {
        let lines: Vec<&str> = EVERYTHING.lines().collect();
        let text: Vec<&str> = order.iter().map(|line| lines[line % lines.len()]).collect();
        let text = text.join("
");
        let folder = folder(&[("oz0-plugin.yaml", &whole(&text))]);
        let report = lint_folder(folder.path(), verified);
        for problem in &report.problems {
            prop_assert!(problem.span.range().end <= problem.span.file().text().len());
        }
        prop_assert!(report.summary.rules > 0 || report.failed());
    }
}

/// Thousands of everything. A rule that compares each with each would not end here.
#[test]
fn a_large_manifest_is_linted_all_the_same() {
    let many =
        |count: usize, line: &dyn Fn(usize) -> String| -> String { (0..count).map(line).collect() };
    let manifests = [
        format!(
            "kind: capability\ntools: {{t: {{mcp: {{command: [x]}}}}}}\nrequires:\n  secrets:\n{}",
            many(7_000, &|at| format!("  # OZ-S003 allow A{at}: no credential\n  - A{at}\n"))
        ),
        format!("egress:\n{}", many(20_000, &|at| format!("- {at}.a*\n"))),
        format!(
            "connections:\n{}requires:\n  secrets:\n{}",
            many(8_000, &|at| format!("  a{at}: {{prefix: A{at}}}\n")),
            many(15_000, &|at| format!("  - B{at}_C\n"))
        ),
        format!(
            "tools: {{t: {{mcp: {{command: [x]}}}}}}\nuses:\n  github:\n    tools:\n{}agents:\n  a:\n    tools:\n{}",
            many(10_000, &|at| format!("    - u{at}.f\n")),
            many(10_000, &|at| format!("    - u{at}.f\n"))
        ),
        format!("description: {}\n", "rank release candidate grade a ".repeat(10_000)),
    ];
    for manifest in manifests {
        let manifest = whole(&manifest);
        let folder = folder(&[("oz0-plugin.yaml", &manifest)]);
        let report = lint_folder(folder.path(), true);
        assert!(report.summary.rules > 0, "{:?}", report.problems.first());
    }
}
