//! Changes as people see them, and the approval of exactly those.

use std::collections::{BTreeMap, BTreeSet};

use oz0_api::audit::AuditSubject;
use oz0_api::change::{
    Approve, Approved, ApprovedChange, Change, ChangeKind, Changes, Seen, Shown,
};
use oz0_api::{ChangeId, Code, Endpoint, NodeName, PluginName, Problem, UnixMillis};
use oz0_listing::{FunctionId, Listing, ToolId, diff};
use serde_json::value::RawValue;

use super::db::{Conn, query, query_as, query_scalar};
use super::functions::{ToolState, VersionKey, change_nodes, kind_of, stored_listing};
use super::listings::Acts;

use super::versions::{Version, called_of};
use super::{Act, Actor, Answer, Store, StoreError, Write, endpoints, parse, parse_json};
use crate::function::{Event, Value};
use crate::version::no_plugin;

/// IDs in one approval, at most.
const IDS: usize = 10_000;

/// A change as it is stored.
type Row = (String, String, Option<String>, String, String, Option<String>, i64);

impl Store {
    /// What waits for approval in a plugin: in its installed version, then in its candidate, then in those that nodes go on with.
    pub(crate) async fn changes(&self, plugin: &PluginName) -> Answer<Changes> {
        let mut tx = self.read().await?;
        let versions = called_of(&mut tx, plugin).await?;
        if versions.is_empty() {
            return Err(no_plugin(plugin).into());
        }
        let mut changes = Vec::new();
        for version in &versions {
            changes.extend(self.changes_of(&mut tx, version).await?);
        }
        Ok(Changes { plugin: plugin.clone(), changes })
    }

    /// What waits for approval in a version, by function.
    pub(super) async fn changes_of(
        &self,
        conn: &mut Conn,
        version: &Version,
    ) -> Result<Vec<Change>, StoreError> {
        let key = version.key();
        let rows: Vec<Row> = query_as(
            "SELECT id, tool, function, kind, value, listing, opened_at FROM changes
             WHERE plugin = $1 AND version = $2 ORDER BY tool, COALESCE(function, ''), opened_at, id",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .fetch_all(&mut *conn)
        .await?;
        let mut changes = Vec::with_capacity(rows.len());
        for row in rows {
            let tool: ToolId = parse(&row.1)?;
            if version.description.tools.contains_key(&tool) {
                changes.push(change(conn, &key, tool, row).await?);
            }
        }
        Ok(changes)
    }

    /// Approves the changes that were looked at, and says which of them are no longer what is
    /// listed.
    pub(crate) async fn approve(
        &self,
        actor: &Actor,
        plugin: &PluginName,
        approve: &Approve,
    ) -> Answer<Approved> {
        if approve.changes.len() > IDS {
            return Err(Problem::new(
                Code::TooLarge,
                format!("an approval names at most {IDS} changes"),
            )
            .into());
        }
        let mut write = self.write(actor).await?;
        let versions = called_of(write.conn(), plugin).await?;
        if versions.is_empty() {
            return Err(no_plugin(plugin).into());
        }
        let mut approved = Vec::new();
        let mut stale: BTreeSet<&ChangeId> = approve.changes.iter().collect();
        let live = write.alive().await?;
        for version in &versions {
            // A change is one version's, and so is its approval.
            let key = version.key();
            for id in stale.clone() {
                if let Some(change) = write.approve_one(version, &key, id, &live).await? {
                    approved.push(change);
                    stale.remove(id);
                }
            }
        }
        let stale = stale.into_iter().cloned().collect();
        if approved.is_empty() {
            return Ok(Approved { approved, stale });
        }
        write.claim_names(plugin).await?;
        write.commit().await?;
        Ok(Approved { approved, stale })
    }
}

impl Write<'_> {
    async fn approve_one(
        &mut self,
        version: &Version,
        key: &VersionKey,
        id: &ChangeId,
        live: &BTreeSet<NodeName>,
    ) -> Result<Option<ApprovedChange>, StoreError> {
        let row = stored(self.conn(), key, id).await?;
        let Some((_, tool, function, kind, value, listing, _)) = row else { return Ok(None) };
        let tool: ToolId = parse(&tool)?;
        if !version.description.tools.contains_key(&tool) {
            return Ok(None);
        }
        let kind = kind_of(&kind)?;
        let Some(function) = function else {
            let endpoint: Endpoint = parse(&value)?;
            self.approve_move(version, key, &tool, &endpoint, id).await?;
            return Ok(Some(ApprovedChange { id: id.clone(), tool, function: None, kind }));
        };
        let function: FunctionId = parse(&function)?;
        let value: Value = parse(&value)?;
        let state = ToolState::load_one(self.conn(), key, &function).await?;
        // A list that is empty is compared with nothing, and what waits goes on waiting; but what was
        // looked at is not what is listed now, if no node that saw it lists anything.
        let silent = self.silent_nodes(key, &tool).await?;
        let before = state.function(&function);
        if !before.seen().any(|(node, sight)| sight.now == value && !silent.contains(node)) {
            return Ok(None);
        }
        let event = Event::Approve { value };
        let Ok(after) = before.step(event, |node| live.contains(node)) else {
            return Ok(None);
        };
        let mut listings = BTreeMap::new();
        if let Some(listing) = stored_listing(value, listing.as_deref())? {
            listings.insert(value, listing);
        }
        let moved = self.store_function(&state, &function, &after, &listings, Some(value)).await?;
        let subject = AuditSubject {
            plugin: Some(key.plugin.clone()),
            version: Some(key.version.clone()),
            tool: Some(tool.clone()),
            ..AuditSubject::default()
        };
        let hash = match value {
            Value::Absent => None,
            Value::Listed(hash) => Some(hash.to_string()),
        };
        self.audit(Act {
            action: "plugin.tools.approve",
            subject: AuditSubject {
                functions: BTreeMap::from([(function.clone(), hash)]),
                detail: BTreeMap::from([
                    ("change".to_owned(), id.to_string()),
                    ("kind".to_owned(), kind.as_str().to_owned()),
                ]),
                ..subject.clone()
            },
        })
        .await?;
        let mut acts = Acts::default();
        acts.add(&function, moved);
        for act in acts.into_entries(&subject, None) {
            self.audit(act).await?;
        }
        Ok(Some(ApprovedChange { id: id.clone(), tool, function: Some(function), kind }))
    }

    /// The nodes on which a tool lists nothing at all, not even something that is left out.
    async fn silent_nodes(
        &mut self,
        key: &VersionKey,
        tool: &ToolId,
    ) -> Result<BTreeSet<NodeName>, StoreError> {
        let nodes: Vec<String> = query_scalar(
            "SELECT node FROM tool_nodes WHERE plugin = $1 AND version = $2 AND tool = $3
             AND failure IS NULL AND functions = '[]' AND left_out = '[]'",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(tool.as_str())
        .fetch_all(self.conn())
        .await?;
        nodes.iter().map(|node| parse(node)).collect()
    }

    async fn approve_move(
        &mut self,
        version: &Version,
        key: &VersionKey,
        tool: &ToolId,
        endpoint: &Endpoint,
        id: &ChangeId,
    ) -> Result<(), StoreError> {
        let accepted = endpoints::pinned(self.conn(), key, tool).await?;
        self.set_pin(key, tool, endpoint).await?;
        self.compare_endpoints(version).await?;
        let revision = self.revision().await?;
        query("UPDATE versions SET revision = $1 WHERE plugin = $2 AND version = $3")
            .bind(revision.0)
            .bind(key.plugin.as_str())
            .bind(key.version.as_str())
            .execute(self.conn())
            .await?;
        let mut detail = BTreeMap::from([
            ("change".to_owned(), id.to_string()),
            ("kind".to_owned(), ChangeKind::Endpoint.as_str().to_owned()),
            ("endpoint".to_owned(), endpoint.to_string()),
        ]);
        if let Some(accepted) = accepted {
            detail.insert("accepted_endpoint".to_owned(), accepted.to_string());
        }
        self.audit(Act {
            action: "plugin.tools.approve",
            subject: AuditSubject {
                plugin: Some(key.plugin.clone()),
                version: Some(key.version.clone()),
                tool: Some(tool.clone()),
                detail,
                ..AuditSubject::default()
            },
        })
        .await
    }
}

/// A change of a version by its ID, where it still waits.
pub(super) async fn named(
    conn: &mut Conn,
    version: &Version,
    key: &VersionKey,
    id: &ChangeId,
) -> Result<Option<Change>, StoreError> {
    let Some(row) = stored(conn, key, id).await? else { return Ok(None) };
    let tool: ToolId = parse(&row.1)?;
    if !version.description.tools.contains_key(&tool) {
        return Ok(None);
    }
    Ok(Some(change(conn, key, tool, row).await?))
}

async fn stored(
    conn: &mut Conn,
    key: &VersionKey,
    id: &ChangeId,
) -> Result<Option<Row>, StoreError> {
    Ok(query_as(
        "SELECT id, tool, function, kind, value, listing, opened_at FROM changes
         WHERE id = $1 AND plugin = $2 AND version = $3",
    )
    .bind(id.as_str())
    .bind(key.plugin.as_str())
    .bind(key.version.as_str())
    .fetch_optional(conn)
    .await?)
}

/// A change, with both sides and what it amounts to.
async fn change(
    conn: &mut Conn,
    key: &VersionKey,
    tool: ToolId,
    row: Row,
) -> Result<Change, StoreError> {
    let (id, _, function, kind, value, listing, opened_at) = row;
    let id: ChangeId = parse(&id)?;
    let kind = kind_of(&kind)?;
    let nodes = change_nodes(conn, &id).await?;
    let mut functions = Vec::new();
    let (function, labels, accepted, listed) = match function {
        None => {
            functions = listed_there(conn, key, &tool, &nodes).await?;
            let endpoint: Endpoint = parse(&value)?;
            let accepted = endpoints::pinned(conn, key, &tool).await?;
            let labels = vec!["endpoint".to_owned()];
            (None, labels, accepted.map(shown_endpoint), Some(shown_endpoint(endpoint)))
        }
        Some(function) => {
            let function: FunctionId = parse(&function)?;
            let listed = stored_listing(parse(&value)?, listing.as_deref())?;
            let accepted = held_before(conn, key, &function, &nodes).await?;
            let difference = match (&accepted, &listed) {
                (Some(old), Some(new)) => diff::compare(old, new),
                (None, Some(new)) => diff::appeared(new),
                (Some(old), None) => diff::vanished(old),
                (None, None) => diff::Difference::default(),
            };
            let labels = difference.labels.iter().map(ToString::to_string).collect();
            let accepted = accepted.as_ref().map(shown).transpose()?;
            (Some(function), labels, accepted, listed.as_ref().map(shown).transpose()?)
        }
    };
    Ok(Change {
        id,
        plugin: key.plugin.clone(),
        version: key.version.clone(),
        tool,
        function,
        kind,
        functions,
        labels,
        accepted,
        listed,
        nodes,
        opened_at: UnixMillis(opened_at),
    })
}

/// What the nodes that see a move list at the new endpoint.
async fn listed_there(
    conn: &mut Conn,
    key: &VersionKey,
    tool: &ToolId,
    nodes: &[Seen],
) -> Result<Vec<FunctionId>, StoreError> {
    let mut functions = BTreeSet::new();
    for seen in nodes {
        let listed: Option<String> = query_scalar(
            "SELECT functions FROM tool_nodes
             WHERE plugin = $1 AND version = $2 AND tool = $3 AND node = $4",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(tool.as_str())
        .bind(seen.node.as_str())
        .fetch_optional(&mut *conn)
        .await?;
        if let Some(listed) = listed {
            functions.extend(parse_json::<Vec<FunctionId>>(&listed)?);
        }
    }
    Ok(functions.into_iter().collect())
}

/// Of the accepted listings, the one that a node of the change listed before; else the one that was
/// accepted last.
async fn held_before(
    conn: &mut Conn,
    key: &VersionKey,
    function: &FunctionId,
    nodes: &[Seen],
) -> Result<Option<Listing>, StoreError> {
    let rows: Vec<(String, Option<String>)> = query_as(
        "SELECT value, listing FROM accepted
         WHERE plugin = $1 AND version = $2 AND function = $3 AND value <> 'absent'
         ORDER BY accept_rank DESC, value",
    )
    .bind(key.plugin.as_str())
    .bind(key.version.as_str())
    .bind(function.as_str())
    .fetch_all(&mut *conn)
    .await?;
    let held: Vec<(String, String)> = query_as(
        "SELECT node, value FROM sightings
         WHERE plugin = $1 AND version = $2 AND function = $3 AND now = 0",
    )
    .bind(key.plugin.as_str())
    .bind(key.version.as_str())
    .bind(function.as_str())
    .fetch_all(conn)
    .await?;
    let nodes: BTreeSet<&str> = nodes.iter().map(|seen| seen.node.as_str()).collect();
    let held = |value: &str| {
        held.iter().any(|(node, held)| held == value && nodes.contains(node.as_str()))
    };
    let row = rows.iter().find(|(value, _)| held(value)).or(rows.first());
    match row {
        Some((value, listing)) => stored_listing(parse(value)?, listing.as_deref()),
        None => Ok(None),
    }
}

fn shown(listing: &Listing) -> Result<Shown, StoreError> {
    Ok(Shown { hash: Some(listing.hash()), listing: Some(raw(listing)?), endpoint: None })
}

fn shown_endpoint(endpoint: Endpoint) -> Shown {
    Shown { hash: None, listing: None, endpoint: Some(endpoint) }
}

/// A listing as JSON for the wire: its canonical text.
pub(super) fn raw(listing: &Listing) -> Result<Box<RawValue>, StoreError> {
    RawValue::from_string(listing.canonical().to_owned())
        .map_err(|error| StoreError::Row(error.to_string()))
}
