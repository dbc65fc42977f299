//! One connection to one server: its listings, its calls in flight, and what it says in between.
//!
//! All listings of an instance are made by one future ([`Instance::keep_listed`]), whoever wants one: the idle timer,
//! a change that the server told of, or a call that needs a younger one. So any number of calls share the listing that
//! they wait for, one that is given up spoils nothing for the others, and what is compared is one value in one place.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use oz0_listing::FunctionId;
use oz0_mcp::server::{Call, Progress};
use oz0_mcp::{Client, Era, Event, Events, Notification, RawListing, RpcError, ServerRequest};
use oz0_server::Stderr;
use prometheus_client::metrics::gauge::Gauge;
use serde_json::value::RawValue;
use tokio::sync::{Notify, Semaphore, SemaphorePermit, mpsc, watch};

use crate::host::{Recipe, said};
use crate::listed::{Listed, Reader};
use crate::question;
use crate::refusal::Unconnected;
use crate::server::Server;

/// Before what a server wrote that is no message.
pub(crate) const JUNK: &str = "; meanwhile it wrote ";
/// Between two listings that nobody waits for, however often a server says that it changed.
const BREATH: Duration = Duration::from_millis(50);
/// How many lines of the end of a server's stderr stand beside a listing that failed.
const STDERR_LINES: usize = 5;
/// Listings in a row that a remote server refuses before the connection to it is opened anew.
const REFUSALS: u32 = 3;
/// How long a subscription to a modern server's changes may last before it is asked for again.
const SUBSCRIPTION: Duration = Duration::from_hours(24);
/// Between two subscriptions.
const RESUBSCRIBE: Duration = Duration::from_secs(5);

/// What was last found out about a listing.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// When it was asked for.
    began: Instant,
    /// How many changes the server had told of by then.
    seen: u64,
    /// The listing; the error is for people.
    outcome: Result<Arc<Listed>, Arc<str>>,
}

/// A connection to a server.
pub(crate) struct Instance {
    pub(crate) client: Client,
    pub(crate) recipe: Recipe,
    /// What its process says on stderr; none of a remote one.
    stderr: Option<Stderr>,
    /// Whether what it writes that is no message was told of.
    junk_told: AtomicBool,
    verify_every: Duration,
    idle: Duration,
    view: watch::Sender<Option<View>>,
    /// How many changes the server told of.
    told: AtomicU64,
    /// When somebody last needed a younger listing.
    wanted_at: Mutex<Option<Instant>>,
    wanted: Notify,
    /// The next listing is read and reported whether or not it is the last one's bytes.
    afresh: AtomicBool,
    slots: Semaphore,
    in_flight: Gauge,
    calls: Mutex<Calls>,
    idle_again: Notify,
}

#[derive(Default)]
struct Calls {
    last: u64,
    running: HashMap<u64, InFlight>,
}

struct InFlight {
    function: FunctionId,
    /// The way back to its client; none for a job.
    call: Option<Call>,
    progress: Option<Progress>,
}

/// Why there is no listing.
struct Unlisted {
    reason: String,
    /// Whether the server itself said no.
    refused: bool,
}

/// A call that is in flight while this lives.
pub(crate) struct Slot<'a> {
    instance: &'a Instance,
    /// The token that its progress is told under.
    pub(crate) token: u64,
    _permit: SemaphorePermit<'a>,
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.instance.in_flight.dec();
        let mut calls = self.instance.calls();
        calls.running.remove(&self.token);
        if calls.running.is_empty() {
            self.instance.idle_again.notify_waiters();
        }
    }
}

/// How an instance is kept.
pub(crate) struct Pace {
    pub(crate) verify_every: Duration,
    pub(crate) idle: Duration,
    pub(crate) in_flight: usize,
    /// Where calls in flight are counted.
    pub(crate) counted: Gauge,
}

impl Instance {
    pub(crate) fn new(client: Client, recipe: Recipe, stderr: Option<Stderr>, pace: &Pace) -> Self {
        Self {
            client,
            recipe,
            stderr,
            junk_told: AtomicBool::new(false),
            verify_every: pace.verify_every,
            idle: pace.idle,
            view: watch::Sender::new(None),
            told: AtomicU64::new(0),
            wanted_at: Mutex::new(None),
            wanted: Notify::new(),
            afresh: AtomicBool::new(false),
            slots: Semaphore::new(pace.in_flight),
            in_flight: pace.counted.clone(),
            calls: Mutex::default(),
            idle_again: Notify::new(),
        }
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The listing that a call which came at `asked` may rely on. Waits for one, at most for `patience`, where the
    /// last is too old, failed, or the server has told of a change since.
    pub(crate) async fn verified(
        &self,
        asked: Instant,
        patience: Duration,
    ) -> Result<Arc<Listed>, Arc<str>> {
        if let Some(view) = &*self.view.borrow()
            && let Ok(listed) = &view.outcome
            && view.seen == self.told.load(Ordering::Acquire)
            && asked.saturating_duration_since(view.began) <= self.verify_every
        {
            return Ok(Arc::clone(listed));
        }
        self.younger(asked, patience).await
    }

    async fn younger(&self, asked: Instant, patience: Duration) -> Result<Arc<Listed>, Arc<str>> {
        let mut views = self.view.subscribe();
        let wait = async {
            loop {
                if let Some(view) = &*views.borrow_and_update()
                    && view.began >= asked
                    && view.seen == self.told.load(Ordering::Acquire)
                {
                    return view.outcome.clone();
                }
                self.want(asked);
                if views.changed().await.is_err() {
                    return Err("it is gone".into());
                }
            }
        };
        match tokio::time::timeout(patience, wait).await {
            Ok(outcome) => outcome,
            Err(_) => {
                Err(format!("it did not list itself within {} s", patience.as_secs_f64()).into())
            }
        }
    }

    fn want(&self, asked: Instant) {
        let mut wanted = self.wanted_at.lock().unwrap_or_else(PoisonError::into_inner);
        *wanted = Some(wanted.map_or(asked, |before| before.max(asked)));
        drop(wanted);
        self.wanted.notify_one();
    }

    /// Lists anew, and reports whatever comes.
    pub(crate) fn list_afresh(&self) {
        self.afresh.store(true, Ordering::Release);
        self.want(Instant::now());
    }

    /// Whether somebody waits for a listing younger than the one that began then.
    fn is_wanted(&self, began: Instant) -> bool {
        let wanted = *self.wanted_at.lock().unwrap_or_else(PoisonError::into_inner);
        wanted.is_some_and(|wanted| began < wanted)
    }

    /// Whether nobody waits for another listing, and the server has not told of a change since the last.
    fn settled(&self) -> bool {
        let view = self.view.borrow();
        view.as_ref().is_some_and(|view| {
            view.seen == self.told.load(Ordering::Acquire) && !self.is_wanted(view.began)
        })
    }

    /// Nothing can be found out here any more.
    pub(crate) fn end(&self, why: &str) {
        let (began, seen) = (Instant::now(), self.told.load(Ordering::Acquire));
        self.view.send_replace(Some(View { began, seen, outcome: Err(why.into()) }));
    }

    /// The first of what it wrote that is no message, where nobody was told of any.
    pub(crate) fn untold_junk(&self) -> Option<String> {
        let first = self.client.junk().sample.into_iter().next()?;
        (!self.junk_told.swap(true, Ordering::AcqRel)).then_some(first)
    }

    /// What may explain a listing that failed: what the server wrote meanwhile that is no message, and the end of its
    /// stderr.
    fn traces(&self, junk_before: u64) -> String {
        let junk = self.client.junk();
        let mut traces = String::new();
        if let Some(first) = junk.sample.first()
            && junk.lines > junk_before
        {
            self.junk_told.store(true, Ordering::Release);
            let lines = junk.lines - junk_before;
            let s = if lines == 1 { "" } else { "s" };
            traces = format!(
                "{JUNK}{lines} line{s} to its standard output that are no message: {first}"
            );
        }
        if let Some(stderr) = &self.stderr {
            traces.push_str(&said(&stderr.last_lines(STDERR_LINES)));
        }
        traces
    }

    /// Takes a place for a call; `None` where all are taken.
    pub(crate) fn slot(&self, function: &FunctionId, call: Option<&Call>) -> Option<Slot<'_>> {
        let permit = self.slots.try_acquire().ok()?;
        let progress = call.and_then(Call::progress);
        let mut calls = self.calls();
        calls.last += 1;
        let token = calls.last;
        let in_flight = InFlight { function: function.clone(), call: call.cloned(), progress };
        calls.running.insert(token, in_flight);
        drop(calls);
        self.in_flight.inc();
        Some(Slot { instance: self, token, _permit: permit })
    }

    /// Waits until no call is in flight.
    pub(crate) async fn drained(&self) {
        loop {
            let idle = self.idle_again.notified();
            if self.calls().running.is_empty() {
                return;
            }
            idle.await;
        }
    }

    /// Whether its server is no process of this node's.
    fn is_remote(&self) -> bool {
        self.stderr.is_none()
    }

    /// Lists, as the account that the server is for.
    async fn list(&self) -> Result<RawListing, Unlisted> {
        if let Some(bearer) = &self.recipe.bearer {
            let told = |what: Unconnected| what.told(&bearer.plugin, &bearer.connection);
            bearer
                .refresh()
                .await
                .map_err(|what| Unlisted { reason: told(what), refused: false })?;
        }
        self.client
            .list_functions()
            .await
            .map_err(|error| Unlisted { reason: error.to_string(), refused: error.is_refusal() })
    }

    /// Keeps the listing: at once, then whenever somebody needs a younger one, the server tells of a change, or nothing was
    /// listed for a while. It does so for ever, but for a remote server that refuses again and again: nobody sees it start
    /// anew as one sees a process, so the connection is opened again, as if it were another.
    pub(crate) async fn keep_listed(&self, server: &Server) {
        let mut reader = Reader::default();
        let mut refusals = 0;
        loop {
            let began = Instant::now();
            let seen = self.told.load(Ordering::Acquire);
            let afresh = self.afresh.swap(false, Ordering::AcqRel);
            let junk_before = self.client.junk().lines;
            let answered = self.list().await;
            server.metrics.listing.observe(began.elapsed().as_secs_f64());
            let outcome = match answered {
                Ok(new) => {
                    refusals = 0;
                    let unstable = &self.recipe.unstable;
                    let (listed, reported) = reader.read(&server.tool, new, unstable, afresh);
                    if let Some(reported) = reported {
                        server.listed(&listed, reported);
                    }
                    Ok(listed)
                }
                Err(error) => {
                    // The edge hears of the failure, and so must hear of what comes next.
                    self.afresh.store(true, Ordering::Release);
                    server.metrics.unlisted.inc();
                    let Unlisted { reason, refused } = error;
                    refusals = if refused { refusals + 1 } else { 0 };
                    server.unlisted(&reason, &self.traces(junk_before));
                    Err(reason.into())
                }
            };
            server.tell_junk(self);
            self.view.send_replace(Some(View { began, seen, outcome }));
            if refusals == REFUSALS && self.is_remote() {
                return;
            }
            let idle = tokio::time::sleep_until((began + self.idle).into());
            tokio::pin!(idle);
            while self.settled() {
                tokio::select! {
                    () = self.wanted.notified() => {}
                    () = &mut idle => break,
                }
            }
            // A server that says all the time that it changed is not listed all the time, unless somebody calls it.
            let breath = tokio::time::sleep_until((began + BREATH).into());
            tokio::pin!(breath);
            while !self.is_wanted(began) {
                tokio::select! {
                    () = self.wanted.notified() => {}
                    () = &mut breath => break,
                }
            }
        }
    }

    /// Follows what the server tells, until the connection is over.
    pub(crate) async fn follow(&self, mut events: Events) {
        while let Some(event) = events.next().await {
            match event {
                Event::Notification(notification) => self.told(&notification),
                // Whatever a notification can mean may have happened.
                _ => self.changed(),
            }
        }
    }

    fn told(&self, notification: &Notification) {
        let params = notification.params.as_deref();
        match (notification.method.as_str(), params) {
            ("notifications/tools/list_changed", _) => self.changed(),
            ("notifications/progress", Some(params)) => {
                let progress = progress_token(params).and_then(|token| {
                    self.calls().running.get(&token).and_then(|call| call.progress.clone())
                });
                if let Some(progress) = progress {
                    progress.forward(params);
                }
            }
            ("notifications/message", Some(params)) => {
                if let Some((_, call)) = self.only_call() {
                    call.log(params);
                }
            }
            _ => {}
        }
    }

    fn changed(&self) {
        self.told.fetch_add(1, Ordering::AcqRel);
        self.wanted.notify_one();
    }

    /// The one client's call that is in flight; none where there are more, or it is nobody's that can be asked.
    fn only_call(&self) -> Option<(FunctionId, Call)> {
        let calls = self.calls();
        let mut running = calls.running.values();
        match (running.next(), running.next()) {
            (Some(InFlight { function, call: Some(call), .. }), None) => {
                Some((function.clone(), call.clone()))
            }
            _ => None,
        }
    }

    /// Hands the server's own requests to the client of the one call that they can belong to.
    pub(crate) async fn answer_requests(&self, mut requests: mpsc::Receiver<ServerRequest>) {
        while let Some(request) = requests.recv().await {
            // One that is dropped is answered as if nobody were there.
            let Some((function, call)) = self.only_call() else { continue };
            let sampling = self.recipe.sampling;
            tokio::spawn(async move {
                let params = request.params.as_deref();
                match question::presented(&function, &request.method, params, sampling) {
                    Ok(params) => {
                        let method = request.method.clone();
                        let answer = call.asker().ask(&method, Some(&params)).await;
                        let answer = answer.map_err(|error| RpcError::new(-1, error.to_string()));
                        request.answer(&answer);
                    }
                    Err(why) => request.answer(&Err(RpcError::new(-32601, why))),
                }
            });
        }
        std::future::pending::<()>().await;
    }

    /// Asks a modern server to tell of changes, which it does for nobody who has not asked.
    pub(crate) async fn subscribe(&self) {
        if self.client.era() == Era::Legacy {
            return std::future::pending().await;
        }
        let params =
            RawValue::from_string(r#"{"notifications":{"toolsListChanged":true}}"#.to_owned())
                .expect("the text is JSON");
        loop {
            let began = Instant::now();
            let told =
                self.client.request_within("subscriptions/listen", &params, SUBSCRIPTION).await;
            if told.is_err() && began.elapsed() < RESUBSCRIBE {
                // It does not have this. Listings by time go on.
                return std::future::pending().await;
            }
            tokio::time::sleep(RESUBSCRIBE).await;
            // What happened in between was told to nobody.
            self.changed();
        }
    }
}

fn progress_token(params: &RawValue) -> Option<u64> {
    #[derive(serde::Deserialize)]
    struct Token {
        #[serde(rename = "progressToken")]
        token: u64,
    }
    serde_json::from_str::<Token>(params.get()).ok().map(|params| params.token)
}
