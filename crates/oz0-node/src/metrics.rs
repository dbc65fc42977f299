//! What a node counts.
//!
//! Labels are plugins, their tools, the functions that somebody accepted, and outcomes that are listed here. What a client
//! names and what a server lists of itself are no labels: either could make as many as it likes. Each is looked up when a
//! function or a server comes to be, so that a call does nothing but add to numbers that it has at hand. They are listed in
//! `docs/reference/metrics.md`.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use oz0_api::{PluginName, Revision};
use oz0_listing::{FunctionId, ToolId};
use oz0_telemetry::metrics::{SECONDS, SHORT, Source};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::outcome::Outcome;

type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

/// Everything that a node counts.
pub(crate) struct Metrics {
    registry: Registry,
    calls: Family<CallLabels, Counter>,
    operations: Histograms<OperationLabels>,
    added: Histograms<PluginLabels>,
    requests: Histograms<RequestLabels>,
    in_flight: Family<ToolLabels, Gauge>,
    starts: Family<StartLabels, Counter>,
    ends: Family<ToolLabels, Counter>,
    up: Family<ToolLabels, Gauge>,
    unlisted: Family<ToolLabels, Counter>,
    polls: Family<PollLabels, Counter>,
    /// Calls that wait for a person now.
    pub(crate) waiting: Gauge,
    edge_up: Gauge,
    edge_answered: Gauge,
    revision: Gauge,
    denied: Family<DeniedLabels, Counter>,
    /// Calls of what is no function here.
    pub(crate) unknown: Arc<FunctionCalls>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CallLabels {
    plugin: String,
    function: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct PluginLabels {
    plugin: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OperationLabels {
    mcp_method_name: &'static str,
    plugin: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    mcp_method_name: &'static str,
    plugin: String,
    tool: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ToolLabels {
    plugin: String,
    tool: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct StartLabels {
    plugin: String,
    tool: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct PollLabels {
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct DeniedLabels {
    why: &'static str,
}

/// The calls of one function, by outcome.
pub(crate) struct FunctionCalls {
    family: Family<CallLabels, Counter>,
    plugin: String,
    function: String,
    counters: [OnceLock<Counter>; Outcome::ALL.len()],
}

impl FunctionCalls {
    fn new(family: &Family<CallLabels, Counter>, plugin: &str, function: &str) -> Arc<Self> {
        Arc::new(Self {
            family: family.clone(),
            plugin: plugin.to_owned(),
            function: function.to_owned(),
            counters: [const { OnceLock::new() }; Outcome::ALL.len()],
        })
    }

    /// One more ended so. What never happened is not there to be read.
    pub(crate) fn count(&self, outcome: Outcome) {
        let counter = self.counters[outcome as usize].get_or_init(|| {
            self.family.get_or_create_owned(&CallLabels {
                plugin: self.plugin.clone(),
                function: self.function.clone(),
                outcome: outcome.name(),
            })
        });
        counter.inc();
    }
}

/// What is counted of one tool's server.
pub(crate) struct ServerMetrics {
    /// Calls of its functions that nobody accepted.
    pub(crate) unaccepted: Arc<FunctionCalls>,
    /// A call, from when it came to its answer.
    pub(crate) operation: Histogram,
    /// What of that was neither the server's time, nor a hook's, nor a person's.
    pub(crate) added: Histogram,
    /// What the server took for a call.
    pub(crate) call: Histogram,
    /// What it took for a listing, all pages.
    pub(crate) listing: Histogram,
    /// Its calls in flight.
    pub(crate) in_flight: Gauge,
    /// It was started and opened.
    started: Counter,
    /// It could not be.
    pub(crate) not_started: Counter,
    /// It ran, and ended without being told to.
    pub(crate) ended: Counter,
    /// It runs.
    up: Gauge,
    /// A listing failed.
    pub(crate) unlisted: Counter,
}

impl ServerMetrics {
    /// It was started, and runs until what is given is dropped.
    pub(crate) fn runs(&self) -> Up {
        self.started.inc();
        self.up.set(1);
        Up(self.up.clone())
    }
}

/// A server that runs, for as long as it does.
pub(crate) struct Up(Gauge);

impl Drop for Up {
    fn drop(&mut self) {
        self.0.set(0);
    }
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let seconds = || Histogram::new(SECONDS);
        let short = || Histogram::new(SHORT);
        let mut registry = Registry::default();
        let calls = Family::<CallLabels, Counter>::default();
        let operations: Histograms<OperationLabels> = Family::new_with_constructor(seconds);
        let requests: Histograms<RequestLabels> = Family::new_with_constructor(seconds);
        let added: Histograms<PluginLabels> = Family::new_with_constructor(short);
        registry.register_with_unit(
            "mcp_server_operation_duration",
            "Calls as clients see them, with what waited for a person",
            Unit::Seconds,
            operations.clone(),
        );
        registry.register_with_unit(
            "mcp_client_operation_duration",
            "Calls and listings as plugins' servers answer them",
            Unit::Seconds,
            requests.clone(),
        );
        let node = registry.sub_registry_with_prefix("oz0_node");
        node.register("calls", "Calls that ended, by how", calls.clone());
        node.register_with_unit(
            "call_added",
            "What a call took beside its server, hooks and people",
            Unit::Seconds,
            added.clone(),
        );
        let in_flight = Family::<ToolLabels, Gauge>::default();
        node.register("calls_in_flight", "Calls that a server is at", in_flight.clone());
        let waiting = Gauge::default();
        node.register("approvals_waiting", "Calls that wait for a person", waiting.clone());
        let starts = Family::<StartLabels, Counter>::default();
        node.register("server_starts", "Starts of plugins' servers", starts.clone());
        let ends = Family::<ToolLabels, Counter>::default();
        node.register("server_ends", "Servers that ended without being told to", ends.clone());
        let up = Family::<ToolLabels, Gauge>::default();
        node.register("server_up", "Whether a plugin's server runs", up.clone());
        let unlisted = Family::<ToolLabels, Counter>::default();
        node.register("listings_failed", "Listings that could not be read", unlisted.clone());
        let polls = Family::<PollLabels, Counter>::default();
        node.register("polls", "Polls of the edge, by how they ended", polls.clone());
        let edge_up = Gauge::default();
        node.register("edge_up", "Whether the edge answered the last poll", edge_up.clone());
        let edge_answered = Gauge::default();
        node.register_with_unit(
            "edge_answered_timestamp",
            "When the edge last answered, since 1970",
            Unit::Seconds,
            edge_answered.clone(),
        );
        let revision = Gauge::default();
        node.register("revision", "The edge's revision that this node holds", revision.clone());
        let denied = Family::<DeniedLabels, Counter>::default();
        node.register(
            "clients_denied",
            "Requests of MCP clients that were not let in",
            denied.clone(),
        );
        let unknown = FunctionCalls::new(&calls, "", "");
        Self {
            registry,
            calls,
            operations,
            added,
            requests,
            in_flight,
            starts,
            ends,
            up,
            unlisted,
            polls,
            waiting,
            edge_up,
            edge_answered,
            revision,
            denied,
            unknown,
        }
    }

    /// The numbers of a function that somebody accepted.
    pub(crate) fn function(&self, plugin: &PluginName, id: &FunctionId) -> Arc<FunctionCalls> {
        FunctionCalls::new(&self.calls, plugin.as_str(), id.as_str())
    }

    /// The numbers of a tool's server.
    pub(crate) fn server(&self, plugin: &PluginName, tool: &ToolId) -> ServerMetrics {
        let (plugin, tool) = (plugin.to_string(), tool.to_string());
        let of = || ToolLabels { plugin: plugin.clone(), tool: tool.clone() };
        let asked = |mcp_method_name| {
            let (plugin, tool) = (plugin.clone(), tool.clone());
            self.requests.get_or_create_owned(&RequestLabels { mcp_method_name, plugin, tool })
        };
        let start = |outcome| {
            let (plugin, tool) = (plugin.clone(), tool.clone());
            self.starts.get_or_create_owned(&StartLabels { plugin, tool, outcome })
        };
        ServerMetrics {
            unaccepted: FunctionCalls::new(&self.calls, &plugin, ""),
            operation: self.operations.get_or_create_owned(&OperationLabels {
                mcp_method_name: "tools/call",
                plugin: plugin.clone(),
            }),
            added: self.added.get_or_create_owned(&PluginLabels { plugin: plugin.clone() }),
            call: asked("tools/call"),
            listing: asked("tools/list"),
            in_flight: self.in_flight.get_or_create_owned(&of()),
            started: start("started"),
            not_started: start("failed"),
            ended: self.ends.get_or_create_owned(&of()),
            up: self.up.get_or_create_owned(&of()),
            unlisted: self.unlisted.get_or_create_owned(&of()),
        }
    }

    /// The edge answered a poll, and this is what is held from then on.
    pub(crate) fn polled(&self, revision: Revision) {
        self.polls.get_or_create(&PollLabels { outcome: "answered" }).inc();
        self.edge_up.set(1);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        self.edge_answered.set(i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
        self.revision.set(revision.0);
    }

    /// It did not, or said no.
    pub(crate) fn not_polled(&self) {
        self.polls.get_or_create(&PollLabels { outcome: "failed" }).inc();
        self.edge_up.set(0);
    }

    /// A client was not let in.
    pub(crate) fn denied(&self, why: &'static str) {
        self.denied.get_or_create(&DeniedLabels { why }).inc();
    }
}

impl Source for Metrics {
    fn registry(&self) -> &Registry {
        &self.registry
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}
