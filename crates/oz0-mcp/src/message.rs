//! JSON-RPC 2.0 messages, read without touching what they carry.
//!
//! Only the envelope is understood here. `params`, `result` and `error.data` stay the text that the peer wrote
//! ([`RawValue`]), so that number notation, member order and repeated names inside them reach whoever must judge them.
//! The envelope itself is read strictly: a member named twice is refused, since two readers could each believe another
//! one. A message that is refused still says which request it wanted to answer, where that is beyond doubt, so the
//! caller hears of it at once instead of waiting for its time-out.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::RpcError;

/// An object's members in the order they were written, repeated names included.
#[derive(Debug)]
pub(crate) struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

/// Members of one object that are looked at: more is no JSON-RPC envelope.
const MEMBERS: usize = 4096;

impl<'a> Members<'a> {
    /// Reads the top level of a JSON object.
    pub(crate) fn read(text: &'a str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// The first of these names that stands more than once.
    pub(crate) fn repeated<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().find(|name| self.0.iter().filter(|(key, _)| key == *name).count() > 1).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(key, value)| (key.as_ref(), *value))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Key<'k>(#[serde(borrow)] Cow<'k, str>);

        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Key(key), value)) = map.next_entry()? {
                    if members.len() == MEMBERS {
                        return Err(serde::de::Error::custom("more members than a message has"));
                    }
                    members.push((key, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

/// One JSON-RPC message, borrowed from its text.
#[derive(Debug)]
pub enum Message<'a> {
    /// The peer asks, and waits for an answer with this ID.
    Request {
        /// The ID as the peer wrote it.
        id: &'a RawValue,
        /// The method's name.
        method: Cow<'a, str>,
        /// Its parameters, where there are any.
        params: Option<&'a RawValue>,
    },
    /// The peer tells, and expects nothing.
    Notification {
        /// The method's name.
        method: Cow<'a, str>,
        /// Its parameters, where there are any.
        params: Option<&'a RawValue>,
    },
    /// The answer to a request of ours.
    Answer {
        /// The ID as the peer wrote it; `null` when the peer could not read ours.
        id: &'a RawValue,
        /// The result, or the error that it answered with.
        outcome: Result<&'a RawValue, RpcError>,
    },
}

/// Why a text is no JSON-RPC message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The request of ours that it set out to answer, where that is beyond doubt.
    pub id: Option<u64>,
    /// What is wrong.
    pub why: String,
}

impl<'a> Message<'a> {
    /// Reads one message; a batch is none.
    ///
    /// # Errors
    ///
    /// The text is not JSON, no object, not JSON-RPC 2.0, or says what it is in two ways.
    pub fn read(text: &'a str) -> Result<Self, Malformed> {
        let members = Members::read(text)
            .map_err(|error| Malformed { id: None, why: format!("not a JSON object: {error}") })?;
        let asks = members.get("method").is_some();
        let malformed = |why: String| Malformed {
            id: if asks || members.repeated(&["id"]).is_some() {
                None
            } else {
                members.get("id").and_then(number)
            },
            why,
        };
        if let Some(name) =
            members.repeated(&["jsonrpc", "id", "method", "params", "result", "error"])
        {
            return Err(malformed(format!("the member `{name}` stands twice")));
        }
        if members.get("jsonrpc").map(RawValue::get) != Some(r#""2.0""#) {
            return Err(malformed("`jsonrpc` is not \"2.0\"".to_owned()));
        }
        let id = members.get("id");
        let params = members.get("params");
        if let Some(method) = members.get("method") {
            if members.get("result").is_some() || members.get("error").is_some() {
                return Err(malformed("both a `method` and an answer".to_owned()));
            }
            let method: Cow<'a, str> = Deserialize::deserialize(method)
                .map(Text::into_inner)
                .map_err(|_| malformed("`method` is not a string".to_owned()))?;
            return match id {
                None => Ok(Self::Notification { method, params }),
                Some(id) if is_id(id) => Ok(Self::Request { id, method, params }),
                Some(_) => Err(malformed("`id` is neither a string nor a number".to_owned())),
            };
        }
        let outcome = match (members.get("result"), members.get("error")) {
            (Some(result), None) => Ok(result),
            (None, Some(error)) => {
                Err(RpcError::read(error).map_err(|why| malformed(format!("`error`: {why}")))?)
            }
            (Some(_), Some(_)) => {
                return Err(malformed("both a `result` and an `error`".to_owned()));
            }
            (None, None) => {
                return Err(malformed(
                    "neither a `method` nor a `result` nor an `error`".to_owned(),
                ));
            }
        };
        match id {
            Some(id) => Ok(Self::Answer { id, outcome }),
            None => Err(malformed("an answer without an `id`".to_owned())),
        }
    }
}

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Text<'a> {
    fn into_inner(self) -> Cow<'a, str> {
        self.0
    }
}

/// A JSON string's text.
pub(crate) fn string(value: &RawValue) -> Option<Cow<'_, str>> {
    Text::deserialize(value).ok().map(Text::into_inner)
}

/// An ID of ours: they are whole numbers, written plainly.
pub(crate) fn number(id: &RawValue) -> Option<u64> {
    let text = id.get();
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    plain.then(|| text.parse().ok()).flatten()
}

fn is_id(id: &RawValue) -> bool {
    id.get().starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
}

/// The text of a request.
pub(crate) fn request(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":{params}}}"#, quote(method))
}

/// The text of a notification.
pub(crate) fn notification(method: &str, params: Option<&str>) -> String {
    let method = quote(method);
    match params {
        Some(params) => format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#),
        None => format!(r#"{{"jsonrpc":"2.0","method":{method}}}"#),
    }
}

/// The text of an answer to the peer's own request.
pub(crate) fn answer(id: &str, outcome: &Result<Box<RawValue>, RpcError>) -> String {
    match outcome {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        Err(error) => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, error.to_json()),
    }
}

/// A text as a JSON string.
pub(crate) fn quote(text: &str) -> String {
    serde_json::to_string(text).expect("any text is a JSON string")
}

/// One line for the stdio transport, which allows no line break inside a message: line ends between tokens, the only
/// place where JSON can hold them, become spaces.
pub(crate) fn one_line(text: String) -> String {
    match memchr::memchr2(b'\n', b'\r', text.as_bytes()) {
        Some(_) => text.replace(['\n', '\r'], " "),
        None => text,
    }
}

/// Adds the members that every modern request carries to `params._meta`, by splicing: nothing else is rewritten. Of
/// what stands there already under these names, ours wins.
pub(crate) fn with_meta(params: &str, meta: &[(&str, &str)]) -> Result<String, String> {
    let members = Members::read(params).map_err(|error| format!("not an object: {error}"))?;
    if members.repeated(&["_meta"]).is_some() {
        return Err("the member `_meta` stands twice".to_owned());
    }
    let mut object = String::from("{");
    let mut put = |name: &str, value: &str| {
        if object.len() > 1 {
            object.push(',');
        }
        object.push_str(&quote(name));
        object.push(':');
        object.push_str(value);
    };
    let old = members.get("_meta");
    if let Some(old) = old {
        let inner = Members::read(old.get()).map_err(|_| "`_meta` is not an object".to_owned())?;
        for (name, value) in
            inner.iter().filter(|(name, _)| meta.iter().all(|(own, _)| own != name))
        {
            put(name, value.get());
        }
    }
    for (name, value) in meta {
        put(name, value);
    }
    object.push('}');
    if let Some(old) = old {
        let at = old.get().as_ptr() as usize - params.as_ptr() as usize;
        return Ok([&params[..at], &object, &params[at + old.get().len()..]].concat());
    }
    let open = params.find('{').map_or(0, |at| at + 1);
    let comma = if members.iter().next().is_some() { "," } else { "" };
    Ok([&params[..open], "\"_meta\":", &object, comma, &params[open..]].concat())
}
