//! A call as it is seen from outside: its ID, how long what took, and how it ended.

use std::sync::Arc;
use std::time::{Duration, Instant};

use oz0_telemetry::target;
use oz0_telemetry::trace::{SpanId, TraceContext};
use tracing::{Span, field};

use crate::metrics::{FunctionCalls, Metrics};
use crate::outcome::Outcome;
use crate::server::Server;
use crate::table::Entry;

/// A call, until it ends.
pub(crate) struct Watched {
    metrics: Arc<Metrics>,
    /// Where it is in its trace; the trace's ID is the call's.
    pub(crate) trace: TraceContext,
    pub(crate) span: Span,
    began: Instant,
    /// What its server, hooks and people took.
    pub(crate) elsewhere: Duration,
    of: Option<Of>,
    over: bool,
}

/// The function that it is a call of.
struct Of {
    calls: Arc<FunctionCalls>,
    server: Arc<Server>,
}

impl Watched {
    /// A call begins, for a client that counts it in this trace, else in one of its own.
    pub(crate) fn begin(
        metrics: &Arc<Metrics>,
        given: Option<TraceContext>,
        own: impl FnOnce() -> TraceContext,
    ) -> Self {
        let trace = given.map_or_else(own, TraceContext::next);
        let parent = given.map(|given| given.span);
        Self::at(metrics, trace, parent)
    }

    /// A job begins: its ID at the edge is its trace's.
    pub(crate) fn job(metrics: &Arc<Metrics>, id: &str) -> Self {
        let trace = TraceContext::of(id).unwrap_or_default();
        Self::at(metrics, trace, None)
    }

    fn at(metrics: &Arc<Metrics>, trace: TraceContext, parent: Option<SpanId>) -> Self {
        let span = tracing::info_span!(
            target: target::CALL,
            "call",
            call_id = %trace.trace,
            span_id = %trace.span,
            parent_id = field::Empty,
            plugin = field::Empty,
            function = field::Empty,
            outcome = field::Empty,
            sampled = trace.sampled,
        );
        if let Some(parent) = parent {
            span.record("parent_id", field::display(parent));
        }
        Self {
            metrics: Arc::clone(metrics),
            trace,
            span,
            began: Instant::now(),
            elsewhere: Duration::ZERO,
            of: None,
            over: false,
        }
    }

    /// Something that is no call of a client, and is counted as none.
    pub(crate) fn unseen(metrics: &Arc<Metrics>, trace: TraceContext) -> Self {
        Self {
            metrics: Arc::clone(metrics),
            trace,
            span: Span::none(),
            began: Instant::now(),
            elsewhere: Duration::ZERO,
            of: None,
            over: true,
        }
    }

    /// It is a call of this function.
    pub(crate) fn of(&mut self, entry: &Entry) {
        self.span.record("plugin", entry.server.plugin.as_str());
        self.span.record("function", entry.id.as_str());
        let calls = Arc::clone(entry.calls(&self.metrics));
        self.of = Some(Of { calls, server: Arc::clone(&entry.server) });
    }

    /// It is a call of a function of this server that is not known yet.
    pub(crate) fn of_server(&mut self, server: &Arc<Server>) {
        self.span.record("plugin", server.plugin.as_str());
        let calls = Arc::clone(&server.metrics.unaccepted);
        self.of = Some(Of { calls, server: Arc::clone(server) });
    }

    /// Somebody else took the time since then.
    pub(crate) fn elsewhere_since(&mut self, since: Instant) -> Duration {
        let took = since.elapsed();
        self.elsewhere += took;
        took
    }

    /// It ended.
    pub(crate) fn end(mut self, outcome: Outcome) {
        self.ended(outcome);
    }

    fn ended(&mut self, outcome: Outcome) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        let took = self.began.elapsed();
        let added = took.saturating_sub(self.elsewhere);
        match &self.of {
            Some(Of { calls, server }) => {
                calls.count(outcome);
                server.metrics.operation.observe(took.as_secs_f64());
                if outcome.is_answer() {
                    server.metrics.added.observe(added.as_secs_f64());
                }
            }
            None => self.metrics.unknown.count(outcome),
        }
        self.span.record("outcome", outcome.name());
        let _in = self.span.enter();
        let (seconds, added) = (took.as_secs_f64(), added.as_secs_f64());
        if outcome.is_answer() {
            tracing::debug!(target: target::CALL, outcome = outcome.name(), seconds, added, "call answered");
        } else if outcome.is_failure() {
            tracing::warn!(target: target::CALL, outcome = outcome.name(), seconds, "call failed");
        } else {
            tracing::info!(target: target::CALL, outcome = outcome.name(), seconds, "call not made");
        }
    }
}

/// A step of a call that somebody else does.
pub(crate) fn step(name: &'static str, trace: TraceContext) -> Span {
    tracing::info_span!(target: target::CALL, "step", step = name, call_id = %trace.trace, span_id = %trace.span)
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.ended(Outcome::Cancelled);
    }
}
