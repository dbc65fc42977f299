//! Where a remote server is, and what it alone is sent.
//!
//! A token that reaches another host is lost, so no header of a server's own is ever held without the origin that it is
//! for: [`BoundHeaders`] carries its pin, an endpoint at another origin does not take it, and the one place that makes
//! requests attaches it to a URL of that origin and to no other.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::origin::{Origin, OriginError, normalized};

/// Headers (such as `Authorization`) for the server at one origin, and for nobody else.
///
/// Clones share what they hold: a token that is renewed counts from the next request on, also for a connection that is
/// open. Values are marked as sensitive, and `Debug` shows none.
#[derive(Clone)]
pub struct BoundHeaders {
    pin: Origin,
    headers: Arc<RwLock<HeaderMap>>,
}

impl BoundHeaders {
    /// None yet, for the server at `pin`: the origin that its tool is pinned at, and not the one that a URL happens to
    /// name by now.
    pub fn to(pin: Origin) -> Self {
        Self { pin, headers: Arc::default() }
    }

    /// Whom they are for.
    pub fn pin(&self) -> &Origin {
        &self.pin
    }

    /// Sends this from the next request on, in place of what had the name before.
    pub fn set(&self, name: HeaderName, mut value: HeaderValue) {
        value.set_sensitive(true);
        self.headers.write().unwrap_or_else(PoisonError::into_inner).insert(name, value);
    }

    /// Sends no such header any more.
    pub fn unset(&self, name: &HeaderName) {
        self.headers.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    /// What a request to this URL carries of them: everything, or nothing.
    fn at(&self, url: &Url) -> HeaderMap {
        match Origin::of(url) {
            Ok(origin) if origin == self.pin => {
                self.headers.read().unwrap_or_else(PoisonError::into_inner).clone()
            }
            _ => HeaderMap::new(),
        }
    }
}

impl fmt::Debug for BoundHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BoundHeaders(for {})", self.pin)
    }
}

/// Headers that are for another server than the one at the URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its headers are for {pin}, and its URL is at {origin}")]
pub struct OtherOrigin {
    /// Whom the headers are for.
    pub pin: Origin,
    /// Where the URL goes.
    pub origin: Origin,
}

/// Where a remote server is, and the headers that go with every request to it.
#[derive(Clone)]
pub struct Endpoint {
    url: Url,
    origin: Origin,
    headers: Option<BoundHeaders>,
}

impl Endpoint {
    /// Checks a URL: absolute, `https` (or `http` to this machine), no user info. Nothing of one's own is sent there.
    ///
    /// # Errors
    ///
    /// Those of [`Origin::parse`].
    pub fn new(url: &str) -> Result<Self, OriginError> {
        let (url, origin) = normalized(url)?;
        if !origin.is_https() && !origin.is_loopback() {
            return Err(OriginError::PlainHttp);
        }
        Ok(Self { url, origin, headers: None })
    }

    /// The same, with headers for it.
    ///
    /// # Errors
    ///
    /// They are for another origin.
    pub fn with(self, headers: BoundHeaders) -> Result<Self, OtherOrigin> {
        if headers.pin == self.origin {
            Ok(Self { headers: Some(headers), ..self })
        } else {
            Err(OtherOrigin { pin: headers.pin, origin: self.origin })
        }
    }

    /// The URL that is dialled.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Its origin.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The headers of its own that a request to this URL carries.
    pub(super) fn headers_at(&self, url: &Url) -> HeaderMap {
        self.headers.as_ref().map(|headers| headers.at(url)).unwrap_or_default()
    }
}

/// Without the headers, which hold secrets, and without the query, which may.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({}{})", self.origin, self.url.path())
    }
}
