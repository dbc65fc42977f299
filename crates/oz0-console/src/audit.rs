//! The audit log: read, filtered, checked and taken away.

use std::fmt::Write as _;

use askama::Template;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use oz0_api::audit::{AuditCheck, AuditEntry};
use oz0_edge::Desk;
use serde::Deserialize;

use crate::Console;
use crate::page::{Failure, Frame, Section, show};
use crate::plugins::line;
use crate::session::Visitor;
use crate::time::{Moment, moment};

/// Entries on a page.
const SIZE: usize = 100;

/// Entries that are looked through for a page of them.
const LOOKED: usize = 20_000;

/// Entries that are read at once.
const READ: u32 = 1_000;

pub(crate) fn routes() -> Router<Console> {
    Router::new().route("/audit", get(audit)).route("/audit/export", get(export))
}

#[derive(Debug, Clone, Default, Deserialize)]
struct Asked {
    #[serde(default)]
    actor: String,
    #[serde(default)]
    action: String,
    #[serde(default)]
    q: String,
    before: Option<i64>,
    verify: Option<String>,
}

#[derive(Template)]
#[template(path = "audit.html")]
struct Audit {
    frame: Frame,
    asked: Asked,
    rows: Vec<Row>,
    older: Option<String>,
    cut: bool,
    check: Option<AuditCheck>,
}

struct Row {
    position: i64,
    at: Moment,
    actor: String,
    action: String,
    plugin: Option<String>,
    version: Option<String>,
    node: Option<String>,
    functions: Vec<String>,
    detail: Vec<(String, String)>,
    hash: String,
}

impl Asked {
    fn wants(&self, entry: &AuditEntry) -> bool {
        let has =
            |text: &str, wanted: &str| text.to_lowercase().contains(&wanted.trim().to_lowercase());
        has(&entry.actor, &self.actor)
            && has(&entry.action, &self.action)
            && (self.q.trim().is_empty() || {
                let text = serde_json::to_string(&entry.subject).unwrap_or_default();
                has(&text, &self.q)
            })
    }

    /// The address of the page before an entry.
    fn older(&self, before: i64) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in [("actor", &self.actor), ("action", &self.action), ("q", &self.q)] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        query.append_pair("before", &before.to_string());
        format!("/audit?{}", query.finish())
    }
}

async fn audit(
    State(console): State<Console>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
) -> Result<Response, Failure> {
    let failed = |problem| Failure::of(&visitor, problem);
    let frame = Frame::new(&console, &visitor, Section::Audit, "Audit").await?;
    let check = match &asked.verify {
        Some(_) => Some(console.desk.verify_audit().await.map_err(failed)?),
        None => None,
    };
    let (mut rows, mut before, mut looked) = (Vec::new(), asked.before, 0);
    let mut more = false;
    while rows.len() < SIZE && looked < LOOKED {
        let entries = console.desk.audit_before(before, READ).await.map_err(failed)?;
        more = !entries.is_empty();
        for entry in entries {
            if rows.len() == SIZE {
                break;
            }
            looked += 1;
            before = Some(entry.position);
            if asked.wants(&entry) {
                rows.push(row(&entry));
            }
        }
        if !more {
            break;
        }
    }
    let older = before.filter(|_| more).map(|before| asked.older(before));
    let cut = more && rows.len() < SIZE;
    Ok(show(&Audit { frame, asked, rows, older, cut, check }))
}

fn row(entry: &AuditEntry) -> Row {
    let subject = &entry.subject;
    let detail = subject.detail.iter().map(|(name, value)| (line(name), line(value)));
    Row {
        position: entry.position,
        at: moment(entry.at),
        actor: line(&entry.actor),
        action: line(&entry.action),
        plugin: subject.plugin.as_ref().map(ToString::to_string),
        version: subject.version.as_ref().map(ToString::to_string),
        node: subject.node.as_ref().map(ToString::to_string),
        functions: subject.functions.keys().take(20).map(ToString::to_string).collect(),
        detail: detail.collect(),
        hash: line(&entry.hash),
    }
}

/// Every entry as `oz0 audit --json` prints it, a line each, read and sent in parts.
async fn export(State(console): State<Console>, _: Visitor) -> Response {
    let parts =
        futures_util::stream::unfold(Some(0), move |after| part(console.desk.clone(), after));
    let headers = [
        (header::CONTENT_TYPE, "application/x-ndjson"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"oz0-audit.jsonl\""),
    ];
    (headers, Body::from_stream(parts)).into_response()
}

type Part = Result<Bytes, std::io::Error>;

async fn part(desk: Desk, after: Option<i64>) -> Option<(Part, Option<i64>)> {
    let page = match desk.audit_after(after?, READ).await {
        Ok(page) => page,
        // The download ends short, and the browser says so.
        Err(problem) => return Some((Err(std::io::Error::other(problem.message)), None)),
    };
    let mut text = String::new();
    for entry in &page.entries {
        let line = serde_json::to_string(entry).unwrap_or_default();
        let _ = writeln!(text, "{line}");
    }
    Some((Ok(Bytes::from(text)), page.more.then_some(page.next)))
}
