//! TLS in front of the edge's API, for nodes and people on other machines.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use rustls::ServerConfig;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// How long a peer may take to shake hands.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How many may do so at once; the others wait. More than one address may hold connections, so that none fills it alone.
const AT_ONCE: usize = 512;

/// Why a certificate or its key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file that cannot be read, or holds no such thing.
    #[error("{} holds no {what} in PEM: {source}", path.display())]
    Pem {
        /// What was looked for.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it was not found.
        source: pem::Error,
    },
    /// A key that is not that of the certificate, or one of an unknown kind.
    #[error("{} cannot be served with: {source}", path.display())]
    Unfit {
        /// The certificate's file.
        path: PathBuf,
        /// Why not.
        source: rustls::Error,
    },
}

/// The certificate that an edge shows, with its key and its chain.
#[derive(Debug, Clone)]
pub struct Tls(Arc<ServerConfig>);

impl Tls {
    /// Reads a certificate chain, the edge's own first, and its private key, both in PEM (RFC 7468). TLS 1.2 and 1.3.
    ///
    /// # Errors
    ///
    /// [`TlsError`], which names the file.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let pem = |what, path: &Path| {
            let path = path.to_owned();
            move |source| TlsError::Pem { what, path, source }
        };
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .and_then(
                |chain| if chain.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(chain) },
            )
            .map_err(pem("certificate", certificate))?;
        let key = PrivateKeyDer::from_pem_file(key).map_err(pem("private key", key))?;
        let unfit = |source| TlsError::Unfit { path: certificate.to_owned(), source };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(unfit)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(unfit)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(Arc::new(config)))
    }
}

/// Connections whose handshake is done.
pub(crate) struct TlsListener<S> {
    done: mpsc::Receiver<(TlsStream<S>, SocketAddr)>,
    address: io::Result<SocketAddr>,
    accepting: JoinHandle<()>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsListener<S> {
    pub(crate) fn new(listener: impl Listener<Io = S, Addr = SocketAddr>, tls: &Tls) -> Self {
        let (sender, done) = mpsc::channel(1);
        let address = listener.local_addr();
        let acceptor = TlsAcceptor::from(Arc::clone(&tls.0));
        let accepting = tokio::spawn(accept(listener, acceptor, sender));
        Self { done, address, accepting }
    }
}

impl<S> Drop for TlsListener<S> {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Shakes hands with many at once: one that is slow, or says nothing, is waited for by nobody else.
async fn accept<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    mut listener: impl Listener<Io = S, Addr = SocketAddr>,
    acceptor: TlsAcceptor,
    sender: mpsc::Sender<(TlsStream<S>, SocketAddr)>,
) {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let (stream, address) = listener.accept().await;
        let (acceptor, sender) = (acceptor.clone(), sender.clone());
        tokio::spawn(async move {
            if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
                let _ = sender.send((stream, address)).await;
            }
            drop(place);
        });
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Listener for TlsListener<S> {
    type Io = TlsStream<S>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.done.recv().await {
            Some(accepted) => accepted,
            // The task that accepts ended with its runtime.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        match &self.address {
            Ok(address) => Ok(*address),
            Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
        }
    }
}
