//! The state machine's states in the database: loaded, stepped, and the difference written.

mod narrow;

use std::collections::{BTreeMap, BTreeSet};

use oz0_api::change::{ChangeKind, Seen};
use oz0_api::{ChangeId, NodeName, PluginName, PluginVersion, UnixMillis};
use oz0_listing::{FunctionId, Listing, ToolId};

use self::narrow::Narrow;
use super::db::{Conn, query, query_as, query_scalar};
use super::{StoreError, Write, parse};
use crate::function::{Function, Sight, Value, Waiting};

/// A version of a plugin, as a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VersionKey {
    pub(super) plugin: PluginName,
    pub(super) version: PluginVersion,
}

/// One tool's functions as they are stored, and the nodes that its snapshot was compared with.
pub(super) struct ToolState {
    pub(super) key: VersionKey,
    pub(super) tool: ToolId,
    /// Whether the tool has a snapshot.
    pub(super) snapshot: bool,
    pub(super) compared: BTreeSet<NodeName>,
    functions: BTreeMap<FunctionId, Function>,
    /// Where this is not the state of all nodes, whose it is.
    pub(super) narrow: Option<Narrow>,
}

impl ToolState {
    pub(super) async fn load(
        conn: &mut Conn,
        key: &VersionKey,
        tool: &ToolId,
    ) -> Result<Self, StoreError> {
        let (plugin, version) = (key.plugin.as_str(), key.version.as_str());
        let snapshot = Self::has_snapshot(conn, key, tool).await?;
        let compared: Vec<String> = query_scalar(
            "SELECT node FROM tool_nodes
             WHERE plugin = $1 AND version = $2 AND tool = $3 AND compared = 1",
        )
        .bind(plugin)
        .bind(version)
        .bind(tool.as_str())
        .fetch_all(&mut *conn)
        .await?;
        let values = Self::load_accepted(conn, key, tool).await?;
        let sightings: Vec<(String, String, String, i64)> = query_as(
            "SELECT s.function, s.node, s.value, s.now FROM sightings s JOIN functions f
             ON f.plugin = s.plugin AND f.version = s.version AND f.function = s.function
             WHERE s.plugin = $1 AND s.version = $2 AND f.tool = $3
             ORDER BY s.now DESC",
        )
        .bind(plugin)
        .bind(version)
        .bind(tool.as_str())
        .fetch_all(&mut *conn)
        .await?;

        let mut seen = BTreeMap::<FunctionId, BTreeMap<NodeName, Sight>>::new();
        for (function, node, value, now) in sightings {
            let value = parse(&value)?;
            let sights = seen.entry(parse(&function)?).or_default();
            if now == 1 {
                sights.insert(parse(&node)?, Sight { now: value, before: BTreeSet::new() });
            } else if let Some(sight) = sights.get_mut(&parse::<NodeName>(&node)?) {
                sight.before.insert(value);
            }
        }
        let functions = values
            .into_iter()
            .map(|(id, values)| {
                let seen = seen.remove(&id).unwrap_or_default();
                (id, Function::stored(values, seen))
            })
            .collect();
        Ok(Self {
            key: key.clone(),
            tool: tool.clone(),
            snapshot,
            compared: compared.iter().map(|node| parse(node)).collect::<Result<_, _>>()?,
            functions,
            narrow: None,
        })
    }

    /// The functions that are stored.
    pub(super) fn known(&self) -> impl Iterator<Item = &FunctionId> {
        self.functions.keys()
    }

    /// One function; one that is not stored is outside the snapshot, or unpinned without one.
    pub(super) fn function(&self, id: &FunctionId) -> Function {
        match self.functions.get(id) {
            Some(function) => function.clone(),
            None if self.snapshot => Function::outside(&self.compared),
            None => Function::Unpinned,
        }
    }
}

/// An open change as it is stored.
#[derive(Debug, Clone)]
pub(super) struct OpenChange {
    pub(super) id: ChangeId,
    pub(super) kind: ChangeKind,
    pub(super) value: Value,
    pub(super) nodes: BTreeSet<NodeName>,
}

/// How a change ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A person accepted it.
    Approved,
    /// The nodes that saw it list something accepted again.
    Reverted,
    /// They list something else that waits.
    Superseded,
}

/// What a step changed, for the audit entry and the answer.
#[derive(Debug, Default)]
pub(super) struct Moved {
    /// Changes that were opened, or that this step's node joined.
    pub(super) opened: Vec<(Value, ChangeId)>,
    /// Changes that were closed, and how.
    pub(super) closed: Vec<(Value, Outcome)>,
    /// Values that are no longer accepted.
    pub(super) dropped: Vec<Value>,
    /// Whether what is accepted differs.
    pub(super) decided: bool,
}

impl Moved {
    /// Whether something was opened, or went back.
    pub(super) fn is_flip(&self) -> bool {
        !self.opened.is_empty()
            || self.closed.iter().any(|(_, outcome)| *outcome == Outcome::Reverted)
    }

    /// The same without what is counted instead of told.
    pub(super) fn untold(self) -> Self {
        Self { opened: Vec::new(), closed: Vec::new(), ..self }
    }
}

/// A change's ID: what the approval of it is bound to.
pub(super) fn change_id(key: &VersionKey, function: &FunctionId, value: Value) -> ChangeId {
    ChangeId::over(&[
        "oz0.change.v1",
        key.plugin.as_str(),
        key.version.as_str(),
        "function",
        function.as_str(),
        &value.to_string(),
    ])
}

impl Write<'_> {
    /// Writes what a step of one function's state changed. `listings` holds the text of every
    /// listing that is new in `after`.
    pub(super) async fn store_function(
        &mut self,
        tool: &ToolState,
        id: &FunctionId,
        after: &Function,
        listings: &BTreeMap<Value, Listing>,
        approved: Option<Value>,
    ) -> Result<Moved, StoreError> {
        let before = tool.functions.get(id).cloned().unwrap_or(Function::Unpinned);
        let mut moved = Moved::default();
        if before == *after {
            return Ok(moved);
        }
        let key = &tool.key;
        if before.accepted() != after.accepted() {
            self.store_accepted(tool, id, &before, after, listings, &mut moved).await?;
        }
        self.store_sightings(tool, id, &before, after).await?;
        match &tool.narrow {
            None => self.store_changes(tool, id, after, listings, approved, &mut moved).await?,
            Some(narrow) => {
                self.store_changes_of(tool, narrow, id, after, listings, &mut moved).await?;
            }
        }
        if before.accepted() == [Value::Absent]
            && after.accepted() == [Value::Absent]
            && after.seen().all(|(_, sight)| sight.now == Value::Absent)
            && (tool.narrow.is_none() || !self.is_listed(key, id).await?)
        {
            self.forget_function(key, id).await?;
        }
        Ok(moved)
    }

    async fn store_accepted(
        &mut self,
        tool: &ToolState,
        id: &FunctionId,
        before: &Function,
        after: &Function,
        listings: &BTreeMap<Value, Listing>,
        moved: &mut Moved,
    ) -> Result<(), StoreError> {
        moved.decided = true;
        let revision = self.revision().await?;
        let now = self.now;
        let (plugin, version) = (tool.key.plugin.as_str(), tool.key.version.as_str());
        query(
            "INSERT INTO functions (plugin, version, function, tool, revision)
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (plugin, version, function)
             DO UPDATE SET revision = excluded.revision",
        )
        .bind(plugin)
        .bind(version)
        .bind(id.as_str())
        .bind(tool.tool.as_str())
        .bind(revision.0)
        .execute(self.conn())
        .await?;
        for value in after.accepted().iter().filter(|value| !before.accepted().contains(value)) {
            let listing = match value {
                Value::Absent => None,
                Value::Listed(_) => Some(listings.get(value).ok_or_else(|| {
                    StoreError::Row(format!("no listing of {id} has the hash {value}"))
                })?),
            };
            query(
                "INSERT INTO accepted
                 (plugin, version, function, value, listing, accepted_at, accept_rank)
                 VALUES ($1, $2, $3, $4, $5, $6, $7)",
            )
            .bind(plugin)
            .bind(version)
            .bind(id.as_str())
            .bind(value.to_string())
            .bind(listing.map(Listing::canonical))
            .bind(now.0)
            .bind(revision.0)
            .execute(self.conn())
            .await?;
        }
        for value in before.accepted().iter().filter(|value| !after.accepted().contains(value)) {
            moved.dropped.push(*value);
            query(
                "DELETE FROM accepted
                 WHERE plugin = $1 AND version = $2 AND function = $3 AND value = $4",
            )
            .bind(plugin)
            .bind(version)
            .bind(id.as_str())
            .bind(value.to_string())
            .execute(self.conn())
            .await?;
        }
        Ok(())
    }

    async fn store_sightings(
        &mut self,
        tool: &ToolState,
        id: &FunctionId,
        before: &Function,
        after: &Function,
    ) -> Result<(), StoreError> {
        let key = &tool.key;
        let rows = |function: &Function| -> BTreeSet<(NodeName, Value, bool)> {
            function
                .seen()
                .flat_map(|(node, sight)| {
                    let earlier = sight.before.iter().map(|value| (node.clone(), *value, false));
                    earlier.chain([(node.clone(), sight.now, true)])
                })
                .collect()
        };
        let (mut old, new) = (rows(before), rows(after));
        if tool.narrow.is_none() {
            // A hash that was dropped is one that many nodes may have listed.
            let stay: BTreeSet<Value> = new.iter().map(|(_, value, _)| *value).collect();
            let gone: BTreeSet<Value> = old.iter().map(|(_, value, _)| *value).collect();
            for value in gone.difference(&stay) {
                query(
                    "DELETE FROM sightings
                     WHERE plugin = $1 AND version = $2 AND function = $3 AND value = $4",
                )
                .bind(key.plugin.as_str())
                .bind(key.version.as_str())
                .bind(id.as_str())
                .bind(value.to_string())
                .execute(self.conn())
                .await?;
            }
            old.retain(|(_, value, _)| stay.contains(value));
        }
        for (node, value, _) in old.difference(&new) {
            query(
                "DELETE FROM sightings WHERE plugin = $1 AND version = $2 AND function = $3
                 AND node = $4 AND value = $5",
            )
            .bind(key.plugin.as_str())
            .bind(key.version.as_str())
            .bind(id.as_str())
            .bind(node.as_str())
            .bind(value.to_string())
            .execute(self.conn())
            .await?;
        }
        for (node, value, now) in new.difference(&old) {
            query(
                "INSERT INTO sightings (plugin, version, function, node, value, now)
                 VALUES ($1, $2, $3, $4, $5, $6)",
            )
            .bind(key.plugin.as_str())
            .bind(key.version.as_str())
            .bind(id.as_str())
            .bind(node.as_str())
            .bind(value.to_string())
            .bind(i64::from(*now))
            .execute(self.conn())
            .await?;
        }
        Ok(())
    }

    async fn store_changes(
        &mut self,
        tool: &ToolState,
        id: &FunctionId,
        after: &Function,
        listings: &BTreeMap<Value, Listing>,
        approved: Option<Value>,
        moved: &mut Moved,
    ) -> Result<(), StoreError> {
        let waiting = after.waiting();
        let open = open_changes(self.conn(), &tool.key, id).await?;
        for change in &open {
            let Some(still) = waiting.get(&change.value) else {
                let outcome = if approved == Some(change.value) {
                    Outcome::Approved
                } else if waiting.values().any(|other| !other.nodes.is_disjoint(&change.nodes)) {
                    Outcome::Superseded
                } else {
                    Outcome::Reverted
                };
                self.close_change(&change.id).await?;
                moved.closed.push((change.value, outcome));
                continue;
            };
            if still.kind != change.kind {
                query("UPDATE changes SET kind = $1 WHERE id = $2")
                    .bind(still.kind.as_str())
                    .bind(change.id.as_str())
                    .execute(self.conn())
                    .await?;
            }
            for node in change.nodes.difference(&still.nodes) {
                query("DELETE FROM change_nodes WHERE id = $1 AND node = $2")
                    .bind(change.id.as_str())
                    .bind(node.as_str())
                    .execute(self.conn())
                    .await?;
            }
            for node in still.nodes.difference(&change.nodes) {
                self.join_change(&change.id, node).await?;
                moved.opened.push((change.value, change.id.clone()));
            }
        }
        for (value, new) in &waiting {
            if open.iter().any(|change| change.value == *value) {
                continue;
            }
            self.open_waiting(tool, id, *value, new, listings, moved).await?;
        }
        Ok(())
    }

    /// Opens a change for what waits now, and did not before.
    async fn open_waiting(
        &mut self,
        tool: &ToolState,
        id: &FunctionId,
        value: Value,
        new: &Waiting,
        listings: &BTreeMap<Value, Listing>,
        moved: &mut Moved,
    ) -> Result<(), StoreError> {
        let change = change_id(&tool.key, id, value);
        let listing = match value {
            Value::Absent => None,
            Value::Listed(_) => Some(listings.get(&value).ok_or_else(|| {
                StoreError::Row(format!("no listing of {id} has the hash {value}"))
            })?),
        };
        self.open_change(NewChange {
            id: &change,
            key: &tool.key,
            tool: &tool.tool,
            function: Some(id),
            kind: new.kind,
            value: &value.to_string(),
            listing: listing.map(Listing::canonical),
        })
        .await?;
        for node in &new.nodes {
            self.join_change(&change, node).await?;
        }
        moved.opened.push((value, change));
        Ok(())
    }

    pub(super) async fn open_change(&mut self, new: NewChange<'_>) -> Result<(), StoreError> {
        let now = self.now;
        self.wakes = true;
        query(
            "INSERT INTO changes
             (id, plugin, version, tool, function, kind, value, listing, opened_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        )
        .bind(new.id.as_str())
        .bind(new.key.plugin.as_str())
        .bind(new.key.version.as_str())
        .bind(new.tool.as_str())
        .bind(new.function.map(FunctionId::as_str))
        .bind(new.kind.as_str())
        .bind(new.value)
        .bind(new.listing)
        .bind(now.0)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    pub(super) async fn join_change(
        &mut self,
        id: &ChangeId,
        node: &NodeName,
    ) -> Result<bool, StoreError> {
        let now = self.now;
        self.wakes = true;
        let done = query(
            "INSERT INTO change_nodes (id, node, since) VALUES ($1, $2, $3)
             ON CONFLICT (id, node) DO NOTHING",
        )
        .bind(id.as_str())
        .bind(node.as_str())
        .bind(now.0)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() > 0)
    }

    pub(super) async fn close_change(&mut self, id: &ChangeId) -> Result<(), StoreError> {
        self.wakes = true;
        for statement in
            ["DELETE FROM change_nodes WHERE id = $1", "DELETE FROM changes WHERE id = $1"]
        {
            query(statement).bind(id.as_str()).execute(self.conn()).await?;
        }
        Ok(())
    }

    /// Forgets a function that was never accepted and that no node lists any more: it is outside
    /// the snapshot again. A server can name as many functions as it likes.
    async fn forget_function(
        &mut self,
        key: &VersionKey,
        id: &FunctionId,
    ) -> Result<(), StoreError> {
        for statement in [
            "DELETE FROM sightings WHERE plugin = $1 AND version = $2 AND function = $3",
            "DELETE FROM accepted WHERE plugin = $1 AND version = $2 AND function = $3",
            "DELETE FROM functions WHERE plugin = $1 AND version = $2 AND function = $3",
        ] {
            query(statement)
                .bind(key.plugin.as_str())
                .bind(key.version.as_str())
                .bind(id.as_str())
                .execute(self.conn())
                .await?;
        }
        Ok(())
    }
}

/// A change to be opened.
pub(super) struct NewChange<'a> {
    pub(super) id: &'a ChangeId,
    pub(super) key: &'a VersionKey,
    pub(super) tool: &'a ToolId,
    pub(super) function: Option<&'a FunctionId>,
    pub(super) kind: ChangeKind,
    pub(super) value: &'a str,
    pub(super) listing: Option<&'a str>,
}

/// The open changes of one function.
pub(super) async fn open_changes(
    conn: &mut Conn,
    key: &VersionKey,
    id: &FunctionId,
) -> Result<Vec<OpenChange>, StoreError> {
    let rows: Vec<(String, String, String)> = query_as(
        "SELECT id, kind, value FROM changes
         WHERE plugin = $1 AND version = $2 AND function = $3 ORDER BY opened_at, id",
    )
    .bind(key.plugin.as_str())
    .bind(key.version.as_str())
    .bind(id.as_str())
    .fetch_all(&mut *conn)
    .await?;
    let mut changes = Vec::with_capacity(rows.len());
    for (id, kind, value) in rows {
        let id = parse(&id)?;
        let nodes = change_nodes(conn, &id).await?.into_iter().map(|seen| seen.node).collect();
        changes.push(OpenChange { id, kind: kind_of(&kind)?, value: parse(&value)?, nodes });
    }
    Ok(changes)
}

/// The nodes that see a change, and since when.
pub(super) async fn change_nodes(conn: &mut Conn, id: &ChangeId) -> Result<Vec<Seen>, StoreError> {
    let rows: Vec<(String, i64)> =
        query_as("SELECT node, since FROM change_nodes WHERE id = $1 ORDER BY node")
            .bind(id.as_str())
            .fetch_all(conn)
            .await?;
    rows.into_iter()
        .map(|(node, since)| Ok(Seen { node: parse(&node)?, since: UnixMillis(since) }))
        .collect()
}

/// A kind as it is stored.
pub(super) fn kind_of(text: &str) -> Result<ChangeKind, StoreError> {
    [ChangeKind::Changed, ChangeKind::New, ChangeKind::Gone, ChangeKind::Endpoint]
        .into_iter()
        .find(|kind| kind.as_str() == text)
        .ok_or_else(|| StoreError::Row(format!("`{text}` as a kind of change")))
}

/// A listing as it is stored, checked against the hash it is stored under: a text that somebody
/// edited in the file is no listing that anyone accepted.
pub(super) fn stored_listing(
    value: Value,
    text: Option<&str>,
) -> Result<Option<Listing>, StoreError> {
    let Value::Listed(hash) = value else { return Ok(None) };
    let listing = text.and_then(|text| Listing::read(text, &[]).ok());
    match listing {
        Some(listing) if listing.hash() == hash => Ok(Some(listing)),
        _ => Err(StoreError::Row(format!("a listing that does not have its hash {hash}"))),
    }
}
