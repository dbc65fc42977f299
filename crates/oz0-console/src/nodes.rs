//! Nodes: which are there, how well they contain their servers, and what runs where.

use std::collections::BTreeMap;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;

use crate::Console;
use crate::page::{Failure, Frame, Section, show};
use crate::plugins::line;
use crate::session::Visitor;
use crate::time::{Moment, moment};

pub(crate) fn routes() -> Router<Console> {
    Router::new().route("/nodes", get(nodes))
}

#[derive(Template)]
#[template(path = "nodes.html")]
struct Nodes {
    frame: Frame,
    nodes: Vec<Node>,
}

struct Node {
    name: String,
    live: bool,
    seen: Moment,
    version: Option<String>,
    tier: Option<u8>,
    reason: Option<String>,
    runs: Vec<Runs>,
}

/// A plugin's version on a node.
struct Runs {
    plugin: String,
    version: String,
    candidate: bool,
    failed: usize,
}

async fn nodes(State(console): State<Console>, visitor: Visitor) -> Result<Response, Failure> {
    let failed = |problem| Failure::of(&visitor, problem);
    let frame = Frame::new(&console, &visitor, Section::Nodes, "Nodes").await?;
    let plugins = console.desk.plugins().await.map_err(failed)?;
    let mut runs = BTreeMap::<String, Vec<Runs>>::new();
    for plugin in &plugins {
        for version in plugin.versions() {
            for node in version.nodes() {
                let said = version.tools.iter().flat_map(|tool| &tool.nodes);
                let said = said.filter(|seen| seen.node == *node && seen.failure.is_some());
                runs.entry(node.to_string()).or_default().push(Runs {
                    plugin: plugin.name().to_string(),
                    version: version.description.version.to_string(),
                    candidate: version.rollout.is_some(),
                    failed: said.count(),
                });
            }
        }
    }
    let nodes = console.desk.nodes().await.map_err(failed)?;
    let nodes = nodes.into_iter().map(|node| Node {
        runs: runs.remove(node.node.as_str()).unwrap_or_default(),
        name: node.node.to_string(),
        live: node.live,
        seen: moment(node.seen_at),
        version: node.version.as_deref().map(line),
        tier: node.tier,
        reason: node.reason.as_deref().map(line),
    });
    Ok(show(&Nodes { frame, nodes: nodes.collect() }))
}
