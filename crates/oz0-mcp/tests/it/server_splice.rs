//! Nothing is rebuilt: what is not edited stays, byte for byte.

use oz0_mcp::Era;
use oz0_mcp::server::{CallParams, Level, Splice, SpliceError};
use proptest::prelude::*;

use crate::server_gateway::raw;

#[test]
fn an_edit_outside_the_text_is_refused() {
    let mut splice = Splice::new("aé");
    assert_eq!(splice.replace(2..3, ""), Err(SpliceError::Outside { start: 2, end: 3 }));
    assert_eq!(splice.replace(0..9, ""), Err(SpliceError::Outside { start: 0, end: 9 }));
    assert!(splice.is_empty());
}

proptest! {
    /// Edits that do not overlap, made in any order, give the text with exactly those ranges replaced.
    #[test]
    fn every_byte_outside_the_edits_is_unchanged(
        pieces in prop::collection::vec(("[a-zé\"{}]{0,6}", prop::option::of("[0-9é]{0,4}")), 1..8),
        seed in any::<u64>(),
    ) {
        let mut text = String::new();
        let mut wanted = String::new();
        let mut edits = Vec::new();
        for (piece, with) in &pieces {
            let start = text.len();
            text.push_str(piece);
            match with {
                Some(with) if !piece.is_empty() => {
                    wanted.push_str(with);
                    edits.push((start..text.len(), with.clone()));
                }
                _ => wanted.push_str(piece),
            }
        }
        if !edits.is_empty() {
            let turn = usize::try_from(seed % edits.len() as u64).unwrap();
            edits.rotate_left(turn);
        }
        let mut splice = Splice::new(&text);
        for (range, with) in edits {
            splice.replace(range.clone(), with).unwrap();
            if range.len() > 1 {
                prop_assert!(splice.replace(range, "").is_err(), "the same range twice");
            }
        }
        prop_assert_eq!(splice.apply(), wanted);
    }

    /// Whatever the client wrote around them, only keys under `oz0/` go, and the rest stays as it was written.
    #[test]
    fn only_our_keys_are_taken_out_of_meta(
        keys in prop::collection::btree_map("(oz0/|oz|x/)[a-z]{1,3}", "(1\\.0|\"\\\\u0041\"|\\{ \"oz0/a\" : 1 \\}|\\[\\])", 0..6),
        space in "[ \t]{0,2}",
    ) {
        let member = |(key, value): (&String, &String)| format!("{space}\"{key}\"{space}:{space}{value}");
        let all: Vec<String> = keys.iter().map(member).collect();
        let kept: Vec<String> =
            keys.iter().filter(|(key, _)| !key.starts_with("oz0/")).map(member).collect();
        let text = format!(r#"{{ "name":"f", "_meta" :{{{}}}, "x":1.50}}"#, all.join(","));
        let wanted = format!(r#"{{ "name":"f", "_meta" :{{{}}}, "x":1.50}}"#, kept.join(","));
        let params = CallParams::read(&text, Era::Legacy).unwrap();
        prop_assert_eq!(params.text(), wanted);
    }

    /// What goes to a server is what came, with its name, token and our own members.
    #[test]
    fn forwarding_edits_three_places(
        before in "[ ]{0,2}", token in prop::option::of("(5|\"t\")"), meta in any::<bool>(),
        arguments in prop::option::of("\\{ \"a\" : 1\\.00 \\}"),
    ) {
        let meta_text = match (&token, meta) {
            (Some(token), true) => format!(r#","_meta":{{"a":1, "progressToken" : {token}, "b":2}}"#),
            (Some(token), false) => format!(r#","_meta":{{"progressToken":{token}}}"#),
            (None, true) => r#","_meta":{"a":1}"#.to_owned(),
            (None, false) => String::new(),
        };
        let arguments = arguments.map(|text| format!(r#","arguments":{text}"#)).unwrap_or_default();
        let text = format!(r#"{{{before}"name":{before}"f"{arguments}{meta_text}}}"#);
        let params = CallParams::read(&text, Era::Legacy).unwrap();
        prop_assert_eq!(params.forward().text(), text.clone());

        let sent = params.forward().name("g\"").progress_token(9).meta("oz0/c", &raw("[1]")).build();
        let value: serde_json::Value = serde_json::from_str(sent.get()).unwrap();
        prop_assert_eq!(&value["name"], "g\"");
        prop_assert_eq!(&value["_meta"]["progressToken"], 9);
        prop_assert_eq!(&value["_meta"]["oz0/c"][0], 1);
        prop_assert!(sent.get().contains(&arguments));
        prop_assert!(CallParams::read(sent.get(), Era::Legacy).is_ok(), "nothing stands twice: {}", sent);

        let silent = params.forward().without_progress().meta("oz0/c", &raw("1")).build();
        let value: serde_json::Value = serde_json::from_str(silent.get()).unwrap();
        prop_assert_eq!(&value["_meta"]["progressToken"], &serde_json::Value::Null);
        prop_assert_eq!(&value["_meta"]["oz0/c"], 1);
        prop_assert_eq!(value["_meta"]["a"] == 1, meta);
    }

    /// Nothing that a client can write makes the reader panic.
    #[test]
    fn any_text_is_read_or_refused(text in "[\\{\\}\\[\\]\",:a-z0-9 \\\\_/]{0,60}") {
        let _ = CallParams::read(&text, Era::Modern);
    }
}

#[test]
fn what_policy_reads_cannot_stand_twice() {
    for text in [
        r#"{"name":"a","name":"b"}"#,
        r#"{"name":"a","n\u0061me":"b"}"#,
        r#"{"name":"a","arguments":{},"arguments":{"x":1}}"#,
        r#"{"name":"a","_meta":{},"_meta":{}}"#,
        r#"{"name":"a","_meta":{"progressToken":1,"progressToken":2}}"#,
        r#"{"name":"a","requestState":"1","requestState":"2"}"#,
    ] {
        let error = CallParams::read(text, Era::Legacy).unwrap_err();
        assert_eq!(error.code, -32602, "{text}");
        assert!(error.message.contains("stands twice"), "{text}: {}", error.message);
    }
}

#[test]
fn parameters_of_the_wrong_shape_are_refused() {
    for text in [
        "[]",
        "7",
        "{}",
        r#"{"name":7}"#,
        r#"{"name":"a","arguments":[]}"#,
        r#"{"name":"a","arguments":null}"#,
        r#"{"name":"a","_meta":7}"#,
        r#"{"name":"a","_meta":{"progressToken":1.5}}"#,
        r#"{"name":"a","inputResponses":[]}"#,
        r#"{"name":"a","requestState":7}"#,
    ] {
        assert_eq!(CallParams::read(text, Era::Legacy).unwrap_err().code, -32602, "{text}");
    }
}

#[test]
fn a_key_of_ours_is_found_however_it_is_spelled() {
    let text = r#"{"name":"a","_meta":{"\u006fz0/connections":1,"oz0\/x":2,"oz\u0030/y":3,"k":4}}"#;
    let params = CallParams::read(text, Era::Legacy).unwrap();
    assert_eq!(params.text(), r#"{"name":"a","_meta":{"k":4}}"#);
}

#[test]
fn what_a_modern_client_says_of_itself_stays_here() {
    let text = r#"{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","traceparent":"00-1","io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/clientCapabilities":{}},"task":{"ttl":1}}"#;
    let params = CallParams::read(text, Era::Modern).unwrap();
    assert_eq!(params.text(), r#"{"name":"a","_meta":{"traceparent":"00-1"}}"#);
}

#[test]
fn the_log_level_of_a_handshake_connection_is_told_to_a_stateless_server_once() {
    let text = r#"{"name":"f","_meta":{"io.modelcontextprotocol/logLevel":"debug","a":1}}"#;
    let legacy = CallParams::read(text, Era::Legacy).unwrap();
    assert_eq!(
        legacy.forward().log_level(Level::Warning).text(),
        r#"{"name":"f","_meta":{"io.modelcontextprotocol/logLevel":"warning","a":1}}"#
    );
    let modern = CallParams::read(text, Era::Modern).unwrap();
    assert_eq!(modern.forward().text(), text, "a modern client says it itself");
}
