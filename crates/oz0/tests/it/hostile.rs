//! `oz0 plugin test` on servers that break the protocol in every way, and on what real servers list.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{Said, checkout, folder, oz0, run};

/// A plugin whose one server is the scripted one.
fn plugin(script: &Value) -> tempfile::TempDir {
    let manifest = "name: actor\nversion: 1.0.0\ndescription: d\nlicense: MIT\n\
                    tools:\n  actor:\n    mcp: {command: [./oz0-actor, script.json]}\n";
    let plugin = folder(&[("oz0-plugin.yaml", manifest), ("script.json", &script.to_string())]);
    fs::copy(oz0_actor::binary(), plugin.path().join("oz0-actor"))
        .expect("the server can be copied");
    plugin
}

fn test(plugin: &Path, more: &[&str]) -> Said {
    run(oz0(["plugin", "test"]).args(more).arg(plugin))
}

fn listing(plugin: &Path) -> Value {
    let text =
        fs::read_to_string(plugin.join("tools.listing.json")).expect("a listing was written");
    serde_json::from_str(&text).expect("it is JSON")
}

fn names(plugin: &Path) -> Vec<String> {
    let listing = listing(plugin);
    let functions = listing["functions"].as_array().expect("a list");
    functions.iter().map(|function| function["name"].as_str().expect("a name").to_owned()).collect()
}

const FINE: &str =
    r#"{"name":"fine","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}"#;

#[test]
fn one_function_that_two_readers_could_read_differently_never_spoils_the_others() {
    for (odd, reason) in [
        (r#"{"name":"odd","description":"a","description":"b","inputSchema":{}}"#, "repeated"),
        (r#"{"name":"odd","inputSchema":{"a":{"x":1,"x":2}}}"#, "repeated"),
        (r#"{"name":"odd","_meta":{"k":1,"\u006b":2},"inputSchema":{}}"#, "repeated"),
        (r#"{"name":"odd","description":"\ud800","inputSchema":{}}"#, "surrogate"),
        (r#"{"name":"odd","inputSchema":{"maximum":1e999}}"#, "outside the range of a double"),
        (r#""just a text""#, ""),
    ] {
        let plugin = plugin(&json!({ "functions": [FINE, odd] }));
        let said = test(plugin.path(), &[]);
        assert_eq!(said.code, Some(0), "{odd}\n{}", said.all());
        assert_eq!(names(plugin.path()), ["actor.fine"], "{odd}");
        let listing = listing(plugin.path());
        let left_out = listing["left_out"].as_array().expect("a list");
        assert_eq!(left_out.len(), 1, "{odd}");
        assert!(
            left_out[0]["reason"].as_str().expect("a reason").contains(reason),
            "{odd}: {left_out:?}"
        );
    }
}

#[test]
fn a_server_that_breaks_the_protocol_is_named_with_what_it_did() {
    let cases = [
        (json!({"on": {"tools/list": [{"steps": [{"exit": 3}]}]}}), "exit code 3"),
        (
            json!({"on": {"tools/list": [{"steps": [{"result": "{\"tools\": 5}"}]}]}}),
            "not an array",
        ),
        (json!({"on": {"tools/list": [{"steps": [{"result": "{}"}]}]}}), "no `tools`"),
        (
            json!({"on": {"tools/list": [{"steps": [{"result": "{\"tools\":[],\"tools\":[]}"}]}]}}),
            "stands twice",
        ),
        (
            json!({"on": {"tools/list": [{"steps": [{"error": {"code": -32603, "message": "no\u{1b}[2J"}}]}]}}),
            "-32603",
        ),
        (json!({"functions": [FINE], "paging": {"size": 1, "fault": "repeated_cursor"}}), "cursor"),
        (
            // A hundred a page: on a busy machine ten thousand pages take longer than anybody waits.
            json!({"functions": vec![FINE; 100], "paging": {"size": 100, "fault": "endless"}}),
            "more than",
        ),
        (
            json!({"on": {"tools/list": [{"steps": [{"repeat": {"text": "x", "count": 17_000_000}}, {"line": ""}]}]}}),
            "16777216",
        ),
        (json!({"versions": ["2099-01-01"]}), "2099-01-01"),
    ];
    for (script, told) in cases {
        let plugin = plugin(&script);
        let said = test(plugin.path(), &["--timeout", "20"]);
        assert_eq!(said.code, Some(1), "{script}\n{}", said.all());
        assert!(
            said.stderr.contains("OZ-T001") && said.stderr.contains(told),
            "{script}\n{}",
            said.all()
        );
        assert!(!said.stderr.contains('\u{1b}'), "{script}\n{}", said.all());
        assert!(!plugin.path().join("tools.listing.json").exists());
    }
}

#[test]
fn a_silent_server_is_given_up_in_time() {
    let plugin = plugin(&json!({"on": {"tools/list": [{"steps": ["never"]}]}}));
    let began = Instant::now();
    let said = test(plugin.path(), &["--timeout", "2"]);
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stderr.contains("not complete within 2s"), "{}", said.all());
    assert!(began.elapsed() < Duration::from_secs(40));
}

#[test]
fn junk_floods_and_late_answers_are_lived_with_and_said() {
    let plugin = plugin(&json!({
        "functions": [FINE],
        "on": {
            "start": [{"steps": [{"line": "Server starting…"}, {"stderr": {"text": "noise noise noise\n", "count": 200_000}}]}],
            "tools/list": [{"steps": [{"line": "{\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{}}"}, {"bytes": "fffe0a"}, {"delay_ms": 300}]}],
        },
    }));
    let said = test(plugin.path(), &[]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert_eq!(names(plugin.path()), ["actor.fine"]);
    assert!(said.stderr.contains("OZ-T009"), "{}", said.all());
}

#[test]
fn a_server_that_dies_of_the_modern_probe_is_opened_in_its_own_era() {
    let plugin = plugin(&json!({
        "versions": ["2024-11-05"],
        "functions": [FINE],
        "on": {"server/discover": [{"steps": [{"exit": 1}]}]},
    }));
    let said = test(plugin.path(), &[]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stderr.contains("over MCP 2024-11-05"), "{}", said.all());
}

/// The modern probe gives up waiting after 2 s, and what is sent then confuses a server that speaks both eras.
#[test]
fn a_server_that_starts_slowly_is_opened_in_its_own_era() {
    let cases = [
        (json!(["2026-07-28"]), "over MCP 2026-07-28"),
        (json!(["2025-11-25", "2026-07-28"]), "over MCP 2026-07-28"),
        (json!(["2025-11-25"]), "over MCP 2025-11-25"),
    ];
    for (versions, told) in cases {
        let plugin = plugin(&json!({
            "versions": versions,
            "functions": [FINE],
            "on": {"start": [{"steps": [{"delay_ms": 2_500}]}]},
        }));
        let said = test(plugin.path(), &[]);
        assert_eq!(said.code, Some(0), "{}", said.all());
        assert!(said.stderr.contains(told), "{}", said.all());
    }
}

#[test]
fn a_server_that_ends_before_it_answers_is_said_to_have_ended() {
    let plugin = plugin(&json!({"on": {"start": [{"steps": [{"exit": 2}]}]}}));
    let said = test(plugin.path(), &[]);
    assert_eq!(said.code, Some(1), "{}", said.all());
    let told = "failed: its process ended with exit code 2 before it answered server/discover";
    assert!(said.stderr.contains(told), "{}", said.all());
    assert!(!said.stderr.contains("legacy era"), "{}", said.all());
}

#[test]
fn seven_messages_that_the_list_changed_are_no_drift() {
    let changed = json!({"notify": {"method": "notifications/tools/list_changed"}});
    let steps: Vec<Value> = std::iter::repeat_n(changed, 7).collect();
    let plugin = plugin(&json!({"functions": [FINE], "on": {"tools/list": [{"steps": steps}]}}));
    let said = test(plugin.path(), &[]);
    assert_eq!(said.code, Some(0), "{}", said.all());
}

/// SHA-256 of another implementation's canonical JSON, over the members that are pinned.
fn oracle(listing: &Value) -> String {
    let canonical = serde_json_canonicalizer::to_vec(listing).expect("it is JSON");
    let digest = Sha256::digest(&canonical);
    digest.iter().fold("sha256:".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

/// A function's listing by the rules, done once more: cut to six members, and the escape over every string.
fn by_the_rules(function: &Value) -> Value {
    let members = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];
    let function = function.as_object().expect("an object");
    let cut = function.iter().filter(|(name, _)| members.contains(&name.as_str()));
    escaped(&Value::Object(cut.map(|(name, value)| (name.clone(), value.clone())).collect()))
}

fn escaped(value: &Value) -> Value {
    let text = |text: &str| oz0_listing::escape::text(text).into_owned();
    match value {
        Value::String(string) => Value::String(text(string)),
        Value::Array(items) => items.iter().map(escaped).collect(),
        Value::Object(members) => Value::Object(
            members.iter().map(|(name, value)| (text(name), escaped(value))).collect(),
        ),
        other => other.clone(),
    }
}

#[test]
fn another_implementation_gives_the_hashes_of_the_committed_listings() {
    let mut checked = 0;
    for example in ["everything", "notes-sdk", "team", "time"] {
        let path = checkout().join("examples").join(example).join("tools.listing.json");
        let text = fs::read_to_string(path).expect("the example has a listing");
        let file: Value = serde_json::from_str(&text).expect("it is JSON");
        for function in file["functions"].as_array().expect("a list") {
            assert_eq!(function["hash"], oracle(&function["listing"]), "{}", function["name"]);
            checked += 1;
        }
    }
    assert!(checked >= 20);
}

/// Replays recorded listings through a server, where there are some: `OZ0_CORPUS` names a folder of JSON files with `tools`.
#[test]
fn recorded_listings_hash_as_another_implementation_says() {
    let Some(corpus) = std::env::var_os("OZ0_CORPUS").map(PathBuf::from) else { return };
    let (mut files, mut functions) = (0, 0);
    for entry in fs::read_dir(corpus).expect("the folder can be read") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("the file can be read");
        let recorded: Value = serde_json::from_str(&text).expect("it is JSON");
        let tools = recorded["tools"].as_array().expect("it has tools");
        let raw: Vec<String> = tools.iter().map(ToString::to_string).collect();
        let plugin = plugin(&json!({ "functions": raw }));
        let said = test(plugin.path(), &["--quiet"]);
        assert_eq!(said.code, Some(0), "{}\n{}", path.display(), said.all());
        let listing = listing(plugin.path());
        let measured = listing["functions"].as_array().expect("a list");
        assert_eq!(measured.len(), tools.len(), "{}: {}", path.display(), listing["left_out"]);
        for tool in tools {
            let id = format!("actor.{}", tool["name"].as_str().expect("a name"));
            let function =
                measured.iter().find(|function| function["name"] == id).expect("it is listed");
            assert_eq!(function["hash"], oracle(&by_the_rules(tool)), "{}: {id}", path.display());
            functions += 1;
        }
        files += 1;
    }
    assert!(files > 0, "the folder has no listing");
    assert!(functions > files);
}
