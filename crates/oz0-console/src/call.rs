//! A call that somebody asked for here: how far it has come, and its result as cards.

use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use oz0_api::approval::Approval;
use oz0_api::call::CallState;
use oz0_api::{CallId, Code, Problem};

use crate::Console;
use crate::card::{Answered, Content, answered};
use crate::function::served;
use crate::page::{Failure, Frame, Section, show};
use crate::session::Visitor;
use crate::text::{Piece, pieces};

pub(crate) fn routes() -> Router<Console> {
    Router::new().route("/calls/{id}", get(call))
}

#[derive(Template)]
#[template(path = "call.html")]
struct CallPage {
    frame: Frame,
    function: String,
    node: Option<String>,
    state: &'static str,
    tone: &'static str,
    waits: bool,
    approval: Option<Approval>,
    answered: Option<Answered>,
    problem: Option<Problem>,
    message: Vec<Piece>,
}

async fn call(
    State(console): State<Console>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, Failure> {
    let failed = |problem| Failure::of(&visitor, problem);
    let id: CallId =
        id.parse().map_err(|_| failed(Problem::new(Code::NotFound, "no call has such an ID")))?;
    let call = console.desk.asked(&id).await.map_err(failed)?;
    let title = format!("Call of {}", call.function);
    let frame = Frame::new(&console, &visitor, Section::Tools, title).await?;
    // The words of the schema are of no use to a call that failed.
    let listing = match &call.result {
        Some(_) => console.desk.function(&call.function).await.map_err(failed)?,
        None => Vec::new(),
    };
    let listing = listing.first().and_then(served);
    let schema = listing.as_ref().and_then(|listing| listing.value().get("outputSchema"));
    let answered = call.result.as_ref().map(|result| answered(result.get(), schema));
    let (state, tone) = match (call.state, &call.approval, &answered) {
        (CallState::Waiting, ..) => ("waits for a node", "wait"),
        (CallState::Running, Some(_), _) => ("waits for a person", "ask"),
        (CallState::Running, None, _) => ("runs", "wait"),
        (CallState::Done, _, Some(Answered { failed: true, .. })) => {
            ("answered with an error", "bad")
        }
        (CallState::Done, ..) => ("done", "good"),
        (CallState::Failed, ..) => ("was not done", "bad"),
    };
    let message = call.problem.as_ref().map(|problem| pieces(&problem.message));
    Ok(show(&CallPage {
        function: call.function.to_string(),
        node: call.node.as_ref().map(ToString::to_string),
        waits: !call.state.is_final(),
        approval: call.approval,
        message: message.unwrap_or_default(),
        problem: call.problem,
        frame,
        state,
        tone,
        answered,
    }))
}
