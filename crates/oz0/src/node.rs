//! `oz0 node`: runs a node, joins an edge with it, lists an edge's nodes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::Result;
use oz0_local::{Joined, JoinedNode, JoinedOptions, raise_open_files};
use serde_json::json;

use crate::cli::{JoinNode, Node, NodeCommand, RunNode};
use crate::config::Settings;
use crate::edge;
use crate::exit::{Exit, WrongUsage};
use crate::login::read_token;
use crate::machine::machine;
use crate::moment;
use crate::output::Output;
use crate::serve;

pub(crate) fn run(arguments: &Node, settings: &Settings, output: Output) -> Result<Exit> {
    match &arguments.command {
        None => run_node(&arguments.run, settings, output),
        Some(NodeCommand::Join(arguments)) => join(arguments, settings, output),
        Some(NodeCommand::List { json }) => list(*json, settings, output),
    }
}

fn run_node(arguments: &RunNode, settings: &Settings, output: Output) -> Result<Exit> {
    // What is installed later, nobody on this machine has looked at.
    if let Some(secret) = arguments.node.secret.iter().find(|secret| !secret.contains('=')) {
        return Err(WrongUsage(format!(
            "--secret {secret} would give it to every plugin that is ever installed and declares it: name the plugin, as in \
             --secret PLUGIN={secret}"
        ))
        .into());
    }
    let mcp_listen = settings.mcp_listen(arguments.mcp_listen)?;
    let mut hosts: BTreeSet<String> = arguments.host.iter().cloned().collect();
    serve::open_to_others(mcp_listen, &mut hosts, output);
    let metrics = settings.metrics_listen(&arguments.metrics)?;
    serve::numbers_to_others(metrics, &mut hosts, output);
    let folder = settings.data()?;
    let machine = machine(&arguments.node, &[], settings, output)?;
    raise_open_files();
    serve::until_signalled(
        JoinedNode::start(JoinedOptions { folder, mcp_listen, hosts, metrics, machine }),
        |node: &JoinedNode| {
            let Joined { edge, node: name } = node.joined();
            output.data(&if arguments.json {
                let mut line = json!({"node": name, "edge": edge, "mcp": node.mcp()});
                serve::add_metrics(&mut line, node.metrics());
                line.to_string()
            } else {
                format!("{name} is up, for MCP clients at {}; its edge is {edge}", node.mcp())
            })?;
            if !arguments.json {
                serve::say_metrics(node.metrics(), output);
            }
            Ok(())
        },
        JoinedNode::shutdown,
        output,
    )
}

fn join(arguments: &JoinNode, settings: &Settings, output: Output) -> Result<Exit> {
    let folder = settings.data()?;
    let token = read_token(&arguments.url)?;
    edge::run(async {
        let joined = Joined::join(&folder, &arguments.url, &token).await?;
        output.say(&format!(
            "this machine is the node {} of {} from now on; run it with: oz0 node",
            joined.node, joined.edge
        ));
        Ok(Exit::Done)
    })
}

fn list(as_json: bool, settings: &Settings, output: Output) -> Result<Exit> {
    edge::ask(settings, async |client| {
        let nodes = client.nodes().await?;
        if as_json {
            output.json(&json!({"nodes": nodes}))?;
            return Ok(Exit::Done);
        }
        if nodes.is_empty() {
            output.say("no node ever asked this edge for anything");
            return Ok(Exit::Done);
        }
        let width = nodes.iter().map(|node| node.node.as_str().len()).max().unwrap_or(0);
        let mut text = String::new();
        for node in nodes {
            let live = if node.live { "there" } else { "away " };
            let seen = moment::shown(node.seen_at);
            let _ = write!(text, "{:<width$}  {live}  last seen {seen}", node.node.as_str());
            if let Some(tier) = node.tier {
                let _ = write!(text, "  sandbox tier {tier}");
            }
            if let Some(reason) = &node.reason {
                let _ = write!(text, ": {reason}");
            }
            text.push('\n');
        }
        output.data(&text)?;
        Ok(Exit::Done)
    })
}
