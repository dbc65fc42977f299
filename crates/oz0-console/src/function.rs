//! A function's page: what it says of itself, its parameters and results, what waits, and a form to call it with.

use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use oz0_api::call::Ask;
use oz0_api::plugin::{CatalogFunction, CatalogListing};
use oz0_api::{Code, Problem};
use oz0_listing::json::Json;
use oz0_listing::{FunctionId, Listing};
use serde_json::value::RawValue;

use crate::Console;
use crate::form::{self, Field};
use crate::page::{Failure, Frame, Section, show};
use crate::plugin::{Standing, state};
use crate::schema::{Row, rows};
use crate::session::{Sent, Visitor};
use crate::text::{Piece, legend, pieces};
use crate::tools::{Kind, kind};

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/tools/{function}", get(function))
        .route("/tools/{function}/call", post(call))
}

#[derive(Template)]
#[template(path = "function.html")]
struct Function {
    frame: Frame,
    id: String,
    model_name: String,
    plugin: String,
    versions: Vec<Version>,
    /// The form that calls it; none where there is no listing to make it from.
    form: Option<Form>,
}

/// The function as one version has it.
struct Version {
    number: String,
    candidate: bool,
    state: Standing,
    changes: usize,
    listings: Vec<Shown>,
}

/// One accepted listing, as it is served.
struct Shown {
    hash: String,
    kind: Kind,
    title: Option<Vec<Piece>>,
    about: Vec<Piece>,
    parameters: Vec<Row>,
    more_parameters: bool,
    results: Option<Vec<Row>>,
    more_results: bool,
    legend: Vec<(String, String)>,
    json: Vec<Piece>,
}

struct Form {
    /// None where there are too many for a form.
    fields: Option<Vec<Field>>,
}

fn id_of(visitor: &Visitor, id: &str) -> Result<FunctionId, Failure> {
    id.parse().map_err(|_| {
        Failure::of(visitor, Problem::new(Code::NotFound, "no function has such a name"))
    })
}

/// The listing that is served of a function, of several the one that was accepted last.
pub(crate) fn served(function: &CatalogFunction) -> Option<Listing> {
    let last = function.accepted.last()?;
    Listing::read(last.served.as_ref()?.get(), &[]).ok()
}

async fn find(
    console: &Console,
    visitor: &Visitor,
    id: &FunctionId,
) -> Result<Vec<CatalogFunction>, Failure> {
    let found = console.desk.function(id).await;
    let found = found.map_err(|problem| Failure::of(visitor, problem))?;
    if found.is_empty() {
        let what = format!("no installed plugin has a function {id}");
        let problem =
            Problem::new(Code::NotFound, what).hint("Tools and skills shows those that are there");
        return Err(Failure::of(visitor, problem));
    }
    Ok(found)
}

async fn function(
    State(console): State<Console>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, Failure> {
    let id = id_of(&visitor, &id)?;
    let found = find(&console, &visitor, &id).await?;
    let frame = Frame::new(&console, &visitor, Section::Tools, id.to_string()).await?;
    let first = &found[0];
    let schema = served(first);
    let schema = schema.as_ref().and_then(|listing| listing.value().get("inputSchema"));
    Ok(show(&Function {
        model_name: first.model_name.clone(),
        plugin: first.plugin.to_string(),
        form: schema.map(|schema| Form { fields: form::fields(schema) }),
        versions: found.iter().map(version).collect(),
        id: id.to_string(),
        frame,
    }))
}

fn version(function: &CatalogFunction) -> Version {
    Version {
        number: function.version.to_string(),
        candidate: function.candidate,
        state: state(&function.state),
        changes: function.changes.len(),
        listings: function.accepted.iter().filter_map(shown).collect(),
    }
}

fn shown(accepted: &CatalogListing) -> Option<Shown> {
    let raw = accepted.served.as_ref().unwrap_or(&accepted.snapshot);
    let listing = Listing::read(raw.get(), &[]).ok()?;
    let value = listing.value();
    let text = |member: &str| value.get(member).and_then(Json::as_str);
    let (parameters, more_parameters) = value.get("inputSchema").map(rows).unwrap_or_default();
    let results = value.get("outputSchema").map(rows);
    let title = text("title").or_else(|| value.get("annotations")?.get("title")?.as_str());
    Some(Shown {
        hash: accepted.hash.to_string(),
        kind: kind(value),
        title: title.map(pieces),
        about: pieces(text("description").unwrap_or_default()),
        parameters,
        more_parameters,
        more_results: results.as_ref().is_some_and(|(_, more)| *more),
        results: results.map(|(rows, _)| rows),
        legend: legend([listing.canonical()]),
        json: pieces(&value.pretty()),
    })
}

async fn call(
    State(console): State<Console>,
    Path(id): Path<String>,
    sent: Sent,
) -> Result<Response, Failure> {
    let failed = |problem| Failure::of(&sent.visitor, problem);
    let id = id_of(&sent.visitor, &id)?;
    let found = find(&console, &sent.visitor, &id).await?;
    let listing = served(&found[0]);
    let schema = listing.as_ref().and_then(|listing| listing.value().get("inputSchema"));
    let empty = Json::Null;
    let arguments = form::arguments(&sent, schema.unwrap_or(&empty)).map_err(failed)?;
    let arguments = RawValue::from_string(arguments)
        .map_err(|error| failed(Problem::new(Code::Malformed, error.to_string())))?;
    let ask = Ask { function: id, arguments, timeout_ms: None, node: None };
    let call = console.desk.ask(&sent.visitor.person, ask).await.map_err(failed)?;
    Ok(Redirect::to(&format!("/calls/{}", call.id)).into_response())
}
