//! Model names: across plugins the function that was approved first stays, and the newcomer is left
//! out; inside one plugin both are.
//!
//! A claim is made in the transaction in which a function is first accepted, and keeps its rank as
//! long as the plugin is installed and the function accepted; a plugin that is removed gives its
//! names up. A plugin that is updated keeps the claims of a tool whose first listing is still to
//! come: an update must not hand a name to whoever waits for it. A candidate claims names beside the
//! installed version, and none that a function of that one has.

use std::collections::{BTreeMap, BTreeSet};

use oz0_api::PluginName;
use oz0_listing::{FunctionId, ModelName};

use super::db::{Conn, query, query_as, query_scalar};
use super::functions::VersionKey;
use super::{StoreError, Write, parse, versions};

/// The claims to each model name, the earliest first.
pub(super) struct Owners(BTreeMap<String, Vec<(FunctionId, PluginName)>>);

impl Owners {
    pub(super) async fn load(conn: &mut Conn) -> Result<Self, StoreError> {
        let rows: Vec<(String, String, String)> = query_as(
            "SELECT model_name, function, plugin FROM model_names
             ORDER BY claim_rank, function",
        )
        .fetch_all(conn)
        .await?;
        let mut claims = BTreeMap::<String, Vec<_>>::new();
        for (name, function, plugin) in rows {
            claims.entry(name).or_default().push((parse(&function)?, parse(&plugin)?));
        }
        Ok(Self(claims))
    }

    /// The function because of which this one is left out: the one that has its model name, or a twin
    /// in its own plugin, because of which neither has it.
    pub(super) fn left_out_for(&self, id: &FunctionId) -> Option<&(FunctionId, PluginName)> {
        let claims = self.0.get(ModelName::of(id).as_str())?;
        let first = claims.first()?;
        if first.0 != *id {
            return Some(first);
        }
        claims.iter().find(|(twin, plugin)| twin != id && *plugin == first.1)
    }
}

impl Write<'_> {
    /// Brings a plugin's claims in line with what is accepted of its installed version, and sends
    /// everyone's decisions anew whose name is free or taken now.
    pub(super) async fn claim_names(&mut self, plugin: &PluginName) -> Result<(), StoreError> {
        let claims: Vec<(String, String)> =
            query_as("SELECT model_name, function FROM model_names WHERE plugin = $1")
                .bind(plugin.as_str())
                .fetch_all(self.conn())
                .await?;
        let mut claimed = BTreeMap::new();
        for (name, function) in claims {
            claimed.insert(parse::<FunctionId>(&function)?, name);
        }
        let live = versions::of_plugin(self.conn(), plugin).await?;
        let mut wanted = BTreeSet::new();
        for version in &live {
            let key = version.key();
            let mut own = accepted(self.conn(), &key).await?;
            let snapshots = snapshots(self.conn(), &key).await?;
            let pending = claimed.keys().filter(|id| !snapshots.contains(id.tool().as_str()));
            own.extend(pending.cloned());
            own.retain(|id| version.description.tools.contains_key(&id.tool()));
            if version.is_candidate() {
                // On no node do both versions run, and a twin of theirs would leave out what runs everywhere.
                let names: BTreeSet<ModelName> = wanted.iter().map(ModelName::of).collect();
                own.retain(|id| wanted.contains(id) || !names.contains(&ModelName::of(id)));
            }
            wanted.extend(own);
        }
        let mut touched = BTreeSet::new();
        for (id, name) in &claimed {
            if !wanted.contains(id) {
                touched.insert(name.clone());
                query("DELETE FROM model_names WHERE model_name = $1 AND function = $2")
                    .bind(name)
                    .bind(id.as_str())
                    .execute(self.conn())
                    .await?;
            }
        }
        for id in wanted.iter().filter(|id| !claimed.contains_key(id)) {
            let name = ModelName::of(id).as_str().to_owned();
            let rank = self.revision().await?;
            query(
                "INSERT INTO model_names (model_name, function, plugin, claim_rank)
                 VALUES ($1, $2, $3, $4)",
            )
            .bind(&name)
            .bind(id.as_str())
            .bind(plugin.as_str())
            .bind(rank.0)
            .execute(self.conn())
            .await?;
            touched.insert(name);
        }
        for name in touched {
            let revision = self.revision().await?;
            query(
                "UPDATE functions SET revision = $1
                 WHERE function IN (SELECT function FROM model_names WHERE model_name = $2)",
            )
            .bind(revision.0)
            .bind(&name)
            .execute(self.conn())
            .await?;
        }
        Ok(())
    }
}

/// The functions of a version with an accepted listing.
pub(super) async fn accepted(
    conn: &mut Conn,
    key: &VersionKey,
) -> Result<BTreeSet<FunctionId>, StoreError> {
    let rows: Vec<String> = query_scalar(
        "SELECT DISTINCT function FROM accepted
         WHERE plugin = $1 AND version = $2 AND value <> 'absent'",
    )
    .bind(key.plugin.as_str())
    .bind(key.version.as_str())
    .fetch_all(conn)
    .await?;
    rows.iter().map(|function| parse(function)).collect()
}

/// The tools of a version that have a snapshot.
pub(super) async fn snapshots(
    conn: &mut Conn,
    key: &VersionKey,
) -> Result<BTreeSet<String>, StoreError> {
    Ok(query_scalar::<String>(
        "SELECT tool FROM tools WHERE plugin = $1 AND version = $2 AND snapshot_at IS NOT NULL",
    )
    .bind(key.plugin.as_str())
    .bind(key.version.as_str())
    .fetch_all(conn)
    .await?
    .into_iter()
    .collect())
}
