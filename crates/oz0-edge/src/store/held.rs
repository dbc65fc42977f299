//! What a new version's first listing must not make trusted.
//!
//! A version gets a snapshot of its own. A bundle is a set of files that somebody chose to install;
//! the version of a folder that is run in place is a line that is edited while its servers run, and
//! must not be a way to approve what waits. So of such a version a listing that is an open change of
//! its plugin, in any version that was run from a folder, is kept out of the snapshot: the function
//! starts from what was accepted before, and the change is open in the new version as well. Whoever
//! approves it in one version has approved it for those that follow.

use std::collections::BTreeMap;

use oz0_listing::{FunctionId, Listing};

use super::db::{query_as, query_scalar};
use super::functions::{VersionKey, stored_listing};
use super::versions::Version;
use super::{StoreError, Write, parse};
use crate::function::{Function, Value};

/// A function that was refused before its version was.
pub(super) struct Held {
    /// What was accepted of it last; none of one that never was.
    pub(super) accepted: Option<Listing>,
}

impl Held {
    /// As it stands before the new version's first listing of it is compared.
    pub(super) fn function(&self) -> Function {
        let accepted = self.accepted.as_ref();
        let value = accepted.map_or(Value::Absent, |listing| Value::Listed(listing.hash()));
        Function::stored(vec![value], BTreeMap::new())
    }
}

impl Write<'_> {
    /// Of a first listing, the functions that must not become part of the snapshot.
    pub(super) async fn held_back(
        &mut self,
        version: &Version,
        listed: &BTreeMap<FunctionId, Listing>,
    ) -> Result<BTreeMap<FunctionId, Held>, StoreError> {
        let mut held = BTreeMap::new();
        if !version.description.source.is_dev() {
            return Ok(held);
        }
        let key = version.key();
        for (id, listing) in listed {
            let value = Value::Listed(listing.hash());
            let Some(from) = self.refused_in(&key, id, value).await? else { continue };
            let row: Option<(String, Option<String>)> = query_as(
                "SELECT value, listing FROM accepted
                 WHERE plugin = $1 AND version = $2 AND function = $3 AND value <> 'absent'
                 ORDER BY accept_rank DESC, value LIMIT 1",
            )
            .bind(from.plugin.as_str())
            .bind(from.version.as_str())
            .bind(id.as_str())
            .fetch_optional(self.conn())
            .await?;
            let accepted = match row {
                Some((value, listing)) => stored_listing(parse(&value)?, listing.as_deref())?,
                None => None,
            };
            held.insert(id.clone(), Held { accepted });
        }
        Ok(held)
    }

    /// The version of a folder in which this was refused last, if nobody accepted it since.
    async fn refused_in(
        &mut self,
        key: &VersionKey,
        id: &FunctionId,
        value: Value,
    ) -> Result<Option<VersionKey>, StoreError> {
        let version: Option<String> = query_scalar(
            "SELECT c.version FROM changes c
             JOIN versions v ON v.plugin = c.plugin AND v.version = c.version
             WHERE c.plugin = $1 AND c.version <> $2 AND c.function = $3 AND c.value = $4
             AND v.dev = 1 AND NOT EXISTS (
                 SELECT 1 FROM accepted a
                 JOIN versions w ON w.plugin = a.plugin AND w.version = a.version
                 WHERE a.plugin = c.plugin AND a.function = c.function AND a.value = c.value
                 AND w.dev = 1 AND a.accepted_at >= c.opened_at)
             ORDER BY c.opened_at DESC, v.install_rank DESC LIMIT 1",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(id.as_str())
        .bind(value.to_string())
        .fetch_optional(self.conn())
        .await?;
        version
            .map(|version| Ok(VersionKey { plugin: key.plugin.clone(), version: parse(&version)? }))
            .transpose()
    }
}
