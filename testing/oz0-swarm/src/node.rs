//! One node: its polls, its reports, its calls.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use oz0_api::call::JobResult;
use oz0_api::node::{Head, Job, Outcome, Poll, PollQuery, Report};
use oz0_api::plugin::{PluginDescription, Source};
use oz0_api::{Client, ClientError, Code, EdgeId, NodeName, PluginName, PluginVersion, Revision};
use oz0_listing::{Digest, FunctionId, ListingHash, ToolId};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::world::{Made, Tool, World, listing};

/// Before an edge that did not answer is asked again, as a node waits: the first wait, and the longest.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_millis(500);
/// Before a report is sent again.
const REPORT_WAIT: Duration = Duration::from_millis(500);

/// What a node holds.
#[derive(Debug, Clone, Default)]
pub struct View {
    edge: Option<EdgeId>,
    head: Option<Head>,
    plugins_revision: Revision,
    policy: Revision,
    credentials: Revision,
    /// How far it has come.
    pub revision: Revision,
    /// What it is to run.
    pub plugins: BTreeMap<PluginName, Arc<PluginDescription>>,
    /// What is accepted.
    pub accepted:
        BTreeMap<(PluginName, PluginVersion), BTreeMap<FunctionId, BTreeSet<ListingHash>>>,
    /// What the edge has taken of each tool's listing.
    pub told: BTreeMap<ToolId, Arc<Tool>>,
    /// Answers to polls.
    pub polls: u64,
    /// Times that it was told to forget what it held.
    pub resets: u64,
    /// Times that it was told of an earlier state than it held, and not to forget.
    pub went_back: u64,
}

impl View {
    /// Whether a function that says this is accepted in the version that it runs.
    pub fn accepts(&self, function: &FunctionId, text: &str) -> bool {
        let hash = listing(function.function(), text).hash();
        self.accepts_hash(function, hash)
    }

    /// The same for whoever knows the hash.
    pub fn accepts_hash(&self, function: &FunctionId, hash: ListingHash) -> bool {
        self.plugins.values().any(|own| {
            own.tools.contains_key(&function.tool())
                && self
                    .accepted
                    .get(&(own.name.clone(), own.version.clone()))
                    .and_then(|functions| functions.get(function))
                    .is_some_and(|hashes| hashes.contains(&hash))
        })
    }

    fn query(&self) -> PollQuery {
        PollQuery {
            edge: self.edge.clone(),
            plugins: self.plugins_revision,
            decisions: self.revision,
            policy: self.policy,
            credentials: self.credentials,
            head: self.head.clone(),
            wait: None,
            jobs: true,
            tier: Some(1),
            version: None,
            reason: None,
        }
    }

    fn apply(&mut self, poll: &Poll) {
        self.polls += 1;
        if poll.reset {
            self.resets += 1;
            self.plugins.clear();
            self.accepted.clear();
            self.told.clear();
        } else if poll.decisions.revision < self.revision {
            self.went_back += 1;
        }
        self.edge = Some(poll.edge.clone());
        self.head.clone_from(&poll.head);
        self.plugins_revision = poll.plugins.revision;
        self.revision = poll.decisions.revision;
        if let Some(policy) = &poll.policy {
            self.policy = policy.revision;
        }
        if let Some(credentials) = &poll.credentials {
            self.credentials = credentials.revision;
        }
        for assignment in &poll.plugins.changed {
            let key = (assignment.plugin.clone(), assignment.version.clone());
            match &assignment.description {
                Some(description) => {
                    let new = Arc::new(description.clone());
                    let old = self.plugins.insert(assignment.plugin.clone(), new);
                    // Another version's servers are others, which have told nothing yet.
                    if old.is_some_and(|old| old.version != assignment.version) {
                        self.told.retain(|tool, _| !description.tools.contains_key(tool));
                    }
                }
                None => {
                    self.accepted.remove(&key);
                    let own = self.plugins.get(&assignment.plugin);
                    if own.is_some_and(|own| own.version == assignment.version) {
                        let own = self.plugins.remove(&assignment.plugin);
                        let gone = own.map(|own| own.tools.clone()).unwrap_or_default();
                        self.told.retain(|tool, _| !gone.contains_key(tool));
                    }
                }
            }
        }
        for decision in &poll.decisions.changed {
            let key = (decision.plugin.clone(), decision.version.clone());
            let hashes = decision.accepted.iter().map(|accepted| accepted.hash).collect();
            self.accepted.entry(key).or_default().insert(decision.function.clone(), hashes);
        }
    }
}

/// A node that runs, until it is dropped.
pub struct Node {
    name: NodeName,
    view: watch::Sender<View>,
    cut: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Node {
    pub(crate) fn start(name: NodeName, edges: Vec<Client>, world: World) -> Self {
        let (view, cut) = (watch::Sender::new(View::default()), crate::flag());
        let tied = Arc::new(Tied {
            name: name.clone(),
            edges,
            at: AtomicUsize::new(0),
            world,
            view: view.clone(),
            cut: cut.clone(),
        });
        let tasks =
            vec![tokio::spawn(Arc::clone(&tied).poll()), tokio::spawn(Arc::clone(&tied).report())];
        Self { name, view, cut, tasks }
    }

    /// Its name.
    pub fn name(&self) -> &NodeName {
        &self.name
    }

    /// What it holds now.
    pub fn view(&self) -> View {
        self.view.borrow().clone()
    }

    /// What it holds, from now on.
    pub fn views(&self) -> watch::Receiver<View> {
        self.view.subscribe()
    }

    /// Cuts it off: its connections are closed, and no other one comes to be. Or lets it go on.
    pub fn cut(&self, off: bool) {
        self.cut.send_replace(off);
    }
}

/// A node, as its tasks have it.
struct Tied {
    name: NodeName,
    edges: Vec<Client>,
    /// Which of them it speaks to.
    at: AtomicUsize,
    world: World,
    view: watch::Sender<View>,
    cut: watch::Sender<bool>,
}

impl Tied {
    fn edge(&self) -> &Client {
        &self.edges[self.at.load(Ordering::Relaxed) % self.edges.len()]
    }

    /// Asks its edge, if it can be reached; none where it was cut off in between.
    async fn ask<T>(
        &self,
        asks: impl AsyncFnOnce(&Client) -> Result<T, ClientError>,
    ) -> Option<Result<T, ClientError>> {
        let mut cut = self.cut.subscribe();
        let off = async { drop(cut.wait_for(|cut| *cut).await) };
        tokio::select! {
            biased;
            () = off => None,
            answer = asks(self.edge()) => Some(answer),
        }
    }

    /// Waits until it is not cut off.
    async fn joined_up(&self) {
        let _ = self.cut.subscribe().wait_for(|cut| !cut).await;
    }

    async fn poll(self: Arc<Self>) {
        let mut wait = FIRST_WAIT;
        loop {
            self.joined_up().await;
            let query = self.view.borrow().query();
            match self.ask(async |edge| edge.poll(&query).await).await {
                Some(Ok(poll)) => {
                    wait = FIRST_WAIT;
                    self.view.send_modify(|view| view.apply(&poll));
                    for job in poll.jobs {
                        tokio::spawn(Arc::clone(&self).run(job));
                    }
                }
                Some(Err(_)) => {
                    self.at.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(LONGEST_WAIT);
                }
                None => {}
            }
        }
    }

    /// Reports what its servers list, again and again until it is told.
    async fn report(self: Arc<Self>) {
        let mut views = self.view.subscribe();
        let mut listed = self.world.listed();
        let mut fetched: BTreeSet<Digest> = BTreeSet::new();
        loop {
            self.joined_up().await;
            let next = {
                let (view, listed) = (views.borrow_and_update(), listed.borrow_and_update());
                untold(&view, &listed)
            };
            let Some((own, tool, functions)) = next else {
                tokio::select! {
                    changed = views.changed() => if changed.is_err() { return },
                    changed = listed.changed() => if changed.is_err() { return },
                }
                continue;
            };
            let bundle = own.source == Source::Bundle && self.world.fetches;
            if bundle && !fetched.contains(&own.digest) {
                match self.ask(async |edge| edge.bundle(own.digest).await).await {
                    Some(Ok(_)) => fetched.insert(own.digest),
                    Some(Err(_)) => {
                        tokio::time::sleep(FIRST_WAIT).await;
                        continue;
                    }
                    None => continue,
                };
            }
            let report = Report {
                plugin: own.name.clone(),
                version: own.version.clone(),
                digest: own.digest,
                endpoint: own.tools.get(&tool).and_then(|tool| tool.endpoint().cloned()),
                outcome: Outcome::Complete {
                    functions: functions.reported.clone(),
                    left_out: Vec::new(),
                },
                tool: tool.clone(),
            };
            match self.ask(async |edge| edge.report(&report).await).await {
                Some(Ok(_)) => {
                    self.view.send_modify(|view| {
                        if view.plugins.get(&own.name).is_some_and(|now| now.version == own.version)
                        {
                            view.told.insert(tool, functions);
                        }
                    });
                }
                // A plugin set that the edge no longer has: another is on its way.
                Some(Err(error)) if error.code() == Some(Code::Stale) => {
                    let _ = tokio::time::timeout(REPORT_WAIT, views.changed()).await;
                }
                Some(Err(_)) => tokio::time::sleep(FIRST_WAIT).await,
                None => {}
            }
        }
    }

    /// Runs a call that the edge handed out, if what its server lists is accepted, and answers.
    async fn run(self: Arc<Self>, job: Job) {
        let limit = Duration::from_millis(job.timeout_ms);
        let mut views = self.view.subscribe();
        let reached = views.wait_for(|view| view.revision >= job.revision);
        let came = tokio::time::timeout(limit, reached).await;
        if !matches!(came, Ok(Ok(_))) {
            return;
        }
        drop(came);
        let says = self.world.says(&job.function);
        let accepted =
            says.as_ref().is_some_and(|text| self.view.borrow().accepts(&job.function, text));
        let result = match says.filter(|_| accepted) {
            Some(text) => {
                let arguments =
                    serde_json::from_str(job.arguments.get()).expect("arguments are JSON");
                self.world.make(Made {
                    node: self.name.clone(),
                    function: job.function.clone(),
                    arguments,
                    text,
                });
                json!({"content": [], "structuredContent": {"node": self.name}})
            }
            None => {
                let text = format!("{} lists itself differently", job.function);
                json!({"content": [{"type": "text", "text": text}], "isError": true})
            }
        };
        let result = RawValue::from_string(result.to_string()).expect("it is JSON");
        let result = JobResult::Result(result);
        let _ = self.ask(async |edge| edge.answer(&job.id, &result).await).await;
    }
}

/// A tool whose listing the edge does not have, with what it lists.
type Untold = (Arc<PluginDescription>, ToolId, Arc<Tool>);

fn untold(view: &View, listed: &crate::world::Listed) -> Option<Untold> {
    view.plugins.values().find_map(|own| {
        own.tools.keys().find_map(|tool| {
            let functions = listed.get(tool)?;
            let is_told = view.told.get(tool).is_some_and(|told| Arc::ptr_eq(told, functions));
            (!is_told).then(|| (Arc::clone(own), tool.clone(), Arc::clone(functions)))
        })
    })
}
