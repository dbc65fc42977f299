//! The edge's listener for a node in its own process: connections that are pipes in memory.
//!
//! The bytes are those of HTTP/1.1 over any other connection, so nothing works here that would not
//! work between two machines.

use std::io;

use tokio::io::DuplexStream;
use tokio::sync::mpsc;

/// What a connection holds back before its writer waits, in bytes.
const PIPE: usize = 64 * 1024;

/// Connections that were made and not yet accepted, at most.
const BACKLOG: usize = 64;

/// Both ends: the connector can be cloned, the listener has one owner.
pub fn pipe() -> (MemoryConnector, MemoryListener) {
    let (sender, receiver) = mpsc::channel(BACKLOG);
    (MemoryConnector { sender }, MemoryListener { receiver })
}

/// Makes connections.
#[derive(Debug, Clone)]
pub struct MemoryConnector {
    sender: mpsc::Sender<DuplexStream>,
}

impl MemoryConnector {
    /// A new connection. An error where nobody listens any more.
    pub async fn connect(&self) -> io::Result<DuplexStream> {
        let (here, there) = tokio::io::duplex(PIPE);
        self.sender.send(there).await.map_err(|_| {
            io::Error::new(io::ErrorKind::ConnectionRefused, "the edge has stopped")
        })?;
        Ok(here)
    }
}

/// Accepts connections.
#[derive(Debug)]
pub struct MemoryListener {
    receiver: mpsc::Receiver<DuplexStream>,
}

impl MemoryListener {
    /// The next connection; `None` when every connector is gone.
    pub async fn accept(&mut self) -> Option<DuplexStream> {
        self.receiver.recv().await
    }
}
