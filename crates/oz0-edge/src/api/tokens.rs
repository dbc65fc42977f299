//! Tokens, and who the asker is.

use axum::Router;
use axum::extract::State;
use axum::routing::{delete, get};
use oz0_api::TokenId;
use oz0_api::token::{CreateToken, CreatedToken, TokenInfo, Tokens, Whoami};

use super::caller::{Admin, Caller};
use super::{Answer, Api, Json, Path, to_its_end};

pub(super) fn routes() -> Router<Api> {
    Router::new()
        .route("/v1/whoami", get(whoami))
        .route("/v1/tokens", get(list).post(create))
        .route("/v1/tokens/{id}", delete(revoke))
}

async fn whoami(caller: Caller) -> Json<Whoami> {
    Json(Whoami {
        actor: caller.actor().to_string(),
        token: caller.0.map(|identity| identity.token),
    })
}

async fn list(State(api): State<Api>, _: Admin) -> Result<Json<Tokens>, Answer> {
    Ok(Json(Tokens { tokens: api.edge.store.tokens().await? }))
}

async fn create(
    State(api): State<Api>,
    Admin(actor): Admin,
    Json(create): Json<CreateToken>,
) -> Result<Json<CreatedToken>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.create_token(&actor, &create).await }).await.map(Json)
}

async fn revoke(
    State(api): State<Api>,
    Admin(actor): Admin,
    Path(id): Path<TokenId>,
) -> Result<Json<TokenInfo>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.revoke_token(&actor, &id).await }).await.map(Json)
}
