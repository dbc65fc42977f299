//! What nodes ask and report.

use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use oz0_api::node::{Part, Poll, PollQuery, Report, Verdicts};
use oz0_api::token::NodeStatus;
use oz0_api::{Code, NodeName, Problem, TokenId};
use tokio::time::Instant;

use super::caller::{Node, Reader, unknown_token};
use super::described::{Group, Operation, Output, Route};
use super::{Answer, Api, Json, LONGEST_WAIT, to_its_end};
use crate::store::{Asks, Store, standing};

/// The longest report, in bytes. A node reads at most 16 MiB of a server's listing; written-out
/// invisible characters make it up to four times as long.
const REPORT: usize = 64 * 1024 * 1024;

pub(super) fn routes() -> Group {
    Group {
        name: "nodes",
        about: "What nodes ask and report.",
        routes: vec![
            Route::post(
                "/v1/poll",
                "poll",
                "What changed for the node that asks since it last asked",
                poll,
            )
            .waits(),
            Route::post("/v1/listings", "report", "Reports what a server listed", report)
                .limit(REPORT)
                .may(&[Code::NotFound, Code::Stale]),
            Route::post(
                "/v1/leave",
                "leave",
                "The node ends: it counts as away until it polls again",
                leave,
            ),
            Route::get("/v1/nodes", "nodes", "The nodes that ever asked", list),
        ],
    }
}

/// How long after its last poll a node that sends no other is said to be lost.
const LOST: Duration = Duration::from_secs(10);

/// A node's poll: some time after its end the node is looked for.
struct LookedFor {
    store: Weak<Store>,
    node: NodeName,
}

impl Drop for LookedFor {
    fn drop(&mut self) {
        let (store, node) = (self.store.clone(), self.node.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                tokio::time::sleep(LOST).await;
                if let Some(store) = store.upgrade() {
                    // What cannot be written is seen by the time that the node was there.
                    let _ = store.look_for(&node).await;
                }
            });
        }
    }
}

/// The answer to a poll, as it is sent to every node that asks the same.
struct Told(Bytes);

impl IntoResponse for Told {
    fn into_response(self) -> Response {
        let headers =
            [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
        (headers, self.0).into_response()
    }
}

impl Output for Told {
    fn describe(operation: &mut Operation<'_>) {
        let schema = operation.schema::<Poll>();
        operation.gives("application/json", &schema);
    }
}

async fn poll(
    State(api): State<Api>,
    Node { name: node, token }: Node,
    Json(query): Json<PollQuery>,
) -> Result<Told, Answer> {
    let store = &api.edge.store;
    store.touch(&node, Some(&query)).await?;
    let _looked_for = LookedFor { store: Arc::downgrade(store), node: node.clone() };
    let _polling = store.polling(&node, &query);
    let told = news(store, &node, &token, &query).await?;
    store.still_there(&node).await?;
    if let Some(told) = told {
        return Ok(Told(told.json.clone()));
    }
    let nothing = Poll {
        edge: store.id().clone(),
        reset: false,
        plugins: Part { revision: query.plugins, changed: Vec::new() },
        decisions: Part { revision: query.decisions, changed: Vec::new() },
        policy: None,
        credentials: None,
        jobs: Vec::new(),
        head: query.head.clone(),
    };
    let nothing = serde_json::to_vec(&nothing)
        .map_err(|error| Problem::new(Code::Internal, format!("the edge failed: {error}")))?;
    Ok(Told(nothing.into()))
}

/// Waits for what changed for a node.
async fn news(
    store: &Store,
    node: &NodeName,
    token: &TokenId,
    query: &PollQuery,
) -> Result<Option<Arc<standing::Answer>>, Answer> {
    let wait = query.wait.map_or(LONGEST_WAIT, Duration::from_secs).min(LONGEST_WAIT);
    let deadline = Instant::now() + wait;
    let mut winds_down = store.winds_down();
    let mut beats = store.beats();
    // Before it is looked whether one waits.
    let mut called = store.called(node);
    let mut heard = beats.borrow_and_update().clone();
    let asks = store.asks(node, token, query).await?;
    // It may have been revoked since it was shown, and of that what was heard just now says nothing any more.
    if !asks.live {
        return Err(unknown_token());
    }
    let Asks { mut standing, known, called: mut looks, live: _ } = asks;
    loop {
        // Taken last: a job that is taken and not handed out is lost.
        let takes = looks && query.jobs && !store.has_left(node).await?;
        let jobs = if takes { store.take_jobs(node).await? } else { Vec::new() };
        if let Some(answer) = standing.answer(node, query, known, jobs)? {
            return Ok(Some(answer));
        }
        let ends = async { drop(winds_down.wait_for(|down| *down).await) };
        tokio::select! {
            () = tokio::time::sleep_until(deadline) => return Ok(None),
            () = ends => return Ok(None),
            _ = called.signal.changed() => looks = true,
            changed = beats.changed() => {
                if changed.is_err() {
                    return Ok(None);
                }
                let beat = beats.borrow_and_update().clone();
                if beat.failures != heard.failures {
                    store.in_service()?;
                }
                // A node whose token was revoked while it waits hears so at once.
                if beat.tokens != heard.tokens && !store.is_token_live(token).await? {
                    return Err(unknown_token());
                }
                if let Some(newest) = &beat.standing {
                    standing = Arc::clone(newest);
                }
                heard = beat;
                looks = false;
            }
        }
    }
}

async fn report(
    State(api): State<Api>,
    Node { name: node, .. }: Node,
    Json(report): Json<Report>,
) -> Result<Json<Verdicts>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.report(&node, &report).await }).await.map(Json)
}

async fn leave(
    State(api): State<Api>,
    Node { name: node, .. }: Node,
    Json(()): Json<()>,
) -> Result<Json<()>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { Ok(store.leave(&node).await?) }).await.map(Json)
}

async fn list(State(api): State<Api>, _: Reader) -> Result<Json<Vec<NodeStatus>>, Answer> {
    Ok(Json(api.edge.store.nodes().await?))
}
