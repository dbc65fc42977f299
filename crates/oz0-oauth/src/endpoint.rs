//! Which URLs are spoken to.

use oz0_escape::line_within;
use url::{Host, Url};

/// A URL that nothing secret is sent to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not the address of an authorization server: {reason}")]
pub struct EndpointError {
    given: String,
    reason: &'static str,
}

/// Checks a URL: absolute, `https` (or `http` to this machine), no user info, no fragment.
pub fn endpoint(text: &str) -> Result<Url, EndpointError> {
    let wrong = |reason| EndpointError { given: line_within(text, 200).into_owned(), reason };
    if text.chars().any(|c| c == '\\' || c.is_whitespace() || c.is_control()) {
        return Err(wrong("it has white space, a control character or a `\\`"));
    }
    let url = Url::parse(text).map_err(|_| wrong("it is no URL"))?;
    let loopback = is_loopback(&url);
    match url.scheme() {
        "https" => {}
        "http" if loopback => {}
        "http" => return Err(wrong("plain http is spoken to this machine only; use https")),
        _ => return Err(wrong("its scheme must be https")),
    }
    if url.host().is_none() {
        return Err(wrong("it names no host"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("it has user info before its host"));
    }
    if url.fragment().is_some() {
        return Err(wrong("it has a fragment"));
    }
    Ok(url)
}

/// Whether a URL's host is this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_sent_in_the_clear_or_to_a_disguised_host() {
        for good in ["https://as.example/token", "http://127.0.0.1:9/token", "http://localhost/t"] {
            assert!(endpoint(good).is_ok(), "{good}");
        }
        for bad in [
            "http://as.example/token",
            "ftp://as.example/token",
            "https://as.example@evil.example/token",
            "https://as.example/to ken",
            "https:\\\\as.example",
            "https://as.example/#x",
            "token",
        ] {
            assert!(endpoint(bad).is_err(), "{bad}");
        }
    }
}
