//! The node's loop: ask the edge, do what it says, answer its jobs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use oz0_api::Client as Edge;
use oz0_server::{Environments, Launcher};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::clients::Clients;
use crate::gateway::Gateway;
use crate::host::Host;
use crate::memory::Memory;
use crate::options::NodeOptions;
use crate::roster::Roster;

/// Before an edge that did not answer is asked again: the first wait, and the longest.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// What a node is made of.
#[derive(Debug)]
pub struct Parts {
    /// The edge, as this node: a client with a node's token.
    pub edge: Edge,
    /// What starts servers.
    pub launcher: Launcher,
    /// What makes their environments.
    pub environments: Environments,
}

/// A node that runs. Dropped, it ends at once, and its servers with it; [`Node::shutdown`] is the polite way.
pub struct Node {
    roster: Arc<Roster>,
    gateway: Arc<Gateway>,
    stop: watch::Sender<bool>,
    polling: JoinHandle<()>,
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node").finish_non_exhaustive()
    }
}

impl Node {
    /// Starts a node. Needs a Tokio runtime with I/O and time enabled.
    pub fn start(parts: Parts, options: NodeOptions) -> Self {
        let Parts { edge, launcher, environments } = parts;
        let clients = Clients::new(edge.clone(), options.clients_need_tokens, options.tell.clone());
        let memory = Memory::open(options.memory.clone());
        let asked = Mutex::new(options.asked.clone());
        let host = Arc::new(Host { launcher, environments, memory, asked, options });
        let roster = Roster::new(host, edge);
        let gateway = Arc::new(Gateway::new(Arc::clone(&roster), clients));
        let (stop, stopped) = watch::channel(false);
        let polling = tokio::spawn(poll(Arc::clone(&roster), Arc::clone(&gateway), stopped));
        Self { roster, gateway, stop, polling }
    }

    /// What MCP clients reach: for [`oz0_mcp::server::Server::new`].
    pub fn gateway(&self) -> Arc<Gateway> {
        Arc::clone(&self.gateway)
    }

    /// Waits until every assigned server has listed or failed to, and the edge has answered; at most for `patience`.
    pub async fn settled(&self, patience: Duration) {
        self.roster.settled(patience).await;
    }

    /// Ends in order: nothing new is taken from the edge, calls in flight have
    /// [`NodeLimits::drain`](crate::NodeLimits::drain), and every server is stopped.
    pub async fn shutdown(self) {
        self.stop.send_replace(true);
        self.roster.close().await;
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.polling.abort();
    }
}

async fn poll(roster: Arc<Roster>, gateway: Arc<Gateway>, mut stop: watch::Receiver<bool>) {
    let mut wait = FIRST_WAIT;
    loop {
        let query = roster.query();
        let answer = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return,
            answer = roster.edge().poll(&query) => answer,
        };
        match answer {
            Ok(poll) => {
                wait = FIRST_WAIT;
                roster.find();
                roster.apply(&poll);
                for job in poll.jobs {
                    tokio::spawn(Arc::clone(&gateway).run(job));
                }
            }
            Err(error) => {
                roster.lose(&error);
                tokio::select! {
                    _ = stop.wait_for(|stop| *stop) => return,
                    () = tokio::time::sleep(wait) => {}
                }
                wait = (wait * 2).min(LONGEST_WAIT);
            }
        }
    }
}
