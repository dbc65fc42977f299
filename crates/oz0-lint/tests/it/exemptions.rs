//! `# OZ-S003 allow NAME: reason`.

use crate::plugins::{folder, lint_folder, of, whole};

/// A capability whose server gets one secret, with this comment above it.
fn plugin(comment: &str) -> String {
    whole(&format!(
        "kind: capability\ntools:\n  t:\n    mcp: {{command: [python3, server.py]}}\nrequires:\n  {comment}\n  secrets: [NAMES]\n"
    ))
}

fn found(manifest: &str, verified: bool) -> Vec<(usize, &'static str, String)> {
    let folder = folder(&[("oz0-plugin.yaml", manifest)]);
    of(&lint_folder(folder.path(), verified), "OZ-S003")
        .into_iter()
        .map(|problem| (problem.span.start().line, problem.level.name(), problem.message.clone()))
        .collect()
}

const REASON: &str = "names to look for in an export";

#[test]
fn at_the_plain_level_an_exemption_leaves_nothing_and_at_the_verified_one_its_reason() {
    let manifest = plugin(&format!("# OZ-S003 allow NAMES: {REASON}"));
    assert_eq!(found(&manifest, false), []);
    let message = format!("the secret `NAMES` is exempted: {REASON}");
    assert_eq!(found(&manifest, true), [(7, "warning", message)]);
    let folder = folder(&[("oz0-plugin.yaml", &manifest)]);
    let report = lint_folder(folder.path(), true);
    assert!(of(&report, "OZ-S003").iter().all(|problem| !problem.strict));
}

#[test]
fn a_reason_has_10_to_300_characters() {
    for (length, fine) in [(9, false), (10, true), (300, true), (301, false)] {
        // Characters, not bytes.
        let manifest = plugin(&format!("# OZ-S003 allow NAMES: {}", "é".repeat(length)));
        let lines: Vec<usize> = found(&manifest, false).iter().map(|found| found.0).collect();
        assert_eq!(lines, if fine { vec![] } else { vec![6, 7] }, "{length}");
    }
}

#[test]
fn a_comment_that_does_not_count_silences_nothing_and_is_told() {
    for (comment, says) in [
        ("# OZ-S003 allow NAMES", "gives no reason"),
        ("# OZ-S003 allow NAMES:", "gives no reason"),
        ("# OZ-S003 allow: it is no credential", "does not name what it exempts"),
        ("# OZ-S003 allow OTHER: it is no credential", "names `OTHER`, which is no secret"),
    ] {
        let found = found(&plugin(comment), false);
        assert_eq!(found.len(), 2, "{comment}: {found:?}");
        assert!(found[0].2.contains(says), "{comment}: {found:?}");
        assert!(found[1].2.contains("holds the secret `NAMES`"), "{comment}: {found:?}");
    }
}

#[test]
fn behind_something_else_it_does_not_count() {
    let manifest =
        plugin("models: {sampling: default}  # OZ-S003 allow NAMES: it is no credential");
    let found = found(&manifest, false);
    assert!(found[0].2.contains("only on a line of its own"), "{found:?}");
    assert_eq!(found.len(), 2);
}

#[test]
fn anywhere_in_the_manifest_it_counts() {
    let manifest = plugin("") + "# OZ-S003 allow NAMES: names to look for in an export\n";
    assert_eq!(found(&manifest, false), []);
}

#[test]
fn one_that_exempts_nothing_is_told_on_any_kind() {
    for kind in ["connector", "policy", "capability"] {
        let manifest = whole(&format!(
            "kind: {kind}\n# OZ-S003 allow NAMES: names to look for in an export\nrequires:\n  secrets: [NAMES]\n"
        ));
        let found = found(&manifest, false);
        assert_eq!(found.len(), 1, "{kind}: {found:?}");
        assert_eq!(found[0].2, "the exemption of `NAMES` exempts nothing", "{kind}");
    }
}

#[test]
fn of_two_for_one_secret_the_second_exempts_nothing() {
    let line = format!("# OZ-S003 allow NAMES: {REASON}");
    let found = found(&plugin(&format!("{line}\n  {line}")), false);
    assert_eq!(found.iter().map(|found| found.0).collect::<Vec<_>>(), [7], "{found:?}");
}

#[test]
fn a_secret_bound_to_hosts_and_a_connection_cannot_be_exempted() {
    let manifest = whole(
        "kind: capability\n# OZ-S003 allow KEY: it is no credential at all\nrequires:\n  inject: {KEY: [api.example.com]}\n",
    );
    let found = found(&manifest, false);
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn a_rule_that_takes_none_says_so() {
    let manifest = whole(
        "kind: connector\n# OZ-S005 allow example: every customer has a host\negress: [\"*.example.com\"]\n",
    );
    let folder = folder(&[("oz0-plugin.yaml", &manifest)]);
    let report = lint_folder(folder.path(), false);
    let messages: Vec<&str> =
        of(&report, "OZ-S005").iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages[0], "the comment exempts nothing: OZ-S005 takes no exemption");
    assert_eq!(messages.len(), 2);
}
