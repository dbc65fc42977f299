//! The three ways to an edge, as one connector of the HTTP client.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio_rustls::TlsConnector;
use tower_service::Service;

use crate::memory::MemoryConnector;

/// Where an edge is.
#[derive(Clone)]
pub(super) enum Connector {
    /// TCP, with TLS where `tls` is there.
    Tcp { host: url::Host, port: u16, tls: Option<Arc<rustls::ClientConfig>> },
    /// A Unix socket.
    Unix(PathBuf),
    /// A pipe in this process.
    Memory(MemoryConnector),
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Connector {
    async fn connect(self) -> io::Result<Box<dyn Stream>> {
        match self {
            Self::Tcp { host, port, tls } => {
                let stream = match &host {
                    // Not left to a resolver, which may answer anything: the caller was let off TLS
                    // because this name means this machine.
                    url::Host::Domain(name) if name == "localhost" => {
                        let loopback = [
                            SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port),
                            SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), port),
                        ];
                        TcpStream::connect(&loopback[..]).await?
                    }
                    url::Host::Domain(name) => TcpStream::connect((name.as_str(), port)).await?,
                    url::Host::Ipv4(ip) => TcpStream::connect((*ip, port)).await?,
                    url::Host::Ipv6(ip) => TcpStream::connect((*ip, port)).await?,
                };
                stream.set_nodelay(true)?;
                let Some(config) = tls else { return Ok(Box::new(stream)) };
                let name = match host {
                    url::Host::Domain(name) => ServerName::try_from(name)
                        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?,
                    url::Host::Ipv4(ip) => ServerName::IpAddress(IpAddr::V4(ip).into()),
                    url::Host::Ipv6(ip) => ServerName::IpAddress(IpAddr::V6(ip).into()),
                };
                Ok(Box::new(TlsConnector::from(config).connect(name, stream).await?))
            }
            #[cfg(unix)]
            Self::Unix(path) => Ok(Box::new(UnixStream::connect(path).await?)),
            #[cfg(not(unix))]
            Self::Unix(_) => {
                Err(io::Error::new(io::ErrorKind::Unsupported, "there are no Unix sockets here"))
            }
            Self::Memory(connector) => Ok(Box::new(connector.connect().await?)),
        }
    }
}

impl Service<Uri> for Connector {
    type Response = Conn;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Conn>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move { connector.connect().await.map(|stream| Conn(TokioIo::new(stream))) })
    }
}

/// One connection, as the HTTP client wants it.
pub(super) struct Conn(TokioIo<Box<dyn Stream>>);

impl Connection for Conn {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for Conn {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl Write for Conn {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
