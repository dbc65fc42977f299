//! The least that waking many costs: so many connections that wait, and the same bytes over each of them.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

/// As long as an answer that tells of one approval, with its head.
const ANSWER: usize = 1100;

/// Connections within this process, each with somebody at both ends.
pub(crate) struct Floor {
    wake: watch::Sender<u64>,
    came: tokio::sync::Mutex<mpsc::UnboundedReceiver<()>>,
    count: usize,
}

impl Floor {
    pub(crate) async fn lay(count: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let wake = watch::Sender::new(0);
        let (came, receiver) = mpsc::unbounded_channel();
        for _ in 0..count {
            let mut near = TcpStream::connect(address).await.unwrap();
            let (mut far, _) = listener.accept().await.unwrap();
            far.set_nodelay(true).unwrap();
            let mut woken = wake.subscribe();
            tokio::spawn(async move {
                while woken.changed().await.is_ok() {
                    far.write_all(&[b'x'; ANSWER]).await.unwrap();
                }
            });
            let came = came.clone();
            tokio::spawn(async move {
                let mut bytes = [0; ANSWER];
                while near.read_exact(&mut bytes).await.is_ok() {
                    came.send(()).unwrap();
                }
            });
        }
        Self { wake, came: tokio::sync::Mutex::new(receiver), count }
    }

    /// From the wake to the last byte.
    pub(crate) async fn measure(&self) -> Duration {
        let mut came = self.came.lock().await;
        let began = Instant::now();
        self.wake.send_modify(|count| *count += 1);
        for _ in 0..self.count {
            came.recv().await.unwrap();
        }
        began.elapsed()
    }
}
