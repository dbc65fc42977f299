//! `oz0 mcp`: one plugin over standard input and output.

use anyhow::{Context, Result};
use oz0_local::{Mcp, raise_open_files};

use crate::cli;
use crate::config::Settings;
use crate::exit::Exit;
use crate::machine::{Signals, dev_folder, machine, runtime};
use crate::output::Output;

pub(crate) fn run(arguments: &cli::Mcp, settings: &Settings, output: Output) -> Result<Exit> {
    let folder = settings.sealed()?;
    let folders = std::slice::from_ref(&arguments.dir);
    let machine = machine(&arguments.node, folders, settings, output)?;
    let Some(plugin) = dev_folder(&arguments.dir, output)? else { return Ok(Exit::Findings) };
    raise_open_files();
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let mut signals = Signals::listen()?;
        let mcp = tokio::select! {
            mcp = Mcp::start(&folder, plugin, &machine) => mcp?,
            signal = signals.next() => return Ok(Exit::Stopped(signal)),
        };
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let mut serving = std::pin::pin!(mcp.serve(async { drop(stopped.await) }));
        let served = tokio::select! {
            served = &mut serving => served,
            _ = signals.next() => {
                drop(stop);
                tokio::select! {
                    served = &mut serving => served,
                    signal = signals.next() => return Ok(Exit::Stopped(signal)),
                }
            }
        };
        served.context("the MCP client's connection broke")?;
        Ok(Exit::Done)
    });
    // Whatever reads or installs in a thread of its own, or waits for the edge's seat, ends with this process.
    runtime.shutdown_background();
    ended
}
