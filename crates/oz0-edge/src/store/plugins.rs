//! Plugins and their versions: installed, replaced, removed; and `plugin list`.

use std::collections::{BTreeMap, BTreeSet};

use oz0_api::audit::AuditSubject;
use oz0_api::plugin::{
    FunctionStatus, Install, PluginDescription, PluginStatus, Source, ToolOnNode, ToolStatus,
    VersionState,
};
use oz0_api::{Code, PluginName, PluginVersion, Problem, UnixMillis};
use oz0_listing::{FunctionId, ListingHash, ModelName, ToolId};
use sqlx::SqliteConnection;

use super::functions::VersionKey;
use super::{Act, Actor, Answer, Store, StoreError, Write, parse, parse_json, to_json};
use crate::version;

/// A version as it is stored.
#[derive(Debug, Clone)]
pub(super) struct Version {
    pub(super) description: PluginDescription,
    pub(super) state: VersionState,
    pub(super) installed_at: UnixMillis,
}

impl Version {
    pub(super) fn key(&self) -> VersionKey {
        VersionKey {
            plugin: self.description.name.clone(),
            version: self.description.version.clone(),
        }
    }
}

fn state_name(state: VersionState) -> &'static str {
    match state {
        VersionState::Installed => "installed",
        VersionState::Replaced => "replaced",
        VersionState::Removed => "removed",
    }
}

fn state_of(text: &str) -> Result<VersionState, StoreError> {
    [VersionState::Installed, VersionState::Replaced, VersionState::Removed]
        .into_iter()
        .find(|state| state_name(*state) == text)
        .ok_or_else(|| StoreError::Row(format!("`{text}` as the state of a version")))
}

fn read(row: &(String, String, i64)) -> Result<Version, StoreError> {
    Ok(Version {
        description: parse_json(&row.0)?,
        state: state_of(&row.1)?,
        installed_at: UnixMillis(row.2),
    })
}

/// The version of a plugin that is installed.
pub(super) async fn installed(
    conn: &mut SqliteConnection,
    plugin: &PluginName,
) -> Result<Option<Version>, StoreError> {
    let row: Option<(String, String, i64)> = sqlx::query_as(
        "SELECT description, state, installed_at FROM versions
         WHERE plugin = $1 AND state = 'installed'",
    )
    .bind(plugin.as_str())
    .fetch_optional(conn)
    .await?;
    row.as_ref().map(read).transpose()
}

/// Every installed version, by the plugin's name.
pub(super) async fn all_installed(conn: &mut SqliteConnection) -> Result<Vec<Version>, StoreError> {
    let rows: Vec<(String, String, i64)> = sqlx::query_as(
        "SELECT description, state, installed_at FROM versions
         WHERE state = 'installed' ORDER BY plugin",
    )
    .fetch_all(conn)
    .await?;
    rows.iter().map(read).collect()
}

/// A version, whatever became of it.
async fn known(
    conn: &mut SqliteConnection,
    plugin: &PluginName,
    version: &PluginVersion,
) -> Result<Option<Version>, StoreError> {
    let row: Option<(String, String, i64)> = sqlx::query_as(
        "SELECT description, state, installed_at FROM versions WHERE plugin = $1 AND version = $2",
    )
    .bind(plugin.as_str())
    .bind(version.as_str())
    .fetch_optional(conn)
    .await?;
    row.as_ref().map(read).transpose()
}

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
        detail.insert("replaces".to_owned(), before.description.version.to_string());
    }
    detail
}

/// That there is no such plugin.
pub(super) fn no_plugin(plugin: &PluginName) -> Problem {
    Problem::new(Code::NotFound, format!("no plugin named {plugin} is installed"))
        .hint("`oz0 plugin list` shows the installed ones")
}

impl Store {
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
            None if terms.update => return Err(no_plugin(name).into()),
            None => {}
        }
        let known = known(write.conn(), name, number).await?;
        if let Some(known) = &known {
            version::same_version(&known.description, description)?;
        }
        for other in all_installed(write.conn()).await? {
            version::apart(&other.description, description)?;
        }
        let state = version::step(known.as_ref().map(|known| known.state), version::Act::Install);
        if known
            .as_ref()
            .is_some_and(|known| Some(known.state) == state && known.description == *description)
        {
            drop(write);
            return self.plugin(name).await;
        }

        if let Some(before) = &before
            && before.description.version != *number
        {
            write.set_state(before, version::Act::Replace).await?;
        }
        let revision = write.revision().await?;
        let now = write.now;
        sqlx::query(
            "INSERT INTO versions (plugin, version, digest, dev, description, state, installed_at,
             install_rank, revision) VALUES ($1, $2, $3, $4, $5, 'installed', $6, $7, $7)
             ON CONFLICT (plugin, version) DO UPDATE SET digest = excluded.digest,
             description = excluded.description, state = excluded.state,
             installed_at = excluded.installed_at, install_rank = excluded.install_rank,
             revision = excluded.revision",
        )
        .bind(name.as_str())
        .bind(number.as_str())
        .bind(description.digest.to_string())
        .bind(i64::from(description.source.is_dev()))
        .bind(to_json(description)?)
        .bind(now.0)
        .bind(revision.0)
        .execute(write.conn())
        .await?;
        // The overrides may differ, and nodes forgot what they held of a version that was gone.
        sqlx::query("UPDATE functions SET revision = $1 WHERE plugin = $2 AND version = $3")
            .bind(revision.0)
            .bind(name.as_str())
            .bind(number.as_str())
            .execute(write.conn())
            .await?;

        let added = match &known {
            Some(known) if description.source.is_dev() => {
                write.hold_added_tools(&known.description, description).await?
            }
            _ => Vec::new(),
        };

        let detail = install_detail(description, before.as_ref(), terms, &added);
        write
            .audit(Act {
                action: "plugin.install",
                subject: AuditSubject {
                    plugin: Some(name.clone()),
                    version: Some(number.clone()),
                    detail,
                    ..AuditSubject::default()
                },
            })
            .await?;
        let stored = Version {
            description: description.clone(),
            state: VersionState::Installed,
            installed_at: now,
        };
        write.compare_moves(&stored).await?;
        write.claim_names(name).await?;
        write.commit().await?;
        self.plugin(name).await
    }

    /// Removes a plugin from every node. Its snapshots stay.
    pub(crate) async fn remove(&self, actor: &Actor, plugin: &PluginName) -> Answer<()> {
        let mut write = self.write(actor).await?;
        let version = installed(write.conn(), plugin).await?.ok_or_else(|| no_plugin(plugin))?;
        write.set_state(&version, version::Act::Remove).await?;
        write.claim_names(plugin).await?;
        write
            .audit(Act {
                action: "plugin.remove",
                subject: AuditSubject {
                    plugin: Some(plugin.clone()),
                    version: Some(version.description.version.clone()),
                    ..AuditSubject::default()
                },
            })
            .await?;
        write.commit().await?;
        Ok(())
    }

    /// One installed plugin.
    pub(crate) async fn plugin(&self, plugin: &PluginName) -> Answer<PluginStatus> {
        let mut tx = self.read().await?;
        let version = installed(&mut tx, plugin).await?.ok_or_else(|| no_plugin(plugin))?;
        Ok(self.status(&mut tx, version).await?)
    }

    /// Every installed plugin.
    pub(crate) async fn plugins(&self) -> Answer<Vec<PluginStatus>> {
        let mut tx = self.read().await?;
        let mut statuses = Vec::new();
        for version in all_installed(&mut tx).await? {
            statuses.push(self.status(&mut tx, version).await?);
        }
        Ok(statuses)
    }

    async fn status(
        &self,
        conn: &mut SqliteConnection,
        version: Version,
    ) -> Result<PluginStatus, StoreError> {
        let key = version.key();
        let catalog = self.catalog_of(conn, &version).await?;
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
        let mismatches: Vec<String> = sqlx::query_scalar(
            "SELECT function FROM mismatches WHERE plugin = $1 AND version = $2",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .fetch_all(&mut *conn)
        .await?;
        let tools = tools(conn, &version).await?;
        let changes = self.changes_of(conn, &version).await?;
        let PluginDescription { name, version: number, digest, source, title, description, .. } =
            version.description;
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
        })
    }
}

impl Write<'_> {
    /// Gives each tool that an edit adds to a version an empty snapshot: of what was approved it was no part, so its
    /// functions are new ones that wait. Of a version that nobody has listed yet nothing was approved. Says which they are.
    async fn hold_added_tools(
        &mut self,
        known: &PluginDescription,
        edited: &PluginDescription,
    ) -> Result<Vec<ToolId>, StoreError> {
        let (plugin, version) = (&edited.name, &edited.version);
        let approved: Option<i64> = sqlx::query_scalar(
            "SELECT 1 FROM tools WHERE plugin = $1 AND version = $2 AND snapshot_at IS NOT NULL LIMIT 1",
        )
        .bind(plugin.as_str())
        .bind(version.as_str())
        .fetch_optional(self.conn())
        .await?;
        let mut added: Vec<ToolId> = Vec::new();
        if approved.is_none() {
            return Ok(added);
        }
        let now = self.now;
        for tool in edited.tools.keys().filter(|tool| !known.tools.contains_key(*tool)) {
            let held = sqlx::query(
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
    async fn compare_moves(&mut self, version: &Version) -> Result<(), StoreError> {
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

    async fn set_state(&mut self, version: &Version, act: version::Act) -> Result<(), StoreError> {
        let Some(state) = version::step(Some(version.state), act) else { return Ok(()) };
        let revision = self.revision().await?;
        let key = version.key();
        sqlx::query(
            "UPDATE versions SET state = $1, revision = $2 WHERE plugin = $3 AND version = $4",
        )
        .bind(state_name(state))
        .bind(revision.0)
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .execute(self.conn())
        .await?;
        Ok(())
    }
}

/// A version's tools, with what each node says of them.
async fn tools(
    conn: &mut SqliteConnection,
    version: &Version,
) -> Result<Vec<ToolStatus>, StoreError> {
    let key = version.key();
    let snapshots: Vec<String> = sqlx::query_scalar(
        "SELECT tool FROM tools WHERE plugin = $1 AND version = $2 AND snapshot_at IS NOT NULL",
    )
    .bind(key.plugin.as_str())
    .bind(key.version.as_str())
    .fetch_all(&mut *conn)
    .await?;
    let rows: Vec<(String, String, i64, String, String, Option<String>)> = sqlx::query_as(
        "SELECT tool, node, at, functions, left_out, failure FROM tool_nodes
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
            let nodes = rows
                .iter()
                .filter(|row| row.0 == tool.as_str())
                .map(|(_, node, at, functions, left_out, failure)| {
                    Ok(ToolOnNode {
                        node: parse(node)?,
                        at: UnixMillis(*at),
                        functions: parse_json(functions)?,
                        left_out: parse_json(left_out)?,
                        failure: failure.clone(),
                    })
                })
                .collect::<Result<_, StoreError>>()?;
            Ok(ToolStatus {
                tool: tool.clone(),
                endpoint: description.endpoint().cloned(),
                snapshot: snapshots.iter().any(|snapshot| snapshot == tool.as_str()),
                nodes,
            })
        })
        .collect()
}
