//! A client's message, checked before anything acts on it.

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::codes;
use super::options::ServerLimits;
use super::splice::depth;
use crate::error::RpcError;
use crate::message::{Members, Message};

/// What a client sent.
pub(crate) enum Incoming<'a> {
    One(Message<'a>),
    Batch(Vec<&'a RawValue>),
}

/// A message that is refused, and the ID of the request that it seems to be.
pub(crate) struct Refused {
    pub(crate) id: String,
    pub(crate) error: RpcError,
}

fn refused(code: i64, why: impl Into<String>) -> Refused {
    Refused { id: "null".to_owned(), error: RpcError::new(code, why) }
}

/// Reads what came: UTF-8, JSON, not nested too deep, JSON-RPC.
pub(crate) fn read<'a>(bytes: &'a [u8], limits: &ServerLimits) -> Result<Incoming<'a>, Refused> {
    let text = std::str::from_utf8(bytes).map_err(|_| refused(codes::PARSE, "not UTF-8"))?;
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    if depth(text) > limits.depth {
        let why = format!("the message nests deeper than {}", limits.depth);
        return Err(refused(codes::INVALID_REQUEST, why));
    }
    if !text.starts_with('[') {
        return one(text).map(Incoming::One);
    }
    let batch: Vec<&RawValue> =
        serde_json::from_str(text).map_err(|error| refused(codes::PARSE, error.to_string()))?;
    if batch.is_empty() {
        return Err(refused(codes::INVALID_REQUEST, "an empty batch"));
    }
    if batch.len() > limits.batch {
        let why = format!("a batch of more than {} messages", limits.batch);
        return Err(refused(codes::INVALID_REQUEST, why));
    }
    Ok(Incoming::Batch(batch))
}

/// Reads one message.
pub(crate) fn one(text: &str) -> Result<Message<'_>, Refused> {
    Message::read(text).map_err(|malformed| {
        if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
            return refused(codes::PARSE, format!("not JSON: {error}"));
        }
        let id = Members::read(text)
            .ok()
            .filter(|members| {
                members.repeated(&["id"]).is_none() && members.get("method").is_some()
            })
            .and_then(|members| members.get("id").map(|id| id.get().to_owned()))
            .filter(|id| {
                id.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
            });
        Refused {
            id: id.unwrap_or_else(|| "null".to_owned()),
            error: RpcError::new(codes::INVALID_REQUEST, malformed.why),
        }
    })
}
