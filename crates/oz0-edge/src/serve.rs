//! The edge's surfaces: the same API over TCP, the Unix socket and a pipe in memory.
//!
//! What differs is who is behind a connection without a token. Over TCP that is anyone, so nothing
//! is answered. The socket is in a folder that only its owner opens, and the pipe is in the edge's
//! own process: there it is somebody who may read and call, and nothing more.

use std::collections::BTreeSet;
use std::future::Future;
use std::io;
use std::path::Path;

use axum::Router;
use axum::serve::Listener;
use oz0_api::memory::MemoryListener;
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
    Tcp {
        /// Host names, beside loopback ones, that `Host` may have: `edge.example`, without a port.
        hosts: BTreeSet<String>,
    },
    /// The Unix socket in the data folder, or the pipe in memory.
    Local,
}

impl Edge {
    /// The API for one surface, for whoever serves it with more beside it.
    pub fn router(&self, surface: Surface) -> Router {
        api::router(self, surface)
    }

    /// Serves the API over TCP until `stop` ends.
    pub async fn serve_tcp(
        &self,
        listener: TcpListener,
        hosts: BTreeSet<String>,
        stop: impl Future<Output = ()> + Send + 'static,
    ) {
        serve_tcp(listener, self.router(Surface::Tcp { hosts }), self.bounds, stop).await;
    }

    /// Serves the API over TCP with TLS until `stop` ends.
    pub async fn serve_tls(
        &self,
        listener: TcpListener,
        tls: &Tls,
        hosts: BTreeSet<String>,
        stop: impl Future<Output = ()> + Send + 'static,
    ) {
        let listener = TlsListener::new(Fair::tcp(listener, self.bounds.each), tls);
        serve(listener, self.router(Surface::Tcp { hosts }), self.bounds, stop).await;
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
