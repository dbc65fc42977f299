//! `oz0 edge`: the edge of a data folder, and nothing beside it.

use std::net::SocketAddr;
use std::num::NonZero;
use std::path::PathBuf;

use oz0_edge::serve::Front;
use oz0_edge::tls::Tls;
use oz0_telemetry::port::Told;
use oz0_telemetry::target;

use crate::error::LocalError;
use crate::folder::DataFolder;
use crate::kept::Kept;
use crate::numbers::{self, Bound, Numbers};
use crate::seat::{Role, Seat};
use crate::serving::{Beside, Port, Serving};
use crate::up::{bind, url};

/// How `oz0 edge` is run.
#[derive(Debug)]
pub struct EdgeOptions {
    /// The data folder.
    pub folder: DataFolder,
    /// Where its store and its bundles are.
    pub kept: Kept,
    /// Its port.
    pub listen: SocketAddr,
    /// How that is reached.
    pub front: Front,
    /// The certificate that it shows; plain HTTP without one, which nodes and commands speak to loopback alone.
    pub tls: Option<Tls>,
    /// The port for whoever gathers numbers.
    pub metrics: Option<SocketAddr>,
}

/// A running `oz0 edge`.
pub struct EdgeAlone {
    url: String,
    socket: PathBuf,
    serving: Serving,
    numbers: Option<Numbers>,
}

impl std::fmt::Debug for EdgeAlone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EdgeAlone").field("url", &self.url).finish_non_exhaustive()
    }
}

impl EdgeAlone {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// [`LocalError`] when the folder is another's, the port is taken or the store cannot be opened; then nothing is left
    /// of it.
    pub async fn start(options: EdgeOptions) -> Result<Self, LocalError> {
        let EdgeOptions { folder, kept, listen, front, tls, metrics } = options;
        // Where another one runs on the folder, that is what is wrong, and the port in use comes of it.
        if let Some(taken) = Seat::stays(&folder) {
            return Err(taken);
        }
        let listener = bind("the edge", listen)?;
        let url = url(&listener, if tls.is_some() { "https" } else { "http" }, "")?;
        let numbers = Bound::at(metrics)?;
        folder.make()?;
        let seat = Seat::claim(&folder, Role::Edge).await?;
        let mut told = Told { hosts: front.hosts.clone(), ..Told::default() };
        let beside = Beside {
            tcp: Some(Port { listener, front, tls }),
            memory: None,
            threads: std::thread::available_parallelism().map_or(1, NonZero::get),
        };
        let serving = Serving::start(&folder, kept, seat, beside).await?;
        numbers::of_edge(&mut told, &serving.edge);
        let numbers = match numbers.map(|bound| bound.serve(told)).transpose() {
            Ok(numbers) => numbers,
            Err(error) => {
                serving.close().await;
                return Err(error);
            }
        };
        tracing::info!(target: target::EDGE, url, "edge listens");
        Ok(Self { url, socket: folder.socket(), serving, numbers })
    }

    /// Where it listens: `http://HOST:PORT` or `https://HOST:PORT`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its Unix socket.
    pub fn socket(&self) -> &std::path::Path {
        &self.socket
    }

    /// Where its numbers are, where a port of their own was asked for.
    pub fn metrics(&self) -> Option<&str> {
        self.numbers.as_ref().map(Numbers::url)
    }

    /// Ends in order: who waits is answered, what is in flight has a moment to end, and the store is closed.
    pub async fn shutdown(self) {
        if let Some(numbers) = self.numbers {
            numbers.close();
        }
        self.serving.close().await;
        tracing::info!(target: target::EDGE, "edge stopped");
    }
}
