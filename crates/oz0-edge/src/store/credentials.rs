//! Secrets and connections: sealed as they are written, opened for the nodes that run the plugin they are for.
//!
//! The audit log says that something was set, connected or ended, by its name; values, params and what an authorization server
//! answered are in none of its entries.

mod checked;

use std::collections::{BTreeMap, BTreeSet};

use oz0_api::audit::AuditSubject;
use oz0_api::credential::{
    Connect, Connected, ConnectionInfo, Grant, OauthGrant, Renewal, SecretInfo, Sensitive, With,
};
use oz0_api::plugin::{ConnectionDescription, Need, PluginDescription};
use oz0_api::{Code, ConnectionName, NodeName, PluginName, Problem, SecretName, UnixMillis};
use zeroize::Zeroizing;

use self::checked::{check_grant, check_value, params};
use super::db::{Conn, query, query_as};
use super::versions::{Version, all_live, of_plugin};
use super::{
    Act, Actor, Answer, Store, StoreError, Write, now, parse, parse_json, random, to_json,
};
use crate::seal::{Of, SealError};
use crate::version::no_plugin;

/// The longest life of a token that is believed, in seconds: a hundred years.
const LIFE: u64 = 3_153_600_000;

/// A connection as it is kept.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) params: BTreeMap<String, String>,
    pub(crate) grant: Grant,
    pub(crate) scopes: Option<BTreeSet<String>>,
    pub(crate) expires_at: Option<UnixMillis>,
    pub(crate) connected_at: UnixMillis,
    /// Another one each time that it is connected.
    pub(crate) generation: String,
}

/// What a node may be given for a plugin.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) secrets: BTreeMap<SecretName, Sensitive>,
    pub(crate) connections: BTreeMap<ConnectionName, Kept>,
}

fn secret_of<'a>(plugin: &'a PluginName, name: &'a SecretName) -> Of<'a> {
    Of { kind: "secret", plugin: plugin.as_str(), name: name.as_str() }
}

fn connection_of<'a>(plugin: &'a PluginName, name: &'a ConnectionName) -> Of<'a> {
    Of { kind: "connection", plugin: plugin.as_str(), name: name.as_str() }
}

/// What versions of one plugin say together of a secret.
fn need<'a>(
    versions: impl Iterator<Item = &'a PluginDescription>,
    name: &SecretName,
) -> Option<Need> {
    let said = versions.filter_map(|version| version.secrets.get(name).copied());
    said.reduce(|one, other| if one == Need::Required { one } else { other })
}

/// What versions of one plugin, the installed one first, say of a connection.
fn declared<'a>(
    versions: &'a [&'a Version],
    name: &ConnectionName,
) -> (Option<&'a ConnectionDescription>, BTreeSet<String>) {
    let of = |version: &&'a Version| version.description.connections.get(name);
    let urls = versions
        .iter()
        .flat_map(|version| version.description.tools.values())
        .filter(|tool| tool.connection.as_ref() == Some(name))
        .filter_map(|tool| tool.url.clone())
        .collect();
    (versions.iter().find_map(of), urls)
}

fn no_secret(plugin: &PluginName, name: &SecretName) -> Problem {
    Problem::new(Code::NotFound, format!("no secret {plugin}/{name} is set"))
        .hint("`oz0 secret list` shows them")
}

fn no_connection(plugin: &PluginName, name: &ConnectionName) -> Problem {
    Problem::new(Code::NotFound, format!("the connection {plugin}/{name} is not connected"))
        .hint("`oz0 connection list` shows the connections")
}

/// When a token ends that counts for so many seconds from now.
pub(crate) fn ends_at(expires_in: Option<u64>) -> Option<UnixMillis> {
    let seconds = i64::try_from(expires_in?.min(LIFE)).unwrap_or(i64::MAX);
    Some(UnixMillis(now().0.saturating_add(seconds.saturating_mul(1000))))
}

fn with_of(grant: &Grant) -> (With, bool) {
    match grant {
        Grant::Secrets(_) => (With::Secrets, false),
        Grant::Oauth(grant) => (With::Oauth, grant.renewal != Renewal::None),
    }
}

type ConnectionRow =
    (String, String, String, String, Option<String>, Option<i64>, i64, Option<String>, i64, String);

const CONNECTION: &str = "SELECT plugin, name, kind, params, scopes, expires_at, renews, failure, \
     connected_at, connected_by FROM connections";

fn connected(row: &ConnectionRow) -> Result<Connected, StoreError> {
    let (_, _, kind, params, scopes, expires_at, renews, failure, at, by) = row;
    let with = [With::Secrets, With::Oauth].into_iter().find(|with| with.as_str() == kind);
    Ok(Connected {
        with: with.ok_or_else(|| StoreError::Row("an unknown kind of connection".to_owned()))?,
        params: parse_json(params)?,
        scopes: scopes.as_deref().map(parse_json).transpose()?,
        expires_at: expires_at.map(UnixMillis),
        renews: *renews != 0,
        failure: failure.clone(),
        at: UnixMillis(*at),
        by: by.clone(),
    })
}

async fn info(
    conn: &mut Conn,
    plugin: &PluginName,
    name: &ConnectionName,
) -> Result<ConnectionInfo, StoreError> {
    let row: Option<ConnectionRow> =
        query_as(format!("{CONNECTION} WHERE plugin = $1 AND name = $2"))
            .bind(plugin.as_str())
            .bind(name.as_str())
            .fetch_optional(&mut *conn)
            .await?;
    let live = of_plugin(conn, plugin).await?;
    let versions: Vec<&Version> = live.iter().collect();
    let (description, urls) = declared(&versions, name);
    Ok(ConnectionInfo {
        plugin: plugin.clone(),
        name: name.clone(),
        description: description.cloned(),
        urls,
        connected: row.as_ref().map(connected).transpose()?,
    })
}

/// When the secrets or connections of each plugin changed last.
pub(super) async fn changed(conn: &mut Conn) -> Result<BTreeMap<PluginName, i64>, StoreError> {
    let rows: Vec<(String, i64)> =
        query_as("SELECT plugin, revision FROM credentials").fetch_all(conn).await?;
    rows.into_iter().map(|(plugin, revision)| Ok((parse(&plugin)?, revision))).collect()
}

impl Store {
    /// The secrets that plugins declare, or that are kept.
    pub(crate) async fn secrets(&self) -> Result<Vec<SecretInfo>, StoreError> {
        let mut tx = self.read().await?;
        let rows: Vec<(String, String, i64, String)> =
            query_as("SELECT plugin, name, set_at, set_by FROM secrets").fetch_all(&mut tx).await?;
        let live = all_live(&mut tx).await?;
        let mut secrets = BTreeMap::new();
        for version in &live {
            for name in version.description.secrets.keys() {
                secrets.insert((version.description.name.clone(), name.clone()), (None, None));
            }
        }
        for (plugin, name, at, by) in rows {
            secrets.insert((parse(&plugin)?, parse(&name)?), (Some(UnixMillis(at)), Some(by)));
        }
        Ok(secrets
            .into_iter()
            .map(|((plugin, name), (set_at, set_by))| {
                let versions = live.iter().map(|version| &version.description);
                let need = need(versions.filter(|version| version.name == plugin), &name);
                SecretInfo { plugin, name, need, set_at, set_by }
            })
            .collect())
    }

    /// Keeps a secret for a plugin that declares it.
    pub(crate) async fn set_secret(
        &self,
        actor: &Actor,
        plugin: &PluginName,
        name: &SecretName,
        value: &Sensitive,
    ) -> Answer<SecretInfo> {
        check_value(name, value)?;
        let sealed = self
            .seal
            .seal(secret_of(plugin, name), value.expose().as_bytes())
            .map_err(StoreError::from)?;
        let mut write = self.write(actor).await?;
        let live = of_plugin(write.conn(), plugin).await?;
        if live.is_empty() {
            return Err(no_plugin(plugin).into());
        }
        let versions = live.iter().map(|version| &version.description);
        let Some(need) = need(versions.clone(), name) else {
            let known: BTreeSet<&str> = versions
                .flat_map(|version| version.secrets.keys())
                .map(SecretName::as_str)
                .collect();
            let mut problem =
                Problem::new(Code::NotFound, format!("{plugin} declares no secret {name}"));
            let of_connection = live.iter().find_map(|version| {
                let all = &version.description.connections;
                all.iter().find(|(_, connection)| connection.secrets.contains(name))
            });
            if let Some((connection, _)) = of_connection {
                problem = problem.hint(format!(
                    "it belongs to a connection: oz0 connection connect {plugin}/{connection}"
                ));
            } else if !known.is_empty() {
                let known = known.into_iter().collect::<Vec<_>>().join(", ");
                problem = problem.hint(format!("its secrets are {known}"));
            }
            return Err(problem.into());
        };
        let at = write.now;
        query(
            "INSERT INTO secrets (plugin, name, sealed, set_at, set_by) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (plugin, name) DO UPDATE SET sealed = excluded.sealed,
             set_at = excluded.set_at, set_by = excluded.set_by",
        )
        .bind(plugin.as_str())
        .bind(name.as_str())
        .bind(sealed)
        .bind(at.0)
        .bind(actor.to_string())
        .execute(write.conn())
        .await?;
        write.change_credentials(plugin).await?;
        let subject = about(plugin, [("name", name.to_string())]);
        write.audit(Act { action: "secret.set", subject }).await?;
        write.commit().await?;
        Ok(SecretInfo {
            plugin: plugin.clone(),
            name: name.clone(),
            need: Some(need),
            set_at: Some(at),
            set_by: Some(actor.to_string()),
        })
    }

    /// Forgets a secret, whether or not anything declares it still.
    pub(crate) async fn unset_secret(
        &self,
        actor: &Actor,
        plugin: &PluginName,
        name: &SecretName,
    ) -> Answer<SecretInfo> {
        let mut write = self.write(actor).await?;
        let gone = query("DELETE FROM secrets WHERE plugin = $1 AND name = $2")
            .bind(plugin.as_str())
            .bind(name.as_str())
            .execute(write.conn())
            .await?;
        if gone.rows_affected() == 0 {
            return Err(no_secret(plugin, name).into());
        }
        let live = of_plugin(write.conn(), plugin).await?;
        write.change_credentials(plugin).await?;
        let subject = about(plugin, [("name", name.to_string())]);
        write.audit(Act { action: "secret.unset", subject }).await?;
        write.commit().await?;
        let need = need(live.iter().map(|version| &version.description), name);
        let (plugin, name) = (plugin.clone(), name.clone());
        Ok(SecretInfo { plugin, name, need, set_at: None, set_by: None })
    }

    /// The connections that plugins declare, or that are kept.
    pub(crate) async fn connections(&self) -> Result<Vec<ConnectionInfo>, StoreError> {
        let mut tx = self.read().await?;
        let rows: Vec<ConnectionRow> = query_as(CONNECTION).fetch_all(&mut tx).await?;
        let live = all_live(&mut tx).await?;
        let mut connections: BTreeMap<(PluginName, ConnectionName), Option<Connected>> = live
            .iter()
            .flat_map(|version| {
                let names = version.description.connections.keys();
                names.map(|name| (version.description.name.clone(), name.clone()))
            })
            .map(|key| (key, None))
            .collect();
        for row in &rows {
            connections.insert((parse(&row.0)?, parse(&row.1)?), Some(connected(row)?));
        }
        Ok(connections
            .into_iter()
            .map(|((plugin, name), connected)| {
                let versions: Vec<&Version> =
                    live.iter().filter(|version| version.description.name == plugin).collect();
                let (description, urls) = declared(&versions, &name);
                let description = description.cloned();
                ConnectionInfo { plugin, name, description, urls, connected }
            })
            .collect())
    }

    /// Connects a connection that a plugin declares, in place of what it was connected with.
    pub(crate) async fn connect(
        &self,
        actor: &Actor,
        plugin: &PluginName,
        name: &ConnectionName,
        connect: &Connect,
    ) -> Answer<ConnectionInfo> {
        let sealed = self.seal_grant(plugin, name, &connect.with)?;
        let mut write = self.write(actor).await?;
        let live = of_plugin(write.conn(), plugin).await?;
        if live.is_empty() {
            return Err(no_plugin(plugin).into());
        }
        let versions: Vec<&Version> = live.iter().collect();
        let (description, urls) = declared(&versions, name);
        let description = description.ok_or_else(|| {
            Problem::new(Code::NotFound, format!("{plugin} declares no connection {name}"))
                .hint("`oz0 connection list` shows the connections")
        })?;
        let params = params(description, &urls, &connect.params)?;
        check_grant(description, &connect.with)?;
        let (with, renews) = with_of(&connect.with);
        let (scopes, expires_at) = match &connect.with {
            Grant::Secrets(_) => (None, None),
            Grant::Oauth(grant) => (Some(&grant.scopes), ends_at(grant.expires_in)),
        };
        let at = write.now;
        let generation: [u8; 16] = random()?;
        query(
            "INSERT INTO connections (plugin, name, kind, params, sealed, scopes, expires_at, renews,
             failure, generation, connected_at, connected_by)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, NULL, $9, $10, $11)
             ON CONFLICT (plugin, name) DO UPDATE SET kind = excluded.kind,
             params = excluded.params, sealed = excluded.sealed, scopes = excluded.scopes,
             expires_at = excluded.expires_at, renews = excluded.renews, failure = NULL,
             generation = excluded.generation, connected_at = excluded.connected_at,
             connected_by = excluded.connected_by",
        )
        .bind(plugin.as_str())
        .bind(name.as_str())
        .bind(with.as_str())
        .bind(to_json(&params)?)
        .bind(sealed)
        .bind(scopes.map(to_json).transpose()?)
        .bind(expires_at.map(|at| at.0))
        .bind(i64::from(renews))
        .bind(oz0_api::ApprovalId::from_random(generation).as_str())
        .bind(at.0)
        .bind(actor.to_string())
        .execute(write.conn())
        .await?;
        write.change_credentials(plugin).await?;
        let subject =
            about(plugin, [("name", name.to_string()), ("with", with.as_str().to_owned())]);
        write.audit(Act { action: "connection.connect", subject }).await?;
        let info = info(write.conn(), plugin, name).await?;
        write.commit().await?;
        Ok(info)
    }

    /// Forgets what a connection is connected with, and gives it to whoever is to have it revoked: nothing, where it cannot
    /// be opened any more.
    pub(crate) async fn disconnect(
        &self,
        actor: &Actor,
        plugin: &PluginName,
        name: &ConnectionName,
    ) -> Answer<(ConnectionInfo, Result<Kept, SealError>)> {
        let mut write = self.write(actor).await?;
        let before = info(write.conn(), plugin, name).await?;
        let Some(kept) = self.kept_in(write.conn(), plugin, name).await? else {
            return Err(no_connection(plugin, name).into());
        };
        query("DELETE FROM connections WHERE plugin = $1 AND name = $2")
            .bind(plugin.as_str())
            .bind(name.as_str())
            .execute(write.conn())
            .await?;
        write.change_credentials(plugin).await?;
        let subject = about(plugin, [("name", name.to_string())]);
        write.audit(Act { action: "connection.disconnect", subject }).await?;
        write.commit().await?;
        Ok((before, kept))
    }

    /// What a connection is connected with now.
    pub(crate) async fn kept(
        &self,
        plugin: &PluginName,
        name: &ConnectionName,
    ) -> Result<Option<Kept>, StoreError> {
        let mut tx = self.read().await?;
        Ok(self.kept_in(&mut tx, plugin, name).await?.transpose()?)
    }

    /// What a node that may run a plugin is given for it: what the versions declare that it may run, and that is set. None
    /// where it may run none.
    pub(crate) async fn given(
        &self,
        node: &NodeName,
        plugin: &PluginName,
    ) -> Answer<Option<Given>> {
        let mut tx = self.read().await?;
        let live = of_plugin(&mut tx, plugin).await?;
        let versions: Vec<&Version> =
            live.iter().filter(|version| version.may_run_on(node)).collect();
        if versions.is_empty() {
            return Ok(None);
        }
        let rows: Vec<(String, String)> =
            query_as("SELECT name, sealed FROM secrets WHERE plugin = $1")
                .bind(plugin.as_str())
                .fetch_all(&mut tx)
                .await?;
        let mut given = Given::default();
        for (name, sealed) in rows {
            let name: SecretName = parse(&name)?;
            if versions.iter().all(|version| !version.description.secrets.contains_key(&name)) {
                continue;
            }
            let opened =
                self.seal.open(secret_of(plugin, &name), &sealed).map_err(StoreError::from)?;
            let value =
                std::str::from_utf8(&opened).map_err(|_| StoreError::from(SealError::Tampered))?;
            given.secrets.insert(name, Sensitive::new(value));
        }
        let names: BTreeSet<&ConnectionName> =
            versions.iter().flat_map(|version| version.description.connections.keys()).collect();
        for name in names {
            if let Some(kept) = self.kept_in(&mut tx, plugin, name).await? {
                given.connections.insert(name.clone(), kept.map_err(StoreError::from)?);
            }
        }
        Ok(Some(given))
    }

    /// Writes down what came of renewing a token, unless the connection was connected anew or ended meanwhile. Nodes ask for
    /// it by themselves.
    pub(crate) async fn renewed(
        &self,
        plugin: &PluginName,
        name: &ConnectionName,
        generation: &str,
        renewed: Result<&OauthGrant, &str>,
    ) -> Result<bool, StoreError> {
        let mut write = self.write(&Actor::Edge).await?;
        let done = match renewed {
            Ok(grant) => {
                let kept = Grant::Oauth(Box::new(grant.clone()));
                query(
                    "UPDATE connections SET sealed = $1, expires_at = $2, scopes = $3, failure = NULL
                     WHERE plugin = $4 AND name = $5 AND generation = $6",
                )
                .bind(self.seal_grant(plugin, name, &kept)?)
                .bind(ends_at(grant.expires_in).map(|at| at.0))
                .bind(to_json(&grant.scopes)?)
                .bind(plugin.as_str())
                .bind(name.as_str())
                .bind(generation)
                .execute(write.conn())
                .await?
            }
            Err(failure) => {
                query(
                    "UPDATE connections SET failure = $1
                     WHERE plugin = $2 AND name = $3 AND generation = $4",
                )
                .bind(failure)
                .bind(plugin.as_str())
                .bind(name.as_str())
                .bind(generation)
                .execute(write.conn())
                .await?
            }
        };
        write.commit().await?;
        Ok(done.rows_affected() > 0)
    }

    fn seal_grant(
        &self,
        plugin: &PluginName,
        name: &ConnectionName,
        grant: &Grant,
    ) -> Result<String, StoreError> {
        let plain = Zeroizing::new(
            serde_json::to_vec(grant).map_err(|_| StoreError::Row("a grant".to_owned()))?,
        );
        Ok(self.seal.seal(connection_of(plugin, name), &plain)?)
    }

    async fn kept_in(
        &self,
        conn: &mut Conn,
        plugin: &PluginName,
        name: &ConnectionName,
    ) -> Result<Option<Result<Kept, SealError>>, StoreError> {
        let row: Option<KeptRow> = query_as(
            "SELECT params, sealed, scopes, expires_at, connected_at, generation FROM connections
             WHERE plugin = $1 AND name = $2",
        )
        .bind(plugin.as_str())
        .bind(name.as_str())
        .fetch_optional(conn)
        .await?;
        let Some((params, sealed, scopes, expires_at, connected_at, generation)) = row else {
            return Ok(None);
        };
        let opened = match self.seal.open(connection_of(plugin, name), &sealed) {
            Ok(opened) => opened,
            Err(error) => return Ok(Some(Err(error))),
        };
        // What does not decode is not quoted.
        let Ok(grant) = serde_json::from_slice(&opened) else {
            return Ok(Some(Err(SealError::Tampered)));
        };
        Ok(Some(Ok(Kept {
            params: parse_json(&params)?,
            grant,
            scopes: scopes.as_deref().map(parse_json).transpose()?,
            expires_at: expires_at.map(UnixMillis),
            connected_at: UnixMillis(connected_at),
            generation,
        })))
    }
}

/// Params, what is sealed, scopes, end, beginning, generation.
type KeptRow = (String, String, Option<String>, Option<i64>, i64, String);

/// What the audit log says of an act, beside who and when.
fn about<const N: usize>(plugin: &PluginName, detail: [(&str, String); N]) -> AuditSubject {
    AuditSubject {
        plugin: Some(plugin.clone()),
        detail: detail.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        ..AuditSubject::default()
    }
}

impl Write<'_> {
    /// The nodes that run a plugin are to ask for what it is given.
    async fn change_credentials(&mut self, plugin: &PluginName) -> Result<(), StoreError> {
        let revision = self.revision().await?;
        query(
            "INSERT INTO credentials (plugin, revision) VALUES ($1, $2)
             ON CONFLICT (plugin) DO UPDATE SET revision = excluded.revision",
        )
        .bind(plugin.as_str())
        .bind(revision.0)
        .execute(self.conn())
        .await?;
        Ok(())
    }
}
