//! An edge, a node and its gateway in one process, over stdio: what a program that embeds them writes.
//!
//!     oz0-embedded DATA FOLDER…
//!
//! It is also the program that becomes the sandbox of each server, which is why `main` begins as it does.

#![expect(clippy::print_stderr, reason = "standard output is the protocol's")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use oz0_api::Client;
use oz0_api::memory::pipe;
use oz0_api::token::{CreateToken, TokenKind};
use oz0_edge::Edge;
use oz0_mcp::server::{Principal, Server, ServerOptions, standard_streams};
use oz0_node::{DevFolder, Event, Node, NodeOptions, Parts, Tell};
use oz0_server::{Environments, Launcher, TierChoice};

fn main() -> ExitCode {
    if let Some(code) = oz0_server::sandbox_if_asked() {
        return code;
    }
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let Some(data) = arguments.next() else {
        eprintln!("usage: oz0-embedded DATA FOLDER…");
        return ExitCode::from(2);
    };
    let folders: Vec<PathBuf> = arguments.collect();
    // One thread: a call is handed from task to task, and never from thread to thread.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let ran = match runtime {
        Ok(runtime) => {
            let ran = runtime.block_on(run(&data, &folders));
            runtime.shutdown_background();
            ran
        }
        Err(error) => Err(error.into()),
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(3)
        }
    }
}

async fn run(data: &Path, folders: &[PathBuf]) -> Result<(), Box<dyn Error>> {
    let edge = Edge::open(&oz0_edge::Options::new(data)).await?;
    let (connector, listener) = pipe();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn({
        let edge = edge.clone();
        async move { edge.serve_memory(listener, async { drop(stopped.await) }).await }
    });
    let client = Client::memory(connector);
    let token = async |kind, name: &str| -> Result<Client, Box<dyn Error>> {
        let create = CreateToken { kind, name: name.parse()?, may_approve: false };
        Ok(client.with_token(&edge.reissue_token(&create).await?.secret))
    };
    let admin = token(TokenKind::Admin, "embedded").await?;

    let program = std::env::current_exe()?;
    let cache = data.join("cache");
    let quiet: oz0_server::environment::Progress = Arc::new(|_| {});
    let parts = Parts {
        edge: token(TokenKind::Node, "node-1").await?,
        launcher: Launcher::new(&program, &cache, TierChoice::Best)?,
        environments: Environments::new(&program, &cache, quiet),
    };
    // Before the node asks for its plugins the first time: a client that lists at once waits for all of them.
    for folder in folders {
        let folder = DevFolder::new(folder)?;
        let description = folder.describe()?;
        admin.install(&description).await?;
        let admin = admin.clone();
        tokio::spawn(folder.keep(admin, description, |event| eprintln!("{event:?}")));
    }

    let tell = Tell::new(|event: Event| eprintln!("{event}"));
    let node = Node::start(parts, NodeOptions { tell, ..NodeOptions::default() });

    let server = Server::new(node.gateway(), ServerOptions::new("oz0", env!("CARGO_PKG_VERSION")));
    let (input, output) = standard_streams();
    let serve = async move { server.stdio(Principal::local(), input, output).await };
    tokio::spawn(serve).await??;
    node.shutdown().await;
    drop(stop);
    serving.await?;
    edge.close().await;
    Ok(())
}
