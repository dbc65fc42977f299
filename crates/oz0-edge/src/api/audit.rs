//! The audit log: read, followed and checked.

use std::time::Duration;

use axum::extract::State;
use oz0_api::audit::{AuditCheck, AuditPage, AuditQuery};

use super::caller::Reader;
use super::described::{Group, Route};
use super::{Answer, Api, Json, Query, wait_for};

/// Entries of a page when nobody says.
const PAGE: u32 = 200;

/// Entries of a page at most.
const LONGEST_PAGE: u32 = 1000;

pub(super) fn routes() -> Group {
    Group {
        name: "audit",
        about: "The audit log: read, followed and checked.",
        routes: vec![
            Route::get(
                "/v1/audit",
                "audit",
                "A page of the log; with `wait`, the next entry when it comes",
                page,
            )
            .waits(),
            Route::get("/v1/audit/verify", "verifyAudit", "Checks every edge's chain", verify),
        ],
    }
}

async fn page(
    State(api): State<Api>,
    _: Reader,
    Query(query): Query<AuditQuery>,
) -> Result<Json<AuditPage>, Answer> {
    let store = &api.edge.store;
    let limit = query.limit.unwrap_or(PAGE).clamp(1, LONGEST_PAGE);
    let wait = Duration::from_secs(query.wait.unwrap_or(0));
    let found = wait_for(&api.edge, wait, || async {
        let page = store.audit(query.after, limit).await?;
        Ok((!page.entries.is_empty()).then_some(page))
    })
    .await?;
    Ok(Json(found.unwrap_or(AuditPage { entries: Vec::new(), next: query.after, more: false })))
}

async fn verify(State(api): State<Api>, _: Reader) -> Result<Json<AuditCheck>, Answer> {
    Ok(Json(api.edge.store.verify_audit().await?))
}
