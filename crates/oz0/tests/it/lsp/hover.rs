//! What hovering says.

use std::path::Path;

use serde_json::{Value, json};

use super::editor::{Editor, place, uri};
use super::{MANIFEST, TWO, plugin};
use crate::support::{oz0, run, write};

fn hover(editor: &mut Editor, path: &Path, position: &Value) -> Value {
    let at = json!({ "textDocument": { "uri": uri(path) }, "position": position });
    editor.ask("textDocument/hover", &at)
}

fn page(code: &str) -> String {
    run(&mut oz0(["plugin", "explain", code])).stdout.trim_end().to_owned()
}

#[test]
fn a_finding_says_what_is_wrong_and_shows_the_rules_page() {
    let folder = plugin(TWO);
    let manifest = folder.path().join(MANIFEST);
    let mut editor = Editor::meet(&[]);
    editor.look_at(&manifest, TWO);
    let said = hover(&mut editor, &manifest, &place(TWO, "'*.example", 4));
    let text = said["contents"]["value"].as_str().unwrap();
    assert_eq!(said["contents"]["kind"], "markdown");
    assert!(text.starts_with("**warning** [OZ-S005](https://oz0.ai/"), "{text}");
    assert!(text.trim_end().ends_with(&page("OZ-S005")), "{text}");
    assert_eq!(said["range"]["start"], place(TWO, "'*.example", 0));
    // An editor that reads no Markdown gets none of it around the plugin's own texts.
    let (mut editor, _) = Editor::meet_with(&[], &json!({ "capabilities": {} }));
    editor.look_at(&manifest, TWO);
    let said = hover(&mut editor, &manifest, &place(TWO, "'*.example", 4));
    assert_eq!(said["contents"]["kind"], "plaintext");
    assert!(said["contents"]["value"].as_str().unwrap().starts_with("warning OZ-S005"));
}

#[test]
fn a_code_in_a_comment_shows_its_page() {
    let text = TWO.replace("# says hello", "# see OZ-S003, OZ-S9 and OZ-S020.");
    let folder = plugin(&text);
    let manifest = folder.path().join(MANIFEST);
    let mut editor = Editor::meet(&[]);
    editor.look_at(&manifest, &text);
    for code in ["OZ-S003", "OZ-S020"] {
        for after in [0, 4, code.len()] {
            let said = hover(&mut editor, &manifest, &place(&text, code, after));
            let shown = said["contents"]["value"].as_str().unwrap_or_default();
            assert!(shown.contains(&page(code)), "{code}+{after}: {said}");
        }
    }
    assert_eq!(hover(&mut editor, &manifest, &place(&text, "OZ-S9 ", 2)), Value::Null);
}

#[test]
fn a_code_of_the_loaders_shows_its_page_on_its_finding_and_in_a_comment() {
    let text = TWO.replace("# says hello", "# see OZ-L020").replace("egress:", "egres:");
    let folder = plugin(&text);
    let manifest = folder.path().join(MANIFEST);
    let mut editor = Editor::meet(&[]);
    editor.look_at(&manifest, &text);
    for (at, code) in [("egres:", "OZ-L001"), ("OZ-L020", "OZ-L020")] {
        let said = hover(&mut editor, &manifest, &place(&text, at, 2));
        let shown = said["contents"]["value"].as_str().unwrap_or_default();
        assert!(shown.trim_end().ends_with(&page(code)), "{code}: {said}");
    }
}

#[test]
fn a_key_says_what_it_is_for() {
    let folder = plugin(TWO);
    let manifest = folder.path().join(MANIFEST);
    let mut editor = Editor::meet(&[]);
    editor.look_at(&manifest, TWO);
    for (key, wanted) in [
        ("license", "The licence, as an SPDX expression."),
        ("    tools", "The functions it may call: `<tool>.<function>`"),
        ("greeter", "An agent that the plugin brings."),
        ("uses", "The parts of other plugins that this one uses"),
        ("version: '>", "version"),
    ] {
        let after = key.len() - key.trim_start().len() + 1;
        let said = hover(&mut editor, &manifest, &place(TWO, key, after));
        let shown = said["contents"]["value"].as_str().unwrap_or_default();
        assert!(shown.contains(wanted), "{key}: {said}");
    }
    // A document with mistakes still has its keys, and a value is no key.
    editor.replace(&manifest, 2, &format!("{TWO}flows: [\n"));
    editor.findings(&manifest, 2);
    let said = hover(&mut editor, &manifest, &place(TWO, "license", 1));
    assert!(said["contents"]["value"].as_str().unwrap().contains("SPDX"), "{said}");
    assert_eq!(hover(&mut editor, &manifest, &place(TWO, "Says hello", 1)), Value::Null);
}

#[test]
fn a_text_of_the_plugin_is_text_and_no_markdown() {
    let text = TWO.replace("kind: capability", "kind: \"![x](https://e.example/a.png)\\u202e\"");
    let folder = plugin(&text);
    let manifest = folder.path().join(MANIFEST);
    let mut editor = Editor::meet(&[]);
    let found = editor.look_at(&manifest, &text);
    assert!(!json!(found).to_string().contains('\u{202e}'), "{found:#?}");
    let said = hover(&mut editor, &manifest, &place(&text, "![x]", 1));
    let shown = said["contents"]["value"].as_str().unwrap();
    let finding = shown.split("\n\n---\n\n").next().unwrap();
    assert!(finding.contains("OZ-S001") && !finding.contains("![x]("), "{finding}");
    assert!(!shown.contains('\u{202e}'), "{shown}");
}

#[test]
fn a_file_of_no_plugin_says_nothing() {
    let folder = plugin(TWO);
    let other = tempfile::tempdir().unwrap();
    write(other.path(), "notes.yaml", "license: x # OZ-S003\n");
    let mut editor = Editor::meet(&[]);
    let path = other.path().join("notes.yaml");
    editor.open(&path, "license: x # OZ-S003\n");
    editor.look_at(&folder.path().join(MANIFEST), TWO);
    for character in [1, 14] {
        let at = json!({ "line": 0, "character": character });
        assert_eq!(hover(&mut editor, &path, &at), Value::Null);
    }
}
