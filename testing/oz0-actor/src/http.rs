//! The server over HTTP: Streamable HTTP as each version has it, or the two endpoints of 2024-11-05.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::serve::ListenerExt as _;
use futures_util::stream;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;

use crate::script::Answers;
use crate::stage::{Answer, Incoming, MODERN, Piece, Sink, Stage, lock};

struct House {
    stage: Arc<Stage>,
    /// Open event streams that take what is said unasked.
    listeners: Mutex<Vec<Sink>>,
    /// Answers that wait to be fetched with `Last-Event-ID`.
    parked: Mutex<HashMap<String, Vec<Piece>>>,
}

pub(crate) async fn run(stage: Arc<Stage>, address: &str) -> Result<(), String> {
    if stage.script.stubborn {
        crate::ignore_sigterm()?;
    }
    let house = Arc::new(House {
        listeners: Mutex::default(),
        parked: Mutex::default(),
        stage: Arc::clone(&stage),
    });
    let app = if stage.script.http.two_endpoints {
        Router::new()
            .route("/mcp", get(events).post(|| async { StatusCode::METHOD_NOT_ALLOWED }))
            .route("/messages", post(message))
    } else {
        Router::new().route("/mcp", any(streamable))
    };
    let app = app
        .route("/hop/{code}/{*to}", any(hop))
        .layer(DefaultBodyLimit::max(32 << 20))
        .with_state(Arc::clone(&house));
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .map_err(|error| format!("{address}: {error}"))?;
    let bound = listener.local_addr().map_err(|error| error.to_string())?;
    let (spoken, mut unasked) = mpsc::channel(64);
    stage.event("start", &spoken).await;
    stage.start_timers(&spoken);
    tokio::spawn(async move {
        let _keeps_it_open = spoken;
        while let Some(piece) = unasked.recv().await {
            if let Piece::Message(text) = piece {
                let listeners = lock(&house.listeners).clone();
                for listener in listeners {
                    let _ = listener.send(Piece::Message(text.clone())).await;
                }
            }
        }
    });
    let mut stdout = tokio::io::stdout();
    let first = format!("listening http://{bound}/mcp\n");
    stdout.write_all(first.as_bytes()).await.map_err(|error| error.to_string())?;
    stdout.flush().await.map_err(|error| error.to_string())?;
    // Without it every event stream waits some 40 ms for an acknowledgement.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, app).await.map_err(|error| error.to_string())
}

/// Sends the client elsewhere: `/hop/308/mcp` to `/mcp`, `/hop/307/http://…` out of the house.
async fn hop(Path((code, to)): Path<(u16, String)>) -> Response {
    let status = StatusCode::from_u16(code).unwrap_or(StatusCode::PERMANENT_REDIRECT);
    let to = if to.contains("://") { to } else { format!("/{to}") };
    (status, [("location", to)]).into_response()
}

fn seen(stage: &Stage, method: &Method, headers: &HeaderMap, body: &str) {
    let headers: HashMap<&str, String> = headers
        .iter()
        .map(|(name, value)| {
            (name.as_str(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect();
    stage.log(json!({"method": method.as_str(), "headers": headers, "body": body}));
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

async fn streamable(
    State(house): State<Arc<House>>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let stage = &house.stage;
    let body = String::from_utf8_lossy(&body).into_owned();
    seen(stage, &method, &headers, &body);
    if method == Method::POST {
        return take(&house, &headers, &body).await;
    }
    // The scenes of the other methods are named by them.
    let (sink, mut pieces) = mpsc::channel(64);
    stage.event(method.as_str(), &sink).await;
    if let Ok(Piece::Status { code, headers, body }) = pieces.try_recv() {
        return response(code, &headers, body);
    }
    let session = text(&headers, "mcp-session-id").unwrap_or_default().to_owned();
    let known = !stage.script.http.sessions || lock(&stage.sessions).contains(&session);
    if stage.latest_legacy().is_none() || (method != Method::GET && method != Method::DELETE) {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    if !known {
        return response(stage.script.http.unknown_session, &[], String::new());
    }
    if method == Method::DELETE {
        lock(&stage.sessions).retain(|id| *id != session);
        return StatusCode::NO_CONTENT.into_response();
    }
    if let Some(last) = text(&headers, "last-event-id")
        && let Some(parked) = lock(&house.parked).remove(last)
    {
        return event_stream(stage, None, parked, None);
    }
    if !stage.script.http.listens {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    lock(&house.listeners).push(sink);
    event_stream(stage, None, Vec::new(), Some(pieces))
}

async fn take(house: &Arc<House>, headers: &HeaderMap, body: &str) -> Response {
    let stage = &house.stage;
    let Ok(mut message) = serde_json::from_str::<Incoming>(body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    message.headers = headers.clone();
    if let Some(refusal) = refused(stage, headers, &message) {
        return refusal;
    }
    let is_request = message.id.is_some() && message.method.is_some();
    let opens = message.method.as_deref() == Some("initialize");
    let modern = message.modern().is_some() && stage.script.versions.iter().any(|v| v == MODERN);
    let (sink, mut pieces) = mpsc::channel(64);
    let taking = Arc::clone(stage);
    tokio::spawn(async move { taking.take(message, &sink).await });
    if !is_request {
        // Whatever its scene says goes nowhere; a status is the exception.
        return match pieces.recv().await {
            Some(Piece::Status { code, headers, body }) => response(code, &headers, body),
            _ => StatusCode::ACCEPTED.into_response(),
        };
    }
    let first = pieces.recv().await;
    if let Some(Piece::Status { code, headers, body }) = first {
        return response(code, &headers, body);
    }
    let session = (opens && stage.script.http.sessions).then(|| {
        let id = format!("session-{}", stage.unique());
        lock(&stage.sessions).push(id.clone());
        id
    });
    let mut said: Vec<Piece> = first.into_iter().collect();
    let collects = stage.script.http.answers == Answers::Json || stage.script.http.polls;
    if collects {
        while let Some(piece) = pieces.recv().await {
            said.push(piece);
        }
    }
    if stage.script.http.answers == Answers::Json
        && let [Piece::Message(answer)] = &said[..]
    {
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        headers.extend(session.map(|id| ("mcp-session-id".to_owned(), id)));
        headers.extend(stage.script.http.headers.clone());
        let status = if modern && answer.contains(r#""error":{"code":-32601"#) { 404 } else { 200 };
        return response(status, &headers, answer.clone());
    }
    if stage.script.http.polls && !opens && !modern {
        let id = format!("event-{}", stage.unique());
        lock(&house.parked).insert(id.clone(), said);
        let priming = Piece::Raw(format!("id: {id}\nretry: 10\ndata: \n\n").into_bytes());
        return event_stream(stage, None, vec![priming], None);
    }
    event_stream(stage, session, said, Some(pieces))
}

/// What the transport itself refuses, before anything is played.
fn refused(stage: &Stage, headers: &HeaderMap, message: &Incoming) -> Option<Response> {
    let error = |status: u16, code: i64, why: &str, data: Option<String>| {
        let id = message.id.as_ref().map_or("null", |id| id.get());
        let body = Answer::Error(code, why.to_owned(), data).text(id).unwrap_or_default();
        let json = vec![("content-type".to_owned(), "application/json".to_owned())];
        Some(response(status, &json, body))
    };
    let method = message.method.as_deref().unwrap_or_default();
    let accepts = text(headers, "accept").unwrap_or_default();
    if !accepts.contains("application/json") || !accepts.contains("text/event-stream") {
        return error(406, -32600, "Not Acceptable", None);
    }
    let version = text(headers, "mcp-protocol-version");
    if let Some(named) = message.modern()
        && stage.script.versions.iter().any(|known| known == MODERN)
    {
        if !stage.script.versions.contains(&named) {
            let data = json!({"supported": stage.script.versions, "requested": named}).to_string();
            return error(400, -32022, "Unsupported protocol version", Some(data));
        }
        let name = message.params().name;
        let name_differs = method == "tools/call"
            && text(headers, "mcp-name").is_none_or(|header| {
                !header.starts_with("=?base64?") && Some(header) != name.as_deref()
            });
        if version != Some(&*named) || text(headers, "mcp-method") != Some(method) || name_differs {
            return error(400, -32020, "Header mismatch", None);
        }
        return None;
    }
    if method == "initialize" || !stage.script.http.sessions {
        return None;
    }
    match text(headers, "mcp-session-id") {
        None => error(400, -32000, "Bad Request: no session", None),
        Some(id) if !lock(&stage.sessions).iter().any(|known| known == id) => {
            error(stage.script.http.unknown_session, -32001, "Session not found", None)
        }
        Some(_)
            if version.is_some_and(|named| !stage.script.versions.iter().any(|v| v == named)) =>
        {
            error(400, -32000, "Bad Request: unsupported protocol version", None)
        }
        Some(_) => None,
    }
}

fn response(code: u16, headers: &[(String, String)], body: String) -> Response {
    let mut response = Response::builder().status(code);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response
        .body(Body::from(body))
        .unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

fn event_stream(
    stage: &Arc<Stage>,
    session: Option<String>,
    said: Vec<Piece>,
    pieces: Option<mpsc::Receiver<Piece>>,
) -> Response {
    let end = stage.script.http.line_end.as_str();
    let framed = move |piece: Piece| match piece {
        Piece::Message(text) => {
            let mut event = format!(": a comment{end}event: message{end}");
            for line in text.split('\n') {
                event.push_str("data: ");
                event.push_str(line);
                event.push_str(end);
            }
            event.push_str(end);
            event.into_bytes()
        }
        Piece::Raw(bytes) => bytes,
        Piece::Status { .. } => Vec::new(),
    };
    let drip = stage.script.http.drip;
    let (chunks, out) = mpsc::channel::<Vec<u8>>(16);
    tokio::spawn(async move {
        let mut pieces = pieces;
        let mut said = said.into_iter();
        loop {
            let piece = match (said.next(), &mut pieces) {
                (Some(piece), _) => piece,
                (None, Some(pieces)) => tokio::select! {
                    piece = pieces.recv() => match piece {
                        Some(piece) => piece,
                        None => return,
                    },
                    () = chunks.closed() => return,
                },
                (None, None) => return,
            };
            let bytes = framed(piece);
            let size = drip.map_or(bytes.len(), |drip| drip.bytes).max(1);
            for chunk in bytes.chunks(size) {
                if chunks.send(chunk.to_vec()).await.is_err() {
                    return;
                }
                if let Some(drip) = drip {
                    tokio::time::sleep(Duration::from_millis(drip.every_ms)).await;
                }
            }
        }
    });
    let body = stream::unfold(out, |mut out| async move {
        out.recv().await.map(|chunk| (Ok::<_, Infallible>(chunk), out))
    });
    let mut response = Response::builder().header("content-type", "text/event-stream");
    if let Some(session) = session {
        response = response.header("mcp-session-id", session);
    }
    for (name, value) in &stage.script.http.headers {
        response = response.header(name, value);
    }
    response
        .body(Body::from_stream(body))
        .unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

/// The event stream of the transport with two endpoints.
async fn events(State(house): State<Arc<House>>, headers: HeaderMap) -> Response {
    seen(&house.stage, &Method::GET, &headers, "");
    let (sink, pieces) = mpsc::channel(64);
    lock(&house.listeners).push(sink);
    let place = &house.stage.script.http.endpoint;
    let endpoint = Piece::Raw(format!("event: endpoint\ndata: {place}\n\n").into_bytes());
    event_stream(&house.stage, None, vec![endpoint], Some(pieces))
}

/// The message endpoint: what is posted here is answered on the newest event stream.
async fn message(State(house): State<Arc<House>>, headers: HeaderMap, body: Bytes) -> Response {
    let body = String::from_utf8_lossy(&body).into_owned();
    seen(&house.stage, &Method::POST, &headers, &body);
    let sink = lock(&house.listeners).last().cloned();
    let (Ok(message), Some(sink)) = (serde_json::from_str::<Incoming>(&body), sink) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let stage = Arc::clone(&house.stage);
    tokio::spawn(async move { stage.take(message, &sink).await });
    StatusCode::ACCEPTED.into_response()
}
