//! What happens elsewhere, for pages that are open: that something did, and nothing of what.
//!
//! A page that hears of it asks for itself anew, as whoever looks at it, so nothing is said here that has to be allowed again.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use futures_util::stream;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::Console;
use crate::session::Visitor;

/// Between two events, at least: many things that happen at once are one.
const APART: Duration = Duration::from_millis(100);

/// Between two events, at most: what only time changes, such as a node that is lost, is no write.
const TICK: Duration = Duration::from_secs(15);

pub(crate) fn routes() -> Router<Console> {
    Router::new().route("/events", get(events))
}

struct Follower {
    console: Console,
    visitor: Visitor,
    commits: watch::Receiver<u64>,
    winds_down: watch::Receiver<bool>,
    begun: bool,
}

async fn events(State(console): State<Console>, visitor: Visitor) -> Response {
    let mut commits = console.desk.commits();
    commits.mark_unchanged();
    let winds_down = console.desk.winds_down();
    let follower = Follower { console, visitor, commits, winds_down, begun: false };
    let mut response = Sse::new(stream::unfold(follower, next)).into_response();
    // A proxy that gathers what it hands on would gather for ever.
    let name = HeaderName::from_static("x-accel-buffering");
    response.headers_mut().insert(name, HeaderValue::from_static("no"));
    response
}

/// An event. A browser hands on none that has no data.
fn event(name: &str) -> Event {
    Event::default().event(name).data(name)
}

async fn next(mut follower: Follower) -> Option<(Result<Event, Infallible>, Follower)> {
    if !std::mem::replace(&mut follower.begun, true) {
        return Some((Ok(event("here")), follower));
    }
    let moved = tokio::select! {
        moved = timeout(TICK, follower.commits.changed()) => !matches!(moved, Ok(Err(_))),
        _ = follower.winds_down.wait_for(|down| *down) => false,
    };
    if !moved {
        return None;
    }
    sleep(APART).await;
    follower.commits.mark_unchanged();
    // Whoever's token was revoked follows no longer.
    if !follower.console.desk.knows(&follower.visitor.person).await.unwrap_or(false) {
        return None;
    }
    Some((Ok(event("moved")), follower))
}
