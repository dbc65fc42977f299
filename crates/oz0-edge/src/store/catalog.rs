//! The catalog: every function as its snapshot has it, with what waits beside it.

use std::collections::{BTreeMap, BTreeSet};

use oz0_api::change::Change;
use oz0_api::plugin::{Catalog, CatalogFunction, CatalogListing, FunctionState, Override};
use oz0_api::{NodeName, PluginName};
use oz0_listing::{FunctionId, Listing, ModelName, ToolId};

use super::changes::raw;
use super::db::{Conn, query_as, query_scalar};
use super::endpoints::{Pin, pin};
use super::functions::{VersionKey, stored_listing};
use super::names::Owners;
use super::versions::{Runs, Version, all_called, candidate_beside};
use super::{Answer, Store, StoreError, now, parse, parse_json};
use crate::function::Value;

/// The accepted listings of a version, by function and in the order of acceptance; a function of
/// which not being listed is accepted has an entry too.
pub(super) async fn accepted_listings(
    conn: &mut Conn,
    key: &VersionKey,
    after: i64,
) -> Result<BTreeMap<FunctionId, Vec<Listing>>, StoreError> {
    let rows: Vec<(String, String, Option<String>)> = query_as(
        "SELECT a.function, a.value, a.listing FROM accepted a JOIN functions f
         ON f.plugin = a.plugin AND f.version = a.version AND f.function = a.function
         WHERE a.plugin = $1 AND a.version = $2 AND f.revision > $3
         ORDER BY a.function, a.accept_rank, a.value",
    )
    .bind(key.plugin.as_str())
    .bind(key.version.as_str())
    .bind(after)
    .fetch_all(conn)
    .await?;
    let mut accepted = BTreeMap::<FunctionId, Vec<Listing>>::new();
    for (function, value, listing) in rows {
        let listings = accepted.entry(parse(&function)?).or_default();
        listings.extend(stored_listing(parse(&value)?, listing.as_deref())?);
    }
    Ok(accepted)
}

/// The override of a function, where the manifest has one.
pub(super) fn override_of(version: &Version, id: &FunctionId) -> Option<Override> {
    version.description.tools.get(&id.tool())?.overrides.get(id.function()).cloned()
}

/// What a node said of a tool last.
pub(super) struct Said {
    pub(super) functions: BTreeSet<FunctionId>,
    pub(super) uncallable: BTreeMap<FunctionId, String>,
    pub(super) failure: Option<String>,
}

/// What nodes said last of a version's tools.
pub(super) type AllSaid = BTreeMap<(ToolId, NodeName), Said>;

async fn said(conn: &mut Conn, key: &VersionKey) -> Result<AllSaid, StoreError> {
    let rows: Vec<(String, String, String, String, Option<String>)> = query_as(
        "SELECT tool, node, functions, uncallable, failure FROM tool_nodes
         WHERE plugin = $1 AND version = $2",
    )
    .bind(key.plugin.as_str())
    .bind(key.version.as_str())
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|(tool, node, functions, uncallable, failure)| {
            let said = Said {
                functions: parse_json(&functions)?,
                uncallable: parse_json(&uncallable)?,
                failure,
            };
            Ok(((parse(&tool)?, parse(&node)?), said))
        })
        .collect()
}

/// What decides how the functions of a version stand.
pub(super) struct States<'a> {
    plugin: &'a PluginName,
    owners: &'a Owners,
    said: &'a AllSaid,
    /// The live nodes that run the version.
    live: BTreeSet<&'a NodeName>,
    /// On which of them a function lists itself how.
    listed: BTreeMap<(FunctionId, Value), Vec<NodeName>>,
    /// The functions that are listed by one model name.
    twins: BTreeMap<String, Vec<FunctionId>>,
}

impl<'a> States<'a> {
    /// From what nodes `seen` list, which are live where `live` has them.
    pub(super) fn new(
        plugin: &'a PluginName,
        owners: &'a Owners,
        said: &'a AllSaid,
        live: BTreeSet<&'a NodeName>,
        seen: impl IntoIterator<Item = (FunctionId, Value, NodeName)>,
    ) -> Self {
        let mut listed = BTreeMap::<(FunctionId, Value), Vec<NodeName>>::new();
        for (function, value, node) in seen {
            // What was compared last is not what is listed where the list is empty now, or failed.
            let now = said.get(&(function.tool(), node.clone()));
            if live.contains(&node) && now.is_some_and(|now| now.functions.contains(&function)) {
                listed.entry((function, value)).or_default().push(node);
            }
        }
        // Two functions of one model name are both left out on a node that sees both, whether or not
        // anybody has approved them.
        let mut twins = BTreeMap::<String, Vec<FunctionId>>::new();
        for id in listed.keys().map(|(id, _)| id).collect::<BTreeSet<_>>() {
            twins.entry(ModelName::of(id).as_str().to_owned()).or_default().push(id.clone());
        }
        Self { plugin, owners, said, live, listed, twins }
    }

    /// How a function stands of which this is accepted, whose tool's endpoint moved or not, and of which something waits or
    /// not.
    pub(super) fn of(
        &self,
        id: &FunctionId,
        accepted: impl IntoIterator<Item = Value>,
        moved: bool,
        waits: bool,
    ) -> FunctionState {
        let twins = self.twins.get(ModelName::of(id).as_str());
        if let Some((function, plugin)) = self.owners.left_out_for(id) {
            return FunctionState::LeftOut { plugin: plugin.clone(), function: function.clone() };
        }
        if let Some(twin) = twins.and_then(|twins| twins.iter().find(|twin| *twin != id)) {
            return FunctionState::LeftOut { plugin: self.plugin.clone(), function: twin.clone() };
        }
        if moved {
            return FunctionState::EndpointWaiting;
        }
        if waits {
            return FunctionState::Waiting;
        }
        let on: Vec<&NodeName> = accepted
            .into_iter()
            .filter_map(|value| self.listed.get(&(id.clone(), value)))
            .flatten()
            .collect();
        self.called(id, &on)
    }

    /// Whether a function of which nothing waits is called. `on` are the live nodes that list it as accepted.
    fn called(&self, id: &FunctionId, on: &[&NodeName]) -> FunctionState {
        let (tool, said) = (id.tool(), self.said);
        let refused = |node: &NodeName| said.get(&(tool.clone(), node.clone()))?.uncallable.get(id);
        if on.iter().any(|node| refused(node).is_none()) {
            return FunctionState::Callable;
        }
        let failed = || {
            said.iter()
                .filter(|((of, node), _)| *of == tool && self.live.contains(node))
                .find_map(|(_, said)| said.failure.as_ref())
        };
        let reason = on.iter().find_map(|node| refused(node)).or_else(failed);
        reason
            .cloned()
            .map_or(FunctionState::NotListed, |reason| FunctionState::NotCallable { reason })
    }
}

/// The functions in the last snapshot of a tool, whichever version's that is: what is known of one that
/// moved before its version was listed.
pub(super) async fn last_snapshot(
    conn: &mut Conn,
    key: &VersionKey,
    tool: &ToolId,
) -> Result<Vec<FunctionId>, StoreError> {
    let functions: Vec<String> = query_scalar(
        "SELECT DISTINCT a.function FROM accepted a JOIN functions f
         ON f.plugin = a.plugin AND f.version = a.version AND f.function = a.function
         WHERE a.plugin = $1 AND f.tool = $2 AND a.value <> 'absent' AND a.version = (
             SELECT t.version FROM tools t JOIN versions v
             ON v.plugin = t.plugin AND v.version = t.version
             WHERE t.plugin = $1 AND t.tool = $2 AND t.snapshot_at IS NOT NULL
             ORDER BY v.install_rank DESC LIMIT 1)
         ORDER BY a.function",
    )
    .bind(key.plugin.as_str())
    .bind(tool.as_str())
    .fetch_all(conn)
    .await?;
    functions.iter().map(|function| parse(function)).collect()
}

impl Store {
    /// The catalog.
    pub(crate) async fn catalog(&self) -> Answer<Catalog> {
        let mut tx = self.read().await?;
        let mut functions = Vec::new();
        let versions = all_called(&mut tx).await?;
        for version in &versions {
            let candidate = candidate_beside(&versions, version);
            let runs = Runs::load(&mut tx, version, candidate).await?;
            functions.extend(self.catalog_of(&mut tx, version, &runs).await?);
        }
        functions.sort_by(|a, b| a.id.cmp(&b.id).then(a.candidate.cmp(&b.candidate)));
        Ok(Catalog { functions })
    }

    /// The functions of one version.
    pub(super) async fn catalog_of(
        &self,
        conn: &mut Conn,
        version: &Version,
        runs: &Runs<'_>,
    ) -> Result<Vec<CatalogFunction>, StoreError> {
        let key = version.key();
        let owners = Owners::load(conn).await?;
        let mut accepted = accepted_listings(conn, &key, -1).await?;
        let mut changes = BTreeMap::<FunctionId, Vec<Change>>::new();
        for change in self.changes_of(conn, version).await? {
            if let Some(function) = change.function.clone() {
                changes.entry(function).or_default().push(change);
            }
        }
        let mut moved = BTreeSet::<ToolId>::new();
        for (tool, description) in &version.description.tools {
            if let Some(endpoint) = description.endpoint()
                && let Pin::Moved { .. } = pin(conn, &key, tool, endpoint).await?
            {
                moved.insert(tool.clone());
                for function in last_snapshot(conn, &key, tool).await? {
                    accepted.entry(function).or_default();
                }
            }
        }
        let nodes = self.nodes_seen(conn, now()).await?;
        let seen: Vec<(String, String, String)> = query_as(
            "SELECT function, value, node FROM sightings
             WHERE plugin = $1 AND version = $2 AND now = 1 AND value <> 'absent'",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .fetch_all(&mut *conn)
        .await?;
        let said = said(conn, &key).await?;
        let live = nodes.iter().filter(|(node, seen)| seen.live && runs.on(node));
        let live = live.map(|(node, _)| node).collect();
        let seen = seen
            .iter()
            .map(|(function, value, node)| Ok((parse(function)?, parse(value)?, parse(node)?)))
            .collect::<Result<Vec<_>, StoreError>>()?;
        let states = States::new(&key.plugin, &owners, &said, live, seen);

        let mut functions = Vec::with_capacity(accepted.len());
        for (id, listings) in accepted {
            let changes = changes.remove(&id).unwrap_or_default();
            if !version.description.tools.contains_key(&id.tool())
                || (listings.is_empty() && changes.is_empty() && !moved.contains(&id.tool()))
            {
                continue;
            }
            let hashes = listings.iter().map(|listing| Value::Listed(listing.hash()));
            let moved = moved.contains(&id.tool());
            let state = states.of(&id, hashes, moved, !changes.is_empty());
            let over = override_of(version, &id).unwrap_or_default();
            let accepted = catalog_listings(&listings, &over)?;
            functions.push(CatalogFunction {
                model_name: ModelName::of(&id).as_str().to_owned(),
                id,
                plugin: key.plugin.clone(),
                version: key.version.clone(),
                candidate: version.is_candidate(),
                state,
                accepted,
                changes,
            });
        }
        Ok(functions)
    }
}

/// Accepted listings as the catalog has them.
pub(super) fn catalog_listings(
    listings: &[Listing],
    over: &Override,
) -> Result<Vec<CatalogListing>, StoreError> {
    let catalog = listings.iter().map(|listing| {
        Ok(CatalogListing {
            hash: listing.hash(),
            snapshot: raw(listing)?,
            served: over.merge(listing).as_ref().map(raw).transpose()?,
        })
    });
    catalog.collect()
}
