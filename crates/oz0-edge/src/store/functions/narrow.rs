//! As much of a tool's state as one node's listing needs, however many nodes there are.
//!
//! A listing moves what its own node sees, and the changes that this node has part in. What other nodes see matters in two
//! cases only: a function that is not known yet is one that every node compared so far did not list, and a hash is dropped
//! when every live node that listed it lists another accepted one. So where each listed function is known, and has one
//! accepted value, or for each of them a live node that keeps it (it lists it now, or did and lists nothing accepted now), the
//! step over this node's rows and those witnesses' is the step over all of them.

use std::collections::{BTreeMap, BTreeSet};

use oz0_api::NodeName;
use oz0_listing::{FunctionId, Listing, ToolId};

use super::super::db::{Conn, query, query_as, query_scalar};
use super::{Moved, Outcome, StoreError, ToolState, VersionKey, Write, parse};
use crate::function::{Function, Sight, Value};

/// Nodes that are looked at to find one that is there.
const CANDIDATES: i64 = 16;

/// Whose rows a state is of.
pub(in crate::store) struct Narrow {
    node: NodeName,
    /// Live nodes that keep a hash from being dropped.
    pub(in crate::store) witnesses: BTreeSet<NodeName>,
}

/// A node, what it sees or saw, and whether that is now.
type Row = (String, String, i64);

fn sights(rows: &[Row]) -> Result<BTreeMap<NodeName, Sight>, StoreError> {
    let mut sights = BTreeMap::new();
    for (node, value, _) in rows.iter().filter(|(.., now)| *now == 1) {
        sights.insert(parse(node)?, Sight { now: parse(value)?, before: BTreeSet::new() });
    }
    for (node, value, _) in rows.iter().filter(|(.., now)| *now != 1) {
        if let Some(sight) = sights.get_mut(&parse::<NodeName>(node)?) {
            sight.before.insert(parse(value)?);
        }
    }
    Ok(sights)
}

impl ToolState {
    /// The state of one function, as every node sees it.
    pub(in crate::store) async fn load_one(
        conn: &mut Conn,
        key: &VersionKey,
        id: &FunctionId,
    ) -> Result<Self, StoreError> {
        let tool = id.tool();
        let values: Vec<String> = query_scalar(
            "SELECT value FROM accepted WHERE plugin = $1 AND version = $2 AND function = $3
             ORDER BY accept_rank, value",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(id.as_str())
        .fetch_all(&mut *conn)
        .await?;
        let rows: Vec<Row> = query_as(
            "SELECT node, value, now FROM sightings
             WHERE plugin = $1 AND version = $2 AND function = $3",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(id.as_str())
        .fetch_all(&mut *conn)
        .await?;
        let values = values.iter().map(|value| parse(value)).collect::<Result<_, _>>()?;
        let function = Function::stored(values, sights(&rows)?);
        Ok(Self {
            key: key.clone(),
            snapshot: Self::has_snapshot(conn, key, &tool).await?,
            tool,
            compared: BTreeSet::new(),
            functions: BTreeMap::from([(id.clone(), function)]),
            narrow: None,
        })
    }

    pub(super) async fn has_snapshot(
        conn: &mut Conn,
        key: &VersionKey,
        tool: &ToolId,
    ) -> Result<bool, StoreError> {
        let snapshot: i64 = query_scalar(
            "SELECT COUNT(*) FROM tools
             WHERE plugin = $1 AND version = $2 AND tool = $3 AND snapshot_at IS NOT NULL",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(tool.as_str())
        .fetch_one(conn)
        .await?;
        Ok(snapshot > 0)
    }

    /// What is accepted of each function that is stored.
    pub(super) async fn load_accepted(
        conn: &mut Conn,
        key: &VersionKey,
        tool: &ToolId,
    ) -> Result<BTreeMap<FunctionId, Vec<Value>>, StoreError> {
        let accepted: Vec<(String, String)> = query_as(
            "SELECT a.function, a.value FROM accepted a JOIN functions f
             ON f.plugin = a.plugin AND f.version = a.version AND f.function = a.function
             WHERE a.plugin = $1 AND a.version = $2 AND f.tool = $3
             ORDER BY a.accept_rank, a.value",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(tool.as_str())
        .fetch_all(conn)
        .await?;
        let mut values = BTreeMap::<FunctionId, Vec<Value>>::new();
        for (function, value) in accepted {
            values.entry(parse(&function)?).or_default().push(parse(&value)?);
        }
        Ok(values)
    }
}

impl Write<'_> {
    /// The state of a tool for a listing of this node's: of the rows of all nodes, no more than it needs.
    pub(in crate::store) async fn state_for(
        &mut self,
        key: &VersionKey,
        tool: &ToolId,
        node: &NodeName,
        listed: &BTreeMap<FunctionId, Listing>,
    ) -> Result<ToolState, StoreError> {
        match self.narrow(key, tool, node, listed).await? {
            Some(state) => Ok(state),
            None => ToolState::load(self.conn(), key, tool).await,
        }
    }

    async fn narrow(
        &mut self,
        key: &VersionKey,
        tool: &ToolId,
        node: &NodeName,
        listed: &BTreeMap<FunctionId, Listing>,
    ) -> Result<Option<ToolState>, StoreError> {
        if !ToolState::has_snapshot(self.conn(), key, tool).await? {
            return Ok(None);
        }
        let accepted = ToolState::load_accepted(self.conn(), key, tool).await?;
        if listed.keys().any(|id| !accepted.contains_key(id)) {
            return Ok(None);
        }
        let mut narrow = Narrow { node: node.clone(), witnesses: BTreeSet::new() };
        let mut own = self.rows_in(key, tool, node).await?;
        let mut functions = BTreeMap::new();
        for (id, values) in accepted {
            let mut rows = own.remove(&id).unwrap_or_default();
            if values.len() > 1 {
                let mut there = BTreeSet::new();
                for value in &values {
                    let Some(witness) = self.witness(key, &id, *value, node).await? else {
                        return Ok(None);
                    };
                    there.insert(witness);
                }
                for witness in there {
                    rows.extend(self.rows_of(key, &id, &witness).await?);
                    narrow.witnesses.insert(witness);
                }
            }
            functions.insert(id, Function::stored(values, sights(&rows)?));
        }
        Ok(Some(ToolState {
            key: key.clone(),
            tool: tool.clone(),
            snapshot: true,
            compared: BTreeSet::new(),
            functions,
            narrow: Some(narrow),
        }))
    }

    /// What a node sees and saw of a tool's functions.
    async fn rows_in(
        &mut self,
        key: &VersionKey,
        tool: &ToolId,
        node: &NodeName,
    ) -> Result<BTreeMap<FunctionId, Vec<Row>>, StoreError> {
        let rows: Vec<(String, String, i64)> = query_as(
            "SELECT s.function, s.value, s.now FROM functions f JOIN sightings s
             ON s.plugin = f.plugin AND s.version = f.version AND s.function = f.function
             WHERE f.plugin = $1 AND f.version = $2 AND f.tool = $3 AND s.node = $4",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(tool.as_str())
        .bind(node.as_str())
        .fetch_all(self.conn())
        .await?;
        let mut functions = BTreeMap::<FunctionId, Vec<Row>>::new();
        for (function, value, now) in rows {
            functions.entry(parse(&function)?).or_default().push((node.to_string(), value, now));
        }
        Ok(functions)
    }

    /// The same of one function.
    async fn rows_of(
        &mut self,
        key: &VersionKey,
        id: &FunctionId,
        node: &NodeName,
    ) -> Result<Vec<Row>, StoreError> {
        Ok(query_as(
            "SELECT node, value, now FROM sightings
             WHERE plugin = $1 AND version = $2 AND function = $3 AND node = $4",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(id.as_str())
        .bind(node.as_str())
        .fetch_all(self.conn())
        .await?)
    }

    async fn is_alive(&mut self, node: &NodeName) -> Result<bool, StoreError> {
        let (store, now) = (self.store, self.now);
        store.is_node_live(self.conn(), node, now).await
    }

    /// A live node beside this one that keeps this value from being dropped, where one is found among the first.
    async fn witness(
        &mut self,
        key: &VersionKey,
        id: &FunctionId,
        value: Value,
        node: &NodeName,
    ) -> Result<Option<NodeName>, StoreError> {
        let nodes: Vec<String> = query_scalar(
            "SELECT node FROM sightings
             WHERE plugin = $1 AND version = $2 AND function = $3 AND value = $4 AND now = 1
             AND node <> $5 LIMIT $6",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(id.as_str())
        .bind(value.to_string())
        .bind(node.as_str())
        .bind(CANDIDATES)
        .fetch_all(self.conn())
        .await?;
        if let Some(witness) = self.first_alive(nodes).await? {
            return Ok(Some(witness));
        }
        let nodes: Vec<String> = query_scalar(
            "SELECT s.node FROM sightings s JOIN sightings t ON t.plugin = s.plugin
             AND t.version = s.version AND t.function = s.function AND t.node = s.node AND t.now = 1
             WHERE s.plugin = $1 AND s.version = $2 AND s.function = $3 AND s.value = $4
             AND s.now = 0 AND s.node <> $5 AND NOT EXISTS (
                 SELECT a.value FROM accepted a WHERE a.plugin = t.plugin AND a.version = t.version
                 AND a.function = t.function AND a.value = t.value)
             LIMIT $6",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(id.as_str())
        .bind(value.to_string())
        .bind(node.as_str())
        .bind(CANDIDATES)
        .fetch_all(self.conn())
        .await?;
        self.first_alive(nodes).await
    }

    async fn first_alive(&mut self, nodes: Vec<String>) -> Result<Option<NodeName>, StoreError> {
        for node in nodes {
            let node = parse(&node)?;
            if self.is_alive(&node).await? {
                return Ok(Some(node));
            }
        }
        Ok(None)
    }

    /// Writes down what a node's listing changed in what waits: it joins a change, and leaves others.
    pub(super) async fn store_changes_of(
        &mut self,
        tool: &ToolState,
        Narrow { node, .. }: &Narrow,
        id: &FunctionId,
        after: &Function,
        listings: &BTreeMap<Value, Listing>,
        moved: &mut Moved,
    ) -> Result<(), StoreError> {
        // What a witness sees waits without this listing.
        let mut waiting = after.waiting();
        waiting.retain(|_, new| new.nodes.contains(node));
        let waits = !waiting.is_empty();
        let open: Vec<(String, String, Option<String>)> = query_as(
            "SELECT c.id, c.value, n.node FROM changes c
             LEFT JOIN change_nodes n ON n.id = c.id AND n.node = $4
             WHERE c.plugin = $1 AND c.version = $2 AND c.function = $3
             ORDER BY c.opened_at, c.id",
        )
        .bind(tool.key.plugin.as_str())
        .bind(tool.key.version.as_str())
        .bind(id.as_str())
        .bind(node.as_str())
        .fetch_all(self.conn())
        .await?;
        for (change, value, of_it) in open {
            let (change, value) = (parse(&change)?, parse(&value)?);
            match (waiting.remove(&value).is_some(), of_it.is_some()) {
                (true, false) => {
                    self.join_change(&change, node).await?;
                    moved.opened.push((value, change));
                }
                (false, true) => {
                    query("DELETE FROM change_nodes WHERE id = $1 AND node = $2")
                        .bind(change.as_str())
                        .bind(node.as_str())
                        .execute(self.conn())
                        .await?;
                    let others: Option<String> =
                        query_scalar("SELECT node FROM change_nodes WHERE id = $1 LIMIT 1")
                            .bind(change.as_str())
                            .fetch_optional(self.conn())
                            .await?;
                    if others.is_none() {
                        self.close_change(&change).await?;
                        let outcome = if waits { Outcome::Superseded } else { Outcome::Reverted };
                        moved.closed.push((value, outcome));
                    }
                }
                (true, true) | (false, false) => {}
            }
        }
        for (value, new) in &waiting {
            self.open_waiting(tool, id, *value, new, listings, moved).await?;
        }
        Ok(())
    }

    /// Whether some node lists a function.
    pub(super) async fn is_listed(
        &mut self,
        key: &VersionKey,
        id: &FunctionId,
    ) -> Result<bool, StoreError> {
        let listed: Option<String> = query_scalar(
            "SELECT node FROM sightings WHERE plugin = $1 AND version = $2 AND function = $3
             AND now = 1 AND value <> 'absent' LIMIT 1",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(id.as_str())
        .fetch_optional(self.conn())
        .await?;
        Ok(listed.is_some())
    }
}
