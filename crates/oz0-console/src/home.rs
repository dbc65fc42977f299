//! Home: what waits, each thing one click from where it is decided.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use oz0_api::change::ChangeKind;
use oz0_api::plugin::FunctionState;
use oz0_api::{PluginName, UnixMillis};
use oz0_edge::overview::VersionOverview;

use crate::Console;
use crate::page::{Failure, Frame, Section, show};
use crate::plugins::line;
use crate::session::Visitor;
use crate::text::count;
use crate::time::{Moment, moment};

/// Names in one line, at most.
const NAMES: usize = 6;

pub(crate) fn routes() -> Router<Console> {
    Router::new().route("/", get(home))
}

#[derive(Template)]
#[template(path = "home.html")]
struct Home {
    frame: Frame,
    items: Vec<Item>,
    plugins: usize,
    callable: usize,
    functions: usize,
    nodes: usize,
    live: usize,
}

/// Something that waits.
struct Item {
    /// What kind of thing it is, in a word or two.
    kind: &'static str,
    /// How it is coloured.
    tone: &'static str,
    title: String,
    detail: String,
    since: Option<Moment>,
    href: String,
    action: &'static str,
}

async fn home(State(console): State<Console>, visitor: Visitor) -> Result<Response, Failure> {
    let failed = |problem| Failure::of(&visitor, problem);
    let frame = Frame::new(&console, &visitor, Section::Home, "Home").await?;
    let (plugins, nodes) = (console.desk.plugins(), console.desk.nodes());
    let (plugins, nodes) = (plugins.await.map_err(failed)?, nodes.await.map_err(failed)?);
    let mut items = Vec::new();
    for approval in console.desk.approvals().await.map_err(failed)? {
        items.push(Item {
            kind: "Call",
            tone: "ask",
            title: format!("{} asks to call {}", approval.client, approval.function),
            detail: approval.why.clone(),
            since: Some(moment(approval.asked_at)),
            href: format!("/approvals#approval-{}", approval.id),
            action: "Decide",
        });
    }
    for plugin in &plugins {
        for version in plugin.versions() {
            waiting(plugin.name(), version, &mut items);
            troubled(plugin.name(), version, &mut items);
        }
    }
    for node in nodes.iter().filter(|node| !node.live) {
        items.push(Item {
            kind: "Node",
            tone: "bad",
            title: format!("{} is away", node.node),
            detail: "Nothing of it is called".to_owned(),
            since: Some(moment(node.seen_at)),
            href: "/nodes".to_owned(),
            action: "Look",
        });
    }
    let installed = plugins.iter().map(|plugin| &plugin.installed);
    Ok(show(&Home {
        callable: installed
            .clone()
            .map(|one| one.count(|state| matches!(state, FunctionState::Callable)))
            .sum(),
        functions: installed.map(|one| one.functions.len()).sum(),
        plugins: plugins.len(),
        live: nodes.iter().filter(|node| node.live).count(),
        nodes: nodes.len(),
        frame,
        items,
    }))
}

/// A version, as it is named on this page.
fn named(plugin: &PluginName, version: &VersionOverview) -> String {
    match &version.rollout {
        Some(_) => format!("{plugin} {}, a candidate", version.description.version),
        None => plugin.to_string(),
    }
}

/// What of a version waits for approval.
fn waiting(name: &PluginName, version: &VersionOverview, items: &mut Vec<Item>) {
    let of = named(name, version);
    let (moved, changed): (Vec<_>, Vec<_>) =
        version.waiting.iter().partition(|change| change.kind == ChangeKind::Endpoint);
    for change in &moved {
        items.push(Item {
            kind: "Endpoint",
            tone: "wait",
            title: format!("{} of {of} moved to another endpoint", change.tool),
            detail: "Nothing of it is called until the move is approved".to_owned(),
            since: Some(moment(change.opened_at)),
            href: format!("/plugins/{name}#changes"),
            action: "Review",
        });
    }
    if let Some(first) = changed.iter().map(|change| change.opened_at.0).min() {
        let names = changed.iter().filter_map(|change| change.function.as_ref());
        items.push(Item {
            kind: "Changed",
            tone: "wait",
            title: format!(
                "{} of {of} {} for approval",
                count(changed.len(), "change"),
                if changed.len() == 1 { "waits" } else { "wait" }
            ),
            detail: some(names),
            since: Some(moment(UnixMillis(first))),
            href: format!("/plugins/{name}#changes"),
            action: "Review",
        });
    }
}

/// What failed of a version, or is not as its author measured it.
fn troubled(name: &PluginName, version: &VersionOverview, items: &mut Vec<Item>) {
    let of = named(name, version);
    for tool in &version.tools {
        for seen in tool.nodes.iter().filter(|seen| seen.failure.is_some()) {
            let what = match &seen.goes_on {
                Some(old) => {
                    format!("The update of {of} failed on {}, which goes on with {old}", seen.node)
                }
                None => format!("{} of {of} failed on {}", tool.tool, seen.node),
            };
            items.push(Item {
                kind: if seen.goes_on.is_some() { "Update" } else { "Failed" },
                tone: "bad",
                title: what,
                detail: line(seen.failure.as_deref().unwrap_or_default()),
                since: Some(moment(seen.at)),
                href: format!("/plugins/{name}#nodes"),
                action: "Look",
            });
        }
    }
    if !version.mismatches.is_empty() {
        items.push(Item {
            kind: "Mismatch",
            tone: "note",
            title: format!("{of} does not list itself as its author measured it"),
            detail: some(version.mismatches.iter()),
            since: None,
            href: format!("/plugins/{name}#functions"),
            action: "Look",
        });
    }
}

/// The first few of many names.
fn some<T: std::fmt::Display>(names: impl Iterator<Item = T>) -> String {
    let names: Vec<String> = names.map(|name| name.to_string()).collect();
    match names.len().checked_sub(NAMES) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..NAMES].join(", ")),
    }
}
