//! Plugins, what waits for approval in them, and the catalog.

use axum::extract::State;
use oz0_api::change::{Approve, Approved, Changes};
use oz0_api::plugin::{Catalog, Install, PluginDescription, PluginStatus};
use oz0_api::rollout::OfVersion;
use oz0_api::{Code, PluginName, Problem};

use super::caller::{Admin, Reader};
use super::described::{Group, Route};
use super::{Answer, Api, Json, Path, Query, to_its_end};

/// The longest description, in bytes: a manifest is at most 1 MiB, and a measured listing's hashes
/// come on top.
const DESCRIPTION: usize = 8 * 1024 * 1024;

pub(super) fn routes() -> Group {
    Group {
        name: "plugins",
        about: "Plugins, what waits for approval in them, and the catalog.",
        routes: vec![
            Route::get("/v1/plugins", "plugins", "The installed plugins, and how they stand on every node", list),
            Route::get("/v1/plugins/{name}", "plugin", "One installed plugin", one).may(&[Code::NotFound]),
            Route::put(
                "/v1/plugins/{name}",
                "install",
                "Installs a version, whose bundle was brought before, or which is a folder run in place",
                install,
            )
            .limit(DESCRIPTION)
            .may(&[Code::NotFound, Code::Conflict]),
            Route::delete("/v1/plugins/{name}", "remove", "Takes a plugin from every node", remove)
                .may(&[Code::NotFound]),
            Route::get("/v1/plugins/{name}/changes", "changes", "What waits for approval, with both listings", changes)
                .may(&[Code::NotFound]),
            Route::post("/v1/plugins/{name}/approve", "approve", "Approves the changes that were looked at", approve)
                .may(&[Code::NotFound]),
            Route::post("/v1/plugins/{name}/promote", "promote", "Runs the candidate on every node", promote)
                .may(&[Code::NotFound, Code::Conflict, Code::Stale]),
            Route::post("/v1/plugins/{name}/rollback", "rollback", "Takes the candidate back, or the version before", rollback)
                .may(&[Code::NotFound, Code::Conflict, Code::Stale]),
            Route::get("/v1/catalog", "catalog", "Every function, with what is served of it and what waits", catalog),
        ],
    }
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
    if !description.source.is_dev() {
        api.edge.bundles.check(&description).await?;
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

async fn promote(
    State(api): State<Api>,
    Admin(actor): Admin,
    Path(name): Path<PluginName>,
    Json(of): Json<OfVersion>,
) -> Result<Json<PluginStatus>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.promote(&actor, &name, &of.version).await }).await.map(Json)
}

async fn rollback(
    State(api): State<Api>,
    Admin(actor): Admin,
    Path(name): Path<PluginName>,
    Json(of): Json<OfVersion>,
) -> Result<Json<PluginStatus>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.rollback(&actor, &name, &of.version).await }).await.map(Json)
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
