//! `oz0 plugin test` on servers that describe themselves in every odd way.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Said, folder, oz0, run, write};

/// A server on the standard library alone; what it lists is up to `functions.py`.
const SERVER: &str = r#"
import json, sys
exec(open("functions.py").read())
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "initialize":
        answer["result"] = {"protocolVersion": message["params"]["protocolVersion"],
                            "capabilities": {"tools": {}}, "serverInfo": {"name": "odd", "version": "1"}}
    elif message["method"] == "tools/list":
        answer["result"] = {"tools": functions()}
    else:
        answer["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(answer), flush=True)
"#;

const MANIFEST: &str = "\
name: odd
version: 1.0.0
description: A server that describes itself in an odd way.
license: Apache-2.0
tools:
  odd:
    mcp: {command: [python3, server.py]}
";

/// One function whose property `at` has the given Python expression as its default.
fn with_default(expression: &str) -> String {
    format!(
        "import datetime, os, random, time\n\
         def functions():\n    \
         at = {expression}\n    \
         return [{{'name': 'now', 'description': 'Tells.', 'inputSchema': {{'type': 'object', 'properties': \
         {{'at': {{'type': 'string', 'default': at}}}}}}}}]\n"
    )
}

fn plugin(functions: &str) -> tempfile::TempDir {
    folder(&[("oz0-plugin.yaml", MANIFEST), ("server.py", SERVER), ("functions.py", functions)])
}

fn test(plugin: &Path) -> Said {
    run(oz0(["plugin", "test"]).arg(plugin))
}

fn listing(plugin: &Path) -> Value {
    let text =
        fs::read_to_string(plugin.join("tools.listing.json")).expect("a listing was written");
    serde_json::from_str(&text).expect("it is JSON")
}

#[test]
fn a_listing_that_follows_the_clock_is_named_with_its_pointer_and_not_written() {
    let plugin = plugin(&with_default("datetime.datetime.now().isoformat(timespec='seconds')"));
    let said = test(plugin.path());
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(
        said.stderr.contains("odd.now lists itself differently from one start to the next"),
        "{}",
        said.all()
    );
    assert!(said.stderr.contains("/inputSchema/properties/at/default"), "{}", said.all());
    assert!(said.stderr.contains("the clock"), "{}", said.all());
    assert!(
        said.stderr.contains("unstable: {now: [/inputSchema/properties/at/default]}"),
        "{}",
        said.all()
    );
    assert!(!plugin.path().join("tools.listing.json").exists());
}

#[test]
fn a_listing_in_random_order_is_named_as_unstable() {
    let plugin = plugin(&with_default("','.join(random.sample([f'w{i}' for i in range(40)], 40))"));
    let said = test(plugin.path());
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stderr.contains("OZ-T002"), "{}", said.all());
    assert!(said.stderr.contains("the order of a set or a map"), "{}", said.all());
}

#[test]
fn what_follows_the_surroundings_is_a_warning_that_names_them() {
    for (expression, cause) in [
        (
            "','.join({'status', 'summary', 'assignee', 'reporter', 'labels', 'priority'})",
            "hash seed",
        ),
        ("'in ' + os.getcwd()", "the folder"),
        ("'for ' + os.environ['HOME']", "the home folder"),
        ("'zone ' + os.environ['TZ']", "the time zone"),
    ] {
        let plugin = plugin(&with_default(expression));
        let said = test(plugin.path());
        assert_eq!(said.code, Some(0), "{expression}\n{}", said.all());
        assert!(
            said.stderr.contains("odd.now is bound to its surroundings"),
            "{expression}\n{}",
            said.all()
        );
        assert!(
            said.stderr.contains("/inputSchema/properties/at/default"),
            "{expression}\n{}",
            said.all()
        );
        assert!(said.stderr.contains(cause), "{expression}\n{}", said.all());
        assert_eq!(listing(plugin.path())["functions"][0]["name"], "odd.now");
    }
}

#[test]
fn a_declared_unstable_place_is_cut_and_said() {
    let plugin = plugin(&with_default("str(time.time())"));
    let manifest =
        format!("{MANIFEST}    unstable: {{now: [/inputSchema/properties/at/default]}}\n");
    write(plugin.path(), "oz0-plugin.yaml", &manifest);
    let said = test(plugin.path());
    assert_eq!(said.code, Some(0), "{}", said.all());
    let listing = listing(plugin.path());
    let function = &listing["functions"][0];
    assert_eq!(function["unstable"][0], "/inputSchema/properties/at/default");
    assert_eq!(
        function["listing"]["inputSchema"]["properties"]["at"],
        serde_json::json!({"type": "string"})
    );
    let shown = run(oz0(["plugin", "inspect"]).arg(plugin.path()));
    assert!(
        shown.stdout.contains("not pinned: /inputSchema/properties/at/default"),
        "{}",
        shown.all()
    );
}

#[test]
fn a_declared_place_where_nothing_stands_is_a_warning() {
    let plugin = plugin(&with_default("'fixed'"));
    let manifest =
        format!("{MANIFEST}    unstable: {{now: [/inputSchema/properties/to/default]}}\n");
    write(plugin.path(), "oz0-plugin.yaml", &manifest);
    let said = test(plugin.path());
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stderr.contains("OZ-T007"), "{}", said.all());
}

#[test]
fn a_server_that_fails_leaves_the_listing_as_it_is() {
    let plugin = plugin("import sys\nprint('no key is set', file=sys.stderr)\nsys.exit(7)\n");
    write(plugin.path(), "tools.listing.json", "as it was");
    let said = test(plugin.path());
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stderr.contains("the server of `odd` failed"), "{}", said.all());
    assert!(said.stderr.contains("exit code 7"), "{}", said.all());
    assert!(said.stderr.contains("no key is set"), "{}", said.all());
    let text = fs::read_to_string(plugin.path().join("tools.listing.json")).expect("it is there");
    assert_eq!(text, "as it was");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let plugin = plugin("");
    write(plugin.path(), "oz0-plugin.yaml", &MANIFEST.replace("python3", "no-such-program"));
    let said = test(plugin.path());
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stderr.contains("no-such-program"), "{}", said.all());
    assert!(said.stderr.contains("oz0-plugin.yaml:6:3"), "{}", said.all());
}

#[test]
fn functions_that_could_pass_for_another_are_left_out_with_their_reasons() {
    let plugin = plugin(
        "def functions():\n    \
         f = lambda name: {'name': name, 'inputSchema': {'type': 'object'}}\n    \
         return [f('fine'), f('twice'), f('twice'), f('zero\\u200bwidth'), f('b__c'), f('sp ace')]\n",
    );
    let manifest = format!("{MANIFEST}  odd__b:\n    mcp: {{command: [python3, other.py]}}\n");
    write(plugin.path(), "oz0-plugin.yaml", &manifest);
    let other = SERVER.replace(
        "exec(open(\"functions.py\").read())",
        "functions = lambda: [{'name': 'c', 'inputSchema': {'type': 'object'}}]",
    );
    write(plugin.path(), "other.py", &other);
    let said = test(plugin.path());
    assert_eq!(said.code, Some(0), "{}", said.all());
    let listing = listing(plugin.path());
    let names = |list: &str| -> Vec<String> {
        let all = listing[list].as_array().expect("a list");
        all.iter().map(|entry| entry["name"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(names("functions"), ["odd.fine"]);
    let mut left_out = names("left_out");
    left_out.sort();
    assert_eq!(left_out, ["b__c", "c", "sp ace", "twice", "zero\\u{200B}width"]);
    assert!(
        said.stdout.contains("Wrote tools.listing.json: 1 function as the test node listed them"),
        "{}",
        said.all()
    );
}

#[test]
fn hidden_characters_are_written_out_before_anyone_reads_or_hashes_them() {
    let plugin = plugin(
        "def functions():\n    \
         return [{'name': 'f', 'description': 'Adds.\\U000E0041\\u202e', 'inputSchema': {'type': 'object'}}]\n",
    );
    let said = test(plugin.path());
    assert_eq!(said.code, Some(0), "{}", said.all());
    let text = fs::read_to_string(plugin.path().join("tools.listing.json")).expect("a listing");
    assert!(text.contains(r"Adds.\\u{E0041}\\u{202E}"), "{text}");
    // Already at the first measuring, and wherever the function is shown.
    let told = "odd.f has characters that nobody sees: U+202E, U+E0041 in /description";
    assert!(said.stderr.contains(told), "{}", said.all());
    let shown = run(oz0(["plugin", "inspect"]).arg(plugin.path()));
    assert!(
        shown.stdout.contains("hidden characters: U+202E, U+E0041 in /description"),
        "{}",
        shown.all()
    );
}

#[test]
fn functions_that_the_manifest_names_and_the_server_does_not_list_are_errors() {
    let plugin = plugin(&with_default("''"));
    let manifest = format!("{MANIFEST}    requires_approval: [nwo]\n");
    write(plugin.path(), "oz0-plugin.yaml", &manifest);
    let said = test(plugin.path());
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stderr.contains("did you mean `now`?"), "{}", said.all());
}

#[test]
fn a_required_secret_is_a_placeholder_unless_it_is_handed_in() {
    let plugin = plugin(
        "import os\n\
         def functions():\n    \
         text = ' '.join(sorted(k + '=' + v for k, v in os.environ.items() if k.startswith('ODD_')))\n    \
         return [{'name': 'f', 'description': text, 'inputSchema': {'type': 'object'}}]\n",
    );
    let manifest =
        format!("{MANIFEST}requires: {{secrets: [ODD_KEY], optional_secrets: [ODD_EXTRA]}}\n");
    write(plugin.path(), "oz0-plugin.yaml", &manifest);
    let text = |command: &mut std::process::Command| {
        let said =
            run(command.env("ODD_KEY", "real").env("ODD_EXTRA", "more").env("ODD_OTHER", "hidden"));
        assert_eq!(said.code, Some(0), "{}", said.all());
        listing(plugin.path())["functions"][0]["listing"]["description"]
            .as_str()
            .expect("a text")
            .to_owned()
    };
    assert_eq!(text(oz0(["plugin", "test"]).arg(plugin.path())), "ODD_KEY=oz0-placeholder");
    let both = ["plugin", "test", "--secret", "ODD_KEY", "--secret", "ODD_EXTRA"];
    assert_eq!(text(oz0(both).arg(plugin.path())), "ODD_EXTRA=more ODD_KEY=real");
    let said = run(oz0(["plugin", "test", "--secret", "ODD_OTHER"])
        .arg(plugin.path())
        .env("ODD_OTHER", "x"));
    assert_eq!(said.code, Some(2), "{}", said.all());
}

#[test]
fn a_change_since_the_committed_listing_is_shown_as_words() {
    let plugin = plugin(&with_default("'a fixed text'"));
    assert_eq!(test(plugin.path()).code, Some(0));
    let functions =
        with_default("'a fixed text'").replace("'Tells.'", "'Tells, and sends your keys along.'");
    write(plugin.path(), "functions.py", &functions);
    let stale = run(oz0(["plugin", "inspect"]).arg(plugin.path()));
    assert!(stale.stdout.contains("listing: stale"), "{}", stale.all());
    let said = test(plugin.path());
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(
        said.stdout
            .contains("odd.now lists itself differently than in tools.listing.json: description"),
        "{}",
        said.all()
    );
    assert!(said.stdout.contains("{+"), "{}", said.all());
    let fresh = run(oz0(["plugin", "inspect"]).arg(plugin.path()));
    assert!(
        fresh.stdout.contains("listing: measured from the files as they are"),
        "{}",
        fresh.all()
    );
}

#[test]
fn inspect_runs_nothing_of_the_plugin() {
    let plugin = plugin("open('ran', 'w').close()\n");
    let said = run(oz0(["plugin", "inspect"]).arg(plugin.path()));
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stdout.contains("not measured"), "{}", said.all());
    assert!(!plugin.path().join("ran").exists());
}

#[test]
fn check_writes_nothing_and_fails_when_what_is_committed_is_not_what_is_measured() {
    let plugin = plugin(&with_default("'a fixed text'"));
    let check = || run(oz0(["plugin", "test", "--check"]).arg(plugin.path()));
    let said = check();
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stderr.contains("tools.listing.json is missing"), "{}", said.all());
    assert!(said.stderr.contains("without --check"), "{}", said.all());
    assert!(!plugin.path().join("tools.listing.json").exists());

    assert_eq!(test(plugin.path()).code, Some(0));
    let said = check();
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert_eq!(said.stdout, "tools.listing.json is as it was measured\n");

    // Another file changes what it was measured from, and nothing that the servers list.
    write(plugin.path(), "notes.txt", "One more file.\n");
    let said = run(oz0(["plugin", "test", "--check", "--json"]).arg(plugin.path()));
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stderr.contains("only its source digest differs"), "{}", said.all());
    let report: serde_json::Value = serde_json::from_str(&said.stdout).expect("it is JSON");
    assert_eq!(report["differs"], serde_json::json!(["source_digest"]));
    assert_eq!(report["changes"], serde_json::json!([]));
    fs::remove_file(plugin.path().join("notes.txt")).expect("it is there");

    write(plugin.path(), "functions.py", &with_default("'another text'"));
    let before = fs::read(plugin.path().join("tools.listing.json")).expect("a listing");
    let said = check();
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stdout.contains("[-a fixed-]{+another+} text"), "{}", said.all());
    let differs = "is not what was measured: it differs in source_digest, functions";
    assert!(said.stderr.contains(differs), "{}", said.all());
    assert_eq!(fs::read(plugin.path().join("tools.listing.json")).expect("a listing"), before);
}

#[test]
fn a_listing_that_cannot_be_read_is_replaced_and_that_is_said() {
    let plugin = plugin(&with_default("'a fixed text'"));
    assert_eq!(test(plugin.path()).code, Some(0));
    let path = plugin.path().join("tools.listing.json");
    let text = fs::read_to_string(&path).expect("a listing");
    fs::write(&path, text.replace("Tells.", "Sells.")).expect("it can be edited");
    let shown = run(oz0(["plugin", "inspect"]).arg(plugin.path()));
    assert_eq!(shown.code, Some(1), "{}", shown.all());
    let said = test(plugin.path());
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stderr.contains("OZ-T013"), "{}", said.all());
    assert_eq!(fs::read_to_string(&path).expect("a listing"), text);
}

#[test]
fn new_and_gone_functions_are_said_with_their_descriptions() {
    let plugin = plugin(&with_default("''"));
    assert_eq!(test(plugin.path()).code, Some(0));
    write(plugin.path(), "functions.py", &with_default("''").replace("'now'", "'later'"));
    let said = test(plugin.path());
    assert!(
        said.stdout.contains("odd.now is gone since tools.listing.json was written\n  Tells.\n"),
        "{}",
        said.all()
    );
    assert!(
        said.stdout.contains("odd.later is new since tools.listing.json was written\n  Tells.\n"),
        "{}",
        said.all()
    );
}

#[test]
fn npm_runs_the_contract_tests_of_a_package() {
    let plugin = plugin(&with_default("''"));
    write(plugin.path(), "tests/package.json", r#"{"scripts": {"test": "node contract.js"}}"#);
    write(
        plugin.path(),
        "tests/contract.js",
        "console.log('seen from ' + require('path').basename(__dirname))",
    );
    let said = test(plugin.path());
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stdout.contains("seen from tests"), "{}", said.all());
    let quiet = || run(oz0(["plugin", "test", "--quiet"]).arg(plugin.path()));
    let said = quiet();
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(!said.all().contains("seen from"), "quiet means the result alone: {}", said.all());
    assert!(said.stdout.starts_with("Wrote tools.listing.json"), "{}", said.all());
    write(plugin.path(), "tests/contract.js", "console.log('this is how'); process.exit(3)");
    for said in [test(plugin.path()), quiet()] {
        assert_eq!(said.code, Some(1), "{}", said.all());
        assert!(said.stderr.contains("npm test ended with exit code 3"), "{}", said.all());
        assert!(said.stdout.contains("this is how"), "what went wrong is told: {}", said.all());
    }
}

/// What a call is decided by is the server's hints with the manifest's overrides merged, so that is what is shown.
#[test]
fn hints_are_shown_with_the_overrides_merged_and_marked() {
    let functions = "def functions():\n    \
        return [{'name': 'find', 'inputSchema': {'type': 'object'}},\n            \
        {'name': 'save', 'inputSchema': {'type': 'object'}, 'annotations': {'readOnlyHint': True, 'openWorldHint': False}},\n            \
        {'name': 'drop', 'inputSchema': {'type': 'object'}, 'annotations': {'destructiveHint': True}},\n            \
        {'name': 'mute', 'inputSchema': {'type': 'object'}}]\n";
    let plugin = plugin(functions);
    let overrides = "    overrides:\n      \
        find: {annotations: {readOnlyHint: true}}\n      \
        save: {annotations: {readOnlyHint: false}}\n";
    write(plugin.path(), "oz0-plugin.yaml", &format!("{MANIFEST}{overrides}"));
    let said = test(plugin.path());
    assert_eq!(said.code, Some(0), "{}", said.all());
    let said = run(oz0(["plugin", "inspect"]).arg(plugin.path()));
    for line in [
        "odd.find  read-only (by overrides)\n",
        "odd.save  writes (by overrides), closed world\n",
        "odd.drop  destructive\n",
        "odd.mute  says no hints\n",
    ] {
        assert!(said.stdout.contains(line), "{line}{}", said.all());
    }
    let said = run(oz0(["plugin", "inspect", "--json"]).arg(plugin.path()));
    let shown: Value = serde_json::from_str(&said.stdout).expect("it is JSON");
    let save = shown["functions"].as_array().expect("functions");
    let save = save.iter().find(|function| function["name"] == "odd.save").expect("it is there");
    let hints = serde_json::json!({"readOnlyHint": false, "openWorldHint": false});
    assert_eq!(save["hints"], hints);
    assert_eq!(save["overridden"], serde_json::json!(["readOnlyHint"]));
    assert_eq!(
        save["listing"]["annotations"]["readOnlyHint"], true,
        "the listing is the server's own"
    );
}

#[test]
fn a_manifest_is_shown_whole() {
    let plugin = plugin(&with_default("''"));
    let manifest = format!(
        "{MANIFEST}    approval: always\negress: [api.example.com]\nrequires: {{secrets: [ODD_KEY]}}\n\
         policy:\n  - {{match: odd.now, action: ask, reason: it tells}}\n"
    );
    write(plugin.path(), "oz0-plugin.yaml", &manifest);
    let said = run(oz0(["plugin", "inspect"]).arg(plugin.path()));
    for text in ["approval: always", "egress: api.example.com", "secrets: ODD_KEY", "it tells"] {
        assert!(said.stdout.contains(text), "{text}\n{}", said.all());
    }
    let said = run(oz0(["plugin", "inspect", "--json"]).arg(plugin.path()));
    let report: Value = serde_json::from_str(&said.stdout).expect("JSON on standard output");
    assert_eq!(report["manifest"]["policy"][0]["action"], "ask");
}
