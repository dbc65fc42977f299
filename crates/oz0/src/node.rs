//! `oz0 node`.

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::json;

use crate::cli::Node;
use crate::config::Settings;
use crate::edge;
use crate::exit::Exit;
use crate::moment;
use crate::output::Output;

pub(crate) fn run(command: &Node, settings: &Settings, output: Output) -> Result<Exit> {
    let Node::List { json: as_json } = command;
    edge::ask(settings, async |client| {
        let nodes = client.nodes().await?;
        if *as_json {
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
