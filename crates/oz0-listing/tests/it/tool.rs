//! What is listed and what is left out.

use std::collections::BTreeMap;

use oz0_listing::{Listing, PluginListing, ToolId, ToolListing, merge, read_tool};

fn read(tool: &str, raw: &[&str]) -> ToolListing {
    read_tool(&ToolId::try_from(tool).unwrap(), raw, &BTreeMap::new())
}

fn listed(tool: &ToolListing) -> Vec<&str> {
    tool.functions.iter().map(|function| function.id.as_str()).collect()
}

fn left_out(tool: &ToolListing) -> Vec<(&str, &str)> {
    tool.left_out.iter().map(|left| (left.name.as_str(), left.reason.as_str())).collect()
}

#[test]
fn functions_are_listed_in_the_order_of_their_ids() {
    let tool = read("team", &[r#"{"name":"b"}"#, r#"{"name":"a.b"}"#, r#"{"name":"A"}"#]);
    assert_eq!(listed(&tool), ["team.A", "team.a.b", "team.b"]);
    assert!(tool.left_out.is_empty());
    let b = Listing::read(r#"{"name":"b"}"#, &[]).unwrap();
    assert_eq!((tool.functions[2].hash, &tool.functions[2].listing), (b.hash(), &b));
}

#[test]
fn each_function_is_left_out_by_itself_and_with_its_reason() {
    let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(200));
    let tool = read(
        "team",
        &[
            r#"{"name":"fine"}"#,
            r#"{"name":"twice","description":"one"}"#,
            r#"{"name":"twice","description":"two"}"#,
            "{\"name\":\"\u{FEFF}mark\"}",
            r#"{"name":"two\nlines"}"#,
            r#"{"name":""}"#,
            &long,
            r#"{"name":"meta","_meta":{"a":1,"a":2}}"#,
            r#"{"name":"surrogate","description":"\ud800"}"#,
            r#"{"title":"nameless"}"#,
            "7",
            "{\"name\":\"same\",\"inputSchema\":{\"\u{AD}\":1,\"\\\\u{AD}\":2}}",
        ],
    );
    assert_eq!(listed(&tool), ["team.fine"]);
    insta::assert_debug_snapshot!(left_out(&tool));
}

#[test]
fn a_copy_that_is_refused_still_takes_the_name() {
    let deep = format!(r#"{{"_meta":{}{},"name":"a"}}"#, "[".repeat(9_000), "]".repeat(9_000));
    for copy in [
        deep.as_str(),
        r#"{"name":"a","_meta":{"x":1,"x":2}}"#,
        r#"{"name":"b","name":"a"}"#,
        r#"{"name":"a","name":"b"}"#,
        r#"{"_meta":{"x":1,"x":2},"name":"a"}"#,
        r#"{"description":"\ud800","n\u0061me":"a"}"#,
        r#"{"name":"a","description":1e400}"#,
    ] {
        let tool = read("team", &[r#"{"name":"a"}"#, copy, r#"{"name":"c"}"#]);
        assert_eq!(listed(&tool), ["team.c"], "{copy}");
        assert_eq!(left_out(&tool), [("a", "its server lists this name 2 times")], "{copy}");
    }
}

#[test]
fn the_order_in_which_a_server_lists_changes_nothing() {
    let raw = [
        r#"{"name":"a"}"#,
        r#"{"name":"b"}"#,
        r#"{"name":"b"}"#,
        r#"{"name":"c d"}"#,
        r#"{"name":"c d"}"#,
        r#"{"name":"e","x":[1e999]}"#,
        "[]",
    ];
    let mut reversed = raw;
    reversed.reverse();
    assert_eq!(read("team", &raw), read("team", &reversed));
}

#[test]
fn declared_pointers_are_cut_from_their_function_only() {
    let pointer = "/inputSchema/properties/at/default".parse().unwrap();
    let unstable = BTreeMap::from([
        ("now".to_owned(), vec![pointer]),
        ("bad".to_owned(), vec!["/description".parse().unwrap()]),
    ]);
    let raw = |name: &str| {
        format!(r#"{{"name":"{name}","inputSchema":{{"properties":{{"at":{{"default":1}}}}}}}}"#)
    };
    let (now, then, bad) = (raw("now"), raw("then"), raw("bad"));
    let tool = read_tool(&ToolId::try_from("clock").unwrap(), &[&now, &then, &bad], &unstable);
    assert_eq!(listed(&tool), ["clock.now", "clock.then"]);
    assert_eq!(tool.functions[0].unstable, unstable["now"]);
    assert!(!tool.functions[0].listing.canonical().contains("default"));
    assert!(tool.functions[1].unstable.is_empty());
    assert!(tool.functions[1].listing.canonical().contains("default"));
    insta::assert_debug_snapshot!(left_out(&tool));
}

#[test]
fn functions_that_models_would_see_under_one_name_are_all_left_out() {
    let PluginListing { functions, left_out } = merge(vec![
        read("a__b", &[r#"{"name":"c"}"#, r#"{"name":"only"}"#, r#"{"name":"bad name"}"#]),
        read("a", &[r#"{"name":"b__c"}"#, r#"{"name":"b.c"}"#, r#"{"name":"z"}"#]),
    ]);
    let ids: Vec<_> = functions.iter().map(|function| function.id.as_str()).collect();
    assert_eq!(ids, ["a.z", "a__b.only"]);
    insta::assert_debug_snapshot!(left_out);
}

#[test]
fn a_cut_model_name_counts_as_what_it_is_cut_to() {
    // The model name of the first is 65 characters and is cut; the second is called what it is
    // cut to.
    let long = "x".repeat(62);
    let first = read("a", &[&format!(r#"{{"name":"{long}"}}"#)]);
    let name = oz0_listing::ModelName::of(&first.functions[0].id);
    let other = name.as_str().strip_prefix("a__").unwrap();
    let second = read("a", &[&format!(r#"{{"name":"{other}"}}"#)]);
    let merged = merge(vec![first, second]);
    assert!(merged.functions.is_empty());
    assert_eq!(merged.left_out.len(), 2);
}

#[test]
fn reasons_stay_short_however_many_functions_share_a_model_name() {
    // Each of twelve separators is written in one of two ways: 4,096 names, one model name.
    let raw: Vec<_> = (0..4_096)
        .map(|bits: u32| {
            let parts = (0..12).map(|at| if bits >> at & 1 == 0 { "x." } else { "x__" });
            format!(r#"{{"name":"{}"}}"#, parts.collect::<String>())
        })
        .collect();
    let raw: Vec<_> = raw.iter().map(String::as_str).collect();
    let merged = merge(vec![read("a", &raw)]);
    assert_eq!((merged.functions.len(), merged.left_out.len()), (0, 4_096));
    assert!(merged.left_out.iter().all(|left| left.reason.len() < 400));
    assert!(merged.left_out[0].reason.ends_with(", 4092 more"));
}
