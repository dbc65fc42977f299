//! The server side: what a gateway stands on.
//!
//! A [`Gateway`] lists functions and calls them, as raw JSON; this module speaks to its clients, in every released
//! version from 2024-11-05 to 2026-07-28, over stdio ([`Server::stdio`]) and Streamable HTTP ([`Server::router`]).
//! What passes through passes byte for byte: identifiers, progress tokens and the few members that an era adds or
//! forbids are [spliced](Splice) into the text that came, and nothing is rebuilt.
//!
//! The two eras differ most where a server asks its client something in the middle of a call. A gateway does not have
//! to know: it [asks](Asker::ask) when a legacy server does, or returns a modern server's `InputRequiredResult`, and a
//! client of either era is asked in its own way.
//!
//! Clients are not trusted: sizes, depths, counts and times are bounded ([`ServerLimits`], [`ServerTimeouts`]), and
//! what could be read in two ways is refused.

mod codes;
mod engine;
mod exchange;
mod gateway;
mod http;
mod incoming;
mod known;
mod modern;
mod options;
mod params;
mod parked;
mod questions;
mod rounds;
mod seal;
mod splice;
mod standard;
mod stdio;

use std::sync::Arc;

use oz0_serve::Bounds;
use tokio::io::{AsyncRead, AsyncWrite};

pub use self::codes::{BUSY, CLOSING, EXPIRED, TOO_SLOW};
use self::engine::Engine;
pub use self::gateway::{
    AskError, Asker, Call, Capabilities, Denied, Functions, Gateway, Level, Peer, Principal,
    Progress, without_ours,
};
pub use self::http::HttpOptions;
pub use self::options::{ServerLimits, ServerOptions, ServerTimeouts};
pub use self::params::{CallParams, Forward};
pub use self::splice::{Splice, SpliceError};
pub use self::standard::{Input, Output, standard_streams};
pub use self::stdio::StdioError;

/// A server in front of one [`Gateway`]. Cheap to clone; any number of transports may serve it at once.
pub struct Server<G>(Arc<Engine<G>>);

impl<G> Clone for Server<G> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<G> std::fmt::Debug for Server<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}

impl<G: Gateway> Server<G> {
    /// A server in front of this gateway.
    pub fn new(gateway: Arc<G>, options: ServerOptions) -> Self {
        Self(Arc::new(Engine::new(gateway, options)))
    }

    /// Serves one client over a pair of byte streams, until it closes its end or the server is shut down. Calls in
    /// flight then have [`ServerTimeouts::shutdown`] to end.
    pub async fn stdio(
        &self,
        client: Principal,
        reader: impl AsyncRead + Send + Unpin,
        writer: impl AsyncWrite + Send + Unpin,
    ) -> Result<(), StdioError> {
        stdio::serve(Arc::clone(&self.0), client, reader, writer).await
    }

    /// `POST`, `GET` and `DELETE` of `/mcp`. For a listener of one's own; [`serve`](Self::serve) also bounds
    /// connections, headers and slow peers.
    pub fn router(&self, options: HttpOptions) -> axum::Router {
        http::router(Arc::clone(&self.0), options)
    }

    /// Serves a router, such as [`router`](Self::router) with more routes, on a listener, until
    /// [`shutdown`](Self::shutdown).
    pub async fn serve(&self, listener: tokio::net::TcpListener, router: axum::Router) {
        let ServerOptions { limits, timeouts, .. } = &self.0.options;
        let bounds = Bounds {
            connections: limits.connections,
            stall: timeouts.stall,
            shutdown: timeouts.shutdown,
            ..Bounds::default()
        };
        let mut closing = self.0.closing.subscribe();
        let closing = async {
            let _ = closing.wait_for(|&closing| closing).await;
        };
        oz0_serve::serve_tcp(listener, router, bounds, closing).await;
    }

    /// Ends the server in order: streams end, new requests are refused, and calls in flight have
    /// [`ServerTimeouts::shutdown`] to end.
    pub fn shutdown(&self) {
        self.0.closing.send_replace(true);
        self.0.parked.clear();
    }
}
