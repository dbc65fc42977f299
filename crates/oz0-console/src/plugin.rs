//! A plugin's page: its versions and functions, what changed in them word by word, and the approval of exactly that.
//!
//! Each form holds the IDs of the changes that stand on its page, and an ID is a hash over what is listed. So whatever its
//! server lists while somebody reads, only what they read can be approved; what moved meanwhile is shown instead.

use std::collections::BTreeMap;

use askama::Template;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use oz0_api::change::{Approve, Approved};
use oz0_api::plugin::{FunctionState, FunctionStatus, Source};
use oz0_api::rollout::Rollout;
use oz0_api::{ChangeId, Code, PluginName, PluginVersion, Problem};
use oz0_edge::overview::{PluginOverview, VersionOverview};
use serde::Deserialize;

use crate::Console;
use crate::change::{self, Shown};
use crate::page::{Failure, Frame, Pages, Section, show};
use crate::plugins::{Counts, line};
use crate::session::{Notice, Sent, Visitor};
use crate::text::{Piece, count, pieces};
use crate::time::{Moment, moment};

/// Changes on a page: what somebody approves at once, they should have read.
const CHANGES: usize = 50;

/// Functions on a page.
const FUNCTIONS: usize = 200;

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/plugins/{name}", get(plugin))
        .route("/plugins/{name}/approve", post(approve))
        .route("/plugins/{name}/promote", post(promote))
        .route("/plugins/{name}/rollback", post(rollback))
}

#[derive(Deserialize)]
struct Asked {
    page: Option<usize>,
    functions: Option<usize>,
}

#[derive(Template)]
#[template(path = "plugin.html")]
struct Plugin {
    frame: Frame,
    name: String,
    title: Option<Vec<Piece>>,
    about: Vec<Piece>,
    versions: Vec<Version>,
    notice: Option<Notice>,
    changes: Vec<Group>,
    change_pages: Pages,
    functions: Vec<Function>,
    function_pages: Pages,
    left_out: Vec<LeftOut>,
    tools: Vec<Tool>,
}

/// A version that nodes run.
struct Version {
    number: String,
    candidate: bool,
    /// Who runs it, of a candidate.
    offered: Option<String>,
    digest: String,
    folder: Option<String>,
    since: Moment,
    before: Option<String>,
    counts: Counts,
    mismatches: Vec<String>,
}

/// The changes of one version that are on the page.
struct Group {
    version: String,
    /// Whether there is another version, and it has to be said which this is.
    said: bool,
    candidate: bool,
    changes: Vec<Shown>,
}

struct Function {
    id: String,
    model_name: String,
    state: Standing,
    hashes: Vec<String>,
    candidate: Option<String>,
    mismatch: bool,
}

/// How a function stands, in words.
pub(crate) struct Standing {
    pub(crate) word: &'static str,
    pub(crate) tone: &'static str,
    pub(crate) why: String,
}

struct LeftOut {
    tool: String,
    name: Vec<Piece>,
    reason: Vec<Piece>,
    nodes: String,
}

struct Tool {
    name: String,
    version: String,
    endpoint: Option<String>,
    node: String,
    at: Moment,
    functions: usize,
    failure: Option<Vec<Piece>>,
    goes_on: Option<String>,
}

/// How a function stands.
pub(crate) fn state(state: &FunctionState) -> Standing {
    let (word, tone, why) = match state {
        FunctionState::Callable => ("callable", "good", String::new()),
        FunctionState::Waiting => (
            "waits for approval",
            "wait",
            "A node lists it otherwise than it was approved".to_owned(),
        ),
        FunctionState::EndpointWaiting => (
            "endpoint waits",
            "wait",
            "Its tool's endpoint moved, and the move waits for approval".to_owned(),
        ),
        FunctionState::NotListed => {
            ("not listed", "note", "It is approved, and no node that is there lists it".to_owned())
        }
        FunctionState::NotCallable { reason } => ("not callable", "bad", line(reason)),
        FunctionState::LeftOut { plugin, function } => {
            ("left out", "note", format!("Models know {function} of {plugin} by the same name"))
        }
    };
    Standing { word, tone, why }
}

fn name_of(visitor: &Visitor, name: &str) -> Result<PluginName, Failure> {
    name.parse().map_err(|_| {
        Failure::of(visitor, Problem::new(Code::NotFound, "no plugin has such a name"))
    })
}

async fn plugin(
    State(console): State<Console>,
    visitor: Visitor,
    Path(name): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, Failure> {
    let failed = |problem| Failure::of(&visitor, problem);
    let name = name_of(&visitor, &name)?;
    let overview = console.desk.plugin(&name).await.map_err(failed)?;
    let frame = Frame::new(&console, &visitor, Section::Plugins, name.to_string()).await?;
    let notice = console.sessions.take_notice(&visitor);
    let anew = notice.as_ref().map(|notice| notice.anew.clone()).unwrap_or_default();
    let waiting: Vec<(&VersionOverview, &ChangeId)> = overview
        .versions()
        .flat_map(|version| version.waiting.iter().map(move |change| (version, &change.id)))
        .collect();
    let change_pages = Pages::new(waiting.len(), CHANGES, asked.page);
    let ids: Vec<ChangeId> =
        change_pages.cut(&waiting).iter().map(|(_, id)| (*id).clone()).collect();
    let changes = console.desk.changes(&name, &ids).await.map_err(failed)?;
    let groups = overview.versions().filter_map(|version| {
        let number = &version.description.version;
        let of: Vec<_> =
            changes.iter().filter(|change| change.version == *number).cloned().collect();
        (!of.is_empty()).then(|| Group {
            version: number.to_string(),
            said: overview.candidate.is_some(),
            candidate: version.rollout.is_some(),
            changes: change::shown(&of, &anew),
        })
    });
    let functions: Vec<(&VersionOverview, &FunctionStatus)> = overview
        .versions()
        .flat_map(|version| version.functions.iter().map(move |function| (version, function)))
        .collect();
    let function_pages = Pages::new(functions.len(), FUNCTIONS, asked.functions);
    let description = &overview.installed.description;
    Ok(show(&Plugin {
        title: description.title.as_deref().map(pieces),
        about: pieces(&description.description),
        versions: versions(&overview),
        changes: groups.collect(),
        functions: function_pages
            .cut(&functions)
            .iter()
            .map(|(version, status)| function(version, status))
            .collect(),
        left_out: left_out(&overview),
        tools: tools(&overview),
        name: name.to_string(),
        frame,
        notice,
        change_pages,
        function_pages,
    }))
}

fn versions(plugin: &PluginOverview) -> Vec<Version> {
    let version = |version: &VersionOverview| {
        let description = &version.description;
        let candidate = version.rollout.is_some();
        Version {
            number: description.version.to_string(),
            candidate,
            offered: version.rollout.as_ref().map(|rollout| match rollout {
                Rollout::Nodes(nodes) => {
                    nodes.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(", ")
                }
                Rollout::Percent(share) => format!("{} of a hundred nodes", u8::from(*share)),
            }),
            digest: description.digest.to_string(),
            folder: match &description.source {
                Source::Dev { folder } => Some(line(folder)),
                Source::Bundle => None,
            },
            since: moment(version.installed_at),
            before: plugin.before.as_ref().filter(|_| !candidate).map(ToString::to_string),
            counts: Counts::of(version),
            mismatches: version.mismatches.iter().map(ToString::to_string).collect(),
        }
    };
    plugin.versions().map(version).collect()
}

fn function(version: &VersionOverview, status: &FunctionStatus) -> Function {
    Function {
        id: status.id.to_string(),
        model_name: status.model_name.clone(),
        state: state(&status.state),
        hashes: status.accepted.iter().map(ToString::to_string).collect(),
        candidate: version.rollout.as_ref().map(|_| version.description.version.to_string()),
        mismatch: version.mismatches.contains(&status.id),
    }
}

fn left_out(plugin: &PluginOverview) -> Vec<LeftOut> {
    let mut found = BTreeMap::<(&str, &str, &str), Vec<&str>>::new();
    for tool in plugin.versions().flat_map(|version| &version.tools) {
        for seen in &tool.nodes {
            for one in &seen.left_out {
                let key = (tool.tool.as_str(), one.name.as_str(), one.reason.as_str());
                let nodes = found.entry(key).or_default();
                if !nodes.contains(&seen.node.as_str()) {
                    nodes.push(seen.node.as_str());
                }
            }
        }
    }
    let all = found.into_iter().take(FUNCTIONS);
    all.map(|((tool, name, reason), nodes)| LeftOut {
        tool: tool.to_owned(),
        name: pieces(&line(name)),
        reason: pieces(&line(reason)),
        nodes: nodes.join(", "),
    })
    .collect()
}

fn tools(plugin: &PluginOverview) -> Vec<Tool> {
    let mut tools = Vec::new();
    for version in plugin.versions() {
        for tool in &version.tools {
            for seen in &tool.nodes {
                tools.push(Tool {
                    name: tool.tool.to_string(),
                    version: version.description.version.to_string(),
                    endpoint: tool.endpoint.as_ref().map(ToString::to_string),
                    node: seen.node.to_string(),
                    at: moment(seen.at),
                    functions: seen.functions.len(),
                    failure: seen.failure.as_deref().map(pieces),
                    goes_on: seen.goes_on.as_ref().map(ToString::to_string),
                });
            }
        }
    }
    tools
}

async fn approve(
    State(console): State<Console>,
    Path(name): Path<String>,
    sent: Sent,
) -> Result<Response, Failure> {
    let failed = |problem| Failure::of(&sent.visitor, problem);
    let name = name_of(&sent.visitor, &name)?;
    let changes: Vec<ChangeId> =
        sent.all("change").map(str::parse).collect::<Result<_, _>>().map_err(|_| {
            failed(Problem::new(Code::Malformed, "the form names something that is no change"))
        })?;
    if changes.is_empty() {
        return Err(failed(Problem::new(Code::Malformed, "the form names no change")));
    }
    let approved = console.desk.approve(&sent.visitor.person, &name, Approve { changes });
    let approved = approved.await.map_err(failed)?;
    console.sessions.tell(&sent.visitor.secret, told(&approved, &sent));
    Ok(Redirect::to(&format!("/plugins/{name}#changes")).into_response())
}

/// What an approval did, in words.
fn told(approved: &Approved, sent: &Sent) -> Notice {
    let mut lines = Vec::new();
    if !approved.approved.is_empty() {
        let subjects = approved.approved.iter().map(|change| {
            change.function.as_ref().map_or_else(|| change.tool.to_string(), ToString::to_string)
        });
        let subjects = subjects.collect::<Vec<_>>().join(", ");
        lines.push(format!("Approved {}: {subjects}.", count(approved.approved.len(), "change")));
    }
    let mut anew = Vec::new();
    for id in &approved.stale {
        // The form says what each of its IDs was shown for.
        let was = sent.all("was").find_map(|was| was.strip_prefix(id.as_str())?.strip_prefix(' '));
        anew.extend(was.map(line));
    }
    if !approved.stale.is_empty() {
        let what = if anew.is_empty() { id_list(approved) } else { anew.join(", ") };
        lines.push(format!(
            "Not approved: {what}. It changed again after this page was made, went back, or was approved by somebody else. \
             What waits now is below: read it anew."
        ));
    }
    Notice { good: approved.stale.is_empty(), lines, anew }
}

fn id_list(approved: &Approved) -> String {
    approved.stale.iter().map(|id| id.short().to_owned()).collect::<Vec<_>>().join(", ")
}

fn version_of(sent: &Sent) -> Result<PluginVersion, Failure> {
    let version = sent.get("version").and_then(|version| version.parse().ok());
    version.ok_or_else(|| {
        Failure::of(&sent.visitor, Problem::new(Code::Malformed, "the form names no version"))
    })
}

async fn promote(
    State(console): State<Console>,
    Path(name): Path<String>,
    sent: Sent,
) -> Result<Response, Failure> {
    let (name, version) = (name_of(&sent.visitor, &name)?, version_of(&sent)?);
    let said = format!("{name} {version} runs on every node from now on.");
    let promoted = console.desk.promote(&sent.visitor.person, &name, version).await;
    promoted.map_err(|problem| Failure::of(&sent.visitor, problem))?;
    console.sessions.tell(&sent.visitor.secret, Notice::good(said));
    Ok(Redirect::to(&format!("/plugins/{name}")).into_response())
}

async fn rollback(
    State(console): State<Console>,
    Path(name): Path<String>,
    sent: Sent,
) -> Result<Response, Failure> {
    let (name, version) = (name_of(&sent.visitor, &name)?, version_of(&sent)?);
    let said = format!("{name} {version} was taken back.");
    let rolled = console.desk.rollback(&sent.visitor.person, &name, version).await;
    rolled.map_err(|problem| Failure::of(&sent.visitor, problem))?;
    console.sessions.tell(&sent.visitor.secret, Notice::good(said));
    Ok(Redirect::to(&format!("/plugins/{name}")).into_response())
}
