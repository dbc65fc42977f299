//! HTTP on a listener: connections bounded, heads bounded, and no patience for the slow.
//!
//! Whoever reaches a port can open connections and say half of something on each (slow loris), or ask and read nothing of
//! the answer. What that costs has a bound here, the same for every port of oz0: so many connections at once, so long for the
//! head of a request, and so long for a peer that takes not a single byte. A request's body is its handler's: how long it may
//! take depends on what it is.
//!
//! Of a TCP port, one address holds a part at most: [`serve_tcp`], and [`Fair`] for a port with TLS in front.
//!
//! `axum::serve` has none of these bounds, so this is hyper's connection with them around.

mod fair;
pub mod guard;
mod peer;
pub mod proxy;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::http::{Request, StatusCode};
use axum::response::IntoResponse as _;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::Sleep;

pub use crate::fair::{Fair, Held, refused};
pub use crate::peer::{Address, Peer};

/// Header fields of one request, and bytes of its head.
const HEADERS: usize = 64;
const HEAD: usize = 64 << 10;

/// How much a listener takes, and how long it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Connections at once; further ones wait until one ends.
    pub connections: usize,
    /// Of these, those that one address may hold, where it is not loopback; a `/64` of IPv6 is one. Further ones are closed.
    pub each: usize,
    /// For the head of a request, and for a peer that does not take a single byte of an answer. A connection that is kept
    /// open without a request ends after it, too.
    pub stall: Duration,
    /// For requests in flight when it ends.
    pub shutdown: Duration,
}

impl Default for Bounds {
    /// 1024 connections, a quarter of them from one address, 30 s and 10 s.
    fn default() -> Self {
        Self {
            connections: 1024,
            each: 256,
            stall: Duration::from_secs(30),
            shutdown: Duration::from_secs(10),
        }
    }
}

impl Bounds {
    /// Of an edge, which every node of a fleet holds a connection of: 8192 connections, and no more than a third of the files
    /// that the process may have `open`, since the rest of them are for the store, bundles and its other ports.
    pub fn of_edge(open: u64) -> Self {
        let connections = usize::try_from(open / 3).unwrap_or(usize::MAX).clamp(64, 8192);
        Self { connections, each: connections / 4, ..Self::default() }
    }
}

/// Serves a router on a TCP port until `closing` ends, as [`serve`] does, with [`Bounds::each`].
pub async fn serve_tcp(
    listener: TcpListener,
    router: Router,
    bounds: Bounds,
    closing: impl Future<Output = ()> + Send,
) {
    serve(Fair::tcp(listener, bounds.each), router, bounds, closing).await;
}

/// Serves a router on a listener until `closing` ends; then requests in flight have [`Bounds::shutdown`] to end. Each request
/// carries its [`Peer`] as an extension.
pub async fn serve<L: Listener<Addr: Address>>(
    mut listener: L,
    router: Router,
    bounds: Bounds,
    closing: impl Future<Output = ()> + Send,
) {
    let room = Arc::new(Semaphore::new(bounds.connections));
    let (close, closed) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut closing = std::pin::pin!(closing);
    loop {
        let accept = async {
            let permit = Arc::clone(&room).acquire_owned().await.expect("it is never closed");
            (permit, listener.accept().await)
        };
        let (permit, (stream, address)) = tokio::select! {
            biased;
            () = closing.as_mut() => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            accepted = accept => accepted,
        };
        let stream = Patient { stream, limit: bounds.stall, waits: None };
        let router = TowerToHyperService::new(router.clone());
        let peer = Peer(address.ip());
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            // What hyper buffers ends a head that does not end; one that came whole may be longer than that.
            let answer = (length(&request) <= HEAD).then(|| router.call(request));
            async move {
                match answer {
                    Some(answer) => answer.await,
                    None => Ok(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE.into_response()),
                }
            }
        });
        let mut closed = closed.clone();
        connections.spawn(async move {
            let _permit = permit;
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(bounds.stall)
                .max_headers(HEADERS)
                .max_buf_size(HEAD)
                .serve_connection(TokioIo::new(stream), service);
            let mut connection = std::pin::pin!(connection);
            let done = tokio::select! {
                done = connection.as_mut() => Some(done),
                _ = closed.wait_for(|&closed| closed) => None,
            };
            if done.is_none() {
                connection.as_mut().graceful_shutdown();
                let _ = tokio::time::timeout(bounds.shutdown, connection).await;
            }
        });
    }
    drop(listener);
    close.send_replace(true);
    let all = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(bounds.shutdown, all).await;
}

/// How long a request's head was, in bytes.
fn length<B>(request: &Request<B>) -> usize {
    let uri = request.uri();
    let target = uri.path_and_query().map_or(0, |target| target.as_str().len())
        + uri.authority().map_or(0, |authority| authority.as_str().len());
    let fields = request.headers().iter();
    fields.fold(target, |sum, (name, value)| sum + name.as_str().len() + value.len() + 4)
}

/// A connection whose peer must take what is written to it, some of it at least, within a time. Where TLS is in between, what
/// it gathered counts as one piece.
struct Patient<S> {
    stream: S,
    limit: Duration,
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    fn taken<T>(
        &mut self,
        cx: &mut Context<'_>,
        taken: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if taken.is_ready() {
            self.waits = None;
            return taken;
        }
        let limit = self.limit;
        let waits = self.waits.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        ready!(waits.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads nothing")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.taken(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.taken(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.taken(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.taken(cx, ended)
    }
}
