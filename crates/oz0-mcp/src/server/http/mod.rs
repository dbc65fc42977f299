//! Streamable HTTP: one endpoint, both eras.
//!
//! Which era a request is of shows in itself: the modern one names its version in every body, the legacy one in none.
//! A modern request is answered within its own exchange, and its end is a cancellation; a legacy call belongs to its
//! session, goes on when its client is cut off, and can be come back to.
//!
//! The transport of 2024-11-05 with two endpoints is not served: clients of that version still open a session here
//! when they speak Streamable HTTP, and those that speak only the older transport need stdio.

mod guard;
mod legacy;
mod marks;
mod modern;
mod reply;
mod session;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, Method, Request, Response};
use axum::routing::any;
use serde_json::value::RawValue;

use self::guard::{Accept, Unclear, single};
use self::reply::{problem, refused, turned};
use self::session::Sessions;
use super::codes;
use super::engine::{Engine, Envelope};
use super::gateway::{Denied, Gateway, Principal};
use super::incoming::{self, Incoming};
use super::params::may_be_modern;
use crate::error::RpcError;
use crate::message::Message;
use crate::version::{Era, ProtocolVersion};

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(super) const NAME: HeaderName = HeaderName::from_static("mcp-name");
pub(super) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Which names the HTTP endpoint answers to.
#[derive(Clone, Debug, Default)]
pub struct HttpOptions {
    /// Host names, beside loopback's, that a request's `Host` and `Origin` may name; without port.
    pub hosts: Vec<String>,
    /// Whole origins (`https://app.example.com`) whose pages may call.
    pub origins: Vec<String>,
}

/// The endpoint's state.
pub(super) struct Http<G> {
    pub(super) engine: Arc<Engine<G>>,
    options: HttpOptions,
    sessions: Sessions,
    marks: marks::Marks,
    in_flight: Arc<Mutex<HashMap<Principal, usize>>>,
}

/// One of a principal's requests in flight.
#[derive(Debug)]
pub(super) struct Permit {
    principal: Principal,
    in_flight: Arc<Mutex<HashMap<Principal, usize>>>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = in_flight.get_mut(&self.principal) {
            *count -= 1;
            if *count == 0 {
                in_flight.remove(&self.principal);
            }
        }
    }
}

impl<G: Gateway> Http<G> {
    /// Room for one more request of this principal.
    pub(super) fn permit(&self, principal: &Principal) -> Result<Permit, RpcError> {
        let limit = self.engine.options.limits.in_flight;
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        let count = in_flight.entry(principal.clone()).or_default();
        if *count >= limit {
            let why = format!("{limit} requests are in flight already");
            return Err(RpcError::new(codes::BUSY, why));
        }
        *count += 1;
        Ok(Permit { principal: principal.clone(), in_flight: Arc::clone(&self.in_flight) })
    }
}

pub(crate) fn router<G: Gateway>(engine: Arc<Engine<G>>, options: HttpOptions) -> Router {
    let sessions = Sessions::new(&engine.options);
    let http = Arc::new(Http {
        engine,
        options,
        sessions,
        marks: marks::Marks::default(),
        in_flight: Arc::default(),
    });
    Router::new().route("/mcp", any(handle::<G>)).with_state(http)
}

async fn handle<G: Gateway>(
    State(http): State<Arc<Http<G>>>,
    request: Request<Body>,
) -> Response<Body> {
    if let Err(why) = guard::host_and_origin(request.uri(), request.headers(), &http.options) {
        return turned(why);
    }
    let modern = single(request.headers(), &VERSION)
        .ok()
        .flatten()
        .and_then(ProtocolVersion::known)
        .is_some_and(|version| version.era() == Era::Modern);
    let method = request.method().clone();
    let allowed = if modern { "POST" } else { "POST, GET, DELETE" };
    if method != Method::POST && (modern || (method != Method::GET && method != Method::DELETE)) {
        return reply::not_allowed(allowed);
    }
    let token = match guard::bearer(request.headers()) {
        Ok(token) => token,
        Err(why) => return turned(why),
    };
    let principal = match http.engine.gateway.authenticate(token).await {
        Ok(principal) => principal,
        Err(denied) => return self::denied(&denied, token.is_some()),
    };
    if *http.engine.closing.borrow() {
        let error = RpcError::new(codes::CLOSING, "the server is shutting down");
        return problem(503, &error);
    }
    match method {
        Method::POST => http.post(principal, request).await,
        Method::GET => http.get(&principal, request.headers()),
        _ => http.delete(&principal, request.headers()),
    }
}

fn denied(denied: &Denied, has_token: bool) -> Response<Body> {
    let (status, why, challenge) = match denied {
        Denied::Unauthenticated { resource_metadata } => {
            let mut challenge = "Bearer".to_owned();
            let mut comma = ' ';
            if has_token {
                challenge.push_str(" error=\"invalid_token\"");
                comma = ',';
            }
            if let Some(metadata) = resource_metadata {
                let metadata: String = metadata
                    .chars()
                    .filter(|char| char.is_ascii_graphic() && *char != '"')
                    .collect();
                challenge.push(comma);
                challenge.push_str("resource_metadata=\"");
                challenge.push_str(&metadata);
                challenge.push('"');
            }
            (401, "a valid bearer token is needed", Some(challenge))
        }
        Denied::Forbidden => (
            403,
            "this token may not do that",
            Some("Bearer error=\"insufficient_scope\"".to_owned()),
        ),
        Denied::Unavailable => (503, "the token could not be checked", None),
    };
    let mut response = turned((status, why));
    if let Some(value) = challenge.and_then(|text| text.parse().ok()) {
        response.headers_mut().insert(axum::http::header::WWW_AUTHENTICATE, value);
    }
    response
}

impl<G: Gateway> Http<G> {
    async fn post(self: Arc<Self>, principal: Principal, request: Request<Body>) -> Response<Body> {
        let (head, body) = request.into_parts();
        if let Err(why) = guard::content_type(&head.headers) {
            return turned(why);
        }
        let accept = Accept::read(&head.headers);
        if !accept.json {
            return turned((406, "the client must accept application/json and text/event-stream"));
        }
        let limit = self.engine.options.limits.message;
        let patience = self.engine.options.timeouts.stall;
        let bytes = match tokio::time::timeout(patience, axum::body::to_bytes(body, limit)).await {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(error)) => {
                let too_large = std::error::Error::source(&error)
                    .is_some_and(<dyn std::error::Error>::is::<http_body_util::LengthLimitError>);
                if too_large {
                    let error = RpcError::new(
                        codes::INVALID_REQUEST,
                        format!("a message above the limit of {limit} bytes"),
                    );
                    return problem(413, &error);
                }
                return turned((400, "the body broke off"));
            }
            Err(_) => return turned((408, "the body took too long to come")),
        };
        match incoming::read(&bytes, &self.engine.options.limits) {
            Err(refused) => problem_of(400, &refused),
            Ok(Incoming::Batch(batch)) => {
                self.legacy_batch(&principal, &head.headers, accept, &batch)
            }
            Ok(Incoming::One(message)) => {
                if is_modern(&head.headers, &message) {
                    self.modern(principal, &head.headers, accept, &message).await
                } else {
                    self.legacy(principal, &head.headers, accept, &message).await
                }
            }
        }
    }
}

fn problem_of(status: u16, refused: &incoming::Refused) -> Response<Body> {
    self::refused(status, &refused.id, &refused.error)
}

/// Which era a message is of.
fn is_modern(headers: &HeaderMap, message: &Message<'_>) -> bool {
    let (method, params) = match message {
        Message::Request { method, params, .. } | Message::Notification { method, params } => {
            (method.as_ref(), *params)
        }
        Message::Answer { .. } => ("", None),
    };
    // A handshake names no version yet; one that does, and a modern one, asks for a method that era does not have.
    let modern = |version: &str| {
        ProtocolVersion::known(version).is_some_and(|version| version.era() == Era::Modern)
    };
    if method == "initialize" {
        return single(headers, &VERSION).ok().flatten().is_some_and(modern);
    }
    let said = params.map(RawValue::get).filter(|text| may_be_modern(text));
    if said.is_some_and(|text| {
        !matches!(Envelope::read(Some(text)), Ok(Envelope { version: None, .. }))
    }) {
        return true;
    }
    match single(headers, &VERSION) {
        Ok(Some(version)) => {
            ProtocolVersion::known(version).is_none_or(|version| version.era() == Era::Modern)
                && !headers.contains_key(&SESSION)
        }
        Ok(None) => method == "server/discover",
        Err(Unclear) => !headers.contains_key(&SESSION),
    }
}
