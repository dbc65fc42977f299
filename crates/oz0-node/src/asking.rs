//! A call that waits for a person.
//!
//! The call stays here, in the memory of the node that took it; the edge is only told what it is, and says what was
//! decided. So a decision can reach this one call and no other: not one with other arguments, not one after a restart of
//! either. Whatever else happens meanwhile (the client goes away, the edge does, time runs out) ends in no call.

use std::sync::Arc;
use std::time::Duration;

use oz0_api::approval::{Approval, ApprovalState, AskApproval, Elicited, shown};
use oz0_api::{ApprovalId, CallId, Client as Edge, ClientError, Code};
use oz0_listing::{FunctionId, escape};
use oz0_mcp::server::{Call, Progress};
use oz0_telemetry::trace::TraceContext;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::Instant;
use tracing::Instrument as _;

use crate::clients::Clients;
use crate::event::Event;
use crate::metrics::Metrics;
use crate::outcome::Outcome;
use crate::policy::Asks;
use crate::roster::Roster;
use crate::table::{Accepted, Entry};
use crate::watched::step;

/// How long the edge may take to take a question in.
const TAKEN_WITHIN: Duration = Duration::from_secs(5);
/// Between two signs of life to a client that waits. Many give up after a minute of silence.
const PROGRESS: Duration = Duration::from_secs(10);
/// How far each of them is: so little that whatever the server tells later is more.
const STEP: f64 = 1e-6;
/// How much longer than the edge this side waits, should the edge's clock have stood still.
const LATER: Duration = Duration::from_secs(5);

/// A call about which a person is asked.
pub(crate) struct Question<'a> {
    pub(crate) entry: &'a Entry,
    pub(crate) accepted: &'a Accepted,
    /// What is forwarded if it is approved.
    pub(crate) arguments: &'a str,
    pub(crate) asks: &'a Asks,
    /// The client's call; none of a job.
    pub(crate) call: Option<&'a Call>,
    /// The job; none of a client's call.
    pub(crate) job: Option<&'a CallId>,
    /// Where the call is in its trace.
    pub(crate) trace: TraceContext,
}

/// Takes the question back when the call ends in any way but by a decision.
struct Withdrawing {
    edge: Edge,
    id: Option<ApprovalId>,
}

impl Drop for Withdrawing {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let edge = self.edge.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            // Where this does not arrive, the edge sees that nobody waits any more.
            runtime.spawn(async move { edge.withdraw_approval(&id).await });
        }
    }
}

impl Question<'_> {
    /// Waits for the decision; the error is how the call ends, and the refusal's text.
    pub(crate) async fn decided(
        &self,
        roster: &Roster,
        clients: &Clients,
    ) -> Result<(), (Outcome, String)> {
        let waiting = Waiting::begin(&roster.host.metrics);
        let decided =
            self.wait(roster, clients).instrument(step("person", self.trace.next())).await;
        drop(waiting);
        decided
    }

    async fn wait(&self, roster: &Roster, clients: &Clients) -> Result<(), (Outcome, String)> {
        let id = &self.entry.id;
        let asks = &self.asks.why;
        let nobody = |why: &str| {
            let text =
                format!("{id} is not called: a person is to be asked about it ({asks}), and {why}");
            (Outcome::Undecided, text)
        };
        if let Some(reason) = roster.lost_because() {
            return Err(nobody(&format!("this node's edge is not there to ask one: {reason}")));
        }
        let timeout = roster.host.options.approval_timeout;
        let (approval, mut withdrawing) =
            self.ask(roster, timeout).await.map_err(|why| nobody(&why))?;
        roster.tell(Event::Asked {
            function: id.clone(),
            approval: approval.id.clone(),
            client: approval.client.clone(),
            why: asks.clone(),
        });

        let edge = roster.edge().in_trace(&self.trace.to_string());
        let until = Instant::now() + timeout + LATER;
        let decided = tokio::select! {
            decided = wait(&edge, &approval.id) => decided,
            () = tokio::time::sleep_until(until) => Ok(Approval {
                state: ApprovalState::Expired,
                ..approval.clone()
            }),
            never = self.elicit(&edge, clients, &approval) => match never {},
            never = tell_progress(self.call.and_then(Call::progress), &approval) => match never {},
        };
        let decided = decided.map_err(|error| nobody(&format!("the edge is lost: {error}")))?;
        // Only one that may still be pending is taken back.
        if decided.decided_by.is_some() {
            withdrawing.id = None;
        }
        let by = decided.decided_by.as_deref().unwrap_or("nobody");
        let because = decided
            .reason
            .as_ref()
            .map_or_else(String::new, |reason| format!(": {}", escape::line_within(reason, 400)));
        roster.tell(Event::Decided {
            function: id.clone(),
            approval: approval.id.clone(),
            state: decided.state,
            by: by.to_owned(),
        });
        match decided.state {
            // What was decided before it may come after it, and is what the call is looked at by.
            ApprovalState::Approved => match decided.revision {
                Some(revision) if !roster.reached(revision).await => {
                    Err(nobody("what was decided before that has not come to this node"))
                }
                _ => Ok(()),
            },
            ApprovalState::Denied => {
                let text = format!("{id} was not called: {by} denied this call{because}");
                Err((Outcome::Denied, text))
            }
            ApprovalState::Expired => {
                let text = format!(
                    "{id} was not called: a person was asked about it ({asks}), and nobody decided within {} s; calls \
                     that wait are shown by: oz0 approvals list",
                    timeout.as_secs_f64()
                );
                Err((Outcome::Undecided, text))
            }
            ApprovalState::Withdrawn => {
                Err((Outcome::Undecided, format!("{id} was not called: it was taken back")))
            }
            ApprovalState::Lost | ApprovalState::Used | ApprovalState::Pending => {
                Err(nobody("the question was lost; call it again to ask anew"))
            }
        }
    }

    async fn ask(
        &self,
        roster: &Roster,
        timeout: Duration,
    ) -> Result<(Approval, Withdrawing), String> {
        let ask = AskApproval {
            plugin: self.entry.server.plugin.clone(),
            version: self.entry.server.version.clone(),
            function: self.entry.id.clone(),
            listing: self.accepted.hash,
            arguments: RawValue::from_string(self.arguments.to_owned())
                .map_err(|error| error.to_string())?,
            client: self.call.map_or_else(|| "oz0 call".to_owned(), client),
            kind: self.asks.kind.name().to_owned(),
            why: self.asks.why.clone(),
            requires_approval: self.asks.requires_approval,
            timeout_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
            call: self.job.cloned(),
        };
        // In a task of its own: a question that was taken in is taken back also where nobody waits for that any more.
        let edge = roster.edge().in_trace(&self.trace.to_string());
        let asked = tokio::spawn(async move {
            let approval = edge.ask_approval(&ask).await?;
            let id = Some(approval.id.clone());
            Ok((approval, Withdrawing { edge, id }))
        });
        match tokio::time::timeout(TAKEN_WITHIN, asked).await {
            Ok(Ok(Ok(asked))) => Ok(asked),
            Ok(Ok(Err(ClientError::Problem(problem)))) => Err(problem.message),
            Ok(Ok(Err(error))) => Err(format!("this node's edge is not there to ask one: {error}")),
            Ok(Err(_)) | Err(_) => Err("this node's edge does not answer".to_owned()),
        }
    }

    /// Asks the person at the call's own client, where its token says that they may decide. What they say reaches the
    /// call by way of the edge, as any decision does.
    async fn elicit(
        &self,
        edge: &Edge,
        clients: &Clients,
        approval: &Approval,
    ) -> std::convert::Infallible {
        if let Some(call) = self.call
            && !approval.requires_approval
            && let Some(token) = clients.approver(&call.client().principal)
        {
            let arguments = shown(self.arguments);
            let question = elicitation(&approval.function, approval, &arguments);
            let answer = call.asker().ask("elicitation/create", Some(&question)).await;
            let action = answer.ok().and_then(|answer| {
                let answer: Value = serde_json::from_str(answer.get()).ok()?;
                Some(answer.get("action")?.as_str()?.to_owned())
            });
            let accepted = match action.as_deref() {
                Some("accept") => Some(true),
                Some("decline") => Some(false),
                // Nobody was there, or nobody wanted to say.
                _ => None,
            };
            if let Some(accepted) = accepted {
                let elicited = Elicited { client: token, accepted };
                // Where it does not count, somebody else may still decide.
                let _ = edge.elicited(&approval.id, &elicited).await;
            }
        }
        std::future::pending().await
    }
}

/// A call that waits for a person, for as long as it does.
struct Waiting(Arc<Metrics>);

impl Waiting {
    fn begin(metrics: &Arc<Metrics>) -> Self {
        metrics.waiting.inc();
        Self(Arc::clone(metrics))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.waiting.dec();
    }
}

/// The form that a client shows. It asks for nothing but yes or no.
fn elicitation(function: &FunctionId, approval: &Approval, arguments: &str) -> Box<RawValue> {
    let message = format!(
        "Call {function} ({}: {})? Its arguments, whole:\n{arguments}",
        approval.kind, approval.why
    );
    let params =
        json!({"message": message, "requestedSchema": {"type": "object", "properties": {}}});
    serde_json::value::to_raw_value(&params).expect("a JSON value is JSON")
}

/// Who calls, as far as it is known, and as far as it says so itself.
pub(crate) fn client(call: &Call) -> String {
    let peer = call.client();
    let named = peer.name.as_ref().map(|name| {
        let version = peer.client_version.as_ref().map(|version| format!(" {version}"));
        escape::line_within(&format!("{name}{}", version.unwrap_or_default()), 80).into_owned()
    });
    let token = peer.principal.id().split(':').next().unwrap_or_default();
    match (token, named) {
        ("", None) => "a client without a token".to_owned(),
        ("", Some(named)) => format!("a client without a token, which calls itself {named}"),
        (token, None) => format!("the client {token}"),
        (token, Some(named)) => format!("the client {token}, which calls itself {named}"),
    }
}

/// Waits for the edge's word.
async fn wait(edge: &Edge, id: &ApprovalId) -> Result<Approval, ClientError> {
    loop {
        let approval = match edge.await_approval(id).await {
            Err(error) if error.code() == Some(Code::Stale) => return Err(error),
            answer => answer?,
        };
        if approval.state != ApprovalState::Pending {
            return Ok(approval);
        }
    }
}

/// Tells the client now and then that its call waits, and for what.
async fn tell_progress(
    progress: Option<Progress>,
    approval: &Approval,
) -> std::convert::Infallible {
    let Some(progress) = progress else { return std::future::pending().await };
    let message = format!(
        "{} waits for a person: oz0 approvals approve {}",
        approval.function,
        short(&approval.id)
    );
    let mut done = 0.0;
    loop {
        done += STEP;
        progress.report(done, None, Some(&message));
        tokio::time::sleep(PROGRESS).await;
    }
}

/// As much of an ID as tells it from others.
pub(crate) fn short(id: &ApprovalId) -> &str {
    &id.as_str()[..12]
}
