//! The HTTP API: one file a group of routes.

mod audit;
mod caller;
mod calls;
mod guard;
mod nodes;
mod plugins;
mod tokens;

use std::future::Future;
use std::time::Duration;

use axum::Router;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use oz0_api::{Code, Problem};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

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

pub(crate) fn router(edge: &Edge, surface: Surface) -> Router {
    let api = Api { edge: edge.clone(), surface };
    Router::new()
        .merge(plugins::routes())
        .merge(nodes::routes())
        .merge(calls::routes())
        .merge(audit::routes())
        .merge(tokens::routes())
        .route("/healthz", get(healthy))
        .route("/readyz", get(ready))
        .fallback(async || Answer::from(Problem::new(Code::NotFound, "there is nothing here")))
        .method_not_allowed_fallback(async || {
            Answer::from(Problem::new(Code::Malformed, "this cannot be done here with that method"))
        })
        .layer(axum::extract::DefaultBodyLimit::max(BODY))
        .layer(axum::middleware::from_fn_with_state(api.clone(), guard::check))
        .with_state(api)
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
            Surface::Tcp { .. } => {
                Problem::new(Code::Unavailable, "the store does not answer").into()
            }
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
        let code = match error {
            StoreError::Replaced { .. } => Code::Unavailable,
            _ => Code::Internal,
        };
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
        let mut response = (status, Json(self.0)).into_response();
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
        let json = request
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| {
                let essence = value.split(';').next().unwrap_or_default().trim();
                essence.eq_ignore_ascii_case("application/json")
            });
        // A page of another site can send a form or plain text without asking; JSON it cannot.
        if !json {
            return Err(Problem::new(Code::Malformed, "the body must be `application/json`").into());
        }
        let bytes = axum::body::Bytes::from_request(request, api).await.map_err(|rejection| {
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
    match tokio::spawn(write).await {
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
