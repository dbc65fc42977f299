//! What a node holds: the plugin set, the decisions, the servers; and the table that calls and listings look into.
//!
//! The table is made anew when any of it changes, and is then never written to: a call holds one for as long as it
//! looks, and waits for nobody.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use oz0_api::node::{Assignment, Decision, Poll, PollQuery};
use oz0_api::plugin::{PluginDescription, Source};
use oz0_api::{Client as Edge, ClientError, Code, EdgeId, PluginName, PluginVersion, Revision};
use oz0_listing::{FunctionId, ToolId};
use oz0_mcp::server::Functions;
use oz0_server::Tier;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::event::Event;
use crate::host::Host;
use crate::refusal::Why;
use crate::server::Server;
use crate::table::{Accepted, Entry, Table, named};

/// How long the edge may keep a poll while a server has not started, in seconds.
const STARTING: u64 = 1;
/// Between two looks whether an environment is being made.
const LOOK: Duration = Duration::from_millis(50);

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
    /// Plugins that are not run here because they are run from another folder, which has been told.
    elsewhere: BTreeSet<PluginName>,
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
        let tiers: Vec<Tier> = self.table().servers.iter().filter_map(|s| s.tier()).collect();
        let tier = tiers.iter().find(|tier| matches!(tier, Tier::Zero { .. })).or(tiers.first());
        let (tier, reason) = match tier {
            None => (None, None),
            Some(Tier::One) => (Some(1), None),
            Some(Tier::Zero { reason }) => (Some(0), Some(reason.clone())),
        };
        let state = self.state();
        PollQuery {
            edge: state.edge.clone(),
            plugins: state.plugins,
            decisions: state.decisions_revision,
            // A poll that waits does not say what its node finds out meanwhile.
            wait: self.table().servers.iter().any(|s| s.is_starting()).then_some(STARTING),
            jobs: true,
            tier,
            reason,
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
                Some(description) => match self.elsewhere(description) {
                    None => self.assign(&mut state, assignment),
                    Some(event) => {
                        self.unassign(&mut state, &assignment.plugin);
                        if state.elsewhere.insert(assignment.plugin.clone()) {
                            self.tell(event);
                        }
                    }
                },
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
        state.elsewhere.remove(&assignment.plugin);
        self.host.memory.assign(&assignment.plugin, &assignment.version);
        self.tell(Event::Assigned {
            plugin: assignment.plugin.clone(),
            version: assignment.version.clone(),
        });
        state.assigned.insert(assignment.plugin.clone(), Assigned { assignment, tools });
    }

    /// That a plugin which this node runs from one folder is now run from somewhere else.
    fn elsewhere(&self, description: &PluginDescription) -> Option<Event> {
        let folder = self.host.options.folders.get(&description.name)?;
        match &description.source {
            Source::Dev { folder: now } if Path::new(now) == folder => None,
            other => Some(Event::Elsewhere {
                plugin: description.name.clone(),
                folder: folder.clone(),
                now: match other {
                    Source::Dev { folder } => Some(folder.into()),
                    Source::Bundle => None,
                },
            }),
        }
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
        let mut entries: HashMap<FunctionId, Entry> = HashMap::new();
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
                    let entry = Entry {
                        id: id.clone(),
                        server: Arc::clone(&tended.server),
                        accepted: decided.map_or_else(Vec::new, |decided| decided.accepted.clone()),
                        left_out_for: decided.and_then(|decided| decided.left_out_for.clone()),
                        clashes: false,
                    };
                    entries.insert(id.clone(), entry);
                }
            }
        }
        let (functions, names) = named(entries);
        let before = self.table();
        let cut_off = self.cut_off().is_some();
        let mut shown: Vec<(&str, &str)> = names
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
        self.table.send_replace(Arc::new(Table { functions, names, servers, visible, complete }));
        self.revision.send_if_modified(|now| std::mem::replace(now, revision) != revision);
    }

    /// Waits as a client that lists does: until the servers have settled, or have had the time for it since no
    /// environment is being made any more, or a client's patience is over.
    pub(crate) async fn prepared(&self) {
        let options = &self.host.options;
        let quiet = async {
            let mut since = Instant::now();
            while since.elapsed() < options.settle {
                tokio::time::sleep(LOOK.min(options.settle)).await;
                if self.table().servers.iter().any(|server| server.is_preparing()) {
                    since = Instant::now();
                }
            }
        };
        tokio::select! {
            () = self.settled(options.settle.max(options.install)) => {}
            () = quiet => {}
        }
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
                            let there = table.function(id).is_some_and(|entry| entry.is_known());
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
