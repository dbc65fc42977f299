//! An edge that is open and served, in a runtime of its own.
//!
//! It has its own thread so that it can be taken away as a whole: a client that sends half a request
//! and nothing more keeps its connection's task alive, and that task the store. When the time for an
//! orderly end is over the runtime is dropped with everything in it, and the folder is free.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use oz0_api::memory::MemoryListener;
use oz0_edge::serve::Front;
use oz0_edge::tls::Tls;
use oz0_edge::{Bounds, Edge, Options, StoreError};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::error::LocalError;
use crate::folder::{DataFolder, failed};
use crate::kept::Kept;
use crate::limits::open_files;
use crate::seat::Seat;

/// How long requests in flight have when the edge ends.
const ORDERLY: Duration = Duration::from_secs(2);
/// How long the one before may take to let go of the store.
const LET_GO_WITHIN: Duration = Duration::from_secs(10);

/// Where an edge is served beside the socket.
#[derive(Default)]
pub(crate) struct Beside {
    /// A port, with the console beside the API.
    pub(crate) tcp: Option<Port>,
    /// The node in this process.
    pub(crate) memory: Option<MemoryListener>,
    /// Threads that answer: one, beside a node, and as many as there are processors where nothing else is done.
    pub(crate) threads: usize,
}

/// A port that an edge is served on.
pub(crate) struct Port {
    pub(crate) listener: TcpListener,
    /// How it is reached.
    pub(crate) front: Front,
    /// The certificate that is shown there; plain HTTP without one.
    pub(crate) tls: Option<Tls>,
}

/// The edge of a data folder, served until it is closed.
pub(crate) struct Serving {
    parts: Option<Parts>,
    pub(crate) edge: Edge,
}

struct Parts {
    /// There until this ends.
    runtime: Option<Runtime>,
    stop: watch::Sender<bool>,
    servers: Vec<JoinHandle<()>>,
    folder: DataFolder,
    kept: Kept,
    _seat: Seat,
}

impl Serving {
    /// Opens the store and serves it on the folder's socket.
    pub(crate) async fn start(
        folder: &DataFolder,
        kept: Kept,
        seat: Seat,
        beside: Beside,
    ) -> Result<Self, LocalError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(beside.threads.max(1))
            .thread_name("oz0-edge")
            .enable_all()
            .build()
            .map_err(|error| LocalError::System {
                operation: "start the edge's runtime",
                reason: error.to_string(),
            })?;
        let (stop, _) = watch::channel(false);
        let mut parts = Parts {
            runtime: Some(runtime),
            stop,
            servers: Vec::new(),
            folder: folder.clone(),
            kept,
            _seat: seat,
        };
        match parts.serve(beside).await {
            Ok(edge) => Ok(Self { edge, parts: Some(parts) }),
            Err(error) => {
                parts.end().await;
                Err(error)
            }
        }
    }

    /// Ends in order: nobody is made to wait any more, what is in flight has a moment to end, and
    /// then the store is closed and the seat given up.
    pub(crate) async fn close(mut self) {
        let Some(mut parts) = self.parts.take() else { return };
        self.edge.wind_down();
        parts.stop.send_replace(true);
        // Nobody finds a socket that is no longer answered, nor one that the next edge has bound.
        let _ = std::fs::remove_file(parts.folder.socket());
        let servers = async {
            for server in std::mem::take(&mut parts.servers) {
                let _ = server.await;
            }
        };
        let _ = tokio::time::timeout(ORDERLY, servers).await;
        let _ = tokio::time::timeout(ORDERLY, self.edge.close()).await;
        drop(self);
        parts.end().await;
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        // A runtime that is merely dropped waits for its threads, which a task must not do.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Parts {
    async fn serve(&mut self, beside: Beside) -> Result<Edge, LocalError> {
        let edge = self.open().await?;
        let runtime = self.runtime()?;
        let _entered = runtime.enter();
        let path = self.folder.socket();
        let listener = Edge::bind_unix(&path).map_err(failed("listen on", &path))?;
        let served = edge.clone();
        let stopped = stopped(&self.stop);
        self.servers
            .push(runtime.spawn(async move { served.serve_unix_on(listener, stopped).await }));
        if let Some(Port { listener, front, tls }) = beside.tcp {
            let address = listener.local_addr();
            let listener = listener
                .set_nonblocking(true)
                .and_then(|()| tokio::net::TcpListener::from_std(listener))
                .map_err(|error| LocalError::System {
                    operation: "listen",
                    reason: format!("{address:?}: {error}"),
                })?;
            let served = edge.clone();
            let stopped = self::stopped(&self.stop);
            let pages = oz0_console::pages(&edge);
            self.servers.push(runtime.spawn(async move {
                match tls {
                    Some(tls) => served.serve_tls_with(listener, &tls, front, pages, stopped).await,
                    None => served.serve_tcp_with(listener, front, pages, stopped).await,
                }
            }));
        }
        if let Some(listener) = beside.memory {
            let served = edge.clone();
            let stopped = self::stopped(&self.stop);
            self.servers
                .push(runtime.spawn(async move { served.serve_memory(listener, stopped).await }));
        }
        Ok(edge)
    }

    /// Opens the store. Its lock may outlive the seat of the one before by a moment: the system lets
    /// go of a dead process's files one by one.
    async fn open(&self) -> Result<Edge, LocalError> {
        let until = Instant::now() + LET_GO_WITHIN;
        loop {
            let options = Options {
                bounds: Bounds::of_edge(open_files()),
                ..self.kept.options(&self.folder)
            };
            let opened = self.runtime()?.spawn(async move { Edge::open(&options).await }).await;
            match opened.map_err(|error| LocalError::System {
                operation: "open the store",
                reason: error.to_string(),
            })? {
                Err(StoreError::InUse { .. }) if Instant::now() < until => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                opened => return Ok(opened?),
            }
        }
    }

    /// Drops every task and with them the store; the seat last.
    async fn end(mut self) {
        if let Some(runtime) = self.runtime.take() {
            let ended = tokio::task::spawn_blocking(move || runtime.shutdown_timeout(ORDERLY));
            let _ = ended.await;
        }
    }

    fn runtime(&self) -> Result<tokio::runtime::Handle, LocalError> {
        let runtime = self.runtime.as_ref().map(Runtime::handle).cloned();
        runtime.ok_or_else(|| LocalError::System {
            operation: "serve the edge",
            reason: "it has ended".to_owned(),
        })
    }
}

fn stopped(stop: &watch::Sender<bool>) -> impl Future<Output = ()> + Send + 'static {
    let mut stop = stop.subscribe();
    async move {
        let _ = stop.wait_for(|stop| *stop).await;
    }
}
