//! Answers that a node writes itself.

use oz0_listing::FunctionId;
use oz0_mcp::{CallError, Fault, RpcError, server};
use serde_json::value::RawValue;

/// JSON-RPC's code for parameters that are wrong: the protocol's answer to a function that is not known.
pub(crate) const INVALID_PARAMS: i64 = -32602;
/// JSON-RPC's code for a failure on this side or behind it.
const INTERNAL: i64 = -32603;

/// A result that says, to the model that called, why nothing was done.
pub(crate) fn refused(text: &str) -> Box<RawValue> {
    let text = serde_json::Value::from(text);
    RawValue::from_string(format!(
        r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true}}"#
    ))
    .expect("the text is JSON")
}

pub(crate) fn unknown(name: &str) -> RpcError {
    let name = oz0_listing::escape::line_within(name, 128);
    RpcError::new(INVALID_PARAMS, format!("Unknown tool: {name}"))
}

pub(crate) fn internal(what: impl Into<String>) -> RpcError {
    RpcError::new(INTERNAL, what)
}

pub(crate) fn busy(id: &FunctionId, limit: usize) -> RpcError {
    RpcError::new(
        server::BUSY,
        format!("{limit} calls of the server of {} are in flight already", id.tool()),
    )
}

/// What became of a call that brought no result. An error of the server's own passes as it is.
pub(crate) fn failed(id: &FunctionId, error: CallError) -> RpcError {
    let tool = id.tool();
    match error.fault {
        Fault::Answered(error) => error,
        Fault::Closed(closed) => internal(format!(
            "the server of {tool} ended while {id} was called ({closed}); it is started again, and whether the call \
             was done is not known"
        )),
        Fault::TimedOut { after, note } => internal(format!(
            "{id} did not answer within {} s, and was cancelled{note}; whether the call was done is not known",
            after.as_secs_f64()
        )),
        Fault::TooLarge { what, limit } => {
            internal(format!("the server of {tool} answered {id} with {what} above {limit} bytes"))
        }
        Fault::Busy { limit } => busy(id, limit),
        other => internal(format!("{id} could not be called: {other}")),
    }
}
