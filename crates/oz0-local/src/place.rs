//! A node's place in the data folder: its name, its token, what it remembers.
//!
//! Names are `node-1`, `node-2`, …; a process has the lowest that no other holds, for as long as it
//! lives. The token that goes with a name is kept, so that a node that comes back is the same node.

use std::fs::{self, File};
use std::path::PathBuf;

use oz0_api::token::{CreateToken, TokenKind};
use oz0_api::{Client, ClientError, Code, NodeName, PluginName};

use crate::error::LocalError;
use crate::folder::{DataFolder, is_locked, make_private, read_secret, try_lock, write_secret};

/// Nodes of one data folder, at most.
const NODES: u32 = 10_000;

/// Held for as long as the node lives.
const LOCK: &str = "node.lock";
/// The file that says what the node runs.
const RUNS: &str = "runs";
/// In it, where that is whatever is installed. No plugin has this name.
const ANY: &str = "*";

/// A node's name and folder, held until this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) name: NodeName,
    folder: PathBuf,
    _lock: File,
}

impl Place {
    /// The first that is free.
    pub(crate) fn take(data: &DataFolder) -> Result<Self, LocalError> {
        make_private(&data.nodes())?;
        for number in 1..=NODES {
            let name = format!("node-{number}");
            let folder = data.nodes().join(&name);
            make_private(&folder)?;
            if let Some(lock) = try_lock(&folder.join(LOCK))? {
                let name = name.parse().expect("`node-N` is a node's name");
                return Ok(Self { name, folder, _lock: lock });
            }
        }
        Err(LocalError::System {
            operation: "find a free name for this node",
            reason: format!("{NODES} nodes run on {}", data.root().display()),
        })
    }

    /// Writes down what this node runs: this plugin, or whatever is installed.
    pub(crate) fn runs(&self, only: Option<&PluginName>) -> Result<(), LocalError> {
        write_secret(&self.folder.join(RUNS), only.map_or(ANY, PluginName::as_str))
    }

    /// Whether a node of the data folder, other than this one, is there and runs the plugin.
    pub(crate) fn others_run(&self, data: &DataFolder, plugin: &PluginName) -> bool {
        let Ok(nodes) = fs::read_dir(data.nodes()) else { return false };
        nodes.flatten().map(|node| node.path()).any(|node| {
            node != self.folder
                && fs::read_to_string(node.join(RUNS))
                    .is_ok_and(|runs| runs == ANY || runs == plugin.as_str())
                && is_locked(&node.join(LOCK))
        })
    }

    /// Where this node keeps the bundles that it runs.
    pub(crate) fn bundles(&self) -> PathBuf {
        self.folder.join("bundles")
    }

    /// Where this node keeps what it remembers.
    pub(crate) fn memory(&self) -> PathBuf {
        self.folder.join("state.json")
    }

    /// The edge as this node: with the token that it has, if that is still its own, or a new one.
    pub(crate) async fn join(&self, anyone: &Client, admin: &Client) -> Result<Client, LocalError> {
        let failed = |source| LocalError::Edge {
            operation: format!("let {} join the edge", self.name),
            source,
        };
        let file = self.folder.join("token");
        if let Some(secret) = read_secret(&file)? {
            let node = anyone.with_token(&secret);
            match node.whoami().await {
                Ok(who) => {
                    let own = who.token.is_some_and(|token| {
                        token.kind == TokenKind::Node && token.name == self.name
                    });
                    if own {
                        return Ok(node);
                    }
                }
                Err(ClientError::Problem(problem)) if problem.code == Code::Unauthenticated => {}
                Err(error) => return Err(failed(error)),
            }
        }
        for token in admin.tokens().await.map_err(failed)?.tokens {
            let own = token.kind == TokenKind::Node && token.name == self.name;
            if own && token.revoked_at.is_none() {
                admin.revoke_token(&token.id).await.map_err(failed)?;
            }
        }
        let create =
            CreateToken { kind: TokenKind::Node, name: self.name.clone(), may_approve: false };
        let created = admin.create_token(&create).await.map_err(failed)?;
        write_secret(&file, &format!("{}\n", created.secret))?;
        Ok(anyone.with_token(&created.secret))
    }
}
