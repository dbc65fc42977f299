//! How long somebody waits: for servers that start, and for what the edge decided.

use std::time::{Duration, Instant};

use oz0_api::Revision;

use super::Roster;

/// Between two looks whether an environment is being made.
const LOOK: Duration = Duration::from_millis(50);

/// How long a call waits for what its edge decided before it.
const ABREAST: Duration = Duration::from_secs(5);

impl Roster {
    /// Waits until this node has come as far as its edge had then, at most for a while. Whether it has.
    pub(crate) async fn reached(&self, revision: Revision) -> bool {
        let mut tables = self.tables();
        let reached = tables.wait_for(|table| table.revision >= revision);
        matches!(tokio::time::timeout(ABREAST, reached).await, Ok(Ok(_)))
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
}
