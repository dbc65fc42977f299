//! This process's own standard streams, as an MCP client hands them over.
//!
//! The runtime reads standard input on a thread of its own, since it can be a file or a terminal, and each message
//! then pays for two changes of thread in each direction: more than all else that a small call costs here. What a
//! client hands over is nearly always a pipe or, from Node.js, a socket, and these can be waited for directly.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Standard input.
#[derive(Debug)]
pub struct Input(In);

/// Standard output.
#[derive(Debug)]
pub struct Output(Out);

#[derive(Debug)]
enum In {
    #[cfg(unix)]
    Pipe(tokio::net::unix::pipe::Receiver),
    #[cfg(unix)]
    Socket(tokio::net::UnixStream),
    Other(tokio::io::Stdin),
}

#[derive(Debug)]
enum Out {
    #[cfg(unix)]
    Pipe(tokio::net::unix::pipe::Sender),
    #[cfg(unix)]
    Socket(tokio::net::UnixStream),
    Other(tokio::io::Stdout),
}

/// Takes standard input and output for [`Server::stdio`](super::Server::stdio). From then on nothing else in the
/// process may read the one or print to the other.
///
/// Needs a Tokio runtime. Pipes and sockets are made non-blocking, which shows only to a process that shares this very
/// end of them.
pub fn standard_streams() -> (Input, Output) {
    (Input(input()), Output(output()))
}

#[cfg(unix)]
fn input() -> In {
    use std::os::fd::AsFd as _;
    let own = || io::stdin().as_fd().try_clone_to_owned();
    if let Ok(pipe) = own().and_then(tokio::net::unix::pipe::Receiver::from_owned_fd) {
        return In::Pipe(pipe);
    }
    match own().and_then(socket) {
        Ok(socket) => In::Socket(socket),
        Err(_) => In::Other(tokio::io::stdin()),
    }
}

#[cfg(unix)]
fn output() -> Out {
    use std::os::fd::AsFd as _;
    let own = || io::stdout().as_fd().try_clone_to_owned();
    if let Ok(pipe) = own().and_then(tokio::net::unix::pipe::Sender::from_owned_fd) {
        return Out::Pipe(pipe);
    }
    match own().and_then(socket) {
        Ok(socket) => Out::Socket(socket),
        Err(_) => Out::Other(tokio::io::stdout()),
    }
}

#[cfg(unix)]
fn socket(fd: std::os::fd::OwnedFd) -> io::Result<tokio::net::UnixStream> {
    let socket = std::os::unix::net::UnixStream::from(fd);
    // Fails for what is no socket, before anything is changed.
    socket.local_addr()?;
    socket.set_nonblocking(true)?;
    tokio::net::UnixStream::from_std(socket)
}

#[cfg(not(unix))]
fn input() -> In {
    In::Other(tokio::io::stdin())
}

#[cfg(not(unix))]
fn output() -> Out {
    Out::Other(tokio::io::stdout())
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.0 {
            #[cfg(unix)]
            In::Pipe(pipe) => Pin::new(pipe).poll_read(cx, buffer),
            #[cfg(unix)]
            In::Socket(socket) => Pin::new(socket).poll_read(cx, buffer),
            In::Other(other) => Pin::new(other).poll_read(cx, buffer),
        }
    }
}

impl Output {
    fn inner(&mut self) -> Pin<&mut (dyn AsyncWrite + Unpin + Send)> {
        match &mut self.0 {
            #[cfg(unix)]
            Out::Pipe(pipe) => Pin::new(pipe),
            #[cfg(unix)]
            Out::Socket(socket) => Pin::new(socket),
            Out::Other(other) => Pin::new(other),
        }
    }
}

impl AsyncWrite for Output {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.inner().poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.inner().poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        !matches!(self.0, Out::Other(_))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_shutdown(cx)
    }
}
