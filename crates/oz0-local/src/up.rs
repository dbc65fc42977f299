//! `oz0 up`: an edge, a node and the MCP endpoint in one process.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use oz0_api::memory::pipe;
use oz0_api::plugin::{Install, PluginDescription, PluginStatus, Source};
use oz0_api::token::{CreateToken, TokenKind};
use oz0_api::{Client, Code, PluginName};
use oz0_edge::Edge;
use oz0_edge::serve::Front;
use oz0_node::{DevFolder, Node, NodeOptions};
use oz0_telemetry::port::Told;
use oz0_telemetry::target;
use tokio::task::JoinHandle;

use crate::endpoint::Endpoint;
use crate::error::LocalError;
use crate::folder::DataFolder;
use crate::kept::Kept;
use crate::numbers::{self, Bound, Numbers};
use crate::place::Place;
use crate::seat::{Role, Seat};
use crate::serving::{Beside, Port, Serving};
use crate::{Machine, Say};

/// How `oz0 up` is run.
#[derive(Debug)]
pub struct UpOptions {
    /// The data folder.
    pub folder: DataFolder,
    /// The edge's port.
    pub listen: SocketAddr,
    /// The MCP endpoint's port.
    pub mcp_listen: SocketAddr,
    /// How both ports are reached.
    pub front: Front,
    /// The port for whoever gathers numbers.
    pub metrics: Option<SocketAddr>,
    /// Folders to run in place, beside what is installed.
    pub plugins: Vec<DevFolder>,
    /// What the node is started with.
    pub machine: Machine,
}

/// Where it listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// The edge: `http://HOST:PORT`.
    pub edge: String,
    /// The MCP endpoint: `http://HOST:PORT/mcp`.
    pub mcp: String,
    /// The Unix socket.
    pub socket: PathBuf,
    /// The numbers: `http://HOST:PORT/metrics`, where a port of their own was asked for.
    pub metrics: Option<String>,
}

/// A running `oz0 up`.
pub struct Up {
    addresses: Addresses,
    serving: Serving,
    node: Node,
    endpoint: Endpoint,
    following: Vec<JoinHandle<()>>,
    numbers: Option<Numbers>,
    _place: Place,
}

impl std::fmt::Debug for Up {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Up").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

impl Up {
    /// Starts it. Where anything of it cannot be started, nothing of it is.
    pub async fn start(options: UpOptions) -> Result<Self, LocalError> {
        let UpOptions { folder, listen, mcp_listen, front, metrics, plugins, machine } = options;
        let hosts = front.hosts.clone();
        let described = describe(plugins)?;
        // Where another one runs on the folder, that is what is wrong, and the port in use comes of it.
        if let Some(taken) = Seat::stays(&folder) {
            return Err(taken);
        }
        let edge_port = bind("the edge", listen)?;
        let mcp_port = bind("the MCP endpoint", mcp_listen)?;
        let numbers = Bound::at(metrics)?;
        let mut addresses = Addresses {
            edge: url(&edge_port, "http", "")?,
            mcp: url(&mcp_port, "http", "/mcp")?,
            socket: folder.socket(),
            metrics: None,
        };
        folder.make()?;
        let seat = Seat::claim(&folder, Role::Up).await?;
        let place = Place::take(&folder)?;
        place.runs(None)?;
        let folders = described.iter().map(|(dev, description)| pinned(dev, description)).collect();
        let (connector, listener) = pipe();
        let beside = Beside {
            threads: 1,
            tcp: Some(Port { listener: edge_port, front, tls: None }),
            memory: Some(listener),
        };
        let serving = Serving::start(&folder, Kept::default(), seat, beside).await?;
        let anyone = Client::memory(connector);
        let started = async {
            let admin = admin(&folder, &serving.edge, &anyone).await?;
            let mut following = Vec::new();
            let mut asked = BTreeMap::new();
            for (plugin, description) in described {
                install(&admin, &folder, &place, &description, &machine.say).await?;
                asked.extend(plugin.asked().map(|asked| (description.name.clone(), asked.clone())));
                following.push((plugin, description));
            }
            if !machine.named.is_empty() {
                let plugins = admin.plugins().await.map_err(|source| LocalError::Edge {
                    operation: "list the plugins".to_owned(),
                    source,
                })?;
                machine.check_named(&plugins.into_iter().map(|one| one.name).collect())?;
            }
            let node = place.join(&anyone, &admin).await?;
            let options = NodeOptions {
                tell: machine.say.node(&place.name),
                memory: Some(place.memory()),
                bundles: Some(place.bundles()),
                folders,
                asked,
                ..machine.node.clone()
            };
            let node = Node::start(machine.parts(node)?, options);
            let following = following
                .into_iter()
                .map(|(folder, description)| follow(folder, description, &admin, &machine.say));
            Ok((node, following.collect()))
        };
        let (node, following) = match started.await {
            Ok(started) => started,
            Err(error) => {
                serving.close().await;
                return Err(error);
            }
        };
        let mut told = Told { hosts: hosts.clone(), ..Told::default() };
        numbers::of_edge(&mut told, &serving.edge);
        numbers::of_node(&mut told, &node);
        let endpoint = Endpoint::serve(&node, mcp_port, mcp_listen, hosts)?;
        let numbers = numbers.map(|bound| bound.serve(told)).transpose()?;
        addresses.metrics = numbers.as_ref().map(|numbers| numbers.url().to_owned());
        tracing::info!(target: target::EDGE, url = addresses.edge, "edge listens");
        tracing::info!(target: target::NODE, url = addresses.mcp, "node listens");
        Ok(Self { addresses, serving, node, endpoint, following, numbers, _place: place })
    }

    /// Where it listens.
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Ends in order: the endpoint takes nothing new, calls in flight have a moment to end, every
    /// server is stopped, and the edge is closed.
    pub async fn shutdown(self) {
        for task in &self.following {
            task.abort();
        }
        if let Some(numbers) = self.numbers {
            numbers.close();
        }
        self.endpoint.close().await;
        self.node.shutdown().await;
        self.serving.close().await;
        tracing::info!(target: target::EDGE, "edge and node stopped");
    }
}

/// What the folders hold, before anything is started.
fn describe(plugins: Vec<DevFolder>) -> Result<Vec<(DevFolder, PluginDescription)>, LocalError> {
    let mut described = Vec::new();
    let mut seen: BTreeMap<PluginName, PathBuf> = BTreeMap::new();
    for folder in plugins {
        let description = folder.describe()?;
        match seen.insert(description.name.clone(), folder.root().to_owned()) {
            // Named twice.
            Some(one) if one == folder.root() => {}
            Some(one) => {
                return Err(LocalError::Twice {
                    name: description.name,
                    one,
                    other: folder.root().to_owned(),
                });
            }
            None => described.push((folder, description)),
        }
    }
    Ok(described)
}

/// Registers a folder that is run in place. Where the plugin was run from another folder, this one takes its place only
/// if nobody runs that: its clients would call this one's code. Whoever starts has written down what it runs before it
/// looks, so of two that start at once at least one sees the other; and the edge takes the new folder only in the place
/// of the one that was looked at.
pub(crate) async fn install(
    admin: &Client,
    data: &DataFolder,
    place: &Place,
    description: &PluginDescription,
    say: &Say,
) -> Result<(), LocalError> {
    let name = &description.name;
    let failed = |source| LocalError::Edge { operation: format!("install {name}"), source };
    let Err(error) = admin.install(description).await else { return Ok(()) };
    let Source::Dev { folder: new } = &description.source else { return Err(failed(error)) };
    if error.code() != Some(Code::Conflict) {
        return Err(failed(error));
    }
    let running = match admin.plugin(name).await {
        Ok(PluginStatus { source: Source::Dev { folder }, .. }) if folder != *new => folder,
        _ => return Err(failed(error)),
    };
    let gone = !Path::new(&running).is_dir();
    if !gone && place.others_run(data, name) {
        return Err(LocalError::OtherFolder {
            name: name.clone(),
            running: running.into(),
            new: new.into(),
        });
    }
    let terms = Install { instead_of: Some(running.clone()), ..Install::default() };
    admin.install_on(description, &terms).await.map_err(failed)?;
    let why = if gone { "is gone" } else { "nobody runs now" };
    say.line(&format!(
        "{name} is from now on what is in {new}; it was what is in {running}, which {why}"
    ));
    Ok(())
}

/// The folder that a plugin is run from here, or not at all.
pub(crate) fn pinned(dev: &DevFolder, description: &PluginDescription) -> (PluginName, PathBuf) {
    (description.name.clone(), dev.root().to_owned())
}

/// Follows the edits in a folder.
pub(crate) fn follow(
    folder: DevFolder,
    description: PluginDescription,
    admin: &Client,
    say: &Say,
) -> JoinHandle<()> {
    let (admin, say) = (admin.clone(), say.clone());
    let shown = folder.root().display().to_string();
    tokio::spawn(folder.keep(admin, description, move |event| say.edit(&shown, &event)))
}

/// The edge in this process as an administrator: with the folder's token, or, where that was revoked
/// or the file is gone, with one that is in no file.
async fn admin(folder: &DataFolder, edge: &Edge, anyone: &Client) -> Result<Client, LocalError> {
    if let Some(secret) = folder.admin_token()? {
        let admin = anyone.with_token(&secret);
        let kind = |who: oz0_api::token::Whoami| who.token.map(|token| token.kind);
        if admin.whoami().await.is_ok_and(|who| kind(who) == Some(TokenKind::Admin)) {
            return Ok(admin);
        }
    }
    let create = CreateToken {
        kind: TokenKind::Admin,
        name: "oz0-up".parse().expect("it is a name"),
        may_approve: false,
    };
    Ok(anyone.with_token(&edge.reissue_token(&create).await?.secret))
}

pub(crate) fn bind(what: &'static str, address: SocketAddr) -> Result<TcpListener, LocalError> {
    TcpListener::bind(address).map_err(|source| LocalError::Listen { what, address, source })
}

/// A bound port as one that this runtime accepts on; it was bound at `address`.
pub(crate) fn accepting(
    what: &'static str,
    listener: TcpListener,
    address: SocketAddr,
) -> Result<tokio::net::TcpListener, LocalError> {
    listener
        .set_nonblocking(true)
        .and_then(|()| tokio::net::TcpListener::from_std(listener))
        .map_err(|source| LocalError::Listen { what, address, source })
}

pub(crate) fn url(listener: &TcpListener, scheme: &str, path: &str) -> Result<String, LocalError> {
    let address = listener.local_addr().map_err(|error| LocalError::System {
        operation: "find the port",
        reason: error.to_string(),
    })?;
    // One that is every address is reached on this machine by loopback's.
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    Ok(format!("{scheme}://{}{path}", SocketAddr::new(ip, address.port())))
}
