//! What people read of changes.

use oz0_api::plugin::PluginStatus;
use serde_json::{Value, json};

fn id(digit: char) -> String {
    std::iter::repeat_n(digit, 64).collect()
}

fn changed(digit: char, function: &str, nodes: &[&str]) -> Value {
    let seen: Vec<Value> = nodes.iter().map(|node| json!({"node": node, "since": 1})).collect();
    json!({"id": id(digit), "plugin": "weather", "version": "1.0.0", "tool": "wx", "function": function,
        "kind": "changed", "labels": [], "nodes": seen, "opened_at": 1})
}

fn moved(functions: &[&str], nodes: &[&str]) -> Value {
    let mut change = changed('e', "wx.today", nodes);
    change.as_object_mut().unwrap().remove("function");
    change["kind"] = json!("endpoint");
    change["functions"] = json!(functions);
    change["accepted"] = json!({"endpoint": "https://mcp.example.com"});
    change["listed"] = json!({"endpoint": "https://mcp.other.example"});
    change
}

fn plugin(changes: &[Value], functions: &[&str]) -> PluginStatus {
    let functions: Vec<Value> = functions
        .iter()
        .map(|function| json!({"id": function, "model_name": "x", "state": "endpoint_waiting", "accepted": []}))
        .collect();
    serde_json::from_value(
        json!({"name": "weather", "version": "1.0.0", "digest": format!("sha256:{}", id('0')),
        "source": "bundle", "title": null, "description": "", "installed_at": 1, "tools": [],
        "functions": functions, "changes": changes, "mismatches": []}),
    )
    .unwrap()
}

fn told(plugin: &PluginStatus) -> Vec<String> {
    plugin.announcements().iter().map(ToString::to_string).collect()
}

#[test]
fn a_change_and_a_move_are_told_in_these_words() {
    let line = |functions: &str, nodes: &str| {
        format!(
            "Tools of weather changed{nodes}: {functions}. Nodes do not call them until you approve: oz0 plugin approve-tools weather"
        )
    };
    let endpoint = "\n  endpoint moved: wx: https://mcp.example.com -> https://mcp.other.example";
    assert_eq!(
        told(&plugin(&[changed('a', "wx.today", &["node-1"])], &[])),
        [line("wx.today", " on node-1")]
    );
    let there = plugin(&[moved(&["wx.today", "wx.week"], &["node-1"])], &[]);
    assert_eq!(told(&there), [line("wx.today, wx.week", " on node-1") + endpoint]);
    // Nobody could list it there: what was called before waits.
    let before = plugin(&[moved(&[], &["node-1"])], &["wx.today", "ot.her"]);
    assert_eq!(told(&before), [line("wx.today", " on node-1") + endpoint]);
    // Nobody ever listed it, and no node has said anything of it.
    assert_eq!(told(&plugin(&[moved(&[], &[])], &[])), [line("wx", "") + endpoint]);
    assert_eq!(told(&plugin(&[], &["wx.today"])), [""; 0]);
}

#[test]
fn nodes_that_see_the_same_are_told_together_and_others_apart() {
    let plugin = plugin(
        &[
            changed('a', "wx.today", &["node-1", "node-2", "node-3"]),
            changed('b', "wx.week", &["node-2"]),
        ],
        &[],
    );
    let announcements = plugin.announcements();
    let told: Vec<(Vec<&str>, usize)> = announcements
        .iter()
        .map(|one| (one.nodes.iter().map(AsRef::as_ref).collect(), one.functions.len()))
        .collect();
    assert_eq!(told, [(vec!["node-1", "node-3"], 1), (vec!["node-2"], 2)]);
    let late = plugin.announcements_of(|change| change.id.as_str() == id('b'));
    assert_eq!(late.len(), 1);
    assert!(
        late[0].to_string().starts_with("Tools of weather changed on node-2: wx.week. "),
        "{}",
        late[0]
    );
}

#[test]
fn what_an_approval_concerns_is_a_function_or_all_of_a_moved_tool() {
    let plugin = plugin(&[changed('a', "wx.today", &[]), moved(&[], &[])], &[]);
    let concerns =
        |at: usize, function: &str| plugin.changes[at].concerns(&function.parse().unwrap());
    assert!(concerns(0, "wx.today") && !concerns(0, "wx.week"));
    assert!(concerns(1, "wx.today") && concerns(1, "wx.week") && !concerns(1, "ot.her"));
    assert_eq!(plugin.changes[0].id.short(), "aaaaaaaaaaaa");
}
