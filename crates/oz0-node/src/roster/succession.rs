//! One version of a plugin in the place of another, on a node that runs: the new one comes, and the old one goes on until it is
//! there.
//!
//! The new version's servers are started beside the old one's. Once each of them has listed, the edge has answered, and what it
//! accepted is here, the new version takes over with one new table: a call finds the one or the other, and what is in flight
//! ends where it began. A version that cannot be started, or cannot list, takes nobody's place: it is tried again for as long as
//! it is assigned, the edge and people are told why, and the old one goes on under the snapshot that it was approved with.
//!
//! That is all in memory. A node that starts again while a version comes knows of that one alone, whose functions are not called
//! before it is there: nothing says any more what was accepted of the other.
//!
//! What is not waited for: a tool whose endpoint moved (nobody knows whether it can be listed before the move is approved), a
//! version that never listed anything here, and a folder that is run in place, whose files are gone when they are edited.

use std::collections::BTreeMap;
use std::sync::Arc;

use oz0_api::PluginName;
use oz0_api::node::{Assignment, Verdict};
use oz0_api::plugin::Source;

use super::{Assigned, Roster, State, leave};
use crate::event::Event;
use crate::hooks::Watch;
use crate::listed::Answered;

fn is_bundle(assignment: &Assignment) -> bool {
    let description = assignment.description.as_ref();
    description.is_some_and(|description| description.source == Source::Bundle)
}

impl Assigned {
    /// Whether anything of it was ever listed here.
    fn has_listed(&self) -> bool {
        self.tools.values().any(|tended| tended.server.last().is_some())
    }
}

impl State {
    /// Whether an assignment is of another version than the one that serves, which goes on meanwhile.
    pub(super) fn is_succession(&self, assignment: &Assignment) -> bool {
        self.assigned.get(&assignment.plugin).is_some_and(|serving| {
            is_bundle(assignment)
                && serving.assignment.version != assignment.version
                && is_bundle(&serving.assignment)
                && serving.has_listed()
        })
    }

    /// Whether a version that comes is there: it can be called as it is listed.
    fn has_come(&self, coming: &Assigned) -> bool {
        let Assignment { plugin, version, .. } = &*coming.assignment;
        let decided = self.decisions.get(&(plugin.clone(), version.clone()));
        let serving = self.assigned.get(plugin);
        coming.tools.iter().all(|(tool, tended)| {
            if tended.server.moved {
                return true;
            }
            let Some(listed) = tended.server.last() else { return false };
            // An empty list erases nothing, and so not what is called until now either.
            let before = serving.and_then(|serving| serving.tools.get(tool)?.server.last());
            if listed.functions.is_empty() && before.is_some_and(|own| !own.functions.is_empty()) {
                return false;
            }
            let Answered::Said(said) = &*listed.answered.borrow() else { return false };
            listed.functions.iter().all(|(id, seen)| {
                said.get(id) != Some(&Verdict::Accepted)
                    || decided.and_then(|decided| decided.get(id)).is_some_and(|decided| {
                        decided.accepted.iter().any(|accepted| accepted.hash == seen.hash)
                    })
            })
        })
    }

    /// The functions of a version are called around calls from now on, and those of another version of its plugin no more.
    pub(super) fn watch(&mut self, assignment: &Assignment) {
        if let Some(description) = &assignment.description {
            let hooks = Watch::all(description).collect();
            self.hooks.insert(assignment.plugin.clone(), (assignment.version.clone(), hooks));
        }
    }
}

impl Roster {
    /// Begins to run another version beside the one that serves.
    pub(super) fn come(self: &Arc<Self>, state: &mut State, assignment: &Arc<Assignment>) {
        let plugin = &assignment.plugin;
        let Some(serving) = state.assigned.get(plugin) else { return };
        let goes_on = serving.assignment.version.clone();
        if let Some(other) = state.coming.remove(plugin) {
            leave(state, other);
        }
        self.tell(Event::Coming {
            plugin: plugin.clone(),
            version: assignment.version.clone(),
            goes_on: goes_on.clone(),
        });
        let coming = self.begin(assignment, None, Some(&goes_on));
        state.coming.insert(plugin.clone(), coming);
    }

    /// A version does not come any more, if one did.
    pub(super) fn stop_coming(state: &mut State, plugin: &PluginName) {
        if let Some(coming) = state.coming.remove(plugin) {
            leave(state, coming);
        }
    }

    /// Lets every version take over that has come.
    pub(super) fn advance(&self, state: &mut State) {
        let come: Vec<PluginName> = state
            .coming
            .iter()
            .filter(|(_, coming)| state.has_come(coming))
            .map(|(plugin, _)| plugin.clone())
            .collect();
        for plugin in come {
            let Some(coming) = state.coming.remove(&plugin) else { continue };
            if let Some(before) = state.assigned.remove(&plugin) {
                let Assignment { plugin, version, .. } = &*before.assignment;
                state.decisions.remove(&(plugin.clone(), version.clone()));
                leave(state, before);
            }
            let version = coming.assignment.version.clone();
            self.host.memory.assign(&plugin, &version);
            for tended in coming.tools.values() {
                tended.server.take_over(&self.host.memory);
            }
            state.watch(&coming.assignment);
            self.tell(Event::Assigned { plugin: plugin.clone(), version });
            state.assigned.insert(plugin, coming);
        }
    }

    /// The edge has answered a version's listing: if it comes, it may be there.
    pub(crate) fn heard(&self, plugin: &PluginName) {
        let mut state = self.state();
        if state.coming.contains_key(plugin) {
            self.advance(&mut state);
            self.rebuild_from(&state);
        }
    }
}

/// The versions that come, by plugin.
pub(super) type Coming = BTreeMap<PluginName, Assigned>;
