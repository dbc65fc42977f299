//! Who is at the other end of a connection.

use std::net::{IpAddr, SocketAddr};

/// The address that a request's connection came from; none where it came over no network. What a proxy in between says of
/// whom it stands for is not in it: see [`proxy`](crate::proxy).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub Option<IpAddr>);

/// What a listener says of where a connection came from.
pub trait Address: Send {
    /// Its address in a network, an IPv4 one that is written as an IPv6 one as what it is.
    fn ip(&self) -> Option<IpAddr>;
}

impl Address for SocketAddr {
    fn ip(&self) -> Option<IpAddr> {
        Some(SocketAddr::ip(self).to_canonical())
    }
}

#[cfg(unix)]
impl Address for tokio::net::unix::SocketAddr {
    fn ip(&self) -> Option<IpAddr> {
        None
    }
}

/// A pipe inside a process.
impl Address for () {
    fn ip(&self) -> Option<IpAddr> {
        None
    }
}
