//! To and from `serde_json`, for those who build or read small documents with it.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::{Json, Object};

/// Integers up to this many in either direction are exact doubles.
const EXACT: f64 = 9_007_199_254_740_992.0;

#[expect(clippy::cast_possible_truncation, reason = "whole, and at most 2^53 either way")]
fn as_exact_integer(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

impl From<&Value> for Json {
    /// Numbers become doubles. Members come from a map, so none repeats.
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            // Without arbitrary_precision every number is one of i64, u64 and a finite f64.
            Value::Number(number) => Self::Number(number.as_f64().unwrap_or_default() + 0.0),
            Value::String(text) => Self::String(text.clone()),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(members) => Self::Object(
                members.iter().map(|(name, value)| (name.as_str(), Self::from(value))).collect(),
            ),
        }
    }
}

impl<S: AsRef<str>> From<&Json<S>> for Value {
    fn from(value: &Json<S>) -> Self {
        match value {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => match as_exact_integer(*number) {
                Some(integer) => Self::from(integer),
                None => Self::from(*number),
            },
            Json::String(text) => Self::String(text.as_ref().to_owned()),
            Json::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Json::Object(object) => Self::Object(
                object.iter().map(|(name, value)| (name.to_owned(), Self::from(value))).collect(),
            ),
        }
    }
}

impl<S: AsRef<str>> Serialize for Json<S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => match as_exact_integer(*number) {
                Some(integer) => serializer.serialize_i64(integer),
                None => serializer.serialize_f64(*number),
            },
            Self::String(text) => serializer.serialize_str(text.as_ref()),
            Self::Array(items) => serializer.collect_seq(items),
            Self::Object(object) => object.serialize(serializer),
        }
    }
}

impl<S: AsRef<str>> Serialize for Object<S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (name, value) in self.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
