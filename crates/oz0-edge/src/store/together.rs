//! Nodes that come at once are noted at once.
//!
//! Each commit waits for the disk, and after an edge has been away every node comes back in the same moment. So while one write
//! is under way, the nodes that come meanwhile gather, and the next write notes all of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use oz0_api::NodeName;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::{Actor, Store, StoreError};

/// Who waits to be noted.
type Waiting = BTreeMap<NodeName, Vec<oneshot::Sender<()>>>;

/// The nodes that are to be noted, and whose turn it is to do so.
#[derive(Default)]
pub(super) struct Together {
    waiting: Mutex<Waiting>,
    turn: tokio::sync::Mutex<()>,
}

impl Together {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Notes that a node is there, with all others that come meanwhile.
    pub(super) async fn see_together(&self, node: &NodeName) -> Result<(), StoreError> {
        loop {
            let (done, mut is_done) = oneshot::channel();
            self.together.waiting().entry(node.clone()).or_default().push(done);
            let _turn = self.together.turn.lock().await;
            match is_done.try_recv() {
                Ok(()) => return Ok(()),
                // Whoever wrote did not come to its end.
                Err(TryRecvError::Closed) => continue,
                Err(TryRecvError::Empty) => {}
            }
            let nodes = std::mem::take(&mut *self.together.waiting());
            let mut write = self.write(&Actor::Edge).await?;
            for node in nodes.keys() {
                write.actor = Actor::Node(node.clone());
                write.see(node).await?;
                write.tell_flips(node).await?;
            }
            write.commit().await?;
            for done in nodes.into_values().flatten() {
                // Who does not wait any more was noted all the same.
                let _ = done.send(());
            }
            return Ok(());
        }
    }
}
