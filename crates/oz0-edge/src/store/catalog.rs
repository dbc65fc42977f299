//! The catalog: every function as its snapshot has it, with what waits beside it.

use std::collections::{BTreeMap, BTreeSet};

use oz0_api::NodeName;
use oz0_api::change::Change;
use oz0_api::plugin::{Catalog, CatalogFunction, CatalogListing, FunctionState, Override};
use oz0_listing::{FunctionId, Listing, ModelName, ToolId};

use super::changes::raw;
use super::db::{Conn, query_as, query_scalar};
use super::endpoints::{Pin, pin};
use super::functions::{VersionKey, stored_listing};
use super::names::Owners;
use super::versions::{Runs, Version, all_live, candidate_beside};
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
struct Said {
    functions: BTreeSet<FunctionId>,
    uncallable: BTreeMap<FunctionId, String>,
    failure: Option<String>,
}

async fn said(
    conn: &mut Conn,
    key: &VersionKey,
) -> Result<BTreeMap<(ToolId, NodeName), Said>, StoreError> {
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

/// Whether a function of which nothing waits is called. `on` are the live nodes that list it as accepted.
fn called(
    id: &FunctionId,
    on: &[&NodeName],
    said: &BTreeMap<(ToolId, NodeName), Said>,
    is_live: impl Fn(&NodeName) -> bool,
) -> FunctionState {
    let tool = id.tool();
    let refused = |node: &NodeName| said.get(&(tool.clone(), node.clone()))?.uncallable.get(id);
    if on.iter().any(|node| refused(node).is_none()) {
        return FunctionState::Callable;
    }
    let failed = || {
        said.iter()
            .filter(|((of, node), _)| *of == tool && is_live(node))
            .find_map(|(_, said)| said.failure.as_ref())
    };
    let reason = on.iter().find_map(|node| refused(node)).or_else(failed);
    reason.cloned().map_or(FunctionState::NotListed, |reason| FunctionState::NotCallable { reason })
}

/// The functions in the last snapshot of a tool, whichever version's that is: what is known of one that
/// moved before its version was listed.
async fn last_snapshot(
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
        let versions = all_live(&mut tx).await?;
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
        let is_live =
            |node: &NodeName| nodes.get(node).is_some_and(|seen| seen.live) && runs.on(node);
        let mut listed = BTreeMap::<(FunctionId, Value), Vec<NodeName>>::new();
        for (function, value, node) in seen {
            let (function, node): (FunctionId, NodeName) = (parse(&function)?, parse(&node)?);
            // What was compared last is not what is listed where the list is empty now, or failed.
            let now = said.get(&(function.tool(), node.clone()));
            if is_live(&node) && now.is_some_and(|now| now.functions.contains(&function)) {
                listed.entry((function, parse(&value)?)).or_default().push(node);
            }
        }

        // Two functions of one model name are both left out on a node that sees both, whether or not
        // anybody has approved them.
        let mut twins = BTreeMap::<String, Vec<FunctionId>>::new();
        for id in listed.keys().map(|(id, _)| id).collect::<BTreeSet<_>>() {
            twins.entry(ModelName::of(id).as_str().to_owned()).or_default().push(id.clone());
        }

        let mut functions = Vec::with_capacity(accepted.len());
        for (id, listings) in accepted {
            let changes = changes.remove(&id).unwrap_or_default();
            if !version.description.tools.contains_key(&id.tool())
                || (listings.is_empty() && changes.is_empty() && !moved.contains(&id.tool()))
            {
                continue;
            }
            let on: Vec<&NodeName> = listings
                .iter()
                .filter_map(|one| listed.get(&(id.clone(), Value::Listed(one.hash()))))
                .flatten()
                .collect();
            let twin = twins
                .get(ModelName::of(&id).as_str())
                .and_then(|twins| twins.iter().find(|twin| **twin != id));
            let state = if let Some((function, plugin)) = owners.left_out_for(&id) {
                FunctionState::LeftOut { plugin: plugin.clone(), function: function.clone() }
            } else if let Some(twin) = twin {
                FunctionState::LeftOut { plugin: key.plugin.clone(), function: twin.clone() }
            } else if moved.contains(&id.tool()) {
                FunctionState::EndpointWaiting
            } else if !changes.is_empty() {
                FunctionState::Waiting
            } else {
                called(&id, &on, &said, is_live)
            };
            let over = override_of(version, &id).unwrap_or_default();
            let accepted = listings
                .iter()
                .map(|listing| {
                    Ok(CatalogListing {
                        hash: listing.hash(),
                        snapshot: raw(listing)?,
                        served: over.merge(listing).as_ref().map(raw).transpose()?,
                    })
                })
                .collect::<Result<_, StoreError>>()?;
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
