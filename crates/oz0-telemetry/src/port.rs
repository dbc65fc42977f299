//! `--metrics-listen`: a port that tells how this process does, and nothing else.
//!
//! It is for whoever gathers numbers, who need no token that could do more. That makes it a port to be opened on purpose and
//! where only they are: there is none by default, and beside loopback's names it answers to those that it is given.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use oz0_serve::{Bounds, guard};

use crate::metrics::{self, Source};

/// Whether something is ready to do what it is there for; else why not, in words that anyone may read.
pub type Ready =
    Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> + Send + Sync>;

/// Whether the numbers are for whoever shows this bearer token, or none.
pub type LetIn =
    Arc<dyn Fn(Option<String>) -> Pin<Box<dyn Future<Output = bool> + Send>> + Send + Sync>;

/// What is told of a process.
#[derive(Clone, Default)]
pub struct Told {
    /// What is counted.
    pub sources: Vec<Arc<dyn Source>>,
    /// What must be ready.
    pub ready: Vec<Ready>,
    /// Host names, beside loopback's, that requests may name.
    pub hosts: BTreeSet<String>,
    /// Who may read the numbers; everybody where nothing is said. How this process does, anyone may ask.
    pub let_in: Option<LetIn>,
}

/// `/metrics`, `/healthz` and `/readyz` for whoever reaches them by a name that is served.
pub fn router(told: Told) -> Router {
    Router::new()
        .route("/metrics", get(numbers))
        .route("/healthz", get(|| async { "null" }))
        .route("/readyz", get(ready))
        .layer(axum::middleware::from_fn_with_state(told.clone(), check))
        .with_state(told)
}

/// Serves them until `stop` ends.
pub async fn serve(
    listener: tokio::net::TcpListener,
    told: Told,
    stop: impl Future<Output = ()> + Send,
) {
    // Nobody needs many of these at once.
    let bounds = Bounds { connections: 32, ..Bounds::default() };
    oz0_serve::serve(listener, router(told), bounds, stop).await;
}

async fn numbers(State(told): State<Told>, headers: HeaderMap) -> Response {
    if let Some(let_in) = &told.let_in
        // Who shows two tokens is nobody.
        && !let_in(guard::bearer(&headers).unwrap_or(Some("")).map(str::to_owned)).await
    {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, challenge, "a token is needed\n").into_response();
    }
    page(&told.sources)
}

/// The page of numbers as an answer.
pub fn page(sources: &[Arc<dyn Source>]) -> Response {
    let headers =
        [(header::CONTENT_TYPE, metrics::MEDIA_TYPE), (header::CACHE_CONTROL, "no-store")];
    (headers, metrics::page(sources)).into_response()
}

async fn ready(State(told): State<Told>) -> Response {
    for ready in &told.ready {
        if let Err(why) = ready().await {
            return (StatusCode::SERVICE_UNAVAILABLE, why + "\n").into_response();
        }
    }
    "null".into_response()
}

/// A page that a browser was tricked into taking for ours has its own name in `Host`, and one that is not ours its own in
/// `Origin`; no page has anything to look for here.
async fn check(State(told): State<Told>, request: Request, next: Next) -> Response {
    if !may(request.uri(), request.headers(), &told.hosts) {
        return (StatusCode::FORBIDDEN, "this host name is not served here\n").into_response();
    }
    next.run(request).await
}

fn may(uri: &Uri, headers: &HeaderMap, hosts: &BTreeSet<String>) -> bool {
    let names = hosts.iter().map(String::as_str);
    let host = guard::authority(uri, headers).ok().and_then(guard::host);
    !headers.contains_key(header::ORIGIN) && host.is_some_and(|host| guard::is_named(host, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_that_is_served_and_no_page_is_answered() {
        let of = |pairs: &[(header::HeaderName, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.append(name, value.parse().unwrap());
            }
            let hosts = BTreeSet::from(["edge.example".to_owned(), "10.0.0.7".to_owned()]);
            may(&Uri::from_static("/metrics"), &headers, &hosts)
        };
        for host in ["localhost:9", "127.0.0.1", "[::1]:9", "Edge.Example:1", "10.0.0.7:9"] {
            assert!(of(&[(header::HOST, host)]), "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example", "", "[::1", "localhost.evil"] {
            assert!(!of(&[(header::HOST, host)]), "{host}");
        }
        assert!(!of(&[]));
        assert!(!of(&[(header::HOST, "localhost"), (header::HOST, "localhost")]));
        assert!(!of(&[(header::HOST, "localhost"), (header::ORIGIN, "http://localhost")]));
    }
}
