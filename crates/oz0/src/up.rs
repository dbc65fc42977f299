//! `oz0 up`: an edge, a node and the MCP endpoint in one process.

use std::collections::BTreeSet;

use anyhow::Result;
use oz0_local::{Addresses, Up, UpOptions, raise_open_files};
use serde_json::json;

use crate::cli;
use crate::config::Settings;
use crate::exit::{Exit, WrongUsage};
use crate::machine::{dev_folder, machine};
use crate::output::Output;
use crate::serve;

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
        serve::open_to_others(address, &mut hosts, output);
    }
    let metrics = settings.metrics_listen(&arguments.metrics)?;
    serve::numbers_to_others(metrics, &mut hosts, output);
    let folder = settings.sealed()?;
    let admin_token = folder.admin_token_file();
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
    let front = settings.front(&arguments.front, hosts)?;
    let console = front.public.as_ref().map(ToString::to_string);
    let options = UpOptions { folder, listen, mcp_listen, front, metrics, plugins, machine };
    serve::until_signalled(
        Up::start(options),
        |up: &Up| {
            let addresses = up.addresses();
            let console = console.as_ref().unwrap_or(&addresses.edge);
            output.data(&first_line(addresses, console, arguments))?;
            if !arguments.json {
                let Addresses { edge, socket, metrics, .. } = addresses;
                output.say(&format!(
                    "the console is at {console}; sign in with the token in {}",
                    admin_token.display()
                ));
                output.say(&format!("the edge is at {edge}, and at {}", socket.display()));
                serve::say_metrics(metrics.as_deref(), output);
            }
            Ok(())
        },
        Up::shutdown,
        output,
    )
}

fn first_line(addresses: &Addresses, console: &str, arguments: &cli::Up) -> String {
    let mut claude = format!("claude mcp add --transport http oz0 {}", addresses.mcp);
    if arguments.mcp_auth {
        claude.push_str(" --header \"Authorization: Bearer TOKEN\"");
    }
    if arguments.json {
        let mut line = json!({
            "edge": addresses.edge,
            "console": console,
            "mcp": addresses.mcp,
            "socket": addresses.socket,
            "claude": claude,
            "mcp_auth": arguments.mcp_auth,
        });
        serve::add_metrics(&mut line, addresses.metrics.as_deref());
        return line.to_string();
    }
    format!("oz0 is up, for MCP clients at {}; in Claude Code: {claude}", addresses.mcp)
}
