//! 2026-07-28: every request by itself.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Response};
use serde_json::value::RawValue;

use super::guard::{Accept, Unclear, decoded, single};
use super::reply::{self, Source, accepted, refused};
use super::{Http, METHOD, NAME, Permit, VERSION};
use crate::error::RpcError;
use crate::message::{Members, Message, string};
use crate::server::codes;
use crate::server::engine::{Engine, Later, Started, unsupported};
use crate::server::exchange::{Outgoing, Step};
use crate::server::gateway::{Gateway, Principal};
use crate::version::{Era, ProtocolVersion};

impl<G: Gateway> Http<G> {
    pub(super) async fn modern(
        &self,
        principal: Principal,
        headers: &HeaderMap,
        accept: Accept,
        message: &Message<'_>,
    ) -> Response<Body> {
        let (id, method, params) = match message {
            Message::Request { id, method, params } => {
                (id.get(), method.as_ref(), params.map(RawValue::get))
            }
            Message::Notification { .. } => {
                return match version(headers) {
                    Ok(_) => accepted(),
                    Err(error) => refused(400, "null", &error),
                };
            }
            Message::Answer { .. } => {
                let why = "this era has no answers of the client";
                return refused(400, "null", &RpcError::new(codes::INVALID_REQUEST, why));
            }
        };
        let refuse = |error: &RpcError| {
            let status = match codes::status(error.code) {
                200 => 400,
                status => status,
            };
            refused(status, id, error)
        };
        let checked = check(headers, method, params)
            .and_then(|()| Engine::<G>::modern_peer(&principal, params))
            .and_then(|peer| Ok((peer, self.permit(&principal)?)));
        let ((peer, level), permit) = match checked {
            Ok(checked) => checked,
            Err(error) => return refuse(&error),
        };
        if let ("tools/call", Some(call)) = (method, params)
            && let Ok(functions) = self.engine.gateway.list(&peer.principal).await
            && let Err(error) = self.marks.check(&functions, headers, call)
        {
            return refuse(&error);
        }
        let later = match self.engine.begin(&Arc::new(peer), level, id, method, params) {
            Started::Now(outcome) => {
                let code = outcome.as_ref().err().map_or(200, |error| codes::status(error.code));
                return reply::json(code, Outgoing::answer(id, outcome, Era::Modern));
            }
            Started::Later(later) => later,
            Started::Level(_) => {
                return refuse(&RpcError::new(codes::METHOD_NOT_FOUND, "Method not found"));
            }
        };
        if matches!(later, Later::Listen(_)) && !accept.events {
            return super::turned((406, "a subscription is a stream of events"));
        }
        let engine = Arc::clone(&self.engine);
        let mut exchange =
            Answering { engine, later, id: id.to_owned(), permit, over: false, first: None };
        if !accept.events {
            return exchange.plain().await;
        }
        // Nothing is decided before there is something to say, so that a short answer is plain JSON.
        let patience = self.engine.options.timeouts.keep_alive;
        match tokio::time::timeout(patience, exchange.later.next(&self.engine)).await {
            Ok(Step::Done(outcome)) => exchange.done(outcome),
            Ok(step) => {
                exchange.first = Some(step);
                reply::events(exchange)
            }
            Err(_) => reply::events(exchange),
        }
    }
}

/// A modern request's answer. It is dropped with its connection, and that cancels the call.
struct Answering<G> {
    engine: Arc<Engine<G>>,
    later: Later,
    id: String,
    #[expect(dead_code, reason = "held for as long as the request is in flight")]
    permit: Permit,
    over: bool,
    first: Option<Step>,
}

impl<G: Gateway> Answering<G> {
    async fn plain(mut self) -> Response<Body> {
        loop {
            if let Step::Done(outcome) = self.later.next(&self.engine).await {
                return self.done(outcome);
            }
        }
    }

    fn done(self, outcome: crate::server::exchange::Outcome) -> Response<Body> {
        let code = outcome.as_ref().err().map_or(200, |error| codes::status(error.code));
        reply::json(code, Outgoing::answer(&self.id, outcome, Era::Modern))
    }
}

impl<G: Gateway> Source for Answering<G> {
    async fn next(&mut self) -> Option<Outgoing> {
        if self.over {
            return None;
        }
        let step = match self.first.take() {
            Some(step) => step,
            None => {
                let patience = self.engine.options.timeouts.keep_alive;
                match tokio::time::timeout(patience, self.later.next(&self.engine)).await {
                    Ok(step) => step,
                    Err(_) => return Some(reply::keep_alive()),
                }
            }
        };
        match step {
            Step::Notify(text) => Some(reply::event(None, text.into())),
            // A modern client is asked in an answer: see `ModernCall`.
            Step::Ask(_) => Some(reply::keep_alive()),
            Step::Done(outcome) => {
                self.over = true;
                Some(reply::event(None, Outgoing::answer(&self.id, outcome, Era::Modern)))
            }
        }
    }
}

fn mismatch(why: String) -> RpcError {
    RpcError::new(codes::HEADER_MISMATCH, why)
}

fn version(headers: &HeaderMap) -> Result<&str, RpcError> {
    let named = single(headers, &VERSION)
        .map_err(|Unclear| mismatch("the header MCP-Protocol-Version cannot be read".to_owned()))?
        .ok_or_else(|| mismatch("the header MCP-Protocol-Version is missing".to_owned()))?;
    match ProtocolVersion::known(named) {
        Some(version) if version.era() == Era::Modern => Ok(named),
        _ => Err(unsupported(named)),
    }
}

/// Whether headers and body say the same: what routes by one must not differ from what acts by the other.
fn check(headers: &HeaderMap, method: &str, params: Option<&str>) -> Result<(), RpcError> {
    let named = single(headers, &VERSION)
        .map_err(|Unclear| mismatch("the header MCP-Protocol-Version cannot be read".to_owned()))?;
    let said = crate::server::engine::Envelope::read(params)
        .map_err(|why| RpcError::new(codes::INVALID_PARAMS, why))?
        .version;
    match (named, said) {
        (Some(named), Some(said)) if named == said => {
            version(headers)?;
        }
        (_, None) => {
            // What the header names may be unknown altogether, and that is said first.
            version(headers)?;
            let why = "`_meta` lacks `io.modelcontextprotocol/protocolVersion`";
            return Err(RpcError::new(codes::INVALID_PARAMS, why));
        }
        (Some(_), Some(_)) => {
            let why = "the header MCP-Protocol-Version names another version than the body";
            return Err(mismatch(why.to_owned()));
        }
        (None, Some(_)) => {
            return Err(mismatch("the header MCP-Protocol-Version is missing".to_owned()));
        }
    }
    same(headers, &METHOD, "Mcp-Method", method)?;
    if method == "tools/call" {
        let name = params
            .and_then(|params| Members::read(params).ok())
            .and_then(|members| members.get("name").and_then(string))
            .ok_or_else(|| RpcError::new(codes::INVALID_PARAMS, "`name` is not a string"))?;
        same(headers, &NAME, "Mcp-Name", &name)?;
    }
    Ok(())
}

fn same(
    headers: &HeaderMap,
    header: &axum::http::HeaderName,
    shown: &str,
    said: &str,
) -> Result<(), RpcError> {
    match single(headers, header) {
        Ok(Some(value)) if decoded(value).as_deref() == Some(said) => Ok(()),
        Ok(Some(_)) => Err(mismatch(format!("the header {shown} does not say what the body says"))),
        Ok(None) => Err(mismatch(format!("the header {shown} is missing"))),
        Err(Unclear) => Err(mismatch(format!("the header {shown} cannot be read"))),
    }
}
