//! Bundles: brought by whoever installs, fetched by nodes, and by whoever compares another version with one.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use oz0_api::plugin::BUNDLE_TYPE;
use oz0_api::{Code, Problem};
use oz0_listing::Digest;
use serde_json::json;

use super::caller::{Admin, Keeper};
use super::described::{Group, Input, Operation, Output, Route};
use super::{Answer, Api, Json, Path, body, is_of, to_its_end};

/// The largest bundle, in bytes (OZ-L021).
const LARGEST: usize = 64 * 1024 * 1024;
/// How long a bundle may take to come, as long as the API's client gives it.
const BUNDLE_WITHIN: Duration = Duration::from_mins(10);

pub(super) fn routes() -> Group {
    Group {
        name: "bundles",
        about: "Bundles: brought by whoever installs, fetched by nodes.",
        routes: vec![
            Route::put(
                "/v1/bundles/{digest}",
                "keepBundle",
                "Brings a bundle, which must have this digest",
                keep,
            )
            .limit(LARGEST),
            Route::get(
                "/v1/bundles/{digest}",
                "fetchBundle",
                "Fetches a bundle, in pieces as it is read",
                fetch,
            )
            .may(&[Code::NotFound]),
        ],
    }
}

/// A bundle that comes, whole.
struct Brought(Bytes);

impl FromRequest<Api> for Brought {
    type Rejection = Answer;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Answer> {
        if !is_of(request.headers(), BUNDLE_TYPE) {
            let what = format!("the body must be a bundle, as `{BUNDLE_TYPE}`");
            return Err(Problem::new(Code::WrongMediaType, what).into());
        }
        let bytes = body(request, api, BUNDLE_WITHIN).await?.map_err(|rejection| {
            if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
                return Problem::new(Code::TooLarge, "a bundle is at most 64 MiB");
            }
            Problem::new(Code::Malformed, rejection.body_text().to_lowercase())
        })?;
        Ok(Self(bytes))
    }
}

impl Input for Brought {
    fn describe(operation: &mut Operation<'_>) {
        operation.takes(BUNDLE_TYPE, &json!({ "type": "string", "contentMediaType": BUNDLE_TYPE }));
    }
}

/// A bundle that goes out as it is read.
struct Sent(Body);

impl IntoResponse for Sent {
    fn into_response(self) -> Response {
        let head = [(header::CONTENT_TYPE, BUNDLE_TYPE), (header::CACHE_CONTROL, "no-store")];
        (head, self.0).into_response()
    }
}

impl Output for Sent {
    fn describe(operation: &mut Operation<'_>) {
        operation.gives(BUNDLE_TYPE, &json!({ "type": "string", "contentMediaType": BUNDLE_TYPE }));
    }
}

async fn keep(
    State(api): State<Api>,
    _: Admin,
    Path(digest): Path<Digest>,
    Brought(bytes): Brought,
) -> Result<Json<()>, Answer> {
    // Brought to its end, also when whoever brings it hangs up.
    let bundles = api.edge.bundles.clone();
    to_its_end(async move { Ok(bundles.keep(&digest, bytes).await?) }).await.map(Json)
}

async fn fetch(
    State(api): State<Api>,
    _: Keeper,
    Path(digest): Path<Digest>,
) -> Result<Sent, Answer> {
    Ok(Sent(Body::from_stream(api.edge.bundles.open_bundle(&digest).await?)))
}
