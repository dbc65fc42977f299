//! What the rules know of a plugin's functions, and what they say when they know nothing.

use std::fs;

use oz0_lint::{Plugin, Request};
use oz0_listing::LeftOut;
use oz0_listing::file::ListingFile;

use crate::plugins::{folder, lint_folder, of, whole, write, write_listing, write_snapshot};

const REMOTE: &str = "tools:\n  wx:\n    url: https://mcp.example.com/mcp\n";

#[test]
fn a_missing_listing_is_told_once_whatever_the_number_of_tools() {
    let manifest = whole(
        "tools:\n  a: {mcp: {command: [x]}}\n  b: {mcp: {command: [x]}}\n  c: {url: \"https://mcp.example.com\"}\n",
    );
    let folder = folder(&[("oz0-plugin.yaml", &manifest)]);
    let report = lint_folder(folder.path(), true);
    assert_eq!(of(&report, "OZ-S014").len(), 1);
    let not_run: Vec<&str> = report.summary.not_run.iter().map(|rule| rule.code).collect();
    assert_eq!(
        not_run,
        ["OZ-S002", "OZ-S003", "OZ-S004", "OZ-S008", "OZ-S011", "OZ-S018", "OZ-S020", "OZ-S021"]
    );
}

#[test]
fn a_stale_listing_is_told_and_still_read() {
    let manifest = whole("kind: connector\ntools:\n  n: {mcp: {command: [x]}}\n");
    let folder = folder(&[("oz0-plugin.yaml", &manifest)]);
    write_listing(folder.path(), r#"{"n.save": {}}"#, false);
    assert_eq!(of(&lint_folder(folder.path(), false), "OZ-S014").len(), 0);
    write(folder.path(), "server.py", "changed = True\n");
    let report = lint_folder(folder.path(), false);
    let stale = of(&report, "OZ-S014");
    assert_eq!(stale.len(), 1);
    assert_eq!(stale[0].span.text(), "\"source_digest\"");
    assert_eq!(of(&report, "OZ-S004").len(), 1);
}

#[test]
fn a_listing_that_cannot_be_read_is_one_error_and_its_rules_are_counted_as_not_run() {
    let manifest = whole("kind: connector\ntools:\n  n: {mcp: {command: [x]}}\n");
    let folder = folder(&[("oz0-plugin.yaml", &manifest), ("tools.listing.json", "{")]);
    for verified in [false, true] {
        let report = lint_folder(folder.path(), verified);
        let files: Vec<&str> = report
            .problems
            .iter()
            .filter(|problem| problem.check.code == "OZ-L001")
            .map(|problem| problem.span.file().path())
            .collect();
        assert_eq!(files, ["tools.listing.json"]);
        assert_eq!(of(&report, "OZ-S014").len(), 0);
        assert!(report.summary.not_run.iter().any(|rule| rule.code == "OZ-S004"));
    }
}

#[test]
fn a_function_of_the_listing_is_shown_there_as_well() {
    let folder = folder(&[(
        "oz0-plugin.yaml",
        &whole("kind: connector\ntools:\n  n: {mcp: {command: [x]}}\n"),
    )]);
    write_listing(folder.path(), r#"{"n.save": {}}"#, false);
    let report = lint_folder(folder.path(), false);
    let related = &of(&report, "OZ-S004")[0].related[0];
    assert_eq!(related.span.file().path(), "tools.listing.json");
    assert_eq!(related.span.text(), "\"n.save\"");
}

#[test]
fn functions_that_the_listing_has_of_a_remote_tool_are_not_believed() {
    let folder = folder(&[("oz0-plugin.yaml", &whole(REMOTE))]);
    write_listing(folder.path(), r#"{"wx.save": {}}"#, false);
    let report = lint_folder(folder.path(), false);
    assert_eq!(of(&report, "OZ-S004").len(), 0);
    assert_eq!(of(&report, "OZ-S014").len(), 1);
}

#[test]
fn a_snapshot_whose_hash_is_not_its_listings_is_s015s_at_the_verified_level_and_the_loaders_else() {
    let folder = folder(&[("oz0-plugin.yaml", &whole(REMOTE))]);
    write_snapshot(
        folder.path(),
        "wx",
        r#"{"today": {"description": "Says what it is like."}}"#,
        None,
    );
    let path = folder.path().join("snapshots/wx.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("what it is like", "what it was like")).unwrap();
    let codes = |verified| -> Vec<&str> {
        let report = lint_folder(folder.path(), verified);
        let found = report.problems.iter().filter(|problem| problem.message.contains("hash"));
        found.map(|problem| problem.check.code).collect()
    };
    assert_eq!(codes(false), ["OZ-L001"]);
    assert_eq!(codes(true), ["OZ-S015"]);
}

#[test]
fn a_snapshot_that_names_another_url_is_not_the_tools() {
    let folder = folder(&[("oz0-plugin.yaml", &whole(REMOTE))]);
    for (url, count) in
        [(None, 0), (Some("https://mcp.example.com/mcp"), 0), (Some("https://mcp.example.com"), 1)]
    {
        write_snapshot(folder.path(), "wx", r#"{"today": {}}"#, url);
        let report = lint_folder(folder.path(), true);
        assert_eq!(of(&report, "OZ-S015").len(), count, "{url:?}");
    }
}

#[test]
fn a_whole_tool_counts_as_the_functions_that_the_listing_has_of_it() {
    let manifest = whole(
        "tools:\n  t: {mcp: {command: [x]}}\nagents:\n  a: {tools: [\"t.*\", t.f0, oz.ask_user]}\n",
    );
    let folder = folder(&[("oz0-plugin.yaml", &manifest)]);
    for (count, found) in [(29, 0), (30, 1)] {
        let functions: Vec<String> = (0..count)
            .map(|number| format!(r#""t.f{number}": {{"annotations": {{"readOnlyHint": true}}}}"#))
            .collect();
        write_listing(folder.path(), &format!("{{{}}}", functions.join(",")), false);
        assert_eq!(of(&lint_folder(folder.path(), false), "OZ-S009").len(), found, "{count}");
    }
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let manifest = whole(
        "tools:\n  wx:\n    url: https://mcp.example.com/mcp\n    overrides:\n      f: {ai_label: /a/b/c}\n",
    );
    let folder = folder(&[("oz0-plugin.yaml", &manifest)]);
    let schema = r##"{"f": {"inputSchema": {"type": "object", "anyOf": [{"$ref": "#"}, {"$ref": "#/anyOf/0"}], "allOf": [{"$ref": "#"}]}}}"##;
    write_snapshot(folder.path(), "wx", schema, None);
    // It takes any key, so the pointer holds; what counts is that the question is answered.
    assert_eq!(of(&lint_folder(folder.path(), true), "OZ-S015").len(), 0);
    let schema = r##"{"f": {"inputSchema": {"type": "object", "properties": {"x": {}}, "anyOf": [{"$ref": "#"}, {"$ref": "#/anyOf/0"}], "allOf": [{"$ref": "#"}]}}}"##;
    write_snapshot(folder.path(), "wx", schema, None);
    assert_eq!(of(&lint_folder(folder.path(), true), "OZ-S015").len(), 1);
}

#[test]
fn an_empty_recording_replays_nothing() {
    let manifest = whole("kind: connector\nagents:\n  a: {description: Sorts.}\n");
    let eval = "agent: a\ncases: [{name: c, input: {}, expect: {}}]\n";
    let folder = folder(&[
        ("oz0-plugin.yaml", &manifest),
        ("evals/e.yaml", eval),
        ("evals/cassettes/e/c.jsonl", ""),
    ]);
    assert_eq!(of(&lint_folder(folder.path(), true), "OZ-S011").len(), 1);
    write(folder.path(), "evals/cassettes/e/c.jsonl", "{}\n");
    assert_eq!(of(&lint_folder(folder.path(), true), "OZ-S011").len(), 0);
    // Only a flow replays from its steps.
    fs::remove_file(folder.path().join("evals/cassettes/e/c.jsonl")).unwrap();
    write(folder.path(), "evals/steps/e/c.json", "{}\n");
    assert_eq!(of(&lint_folder(folder.path(), true), "OZ-S011").len(), 1);
}

#[test]
fn a_hub_listing_that_cannot_be_read_is_an_error_and_no_silent_pass() {
    for text in ["name: [", "- a\n", "", "name: a\nname: b\n"] {
        let folder =
            folder(&[("oz0-plugin.yaml", &whole("kind: connector\n")), ("hub/listing.yaml", text)]);
        let report = lint_folder(folder.path(), false);
        let found: Vec<&str> =
            report.problems.iter().map(|problem| problem.span.file().path()).collect();
        assert!(found.contains(&"hub/listing.yaml"), "{text:?}: {:?}", report.problems);
        assert!(report.failed(), "{text:?}");
    }
    let folder = folder(&[
        ("oz0-plugin.yaml", &whole("kind: connector\n")),
        ("hub/listing.yaml", "summary: x\n"),
    ]);
    assert_eq!(of(&lint_folder(folder.path(), false), "OZ-S006").len(), 1);
}

#[test]
fn without_a_listing_a_remote_tool_is_asked_for_its_snapshot_and_no_other() {
    let manifest = whole(
        "tools:\n  a: {url: \"https://a.example.com\"}\n  b: {url: \"https://b.example.com\"}\n",
    );
    let folder = folder(&[("oz0-plugin.yaml", &manifest)]);
    write_snapshot(folder.path(), "a", r#"{"f": {}}"#, None);
    let report = lint_folder(folder.path(), false);
    let found = of(&report, "OZ-S014");
    assert_eq!(found.len(), 1);
    assert!(
        found[0].message.starts_with("the remote tool `b` has no snapshot"),
        "{}",
        found[0].message
    );
}

#[test]
fn an_eval_that_cannot_be_read_may_be_the_one_that_is_missing() {
    let manifest = whole("kind: connector\nagents:\n  a: {description: Sorts.}\n");
    let folder = folder(&[("oz0-plugin.yaml", &manifest)]);
    assert_eq!(of(&lint_folder(folder.path(), true), "OZ-S011").len(), 1);
    write(folder.path(), "evals/a.yaml", "agent: a\ncases: []\n");
    let report = lint_folder(folder.path(), true);
    assert_eq!(of(&report, "OZ-S011").len(), 0);
    assert_eq!(of(&report, "OZ-L001").len(), 1);
}

#[test]
fn words_of_an_area_are_told_once_each() {
    let folder = folder(&[(
        "oz0-plugin.yaml",
        &whole("description: For police, the police, prosecutors and Police.\n"),
    )]);
    let report = lint_folder(folder.path(), false);
    let found = of(&report, "OZ-S013");
    assert_eq!(found.len(), 1);
    assert!(
        found[0].message.ends_with(": `police`, `prosecutors` and `Police`"),
        "{}",
        found[0].message
    );
}

#[test]
fn without_a_kind_the_summary_names_the_rules_that_stand_on_it() {
    let codes = |manifest: &str, verified| -> Vec<&str> {
        let folder = folder(&[("oz0-plugin.yaml", &whole(manifest))]);
        let report = lint_folder(folder.path(), verified);
        report.summary.not_run.iter().map(|rule| rule.code).collect()
    };
    assert_eq!(codes("", false), ["OZ-S002", "OZ-S003"]);
    assert_eq!(codes("", true), ["OZ-S002", "OZ-S003", "OZ-S011", "OZ-S021"]);
    let channel = "channels: {m: {send: t.f}}\ntools: {t: {url: 'https://mcp.example.com'}}\n";
    assert!(!codes(channel, true).contains(&"OZ-S011"), "its channel makes it run");
    assert!(codes(channel, true).contains(&"OZ-S003"));
    assert_eq!(codes("kind: policy\n", true), Vec::<&str>::new());
}

/// What OZ-S001 says cannot run is what the summary says did not.
#[test]
fn the_finding_about_the_kind_names_the_rules_that_the_summary_names() {
    let channel = "channels: {m: {send: t.f}}\ntools: {t: {url: 'https://mcp.example.com'}}\n";
    for manifest in ["", "kind: conector\n", channel] {
        for verified in [false, true] {
            let folder = folder(&[("oz0-plugin.yaml", &whole(manifest))]);
            let report = lint_folder(folder.path(), verified);
            let told = of(&report, "OZ-S001")[0].message.clone();
            let named = report.summary.not_run.iter().filter(|rule| rule.reason.contains("kinds"));
            let named: Vec<&str> = named.map(|rule| rule.code).collect();
            let said: Vec<&str> =
                told.match_indices("OZ-").map(|(at, _)| &told[at..at + "OZ-S000".len()]).collect();
            assert_eq!(said, named, "{told}");
            assert!(!named.is_empty());
        }
    }
}

#[test]
fn a_rule_that_was_asked_for_and_does_not_run_is_named_with_the_reason() {
    let lint = |manifest: &str, rules: &[&str], verified: bool| {
        let folder = folder(&[("oz0-plugin.yaml", &whole(manifest))]);
        let rules = rules.iter().map(|rule| (*rule).to_owned()).collect();
        let request = Request { verified, rules };
        let off = request.off().map(|rule| rule.metadata.code).collect::<Vec<_>>();
        let report = oz0_lint::lint(&Plugin::load(folder.path()).unwrap(), &request).unwrap();
        let not_run = report.summary.not_run.iter();
        let not_run: Vec<_> = not_run.map(|rule| (rule.code, rule.reason.clone())).collect();
        (report.summary.rules, not_run, off)
    };
    let level = "runs at the verified level only; give --verified".to_owned();
    assert_eq!(
        lint("kind: connector\n", &["OZ-S018"], false),
        (0, vec![("OZ-S018", level.clone())], vec!["OZ-S018"])
    );
    assert_eq!(
        lint("kind: connector\n", &["OZ-S005", "OZ-S018"], false),
        (1, vec![("OZ-S018", level.clone())], vec!["OZ-S018"])
    );
    assert_eq!(lint("kind: connector\n", &["OZ-S018"], true), (1, vec![], vec![]));
    assert_eq!(
        lint("egres: []\n", &["OZ-S018"], false).1,
        [("OZ-S018", level)],
        "also when the manifest has errors"
    );
    let kind = "runs on capabilities, and this plugin says it is a connector".to_owned();
    assert_eq!(
        lint("kind: connector\n", &["OZ-S003"], false),
        (0, vec![("OZ-S003", kind)], vec![])
    );
    let (rules, not_run, _) = lint("kind: capability\n", &["OZ-S002"], false);
    assert_eq!(rules, 0);
    assert!(not_run[0].1.starts_with("runs on connectors, and any plugin with a"), "{not_run:?}");
    assert!(not_run[0].1.ends_with("says it is a capability"), "{not_run:?}");
    assert_eq!(lint("kind: capability\n", &[], false).1, [], "nobody asked for it by its name");
}

/// What a server lists and nobody can call is left out of the file, and was looked at all the same.
#[test]
fn a_tool_whose_every_function_is_left_out_was_measured() {
    let manifest = whole("kind: connector\ntools:\n  n: {mcp: {command: [x]}}\n");
    let folder = folder(&[("oz0-plugin.yaml", &manifest)]);
    let left_out = LeftOut {
        tool: "n".parse().unwrap(),
        name: "a b".to_owned(),
        reason: "its name is none that a model can call".to_owned(),
    };
    for (left_out, found) in [(vec![left_out], 0), (vec![], 1)] {
        let source_digest = Plugin::load(folder.path()).unwrap().source_digest().unwrap();
        let file = ListingFile { source_digest, functions: Vec::new(), left_out };
        write(folder.path(), "tools.listing.json", &file.write());
        let report = lint_folder(folder.path(), true);
        assert_eq!(of(&report, "OZ-S014").len(), found, "{:?}", report.problems);
        let silent = report.summary.not_run.iter().any(|rule| rule.code == "OZ-S004");
        assert_eq!(silent, found == 1);
    }
}
