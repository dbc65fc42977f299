//! What nodes are told, as it stands at one revision: read once, and shared by every poll.
//!
//! A decision wakes the poll of every node at once, and what it is answered with does not depend on which node that is, but on
//! how far it has come and which candidates it is offered. So after a commit it is read once, of that only what changed since
//! the revision before, and no poll that wakes asks the database for anything. Nodes that had come as far as each other get
//! the same bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;

use oz0_api::credential::ChangedCredentials;
use oz0_api::node::{Accepted, Assignment, Decision, Head, Job, Part, Policy, Poll, PollQuery};
use oz0_api::plugin::VersionState;
use oz0_api::policy::TenantRule;
use oz0_api::{EdgeId, Endpoint, NodeName, PluginName, Revision};
use oz0_listing::{FunctionId, ToolId};

use super::catalog::{accepted_listings, override_of};
use super::changes::raw;
use super::db::{Conn, query_as, query_scalar};
use super::endpoints::{Pin, pin};
use super::functions::VersionKey;
use super::names::Owners;
use super::versions::{Version, all_live, assigned, kept, state_of};
use super::{Store, StoreError, audit, credentials, parse, policy};

/// Answers that are kept of one revision: one for each revision that some nodes have come to, and each set of candidates.
const ANSWERS: usize = 32;

/// What nodes are told at one revision.
pub(crate) struct Standing {
    edge: EdgeId,
    pub(super) revision: Revision,
    /// Where the audit log ended at it.
    head: Option<Head>,
    /// Every version that ever was.
    versions: BTreeMap<VersionKey, Known>,
    /// Those that some node is to run.
    live: Arc<Vec<Version>>,
    /// Those that were replaced and that some node goes on with.
    kept: Vec<Version>,
    /// Of those, the remote tools whose endpoint moved, with what they are pinned at.
    moved: BTreeMap<VersionKey, BTreeMap<ToolId, Endpoint>>,
    owners: Owners,
    /// What is accepted of those.
    functions: BTreeMap<VersionKey, BTreeMap<FunctionId, Decided>>,
    policy_revision: Revision,
    policy: Arc<Vec<TenantRule>>,
    /// When the secrets or connections of a plugin changed last.
    credentials: BTreeMap<PluginName, i64>,
    answers: Mutex<Vec<(Asked, Arc<Answer>)>>,
}

/// What became of a version.
#[derive(Clone, Copy)]
struct Known {
    revision: i64,
    state: VersionState,
}

/// What is accepted of a function.
#[derive(Clone)]
struct Decided {
    revision: i64,
    accepted: Arc<Vec<Accepted>>,
}

/// All on which an answer depends.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Asked {
    reset: bool,
    /// Whether the versions that went are left out.
    all: bool,
    plugins: i64,
    decisions: i64,
    policy: bool,
    /// After which revision secrets and connections are asked for; nothing where none changed.
    credentials: Option<i64>,
    /// The candidates that the node is offered and the versions that it goes on with, by their places among those that are
    /// called.
    apart: Vec<usize>,
}

/// An answer, and as it is sent.
pub(crate) struct Answer {
    poll: Poll,
    pub(crate) json: Bytes,
}

impl Answer {
    fn of(poll: Poll) -> Result<Self, StoreError> {
        let json = serde_json::to_vec(&poll).map_err(|error| StoreError::Row(error.to_string()))?;
        Ok(Self { poll, json: json.into() })
    }
}

impl Standing {
    /// Reads how things stand, of that only what changed since `before`.
    pub(super) async fn load(
        store: &Store,
        conn: &mut Conn,
        before: Option<&Self>,
    ) -> Result<Self, StoreError> {
        let revision = super::poll::current(conn).await?;
        // A store that was restored from an older copy goes on from there by another way.
        let before = before.filter(|before| before.revision <= revision);
        let after = before.map_or(-1, |before| before.revision.0);

        let rows: Vec<(String, String, String, i64)> =
            query_as("SELECT plugin, version, state, revision FROM versions WHERE revision > $1")
                .bind(after)
                .fetch_all(&mut *conn)
                .await?;
        let mut versions = before.map(|before| before.versions.clone()).unwrap_or_default();
        let mut changed = BTreeSet::new();
        for (plugin, version, state, revision) in rows {
            let key = VersionKey { plugin: parse(&plugin)?, version: parse(&version)? };
            changed.insert(key.clone());
            versions.insert(key, Known { revision, state: state_of(&state)? });
        }
        let live = match before {
            Some(before) if changed.is_empty() => Arc::clone(&before.live),
            _ => Arc::new(all_live(conn).await?),
        };
        let kept = kept(conn, None).await?;

        let mut moved = BTreeMap::new();
        for version in live.iter() {
            let key = version.key();
            for (tool, description) in &version.description.tools {
                if let Some(endpoint) = description.endpoint()
                    && let Pin::Moved { accepted, .. } = pin(conn, &key, tool, endpoint).await?
                {
                    let of: &mut BTreeMap<_, _> = moved.entry(key.clone()).or_default();
                    of.insert(tool.clone(), accepted);
                }
            }
        }

        let owners = Owners::load(conn).await?;
        let called = live.iter().chain(&kept);
        let functions = load_functions(conn, called, &changed, before, after).await?;

        let policy_revision: i64 = query_scalar("SELECT value FROM counters WHERE name = 'policy'")
            .fetch_one(&mut *conn)
            .await?;
        let policy_revision = Revision(policy_revision);
        let policy = match before {
            Some(before) if before.policy_revision == policy_revision => Arc::clone(&before.policy),
            _ => Arc::new(policy::rules(conn).await?),
        };
        let credentials = credentials::changed(conn).await?;
        let head = audit::head(conn).await?;
        Ok(Self {
            edge: store.id.clone(),
            revision,
            head,
            versions,
            live,
            kept,
            moved,
            owners,
            functions,
            policy_revision,
            policy,
            credentials,
            answers: Mutex::default(),
        })
    }

    /// The versions that some node may call.
    fn called(&self) -> impl Iterator<Item = &Version> {
        self.live.iter().chain(&self.kept)
    }

    /// The versions that a node goes on with in the place of others.
    pub(super) fn kept_on(&self, node: &NodeName) -> BTreeSet<VersionKey> {
        self.kept.iter().filter(|version| version.is_kept_on(node)).map(Version::key).collect()
    }

    /// Whether a node's revisions are of this history as far as numbers tell.
    pub(super) fn is_past(&self, query: &PollQuery) -> bool {
        query.edge.as_ref() == Some(&self.edge)
            && query.plugins <= self.revision
            && query.decisions <= self.revision
            && query.policy <= self.revision
            && query.credentials <= self.revision
    }

    /// What changed for `node` after the revisions of `query`, which are of this history if they are `known`; none where
    /// nothing did. A node that comes as far as the edge is told so, also where nothing of it is the node's: what waits for
    /// its coming so far would wait in vain.
    pub(crate) fn answer(
        &self,
        node: &NodeName,
        query: &PollQuery,
        known: bool,
        jobs: Vec<Job>,
    ) -> Result<Option<Arc<Answer>>, StoreError> {
        let known = known && self.is_past(query);
        let fresh = query.edge.is_none() && query.plugins.0 == 0 && query.decisions.0 == 0;
        let policy = !known || self.policy_revision > query.policy;
        let abreast = known && query.plugins >= self.revision && query.decisions >= self.revision;
        let after = |asked: Revision| if known { asked.0 } else { 0 };
        let credentials = after(query.credentials);
        let credentials =
            self.credentials.values().any(|at| *at > credentials).then_some(credentials);
        if abreast && !policy && credentials.is_none() && jobs.is_empty() {
            return Ok(None);
        }
        let asked = Asked {
            reset: !known && !fresh,
            all: !known || query.plugins.0 == 0,
            plugins: after(query.plugins),
            decisions: after(query.decisions),
            policy,
            credentials,
            apart: self
                .called()
                .enumerate()
                .filter(|(_, version)| version.is_offered_to(node) || version.is_kept_on(node))
                .map(|(at, _)| at)
                .collect(),
        };
        let answer = self.kept(&asked, node)?;
        if jobs.is_empty() {
            return Ok(Some(answer));
        }
        Ok(Some(Arc::new(Answer::of(Poll { jobs, ..answer.poll.clone() })?)))
    }

    /// The answer to all who ask the same.
    fn kept(&self, asked: &Asked, node: &NodeName) -> Result<Arc<Answer>, StoreError> {
        // Held meanwhile: of many that ask at once, one makes it.
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, answer)) = answers.iter().find(|(other, _)| other == asked) {
            return Ok(Arc::clone(answer));
        }
        let part = self.revision;
        let answer = Arc::new(Answer::of(Poll {
            edge: self.edge.clone(),
            reset: asked.reset,
            plugins: Part { revision: part, changed: self.assignments(asked, node) },
            decisions: Part { revision: part, changed: self.decisions(asked, node) },
            policy: asked
                .policy
                .then(|| Policy { revision: part, rules: self.policy.as_ref().clone() }),
            credentials: asked.credentials.map(|after| self.credentials(after, node)),
            jobs: Vec::new(),
            head: self.head.clone(),
        })?);
        if answers.len() >= ANSWERS {
            answers.remove(0);
        }
        answers.push((asked.clone(), Arc::clone(&answer)));
        Ok(answer)
    }

    /// The plugins that a node may run whose secrets or connections changed since then.
    fn credentials(&self, after: i64, node: &NodeName) -> ChangedCredentials {
        let changed = |name: &PluginName| self.credentials.get(name).is_some_and(|at| *at > after);
        let plugins = self
            .live
            .iter()
            .filter(|version| version.may_run_on(node))
            .map(|version| &version.description.name)
            .filter(|name| changed(name))
            .cloned()
            .collect();
        ChangedCredentials { revision: self.revision, plugins }
    }

    /// The versions that came, changed or went on a node.
    fn assignments(&self, asked: &Asked, node: &NodeName) -> Vec<Assignment> {
        let here = assigned(&self.live, node);
        let mut changed: Vec<(&VersionKey, &Known)> =
            self.versions.iter().filter(|(_, known)| known.revision > asked.plugins).collect();
        changed.sort_by_key(|(key, known)| (known.revision, &key.plugin));
        let mut assignments = Vec::new();
        for (key, known) in changed {
            let version = here
                .get(&key.plugin)
                .copied()
                .filter(|version| version.description.version == key.version);
            if version.is_none() && asked.all {
                continue;
            }
            let gone = [VersionState::Withdrawn, VersionState::Removed];
            assignments.push(Assignment {
                plugin: key.plugin.clone(),
                version: key.version.clone(),
                description: version.map(|version| version.description.clone()),
                moved: version.and_then(|_| self.moved.get(key)).cloned().unwrap_or_default(),
                taken_back: version.is_none() && gone.contains(&known.state),
            });
        }
        assignments
    }

    /// What is accepted of the functions on which something was decided. A node may go on with another version than the one
    /// that it is to run.
    fn decisions(&self, asked: &Asked, node: &NodeName) -> Vec<Decision> {
        let mut decisions = Vec::new();
        for version in self.called().filter(|version| version.may_run_on(node)) {
            let key = version.key();
            let functions = self.functions.get(&key).into_iter().flatten();
            for (function, decided) in functions.filter(|(_, one)| one.revision > asked.decisions) {
                decisions.push(Decision {
                    plugin: key.plugin.clone(),
                    version: key.version.clone(),
                    left_out_for: self
                        .owners
                        .left_out_for(function)
                        .map(|(owner, _)| owner.clone()),
                    function: function.clone(),
                    accepted: decided.accepted.as_ref().clone(),
                });
            }
        }
        decisions
    }
}

/// What is accepted of the functions of the versions that are called: of those that did before, and were not described anew, what
/// changed.
async fn load_functions<'v>(
    conn: &mut Conn,
    called: impl Iterator<Item = &'v Version>,
    changed: &BTreeSet<VersionKey>,
    before: Option<&Standing>,
    after: i64,
) -> Result<BTreeMap<VersionKey, BTreeMap<FunctionId, Decided>>, StoreError> {
    let rows: Vec<(String, String)> =
        query_as("SELECT DISTINCT plugin, version FROM functions WHERE revision > $1")
            .bind(after)
            .fetch_all(&mut *conn)
            .await?;
    let mut decided = BTreeSet::new();
    for (plugin, version) in rows {
        decided.insert(VersionKey { plugin: parse(&plugin)?, version: parse(&version)? });
    }
    let mut all = BTreeMap::new();
    for version in called {
        let key = version.key();
        let old = before
            .filter(|_| !changed.contains(&key))
            .and_then(|before| before.functions.get(&key));
        let Some(old) = old.cloned() else {
            all.insert(key.clone(), functions_of(conn, version, &key, -1).await?);
            continue;
        };
        let mut functions = old;
        if decided.contains(&key) {
            functions.extend(functions_of(conn, version, &key, after).await?);
        }
        all.insert(key, functions);
    }
    Ok(all)
}

/// What is accepted of the functions of a version on which something was decided.
async fn functions_of(
    conn: &mut Conn,
    version: &Version,
    key: &VersionKey,
    after: i64,
) -> Result<BTreeMap<FunctionId, Decided>, StoreError> {
    let rows: Vec<(String, i64)> = query_as(
        "SELECT function, revision FROM functions
         WHERE plugin = $1 AND version = $2 AND revision > $3",
    )
    .bind(key.plugin.as_str())
    .bind(key.version.as_str())
    .bind(after)
    .fetch_all(&mut *conn)
    .await?;
    let mut listings = accepted_listings(conn, key, after).await?;
    let mut functions = BTreeMap::new();
    for (function, revision) in rows {
        let function: FunctionId = parse(&function)?;
        let Some(listings) = listings.remove(&function) else { continue };
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
        functions.insert(function, Decided { revision, accepted: Arc::new(accepted) });
    }
    Ok(functions)
}
