//! One tool's server over its whole life: started, listed, watched, started again.

mod announce;
mod report;

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use oz0_api::node::Assignment;
use oz0_api::{Client as Edge, Endpoint, PluginName, PluginVersion};
use oz0_listing::{Digest, FunctionId, ToolId, escape};
use oz0_mcp::Era;
use oz0_server::{Running, StopBounds, Tier};
use tokio::sync::watch;

use self::report::News;
use crate::event::Event;
use crate::host::{Hindrance, Host, Started, said};
use crate::instance::{Instance, Pace};
use crate::listed::{Answered, Listed, Reported};
use crate::memory::Memory;
use crate::metrics::ServerMetrics;
use crate::refusal::Why;
use crate::roster::Roster;
use crate::told::{Told, kind_of};

/// Before a server that failed is started again: the first wait, and the longest.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// A server that lived so long failed for a new reason.
const LIVED: Duration = Duration::from_secs(10);
/// How long a call waits for a server that is about to be started again.
const CALLS_WAIT: Duration = Duration::from_secs(1);
/// Listings that wait to be told to an edge that does not answer.
const UNTOLD: usize = 8;
/// The longest reason that an edge takes, in characters.
const REASON: usize = 1000;

/// One tool's server.
pub(crate) struct Server {
    pub(crate) plugin: PluginName,
    pub(crate) version: PluginVersion,
    pub(crate) tool: ToolId,
    /// The version that goes on until this one can take its place.
    goes_on: Mutex<Option<PluginVersion>>,
    /// Its endpoint moved, so nothing of it is called.
    pub(crate) moved: bool,
    /// From there.
    moved_from: Option<Endpoint>,
    /// Its functions that wait for approval, as far as this node was told.
    waiting: Mutex<BTreeSet<FunctionId>>,
    digest: Digest,
    endpoint: Option<Endpoint>,
    phase: watch::Sender<Phase>,
    /// Its last complete listing on this node, also when it is gone.
    last: Mutex<Option<Arc<Listed>>>,
    era: Mutex<Option<Era>>,
    /// The tier it runs in, once it runs.
    tier: Mutex<Option<Tier>>,
    /// The last thing there was to tell the edge.
    news: watch::Sender<Option<News>>,
    /// What it is still to be told, the oldest first.
    untold: Mutex<VecDeque<News>>,
    /// The edge has forgotten what it was told.
    forgotten: AtomicBool,
    /// Its environment is being made.
    preparing: AtomicBool,
    /// What people were told of its failures.
    told: Mutex<Told>,
    roster: Weak<Roster>,
    /// What is counted of it.
    pub(crate) metrics: ServerMetrics,
}

/// How far it has come.
#[derive(Clone)]
enum Phase {
    Starting,
    Up(Arc<Instance>),
    /// `again` is when it is tried again, if ever.
    Down {
        again: Option<Instant>,
    },
    Stopped,
}

impl Server {
    pub(crate) fn new(
        assignment: &Assignment,
        tool: &ToolId,
        goes_on: Option<&PluginVersion>,
        roster: Weak<Roster>,
        metrics: ServerMetrics,
    ) -> Option<Self> {
        let description = assignment.description.as_ref()?;
        Some(Self {
            plugin: assignment.plugin.clone(),
            version: assignment.version.clone(),
            tool: tool.clone(),
            goes_on: Mutex::new(goes_on.cloned()),
            moved: assignment.moved.contains_key(tool),
            moved_from: assignment.moved.get(tool).cloned(),
            waiting: Mutex::default(),
            digest: description.digest,
            endpoint: description.tools.get(tool)?.endpoint().cloned(),
            phase: watch::Sender::new(Phase::Starting),
            last: Mutex::default(),
            era: Mutex::default(),
            tier: Mutex::default(),
            news: watch::Sender::new(None),
            untold: Mutex::default(),
            forgotten: AtomicBool::new(false),
            preparing: AtomicBool::new(false),
            told: Mutex::default(),
            roster,
            metrics,
        })
    }

    /// Takes over what `before`, the same tool's server of the same version, found out.
    pub(crate) fn succeed(&self, before: &Self) {
        *lock(&self.last) = before.last();
        *lock(&self.era) = *lock(&before.era);
        lock(&self.waiting).clone_from(&lock(&before.waiting));
    }

    /// That another version goes on because this one does not run.
    fn goes_on_instead(&self) -> Option<Event> {
        let goes_on = lock(&self.goes_on).clone()?;
        let (plugin, version) = (self.plugin.clone(), self.version.clone());
        Some(Event::GoesOn { plugin, version, goes_on })
    }

    /// Its version has taken the place of the one that went on.
    pub(crate) fn take_over(&self, memory: &Memory) {
        lock(&self.goes_on).take();
        if let Some(era) = *lock(&self.era) {
            memory.agree(&self.plugin, &self.version, &self.tool, era);
        }
    }

    /// The tier its process runs in, once it ran.
    pub(crate) fn tier(&self) -> Option<Tier> {
        lock(&self.tier).clone()
    }

    /// Whether it is being started for the first time.
    pub(crate) fn is_starting(&self) -> bool {
        self.tier().is_none() && matches!(*self.phase.borrow(), Phase::Starting)
    }

    /// Its last complete listing on this node.
    pub(crate) fn last(&self) -> Option<Arc<Listed>> {
        lock(&self.last).clone()
    }

    /// The connection that calls go over. Waits where it is being started, or soon will be.
    pub(crate) async fn instance(&self, patience: Duration) -> Result<Arc<Instance>, Why> {
        if let Phase::Up(instance) = &*self.phase.borrow()
            && instance.client.closed().is_none()
        {
            return Ok(Arc::clone(instance));
        }
        let mut phases = self.phase.subscribe();
        let wait = async {
            loop {
                match &*phases.borrow_and_update() {
                    Phase::Up(instance) if instance.client.closed().is_none() => {
                        return Ok(Arc::clone(instance));
                    }
                    Phase::Down { again }
                        if again.is_none_or(|again| {
                            again.saturating_duration_since(Instant::now()) > CALLS_WAIT
                        }) =>
                    {
                        return Err(Why::Down);
                    }
                    Phase::Stopped => return Err(Why::Installing),
                    _ => {}
                }
                if phases.changed().await.is_err() {
                    return Err(Why::Installing);
                }
            }
        };
        tokio::time::timeout(patience, wait).await.unwrap_or_else(|_| match self.last() {
            Some(_) => Err(Why::Down),
            None => Err(self.trouble().unwrap_or(Why::Installing)),
        })
    }

    /// Whether its environment is being made.
    pub(crate) fn is_preparing(&self) -> bool {
        self.preparing.load(Ordering::Acquire)
    }

    /// What keeps it from having listed anything.
    pub(crate) fn trouble(&self) -> Option<Why> {
        match (&*self.phase.borrow(), &*self.news.borrow()) {
            (Phase::Down { .. }, _) => Some(Why::Down),
            (Phase::Up(_), Some(News::Unlisted(_))) => Some(Why::NotListed),
            _ => None,
        }
    }

    /// Waits until it has listed, or failed to, and the edge has answered.
    pub(crate) async fn settled(&self) {
        let mut phases = self.phase.subscribe();
        loop {
            if self.last().is_some() {
                break;
            }
            match &*phases.borrow_and_update() {
                Phase::Down { .. } | Phase::Stopped => return,
                Phase::Starting | Phase::Up(_) => {}
            }
            tokio::select! {
                changed = phases.changed() => if changed.is_err() { return },
                // The listing is told of by the news, and they may have come before the phase.
                () = self.news_come() => {}
            }
        }
        if let Some(listed) = self.last() {
            let mut answered = listed.answered.subscribe();
            let _ = answered.wait_for(|answered| *answered != Answered::NotYet).await;
        }
    }

    async fn news_come(&self) {
        let mut news = self.news.subscribe();
        if news.borrow_and_update().is_some() && self.last().is_none() {
            // It failed to list: that is news too, and nothing better is coming soon.
            tokio::time::sleep(FIRST_WAIT).await;
            return;
        }
        let _ = news.changed().await;
    }

    /// A new listing.
    pub(crate) fn listed(&self, listed: &Arc<Listed>, reported: Reported) {
        let functions = listed.functions.len();
        let before = lock(&self.last).replace(Arc::clone(listed));
        lock(&self.told).unlisted = None;
        self.tell(News::Listed(Arc::clone(listed), Arc::new(reported)));
        if let Some(roster) = self.roster.upgrade() {
            roster.rebuild();
            if before.is_none() {
                let (tool, tier) = (self.tool.clone(), lock(&self.tier).clone());
                roster.tell(Event::Started { tool, functions, tier });
            }
        }
    }

    /// A listing that failed, and what the server wrote that may explain it: for people, and never for a model.
    pub(crate) fn unlisted(&self, reason: &str, traces: &str) {
        let whole = format!("{reason}{traces}");
        let whole: Arc<str> = match self.roster.upgrade() {
            Some(roster) => {
                let whole = roster.host.without_secrets(&self.plugin, &whole);
                escape::line_within(&whole, REASON).into()
            }
            None => return,
        };
        self.tell(News::Unlisted(Arc::clone(&whole)));
        let kind = Some(kind_of(&escape::line_within(reason, REASON)));
        if std::mem::replace(&mut lock(&self.told).unlisted, kind.clone()) == kind {
            return;
        }
        if let Some(roster) = self.roster.upgrade() {
            roster.tell(Event::NotListed { tool: self.tool.clone(), reason: whole.to_string() });
            if let Some(event) = self.goes_on_instead() {
                roster.tell(event);
            }
        }
    }

    /// Tells people, once, of what a server writes that is no message.
    pub(crate) fn tell_junk(&self, instance: &Instance) {
        if let Some(sample) = instance.untold_junk()
            && let Some(roster) = self.roster.upgrade()
        {
            let sample = roster.host.without_secrets(&self.plugin, &sample).into_owned();
            roster.tell(Event::Junk { tool: self.tool.clone(), sample });
        }
    }

    /// Has something for the edge. Each listing is told in its turn, also one that is over by then: that a server
    /// listed something else for a moment is what the edge is there to know.
    fn tell(&self, news: News) {
        let mut untold = lock(&self.untold);
        if untold.len() == UNTOLD {
            // The first may be under way, and the last is what holds.
            untold.remove(1);
        }
        untold.push_back(news.clone());
        drop(untold);
        self.news.send_replace(Some(news));
    }

    /// The edge has forgotten what it was told: it is told again.
    pub(crate) fn tell_again(&self) {
        self.forgotten.store(true, Ordering::Release);
        if let Phase::Up(instance) = &*self.phase.borrow() {
            instance.list_afresh();
        }
    }

    /// Lives until it is told to stop, and ends in order.
    pub(crate) async fn supervise(
        self: Arc<Self>,
        host: Arc<Host>,
        assignment: Arc<Assignment>,
        edge: Edge,
        mut stop: watch::Receiver<bool>,
    ) {
        tokio::select! {
            () = self.live(&host, &assignment, &edge, &mut stop) => {}
            () = self.report(&edge) => {}
        }
        self.phase.send_replace(Phase::Stopped);
    }

    async fn live(
        self: &Arc<Self>,
        host: &Arc<Host>,
        assignment: &Arc<Assignment>,
        edge: &Edge,
        stop: &mut watch::Receiver<bool>,
    ) {
        let mut wait = FIRST_WAIT;
        loop {
            self.phase.send_replace(Phase::Starting);
            let began = Instant::now();
            let started = tokio::select! {
                () = told(stop) => return,
                started = self.start(host, assignment, edge) => started,
            };
            let why = match started {
                Ok((instance, started)) => {
                    let up = self.metrics.runs();
                    let ended = self.attend(host, instance, started, stop).await;
                    drop(up);
                    let Some(why) = ended else { return };
                    self.metrics.ended.inc();
                    Hindrance::Passing(why)
                }
                Err(why) => {
                    self.metrics.not_started.inc();
                    why
                }
            };
            self.failed(host, &why);
            if matches!(why, Hindrance::Lasting(_)) {
                self.phase.send_replace(Phase::Down { again: None });
                return told(stop).await;
            }
            if began.elapsed() > LIVED {
                wait = FIRST_WAIT;
            }
            let again = Instant::now() + wait;
            self.say_again(wait);
            self.phase.send_replace(Phase::Down { again: Some(again) });
            tokio::select! {
                () = told(stop) => return,
                () = tokio::time::sleep_until(again.into()) => {}
            }
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    /// What happened, for the edge, and, where it is not what happened before, for people. A server that had listed
    /// keeps what it listed.
    fn failed(&self, host: &Host, why: &Hindrance) {
        let why = match why {
            Hindrance::Passing(reason) => {
                Hindrance::Passing(host.without_secrets(&self.plugin, reason).into_owned())
            }
            Hindrance::Lasting(reason) => {
                Hindrance::Lasting(host.without_secrets(&self.plugin, reason).into_owned())
            }
        };
        let reason: Arc<str> = escape::line_within(why.reason(), REASON).into();
        self.tell(News::Unlisted(reason));
        {
            let mut told = lock(&self.told);
            told.failures += 1;
            let kind = Some(kind_of(why.reason()));
            if std::mem::replace(&mut told.failed, kind.clone()) == kind {
                return;
            }
        }
        host.options.tell.event(Event::Failed {
            tool: self.tool.clone(),
            reason: why.reason().to_owned(),
            again: matches!(why, Hindrance::Passing(_)),
        });
        if let Some(event) = self.goes_on_instead() {
            host.options.tell.event(event);
        }
    }

    /// Never ends. A server that failed and has run for a while is said to run again.
    async fn recover(&self, host: &Host) {
        tokio::time::sleep(LIVED).await;
        let failures = {
            let mut told = lock(&self.told);
            told.failed = None;
            std::mem::take(&mut told.failures)
        };
        if failures > 0 {
            host.options.tell.event(Event::Recovered { tool: self.tool.clone(), failures });
        }
        std::future::pending::<()>().await;
    }

    async fn start(
        self: &Arc<Self>,
        host: &Arc<Host>,
        assignment: &Arc<Assignment>,
        edge: &Edge,
    ) -> Result<(Arc<Instance>, Started), Hindrance> {
        self.preparing.store(true, Ordering::Release);
        let recipe = host.prepare(assignment, &self.tool, edge).await;
        self.preparing.store(false, Ordering::Release);
        let recipe = recipe?;
        let era = *lock(&self.era);
        let era = era.or_else(|| host.memory.era(&self.plugin, &self.version, &self.tool));
        let started = host.start(&recipe, era).await.map_err(|why| match &recipe.unshared {
            Some(unshared) => format!("{unshared}; {why}"),
            None => why,
        })?;
        let era = started.client.era();
        *lock(&self.era) = Some(era);
        host.memory.agree(&self.plugin, &self.version, &self.tool, era);
        *lock(&self.tier) = started.running.as_ref().map(|running| running.tier().clone());
        if let Some(what) = &recipe.unshared
            && matches!(*lock(&self.tier), Some(Tier::One))
            && !std::mem::replace(&mut lock(&self.told).unshared, true)
        {
            host.options
                .tell
                .event(Event::Unshared { tool: self.tool.clone(), what: what.clone() });
        }
        let options = &host.options;
        let pace = Pace {
            verify_every: match started.running {
                Some(_) => options.verify_every.process,
                None => options.verify_every.remote,
            },
            idle: options.idle,
            in_flight: options.limits.in_flight,
            counted: self.metrics.in_flight.clone(),
        };
        let stderr = started.running.as_ref().map(|running| running.stderr().clone());
        let instance = Arc::new(Instance::new(started.client.clone(), recipe, stderr, &pace));
        Ok((instance, started))
    }

    /// Attends a server until it ends, and says how it ended; `None` when it was told to stop and did.
    async fn attend(
        &self,
        host: &Host,
        instance: Arc<Instance>,
        started: Started,
        stop: &mut watch::Receiver<bool>,
    ) -> Option<String> {
        let Started { client, requests, running } = started;
        let events = client.events();
        drop(client);
        self.phase.send_replace(Phase::Up(Arc::clone(&instance)));
        let ended = async {
            match &running {
                Some(running) => Some(running.wait().await),
                None => std::future::pending().await,
            }
        };
        let over = tokio::select! {
            () = told(stop) => None,
            () = instance.follow(events) => Some(None),
            ended = ended => Some(ended),
            () = instance.keep_listed(self) => Some(None),
            () = instance.answer_requests(requests) => Some(None),
            () = instance.subscribe() => Some(None),
            () = self.recover(host) => Some(None),
        };
        self.tell_junk(&instance);
        let Some(ended) = over else {
            self.phase.send_replace(Phase::Starting);
            self.retire(host, &instance, running).await;
            return None;
        };
        let closed = instance.client.closed().map(|closed| closed.to_string());
        let stderr = running.as_ref().map(|running| running.stderr().clone());
        let ended = match (ended, running) {
            (None, Some(running)) => Some(running.stop(StopBounds::default()).await),
            (ended, _) => ended,
        };
        let mut why = match ended {
            Some(ended) => format!("its process ended with {ended}"),
            // One that is still open is given up here.
            None => match closed {
                Some(closed) => closed,
                None => {
                    instance.client.clone().close().await;
                    "it lists nothing over this connection any more".to_owned()
                }
            },
        };
        if let Some(stderr) = stderr {
            let _ = tokio::time::timeout(FIRST_WAIT, stderr.ended()).await;
            why.push_str(&said(&stderr.last_lines(5)));
        }
        instance.end(&why);
        Some(why)
    }

    /// Lets calls in flight end, then the server.
    async fn retire(&self, host: &Host, instance: &Instance, running: Option<Running>) {
        let _ = tokio::time::timeout(host.options.limits.drain, instance.drained()).await;
        instance.client.clone().close().await;
        if let Some(running) = running {
            running.stop(StopBounds::default()).await;
        }
        instance.end("it was stopped");
    }
}

async fn told(stop: &mut watch::Receiver<bool>) {
    // Nobody is left who could want it to live, either.
    let _ = stop.wait_for(|stop| *stop).await;
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
