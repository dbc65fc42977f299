//! The gateway: what a call goes through, from its client's name for a function to the server's answer.
//!
//! In order: the function behind the name, the server's connection, a listing that is young enough, that listing
//! against what is accepted, the arguments against the pinned schema, a free place, the call, its result against the
//! pinned schema. Parameters and result stay the text that they came as; what changes in them are the name and the
//! progress token, by splices.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use oz0_api::call::JobResult;
use oz0_api::change::ChangeKind;
use oz0_api::node::{Job, Verdict};
use oz0_api::{Code, Problem};
use oz0_listing::{FunctionId, ListingHash, ModelName, escape};
use oz0_mcp::server::{self, Call, CallParams, Denied, Functions, Principal};
use oz0_mcp::{Era, Fault, RpcError};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::watch;

use crate::answer;
use crate::clients::Clients;
use crate::event::Event;
use crate::instance::Instance;
use crate::listed::{Answered, Listed};
use crate::options::Validate;
use crate::question;
use crate::refusal::{Refusal, Why};
use crate::roster::Roster;
use crate::schema::Misfit;
use crate::server::Server;
use crate::table::{Accepted, Entry, Table};

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

/// Why there is no result of a server.
enum Halt {
    /// Nobody here has such a function.
    Unknown,
    /// Said to the model, as a result.
    Refused(String),
    /// An error of the protocol.
    Error(RpcError),
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal.to_string())
    }
}

impl From<RpcError> for Halt {
    fn from(error: RpcError) -> Self {
        Self::Error(error)
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
        match self.forward(called, call.params(), Some(&call)).await {
            Ok(result) => Ok(result),
            Err(Halt::Refused(text)) => Ok(answer::refused(&text)),
            Err(Halt::Error(error)) => Err(error),
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
        let limit = Duration::from_millis(job.timeout_ms);
        let name = serde_json::Value::from(job.function.function());
        let text = format!(r#"{{"name":{name},"arguments":{}}}"#, job.arguments.get());
        let ran = async {
            let params = CallParams::read(&text, Era::Legacy)?;
            self.forward(Called::Function(&job.function), &params, None).await
        };
        let result = match tokio::time::timeout(limit, ran).await {
            Ok(Ok(result)) => JobResult::Result(match server::without_ours(result.get()) {
                Cow::Borrowed(_) => result,
                Cow::Owned(text) => RawValue::from_string(text).expect("splices of JSON are JSON"),
            }),
            Ok(Err(Halt::Refused(text))) => JobResult::Result(answer::refused(&text)),
            Ok(Err(Halt::Error(error))) => JobResult::Problem(problem(&job.function, &error)),
            Ok(Err(Halt::Unknown)) => {
                let what = format!("no plugin here has a function {}", job.function);
                JobResult::Problem(
                    Problem::new(Code::NotFound, what)
                        .hint("`oz0 catalog` shows what can be called"),
                )
            }
            // Whoever asked has given up, and the edge has said so.
            Err(_) => return,
        };
        // An edge that is lost, or to which it came too late, has said so to whoever asked.
        let _ = self.roster.edge().answer(&job.id, &result).await;
    }

    async fn forward(
        &self,
        called: Called<'_>,
        params: &CallParams,
        call: Option<&Call>,
    ) -> Result<Box<RawValue>, Halt> {
        let options = &self.roster.host.options;
        let limits = &options.limits;
        let asked = Instant::now();
        let entry = self.find(called, asked).await?;
        if let Some(why) = self.roster.cut_off() {
            return Err(entry.refusal(why).into());
        }
        if let Some(why) = entry.barred() {
            return Err(entry.refusal(why).into());
        }
        let instance =
            entry.server.instance(limits.patience).await.map_err(|why| entry.refusal(why))?;
        let listed = instance
            .verified(asked, limits.listing)
            .await
            .map_err(|_| entry.refusal(Why::NotListed))?;
        let (entry, accepted) = self.accepted(entry, &listed).await?;
        let id = &entry.id;

        if params.text().len() > limits.request {
            let why = format!("{id} is called with parameters above {} bytes", limits.request);
            return Err(RpcError::new(answer::INVALID_PARAMS, why).into());
        }
        let schemas = accepted.schemas(options.arguments);
        schemas
            .check_arguments(params.arguments().unwrap_or("{}"), options.arguments)
            .map_err(|misfit| match misfit {
                Misfit::Value(what) => Halt::Refused(format!(
                    "{id} was not called: its arguments do not match its input schema: {what}"
                )),
                Misfit::Schema(what) => Halt::Refused(format!(
                    "{id} is not called: its arguments are to be checked strictly, and its input schema cannot be \
                     checked: {what}"
                )),
            })?;

        let slot = instance.slot(id, call).ok_or_else(|| answer::busy(id, limits.in_flight))?;
        let mut forward = params.forward().name(id.function());
        if params.progress_token().is_some() {
            forward = forward.progress_token(slot.token);
        }
        if let Some(level) = call.and_then(Call::log_level)
            && instance.client.era() == Era::Modern
        {
            forward = forward.log_level(level);
        }
        let forwarded = forward.build();
        let result = instance
            .client
            .request_within("tools/call", &forwarded, limits.call)
            .await
            .map_err(|error| {
                if !matches!(error.fault, Fault::Answered(_)) {
                    let reason = escape::line_within(&error.fault.to_string(), REASON).into_owned();
                    self.roster.tell(Event::CallFailed { function: id.clone(), reason });
                }
                answer::failed(id, error)
            })?;
        drop(slot);
        self.passed(&entry, &accepted, &instance, result)
    }

    /// The function that a call names. One that is not known may be one that its server lists since a moment ago, or will
    /// list when it has started: nobody is told that there is no such function on the strength of an old listing.
    async fn find(&self, called: Called<'_>, asked: Instant) -> Result<Arc<Entry>, Halt> {
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
            return Err(answer::internal(why).into());
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

    /// A server's result, as far as it is passed on.
    fn passed(
        &self,
        entry: &Entry,
        accepted: &Accepted,
        instance: &Instance,
        result: Box<RawValue>,
    ) -> Result<Box<RawValue>, Halt> {
        let options = &self.roster.host.options;
        let id = &entry.id;
        if result.get().len() > options.limits.result {
            let limit = options.limits.result;
            return Err(
                answer::internal(format!("the result of {id} is above {limit} bytes")).into()
            );
        }
        if !result.get().starts_with('{') {
            return Err(answer::internal(format!("the result of {id} is not an object")).into());
        }
        let schemas = accepted.schemas(options.arguments);
        if options.validate != Validate::Off && schemas.has_output() {
            #[derive(Deserialize)]
            struct Parts<'a> {
                #[serde(borrow, rename = "structuredContent", default)]
                content: Option<&'a RawValue>,
                #[serde(rename = "isError", default)]
                is_error: bool,
                #[serde(rename = "resultType", default)]
                kind: Option<String>,
            }
            let checked = match serde_json::from_str::<Parts<'_>>(result.get()) {
                // What failed has no structure to keep, and what asks is no result yet.
                Ok(parts) if parts.is_error => Ok(()),
                Ok(Parts { kind: Some(kind), .. }) if kind != "complete" => Ok(()),
                Ok(parts) => schemas.check_result(parts.content.map(RawValue::get)),
                Err(error) => Err(error.to_string()),
            };
            if let Err(reason) = checked {
                if options.validate == Validate::Refuse {
                    return Err(answer::internal(format!(
                        "the result of {id} does not match its output schema, so it is not passed on: {reason}"
                    ))
                    .into());
                }
                self.roster.tell(Event::ResultMismatch { function: id.clone(), reason });
            }
        }
        question::presented_in(id, result, instance.recipe.sampling)
            .map_err(|why| answer::internal(format!("{id} asks for what it may not: {why}")).into())
    }
}

impl Table {
    fn called(&self, called: Called<'_>) -> Option<&Arc<Entry>> {
        match called {
            Called::Name(name) => self.named(name),
            Called::Function(id) => self.function(id),
        }
    }

    /// The servers that may yet list the function.
    fn servers_for(&self, called: Called<'_>) -> Vec<Arc<Server>> {
        let may = |server: &&Arc<Server>| match called {
            Called::Name(name) => {
                name.strip_prefix(server.tool.as_ref()).is_some_and(|rest| rest.starts_with("__"))
            }
            Called::Function(id) => server.tool == id.tool(),
        };
        self.servers().iter().filter(may).cloned().collect()
    }
}

fn problem(function: &FunctionId, error: &RpcError) -> Problem {
    let code = match error.code {
        answer::INVALID_PARAMS => Code::Malformed,
        server::BUSY => Code::Unavailable,
        _ => Code::Internal,
    };
    let said = oz0_listing::escape::text(&error.message);
    Problem::new(code, format!("{function}: {said}"))
}
