//! Asked calls: queued here, run by a node, waited for here.

use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::routing::{get, post};
use oz0_api::CallId;
use oz0_api::call::{Ask, Call, JobResult};
use serde::Deserialize;

use super::caller::{Node, Reader};
use super::{Answer, Api, Json, Path, Query, to_its_end, wait_for};

/// The longest result, in bytes.
const RESULT: usize = 32 * 1024 * 1024;

/// The longest question, in bytes.
const ASK: usize = 8 * 1024 * 1024;

pub(super) fn routes() -> Router<Api> {
    Router::new()
        .route("/v1/calls", post(ask).layer(DefaultBodyLimit::max(ASK)))
        .route("/v1/calls/{id}", get(asked))
        .route("/v1/calls/{id}/result", post(answer).layer(DefaultBodyLimit::max(RESULT)))
}

async fn ask(
    State(api): State<Api>,
    Reader(actor): Reader,
    Json(ask): Json<Ask>,
) -> Result<Json<Call>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.ask(&actor, &ask).await }).await.map(Json)
}

/// How long to wait for the call's end, in seconds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wait {
    #[serde(default)]
    wait: u64,
}

async fn asked(
    State(api): State<Api>,
    _: Reader,
    Path(id): Path<CallId>,
    Query(Wait { wait }): Query<Wait>,
) -> Result<Json<Call>, Answer> {
    let store = &api.edge.store;
    let (call, left) = store.asked(&id).await?;
    if call.state.is_final() || wait == 0 {
        return Ok(Json(call));
    }
    // A little past its end, so that an end by time is seen by this answer.
    let wait = Duration::from_secs(wait).min(left + Duration::from_millis(5));
    let ended = wait_for(&api.edge, wait, || async {
        let (call, _) = store.asked(&id).await?;
        Ok(call.state.is_final().then_some(call))
    })
    .await?;
    match ended {
        Some(call) => Ok(Json(call)),
        None => Ok(Json(store.asked(&id).await?.0)),
    }
}

async fn answer(
    State(api): State<Api>,
    node: Node,
    Path(id): Path<CallId>,
    Json(result): Json<JobResult>,
) -> Result<Json<()>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.answer(&node.name, &id, &result).await }).await.map(Json)
}
