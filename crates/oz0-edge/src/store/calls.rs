//! Asked calls: a queue in the store, from which each call is taken at most once.
//!
//! A call is taken in a transaction that ends before the node is answered. A node that dies, or an
//! answer that is lost, then loses the call; it is never run twice. Whoever asked is told that it
//! is not known whether it ran.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use oz0_api::audit::AuditSubject;
use oz0_api::call::{Ask, Call, CallState, JobResult};
use oz0_api::node::Job;
use oz0_api::plugin::VersionState;
use oz0_api::{CallId, Code, NodeName, Problem};
use oz0_listing::FunctionId;
use serde_json::value::RawValue;

use super::db::{query, query_as, query_scalar};
use super::functions::VersionKey;
use super::versions::{Version, all_called};
use super::{
    Act, Actor, Answer, Store, StoreError, Write, approvals, parse, parse_json, poll, random,
    steady, to_json,
};

/// How long a call is waited for when nobody says.
const TIMEOUT: u64 = 60_000;

/// How long a call is waited for at most.
const LONGEST: u64 = 600_000;

/// How long a call that ended is kept.
const KEPT: Duration = Duration::from_mins(10);

/// Calls that wait for one node, at most.
const WAITING: i64 = 1_000;

type Row = (String, String, String, i64, Option<String>, Option<String>);

fn state_of(text: &str) -> Result<CallState, StoreError> {
    [CallState::Waiting, CallState::Running, CallState::Done, CallState::Failed]
        .into_iter()
        .find(|state| state.as_str() == text)
        .ok_or_else(|| StoreError::Row(format!("`{text}` as the state of a call")))
}

impl Store {
    /// Queues a call for a node that runs its function.
    pub(crate) async fn ask(&self, actor: &Actor, ask: &Ask) -> Answer<Call> {
        if !ask.arguments.get().trim_start().starts_with('{') {
            return Err(
                Problem::new(Code::Malformed, "a call's arguments must be a JSON object").into()
            );
        }
        let timeout = ask.timeout_ms.unwrap_or(TIMEOUT).min(LONGEST);
        let mut write = self.write(actor).await?;
        let (key, node) = write.node_for(ask).await?;
        let accepted = write.accepted_for(&key, &ask.function, &node).await?;
        let waiting: i64 = query_scalar(
            "SELECT COUNT(*) FROM calls WHERE node = $1 AND state = 'waiting' AND expires_at > $2",
        )
        .bind(node.as_str())
        .bind(steady().0)
        .fetch_one(write.conn())
        .await?;
        if waiting >= WAITING {
            return Err(Problem::new(
                Code::Unavailable,
                format!("{WAITING} calls wait for {node} already"),
            )
            .into());
        }
        let id = CallId::from_random(random()?);
        let (now, kept) = (steady().0, i64::try_from(KEPT.as_millis()).unwrap_or(i64::MAX));
        query("DELETE FROM calls WHERE ended_at < $1 OR expires_at < $1")
            .bind(now - kept)
            .execute(write.conn())
            .await?;
        query(
            "INSERT INTO calls (id, function, arguments, node, state, asked_at, expires_at, patient)
             VALUES ($1, $2, $3, $4, 'waiting', $5, $6, $7)",
        )
        .bind(id.as_str())
        .bind(ask.function.as_str())
        .bind(ask.arguments.get())
        .bind(node.as_str())
        .bind(now)
        .bind(now.saturating_add(i64::try_from(timeout).unwrap_or(i64::MAX)))
        .bind(i64::from(ask.timeout_ms.is_none()))
        .execute(write.conn())
        .await?;
        write
            .audit(Act {
                action: "call.ask",
                subject: AuditSubject {
                    node: Some(node.clone()),
                    tool: Some(ask.function.tool()),
                    functions: BTreeMap::from([(ask.function.clone(), accepted)]),
                    detail: BTreeMap::from([("call".to_owned(), id.to_string())]),
                    ..AuditSubject::default()
                },
            })
            .await?;
        write.commit().await?;
        Ok(Call {
            id,
            function: ask.function.clone(),
            state: CallState::Waiting,
            node: Some(node),
            approval: None,
            result: None,
            problem: None,
        })
    }

    /// Takes the calls that wait for a node; each is handed out this once.
    pub(crate) async fn take_jobs(&self, node: &NodeName) -> Answer<Vec<Job>> {
        let waiting: i64 = {
            let mut tx = self.read().await?;
            // Nothing is handed to a node that has said that it ends.
            query_scalar(
                "SELECT COUNT(*) FROM calls c JOIN nodes n ON n.node = c.node
                 WHERE c.node = $1 AND c.state = 'waiting' AND n.presence <> 'left'",
            )
            .bind(node.as_str())
            .fetch_one(&mut tx)
            .await?
        };
        if waiting == 0 {
            return Ok(Vec::new());
        }
        let mut write = self.write(&Actor::Node(node.clone())).await?;
        let now = steady().0;
        let rows: Vec<(String, String, String, i64, i64)> = query_as(
            "UPDATE calls SET state = 'running'
             WHERE node = $1 AND state = 'waiting' AND expires_at > $2
             AND EXISTS (SELECT n.node FROM nodes n WHERE n.node = $1 AND n.presence <> 'left')
             RETURNING id, function, arguments, expires_at, patient",
        )
        .bind(node.as_str())
        .bind(now)
        .fetch_all(write.conn())
        .await?;
        let revision = poll::current(write.conn()).await?;
        write.commit().await?;
        rows.into_iter()
            .map(|(id, function, arguments, expires_at, patient)| {
                Ok(Job {
                    id: parse(&id)?,
                    function: parse(&function)?,
                    arguments: RawValue::from_string(arguments)
                        .map_err(|error| StoreError::Row(error.to_string()))?,
                    timeout_ms: u64::try_from(expires_at - now).unwrap_or(0),
                    patient: patient != 0,
                    revision,
                })
            })
            .collect()
    }

    /// Takes a node's answer to a job.
    pub(crate) async fn answer(
        &self,
        node: &NodeName,
        id: &CallId,
        result: &JobResult,
    ) -> Answer<()> {
        let mut write = self.write(&Actor::Node(node.clone())).await?;
        let (state, result, problem) = match result {
            JobResult::Result(result) => (CallState::Done, Some(result.get()), None),
            JobResult::Problem(problem) => (CallState::Failed, None, Some(to_json(problem)?)),
        };
        let taken = query(
            "UPDATE calls SET state = $1, result = $2, problem = $3, ended_at = $4, arguments = ''
             WHERE id = $5 AND node = $6 AND state = 'running' AND expires_at > $4",
        )
        .bind(state.as_str())
        .bind(result)
        .bind(problem)
        .bind(steady().0)
        .bind(id.as_str())
        .bind(node.as_str())
        .execute(write.conn())
        .await?;
        if taken.rows_affected() == 0 {
            return Err(Problem::new(
                Code::Stale,
                format!("call {id} is not one that {node} runs and somebody waits for"),
            )
            .into());
        }
        write.wakes = true;
        write.commit().await?;
        Ok(())
    }

    /// How far a call has come, and how long it may still take.
    pub(crate) async fn asked(&self, id: &CallId) -> Answer<(Call, Duration)> {
        let row = self.call_row(id).await?;
        let left = row.3.saturating_sub(steady().0);
        let mut call = read(id, row)?;
        if call.state == CallState::Running {
            let mut tx = self.read().await?;
            call.approval = approvals::pending_of(&mut tx, id).await?;
        }
        if call.state.is_final() || left > 0 {
            return Ok((call, Duration::from_millis(u64::try_from(left).unwrap_or(0))));
        }
        self.expire(id, &call).await?;
        Ok((read(id, self.call_row(id).await?)?, Duration::ZERO))
    }

    /// Offers a call that its node has not taken to another node that lists its function, one that polls now before one
    /// that is only believed to be there. Whether there was one.
    pub(crate) async fn offer_elsewhere(&self, id: &CallId) -> Answer<bool> {
        let mut write = self.write(&Actor::Edge).await?;
        let row: Option<(String, String)> =
            query_as("SELECT function, node FROM calls WHERE id = $1 AND state = 'waiting'")
                .bind(id.as_str())
                .fetch_optional(write.conn())
                .await?;
        let Some((function, before)) = row else { return Ok(false) };
        let function: FunctionId = parse(&function)?;
        let before: NodeName = parse(&before)?;
        let Hosts { mut listing, polling, .. } = write.hosts(&function).await?;
        listing.remove(&before);
        // Each in its turn where nobody polls.
        let next = listing
            .iter()
            .find(|node| polling.contains(*node))
            .or_else(|| listing.iter().find(|node| **node > before))
            .or_else(|| listing.first());
        let Some(next) = next else { return Ok(false) };
        query("UPDATE calls SET node = $1 WHERE id = $2 AND state = 'waiting'")
            .bind(next.as_str())
            .bind(id.as_str())
            .execute(write.conn())
            .await?;
        write.wakes = true;
        write.commit().await?;
        Ok(true)
    }

    async fn call_row(&self, id: &CallId) -> Answer<Row> {
        let mut tx = self.read().await?;
        let row: Option<Row> = query_as(
            "SELECT function, node, state, expires_at, result, problem FROM calls WHERE id = $1",
        )
        .bind(id.as_str())
        .fetch_optional(&mut tx)
        .await?;
        row.ok_or_else(|| {
            Problem::new(Code::NotFound, format!("there is no call {id}"))
                .hint("a call is kept for ten minutes after its end")
                .into()
        })
    }

    async fn expire(&self, id: &CallId, call: &Call) -> Answer<()> {
        let node = call.node.as_ref().map(ToString::to_string).unwrap_or_default();
        let problem = match call.state {
            _ if call.approval.is_some() => Problem::new(
                Code::TimedOut,
                format!(
                    "nobody decided about the call of {} in time; it was not run",
                    call.function
                ),
            )
            .hint("without --timeout it waits for as long as a person may take"),
            CallState::Waiting => Problem::new(
                Code::TimedOut,
                format!(
                    "{node} did not take the call of {} in time; it was not run",
                    call.function
                ),
            ),
            _ => Problem::new(
                Code::TimedOut,
                format!(
                    "{node} did not answer the call of {} in time; it may have run",
                    call.function
                ),
            ),
        };
        let mut write = self.write(&Actor::Edge).await?;
        query(
            "UPDATE calls SET state = 'failed', problem = $1, ended_at = $2, arguments = ''
             WHERE id = $3 AND state = $4 AND expires_at <= $2",
        )
        .bind(to_json(&problem)?)
        .bind(steady().0)
        .bind(id.as_str())
        .bind(call.state.as_str())
        .execute(write.conn())
        .await?;
        write.wakes = true;
        write.commit().await?;
        Ok(())
    }
}

/// Who could run a function.
struct Hosts {
    /// The versions that have it, a candidate first.
    versions: Vec<Version>,
    /// The nodes that are there.
    alive: BTreeSet<NodeName>,
    /// Those of them that list it as accepted.
    listing: BTreeSet<NodeName>,
    /// Those of them that poll now.
    polling: BTreeSet<NodeName>,
}

impl Hosts {
    /// The version that a node runs, of those that have the function.
    fn version_on(&self, node: &NodeName) -> Option<VersionKey> {
        let find = |runs: &dyn Fn(&Version) -> bool| self.versions.iter().find(|own| runs(own));
        find(&|version| version.is_offered_to(node))
            .or_else(|| find(&|version| version.is_kept_on(node)))
            .or_else(|| find(&|version| version.state == VersionState::Installed))
            .or(self.versions.first())
            .map(Version::key)
    }
}

fn no_tool(function: &FunctionId) -> Problem {
    let what = format!("no installed plugin has a tool `{}`", function.tool());
    Problem::new(Code::NotFound, what).hint("`oz0 catalog` shows what can be called")
}

fn read(id: &CallId, row: Row) -> Result<Call, StoreError> {
    let (function, node, state, _, result, problem) = row;
    Ok(Call {
        id: id.clone(),
        function: parse(&function)?,
        state: state_of(&state)?,
        node: Some(parse(&node)?),
        approval: None,
        result: result
            .map(RawValue::from_string)
            .transpose()
            .map_err(|error| StoreError::Row(error.to_string()))?,
        problem: problem.as_deref().map(parse_json).transpose()?,
    })
}

impl Write<'_> {
    /// The node that is to run a call: one that is alive, and lists the function as accepted if
    /// any does.
    async fn node_for(&mut self, ask: &Ask) -> Answer<(VersionKey, NodeName)> {
        let function = &ask.function;
        let hosts = self.hosts(function).await?;
        let Hosts { alive, listing, polling, .. } = &hosts;
        let on = |node: &NodeName| {
            let key = hosts.version_on(node).ok_or_else(|| no_tool(function))?;
            Ok((key, node.clone()))
        };
        if let Some(node) = &ask.node {
            if alive.contains(node) {
                return on(node);
            }
            return Err(Problem::new(
                Code::Unavailable,
                format!("no node named {node} is there now"),
            )
            .into());
        }
        // A node that polls now is there; of another it is only believed, and between two polls true.
        let there = |node: &&NodeName| polling.contains(*node);
        let node = listing
            .iter()
            .find(there)
            .or_else(|| listing.first())
            .or_else(|| alive.iter().find(there))
            .or_else(|| alive.first())
            .ok_or_else(|| {
                Problem::new(Code::Unavailable, format!("no node is there to call {function}"))
                    .hint("`oz0 node list` shows the nodes")
            })?;
        on(node)
    }

    /// Who could run a function.
    async fn hosts(&mut self, function: &FunctionId) -> Answer<Hosts> {
        let mut versions = all_called(self.conn()).await?;
        let tool = function.tool();
        versions.retain(|version| version.description.tools.contains_key(&tool));
        versions.reverse();
        if versions.is_empty() {
            return Err(no_tool(function).into());
        }
        let (store, now) = (self.store, self.now);
        let mut alive = store.nodes_seen(self.conn(), now).await?;
        alive.retain(|_, seen| seen.live);
        let polling = alive.iter().filter(|(_, seen)| seen.polls).map(|(node, _)| node.clone());
        let polling = polling.collect();
        let alive: BTreeSet<NodeName> = alive.into_keys().collect();
        let mut lists = BTreeSet::new();
        for version in &versions {
            let nodes = self.listing_nodes(&version.key(), function).await?;
            lists.extend(nodes.into_iter().filter(|node| version.may_run_on(node)));
        }
        let listing = alive.intersection(&lists).cloned().collect();
        Ok(Hosts { versions, alive, listing, polling })
    }

    /// The hash that a function was accepted with, for the entry of a call: of several the one that the
    /// node lists, else the last; none of a function that nobody accepted.
    async fn accepted_for(
        &mut self,
        key: &VersionKey,
        function: &FunctionId,
        node: &NodeName,
    ) -> Result<Option<String>, StoreError> {
        Ok(query_scalar(
            "SELECT a.value FROM accepted a LEFT JOIN sightings s ON s.plugin = a.plugin
             AND s.version = a.version AND s.function = a.function AND s.value = a.value
             AND s.now = 1 AND s.node = $4
             WHERE a.plugin = $1 AND a.version = $2 AND a.function = $3 AND a.value <> 'absent'
             ORDER BY CASE WHEN s.node IS NULL THEN 1 ELSE 0 END, a.accept_rank DESC, a.value
             LIMIT 1",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(function.as_str())
        .bind(node.as_str())
        .fetch_optional(self.conn())
        .await?)
    }

    /// The nodes that list a function as accepted.
    async fn listing_nodes(
        &mut self,
        key: &VersionKey,
        function: &FunctionId,
    ) -> Result<BTreeSet<NodeName>, StoreError> {
        let rows: Vec<String> = query_scalar(
            "SELECT s.node FROM sightings s JOIN accepted a ON a.plugin = s.plugin
             AND a.version = s.version AND a.function = s.function AND a.value = s.value
             WHERE s.plugin = $1 AND s.version = $2 AND s.function = $3 AND s.now = 1
             AND s.value <> 'absent'",
        )
        .bind(key.plugin.as_str())
        .bind(key.version.as_str())
        .bind(function.as_str())
        .fetch_all(self.conn())
        .await?;
        rows.iter().map(|node| parse(node)).collect()
    }
}
