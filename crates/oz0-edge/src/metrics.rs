//! What an edge counts. Listed in `docs/reference/metrics.md`.
//!
//! Labels are the routes of the API, the statuses of HTTP, and the names of nodes that joined: nothing that anybody else
//! could make up.

use std::sync::Arc;
use std::time::Duration;

use oz0_api::{NodeName, Revision};
use oz0_telemetry::metrics::{SECONDS, Source};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::store::Store;

/// Seconds of a write: a commit is a disk's flush.
const WRITE: [f64; 12] =
    [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 10.0];

/// Everything that an edge counts.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Histogram, fn() -> Histogram>,
    writes: Histogram,
    /// What the store could not do.
    pub(crate) store_errors: Counter,
    revision: Gauge,
    node_revision: Family<NodeLabels, Gauge>,
    node_up: Family<NodeLabels, Gauge>,
    polls: Gauge,
    approvals: Gauge,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
#[expect(clippy::struct_field_names, reason = "the labels' names are OpenTelemetry's")]
struct RequestLabels {
    http_request_method: &'static str,
    http_route: String,
    http_response_status_code: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct NodeLabels {
    node: String,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::default();
        let seconds = || Histogram::new(SECONDS);
        let requests: Family<_, _, fn() -> Histogram> = Family::new_with_constructor(seconds);
        registry.register_with_unit(
            "http_server_request_duration",
            "Requests of the edge's API; long polls wait on purpose",
            Unit::Seconds,
            requests.clone(),
        );
        let edge = registry.sub_registry_with_prefix("oz0_edge");
        let writes = Histogram::new(WRITE);
        edge.register_with_unit(
            "store_write",
            "Writes into the store, from their beginning until they are on the disk",
            Unit::Seconds,
            writes.clone(),
        );
        let store_errors = Counter::default();
        edge.register("store_errors", "What the store could not do", store_errors.clone());
        let revision = Gauge::default();
        edge.register("revision", "The newest revision", revision.clone());
        let node_revision = Family::<NodeLabels, Gauge>::default();
        edge.register(
            "node_revision",
            "The revision that a node had when it last asked; it lags by the difference",
            node_revision.clone(),
        );
        let node_up = Family::<NodeLabels, Gauge>::default();
        edge.register("node_up", "Whether a node is there, by its polls", node_up.clone());
        let polls = Gauge::default();
        edge.register("polls_waiting", "Polls of nodes that wait for something new", polls.clone());
        let approvals = Gauge::default();
        edge.register("approvals_waiting", "Calls that wait for a person", approvals.clone());
        Self {
            registry,
            requests,
            writes,
            store_errors,
            revision,
            node_revision,
            node_up,
            polls,
            approvals,
        }
    }

    /// A request was answered.
    pub(crate) fn request(&self, method: &'static str, route: &str, status: u16, took: Duration) {
        let labels = RequestLabels {
            http_request_method: method,
            http_route: route.to_owned(),
            http_response_status_code: status,
        };
        self.requests.get_or_create(&labels).observe(took.as_secs_f64());
    }

    /// A write is on the disk.
    pub(crate) fn written(&self, took: Duration, revision: Option<Revision>) {
        self.writes.observe(took.as_secs_f64());
        if let Some(revision) = revision {
            self.at(revision);
        }
    }

    /// This is the newest revision.
    pub(crate) fn at(&self, revision: Revision) {
        self.revision.set(revision.0);
    }

    /// A node asks, and has come so far.
    pub(crate) fn node_asks(&self, node: &NodeName, revision: Revision) {
        let labels = NodeLabels { node: node.to_string() };
        self.node_revision.get_or_create(&labels).set(revision.0);
        self.node_up.get_or_create(&labels).set(1);
    }

    /// A node does not ask any more.
    pub(crate) fn node_away(&self, node: &NodeName) {
        self.node_up.get_or_create(&NodeLabels { node: node.to_string() }).set(0);
    }

    /// A node is none any more, and nothing waits for it to come back.
    pub(crate) fn node_gone(&self, node: &NodeName) {
        let labels = NodeLabels { node: node.to_string() };
        self.node_up.remove(&labels);
        self.node_revision.remove(&labels);
    }
}

/// An edge's numbers, with those that are only looked up when somebody asks.
pub(crate) struct Numbers(pub(crate) Arc<Store>);

impl Source for Numbers {
    fn registry(&self) -> &Registry {
        let metrics = &self.0.metrics;
        let (polls, approvals) = self.0.waiting();
        metrics.polls.set(i64::try_from(polls).unwrap_or(i64::MAX));
        metrics.approvals.set(i64::try_from(approvals).unwrap_or(i64::MAX));
        &metrics.registry
    }
}
