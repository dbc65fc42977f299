//! What a request says of whom it is for and who sends it, read once and the same at every port.
//!
//! A page that a browser was tricked into treating as ours (DNS rebinding) has its own name in `Host`. Who names two hosts, or
//! shows two tokens, is taken for neither: of what reads one, something before or behind may read the other.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};

/// Why it is not known which host a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unnamed {
    /// `Host` stands twice, or is not ASCII.
    Twice,
    /// There is none.
    Missing,
    /// The request's target, in absolute form, names another one.
    Two,
}

/// A header that stands twice, or is not ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unclear;

/// The only value of a header.
///
/// # Errors
///
/// [`Unclear`].
pub fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Unclear> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(Unclear);
    }
    first.map(HeaderValue::to_str).transpose().map_err(|_| Unclear)
}

/// The one host that a request is for, as `HOST[:PORT]`.
///
/// # Errors
///
/// [`Unnamed`].
pub fn authority<'h>(uri: &Uri, headers: &'h HeaderMap) -> Result<&'h str, Unnamed> {
    let host = single(headers, &header::HOST).map_err(|Unclear| Unnamed::Twice)?;
    let host = host.ok_or(Unnamed::Missing)?;
    match uri.authority() {
        Some(other) if !other.as_str().eq_ignore_ascii_case(host) => Err(Unnamed::Two),
        _ => Ok(host),
    }
}

/// The host of `HOST[:PORT]`, an IPv6 address without its brackets. The port says nothing: a page on another port of this
/// machine is as local, and the one that is listened on may be mapped. None where it is malformed.
pub fn host(authority: &str) -> Option<&str> {
    let is_port = |text: &str| text.parse::<u16>().is_ok();
    match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port)).then_some(host)
        }
        None => match authority.split_once(':') {
            Some((host, port)) => is_port(port).then_some(host),
            None => Some(authority),
        },
    }
}

/// Whether a host is one of loopback's names, or of `names`.
pub fn is_named<'n>(host: &str, names: impl IntoIterator<Item = &'n str>) -> bool {
    let local = ["localhost", "127.0.0.1", "::1"];
    local
        .into_iter()
        .chain(names)
        .any(|name| name.trim_start_matches('[').trim_end_matches(']').eq_ignore_ascii_case(host))
}

/// The bearer token that a request shows; an empty one where it shows something else, which is never taken for none.
///
/// # Errors
///
/// [`Unclear`].
pub fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Unclear> {
    let Some(value) = single(headers, &header::AUTHORIZATION)? else { return Ok(None) };
    match value.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(Some(token.trim())),
        _ => Ok(Some("")),
    }
}
