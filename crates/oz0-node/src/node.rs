//! The node's loop: ask the edge, do what it says, answer its jobs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use oz0_api::{Client as Edge, RuleId};
use oz0_server::{Environments, Launcher};
use oz0_telemetry::metrics::Source;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::bundles::Bundles;
use crate::clients::Clients;
use crate::gateway::Gateway;
use crate::host::Host;
use crate::memory::Memory;
use crate::metrics::Metrics;
use crate::options::NodeOptions;
use crate::roster::Roster;
use crate::vault::Vault;

/// Before an edge that did not answer is asked again: the first wait, and the longest.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_millis(500);
/// How long the edge is given to hear that a node ends.
const FAREWELL: Duration = Duration::from_millis(500);

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
    renewing: JoinHandle<()>,
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
        let metrics = Arc::new(Metrics::new());
        let NodeOptions { clients_need_tokens, edge_grace, tell, .. } = &options;
        let clients = Clients::new(
            edge.clone(),
            *clients_need_tokens,
            *edge_grace,
            tell.clone(),
            Arc::clone(&metrics),
        );
        let memory = Memory::open(options.memory.clone());
        let asked = Mutex::new(options.asked.clone());
        let bundles = Bundles::new(options.bundles.clone());
        let (vault, mut differs) = Vault::new(edge.clone());
        let host = Host { launcher, environments, memory, bundles, asked, options, metrics, vault };
        let roster = Roster::new(Arc::new(host), edge);
        let renewed = Arc::downgrade(&roster);
        let renewing = tokio::spawn(async move {
            while let Some((plugin, difference)) = differs.recv().await {
                let Some(roster) = renewed.upgrade() else { return };
                roster.renew(&plugin, &difference);
            }
        });
        let gateway = Arc::new(Gateway::new(Arc::clone(&roster), clients));
        let (stop, stopped) = watch::channel(false);
        let polling = tokio::spawn(poll(Arc::clone(&roster), Arc::clone(&gateway), stopped));
        Self { roster, gateway, stop, polling, renewing }
    }

    /// What MCP clients reach: for [`oz0_mcp::server::Server::new`].
    pub fn gateway(&self) -> Arc<Gateway> {
        Arc::clone(&self.gateway)
    }

    /// Waits until every assigned server has listed or failed to, and the edge has answered; at most for `patience`.
    pub async fn settled(&self, patience: Duration) {
        self.roster.settled(patience).await;
    }

    /// What it counts.
    pub fn metrics(&self) -> Arc<dyn Source> {
        Arc::clone(&self.roster.host.metrics) as _
    }

    /// Whether it can do what it is there for: it has its plugin set from an edge that it may go by. The error says why not,
    /// in words that anyone may read.
    pub fn ready(&self) -> Result<(), &'static str> {
        self.roster.ready()
    }

    /// The same, for whoever asks when this is in other hands.
    pub fn readiness(&self) -> impl Fn() -> Result<(), &'static str> + Send + Sync + 'static {
        let roster = Arc::clone(&self.roster);
        move || roster.ready()
    }

    /// Whether this node goes by a rule of the tenant already.
    pub fn has_rule(&self, rule: &RuleId) -> bool {
        self.roster.table().tenant.has(rule)
    }

    /// Ends in order: the edge is told, and nothing new is taken from it; calls in flight have
    /// [`NodeLimits::drain`](crate::NodeLimits::drain), and every server is stopped.
    pub async fn shutdown(self) {
        self.stop.send_replace(true);
        // An edge that is gone, or slow, finds out by itself.
        let _ = tokio::time::timeout(FAREWELL, self.roster.edge().leave()).await;
        self.roster.close().await;
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.polling.abort();
        self.renewing.abort();
    }
}

async fn poll(roster: Arc<Roster>, gateway: Arc<Gateway>, mut stop: watch::Receiver<bool>) {
    let mut wait = FIRST_WAIT;
    let mut first = true;
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
                if std::mem::take(&mut first) {
                    roster.tidy(&poll).await;
                }
                roster.apply(&poll);
                roster.host.metrics.polled(poll.plugins.revision);
                for job in poll.jobs {
                    tokio::spawn(Arc::clone(&gateway).run(job));
                }
            }
            Err(error) => {
                roster.host.metrics.not_polled();
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
