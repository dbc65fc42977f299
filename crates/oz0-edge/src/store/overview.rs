//! Everything that is shown of all plugins at once, in so many statements as there are tables.
//!
//! How a function stands is decided by [`States`], as it is for the catalog; here its rows come of all versions together.

use std::collections::{BTreeMap, BTreeSet};

use oz0_api::change::Change;
use oz0_api::plugin::{CatalogFunction, FunctionStatus, ToolStatus, VersionState};
use oz0_api::{ChangeId, NodeName, PluginName, PluginVersion, UnixMillis};
use oz0_listing::{FunctionId, Listing, ListingHash, ModelName, ToolId};

use super::catalog::{AllSaid, Said, States, catalog_listings, last_snapshot, override_of};
use super::db::{Conn, query_as, query_scalar};
use super::endpoints::pin_of;
use super::functions::{VersionKey, kind_of, stored_listing};
use super::names::Owners;
use super::plugins::{Said as SaidRow, add_kept, on_node};
use super::versions::{
    Runs, Version, all_called, all_live, called_of, candidate_beside, kept, of_plugin,
};
use super::{Answer, Store, StoreError, changes, now, parse, parse_json};
use crate::function::Value;
use crate::overview::{ListedFunction, PluginOverview, VersionOverview, Waiting};
use crate::version::no_plugin;

/// A version, as rows name it.
type Key = (String, String);

/// The rows of every version that is asked for, by version.
#[derive(Default)]
struct Rows {
    accepted: BTreeMap<Key, Vec<(String, String)>>,
    seen: BTreeMap<Key, Vec<(String, String, String)>>,
    said: BTreeMap<Key, Vec<(SaidRow, String)>>,
    snapshots: BTreeMap<Key, BTreeSet<String>>,
    /// By plugin and tool: version, pin, rank; the highest rank first.
    pins: BTreeMap<Key, Vec<(String, String, i64)>>,
    waiting: BTreeMap<Key, Vec<Waiting>>,
    mismatches: BTreeMap<Key, Vec<String>>,
    /// By plugin.
    before: BTreeMap<String, String>,
}

fn grouped<T>(rows: Vec<(Key, T)>) -> BTreeMap<Key, Vec<T>> {
    let mut groups = BTreeMap::<Key, Vec<T>>::new();
    for (key, row) in rows {
        groups.entry(key).or_default().push(row);
    }
    groups
}

/// That a version is called: it is installed, a candidate, or one that nodes go on with since the installed one does not start
/// there.
macro_rules! called {
    () => {
        "(v.state IN ('installed', 'candidate') OR v.state = 'replaced' AND EXISTS (
             SELECT g.node FROM tool_nodes g JOIN versions i
             ON i.plugin = g.plugin AND i.version = g.version AND i.state = 'installed'
             WHERE g.plugin = v.plugin AND g.goes_on = v.version AND g.failure IS NOT NULL))"
    };
}

/// A statement over the rows of versions that are called, of one plugin or, where that is empty, of all.
macro_rules! live {
    ($columns:literal, $table:literal, $rest:literal) => {
        concat!(
            "SELECT t.plugin, t.version, ",
            $columns,
            " FROM ",
            $table,
            " t JOIN versions v ON v.plugin = t.plugin AND v.version = t.version ",
            "WHERE ",
            called!(),
            " AND ($1 = '' OR t.plugin = $1) ",
            $rest
        )
    };
}

type Accepted = (String, String, String, String);
type Seen = (String, String, String, String, String);
type OnNode =
    (String, String, String, String, i64, String, String, String, Option<String>, Option<String>);
type Open = (String, String, String, String, Option<String>, String, i64);

impl Rows {
    async fn load(conn: &mut Conn, of: &str) -> Result<Self, StoreError> {
        let accepted: Vec<Accepted> = query_as(live!(
            "t.function, t.value",
            "accepted",
            "ORDER BY t.function, t.accept_rank, t.value"
        ))
        .bind(of)
        .fetch_all(&mut *conn)
        .await?;
        let seen: Vec<Seen> = query_as(live!(
            "t.function, t.value, t.node",
            "sightings",
            "AND t.now = 1 AND t.value <> 'absent'"
        ))
        .bind(of)
        .fetch_all(&mut *conn)
        .await?;
        let said: Vec<OnNode> = query_as(live!(
            "t.tool, t.node, t.at, t.functions, t.left_out, t.uncallable, t.failure, t.goes_on",
            "tool_nodes",
            "ORDER BY t.node"
        ))
        .bind(of)
        .fetch_all(&mut *conn)
        .await?;
        let snapshots: Vec<(String, String, String)> =
            query_as(live!("t.tool", "tools", "AND t.snapshot_at IS NOT NULL"))
                .bind(of)
                .fetch_all(&mut *conn)
                .await?;
        // Whatever became of the version: one that was replaced hands on where its tools went.
        let pins: Vec<(String, String, String, String, i64)> = query_as(
            "SELECT t.plugin, t.tool, t.version, t.pin, v.install_rank FROM tools t JOIN versions v
             ON v.plugin = t.plugin AND v.version = t.version
             WHERE t.pin IS NOT NULL AND ($1 = '' OR t.plugin = $1) ORDER BY v.install_rank DESC",
        )
        .bind(of)
        .fetch_all(&mut *conn)
        .await?;
        let open: Vec<Open> = query_as(live!(
            "t.id, t.tool, t.function, t.kind, t.opened_at",
            "changes",
            "ORDER BY t.tool, COALESCE(t.function, ''), t.opened_at, t.id"
        ))
        .bind(of)
        .fetch_all(&mut *conn)
        .await?;
        let mismatches: Vec<(String, String, String)> =
            query_as(live!("t.function", "mismatches", "")).bind(of).fetch_all(&mut *conn).await?;
        let before: Vec<(String, String)> = query_as(
            "SELECT plugin, version FROM versions
             WHERE state = 'replaced' AND dev = 0 AND ($1 = '' OR plugin = $1)
             ORDER BY install_rank",
        )
        .bind(of)
        .fetch_all(&mut *conn)
        .await?;
        let snapshots =
            snapshots.into_iter().map(|(plugin, version, tool)| ((plugin, version), tool));
        let mut rows = Self {
            accepted: grouped(
                accepted
                    .into_iter()
                    .map(|(p, v, function, value)| ((p, v), (function, value)))
                    .collect(),
            ),
            seen: grouped(
                seen.into_iter()
                    .map(|(p, v, function, value, node)| ((p, v), (function, value, node)))
                    .collect(),
            ),
            said: grouped(said.into_iter().map(on_a_node).collect()),
            pins: grouped(
                pins.into_iter()
                    .map(|(p, tool, v, pin, rank)| ((p, tool), (v, pin, rank)))
                    .collect(),
            ),
            waiting: waiting(conn, open).await?,
            mismatches: grouped(mismatches.into_iter().map(|(p, v, one)| ((p, v), one)).collect()),
            // The last one stays, which has the highest rank.
            before: before.into_iter().collect(),
            ..Self::default()
        };
        for (key, tool) in snapshots {
            rows.snapshots.entry(key).or_default().insert(tool);
        }
        Ok(rows)
    }

    /// The nodes that go on with a version in the place of its candidate, which failed there.
    fn go_on(
        &self,
        version: &Version,
        candidate: Option<&Version>,
    ) -> Result<BTreeSet<NodeName>, StoreError> {
        let Some(candidate) = candidate else { return Ok(BTreeSet::new()) };
        let own = version.description.version.as_str();
        let said = self.said.get(&key_of(candidate)).into_iter().flatten();
        said.filter(|(row, _)| row.5.is_some() && row.6.as_deref() == Some(own))
            .map(|(row, _)| parse(&row.1))
            .collect()
    }
}

fn on_a_node(row: OnNode) -> (Key, (SaidRow, String)) {
    let (plugin, version, tool, node, at, functions, left_out, uncallable, failure, goes_on) = row;
    ((plugin, version), ((tool, node, at, functions, left_out, failure, goes_on), uncallable))
}

fn key_of(version: &Version) -> Key {
    (version.description.name.to_string(), version.description.version.to_string())
}

/// Changes with the nodes that see them.
async fn waiting(
    conn: &mut Conn,
    open: Vec<Open>,
) -> Result<BTreeMap<Key, Vec<Waiting>>, StoreError> {
    let mut groups = BTreeMap::<Key, Vec<Waiting>>::new();
    if open.is_empty() {
        return Ok(groups);
    }
    let nodes: Vec<(String, String)> =
        query_as("SELECT id, node FROM change_nodes ORDER BY node").fetch_all(conn).await?;
    let mut seen = BTreeMap::<String, Vec<NodeName>>::new();
    for (id, node) in nodes {
        seen.entry(id).or_default().push(parse(&node)?);
    }
    for (plugin, version, id, tool, function, kind, opened_at) in open {
        groups.entry((plugin, version)).or_default().push(Waiting {
            nodes: seen.remove(&id).unwrap_or_default(),
            id: parse(&id)?,
            tool: parse(&tool)?,
            function: function.as_deref().map(parse).transpose()?,
            kind: kind_of(&kind)?,
            opened_at: UnixMillis(opened_at),
        });
    }
    Ok(groups)
}

impl Store {
    /// Every installed plugin, by name.
    pub(crate) async fn overview(&self) -> Answer<Vec<PluginOverview>> {
        let mut tx = self.read().await?;
        let live = all_live(&mut tx).await?;
        Ok(self.overview_of(&mut tx, &live, "").await?)
    }

    /// How many changes wait, and how many calls for a person.
    pub(crate) async fn waiting_counts(&self) -> Answer<(i64, i64)> {
        let mut tx = self.read().await?;
        let changes: i64 = query_scalar(concat!(
            "SELECT COUNT(*) FROM changes c JOIN versions v
             ON v.plugin = c.plugin AND v.version = c.version WHERE ",
            called!()
        ))
        .fetch_one(&mut tx)
        .await?;
        let calls: i64 = query_scalar("SELECT COUNT(*) FROM approvals WHERE state = 'pending'")
            .fetch_one(&mut tx)
            .await?;
        Ok((changes, calls))
    }

    /// One installed plugin.
    pub(crate) async fn plugin_overview(&self, plugin: &PluginName) -> Answer<PluginOverview> {
        let mut tx = self.read().await?;
        let live = of_plugin(&mut tx, plugin).await?;
        let found = self.overview_of(&mut tx, &live, plugin.as_str()).await?.pop();
        Ok(found.ok_or_else(|| no_plugin(plugin))?)
    }

    async fn overview_of(
        &self,
        conn: &mut Conn,
        live: &[Version],
        of: &str,
    ) -> Result<Vec<PluginOverview>, StoreError> {
        let mut rows = Rows::load(conn, of).await?;
        let owners = Owners::load(conn).await?;
        let nodes = self.nodes_seen(conn, now()).await?;
        let nodes: BTreeMap<NodeName, bool> =
            nodes.into_iter().map(|(node, seen)| (node, seen.live)).collect();
        let kept = kept(conn, None).await?;
        let mut plugins = Vec::new();
        for version in live.iter().filter(|version| !version.is_candidate()) {
            let candidate = candidate_beside(live, version);
            let before = rows.before.remove(version.description.name.as_str());
            let before: Option<PluginVersion> = before.as_deref().map(parse).transpose()?;
            let mut installed =
                version_overview(conn, &mut rows, &owners, &nodes, version, candidate).await?;
            // What nodes go on with is what they call of the plugin, and what may wait there waits.
            for kept in kept.iter().filter(|kept| kept.description.name == version.description.name)
            {
                let kept = version_overview(conn, &mut rows, &owners, &nodes, kept, None).await?;
                installed.waiting.extend(kept.waiting);
                add_kept(&mut installed.functions, kept.functions);
            }
            let candidate = match candidate {
                Some(candidate) => {
                    Some(version_overview(conn, &mut rows, &owners, &nodes, candidate, None).await?)
                }
                None => None,
            };
            plugins.push(PluginOverview { installed, candidate, before });
        }
        Ok(plugins)
    }

    /// These changes of a plugin that still wait, with both sides, in the order in which they are named.
    pub(crate) async fn changes_named(
        &self,
        plugin: &PluginName,
        ids: &[ChangeId],
    ) -> Answer<Vec<Change>> {
        let mut tx = self.read().await?;
        Ok(changes_named(&mut tx, plugin, ids).await?)
    }

    /// Every function of an installed version with the listing that was accepted last, by its ID.
    pub(crate) async fn listed(&self) -> Answer<Vec<ListedFunction>> {
        let mut tx = self.read().await?;
        let rows: Vec<(String, String, String)> = query_as(
            "SELECT a.plugin, a.function, a.listing FROM accepted a JOIN versions v
             ON v.plugin = a.plugin AND v.version = a.version
             WHERE v.state = 'installed' AND a.listing IS NOT NULL
             ORDER BY a.function, a.accept_rank, a.value",
        )
        .fetch_all(&mut tx)
        .await?;
        let mut functions: Vec<ListedFunction> = Vec::with_capacity(rows.len());
        for (plugin, function, listing) in rows {
            let one = ListedFunction { id: parse(&function)?, plugin: parse(&plugin)?, listing };
            match functions.last_mut() {
                Some(last) if last.id == one.id && last.plugin == one.plugin => *last = one,
                _ => functions.push(one),
            }
        }
        Ok(functions)
    }

    /// One function, as each version has it that nodes run.
    pub(crate) async fn function(&self, id: &FunctionId) -> Answer<Vec<CatalogFunction>> {
        let mut tx = self.read().await?;
        let tool = id.tool();
        let called = all_called(&mut tx).await?;
        let owners = Owners::load(&mut tx).await?;
        let nodes = self.nodes_seen(&mut tx, now()).await?;
        let nodes: BTreeMap<NodeName, bool> =
            nodes.into_iter().map(|(node, seen)| (node, seen.live)).collect();
        let mut found = Vec::new();
        for version in called.iter().filter(|version| version.description.tools.contains_key(&tool))
        {
            let name = &version.description.name;
            let mut rows = Rows::load(&mut tx, name.as_str()).await?;
            let candidate = candidate_beside(&called, version)
                .filter(|_| version.state == VersionState::Installed);
            let own =
                version_overview(&mut tx, &mut rows, &owners, &nodes, version, candidate).await?;
            let own = own.functions.iter().find(|own| own.id == *id);
            let Some(own) = own else { continue };
            let key = version.key();
            let listings = accepted_of(&mut tx, &key, id).await?;
            let ids: Vec<String> = query_scalar(
                "SELECT id FROM changes WHERE plugin = $1 AND version = $2 AND function = $3
                 ORDER BY opened_at, id",
            )
            .bind(key.plugin.as_str())
            .bind(key.version.as_str())
            .bind(id.as_str())
            .fetch_all(&mut tx)
            .await?;
            let ids = ids.iter().map(|id| parse(id)).collect::<Result<Vec<_>, _>>()?;
            let over = override_of(version, id).unwrap_or_default();
            found.push(CatalogFunction {
                id: id.clone(),
                model_name: own.model_name.clone(),
                plugin: name.clone(),
                version: key.version.clone(),
                candidate: version.is_candidate(),
                state: own.state.clone(),
                accepted: catalog_listings(&listings, &over)?,
                changes: changes_named(&mut tx, name, &ids).await?,
            });
        }
        Ok(found)
    }
}

/// The accepted listings of a function, in the order of acceptance.
async fn accepted_of(
    conn: &mut Conn,
    key: &VersionKey,
    id: &FunctionId,
) -> Result<Vec<Listing>, StoreError> {
    let rows: Vec<(String, Option<String>)> = query_as(
        "SELECT value, listing FROM accepted WHERE plugin = $1 AND version = $2 AND function = $3
         ORDER BY accept_rank, value",
    )
    .bind(key.plugin.as_str())
    .bind(key.version.as_str())
    .bind(id.as_str())
    .fetch_all(conn)
    .await?;
    let listings =
        rows.iter().map(|(value, listing)| stored_listing(parse(value)?, listing.as_deref()));
    Ok(listings.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

async fn changes_named(
    conn: &mut Conn,
    plugin: &PluginName,
    ids: &[ChangeId],
) -> Result<Vec<Change>, StoreError> {
    let mut found = Vec::with_capacity(ids.len());
    for version in called_of(conn, plugin).await? {
        let key = version.key();
        for id in ids {
            if let Some(change) = changes::named(conn, &version, &key, id).await? {
                found.push(change);
            }
        }
    }
    Ok(found)
}

/// One version, out of the rows of all.
async fn version_overview(
    conn: &mut Conn,
    rows: &mut Rows,
    owners: &Owners,
    nodes: &BTreeMap<NodeName, bool>,
    version: &Version,
    candidate: Option<&Version>,
) -> Result<VersionOverview, StoreError> {
    let runs = Runs::new(version, candidate, rows.go_on(version, candidate)?);
    let key = key_of(version);
    let plugin = &version.description.name;
    let known = &version.description.tools;
    let mut accepted = BTreeMap::<FunctionId, Vec<ListingHash>>::new();
    for (function, value) in rows.accepted.remove(&key).unwrap_or_default() {
        let hashes = accepted.entry(parse(&function)?).or_default();
        if let Value::Listed(hash) = parse(&value)? {
            hashes.push(hash);
        }
    }
    let mut waiting = rows.waiting.remove(&key).unwrap_or_default();
    waiting.retain(|change| known.contains_key(&change.tool));
    let waits: BTreeSet<&FunctionId> =
        waiting.iter().filter_map(|change| change.function.as_ref()).collect();
    let mut moved = BTreeSet::<ToolId>::new();
    for (tool, description) in known {
        let pins = rows.pins.get(&(key.0.clone(), tool.to_string()));
        let pin = pins.and_then(|pins| pin_of(pins, &version.description.version));
        if let (Some(endpoint), Some(pin)) = (description.endpoint(), pin)
            && pin != endpoint.as_str()
        {
            moved.insert(tool.clone());
            for function in last_snapshot(conn, &version.key(), tool).await? {
                accepted.entry(function).or_default();
            }
        }
    }
    let said_rows = rows.said.remove(&key).unwrap_or_default();
    let said = said(&said_rows)?;
    let live = nodes.iter().filter(|(node, live)| **live && runs.on(node));
    let live = live.map(|(node, _)| node).collect();
    let seen = rows.seen.remove(&key).unwrap_or_default();
    let seen = seen
        .iter()
        .map(|(function, value, node)| Ok((parse(function)?, parse(value)?, parse(node)?)))
        .collect::<Result<Vec<_>, StoreError>>()?;
    let states = States::new(plugin, owners, &said, live, seen);
    let mut functions = Vec::with_capacity(accepted.len());
    for (id, accepted) in accepted {
        let (tool, waits) = (id.tool(), waits.contains(&id));
        let moved = moved.contains(&tool);
        if !known.contains_key(&tool) || (accepted.is_empty() && !waits && !moved) {
            continue;
        }
        let state = states.of(&id, accepted.iter().copied().map(Value::Listed), moved, waits);
        let model_name = ModelName::of(&id).as_str().to_owned();
        functions.push(FunctionStatus { id, model_name, state, accepted });
    }
    let snapshots = rows.snapshots.remove(&key).unwrap_or_default();
    let mismatches = rows.mismatches.remove(&key).unwrap_or_default();
    Ok(VersionOverview {
        tools: tools(version, &runs, &snapshots, &said_rows)?,
        functions,
        waiting,
        mismatches: mismatches.iter().map(|one| parse(one)).collect::<Result<_, _>>()?,
        installed_at: version.installed_at,
        rollout: version.rollout.clone().filter(|_| version.is_candidate()),
        description: version.description.clone(),
    })
}

fn said(rows: &[(SaidRow, String)]) -> Result<AllSaid, StoreError> {
    rows.iter()
        .map(|((tool, node, _, functions, _, failure, _), uncallable)| {
            let said = Said {
                functions: parse_json(functions)?,
                uncallable: parse_json(uncallable)?,
                failure: failure.clone(),
            };
            Ok(((parse(tool)?, parse(node)?), said))
        })
        .collect()
}

fn tools(
    version: &Version,
    runs: &Runs<'_>,
    snapshots: &BTreeSet<String>,
    rows: &[(SaidRow, String)],
) -> Result<Vec<ToolStatus>, StoreError> {
    let mut tools = Vec::new();
    for (tool, description) in &version.description.tools {
        let mut nodes = Vec::new();
        for (row, _) in rows.iter().filter(|(row, _)| row.0 == tool.as_str()) {
            let seen = on_node(row)?;
            if runs.on(&seen.node) {
                nodes.push(seen);
            }
        }
        tools.push(ToolStatus {
            tool: tool.clone(),
            endpoint: description.endpoint().cloned(),
            snapshot: snapshots.contains(tool.as_str()),
            nodes,
        });
    }
    Ok(tools)
}
