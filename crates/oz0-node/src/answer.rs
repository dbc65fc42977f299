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

/// Whether a result says that its function failed. Large results are looked at once, and not read.
pub(crate) fn says_error(result: &RawValue) -> bool {
    #[derive(serde::Deserialize)]
    struct Parts {
        #[serde(rename = "isError", default)]
        is_error: bool,
    }
    static IS_ERROR: std::sync::LazyLock<memchr::memmem::Finder<'static>> =
        std::sync::LazyLock::new(|| memchr::memmem::Finder::new("isError"));
    IS_ERROR.find(result.get().as_bytes()).is_some()
        && serde_json::from_str::<Parts>(result.get()).is_ok_and(|parts| parts.is_error)
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

/// What became of a call that brought no result. An error of the server's own passes as it is: the function that gave it is
/// what was approved. What else the server wrote meanwhile does not: it may be meant for another client, or for a model.
pub(crate) fn failed(id: &FunctionId, error: CallError) -> RpcError {
    const UNKNOWN: &str = "whether the call was done is not known";
    let tool = id.tool();
    internal(match error.fault {
        Fault::Answered(error) => return error,
        Fault::Busy { limit } => return busy(id, limit),
        Fault::Closed(_) => {
            format!(
                "the server of {tool} ended while {id} was called; it is started again, and {UNKNOWN}"
            )
        }
        Fault::TimedOut { after, .. } => format!(
            "{id} did not answer within {} s, and was cancelled; {UNKNOWN}",
            after.as_secs_f64()
        ),
        Fault::TooLarge { what, limit } => {
            format!("the server of {tool} answered {id} with {what} above {limit} bytes")
        }
        Fault::Malformed(_) => {
            format!("the server of {tool} answered {id} with what MCP does not allow; {UNKNOWN}")
        }
        Fault::Status { status, .. } => {
            format!("the server of {tool} answered {id} with HTTP {status}; {UNKNOWN}")
        }
        Fault::Redirect { status, .. } => {
            format!("the server of {tool} redirects {id} with HTTP {status}, which is not followed")
        }
        Fault::Refused(_) => {
            format!(
                "the server of {tool} answered {id} with what MCP's HTTP does not allow; {UNKNOWN}"
            )
        }
        Fault::SessionEnded => format!("the server of {tool} ended its session; {UNKNOWN}"),
        Fault::Unreachable(_) => format!("the server of {tool} cannot be reached"),
        Fault::BrokeOff(_) => {
            format!("the answer of the server of {tool} to {id} broke off; {UNKNOWN}")
        }
        Fault::Params(what) => format!("{id} could not be called: {what}"),
        _ => format!("{id} could not be called"),
    })
}
