//! What a node holds: the plugin set, the decisions, the servers; and the table that calls and listings look into.
//!
//! The table is made anew when any of it changes, and is then never written to: a call holds one for as long as it
//! looks, and waits for nobody.

mod patience;
mod renewal;
mod standing;
mod succession;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use oz0_api::node::{Assignment, Decision, Head, Poll, PollQuery};
use oz0_api::plugin::{PluginDescription, Source};
use oz0_api::{Client as Edge, ClientError, Code, EdgeId, PluginName, PluginVersion, Revision};
use oz0_listing::{Digest, FunctionId, ToolId};
use oz0_mcp::server::Functions;
use oz0_server::Tier;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::event::Event;
use crate::hooks::Watch;
use crate::host::Host;
use crate::policy::{PluginPolicy, Rules};
use crate::server::Server;
use crate::table::{Accepted, Entry, Table, named};
use crate::vault::Grants;

/// How long the edge may keep a poll while a server has not started, in seconds.
const STARTING: u64 = 1;

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
    policy_revision: Revision,
    credentials_revision: Revision,
    /// Where the edge's log ended at these.
    head: Option<Head>,
    /// The tenant's rules.
    tenant: Arc<Rules>,
    /// The hooks of every plugin that is installed, run here or not.
    hooks: BTreeMap<PluginName, (PluginVersion, Vec<Watch>)>,
    /// The versions that serve.
    assigned: BTreeMap<PluginName, Assigned>,
    /// The versions that are to take the place of some of those.
    coming: succession::Coming,
    decisions: BTreeMap<(PluginName, PluginVersion), BTreeMap<FunctionId, Decided>>,
    /// Plugins that are not run here because they are run from another folder, which has been told.
    elsewhere: BTreeSet<PluginName>,
    /// Servers that are on their way out.
    leaving: Vec<JoinHandle<()>>,
    closed: bool,
}

struct Assigned {
    assignment: Arc<Assignment>,
    policy: Arc<PluginPolicy>,
    grants: Arc<Grants>,
    tools: BTreeMap<ToolId, Tended>,
}

impl Assigned {
    fn is_starting(&self) -> bool {
        self.tools.values().any(|tended| tended.server.is_starting())
    }
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
            policy: state.policy_revision,
            credentials: state.credentials_revision,
            head: state.head.clone(),
            // A poll that waits does not say what its node finds out meanwhile.
            wait: (state.coming.values().any(Assigned::is_starting)
                || self.table().servers.iter().any(|server| server.is_starting()))
            .then_some(STARTING),
            jobs: true,
            tier,
            reason,
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }
    }

    /// Lets go of the bundles of an earlier life that are not assigned any more; before anything is unpacked in this one.
    pub(crate) async fn tidy(&self, poll: &Poll) {
        let assigned = poll.plugins.changed.iter().filter_map(|one| one.description.as_ref());
        let assigned: Vec<Digest> = assigned.map(|description| description.digest).collect();
        let host = Arc::clone(&self.host);
        let _ = tokio::task::spawn_blocking(move || host.bundles.forget_others(&assigned)).await;
    }

    /// Takes what changed.
    pub(crate) fn apply(self: &Arc<Self>, poll: &Poll) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        if poll.reset {
            state.decisions.clear();
            // Of another history nothing goes on that is not assigned in it.
            let stay: BTreeSet<(&PluginName, &PluginVersion)> = poll
                .plugins
                .changed
                .iter()
                .filter(|assignment| assignment.description.is_some())
                .map(|assignment| (&assignment.plugin, &assignment.version))
                .collect();
            let gone: Vec<PluginName> = state
                .assigned
                .iter()
                .filter(|(plugin, own)| !stay.contains(&(*plugin, &own.assignment.version)))
                .map(|(plugin, _)| plugin.clone())
                .collect();
            for plugin in gone {
                self.unassign(&mut state, &plugin);
            }
            let all = state.assigned.values().chain(state.coming.values());
            for tended in all.flat_map(|assigned| assigned.tools.values()) {
                tended.server.tell_again();
            }
        }
        state.edge = Some(poll.edge.clone());
        state.plugins = poll.plugins.revision;
        state.decisions_revision = poll.decisions.revision;
        state.head.clone_from(&poll.head);
        if let Some(policy) = &poll.policy {
            state.policy_revision = policy.revision;
            state.tenant = Arc::new(Rules::of_tenant(&policy.rules));
        }
        if poll.reset {
            state.hooks.clear();
            state.credentials_revision = Revision::default();
            self.host.vault.change_all();
        }
        if let Some(changed) = &poll.credentials {
            state.credentials_revision = changed.revision;
            for plugin in &changed.plugins {
                self.host.vault.change(plugin);
            }
        }
        let only = self.host.options.only.as_ref();
        let ours = |plugin: &PluginName| only.is_none_or(|only| only.contains(plugin));
        // What was taken back ends before anything takes its place, and what was replaced not before that is there.
        let (ends, others): (Vec<_>, Vec<_>) =
            poll.plugins.changed.iter().partition(|changed| changed.taken_back);
        let (come, go): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|changed| changed.description.is_some());
        for assignment in ends {
            self.end(&mut state, assignment);
        }
        for assignment in come {
            if !ours(&assignment.plugin) {
                state.watch(assignment);
                continue;
            }
            match assignment.description.as_ref().and_then(|own| self.elsewhere(own)) {
                None => self.assign(&mut state, assignment),
                Some(event) => {
                    self.unassign(&mut state, &assignment.plugin);
                    state.watch(assignment);
                    if state.elsewhere.insert(assignment.plugin.clone()) {
                        self.tell(event);
                    }
                }
            }
        }
        for assignment in go {
            let goes_on = state.coming.contains_key(&assignment.plugin);
            if !goes_on {
                self.end(&mut state, assignment);
            }
        }
        for decision in poll.decisions.changed.iter().filter(|changed| ours(&changed.plugin)) {
            decide(&mut state, decision);
        }
        self.advance(&mut state);
        self.rebuild_from(&state);
        self.host.vault.keep(|plugin| {
            state.assigned.contains_key(plugin) || state.coming.contains_key(plugin)
        });
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
        let is_it = |own: Option<&Assigned>| own.is_some_and(|own| *own.assignment == *assignment);
        if is_it(state.coming.get(&assignment.plugin)) {
            return;
        }
        if is_it(state.assigned.get(&assignment.plugin)) {
            Self::stop_coming(state, &assignment.plugin);
            state.watch(assignment);
            return;
        }
        let is_succession = state.is_succession(assignment);
        let assignment = Arc::new(assignment.clone());
        if is_succession {
            self.come(state, &assignment);
            return;
        }
        Self::stop_coming(state, &assignment.plugin);
        let before = state.assigned.remove(&assignment.plugin);
        let assigned = self.begin(&assignment, before.as_ref(), None);
        if let Some(before) = before {
            leave(state, before);
        }
        state.elsewhere.remove(&assignment.plugin);
        self.host.memory.assign(&assignment.plugin, &assignment.version);
        state.watch(&assignment);
        self.tell(Event::Assigned {
            plugin: assignment.plugin.clone(),
            version: assignment.version.clone(),
        });
        state.assigned.insert(assignment.plugin.clone(), assigned);
    }

    /// Starts a version's servers. `before` is what served until now; `goes_on` what serves until all of them are there.
    fn begin(
        self: &Arc<Self>,
        assignment: &Arc<Assignment>,
        before: Option<&Assigned>,
        goes_on: Option<&PluginVersion>,
    ) -> Assigned {
        let mut tools = BTreeMap::new();
        for tool in assignment.description.iter().flat_map(|description| description.tools.keys()) {
            // The loader refuses the platform's own ID; a bundle of an older loader may have it.
            let metrics = self.host.metrics.server(&assignment.plugin, tool);
            let Some(server) =
                Server::new(assignment, tool, goes_on, Arc::downgrade(self), metrics)
            else {
                continue;
            };
            let server = Arc::new(server);
            let same_version = before
                .filter(|before| before.assignment.version == assignment.version)
                .and_then(|before| before.tools.get(tool));
            if let Some(before) = same_version {
                server.succeed(&before.server);
            }
            let (stop, stopped) = watch::channel(false);
            let task = tokio::spawn(Arc::clone(&server).supervise(
                Arc::clone(&self.host),
                Arc::clone(assignment),
                self.edge.clone(),
                stopped,
            ));
            tools.insert(tool.clone(), Tended { server, stop, task });
        }
        let policy = assignment.description.as_ref().map(PluginPolicy::of).unwrap_or_default();
        let grants = assignment.description.as_ref().map(Grants::of).unwrap_or_default();
        Assigned {
            assignment: Arc::clone(assignment),
            policy: Arc::new(policy),
            grants: Arc::new(grants),
            tools,
        }
    }

    /// A version is run no more, whether it served or was to.
    fn end(&self, state: &mut State, assignment: &Assignment) {
        let Assignment { plugin, version, .. } = assignment;
        let is_it =
            |own: Option<&Assigned>| own.is_some_and(|own| own.assignment.version == *version);
        state.decisions.remove(&(plugin.clone(), version.clone()));
        if state.hooks.get(plugin).is_some_and(|(known, _)| known == version) {
            state.hooks.remove(plugin);
        }
        if is_it(state.coming.get(plugin)) {
            Self::stop_coming(state, plugin);
        }
        if is_it(state.assigned.get(plugin)) {
            self.unassign(state, plugin);
        }
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
        Self::stop_coming(state, plugin);
        if let Some(assigned) = state.assigned.remove(plugin) {
            leave(state, assigned);
            self.host.memory.unassign(plugin);
            self.tell(Event::Unassigned { plugin: plugin.clone() });
        }
    }

    /// Makes the table anew.
    pub(crate) fn rebuild(&self) {
        let mut state = self.state();
        self.advance(&mut state);
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
                        policy: Arc::clone(&assigned.policy),
                        grants: Arc::clone(&assigned.grants),
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
        let tenant = Arc::clone(&state.tenant);
        let hooks = state.hooks.values().flat_map(|(_, hooks)| hooks).cloned().collect();
        self.table.send_replace(Arc::new(Table {
            functions,
            names,
            servers,
            visible,
            tenant,
            hooks,
            complete,
            revision: state.decisions_revision,
        }));
        self.revision.send_if_modified(|now| std::mem::replace(now, revision) != revision);
    }

    /// Stops every server, in order and all at once.
    pub(crate) async fn close(&self) {
        let leaving = {
            let mut state = self.state();
            state.closed = true;
            let coming = std::mem::take(&mut state.coming);
            let assigned = std::mem::take(&mut state.assigned);
            for assigned in coming.into_values().chain(assigned.into_values()) {
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
