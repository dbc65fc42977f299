//! The edge's surfaces: the same API over TCP, the Unix socket and a pipe in memory.
//!
//! What differs is who is behind a connection without a token. Over TCP that is anyone, so nothing
//! is answered. The socket is in a folder that only its owner opens, and the pipe is in the edge's
//! own process: there it is somebody who may read and call, and nothing more.

use std::collections::BTreeSet;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::path::Path;

use axum::Router;
use axum::serve::Listener;
use oz0_api::memory::MemoryListener;
pub use oz0_serve::proxy::Network;
use oz0_serve::{Fair, serve, serve_tcp};
use tokio::io::DuplexStream;
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::UnixListener;

use crate::tls::{Tls, TlsListener};
use crate::{Edge, api};

/// Where requests come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Surface {
    /// A TCP port.
    Tcp(Front),
    /// The Unix socket in the data folder, or the pipe in memory.
    Local,
}

/// How an edge's port is reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Front {
    /// Host names, beside loopback ones, that `Host` may have: `edge.example`, without a port.
    pub hosts: BTreeSet<String>,
    /// Where people reach it: `https://edge.example`, of a proxy that stands in front.
    pub public: Option<url::Url>,
    /// The proxies that are believed when they say whom they stand for.
    pub proxies: Vec<Network>,
    /// Whether it is served over TLS.
    pub tls: bool,
}

impl From<BTreeSet<String>> for Front {
    fn from(hosts: BTreeSet<String>) -> Self {
        Self { hosts, ..Self::default() }
    }
}

/// How a request came, as far as anybody who is believed can say. An extension of each one that is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// Whoever sent it; none over no network.
    pub client: Option<IpAddr>,
    /// Whether it came over TLS.
    pub secure: bool,
}

impl Edge {
    /// The API for one surface.
    pub fn router(&self, surface: Surface) -> Router {
        api::router(self, surface, Router::new())
    }

    /// Serves the API over TCP until `stop` ends.
    pub async fn serve_tcp(
        &self,
        listener: TcpListener,
        front: impl Into<Front>,
        stop: impl Future<Output = ()> + Send + 'static,
    ) {
        self.serve_tcp_with(listener, front.into(), Router::new(), stop).await;
    }

    /// Serves the API over TCP, and beside it `pages`, which are guarded as it is, until `stop` ends.
    pub async fn serve_tcp_with(
        &self,
        listener: TcpListener,
        front: Front,
        pages: Router,
        stop: impl Future<Output = ()> + Send + 'static,
    ) {
        let router = api::router(self, Surface::Tcp(front), pages);
        serve_tcp(listener, router, self.bounds, stop).await;
    }

    /// Serves the API over TCP with TLS, and beside it `pages`, until `stop` ends.
    pub async fn serve_tls_with(
        &self,
        listener: TcpListener,
        tls: &Tls,
        front: Front,
        pages: Router,
        stop: impl Future<Output = ()> + Send + 'static,
    ) {
        let listener = TlsListener::new(Fair::tcp(listener, self.bounds.each), tls);
        let surface = Surface::Tcp(Front { tls: true, ..front });
        serve(listener, api::router(self, surface, pages), self.bounds, stop).await;
    }

    /// Serves the API over the Unix socket at `path` until `stop` ends.
    #[cfg(unix)]
    pub async fn serve_unix(
        &self,
        path: &Path,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let listener = Self::bind_unix(path)?;
        self.serve_unix_on(listener, stop).await;
        let _ = std::fs::remove_file(path);
        Ok(())
    }

    /// Listens at `path`, for this user alone. Only whoever holds the data folder's lock may: the
    /// lock says that no other edge listens there, so a socket that an earlier one left is replaced.
    #[cfg(unix)]
    pub fn bind_unix(path: &Path) -> io::Result<UnixListener> {
        use std::os::unix::fs::PermissionsExt as _;
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(path)?;
        // Until here the mode was the umask's, in a folder that nobody else can enter.
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        Ok(listener)
    }

    /// Serves the API over a Unix socket that is listened on, until `stop` ends.
    #[cfg(unix)]
    pub async fn serve_unix_on(
        &self,
        listener: UnixListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) {
        serve(listener, self.router(Surface::Local), self.bounds, stop).await;
    }

    /// Serves the API to this process until `stop` ends.
    pub async fn serve_memory(
        &self,
        listener: MemoryListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) {
        serve(Memory(listener), self.router(Surface::Local), self.bounds, stop).await;
    }
}

struct Memory(MemoryListener);

impl Listener for Memory {
    type Io = DuplexStream;
    type Addr = ();

    async fn accept(&mut self) -> (DuplexStream, ()) {
        match self.0.accept().await {
            Some(stream) => (stream, ()),
            // Every connector is gone: nobody will ever connect, and the server ends when it is told.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<()> {
        Ok(())
    }
}
