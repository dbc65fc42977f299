//! Nodes without servers: what an edge sees of a fleet, thousands of them in one process.
//!
//! A simulated node is what `oz0-node` is towards its edge, and nothing behind that: it joins with a token that works once,
//! polls, fetches its bundles, reports what its servers list, and runs the calls that it is handed if its own listing is
//! accepted. All of that goes over the real wire client, of which each has one of its own, and so connections of its own. What
//! its servers would list is decided by whoever makes it ([`World`]), and each call that would reach one is written down there.

mod node;
mod world;

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use oz0_api::token::{CreateToken, TokenKind};
use oz0_api::{Client, ClientError, NodeName};
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use crate::node::{Node, View};
pub use crate::world::{Made, Tool, World};

/// Joins that are under way at once.
const JOINING: usize = 32;

/// A node's name and its own token.
#[derive(Debug, Clone)]
pub struct Member {
    /// Its name.
    pub name: NodeName,
    /// Its token.
    pub token: String,
}

/// Joins so many nodes, `PREFIX-NUMBER` each: an administrator makes a token for each, and the node turns it into its own.
///
/// # Errors
///
/// The first refusal.
pub async fn join(
    admin: &Client,
    edge: &Client,
    prefix: &str,
    count: usize,
) -> Result<Vec<Member>, ClientError> {
    stream::iter(0..count)
        .map(|number| async move {
            let name: NodeName =
                format!("{prefix}-{number}").parse().expect("a prefix begins a node's name");
            let create =
                CreateToken { kind: TokenKind::Join, name: name.clone(), may_approve: false };
            let once = admin.create_token(&create).await?;
            let own = edge.with_token(&once.secret).join().await?;
            Ok(Member { name, token: own.secret })
        })
        .buffered(JOINING)
        .try_collect()
        .await
}

/// Many nodes that run.
pub struct Swarm {
    nodes: Vec<Node>,
}

impl std::fmt::Debug for Swarm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Swarm").field("nodes", &self.nodes.len()).finish()
    }
}

impl Swarm {
    /// Starts all of them at once. Each has connections of its own to every edge, and goes from one to the next when it is not
    /// answered; they begin at different ones.
    ///
    /// # Errors
    ///
    /// An edge's address that is none.
    pub fn start(members: &[Member], edges: &[String], world: &World) -> Result<Self, ClientError> {
        let nodes = members
            .iter()
            .enumerate()
            .map(|(number, member)| {
                let mut clients = edges
                    .iter()
                    .map(|url| Ok(Client::tcp(url)?.with_token(&member.token)))
                    .collect::<Result<Vec<_>, ClientError>>()?;
                let first = number % clients.len().max(1);
                clients.rotate_left(first);
                Ok(Node::start(member.name.clone(), clients, world.clone()))
            })
            .collect::<Result<_, ClientError>>()?;
        Ok(Self { nodes })
    }

    /// The nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Waits until it holds of every node. Says of how many it did not, if it does not come to be in time.
    ///
    /// # Errors
    ///
    /// The names of nodes of which it does not hold.
    pub async fn all(
        &self,
        within: Duration,
        holds: impl Fn(&View) -> bool + Send + Sync + 'static,
    ) -> Result<(), Vec<NodeName>> {
        let holds = Arc::new(holds);
        let mut waiting = JoinSet::new();
        for node in &self.nodes {
            let (mut view, holds) = (node.views(), Arc::clone(&holds));
            waiting.spawn(async move { drop(view.wait_for(|view| holds(view)).await) });
        }
        let all = async { while waiting.join_next().await.is_some() {} };
        match tokio::time::timeout(within, all).await {
            Ok(()) => Ok(()),
            Err(_) => Err(self
                .nodes
                .iter()
                .filter(|node| !holds(&node.view()))
                .map(|node| node.name().clone())
                .collect()),
        }
    }

    /// Cuts these nodes off, or lets them reach their edges again.
    pub fn cut(&self, which: impl Fn(usize) -> bool, off: bool) {
        for (number, node) in self.nodes.iter().enumerate() {
            if which(number) {
                node.cut(off);
            }
        }
    }
}

/// What is true until told otherwise.
fn flag() -> watch::Sender<bool> {
    watch::Sender::new(false)
}
