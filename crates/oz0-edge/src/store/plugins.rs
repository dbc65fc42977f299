//! Plugins and their versions: installed, replaced, removed; and `plugin list`.

use std::collections::{BTreeMap, BTreeSet};

use oz0_api::audit::AuditSubject;
use oz0_api::plugin::{
    Candidate, FunctionStatus, Install, PluginDescription, PluginStatus, Source, ToolOnNode,
    ToolStatus,
};
use oz0_api::{Code, PluginName, Problem, UnixMillis};
use oz0_listing::{Digest, FunctionId, ListingHash, ModelName, ToolId};

use super::db::{Conn, query, query_as, query_scalar};
use super::versions::{
    Runs, Version, all_live, candidate_beside, install_rank, installed, kept, known, life,
    of_plugin,
};
use super::{Act, Actor, Answer, Store, StoreError, Write, now, parse, parse_json, to_json};
use crate::version::{self, Event, no_plugin};

/// What the audit log says of an install beside the plugin and its version.
fn install_detail(
    description: &PluginDescription,
    before: Option<&Version>,
    terms: &Install,
    added: &[ToolId],
) -> BTreeMap<String, String> {
    let mut detail = BTreeMap::from([
        ("digest".to_owned(), description.digest.to_string()),
        (
            "source".to_owned(),
            if description.source.is_dev() { "dev" } else { "bundle" }.to_owned(),
        ),
    ]);
    if !added.is_empty() {
        let added: Vec<&str> = added.iter().map(ToolId::as_str).collect();
        detail.insert("tools_added".to_owned(), added.join(", "));
    }
    if let Source::Dev { folder } = &description.source {
        detail.insert("folder".to_owned(), folder.clone());
    }
    if let Some(Source::Dev { folder }) = before.map(|was| &was.description.source)
        && terms.instead_of.as_ref() == Some(folder)
    {
        detail.insert("instead_of".to_owned(), folder.clone());
    }
    if let Some(before) = before.filter(|before| before.description.version != description.version)
    {
        let key = if terms.rollout.is_some() { "beside" } else { "replaces" };
        detail.insert(key.to_owned(), before.description.version.to_string());
    }
    if let Some(rollout) = &terms.rollout {
        detail.insert("rollout".to_owned(), rollout.to_string());
    }
    if terms.downgrade {
        detail.insert("downgrade".to_owned(), "asked".to_owned());
    }
    detail
}

impl Store {
    /// The digests of every bundle that a version is known by.
    pub(crate) async fn known_digests(&self) -> Result<BTreeSet<Digest>, StoreError> {
        let mut tx = self.read().await?;
        let rows: Vec<String> =
            query_scalar("SELECT digest FROM versions WHERE dev = 0").fetch_all(&mut tx).await?;
        rows.iter().map(|digest| parse(digest)).collect()
    }

    /// Installs a version, or registers a folder run in place.
    pub(crate) async fn install(
        &self,
        actor: &Actor,
        description: &PluginDescription,
        terms: &Install,
    ) -> Answer<PluginStatus> {
        let mut write = self.write(actor).await?;
        let (name, number) = (&description.name, &description.version);
        let before = installed(write.conn(), name).await?;
        match &before {
            Some(before) => version::same_folder(&before.description, description, terms)?,
            None if terms.update => {
                return Err(no_plugin(name)
                    .hint("a first version is installed with: oz0 plugin install DIR|BUNDLE")
                    .into());
            }
            None => {}
        }
        let is_dev = description.source.is_dev();
        if is_dev && terms.rollout.is_some() {
            let what =
                format!("{name} {number} is run from a folder, in place, and is no candidate");
            return Err(Problem::new(Code::Conflict, what)
                .hint("pack it, and offer the bundle: oz0 plugin update BUNDLE --canary NODE")
                .into());
        }
        let known = known(write.conn(), name, number).await?;
        if let Some(known) = &known {
            version::same_version(&known.description, description)?;
        }
        // A folder's version is whatever its author writes there.
        let downgrade = terms.downgrade
            || is_dev
            || before.as_ref().is_some_and(|before| before.description.source.is_dev());
        let event = match &terms.rollout {
            Some(_) => Event::Offer { version: number, downgrade },
            None => Event::Install { version: number, downgrade },
        };
        let (life, mut acts) = write.decided(name, event).await?;
        write.check_apart(description).await?;
        if let Some(rollout) = &terms.rollout {
            write.check_rollout(name, number, rollout).await?;
        }
        let own = acts.iter().find(|(version, _)| version == number).map(|(_, act)| *act);
        let from = known.as_ref().map(|known| known.state);
        let state = own.and_then(|act| version::step(from, act));
        let state = state.ok_or_else(|| StoreError::Row(format!("{name} {number} as {from:?}")))?;
        if known.as_ref().is_some_and(|known| {
            known.state == state
                && known.description == *description
                && known.rollout == terms.rollout
        }) {
            drop(write);
            return self.plugin(name).await;
        }
        if before.as_ref().is_some_and(|before| before.description.version != *number) {
            write.check_users(description).await?;
        }

        acts.retain(|(version, _)| version != number);
        write.carry_out_all(name, &life, &acts).await?;
        let stored = Version {
            description: description.clone(),
            state,
            installed_at: write.now,
            rollout: terms.rollout.clone(),
            kept_on: BTreeSet::new(),
        };
        write.store_version(&stored).await?;
        // The overrides may differ, and nodes forgot what they held of a version that was gone.
        write.assign_anew(name).await?;

        let added = match &known {
            Some(known) if is_dev => {
                if known.description.measured != description.measured {
                    write.compare_measured(&stored).await?;
                }
                write.hold_added_tools(&known.description, description).await?
            }
            _ => Vec::new(),
        };

        let detail = install_detail(description, before.as_ref(), terms, &added);
        let action = if terms.update && !is_dev { "plugin.update" } else { "plugin.install" };
        write.tell_of_version(action, name, number, detail).await?;
        write.compare_moves(&stored).await?;
        write.claim_names(name).await?;
        write.commit().await?;
        self.plugin(name).await
    }

    /// Removes a plugin from every node. Its snapshots stay.
    pub(crate) async fn remove(&self, actor: &Actor, plugin: &PluginName) -> Answer<()> {
        let mut write = self.write(actor).await?;
        let (life, acts) = write.decided(plugin, Event::Remove).await?;
        write.carry_out_all(plugin, &life, &acts).await?;
        write.claim_names(plugin).await?;
        let candidate =
            life.candidate().map(|version| ("candidate".to_owned(), version.to_string()));
        if let Some(version) = life.installed() {
            let detail = candidate.into_iter().collect();
            write.tell_of_version("plugin.remove", plugin, version, detail).await?;
        }
        write.commit().await?;
        Ok(())
    }

    /// One installed plugin.
    pub(crate) async fn plugin(&self, plugin: &PluginName) -> Answer<PluginStatus> {
        let mut tx = self.read().await?;
        let versions = of_plugin(&mut tx, plugin).await?;
        let mut versions = versions.iter();
        let version = versions.next().ok_or_else(|| no_plugin(plugin))?;
        Ok(self.status(&mut tx, version, versions.next()).await?)
    }

    /// Every installed plugin.
    pub(crate) async fn plugins(&self) -> Answer<Vec<PluginStatus>> {
        let mut tx = self.read().await?;
        let versions = all_live(&mut tx).await?;
        let mut statuses = Vec::new();
        for version in versions.iter().filter(|version| !version.is_candidate()) {
            let candidate = candidate_beside(&versions, version);
            statuses.push(self.status(&mut tx, version, candidate).await?);
        }
        Ok(statuses)
    }

    /// What stands on a plugin: on its installed version, and on its candidate beside it.
    async fn status(
        &self,
        conn: &mut Conn,
        version: &Version,
        candidate: Option<&Version>,
    ) -> Result<PluginStatus, StoreError> {
        let mut status = self.status_of(conn, version, candidate).await?;
        status.before = life(conn, &status.name).await?.before;
        let mut said = status.tools.iter().flat_map(|tool| &tool.nodes);
        if said.any(|node| node.goes_on.is_some()) {
            // What nodes go on with is what they call of the plugin, and what may wait there waits.
            for kept in kept(conn, Some(&status.name)).await? {
                let kept = self.status_of(conn, &kept, None).await?;
                status.changes.extend(kept.changes);
                add_kept(&mut status.functions, kept.functions);
            }
        }
        if let Some((candidate, rollout)) =
            candidate.and_then(|candidate| Some((candidate, candidate.rollout.clone()?)))
        {
            let nodes = self.nodes_seen(conn, now()).await?.into_keys();
            let nodes = nodes.filter(|node| candidate.is_offered_to(node)).collect();
            let status_of = self.status_of(conn, candidate, None).await?;
            status.candidate = Some(Box::new(Candidate { rollout, nodes, status: status_of }));
        }
        Ok(status)
    }

    async fn status_of(
        &self,
        conn: &mut Conn,
        version: &Version,
        candidate: Option<&Version>,
    ) -> Result<PluginStatus, StoreError> {
        let runs = Runs::load(conn, version, candidate).await?;
        let key = version.key();
        let catalog = self.catalog_of(conn, version, &runs).await?;
        let functions = catalog
            .iter()
            .map(|function| FunctionStatus {
                id: function.id.clone(),
                model_name: ModelName::of(&function.id).as_str().to_owned(),
                state: function.state.clone(),
                accepted: function
                    .accepted
                    .iter()
                    .map(|accepted| accepted.hash)
                    .collect::<Vec<ListingHash>>(),
            })
            .collect();
        let mismatches: Vec<String> =
            query_scalar("SELECT function FROM mismatches WHERE plugin = $1 AND version = $2")
                .bind(key.plugin.as_str())
                .bind(key.version.as_str())
                .fetch_all(&mut *conn)
                .await?;
        let tools = tools(conn, version, &runs).await?;
        let changes = self.changes_of(conn, version).await?;
        let PluginDescription { name, version: number, digest, source, title, description, .. } =
            version.description.clone();
        Ok(PluginStatus {
            name,
            version: number,
            digest,
            source,
            title,
            description,
            installed_at: version.installed_at,
            tools,
            functions,
            changes,
            mismatches: mismatches
                .iter()
                .map(|function| parse(function))
                .collect::<Result<BTreeSet<FunctionId>, _>>()?,
            before: None,
            candidate: None,
        })
    }
}

impl Write<'_> {
    /// Whether a version can stand beside every other plugin.
    pub(super) async fn check_apart(&mut self, description: &PluginDescription) -> Answer<()> {
        for other in all_live(self.conn()).await? {
            version::apart(&other.description, description)?;
        }
        Ok(())
    }

    /// Writes a version down as it is to be.
    async fn store_version(&mut self, version: &Version) -> Result<(), StoreError> {
        let Version { description, state, installed_at, rollout, kept_on: _ } = version;
        let revision = self.revision().await?;
        query(
            "INSERT INTO versions (plugin, version, digest, dev, description, state, installed_at,
             install_rank, revision, rollout) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
             ON CONFLICT (plugin, version) DO UPDATE SET digest = excluded.digest,
             description = excluded.description, state = excluded.state,
             installed_at = excluded.installed_at, install_rank =
             CASE WHEN excluded.install_rank > 0 THEN excluded.install_rank ELSE versions.install_rank END,
             revision = excluded.revision, rollout = excluded.rollout",
        )
        .bind(description.name.as_str())
        .bind(description.version.as_str())
        .bind(description.digest.to_string())
        .bind(i64::from(description.source.is_dev()))
        .bind(to_json(description)?)
        .bind(state.as_str())
        .bind(installed_at.0)
        .bind(install_rank(*state, revision))
        .bind(revision.0)
        .bind(rollout.as_ref().map(ToString::to_string))
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Of the functions that differ from the measured listing, those that no longer do after a folder was measured anew are
    /// not said any more. What differs only now is no news of a listing, and is a change if it is one.
    async fn compare_measured(&mut self, version: &Version) -> Result<(), StoreError> {
        let key = version.key();
        let rows: Vec<(String, Option<String>)> = query_as(
            "SELECT m.function, a.value FROM mismatches m LEFT JOIN accepted a
             ON a.plugin = m.plugin AND a.version = m.version AND a.function = m.function
             AND a.value <> 'absent' WHERE m.plugin = $1 AND m.version = $2",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .fetch_all(self.conn())
        .await?;
        let measured = version.description.measured.iter().flatten();
        let measured: BTreeMap<&str, String> =
            measured.map(|one| (one.id.as_str(), one.hash.to_string())).collect();
        for (function, accepted) in rows {
            if measured.get(function.as_str()) == accepted.as_ref() {
                query(
                    "DELETE FROM mismatches WHERE plugin = $1 AND version = $2 AND function = $3",
                )
                .bind(key.plugin.as_str())
                .bind(key.version.as_str())
                .bind(&function)
                .execute(self.conn())
                .await?;
            }
        }
        Ok(())
    }

    /// Gives each tool that an edit adds to a version an empty snapshot: of what was approved it was no part, so its
    /// functions are new ones that wait. Of a version that nobody has listed yet nothing was approved. Says which they are.
    async fn hold_added_tools(
        &mut self,
        known: &PluginDescription,
        edited: &PluginDescription,
    ) -> Result<Vec<ToolId>, StoreError> {
        let (plugin, version) = (&edited.name, &edited.version);
        let approved: i64 = query_scalar(
            "SELECT COUNT(*) FROM tools WHERE plugin = $1 AND version = $2 AND snapshot_at IS NOT NULL",
        )
        .bind(plugin.as_str())
        .bind(version.as_str())
        .fetch_one(self.conn())
        .await?;
        let mut added: Vec<ToolId> = Vec::new();
        if approved == 0 {
            return Ok(added);
        }
        let now = self.now;
        for tool in edited.tools.keys().filter(|tool| !known.tools.contains_key(*tool)) {
            let held = query(
                "INSERT INTO tools (plugin, version, tool, snapshot_at) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (plugin, version, tool) DO UPDATE SET snapshot_at = excluded.snapshot_at
                 WHERE tools.snapshot_at IS NULL",
            )
            .bind(plugin.as_str())
            .bind(version.as_str())
            .bind(tool.as_str())
            .bind(now.0)
            .execute(self.conn())
            .await?;
            if held.rows_affected() == 1 {
                added.push(tool.clone());
            }
        }
        Ok(added)
    }

    /// Compares a version's endpoints with their pins, and writes down what moved.
    pub(super) async fn compare_moves(&mut self, version: &Version) -> Result<(), StoreError> {
        let moves = self.compare_endpoints(version).await?;
        let key = version.key();
        let subject = |tool| AuditSubject {
            plugin: Some(key.plugin.clone()),
            version: Some(key.version.clone()),
            tool: Some(tool),
            ..AuditSubject::default()
        };
        for (tool, accepted, listed) in moves.opened {
            let detail = BTreeMap::from([
                ("endpoint".to_owned(), listed.to_string()),
                ("accepted_endpoint".to_owned(), accepted.to_string()),
            ]);
            let subject = AuditSubject { detail, ..subject(tool) };
            self.audit(Act { action: "plugin.tools.changed", subject }).await?;
        }
        for tool in moves.closed {
            self.audit(Act { action: "plugin.tools.reverted", subject: subject(tool) }).await?;
        }
        Ok(())
    }
}

/// Adds to a version's functions those that nodes call of a version that they go on with in its place, where it has none such.
pub(super) fn add_kept(functions: &mut Vec<FunctionStatus>, kept: Vec<FunctionStatus>) {
    for function in kept {
        if functions.iter().all(|known| known.id != function.id) {
            functions.push(function);
        }
    }
    functions.sort_by(|a, b| a.id.cmp(&b.id));
}

/// What a node said of a tool, as it is stored.
pub(super) type Said = (String, String, i64, String, String, Option<String>, Option<String>);

pub(super) fn on_node(row: &Said) -> Result<ToolOnNode, StoreError> {
    let (_, node, at, functions, left_out, failure, goes_on) = row;
    Ok(ToolOnNode {
        node: parse(node)?,
        at: UnixMillis(*at),
        functions: parse_json(functions)?,
        left_out: parse_json(left_out)?,
        failure: failure.clone(),
        goes_on: goes_on.as_deref().map(parse).transpose()?,
    })
}

/// A version's tools, with what each node that runs it says of them.
async fn tools(
    conn: &mut Conn,
    version: &Version,
    runs: &Runs<'_>,
) -> Result<Vec<ToolStatus>, StoreError> {
    let key = version.key();
    let snapshots: Vec<String> = query_scalar(
        "SELECT tool FROM tools WHERE plugin = $1 AND version = $2 AND snapshot_at IS NOT NULL",
    )
    .bind(key.plugin.as_str())
    .bind(key.version.as_str())
    .fetch_all(&mut *conn)
    .await?;
    let rows: Vec<Said> = query_as(
        "SELECT tool, node, at, functions, left_out, failure, goes_on FROM tool_nodes
         WHERE plugin = $1 AND version = $2 ORDER BY node",
    )
    .bind(key.plugin.as_str())
    .bind(key.version.as_str())
    .fetch_all(conn)
    .await?;
    version
        .description
        .tools
        .iter()
        .map(|(tool, description)| {
            let mut nodes = Vec::new();
            for row in rows.iter().filter(|row| row.0 == tool.as_str()) {
                let seen = on_node(row)?;
                if runs.on(&seen.node) {
                    nodes.push(seen);
                }
            }
            Ok(ToolStatus {
                tool: tool.clone(),
                endpoint: description.endpoint().cloned(),
                snapshot: snapshots.iter().any(|snapshot| snapshot == tool.as_str()),
                nodes,
            })
        })
        .collect()
}
