//! A TCP port that no single address holds.
//!
//! A port takes a bounded number of connections, and whoever opens as many and says nothing on them would keep everybody else
//! out for as long as it goes on. So one address gets a part of them, and what it opens beyond that is closed at once: to let it
//! wait would let others wait behind it. A whole `/64` of IPv6 counts as one address, since whoever has one address of it has
//! them all; an IPv4 address that is written as an IPv6 one counts as what it is.
//!
//! Loopback is not counted: there it is programs of this machine, or a proxy that stands for many.
//!
//! What is closed so is counted ([`refused`]), and said once of an address, until it holds nothing any more.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;

static REFUSED: AtomicU64 = AtomicU64::new(0);

/// How many connections the ports of this process have closed at once, since their address held its part.
pub fn refused() -> u64 {
    REFUSED.load(Ordering::Relaxed)
}

/// A listener whose connections are counted by address.
pub struct Fair<L> {
    listener: L,
    places: Places,
}

impl Fair<TcpListener> {
    /// Counts the connections of a port; one address holds `each` of them at most. Small answers go out at once
    /// (`TCP_NODELAY`), where they would wait for the other side's delayed acknowledgement.
    pub fn tcp(listener: TcpListener, each: usize) -> Fair<impl Listener<Addr = SocketAddr>> {
        use axum::serve::ListenerExt as _;
        Fair::new(
            listener.tap_io(|stream| {
                let _ = stream.set_nodelay(true);
            }),
            each,
        )
    }
}

impl<L> Fair<L> {
    /// Counts the connections of a listener.
    pub fn new(listener: L, each: usize) -> Self {
        Self { listener, places: Places { each, taken: Arc::default() } }
    }
}

impl<L: Listener<Addr = SocketAddr>> Listener for Fair<L> {
    type Io = Held<L::Io>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        loop {
            let (stream, address) = self.listener.accept().await;
            match self.places.take(address.ip()) {
                Ok(place) => return (Held { stream, _place: place }, address),
                Err(Full { first }) => {
                    REFUSED.fetch_add(1, Ordering::Relaxed);
                    if first {
                        let (address, each) = (address.ip(), self.places.each);
                        tracing::warn!(target: "oz0::http", %address, each, "connections refused");
                    }
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// How many connections each address holds.
struct Places {
    each: usize,
    taken: Taken,
}

type Taken = Arc<Mutex<HashMap<IpAddr, Holds>>>;

#[derive(Default)]
struct Holds {
    connections: usize,
    /// Whether it was said that it wanted more.
    said: bool,
}

/// An address holds its part.
struct Full {
    /// Whether this is the first connection that it does not get, since it held nothing.
    first: bool,
}

/// One of an address's places, until it is dropped.
struct Place {
    taken: Taken,
    address: Option<IpAddr>,
}

impl Places {
    fn take(&self, address: IpAddr) -> Result<Place, Full> {
        let address = counted(address);
        if let Some(address) = address {
            let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
            let holds = taken.entry(address).or_default();
            if holds.connections >= self.each {
                return Err(Full { first: !std::mem::replace(&mut holds.said, true) });
            }
            holds.connections += 1;
        }
        Ok(Place { taken: Arc::clone(&self.taken), address })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(address) = self.address else { return };
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        // An address that holds nothing is forgotten: what is remembered is no more than there are connections.
        if let Entry::Occupied(mut held) = taken.entry(address) {
            if held.get().connections > 1 {
                held.get_mut().connections -= 1;
            } else {
                held.remove();
            }
        }
    }
}

/// What an address is counted as; loopback is not.
fn counted(address: IpAddr) -> Option<IpAddr> {
    let address = address.to_canonical();
    match address {
        _ if address.is_loopback() => None,
        IpAddr::V6(address) => {
            let network = address.to_bits() & !u128::from(u64::MAX);
            Some(Ipv6Addr::from_bits(network).into())
        }
        IpAddr::V4(_) => Some(address),
    }
}

/// A connection in its place.
pub struct Held<S> {
    stream: S,
    _place: Place,
}

impl<S: AsyncRead + Unpin> AsyncRead for Held<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Held<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn places(each: usize) -> Places {
        Places { each, taken: Arc::default() }
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn is_first(taken: Result<Place, Full>) -> Option<bool> {
        taken.err().map(|full| full.first)
    }

    #[test]
    fn an_address_that_wants_more_is_said_once_until_it_holds_nothing() {
        let places = places(1);
        let held = places.take(ip("192.0.2.1")).ok();
        assert_eq!(is_first(places.take(ip("192.0.2.1"))), Some(true));
        assert_eq!(is_first(places.take(ip("192.0.2.1"))), Some(false));
        drop(held);
        let held = places.take(ip("192.0.2.1")).ok();
        assert_eq!(is_first(places.take(ip("192.0.2.1"))), Some(true));
        drop(held);
    }

    #[test]
    fn one_address_gets_its_part_and_gets_it_back() {
        let places = places(2);
        let one = places.take(ip("192.0.2.1")).ok();
        assert!(one.is_some());
        let two = places.take(ip("192.0.2.1")).ok();
        assert!(two.is_some());
        assert!(places.take(ip("192.0.2.1")).is_err());
        assert!(places.take(ip("::ffff:192.0.2.1")).is_err(), "the same, written otherwise");
        let other = places.take(ip("192.0.2.2")).ok();
        assert!(other.is_some());
        drop(one);
        let again = places.take(ip("192.0.2.1")).ok();
        assert!(again.is_some());
        assert!(places.take(ip("192.0.2.1")).is_err());
        drop((two, other, again));
        assert!(places.taken.lock().unwrap().is_empty(), "nobody is remembered who holds nothing");
    }

    #[test]
    fn a_network_of_ipv6_is_one_address_and_loopback_is_none() {
        let places = places(1);
        let _held = places.take(ip("2001:db8:1:2::1")).ok();
        assert!(places.take(ip("2001:db8:1:2:ffff::9")).is_err());
        assert!(places.take(ip("2001:db8:1:3::1")).is_ok());
        for loopback in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            let held: Vec<_> = (0..300).map(|_| places.take(ip(loopback))).collect();
            assert!(held.iter().all(Result::is_ok), "{loopback}");
        }
    }
}
