//! Nodes that come at once are noted at once.
//!
//! Each commit waits for the disk, and after an edge has been away every node comes back in the same moment. So while one write
//! is under way, the nodes that come meanwhile gather, and the next write notes all of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use oz0_api::NodeName;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::presence::Begins;
use super::{Actor, Store, StoreError};

/// Who waits to be noted.
type Waiting = BTreeMap<NodeName, Comes>;

/// A node that comes: what it said of itself, if it begins to poll, and who waits.
#[derive(Default)]
struct Comes {
    begins: Option<Begins>,
    waiting: Vec<oneshot::Sender<()>>,
}

/// The nodes that are to be noted, and whose turn it is to do so.
#[derive(Default)]
pub(super) struct Together {
    waiting: Mutex<Waiting>,
    /// When each node was noted last in this process.
    noted: Mutex<HashMap<NodeName, Instant>>,
    turn: tokio::sync::Mutex<()>,
}

impl Together {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn noted(&self) -> MutexGuard<'_, HashMap<NodeName, Instant>> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Notes that a node that asked a while ago is still there. A decision ends every poll at once, and for that nothing is
    /// looked up.
    pub(crate) async fn still_there(&self, node: &NodeName) -> Result<(), StoreError> {
        let noted = self.together.noted().get(node).copied();
        if noted.is_some_and(|noted| noted.elapsed() < self.live_for / 10) {
            self.sees(node);
            return Ok(());
        }
        self.touch(node, None).await
    }

    /// Notes that a node is there, with all others that come meanwhile.
    pub(super) async fn see_together(
        &self,
        node: &NodeName,
        begins: Option<Begins>,
    ) -> Result<(), StoreError> {
        loop {
            let (done, mut is_done) = oneshot::channel();
            {
                let mut waiting = self.together.waiting();
                let comes = waiting.entry(node.clone()).or_default();
                comes.waiting.push(done);
                comes.begins = begins.clone().or_else(|| comes.begins.take());
            }
            let _turn = self.together.turn.lock().await;
            match is_done.try_recv() {
                Ok(()) => return Ok(()),
                // Whoever wrote did not come to its end.
                Err(TryRecvError::Closed) => continue,
                Err(TryRecvError::Empty) => {}
            }
            let nodes = std::mem::take(&mut *self.together.waiting());
            let mut write = self.write(&Actor::Edge).await?;
            for (node, comes) in &nodes {
                write.actor = Actor::Node(node.clone());
                write.see(node).await?;
                if let Some(begins) = comes.begins.clone() {
                    write.see_begin(node, begins).await?;
                }
                write.tell_flips(node).await?;
            }
            write.commit().await?;
            let now = Instant::now();
            self.together.noted().extend(nodes.keys().map(|node| (node.clone(), now)));
            for done in nodes.into_values().flat_map(|comes| comes.waiting) {
                // Who does not wait any more was noted all the same.
                let _ = done.send(());
            }
            return Ok(());
        }
    }
}
