//! `oz0 node`: a node of an edge on another machine, or in another process of this one.
//!
//! It joins once, with a token that works once, and has a token of its own from then on. Both the edge's address and the
//! token are kept in the data folder, in `joined/`, with what the node remembers and the bundles that it runs. Losing all
//! of it costs a join.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use oz0_api::token::TokenKind;
use oz0_api::{Client, NodeName};
use oz0_edge::small::read_small;
use oz0_node::{Node, NodeOptions};
use oz0_telemetry::port::Told;
use oz0_telemetry::target;
use serde::{Deserialize, Serialize};

use crate::Machine;
use crate::endpoint::Endpoint;
use crate::error::LocalError;
use crate::folder::{DataFolder, failed, make_private, read_secret, try_lock, write_secret};
use crate::numbers::{self, Bound, Numbers};
use crate::up::{bind, url};

/// What a node knows of the edge that it joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joined {
    /// The edge's URL.
    pub edge: String,
    /// The node's name.
    pub node: NodeName,
}

/// The files of a joined node.
struct Files {
    folder: PathBuf,
}

impl Files {
    fn of(data: &DataFolder) -> Self {
        Self { folder: data.root().join("joined") }
    }

    fn joined(&self) -> PathBuf {
        self.folder.join("edge.toml")
    }

    fn token(&self) -> PathBuf {
        self.folder.join("token")
    }
}

impl Joined {
    /// Joins the edge at `url` with a token for that, and keeps what came of it in the data folder, in place of what an
    /// earlier join left there.
    ///
    /// # Errors
    ///
    /// [`LocalError`] when the edge is not reached or does not take the token, or the folder cannot be written.
    pub async fn join(data: &DataFolder, url: &str, token: &str) -> Result<Self, LocalError> {
        let failed = |source| LocalError::Edge { operation: format!("join {url}"), source };
        let anyone = Client::tcp(url).map_err(failed)?;
        // What cannot be written must not cost the token, which works once.
        data.make()?;
        let files = Files::of(data);
        make_private(&files.folder)?;
        let created = anyone.with_token(token).join().await.map_err(failed)?;
        let joined = Self { edge: url.trim_end_matches('/').to_owned(), node: created.token.name };
        write_secret(&files.token(), &format!("{}\n", created.secret))?;
        let text = toml::to_string(&joined).map_err(|error| LocalError::System {
            operation: "write down which edge was joined",
            reason: error.to_string(),
        })?;
        write_secret(&files.joined(), &text)?;
        Ok(joined)
    }

    /// What an earlier join left in the data folder.
    ///
    /// # Errors
    ///
    /// [`LocalError::NotJoined`] where nothing did.
    pub fn read(data: &DataFolder) -> Result<Self, LocalError> {
        let path = Files::of(data).joined();
        let bytes = match read_small(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(LocalError::NotJoined { folder: data.root().to_owned() });
            }
            read => read.map_err(failed("read", &path))?,
        };
        let text = String::from_utf8_lossy(&bytes);
        toml::from_str(&text).map_err(|_| LocalError::System {
            operation: "read which edge was joined",
            reason: format!("{} is not what `oz0 node join` writes", path.display()),
        })
    }
}

/// How `oz0 node` is run.
#[derive(Debug)]
pub struct JoinedOptions {
    /// The data folder.
    pub folder: DataFolder,
    /// The MCP endpoint's port.
    pub mcp_listen: SocketAddr,
    /// Host names, beside loopback's, that requests may name.
    pub hosts: BTreeSet<String>,
    /// The port for whoever gathers numbers.
    pub metrics: Option<SocketAddr>,
    /// What the node is started with.
    pub machine: Machine,
}

/// A running `oz0 node`.
pub struct JoinedNode {
    joined: Joined,
    mcp: String,
    node: Node,
    endpoint: Endpoint,
    numbers: Option<Numbers>,
    _lock: File,
}

impl std::fmt::Debug for JoinedNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JoinedNode").field("joined", &self.joined).finish_non_exhaustive()
    }
}

impl JoinedNode {
    /// Starts it. An edge that does not answer is asked again and again: until it answers, nothing is called.
    ///
    /// # Errors
    ///
    /// [`LocalError`] when nothing was joined, the node runs already, or the port is taken.
    pub async fn start(options: JoinedOptions) -> Result<Self, LocalError> {
        let JoinedOptions { folder, mcp_listen, hosts, metrics, machine } = options;
        let joined = Joined::read(&folder)?;
        let files = Files::of(&folder);
        let path = files.folder.join("node.lock");
        let Some(lock) = try_lock(&path)? else {
            return Err(LocalError::NodeRuns {
                node: joined.node,
                folder: folder.root().to_owned(),
            });
        };
        let Some(token) = read_secret(&files.token())? else {
            return Err(LocalError::NotJoined { folder: folder.root().to_owned() });
        };
        let port = bind("the MCP endpoint", mcp_listen)?;
        let mcp = url(&port, "http", "/mcp")?;
        let numbers = Bound::at(metrics)?;
        let edge = Client::tcp(&joined.edge)
            .map_err(|source| LocalError::Edge { operation: "reach the edge".to_owned(), source })?
            .with_token(&token);
        known(&edge, &joined).await?;
        let options = NodeOptions {
            tell: machine.say.node(&joined.node),
            memory: Some(files.folder.join("state.json")),
            bundles: Some(files.folder.join("bundles")),
            in_place: false,
            clients_need_tokens: true,
            ..machine.node.clone()
        };
        let node = Node::start(machine.parts(edge)?, options);
        let mut told = Told { hosts: hosts.clone(), ..Told::default() };
        numbers::of_node(&mut told, &node);
        let endpoint = Endpoint::serve(&node, port, mcp_listen, hosts)?;
        let numbers = numbers.map(|bound| bound.serve(told)).transpose()?;
        tracing::info!(target: target::NODE, node = %joined.node, edge = joined.edge, url = mcp, "node listens");
        Ok(Self { joined, mcp, node, endpoint, numbers, _lock: lock })
    }

    /// The edge, and this node's name.
    pub fn joined(&self) -> &Joined {
        &self.joined
    }

    /// Where MCP clients reach it: `http://HOST:PORT/mcp`.
    pub fn mcp(&self) -> &str {
        &self.mcp
    }

    /// Where its numbers are, where a port of their own was asked for.
    pub fn metrics(&self) -> Option<&str> {
        self.numbers.as_ref().map(Numbers::url)
    }

    /// Ends in order: the endpoint takes nothing new, calls in flight have a moment to end, and every server is stopped.
    pub async fn shutdown(self) {
        if let Some(numbers) = self.numbers {
            numbers.close();
        }
        self.endpoint.close().await;
        self.node.shutdown().await;
        tracing::info!(target: target::NODE, "node stopped");
    }
}

/// That the edge, where it answers, knows the token as this node's. One that does not answer may do so later.
async fn known(edge: &Client, joined: &Joined) -> Result<(), LocalError> {
    match edge.whoami().await {
        Ok(who) => {
            let own = |token: oz0_api::token::TokenInfo| {
                token.kind == TokenKind::Node && token.name == joined.node
            };
            if who.token.is_some_and(own) {
                return Ok(());
            }
            Err(LocalError::NotKnown { joined: joined.clone() })
        }
        Err(error) if error.code() == Some(oz0_api::Code::Unauthenticated) => {
            Err(LocalError::NotKnown { joined: joined.clone() })
        }
        Err(_) => Ok(()),
    }
}
