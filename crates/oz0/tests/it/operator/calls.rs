//! `oz0 call`.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::house::{House, Plugin, eventually, function};
use crate::support::Said;

fn scripted(result: &Value) -> (House, Plugin) {
    let mut house = House::new();
    let plugin = Plugin::new(&house, "team");
    plugin.script(&json!({"on": {"call said": [{"steps": [{"result": result.to_string()}]}]}}));
    plugin.list(&[&function("hello", "Echoes."), &function("said", "Says what it was told to.")]);
    house.up(&[&plugin]);
    (house, plugin)
}

#[test]
fn arguments_come_from_the_line_a_file_or_standard_input() {
    let (house, plugin) = scripted(&json!({}));
    let echoed = |said: &Said| {
        assert_eq!(said.code, Some(0), "{}", said.all());
        let echo: Value = serde_json::from_str(&said.stdout).expect("the echo is JSON");
        echo["arguments"].clone()
    };
    assert_eq!(echoed(&house.run(&["call", "team.hello"])), json!({}));
    assert_eq!(echoed(&house.run(&["call", "team.hello", r#"{"x": 1}"#])), json!({"x": 1}));
    assert_eq!(echoed(&house.run(&["call", "team__hello", r#"{"x": 2}"#])), json!({"x": 2}));
    plugin.write("arguments.txt", r#"{"x": 3}"#);
    let file = format!("@{}", plugin.root.join("arguments.txt").display());
    assert_eq!(echoed(&house.run(&["call", "team.hello", &file])), json!({"x": 3}));
    let mut command = house.oz0(&["call", "team.hello", "-"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("it is piped").write_all(br#"{"x": 4}"#).expect("it reads");
    assert_eq!(echoed(&child.wait_with_output().expect("it ends").into()), json!({"x": 4}));
    assert_eq!(echoed(&house.run(&["call", "team.hello", "--node", "node-1", "{}"])), json!({}));
}

#[test]
fn wrong_arguments_and_unknown_functions_have_their_exit_codes() {
    let (house, _plugin) = scripted(&json!({}));
    for (arguments, code, why) in [
        (&["team.hello", "{"][..], 2, "no JSON object"),
        (&["team.hello", "[1]"], 2, "no JSON object"),
        (&["team.hello", "{}", "--timeout", "0"], 2, "--timeout"),
        (&["team.hello", "@/nonexistent"], 3, "cannot read /nonexistent"),
        (&["team.he llo"], 2, "no function's name"),
        (&["team.helo"], 1, "no plugin here has a function team.helo"),
        (&["team.hello", r#"{"x": "no number"}"#], 1, "do not match its input schema"),
        (&["nobody.hello"], 1, "no installed plugin has a tool `nobody`"),
        (&["team__helo"], 1, "did you mean team__hello?"),
        (&["team.hello", "--node", "node-9"], 3, "node-9"),
        (&["9.x"], 2, "no function's name"),
    ] {
        let said = house.run(&[&["call"], arguments].concat());
        assert_eq!(said.code, Some(code), "{arguments:?}: {}", said.all());
        let all = format!("{}{}", said.stdout, said.stderr);
        assert!(all.contains(why), "{arguments:?}: {}", said.all());
    }
}

#[test]
fn a_result_is_printed_as_text_or_as_it_came() {
    let result = json!({"content": [
        {"type": "text", "text": "one\ntwo\u{1b}[2J\u{200B}"},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "of a resource"}},
        {"type": "resource_link", "uri": "file:///b", "name": "b"},
        {"type": "text", "text": "last"}], "isError": false, "_meta": {"big": 12_345_678_901_234_567_890_u64}});
    let (house, _plugin) = scripted(&result);
    let said = house.run(&["call", "team.said"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    insta::assert_snapshot!(said.stdout, @r"
    one
    two\u{1B}[2J\u{200B}
    [image image/png, 4 characters of base64; `--json` shows it]
    of a resource
    [link file:///b]
    last
    ");
    let raw = house.run(&["call", "team.said", "--json"]);
    assert!(!raw.stdout.contains(['\u{1b}', '\u{200B}']), "{}", raw.all());
    assert!(raw.stdout.contains("12345678901234567890"), "{}", raw.all());
    assert_eq!(serde_json::from_str::<Value>(&raw.stdout).expect("JSON"), result);
}

#[test]
fn a_function_that_says_it_failed_ends_with_1_and_its_text() {
    let (house, _plugin) =
        scripted(&json!({"content": [{"type": "text", "text": "no such note"}], "isError": true}));
    let said = house.run(&["call", "team.said"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(1), "no such note\n"), "{}", said.all());
    assert_eq!(house.run(&["call", "team.said", "--json"]).code, Some(1));
}

#[test]
fn a_result_without_content_shows_what_it_has() {
    let (house, _plugin) = scripted(&json!({"content": [], "structuredContent": {"a": "b"}}));
    let said = house.run(&["call", "team.said"]);
    assert_eq!(said.stdout, "{\n  \"a\": \"b\"\n}\n", "{}", said.all());
}

#[test]
fn hidden_characters_in_arguments_are_shown_before_they_are_sent() {
    let (house, _plugin) = scripted(&json!({}));
    for arguments in ["{\"name\": \"a\u{E0041}\"}", r#"{"name": "a\udb40\udc41"}"#] {
        let said = house.run(&["call", "team.hello", arguments]);
        assert_eq!(said.code, Some(0), "{}", said.all());
        assert!(said.stderr.contains(r#"{"name":"a\u{E0041}"}"#), "{}", said.all());
        assert!(
            !said.stdout.contains('\u{E0041}') && !said.stderr.contains('\u{E0041}'),
            "{}",
            said.all()
        );
    }
    assert!(house.run(&["call", "team.hello", r#"{"name": "plain"}"#]).stderr.is_empty());
}

/// A plugin `p2` whose tool `act__a` has a function `f`, snapshotted, beside a plugin `act` that then lists `a__f`: models
/// would know both as `act__a__f`.
fn same_model_name() -> (House, Plugin, Plugin) {
    let mut house = House::new();
    let first = Plugin::new(&house, "p2");
    first.write(
        "oz0-plugin.yaml",
        "name: p2\nversion: 1.0.0\nkind: capability\ndescription: A test.\nlicense: MIT\ntools:\n  act__a:\n    mcp: \
         {command: [./oz0-actor, script.json]}\n",
    );
    first.list(&[&function("f", "Had the name first.")]);
    let second = Plugin::new(&house, "act");
    second.list(&[&function("g", "Is beside it.")]);
    house.up(&[&first, &second]);
    eventually("both plugins are called", || {
        house.call("act__a.f").code == Some(0) && house.call("act.g").code == Some(0)
    });
    (house, first, second)
}

#[test]
fn a_call_by_id_never_runs_another_function_of_the_same_model_name() {
    let (house, _first, second) = same_model_name();
    second.list(&[&function("a__f", "Wants the name."), &function("g", "Is beside it.")]);
    let change = house.wait_for_changes("act", 1).remove(0);
    let refused = || {
        let mut said = house.call("act.a__f");
        // Until its server was listed anew nobody here knows of it.
        eventually("it is refused for its name", || {
            said = house.call("act.a__f");
            said.stdout
                == "act.a__f is not called: models know act__a.f under the same name, which had it first\n"
        });
        assert_eq!(said.code, Some(1), "{}", said.all());
        for name in ["act__a.f", "act__a__f"] {
            let said = house.call(name);
            assert_eq!(said.code, Some(0), "{name}: {}", said.all());
            assert!(said.stdout.contains(r#""x": 1"#), "{name}: {}", said.all());
        }
        assert_eq!(house.call("act.g").code, Some(0));
    };
    refused();
    let id = change["id"].as_str().expect("it has an ID");
    let approved = house.run(&["plugin", "approve-tools", "act", "--yes", "--change", id]);
    assert_eq!(approved.code, Some(0), "{}", approved.all());
    assert!(
        approved
            .stdout
            .contains("approved act.a__f: it stays left out all the same, since act__a.f of p2"),
        "{}",
        approved.all()
    );
    refused();
}
