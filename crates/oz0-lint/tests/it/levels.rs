//! Which level each finding has.

use oz0_diagnostic::Level;
use oz0_lint::{Plain, rules};

use crate::plugins::{folder, lint_folder, of, whole, write_listing};

#[test]
fn the_rules_for_verified_plugins_are_these_and_the_note_is_s014s() {
    let with = |plain: Plain| -> Vec<&str> {
        let rules = rules().iter().filter(|rule| rule.metadata.plain == plain);
        rules.map(|rule| rule.metadata.code).collect()
    };
    assert_eq!(
        with(Plain::Off),
        ["OZ-S008", "OZ-S011", "OZ-S015", "OZ-S016", "OZ-S017", "OZ-S018", "OZ-S021"]
    );
    assert_eq!(with(Plain::On(Level::Note)), ["OZ-S014"]);
    assert_eq!(with(Plain::On(Level::Error)), ["OZ-S012"]);
}

/// The level, `strict` and `warning` of a rule's findings.
fn levels(manifest: &str, code: &str, verified: bool) -> Vec<(Level, bool, bool)> {
    let folder = folder(&[("oz0-plugin.yaml", manifest)]);
    let report = lint_folder(folder.path(), verified);
    let weigh = |problem: &oz0_diagnostic::Diagnostic| {
        (problem.level, problem.strict, problem.check.level == Level::Warning)
    };
    of(&report, code).into_iter().map(weigh).collect()
}

#[test]
fn a_warning_is_a_strict_error_at_the_verified_level() {
    let manifest = whole("egress: [\"*.example.com\"]\n");
    assert_eq!(levels(&manifest, "OZ-S005", false), [(Level::Warning, false, true)]);
    assert_eq!(levels(&manifest, "OZ-S005", true), [(Level::Error, true, true)]);
}

#[test]
fn a_rule_for_verified_plugins_is_silent_and_then_a_strict_error() {
    let manifest = whole("agents: {a: {model: openai/gpt-5.5}}\n");
    assert_eq!(levels(&manifest, "OZ-S016", false), []);
    assert_eq!(levels(&manifest, "OZ-S016", true), [(Level::Error, true, false)]);
}

#[test]
fn a_missing_listing_is_a_note_and_then_a_strict_error() {
    let manifest = whole("tools: {t: {mcp: {command: [x]}}}\n");
    assert_eq!(levels(&manifest, "OZ-S014", false), [(Level::Note, false, false)]);
    assert_eq!(levels(&manifest, "OZ-S014", true), [(Level::Error, true, false)]);
}

#[test]
fn a_connectors_own_download_host_is_a_note_at_each_level() {
    let manifest = whole("kind: connector\negress: [api.github.com, codeload.github.com]\n");
    for verified in [false, true] {
        assert_eq!(levels(&manifest, "OZ-S022", verified), [(Level::Note, false, false)]);
    }
}

#[test]
fn what_an_agent_combines_is_an_error_for_a_verified_capability_and_a_note_for_the_other_kinds() {
    for (kind, wanted) in [
        ("capability", (Level::Error, true, true)),
        ("connector", (Level::Note, false, true)),
        ("policy", (Level::Note, false, true)),
    ] {
        let manifest = whole(&format!(
            "kind: {kind}\ntools:\n  n:\n    mcp: {{command: [x]}}\n    labels: {{source: secret}}\nagents:\n  a: {{tools: [n.save]}}\n"
        ));
        let folder = folder(&[("oz0-plugin.yaml", &manifest)]);
        write_listing(
            folder.path(),
            r#"{"n.save": {"annotations": {"readOnlyHint": false}}}"#,
            false,
        );
        let at = |verified| {
            let report = lint_folder(folder.path(), verified);
            let found = of(&report, "OZ-S020");
            assert_eq!(found.len(), 1, "{kind}");
            (found[0].level, found[0].strict, found[0].check.level == Level::Warning)
        };
        assert_eq!(at(false), (Level::Warning, false, true), "{kind}");
        assert_eq!(at(true), wanted, "{kind}");
    }
}

#[test]
fn what_the_loader_finds_is_an_error_at_each_level_and_not_strict() {
    for verified in [false, true] {
        let folder = folder(&[("oz0-plugin.yaml", "name: team\n")]);
        let report = lint_folder(folder.path(), verified);
        assert!(report.failed());
        assert!(
            report.problems.iter().all(|problem| problem.level == Level::Error && !problem.strict)
        );
    }
}

/// What a rule says to do, finding by finding.
fn helps(manifest: &str, code: &str) -> Vec<String> {
    let folder = folder(&[("oz0-plugin.yaml", manifest)]);
    let report = lint_folder(folder.path(), true);
    of(&report, code).iter().map(|problem| problem.help.clone().unwrap_or_default()).collect()
}

#[test]
fn a_plugin_without_a_kind_is_told_which_it_looks_like() {
    const TOOL: &str = "tools: {t: {mcp: {command: [x]}}}\n";
    const HOOK: &str = "hooks: [{on: before_call, call: t.check}]\n";
    for (parts, says) in [
        (
            format!("{TOOL}{HOOK}connections: {{c: {{secrets: [A]}}}}\n"),
            "write `kind: connector`, which the plugin looks like: it has the connection `c`",
        ),
        (
            format!("{TOOL}{HOOK}event_sources: {{e: {{webhook: w}}}}\n"),
            "write `kind: connector`, which the plugin looks like: it has the event source `e`",
        ),
        (
            format!("{TOOL}{HOOK}channels: {{m: {{send: t.send}}}}\n"),
            "write `kind: connector`, which the plugin looks like: it has the channel `m`",
        ),
        (
            format!("{TOOL}{HOOK}agents: {{a: {{tools: [t.f]}}}}\n"),
            "write `kind: policy`, which the plugin looks like: it has hooks and nothing of an outside system",
        ),
        (
            format!("{TOOL}agents: {{a: {{tools: [t.f]}}}}\n"),
            "write `kind: capability`, which the plugin looks like: it has the agent `a`",
        ),
        (
            format!("{TOOL}flows: {{f: {{steps: [{{call: t.f}}]}}}}\n"),
            "write `kind: capability`, which the plugin looks like: it has the flow `f`",
        ),
        (
            TOOL.to_owned(),
            "write `kind: connector`, which the plugin looks like: it has the tool `t`",
        ),
        (
            String::new(),
            "write `kind: connector`, `kind: capability` or `kind: policy`, the one it is",
        ),
    ] {
        assert_eq!(helps(&whole(&parts), "OZ-S001"), [says], "{parts}");
    }
    assert_eq!(
        helps(&whole(&format!("kind: Connector\n{TOOL}")), "OZ-S001"),
        ["did you mean `connector`, which the plugin looks like? It has the tool `t`"]
    );
    assert_eq!(
        helps(&whole(&format!("kind: capabilty\n{TOOL}")), "OZ-S001"),
        [
            "did you mean `capability`? Otherwise write `kind: connector`, which the plugin looks like: it has the tool `t`"
        ]
    );
}

#[test]
fn a_fix_says_what_to_write() {
    let manifest = whole(
        "kind: capability\ntools: {t: {package: 'pypi:a'}, u: {package: 'npm:@s/a@^1'}, v: {package: 'oci:ghcr.io/a/b:1'}}\n",
    );
    assert_eq!(
        helps(&manifest, "OZ-S015"),
        [
            "pin the version you tested: `pypi:a==VERSION`",
            "pin the version you tested: `npm:@s/a@VERSION`",
            "pin the version you tested: `oci:ghcr.io/a/b@sha256:DIGEST`",
        ]
    );
    let manifest = whole(
        "kind: capability\ntools: {t: {mcp: {command: [x]}}}\nrequires: {secrets: [KEY]}\nagents: {a: {model: openai/x, tools: [u.f]}}\nuses: {o: {version: '1', tools: [u.f]}}\n",
    );
    assert!(helps(&manifest, "OZ-S003")[0].ends_with("`# OZ-S003 allow KEY: REASON`"));
    assert!(helps(&manifest, "OZ-S016")[0].contains("`model: {use: default}`"));
    assert_eq!(helps(&manifest, "OZ-S019"), ["write the address: `o/u.f`"]);
}
