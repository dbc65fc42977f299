//! The clients that people use, as published, through the built `oz0`: the Python SDK's, and both lines of the TypeScript
//! SDK's, in each era that they speak, over Streamable HTTP and over stdio, before servers of both eras.
//!
//! Each goes the same way: list, call, be asked, give up; then the plugin is edited, and the function whose description
//! changed is refused, until somebody approves.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::clients::{Era, Handle, Sdk};
use crate::running::{House, eventually};
use crate::support::write;

/// More than one page of the gateway holds.
const MANY: usize = 1100;

fn function(name: &str, description: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
    let read = json!({"readOnlyHint": true});
    json!({"name": name, "description": description, "annotations": read, "inputSchema": schema})
}

/// What a tool's server lists.
fn list(plugin: &Path, tool: &str, hello: &str, more: usize) {
    let mut functions = vec![function("hello", hello)];
    functions[0]["outputSchema"] = json!({"type": "object"});
    functions.extend(["ask", "slow", "received"].map(|name| function(name, "-")));
    functions.extend((0..more).map(|number| function(&format!("more{number}"), "-")));
    let lines: String =
        functions.iter().flat_map(|function| [function.to_string(), "\n".to_owned()]).collect();
    write(plugin, &format!("{tool}.txt"), &lines);
}

/// A plugin with a server of each era, which ask as their era does.
fn plugin(house: &House) -> PathBuf {
    let plugin = house.folder().join("plugin");
    write(
        &plugin,
        "oz0-plugin.yaml",
        "name: team\nversion: 1.0.0\nkind: capability\ndescription: A test.\nlicense: MIT\ntools:\n  \
         old:\n    mcp: {command: [./oz0-actor, old.json]}\n  \
         new:\n    mcp: {command: [./oz0-actor, new.json]}\n",
    );
    // Not packed, so that its time of modification is nobody's edit.
    write(&plugin, ".oz0ignore", "oz0-actor\n");
    let actor = plugin.join("oz0-actor");
    if fs::hard_link(oz0_actor::binary(), &actor).is_err() {
        fs::copy(oz0_actor::binary(), &actor).expect("the scripted server can be copied");
    }
    let question = json!({
        "message": "Which color?",
        "requestedSchema": {"type": "object", "properties": {"color": {"type": "string"}}},
    });
    let unfinished = json!({
        "resultType": "input_required",
        "inputRequests": {"color": {"method": "elicitation/create", "params": question}},
    });
    let script = |tool: &str, version: &str, ask: Value| {
        json!({
            "versions": [version],
            "functions_file": format!("{tool}.txt"),
            "on": {
                "call hello": [{"steps": [{"progress": {"count": 3, "every_ms": 5}}, "echo"]}],
                "call ask": ask,
                "call slow": [{"steps": [{"progress": {"count": 1, "every_ms": 5}}, "never"]}],
                "call received": [{"steps": ["received"]}],
            },
        })
    };
    let old = json!([{"steps": [{"ask": {"method": "elicitation/create", "params": question}}]}]);
    let new = json!([
        {"to": 1, "steps": [{"result": unfinished.to_string()}]},
        {"from": 2, "steps": ["received"]},
    ]);
    write(&plugin, "old.json", &script("old", "2025-11-25", old).to_string());
    write(&plugin, "new.json", &script("new", "2026-07-28", new).to_string());
    list(&plugin, "old", "Says hello.", MANY);
    list(&plugin, "new", "Says hello.", 0);
    plugin
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

/// A client that is to see all of it, through the gateway of a plugin that starts with it or before it.
fn sees_all_of_it(sdk: Sdk, era: Era, connect: impl FnOnce(&House, &Path) -> Handle) {
    let house = House::new();
    let plugin = plugin(&house);
    let mut client = connect(&house, &plugin);
    assert_eq!(client.protocol, if era == Era::Modern { "2026-07-28" } else { "2025-11-25" });

    let (tools, pages) = eventually("both servers are listed", || {
        let (tools, pages) = client.list();
        (tools.len() == MANY + 8).then_some((tools, pages))
    });
    // The 2.x client reads every page by itself.
    assert_eq!(pages, if sdk == Sdk::TypeScript2 { 1 } else { 2 });
    let hello =
        |tools: &[Value], name: &str| tools.iter().find(|tool| tool["name"] == name).cloned();
    assert_eq!(hello(&tools, "old__hello").expect("listed")["description"], "Says hello.");

    for tool in ["old", "new"] {
        let answer = client.call(&format!("{tool}__hello"), &json!({"x": 7}));
        assert_eq!(answer["result"]["structuredContent"]["arguments"], json!({"x": 7}), "{answer}");
        // Some clients drop progress that comes together with the answer.
        let mut steps = [1, 2, 3].iter();
        for step in answer["progress"].as_array().expect("progress") {
            assert!(steps.any(|wanted| step.as_f64() == Some(f64::from(*wanted))), "{answer}");
        }

        let answer = client.call(&format!("{tool}__ask"), &json!({"x": 1}));
        let asked = format!("{tool}.ask asks: Which color?");
        assert_eq!(answer["asked"], json!([asked]), "{answer}");
        assert!(text(&answer).contains("blue"), "{answer}");

        // This one's answer never comes: its progress has to.
        let given_up = client.give_up(&format!("{tool}__slow"));
        assert_eq!(given_up, json!({"cancelled": true}));
        eventually("the server is told that the call was given up", || {
            let answer = client.call(&format!("{tool}__received"), &json!({"x": 1}));
            text(&answer).contains("notifications/cancelled").then_some(())
        });
    }

    // An edit of the plugin, whose servers then start anew.
    list(&plugin, "old", "Says hello, and more.", MANY);
    client.changed_until(|tools| hello(tools, "old__hello").is_none());
    let refused = client.call("old__hello", &json!({"x": 7}));
    assert_eq!(refused["result"]["isError"], json!(true), "{refused}");
    assert_eq!(
        text(&refused),
        "old.hello lists itself differently than when its plugin's tools were approved, so it is not called; check the\n\
         change and approve it with: oz0 plugin approve-tools team"
    );
    let other = client.call("new__hello", &json!({"x": 7}));
    assert_eq!(other["result"]["structuredContent"]["arguments"], json!({"x": 7}), "{other}");

    house.approve("team", 1);
    client.changed_until(|tools| {
        hello(tools, "old__hello")
            .is_some_and(|function| function["description"] == "Says hello, and more.")
    });
    let answer = client.call("old__hello", &json!({"x": 8}));
    assert_eq!(answer["result"]["structuredContent"]["arguments"], json!({"x": 8}), "{answer}");
    client.close();
}

fn over_http(sdk: Sdk, era: Era) {
    let mut up = None;
    sees_all_of_it(sdk, era, |house, plugin| {
        let (running, url) = house.up(plugin);
        up = Some(running);
        Handle::http(sdk, era, &url)
    });
}

fn over_stdio(sdk: Sdk, era: Era) {
    sees_all_of_it(sdk, era, |house, plugin| Handle::stdio(sdk, era, &house.stdio(plugin)));
}

#[test]
fn the_python_sdk_sees_all_of_it_over_http_in_the_handshake_era() {
    over_http(Sdk::Python, Era::Legacy);
}

#[test]
fn the_python_sdk_sees_all_of_it_over_http_in_the_stateless_era() {
    over_http(Sdk::Python, Era::Modern);
}

#[test]
fn the_python_sdk_sees_all_of_it_over_stdio_in_the_handshake_era() {
    over_stdio(Sdk::Python, Era::Legacy);
}

#[test]
fn the_python_sdk_sees_all_of_it_over_stdio_in_the_stateless_era() {
    over_stdio(Sdk::Python, Era::Modern);
}

#[test]
fn the_first_typescript_sdk_sees_all_of_it_over_http() {
    over_http(Sdk::TypeScript1, Era::Legacy);
}

#[test]
fn the_first_typescript_sdk_sees_all_of_it_over_stdio() {
    over_stdio(Sdk::TypeScript1, Era::Legacy);
}

#[test]
fn the_second_typescript_sdk_sees_all_of_it_over_http_in_the_handshake_era() {
    over_http(Sdk::TypeScript2, Era::Legacy);
}

#[test]
fn the_second_typescript_sdk_sees_all_of_it_over_http_in_the_stateless_era() {
    over_http(Sdk::TypeScript2, Era::Modern);
}

#[test]
fn the_second_typescript_sdk_sees_all_of_it_over_stdio_in_the_handshake_era() {
    over_stdio(Sdk::TypeScript2, Era::Legacy);
}

#[test]
fn the_second_typescript_sdk_sees_all_of_it_over_stdio_in_the_stateless_era() {
    over_stdio(Sdk::TypeScript2, Era::Modern);
}
