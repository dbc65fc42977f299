//! A node's report: the first one becomes the snapshot, each later one is compared with it.

use std::collections::{BTreeMap, BTreeSet};

use oz0_api::audit::AuditSubject;
use oz0_api::node::{LeftOut, ListedFunction, Outcome as Listed, Report, Verdict, Verdicts};
use oz0_api::{Code, NodeName, PluginVersion, Problem};
use oz0_listing::{FunctionId, Listing, escape};

use super::db::{query, query_as};
use super::endpoints::{Pin, pin};
use super::functions::{Moved, Outcome, ToolState, VersionKey, change_id, stored_listing};
use super::held::Held;
use super::versions::{Version, called_of};
use super::{Act, Actor, Answer, Store, StoreError, Write, parse, to_json};
use crate::function::{Event, Function, Value};

/// Functions of one tool, at most; a server that lists more is refused by its node.
const FUNCTIONS: usize = 10_000;

/// The longest reason that is kept, in characters.
const REASON: usize = 4096;

/// A report whose every listing was read.
struct Read {
    functions: BTreeMap<FunctionId, Listing>,
    left_out: Vec<LeftOut>,
    uncallable: BTreeMap<FunctionId, String>,
}

/// Reads what a node sent, and takes nothing on trust that can be computed.
fn read(report: &Report, functions: &[ListedFunction], left_out: &[LeftOut]) -> Answer<Read> {
    let too_many = |what: &str| {
        Problem::new(
            Code::TooLarge,
            format!("the report on {} has more than {FUNCTIONS} {what}", report.tool),
        )
    };
    if functions.len() > FUNCTIONS {
        return Err(too_many("functions").into());
    }
    if left_out.len() > FUNCTIONS {
        return Err(too_many("functions that are left out").into());
    }
    let mut read = BTreeMap::new();
    let mut uncallable = BTreeMap::new();
    for function in functions {
        let id = &function.id;
        let wrong =
            |what: String| Problem::new(Code::Malformed, format!("the report on {id}: {what}"));
        if id.tool() != report.tool {
            return Err(wrong(format!("it is no function of {}", report.tool)).into());
        }
        let listing = Listing::read(function.listing.get(), &[])
            .map_err(|unlistable| wrong(unlistable.to_string()))?;
        if listing.name() != id.function() {
            return Err(wrong("its listing has another name".to_owned()).into());
        }
        if listing.canonical() != function.listing.get() {
            return Err(wrong("its listing is not escaped, canonical JSON".to_owned()).into());
        }
        if listing.hash() != function.hash {
            return Err(wrong("its listing does not have its hash".to_owned()).into());
        }
        if let Some(reason) = &function.uncallable {
            uncallable.insert(id.clone(), escape::line_within(reason, REASON).into_owned());
        }
        if read.insert(id.clone(), listing).is_some() {
            return Err(wrong("it is there twice".to_owned()).into());
        }
    }
    let left_out = left_out
        .iter()
        .map(|left_out| LeftOut {
            name: escape::line_within(&left_out.name, REASON).into_owned(),
            reason: escape::line_within(&left_out.reason, REASON).into_owned(),
        })
        .collect();
    Ok(Read { functions: read, left_out, uncallable })
}

impl Store {
    /// Takes a node's report.
    pub(crate) async fn report(&self, node: &NodeName, report: &Report) -> Answer<Verdicts> {
        let listed = match &report.outcome {
            Listed::Complete { functions, left_out } => Ok(read(report, functions, left_out)?),
            Listed::Failed { reason, .. } => Err(escape::line_within(reason, REASON).into_owned()),
        };
        let mut write = self.write(&Actor::Node(node.clone())).await?;
        write.see(node).await?;
        let version = current(&mut write, node, report).await?;
        let key = version.key();

        let endpoint = version.description.tools[&report.tool].endpoint();
        let moved = match endpoint {
            Some(endpoint) => match pin(write.conn(), &key, &report.tool, endpoint).await? {
                Pin::Moved { change, .. } => Some((change, endpoint)),
                Pin::None | Pin::Holds => None,
            },
            None => None,
        };
        if let Some((change, endpoint)) = &moved
            && write.join_change(change, node).await?
        {
            // Also a node that gets no listing there knows that it is sent elsewhere.
            write
                .audit(Act {
                    action: "plugin.tools.changed",
                    subject: AuditSubject {
                        node: Some(node.clone()),
                        detail: BTreeMap::from([("endpoint".to_owned(), endpoint.to_string())]),
                        ..subject(&key, report)
                    },
                })
                .await?;
        }
        let listed = match listed {
            Ok(listed) => listed,
            Err(reason) => {
                write.note(&key, node, report, None, Some(&reason)).await?;
                let mut verdicts = write.answer(false, BTreeMap::new()).await?;
                verdicts.endpoint = moved.map(|(change, _)| change);
                return Ok(verdicts);
            }
        };
        if let Some((change, _)) = moved {
            // Listed without its token, so this may not be what it lists with one: shown, and
            // compared with nothing.
            write.note(&key, node, report, Some((&listed, false)), None).await?;
            let functions =
                listed.functions.into_keys().map(|id| (id, Verdict::NoSnapshot)).collect();
            let mut verdicts = write.answer(false, functions).await?;
            verdicts.endpoint = Some(change);
            return Ok(verdicts);
        }

        let empty = listed.functions.is_empty() && listed.left_out.is_empty();
        let state = write.state_for(&key, &report.tool, node, &listed.functions).await?;
        if empty || (!state.snapshot && listed.functions.is_empty()) {
            // Neither erases a snapshot nor becomes the first one; what waits goes on waiting.
            write.note(&key, node, report, Some((&listed, false)), None).await?;
            return write.answer(false, BTreeMap::new()).await;
        }
        let first = !state.snapshot;
        let mut held = BTreeMap::new();
        if first {
            let moved = write.is_pinned(&key, &report.tool).await?;
            if let Some(endpoint) = endpoint {
                write.set_pin(&key, &report.tool, endpoint).await?;
            }
            held = write.held_back(&version, &report.tool, &listed.functions, moved).await?;
            write.take_snapshot(&version, node, report, &listed, &held).await?;
        }
        write.note(&key, node, report, Some((&listed, true)), None).await?;
        let verdicts = write.compare(&state, node, report, &listed, &held).await?;
        if first {
            write.claim_names(&key.plugin).await?;
        }
        write.answer(first, verdicts).await
    }
}

/// The version that the report is about, if it is still what that node runs: one that goes on with another version, in the place of
/// a candidate or of an installed one that does not start there, says what it lists as well.
async fn current(write: &mut Write<'_>, node: &NodeName, report: &Report) -> Answer<Version> {
    let stale = |what: String| {
        Problem::new(Code::Stale, what).hint("poll again: the plugin set is another one now")
    };
    let version = called_of(write.conn(), &report.plugin)
        .await?
        .into_iter()
        .find(|version| version.description.version == report.version)
        .filter(|version| version.may_run_on(node))
        .ok_or_else(|| {
            stale(format!("{} {} is not what nodes run now", report.plugin, report.version))
        })?;
    if version.description.digest != report.digest {
        return Err(stale(format!(
            "{} {} has other files now than those that were listed",
            report.plugin, report.version
        ))
        .into());
    }
    let Some(tool) = version.description.tools.get(&report.tool) else {
        return Err(stale(format!(
            "{} {} has no tool {}",
            report.plugin, report.version, report.tool
        ))
        .into());
    };
    if tool.endpoint() != report.endpoint.as_ref() {
        return Err(
            stale(format!("the report on {} is about another endpoint", report.tool)).into()
        );
    }
    Ok(version)
}

fn subject(key: &VersionKey, report: &Report) -> AuditSubject {
    AuditSubject {
        plugin: Some(key.plugin.clone()),
        version: Some(key.version.clone()),
        tool: Some(report.tool.clone()),
        ..AuditSubject::default()
    }
}

impl Write<'_> {
    /// Keeps what a node says of a tool, for people. `compared` says whether this listing is held
    /// against the snapshot.
    async fn note(
        &mut self,
        key: &VersionKey,
        node: &NodeName,
        report: &Report,
        listed: Option<(&Read, bool)>,
        failure: Option<&str>,
    ) -> Result<(), StoreError> {
        let (functions, left_out, uncallable, compared) = match listed {
            Some((read, compared)) => {
                let functions: Vec<&FunctionId> = read.functions.keys().collect();
                (
                    to_json(&functions)?,
                    to_json(&read.left_out)?,
                    to_json(&read.uncallable)?,
                    compared,
                )
            }
            None => ("[]".to_owned(), "[]".to_owned(), "{}".to_owned(), false),
        };
        let goes_on = match &report.outcome {
            Listed::Failed { goes_on, .. } => goes_on.as_ref().map(PluginVersion::as_str),
            Listed::Complete { .. } => None,
        };
        let now = self.now;
        query(
            "INSERT INTO tool_nodes (plugin, version, tool, node, at, compared, functions,
             left_out, failure, uncallable, goes_on)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
             ON CONFLICT (plugin, version, tool, node) DO UPDATE SET at = excluded.at,
             compared = CASE WHEN excluded.compared = 1 THEN 1 ELSE tool_nodes.compared END,
             functions = excluded.functions, left_out = excluded.left_out,
             failure = excluded.failure, uncallable = excluded.uncallable,
             goes_on = excluded.goes_on",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(report.tool.as_str())
        .bind(node.as_str())
        .bind(now.0)
        .bind(i64::from(compared))
        .bind(functions)
        .bind(left_out)
        .bind(failure)
        .bind(uncallable)
        .bind(goes_on)
        .execute(self.conn())
        .await?;
        self.wakes = true;
        Ok(())
    }

    /// Marks the tool's snapshot as taken, and says where it differs from the measured listing.
    async fn take_snapshot(
        &mut self,
        version: &Version,
        node: &NodeName,
        report: &Report,
        listed: &Read,
        held: &BTreeMap<FunctionId, Held>,
    ) -> Result<(), StoreError> {
        let key = version.key();
        let now = self.now;
        // The condition is what makes it once, also where two edges share a store.
        let taken = query(
            "INSERT INTO tools (plugin, version, tool, snapshot_at, snapshot_node)
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (plugin, version, tool) DO UPDATE SET
             snapshot_at = excluded.snapshot_at, snapshot_node = excluded.snapshot_node
             WHERE tools.snapshot_at IS NULL",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(report.tool.as_str())
        .bind(now.0)
        .bind(node.as_str())
        .execute(self.conn())
        .await?;
        if taken.rows_affected() != 1 {
            return Err(StoreError::Row(format!("two first snapshots of {}", report.tool)));
        }
        let hashes: BTreeMap<FunctionId, Option<String>> = listed
            .functions
            .iter()
            .map(|(id, listing)| (id.clone(), Some(listing.hash().to_string())))
            .collect();
        // Of what waited in another version, the snapshot has what was accepted there.
        let mut snapshot = hashes.clone();
        for (id, held) in held {
            match &held.accepted {
                Some(listing) => snapshot.insert(id.clone(), Some(listing.hash().to_string())),
                None => snapshot.remove(id),
            };
        }
        let waiting: Vec<&str> = held.keys().map(FunctionId::as_str).collect();
        let detail = Some(("waits_from_before".to_owned(), waiting.join(" ")))
            .filter(|_| !waiting.is_empty())
            .into_iter()
            .collect();
        self.audit(Act {
            action: "plugin.tools.snapshot",
            subject: AuditSubject {
                node: Some(node.clone()),
                functions: snapshot,
                detail,
                ..subject(&key, report)
            },
        })
        .await?;

        let Some(measured) = &version.description.measured else { return Ok(()) };
        // A remote tool is never dialled to be measured, so there is nothing that it differs from.
        if version.description.tools[&report.tool].endpoint().is_some() {
            return Ok(());
        }
        let mut differing: BTreeMap<FunctionId, Option<String>> = hashes;
        for function in measured.iter().filter(|function| function.id.tool() == report.tool) {
            match differing.get(&function.id) {
                Some(Some(hash)) if *hash == function.hash.to_string() => {
                    differing.remove(&function.id);
                }
                Some(_) => {}
                None => {
                    differing.insert(function.id.clone(), None);
                }
            }
        }
        if differing.is_empty() {
            return Ok(());
        }
        for id in differing.keys() {
            query(
                "INSERT INTO mismatches (plugin, version, function) VALUES ($1, $2, $3)
                 ON CONFLICT (plugin, version, function) DO NOTHING",
            )
            .bind(key.plugin.as_str())
            .bind(key.version.as_str())
            .bind(id.as_str())
            .execute(self.conn())
            .await?;
        }
        self.audit(Act {
            action: "plugin.tools.listing_mismatch",
            subject: AuditSubject {
                node: Some(node.clone()),
                functions: differing,
                ..subject(&key, report)
            },
        })
        .await
    }

    /// Steps every function of the tool, and writes down what came of it.
    async fn compare(
        &mut self,
        state: &ToolState,
        node: &NodeName,
        report: &Report,
        listed: &Read,
        held: &BTreeMap<FunctionId, Held>,
    ) -> Result<BTreeMap<FunctionId, Verdict>, StoreError> {
        let nodes = match &state.narrow {
            Some(narrow) => narrow.witnesses.clone(),
            None => self.alive().await?,
        };
        let live = |name: &NodeName| name == node || nodes.contains(name);
        let ids: BTreeSet<FunctionId> =
            state.known().chain(listed.functions.keys()).cloned().collect();
        let mut verdicts = BTreeMap::new();
        let mut acts = Acts::default();
        for id in ids {
            let listing = listed.functions.get(&id);
            let value = listing.map_or(Value::Absent, |listing| Value::Listed(listing.hash()));
            let before =
                held.get(&id).map_or_else(|| state.function(&id), |held| held.function(node));
            let event = if state.snapshot {
                Event::Listing { node: node.clone(), value }
            } else {
                Event::Snapshot { node: node.clone(), value }
            };
            let Ok(after) = before.step(event, live) else { continue };
            let mut listings = BTreeMap::new();
            if let Some(listing) = held.get(&id).and_then(|held| held.accepted.clone()) {
                listings.insert(Value::Listed(listing.hash()), listing);
            }
            if let Some(listing) = listing {
                listings.insert(value, listing.clone());
            }
            self.add_waiting(&state.key, &id, &after, &mut listings).await?;
            let moved = self.store_function(state, &id, &after, &listings, None).await?;
            verdicts.insert(id.clone(), verdict(&state.key, &id, &after, value));
            if moved.is_flip() && !self.is_told(&state.key, &id, node, value).await? {
                acts.add(&id, moved.untold());
            } else {
                acts.add(&id, moved);
            }
        }
        for act in acts.into_entries(&subject(&state.key, report), Some(node)) {
            self.audit(act).await?;
        }
        Ok(verdicts)
    }

    /// Adds the texts of what waits already: a state that is stored names them by hash.
    async fn add_waiting(
        &mut self,
        key: &VersionKey,
        id: &FunctionId,
        after: &Function,
        listings: &mut BTreeMap<Value, Listing>,
    ) -> Result<(), StoreError> {
        if after
            .waiting()
            .keys()
            .all(|value| *value == Value::Absent || listings.contains_key(value))
        {
            return Ok(());
        }
        let rows: Vec<(String, Option<String>)> = query_as(
            "SELECT value, listing FROM changes
             WHERE plugin = $1 AND version = $2 AND function = $3",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(id.as_str())
        .fetch_all(self.conn())
        .await?;
        for (value, listing) in rows {
            let value = parse(&value)?;
            if let Some(listing) = stored_listing(value, listing.as_deref())? {
                listings.entry(value).or_insert(listing);
            }
        }
        Ok(())
    }

    async fn answer(
        mut self,
        snapshot: bool,
        functions: BTreeMap<FunctionId, Verdict>,
    ) -> Answer<Verdicts> {
        let revision = match self.revision {
            Some(revision) => revision,
            None => super::poll::current(self.conn()).await?,
        };
        self.commit().await?;
        Ok(Verdicts { snapshot, revision, functions, endpoint: None })
    }
}

fn verdict(key: &VersionKey, id: &FunctionId, after: &Function, value: Value) -> Verdict {
    match after.kind(value) {
        Some(kind) => Verdict::Waiting { change: change_id(key, id, value), kind },
        None if after.accepted().is_empty() => Verdict::NoSnapshot,
        None => Verdict::Accepted,
    }
}

/// What a report's steps moved, gathered into one entry for each kind of act.
#[derive(Default)]
pub(super) struct Acts {
    changed: BTreeMap<FunctionId, Option<String>>,
    reverted: BTreeMap<FunctionId, Option<String>>,
    dropped: Vec<(FunctionId, Value)>,
}

/// A value as an entry names it.
pub(super) fn hash(value: Value) -> Option<String> {
    match value {
        Value::Absent => None,
        Value::Listed(hash) => Some(hash.to_string()),
    }
}

impl Acts {
    pub(super) fn add(&mut self, id: &FunctionId, moved: Moved) {
        for (value, _) in moved.opened {
            self.changed.insert(id.clone(), hash(value));
        }
        for (value, outcome) in moved.closed {
            if outcome == Outcome::Reverted {
                self.reverted.insert(id.clone(), hash(value));
            }
        }
        self.dropped.extend(
            moved.dropped.into_iter().filter(|v| *v != Value::Absent).map(|v| (id.clone(), v)),
        );
    }

    /// One entry a kind of act. `node` is whose listing it was, none for an approval.
    pub(super) fn into_entries(self, subject: &AuditSubject, node: Option<&NodeName>) -> Vec<Act> {
        let entry = |action, functions: BTreeMap<FunctionId, Option<String>>| Act {
            action,
            subject: AuditSubject { node: node.cloned(), functions, ..subject.clone() },
        };
        let mut entries: Vec<Act> =
            [("plugin.tools.changed", self.changed), ("plugin.tools.reverted", self.reverted)]
                .into_iter()
                .filter(|(_, functions)| !functions.is_empty())
                .map(|(action, functions)| entry(action, functions))
                .collect();
        // A function can lose several hashes at once, and an entry has one of each.
        for (id, value) in self.dropped {
            entries.push(entry("plugin.tools.drop", BTreeMap::from([(id, hash(value))])));
        }
        entries
    }
}
