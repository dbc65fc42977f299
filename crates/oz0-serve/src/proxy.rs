//! What a proxy in front says of whom it stands for, and which proxies are believed.
//!
//! Anyone can write `X-Forwarded-For` into a request. So what these headers say counts where the connection itself comes from
//! a proxy that was named, and nowhere else; and of a list of addresses the last one that is no such proxy counts, since what
//! stands before it was written by whoever that is.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use axum::http::{HeaderMap, HeaderName};

use crate::Peer;
use crate::guard::{Unclear, single};

const FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Addresses that begin alike: `10.0.0.0/8`, or one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

/// What is no network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an address, or a network such as 10.0.0.0/8")]
pub struct NetworkError;

impl Network {
    /// Whether an address is one of it.
    pub fn contains(&self, address: IpAddr) -> bool {
        let part = |bits: u128, width: u32| match width - self.bits {
            // All of it counts as the same.
            shift if shift >= u128::BITS => 0,
            shift => bits >> shift,
        };
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                part(own.to_bits().into(), 32) == part(other.to_bits().into(), 32)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                part(own.to_bits(), 128) == part(other.to_bits(), 128)
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse().map_err(|_| NetworkError)?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| NetworkError)?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        match bits.unwrap_or(width) {
            bits if bits <= width => Ok(Self { address, bits }),
            _ => Err(NetworkError),
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

/// What is believed of a request's way here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forwarded {
    /// Whoever sent it, as far as anybody who is believed can say.
    pub client: Option<IpAddr>,
    /// The host that it was sent to, where a proxy says so.
    pub host: Option<String>,
    /// Whether it was sent over TLS, where a proxy says so.
    pub secure: Option<bool>,
}

/// Reads what proxies say, as far as they are among `trusted`.
///
/// # Errors
///
/// [`Unclear`] where a trusted proxy says something twice, or what is no address.
pub fn forwarded(
    peer: Peer,
    headers: &HeaderMap,
    trusted: &[Network],
) -> Result<Forwarded, Unclear> {
    let Peer(Some(address)) = peer else {
        return Ok(Forwarded { client: None, host: None, secure: None });
    };
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
    if !is_trusted(address) {
        return Ok(Forwarded { client: Some(address), host: None, secure: None });
    }
    let mut client = address;
    // Each proxy adds at the end, in this header or in another one of the same name.
    let chains: Vec<&str> = headers
        .get_all(FOR)
        .iter()
        .map(|value| value.to_str().map_err(|_| Unclear))
        .collect::<Result<_, _>>()?;
    for said in chains.iter().flat_map(|chain| chain.split(',')).rev() {
        client = said.trim().parse::<IpAddr>().map_err(|_| Unclear)?.to_canonical();
        if !is_trusted(client) {
            break;
        }
    }
    let host = single(headers, &HOST)?.map(str::to_owned);
    let secure = match single(headers, &PROTO)? {
        None => None,
        Some("https") => Some(true),
        Some("http") => Some(false),
        Some(_) => return Err(Unclear),
    };
    Ok(Forwarded { client: Some(client), host, secure })
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn headers(said: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in said {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn a_network_holds_what_begins_like_it() {
        let network: Network = "10.1.0.0/16".parse().unwrap();
        assert!(network.contains(ip("10.1.255.255")));
        assert!(network.contains(ip("::ffff:10.1.2.3")));
        assert!(!network.contains(ip("10.2.0.0")));
        let network: Network = "2001:db8::/32".parse().unwrap();
        assert!(network.contains(ip("2001:db8:ffff::1")));
        assert!(!network.contains(ip("2001:db9::1")));
        assert!("0.0.0.0/0".parse::<Network>().unwrap().contains(ip("192.0.2.1")));
        assert!("::/0".parse::<Network>().unwrap().contains(ip("2001:db8::1")));
        assert!("192.0.2.1".parse::<Network>().unwrap().contains(ip("192.0.2.1")));
        for wrong in ["", "10.0.0.0/33", "::/129", "ten", "10.0.0.0/-1", "10.0.0.0/"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_a_named_proxy_is_believed() {
        let said = headers(&[
            ("x-forwarded-for", "192.0.2.7"),
            ("x-forwarded-host", "console.example"),
            ("x-forwarded-proto", "https"),
        ]);
        let trusted = ["10.0.0.1".parse().unwrap()];
        let found = forwarded(Peer(Some(ip("10.0.0.1"))), &said, &trusted).unwrap();
        assert_eq!(found.client, Some(ip("192.0.2.7")));
        assert_eq!(found.host.as_deref(), Some("console.example"));
        assert_eq!(found.secure, Some(true));
        let found = forwarded(Peer(Some(ip("10.0.0.2"))), &said, &trusted).unwrap();
        assert_eq!(
            found,
            Forwarded { client: Some(ip("10.0.0.2")), host: None, secure: None },
            "anyone can say so"
        );
    }

    #[test]
    fn of_a_chain_the_last_that_is_no_proxy_counts() {
        let trusted = ["10.0.0.0/8".parse().unwrap()];
        let peer = Peer(Some(ip("10.0.0.1")));
        let said = headers(&[
            ("x-forwarded-for", "203.0.113.9, 192.0.2.7"),
            ("x-forwarded-for", "10.0.0.2"),
        ]);
        assert_eq!(forwarded(peer, &said, &trusted).unwrap().client, Some(ip("192.0.2.7")));
        for unclear in [
            headers(&[("x-forwarded-for", "somebody")]),
            headers(&[("x-forwarded-proto", "gopher")]),
            headers(&[("x-forwarded-host", "a"), ("x-forwarded-host", "b")]),
        ] {
            assert_eq!(forwarded(peer, &unclear, &trusted), Err(Unclear));
        }
    }
}
