//! `oz0 up`: an edge, a node and the MCP endpoint in one process.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use oz0_local::{Addresses, Up, UpOptions, raise_open_files};
use serde_json::json;

use crate::cli;
use crate::config::Settings;
use crate::exit::{Exit, WrongUsage};
use crate::machine::{Signals, dev_folder, machine};
use crate::output::Output;

pub(crate) fn run(arguments: &cli::Up, settings: &Settings, output: Output) -> Result<Exit> {
    let listen = settings.listen(arguments.listen)?;
    let mcp_listen = settings.mcp_listen(arguments.mcp_listen)?;
    let mut hosts: BTreeSet<String> = arguments.host.iter().cloned().collect();
    for (flag, address) in [("--listen", listen), ("--mcp-listen", mcp_listen)] {
        if address.ip().is_loopback() {
            continue;
        }
        if !arguments.mcp_auth {
            return Err(WrongUsage(format!(
                "{flag} {address} can be reached from other machines, and anyone there could call every tool: give \
                 --mcp-auth, so that clients need a token, or a loopback address"
            ))
            .into());
        }
        output.say(&format!(
            "warning: {address} is served without TLS, so tokens and results can be read on the way; put a proxy with \
             TLS in front of it"
        ));
        if !address.ip().is_unspecified() {
            hosts.insert(address.ip().to_string());
        }
    }
    let folder = settings.data()?;
    let mut machine = machine(&arguments.node, &arguments.plugins, settings, output)?;
    machine.node.clients_need_tokens = arguments.mcp_auth;
    let mut plugins = Vec::new();
    let mut broken = false;
    for dir in &arguments.plugins {
        match dev_folder(dir, output)? {
            Some(plugin) => plugins.push(plugin),
            None => broken = true,
        }
    }
    if broken {
        return Ok(Exit::Findings);
    }
    raise_open_files();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let options = UpOptions { folder, listen, mcp_listen, hosts, plugins, machine };
    let ended = runtime.block_on(async {
        let mut signals = Signals::listen()?;
        let up = tokio::select! {
            up = Up::start(options) => up?,
            signal = signals.next() => return Ok(Exit::Stopped(signal)),
        };
        output.data(&first_line(up.addresses(), arguments))?;
        if !arguments.json {
            let Addresses { edge, socket, .. } = up.addresses();
            output.say(&format!("the edge is at {edge}, and at {}", socket.display()));
        }
        signals.next().await;
        output.say("stopping; once more to stop at once");
        Ok(tokio::select! {
            () = up.shutdown() => Exit::Done,
            signal = signals.next() => Exit::Stopped(signal),
        })
    });
    // Whatever reads or installs in a thread of its own ends with this process.
    runtime.shutdown_background();
    ended
}

fn first_line(addresses: &Addresses, arguments: &cli::Up) -> String {
    let mut claude = format!("claude mcp add --transport http oz0 {}", addresses.mcp);
    if arguments.mcp_auth {
        claude.push_str(" --header \"Authorization: Bearer TOKEN\"");
    }
    if arguments.json {
        return json!({
            "edge": addresses.edge,
            "mcp": addresses.mcp,
            "socket": addresses.socket,
            "claude": claude,
            "mcp_auth": arguments.mcp_auth,
        })
        .to_string();
    }
    format!("oz0 is up, for MCP clients at {}; in Claude Code: {claude}", addresses.mcp)
}
