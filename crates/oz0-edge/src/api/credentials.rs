//! Secrets and connections. People put values in and never get one back; a node gets those of the plugins that it runs.

use axum::extract::State;
use oz0_api::credential::{
    Connect, ConnectionInfo, Connections, Credentials, Disconnected, SecretInfo, Secrets, SetSecret,
};
use oz0_api::{Code, ConnectionName, PluginName, SecretName};

use super::caller::{Admin, Node};
use super::described::{Group, Route};
use super::{Answer, Api, Json, Path, to_its_end};

pub(super) fn routes() -> Group {
    Group {
        name: "credentials",
        about: "Secrets of plugins, and connections to outside systems.",
        routes: vec![
            Route::get("/v1/secrets", "secrets", "The secrets, without their values", secrets),
            Route::put(
                "/v1/secrets/{plugin}/{name}",
                "setSecret",
                "Keeps a secret that a plugin declares; its value is told to nodes alone",
                set,
            )
            .may(&[Code::NotFound]),
            Route::delete("/v1/secrets/{plugin}/{name}", "unsetSecret", "Forgets a secret", unset)
                .may(&[Code::NotFound]),
            Route::get(
                "/v1/connections",
                "connections",
                "The connections, without anything secret",
                connections,
            ),
            Route::put(
                "/v1/connections/{plugin}/{name}",
                "connect",
                "Connects a connection that a plugin declares, and stores its params",
                connect,
            )
            .may(&[Code::NotFound]),
            Route::delete(
                "/v1/connections/{plugin}/{name}",
                "disconnect",
                "Forgets what a connection is connected with, and has its tokens revoked",
                disconnect,
            )
            .may(&[Code::NotFound]),
            Route::get(
                "/v1/credentials/{plugin}",
                "credentials",
                "What a plugin is given that the node runs",
                credentials,
            )
            .may(&[Code::NotFound]),
        ],
    }
}

async fn secrets(State(api): State<Api>, _: Admin) -> Result<Json<Secrets>, Answer> {
    Ok(Json(Secrets { secrets: api.edge.store.secrets().await? }))
}

async fn set(
    State(api): State<Api>,
    Admin(actor): Admin,
    Path((plugin, name)): Path<(PluginName, SecretName)>,
    Json(set): Json<SetSecret>,
) -> Result<Json<SecretInfo>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.set_secret(&actor, &plugin, &name, &set.value).await })
        .await
        .map(Json)
}

async fn unset(
    State(api): State<Api>,
    Admin(actor): Admin,
    Path((plugin, name)): Path<(PluginName, SecretName)>,
) -> Result<Json<SecretInfo>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.unset_secret(&actor, &plugin, &name).await }).await.map(Json)
}

async fn connections(State(api): State<Api>, _: Admin) -> Result<Json<Connections>, Answer> {
    Ok(Json(Connections { connections: api.edge.store.connections().await? }))
}

async fn connect(
    State(api): State<Api>,
    Admin(actor): Admin,
    Path((plugin, name)): Path<(PluginName, ConnectionName)>,
    Json(connect): Json<Connect>,
) -> Result<Json<ConnectionInfo>, Answer> {
    let store = api.edge.store.clone();
    to_its_end(async move { store.connect(&actor, &plugin, &name, &connect).await }).await.map(Json)
}

async fn disconnect(
    State(api): State<Api>,
    Admin(actor): Admin,
    Path((plugin, name)): Path<(PluginName, ConnectionName)>,
) -> Result<Json<Disconnected>, Answer> {
    let (store, accounts) = (api.edge.store.clone(), api.edge.accounts.clone());
    to_its_end(async move { accounts.disconnect(&store, &actor, &plugin, &name).await })
        .await
        .map(Json)
}

async fn credentials(
    State(api): State<Api>,
    Node { name: node, .. }: Node,
    Path(plugin): Path<PluginName>,
) -> Result<Json<Credentials>, Answer> {
    let (store, accounts) = (api.edge.store.clone(), api.edge.accounts.clone());
    // What a server answered to a renewal is kept, also when whoever asked is gone.
    to_its_end(async move { accounts.credentials(&store, &node, &plugin).await }).await.map(Json)
}
