//! Asked calls: queued here, run by a node, waited for here.

use std::time::{Duration, Instant};

use axum::extract::State;
use oz0_api::call::{Ask, Call, CallState, JobResult};
use oz0_api::{ApprovalId, CallId, Code};
use schemars::JsonSchema;
use serde::Deserialize;

use super::caller::{Asker, Node, Reader};
use super::described::{Group, Route};
use super::{Answer, Api, Json, Path, Query, to_its_end, wait_for};
use crate::Edge;

/// The longest result, in bytes.
const RESULT: usize = 32 * 1024 * 1024;

/// The longest question, in bytes.
const ASK: usize = 8 * 1024 * 1024;

pub(super) fn routes() -> Group {
    Group {
        name: "calls",
        about: "Calls that a person asks for, each run by one node.",
        routes: vec![
            Route::post("/v1/calls", "ask", "Asks for a call, and does not wait for it", ask)
                .limit(ASK)
                .may(&[Code::NotFound, Code::Conflict]),
            Route::get(
                "/v1/calls/{id}",
                "asked",
                "How far a call has come; with `wait`, when it moved",
                asked,
            )
            .waits()
            .may(&[Code::NotFound]),
            Route::post(
                "/v1/calls/{id}/result",
                "answerCall",
                "Answers a call that the node was given",
                answer,
            )
            .limit(RESULT)
            .may(&[Code::NotFound, Code::Stale]),
        ],
    }
}

async fn ask(
    State(api): State<Api>,
    Asker(actor): Asker,
    Json(ask): Json<Ask>,
) -> Result<Json<Call>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.ask(&actor, &ask).await }).await.map(Json)
}

/// How long a call waits for one node before it is offered to another.
const UNTAKEN: Duration = Duration::from_secs(2);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Patience {
    /// How long to wait for the call's end, in seconds.
    #[serde(default)]
    wait: u64,
    /// Whether any node may run it: then it is offered to another where one does not take it.
    #[serde(default)]
    anywhere: bool,
    /// The person's decision that the asker knows to be waited for: another one is told at once.
    known: Option<ApprovalId>,
}

async fn asked(
    State(api): State<Api>,
    _: Reader,
    Path(id): Path<CallId>,
    Query(Patience { wait, anywhere, known }): Query<Patience>,
) -> Result<Json<Call>, Answer> {
    let wait = Duration::from_secs(wait);
    wait_asked(&api.edge, &id, wait, anywhere, known.as_ref()).await.map(Json)
}

/// Waits for a call's end, or for another decision of a person than the one that is `known` to be waited for.
pub(super) async fn wait_asked(
    edge: &Edge,
    id: &CallId,
    wait: Duration,
    anywhere: bool,
    known: Option<&ApprovalId>,
) -> Result<Call, Answer> {
    let store = &edge.store;
    let news = |call: &Call| {
        let asked = call.approval.as_ref().map(|approval| &approval.id);
        call.state.is_final() || (asked.is_some() && asked != known)
    };
    let (call, left) = store.asked(id).await?;
    if news(&call) || wait.is_zero() {
        return Ok(call);
    }
    // A little past its end, so that an end by time is seen by this answer.
    let until = Instant::now() + wait.min(left + Duration::from_millis(5));
    loop {
        let (call, _) = store.asked(id).await?;
        let rest = until.saturating_duration_since(Instant::now());
        let untaken = anywhere && call.state == CallState::Waiting;
        let wait = if untaken { rest.min(UNTAKEN) } else { rest };
        let began = Instant::now();
        let moves = wait_for(edge, wait, || async {
            let (call, _) = store.asked(id).await?;
            let left = match &call.node {
                Some(node) if untaken && call.state == CallState::Waiting => {
                    store.has_left(node).await?
                }
                _ => false,
            };
            Ok((news(&call) || left).then_some(call))
        })
        .await?;
        match moves {
            Some(call) if news(&call) => return Ok(call),
            Some(_) if store.offer_elsewhere(id).await? => {}
            None if wait < rest && began.elapsed() >= wait => {
                store.offer_elsewhere(id).await?;
            }
            // Its time is over, or the edge ends, or there is no other node.
            _ => return Ok(store.asked(id).await?.0),
        }
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
