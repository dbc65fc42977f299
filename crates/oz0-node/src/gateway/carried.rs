//! What a call carries of its plugin's connections, and what does not come back of it.

use std::borrow::Cow;

use oz0_api::call::JobResult;
use oz0_api::{Code, Problem};
use oz0_listing::FunctionId;
use oz0_mcp::server;
use serde_json::value::RawValue;

use super::{Gateway, Halt};
use crate::instance::Instance;
use crate::refusal::Why;
use crate::table::Entry;

impl Gateway {
    /// What a call carries of its plugin's connections, whose tokens count now; and its server is one that may be spoken to.
    pub(super) async fn carried(
        &self,
        entry: &Entry,
        instance: &Instance,
    ) -> Result<Option<Box<RawValue>>, Halt> {
        if let Some(bearer) = &instance.recipe.bearer {
            let refuse = |what| Why::Unconnected(bearer.connection.clone(), what);
            bearer.refresh().await.map_err(|what| entry.refusal(refuse(what)))?;
        }
        let vault = &self.roster.host.vault;
        let carried = vault.carried(&entry.server.plugin, &entry.grants, &entry.id).await;
        carried.map_err(|why| entry.refusal(why).into())
    }

    /// A result as the edge gets it, which keeps it until somebody has read it: where its server repeats a secret that it was
    /// given, without that.
    pub(super) fn for_the_edge(&self, function: &FunctionId, result: Box<RawValue>) -> JobResult {
        let result = match server::without_ours(result.get()) {
            Cow::Borrowed(_) => result,
            Cow::Owned(text) => RawValue::from_string(text).expect("splices of JSON are JSON"),
        };
        let table = self.roster.table();
        let Some(entry) = table.function(function) else { return JobResult::Result(result) };
        match self.roster.host.without_secrets(&entry.server.plugin, result.get()) {
            Cow::Borrowed(_) => JobResult::Result(result),
            Cow::Owned(text) => match RawValue::from_string(text) {
                Ok(result) => JobResult::Result(result),
                Err(_) => JobResult::Problem(Problem::new(
                    Code::Internal,
                    format!("the result of {function} repeats a secret, and is not passed on"),
                )),
            },
        }
    }
}
