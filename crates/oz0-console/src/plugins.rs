//! Plugins: what is installed, and how it stands.

use std::collections::BTreeSet;

use askama::Template;
use axum::Router;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::get;
use oz0_api::plugin::{FunctionState, Source};
use oz0_edge::overview::{PluginOverview, VersionOverview};
use oz0_listing::escape;
use serde::Deserialize;

use crate::Console;
use crate::page::{Failure, Frame, Pages, Section, show};
use crate::session::Visitor;

/// Plugins on a page.
const SIZE: usize = 100;

/// The longest text of one line, in characters.
const LINE: usize = 300;

pub(crate) fn routes() -> Router<Console> {
    Router::new().route("/plugins", get(plugins))
}

#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    q: String,
    page: Option<usize>,
}

#[derive(Template)]
#[template(path = "plugins.html")]
struct Plugins {
    frame: Frame,
    q: String,
    pages: Pages,
    base: String,
    rows: Vec<Row>,
    none: bool,
}

struct Row {
    name: String,
    title: String,
    version: String,
    candidate: Option<String>,
    dev: bool,
    nodes: usize,
    counts: Counts,
    mismatches: usize,
}

/// How a version's functions stand, as numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) functions: usize,
    pub(crate) callable: usize,
    /// Changes, those of endpoints included.
    pub(crate) waiting: usize,
    pub(crate) left_out: usize,
    pub(crate) failed: usize,
    /// Approved, and listed or callable nowhere.
    pub(crate) idle: usize,
}

impl Counts {
    pub(crate) fn of(version: &VersionOverview) -> Self {
        let said = version.tools.iter().flat_map(|tool| &tool.nodes);
        let left_out: BTreeSet<(&str, &str)> = version
            .tools
            .iter()
            .flat_map(|tool| tool.nodes.iter().map(move |seen| (tool, seen)))
            .flat_map(|(tool, seen)| seen.left_out.iter().map(move |one| (tool, one)))
            .map(|(tool, one)| (tool.tool.as_str(), one.name.as_str()))
            .collect();
        Self {
            functions: version.functions.len(),
            callable: version.count(|state| matches!(state, FunctionState::Callable)),
            waiting: version.waiting.len(),
            left_out: version.count(|state| matches!(state, FunctionState::LeftOut { .. }))
                + left_out.len(),
            failed: said.filter(|seen| seen.failure.is_some()).count(),
            idle: version.count(|state| {
                matches!(state, FunctionState::NotListed | FunctionState::NotCallable { .. })
            }),
        }
    }
}

/// A text in one line, within what a line holds.
pub(crate) fn line(text: &str) -> String {
    escape::line_within(text, LINE).into_owned()
}

async fn plugins(
    State(console): State<Console>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
) -> Result<Response, Failure> {
    let frame = Frame::new(&console, &visitor, Section::Plugins, "Plugins").await?;
    let plugins = console.desk.plugins().await.map_err(|problem| Failure::of(&visitor, problem))?;
    let none = plugins.is_empty();
    let wanted = asked.q.trim().to_lowercase();
    let mut found: Vec<&PluginOverview> = plugins
        .iter()
        .filter(|plugin| {
            let description = &plugin.installed.description;
            let texts = [Some(description.name.as_str()), description.title.as_deref()];
            texts.into_iter().flatten().any(|text| text.to_lowercase().contains(&wanted))
        })
        .collect();
    // What waits stands first.
    found.sort_by_key(|plugin| !plugin.versions().any(|version| !version.waiting.is_empty()));
    let pages = Pages::new(found.len(), SIZE, asked.page);
    let rows = pages.cut(&found).iter().map(|plugin| row(plugin)).collect();
    let base = base("/plugins", &asked.q);
    Ok(show(&Plugins { frame, pages, rows, none, base, q: asked.q }))
}

/// The address of a list that was searched, to which the number of a page is added.
pub(crate) fn base(path: &str, q: &str) -> String {
    let q: String = url::form_urlencoded::byte_serialize(q.as_bytes()).collect();
    if q.is_empty() { format!("{path}?") } else { format!("{path}?q={q}&") }
}

fn row(plugin: &PluginOverview) -> Row {
    let installed = &plugin.installed;
    let description = &installed.description;
    let mut counts = Counts::of(installed);
    if let Some(candidate) = &plugin.candidate {
        counts.waiting += candidate.waiting.len();
        counts.failed += Counts::of(candidate).failed;
    }
    let title = description.title.as_deref().unwrap_or(&description.description);
    Row {
        name: plugin.name().to_string(),
        title: line(title),
        version: description.version.to_string(),
        candidate: plugin.candidate.as_ref().map(|one| one.description.version.to_string()),
        dev: matches!(description.source, Source::Dev { .. }),
        nodes: installed.nodes().len(),
        counts,
        mismatches: installed.mismatches.len(),
    }
}
