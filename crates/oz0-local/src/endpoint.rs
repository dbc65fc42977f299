//! The MCP endpoint of a node: its gateway on a port, for MCP clients over HTTP.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use oz0_mcp::server::{Gateway as _, HttpOptions, Server, ServerOptions};
use oz0_node::{Gateway, Node};
use oz0_telemetry::port::{self, Told};
use tokio::task::JoinHandle;

use crate::error::LocalError;
use crate::numbers;
use crate::up::accepting;

/// A gateway that is served.
pub(crate) struct Endpoint {
    server: Server<Gateway>,
    serving: JoinHandle<()>,
}

impl Endpoint {
    /// Serves a node's gateway on `port`, which listens at `address`; `hosts` are the names, beside loopback's, that
    /// requests may have.
    pub(crate) fn serve(
        node: &Node,
        port: TcpListener,
        address: SocketAddr,
        hosts: BTreeSet<String>,
    ) -> Result<Self, LocalError> {
        let options = ServerOptions::new("oz0", env!("CARGO_PKG_VERSION"));
        let server = Server::new(node.gateway(), options);
        let mut told = Told { hosts: hosts.clone(), ..Told::default() };
        numbers::of_node(&mut told, node);
        // On this port the numbers are for whoever may call: they name what its clients can list.
        let gateway = node.gateway();
        told.let_in = Some(Arc::new(move |token| {
            let gateway = Arc::clone(&gateway);
            Box::pin(async move { gateway.authenticate(token.as_deref()).await.is_ok() })
        }));
        let router = server
            .router(HttpOptions { hosts: hosts.into_iter().collect(), origins: Vec::new() })
            .merge(port::router(told));
        let listening = accepting("the MCP endpoint", port, address)?;
        let serving = tokio::spawn({
            let server = server.clone();
            async move { server.serve(listening, router).await }
        });
        Ok(Self { server, serving })
    }

    /// Ends in order: nothing new is taken, and calls in flight have a moment to end.
    pub(crate) async fn close(self) {
        self.server.shutdown();
        let _ = self.serving.await;
    }
}
