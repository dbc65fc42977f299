//! Tokens: made, renewed, revoked (RFC 6749, RFC 7009, RFC 8707), and clients registered (RFC 7591).

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};
use zeroize::Zeroizing;

use crate::error::{OauthError, code};
use crate::http::{Answered, Http, place};

/// The longest token that is taken, in bytes: one that no header could carry is none.
const LONGEST: usize = 16 * 1024;

/// How a client says who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// It has no secret.
    None,
    /// In the header `Authorization`.
    Basic,
    /// In the request's body.
    Post,
}

/// A client.
#[derive(Debug, Clone)]
pub struct Client {
    /// Its identifier.
    pub id: String,
    /// Its secret, if it has one.
    pub secret: Option<SecretString>,
    /// How it shows that.
    pub auth: Auth,
}

/// Where an authorization server is asked.
#[derive(Debug, Clone)]
pub struct Endpoints {
    /// For tokens.
    pub token: Url,
    /// For their end, if anywhere.
    pub revocation: Option<Url>,
    /// The resource that tokens are for.
    pub resource: Option<String>,
}

/// What is shown for tokens.
pub(crate) type Parameters<'a> = Vec<(&'a str, &'a str)>;

/// Tokens, as they came.
#[derive(Debug, Clone)]
pub struct Tokens {
    /// The one that calls get.
    pub access: SecretString,
    /// The one that renews it.
    pub refresh: Option<SecretString>,
    /// How long the first counts, in seconds.
    pub expires_in: Option<u64>,
    /// The scopes that were granted, where the server says so; else those that were asked for.
    pub scopes: Option<BTreeSet<String>>,
}

/// What became of tokens that were to be revoked.
#[derive(Debug)]
pub enum Revoked {
    /// They are.
    Done,
    /// There is nowhere to do it.
    NotOffered,
}

#[derive(Deserialize)]
struct Answer {
    access_token: SecretString,
    token_type: String,
    #[serde(default)]
    expires_in: Option<Seconds>,
    #[serde(default)]
    refresh_token: Option<SecretString>,
    #[serde(default)]
    scope: Option<String>,
}

/// A number of seconds: some servers write it as a text, or with a fraction.
#[derive(Deserialize)]
#[serde(untagged)]
enum Seconds {
    Whole(u64),
    Part(f64),
    Text(String),
}

impl Seconds {
    fn get(&self) -> Option<u64> {
        match self {
            Self::Whole(seconds) => Some(*seconds),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the range is checked"
            )]
            Self::Part(seconds) => {
                (0.0..=4_000_000_000.0).contains(seconds).then(|| seconds.floor() as u64)
            }
            Self::Text(text) => text.parse().ok(),
        }
    }
}

#[derive(Deserialize)]
struct Refused {
    error: String,
}

/// Renews tokens. Where the answer has no refresh token, the one that was shown goes on.
pub async fn refresh(
    http: &Http,
    endpoints: &Endpoints,
    client: &Client,
    token: &str,
) -> Result<Tokens, OauthError> {
    let mut form = vec![("grant_type", "refresh_token"), ("refresh_token", token)];
    form.extend(endpoints.resource.as_deref().map(|resource| ("resource", resource)));
    ask(http, &endpoints.token, client, form).await
}

/// Asks for a token for the client itself.
pub async fn client_credentials(
    http: &Http,
    endpoints: &Endpoints,
    client: &Client,
    scopes: &BTreeSet<String>,
) -> Result<Tokens, OauthError> {
    let scope = scopes.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let mut form = vec![("grant_type", "client_credentials")];
    if !scope.is_empty() {
        form.push(("scope", &scope));
    }
    form.extend(endpoints.resource.as_deref().map(|resource| ("resource", resource)));
    ask(http, &endpoints.token, client, form).await
}

/// Asks for tokens.
pub(crate) async fn ask(
    http: &Http,
    url: &Url,
    client: &Client,
    form: Parameters<'_>,
) -> Result<Tokens, OauthError> {
    let answered = send(http, url, client, form).await?;
    let at = place(url);
    if !answered.status.is_success() {
        return Err(refusal(at, &answered));
    }
    let unreadable =
        |reason: &str| OauthError::Unreadable { at: at.clone(), reason: reason.to_owned() };
    // What cannot be read is not quoted: it is tokens.
    let answer: Answer = match serde_json::from_slice(&answered.body) {
        Ok(answer) => answer,
        // Some say no with HTTP 200.
        Err(_) => {
            return Err(match serde_json::from_slice::<Refused>(&answered.body) {
                Ok(refused) => OauthError::Refused { at, code: code(&refused.error) },
                Err(_) => unreadable("its answer has no access token"),
            });
        }
    };
    if !answer.token_type.eq_ignore_ascii_case("bearer") {
        return Err(unreadable("its token is no bearer token"));
    }
    let tokens = [Some(&answer.access_token), answer.refresh_token.as_ref()];
    for token in tokens.into_iter().flatten() {
        let token = token.expose_secret();
        if token.is_empty() || token.len() > LONGEST || !token.bytes().all(|b| b.is_ascii_graphic())
        {
            return Err(unreadable("its token holds characters that no token has"));
        }
    }
    let scopes = answer.scope.map(|scope| {
        scope.split([' ', ',']).filter(|one| !one.is_empty()).map(str::to_owned).collect()
    });
    Ok(Tokens {
        access: answer.access_token,
        refresh: answer.refresh_token,
        expires_in: answer.expires_in.as_ref().and_then(Seconds::get),
        scopes,
    })
}

/// Has a token revoked. A server that has no such token any more says that it did (RFC 7009, section 2.2).
pub async fn revoke(
    http: &Http,
    endpoints: &Endpoints,
    client: &Client,
    token: &str,
    hint: &str,
) -> Result<Revoked, OauthError> {
    let Some(url) = &endpoints.revocation else { return Ok(Revoked::NotOffered) };
    let form = vec![("token", token), ("token_type_hint", hint)];
    let answered = send(http, url, client, form).await?;
    if answered.status.is_success() {
        return Ok(Revoked::Done);
    }
    Err(refusal(place(url), &answered))
}

/// Registers a client that has no secret, for a redirect to this machine.
pub async fn register(http: &Http, url: &Url, redirect: &str) -> Result<Client, OauthError> {
    #[derive(Serialize)]
    struct Metadata<'a> {
        client_name: &'a str,
        redirect_uris: [&'a str; 1],
        grant_types: [&'a str; 2],
        response_types: [&'a str; 1],
        token_endpoint_auth_method: &'a str,
    }
    #[derive(Deserialize)]
    struct Registered {
        client_id: String,
        #[serde(default)]
        client_secret: Option<SecretString>,
        #[serde(default)]
        token_endpoint_auth_method: Option<String>,
    }
    let metadata = Metadata {
        client_name: "oz0",
        redirect_uris: [redirect],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
    };
    let json = serde_json::to_string(&metadata).expect("texts are written as JSON");
    let answered = http.json(url, json).await?;
    if !answered.status.is_success() {
        return Err(refusal(place(url), &answered));
    }
    let registered: Registered = serde_json::from_slice(&answered.body).map_err(|_| {
        OauthError::Unreadable { at: place(url), reason: "its answer has no client ID".to_owned() }
    })?;
    let auth = match (&registered.client_secret, registered.token_endpoint_auth_method.as_deref()) {
        (None, _) => Auth::None,
        (Some(_), Some("client_secret_post")) => Auth::Post,
        (Some(_), _) => Auth::Basic,
    };
    Ok(Client { id: registered.client_id, secret: registered.client_secret, auth })
}

fn refusal(at: String, answered: &Answered) -> OauthError {
    let status = answered.status;
    match serde_json::from_slice::<Refused>(&answered.body) {
        Ok(refused) if status.is_client_error() => {
            OauthError::Refused { at, code: code(&refused.error) }
        }
        _ if status.as_u16() == 401 => {
            OauthError::Refused { at, code: "invalid_client".to_owned() }
        }
        _ => OauthError::Unreadable { at, reason: format!("HTTP {}", status.as_u16()) },
    }
}

async fn send(
    http: &Http,
    url: &Url,
    client: &Client,
    form: Parameters<'_>,
) -> Result<Answered, OauthError> {
    let mut authorization = None;
    let mut pairs = form;
    match (client.auth, &client.secret) {
        (Auth::Basic, Some(secret)) => {
            // RFC 6749, section 2.3.1: both as in a form, before base64.
            let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
            let both = Zeroizing::new(format!(
                "{}:{}",
                encoded(&client.id),
                encoded(secret.expose_secret())
            ));
            let value = Zeroizing::new(format!("Basic {}", STANDARD.encode(both.as_bytes())));
            let mut value = HeaderValue::from_str(&value).expect("base64 is visible ASCII");
            value.set_sensitive(true);
            authorization = Some(value);
        }
        (Auth::Post, Some(secret)) => {
            pairs.push(("client_id", &client.id));
            pairs.push(("client_secret", secret.expose_secret()));
        }
        _ => pairs.push(("client_id", &client.id)),
    }
    let form = Zeroizing::new(Serializer::new(String::new()).extend_pairs(pairs).finish());
    http.form(url, form, authorization).await
}
