//! Calls that wait for a person.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use oz0_api::approval::{Approval, Approvals, AskApproval, Decide, Elicited};
use oz0_api::{ApprovalId, Code};

use super::caller::{Admin, Node, Reader, unknown_token};
use super::described::{Group, Route};
use super::{Answer, Api, Json, LONGEST_WAIT, Path, to_its_end, wait_for};
use crate::store::{AWAY, Store};

pub(super) fn routes() -> Group {
    let decided = &[Code::NotFound, Code::Stale];
    Group {
        name: "approvals",
        about: "Calls that wait for a person, each decided once.",
        routes: vec![
            Route::get(
                "/v1/approvals",
                "approvals",
                "The calls that wait, and those that waited until lately",
                list,
            ),
            Route::post(
                "/v1/approvals",
                "askApproval",
                "Asks for a person's decision about a call",
                ask,
            ),
            Route::delete(
                "/v1/approvals/{id}",
                "withdrawApproval",
                "Takes a call back that waits",
                withdraw,
            )
            .may(decided),
            Route::post(
                "/v1/approvals/{id}/approve",
                "approveCall",
                "Lets a call through, this once",
                approve,
            )
            .may(decided),
            Route::post("/v1/approvals/{id}/deny", "denyCall", "Refuses a call", deny).may(decided),
            Route::post(
                "/v1/approvals/{id}/elicited",
                "elicited",
                "Decides by what a client's person answered, where its token may approve",
                elicited,
            )
            .may(decided),
            Route::post(
                "/v1/approvals/{id}/take",
                "takeApproval",
                "Waits for a decision, which is handed out once",
                take,
            )
            .waits()
            .may(decided),
        ],
    }
}

/// A node's request for a decision, for as long as it waits. When the last one has ended and no other came, the node is
/// gone, and its call with it.
struct Asking {
    store: Arc<Store>,
    id: ApprovalId,
}

impl Asking {
    fn new(store: &Arc<Store>, id: &ApprovalId) -> Self {
        store.begin_asking(id);
        Self { store: Arc::clone(store), id: id.clone() }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.store.end_asking(&self.id);
        look_later(&self.store, self.id.clone());
    }
}

/// Looks after a while whether the call's node still asks. An edge that ends meanwhile is not kept for it.
fn look_later(store: &Arc<Store>, id: ApprovalId) {
    let store = Arc::downgrade(store);
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move {
            tokio::time::sleep(AWAY + Duration::from_millis(50)).await;
            if let Some(store) = store.upgrade() {
                // What cannot be closed now is closed when somebody looks, or when the edge starts.
                let _ = store.lose_unasked(&id).await;
            }
        });
    }
}

async fn list(State(api): State<Api>, _: Reader) -> Result<Json<Approvals>, Answer> {
    let store = api.edge.store.clone();
    let approvals = to_its_end(async move { store.approvals().await }).await?;
    Ok(Json(Approvals { approvals }))
}

async fn ask(
    State(api): State<Api>,
    Node { name: node, .. }: Node,
    Json(ask): Json<AskApproval>,
) -> Result<Json<Approval>, Answer> {
    let store = api.edge.store.clone();
    let approval = to_its_end(async move { store.ask_approval(&node, &ask).await }).await?;
    look_later(&api.edge.store, approval.id.clone());
    Ok(Json(approval))
}

async fn approve(
    State(api): State<Api>,
    Admin(actor): Admin,
    Path(id): Path<ApprovalId>,
    Json(decide): Json<Decide>,
) -> Result<Json<Approval>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.decide(&actor, &id, &decide, true).await }).await.map(Json)
}

async fn deny(
    State(api): State<Api>,
    Admin(actor): Admin,
    Path(id): Path<ApprovalId>,
    Json(decide): Json<Decide>,
) -> Result<Json<Approval>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.decide(&actor, &id, &decide, false).await }).await.map(Json)
}

async fn elicited(
    State(api): State<Api>,
    Node { name: node, .. }: Node,
    Path(id): Path<ApprovalId>,
    Json(elicited): Json<Elicited>,
) -> Result<Json<Approval>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.elicited(&node, &id, &elicited).await }).await.map(Json)
}

/// Waits for a decision; answers with the call as it still waits where there is none.
async fn take(
    State(api): State<Api>,
    Node { name: node, token }: Node,
    Path(id): Path<ApprovalId>,
    Json(()): Json<()>,
) -> Result<Json<Approval>, Answer> {
    let store = &api.edge.store;
    // What nobody asks, or another node, is not waited for.
    store.asked_by(&node, &id).await?;
    let _asking = Asking::new(store, &id);
    store.hold(&id).await?;
    let ask = || async {
        if !store.is_token_live(&token).await? {
            return Err(unknown_token());
        }
        Ok(store.take_approval(&node, &id).await?)
    };
    let left = store.approval(&id).await?.expires_at.0.saturating_sub(crate::store::now().0);
    let left = Duration::from_millis(u64::try_from(left).unwrap_or(0) + 5);
    match wait_for(&api.edge, LONGEST_WAIT.min(left), ask).await? {
        Some(approval) => Ok(Json(approval)),
        None => Ok(Json(match store.take_approval(&node, &id).await? {
            Some(approval) => approval,
            None => store.approval(&id).await?,
        })),
    }
}

async fn withdraw(
    State(api): State<Api>,
    Node { name: node, .. }: Node,
    Path(id): Path<ApprovalId>,
) -> Result<Json<()>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.withdraw_approval(&node, &id).await }).await.map(Json)
}
