//! One function's listing and its hash.

use oz0_listing::json::Json;
use oz0_listing::{Digest, Listing, MEMBERS, Unlistable};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::generate;

fn read(raw: &str) -> Listing {
    Listing::read(raw, &[]).unwrap_or_else(|error| panic!("{error}: {raw}"))
}

fn why_not(raw: &str) -> String {
    Listing::read(raw, &[]).expect_err(raw).to_string()
}

#[test]
fn a_listing_is_the_six_members_and_nothing_else() {
    let listing = read(
        r#"{"name":"hello","title":"Hello","description":"Says hello","inputSchema":{"type":"object"},
            "outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"x-more":[1]},
            "icons":[],"execution":{"taskSupport":"forbidden"},"_meta":{"a":1},"instructions":"hidden"}"#,
    );
    assert_eq!(
        listing.canonical(),
        concat!(
            r#"{"annotations":{"readOnlyHint":true,"x-more":[1]},"description":"Says hello","#,
            r#""inputSchema":{"type":"object"},"name":"hello","outputSchema":{"type":"object"},"#,
            r#""title":"Hello"}"#
        )
    );
    assert_eq!(listing.hash().digest(), Digest::of(listing.canonical()));
    assert_eq!(listing.name(), "hello");
    assert_eq!(listing.value().canonical(), listing.canonical());
    assert_eq!(listing.value().as_object().unwrap().names().collect::<Vec<_>>(), MEMBERS);
}

#[test]
fn only_what_the_server_gives_is_listed_whatever_is_inside() {
    assert_eq!(read(r#"{"name":"a"}"#).canonical(), r#"{"name":"a"}"#);
    assert_eq!(
        read(r#"{"name":"a","inputSchema":null,"title":7,"annotations":"x"}"#).canonical(),
        r#"{"annotations":"x","inputSchema":null,"name":"a","title":7}"#
    );
}

#[test]
fn hidden_characters_are_written_out_in_names_and_values() {
    let listing = read(
        "{\"name\":\"a\",\"description\":\"x\u{E0041}y\\u200bz\",\"inputSchema\":{\"a\u{AD}\":\"\\ud800\\udc00\u{FEFF}\"}}",
    );
    assert_eq!(
        listing.canonical(),
        "{\"description\":\"x\\\\u{E0041}y\\\\u{200B}z\",\
         \"inputSchema\":{\"a\\\\u{AD}\":\"\u{10000}\\\\u{FEFF}\"},\"name\":\"a\"}"
    );
}

#[test]
fn escaped_names_are_sorted_as_they_are_shown() {
    // U+FEFF sorts behind `z`, and its escape begins with a backslash, which sorts before it.
    let listing = read("{\"name\":\"a\",\"annotations\":{\"\u{FEFF}\":1,\"z\":2}}");
    assert_eq!(listing.canonical(), r#"{"annotations":{"\\u{FEFF}":1,"z":2},"name":"a"}"#);
}

#[test]
fn two_members_that_would_look_the_same_are_refused() {
    assert_eq!(
        why_not("{\"name\":\"a\",\"inputSchema\":{\"p\u{200B}\":1,\"p\\\\u{200B}\":2}}"),
        "two members of one object are both `p\\u{200B}` once invisible characters are written out"
    );
}

#[test]
fn what_two_readers_could_read_differently_is_refused_even_where_it_is_not_listed() {
    assert_eq!(
        why_not(r#"{"name":"a","_meta":{"x":{"y":1,"y":1}}}"#),
        "the member `y` is repeated in one object"
    );
    assert_eq!(
        why_not(r#"{"name":"a","name":"b"}"#),
        "the member `name` is repeated in one object"
    );
    assert_eq!(
        why_not(r#"{"name":"a","icons":"\udead"}"#),
        "a lone surrogate (`\\udead`) in a string"
    );
    assert_eq!(
        why_not(r#"{"name":"a","execution":1e400}"#),
        "a number outside the range of a double"
    );
    let deep = format!(r#"{{"name":"a","_meta":{}{}}}"#, "[".repeat(128), "]".repeat(128));
    assert_eq!(why_not(&deep), "nested deeper than 128 levels");
}

#[test]
fn what_is_no_function_is_refused() {
    assert_eq!(why_not("[1]"), "a function is an object, and this is an array");
    assert_eq!(why_not("{}"), "it has no `name` that is a string");
    assert_eq!(why_not(r#"{"name":7}"#), "it has no `name` that is a string");
    assert_eq!(why_not(r#"{"name":"a""#), "not JSON: expected `,` or `}`");
}

#[test]
fn an_unstable_place_is_neither_hashed_nor_shown() {
    let pointers = ["/inputSchema/properties/at/default".parse().unwrap()];
    let at = |default: &str| {
        format!(
            r#"{{"name":"now","inputSchema":{{"properties":{{"at":{{"type":"string"{default}}}}}}}}}"#
        )
    };
    let one = Listing::read(&at(r#","default":"2026-01-01""#), &pointers).unwrap();
    let other = Listing::read(&at(r#","default":["\u200b", 7]"#), &pointers).unwrap();
    let none = Listing::read(&at(""), &pointers).unwrap();
    assert_eq!(one, other);
    assert_eq!(one, none);
    assert_eq!(one, read(&at("")));
    assert_ne!(one, read(&at(r#","default":"2026-01-01""#)));
}

#[test]
fn an_unstable_place_in_a_list_of_schemas_is_cut() {
    let pointers = ["/inputSchema/properties/a/anyOf/1/examples".parse().unwrap()];
    let raw = r#"{"name":"x","inputSchema":{"properties":{"a":{"anyOf":[{"examples":[1]},{"examples":[2]}]}}}}"#;
    assert_eq!(
        Listing::read(raw, &pointers).unwrap().canonical(),
        r#"{"inputSchema":{"properties":{"a":{"anyOf":[{"examples":[1]},{}]}}},"name":"x"}"#
    );
}

#[test]
fn a_pointer_that_may_not_be_unstable_is_refused() {
    let pointers = ["/description".parse().unwrap()];
    let error = Listing::read(r#"{"name":"a","description":"b"}"#, &pointers).unwrap_err();
    assert!(matches!(error, Unlistable::Unstable { .. }), "{error}");
}

#[test]
fn a_function_whose_schemas_hold_what_its_server_would_not_accept_is_uncallable() {
    let hidden = "p\u{200B}";
    for schema in [
        json!({"properties": {hidden: {}}}),
        json!({"patternProperties": {hidden: {}}}),
        json!({"required": [hidden]}),
        json!({"dependentRequired": {"a": [hidden]}}),
        json!({"dependencies": {"a": [hidden]}}),
        json!({"properties": {"a": {"enum": ["x", hidden]}}}),
        json!({"properties": {"a": {"enum": [{"deep": [hidden]}]}}}),
        json!({"properties": {"a": {"const": {hidden: 1}}}}),
        json!({"properties": {"a": {"anyOf": [{"items": {"pattern": hidden}}]}}}),
        json!({"$defs": {"a": {"properties": {hidden: {}}}}}),
        json!({"components": {"schemas": {"a": {"enum": [hidden]}}}}),
    ] {
        for member in ["inputSchema", "outputSchema"] {
            let listing = read(&json!({"name": "a", member: schema}).to_string());
            let why = listing.uncallable().unwrap_or_else(|| panic!("{schema}"));
            assert!(why.contains("`p\\u{200B}`"), "{why}");
        }
    }
}

#[test]
fn hidden_text_that_nothing_is_compared_with_leaves_a_function_callable() {
    let hidden = "p\u{200B}";
    for schema in [
        json!({"description": hidden, "title": hidden, "$comment": hidden}),
        json!({"properties": {"a": {"default": hidden, "examples": [{"enum": [hidden]}]}}}),
        json!({"properties": {"enum": {"description": hidden}}}),
        json!({"$defs": {hidden: {"type": "string"}}, "$ref": hidden}),
    ] {
        let listing = read(&json!({"name": "a", "inputSchema": schema}).to_string());
        assert_eq!(listing.uncallable(), None, "{schema}");
        assert!(listing.canonical().contains("\\\\u{200B}"));
    }
    // Text that looks like the escape is not hidden.
    let typed = json!({"name": "a", "inputSchema": {"pattern": "^\\u{200B}$"}});
    assert_eq!(read(&typed.to_string()).uncallable(), None);
}

#[test]
fn integers_above_2_to_the_53_are_listed_as_the_double_that_is_hashed() {
    let one = read(r#"{"name":"a","inputSchema":{"maximum":9007199254740993}}"#);
    let other = read(r#"{"name":"a","inputSchema":{"maximum":9007199254740992}}"#);
    assert_eq!(one, other);
    assert_eq!(
        one.value().get("inputSchema").unwrap().get("maximum"),
        Some(&Json::Number(9_007_199_254_740_992.0))
    );
}

/// The definition, step by step and with other tools: escape, cut, RFC 8785, SHA-256.
pub(crate) fn hash_by_the_oracle(function: &Value) -> String {
    fn escaped(value: &Value) -> Value {
        let text = |text: &str| oz0_listing::escape::text(text).into_owned();
        match value {
            Value::String(string) => Value::String(text(string)),
            Value::Array(items) => items.iter().map(escaped).collect(),
            Value::Object(members) => Value::Object(
                members.iter().map(|(name, value)| (text(name), escaped(value))).collect(),
            ),
            other => other.clone(),
        }
    }
    let cut: Value = Value::Object(
        function
            .as_object()
            .unwrap()
            .iter()
            .filter(|(name, _)| MEMBERS.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    );
    Digest::of(serde_json_canonicalizer::to_vec(&escaped(&cut)).unwrap()).to_string()
}

proptest! {
    #[test]
    fn the_hash_is_that_of_the_definition(function in generate::function()) {
        match Listing::read(&function.to_string(), &[]) {
            Ok(listing) => prop_assert_eq!(listing.hash().to_string(), hash_by_the_oracle(&function)),
            Err(error) => prop_assert!(matches!(error, Unlistable::SameOnceEscaped(_)), "{}", error),
        }
    }

    #[test]
    fn order_whitespace_and_notation_never_change_the_hash(
        function in generate::function(),
        seed in 1..u64::MAX,
    ) {
        let mut seed = seed;
        let rewritten = generate::rewritten(&function, &mut seed);
        prop_assert_eq!(Listing::read(&rewritten, &[]), Listing::read(&function.to_string(), &[]));
    }

    #[test]
    fn a_listing_read_again_is_itself(function in generate::function()) {
        if let Ok(listing) = Listing::read(&function.to_string(), &[]) {
            let again = Listing::read(listing.canonical(), &[]).unwrap();
            prop_assert_eq!(again.canonical(), listing.canonical());
        }
    }

    #[test]
    fn reading_never_panics(raw in any::<String>(), schema in generate::value()) {
        let _ = Listing::read(&raw, &[]);
        let function = json!({"name": "a", "inputSchema": schema});
        let _ = Listing::read(&function.to_string(), &["/inputSchema/properties/a/default".parse().unwrap()]);
    }
}
