//! What is passed on of what a server answered.

use oz0_api::{Code, Problem};
use oz0_listing::FunctionId;
use oz0_mcp::{RpcError, server};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Gateway, Halt};
use crate::answer;
use crate::event::Event;
use crate::instance::Instance;
use crate::options::Validate;
use crate::outcome::Outcome;
use crate::question;
use crate::table::{Accepted, Entry};

impl Gateway {
    /// A server's result, as far as it is passed on.
    pub(super) fn passed(
        &self,
        entry: &Entry,
        accepted: &Accepted,
        instance: &Instance,
        result: Box<RawValue>,
    ) -> Result<Box<RawValue>, Halt> {
        let options = &self.roster.host.options;
        let id = &entry.id;
        if result.get().len() > options.limits.result {
            let limit = options.limits.result;
            let why = format!("the result of {id} is above {limit} bytes");
            return Err(Halt::internal(Outcome::TooLarge, why));
        }
        if !result.get().starts_with('{') {
            let why = format!("the result of {id} is not an object");
            return Err(Halt::internal(Outcome::Result, why));
        }
        let schemas = accepted.schemas(options.arguments);
        if options.validate != Validate::Off && schemas.has_output() {
            #[derive(Deserialize)]
            struct Parts<'a> {
                #[serde(borrow, rename = "structuredContent", default)]
                content: Option<&'a RawValue>,
                #[serde(rename = "isError", default)]
                is_error: bool,
                #[serde(rename = "resultType", default)]
                kind: Option<String>,
            }
            let checked = match serde_json::from_str::<Parts<'_>>(result.get()) {
                // What failed has no structure to keep, and what asks is no result yet.
                Ok(parts) if parts.is_error => Ok(()),
                Ok(Parts { kind: Some(kind), .. }) if kind != "complete" => Ok(()),
                Ok(parts) => schemas.check_result(parts.content.map(RawValue::get)),
                Err(error) => Err(error.to_string()),
            };
            if let Err(reason) = checked {
                if options.validate == Validate::Refuse {
                    let why = format!(
                        "the result of {id} does not match its output schema, so it is not passed on: {reason}"
                    );
                    return Err(Halt::internal(Outcome::Result, why));
                }
                self.roster.tell(Event::ResultMismatch { function: id.clone(), reason });
            }
        }
        question::presented_in(id, result, instance.recipe.sampling).map_err(|why| {
            Halt::internal(Outcome::Result, format!("{id} asks for what it may not: {why}"))
        })
    }
}

/// An error of the protocol, for whoever asked at the edge.
pub(super) fn problem(function: &FunctionId, error: &RpcError) -> Problem {
    let code = match error.code {
        answer::INVALID_PARAMS => Code::Malformed,
        server::BUSY => Code::Unavailable,
        _ => Code::Internal,
    };
    let said = oz0_listing::escape::text(&error.message);
    Problem::new(code, format!("{function}: {said}"))
}

/// The answer about a function that nobody here has.
pub(super) fn unknown(function: &FunctionId) -> Problem {
    Problem::new(Code::NotFound, format!("no plugin here has a function {function}"))
        .hint("`oz0 catalog` shows what can be called")
}
