//! The same version of a plugin, started anew with other secrets or as another account.

use std::sync::Arc;

use oz0_api::PluginName;

use super::{Assigned, Roster, leave};
use crate::event::Event;
use crate::vault::Difference;

impl Roster {
    /// What a plugin's servers are started with has changed: where that concerns them they are started anew, and those that
    /// ran have a moment for what is in flight.
    pub(crate) fn renew(self: &Arc<Self>, plugin: &PluginName, what: &Difference) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        let concerned =
            |own: Option<&Assigned>| own.is_some_and(|own| what.concerns(&own.assignment));
        let mut renewed = false;
        if concerned(state.assigned.get(plugin))
            && let Some(before) = state.assigned.remove(plugin)
        {
            let assigned = self.begin(&before.assignment, Some(&before), None);
            leave(&mut state, before);
            state.assigned.insert(plugin.clone(), assigned);
            renewed = true;
        }
        if concerned(state.coming.get(plugin))
            && let Some(before) = state.coming.remove(plugin)
        {
            let goes_on = state.assigned.get(plugin).map(|own| own.assignment.version.clone());
            let coming = self.begin(&before.assignment, None, goes_on.as_ref());
            leave(&mut state, before);
            state.coming.insert(plugin.clone(), coming);
            renewed = true;
        }
        if renewed {
            self.tell(Event::Renewed { plugin: plugin.clone() });
            self.rebuild_from(&state);
        }
    }
}
