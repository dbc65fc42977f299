//! Tokens, and who the asker is.

use axum::extract::State;
use oz0_api::token::{
    CheckClient, CheckedClient, ClientIdentity, CreateToken, CreatedToken, TokenInfo, TokenKind,
    Tokens, Whoami,
};
use oz0_api::{Code, TokenId};

use super::caller::{Admin, Caller, Joining, Node};
use super::described::{Group, Route};
use super::{Answer, Api, Json, Path, to_its_end};

pub(super) fn routes() -> Group {
    Group {
        name: "tokens",
        about: "Tokens, and who somebody is.",
        routes: vec![
            Route::get("/v1/whoami", "whoami", "Who the edge takes the asker for", whoami),
            Route::get("/v1/tokens", "tokens", "The tokens, without their secrets", list),
            Route::post(
                "/v1/tokens",
                "createToken",
                "Makes a token; its secret is told this once",
                create,
            )
            .may(&[Code::Conflict]),
            Route::delete("/v1/tokens/{id}", "revokeToken", "Ends a token, at once", revoke)
                .may(&[Code::NotFound, Code::Conflict]),
            Route::post(
                "/v1/clients/check",
                "checkClient",
                "Whose the token is that an MCP client showed",
                check_client,
            ),
            Route::post(
                "/v1/join",
                "join",
                "Makes the token of the node that a join token names, and ends that one",
                join,
            ),
        ],
    }
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

async fn join(
    State(api): State<Api>,
    Joining(joining): Joining,
    Json(()): Json<()>,
) -> Result<Json<CreatedToken>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.join(&joining).await }).await.map(Json)
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
