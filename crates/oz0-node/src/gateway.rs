//! The gateway: what a call goes through, from its client's name for a function to the server's answer.
//!
//! In order: the function behind the name, the server's connection, a listing that is young enough, that listing
//! against what is accepted, the arguments against the pinned schema, the policy, hooks, a person where the policy asks for one (and then
//! all of this once more), a free place, the call, its result against the pinned schema. Parameters and result stay the
//! text that they came as; what changes in them are the name, the progress token and the AI label, by splices.

mod around;
mod carried;
mod named;
mod passed;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use oz0_api::CallId;
use oz0_api::call::JobResult;
use oz0_api::change::ChangeKind;
use oz0_api::node::{Job, Verdict};
use oz0_listing::{FunctionId, ListingHash, ModelName, escape};
use oz0_mcp::server::{self, Call, CallParams, Denied, Functions, Principal};
use oz0_mcp::{Era, Fault, RpcError};
use oz0_telemetry::trace::TraceContext;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tracing::Instrument as _;

use crate::answer;
use crate::asking::Question;
use crate::clients::Clients;
use crate::event::Event;
use crate::instance::Instance;
use crate::label;
use crate::listed::{Answered, Listed};
use crate::outcome::Outcome;
use crate::policy::{self, Asks, Ruling};
use crate::refusal::{Refusal, Why};
use crate::roster::Roster;
use crate::schema::Misfit;
use crate::table::{Accepted, Entry, Table};
use crate::vault;
use crate::watched::Watched;

/// How long a call waits for the edge's word on a listing that is not accepted as far as is known here.
const WORD: Duration = Duration::from_secs(2);

/// How much of why a call failed is told, in characters.
const REASON: usize = 1000;

/// What MCP clients of a node reach: every callable function of every plugin that it runs.
pub struct Gateway {
    roster: Arc<Roster>,
    clients: Clients,
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").finish_non_exhaustive()
    }
}

/// What a call names. Two functions can have one model name, so a call that names a function by its ID is never looked up
/// by its model name.
#[derive(Clone, Copy)]
enum Called<'a> {
    /// The name that models know.
    Name(&'a str),
    /// The function itself.
    Function(&'a FunctionId),
}

/// Where a call comes from.
#[derive(Clone, Copy)]
enum Origin<'a> {
    /// An MCP client.
    Client(&'a Call),
    /// The edge, for somebody who asked there.
    Job(&'a CallId),
}

impl<'a> Origin<'a> {
    fn call(self) -> Option<&'a Call> {
        match self {
            Self::Client(call) => Some(call),
            Self::Job(_) => None,
        }
    }

    fn job(self) -> Option<&'a CallId> {
        match self {
            Self::Client(_) => None,
            Self::Job(id) => Some(id),
        }
    }
}

/// A function that can be called now.
struct Ready {
    entry: Arc<Entry>,
    accepted: Arc<Accepted>,
    instance: Arc<Instance>,
    /// How long its server was waited for.
    waited: Duration,
}

/// Why there is no result of a server.
enum Halt {
    /// Nobody here has such a function.
    Unknown,
    /// Said to the model, as a result.
    Refused(Outcome, String),
    /// An error of the protocol.
    Error(Outcome, RpcError),
}

impl Halt {
    fn outcome(&self) -> Outcome {
        match self {
            Self::Unknown => Outcome::Unknown,
            Self::Refused(outcome, _) | Self::Error(outcome, _) => *outcome,
        }
    }

    /// An error that is not the function's own.
    fn internal(outcome: Outcome, what: impl Into<String>) -> Self {
        Self::Error(outcome, answer::internal(what))
    }
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Self {
        Self::Refused((&refusal.why).into(), refusal.to_string())
    }
}

impl server::Gateway for Gateway {
    async fn authenticate(&self, token: Option<&str>) -> Result<Principal, Denied> {
        self.clients.authenticate(token).await
    }

    async fn list(&self, _: &Principal) -> Result<Arc<Functions>, RpcError> {
        self.roster.prepared().await;
        Ok(Arc::clone(&self.roster.table().visible))
    }

    fn revision(&self, _: &Principal) -> watch::Receiver<u64> {
        self.roster.revisions()
    }

    async fn call(&self, call: Call) -> Result<Box<RawValue>, RpcError> {
        let called = Called::Name(call.params().name());
        let given = call.params().trace_parent().and_then(|text| TraceContext::read(&text));
        let own = || TraceContext::within(call.mark(|| TraceContext::new().trace.bytes()));
        let watched = Watched::begin(&self.roster.host.metrics, given, own);
        match self.watch(watched, called, call.params(), Origin::Client(&call)).await {
            Ok(result) => Ok(result),
            Err(Halt::Refused(_, text)) => Ok(answer::refused(&text)),
            Err(Halt::Error(_, error)) => Err(error),
            Err(Halt::Unknown) => Err(answer::unknown(call.params().name())),
        }
    }
}

impl Gateway {
    pub(crate) fn new(roster: Arc<Roster>, clients: Clients) -> Self {
        Self { roster, clients }
    }

    /// Runs a job, on the path of every other call, and answers it.
    pub(crate) async fn run(self: Arc<Self>, job: Job) {
        let mut limit = Duration::from_millis(job.timeout_ms);
        if job.patient {
            limit += self.roster.host.options.approval_timeout;
        }
        let name = serde_json::Value::from(job.function.function());
        let text = format!(r#"{{"name":{name},"arguments":{}}}"#, job.arguments.get());
        let ran = async {
            let watched = Watched::job(&self.roster.host.metrics, job.id.as_str());
            if !self.roster.reached(job.revision).await {
                let why = format!(
                    "{} is not called: what was decided before the call has not come to this node",
                    job.function
                );
                watched.end(Outcome::CutOff);
                return Err(Halt::Refused(Outcome::CutOff, why));
            }
            let params = CallParams::read(&text, Era::Legacy)
                .map_err(|error| Halt::Error(Outcome::Arguments, error))?;
            let called = Called::Function(&job.function);
            self.watch(watched, called, &params, Origin::Job(&job.id)).await
        };
        let result = match tokio::time::timeout(limit, ran).await {
            Ok(Ok(result)) => self.for_the_edge(&job.function, result),
            Ok(Err(Halt::Refused(_, text))) => JobResult::Result(answer::refused(&text)),
            Ok(Err(Halt::Error(_, error))) => {
                JobResult::Problem(passed::problem(&job.function, &error))
            }
            Ok(Err(Halt::Unknown)) => JobResult::Problem(passed::unknown(&job.function)),
            // Whoever asked has given up, and the edge has said so.
            Err(_) => return,
        };
        // An edge that is lost, or to which it came too late, has said so to whoever asked.
        let trace = TraceContext::of(job.id.as_str()).unwrap_or_default();
        let edge = self.roster.edge().in_trace(&trace.to_string());
        let _ = edge.answer(&job.id, &result).await;
    }

    /// Forwards a call, and sees how it ends. An error of this side, or of what is behind it, names the call.
    async fn watch(
        &self,
        mut watched: Watched,
        called: Called<'_>,
        params: &CallParams,
        from: Origin<'_>,
    ) -> Result<Box<RawValue>, Halt> {
        let span = watched.span.clone();
        let mut done = self.forward(&mut watched, called, params, from).instrument(span).await;
        let outcome = match &done {
            Ok(result) if answer::says_error(result) => Outcome::ToolError,
            Ok(_) => Outcome::Answered,
            Err(halt) => halt.outcome(),
        };
        if let Err(Halt::Error(outcome, error)) = &mut done
            && outcome.is_failure()
        {
            error.message = format!("{} (call {})", error.message, watched.trace.trace);
        }
        watched.end(outcome);
        done
    }

    async fn forward(
        &self,
        watched: &mut Watched,
        called: Called<'_>,
        params: &CallParams,
        from: Origin<'_>,
    ) -> Result<Box<RawValue>, Halt> {
        let options = &self.roster.host.options;
        let limits = &options.limits;
        let asked = Instant::now();
        let entry = self.find(called, asked, watched).await?;
        watched.of(&entry);
        let ready = self.ready(entry, asked).await?;
        // It may have been accepted while its server was waited for.
        watched.of(&ready.entry);
        watched.elsewhere += ready.waited;
        let id = &ready.entry.id;
        if params.text().len() > limits.request {
            let why = format!("{id} is called with parameters above {} bytes", limits.request);
            let error = RpcError::new(answer::INVALID_PARAMS, why);
            return Err(Halt::Error(Outcome::TooLarge, error));
        }
        let (ready, changed) =
            self.permitted(watched, ready, params.arguments().unwrap_or("{}"), from).await?;
        let Ready { entry, accepted, instance, .. } = ready;
        let id = &entry.id;

        let carried = self.carried(&entry, &instance).await?;
        let call = from.call();
        let slot = instance
            .slot(id, call)
            .ok_or_else(|| Halt::Error(Outcome::Busy, answer::busy(id, limits.in_flight)))?;
        let trace = watched.trace.next();
        let span = crate::watched::step("tools/call", trace);
        let mut forward = params.forward().name(id.function()).trace_parent(&trace.to_string());
        if let Some(arguments) = &changed {
            forward = forward.arguments(arguments);
        }
        if let Some(carried) = &carried {
            forward = forward.meta(vault::META, carried);
        }
        if params.progress_token().is_some() {
            forward = forward.progress_token(slot.token);
        }
        if let Some(level) = call.and_then(Call::log_level)
            && instance.client.era() == Era::Modern
        {
            forward = forward.log_level(level);
        }
        let forwarded = forward.build();
        let sent = Instant::now();
        let answered = instance
            .client
            .request_within("tools/call", &forwarded, limits.call)
            .instrument(span)
            .await;
        let took = watched.elsewhere_since(sent);
        entry.server.metrics.call.observe(took.as_secs_f64());
        let result = answered.map_err(|error| {
            if !matches!(error.fault, Fault::Answered(_)) {
                let reason = error.fault.to_string();
                let reason = self.roster.host.without_secrets(&entry.server.plugin, &reason);
                let reason = escape::line_within(&reason, REASON).into_owned();
                self.roster.tell(Event::CallFailed { function: id.clone(), reason });
            }
            Halt::Error((&error.fault).into(), answer::failed(id, error))
        })?;
        drop(slot);
        let result = self.passed(&entry, &accepted, &instance, result)?;
        let sent = changed.as_deref().map(RawValue::get).or(params.arguments()).unwrap_or("{}");
        let asked = Instant::now();
        let result = self.after(watched.trace, &entry, accepted.kind, sent, result).await;
        watched.elsewhere_since(asked);
        result
    }

    /// A function that lists itself as accepted, by a listing that is young enough for a call that came at `asked`.
    async fn ready(&self, entry: Arc<Entry>, asked: Instant) -> Result<Ready, Halt> {
        let limits = &self.roster.host.options.limits;
        if let Some(why) = self.roster.cut_off() {
            return Err(entry.refusal(why).into());
        }
        if let Some(why) = entry.barred() {
            return Err(entry.refusal(why).into());
        }
        let began = Instant::now();
        let instance =
            entry.server.instance(limits.patience).await.map_err(|why| entry.refusal(why))?;
        let listed = instance
            .verified(asked, limits.listing)
            .await
            .map_err(|_| entry.refusal(Why::NotListed))?;
        let waited = began.elapsed();
        let (entry, accepted) = self.accepted(entry, &listed).await?;
        Ok(Ready { entry, accepted, instance, waited })
    }

    /// Lets a call through that the policy lets through, at once or after a person did; gives the arguments that it goes
    /// on with, where they are not the client's.
    async fn permitted(
        &self,
        watched: &mut Watched,
        ready: Ready,
        given: &str,
        from: Origin<'_>,
    ) -> Result<(Ready, Option<Box<RawValue>>), Halt> {
        let id = ready.entry.id.clone();
        let mut ruling = self.ruled(&ready, given)?;
        if let Ruling::Refuse(text) = ruling {
            return Err(Halt::Refused(Outcome::Policy, text));
        }
        let asked = Instant::now();
        let looked = self.before(watched.trace, &ready, given).await;
        watched.elsewhere_since(asked);
        let mut arguments = looked?;
        if let Some(pointer) = ready.entry.policy.label(&id) {
            let label = &self.roster.host.options.ai_label;
            let labelled = label::labelled(&arguments, pointer, label).map_err(|why| {
                let text = format!(
                    "{id} was not called: the AI label cannot be put under its text, and it is not called without: {why}"
                );
                Halt::Refused(Outcome::Arguments, text)
            })?;
            if let Cow::Owned(labelled) = labelled {
                arguments = Cow::Owned(labelled);
            }
        }
        let changed = matches!(arguments, Cow::Owned(_));
        if changed {
            // What is called is what is decided about, and what somebody wanted to be asked about is asked about.
            ruling = match (ruling, self.ruled(&ready, &arguments)?) {
                (asks @ Ruling::Ask(_), Ruling::Allow) => asks,
                (_, decided) => decided,
            };
        }
        let ready = match ruling {
            Ruling::Allow => ready,
            Ruling::Refuse(text) => return Err(Halt::Refused(Outcome::Policy, text)),
            Ruling::Ask(asks) => {
                let question = Question {
                    entry: &ready.entry,
                    accepted: &ready.accepted,
                    arguments: &arguments,
                    asks: &asks,
                    call: from.call(),
                    job: from.job(),
                    trace: watched.trace,
                };
                let asked = Instant::now();
                let decided = question.decided(&self.roster, &self.clients).await;
                watched.elsewhere_since(asked);
                decided.map_err(|(outcome, text)| Halt::Refused(outcome, text))?;
                self.still(ready, &arguments, &asks).await?
            }
        };
        let changed = changed.then(|| {
            RawValue::from_string(arguments.into_owned()).expect("what was checked is JSON")
        });
        Ok((ready, changed))
    }

    /// What was approved, if it is still what it was when somebody was asked: any amount of time has passed.
    async fn still(&self, was: Ready, arguments: &str, asked: &Asks) -> Result<Ready, Halt> {
        let id = was.entry.id.clone();
        let differs = || {
            let text = format!(
                "{id} was not called: it was approved, and is no longer what it was when a person was asked; call it \
                 again to ask anew"
            );
            Halt::Refused(Outcome::Changed, text)
        };
        let table = self.roster.table();
        let entry = table.function(&id).ok_or_else(differs)?;
        let now = self.ready(Arc::clone(entry), Instant::now()).await?;
        if now.accepted.hash != was.accepted.hash
            || now.entry.server.plugin != was.entry.server.plugin
            || now.entry.server.version != was.entry.server.version
        {
            return Err(differs());
        }
        match self.ruled(&now, arguments)? {
            Ruling::Refuse(text) => Err(Halt::Refused(Outcome::Policy, text)),
            Ruling::Ask(asks) if asks.requires_approval && !asked.requires_approval => {
                Err(differs())
            }
            Ruling::Allow | Ruling::Ask(_) => Ok(now),
        }
    }

    /// What the policy says of a call with these arguments, which the pinned schema allows.
    fn ruled(&self, ready: &Ready, arguments: &str) -> Result<Ruling, Halt> {
        let Ready { entry, accepted, .. } = ready;
        let id = &entry.id;
        let mode = self.roster.host.options.arguments;
        let value = accepted.schemas(mode).check_arguments(arguments, mode).map_err(|misfit| {
            let text = match misfit {
                Misfit::Value(what) => {
                    format!("{id} was not called: its arguments do not match its input schema: {what}")
                }
                Misfit::Schema(what) => format!(
                    "{id} is not called: its arguments are to be checked strictly, and its input schema cannot be \
                     checked: {what}"
                ),
            };
            Halt::Refused(Outcome::Arguments, text)
        })?;
        let table = self.roster.table();
        Ok(policy::rule(id, accepted.kind, &entry.policy, &table.tenant, &value))
    }

    /// The function that a call names. One that is not known may be one that its server lists since a moment ago, or will
    /// list when it has started: nobody is told that there is no such function on the strength of an old listing.
    async fn find(
        &self,
        called: Called<'_>,
        asked: Instant,
        watched: &mut Watched,
    ) -> Result<Arc<Entry>, Halt> {
        let table = self.roster.table();
        if let Some(entry) = table.called(called) {
            return Ok(Arc::clone(entry));
        }
        let limits = &self.roster.host.options.limits;
        if !table.complete {
            self.roster.settled(limits.patience).await;
        }
        let table = self.roster.table();
        if !table.complete {
            let mut why =
                "no function is called yet: this node has no plugin set from its edge".to_owned();
            if let Some(reason) = self.roster.lost_because() {
                why.extend([": ", &reason]);
            }
            return Err(Halt::internal(Outcome::CutOff, why));
        }
        let servers = table.servers_for(called);
        for server in servers.iter().filter(|server| !server.moved) {
            if let Ok(instance) = server.instance(limits.patience).await {
                // Why it fails is said below, to whom it concerns.
                let _ = instance.verified(asked, limits.listing).await;
            }
        }
        let table = self.roster.table();
        if let Some(entry) = table.called(called) {
            return Ok(Arc::clone(entry));
        }
        for server in servers {
            let id = match called {
                Called::Function(id) => id.clone(),
                Called::Name(name) => {
                    let function = name.get(server.tool.as_ref().len() + 2..).unwrap_or_default();
                    let Ok(id) = FunctionId::new(&server.tool, function) else { continue };
                    id
                }
            };
            watched.of_server(&server);
            let refuse = |why| Refusal {
                function: id.clone(),
                plugin: server.plugin.clone(),
                version: server.version.clone(),
                why,
            };
            match server.last() {
                Some(listed) if listed.left_out.contains(&ModelName::of(&id)) => {
                    return Err(refuse(Why::LeftOut).into());
                }
                Some(_) => {}
                // Whether its new place answers is not what it waits for.
                None if server.moved => return Err(refuse(Why::Moved).into()),
                None => {
                    return Err(refuse(server.trouble().unwrap_or(Why::Installing)).into());
                }
            }
        }
        Err(Halt::Unknown)
    }

    /// The accepted listing that the server lists now, or why there is none. The decisions are looked at after the
    /// listing: an approval that came while the call waited for it counts.
    async fn accepted(
        &self,
        entry: Arc<Entry>,
        listed: &Listed,
    ) -> Result<(Arc<Entry>, Arc<Accepted>), Halt> {
        let now = |table: &Table| table.function(&entry.id).cloned();
        let current = now(&self.roster.table()).unwrap_or_else(|| Arc::clone(&entry));
        if let Some(why) = current.barred() {
            return Err(current.refusal(why).into());
        }
        let Some(seen) = listed.functions.get(&current.id) else {
            if listed.left_out.contains(&ModelName::of(&current.id)) {
                return Err(current.refusal(Why::LeftOut).into());
            }
            return Err(if current.is_known() {
                current.refusal(Why::Gone).into()
            } else {
                Halt::Unknown
            });
        };
        let fit = |entry: &Arc<Entry>, hash: ListingHash| entry.accepted(hash).cloned();
        let found = match fit(&current, seen.hash) {
            Some(accepted) => Some((current.clone(), accepted)),
            None => {
                let word = self.word(&current.id, seen.hash, listed);
                let _ = tokio::time::timeout(WORD, word).await;
                now(&self.roster.table())
                    .and_then(|entry| fit(&entry, seen.hash).map(|accepted| (entry, accepted)))
            }
        };
        let Some((entry, accepted)) = found else {
            let said = listed.answered.borrow().clone();
            let verdict = match &said {
                Answered::Said(said) => said.get(&current.id),
                Answered::NotYet => None,
            };
            // The edge's word may be here before the decision that it goes with.
            let why = match verdict {
                _ if current.is_known() => Why::Changed,
                Some(Verdict::Waiting { kind: ChangeKind::New, .. }) => Why::New,
                Some(Verdict::Waiting { .. }) => Why::Changed,
                _ => Why::NoSnapshot,
            };
            return Err(current.refusal(why).into());
        };
        if let Some(why) = &seen.uncallable {
            return Err(entry.refusal(Why::Uncallable(why.clone())).into());
        }
        if !accepted.is_served() {
            return Err(entry.refusal(Why::Unserved).into());
        }
        Ok((entry, accepted))
    }

    /// Waits for the edge's word on a listing, and, where it is accepted, for the decision that says so.
    async fn word(&self, id: &FunctionId, hash: ListingHash, listed: &Listed) {
        let mut answered = listed.answered.subscribe();
        let accepted = match answered.wait_for(|answered| *answered != Answered::NotYet).await {
            Ok(answered) => match &*answered {
                Answered::Said(said) => said.get(id) == Some(&Verdict::Accepted),
                Answered::NotYet => false,
            },
            Err(_) => false,
        };
        if accepted {
            let mut tables = self.roster.tables();
            let _ = tables
                .wait_for(|table| {
                    table.function(id).is_some_and(|entry| entry.accepted(hash).is_some())
                })
                .await;
        }
    }
}
