use oz0_policy::Condition;
use serde_json::{Value, json};

fn condition(parts: &Value) -> Condition {
    let parts = parts.as_object().unwrap();
    Condition::new(parts.iter().map(|(pointer, schema)| (pointer.as_str(), schema)))
}

#[test]
fn every_pointer_must_lead_to_what_its_schema_allows() {
    let ops = condition(&json!({"/project": {"const": "OPS"}, "/fields/0": {"type": "string"}}));
    for (arguments, holds) in [
        (json!({"project": "OPS", "fields": ["a"]}), true),
        (json!({"project": "OPS", "fields": []}), false),
        (json!({"project": "DEV", "fields": ["a"]}), false),
        (json!({"fields": ["a"]}), false),
        (json!({}), false),
    ] {
        assert_eq!(ops.holds(&arguments).unwrap(), holds, "{arguments}");
    }
    assert!(condition(&json!({})).holds(&json!({})).unwrap(), "nothing is asked");
    assert!(condition(&json!({"": {"minProperties": 1}})).holds(&json!({"x": 1})).unwrap());
    assert!(condition(&json!({"/a~1b": true})).holds(&json!({"a/b": null})).unwrap());
}

#[test]
fn what_cannot_be_compiled_says_neither_yes_nor_no() {
    for schema in [
        json!({"type": "nothing"}),
        json!({"$ref": "http://example.com/s.json"}),
        json!({"pattern": "(?<=a)b"}),
        json!({"pattern": "(a{1000}){1000}"}),
    ] {
        let broken = condition(&json!({"/x": schema}));
        let why = broken.holds(&json!({"x": "b"})).unwrap_err().to_string();
        assert!(why.starts_with("its schema for /x cannot be used"), "{why}");
        assert!(broken.check().is_err());
    }
}
