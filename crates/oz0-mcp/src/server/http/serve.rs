//! Serving a router on a TCP listener: connections bounded, headers bounded, and no patience for the slow.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Sleep;

use crate::server::engine::Engine;
use crate::server::gateway::Gateway;

/// Header fields of one request, and bytes of its head.
const HEADERS: usize = 64;
const HEAD: usize = 64 << 10;

/// A listener that cannot be served.
#[derive(Debug, thiserror::Error)]
#[error("could not take connections on {address}: {source}")]
pub struct ServeError {
    address: SocketAddr,
    source: io::Error,
}

pub(crate) async fn serve<G: Gateway>(
    engine: Arc<Engine<G>>,
    listener: TcpListener,
    router: Router,
) -> Result<(), ServeError> {
    let timeouts = engine.options.timeouts;
    let room = Arc::new(Semaphore::new(engine.options.limits.connections));
    let mut closing = engine.closing.subscribe();
    let mut connections = JoinSet::new();
    let address = listener.local_addr().unwrap_or_else(|_| SocketAddr::from(([0, 0, 0, 0], 0)));
    let mut failures = 0;
    loop {
        let accept = async {
            let permit = Arc::clone(&room).acquire_owned().await.expect("it is never closed");
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            biased;
            _ = closing.wait_for(|&closing| closing) => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            accepted = accept => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => {
                failures = 0;
                stream
            }
            // A connection that failed by itself, or no descriptors for the moment: others will do better.
            Err(_) if failures < 100 => {
                failures += 1;
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
            Err(source) => return Err(ServeError { address, source }),
        };
        // Without this every event of a stream waits for the client's delayed acknowledgement: 40 ms.
        let _ = stream.set_nodelay(true);
        let stream = Patient { stream, limit: timeouts.stall, waits: None };
        let service = TowerToHyperService::new(router.clone());
        let mut closing = engine.closing.subscribe();
        connections.spawn(async move {
            let _permit = permit;
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(timeouts.stall)
                .max_headers(HEADERS)
                .max_buf_size(HEAD)
                .serve_connection(TokioIo::new(stream), service);
            let mut connection = std::pin::pin!(connection);
            let done = tokio::select! {
                done = connection.as_mut() => Some(done),
                _ = closing.wait_for(|&closing| closing) => None,
            };
            if done.is_none() {
                connection.as_mut().graceful_shutdown();
                let _ = tokio::time::timeout(timeouts.shutdown, connection).await;
            }
        });
    }
    drop(listener);
    let all = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(timeouts.shutdown, all).await;
    Ok(())
}

/// A connection whose peer must take what is written to it, some of it at least, within a time.
struct Patient {
    stream: TcpStream,
    limit: Duration,
    waits: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn written(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.waits = None;
            return written;
        }
        let limit = self.limit;
        let waits = self.waits.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        ready!(waits.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads nothing")))
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.written(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.written(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
