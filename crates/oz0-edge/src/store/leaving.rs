//! A node that was let go: what it listed last is no longer what any node lists.
//!
//! A change is open for as long as some node sees it, so that a node that is only away opens nothing anew when it comes back. One
//! whose token was revoked does not come back, and what it saw must not wait for a decision that nobody can make but by approving
//! it.

use std::collections::BTreeMap;

use oz0_api::NodeName;
use oz0_api::audit::AuditSubject;
use oz0_listing::FunctionId;
use oz0_telemetry::target;

use super::db::{query, query_as};
use super::functions::{ToolState, VersionKey};
use super::listings::Acts;
use super::{Store, StoreError, Write, parse};

impl Store {
    /// A node is none any more.
    pub(super) fn let_go(&self, node: &NodeName) {
        self.presence().remove(node);
        self.metrics.node_gone(node);
        tracing::info!(target: target::EDGE, %node, "node let go");
    }
}

impl Write<'_> {
    /// Forgets what a node lists, and the node.
    pub(super) async fn forget_node(&mut self, node: &NodeName) -> Result<(), StoreError> {
        let tools: Vec<(String, String, String)> = query_as(
            "SELECT plugin, version, tool FROM tool_nodes WHERE node = $1
             ORDER BY plugin, version, tool",
        )
        .bind(node.as_str())
        .fetch_all(self.conn())
        .await?;
        for (plugin, version, tool) in tools {
            let key = VersionKey { plugin: parse(&plugin)?, version: parse(&version)? };
            let state = ToolState::load(self.conn(), &key, &parse(&tool)?).await?;
            let mut acts = Acts::default();
            let known: Vec<FunctionId> = state.known().cloned().collect();
            for id in known {
                let after = state.function(&id).without(node);
                let moved =
                    self.store_function(&state, &id, &after, &BTreeMap::new(), None).await?;
                acts.add(&id, moved);
            }
            let subject = AuditSubject {
                plugin: Some(key.plugin),
                version: Some(key.version),
                tool: Some(state.tool),
                ..AuditSubject::default()
            };
            for act in acts.into_entries(&subject, Some(node)) {
                self.audit(act).await?;
            }
        }
        for statement in [
            "DELETE FROM tool_nodes WHERE node = $1",
            "DELETE FROM change_nodes WHERE node = $1",
            "DELETE FROM flips WHERE node = $1",
            "DELETE FROM nodes WHERE node = $1",
        ] {
            query(statement).bind(node.as_str()).execute(self.conn()).await?;
        }
        self.wakes = true;
        Ok(())
    }
}
