//! The edge that a command asks.

use std::future::Future;

use anyhow::{Context, Result};
use oz0_api::Client;

use crate::config::Settings;
use crate::exit::Exit;

/// Finds the edge, and runs what is asked of it.
pub(crate) fn ask<F: Future<Output = Result<Exit>>>(
    settings: &Settings,
    ask: impl FnOnce(Client) -> F,
) -> Result<Exit> {
    run(async { ask(find(settings).await?).await })
}

/// Runs to its end what waits for an edge.
pub(crate) fn run(future: impl Future<Output = Result<Exit>>) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let done = runtime.block_on(future);
    // A question that still waits for its answer must not keep the process.
    runtime.shutdown_background();
    done
}

async fn find(_: &Settings) -> Result<Client> {
    let data = std::path::PathBuf::from(std::env::var_os("OZ0_DATA").unwrap_or_default());
    let client = Client::unix(&data.join("oz0.sock"));
    Ok(match std::fs::read_to_string(data.join("admin.token")) {
        Ok(token) => client.with_token(&token),
        Err(_) => client,
    })
}
