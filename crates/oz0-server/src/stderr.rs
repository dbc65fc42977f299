//! What a server says on stderr: read always, so that a flood never blocks it, and kept in part.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;

/// The bytes kept: 64 KiB, the last ones.
pub const KEPT: usize = 64 * 1024;

/// A handle on the last 64 KiB that a server wrote to stderr. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Stderr {
    ring: Arc<Mutex<Ring>>,
    ended: watch::Receiver<bool>,
}

#[derive(Debug, Default)]
struct Ring {
    bytes: VecDeque<u8>,
    total: u64,
}

impl Ring {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let tail = &bytes[bytes.len().saturating_sub(KEPT)..];
        let over = (self.bytes.len() + tail.len()).saturating_sub(KEPT);
        self.bytes.drain(..over);
        self.bytes.extend(tail);
    }
}

impl Stderr {
    /// Reads to the end in a task of its own.
    pub(crate) fn drain(mut stream: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let ring = Arc::new(Mutex::new(Ring::default()));
        let (done, ended) = watch::channel(false);
        let kept = Arc::clone(&ring);
        tokio::spawn(async move {
            let mut buffer = vec![0; 16 * 1024];
            while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..count]);
            }
            let _ = done.send(true);
        });
        Self { ring, ended }
    }

    /// What was written last, 64 KiB at most. Bytes that are no UTF-8 are replaced; nothing is
    /// escaped, which is for whoever prints it.
    pub fn text(&self) -> String {
        let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = ring.bytes.iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The last `count` lines of [`Self::text`].
    pub fn last_lines(&self, count: usize) -> String {
        let text = self.text();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(count)..].join("\n")
    }

    /// How many bytes were written in all.
    pub fn total(&self) -> u64 {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner).total
    }

    /// Waits until nobody can write to it any more: then [`Self::text`] is final.
    pub async fn ended(&self) {
        // The task that holds the other end sends before it goes; were it gone, that is the end.
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
    }
}
