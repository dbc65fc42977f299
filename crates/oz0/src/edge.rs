//! The edge that a command asks.

use std::future::Future;

use anyhow::Result;
use oz0_api::Client;
use oz0_local::{Credentials, LocalError, Target, find_edge};

use crate::config::{Settings, variable};
use crate::exit::Exit;
use crate::machine::runtime;

/// Finds the edge, and runs what is asked of it.
pub(crate) fn ask<F: Future<Output = Result<Exit>>>(
    settings: &Settings,
    ask: impl FnOnce(Client) -> F,
) -> Result<Exit> {
    run(async { ask(find(settings).await?).await })
}

/// Runs to its end what waits for an edge.
pub(crate) fn run(future: impl Future<Output = Result<Exit>>) -> Result<Exit> {
    let runtime = runtime()?;
    let done = runtime.block_on(future);
    // A question that still waits for its answer must not keep the process.
    runtime.shutdown_background();
    done
}

/// The edge that the settings name, else the one of the data folder, as whoever the person here is known to it.
async fn find(settings: &Settings) -> Result<Client> {
    let folder = settings.data()?;
    let credentials = settings.config().map(Credentials::path);
    let token = variable("OZ0_TOKEN")?;
    let target = Target {
        folder: &folder,
        url: settings.edge.as_deref(),
        token: token.as_deref(),
        credentials: credentials.as_deref(),
    };
    find_edge(target).await.map_err(|error| match error {
        // It says all there is to say of an edge that was asked: who, and why not.
        LocalError::Edge { source, .. } => source.into(),
        other => other.into(),
    })
}
