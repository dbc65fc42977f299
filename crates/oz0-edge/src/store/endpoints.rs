//! The pins of remote tools: where a tool's calls may go.
//!
//! Each version has pins of its own. One that has none yet for a tool starts from the pin of the
//! version of its plugin that was installed last and has one.

use oz0_api::change::ChangeKind;
use oz0_api::{ChangeId, Endpoint, PluginVersion};
use oz0_listing::ToolId;

use super::db::{Conn, query, query_as, query_scalar};
use super::functions::{NewChange, VersionKey};
use super::versions::Version;
use super::{StoreError, Write, parse};

/// What stands on a remote tool's endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pin {
    /// No version of the plugin was listed there yet.
    None,
    /// The manifest names the endpoint that is pinned.
    Holds,
    /// It names another one, which waits for approval.
    Moved { accepted: Endpoint, change: ChangeId },
}

fn move_id(key: &VersionKey, tool: &ToolId, endpoint: &Endpoint) -> ChangeId {
    ChangeId::over(&[
        "oz0.change.v1",
        key.plugin.as_str(),
        key.version.as_str(),
        "endpoint",
        tool.as_str(),
        endpoint.as_str(),
    ])
}

/// The endpoint that a tool of a version is pinned at.
pub(super) async fn pinned(
    conn: &mut Conn,
    key: &VersionKey,
    tool: &ToolId,
) -> Result<Option<Endpoint>, StoreError> {
    let rows: Vec<(String, String, i64)> = query_as(
        "SELECT t.version, t.pin, v.install_rank FROM tools t JOIN versions v
         ON v.plugin = t.plugin AND v.version = t.version
         WHERE t.plugin = $1 AND t.tool = $2 AND t.pin IS NOT NULL ORDER BY v.install_rank DESC",
    )
    .bind(key.plugin.as_str())
    .bind(tool.as_str())
    .fetch_all(conn)
    .await?;
    pin_of(&rows, &key.version).map(parse).transpose()
}

/// Of a tool's pins, the one that a version has or begins from. Each is of a version with an install rank, the highest first.
pub(super) fn pin_of<'a>(
    pins: &'a [(String, String, i64)],
    version: &PluginVersion,
) -> Option<&'a str> {
    let own = pins.iter().find(|(of, ..)| of == version.as_str());
    // Where a candidate's calls go says nothing about the next version before it is installed.
    let installed = pins.iter().find(|(.., rank)| *rank > 0);
    own.or(installed).map(|(_, pin, _)| pin.as_str())
}

/// What stands on the endpoint that a version's manifest names for a tool.
pub(super) async fn pin(
    conn: &mut Conn,
    key: &VersionKey,
    tool: &ToolId,
    endpoint: &Endpoint,
) -> Result<Pin, StoreError> {
    Ok(match pinned(conn, key, tool).await? {
        None => Pin::None,
        Some(accepted) if accepted == *endpoint => Pin::Holds,
        Some(accepted) => Pin::Moved { accepted, change: move_id(key, tool, endpoint) },
    })
}

impl Write<'_> {
    /// Whether a tool has a pin in this version itself. Before its first listing it has one where a move was approved.
    pub(super) async fn is_pinned(
        &mut self,
        key: &VersionKey,
        tool: &ToolId,
    ) -> Result<bool, StoreError> {
        let pinned: i64 = query_scalar(
            "SELECT COUNT(*) FROM tools
             WHERE plugin = $1 AND version = $2 AND tool = $3 AND pin IS NOT NULL",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(tool.as_str())
        .fetch_one(self.conn())
        .await?;
        Ok(pinned > 0)
    }

    /// Pins a tool of a version.
    pub(super) async fn set_pin(
        &mut self,
        key: &VersionKey,
        tool: &ToolId,
        endpoint: &Endpoint,
    ) -> Result<(), StoreError> {
        query(
            "INSERT INTO tools (plugin, version, tool, pin) VALUES ($1, $2, $3, $4)
             ON CONFLICT (plugin, version, tool) DO UPDATE SET pin = excluded.pin",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(tool.as_str())
        .bind(endpoint.as_str())
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Opens a change for each endpoint of a version that moved, and closes those that moved back.
    /// Returns the tools of both, with what is now listed.
    pub(super) async fn compare_endpoints(
        &mut self,
        version: &Version,
    ) -> Result<Moves, StoreError> {
        let key = version.key();
        let open: Vec<(String, String)> = query_as(
            "SELECT id, tool FROM changes
             WHERE plugin = $1 AND version = $2 AND kind = 'endpoint' ORDER BY tool",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .fetch_all(self.conn())
        .await?;
        let mut moves = Moves::default();
        let mut still = Vec::new();
        for (tool, description) in &version.description.tools {
            let Some(endpoint) = description.endpoint() else { continue };
            let Pin::Moved { accepted, change } = pin(self.conn(), &key, tool, endpoint).await?
            else {
                continue;
            };
            if !open.iter().any(|(id, _)| id == change.as_str()) {
                self.open_change(NewChange {
                    id: &change,
                    key: &key,
                    tool,
                    function: None,
                    kind: ChangeKind::Endpoint,
                    value: endpoint.as_str(),
                    listing: None,
                })
                .await?;
                moves.opened.push((tool.clone(), accepted, endpoint.clone()));
            }
            still.push(change);
        }
        for (id, tool) in open {
            let id: ChangeId = parse(&id)?;
            if !still.contains(&id) {
                self.close_change(&id).await?;
                moves.closed.push(parse(&tool)?);
            }
        }
        Ok(moves)
    }
}

/// Endpoint changes that were opened and closed.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// The tool, its pinned endpoint and the new one.
    pub(super) opened: Vec<(ToolId, Endpoint, Endpoint)>,
    /// The tool.
    pub(super) closed: Vec<ToolId>,
}
