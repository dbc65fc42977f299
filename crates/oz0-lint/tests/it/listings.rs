//! What the rules know of a plugin's functions, and what they say when they know nothing.

use std::fs;

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
