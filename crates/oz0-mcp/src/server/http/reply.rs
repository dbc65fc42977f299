//! Responses: JSON, errors, streams of events.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::{Response, StatusCode, header};
use futures_util::stream;

use crate::error::RpcError;
use crate::server::exchange::Outgoing;
use crate::version::Era;

pub(super) fn status(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// A refusal outside of JSON-RPC.
pub(super) fn turned((code, why): (u16, &'static str)) -> Response<Body> {
    let mut response = Response::new(Body::from(why));
    *response.status_mut() = status(code);
    let text = header::HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, text);
    response
}

pub(super) fn not_allowed(allowed: &'static str) -> Response<Body> {
    let mut response = turned((405, "this method is not taken here"));
    response.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static(allowed));
    response
}

/// Nothing to say but that it was taken.
pub(super) fn accepted() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

/// A JSON-RPC error that answers no request that could be read.
pub(super) fn problem(code: u16, error: &RpcError) -> Response<Body> {
    refused(code, "null", error)
}

/// A JSON-RPC error for this request.
pub(super) fn refused(code: u16, id: &str, error: &RpcError) -> Response<Body> {
    json(code, Outgoing::answer(id, Err(error.clone()), Era::Legacy))
}

/// A JSON answer.
pub(super) fn json(code: u16, answer: Outgoing) -> Response<Body> {
    let len = answer.len();
    let mut pieces = answer.into_pieces();
    let body = match pieces.pop() {
        Some(only) if pieces.is_empty() => Body::from(only),
        last => Body::from_stream(stream::iter(
            pieces.into_iter().chain(last).map(Ok::<Bytes, Infallible>),
        )),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status(code);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    headers.insert(header::CONTENT_LENGTH, len.into());
    response
}

/// What comes next on a stream of events.
pub(super) trait Source: Send + 'static {
    /// The next events, as they are to be written; `None` at the end.
    fn next(&mut self) -> impl Future<Output = Option<Outgoing>> + Send;
}

/// A stream of events.
pub(super) fn events(source: impl Source) -> Response<Body> {
    let state = (source, VecDeque::<Bytes>::new());
    let frames = stream::unfold(state, |(mut source, mut waiting)| async move {
        loop {
            if let Some(piece) = waiting.pop_front() {
                return Some((Ok::<Bytes, Infallible>(piece), (source, waiting)));
            }
            waiting.extend(source.next().await?.into_pieces());
        }
    });
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    headers.insert(
        header::HeaderName::from_static("x-accel-buffering"),
        header::HeaderValue::from_static("no"),
    );
    response
}

/// One event that carries a message.
pub(super) fn event(id: Option<&str>, message: Outgoing) -> Outgoing {
    let before = match id {
        Some(id) => format!("id: {id}\ndata: "),
        None => "data: ".to_owned(),
    };
    message.in_one_line().between(&before, "\n\n")
}

/// A sign of life, which readers skip.
pub(super) fn keep_alive() -> Outgoing {
    ": \n\n".to_owned().into()
}
