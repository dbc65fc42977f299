//! The schema and the decoder accept the same shapes, since one declaration makes both.

use std::sync::LazyLock;

use oz0_plugin::manifest::decode;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::tree;

fn validator() -> &'static jsonschema::Validator {
    static VALIDATOR: LazyLock<jsonschema::Validator> =
        LazyLock::new(|| jsonschema::draft202012::options().build(&oz0_plugin::schema()).unwrap());
    &VALIDATOR
}

/// JSON is YAML, so one text serves both.
fn agree(validator: &jsonschema::Validator, manifest: &Value) -> bool {
    let text = serde_json::to_string_pretty(manifest).unwrap();
    let decoded = decode("oz0-plugin.yaml", text.as_bytes());
    let schema: Vec<String> = validator
        .iter_errors(manifest)
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect();
    assert_eq!(
        decoded.well_formed,
        schema.is_empty(),
        "decoder: {}schema: {schema:#?}\n{text}",
        oz0_diagnostic::report::concise(&decoded.diagnostics),
    );
    decoded.well_formed
}

#[test]
fn the_schema_is_valid_and_closed() {
    let schema = oz0_plugin::schema();
    assert!(jsonschema::draft202012::meta::is_valid(&schema));
    for (name, record) in schema["$defs"].as_object().unwrap() {
        assert_eq!(record["additionalProperties"], false, "{name}");
        assert!(!record["description"].as_str().unwrap().is_empty(), "{name}");
        for (key, property) in record["properties"].as_object().unwrap() {
            assert!(!property["description"].as_str().unwrap().is_empty(), "{name}.{key}");
        }
    }
}

#[test]
fn every_key_of_the_schema_is_in_the_full_manifest() {
    let text = tree::full().to_string();
    let schema = oz0_plugin::schema();
    for record in schema["$defs"].as_object().unwrap().values() {
        for key in record["properties"].as_object().unwrap().keys() {
            assert!(text.contains(&format!("\"{key}\":")), "{key}");
        }
    }
}

#[test]
fn the_full_manifest_is_accepted_by_both() {
    let validator = validator();
    assert!(validator.is_valid(&tree::full()));
    assert!(agree(validator, &tree::full()));
}

/// Texts at the edges of the forms.
const TEXTS: &[&str] = &[
    "",
    " ",
    "a",
    "A",
    "oz",
    "OZ",
    "x.y",
    "oz.ask_user",
    "a.*",
    "*",
    "*.*",
    "a/b.c",
    "a/b",
    "A/b.c",
    "a/oz.b",
    "/",
    "/a",
    "/a~1b",
    "/a~",
    "//",
    "1.2.3",
    "01.2.3",
    "1.2",
    "1.2.3-rc.1+b.2",
    "1.2.3-01",
    "99999999999999999999.0.0",
    ">=1, <2",
    ">=1 || ^3",
    "latest",
    "*.*.*.*",
    ">",
    "1 2",
    "api.github.com",
    "*.github.com",
    "api.github.com.",
    "-a.b",
    "a..b",
    "https://a.b",
    "a:1",
    "ünï",
    "https://{host}/mcp",
    "https://a.b/{x}?y={z}",
    "http://a.b/",
    "http://127.0.0.1:8080/",
    "https://u@a.b/",
    "https://a.b/#f",
    "https://a.b\\c",
    "https://[::1]:9/x",
    "https://a.b:99999/",
    "https://{",
    "https://a.b/{}",
    "ftp://a.b/",
    "pypi:a==1",
    "pypi:a[b,c]>=1,<2",
    "pypi:a",
    "pypi:-a",
    "npm:@s/n@1.0.0",
    "npm:n@^1",
    "npm:@s",
    "npm:N",
    "oci:a/b:tag",
    "oci:a:5000/b",
    "oci:a@sha256:00",
    "a/b/c",
    "./a",
    "../a",
    "a/../b",
    "a/..",
    "...",
    "a/...",
    ".a",
    "a//b",
    "a/",
    "a\\b",
    "/abs",
    "a\u{1}b",
    "0 6 * * *",
    "0 6 * *",
    "*/5 0-3 1,2 jan mon",
    "99 * * * *",
    "0  6 * * *",
    " 0 6 * * *",
    "/inputSchema/properties/at/default",
    "/description",
    "/inputSchema/default",
    "never",
    "Never",
    "ask",
    "eager",
    "before_call",
    "connector",
    "Apache-2.0",
    "(MIT OR Apache-2.0)",
    "\0",
    "line\nbreak",
    "\u{FEFF}",
    "\u{2028}",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

fn values() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1.5),
        json!([]),
        json!({}),
        json!(["a"]),
        json!([[]]),
        json!({"a": "b"}),
        json!({"a": {}}),
        json!({"oz": {"command": ["a"]}}),
    ]
}

#[test]
fn every_value_of_the_full_manifest_changed_in_every_way_is_judged_alike() {
    let validator = validator();
    let full = tree::full();
    let values = values();
    let (mut accepted, mut refused) = (0, 0);
    let mut judge = |manifest: &Value| {
        if agree(validator, manifest) { accepted += 1 } else { refused += 1 }
    };
    for pointer in tree::pointers(&full) {
        let section = tree::section(&full, &pointer);
        let mut removed = section.clone();
        tree::remove(&mut removed, &pointer);
        judge(&removed);
        for value in &values {
            judge(&tree::replace(&section, &pointer, value.clone()));
        }
        let texts = if section.pointer(&pointer).unwrap().is_string() { TEXTS } else { &[] };
        for text in texts {
            judge(&tree::replace(&section, &pointer, json!(text)));
        }
        for name in ["", "a", "oz", "A b", "/a", "A_1", "x.y", "a\u{1}", "command"] {
            if let Some(renamed) = tree::rename(&section, &pointer, |_| name.to_owned()) {
                judge(&renamed);
            }
        }
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} accepted, {refused} refused");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn two_changes_at_once_are_judged_alike(
        first in any::<prop::sample::Index>(),
        second in any::<prop::sample::Index>(),
        values in prop::collection::vec(prop_oneof![
            prop::sample::select(values()),
            prop::sample::select(TEXTS).prop_map(Value::from),
            "[a-z/.:{}@=<>*0-9 -]{0,12}".prop_map(Value::from),
        ], 2),
    ) {
        let mut tree = tree::full();
        for (index, value) in [first, second].into_iter().zip(values) {
            let pointers = tree::pointers(&tree);
            tree = tree::replace(&tree, &pointers[index.index(pointers.len())], value);
        }
        agree(validator(), &tree);
    }
}
