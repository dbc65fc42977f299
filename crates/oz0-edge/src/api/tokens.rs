//! Tokens, and who the asker is.

use axum::Router;
use axum::extract::State;
use axum::routing::{delete, get, post};
use oz0_api::TokenId;
use oz0_api::token::{
    CheckClient, CheckedClient, ClientIdentity, CreateToken, CreatedToken, TokenInfo, TokenKind,
    Tokens, Whoami,
};

use super::caller::{Admin, Caller, Node};
use super::{Answer, Api, Json, Path, to_its_end};

pub(super) fn routes() -> Router<Api> {
    Router::new()
        .route("/v1/whoami", get(whoami))
        .route("/v1/tokens", get(list).post(create))
        .route("/v1/tokens/{id}", delete(revoke))
        .route("/v1/clients/check", post(check_client))
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

/// Says whose a token is that an MCP client showed to a node, and nothing of one that is no client's:
/// a node learns of the clients that come to it, and of nobody else.
async fn check_client(
    State(api): State<Api>,
    _: Node,
    Json(check): Json<CheckClient>,
) -> Result<Json<CheckedClient>, Answer> {
    let client = api
        .edge
        .store
        .identify(&check.token)
        .await?
        .map(|identity| identity.token)
        .filter(|token| token.kind == TokenKind::Client)
        .map(|token| ClientIdentity {
            id: token.id,
            name: token.name,
            may_approve: token.may_approve,
        });
    Ok(Json(CheckedClient { client }))
}
