//! `oz0 audit`.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::house::{House, eventually, filters, function};

fn entries(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("an entry a line")).collect()
}

#[test]
fn the_log_is_read_by_plugin_act_actor_function_and_place() {
    let (house, plugin) = House::with("team", &[&function("a", "A."), &function("b", "B.")]);
    plugin.list(&[&function("a", "Another."), &function("b", "B.")]);
    house.wait_for_changes("team", 1);
    let read = |arguments: &[&str]| {
        let said = house.run(&[&["audit", "--json"], arguments].concat());
        assert_eq!(said.code, Some(0), "{}", said.all());
        entries(&said.stdout)
    };
    let all = read(&[]);
    assert!(all.len() > 3);
    let acts = |entries: &[Value]| -> Vec<String> {
        entries.iter().map(|entry| entry["action"].as_str().expect("a text").to_owned()).collect()
    };
    assert_eq!(
        acts(&read(&["--action", "plugin.tools"])),
        ["plugin.tools.snapshot", "plugin.tools.changed"]
    );
    assert_eq!(acts(&read(&["--action", "plugin.tools.changed"])), ["plugin.tools.changed"]);
    assert!(read(&["--action", "plugin.tool"]).is_empty(), "an act is named by whole words");
    assert_eq!(acts(&read(&["--function", "team.b"])), ["plugin.tools.snapshot"]);
    assert!(acts(&read(&["--plugin", "team"])).iter().all(|act| act.starts_with("plugin.")));
    assert!(read(&["--plugin", "nobody"]).is_empty());
    assert_eq!(
        acts(&read(&["--actor", "node:node-1", "--action", "plugin.tools.changed"])).len(),
        1
    );
    assert_eq!(read(&["-n", "2"]), all[all.len() - 2..]);
    let position = all[1]["position"].to_string();
    assert_eq!(read(&["--after", &position]), all[2..]);
    assert_eq!(read(&["--since", "1h"]), all);
    assert!(read(&["--since", "2099-01-01T00:00:00Z"]).is_empty());
    let wrong = house.run(&["audit", "--since", "yesterday"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.all());

    let said = house.run(&["audit", "--action", "plugin.tools"]);
    insta::with_settings!({filters => filters()}, {
        insta::assert_snapshot!(said.stdout);
        insta::assert_json_snapshot!(read(&["--action", "plugin.tools.changed"])[0]);
    });
}

#[test]
fn a_follower_sees_what_is_written_as_it_is_written() {
    let (house, plugin) = House::with("team", &[&function("a", "A.")]);
    let mut follower = house
        .oz0(&["audit", "--follow", "--json", "--action", "plugin.tools"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(follower.stdout.take().expect("it is piped")).lines();
    let mut next = || {
        let line = lines.next().expect("a line").expect("UTF-8");
        serde_json::from_str::<Value>(&line).expect("an entry")["action"]
            .as_str()
            .expect("a text")
            .to_owned()
    };
    assert_eq!(next(), "plugin.tools.snapshot");
    plugin.list(&[&function("a", "Another.")]);
    house.wait_for_changes("team", 1);
    assert_eq!(next(), "plugin.tools.changed");
    plugin.list(&[&function("a", "A.")]);
    house.wait_for_changes("team", 0);
    assert_eq!(next(), "plugin.tools.reverted");
    follower.kill().expect("it can be ended");
    follower.wait().expect("it ends");
}

#[test]
fn a_follower_ends_in_order_when_its_reader_or_its_edge_goes() {
    let (mut house, plugin) = House::with("team", &[&function("a", "A.")]);
    let follow = || {
        let mut command = house.oz0(&["audit", "--follow", "--last", "0", "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let mut unread = follow();
    drop(unread.stdout.take());
    let orphan = follow();
    // It may begin to follow after one change or the other, so they go on.
    let mut at = 0;
    eventually("nobody reads it", || {
        at += 1;
        plugin.list(&[&function("a", &format!("Another {at}."))]);
        unread.try_wait().expect("it can be waited for").is_some()
    });
    let ended = unread.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    house.down();
    let ended = orphan.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(3), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn a_row_that_was_edited_in_the_database_is_found() {
    let (house, _plugin) = House::with("team", &[&function("a", "A.")]);
    let said = house.run(&["audit", "verify"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    let check = house.json(&["audit", "verify", "--json"]);
    assert_eq!(check["faults"], serde_json::json!([]));
    assert!(
        said.stdout.contains(check["chains"][0]["head"].as_str().expect("a hash")),
        "{}",
        said.all()
    );

    let database = house.data().join("edge.db");
    assert!(database.is_file(), "the store is where the test edits it");
    let edit = r#"
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], timeout=30)
# Whoever can write the file can drop what guards it.
database.execute("DROP TRIGGER audit_is_append_only_update")
edited = database.execute("UPDATE audit SET body = replace(body, 'node:node-1', 'node:node-2') WHERE body LIKE '%plugin.tools.snapshot%'")
assert edited.rowcount == 1, edited.rowcount
database.commit()
"#;
    let edited =
        Command::new("python3").args(["-c", edit]).arg(&database).status().expect("python3 runs");
    assert!(edited.success());
    let said = house.run(&["audit", "verify"]);
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stderr.contains("the entry was edited"), "{}", said.all());
    let said = house.run(&["audit", "verify", "--json"]);
    let check: Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(
        check["faults"][0]["what"].as_str().expect("a text").contains("edited"),
        "{}",
        said.all()
    );
}
