//! What the API's description says of an identifier, against the parser that reads it.

use oz0_api::{
    ApprovalId, CallId, CallPattern, ChangeId, ConnectionName, EdgeId, Endpoint, NodeName,
    PluginName, PluginVersion, PolicyMatch, RuleId, SecretName, TokenId,
};
use oz0_listing::{Digest, FunctionId, ListingHash, Pointer, ToolId};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Texts of a pattern's form, and texts that miss it by a character or by everything.
fn texts(pattern: &str) -> impl Strategy<Value = String> {
    let plain = pattern.trim_start_matches('^').trim_end_matches('$');
    let formed = proptest::string::string_regex(plain).expect("a pattern").boxed();
    let edited = (formed.clone(), any::<prop::sample::Index>(), any::<char>());
    let edited = edited.prop_map(|(text, at, char)| {
        let mut chars: Vec<char> = text.chars().collect();
        chars.insert(at.index(chars.len() + 1), char);
        chars.into_iter().collect::<String>()
    });
    prop_oneof![4 => formed, 4 => edited, 1 => any::<String>(), 1 => "oz(\\.[a-z*]{1,3})?"]
}

/// Holds a type's schema against its parser: both ways, or only that what the schema admits is read.
fn agree<T: JsonSchema + DeserializeOwned>(exact: bool) {
    let schema = T::json_schema(&mut SchemaGenerator::default()).to_value();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let pattern = schema["pattern"].as_str().expect("a pattern");
    let mut runner = TestRunner::new(Config::with_cases(256));
    let law = runner.run(&texts(pattern), |text| {
        let value: Value = json!(text);
        let admitted = validator.is_valid(&value);
        let read = serde_json::from_value::<T>(value);
        if exact {
            prop_assert_eq!(admitted, read.is_ok(), "{:?}", text);
        } else if admitted {
            prop_assert!(read.is_ok(), "{:?}", text);
        }
        Ok(())
    });
    law.unwrap_or_else(|error| panic!("{}: {error}", T::schema_name()));
}

#[test]
fn a_schema_admits_what_its_parser_reads() {
    agree::<PluginName>(true);
    agree::<NodeName>(true);
    agree::<ChangeId>(true);
    agree::<TokenId>(true);
    agree::<CallId>(true);
    agree::<ApprovalId>(true);
    agree::<RuleId>(true);
    agree::<EdgeId>(true);
    agree::<SecretName>(true);
    agree::<ConnectionName>(true);
    agree::<CallPattern>(true);
    agree::<PolicyMatch>(true);
    agree::<ToolId>(true);
    agree::<FunctionId>(true);
    agree::<Digest>(true);
    agree::<ListingHash>(true);
    agree::<Pointer>(true);
    // The parser reads numbers of 19 digits as well, as far as they have 64 bits.
    agree::<PluginVersion>(false);
}

#[test]
fn an_endpoint_that_is_read_is_one_by_its_schema() {
    let schema = Endpoint::json_schema(&mut SchemaGenerator::default()).to_value();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for url in [
        "https://mcp.example.com/x",
        "http://127.0.0.1:8080",
        "https://[::1]/",
        "https://{tenant}.example.com/mcp",
        "HTTPS://Bücher.example./",
    ] {
        let endpoint: Endpoint = url.parse().unwrap();
        assert!(validator.is_valid(&json!(endpoint.as_str())), "{endpoint}");
    }
}
