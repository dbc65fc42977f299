//! What a new version's first listing must not make trusted.
//!
//! A version gets a snapshot of its own. A bundle is a set of files that somebody chose to install; the version of a folder
//! that is run in place is a line that is edited while its servers run, and another number in it, written by the same edit,
//! must not be a way to approve what an edit without it would leave waiting. So the first listing of such a version is
//! compared with what was accepted of the folder's versions before it: a function that lists itself otherwise, and one that is
//! new, starts from what was accepted before, and waits.
//!
//! Nor does the approval of a moved endpoint approve what is listed there: nobody has seen it, since until then it is listed
//! without token. The first listing at an endpoint that was approved is compared with the version before in the same way.
//!
//! Whoever approves a listing in one version has approved it for those that follow.

use std::collections::{BTreeMap, BTreeSet};

use oz0_api::NodeName;
use oz0_api::plugin::PluginDescription;
use oz0_listing::{FunctionId, Listing, ToolId};

use super::db::query_as;
use super::functions::{VersionKey, stored_listing};
use super::versions::Version;
use super::{StoreError, Write, parse, parse_json};
use crate::function::{Function, Sight, Value};

/// A function whose first listing in a version is not what was accepted of it before.
pub(super) struct Held {
    /// What was accepted of it last; none of one that never was.
    pub(super) accepted: Option<Listing>,
}

impl Held {
    /// As it stands before the new version's first listing of it is compared: as if the node that lists it had listed until
    /// now what was accepted, so that this is dropped once it has been approved otherwise.
    pub(super) fn function(&self, node: &NodeName) -> Function {
        let accepted = self.accepted.as_ref();
        let value = accepted.map_or(Value::Absent, |listing| Value::Listed(listing.hash()));
        let sight = Sight { now: value, before: BTreeSet::new() };
        Function::stored(vec![value], BTreeMap::from([(node.clone(), sight)]))
    }
}

/// The versions that a version is held to.
#[derive(Clone, Copy)]
enum Line {
    /// Those that were run from the folder.
    Folder,
    /// Those that were installed.
    Installed,
}

impl Line {
    const fn is_folder(self) -> i64 {
        match self {
            Self::Folder => 1,
            Self::Installed => 0,
        }
    }
}

impl Write<'_> {
    /// Of a tool's first listing, the functions that must not become part of the snapshot. `moved` is whether the tool's
    /// endpoint is one that was approved in this version.
    pub(super) async fn held_back(
        &mut self,
        version: &Version,
        tool: &ToolId,
        listed: &BTreeMap<FunctionId, Listing>,
        moved: bool,
    ) -> Result<BTreeMap<FunctionId, Held>, StoreError> {
        let mut held = BTreeMap::new();
        let line = match (version.description.source.is_dev(), moved) {
            (true, _) => Line::Folder,
            (false, true) => Line::Installed,
            (false, false) => return Ok(held),
        };
        let key = version.key();
        if !self.was_approved(&key, tool, line).await? {
            return Ok(held);
        }
        for (id, listing) in listed {
            let rows = self.accepted_before(&key, id, line).await?;
            let value = Value::Listed(listing.hash()).to_string();
            if rows.iter().any(|(accepted, _)| *accepted == value) {
                continue;
            }
            let accepted = match rows.first() {
                Some((value, listing)) => stored_listing(parse(value)?, listing.as_deref())?,
                None => None,
            };
            held.insert(id.clone(), Held { accepted });
        }
        Ok(held)
    }

    /// Whether something was approved before of which this tool is a part, or to which it was added.
    async fn was_approved(
        &mut self,
        key: &VersionKey,
        tool: &ToolId,
        line: Line,
    ) -> Result<bool, StoreError> {
        let rows: Vec<(String, String)> = query_as(
            "SELECT v.description, t.tool FROM versions v
             JOIN tools t ON t.plugin = v.plugin AND t.version = v.version
             WHERE v.plugin = $1 AND v.version <> $2 AND t.snapshot_at IS NOT NULL
             AND ($3 = 1 AND v.dev = 1 OR $3 = 0 AND v.install_rank > 0)",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(line.is_folder())
        .fetch_all(self.conn())
        .await?;
        if rows.iter().any(|(_, listed)| listed == tool.as_str()) {
            return Ok(true);
        }
        // A tool that was there and was never listed has its first listing now.
        for (description, _) in &rows {
            if parse_json::<PluginDescription>(description)?.tools.contains_key(tool) {
                return Ok(false);
            }
        }
        Ok(!rows.is_empty())
    }

    /// What is accepted of a function in the version of the line in which something of it was accepted last, the last first.
    async fn accepted_before(
        &mut self,
        key: &VersionKey,
        id: &FunctionId,
        line: Line,
    ) -> Result<Vec<(String, Option<String>)>, StoreError> {
        let rows: Vec<(String, String, Option<String>)> = query_as(
            "SELECT a.version, a.value, a.listing FROM accepted a
             JOIN versions v ON v.plugin = a.plugin AND v.version = a.version
             WHERE a.plugin = $1 AND a.version <> $2 AND a.function = $4 AND a.value <> 'absent'
             AND ($3 = 1 AND v.dev = 1 OR $3 = 0 AND v.install_rank > 0)
             ORDER BY a.accept_rank DESC, a.value",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(line.is_folder())
        .bind(id.as_str())
        .fetch_all(self.conn())
        .await?;
        let last = rows.first().map(|(version, ..)| version.clone());
        Ok(rows
            .into_iter()
            .filter(|(version, ..)| Some(version) == last.as_ref())
            .map(|(_, value, listing)| (value, listing))
            .collect())
    }
}
