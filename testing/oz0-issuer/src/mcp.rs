//! The MCP server behind the authorization server: of 2025-06-18, without sessions, and for nobody without a token.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::{Request, Shared};

pub(crate) async fn answer(
    State(shared): State<Shared>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let authorization =
        headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let mut live = shared.live();
    live.requests.push(Request { authorization: authorization.clone(), body: body.clone() });
    let token = authorization.as_deref().and_then(|value| value.strip_prefix("Bearer "));
    if !token.is_some_and(|token| live.counts(token)) {
        // It repeats what it was sent, as some do in their errors.
        let prose = format!("no such token: {authorization:?}");
        return (StatusCode::UNAUTHORIZED, prose).into_response();
    }
    let Some(id) = body.get("id") else { return StatusCode::ACCEPTED.into_response() };
    let function = |name: &str| {
        json!({"name": name, "description": "Says what it got.",
            "annotations": {"readOnlyHint": true}, "inputSchema": {"type": "object"}})
    };
    let result = match body["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "oz0-issuer", "version": "1"}}),
        "ping" => json!({}),
        "tools/list" => json!({"tools": [function("seen"), function("other")]}),
        "tools/call" => {
            let params = &body["params"];
            json!({"content": [{"type": "text", "text": "done"}],
                "structuredContent": {"arguments": params["arguments"]}})
        }
        _ => {
            let error = json!({"code": -32601, "message": "no such method"});
            let answer = json!({"jsonrpc": "2.0", "id": id, "error": error});
            return Json(answer).into_response();
        }
    };
    Json(json!({"jsonrpc": "2.0", "id": id, "result": result})).into_response()
}
