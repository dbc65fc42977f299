//! Values without places: what an edit puts in, and what two texts are compared by.

use crate::node::Value;

/// A value without a place.
///
/// Two of them are equal when the core schema reads them as the same value with its entries in the
/// same order: `.nan` equals `.nan`, and `1` is not `1.0`.
#[derive(Debug, Clone)]
pub enum Data {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer that an `i64` does not hold.
    BigInt(String),
    /// A float.
    Float(f64),
    /// A string.
    String(String),
    /// A sequence.
    Sequence(Vec<Data>),
    /// A mapping in its order.
    Mapping(Vec<(Data, Data)>),
}

impl Data {
    /// A sequence.
    pub fn sequence(items: impl IntoIterator<Item = impl Into<Self>>) -> Self {
        Self::Sequence(items.into_iter().map(Into::into).collect())
    }

    /// A mapping with strings as keys.
    pub fn mapping<K: Into<String>, V: Into<Self>>(
        entries: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let entry = |(key, value): (K, V)| (Self::String(key.into()), value.into());
        Self::Mapping(entries.into_iter().map(entry).collect())
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::BigInt(_) => "an integer",
            Self::Float(_) => "a float",
            Self::String(_) => "a string",
            Self::Sequence(_) => "a sequence",
            Self::Mapping(_) => "a mapping",
        }
    }

    /// How many levels of collections it has.
    pub(crate) fn levels(&self) -> usize {
        match self {
            Self::Sequence(items) => 1 + items.iter().map(Self::levels).max().unwrap_or(0),
            Self::Mapping(entries) => {
                1 + entries.iter().map(|(k, v)| k.levels().max(v.levels())).max().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// A text that two values share exactly when they are the same key of a mapping (YAML 1.2.2
    /// section 3.2.1.3: mappings as keys are equal in any order of their entries).
    pub(crate) fn fingerprint(&self, out: &mut String) {
        use std::fmt::Write as _;
        // Writing to a String cannot fail.
        let _ = match self {
            Self::Null => write!(out, "n;"),
            Self::Bool(value) => write!(out, "b{value};"),
            Self::Int(value) => write!(out, "i{value};"),
            Self::BigInt(digits) => write!(out, "i{digits};"),
            Self::Float(value) => write!(out, "f{:x};", float_bits(*value)),
            Self::String(text) => write!(out, "s{}:{text};", text.len()),
            Self::Sequence(items) => {
                out.push('[');
                for item in items {
                    item.fingerprint(out);
                }
                write!(out, "];")
            }
            Self::Mapping(entries) => {
                let mut parts: Vec<String> = entries
                    .iter()
                    .map(|(key, value)| {
                        let mut part = String::new();
                        key.fingerprint(&mut part);
                        value.fingerprint(&mut part);
                        part
                    })
                    .collect();
                parts.sort_unstable();
                write!(out, "{{{}}};", parts.concat())
            }
        };
    }
}

/// The bits by which two floats are the same value: there is one zero, and one NaN.
fn float_bits(value: f64) -> u64 {
    if value.is_nan() {
        f64::NAN.to_bits()
    } else if value == 0.0 {
        0
    } else {
        value.to_bits()
    }
}

impl PartialEq for Data {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => float_bits(*a) == float_bits(*b),
            (Self::BigInt(a), Self::BigInt(b)) | (Self::String(a), Self::String(b)) => a == b,
            (Self::Sequence(a), Self::Sequence(b)) => a == b,
            (Self::Mapping(a), Self::Mapping(b)) => a == b,
            _ => false,
        }
    }
}

impl From<&Value> for Data {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Int(value) => Self::Int(*value),
            Value::BigInt(digits) => Self::BigInt(digits.clone()),
            Value::Float(value) => Self::Float(*value),
            Value::String(text) => Self::String(text.clone()),
            Value::Sequence(items) => {
                Self::Sequence(items.iter().map(|item| Self::from(&item.value)).collect())
            }
            Value::Mapping(entries) => Self::Mapping(
                entries
                    .iter()
                    .map(|entry| (Self::from(&entry.key.value), Self::from(&entry.value.value)))
                    .collect(),
            ),
        }
    }
}

impl From<&str> for Data {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Data {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Data {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Data {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Data {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}
