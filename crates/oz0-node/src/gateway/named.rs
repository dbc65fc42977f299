//! The function that a call names, and the servers that may come to list it.

use std::sync::Arc;

use super::Called;
use crate::server::Server;
use crate::table::{Entry, Table};

impl Table {
    pub(super) fn called(&self, called: Called<'_>) -> Option<&Arc<Entry>> {
        match called {
            Called::Name(name) => self.named(name),
            Called::Function(id) => self.function(id),
        }
    }

    /// The servers that may yet list the function.
    pub(super) fn servers_for(&self, called: Called<'_>) -> Vec<Arc<Server>> {
        let may = |server: &&Arc<Server>| match called {
            Called::Name(name) => {
                name.strip_prefix(server.tool.as_ref()).is_some_and(|rest| rest.starts_with("__"))
            }
            Called::Function(id) => server.tool == id.tool(),
        };
        self.servers().iter().filter(may).cloned().collect()
    }
}
