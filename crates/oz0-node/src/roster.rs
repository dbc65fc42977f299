//! What a node holds: the plugin set, the decisions, the servers; and the table that calls and listings look into.
//!
//! The table is made anew when any of it changes, and is then never written to: a call holds one for as long as it
//! looks, and waits for nobody.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use oz0_api::node::{Assignment, Decision, Poll, PollQuery};
use oz0_api::{Client as Edge, ClientError, Code, EdgeId, PluginName, PluginVersion, Revision};
use oz0_listing::{FunctionId, ListingHash, ModelName, ToolId};
use oz0_mcp::server::{Functions, Splice};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::event::Event;
use crate::host::Host;
use crate::options::Arguments;
use crate::refusal::{Refusal, Why};
use crate::schema::Schemas;
use crate::server::Server;

/// What a node holds.
pub(crate) struct Roster {
    pub(crate) host: Arc<Host>,
    edge: Edge,
    state: Mutex<State>,
    table: watch::Sender<Arc<Table>>,
    revision: watch::Sender<u64>,
    standing: Mutex<Standing>,
}

/// How this node stands with its edge.
#[derive(Clone, Default)]
enum Standing {
    /// The edge answers.
    #[default]
    Good,
    /// It has not answered since then, and this is why.
    Lost { since: Instant, reason: String },
    /// It does not take this node's token.
    Dismissed { reason: String },
    /// It answers that its store is not there any more. What it said may have been lost with it.
    OutOfService { reason: String },
}

#[derive(Default)]
struct State {
    edge: Option<EdgeId>,
    plugins: Revision,
    decisions_revision: Revision,
    assigned: BTreeMap<PluginName, Assigned>,
    decisions: BTreeMap<(PluginName, PluginVersion), BTreeMap<FunctionId, Decided>>,
    /// Servers that are on their way out.
    leaving: Vec<JoinHandle<()>>,
    closed: bool,
}

struct Assigned {
    assignment: Arc<Assignment>,
    tools: BTreeMap<ToolId, Tended>,
}

struct Tended {
    server: Arc<Server>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

struct Decided {
    accepted: Vec<Arc<Accepted>>,
    left_out_for: Option<FunctionId>,
}

/// An accepted listing.
pub(crate) struct Accepted {
    pub(crate) hash: ListingHash,
    /// What is served: the pinned listing with its overrides, under the server's name of the function.
    served: Option<Box<RawValue>>,
    /// The same as clients get it, under the model name.
    item: Option<Box<str>>,
    schemas: OnceLock<Schemas>,
}

impl Accepted {
    fn new(id: &FunctionId, hash: ListingHash, served: Option<Box<RawValue>>) -> Self {
        let item = served.as_ref().and_then(|served| item(id, served.get()));
        Self { hash, served, item, schemas: OnceLock::new() }
    }

    pub(crate) fn is_served(&self) -> bool {
        self.item.is_some()
    }

    /// Its schemas, compiled when they are first needed.
    pub(crate) fn schemas(&self, arguments: Arguments) -> &Schemas {
        self.schemas.get_or_init(|| {
            Schemas::of(self.served.as_ref().map_or("{}", |served| served.get()), arguments)
        })
    }
}

/// A function as an MCP client gets it: its listing under its model name. MCP wants an input schema of every function,
/// and a client refuses a whole listing for one without; where there is none, any object will do.
fn item(id: &FunctionId, served: &str) -> Option<Box<str>> {
    #[derive(Deserialize)]
    struct Parts<'a> {
        #[serde(borrow)]
        name: &'a RawValue,
        #[serde(borrow, rename = "inputSchema", default)]
        input: Option<&'a RawValue>,
    }
    let parts: Parts<'_> = serde_json::from_str(served).ok()?;
    let name = serde_json::Value::from(ModelName::of(id).as_str()).to_string();
    let mut splice = Splice::new(served);
    match parts.input {
        Some(input) if !input.get().starts_with('{') => return None,
        Some(_) => splice.replace_value(parts.name, name).ok()?,
        None => {
            let more = format!(r#"{name},"inputSchema":{{"type":"object"}}"#);
            splice.replace_value(parts.name, more).ok()?;
        }
    }
    Some(splice.apply().into())
}

/// A function that a call can name.
pub(crate) struct Entry {
    pub(crate) id: FunctionId,
    pub(crate) server: Arc<Server>,
    accepted: Vec<Arc<Accepted>>,
    left_out_for: Option<FunctionId>,
    /// Another function of the same plugin has the same model name.
    clashes: bool,
}

impl Entry {
    /// What is accepted with this hash.
    pub(crate) fn accepted(&self, hash: ListingHash) -> Option<&Arc<Accepted>> {
        self.accepted.iter().find(|accepted| accepted.hash == hash)
    }

    /// Whether it was ever accepted.
    pub(crate) fn is_known(&self) -> bool {
        !self.accepted.is_empty()
    }

    /// Why it is not called, whatever its server lists.
    pub(crate) fn barred(&self) -> Option<Why> {
        if self.server.moved {
            return Some(Why::Moved);
        }
        if self.clashes {
            return Some(Why::LeftOut);
        }
        self.left_out_for.clone().map(Why::NameTaken)
    }

    pub(crate) fn refusal(&self, why: Why) -> Refusal {
        Refusal {
            function: self.id.clone(),
            plugin: self.server.plugin.clone(),
            version: self.server.version.clone(),
            why,
        }
    }

    /// What clients see of it.
    fn shown(&self) -> Option<&str> {
        if self.barred().is_some() {
            return None;
        }
        let accepted = match self.server.last() {
            Some(listed) => self.accepted(listed.functions.get(&self.id)?.hash),
            // Nothing speaks against it yet, and no call goes through before something speaks for it.
            None => self.accepted.last(),
        };
        accepted?.item.as_deref()
    }
}

/// What is called and listed.
#[derive(Default)]
pub(crate) struct Table {
    functions: HashMap<Box<str>, Arc<Entry>>,
    servers: Vec<Arc<Server>>,
    pub(crate) visible: Arc<Functions>,
    /// Whether the edge's plugin set is here.
    pub(crate) complete: bool,
}

impl Table {
    /// The function of this model name.
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Entry>> {
        self.functions.get(name)
    }

    /// The servers whose functions can have this model name.
    pub(crate) fn servers_for(&self, name: &str) -> Vec<Arc<Server>> {
        let may = |server: &&Arc<Server>| {
            name.strip_prefix(server.tool.as_ref()).is_some_and(|rest| rest.starts_with("__"))
        };
        self.servers.iter().filter(may).cloned().collect()
    }
}

impl Roster {
    pub(crate) fn new(host: Arc<Host>, edge: Edge) -> Arc<Self> {
        Arc::new(Self {
            host,
            edge,
            state: Mutex::default(),
            table: watch::Sender::new(Arc::default()),
            revision: watch::Sender::new(0),
            standing: Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tell(&self, event: Event) {
        self.host.options.tell.event(event);
    }

    pub(crate) fn edge(&self) -> &Edge {
        &self.edge
    }

    pub(crate) fn table(&self) -> Arc<Table> {
        Arc::clone(&self.table.borrow())
    }

    pub(crate) fn tables(&self) -> watch::Receiver<Arc<Table>> {
        self.table.subscribe()
    }

    /// What rises whenever what clients see changes.
    pub(crate) fn revisions(&self) -> watch::Receiver<u64> {
        // A table and its revision are sent one after the other under this lock: somebody who has the table and asks
        // now must not be told of it as if it were to come.
        let _state = self.state();
        self.revision.subscribe()
    }

    fn standing(&self) -> Standing {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why nothing at all is called: the edge is lost for longer than this node goes on without it, or does not know
    /// it any more.
    pub(crate) fn cut_off(&self) -> Option<Why> {
        match self.standing() {
            Standing::Lost { since, .. } if since.elapsed() > self.host.options.edge_grace => {
                Some(Why::EdgeLost)
            }
            Standing::Dismissed { reason } => Some(Why::Dismissed(reason)),
            Standing::OutOfService { reason } => Some(Why::OutOfService(reason)),
            Standing::Good | Standing::Lost { .. } => None,
        }
    }

    /// Why the edge is not there.
    pub(crate) fn lost_because(&self) -> Option<String> {
        match self.standing() {
            Standing::Good => None,
            Standing::Lost { reason, .. }
            | Standing::Dismissed { reason }
            | Standing::OutOfService { reason } => Some(reason),
        }
    }

    /// The edge did not answer, or said no.
    pub(crate) fn lose(&self, error: &ClientError) {
        let reason = error.to_string();
        let dismissed = matches!(
            error,
            ClientError::Problem(problem)
                if matches!(problem.code, Code::Unauthenticated | Code::Forbidden)
        );
        let out = error.code() == Some(Code::Unavailable);
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        let event = match (&*standing, dismissed) {
            // An edge that is gone takes nothing back that it said.
            (Standing::Dismissed { .. } | Standing::OutOfService { .. }, _) => None,
            (_, true) => {
                *standing = Standing::Dismissed { reason: reason.clone() };
                Some(Event::Dismissed { reason })
            }
            (_, false) if out => {
                *standing = Standing::OutOfService { reason: reason.clone() };
                Some(Event::EdgeLost { reason })
            }
            (Standing::Lost { .. }, false) => None,
            (Standing::Good, false) => {
                *standing = Standing::Lost { since: Instant::now(), reason: reason.clone() };
                Some(Event::EdgeLost { reason })
            }
        };
        drop(standing);
        if let Some(event) = event {
            self.tell(event);
        }
        // What nobody may call is not listed either.
        self.rebuild();
    }

    /// It did.
    pub(crate) fn find(&self) {
        let standing =
            std::mem::take(&mut *self.standing.lock().unwrap_or_else(PoisonError::into_inner));
        if !matches!(standing, Standing::Good) {
            self.tell(Event::EdgeBack);
            self.rebuild();
        }
    }

    /// How far this node has come.
    pub(crate) fn query(&self) -> PollQuery {
        let state = self.state();
        PollQuery {
            edge: state.edge.clone(),
            plugins: state.plugins,
            decisions: state.decisions_revision,
            wait: None,
            jobs: true,
        }
    }

    /// Takes what changed.
    pub(crate) fn apply(self: &Arc<Self>, poll: &Poll) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        if poll.reset {
            state.decisions.clear();
            let stay: BTreeSet<&PluginName> = poll
                .plugins
                .changed
                .iter()
                .filter(|assignment| assignment.description.is_some())
                .map(|assignment| &assignment.plugin)
                .collect();
            let gone: Vec<PluginName> =
                state.assigned.keys().filter(|plugin| !stay.contains(plugin)).cloned().collect();
            for plugin in gone {
                self.unassign(&mut state, &plugin);
            }
            for tended in state.assigned.values().flat_map(|assigned| assigned.tools.values()) {
                tended.server.tell_again();
            }
        }
        state.edge = Some(poll.edge.clone());
        state.plugins = poll.plugins.revision;
        state.decisions_revision = poll.decisions.revision;
        let only = self.host.options.only.as_ref();
        let ours = |plugin: &PluginName| only.is_none_or(|only| only.contains(plugin));
        for assignment in poll.plugins.changed.iter().filter(|changed| ours(&changed.plugin)) {
            match &assignment.description {
                Some(_) => self.assign(&mut state, assignment),
                None => {
                    state
                        .decisions
                        .remove(&(assignment.plugin.clone(), assignment.version.clone()));
                    let current = state.assigned.get(&assignment.plugin);
                    if current
                        .is_some_and(|current| current.assignment.version == assignment.version)
                    {
                        self.unassign(&mut state, &assignment.plugin);
                    }
                }
            }
        }
        for decision in poll.decisions.changed.iter().filter(|changed| ours(&changed.plugin)) {
            decide(&mut state, decision);
        }
        self.rebuild_from(&state);
        for (plugin, assigned) in &state.assigned {
            self.tell_approved(plugin, assigned, poll);
        }
    }

    /// Tells of what waited and is approved now, as this node's servers list it.
    fn tell_approved(&self, plugin: &PluginName, assigned: &Assigned, poll: &Poll) {
        let version = &assigned.assignment.version;
        let mut approved = Vec::new();
        for Tended { server, .. } in assigned.tools.values() {
            let Some(listed) = server.last() else { continue };
            let accepted: Vec<FunctionId> = poll
                .decisions
                .changed
                .iter()
                .filter(|decision| decision.plugin == *plugin && decision.version == *version)
                .filter(|decision| {
                    listed.functions.get(&decision.function).is_some_and(|seen| {
                        decision.accepted.iter().any(|accepted| accepted.hash == seen.hash)
                    })
                })
                .map(|decision| decision.function.clone())
                .collect();
            approved.extend(server.approved(&accepted));
        }
        if !approved.is_empty() {
            approved.sort_unstable();
            self.tell(Event::Approved { plugin: plugin.clone(), functions: approved });
        }
    }

    fn assign(self: &Arc<Self>, state: &mut State, assignment: &Assignment) {
        let before = state.assigned.get(&assignment.plugin);
        if before.is_some_and(|before| *before.assignment == *assignment) {
            return;
        }
        let assignment = Arc::new(assignment.clone());
        let mut tools = BTreeMap::new();
        let before = state.assigned.remove(&assignment.plugin);
        for tool in assignment.description.iter().flat_map(|description| description.tools.keys()) {
            // The loader refuses the platform's own ID; a bundle of an older loader may have it.
            let Some(server) = Server::new(&assignment, tool, Arc::downgrade(self)) else {
                continue;
            };
            let server = Arc::new(server);
            let same_version = before
                .as_ref()
                .filter(|before| before.assignment.version == assignment.version)
                .and_then(|before| before.tools.get(tool));
            if let Some(before) = same_version {
                server.succeed(&before.server);
            }
            let (stop, stopped) = watch::channel(false);
            let task = tokio::spawn(Arc::clone(&server).supervise(
                Arc::clone(&self.host),
                Arc::clone(&assignment),
                self.edge.clone(),
                stopped,
            ));
            tools.insert(tool.clone(), Tended { server, stop, task });
        }
        if let Some(before) = before {
            leave(state, before);
        }
        self.host.memory.assign(&assignment.plugin, &assignment.version);
        self.tell(Event::Assigned {
            plugin: assignment.plugin.clone(),
            version: assignment.version.clone(),
        });
        state.assigned.insert(assignment.plugin.clone(), Assigned { assignment, tools });
    }

    fn unassign(&self, state: &mut State, plugin: &PluginName) {
        if let Some(assigned) = state.assigned.remove(plugin) {
            leave(state, assigned);
            self.host.memory.unassign(plugin);
            self.tell(Event::Unassigned { plugin: plugin.clone() });
        }
    }

    /// Makes the table anew.
    pub(crate) fn rebuild(&self) {
        let state = self.state();
        self.rebuild_from(&state);
    }

    fn rebuild_from(&self, state: &State) {
        let mut functions: HashMap<Box<str>, Arc<Entry>> = HashMap::new();
        let mut servers = Vec::new();
        for assigned in state.assigned.values() {
            let Assignment { plugin, version, .. } = &*assigned.assignment;
            let decisions = state.decisions.get(&(plugin.clone(), version.clone()));
            for (tool, tended) in &assigned.tools {
                servers.push(Arc::clone(&tended.server));
                let listed = tended.server.last();
                let decided = decisions.into_iter().flatten().map(|(id, _)| id);
                let ids: BTreeSet<&FunctionId> = decided
                    .filter(|id| id.tool() == *tool)
                    .chain(listed.iter().flat_map(|listed| listed.functions.keys()))
                    .collect();
                for id in ids {
                    let decided = decisions.and_then(|decisions| decisions.get(id));
                    let mut entry = Entry {
                        id: id.clone(),
                        server: Arc::clone(&tended.server),
                        accepted: decided.map_or_else(Vec::new, |decided| decided.accepted.clone()),
                        left_out_for: decided.and_then(|decided| decided.left_out_for.clone()),
                        clashes: false,
                    };
                    let name = ModelName::of(id);
                    if let Some(other) = functions.get(name.as_str()) {
                        match (&other.left_out_for, &entry.left_out_for) {
                            // The edge has said whose the name is.
                            (None, Some(_)) => continue,
                            (Some(_), None) => {}
                            _ => entry.clashes = true,
                        }
                    }
                    functions.insert(name.as_str().into(), Arc::new(entry));
                }
            }
        }
        let before = self.table();
        let cut_off = self.cut_off().is_some();
        let mut shown: Vec<(&str, &str)> = functions
            .iter()
            .filter_map(|(name, entry)| Some((name.as_ref(), entry.shown()?)))
            .filter(|_| !cut_off)
            .collect();
        shown.sort_unstable();
        let same = shown.len() == before.visible.items.len()
            && shown.iter().zip(&before.visible.items).all(|((_, new), old)| *new == old.as_ref());
        let visible = if same {
            Arc::clone(&before.visible)
        } else {
            Arc::new(Functions {
                revision: before.visible.revision + 1,
                items: shown.into_iter().map(|(_, item)| item.into()).collect(),
                public: true,
            })
        };
        let revision = visible.revision;
        let complete = state.edge.is_some();
        self.table.send_replace(Arc::new(Table { functions, servers, visible, complete }));
        self.revision.send_if_modified(|now| std::mem::replace(now, revision) != revision);
    }

    /// Waits until every server that is assigned has listed or failed to, and what the edge accepted of it is here; at
    /// most for `patience`.
    pub(crate) async fn settled(&self, patience: Duration) {
        let settle = async {
            let mut tables = self.tables();
            let _ = tables.wait_for(|table| table.complete).await;
            let servers = self.table().servers.clone();
            for server in servers {
                server.settled().await;
                let Some(listed) = server.last() else { continue };
                let _ = tables
                    .wait_for(|table| {
                        let answered = listed.answered.borrow();
                        let crate::listed::Answered::Said(said) = &*answered else { return false };
                        said.iter().all(|(id, verdict)| {
                            let there = table
                                .get(ModelName::of(id).as_str())
                                .is_some_and(|entry| entry.is_known() || entry.id != *id);
                            *verdict != oz0_api::node::Verdict::Accepted
                                || there
                                || !listed.functions.contains_key(id)
                        })
                    })
                    .await;
            }
        };
        let _ = tokio::time::timeout(patience, settle).await;
    }

    /// Stops every server, in order and all at once.
    pub(crate) async fn close(&self) {
        let leaving = {
            let mut state = self.state();
            state.closed = true;
            for assigned in std::mem::take(&mut state.assigned).into_values() {
                leave(&mut state, assigned);
            }
            self.rebuild_from(&state);
            std::mem::take(&mut state.leaving)
        };
        for task in leaving {
            let _ = task.await;
        }
    }
}

fn leave(state: &mut State, assigned: Assigned) {
    state.leaving.retain(|task| !task.is_finished());
    for Tended { stop, task, .. } in assigned.tools.into_values() {
        stop.send_replace(true);
        state.leaving.push(task);
    }
}

fn decide(state: &mut State, decision: &Decision) {
    let functions =
        state.decisions.entry((decision.plugin.clone(), decision.version.clone())).or_default();
    let before = functions.get(&decision.function);
    let accepted = decision
        .accepted
        .iter()
        .map(|new| {
            let text =
                |served: &Option<Box<RawValue>>| served.as_ref().map(|raw| raw.get().to_owned());
            let same = before
                .into_iter()
                .flat_map(|before| &before.accepted)
                .find(|old| old.hash == new.hash && text(&old.served) == text(&new.served));
            same.cloned().unwrap_or_else(|| {
                Arc::new(Accepted::new(&decision.function, new.hash, new.served.clone()))
            })
        })
        .collect();
    let decided = Decided { accepted, left_out_for: decision.left_out_for.clone() };
    functions.insert(decision.function.clone(), decided);
}
