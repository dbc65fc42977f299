//! Why something local could not be done.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use oz0_api::Kind;
use oz0_api::{ClientError, NodeName, PluginName};
use oz0_edge::StoreError;
use oz0_edge::tls::TlsError;
use oz0_node::DescribeError;

use crate::joined::Joined;

/// Why oz0 could not be started, or found, on this machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalError {
    /// The data folder, or a file in it.
    #[error("could not {operation} {}: {source}", path.display())]
    Folder {
        /// What was tried.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A socket's path is bounded by the system.
    #[error("{} is too long for the path of a Unix socket", path.display())]
    SocketPath {
        /// The path.
        path: PathBuf,
    },
    /// Somebody else runs on the data folder, and does not give it up.
    #[error("{holder} runs on {} already", folder.display())]
    Taken {
        /// The folder.
        folder: PathBuf,
        /// Who, with its process.
        holder: String,
        /// Whether that is an `oz0 edge`, which takes plugins while it runs.
        is_edge: bool,
    },
    /// Somebody holds the data folder, and does not answer.
    #[error(
        "{holder} is the edge of {} and has not answered for {seconds} s",
        folder.display()
    )]
    Silent {
        /// The folder.
        folder: PathBuf,
        /// Who, with its process.
        holder: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// A port.
    #[error("could not listen on {address} for {what}")]
    Listen {
        /// For what.
        what: &'static str,
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The edge's store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The edge, asked for something.
    #[error("could not {operation}: {source}")]
    Edge {
        /// What was asked.
        operation: String,
        /// Why it was not done.
        source: ClientError,
    },
    /// There is no admin token that the edge takes.
    #[error("{} holds no admin token that the edge takes: {reason}", path.display())]
    AdminToken {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A plugin's folder.
    #[error(transparent)]
    Plugin(#[from] DescribeError),
    /// Two folders of one plugin.
    #[error("{} and {} are both the plugin {name}", one.display(), other.display())]
    Twice {
        /// The plugin.
        name: PluginName,
        /// A folder.
        one: PathBuf,
        /// The other folder.
        other: PathBuf,
    },
    /// A plugin of this name is run from another folder.
    #[error(
        "{name} is being run from {}, and {} is another plugin of that name", running.display(), new.display()
    )]
    OtherFolder {
        /// The plugin.
        name: PluginName,
        /// The folder that it is run from.
        running: PathBuf,
        /// The folder that was named.
        new: PathBuf,
    },
    /// Something is given to a plugin that is not run.
    #[error("no plugin {name} is run here, and something is given to it")]
    NotRun {
        /// The name.
        name: PluginName,
        /// The plugins that are run.
        run: BTreeSet<PluginName>,
    },
    /// No edge was joined from this data folder.
    #[error("no edge was joined from {}", folder.display())]
    NotJoined {
        /// The folder.
        folder: PathBuf,
    },
    /// The node of this data folder runs already.
    #[error("the node {node} of {} runs already", folder.display())]
    NodeRuns {
        /// The node.
        node: NodeName,
        /// The folder.
        folder: PathBuf,
    },
    /// The edge does not take the node's token.
    #[error("the edge at {} does not know the node {} any more", joined.edge, joined.node)]
    NotKnown {
        /// What was joined.
        joined: Joined,
    },
    /// A certificate.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A file of tokens.
    #[error("{} does not decode: {reason}", path.display())]
    Credentials {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// What starts servers, the runtime, or an MCP connection.
    #[error("could not {operation}: {reason}")]
    System {
        /// What was tried.
        operation: &'static str,
        /// Why it failed.
        reason: String,
    },
}

impl LocalError {
    /// How a command ends because of it.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Edge { source, .. } => source.kind(),
            Self::Plugin(error) if !matches!(error, DescribeError::Load(_)) => Kind::Refused,
            Self::AdminToken { .. }
            | Self::OtherFolder { .. }
            | Self::NotKnown { .. }
            | Self::Store(StoreError::NotEmpty { .. } | StoreError::OtherStore { .. }) => {
                Kind::Refused
            }
            Self::Twice { .. } | Self::NotRun { .. } => Kind::Usage,
            _ => Kind::Failed,
        }
    }

    /// What to do about it, where something can be said.
    pub fn hint(&self) -> Option<String> {
        let said = match self {
            Self::Folder { .. } => "check that the folder is yours and the disk is not full",
            Self::SocketPath { .. } => "give a folder with a shorter path: `--data DIR`",
            Self::Taken { is_edge: true, .. } => {
                "commands on this folder speak to it, and `oz0 plugin install DIR|BUNDLE` gives it a plugin; or give this \
                 one another data folder with `--data DIR`"
            }
            Self::Taken { .. } => {
                "one that runs is given no further plugin: stop it and start it anew with every plugin's folder, or \
                 give this one another data folder with `--data DIR`"
            }
            Self::Silent { .. } => {
                "it may have been stopped with Ctrl-Z: let it go on with `fg`, or end it; or give \
                 this one another folder with `--data DIR`"
            }
            Self::Listen { source, .. } => match source.kind() {
                io::ErrorKind::AddrInUse => {
                    "stop what listens there, or choose another with `--listen` and `--mcp-listen` \
                     (port 0 picks a free one)"
                }
                _ => "choose another address with `--listen` and `--mcp-listen`",
            },
            Self::Store(error) => return error.hint().map(str::to_owned),
            Self::Edge { source, .. } => return source.hint().map(str::to_owned),
            Self::AdminToken { .. } => {
                "make one with `oz0 token create`, and write it into that file; or give another \
                 folder with `--data DIR`"
            }
            Self::Twice { .. } => "name one of them",
            Self::OtherFolder { name, .. } => {
                return Some(format!(
                    "give one of them another `name:` in its oz0-plugin.yaml (`oz0 wrap --name` names a wrapped \
                     server), let the other one go with `oz0 plugin remove {name}`, or give this one another data \
                     folder with `--data DIR`"
                ));
            }
            Self::NotRun { run, .. } if run.is_empty() => "name its folder as well",
            Self::NotRun { run, .. } => {
                let run: Vec<&str> = run.iter().map(PluginName::as_str).collect();
                return Some(format!("these are run: {}", run.join(", ")));
            }
            Self::NotJoined { .. } | Self::NotKnown { .. } => {
                "make a token with `oz0 token create --node NAME`, and join with: oz0 node join URL"
            }
            Self::NodeRuns { .. } => {
                "stop it first, or give this one another folder with `--data DIR`"
            }
            Self::Tls(_) => {
                "give the chain with `--tls-cert FILE`, the edge's own certificate first, and its key with `--tls-key FILE`"
            }
            Self::Credentials { .. } => "mend it, or delete it and log in again with: oz0 login",
            Self::Plugin(_) | Self::System { .. } => return None,
        };
        Some(said.to_owned())
    }
}
