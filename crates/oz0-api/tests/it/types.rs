//! What stands on the wire.

use oz0_api::node::{Outcome, Report};
use oz0_api::plugin::{Override, PluginDescription};
use oz0_api::{Code, Problem};
use oz0_listing::Listing;
use serde_json::json;

#[test]
fn requests_refuse_members_they_do_not_know_and_malformed_names() {
    let description = json!({
        "name": "team", "version": "1.0.0", "source": "bundle",
        "digest": format!("sha256:{}", "0".repeat(64)),
        "tools": {"team": {"backend": "process"}},
    });
    let read = |value: &serde_json::Value| {
        serde_json::from_value::<PluginDescription>(value.clone()).map_err(|e| e.to_string())
    };
    let good = read(&description).unwrap();
    assert_eq!(serde_json::to_value(&good).unwrap()["tools"], description["tools"]);
    for (pointer, member, value, expected) in [
        ("", "nmae", json!(1), "unknown field `nmae`"),
        ("", "name", json!("Team"), "`Team` is not a plugin's name"),
        ("", "version", json!("1"), "`1` is not a version"),
        ("", "digest", json!("md5:00"), "sha256:"),
        ("/tools", "oz", json!({"backend": "process"}), "oz"),
        (
            "/tools/team",
            "backend",
            json!({"remote": {"endpoint": "https://u@h"}}),
            "user information",
        ),
        ("/tools/team", "more", json!(1), "unknown field `more`"),
    ] {
        let mut bad = description.clone();
        bad.pointer_mut(pointer).unwrap()[member] = value;
        let error = read(&bad).unwrap_err();
        assert!(error.contains(expected), "{member}: {error}");
    }
}

#[test]
fn a_reports_listing_stays_the_bytes_that_were_sent() {
    let text = format!(
        r#"{{"plugin":"team","version":"1.0.0","digest":"sha256:{}","tool":"team","outcome":{{"complete":{{"functions":[{{"id":"team.a","hash":"sha256:{}","listing":{{"name":"a","n":1.50}}}}],"left_out":[]}}}}}}"#,
        "0".repeat(64),
        "1".repeat(64),
    );
    let report: Report = serde_json::from_str(&text).unwrap();
    let Outcome::Complete { functions, .. } = &report.outcome else { panic!("{report:?}") };
    assert_eq!(functions[0].listing.get(), r#"{"name":"a","n":1.50}"#);
    assert_eq!(serde_json::to_string(&report).unwrap(), text);
}

#[test]
fn a_problem_of_a_newer_peer_is_read() {
    let problem: Problem =
        serde_json::from_value(json!({"code": "of_the_future", "message": "no", "more": 1}))
            .unwrap();
    assert_eq!(problem.code, Code::Internal);
    for code in Code::ALL {
        let again: Problem =
            serde_json::from_value(serde_json::to_value(Problem::new(code, "no")).unwrap())
                .unwrap();
        assert_eq!(again.code, code);
        assert!((400..600).contains(&code.status()));
    }
}

fn listing(value: &serde_json::Value) -> Listing {
    Listing::read(&value.to_string(), &[]).unwrap()
}

#[test]
fn overrides_merge_hint_by_hint_and_replace_the_output_schema() {
    let server = listing(&json!({
        "name": "a", "annotations": {"readOnlyHint": true, "title": "A"},
        "outputSchema": {"type": "string", "minLength": 1},
    }));
    let over: Override = serde_json::from_value(json!({
        "annotations": {"readOnlyHint": false, "destructiveHint": true},
        "outputSchema": {"type": "object"},
    }))
    .unwrap();
    let merged: serde_json::Value =
        serde_json::from_str(over.merge(&server).unwrap().canonical()).unwrap();
    assert_eq!(
        merged,
        json!({
            "name": "a", "outputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": false, "destructiveHint": true, "title": "A"},
        })
    );
    assert_eq!(Override::default().merge(&server).unwrap().canonical(), server.canonical());

    // What the server lists in place of annotations is no object: the override is all there is.
    let odd = listing(&json!({"name": "a", "annotations": "none"}));
    let merged = over.merge(&odd).unwrap();
    assert!(merged.canonical().contains("\"destructiveHint\":true"), "{}", merged.canonical());
}

#[test]
fn an_override_that_makes_two_members_one_serves_nothing() {
    let over: Override = serde_json::from_value(json!({
        "outputSchema": {"a\u{200b}": 1, "a\\u{200B}": 2},
    }))
    .unwrap();
    assert!(over.merge(&listing(&json!({"name": "a"}))).is_none());
}
