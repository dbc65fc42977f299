//! What nodes ask and report.

use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::extract::State;
use oz0_api::node::{Part, Poll, PollQuery, Report, Verdicts};
use oz0_api::token::NodeStatus;
use oz0_api::{Code, NodeName};

use super::caller::{Node, Reader, unknown_token};
use super::described::{Group, Route};
use super::{Answer, Api, Json, LONGEST_WAIT, to_its_end, wait_for};
use crate::store::Store;

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

async fn poll(
    State(api): State<Api>,
    Node { name: node, token }: Node,
    Json(query): Json<PollQuery>,
) -> Result<Json<Poll>, Answer> {
    let store = &api.edge.store;
    store.touch(&node, Some(&query)).await?;
    let _looked_for = LookedFor { store: Arc::downgrade(store), node: node.clone() };
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
    store.touch(&node, None).await?;
    Ok(Json(found.unwrap_or_else(|| Poll {
        edge: store.id().clone(),
        reset: false,
        plugins: Part { revision: query.plugins, changed: Vec::new() },
        decisions: Part { revision: query.decisions, changed: Vec::new() },
        policy: None,
        jobs: Vec::new(),
        head: query.head.clone(),
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
