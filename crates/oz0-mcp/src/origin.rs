//! Origins (RFC 6454): who a remote server is.
//!
//! A remote server is pinned at its origin, and a redirect is followed only inside it, so two spellings of one origin
//! must be equal and nothing ambiguous may pass for one. URLs are compared parsed, never as text.

use std::fmt;
use std::str::FromStr;

use url::{Host, Url};

/// Scheme, host and port of an `http` or `https` URL. The host is in its IDNA ASCII form, lower-case and without a
/// trailing dot; the scheme's default port is filled in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    https: bool,
    host: Host<String>,
    port: u16,
}

/// Why a text is no URL of a remote server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OriginError {
    /// Characters that readers of URLs disagree about: `\`, white space and control characters.
    #[error("a URL may not contain `\\`, white space or control characters")]
    Ambiguous,
    /// `user:password@`, which belongs in a header and can disguise the host.
    #[error("a URL may not contain user info before its host")]
    UserInfo,
    /// Neither `http` nor `https`.
    #[error("the scheme of a remote server's URL is http or https, not {0}")]
    Scheme(String),
    /// Plain `http` to another machine.
    #[error("plain http is refused but to this machine (localhost, 127.0.0.0/8, ::1); use https")]
    PlainHttp,
    /// Not a URL at all.
    #[error("not a URL: {0}")]
    Url(#[from] url::ParseError),
    /// No host, or one that is nothing but dots.
    #[error("a URL needs a host")]
    NoHost,
}

impl Origin {
    /// The origin of an absolute URL, with what the text hides checked as well.
    pub fn parse(text: &str) -> Result<Self, OriginError> {
        normalized(text).map(|(_, origin)| origin)
    }

    /// Whether this is `https`.
    pub fn is_https(&self) -> bool {
        self.https
    }

    /// The host.
    pub fn host(&self) -> &Host<String> {
        &self.host
    }

    /// The port, the scheme's default filled in.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether the host is this machine: `localhost` and below, 127.0.0.0/8, `::1`.
    pub fn is_loopback(&self) -> bool {
        match &self.host {
            Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
        }
    }

    pub(crate) fn of(url: &Url) -> Result<Self, OriginError> {
        let https = match url.scheme() {
            "https" => true,
            "http" => false,
            other => return Err(OriginError::Scheme(other.to_owned())),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(OriginError::UserInfo);
        }
        let host = match url.host().ok_or(OriginError::NoHost)? {
            Host::Domain(name) => {
                let name = name.strip_suffix('.').unwrap_or(name);
                if name.is_empty() || name.ends_with('.') {
                    return Err(OriginError::NoHost);
                }
                Host::Domain(name.to_owned())
            }
            Host::Ipv4(address) => Host::Ipv4(address),
            Host::Ipv6(address) => Host::Ipv6(address),
        };
        let port = url.port_or_known_default().ok_or(OriginError::NoHost)?;
        Ok(Self { https, host, port })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, default) = if self.https { ("https", 443) } else { ("http", 80) };
        write!(f, "{scheme}://{}", self.host)?;
        if self.port == default { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

impl FromStr for Origin {
    type Err = OriginError;
    fn from_str(text: &str) -> Result<Self, OriginError> {
        Self::parse(text)
    }
}

/// The URL as it is dialled (host without a trailing dot, no fragment) and its origin.
pub(crate) fn normalized(text: &str) -> Result<(Url, Origin), OriginError> {
    check_text(text)?;
    let mut url = Url::parse(text)?;
    let origin = Origin::of(&url)?;
    if let Host::Domain(name) = &origin.host {
        url.set_host(Some(name))?;
    }
    url.set_fragment(None);
    Ok((url, origin))
}

/// What `base` makes of a reference (a redirect's target, an endpoint), under the same rules.
pub(crate) fn resolved(base: &Url, reference: &str) -> Result<(Url, Origin), OriginError> {
    check_text(reference)?;
    normalized(base.join(reference)?.as_str())
}

fn check_text(text: &str) -> Result<(), OriginError> {
    if text.chars().any(|c| c == '\\' || c.is_whitespace() || c.is_control()) {
        return Err(OriginError::Ambiguous);
    }
    // The parser drops an empty `@`, so it is looked for in the text.
    let authority = text.split_once("//").map_or("", |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let leads = text.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') && (leads.is_empty() || leads.ends_with(':')) {
        return Err(OriginError::UserInfo);
    }
    Ok(())
}
