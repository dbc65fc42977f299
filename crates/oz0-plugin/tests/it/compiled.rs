//! The compiled manifest, and a plugin whose files stand in no folder.

use std::path::Path;
use std::sync::Arc;

use oz0_plugin::{LoadError, Mode, Plugin, PluginFile};

use super::{folder, load};

const USES: &str = "\
# What it is.
name: triage
version: 1.0.0
kind: capability
description: 'Sorts'   # quoted
license: MIT
tools: {own: {mcp: {command: [python3, s.py]}}}
agents:
  sorter: {description: Sorts., tools: [TOOL, own.look, oz.ask_user], model: {use: default}}
flows:
  nightly: {steps: [{call: STEP, with: {n: 1.0}}, {agent: AGENT}]}
hooks:
  - {on: before_call, match: HOOK, call: own.guard}
uses:
  github: {version: '>=1', tools: [gh.list, own.look], agents: [reader]}
  jira: {version: '>=1', tools: [j.*], agents: [both]}
  other: {version: '>=1', tools: [j.search], agents: [both]}
";

fn compiled(replacements: &[(&str, &str)]) -> String {
    let mut text = USES.to_owned();
    for (from, to) in replacements {
        text = text.replace(from, to);
    }
    let folder = folder(&[("oz0-plugin.yaml", &text), ("s.py", "")]);
    let plugin = load(&folder);
    let said: Vec<&str> = plugin.diagnostics().iter().map(|found| found.message.as_str()).collect();
    assert!(said.is_empty(), "{said:?}");
    plugin.compiled_manifest().unwrap()
}

#[test]
fn an_address_stands_by_its_bare_name_where_that_says_the_same() {
    let bare = compiled(&[
        ("TOOL", "gh.list"),
        ("STEP", "gh.list"),
        ("AGENT", "reader"),
        ("HOOK", "gh.li*"),
    ]);
    let whole = compiled(&[
        ("TOOL", "github/gh.list"),
        ("STEP", "github/gh.list"),
        ("AGENT", "github/reader"),
        ("HOOK", "github/gh.li*"),
    ]);
    assert_eq!(bare, whole);
    assert!(!bare.contains("github/"), "{bare}");
    insta::assert_snapshot!(bare);
}

#[test]
fn an_address_stays_whole_where_the_bare_name_says_another_thing() {
    // `own.look` is the plugin's own, `j.search` and `both` are of two plugins.
    let compiled = compiled(&[
        ("TOOL", "github/own.look, jira/j.search"),
        ("STEP", "other/j.search"),
        ("AGENT", "jira/both"),
        ("HOOK", "jira/j.*"),
    ]);
    for whole in ["github/own.look", "jira/j.search", "other/j.search", "jira/both", "jira/j.*"] {
        assert!(compiled.contains(whole), "{whole}: {compiled}");
    }
}

#[test]
fn it_reads_as_a_manifest_and_compiles_to_itself() {
    let compiled = compiled(&[
        ("TOOL", "github/gh.list"),
        ("STEP", "jira/j.search"),
        ("AGENT", "reader"),
        ("HOOK", "'*'"),
    ]);
    let folder = folder(&[("oz0-plugin.yaml", &compiled), ("s.py", "")]);
    let plugin = load(&folder);
    assert!(plugin.diagnostics().is_empty());
    assert_eq!(plugin.compiled_manifest().unwrap(), compiled);
}

fn file(path: &str, text: &str) -> PluginFile {
    PluginFile { path: path.to_owned(), mode: Mode::Plain, bytes: Arc::from(text.as_bytes()) }
}

#[test]
fn files_in_memory_are_the_plugin_that_they_are_in_a_folder() {
    let manifest = USES
        .replace("TOOL", "gh.list")
        .replace("STEP", "gh.list")
        .replace("AGENT", "reader")
        .replace("HOOK", "'*'");
    let files = [
        ("requirements.txt", "nonsense"),
        ("oz0-plugin.yaml", manifest.as_str()),
        ("s.py", ""),
        ("tests/test_a.py", ""),
        ("a/.oz0ignore", "*.tmp\n[\n"),
        ("a/b/c", "x"),
        ("evals/e.yaml", "agent: nobody\ncases: []\n"),
    ];
    let folder = folder(&files);
    let on_disk = load(&folder);
    let files = files.iter().map(|(path, text)| file(path, text)).collect();
    let in_memory = Plugin::from_files(Path::new("x.oz0"), files).unwrap();
    assert!(on_disk.is_folder() && !in_memory.is_folder());
    assert_eq!(in_memory.source_digest().unwrap(), on_disk.source_digest().unwrap());
    assert_eq!(in_memory.contract_tests(), on_disk.contract_tests());
    let said = |plugin: &Plugin| -> Vec<String> {
        plugin
            .diagnostics()
            .iter()
            .chain(&plugin.publishing_findings().unwrap())
            .map(|found| format!("{}: {}", found.span.file().path(), found.message))
            .collect()
    };
    assert_eq!(said(&in_memory), said(&on_disk));
    assert!(said(&in_memory).len() > 3);
    let problems = |plugin: &Plugin| -> Vec<String> {
        plugin.dependencies().unwrap().unusable.iter().map(ToString::to_string).collect()
    };
    assert_eq!(problems(&in_memory), problems(&on_disk));
}

#[test]
fn files_that_no_walk_finds_are_no_plugin() {
    let least = file("oz0-plugin.yaml", super::LEAST);
    for stray in [
        ".git/HEAD",
        "a/.DS_Store",
        "x.pyc",
        "team-1.0.0.oz0",
        ".oz0-writing-0123456789abcdef.tmp",
        "a/b.log",
    ] {
        let files = vec![least.clone(), file(stray, ""), file("a/.oz0ignore", "*.log\n")];
        let read = Plugin::from_files(Path::new("x.oz0"), files);
        let Err(LoadError::Stray { path }) = read else { panic!("{stray}: {read:?}") };
        assert_eq!(path, Path::new("x.oz0").join(stray));
    }
    // Without these two a plugin is none, or is never measured.
    let kept = vec![least, file("tools.listing.json", ""), file(".oz0ignore", "*.yaml\n*.json\n")];
    assert_eq!(Plugin::from_files(Path::new("x.oz0"), kept).unwrap().packed().len(), 3);
    assert!(matches!(
        Plugin::from_files(Path::new("x.oz0"), vec![file("a", "")]),
        Err(LoadError::NoManifest { .. })
    ));
}
