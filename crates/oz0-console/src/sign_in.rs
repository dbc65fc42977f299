//! Signing in and out.

use askama::Template;
use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use oz0_edge::serve::Way;
use oz0_telemetry::target;
use serde::Deserialize;

use crate::Console;
use crate::page::{Failure, Frame, show};
use crate::session::{Sent, Visitor, cookie, fields, set_cookie};

/// The longest that is looked at as a token.
const TOKEN: usize = 400;

pub(crate) fn routes() -> Router<Console> {
    Router::new().route("/sign-in", get(form).post(sign_in)).route("/sign-out", post(sign_out))
}

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignIn {
    frame: Frame,
    next: String,
    wrong: Option<String>,
}

#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    next: String,
}

/// Where somebody goes afterwards: a page of this console, whatever the address says.
fn inside(next: &str) -> String {
    let plain = next.starts_with('/')
        && !next.starts_with("//")
        && next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if plain && next.len() <= 2000 { next.to_owned() } else { "/".to_owned() }
}

fn page(next: &str, wrong: Option<String>) -> Response {
    show(&SignIn { frame: Frame::outside("Sign in"), next: inside(next), wrong })
}

async fn form(Query(asked): Query<Asked>, visitor: Result<Visitor, Response>) -> Response {
    match visitor {
        Ok(_) => Redirect::to(&inside(&asked.next)).into_response(),
        Err(_) => page(&asked.next, None),
    }
}

async fn sign_in(
    State(console): State<Console>,
    Extension(way): Extension<Way>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let fields = match fields(&headers, body).await {
        Ok(fields) => fields,
        Err(problem) => return Failure::from(problem).into_response(),
    };
    let of = |name: &str| {
        let found = fields.iter().find(|(of, _)| of == name);
        found.map(|(_, value)| value.trim()).unwrap_or_default()
    };
    if let Some(seconds) = console.attempts.wait(way.client) {
        let what = format!("Too many wrong tokens came from here: wait {seconds} s");
        let after = [(header::RETRY_AFTER, seconds.to_string())];
        let answer = (StatusCode::TOO_MANY_REQUESTS, after, page(of("next"), Some(what)));
        return answer.into_response();
    }
    let token = of("token");
    let person =
        if token.len() > TOKEN { Ok(None) } else { console.desk.sign_in(token, way.client).await };
    match person {
        Err(problem) => Failure::from(problem).into_response(),
        Ok(None) => {
            console.attempts.wrong(way.client);
            let from = way.client.map(|address| address.to_string());
            tracing::warn!(target: target::EDGE, from, "sign-in refused");
            let what = "This is no token that reads here: it is unknown, was revoked, or is a node's or an MCP client's";
            (StatusCode::FORBIDDEN, page(of("next"), Some(what.to_owned()))).into_response()
        }
        Ok(Some(person)) => {
            console.attempts.right(way.client);
            // Whoever was signed in here before is not any more.
            if let Some(old) = cookie(&headers) {
                console.sessions.end(&old);
            }
            let secret = match console.sessions.begin(person) {
                Ok(secret) => secret,
                Err(problem) => return Failure::from(problem).into_response(),
            };
            let cookie = set_cookie(&headers, way, Some(&secret));
            ([(header::SET_COOKIE, cookie)], Redirect::to(&inside(of("next")))).into_response()
        }
    }
}

async fn sign_out(
    State(console): State<Console>,
    Extension(way): Extension<Way>,
    headers: HeaderMap,
    sent: Sent,
) -> Response {
    console.sessions.end(&sent.visitor.secret);
    if let Err(problem) = console.desk.sign_out(&sent.visitor.person).await {
        return Failure::from(problem).into_response();
    }
    let cookie = set_cookie(&headers, way, None);
    ([(header::SET_COOKIE, cookie)], Redirect::to("/sign-in")).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_elsewhere() {
        assert_eq!(inside("/plugins/team?page=2"), "/plugins/team?page=2");
        for other in ["", "https://example.com", "//example.com", "/\\example.com", "/a b", "a"] {
            assert_eq!(inside(other), "/");
        }
    }
}
