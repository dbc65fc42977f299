//! Tools and skills: what models and MCP clients are offered, as the snapshots have it.

use askama::Template;
use axum::Router;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::get;
use oz0_api::plugin::{Override, PluginDescription};
use oz0_edge::overview::{ListedFunction, PluginOverview};
use oz0_listing::json::Json;
use oz0_listing::{FunctionId, Listing};
use oz0_policy::{FunctionType, Hints};
use serde::Deserialize;

use crate::Console;
use crate::page::{Failure, Frame, Pages, Section, show};
use crate::plugin::{Standing, state};
use crate::plugins::{base, line};
use crate::session::Visitor;
use crate::text::{Piece, pieces};

/// Functions on a page.
const SIZE: usize = 100;

pub(crate) fn routes() -> Router<Console> {
    Router::new().route("/tools", get(tools))
}

#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    q: String,
    page: Option<usize>,
}

#[derive(Template)]
#[template(path = "tools.html")]
struct Tools {
    frame: Frame,
    q: String,
    pages: Pages,
    base: String,
    rows: Vec<Row>,
    skills: Vec<Skill>,
    none: bool,
}

struct Row {
    id: String,
    title: Vec<Piece>,
    plugin: String,
    kind: Kind,
    about: Vec<Piece>,
    state: Standing,
}

/// An agent or a skill of a plugin.
struct Skill {
    name: String,
    plugin: String,
    kind: &'static str,
}

/// A function's type, with its colour.
pub(crate) struct Kind {
    pub(crate) word: &'static str,
    pub(crate) tone: &'static str,
    pub(crate) about: &'static str,
}

impl From<FunctionType> for Kind {
    fn from(kind: FunctionType) -> Self {
        let (tone, about) = match kind {
            FunctionType::Read => ("good", "It says that it only reads"),
            FunctionType::Write => ("note", "It says that it writes, and stays inside"),
            FunctionType::SendsOut => {
                ("note", "It says that it writes, and may send something out")
            }
            FunctionType::Unknown => ("wait", "It does not say whether it changes anything"),
            FunctionType::Destructive => ("bad", "It says that it may delete or overwrite"),
        };
        Self { word: kind.name(), tone, about }
    }
}

/// A function's type, by its listing with the manifest's overrides.
pub(crate) fn kind(listing: &Json) -> Kind {
    let annotations = listing.get("annotations");
    let hint = |name: &str| annotations.and_then(|all| all.get(name)).and_then(Json::as_bool);
    let hints = Hints {
        read_only: hint("readOnlyHint"),
        destructive: hint("destructiveHint"),
        open_world: hint("openWorldHint"),
    };
    hints.function_type().into()
}

/// What is searched of a listing, without reading all of it.
#[derive(Deserialize)]
struct Summary {
    #[serde(default)]
    title: serde_json::Value,
    #[serde(default)]
    description: serde_json::Value,
}

fn matches(function: &ListedFunction, wanted: &str) -> bool {
    if wanted.is_empty() || function.id.as_str().to_lowercase().contains(wanted) {
        return true;
    }
    let Ok(summary) = serde_json::from_str::<Summary>(&function.listing) else { return false };
    let texts = [summary.title, summary.description];
    texts.iter().filter_map(|text| text.as_str()).any(|text| text.to_lowercase().contains(wanted))
}

async fn tools(
    State(console): State<Console>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
) -> Result<Response, Failure> {
    let failed = |problem| Failure::of(&visitor, problem);
    let frame = Frame::new(&console, &visitor, Section::Tools, "Tools and skills").await?;
    let plugins = console.desk.plugins().await.map_err(failed)?;
    let mut functions = console.desk.functions().await.map_err(failed)?;
    let wanted = asked.q.trim().to_lowercase();
    let none = functions.is_empty();
    functions.retain(|function| matches(function, &wanted));
    let pages = Pages::new(functions.len(), SIZE, asked.page);
    let rows =
        pages.cut(&functions).iter().filter_map(|function| row(&plugins, function)).collect();
    let skills = if pages.page == 1 { skills(&plugins, &wanted) } else { Vec::new() };
    let base = base("/tools", &asked.q);
    Ok(show(&Tools { frame, pages, rows, skills, none, base, q: asked.q }))
}

fn row(plugins: &[PluginOverview], function: &ListedFunction) -> Option<Row> {
    let plugin = plugins.iter().find(|plugin| *plugin.name() == function.plugin)?;
    let status = plugin.installed.functions.iter().find(|status| status.id == function.id)?;
    let listing = Listing::read(&function.listing, &[]).ok()?;
    let over = override_of(&plugin.installed.description, &function.id);
    // Overrides that leave no listing leave nothing to be served.
    let served = over.merge(&listing).unwrap_or(listing);
    let value = served.value();
    let text = |member: &str| value.get(member).and_then(Json::as_str);
    let title = text("title").or_else(|| value.get("annotations")?.get("title")?.as_str());
    Some(Row {
        id: function.id.to_string(),
        title: pieces(&line(title.unwrap_or_default())),
        plugin: function.plugin.to_string(),
        kind: kind(value),
        about: pieces(&line(text("description").unwrap_or_default())),
        state: state(&status.state),
    })
}

fn override_of(plugin: &PluginDescription, id: &FunctionId) -> Override {
    let tool = plugin.tools.get(&id.tool());
    tool.and_then(|tool| tool.overrides.get(id.function())).cloned().unwrap_or_default()
}

fn skills(plugins: &[PluginOverview], wanted: &str) -> Vec<Skill> {
    let of = |plugin: &PluginOverview| {
        let description = &plugin.installed.description;
        let skill = |kind| {
            let plugin = description.name.to_string();
            move |name: &String| Skill { name: line(name), plugin: plugin.clone(), kind }
        };
        let agents = description.agents.iter().map(skill("Agent"));
        agents.chain(description.skills.iter().map(skill("Skill"))).collect::<Vec<_>>()
    };
    let mut skills: Vec<Skill> = plugins.iter().flat_map(of).collect();
    skills.retain(|skill| skill.name.to_lowercase().contains(wanted));
    skills
}
