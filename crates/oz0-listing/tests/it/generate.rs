//! Random JSON, and the same JSON written in another way.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Map, Value};

/// Strings of every kind, also such as differ in UTF-8 and UTF-16 order.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,3}",
        "[\u{0}-\u{7F}]{0,4}",
        "[\u{D000}-\u{D7FF}\u{E000}-\u{FFFF}\u{1F600}-\u{1F64F}]{0,2}",
        any::<String>(),
    ]
}

/// Finite doubles over the whole range, and the whole numbers that schemas hold.
pub(crate) fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits).prop_filter_map("finite", |number| {
            serde_json::Number::from_f64(number).map(Value::Number)
        }),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-9i64..100).prop_map(Value::from),
    ]
}

/// Any JSON value.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number(),
        text().prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map(text(), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A function as a server might list it.
pub(crate) fn function() -> impl Strategy<Value = Value> {
    ("[a-zA-Z0-9_.-]{1,12}", prop::collection::btree_map(member(), value(), 0..8)).prop_map(
        |(name, members)| {
            let mut members: Map<_, _> = members.into_iter().collect();
            members.insert("name".to_owned(), Value::String(name));
            Value::Object(members)
        },
    )
}

fn member() -> impl Strategy<Value = String> {
    const KNOWN: &[&str] =
        &["title", "description", "inputSchema", "outputSchema", "annotations", "_meta"];
    prop_oneof![prop::sample::select(KNOWN).prop_map(str::to_owned), text()]
}

/// The same value in other bytes: members in another order, whitespace, escapes in strings, numbers
/// in another notation, all chosen by `seed`.
pub(crate) fn rewritten(value: &Value, seed: &mut u64) -> String {
    let mut next = |among: u64| {
        // xorshift64; enough to choose a notation.
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        *seed % among
    };
    let blank = |which: u64| ["", " ", "\n\t", "\r\n  "][usize::try_from(which).unwrap()];
    match value {
        Value::Null | Value::Bool(_) => value.to_string(),
        Value::Number(number) => {
            let number = number.as_f64().unwrap();
            match next(3) {
                0 => format!("{number:e}"),
                1 => format!("{number:E}"),
                // Forty places are more digits than a double has, but not of a tiny one.
                _ if (1e-15..1e18).contains(&number.abs()) => format!("{number:.40}"),
                _ => format!("{number}"),
            }
        }
        Value::String(text) => quoted(text, next(3)),
        Value::Array(items) => {
            let mut out = format!("[{}", blank(next(4)));
            for (at, item) in items.iter().enumerate() {
                out += if at == 0 { "" } else { "," };
                out += &rewritten(item, seed);
            }
            out + "]"
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            for at in (1..members.len()).rev() {
                members.swap(at, usize::try_from(next(at as u64 + 1)).unwrap());
            }
            let mut out = format!("{{{}", blank(next(4)));
            for (at, (name, value)) in members.into_iter().enumerate() {
                *seed = seed.rotate_left(5) | 1;
                let (gap, style) = (blank(*seed % 4), *seed / 4 % 3);
                out += if at == 0 { "" } else { "," };
                out += &[gap, &quoted(name, style), gap, ":", gap].concat();
                out += &rewritten(value, seed);
                out += gap;
            }
            out + "}"
        }
    }
}

fn quoted(text: &str, style: u64) -> String {
    match style {
        0 => serde_json::to_string(text).unwrap(),
        1 => {
            let mut out = "\"".to_owned();
            for unit in text.encode_utf16() {
                write!(out, "\\u{unit:04x}").unwrap();
            }
            out + "\""
        }
        _ => serde_json::to_string(text).unwrap().replace('/', "\\/"),
    }
}
