//! Quick fixes.

use std::path::Path;

use serde_json::{Value, json};

use super::editor::{Editor, place, uri};
use super::{MANIFEST, TWO, plugin};
use crate::support::{oz0, run};

/// The actions at a place.
fn actions(editor: &mut Editor, path: &Path, position: &Value, only: Option<&str>) -> Vec<Value> {
    let mut context = json!({ "diagnostics": [] });
    if let Some(only) = only {
        context["only"] = json!([only]);
    }
    let at = json!({
        "textDocument": { "uri": uri(path) },
        "range": { "start": position, "end": position },
        "context": context,
    });
    editor.ask("textDocument/codeAction", &at).as_array().unwrap().clone()
}

/// A text with an action's edits made, which are of one document and of one line each, from the last to the first.
fn made(text: &str, action: &Value, path: &Path, version: i64) -> String {
    let changes = action["edit"]["documentChanges"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{action}");
    let document = json!({ "uri": uri(path), "version": version });
    assert_eq!(changes[0]["textDocument"], document, "{action}");
    let mut text = text.to_owned();
    let offset = |text: &str, place: &Value| {
        let line = usize::try_from(place["line"].as_u64().unwrap()).unwrap();
        let units = usize::try_from(place["character"].as_u64().unwrap()).unwrap();
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let before: Vec<u16> = text[start..].encode_utf16().take(units).collect();
        start + String::from_utf16(&before).unwrap().len()
    };
    for edit in changes[0]["edits"].as_array().unwrap().iter().rev() {
        let from = offset(&text, &edit["range"]["start"]);
        let to = offset(&text, &edit["range"]["end"]);
        text.replace_range(from..to, edit["newText"].as_str().unwrap());
    }
    text
}

#[test]
fn a_quick_fix_mends_its_finding_and_nothing_else() {
    let folder = plugin(TWO);
    let manifest = folder.path().join(MANIFEST);
    let mut editor = Editor::meet(&[]);
    editor.look_at(&manifest, TWO);
    let at = place(TWO, "oz0_chat.post]  #", 3);
    let found = actions(&mut editor, &manifest, &at, Some("quickfix"));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0]["title"], "write `chat/oz0_chat.post`");
    assert_eq!(found[0]["isPreferred"], true);
    assert_eq!(found[0]["diagnostics"][0]["code"], "OZ-S019");
    let wanted = TWO.replace("[oz0_chat.post]  #", "[chat/oz0_chat.post]  #");
    assert_eq!(made(TWO, &found[0], &manifest, 1), wanted);
    editor.replace(&manifest, 2, &wanted);
    editor.findings(&manifest, 2);
    assert_eq!(actions(&mut editor, &manifest, &at, None), [] as [Value; 0]);
    // Where nothing is wrong there is nothing to mend.
    editor.replace(&manifest, 3, TWO);
    editor.findings(&manifest, 3);
    let elsewhere = place(TWO, "license", 0);
    assert_eq!(actions(&mut editor, &manifest, &elsewhere, Some("quickfix")), [] as [Value; 0]);
    assert_eq!(actions(&mut editor, &manifest, &at, Some("refactor")), [] as [Value; 0]);
}

#[test]
fn nothing_is_offered_for_a_text_that_was_not_checked() {
    let folder = plugin(TWO);
    let manifest = folder.path().join(MANIFEST);
    let mut editor = Editor::meet(&[]);
    editor.look_at(&manifest, TWO);
    let at = place(TWO, "oz0_chat.post]  #", 3);
    assert_ne!(actions(&mut editor, &manifest, &at, None), [] as [Value; 0]);
    // The request comes with the edit, long before the next check.
    editor.hold();
    editor.replace(&manifest, 2, &TWO.replace("Says hello.", "Says it."));
    assert_eq!(actions(&mut editor, &manifest, &at, None), [] as [Value; 0]);
    editor.findings(&manifest, 2);
    assert_ne!(actions(&mut editor, &manifest, &at, None), [] as [Value; 0]);
}

/// Three fixes, two of which are in each other's way, with wide characters before them.
fn many() -> String {
    TWO.replace(
        "    tools: [oz0_chat.post]",
        "    purpose: '\u{1f980}'\n    tools: [oz0_chat.post, oz0_chat.read]",
    )
    .replace("tools: [oz0_chat.post]}", "tools: [oz0_chat.post, oz0_chat.read]}")
}

#[test]
fn all_safe_fixes_of_a_file_are_those_of_the_command() {
    for text in [many(), many().replace('\n', "\r\n")] {
        let folder = plugin(&text);
        let manifest = folder.path().join(MANIFEST);
        let mut editor = Editor::meet(&[]);
        editor.look_at(&manifest, &text);
        let at = json!({ "line": 0, "character": 0 });
        for only in [None, Some("source"), Some("source.fixAll"), Some("source.fixAll.oz0")] {
            let found = actions(&mut editor, &manifest, &at, only);
            assert_eq!(found.len(), 1, "{only:?}: {found:#?}");
            assert_eq!(found[0]["kind"], "source.fixAll.oz0");
            let mended = made(&text, &found[0], &manifest, 1);
            let other = plugin(&text);
            run(&mut oz0(["plugin", "lint", "--fix", other.path().to_str().unwrap()]));
            let wanted = std::fs::read_to_string(other.path().join(MANIFEST)).unwrap();
            assert_ne!(wanted, text);
            assert_eq!(mended, wanted);
        }
        let none = actions(&mut editor, &manifest, &at, Some("source.fixAll.other"));
        assert_eq!(none, [] as [Value; 0]);
    }
}

#[test]
fn an_editor_that_knows_no_versions_gets_plain_changes() {
    let folder = plugin(TWO);
    let manifest = folder.path().join(MANIFEST);
    let (mut editor, _) = Editor::meet_with(&[], &json!({ "capabilities": {} }));
    editor.look_at(&manifest, TWO);
    let at = place(TWO, "oz0_chat.post]  #", 3);
    let found = actions(&mut editor, &manifest, &at, Some("quickfix"));
    let edits = &found[0]["edit"]["changes"][uri(&manifest)];
    assert_eq!(edits[0]["newText"], "chat/", "{found:#?}");
    assert!(found[0]["edit"].get("documentChanges").is_none());
}
