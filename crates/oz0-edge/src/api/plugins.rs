//! Plugins, what waits for approval in them, and the catalog.

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::routing::{get, post};
use oz0_api::change::{Approve, Approved, Changes};
use oz0_api::plugin::{Catalog, Install, PluginDescription, PluginStatus};
use oz0_api::{Code, PluginName, Problem};

use super::caller::{Admin, Reader};
use super::{Answer, Api, Json, Path, Query, to_its_end};

/// The longest description, in bytes: a manifest is at most 1 MiB, and a measured listing's hashes
/// come on top.
const DESCRIPTION: usize = 8 * 1024 * 1024;

pub(super) fn routes() -> Router<Api> {
    Router::new()
        .route("/v1/plugins", get(list))
        .route(
            "/v1/plugins/{name}",
            get(one).put(install).delete(remove).layer(DefaultBodyLimit::max(DESCRIPTION)),
        )
        .route("/v1/plugins/{name}/changes", get(changes))
        .route("/v1/plugins/{name}/approve", post(approve))
        .route("/v1/catalog", get(catalog))
}

async fn list(State(api): State<Api>, _: Reader) -> Result<Json<Vec<PluginStatus>>, Answer> {
    Ok(Json(api.edge.store.plugins().await?))
}

async fn one(
    State(api): State<Api>,
    _: Reader,
    Path(name): Path<PluginName>,
) -> Result<Json<PluginStatus>, Answer> {
    Ok(Json(api.edge.store.plugin(&name).await?))
}

async fn install(
    State(api): State<Api>,
    Admin(actor): Admin,
    Path(name): Path<PluginName>,
    Query(terms): Query<Install>,
    Json(description): Json<PluginDescription>,
) -> Result<Json<PluginStatus>, Answer> {
    if description.name != name {
        let what = format!("the path names {name}, and the body {}", description.name);
        return Err(Problem::new(Code::Malformed, what).into());
    }
    let store = api.edge.store.clone();
    to_its_end(async move { store.install(&actor, &description, &terms).await }).await.map(Json)
}

async fn remove(
    State(api): State<Api>,
    Admin(actor): Admin,
    Path(name): Path<PluginName>,
) -> Result<Json<()>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.remove(&actor, &name).await }).await.map(Json)
}

async fn changes(
    State(api): State<Api>,
    _: Reader,
    Path(name): Path<PluginName>,
) -> Result<Json<Changes>, Answer> {
    Ok(Json(api.edge.store.changes(&name).await?))
}

async fn approve(
    State(api): State<Api>,
    Admin(actor): Admin,
    Path(name): Path<PluginName>,
    Json(approve): Json<Approve>,
) -> Result<Json<Approved>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.approve(&actor, &name, &approve).await }).await.map(Json)
}

async fn catalog(State(api): State<Api>, _: Reader) -> Result<Json<Catalog>, Answer> {
    Ok(Json(api.edge.store.catalog().await?))
}
