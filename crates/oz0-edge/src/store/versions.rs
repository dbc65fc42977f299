//! Versions as they are stored, and which of them a node runs.

use std::collections::{BTreeMap, BTreeSet};

use oz0_api::audit::AuditSubject;
use oz0_api::plugin::{PluginDescription, PluginStatus, VersionState};
use oz0_api::rollout::Rollout;
use oz0_api::{Code, NodeName, PluginName, PluginVersion, Problem, Revision, UnixMillis};
use oz0_listing::FunctionId;

use super::db::{Conn, query, query_as, query_scalar};
use super::functions::VersionKey;
use super::{Act, Actor, Answer, Store, StoreError, Write, names, parse, parse_json};
use crate::uses::{self, Lists};
use crate::version::{self, Event, Life};

/// A version as it is stored.
#[derive(Debug, Clone)]
pub(super) struct Version {
    pub(super) description: PluginDescription,
    pub(super) state: VersionState,
    pub(super) installed_at: UnixMillis,
    /// The nodes that run it, of a candidate.
    pub(super) rollout: Option<Rollout>,
    /// The nodes that go on with it, of a version that was replaced by one that does not start there.
    pub(super) kept_on: BTreeSet<NodeName>,
}

impl Version {
    pub(super) fn key(&self) -> VersionKey {
        VersionKey {
            plugin: self.description.name.clone(),
            version: self.description.version.clone(),
        }
    }

    pub(super) fn is_candidate(&self) -> bool {
        self.state == VersionState::Candidate
    }

    /// Whether this node may run it: a candidate on its nodes, a version that was replaced where it is kept, an installed one on
    /// all, since a node that is offered a candidate may go on with it.
    pub(super) fn may_run_on(&self, node: &NodeName) -> bool {
        match self.state {
            VersionState::Candidate => self.is_offered_to(node),
            VersionState::Replaced => self.is_kept_on(node),
            _ => true,
        }
    }

    /// Whether this node goes on with it in the place of the installed version.
    pub(super) fn is_kept_on(&self, node: &NodeName) -> bool {
        self.kept_on.contains(node)
    }

    /// Whether it is a candidate on this node.
    pub(super) fn is_offered_to(&self, node: &NodeName) -> bool {
        let PluginDescription { name, version, .. } = &self.description;
        self.is_candidate()
            && self.rollout.as_ref().is_some_and(|rollout| rollout.includes(name, version, node))
    }
}

/// What becomes of versions.
type Acts = Vec<(PluginVersion, version::Act)>;

/// What is read of a version.
type Row = (String, String, i64, Option<String>);

macro_rules! select {
    ($($rest:literal),*) => {
        concat!("SELECT description, state, installed_at, rollout FROM versions ", $($rest),*)
    };
}

pub(super) fn state_of(text: &str) -> Result<VersionState, StoreError> {
    VersionState::ALL
        .into_iter()
        .find(|state| state.as_str() == text)
        .ok_or_else(|| StoreError::Row(format!("`{text}` as the state of a version")))
}

fn read(row: &Row) -> Result<Version, StoreError> {
    Ok(Version {
        description: parse_json(&row.0)?,
        state: state_of(&row.1)?,
        installed_at: UnixMillis(row.2),
        rollout: row.3.as_deref().map(parse).transpose()?,
        kept_on: BTreeSet::new(),
    })
}

/// The version of a plugin that is installed.
pub(super) async fn installed(
    conn: &mut Conn,
    plugin: &PluginName,
) -> Result<Option<Version>, StoreError> {
    let versions = of_plugin(conn, plugin).await?;
    Ok(versions.into_iter().find(|version| !version.is_candidate()))
}

/// The version of a plugin that is installed, and after it its candidate; nothing where the plugin is not there.
pub(super) async fn of_plugin(
    conn: &mut Conn,
    plugin: &PluginName,
) -> Result<Vec<Version>, StoreError> {
    let rows: Vec<Row> = query_as(select!(
        "WHERE plugin = $1 AND state IN ('installed', 'candidate') ",
        "ORDER BY CASE state WHEN 'installed' THEN 0 ELSE 1 END"
    ))
    .bind(plugin.as_str())
    .fetch_all(conn)
    .await?;
    rows.iter().map(read).collect()
}

/// The candidate beside an installed version, of versions that live.
pub(super) fn candidate_beside<'a>(live: &'a [Version], version: &Version) -> Option<&'a Version> {
    live.iter()
        .find(|other| other.is_candidate() && other.description.name == version.description.name)
}

/// Every installed version, by the plugin's name.
pub(super) async fn all_installed(conn: &mut Conn) -> Result<Vec<Version>, StoreError> {
    let rows: Vec<Row> =
        query_as(select!("WHERE state = 'installed' ORDER BY plugin")).fetch_all(conn).await?;
    rows.iter().map(read).collect()
}

/// The versions that were replaced and that nodes go on with, since the installed version does not start there; of one plugin, or
/// of all. What is listed of them is compared and decided about as of every version that is called.
pub(super) async fn kept(
    conn: &mut Conn,
    plugin: Option<&PluginName>,
) -> Result<Vec<Version>, StoreError> {
    type Kept = (String, String, i64, Option<String>, String);
    let rows: Vec<Kept> = query_as(
        "SELECT DISTINCT v.description, v.state, v.installed_at, v.rollout, t.node
         FROM tool_nodes t
         JOIN versions i ON i.plugin = t.plugin AND i.version = t.version AND i.state = 'installed'
         JOIN versions v ON v.plugin = t.plugin AND v.version = t.goes_on AND v.state = 'replaced'
         WHERE t.failure IS NOT NULL AND t.goes_on IS NOT NULL AND t.plugin = COALESCE($1, t.plugin)",
    )
    .bind(plugin.map(PluginName::as_str))
    .fetch_all(conn)
    .await?;
    let mut kept = BTreeMap::<VersionKey, Version>::new();
    for (description, state, installed_at, rollout, node) in rows {
        let version = read(&(description, state, installed_at, rollout))?;
        kept.entry(version.key()).or_insert(version).kept_on.insert(parse(&node)?);
    }
    Ok(kept.into_values().collect())
}

/// The versions, of those that are [`kept`], that one node goes on with.
pub(super) async fn goes_on(
    conn: &mut Conn,
    node: &NodeName,
) -> Result<BTreeSet<VersionKey>, StoreError> {
    let rows: Vec<(String, String)> = query_as(
        "SELECT DISTINCT v.plugin, v.version
         FROM tool_nodes t
         JOIN versions i ON i.plugin = t.plugin AND i.version = t.version AND i.state = 'installed'
         JOIN versions v ON v.plugin = t.plugin AND v.version = t.goes_on AND v.state = 'replaced'
         WHERE t.failure IS NOT NULL AND t.goes_on IS NOT NULL AND t.node = $1",
    )
    .bind(node.as_str())
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|(plugin, version)| {
            Ok(VersionKey { plugin: parse(plugin)?, version: parse(version)? })
        })
        .collect()
}

/// Every version of a plugin that some node may call: the installed one, the candidate, and those that are kept.
pub(super) async fn called_of(
    conn: &mut Conn,
    plugin: &PluginName,
) -> Result<Vec<Version>, StoreError> {
    let mut versions = of_plugin(conn, plugin).await?;
    versions.extend(kept(conn, Some(plugin)).await?);
    Ok(versions)
}

/// Every version that some node may call, as [`all_live`] and then those that are kept.
pub(super) async fn all_called(conn: &mut Conn) -> Result<Vec<Version>, StoreError> {
    let mut versions = all_live(conn).await?;
    versions.extend(kept(conn, None).await?);
    Ok(versions)
}

/// Every version that some node is to run: installed ones and candidates, by the plugin's name and the installed one first.
pub(super) async fn all_live(conn: &mut Conn) -> Result<Vec<Version>, StoreError> {
    let rows: Vec<Row> = query_as(select!(
        "WHERE state IN ('installed', 'candidate') ",
        "ORDER BY plugin, CASE state WHEN 'installed' THEN 0 ELSE 1 END"
    ))
    .fetch_all(conn)
    .await?;
    rows.iter().map(read).collect()
}

/// Of the versions that some node is to run, those that this one is: a candidate in place of the installed version.
pub(super) fn assigned<'a>(
    live: &'a [Version],
    node: &NodeName,
) -> BTreeMap<&'a PluginName, &'a Version> {
    let mut assigned = BTreeMap::new();
    for version in live {
        if version.may_run_on(node) {
            // The candidate comes after the installed one.
            assigned.insert(&version.description.name, version);
        }
    }
    assigned
}

/// A version, whatever became of it.
pub(super) async fn known(
    conn: &mut Conn,
    plugin: &PluginName,
    version: &PluginVersion,
) -> Result<Option<Version>, StoreError> {
    let row: Option<Row> = query_as(select!("WHERE plugin = $1 AND version = $2"))
        .bind(plugin.as_str())
        .bind(version.as_str())
        .fetch_optional(conn)
        .await?;
    row.as_ref().map(read).transpose()
}

/// Where a version stands among those that another can begin from, the newest last: one that was installed, and never a
/// candidate that was not, whose rank is 0.
pub(super) fn install_rank(state: VersionState, revision: Revision) -> i64 {
    if state == VersionState::Installed { revision.0 } else { 0 }
}

/// The life of a plugin so far.
pub(super) async fn life(conn: &mut Conn, plugin: &PluginName) -> Result<Life, StoreError> {
    let rows: Vec<(String, String, i64)> = query_as(
        "SELECT version, state, dev FROM versions WHERE plugin = $1 ORDER BY install_rank DESC",
    )
    .bind(plugin.as_str())
    .fetch_all(conn)
    .await?;
    let mut life = Life::default();
    for (version, state, dev) in rows {
        let (version, state): (PluginVersion, _) = (parse(&version)?, state_of(&state)?);
        // A folder is what it is now, and no version to go back to.
        if state == VersionState::Replaced && dev == 0 && life.before.is_none() {
            life.before = Some(version.clone());
        }
        life.versions.insert(version, state);
    }
    Ok(life)
}

impl Write<'_> {
    /// The life of a plugin so far, and what becomes of its versions by an event.
    pub(super) async fn decided(
        &mut self,
        plugin: &PluginName,
        event: Event<'_>,
    ) -> Answer<(Life, Acts)> {
        let life = life(self.conn(), plugin).await?;
        let acts = version::decide(&life, event).map_err(|no| no.problem(plugin, event))?;
        Ok((life, acts))
    }

    /// What becomes of versions. What nodes run may be another set afterwards: see [`Self::assign_anew`].
    pub(super) async fn carry_out_all(
        &mut self,
        plugin: &PluginName,
        life: &Life,
        acts: &[(PluginVersion, version::Act)],
    ) -> Result<(), StoreError> {
        for (version, act) in acts {
            let from = life.versions.get(version).copied();
            self.carry_out(plugin, version, from, *act).await?;
        }
        Ok(())
    }

    /// What becomes of one version.
    async fn carry_out(
        &mut self,
        plugin: &PluginName,
        version: &PluginVersion,
        from: Option<VersionState>,
        act: version::Act,
    ) -> Result<VersionState, StoreError> {
        let state = version::step(from, act).ok_or_else(|| {
            StoreError::Row(format!("{plugin} {version} as {from:?}, to which {act:?} happens"))
        })?;
        let revision = self.revision().await?;
        let now = self.now;
        let rank = install_rank(state, revision);
        query(
            "UPDATE versions SET state = $1, revision = $2,
             install_rank = CASE WHEN $3 > 0 THEN $3 ELSE install_rank END,
             installed_at = CASE WHEN $3 > 0 THEN $4 ELSE installed_at END,
             rollout = CASE WHEN $1 = 'candidate' THEN rollout ELSE NULL END
             WHERE plugin = $5 AND version = $6",
        )
        .bind(state.as_str())
        .bind(revision.0)
        .bind(rank)
        .bind(now.0)
        .bind(plugin.as_str())
        .bind(version.as_str())
        .execute(self.conn())
        .await?;
        Ok(state)
    }

    /// Sends every node what it is to run of a plugin now, and what is accepted of that: nodes forgot what they held of a
    /// version that they did not run.
    pub(super) async fn assign_anew(&mut self, plugin: &PluginName) -> Result<(), StoreError> {
        let revision = self.revision().await?;
        for statement in [
            "UPDATE versions SET revision = $1
             WHERE plugin = $2 AND state IN ('installed', 'candidate')",
            "UPDATE functions SET revision = $1 WHERE plugin = $2 AND version IN
             (SELECT version FROM versions WHERE plugin = $2 AND state IN ('installed', 'candidate'))",
        ] {
            query(statement)
                .bind(revision.0)
                .bind(plugin.as_str())
                .execute(self.conn())
                .await?;
        }
        Ok(())
    }

    /// Whether every installed plugin that uses this one can go on with this version of it. What it lists is known of the tools
    /// that a node has listed; of the others its author says it.
    pub(super) async fn check_users(&mut self, version: &PluginDescription) -> Answer<()> {
        let key = VersionKey { plugin: version.name.clone(), version: version.version.clone() };
        let snapshots = names::snapshots(self.conn(), &key).await?;
        let accepted = names::accepted(self.conn(), &key).await?;
        let measured = version.measured.as_ref();
        let measured: Option<BTreeSet<&FunctionId>> =
            measured.map(|all| all.iter().map(|own| &own.id).collect());
        let lists = |function: &FunctionId| {
            let tool = function.tool();
            if snapshots.contains(tool.as_str()) {
                return Lists::said(accepted.contains(function));
            }
            match (&measured, version.tools.get(&tool)) {
                (_, None) => Lists::No,
                // A remote tool is never dialled to be measured.
                (Some(measured), Some(description)) if description.endpoint().is_none() => {
                    Lists::said(measured.contains(function))
                }
                _ => Lists::Unknown,
            }
        };
        let others = all_installed(self.conn()).await?;
        let others = others.iter().map(|other| &other.description);
        Ok(uses::check(version, others, lists)?)
    }

    /// Whether a candidate's nodes are nodes.
    pub(super) async fn check_rollout(
        &mut self,
        plugin: &PluginName,
        version: &PluginVersion,
        rollout: &Rollout,
    ) -> Answer<()> {
        let Rollout::Nodes(nodes) = rollout else { return Ok(()) };
        for node in nodes {
            let known: Vec<String> = query_scalar(
                "SELECT node FROM nodes WHERE node = $1 UNION
                 SELECT name FROM tokens WHERE kind = 'node' AND name = $1 AND revoked_at IS NULL",
            )
            .bind(node.as_str())
            .fetch_all(self.conn())
            .await?;
            if known.is_empty() {
                let what =
                    format!("{plugin} {version} is not taken: no node named {node} has joined");
                return Err(Problem::new(Code::NotFound, what)
                    .hint("`oz0 node list` shows the nodes")
                    .into());
            }
        }
        Ok(())
    }

    pub(super) async fn tell_of_version(
        &mut self,
        action: &'static str,
        plugin: &PluginName,
        version: &PluginVersion,
        detail: BTreeMap<String, String>,
    ) -> Result<(), StoreError> {
        self.audit(Act {
            action,
            subject: AuditSubject {
                plugin: Some(plugin.clone()),
                version: Some(version.clone()),
                detail,
                ..AuditSubject::default()
            },
        })
        .await
    }
}

impl Store {
    /// Makes a candidate the installed version, if it is the one that was looked at.
    pub(crate) async fn promote(
        &self,
        actor: &Actor,
        plugin: &PluginName,
        version: &PluginVersion,
    ) -> Answer<PluginStatus> {
        let mut write = self.write(actor).await?;
        let (life, acts) = write.decided(plugin, Event::Promote { version }).await?;
        let versions = of_plugin(write.conn(), plugin).await?;
        let mut detail = BTreeMap::new();
        if let Some(candidate) = versions.iter().find(|version| version.is_candidate()) {
            // What it lists is known by now, and who uses it may have come since.
            write.check_users(&candidate.description).await?;
            let rollout = candidate.rollout.iter().map(ToString::to_string);
            detail.extend(rollout.map(|rollout| ("rollout".to_owned(), rollout)));
        }
        if let Some(installed) = life.installed() {
            detail.insert("replaces".to_owned(), installed.to_string());
        }
        write.carry_out_all(plugin, &life, &acts).await?;
        write.assign_anew(plugin).await?;
        write.claim_names(plugin).await?;
        write.tell_of_version("plugin.promote", plugin, version, detail).await?;
        write.commit().await?;
        self.plugin(plugin).await
    }

    /// Takes a version back: a candidate, or the installed one for the one before it.
    pub(crate) async fn rollback(
        &self,
        actor: &Actor,
        plugin: &PluginName,
        version: &PluginVersion,
    ) -> Answer<PluginStatus> {
        let mut write = self.write(actor).await?;
        let (life, acts) = write.decided(plugin, Event::Rollback { version }).await?;
        let was_candidate = life.candidate() == Some(version);
        write.carry_out_all(plugin, &life, &acts).await?;
        write.assign_anew(plugin).await?;
        let mut detail = BTreeMap::new();
        if let Some(goes_on) = installed(write.conn(), plugin).await? {
            if !was_candidate {
                write.check_users(&goes_on.description).await?;
                write.check_apart(&goes_on.description).await?;
                write.compare_moves(&goes_on).await?;
            }
            detail.insert("to".to_owned(), goes_on.description.version.to_string());
        }
        if was_candidate {
            detail.insert("was".to_owned(), VersionState::Candidate.as_str().to_owned());
        }
        write.claim_names(plugin).await?;
        write.tell_of_version("plugin.rollback", plugin, version, detail).await?;
        write.commit().await?;
        self.plugin(plugin).await
    }
}

/// What a node says of a tool counts for a version that it runs: for a candidate on its nodes, for the installed version on the
/// others, and on a candidate's node that goes on with it.
pub(super) struct Runs<'a> {
    version: &'a Version,
    /// The candidate beside it, of an installed version.
    candidate: Option<&'a Version>,
    /// The nodes that go on with it in the candidate's place.
    go_on: BTreeSet<NodeName>,
}

impl<'a> Runs<'a> {
    pub(super) async fn load(
        conn: &mut Conn,
        version: &'a Version,
        candidate: Option<&'a Version>,
    ) -> Result<Self, StoreError> {
        let candidate = candidate.filter(|_| version.state == VersionState::Installed);
        let mut go_on = BTreeSet::new();
        if let Some(candidate) = candidate {
            let rows: Vec<String> = query_scalar(
                "SELECT DISTINCT node FROM tool_nodes
                 WHERE plugin = $1 AND version = $2 AND failure IS NOT NULL AND goes_on = $3",
            )
            .bind(candidate.description.name.as_str())
            .bind(candidate.description.version.as_str())
            .bind(version.description.version.as_str())
            .fetch_all(conn)
            .await?;
            for node in rows {
                go_on.insert(parse(&node)?);
            }
        }
        Ok(Self { version, candidate, go_on })
    }

    /// The same, from the nodes that go on with the version in its candidate's place.
    pub(super) fn new(
        version: &'a Version,
        candidate: Option<&'a Version>,
        go_on: BTreeSet<NodeName>,
    ) -> Self {
        let candidate = candidate.filter(|_| !version.is_candidate());
        Self { version, candidate, go_on }
    }

    pub(super) fn on(&self, node: &NodeName) -> bool {
        match self.candidate {
            Some(candidate) => !candidate.is_offered_to(node) || self.go_on.contains(node),
            None => self.version.may_run_on(node),
        }
    }
}
