//! Calls that wait for a person: who asks for what, with which arguments; approved or denied here, each once.

use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use oz0_api::approval::{Approval, Decide};
use oz0_api::{ApprovalId, Code, Problem};

use crate::Console;
use crate::page::{Failure, Frame, Section, show};
use crate::session::{Notice, Sent, Visitor};
use crate::text::{Piece, legend, pieces};
use crate::time::{Moment, moment};

pub(crate) fn routes() -> Router<Console> {
    Router::new().route("/approvals", get(approvals)).route("/approvals/{id}", post(decide))
}

#[derive(Template)]
#[template(path = "approvals.html")]
struct Approvals {
    frame: Frame,
    notice: Option<Notice>,
    cards: Vec<Waits>,
}

/// A call that waits.
struct Waits {
    id: String,
    function: String,
    plugin: String,
    version: String,
    kind: Vec<Piece>,
    client: Vec<Piece>,
    why: Vec<Piece>,
    node: String,
    arguments: Vec<Piece>,
    legend: Vec<(String, String)>,
    requires_approval: bool,
    asked: Moment,
    expires: Moment,
}

async fn approvals(State(console): State<Console>, visitor: Visitor) -> Result<Response, Failure> {
    let waiting =
        console.desk.approvals().await.map_err(|problem| Failure::of(&visitor, problem))?;
    let frame = Frame::new(&console, &visitor, Section::Approvals, "Approvals").await?;
    let notice = console.sessions.take_notice(&visitor);
    Ok(show(&Approvals { frame, notice, cards: waiting.iter().map(waits).collect() }))
}

fn waits(approval: &Approval) -> Waits {
    Waits {
        id: approval.id.to_string(),
        function: approval.function.to_string(),
        plugin: approval.plugin.to_string(),
        version: approval.version.to_string(),
        kind: pieces(&approval.kind),
        client: pieces(&approval.client),
        why: pieces(&approval.why),
        node: approval.node.to_string(),
        legend: legend([approval.arguments.as_str()]),
        arguments: pieces(&approval.arguments),
        requires_approval: approval.requires_approval,
        asked: moment(approval.asked_at),
        expires: moment(approval.expires_at),
    }
}

async fn decide(
    State(console): State<Console>,
    Path(id): Path<String>,
    sent: Sent,
) -> Result<Response, Failure> {
    let failed = |problem| Failure::of(&sent.visitor, problem);
    let id: ApprovalId =
        id.parse().map_err(|_| failed(Problem::new(Code::NotFound, "no call has such an ID")))?;
    let approves = match sent.get("decision") {
        Some("approve") => true,
        Some("deny") => false,
        _ => return Err(failed(Problem::new(Code::Malformed, "the form says neither yes nor no"))),
    };
    let reason = sent.get("reason").map(str::trim).filter(|reason| !reason.is_empty());
    let decide = Decide { reason: reason.map(str::to_owned) };
    let decided = console.desk.decide(&sent.visitor.person, &id, decide, approves).await;
    let notice = match decided {
        Ok(approval) => {
            let what = if approves { "Approved" } else { "Denied" };
            let (function, client) = (approval.function, approval.client);
            Notice::good(format!("{what} the call of {function} by {client}."))
        }
        // Somebody else was faster, or its time was over: that is no page of its own.
        Err(problem) if problem.code == Code::Stale => Notice {
            good: false,
            lines: vec![format!("Nothing was done: {}.", problem.message)],
            anew: Vec::new(),
        },
        Err(problem) => return Err(failed(problem)),
    };
    console.sessions.tell(&sent.visitor.secret, notice);
    Ok(Redirect::to("/approvals").into_response())
}
