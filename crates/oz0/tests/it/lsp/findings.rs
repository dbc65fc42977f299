//! Which findings are shown, of which text, and when they go.

use std::fs;

use serde_json::{Value, json};

use super::editor::{Editor, codes, place, uri};
use super::{MANIFEST, TWO, add_the_rest, mended, plugin};
use crate::support::{folder, write};

#[test]
fn the_text_in_the_editor_counts_and_not_the_one_on_the_disk() {
    let folder = plugin(&mended());
    let manifest = folder.path().join(MANIFEST);
    let mut editor = Editor::meet(&[]);
    let found = editor.look_at(&manifest, TWO);
    assert_eq!(codes(&json!(found)), ["OZ-S005", "OZ-S019"]);
    assert_eq!(found[0]["source"], "oz0");
    assert_eq!(found[0]["severity"], 2);
    assert_eq!(found[0]["range"]["start"], place(TWO, "'*.example", 0));
    assert_eq!(found[0]["codeDescription"]["href"], "https://oz0.ai/docs/reference/rules/OZ-S005/");
    editor.replace(&manifest, 2, &mended());
    assert_eq!(editor.findings(&manifest, 2), [] as [Value; 0]);
    assert_eq!(fs::read_to_string(&manifest).unwrap(), mended(), "nothing is written");
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn changes_of_a_part_add_up_in_the_order_in_which_they_are_made() {
    let folder = plugin(TWO);
    let manifest = folder.path().join(MANIFEST);
    let mut editor = Editor::meet(&[]);
    editor.look_at(&manifest, TWO);
    let range = |text: &str, from: (&str, usize), to: (&str, usize)| json!({ "start": place(text, from.0, from.1), "end": place(text, to.0, to.1) });
    // A wide character is put before the wildcard on its line, then the wildcard goes.
    let first = TWO.replace("egress: [", "egress: [ # \u{1f980}\u{1f980}\n  ");
    let changes = json!([
        { "range": range(TWO, ("egress: [", 9), ("egress: [", 9)), "text": " # \u{1f980}\u{1f980}\n  " },
        { "range": range(&first, ("'*.", 1), ("'*.", 3)), "text": "" },
    ]);
    editor.change(&manifest, 2, &changes);
    assert_eq!(codes(&json!(editor.findings(&manifest, 2))), ["OZ-S019"]);
    // What stands behind the wide characters of one line is replaced up to another line.
    let second = first.replace("'*.example", "'example");
    let changes = json!([
        { "range": range(&second, ("\u{1f980}\n", 1), ("'example", 0)), "text": "\n '*." },
    ]);
    editor.change(&manifest, 3, &changes);
    let third = second.replace("\u{1f980}\n  'example", "\u{1f980}\n '*.'example");
    let found = editor.findings(&manifest, 3);
    assert!(third.contains("'*.'example"));
    assert_eq!(found[0]["code"], "OZ-L001", "{found:#?}");
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn only_the_last_of_many_quick_edits_is_told() {
    let folder = plugin(&mended());
    let manifest = folder.path().join(MANIFEST);
    let mut editor = Editor::meet(&[]);
    editor.look_at(&manifest, &mended());
    for version in 2..40 {
        let text = if version % 2 == 0 { TWO.to_owned() } else { mended() };
        editor.replace(&manifest, version, &text);
    }
    assert_eq!(editor.findings(&manifest, 39), [] as [Value; 0]);
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn findings_in_other_files_are_shown_there_and_go_with_the_mistake() {
    let folder = plugin(&mended());
    let root = folder.path();
    let (manifest, eval, ignore) =
        (root.join(MANIFEST), root.join("evals/first.yaml"), root.join("sub/.oz0ignore"));
    write(root, "evals/first.yaml", "agent: nobody\ncases: []\n");
    write(root, "sub/.oz0ignore", "[z-a]\n");
    let mut editor = Editor::meet(&[]);
    editor.look_at(&manifest, &mended());
    editor.until("both files", |editor| {
        [&eval, &ignore].into_iter().all(|path| {
            editor
                .shown
                .get(&uri(path))
                .is_some_and(|shown| codes(&shown["diagnostics"])[0].starts_with("OZ-L00"))
        })
    });
    // One is mended in the editor alone, the other on the disk.
    editor.open(&eval, "agent: greeter\ncases: [{name: one, input: Hi., expect: Hello.}]\n");
    editor.until_codes(&eval, &[]);
    fs::remove_file(&ignore).unwrap();
    editor.changed_on_disk(&ignore);
    editor.until_codes(&ignore, &[]);
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn a_file_that_is_not_saved_yet_is_a_file_of_the_plugin() {
    let manifest = format!("{}skills:\n  a: {{path: skills/a, description: Does a.}}\n", mended());
    let folder = plugin(&manifest);
    let root = folder.path();
    let mut editor = Editor::meet(&[]);
    let found = editor.look_at(&root.join(MANIFEST), &manifest);
    assert_eq!(codes(&json!(found)), ["OZ-L002"]);
    // In a folder that is not there yet either.
    editor.open(&root.join("skills/a/SKILL.md"), "# A\n");
    editor.until_codes(&root.join(MANIFEST), &[]);
    // Ignored, it is none.
    editor.open(&root.join(".oz0ignore"), "skills/\n");
    editor.until_codes(&root.join(MANIFEST), &["OZ-L002"]);
    editor.close(&root.join(".oz0ignore"));
    editor.until_codes(&root.join(MANIFEST), &[]);
    editor.close(&root.join("skills/a/SKILL.md"));
    editor.until_codes(&root.join(MANIFEST), &["OZ-L002"]);
    assert_eq!(editor.leave(), Some(0));
}

/// The rule about every file of the folder reads them as they stand in the editor too.
#[test]
fn what_a_folder_brings_in_is_read_from_the_text_in_the_editor() {
    let folder = plugin(&mended());
    let root = folder.path();
    write(root, "requirements.txt", "httpx==0.28.1\n");
    let (requirements, more) = (root.join("requirements.txt"), root.join("base.txt"));
    let mut editor = Editor::meet(&[]);
    editor.open(&requirements, "litellm==1.83.0\n");
    editor.until_codes(&requirements, &["OZ-S012"]);
    editor.replace(&requirements, 2, "httpx==0.28.1\n");
    editor.until_codes(&requirements, &[]);
    // One that is not there yet, and that another one includes.
    editor.open(&more, "litellm==1.83.0\n");
    editor.replace(&requirements, 3, "-r base.txt\n");
    editor.until_codes(&more, &["OZ-S012"]);
    editor.replace(&more, 2, "httpx\n");
    editor.until_codes(&more, &[]);
    assert_eq!(editor.leave(), Some(0));
}

/// Such a folder is not read between two words; what the rule about every file says is kept meanwhile, and comes.
#[test]
fn in_a_large_folder_what_every_file_says_comes_later_and_what_the_manifest_says_at_once() {
    let folder = plugin(&mended());
    let root = folder.path();
    write(root, ".oz0ignore", "venv/\n");
    let source = "import os\nimport sys\n\n\ndef f(x):\n    return [x, os, sys]\n".repeat(40);
    for number in 0..3000 {
        write(root, &format!("venv/p{}/m{number}.py", number % 50), &source);
    }
    write(root, "uses.py", "import litellm\n");
    let (manifest, requirements) = (root.join(MANIFEST), root.join("requirements.txt"));
    let mut editor = Editor::meet(&[]);
    editor.look_at(&manifest, &mended());
    editor.until_codes(&root.join("uses.py"), &["OZ-S012"]);
    editor.replace(&manifest, 2, &mended().replace("kind: capability\n", ""));
    editor.until_codes(&manifest, &["OZ-S001"]);
    editor.until_codes(&root.join("uses.py"), &["OZ-S012"]);
    editor.open(&requirements, "litellm\n");
    editor.until_codes(&requirements, &["OZ-S012"]);
    editor.replace(&requirements, 2, "httpx\n");
    editor.until_codes(&requirements, &[]);
    editor.until_codes(&root.join("uses.py"), &["OZ-S012"]);
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn a_manifest_that_is_only_in_the_editor_makes_a_plugin() {
    let folder = folder(&[("README.md", "# Team\n")]);
    let manifest = folder.path().join(MANIFEST);
    let mut editor = Editor::meet(&[]);
    let found = editor.look_at(&manifest, "name: team\n");
    assert!(codes(&json!(found)).contains(&"OZ-L001".to_owned()), "{found:#?}");
    editor.close(&manifest);
    editor.until_codes(&manifest, &[]);
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn several_plugins_stand_beside_and_inside_each_other() {
    let folder = folder(&[
        ("a/oz0-plugin.yaml", TWO),
        ("b/oz0-plugin.yaml", &mended()),
        ("b/examples/c/oz0-plugin.yaml", "name: ["),
        ("free.yaml", "egress: ['*.example.com']\n"),
    ]);
    let root = folder.path();
    for plugin in ["a", "b", "b/examples/c"] {
        add_the_rest(&root.join(plugin));
    }
    let mut editor = Editor::meet(&[]);
    editor.open(&root.join("free.yaml"), "egress: ['*.example.com']\n");
    // A document of the plugin that is no manifest is enough.
    editor.open(&root.join("a/README.md"), "# Team\n\nSays hello.\n");
    editor.until_codes(&root.join("a").join(MANIFEST), &["OZ-S005", "OZ-S019"]);
    assert_eq!(editor.look_at(&root.join("b").join(MANIFEST), &mended()), [] as [Value; 0]);
    let inner = root.join("b/examples/c").join(MANIFEST);
    assert_eq!(codes(&json!(editor.look_at(&inner, "name: ["))), ["OZ-L001"]);
    assert!(!editor.shown.contains_key(&uri(&root.join("free.yaml"))), "{:#?}", editor.shown);
    // The last document of a plugin goes, and with it what was shown of any of its files.
    editor.close(&root.join("a/README.md"));
    editor.until_codes(&root.join("a").join(MANIFEST), &[]);
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn the_level_comes_from_the_flag_the_options_or_the_settings() {
    let folder = plugin(TWO);
    let manifest = folder.path().join(MANIFEST);
    let level = |found: &[Value]| found[0]["severity"].as_i64().unwrap();
    let mut editor = Editor::meet(&["--verified", "--stdio"]);
    assert_eq!(level(&editor.look_at(&manifest, TWO)), 1);
    assert_eq!(editor.leave(), Some(0));

    let options = json!({ "initializationOptions": { "verified": true } });
    let (mut editor, _) = Editor::meet_with(&[], &options);
    assert_eq!(level(&editor.look_at(&manifest, TWO)), 1);
    assert_eq!(editor.leave(), Some(0));

    let mut editor = Editor::meet(&[]);
    assert_eq!(level(&editor.look_at(&manifest, TWO)), 2);
    let is_level = |editor: &Editor, level: i64| {
        editor.shown[&uri(&manifest)]["diagnostics"][0]["severity"] == level
    };
    // Pushed under the section's name, pushed bare, and asked for.
    for (settings, wanted) in [
        (json!({ "oz0": { "verified": true } }), 1),
        (json!({ "verified": false }), 2),
        (Value::Null, 1),
    ] {
        editor.settings =
            if settings.is_null() { json!({ "verified": true }) } else { Value::Null };
        editor.notify("workspace/didChangeConfiguration", &json!({ "settings": settings }));
        editor.until("the level changes", |editor| is_level(editor, wanted));
    }
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn a_change_on_the_disk_is_seen_when_the_editor_tells_of_it() {
    let folder = plugin(&mended());
    let root = folder.path();
    let manifest = root.join(MANIFEST);
    let mut editor = Editor::meet(&[]);
    editor.look_at(&manifest, &mended());
    editor.until("the server asks to be told", |editor| {
        let asks = |it: &Value| {
            it["params"]["registrations"][0]["method"] == "workspace/didChangeWatchedFiles"
        };
        editor.asked.iter().any(asks)
    });
    fs::remove_file(root.join("LICENSE")).unwrap();
    editor.changed_on_disk(&root.join("LICENSE"));
    editor.until_codes(&root.join("LICENSE"), &["OZ-L011"]);
    add_the_rest(root);
    let document = json!({ "textDocument": { "uri": uri(&manifest) } });
    editor.notify("textDocument/didSave", &document);
    editor.until_codes(&root.join("LICENSE"), &[]);
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn no_half_written_text_ends_the_server() {
    let folder = plugin(TWO);
    let manifest = folder.path().join(MANIFEST);
    let mut editor = Editor::meet(&[]);
    editor.look_at(&manifest, TWO);
    let mut texts: Vec<String> =
        (0..TWO.len()).step_by(23).map(|at| TWO[..at].to_owned()).collect();
    texts.extend(
        [
            "",
            "\u{feff}",
            "\0",
            "- ",
            "{",
            "&a [*a]",
            "a: &x [*x, *x]",
            "\r\r\r",
            "? ",
            "!!x y",
            "\u{fffe}",
        ]
        .map(str::to_owned),
    );
    texts.push("[".repeat(5000));
    texts.push("a:\n".repeat(3) + &" ".repeat(100_000));
    for (version, text) in (2..).zip(&texts) {
        editor.replace(&manifest, version, text);
        editor.findings(&manifest, version);
        let anywhere = json!({
            "textDocument": { "uri": uri(&manifest) },
            "position": { "line": 0, "character": 1 },
        });
        editor.ask("textDocument/hover", &anywhere);
        editor.ask("textDocument/completion", &anywhere);
    }
    editor.replace(&manifest, 1000, &mended());
    assert_eq!(editor.findings(&manifest, 1000), [] as [Value; 0]);
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn nothing_of_a_plugin_is_run() {
    let mark = tempfile::tempdir().unwrap();
    let touch = format!("#!/bin/sh\ntouch {}/ran\n", mark.path().display());
    let text = format!("{}tools:\n  t:\n    mcp: {{command: [./server]}}\n", mended());
    let folder = plugin(&text);
    write(folder.path(), "server", &touch);
    write(folder.path(), "setup.py", &format!("open('{}/ran', 'w')\n", mark.path().display()));
    let server = folder.path().join("server");
    fs::set_permissions(&server, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut editor = Editor::meet(&["--verified"]);
    let manifest = folder.path().join(MANIFEST);
    editor.look_at(&manifest, &text);
    let at = json!({
        "textDocument": { "uri": uri(&manifest) },
        "position": place(&text, "[./server", 3),
    });
    editor.ask("textDocument/hover", &at);
    editor.ask("textDocument/completion", &at);
    assert_eq!(editor.leave(), Some(0));
    assert_eq!(fs::read_dir(mark.path()).unwrap().count(), 0);
}
