//! The HTTP API: one file a group of routes.

mod approvals;
mod audit;
mod bundles;
mod caller;
mod calls;
mod credentials;
mod described;
pub(crate) mod desk;
mod guard;
mod nodes;
mod plugins;
mod policy;
mod seen;
mod tokens;

use std::future::Future;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use oz0_api::{Code, Problem};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use tracing::Instrument as _;

pub(crate) use self::described::settle;
use self::described::{Group, Operation, Output, Route};
use crate::Edge;
use crate::serve::Surface;
use crate::store::{Refusal, StoreError};

/// The longest body of a request that says nothing of its own, in bytes.
const BODY: usize = 1024 * 1024;

/// The longest wait of a long poll.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What every handler gets.
#[derive(Clone)]
struct Api {
    edge: Edge,
    surface: Surface,
}

/// The API for one surface, and beside it `pages`, behind the same guard.
pub(crate) fn router(edge: &Edge, surface: Surface, pages: Router) -> Router {
    let api = Api { edge: edge.clone(), surface };
    groups()
        .into_iter()
        .flat_map(|group| group.routes)
        .fold(Router::new(), |router, route| router.route(route.path, route.served()))
        .fallback(async || Answer::from(Problem::new(Code::NotFound, "there is nothing here")))
        .method_not_allowed_fallback(async || {
            Answer::from(Problem::new(
                Code::MethodNotAllowed,
                "this cannot be done here with that method",
            ))
        })
        .with_state(api.clone())
        .merge(pages)
        .layer(axum::extract::DefaultBodyLimit::max(BODY))
        .layer(axum::middleware::from_fn_with_state(api.clone(), guard::check))
        .layer(axum::middleware::from_fn_with_state(api, seen::see))
}

/// Every route of the API, described: a route that is not here is not answered, and is not in `/openapi.json`.
pub(crate) fn groups() -> Vec<Group> {
    vec![
        plugins::routes(),
        bundles::routes(),
        nodes::routes(),
        calls::routes(),
        approvals::routes(),
        policy::routes(),
        credentials::routes(),
        audit::routes(),
        tokens::routes(),
        Group {
            name: "the edge",
            about: "How the edge is, and what it answers.",
            routes: vec![
                Route::get("/healthz", "healthy", "Whether the edge is in service", healthy),
                Route::get("/readyz", "ready", "Whether the edge's store takes writes", ready),
                Route::get("/metrics", "metrics", "What the edge counts", seen::numbers),
                Route::get("/openapi.json", "describe", "This document", describe),
            ],
        },
    ]
}

/// The API's own description.
struct Document;

impl IntoResponse for Document {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], crate::openapi::document()).into_response()
    }
}

impl Output for Document {
    fn describe(operation: &mut Operation<'_>) {
        operation.gives("application/json", &serde_json::json!({ "type": "object" }));
    }
}

async fn describe() -> Document {
    Document
}

async fn healthy(State(api): State<Api>) -> Result<Json<()>, Answer> {
    Ok(Json(api.edge.store.in_service().map_err(|error| api.not_well(error))?))
}

async fn ready(State(api): State<Api>) -> Result<Json<()>, Answer> {
    Ok(Json(api.edge.store.check().await.map_err(|error| api.not_well(error))?))
}

impl Api {
    /// Over TCP anyone may ask how the edge is, so there it does not say more than that.
    fn not_well(&self, error: StoreError) -> Answer {
        match &self.surface {
            Surface::Local => {
                let Answer(problem) = error.into();
                Answer(Problem { code: Code::Unavailable, ..problem })
            }
            Surface::Tcp(_) => Problem::new(Code::Unavailable, "the store does not answer").into(),
        }
    }
}

/// A request that was not done, as the one shape of an error.
#[derive(Debug)]
struct Answer(Problem);

impl From<Problem> for Answer {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl From<StoreError> for Answer {
    fn from(error: StoreError) -> Self {
        let ends = error.ends_service() || matches!(error, StoreError::Seal(_));
        let code = if ends { Code::Unavailable } else { Code::Internal };
        let what = oz0_listing::escape::line_within(&error.to_string(), 400).into_owned();
        tracing::error!(target: oz0_telemetry::target::EDGE, what, "store failed");
        let mut problem = Problem::new(code, error.to_string());
        problem.hint = error.hint().map(str::to_owned);
        Self(problem)
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Store(error) => error.into(),
            Refusal::Problem(problem) => Self(problem),
        }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.0.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let told = seen::Told(self.0.code);
        let mut response = (status, Json(self.0)).into_response();
        response.extensions_mut().insert(told);
        if status == StatusCode::UNAUTHORIZED {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// JSON, in and out. A body that is not what was expected is a [`Problem`] that says where.
struct Json<T>(T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        let mut response = axum::Json(self.0).into_response();
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
        response
    }
}

impl<T: DeserializeOwned> FromRequest<Api> for Json<T> {
    type Rejection = Answer;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Answer> {
        // A page of another site can send a form or plain text without asking; JSON it cannot.
        if !is_of(request.headers(), "application/json") {
            let what = "the body must be `application/json`";
            return Err(Problem::new(Code::WrongMediaType, what).into());
        }
        let bytes = body(request, api, api.edge.bounds.stall).await?.map_err(|rejection| {
            let status = rejection.status();
            let code = if status == StatusCode::PAYLOAD_TOO_LARGE {
                Code::TooLarge
            } else {
                Code::Malformed
            };
            Problem::new(code, BytesRejection::body_text(&rejection).to_lowercase())
        })?;
        serde_json::from_slice(&bytes).map(Self).map_err(|error| malformed(&error.to_string()))
    }
}

/// Whether a request says once that its body is of this media type, whatever parameters it has, and not encoded.
fn is_of(headers: &HeaderMap, media: &str) -> bool {
    let mut said = headers.get_all(header::CONTENT_TYPE).iter();
    let one = said.next().filter(|_| said.next().is_none());
    let plain = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .all(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"identity"));
    plain
        && one.and_then(|value| value.to_str().ok()).is_some_and(|value| {
            let essence = value.split(';').next().unwrap_or_default().trim();
            essence.eq_ignore_ascii_case(media)
        })
}

/// A request's body, whole. One that comes by drops is not waited for longer than `within`.
async fn body(
    request: Request,
    api: &Api,
    within: Duration,
) -> Result<Result<Bytes, BytesRejection>, Problem> {
    tokio::time::timeout(within, Bytes::from_request(request, api)).await.map_err(|_| {
        let seconds = within.as_secs();
        Problem::new(Code::Malformed, format!("the body did not come within {seconds} s"))
    })
}

/// A path's parameter, parsed at the door.
struct Path<T>(T);

impl<T: DeserializeOwned + Send> FromRequestParts<Api> for Path<T> {
    type Rejection = Answer;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Answer> {
        axum::extract::Path::from_request_parts(parts, api)
            .await
            .map(|axum::extract::Path(value)| Self(value))
            .map_err(|rejection: PathRejection| malformed(&rejection.body_text()))
    }
}

/// A query, parsed at the door.
struct Query<T>(T);

impl<T: DeserializeOwned> FromRequestParts<Api> for Query<T> {
    type Rejection = Answer;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Answer> {
        axum::extract::Query::from_request_parts(parts, api)
            .await
            .map(|axum::extract::Query(value)| Self(value))
            .map_err(|rejection: QueryRejection| malformed(&rejection.body_text()))
    }
}

/// The request is malformed; what the parser says may quote it, so it is escaped.
fn malformed(what: &str) -> Answer {
    let what = oz0_listing::escape::line_within(what, 400);
    Problem::new(Code::Malformed, format!("the request could not be read: {what}")).into()
}

/// Runs a write to its end, also when whoever asked hangs up in the middle: a commit that nobody
/// waits for still has to wake those who poll.
async fn to_its_end<T: Send + 'static>(
    write: impl Future<Output = Result<T, Refusal>> + Send + 'static,
) -> Result<T, Answer> {
    // In the request's span: what is written is logged under the call's ID.
    match tokio::spawn(write.in_current_span()).await {
        Ok(result) => Ok(result?),
        Err(error) => Err(Problem::new(Code::Internal, format!("the edge failed: {error}")).into()),
    }
}

/// Asks until there is something, at most for `wait`, and again after each commit.
async fn wait_for<T, F>(
    edge: &Edge,
    wait: Duration,
    mut ask: impl FnMut() -> F,
) -> Result<Option<T>, Answer>
where
    F: Future<Output = Result<Option<T>, Answer>>,
{
    let deadline = Instant::now() + wait.min(LONGEST_WAIT);
    let mut commits = edge.store.commits();
    let mut winds_down = edge.store.winds_down();
    loop {
        commits.mark_unchanged();
        if let Some(found) = ask().await? {
            return Ok(Some(found));
        }
        tokio::select! {
            changed = tokio::time::timeout_at(deadline, commits.changed()) => match changed {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return Ok(None),
            },
            _ = winds_down.wait_for(|down| *down) => return Ok(None),
        }
    }
}
