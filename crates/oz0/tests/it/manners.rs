//! How the command behaves: help, exit codes, streams, colours, JSON.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{OZ0, checkout, folder, oz0, run};

#[test]
fn every_command_has_help_with_an_example() {
    for command in [
        &["plugin", "test"][..],
        &["plugin", "inspect"],
        &["plugin", "pack"],
        &["plugin", "lint"],
        &["plugin", "explain"],
        &["plugin", "schema"],
        &["plugin", "list"],
        &["plugin", "approve-tools"],
        &["plugin", "remove"],
        &["catalog"],
        &["call"],
        &["audit"],
        &["audit", "verify"],
        &["token"],
        &["token", "create"],
        &["token", "list"],
        &["token", "revoke"],
        &["login"],
        &["node", "list"],
        &["completions"],
    ] {
        let said = run(oz0(command).arg("--help"));
        assert_eq!(said.code, Some(0), "{}", said.all());
        assert!(said.stdout.contains("Example"), "{command:?}\n{}", said.all());
        assert!(said.stderr.is_empty());
    }
}

#[test]
fn wrong_usage_ends_with_2() {
    for arguments in [
        &["plugin"][..],
        &["plugin", "tset"],
        &["plugin", "test", "a", "b"],
        &["--color", "pink", "plugin", "schema"],
    ] {
        assert_eq!(run(&mut oz0(arguments)).code, Some(2), "{arguments:?}");
    }
}

#[test]
fn what_cannot_be_read_ends_with_3_and_says_what_to_do() {
    let empty = folder(&[]);
    let said = run(oz0(["plugin", "inspect"]).arg(empty.path().join("nowhere")));
    assert_eq!(said.code, Some(3), "{}", said.all());
    let said = run(oz0(["plugin", "test"]).arg(empty.path()));
    assert_eq!(said.code, Some(3), "{}", said.all());
    assert!(said.stderr.contains("oz0-plugin.yaml"), "{}", said.all());
}

#[test]
fn ten_mistakes_in_a_manifest_are_ten_findings_in_one_run() {
    let manifest = "\
nmae: x
version: one
kind: connector
description: 5
license: MIT
tools:
  oz: {mcp: {command: [a]}}
  a: {mcp: {command: []}}
  b: {url: not-a-url}
  c: {package: gem:x==1}
  d: {mcp: {command: [a]}, url: https://example.com}
egress: api.example.com
polcy: []
agents:
  x: {description: d, tools: [nobody.f], harness: none}
";
    let plugin = folder(&[("oz0-plugin.yaml", manifest)]);
    let said = run(oz0(["plugin", "inspect", "--json"]).arg(plugin.path()));
    assert_eq!(said.code, Some(1), "{}", said.all());
    let report: Value = serde_json::from_str(&said.stdout).expect("JSON on standard output");
    let problems = report["problems"].as_array().expect("a list");
    assert!(problems.len() >= 12, "{}", said.all());
    assert!(problems.iter().all(|problem| problem["line"].as_u64() > Some(0)));
    assert!(said.stderr.contains("did you mean"), "{}", said.all());
}

#[test]
fn colour_is_for_terminals_unless_it_is_asked_for() {
    let plugin = folder(&[("oz0-plugin.yaml", "name: [")]);
    let colourless = run(oz0(["plugin", "inspect"]).arg(plugin.path()).env_remove("NO_COLOR"));
    assert!(!colourless.stderr.contains('\u{1b}'), "{}", colourless.all());
    let coloured = run(oz0(["plugin", "inspect", "--color", "always"])
        .arg(plugin.path())
        .env_remove("NO_COLOR"));
    assert!(coloured.stderr.contains('\u{1b}'), "{}", coloured.all());
    let by_variable = run(oz0(["plugin", "inspect"]).arg(plugin.path()).env("OZ0_COLOR", "always"));
    assert!(by_variable.stderr.contains('\u{1b}'), "{}", by_variable.all());
}

#[test]
fn settings_come_from_flags_then_variables_then_the_file() {
    let plugin = folder(&[
        ("oz0-plugin.yaml", "name: ["),
        ("config/oz0/config.toml", "color = \"always\"\n"),
    ]);
    let with_file = |command: &mut Command| {
        run(command.arg(plugin.path()).env("XDG_CONFIG_HOME", plugin.path().join("config")))
    };
    assert!(with_file(&mut oz0(["plugin", "inspect"])).stderr.contains('\u{1b}'));
    let said = with_file(oz0(["plugin", "inspect"]).env("OZ0_COLOR", "never"));
    assert!(!said.stderr.contains('\u{1b}'));
    let said = with_file(oz0(["plugin", "inspect", "--color", "always"]).env("OZ0_COLOR", "never"));
    assert!(said.stderr.contains('\u{1b}'));
    crate::support::write(plugin.path(), "config/oz0/config.toml", "colour = \"always\"\n");
    let said = with_file(&mut oz0(["plugin", "inspect"]));
    assert_eq!(said.code, Some(2), "{}", said.all());
    assert!(
        said.stderr.contains("config.toml") && said.stderr.contains("colour"),
        "{}",
        said.all()
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(OZ0)
        .args(["plugin", "schema"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn inspect_tells_in_json_what_it_tells_in_words() {
    let said = run(oz0(["plugin", "inspect", "--json"]).arg(checkout().join("examples/team")));
    assert_eq!(said.code, Some(0), "{}", said.all());
    let report: Value = serde_json::from_str(&said.stdout).expect("JSON on standard output");
    assert_eq!(report["format"], "oz0.inspect.v1");
    assert_eq!(report["listing"], "fresh");
    let words = run(oz0(["plugin", "inspect"]).arg(checkout().join("examples/team")));
    for function in report["functions"].as_array().expect("a list") {
        for member in ["name", "hash"] {
            let text = function[member].as_str().expect("a text");
            assert!(words.stdout.contains(text), "{text}\n{}", words.all());
        }
    }
}

#[test]
fn an_empty_variable_counts_as_unset_and_a_wrong_one_is_named() {
    let plugin = folder(&[("oz0-plugin.yaml", "name: [")]);
    let said = run(oz0(["plugin", "inspect"])
        .arg(plugin.path())
        .env("OZ0_COLOR", "")
        .env("OZ0_CACHE", ""));
    assert_eq!(said.code, Some(1), "{}", said.all());
    let said = run(oz0(["plugin", "inspect"]).arg(plugin.path()).env("OZ0_COLOR", "pink"));
    assert_eq!(said.code, Some(2), "{}", said.all());
    assert!(said.stderr.contains("OZ0_COLOR is `pink`"), "{}", said.all());
}

#[test]
fn a_folder_of_the_file_is_below_the_home_folder_or_absolute() {
    let home = folder(&[(".config/oz0/config.toml", "cache = \"~/kept\"\n")]);
    let said = run(oz0(["plugin", "test"])
        .arg(checkout().join("examples/weather-remote"))
        .args(["--check", "--no-contract-tests"])
        .env("HOME", home.path())
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("OZ0_CACHE"));
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(home.path().join("kept").is_dir());
    crate::support::write(home.path(), ".config/oz0/config.toml", "cache = \"kept\"\n");
    let said =
        run(oz0(["plugin", "schema"]).env("HOME", home.path()).env_remove("XDG_CONFIG_HOME"));
    assert_eq!(said.code, Some(2), "{}", said.all());
}

#[test]
fn what_a_plugin_says_never_moves_a_terminal() {
    let manifest = "name: a\nversion: 1.0.0\ndescription: \"x\\e[2J\\u202ey\"\nlicense: MIT\negress: [\"a\\u009b\"]\n";
    let plugin = folder(&[("oz0-plugin.yaml", manifest)]);
    for arguments in [&["plugin", "inspect"][..], &["plugin", "inspect", "--json"]] {
        let said = run(oz0(arguments).arg(plugin.path()));
        for text in [&said.stdout, &said.stderr] {
            assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{9b}']), "{}", said.all());
        }
    }
}
