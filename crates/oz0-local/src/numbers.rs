//! `--metrics-listen`: the port for whoever gathers numbers.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use oz0_edge::Edge;
use oz0_node::Node;
use oz0_telemetry::port::{self, Ready, Told};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::error::LocalError;
use crate::up::{accepting, bind, url};

/// A port that is bound, and not served yet: whoever cannot have it has nothing to undo.
pub(crate) struct Bound {
    listener: TcpListener,
    address: SocketAddr,
    url: String,
}

/// A port that is served.
pub(crate) struct Numbers {
    url: String,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl Bound {
    /// Binds it, where there is to be one.
    pub(crate) fn at(address: Option<SocketAddr>) -> Result<Option<Self>, LocalError> {
        let Some(address) = address else { return Ok(None) };
        let listener = bind("metrics", address)?;
        let url = url(&listener, "http", "/metrics")?;
        Ok(Some(Self { listener, address, url }))
    }

    /// Serves it.
    pub(crate) fn serve(self, told: Told) -> Result<Numbers, LocalError> {
        let Self { listener, address, url } = self;
        let listener = accepting("metrics", listener, address)?;
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(port::serve(listener, told, async {
            let _ = stopped.await;
        }));
        Ok(Numbers { url, stop, serving })
    }
}

impl Numbers {
    /// Where it is: `http://HOST:PORT/metrics`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Ends it; nobody's answer is waited for.
    pub(crate) fn close(self) {
        drop(self.stop);
        self.serving.abort();
    }
}

/// Adds what an edge tells.
pub(crate) fn of_edge(told: &mut Told, edge: &Edge) {
    told.sources.push(edge.metrics());
    let edge = edge.clone();
    let ready: Ready = Arc::new(move || {
        let edge = edge.clone();
        Box::pin(async move {
            // Why stands in the log: here anyone may ask.
            edge.ready().await.map_err(|_| "the edge's store does not take writes".to_owned())
        })
    });
    told.ready.push(ready);
}

/// Adds what a node tells.
pub(crate) fn of_node(told: &mut Told, node: &Node) {
    told.sources.push(node.metrics());
    let ready = Arc::new(node.readiness());
    let ready: Ready = Arc::new(move || {
        let ready = Arc::clone(&ready);
        Box::pin(async move { ready().map_err(str::to_owned) })
    });
    told.ready.push(ready);
}
