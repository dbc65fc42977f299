//! The two file formats.

use std::collections::BTreeMap;

use oz0_listing::file::{FileError, ListingFile, SnapshotFile};
use oz0_listing::{Digest, ToolId, merge, read_tool};
use proptest::prelude::*;

use crate::generate;

fn listing_file() -> ListingFile {
    let unstable = BTreeMap::from([(
        "now".to_owned(),
        vec!["/inputSchema/properties/at/default".parse().unwrap()],
    )]);
    let tool = read_tool(
        &ToolId::try_from("team").unwrap(),
        &[
            r#"{"name":"now","inputSchema":{"type":"object","properties":{"at":{"default":1e0}}}}"#,
            "{\"name\":\"hello\",\"description\":\"Says\\n\u{E0041}hello\",\"annotations\":{},\"inputSchema\":{\"required\":[],\"maximum\":1e2}}",
            "{\"name\":\"odd\",\"inputSchema\":{\"properties\":{\"a\u{AD}\":{}}}}",
            r#"{"name":"bad name"}"#,
            "{\"name\":\"\u{FEFF}mark\"}",
        ],
        &unstable,
    );
    let plugin = merge(vec![tool]);
    ListingFile {
        source_digest: Digest::of("files"),
        functions: plugin.functions,
        left_out: plugin.left_out,
    }
}

fn snapshot_file() -> SnapshotFile {
    SnapshotFile {
        tool: ToolId::try_from("team").unwrap(),
        listed_from: Some("the vendor's documentation, read 2026-10-14".to_owned()),
        url: Some("https://{host}/mcp".to_owned()),
        functions: listing_file().functions,
    }
}

#[test]
fn a_listing_file_is_written_in_one_form() {
    insta::assert_snapshot!(listing_file().write());
}

#[test]
fn a_snapshot_file_is_written_in_one_form() {
    insta::assert_snapshot!(snapshot_file().write());
}

#[test]
fn what_was_written_is_read() {
    let file = listing_file();
    assert_eq!(ListingFile::read(&file.write()).unwrap(), file);
    let file = snapshot_file();
    assert_eq!(SnapshotFile::read(&file.write()).unwrap(), file);
    let bare = SnapshotFile { listed_from: None, url: None, functions: Vec::new(), ..file };
    assert_eq!(SnapshotFile::read(&bare.write()).unwrap(), bare);
}

#[test]
fn the_order_of_what_is_written_is_the_writer_s() {
    let mut file = listing_file();
    let text = file.write();
    file.functions.reverse();
    file.left_out.reverse();
    assert_eq!(file.write(), text);
}

#[test]
fn whitespace_and_member_order_are_free() {
    let text = listing_file().write();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(ListingFile::read(&value.to_string()).unwrap(), listing_file());
    assert_eq!(ListingFile::read(&text.replace('\n', "\r\n")).unwrap(), listing_file());
}

/// What each edit of a good file is called, and where.
#[test]
fn every_edit_of_a_listing_file_is_found() {
    let good = listing_file().write();
    let hash = |name: &str| {
        let file = listing_file();
        file.functions.iter().find(|f| f.id.function() == name).unwrap().hash.to_string()
    };
    let edits: Vec<(&str, String, String)> = vec![
        ("syntax", "\"left_out\": [".into(), "\"left_out\" [".into()),
        ("repeated member", "\"functions\": [".into(), "\"format\": 1, \"functions\": [".into()),
        ("format", "tool-listing.v1".into(), "tool-listing.v2".into()),
        ("other format", "oz0.tool-listing.v1".into(), "oz0.tool-snapshot.v1".into()),
        ("unknown member", "\"functions\": [".into(), "\"extra\": 1, \"functions\": [".into()),
        ("unknown member of a function", "\"hash\": ".into(), "\"hush\": 1, \"hash\": ".into()),
        ("wrong hash", hash("hello"), hash("now")),
        ("malformed hash", hash("hello"), hash("hello").to_uppercase()),
        ("edited listing", "Says\\n".into(), "Says\\t".into()),
        ("a member beyond the six", "\"annotations\": {}".into(), "\"_meta\": {}".into()),
        ("not escaped", "\\\\u{E0041}".into(), "\u{E0041}".into()),
        ("another function's listing", "\"name\": \"hello\"".into(), "\"name\": \"hallo\"".into()),
        ("malformed name", "team.hello".into(), "team/hello".into()),
        ("out of order", "team.hello".into(), "team.zhello".into()),
        ("reserved tool", "team.hello".into(), "oz.hello".into()),
        ("unstable at another place", "/properties/at/default".into(), "/properties/at".into()),
        (
            "empty list of unstable places",
            "[\n        \"/inputSchema/properties/at/default\"\n      ]".into(),
            "[]".into(),
        ),
        ("missing member", "\"reason\": ".into(), "\"season\": ".into()),
        ("a name in left_out with an invisible character", "\\\\u{FEFF}".into(), "\u{FEFF}".into()),
        ("left_out out of order", "\"bad name\"".into(), "\"A bad name\"".into()),
        (
            "malformed digest",
            "\"source_digest\": \"sha256:".into(),
            "\"source_digest\": \"sha1:".into(),
        ),
    ];
    let mut report = String::new();
    for (what, from, to) in edits {
        assert!(good.contains(&from), "{what}: {from}");
        let edited = good.replacen(&from, &to, 1);
        match ListingFile::read(&edited) {
            Err(error) => report.push_str(
                &[what, ": ", &error.to_string(), "\n  hint: ", &error.help, "\n"].concat(),
            ),
            Ok(_) => panic!("{what} is accepted"),
        }
    }
    insta::assert_snapshot!(report);
}

#[test]
fn a_repeated_function_is_found_where_it_stands() {
    let mut file = listing_file();
    file.functions.insert(1, file.functions[0].clone());
    let error = ListingFile::read(&file.write()).unwrap_err();
    assert_eq!(error.message, "the function `team.hello` is repeated");
    let lines: Vec<_> = file.write().lines().map(str::to_owned).collect();
    assert_eq!(lines[error.line - 1].trim(), "\"name\": \"team.hello\"");
    assert_eq!(error.column, lines[error.line - 1].find("\"team").unwrap() + 1);
}

#[test]
fn functions_out_of_order_are_found() {
    let mut value: serde_json::Value = serde_json::from_str(&listing_file().write()).unwrap();
    value["functions"].as_array_mut().unwrap().swap(0, 1);
    let error = ListingFile::read(&value.to_string()).unwrap_err();
    assert_eq!(
        error.message,
        "the functions are not in the order of their names: `team.hello` stands too late"
    );
}

#[test]
fn what_is_declared_unstable_does_not_stand_in_the_listing() {
    let mut file = listing_file();
    let raw = r#"{"name":"now","inputSchema":{"properties":{"at":{"default":1}}}}"#;
    let now = file.functions.iter_mut().find(|f| f.id.function() == "now").unwrap();
    now.listing = oz0_listing::Listing::read(raw, &[]).unwrap();
    let error = ListingFile::read(&file.write()).unwrap_err();
    assert_eq!(
        error.message,
        "`/inputSchema/properties/at/default` is unstable, and stands in the listing all the same"
    );
}

#[test]
fn a_snapshot_s_functions_are_its_tool_s() {
    let file = SnapshotFile { tool: ToolId::try_from("other").unwrap(), ..snapshot_file() };
    let error = SnapshotFile::read(&file.write()).unwrap_err();
    assert_eq!(error.message, "`team.hello` is no function of the tool `other`");
}

#[test]
fn a_listing_as_deep_as_any_is_read_from_its_file() {
    let raw = format!(r#"{{"name":"deep","inputSchema":{}{}}}"#, "[".repeat(127), "]".repeat(127));
    let tool = read_tool(&ToolId::try_from("a").unwrap(), &[&raw], &BTreeMap::new());
    assert_eq!(tool.functions.len(), 1);
    let file = ListingFile {
        source_digest: Digest::of(""),
        functions: tool.functions,
        left_out: Vec::new(),
    };
    assert_eq!(ListingFile::read(&file.write()).unwrap(), file);
    let deeper = file.write().replace("[]", "[[]]");
    assert!(ListingFile::read(&deeper).unwrap_err().message.contains("nested deeper"));
}

fn check_place(text: &str, error: &FileError) {
    let before = &text[..error.offset];
    assert_eq!(error.line, before.matches('\n').count() + 1);
    assert!(!error.message.is_empty() && !error.help.is_empty());
}

proptest! {
    #[test]
    fn any_function_survives_its_file(functions in prop::collection::vec(generate::function(), 0..4)) {
        let raw: Vec<_> = functions.iter().map(ToString::to_string).collect();
        let raw: Vec<_> = raw.iter().map(String::as_str).collect();
        let tool = read_tool(&ToolId::try_from("a").unwrap(), &raw, &BTreeMap::new());
        let file = ListingFile {
            source_digest: Digest::of(""),
            functions: tool.functions,
            left_out: tool.left_out,
        };
        let text = file.write();
        prop_assert_eq!(&ListingFile::read(&text).unwrap(), &file);
        prop_assert_eq!(ListingFile::read(&text).unwrap().write(), text);
    }

    #[test]
    fn reading_a_broken_file_never_panics(at in any::<prop::sample::Index>(), with in any::<String>()) {
        let mut text: Vec<char> = listing_file().write().chars().collect();
        let at = at.index(text.len());
        text.splice(at..=at, with.chars());
        let text: String = text.into_iter().collect();
        if let Err(error) = ListingFile::read(&text) {
            check_place(&text, &error);
        }
        if let Err(error) = SnapshotFile::read(&text) {
            check_place(&text, &error);
        }
    }
}
