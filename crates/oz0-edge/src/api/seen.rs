//! Each request as it is seen from outside: its time, its status, and, where it belongs to a call, the call's ID.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use oz0_api::Code;
use oz0_telemetry::metrics::{MEDIA_TYPE, Source};
use oz0_telemetry::target;
use oz0_telemetry::trace::TraceContext;
use tracing::{Instrument as _, field};

use super::caller::Reader;
use super::described::{Operation, Output};
use super::{Answer, Api};
use crate::metrics::Numbers;

/// The kind of problem that an answer tells of.
#[derive(Clone, Copy)]
pub(super) struct Told(pub(super) Code);

pub(super) async fn see(State(api): State<Api>, request: Request, next: Next) -> Response {
    let method = match *request.method() {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        // Whatever a client makes up.
        _ => "_OTHER",
    };
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("", MatchedPath::as_str);
    let span = tracing::info_span!(
        target: target::EDGE, "request", method, route, call_id = field::Empty, span_id = field::Empty,
        parent_id = field::Empty
    );
    let trace = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
    if let Some(trace) = trace.and_then(TraceContext::read) {
        span.record("call_id", field::display(trace.trace));
        span.record("parent_id", field::display(trace.span));
        span.record("span_id", field::display(trace.next().span));
    }
    let began = Instant::now();
    let response = next.run(request).instrument(span.clone()).await;
    let took = began.elapsed();
    let status = response.status();
    api.edge.store.metrics.request(method, route, status.as_u16(), took);
    let entered = span.enter();
    let why = response.extensions().get::<Told>().map(|Told(code)| field::debug(code));
    let status_code = status.as_u16();
    match &why {
        Some(why) if status.is_server_error() => {
            tracing::warn!(target: target::HTTP, status = status_code, why, "request failed");
        }
        Some(why) => {
            tracing::info!(target: target::HTTP, status = status_code, why, "request refused");
        }
        None => {
            let seconds = took.as_secs_f64();
            tracing::debug!(target: target::HTTP, status = status_code, seconds, "request answered");
        }
    }
    drop(entered);
    response
}

/// The numbers, for whoever may read everything else.
pub(super) async fn numbers(State(api): State<Api>, _: Reader) -> Result<Page, Answer> {
    let numbers: Arc<dyn Source> = Arc::new(Numbers(Arc::clone(&api.edge.store)));
    Ok(Page(oz0_telemetry::port::page(&[numbers])))
}

/// The numbers as Prometheus reads them.
pub(super) struct Page(Response);

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        self.0
    }
}

impl Output for Page {
    fn describe(operation: &mut Operation<'_>) {
        operation.gives(MEDIA_TYPE, &serde_json::json!({ "type": "string" }));
    }
}
