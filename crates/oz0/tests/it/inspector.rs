//! The MCP Inspector's command line, as published, through the built `oz0`: lists and calls the reference test server.

use std::process::Command;

use serde_json::Value;

use crate::running::{House, eventually, node, peers};
use crate::support::{cache, checkout, copy};

/// `mcp-inspector --cli …`, and what it printed.
fn inspector(house: &House, arguments: &[&str]) -> Value {
    let mut command: Command = node();
    command
        .arg(peers().npm_program("mcp-inspector"))
        .arg("--cli")
        .args(arguments)
        .env("HOME", house.folder())
        .env("XDG_CONFIG_HOME", house.folder());
    let said = command.output().expect("the Inspector runs");
    let stdout = String::from_utf8_lossy(&said.stdout);
    serde_json::from_str(&stdout).unwrap_or_else(|error| {
        panic!("{error}: {:?}\n{stdout}\n{}", said.status, String::from_utf8_lossy(&said.stderr))
    })
}

fn names(listed: &Value) -> Vec<&str> {
    let tools = listed["tools"].as_array().expect("a list of tools");
    tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

/// What holds whichever way the server is reached; `target` says which.
fn lists_and_calls(house: &House, target: &[&str]) {
    let with = |more: &[&str]| inspector(house, &[target, more].concat());
    eventually("the functions are listed", || {
        let listed = with(&["--method", "tools/list"]);
        names(&listed).contains(&"everything__get-sum").then_some(())
    });
    let sum = with(&[
        "--method",
        "tools/call",
        "--tool-name",
        "everything__get-sum",
        "--tool-arg",
        "a=19",
        "--tool-arg",
        "b=23",
    ]);
    let text = sum["content"][0]["text"].as_str().expect("a text");
    assert!(text.contains("42"), "{text}");
    let weather = with(&[
        "--method",
        "tools/call",
        "--tool-name",
        "everything__get-structured-content",
        "--tool-arg",
        "location=Chicago",
    ]);
    assert!(weather["structuredContent"]["temperature"].is_number(), "{weather}");
}

#[test]
fn the_inspector_lists_and_calls_over_http() {
    let house = House::new();
    let plugin = house.folder().join("plugin");
    copy(&checkout().join("examples/everything"), &plugin);
    let (_up, url) = house.up(&plugin);
    lists_and_calls(&house, &[&url, "--transport", "http"]);
}

#[test]
fn the_inspector_lists_and_calls_over_stdio() {
    let house = House::new();
    let plugin = house.folder().join("plugin");
    copy(&checkout().join("examples/everything"), &plugin);
    let command = house.stdio(&plugin);
    let environment = format!("OZ0_CACHE={}", cache().display());
    let path = format!("PATH={}", peers().path().display());
    let mut target: Vec<&str> = vec!["-e", &environment, "-e", &path];
    target.extend(command.iter().map(String::as_str));
    lists_and_calls(&house, &target);
}
