//! What people are told of what the edge said.

use std::time::Duration;

use oz0_api::Endpoint;
use oz0_listing::FunctionId;

use super::{Server, lock};
use crate::event::Event;
use crate::roster::Roster;

impl Server {
    /// Logs that it is started again after a while.
    pub(super) fn say_again(&self, wait: Duration) {
        tracing::info!(
            target: oz0_telemetry::target::NODE,
            plugin = self.plugin.as_str(),
            tool = self.tool.as_ref(),
            seconds = wait.as_secs_f64(),
            "server is started again"
        );
    }

    /// Of `functions` that the edge now accepts, those that waited.
    pub(crate) fn approved(&self, functions: &[FunctionId]) -> Vec<FunctionId> {
        let mut waiting = lock(&self.waiting);
        functions.iter().filter(|id| waiting.remove(*id)).cloned().collect()
    }

    /// Tells people what the edge said of a listing.
    pub(super) fn announce(
        &self,
        roster: &Roster,
        snapshot: bool,
        functions: Vec<FunctionId>,
        moved: Option<(Endpoint, Endpoint)>,
        mut reverted: Vec<FunctionId>,
    ) {
        let (plugin, version) = (self.plugin.clone(), self.version.clone());
        let tool = self.tool.clone();
        if snapshot {
            let functions = self.last().map_or(0, |listed| listed.functions.len());
            let plugin = plugin.clone();
            roster.tell(Event::Snapshot { plugin, version, tool: tool.clone(), functions });
        }
        if !reverted.is_empty() {
            reverted.sort_unstable();
            roster.tell(Event::Reverted { plugin: plugin.clone(), functions: reverted });
        }
        if moved.is_some() || !functions.is_empty() {
            roster.tell(Event::Waiting { plugin, tool, functions, moved });
        }
    }
}
