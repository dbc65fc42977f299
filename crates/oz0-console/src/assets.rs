//! The style sheet, the scripts and the icon, each under an address with its hash: a browser keeps them, and never an old one.

use std::sync::LazyLock;

use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use oz0_listing::Digest;

use crate::Console;

struct Asset {
    name: &'static str,
    media: &'static str,
    text: &'static str,
}

const ASSETS: [Asset; 4] = [
    Asset {
        name: "console.css",
        media: "text/css; charset=utf-8",
        text: include_str!("../assets/console.css"),
    },
    Asset {
        name: "console.js",
        media: "text/javascript; charset=utf-8",
        text: include_str!("../assets/console.js"),
    },
    Asset {
        name: "htmx.min.js",
        media: "text/javascript; charset=utf-8",
        text: include_str!("../assets/vendor/htmx.min.js"),
    },
    Asset { name: "icon.svg", media: "image/svg+xml", text: include_str!("../assets/icon.svg") },
];

/// The start of a hash over all of them.
static HASH: LazyLock<String> = LazyLock::new(|| {
    let all: String = ASSETS.iter().map(|asset| asset.text).collect();
    Digest::of(all).hex()[..16].to_owned()
});

/// Where an asset is.
pub(crate) fn address(name: &str) -> String {
    format!("/assets/{}/{name}", *HASH)
}

pub(crate) fn routes() -> Router<Console> {
    Router::new().route("/assets/{hash}/{name}", get(asset))
}

async fn asset(Path((hash, name)): Path<(String, String)>) -> Response {
    let found = ASSETS.iter().find(|asset| hash == *HASH && asset.name == name);
    let Some(asset) = found else { return StatusCode::NOT_FOUND.into_response() };
    let headers = [
        (header::CONTENT_TYPE, asset.media),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'"),
    ];
    (headers, asset.text).into_response()
}
