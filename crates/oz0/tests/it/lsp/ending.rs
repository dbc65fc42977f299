//! How a conversation begins and ends, and what it survives.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::editor::{Editor, uri};
use super::{MANIFEST, TWO, mended, plugin};

#[test]
fn an_exit_without_a_shutdown_is_a_failure_and_one_behind_it_is_none() {
    let editor = Editor::meet(&[]);
    assert_eq!(editor.leave(), Some(0));
    // Right behind it counts as well.
    let mut editor = Editor::meet(&[]);
    editor.post("shutdown", &Value::Null);
    editor.notify("exit", &Value::Null);
    assert_eq!(editor.ended(), Some(0));
    let mut editor = Editor::meet(&[]);
    editor.notify("exit", &Value::Null);
    assert_eq!(editor.ended(), Some(1));
    let mut editor = Editor::start(&[]);
    editor.notify("exit", &Value::Null);
    assert_eq!(editor.ended(), Some(1));
    let mut editor = Editor::meet(&[]);
    editor.hang_up();
    assert_eq!(editor.ended(), Some(1));
}

#[test]
fn requests_at_the_wrong_time_are_refused() {
    let mut editor = Editor::start(&[]);
    let hover = json!({
        "textDocument": { "uri": "file:///nowhere/oz0-plugin.yaml" },
        "position": { "line": 0, "character": 0 },
    });
    let refused = |answer: &Value| answer["error"]["code"].as_i64();
    assert_eq!(refused(&editor.request("textDocument/hover", &hover)), Some(-32002));
    editor.request("initialize", &json!({ "processId": null, "capabilities": {} }));
    assert_eq!(refused(&editor.request("textDocument/nonsense", &hover)), Some(-32601));
    assert_eq!(refused(&editor.request("textDocument/hover", &json!({}))), Some(-32602));
    editor.ask("shutdown", &Value::Null);
    assert_eq!(refused(&editor.request("textDocument/hover", &hover)), Some(-32600));
    editor.notify("exit", &Value::Null);
    assert_eq!(editor.ended(), Some(0));
}

#[test]
fn what_is_no_message_ends_the_server_with_a_failure() {
    for bytes in [
        &b"Content-Length: 5\r\n\r\nhello"[..],
        b"Content-Length: x\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"Content-Length: 3\r\n\r\n\xff\xfe\xfd",
    ] {
        let mut editor = Editor::meet(&[]);
        editor.send_raw(bytes);
        editor.hang_up();
        assert_eq!(editor.ended(), Some(1), "{:?}", String::from_utf8_lossy(bytes));
    }
    // A length that nothing follows costs nothing.
    let mut editor = Editor::meet(&[]);
    editor.send_raw(b"Content-Length: 18446744073709551615\r\n\r\n{");
    editor.hang_up();
    assert_eq!(editor.ended(), Some(1));
}

#[test]
fn the_end_of_the_process_that_started_it_ends_the_server() {
    let mut parent = Command::new("sleep").arg("600").stdout(Stdio::null()).spawn().unwrap();
    let (mut editor, _) = Editor::meet_with(&[], &json!({ "processId": parent.id() }));
    parent.kill().unwrap();
    parent.wait().unwrap();
    // Its standard input is still open.
    assert_eq!(editor.ended(), Some(1));
    // One that has ended before.
    let mut editor = Editor::start(&[]);
    editor.post("initialize", &json!({ "processId": parent.id(), "capabilities": {} }));
    assert_eq!(editor.ended(), Some(1));
}

#[test]
fn addresses_that_lead_nowhere_are_nobodys() {
    let folder = plugin(TWO);
    let root = folder.path();
    let mut editor = Editor::meet(&[]);
    let climbing = format!("file://{}/a/..%2f{MANIFEST}", root.display());
    let addresses = [
        "untitled:Untitled-1".to_owned(),
        "https://example.com/oz0-plugin.yaml".to_owned(),
        format!("file://example.com{}/{MANIFEST}", root.display()),
        format!("file://{}/{MANIFEST}%00", root.display()),
        format!("file://{}/{}", root.display(), "x/".repeat(20_000)),
        "file:///".to_owned(),
        "file:oz0-plugin.yaml".to_owned(),
        "vscode-notebook-cell:///x#y".to_owned(),
        "%%%".to_owned(),
        String::new(),
        climbing,
    ];
    for uri in &addresses {
        editor.open_as(uri, 1, TWO);
        let at = json!({
            "textDocument": { "uri": uri },
            "position": { "line": 0, "character": 0 },
            "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } },
            "context": { "diagnostics": [] },
        });
        for method in ["hover", "completion", "codeAction"] {
            let answer = editor.request(&format!("textDocument/{method}"), &at);
            let nothing = answer["result"].is_null() || answer["result"] == json!([]);
            assert!(nothing, "{uri}: {answer}");
        }
    }
    // An address that says the same in other letters is the same file, and stays as the editor wrote it.
    let odd = format!("file://{}/%6fz0-plugin.yaml", root.display());
    editor.open_as(&odd, 7, TWO);
    editor.until("the odd address", |editor| editor.shown.contains_key(&odd));
    assert!(editor.shown.keys().all(|uri| *uri == odd), "{:#?}", editor.shown.keys());
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn a_folder_that_disappears_takes_its_findings_along() {
    let folder = plugin(TWO);
    let root = folder.path().to_owned();
    let manifest = root.join(MANIFEST);
    let mut editor = Editor::meet(&[]);
    editor.look_at(&manifest, TWO);
    editor.until_codes(&manifest, &["OZ-S005", "OZ-S019"]);
    drop(folder);
    editor.changed_on_disk(&manifest);
    editor.until_codes(&manifest, &[]);
    assert!(editor.messages.is_empty(), "{:?}", editor.messages);
    fs::create_dir(&root).unwrap();
    editor.replace(&manifest, 2, TWO);
    let found = editor.findings(&manifest, 2);
    fs::remove_dir(&root).unwrap();
    assert!(!found.is_empty());
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn a_plugin_that_cannot_be_read_is_said_once_and_never_passed() {
    let folder = plugin(TWO);
    let root = folder.path();
    let manifest = root.join(MANIFEST);
    let mut editor = Editor::meet(&[]);
    editor.look_at(&manifest, TWO);
    editor.until_codes(&manifest, &["OZ-S005", "OZ-S019"]);
    fs::rename(&manifest, root.join("real.yaml")).unwrap();
    std::os::unix::fs::symlink("real.yaml", &manifest).unwrap();
    for _ in 0..3 {
        editor.changed_on_disk(&manifest);
    }
    editor.until("it is said", |editor| !editor.messages.is_empty());
    editor.until_codes(&manifest, &[]);
    assert!(editor.messages[0].contains("is a link, not a file"), "{:?}", editor.messages);
    fs::remove_file(&manifest).unwrap();
    fs::rename(root.join("real.yaml"), &manifest).unwrap();
    editor.changed_on_disk(&manifest);
    editor.until_codes(&manifest, &["OZ-S005", "OZ-S019"]);
    assert_eq!(editor.messages.len(), 1, "{:?}", editor.messages);
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn a_document_that_is_too_long_leaves_the_file_to_count() {
    let folder = plugin(&mended());
    let manifest = folder.path().join(MANIFEST);
    let mut editor = Editor::meet(&[]);
    // More than a manifest may have is a finding of the text in the editor.
    let long = format!("{}# {}\n", mended(), "x".repeat(2 * 1024 * 1024));
    let found = editor.look_at(&manifest, &long);
    assert_eq!(found[0]["code"], "OZ-L001", "{found:#?}");
    // More than is followed is not, and an edit of it neither; the text is followed again once it is sent as a whole.
    editor.replace(&manifest, 2, &"y".repeat(17 * 1024 * 1024));
    assert_eq!(editor.findings(&manifest, 2), [] as [Value; 0]);
    let start = json!({ "line": 0, "character": 0 });
    let change = json!([{ "range": { "start": start, "end": start }, "text": "z" }]);
    editor.change(&manifest, 3, &change);
    assert_eq!(editor.findings(&manifest, 3), [] as [Value; 0]);
    editor.replace(&manifest, 4, TWO);
    assert_eq!(editor.findings(&manifest, 4).len(), 2);
    let asked = json!({ "textDocument": { "uri": uri(&manifest) }, "position": start });
    editor.ask("textDocument/hover", &asked);
    assert_eq!(editor.leave(), Some(0));
}
