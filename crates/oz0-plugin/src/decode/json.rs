//! Values that the manifest passes on as JSON: a schema, an argument, a default.

use oz0_diagnostic::Diagnostic;
use oz0_yaml::{Node, Value};
use serde_json::{Map, Number, json};

use super::{Context, Decode, Definitions};
use crate::check::OZ_L001;

fn to_json(node: &Node, cx: &mut Context<'_>) -> Option<serde_json::Value> {
    Some(match &node.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => (*value).into(),
        Value::Float(value) => return number(*value, node, cx),
        Value::BigInt(digits) => return number(digits.parse().unwrap_or(f64::NAN), node, cx),
        Value::String(text) => text.as_str().into(),
        Value::Sequence(nodes) => {
            let items: Vec<Option<serde_json::Value>> = nodes
                .iter()
                .enumerate()
                .map(|(index, node)| {
                    cx.within(format!("[{index}]"), node.range.clone(), |cx| to_json(node, cx))
                })
                .collect();
            items.into_iter().collect::<Option<Vec<_>>>()?.into()
        }
        Value::Mapping(entries) => {
            let mut members = Map::new();
            let mut whole = true;
            for entry in entries {
                let value = cx.within_entry(entry, |cx, node| to_json(node, cx));
                match (entry.key.as_str(), value) {
                    (Some(key), Some(value)) => {
                        members.entry(key).or_insert(value);
                    }
                    (None, _) => {
                        whole = false;
                        let message = format!("{} has {} as a key", cx.subject(), entry.key.kind());
                        let span = cx.span(entry.key.range.clone());
                        cx.misshape(
                            Diagnostic::new(&OZ_L001, span, message)
                                .help("write the key in quotes: JSON's keys are strings"),
                        );
                    }
                    (Some(_), None) => whole = false,
                }
            }
            if !whole {
                return None;
            }
            members.into()
        }
    })
}

fn number(value: f64, node: &Node, cx: &mut Context<'_>) -> Option<serde_json::Value> {
    let number = Number::from_f64(value).filter(|_| value.is_finite());
    if number.is_none() {
        let message = format!("{} is a number that JSON cannot hold", cx.subject());
        cx.misshape(Diagnostic::new(&OZ_L001, cx.span(node.range.clone()), message));
    }
    number.map(serde_json::Value::Number)
}

/// Any JSON value.
impl Decode for serde_json::Value {
    fn decode(node: &Node, cx: &mut Context<'_>) -> Option<Self> {
        to_json(node, cx)
    }

    fn schema(_: &mut Definitions) -> serde_json::Value {
        json!(true)
    }
}

/// A JSON object.
impl Decode for serde_json::Map<String, serde_json::Value> {
    fn decode(node: &Node, cx: &mut Context<'_>) -> Option<Self> {
        let Value::Mapping(_) = &node.value else {
            cx.mistyped(node, "a mapping");
            return None;
        };
        match to_json(node, cx)? {
            serde_json::Value::Object(members) => Some(members),
            _ => None,
        }
    }

    fn schema(_: &mut Definitions) -> serde_json::Value {
        json!({"type": "object"})
    }
}

impl Decode for bool {
    fn decode(node: &Node, cx: &mut Context<'_>) -> Option<Self> {
        let Value::Bool(value) = &node.value else {
            cx.mistyped(node, "true or false");
            return None;
        };
        Some(*value)
    }

    fn schema(_: &mut Definitions) -> serde_json::Value {
        json!({"type": "boolean"})
    }
}

/// A JSON Schema: an object, or `true` or `false`. Compiled by whoever applies it.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonSchema(serde_json::Value);

impl JsonSchema {
    /// The schema as JSON.
    pub fn as_json(&self) -> &serde_json::Value {
        &self.0
    }
}

impl Decode for JsonSchema {
    fn decode(node: &Node, cx: &mut Context<'_>) -> Option<Self> {
        if !matches!(node.value, Value::Mapping(_) | Value::Bool(_)) {
            cx.mistyped(node, "a JSON Schema: a mapping, true or false");
            return None;
        }
        to_json(node, cx).map(Self)
    }

    fn schema(_: &mut Definitions) -> serde_json::Value {
        json!({"type": ["object", "boolean"], "description": "A JSON Schema"})
    }
}
