//! Spans to an OpenTelemetry collector: OTLP over HTTP.
//!
//! A call's span has the IDs that the call has in the log and at its server, so what is exported is made of the fields that
//! say them, and nothing here draws an ID for it. Names and attributes are those of OpenTelemetry's conventions for MCP.
//! Where spans go stands in OpenTelemetry's own variables, `OTEL_EXPORTER_OTLP_ENDPOINT` and its kin; without one of them
//! nothing is sent.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use opentelemetry::trace::{
    SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{Protocol, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{
    BatchSpanProcessor, SpanData, SpanEvents, SpanLinks, SpanProcessor as _,
};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Subscriber};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use crate::target;
use crate::trace::{SpanId as OwnSpanId, TraceId as OwnTraceId};

/// The variables of which one names a collector.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
/// How long what is on its way is waited for at the end.
const LAST: Duration = Duration::from_secs(5);

/// What sends spans; dropped, it sends what is left.
pub(crate) struct Sending(Arc<BatchSpanProcessor>);

impl fmt::Debug for Sending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sending")
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        // A collector that is away is nobody's reason to stay.
        let _ = self.0.shutdown_with_timeout(LAST);
    }
}

/// The layer that sends spans, where a collector is named.
pub(crate) fn layer<S>() -> Result<Option<(impl Layer<S>, Sending)>, String>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let named = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if !ENDPOINTS.iter().any(named) {
        return Ok(None);
    }
    // Its client takes whichever the process has; an error says that there is one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .build()
        .map_err(|error| error.to_string())?;
    let mut processor = BatchSpanProcessor::builder(exporter).build();
    let named_itself = named(&"OTEL_SERVICE_NAME");
    let mut resource = Resource::builder();
    if !named_itself {
        resource = resource.with_service_name("oz0");
    }
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    processor.set_resource(&resource.with_attribute(version).build());
    let processor = Arc::new(processor);
    let scope =
        InstrumentationScope::builder("oz0").with_version(env!("CARGO_PKG_VERSION")).build();
    let spans = Spans { processor: Arc::clone(&processor), scope };
    let ours = filter_fn(|metadata| {
        metadata.is_span()
            && *metadata.level() <= Level::INFO
            && [target::CALL, target::EDGE].contains(&metadata.target())
    });
    Ok(Some((spans.with_filter(ours), Sending(processor))))
}

struct Spans {
    processor: Arc<BatchSpanProcessor>,
    scope: InstrumentationScope,
}

/// What a span says of itself.
#[derive(Clone)]
struct Kept {
    start: SystemTime,
    trace: Option<OwnTraceId>,
    span: Option<OwnSpanId>,
    parent: Option<OwnSpanId>,
    sampled: bool,
    fields: Vec<(&'static str, String)>,
}

impl Kept {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value.as_str())
    }
}

impl Visit for Kept {
    fn record_bool(&mut self, field: &Field, value: bool) {
        if field.name() == "sampled" {
            self.sampled = value;
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "call_id" => self.trace = value.parse().ok(),
            "span_id" => self.span = value.parse().ok(),
            "parent_id" => self.parent = value.parse().ok(),
            name => {
                self.fields.retain(|(known, _)| *known != name);
                self.fields.push((name, value.to_owned()));
            }
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut kept = Kept {
            start: SystemTime::now(),
            trace: None,
            span: None,
            parent: None,
            sampled: true,
            fields: Vec::new(),
        };
        attributes.record(&mut kept);
        span.extensions_mut().insert(kept);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(kept) = span.extensions_mut().get_mut::<Kept>()
        {
            values.record(kept);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let Some(kept) = span.extensions().get::<Kept>().cloned() else { return };
        let around = span.parent().and_then(|parent| parent.extensions().get::<Kept>().cloned());
        // What belongs to no call (a poll) is nobody's trace.
        let (Some(trace), Some(own)) = (kept.trace, kept.span) else { return };
        let sampled = around.as_ref().map_or(kept.sampled, |around| around.sampled);
        if !sampled {
            return;
        }
        let (name, kind, attributes, status) = described(span.name(), &kept, around.as_ref());
        let inside = around.as_ref().and_then(|around| around.span);
        let parent = inside.or(kept.parent);
        self.processor.on_end(SpanData {
            span_context: SpanContext::new(
                TraceId::from_bytes(trace.bytes()),
                SpanId::from_bytes(own.bytes()),
                TraceFlags::SAMPLED,
                false,
                TraceState::default(),
            ),
            parent_span_id: parent
                .map_or(SpanId::INVALID, |parent| SpanId::from_bytes(parent.bytes())),
            parent_span_is_remote: inside.is_none() && parent.is_some(),
            span_kind: kind,
            name: name.into(),
            start_time: kept.start,
            end_time: SystemTime::now(),
            attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status,
            instrumentation_scope: self.scope.clone(),
        });
    }
}

/// A span in the words of OpenTelemetry's conventions for MCP and HTTP.
fn described(
    name: &str,
    kept: &Kept,
    around: Option<&Kept>,
) -> (String, SpanKind, Vec<KeyValue>, Status) {
    let mut attributes = Vec::new();
    let mut say = |key: &'static str, value: Option<&str>| {
        if let Some(value) = value {
            attributes.push(KeyValue::new(key, value.to_owned()));
        }
    };
    let function = kept.field("function").or(around.and_then(|around| around.field("function")));
    let mut status = Status::Unset;
    let (name, kind) = match (name, kept.field("step")) {
        ("call", _) => {
            say("mcp.method.name", Some("tools/call"));
            say("gen_ai.operation.name", Some("execute_tool"));
            say("gen_ai.tool.name", function);
            say("oz0.plugin", kept.field("plugin"));
            say("oz0.outcome", kept.field("outcome"));
            if let Some(outcome) = kept.field("outcome").filter(|outcome| *outcome != "answered") {
                say("error.type", Some(outcome));
                status = Status::error(outcome.to_owned());
            }
            (
                function.map_or("tools/call".to_owned(), |id| format!("tools/call {id}")),
                SpanKind::Server,
            )
        }
        ("step", Some("tools/call")) => {
            say("mcp.method.name", Some("tools/call"));
            say("gen_ai.operation.name", Some("execute_tool"));
            say("gen_ai.tool.name", function);
            (
                function.map_or("tools/call".to_owned(), |id| format!("tools/call {id}")),
                SpanKind::Client,
            )
        }
        ("request", _) => {
            let (method, route) = (kept.field("method"), kept.field("route"));
            say("http.request.method", method);
            say("http.route", route);
            let name = [method.unwrap_or_default(), route.unwrap_or_default()].join(" ");
            (name, SpanKind::Server)
        }
        (_, step) => (step.unwrap_or("step").to_owned(), SpanKind::Internal),
    };
    (name, kind, attributes, status)
}
