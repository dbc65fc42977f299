//! `oz0 policy` and `oz0 approvals`, with `oz0 call` as whoever is asked about.

use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::house::{House, Terminal, eventually};
use crate::support::Said;

/// A function that says nothing of what it does.
fn silent(name: &str) -> String {
    json!({"name": name, "inputSchema": {"type": "object"}}).to_string()
}

fn call(house: &House, arguments: &str) -> Child {
    house
        .oz0(&["call", "team.send", arguments])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

fn ended(child: Child) -> Said {
    child.wait_with_output().expect("it ends").into()
}

fn waiting(house: &House, count: usize) -> Vec<Value> {
    let mut waiting = Vec::new();
    eventually(&format!("{count} calls wait"), || {
        let value = house.json(&["approvals", "list", "--json"]);
        waiting.clone_from(value["approvals"].as_array().expect("a list"));
        waiting.len() == count
    });
    waiting
}

fn id(waits: &Value) -> String {
    waits["id"].as_str().expect("an ID").to_owned()
}

#[test]
fn rules_are_set_shown_and_taken_away() {
    let (house, _plugin) = House::with("team", &[&silent("send")]);
    let none = house.run(&["policy", "list"]);
    assert!(none.stdout.is_empty() && none.stderr.starts_with("no rules: "), "{}", none.all());
    let when = r#"{"/to": {"not": {"pattern": "@example\\.com$"}}}"#;
    for arguments in [
        &["policy", "set", "*", "ask"][..],
        &["policy", "set", "team.*", "allow", "--reason", "ours"],
        &["policy", "set", "team.send", "refuse", "--when", when, "--reason", "out\u{202e}side"],
    ] {
        let said = house.run(arguments);
        assert_eq!(said.code, Some(0), "{}", said.all());
        assert!(said.stderr.contains(" is set, in place 1: "), "{}", said.all());
    }
    let again = house.run(&["policy", "set", "*", "refuse"]);
    assert!(again.stderr.contains(" is changed, in place 3: * refuse"), "{}", again.all());
    let listed = house.run(&["policy", "list"]).stdout;
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].contains("  team.send  refuse  "), "{listed}");
    assert_eq!(lines[1], r#"  when /to: {"not":{"pattern":"@example\\.com$"}}"#);
    assert_eq!(lines[2], r"  out\u{202E}side");
    assert!(lines[3].contains("  team.*     allow   "), "{listed}");
    assert!(lines[5].contains("  *          refuse  "), "{listed}");

    assert_eq!(house.run(&["call", "team.send", r#"{"to": "ana@example.com"}"#]).code, Some(0));
    let outside = house.run(&["call", "team.send", r#"{"to": "ana@example.org"}"#]);
    assert_eq!(outside.code, Some(1), "{}", outside.all());
    assert!(outside.stdout.contains("the policy refuses it (rule "), "{}", outside.all());

    let rules = house.json(&["policy", "list", "--json"]);
    let first = rules["rules"][0]["id"].as_str().expect("an ID");
    let gone = house.run(&["policy", "unset", &first[..6]]);
    assert_eq!(gone.code, Some(0), "{}", gone.all());
    assert_eq!(house.run(&["policy", "unset", first]).code, Some(1));
    for (arguments, code) in [
        (&["policy", "set", "team", "allow"][..], 2),
        (&["policy", "set", "team.*", "maybe"], 2),
        (&["policy", "set", "team.*", "allow", "--when", "[]"], 2),
        (&["policy", "set", "team.*", "allow", "--when", r#"{"/x": {"type": "no"}}"#], 2),
        (&["policy", "set", "team.*", "allow", "--before", "nowhere"], 2),
        (&["policy", "unset", "ffff"], 1),
        (&["approvals", "approve", "ffff", "--yes"], 1),
        (&["approvals", "approve", "ffff"], 2),
    ] {
        let said = house.run(arguments);
        assert_eq!(said.code, Some(code), "{arguments:?}: {}", said.all());
    }
}

#[test]
fn a_call_that_is_asked_about_says_so_and_waits_until_somebody_decides() {
    let (house, _plugin) = House::with("team", &[&silent("send")]);
    let child = call(&house, "{\"to\": \"a\u{202e}b\"}");
    let waits = waiting(&house, 1).remove(0);
    let short = &id(&waits)[..12];
    let listed = house.run(&["approvals", "list"]).stdout;
    assert!(
        listed.starts_with(&format!("{short}  team.send (Unknown) of team 1.0.0 on node-1\n")),
        "{listed}"
    );
    assert!(listed.contains("\n  called by oz0 call\n"), "{listed}");
    assert!(listed.contains("\n  |   \"to\": \"a\\u{202E}b\"\n"), "{listed}");
    eventually("`oz0 up` says how to go on", || {
        let heard = house.heard();
        heard.contains(&format!("oz0 approvals approve {short}"))
            && heard.contains("oz0 policy set team.send allow")
    });
    let approved = house.run(&["approvals", "approve", short, "--yes", "--reason", "as agreed"]);
    assert_eq!(approved.code, Some(0), "{}", approved.all());
    let said = ended(child);
    assert_eq!(said.code, Some(0), "{}", said.all());
    let begins = "team.send waits for a person, since its server does not say whether it changes anything: oz0 approvals \
                  approve ";
    assert!(said.stderr.contains(begins), "{}", said.all());

    let child = call(&house, "{}");
    let waits = waiting(&house, 1).remove(0);
    let denied = house.run(&["approvals", "deny", &id(&waits), "--reason", "not now"]);
    assert_eq!(denied.code, Some(0), "{}", denied.all());
    let said = ended(child);
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert_eq!(
        said.stdout,
        "team.send was not called: token:admin denied this call: not now\n",
        "{}",
        said.all()
    );
    let log = house.run(&["audit", "--action", "approval"]).stdout;
    for action in ["approval.ask", "approval.approve", "approval.deny"] {
        assert!(log.contains(action), "{log}");
    }
    assert_eq!(house.run(&["audit", "verify"]).code, Some(0));
}

#[test]
fn on_a_terminal_the_call_is_shown_before_anybody_says_yes() {
    let (house, _plugin) = House::with("team", &[&silent("send")]);
    let child = call(&house, "{\"to\": \"ana\\u001b[2J\"}");
    let waits = waiting(&house, 1).remove(0);
    let short = id(&waits)[..12].to_owned();
    let approve = ["approvals", "approve", &short];
    let mut terminal = Terminal::start(&mut house.oz0(&approve), 100);
    terminal.wait_for("Let this call of team.send through, once? [y/N] ");
    let shown = terminal.screen();
    assert!(shown.contains("|   \"to\": \"ana\\u001b[2J\""), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown}");
    terminal.enter("n\n");
    assert_eq!(terminal.end().0, Some(1));
    waiting(&house, 1);
    let mut terminal = Terminal::start(&mut house.oz0(&approve), 100);
    terminal.wait_for("[y/N] ");
    terminal.enter("y\n");
    assert_eq!(terminal.end().0, Some(0));
    assert_eq!(ended(child).code, Some(0));
}

#[test]
fn no_approval_outlives_a_process_that_is_killed() {
    let (mut house, plugin) = House::with("team", &[&silent("send")]);
    let child = call(&house, "{}");
    let before = waiting(&house, 1).remove(0);
    house.kill();
    let said = ended(child);
    assert_eq!(said.code, Some(3), "{}", said.all());
    house.up(&[&plugin]);
    assert!(waiting(&house, 0).is_empty());
    let late = house.run(&["approvals", "approve", &id(&before), "--yes"]);
    assert_eq!(late.code, Some(1), "{}", late.all());
    let log = house.run(&["audit", "--action", "approval.lose"]).stdout;
    assert!(log.contains("approval.lose by edge"), "{log}");
    // The same call again is asked about anew.
    let child = call(&house, "{}");
    let after = waiting(&house, 1).remove(0);
    assert_ne!(id(&before), id(&after));
    house.run(&["approvals", "deny", &id(&after)]);
    assert_eq!(ended(child).code, Some(1));
    assert_eq!(house.run(&["audit", "verify"]).code, Some(0));
}

#[test]
fn a_node_that_is_killed_takes_its_calls_with_it() {
    let (house, plugin) = House::with("team", &[&silent("send")]);
    let mut node = house
        .oz0(&["mcp", plugin.root.to_str().expect("UTF-8")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut stdin = node.stdin.take().expect("it is piped");
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
            "capabilities": {}, "clientInfo": {"name": "desk", "version": "7"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "team__send", "arguments": {}}}),
    ] {
        use std::io::Write as _;
        writeln!(stdin, "{message}").expect("it reads");
    }
    let waits = waiting(&house, 1).remove(0);
    assert_ne!(waits["node"], json!("node-1"));
    assert_eq!(waits["client"], json!("a client without a token, which calls itself desk 7"));
    node.kill().expect("it can be killed");
    node.wait().expect("it ends");
    waiting(&house, 0);
    let late = house.run(&["approvals", "approve", &id(&waits), "--yes"]);
    assert_eq!(late.code, Some(1), "{}", late.all());
    let log = house.run(&["audit", "--action", "approval.lose"]).stdout;
    assert!(log.contains("approval.lose by edge"), "{log}");
}
