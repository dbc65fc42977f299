//! The tenant's policy.

use axum::extract::State;
use oz0_api::policy::{RuleSet, SetRule, TenantPolicy, TenantRule};
use oz0_api::{Code, RuleId};

use super::caller::{Admin, Reader};
use super::described::{Group, Route};
use super::{Answer, Api, Json, Path, to_its_end};

pub(super) fn routes() -> Group {
    Group {
        name: "policy",
        about: "The tenant's rules about calls, the first that matches first.",
        routes: vec![
            Route::get("/v1/policy", "policy", "The rules", list),
            Route::post("/v1/policy", "setRule", "Sets a rule", set).may(&[Code::NotFound]),
            Route::delete("/v1/policy/{id}", "unsetRule", "Takes a rule away", unset)
                .may(&[Code::NotFound]),
        ],
    }
}

async fn list(State(api): State<Api>, _: Reader) -> Result<Json<TenantPolicy>, Answer> {
    Ok(Json(TenantPolicy { rules: api.edge.store.policy().await? }))
}

async fn set(
    State(api): State<Api>,
    Admin(actor): Admin,
    Json(set): Json<SetRule>,
) -> Result<Json<RuleSet>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.set_rule(&actor, &set).await }).await.map(Json)
}

async fn unset(
    State(api): State<Api>,
    Admin(actor): Admin,
    Path(id): Path<RuleId>,
) -> Result<Json<TenantRule>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.unset_rule(&actor, &id).await }).await.map(Json)
}
