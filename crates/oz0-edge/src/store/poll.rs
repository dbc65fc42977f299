//! What changed for a node since it last asked.

use std::collections::BTreeMap;

use oz0_api::node::{Accepted, Assignment, Decision, Part, Poll, PollQuery};
use oz0_api::plugin::VersionState;
use oz0_api::{NodeName, Revision};
use oz0_listing::{FunctionId, ToolId};

use super::catalog::{accepted_listings, override_of};
use super::changes::raw;
use super::db::{Conn, query_as, query_scalar};
use super::endpoints::{Pin, pin};
use super::names::Owners;
use super::versions::{Version, all_live, assigned};
use super::{Answer, Store, StoreError, audit, parse, policy};

/// The store's revision.
pub(super) async fn current(conn: &mut Conn) -> Result<Revision, StoreError> {
    Ok(Revision(
        query_scalar("SELECT value FROM counters WHERE name = 'revision'").fetch_one(conn).await?,
    ))
}

impl Store {
    /// What changed for `node` after the revisions of `query`; none where nothing did.
    pub(crate) async fn poll(&self, node: &NodeName, query: &PollQuery) -> Answer<Option<Poll>> {
        let mut tx = self.read().await?;
        let revision = current(&mut tx).await?;
        self.metrics.at(revision);
        let known = query.edge.as_ref() == Some(&self.id)
            && query.plugins <= revision
            && query.decisions <= revision
            && query.policy <= revision
            && match &query.head {
                Some(head) => {
                    let ours = audit::hash_at(&mut tx, head.seq).await?;
                    ours.is_some_and(|ours| ours == head.hash)
                }
                None => true,
            };
        let fresh = query.edge.is_none() && query.plugins.0 == 0 && query.decisions.0 == 0;
        let reset = !known && !fresh;
        let after = |asked: Revision| if known { asked.0 } else { 0 };
        let all = !known || query.plugins.0 == 0;

        let plugins = assignments(&mut tx, node, after(query.plugins), all).await?;
        let decisions = decisions(&mut tx, node, after(query.decisions)).await?;
        let policy = policy::since(&mut tx, known.then_some(query.policy), revision).await?;
        let head = audit::head(&mut tx).await?;
        drop(tx);
        // Taken last: a job that is taken and not handed out is lost.
        let jobs = if query.jobs { self.take_jobs(node).await? } else { Vec::new() };
        // A node that comes as far as the edge is told so, also where nothing of it is the node's: what waits for its
        // coming so far would wait in vain.
        let abreast = query.plugins >= revision && query.decisions >= revision;
        let nothing = abreast
            && jobs.is_empty()
            && plugins.is_empty()
            && decisions.is_empty()
            && policy.is_none();
        if !reset && !fresh && nothing {
            return Ok(None);
        }
        Ok(Some(Poll {
            edge: self.id.clone(),
            reset,
            plugins: Part { revision, changed: plugins },
            decisions: Part { revision, changed: decisions },
            policy,
            jobs,
            head,
        }))
    }
}

/// The versions that came, changed or went on a node; `all` leaves out the ones that went.
async fn assignments(
    conn: &mut Conn,
    node: &NodeName,
    after: i64,
    all: bool,
) -> Result<Vec<Assignment>, StoreError> {
    let rows: Vec<(String, String, String)> = query_as(
        "SELECT plugin, version, state FROM versions WHERE revision > $1 ORDER BY revision, plugin",
    )
    .bind(after)
    .fetch_all(&mut *conn)
    .await?;
    let live: Vec<Version> = if rows.is_empty() { Vec::new() } else { all_live(conn).await? };
    let here = assigned(&live, node);
    let mut assignments = Vec::new();
    for (plugin, version, state) in rows {
        let key =
            super::functions::VersionKey { plugin: parse(&plugin)?, version: parse(&version)? };
        let Some(version) = here
            .get(&key.plugin)
            .copied()
            .filter(|version| version.description.version == key.version)
        else {
            if !all {
                assignments.push(Assignment {
                    plugin: key.plugin,
                    version: key.version,
                    description: None,
                    moved: BTreeMap::new(),
                    taken_back: [VersionState::Withdrawn, VersionState::Removed]
                        .iter()
                        .any(|gone| gone.as_str() == state),
                });
            }
            continue;
        };
        let mut moved = BTreeMap::<ToolId, _>::new();
        for (tool, description) in &version.description.tools {
            if let Some(endpoint) = description.endpoint()
                && let Pin::Moved { accepted, .. } = pin(conn, &key, tool, endpoint).await?
            {
                moved.insert(tool.clone(), accepted);
            }
        }
        assignments.push(Assignment {
            plugin: key.plugin,
            version: key.version,
            description: Some(version.description.clone()),
            moved,
            taken_back: false,
        });
    }
    Ok(assignments)
}

/// What is accepted of the functions on which something was decided.
async fn decisions(
    conn: &mut Conn,
    node: &NodeName,
    after: i64,
) -> Result<Vec<Decision>, StoreError> {
    let newest: i64 = query_scalar("SELECT COALESCE(MAX(revision), 0) FROM functions")
        .fetch_one(&mut *conn)
        .await?;
    if newest <= after {
        return Ok(Vec::new());
    }
    let owners = Owners::load(conn).await?;
    let mut decisions = Vec::new();
    // A node that a candidate is offered to may go on with the installed version.
    let live = all_live(conn).await?;
    for version in live.iter().filter(|version| version.may_run_on(node)) {
        let key = version.key();
        let listings: BTreeMap<FunctionId, _> = accepted_listings(conn, &key, after).await?;
        for (function, listings) in listings {
            let over = override_of(version, &function).unwrap_or_default();
            let accepted = listings
                .iter()
                .map(|listing| {
                    Ok(Accepted {
                        hash: listing.hash(),
                        served: over.merge(listing).as_ref().map(raw).transpose()?,
                    })
                })
                .collect::<Result<_, StoreError>>()?;
            decisions.push(Decision {
                plugin: key.plugin.clone(),
                version: key.version.clone(),
                left_out_for: owners.left_out_for(&function).map(|(owner, _)| owner.clone()),
                function,
                accepted,
            });
        }
    }
    Ok(decisions)
}
