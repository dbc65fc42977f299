//! `oz0 mcp`: one plugin's functions over standard input and output, without any port.
//!
//! The process is a node of its own, which runs that one plugin. Whether it is also the edge depends
//! on who else runs on the data folder, and may change while it runs; so its node always speaks to
//! the edge over the folder's socket, whoever listens there.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use oz0_api::token::TokenKind;
use oz0_api::{Client, ClientError, Code};
use oz0_mcp::server::{Principal, Server, ServerOptions, StdioError, standard_streams};
use oz0_node::{DevFolder, Gateway, Node, NodeOptions};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::error::LocalError;
use crate::find::greet;
use crate::folder::DataFolder;
use crate::kept::Kept;
use crate::place::Place;
use crate::seat::Seat;
use crate::serving::{Beside, Serving};
use crate::up::{follow, install, pinned};
use crate::{Machine, Say};

/// How long the edge is waited for when this process starts: somebody else may be opening it.
const EDGE_WITHIN: Duration = Duration::from_secs(20);
/// Between two tries.
const TRY: Duration = Duration::from_millis(20);
/// Before a process that could not be the edge tries again.
const AGAIN: Duration = Duration::from_secs(5);

/// How long a client's first listing waits while its one plugin's environment is being made. MCP clients give a server
/// 30 s to start, by default, and some count its first listing in: what is not there by then they hear of later, as a
/// changed list.
const INSTALL: Duration = Duration::from_secs(25);

/// A running `oz0 mcp`.
pub struct Mcp {
    node: Node,
    server: Server<Gateway>,
    following: JoinHandle<()>,
    stop: watch::Sender<bool>,
    seat: JoinHandle<()>,
    _place: Place,
}

impl std::fmt::Debug for Mcp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mcp").finish_non_exhaustive()
    }
}

impl Mcp {
    /// Starts it for the plugin in this folder.
    pub async fn start(
        folder: &DataFolder,
        plugin: DevFolder,
        machine: &Machine,
    ) -> Result<Self, LocalError> {
        let description = plugin.describe()?;
        machine.check_named(&BTreeSet::from([description.name.clone()]))?;
        folder.make()?;
        let (stop, stopped) = watch::channel(false);
        let (failed, failures) = mpsc::unbounded_channel();
        let seat = tokio::spawn(keep_seat(folder.clone(), stopped, failed, machine.say.clone()));
        let mut edge = Finding { folder, failures, until: Instant::now() + EDGE_WITHIN };
        let started = async {
            let anyone = Client::unix(&folder.socket());
            let admin = edge.admin(&anyone).await?;
            let place = Place::take(folder)?;
            place.runs(Some(&description.name))?;
            let node = loop {
                match place.join(&anyone, &admin).await {
                    Err(error) => edge.bear(error).await?,
                    Ok(node) => break node,
                }
            };
            while let Err(error) = install(&admin, folder, &place, &description, &machine.say).await
            {
                edge.bear(error).await?;
            }
            let options = NodeOptions {
                tell: machine.say.node(&place.name),
                memory: Some(place.memory()),
                bundles: Some(place.bundles()),
                install: INSTALL,
                asked: plugin
                    .asked()
                    .map(|asked| (description.name.clone(), asked.clone()))
                    .into_iter()
                    .collect(),
                only: Some(BTreeSet::from([description.name.clone()])),
                folders: BTreeMap::from([pinned(&plugin, &description)]),
                ..machine.node.clone()
            };
            let node = Node::start(machine.parts(node)?, options);
            Ok((place, node, follow(plugin, description, &admin, &machine.say)))
        };
        match started.await {
            Ok((place, node, following)) => {
                let options = ServerOptions::new("oz0", env!("CARGO_PKG_VERSION"));
                let server = Server::new(node.gateway(), options);
                Ok(Self { node, server, following, stop, seat, _place: place })
            }
            Err(error) => {
                stop.send_replace(true);
                let _ = seat.await;
                Err(error)
            }
        }
    }

    /// Serves standard input and output until the client closes its end, or `stop` ends; and then
    /// ends in order.
    pub async fn serve(self, stop: impl Future<Output = ()>) -> Result<(), StdioError> {
        let (input, output) = standard_streams();
        let mut serving = tokio::spawn({
            let server = self.server.clone();
            async move { server.stdio(Principal::local(), input, output).await }
        });
        let served = tokio::select! {
            served = &mut serving => served,
            () = stop => {
                self.server.shutdown();
                serving.await
            }
        };
        self.following.abort();
        self.node.shutdown().await;
        self.stop.send_replace(true);
        let _ = self.seat.await;
        served.unwrap_or(Ok(()))
    }
}

/// Is the edge whenever nobody else is, until it is told to stop.
async fn keep_seat(
    folder: DataFolder,
    mut stopped: watch::Receiver<bool>,
    failed: mpsc::UnboundedSender<LocalError>,
    say: Say,
) {
    loop {
        let served = async {
            let seat = Seat::wait(&folder).await?;
            Serving::start(&folder, Kept::default(), seat, Beside::default()).await
        };
        let served = tokio::select! {
            served = served => served,
            _ = stopped.wait_for(|stop| *stop) => return,
        };
        match served {
            Ok(serving) => {
                let stop = tokio::select! {
                    _ = stopped.wait_for(|stop| *stop) => true,
                    () = Seat::wanted(&folder) => false,
                };
                serving.close().await;
                if stop {
                    return;
                }
            }
            Err(error) => {
                if let Err(error) = failed.send(error) {
                    // It had started: the node goes on with what it holds.
                    say.line(&format!("this process could not be the edge: {}", error.0));
                }
                tokio::select! {
                    _ = stopped.wait_for(|stop| *stop) => return,
                    () = tokio::time::sleep(AGAIN) => {}
                }
            }
        }
    }
}

/// The start's patience with an edge that is being opened, or changes hands, and with nothing else.
struct Finding<'a> {
    folder: &'a DataFolder,
    failures: mpsc::UnboundedReceiver<LocalError>,
    until: Instant,
}

impl Finding<'_> {
    /// The edge as an administrator, with the token in the data folder.
    async fn admin(&mut self, anyone: &Client) -> Result<Client, LocalError> {
        let path = self.folder.admin_token_file();
        loop {
            if let Err(silent @ LocalError::Silent { .. }) = greet(self.folder, anyone).await {
                return Err(silent);
            }
            let asked = match self.folder.admin_token()? {
                Some(secret) => {
                    let admin = anyone.with_token(&secret);
                    admin.whoami().await.map(|who| (Some(admin), who))
                }
                None => anyone.whoami().await.map(|who| (None, who)),
            };
            let reason = match asked {
                Ok((Some(admin), who)) => match who.token {
                    Some(token) if token.kind == TokenKind::Admin => return Ok(admin),
                    _ => "it is the token of something else".to_owned(),
                },
                Ok((None, _)) => "it is missing or empty".to_owned(),
                Err(ClientError::Problem(problem)) if problem.code == Code::Unauthenticated => {
                    problem.message
                }
                Err(source) => {
                    let operation = "reach the edge".to_owned();
                    self.bear(LocalError::Edge { operation, source }).await?;
                    continue;
                }
            };
            return Err(LocalError::AdminToken { path, reason });
        }
    }

    /// Waits a little, where the error is one that waiting helps.
    async fn bear(&mut self, error: LocalError) -> Result<(), LocalError> {
        if let Ok(failure) = self.failures.try_recv() {
            return Err(failure);
        }
        let passes = match &error {
            LocalError::Edge { source, .. } => match source {
                ClientError::Unreachable { .. } | ClientError::Unreadable { .. } => true,
                ClientError::Problem(problem) => problem.code == Code::Internal,
                _ => false,
            },
            _ => false,
        };
        if !passes || Instant::now() > self.until {
            return Err(error);
        }
        tokio::time::sleep(TRY).await;
        Ok(())
    }
}
