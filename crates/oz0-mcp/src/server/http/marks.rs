//! `Mcp-Param-*`: arguments that a function's input schema copies into headers (`x-mcp-header`).
//!
//! Whatever routes or limits by such a header trusts that the body says the same, so here, where both are at hand, a
//! call whose headers differ from its arguments is refused (2026-07-28, `basic/transports/streamable-http`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::HeaderMap;
use serde_json::value::RawValue;

use super::guard::{Unclear, decoded, single};
use crate::error::RpcError;
use crate::http::header::{Param, of_arguments, params};
use crate::message::{Members, string};
use crate::server::codes;
use crate::server::gateway::Functions;

/// Listings whose marks are kept: one for each set of functions that some client sees.
const KEPT: usize = 16;

type Marked = Arc<HashMap<String, Vec<Param>>>;

/// The marked parameters of the listings that were used last.
#[derive(Debug, Default)]
pub(super) struct Marks(Mutex<Vec<(Arc<Functions>, Marked)>>);

impl Marks {
    fn of(&self, functions: &Arc<Functions>) -> Marked {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = kept.iter().position(|(known, _)| Arc::ptr_eq(known, functions)) {
            let found = kept.remove(at);
            let marked = Arc::clone(&found.1);
            kept.push(found);
            return marked;
        }
        let marked: HashMap<String, Vec<Param>> = functions
            .items
            .iter()
            .filter(|item| item.contains("x-mcp-header") || item.contains("\\u"))
            .filter_map(|item| serde_json::from_str::<&RawValue>(item).ok())
            // A function whose marks are invalid is none that a client over HTTP may use: it has nothing to copy.
            .filter_map(|item| params(item).ok().flatten())
            .filter(|(_, params)| !params.is_empty())
            .collect();
        let marked = Arc::new(marked);
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push((Arc::clone(functions), Arc::clone(&marked)));
        marked
    }

    /// Whether the headers of a call say what its arguments say.
    pub(super) fn check(
        &self,
        functions: &Arc<Functions>,
        headers: &HeaderMap,
        call: &str,
    ) -> Result<(), RpcError> {
        let marked = self.of(functions);
        if marked.is_empty() {
            return Ok(());
        }
        let Ok(members) = Members::read(call) else { return Ok(()) };
        let Some(marks) =
            members.get("name").and_then(string).and_then(|name| marked.get(name.as_ref()))
        else {
            return Ok(());
        };
        let wanted = members
            .get("arguments")
            .map_or_else(Vec::new, |arguments| of_arguments(marks, arguments));
        for mark in marks {
            let name = &mark.header;
            let refuse = |what: &str| {
                let why = format!("the header {name} {what}");
                RpcError::new(codes::HEADER_MISMATCH, why)
            };
            let given = single(headers, name).map_err(|Unclear| refuse("cannot be read"))?;
            let wanted = wanted.iter().find(|(header, _)| header == name);
            let wanted = wanted.and_then(|(_, value)| value.to_str().ok());
            match (wanted, given) {
                (None, None) => {}
                (Some(_), None) => return Err(refuse("is missing")),
                (None, Some(_)) => return Err(refuse("stands for an argument that is not given")),
                (Some(wanted), Some(given)) if same(wanted, given) => {}
                (Some(_), Some(_)) => return Err(refuse("does not say what the body says")),
            }
        }
        Ok(())
    }
}

/// Whether two header values say the same: text for text, and numbers by their value.
fn same(wanted: &str, given: &str) -> bool {
    let (Some(wanted), Some(given)) = (decoded(wanted), decoded(given)) else { return false };
    let number = |text: &str| text.parse::<f64>().ok().filter(|_| !text.is_empty());
    wanted == given
        || matches!((number(&wanted), number(&given)), (Some(one), Some(other)) if one.to_bits() == other.to_bits())
}
