//! What is proposed while a manifest is written.

use std::path::Path;

use oz0_listing::file::ListingFile;
use oz0_listing::{Digest, ToolId, read_tool};
use serde_json::{Value, json};

use super::editor::{Editor, uri};
use super::{MANIFEST, mended, plugin};
use crate::support::write;

/// The items at the `|` of a text, in their order: what is shown, and the text with it written.
fn proposed(editor: &mut Editor, path: &Path, version: i64, text: &str) -> Vec<(String, String)> {
    let at = text.find('|').expect("the cursor is a `|`");
    let text = text.replacen('|', "", 1);
    editor.replace(path, version, &text);
    let line = text[..at].matches('\n').count();
    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let character = text[start..at].encode_utf16().count();
    let parameters = json!({
        "textDocument": { "uri": uri(path) },
        "position": { "line": line, "character": character },
    });
    let items = editor.ask("textDocument/completion", &parameters);
    let mut items = items.as_array().cloned().unwrap_or_default();
    items.sort_by_key(|item| item["sortText"].as_str().unwrap().to_owned());
    let written = |item: &Value| {
        let edit = &item["textEdit"];
        assert_eq!(edit["range"]["start"]["line"], line, "{item}");
        let byte = |end: &str| {
            let units = usize::try_from(edit["range"][end]["character"].as_u64().unwrap()).unwrap();
            let before: Vec<u16> = text[start..].encode_utf16().take(units).collect();
            start + String::from_utf16(&before).unwrap().len()
        };
        let mut text = text.clone();
        text.replace_range(byte("start")..byte("end"), edit["newText"].as_str().unwrap());
        (item["label"].as_str().unwrap().to_owned(), text)
    };
    items.iter().map(written).collect()
}

/// A manifest with everything that names can be of.
const FULL: &str = "\
name: team
version: 1.0.0
description: Says hello.
license: Apache-2.0
kind: capability
tools:
  desk:
    mcp: {command: [python3, server.py]}
    connection: account
connections:
  account: {prefix: DESK, secrets: [DESK_TOKEN]}
event_sources:
  tickets: {webhook: tickets, connection: account}
agents:
  greeter:
    tools: [desk.read]
    instructions: agents/greeter.md
uses:
  chat: {version: '>=1, <2', tools: [room.post, wall.*], agents: [writer]}
";

fn full() -> (tempfile::TempDir, Editor) {
    let folder = plugin(FULL);
    let root = folder.path();
    write(root, "server.py", "");
    write(root, "agents/greeter.md", "# Greet\n");
    let tool = ToolId::try_from("desk").unwrap();
    let raw = [
        r#"{"name": "read", "description": "Reads a *ticket*.", "inputSchema": {"type": "object"}}"#,
        r#"{"name": "close", "inputSchema": {"type": "object"}}"#,
    ];
    let listed = read_tool(&tool, &raw, &std::collections::BTreeMap::new());
    let file = ListingFile {
        source_digest: Digest::of(b"whatever"),
        functions: listed.functions,
        left_out: Vec::new(),
    };
    write(root, "tools.listing.json", &file.write());
    let mut editor = Editor::meet(&[]);
    editor.look_at(&root.join(MANIFEST), FULL);
    (folder, editor)
}

fn labels(found: &[(String, String)]) -> Vec<&str> {
    found.iter().map(|(label, _)| label.as_str()).collect()
}

#[test]
fn keys_are_those_of_the_place_that_are_not_there_yet() {
    let (folder, mut editor) = full();
    let manifest = folder.path().join(MANIFEST);
    let cases: &[(&str, &[&str], &[&str])] = &[
        // An empty document: what a manifest must have comes first.
        ("|", &["description", "license", "name", "version", "agents"], &[]),
        ("name: team\n|", &["description", "license", "version", "agents"], &["name"]),
        ("name: team\nver|", &["version", "kind"], &["name"]),
        ("agents:\n  greeter:\n    |", &["description", "tools", "tool_loading"], &["mcp"]),
        ("agents:\n  greeter:\n    to|", &["tools"], &[]),
        (
            "agents:\n  greeter:\n    harness: x\n    |\n  other:\n    tools: []\n",
            &["tools"],
            &["harness"],
        ),
        ("agents:\n  greeter: {to|", &["tools", "model"], &[]),
        ("agents: {greeter: {tools: [], |}}", &["model"], &["tools"]),
        ("hooks:\n  - |", &["call", "on", "match"], &[]),
        ("hooks:\n  - on: before_call\n    |", &["call", "match"], &["on"]),
        (
            "tools:\n  desk:\n    overrides:\n      read:\n        annotations:\n          read|",
            &["readOnlyHint"],
            &[],
        ),
        ("requires:\n  models:\n    |", &["gateway", "sampling"], &[]),
        // Broken elsewhere, above and below.
        ("policy: [\nagents:\n  greeter:\n    |\nflows: {{\n", &["tools"], &[]),
        ("name: 'a\u{1f980}'\r\nagents:\r\n  grüß:\r\n    |\r\n", &["tools"], &[]),
    ];
    for (version, (text, wanted, unwanted)) in (2..).zip(cases) {
        let found = proposed(&mut editor, &manifest, version, text);
        let labels = labels(&found);
        for word in *wanted {
            assert!(labels.contains(word), "{text:?} proposes {word}: {labels:?}");
        }
        for word in *unwanted {
            assert!(!labels.contains(word), "{text:?} does not propose {word}: {labels:?}");
        }
    }
    let first = labels(&proposed(&mut editor, &manifest, 90, "|")).len();
    assert!(first > 15, "every key of a manifest is proposed");
}

#[test]
fn a_key_is_written_with_its_colon_once() {
    let (folder, mut editor) = full();
    let manifest = folder.path().join(MANIFEST);
    let written = |editor: &mut Editor, version, text: &str, label: &str| {
        let found = proposed(editor, &manifest, version, text);
        let (_, text) = found.into_iter().find(|(found, _)| found == label).unwrap();
        text
    };
    assert_eq!(written(&mut editor, 2, "na|", "name"), "name: ");
    assert_eq!(written(&mut editor, 3, "na|m: team\n", "name"), "name: team\n");
    assert_eq!(written(&mut editor, 4, "agen|", "agents"), "agents:");
    let flow = "agents: {greeter: {to|}}";
    assert_eq!(written(&mut editor, 5, flow, "tools"), "agents: {greeter: {tools: }}");
    let tool = "tools:\n  desk:\n    overrides:\n      |";
    let wanted = "tools:\n  desk:\n    overrides:\n      close:";
    assert_eq!(written(&mut editor, 6, tool, "close"), wanted);
}

#[test]
fn words_and_names_are_those_that_may_stand_there() {
    let (folder, mut editor) = full();
    let manifest = folder.path().join(MANIFEST);
    let functions = ["desk.close", "desk.read"];
    let grants = ["desk.close", "desk.read", "desk.*", "chat/room.post", "chat/wall.*"];
    let with = |part: &str| format!("{FULL}{part}");
    let cases: Vec<(String, &[&str])> = vec![
        (FULL.replace("kind: capability", "kind: |"), &["connector", "capability", "policy"]),
        (FULL.replace("kind: capability", "kind: pol|icy"), &["connector", "capability", "policy"]),
        (FULL.replace("tools: [desk.read]", "tool_loading: |"), &["eager", "lazy"]),
        (FULL.replace("[desk.read]", "[de|]"), &grants),
        (FULL.replace("[desk.read]", "[desk.read, |"), &grants),
        (FULL.replace("[desk.read]", "\n      - |"), &grants),
        (FULL.replace("[desk.read]", "\n      - desk.read\n      - ch|"), &grants),
        (FULL.replace("[desk.read]", "['|']"), &grants),
        (
            FULL.replace("instructions: agents/greeter.md", "instructions: ag|"),
            &["README.md", "agents/greeter.md"],
        ),
        (FULL.replace("    connection: account\n", "    connection: |\n"), &["account"]),
        (
            FULL.replace("    connection: account\n", "    requires_approval: [|]\n"),
            &["close", "read"],
        ),
        (with("channels:\n  a: {send: |}\n"), &functions),
        (
            with("hooks:\n  - on: |\n"),
            &["before_call", "after_call", "before_model", "after_model"],
        ),
        (with("hooks:\n  - {on: before_call, call: desk.|}\n"), &functions),
        (with("policy:\n  - match: |\n"), &["desk.close", "desk.read", "desk.*"]),
        (
            with("policy:\n  - {match: desk.read, action: |}\n"),
            &["allow", "ask", "refuse", "judge"],
        ),
        (with("flows:\n  f:\n    trigger: {event: |}\n"), &["tickets."]),
        (with("flows:\n  f:\n    steps:\n      - agent: |\n"), &["greeter", "chat/writer"]),
        (
            with("flows:\n  f:\n    steps:\n      - call: |\n"),
            &["desk.close", "desk.read", "chat/room.post"],
        ),
        (
            FULL.replace("    connection: account\n", "    labels: {untrusted: |}\n"),
            &["true", "false"],
        ),
        // Nothing is known of what stands here.
        (FULL.replace("kind: capability", "# kind: |"), &[]),
        (FULL.replace("description: Says hello.", "description: Says |"), &[]),
        (FULL.replace("description: Says hello.", "description: >\n  |"), &[]),
        (FULL.replace("version: 1.0.0", "version: |"), &[]),
        (with("nonsense:\n  - |\n"), &[]),
    ];
    for (version, (text, wanted)) in (2..).zip(cases) {
        let found = proposed(&mut editor, &manifest, version, &text);
        assert_eq!(labels(&found), wanted, "{text}");
    }
    let text = FULL.replace("[desk.read]", "[desk.read, ch|, desk.close]");
    let found = proposed(&mut editor, &manifest, 100, &text);
    let (_, written) = found.iter().find(|(label, _)| label == "chat/wall.*").unwrap();
    assert_eq!(*written, text.replace("ch|", "chat/wall.*"));
}

#[test]
fn what_a_server_says_of_a_function_is_shown_as_text() {
    let (folder, mut editor) = full();
    let manifest = folder.path().join(MANIFEST);
    let at = super::editor::place(FULL, "desk.read]", 4);
    let parameters = json!({ "textDocument": { "uri": uri(&manifest) }, "position": at });
    let items = editor.ask("textDocument/completion", &parameters);
    let read = items.as_array().unwrap().iter().find(|item| item["label"] == "desk.read").unwrap();
    assert_eq!(read["documentation"], "Reads a *ticket*.");
}

#[test]
fn only_the_manifest_of_a_plugin_is_completed() {
    let folder = plugin(&mended());
    let root = folder.path();
    let mut editor = Editor::meet(&[]);
    editor.look_at(&root.join(MANIFEST), &mended());
    for path in ["notes.yaml", "sub/oz0-plugin.yml"] {
        editor.open(&root.join(path), "na\n");
        let parameters = json!({
            "textDocument": { "uri": uri(&root.join(path)) },
            "position": { "line": 0, "character": 2 },
        });
        assert_eq!(editor.ask("textDocument/completion", &parameters), Value::Null, "{path}");
    }
}
