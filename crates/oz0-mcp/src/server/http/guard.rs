//! What a request must be before its body is read: for this host, from no strange page, of a form that is taken.

use axum::http::{HeaderMap, Uri, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use oz0_serve::guard::{self, Unnamed};
pub(super) use oz0_serve::guard::{Unclear, single};

use super::HttpOptions;

/// Why a request is not let in: a status, and a sentence.
pub(super) type Turned = (u16, &'static str);

/// A page that a browser was tricked into treating as ours (DNS rebinding) has its own name in `Host`, and a page that
/// is not ours has its own in `Origin`.
pub(super) fn host_and_origin(
    uri: &Uri,
    headers: &HeaderMap,
    options: &HttpOptions,
) -> Result<(), Turned> {
    let authority = guard::authority(uri, headers).map_err(|why| match why {
        Unnamed::Twice => (400, "the Host header stands twice"),
        Unnamed::Missing => (400, "the Host header is missing"),
        Unnamed::Two => (400, "the request names two hosts"),
    })?;
    if !is_ours(authority, options) {
        return Err((403, "this host name is not served here"));
    }
    match single(headers, &header::ORIGIN) {
        Ok(None) => Ok(()),
        Ok(Some(origin)) => {
            let listed = options.origins.iter().any(|ours| ours.eq_ignore_ascii_case(origin));
            let ours = listed
                || origin
                    .split_once("://")
                    .filter(|(scheme, _)| ["http", "https"].contains(scheme))
                    .is_some_and(|(_, host)| is_ours(host, options));
            if ours { Ok(()) } else { Err((403, "requests of this origin are not taken")) }
        }
        Err(Unclear) => Err((403, "the Origin header cannot be read")),
    }
}

/// Whether `HOST[:PORT]` is one of ours.
fn is_ours(authority: &str, options: &HttpOptions) -> bool {
    guard::host(authority).is_some_and(|host| {
        let host = host.strip_suffix('.').unwrap_or(host);
        guard::is_named(host, options.hosts.iter().map(String::as_str))
    })
}

/// The bearer token, if there is one.
pub(super) fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Turned> {
    guard::bearer(headers).map_err(|Unclear| (400, "the Authorization header cannot be read"))
}

/// Whether the body is JSON as it stands.
pub(super) fn content_type(headers: &HeaderMap) -> Result<(), Turned> {
    let value = single(headers, &header::CONTENT_TYPE).ok().flatten().unwrap_or_default();
    let essence = value.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/json") {
        return Err((415, "the Content-Type must be application/json"));
    }
    let encoding = single(headers, &header::CONTENT_ENCODING).ok().flatten().unwrap_or_default();
    if !encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity") {
        return Err((415, "the body must not be encoded"));
    }
    Ok(())
}

/// Which forms of an answer a client takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accept {
    pub(super) json: bool,
    pub(super) events: bool,
}

impl Accept {
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let mut accept = Self { json: false, events: false };
        let mut any = false;
        for value in headers.get_all(header::ACCEPT) {
            any = true;
            for range in value.to_str().unwrap_or_default().split(',') {
                let mut parts = range.split(';').map(str::trim);
                let range = parts.next().unwrap_or_default().to_ascii_lowercase();
                let refused = parts.any(|part| {
                    part.strip_prefix("q=")
                        .and_then(|quality| quality.parse::<f32>().ok())
                        .is_some_and(|quality| quality <= 0.0)
                });
                accept.json |=
                    !refused && ["application/json", "application/*", "*/*"].contains(&&*range);
                accept.events |=
                    !refused && ["text/event-stream", "text/*", "*/*"].contains(&&*range);
            }
        }
        if any { accept } else { Self { json: true, events: true } }
    }
}

/// A header's value as it was meant: what cannot stand in a header travels as `=?base64?…?=`.
pub(super) fn decoded(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        None => Some(value.to_owned()),
        Some(payload) => {
            let bytes = BASE64.decode(payload).ok()?;
            String::from_utf8(bytes).ok()
        }
    }
}
