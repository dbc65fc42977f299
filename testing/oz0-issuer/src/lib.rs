//! An authorization server on loopback, for tests: it issues, renews and revokes tokens as OAuth 2.1 has it, remembers what it
//! was asked, and refuses on request. Behind it, at `/mcp`, is an MCP server that takes no call without a live token of its.
//!
//! It is small, and it is real: codes are redeemed once and by whoever holds their verifier, and a refresh token that was used
//! is worth nothing.

mod mcp;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Form, Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Every secret that a server makes begins so: a test looks for it where none may be.
pub const MARK: &str = "s3cr3t";

/// How it behaves; changed while it runs.
#[derive(Debug, Clone)]
pub struct Manner {
    /// How long access tokens count.
    pub life: Duration,
    /// Refuses to renew, in these words.
    pub refuses: bool,
    /// Names token endpoints at this origin instead of its own.
    pub elsewhere: Option<String>,
    /// Says that it is this issuer.
    pub issuer: Option<String>,
    /// Says that what it protects is this.
    pub resource: Option<String>,
    /// Sends whoever reads its metadata there.
    pub redirects: Option<String>,
    /// Does not say that it knows PKCE.
    pub without_pkce: bool,
    /// Grants these scopes, whatever it was asked for.
    pub grants: Option<BTreeSet<String>>,
}

/// What it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The path.
    pub path: String,
    /// The form or the query.
    pub form: BTreeMap<String, String>,
    /// The header `Authorization`.
    pub authorization: Option<String>,
}

/// A request that the MCP server got.
#[derive(Debug, Clone)]
pub struct Request {
    /// The header `Authorization`.
    pub authorization: Option<String>,
    /// The message.
    pub body: Value,
}

#[derive(Debug)]
struct Live {
    access: BTreeMap<String, Instant>,
    refresh: BTreeMap<String, String>,
    codes: BTreeMap<String, Code>,
    asked: Vec<Asked>,
    requests: Vec<Request>,
    revoked: Vec<String>,
    manner: Manner,
    drawn: u64,
}

#[derive(Debug)]
struct Code {
    challenge: String,
    redirect: String,
    client: String,
    scope: String,
}

#[derive(Debug, Clone)]
struct Shared {
    url: Arc<str>,
    live: Arc<Mutex<Live>>,
}

/// A running server; it goes with its value.
#[derive(Debug)]
pub struct Issuer {
    shared: Shared,
    address: SocketAddr,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
}

impl Issuer {
    /// Starts one, in a thread of its own.
    ///
    /// # Panics
    ///
    /// When it cannot listen: there is no test without it.
    #[expect(clippy::new_without_default, reason = "it starts a server")]
    pub fn new() -> Self {
        let (tell, told) = mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
                let address = listener.local_addr().expect("its address");
                let live = Live {
                    access: BTreeMap::new(),
                    refresh: BTreeMap::new(),
                    codes: BTreeMap::new(),
                    asked: Vec::new(),
                    requests: Vec::new(),
                    revoked: Vec::new(),
                    manner: Manner {
                        life: Duration::from_hours(1),
                        refuses: false,
                        elsewhere: None,
                        issuer: None,
                        resource: None,
                        redirects: None,
                        without_pkce: false,
                        grants: None,
                    },
                    drawn: 0,
                };
                let shared = Shared {
                    url: format!("http://{address}").into(),
                    live: Arc::new(Mutex::new(live)),
                };
                tell.send((shared.clone(), address)).expect("somebody waits");
                let router = Router::new()
                    .route("/.well-known/oauth-authorization-server", get(metadata))
                    .route("/.well-known/oauth-protected-resource/mcp", get(resource))
                    .route("/authorize", get(authorize))
                    .route("/token", post(token))
                    .route("/revoke", post(revoke))
                    .route("/register", post(register))
                    .route("/mcp", post(mcp::answer))
                    .with_state(shared);
                let served = axum::serve(listener, router);
                tokio::select! {
                    served = async { served.await } => served.expect("it serves"),
                    _ = stopped => {}
                }
            });
        });
        let (shared, address) = told.recv().expect("it starts");
        Self { shared, address, stop: Some(stop) }
    }

    /// Its issuer, `http://127.0.0.1:PORT`.
    pub fn url(&self) -> &str {
        &self.shared.url
    }

    /// The MCP server behind it.
    pub fn mcp(&self) -> String {
        format!("{}/mcp", self.shared.url)
    }

    /// Its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes how it behaves.
    pub fn behave(&self, change: impl FnOnce(&mut Manner)) {
        change(&mut self.shared.live().manner);
    }

    /// A pair of tokens, as if somebody had authorized it: access, refresh.
    pub fn grant(&self) -> (String, String) {
        let mut live = self.shared.live();
        let access = live.make_access();
        let refresh = live.make_refresh("client");
        (access, refresh)
    }

    /// What it was asked at this path.
    pub fn asked(&self, path: &str) -> Vec<Asked> {
        self.shared.live().asked.iter().filter(|asked| asked.path == path).cloned().collect()
    }

    /// What the MCP server got.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.live().requests.clone()
    }

    /// The tokens that were revoked.
    pub fn revoked(&self) -> Vec<String> {
        self.shared.live().revoked.clone()
    }

    /// Whether an access token counts now.
    pub fn counts(&self, token: &str) -> bool {
        self.shared.live().counts(token)
    }
}

/// Does what a browser does with this address: goes there, and wherever it is sent; gives the last page's status.
///
/// # Panics
///
/// When a page cannot be reached.
pub fn browse(url: &str) -> u16 {
    let mut url = url::Url::parse(url).expect("a URL");
    for _ in 0..5 {
        let (status, location) = fetch(&url);
        match location {
            Some(location) => url = url.join(&location).expect("a URL"),
            None => return status,
        }
    }
    panic!("it is sent round and round");
}

impl Drop for Issuer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }
}

/// One GET over a connection of its own: the status, and where it points.
fn fetch(url: &url::Url) -> (u16, Option<String>) {
    let host = url.host_str().expect("a host");
    let port = url.port_or_known_default().expect("a port");
    let mut stream = TcpStream::connect((host, port)).expect("somebody listens");
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    write!(
        stream,
        "GET {}{query} HTTP/1.1\r\nhost: {host}:{port}\r\nconnection: close\r\n\r\n",
        url.path()
    )
    .expect("it can be sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers");
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let location = text.lines().take_while(|line| !line.is_empty()).find_map(|line| {
        line.to_ascii_lowercase().starts_with("location: ").then(|| line[10..].to_owned())
    });
    (status, location)
}

impl Shared {
    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    fn draw(&mut self, what: &str) -> String {
        self.drawn += 1;
        format!("{MARK}-{what}-{:08x}", self.drawn)
    }

    fn make_access(&mut self) -> String {
        let token = self.draw("access");
        self.access.insert(token.clone(), Instant::now() + self.manner.life);
        token
    }

    fn make_refresh(&mut self, client: &str) -> String {
        let token = self.draw("refresh");
        self.refresh.insert(token.clone(), client.to_owned());
        token
    }

    fn counts(&self, token: &str) -> bool {
        self.access.get(token).is_some_and(|until| Instant::now() < *until)
    }

    fn answer(&mut self, client: &str, scope: &str, with_refresh: bool) -> Response {
        let mut body = json!({
            "access_token": self.make_access(),
            "token_type": "Bearer",
            "expires_in": self.manner.life.as_secs(),
        });
        if with_refresh {
            body["refresh_token"] = json!(self.make_refresh(client));
        }
        let granted = match &self.manner.grants {
            Some(grants) => grants.iter().cloned().collect::<Vec<_>>().join(" "),
            None => scope.to_owned(),
        };
        if !granted.is_empty() {
            body["scope"] = json!(granted);
        }
        Json(body).into_response()
    }
}

async fn metadata(State(shared): State<Shared>) -> Response {
    let manner = shared.live().manner.clone();
    if let Some(to) = &manner.redirects {
        return Redirect::temporary(to).into_response();
    }
    let own = &*shared.url;
    let elsewhere = manner.elsewhere.as_deref().unwrap_or(own);
    let mut document = json!({
        "issuer": manner.issuer.as_deref().unwrap_or(own),
        "authorization_endpoint": format!("{own}/authorize"),
        "token_endpoint": format!("{elsewhere}/token"),
        "revocation_endpoint": format!("{own}/revoke"),
        "registration_endpoint": format!("{own}/register"),
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
        "authorization_response_iss_parameter_supported": true,
    });
    if !manner.without_pkce {
        document["code_challenge_methods_supported"] = json!(["S256"]);
    }
    Json(document).into_response()
}

async fn resource(State(shared): State<Shared>) -> Json<Value> {
    let own = format!("{}/mcp", shared.url);
    Json(json!({
        "resource": shared.live().manner.resource.clone().unwrap_or(own),
        "authorization_servers": [&*shared.url],
    }))
}

async fn authorize(
    State(shared): State<Shared>,
    Query(query): Query<BTreeMap<String, String>>,
) -> Response {
    let said = |name: &str| query.get(name).cloned().unwrap_or_default();
    let mut live = shared.live();
    live.asked.push(Asked {
        path: "/authorize".to_owned(),
        form: query.clone(),
        authorization: None,
    });
    if said("response_type") != "code" || said("code_challenge_method") != "S256" {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let code = live.draw("code");
    live.codes.insert(
        code.clone(),
        Code {
            challenge: said("code_challenge"),
            redirect: said("redirect_uri"),
            client: said("client_id"),
            scope: said("scope"),
        },
    );
    let mut to = url::Url::parse(&said("redirect_uri")).expect("a URL");
    to.query_pairs_mut()
        .append_pair("code", &code)
        .append_pair("state", &said("state"))
        .append_pair("iss", &shared.url);
    Redirect::to(to.as_str()).into_response()
}

/// The client of a request, by the header or the form.
fn client(headers: &HeaderMap, form: &BTreeMap<String, String>) -> String {
    let basic = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok()?.strip_prefix("Basic "))
        .and_then(|value| String::from_utf8(STANDARD.decode(value).ok()?).ok());
    match basic {
        Some(both) => both.split(':').next().unwrap_or_default().to_owned(),
        None => form.get("client_id").cloned().unwrap_or_default(),
    }
}

fn note(live: &mut Live, path: &str, headers: &HeaderMap, form: &BTreeMap<String, String>) {
    let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    live.asked.push(Asked {
        path: path.to_owned(),
        form: form.clone(),
        authorization: authorization.map(str::to_owned),
    });
}

async fn token(
    State(shared): State<Shared>,
    headers: HeaderMap,
    Form(form): Form<BTreeMap<String, String>>,
) -> Response {
    let said = |name: &str| form.get(name).cloned().unwrap_or_default();
    let mut live = shared.live();
    note(&mut live, "/token", &headers, &form);
    // Its prose says more than it should, as such servers' do.
    let no = |code: &str| {
        let prose = format!("not this one: {form:?} {headers:?}");
        let body = json!({"error": code, "error_description": prose});
        (StatusCode::BAD_REQUEST, Json(body)).into_response()
    };
    let client = client(&headers, &form);
    match said("grant_type").as_str() {
        "authorization_code" => {
            let Some(code) = live.codes.remove(&said("code")) else { return no("invalid_grant") };
            let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(said("code_verifier")));
            if challenge != code.challenge
                || code.redirect != said("redirect_uri")
                || code.client != client
            {
                return no("invalid_grant");
            }
            live.answer(&client, &code.scope, true)
        }
        "refresh_token" => {
            if live.manner.refuses {
                return no("invalid_grant");
            }
            // Each is used once.
            if live.refresh.remove(&said("refresh_token")).is_none() {
                return no("invalid_grant");
            }
            live.answer(&client, "", true)
        }
        "client_credentials" => live.answer(&client, &said("scope"), false),
        _ => no("unsupported_grant_type"),
    }
}

async fn revoke(
    State(shared): State<Shared>,
    headers: HeaderMap,
    Form(form): Form<BTreeMap<String, String>>,
) -> StatusCode {
    let mut live = shared.live();
    note(&mut live, "/revoke", &headers, &form);
    let token = form.get("token").cloned().unwrap_or_default();
    live.access.remove(&token);
    live.refresh.remove(&token);
    live.revoked.push(token);
    StatusCode::OK
}

async fn register(State(shared): State<Shared>, Json(body): Json<Value>) -> Response {
    let mut live = shared.live();
    live.asked.push(Asked {
        path: "/register".to_owned(),
        form: BTreeMap::from([("body".to_owned(), body.to_string())]),
        authorization: None,
    });
    let answer = json!({"client_id": "registered", "redirect_uris": body["redirect_uris"]});
    (StatusCode::CREATED, Json(answer)).into_response()
}
