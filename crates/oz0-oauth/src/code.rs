//! An authorization code by a person in a browser, which comes back to this machine (RFC 6749, 7636, 8252, 9207).

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use subtle::ConstantTimeEq as _;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use url::Url;

use crate::error::{OauthError, code};
use crate::http::Http;
use crate::token::{Client, Tokens, ask};

/// What a person is asked to authorize.
#[derive(Debug, Clone)]
pub struct Authorization {
    /// Where they do it.
    pub authorization: Url,
    /// Where its code is redeemed.
    pub token: Url,
    /// The issuer, where it is known: one that names another is not believed.
    pub issuer: Option<String>,
    /// Whether the issuer must name itself.
    pub names_itself: bool,
    /// The resource that the token is for.
    pub resource: Option<String>,
    /// The scopes that are asked for.
    pub scopes: BTreeSet<String>,
}

/// The place on this machine that the browser comes back to.
#[derive(Debug)]
pub struct Callback {
    listener: TcpListener,
    address: SocketAddr,
}

impl Callback {
    /// Listens on a port of loopback's; 0 picks one.
    pub async fn listen(port: u16) -> Result<Self, OauthError> {
        let failed = |error: std::io::Error| OauthError::System {
            operation: "listen for the browser",
            reason: error.to_string(),
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }

    /// The address that it is known by to the authorization server.
    pub fn redirect(&self) -> String {
        format!("http://{}/callback", self.address)
    }

    /// Begins an authorization.
    pub fn begin(
        self,
        authorization: Authorization,
        client: Client,
    ) -> Result<Pending, OauthError> {
        let (verifier, state) = (random()?, random()?);
        let challenge =
            URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.expose_secret().as_bytes()));
        let redirect = self.redirect();
        let mut url = authorization.authorization.clone();
        let scope = authorization.scopes.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        {
            let mut query = url.query_pairs_mut();
            query
                .append_pair("response_type", "code")
                .append_pair("client_id", &client.id)
                .append_pair("redirect_uri", &redirect)
                .append_pair("state", state.expose_secret())
                .append_pair("code_challenge", &challenge)
                .append_pair("code_challenge_method", "S256");
            if !scope.is_empty() {
                query.append_pair("scope", &scope);
            }
            if let Some(resource) = &authorization.resource {
                query.append_pair("resource", resource);
            }
        }
        Ok(Pending { callback: self, authorization, client, redirect, verifier, state, url })
    }
}

/// An authorization that a person is asked for.
#[derive(Debug)]
pub struct Pending {
    callback: Callback,
    authorization: Authorization,
    client: Client,
    redirect: String,
    verifier: SecretString,
    state: SecretString,
    url: Url,
}

/// What the browser brings.
#[derive(Deserialize)]
struct Brought {
    #[serde(default)]
    code: Option<SecretString>,
    #[serde(default)]
    state: Option<SecretString>,
    #[serde(default)]
    iss: Option<String>,
    #[serde(default)]
    error: Option<String>,
}

struct Waiting {
    state: SecretString,
    bring: Mutex<Option<oneshot::Sender<Brought>>>,
}

impl Pending {
    /// Where the person goes. Nothing secret stands in it but what this one authorization is known by.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Waits until they have, and redeems the code that the browser brings back.
    pub async fn finish(self, http: &Http, within: Duration) -> Result<Tokens, OauthError> {
        let Self { callback, authorization, client, redirect, verifier, state, .. } = self;
        let (bring, brought) = oneshot::channel();
        let waiting = Arc::new(Waiting { state, bring: Mutex::new(Some(bring)) });
        let router = Router::new().route("/callback", get(come)).with_state(waiting);
        let (stop, stopped) = oneshot::channel::<()>();
        let server = tokio::spawn(async move {
            let ended = axum::serve(callback.listener, router).with_graceful_shutdown(async {
                let _ = stopped.await;
            });
            // A browser keeps its connection open.
            let _ = tokio::time::timeout(within + Duration::from_secs(5), ended).await;
        });
        let come = tokio::time::timeout(within, brought).await;
        drop(stop);
        let _ = tokio::time::timeout(Duration::from_secs(1), server).await;
        let Ok(Ok(brought)) = come else {
            return Err(OauthError::Late { seconds: within.as_secs() });
        };
        // Whose code it is (RFC 9207): one of another server would be redeemed at this one.
        match (&brought.iss, &authorization.issuer) {
            (Some(said), Some(issuer)) if said != issuer => {
                return Err(OauthError::Denied("another issuer sent the browser back".to_owned()));
            }
            (None, Some(_)) if authorization.names_itself => {
                return Err(OauthError::Denied("the issuer did not name itself".to_owned()));
            }
            _ => {}
        }
        if let Some(error) = &brought.error {
            return Err(OauthError::Denied(code(error)));
        }
        let brought = brought
            .code
            .ok_or_else(|| OauthError::Denied("the browser brought no code".to_owned()))?;
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", brought.expose_secret()),
            ("redirect_uri", &redirect),
            ("code_verifier", verifier.expose_secret()),
        ];
        form.extend(authorization.resource.as_deref().map(|resource| ("resource", resource)));
        ask(http, &authorization.token, &client, form).await
    }
}

async fn come(State(waiting): State<Arc<Waiting>>, Query(brought): Query<Brought>) -> Response {
    let page = |status: StatusCode, text: &str| {
        let page = format!("<!doctype html><meta charset=utf-8><title>oz0</title><p>{text}</p>");
        let headers = [
            (header::CACHE_CONTROL, "no-store"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CONTENT_SECURITY_POLICY, "default-src 'none'"),
        ];
        (status, headers, Html(page)).into_response()
    };
    // Somebody else's page can send a browser here; it cannot know the state.
    let state = brought.state.as_ref().map(|state| state.expose_secret().as_bytes());
    let own = waiting.state.expose_secret().as_bytes();
    if !state.is_some_and(|state| bool::from(state.ct_eq(own))) {
        return page(StatusCode::BAD_REQUEST, "This is not the authorization that oz0 waits for.");
    }
    let bring = waiting.bring.lock().unwrap_or_else(PoisonError::into_inner).take();
    match bring {
        Some(bring) => {
            let _ = bring.send(brought);
            page(StatusCode::OK, "oz0 has it. You can close this page; the terminal says the rest.")
        }
        None => page(StatusCode::GONE, "oz0 had an answer already."),
    }
}

/// 256 random bits, as a URL can carry them.
fn random() -> Result<SecretString, OauthError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| OauthError::System {
        operation: "draw random bytes",
        reason: error.to_string(),
    })?;
    Ok(SecretString::from(URL_SAFE_NO_PAD.encode(bytes)))
}
