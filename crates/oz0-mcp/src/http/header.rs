//! The headers that 2026-07-28 copies from a request's body: `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*`
//! (`basic/transports/streamable-http`, SEP-2243), and how their values are written.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::message::{Members, string};

/// A marked parameter of a function: where its value stands in the arguments, and the header it goes into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Param {
    pub(crate) header: HeaderName,
    path: Vec<String>,
}

const MARK: &str = "x-mcp-header";
/// Keywords whose value is a subschema or an array of them.
const SCHEMAS: [&str; 16] = [
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
];
/// Keywords whose value is an object of subschemas.
const NAMED_SCHEMAS: [&str; 5] =
    ["$defs", "definitions", "patternProperties", "dependentSchemas", "dependencies"];

/// A function's name and the parameters that its input schema marks. `Err` is why the marks are invalid; a function
/// that cannot be read at all has none, since judging it is not this transport's business.
pub(crate) fn params(function: &RawValue) -> Result<Option<(String, Vec<Param>)>, String> {
    let Ok(members) = Members::read(function.get()) else { return Ok(None) };
    let Some(name) = members.get("name").and_then(string) else { return Ok(None) };
    let schema = members.get("inputSchema").map(RawValue::get).unwrap_or_default();
    let mut found = Vec::new();
    if schema.contains(MARK) || schema.contains('\\') {
        let Ok(schema) = serde_json::from_str::<Value>(schema) else { return Ok(None) };
        walk(&schema, Some(&mut Vec::new()), &mut found)?;
    }
    Ok(Some((name.into_owned(), found)))
}

/// `path` is `None` once something other than `properties` was passed.
fn walk(
    schema: &Value,
    path: Option<&mut Vec<String>>,
    found: &mut Vec<Param>,
) -> Result<(), String> {
    let Value::Object(schema) = schema else { return Ok(()) };
    if let Some(mark) = schema.get(MARK) {
        let path = path
            .as_deref()
            .filter(|path| !path.is_empty())
            .ok_or_else(|| format!("`{MARK}` stands where no header can be taken from"))?;
        let header = mark
            .as_str()
            .filter(|name| !name.is_empty() && name.len() <= 128)
            .and_then(|name| HeaderName::try_from(format!("mcp-param-{name}")).ok())
            .ok_or_else(|| format!("`{MARK}` of `{}` is not a header name", path.join(".")))?;
        let kind = schema.get("type").and_then(Value::as_str);
        if !matches!(kind, Some("string" | "integer" | "boolean")) {
            let at = path.join(".");
            return Err(format!("`{MARK}` of `{at}`, which is no string, integer or boolean"));
        }
        if found.iter().any(|other| other.header == header) {
            return Err(format!("two parameters have the `{MARK}` {}", header.as_str()));
        }
        found.push(Param { header, path: path.clone() });
    }
    let mut path = path;
    if let Some(Value::Object(properties)) = schema.get("properties") {
        for (name, property) in properties {
            match path.as_deref_mut() {
                Some(path) => {
                    path.push(name.clone());
                    walk(property, Some(path), found)?;
                    path.pop();
                }
                None => walk(property, None, found)?,
            }
        }
    }
    for keyword in SCHEMAS {
        match schema.get(keyword) {
            Some(Value::Array(all)) => all.iter().try_for_each(|one| walk(one, None, found))?,
            Some(one) => walk(one, None, found)?,
            None => {}
        }
    }
    for keyword in NAMED_SCHEMAS {
        if let Some(Value::Object(all)) = schema.get(keyword) {
            all.values().try_for_each(|one| walk(one, None, found))?;
        }
    }
    Ok(())
}

/// The headers of one call's arguments. An argument that is absent, `null` or no scalar has none.
pub(crate) fn of_arguments(
    params: &[Param],
    arguments: &RawValue,
) -> Vec<(HeaderName, HeaderValue)> {
    params
        .iter()
        .filter_map(|param| {
            let mut at = arguments;
            for name in &param.path {
                let members = Members::read(at.get()).ok()?;
                if members.repeated(&[name]).is_some() {
                    return None;
                }
                at = members.get(name)?;
            }
            let text = match at.get().as_bytes().first()? {
                b'"' => string(at)?.into_owned(),
                b't' | b'f' => at.get().to_owned(),
                b'-' | b'0'..=b'9' => integer(at.get())?,
                _ => return None,
            };
            Some((param.header.clone(), value(&text)))
        })
        .collect()
}

/// A whole number within what a double holds exactly, in plain digits.
fn integer(text: &str) -> Option<String> {
    const EXACT: f64 = 9_007_199_254_740_991.0;
    let number: f64 = text.parse().ok()?;
    (number.fract() == 0.0 && number.abs() <= EXACT).then(|| format!("{number:.0}"))
}

/// A header value for a text: as it is where that is plain ASCII, else in the base64 form.
pub(crate) fn value(text: &str) -> HeaderValue {
    let printable = text.bytes().all(|byte| matches!(byte, 0x20..=0x7E));
    let trimmed = text.trim_matches(' ').len() == text.len();
    let disguised = text.starts_with("=?base64?") && text.ends_with("?=");
    let text = if printable && trimmed && !disguised {
        text.to_owned()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(text))
    };
    HeaderValue::try_from(text).expect("printable ASCII is a header value")
}
