//! An editor and the command line say the same, of every example of the rules' pages and of texts that are hard to count in.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use oz0_lint::{Page, rules};
use oz0_listing::escape;
use serde_json::{Value, json};

use super::editor::{Editor, uri};
use super::{MANIFEST, plugin};
use crate::support::{oz0, run};

#[path = "../../../../oz0-lint/tests/it/plugins.rs"]
#[expect(dead_code, reason = "the lint's own tests use the rest of it")]
mod plugins;

/// What a column counts.
#[derive(Clone, Copy)]
enum Units {
    Utf8,
    Utf16,
    Utf32,
}

impl Units {
    fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
            Self::Utf32 => "utf-32",
        }
    }

    /// A line and column as the command line has them, as an editor has them.
    fn place(self, text: &str, line: &Value, column: &Value) -> Value {
        let line = line.as_u64().unwrap() - 1;
        let column = usize::try_from(column.as_u64().unwrap() - 1).unwrap();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
        let content = text.split(['\n', '\r']).nth(usize::try_from(line).unwrap());
        let before: String = content.unwrap_or_default().chars().take(column).collect();
        let character = match self {
            Self::Utf8 => before.len(),
            Self::Utf16 => before.encode_utf16().count(),
            Self::Utf32 => before.chars().count(),
        };
        json!({ "line": line, "character": character })
    }
}

/// A finding, whoever tells it: file, code, level, message, from, to.
type Told = (String, String, String, String, String, String);

/// What the command line finds, as an editor would say it.
fn by_command(root: &Path, verified: bool, units: Units) -> BTreeSet<Told> {
    let folder = root.to_str().unwrap();
    let level = if verified { &["--verified"][..] } else { &[] };
    let said = run(&mut oz0(["plugin", "lint", "--json", folder].iter().chain(level)));
    let report: Value =
        serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{}", said.all()));
    let told = |problem: &Value| {
        let file = problem["file"].as_str().unwrap().to_owned();
        let text = fs::read(root.join(&file)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let mut message = escape::line(problem["message"].as_str().unwrap()).into_owned();
        if let Some(fix) = problem["fix"].as_str() {
            message.push_str("\nhint: ");
            message.push_str(&escape::line(fix));
        }
        let level = match problem["level"].as_str().unwrap() {
            "error" => 1,
            "warning" => 2,
            _ => 3,
        };
        let from = units.place(&text, &problem["line"], &problem["column"]).to_string();
        let to = units.place(&text, &problem["end_line"], &problem["end_column"]).to_string();
        let code = problem["code"].as_str().unwrap().to_owned();
        (file, code, level.to_string(), message, from, to)
    };
    report["problems"].as_array().unwrap().iter().map(told).collect()
}

/// What the editor shows of a plugin.
fn by_editor(editor: &Editor, root: &Path) -> BTreeSet<Told> {
    let base = format!("{}/", uri(root));
    let mut told = BTreeSet::new();
    for (uri, shown) in &editor.shown {
        let Some(file) = uri.strip_prefix(&base) else { continue };
        for found in shown["diagnostics"].as_array().unwrap() {
            told.insert((
                file.to_owned(),
                found["code"].as_str().unwrap().to_owned(),
                found["severity"].to_string(),
                found["message"].as_str().unwrap().to_owned(),
                json!(found["range"]["start"]).to_string(),
                json!(found["range"]["end"]).to_string(),
            ));
        }
    }
    told
}

/// Opens a manifest as it stands on the disk, compares, and closes it; how many findings there were.
fn compare(editor: &mut Editor, at: &str, root: &Path, verified: bool, units: Units) -> usize {
    let wanted = by_command(root, verified, units);
    let manifest = root.join(MANIFEST);
    let text = fs::read_to_string(&manifest).unwrap();
    // An editor keeps a byte order mark to itself.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    editor.look_at(&manifest, text);
    // All that the first look told is here when the second one begins to tell.
    editor.open_as(&uri(&manifest), 2, text);
    editor.findings(&manifest, 2);
    assert_eq!(by_editor(editor, root), wanted, "{at}");
    editor.close(&manifest);
    editor.until("nothing is shown", |editor| by_editor(editor, root).is_empty());
    wanted.len()
}

/// The plain rules' examples, and those of the verified level, each against a server of that level.
fn compare_examples(verified: bool) {
    let arguments = if verified { &["--verified"][..] } else { &[] };
    let mut editor = Editor::meet(arguments);
    let mut found = 0;
    for rule in rules() {
        let code = rule.metadata.code;
        let page = Page::read(rule.metadata.page).unwrap();
        for example in page.examples.iter().filter(|example| example.verified == verified) {
            let folder = plugins::build(example);
            let at = format!("{code}, {:?}", example.heading);
            found += compare(&mut editor, &at, folder.path(), verified, Units::Utf16);
        }
    }
    assert!(found > 30, "{found} findings are not what the pages show");
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn every_example_of_the_plain_level_is_told_as_by_the_command() {
    compare_examples(false);
}

#[test]
fn every_example_of_the_verified_level_is_told_as_by_the_command() {
    compare_examples(true);
}

/// Findings behind characters of one to four bytes, and on lines of their own.
const WIDE: &str = "\
name: wide
version: 1.0.0
kind: capability
description: \u{1f980} sagt grüß dich.
license: Apache-2.0
egress: ['*.example.com', 'api.example.com']
agents:
  a: {purpose: '\u{1f980} grüßt e\u{301} \u{200b} 世界', egress: ['*.example.org', \"*.example.net\"]}
  b:
    purpose: 'a\tb \u{1f980}'
    tools: [nowhere.to_be_found] # \u{1f980}
";

#[test]
fn places_are_right_in_every_encoding_with_marks_tabs_and_every_line_end() {
    let texts = [
        WIDE.to_owned(),
        WIDE.replace('\n', "\r\n"),
        format!("\u{feff}{WIDE}"),
        format!("\u{feff}{}", WIDE.replace('\n', "\r\n")),
        WIDE.replace('\n', "\r"),
        WIDE.replace("    tools", "\ttools"),
        format!("# \u{1f980}\n{}", WIDE.replace("nowhere.to_be_found", "'")),
        WIDE.replace("    tools: [nowhere.to_be_found] # \u{1f980}\n", ""),
    ];
    for units in [Units::Utf8, Units::Utf16, Units::Utf32] {
        let parameters = json!({
            "capabilities": { "general": { "positionEncodings": [units.name(), "utf-16"] } },
        });
        let (mut editor, answer) = Editor::meet_with(&[], &parameters);
        assert_eq!(answer["capabilities"]["positionEncoding"], units.name());
        for text in &texts {
            let folder = plugin(text);
            let found = compare(&mut editor, &format!("{text:?}"), folder.path(), false, units);
            assert!(found > 0, "{text:?}");
        }
        assert_eq!(editor.leave(), Some(0));
    }
}

#[test]
fn an_editor_that_names_no_encoding_counts_in_utf_16() {
    let parameters = json!({ "capabilities": {} });
    let (editor, answer) = Editor::meet_with(&[], &parameters);
    assert_eq!(answer["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(editor.leave(), Some(0));
}
