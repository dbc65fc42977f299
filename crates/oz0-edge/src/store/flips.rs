//! A bound on what a server that keeps changing writes into the audit log.
//!
//! Each change and each way back has an entry, and a server can change as often as it is listed. So
//! within a window the first few of a function on a node are told one by one, and the rest are
//! counted; when the window is over, one entry tells how many there were and what was listed last.
//! The count is kept in the store, so that it outlives a crash, and what is refused or called never
//! depends on it.

use std::collections::BTreeMap;

use oz0_api::NodeName;
use oz0_api::audit::AuditSubject;
use oz0_listing::FunctionId;

use super::db::{query_as, query_scalar};
use super::functions::VersionKey;
use super::listings::hash;
use super::{Act, StoreError, Write, parse};
use crate::function::Value;

/// How long a window is, in milliseconds.
pub(crate) const WINDOW: i64 = 60_000;

/// Entries about one function on one node in a window, before the rest are counted.
pub(crate) const TOLD: i64 = 16;

type Row = (String, String, String, String, i64, i64, String);

impl Write<'_> {
    /// Whether a change of a function that a node saw, and that now lists `value`, gets an entry of its
    /// own; else it is counted.
    pub(super) async fn is_told(
        &mut self,
        key: &VersionKey,
        id: &FunctionId,
        node: &NodeName,
        value: Value,
    ) -> Result<bool, StoreError> {
        self.tell_flips(node).await?;
        let now = self.now;
        let told: i64 = query_scalar(
            "INSERT INTO flips
             (plugin, version, function, tool, node, since, told, untold, last)
             VALUES ($1, $2, $3, $4, $5, $6, 1, 0, $7)
             ON CONFLICT (plugin, version, function, node) DO UPDATE SET
             told = flips.told + 1,
             untold = CASE WHEN flips.told >= $8 THEN flips.untold + 1 ELSE 0 END,
             last = excluded.last
             RETURNING told",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(id.as_str())
        .bind(id.tool().as_ref())
        .bind(node.as_str())
        .bind(now.0)
        .bind(value.to_string())
        .bind(TOLD)
        .fetch_one(self.conn())
        .await?;
        Ok(told <= TOLD)
    }

    /// Ends a node's windows that are over, and tells what was counted in them.
    pub(super) async fn tell_flips(&mut self, node: &NodeName) -> Result<(), StoreError> {
        let over = self.now.0 - WINDOW;
        let mut rows: Vec<Row> = query_as(
            "DELETE FROM flips WHERE node = $1 AND (since <= $2 OR since > $3)
             RETURNING plugin, version, function, tool, since, untold, last",
        )
        .bind(node.as_str())
        .bind(over)
        // A clock that was set back must not hold a window open.
        .bind(self.now.0)
        .fetch_all(self.conn())
        .await?;
        rows.sort();
        for (plugin, version, function, tool, since, untold, last) in rows {
            if untold == 0 {
                continue;
            }
            let detail = BTreeMap::from([
                ("changes".to_owned(), untold.to_string()),
                ("since".to_owned(), since.to_string()),
            ]);
            let functions = BTreeMap::from([(parse(&function)?, hash(parse(&last)?))]);
            self.audit(Act {
                action: "plugin.tools.flapped",
                subject: AuditSubject {
                    plugin: Some(parse(&plugin)?),
                    version: Some(parse(&version)?),
                    tool: Some(parse(&tool)?),
                    functions,
                    node: Some(node.clone()),
                    detail,
                },
            })
            .await?;
        }
        Ok(())
    }
}
