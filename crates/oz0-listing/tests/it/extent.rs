//! *Widened* and *narrowed* are claims about every value, held here against a small validator.

use oz0_listing::Listing;
use oz0_listing::diff::{Extent, Label, ParameterChange, compare};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Whether a value fits a schema of the keywords that [`schema`] generates.
fn fits(value: &Value, schema: &Value, root: &Value) -> bool {
    let Value::Object(schema) = schema else {
        return schema == &Value::Bool(true);
    };
    schema.iter().all(|(keyword, wanted)| match keyword.as_str() {
        "type" => match wanted {
            Value::Array(any) => any.iter().any(|name| is_of(value, name.as_str().unwrap())),
            name => is_of(value, name.as_str().unwrap()),
        },
        "enum" => wanted.as_array().unwrap().contains(value),
        "const" => wanted == value,
        "minimum" => value.as_f64().is_none_or(|number| number >= wanted.as_f64().unwrap()),
        "exclusiveMinimum" => value.as_f64().is_none_or(|number| number > wanted.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|number| number <= wanted.as_f64().unwrap()),
        "maxLength" => value
            .as_str()
            .is_none_or(|text| text.chars().count() as u64 <= wanted.as_u64().unwrap()),
        "required" => value.as_object().is_none_or(|members| {
            wanted
                .as_array()
                .unwrap()
                .iter()
                .all(|name| members.contains_key(name.as_str().unwrap()))
        }),
        "properties" => value.as_object().is_none_or(|members| {
            wanted.as_object().unwrap().iter().all(|(name, schema)| {
                members.get(name).is_none_or(|value| fits(value, schema, root))
            })
        }),
        "additionalProperties" => value.as_object().is_none_or(|members| {
            let named = schema.get("properties").and_then(Value::as_object);
            members.iter().all(|(name, value)| {
                named.is_some_and(|named| named.contains_key(name)) || fits(value, wanted, root)
            })
        }),
        "items" => {
            value.as_array().is_none_or(|items| items.iter().all(|item| fits(item, wanted, root)))
        }
        "anyOf" => wanted.as_array().unwrap().iter().any(|schema| fits(value, schema, root)),
        "allOf" => wanted.as_array().unwrap().iter().all(|schema| fits(value, schema, root)),
        "not" => !fits(value, wanted, root),
        "$ref" => {
            let name = wanted.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
            fits(value, &root["$defs"][name], root)
        }
        other => panic!("{other} is not generated"),
    })
}

fn is_of(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => {
            name == "number" || name == "integer" && number.as_f64().unwrap().fract() == 0.0
        }
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}

/// Few and small values, so that random schemas often disagree about one of them.
fn values() -> Vec<Value> {
    let small = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(1.5),
        json!(2),
        json!(""),
        json!("a"),
        json!("ab"),
    ];
    let mut values = small.to_vec();
    values.extend([json!([]), json!({}), json!([[]]), json!({"x": {}})]);
    for one in &small {
        values.extend([json!([one]), json!({"x": one}), json!({"y": one}), json!({"z": one})]);
        for other in &small {
            values.extend([
                json!([one, other]),
                json!({"x": one, "y": other}),
                json!({"x": one, "z": other}),
            ]);
        }
        values.extend([json!({"x": {"x": one}}), json!({"y": {"y": one}}), json!([{"x": one}])]);
    }
    values
}

fn schema() -> impl Strategy<Value = Value> {
    let keyword = prop_oneof![
        prop::sample::subsequence(
            vec!["null", "boolean", "integer", "number", "string", "array", "object"],
            1..4
        )
        .prop_map(|types| ("type", json!(types))),
        prop::sample::subsequence(
            vec![json!(null), json!(0), json!(1.5), json!("a"), json!("ab"), json!([])],
            1..4
        )
        .prop_map(|values| ("enum", json!(values))),
        prop::sample::select(vec![json!(1), json!("a")]).prop_map(|value| ("const", value)),
        (0..3).prop_map(|least| ("minimum", json!(least))),
        (0..3).prop_map(|least| ("exclusiveMinimum", json!(least))),
        (0..3).prop_map(|most| ("maximum", json!(most))),
        (0..3).prop_map(|most| ("maxLength", json!(most))),
        prop::sample::subsequence(vec!["x", "y"], 1..3)
            .prop_map(|names| ("required", json!(names))),
        Just(("$ref", json!("#/$defs/d"))),
    ];
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Value::Bool),
        6 => prop::collection::vec(keyword.clone(), 0..3).prop_map(of_keywords),
    ];
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let nested = prop_oneof![
            prop::collection::btree_map(prop::sample::select(vec!["x", "y"]), inner.clone(), 1..3)
                .prop_map(|named| ("properties", json!(named))),
            inner.clone().prop_map(|schema| ("additionalProperties", schema)),
            inner.clone().prop_map(|schema| ("items", schema)),
            inner.clone().prop_map(|schema| ("not", schema)),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|any| ("anyOf", json!(any))),
            prop::collection::vec(inner, 1..3).prop_map(|all| ("allOf", json!(all))),
        ];
        (prop::collection::vec(nested, 1..3), prop::collection::vec(keyword.clone(), 0..2))
            .prop_map(|(nested, flat)| of_keywords(nested.into_iter().chain(flat).collect()))
    })
}

fn of_keywords(keywords: Vec<(&'static str, Value)>) -> Value {
    Value::Object(keywords.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// A definition that refers to nothing, so that the validator ends.
fn definition() -> impl Strategy<Value = Value> {
    schema().prop_filter("no reference", |schema| !schema.to_string().contains("$ref"))
}

/// Pairs that are alike, so that a claim is often made: one schema, and the same with a keyword
/// more, fewer, or other.
fn pair() -> impl Strategy<Value = (Value, Value)> {
    (schema(), schema(), 0..4).prop_map(|(one, other, how)| {
        let merged = |first: &Value, second: &Value| match (first, second) {
            (Value::Object(first), Value::Object(second)) => {
                let mut members: Map<_, _> = first.clone();
                members.extend(second.clone());
                Value::Object(members)
            }
            _ => second.clone(),
        };
        match how {
            0 => (one, other),
            1 => (one.clone(), merged(&one, &other)),
            2 => (one.clone(), json!({"anyOf": [one, other]})),
            _ => (
                json!({"properties": {"x": one}}),
                json!({"properties": {"x": merged(&other, &one)}}),
            ),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_called_widened_accepts_all_it_did(
        (old, new) in pair(),
        old_definition in definition(),
        new_definition in definition(),
        same_definition in any::<bool>(),
    ) {
        let new_definition = if same_definition { old_definition.clone() } else { new_definition };
        let document = |p: &Value, d: &Value| json!({"properties": {"p": p}, "$defs": {"d": d}});
        let (old_root, new_root) = (document(&old, &old_definition), document(&new, &new_definition));
        let listing = |root: &Value| {
            Listing::read(&json!({"name": "f", "inputSchema": root}).to_string(), &[]).unwrap()
        };
        let difference = compare(&listing(&old_root), &listing(&new_root));
        let claim = difference.labels.iter().find_map(|label| match label {
            Label::Parameter { change: ParameterChange::Accepts(extent), .. } => Some(*extent),
            _ => None,
        });
        for value in values() {
            let before = fits(&value, &old, &old_root);
            let after = fits(&value, &new, &new_root);
            match claim {
                Some(Extent::Changed) => {}
                Some(Extent::Widened) => prop_assert!(!before || after, "{}", value),
                Some(Extent::Narrowed) => prop_assert!(before || !after, "{}", value),
                None => prop_assert_eq!(before, after, "{}", value),
            }
        }
    }
}
