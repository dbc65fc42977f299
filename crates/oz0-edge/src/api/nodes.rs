//! What nodes ask and report.

use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::routing::{get, post};
use oz0_api::node::{Part, Poll, PollQuery, Report, Verdicts};
use oz0_api::token::NodeStatus;

use super::caller::{Node, Reader, unknown_token};
use super::{Answer, Api, Json, LONGEST_WAIT, to_its_end, wait_for};

/// The longest report, in bytes. A node reads at most 16 MiB of a server's listing; written-out
/// invisible characters make it up to four times as long.
const REPORT: usize = 64 * 1024 * 1024;

pub(super) fn routes() -> Router<Api> {
    Router::new()
        .route("/v1/poll", post(poll))
        .route("/v1/listings", post(report).layer(DefaultBodyLimit::max(REPORT)))
        .route("/v1/nodes", get(list))
}

async fn poll(
    State(api): State<Api>,
    Node { name: node, token }: Node,
    Json(query): Json<PollQuery>,
) -> Result<Json<Poll>, Answer> {
    let store = &api.edge.store;
    store.touch(&node).await?;
    let _polling = store.polling(&node, &query);
    let wait = query.wait.map_or(LONGEST_WAIT, Duration::from_secs);
    let ask = || async {
        // A node whose token was revoked while it waits hears so at once.
        if !store.is_token_live(&token).await? {
            return Err(unknown_token());
        }
        Ok(store.poll(&node, &query).await?)
    };
    let found = wait_for(&api.edge, wait, ask).await?;
    store.touch(&node).await?;
    Ok(Json(found.unwrap_or_else(|| Poll {
        edge: store.edge().clone(),
        reset: false,
        plugins: Part { revision: query.plugins, changed: Vec::new() },
        decisions: Part { revision: query.decisions, changed: Vec::new() },
        jobs: Vec::new(),
    })))
}

async fn report(
    State(api): State<Api>,
    Node { name: node, .. }: Node,
    Json(report): Json<Report>,
) -> Result<Json<Verdicts>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.report(&node, &report).await }).await.map(Json)
}

async fn list(State(api): State<Api>, _: Reader) -> Result<Json<Vec<NodeStatus>>, Answer> {
    Ok(Json(api.edge.store.nodes().await?))
}
