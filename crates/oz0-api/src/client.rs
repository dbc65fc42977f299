//! The one client of the API.
//!
//! It sends a token only where it was told to: it follows no redirect, reads no proxy from the
//! environment, and speaks plain `http` to loopback addresses alone.

mod connect;
mod credentials;
mod decide;
mod refusal;
mod versions;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client as Http;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use oz0_listing::Digest;
use rustls_platform_verifier::BuilderVerifierExt as _;
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::connect::Connector;
use crate::approval::Approval;
use crate::audit::{AuditCheck, AuditPage, AuditQuery};
use crate::call::{Ask, Call, JobResult};
use crate::change::{Approve, Approved, Changes};
use crate::id::{ApprovalId, CallId, PluginName, TokenId};
use crate::memory::MemoryConnector;
use crate::node::{Poll, PollQuery, Report, Verdicts};
use crate::plugin::{BUNDLE_TYPE, Catalog, Install, PluginDescription, PluginStatus};
use crate::problem::{Code, Kind, Problem};
use crate::token::{
    CheckClient, CheckedClient, ClientIdentity, CreateToken, CreatedToken, NodeStatus, TokenInfo,
    Tokens, Whoami,
};

/// The longest answer that is read, in bytes.
const ANSWER_LIMIT: usize = 64 * 1024 * 1024;

/// How long an answer may take that the edge gives at once.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How long a bundle may take on its way, in either direction.
const BUNDLE_TIMEOUT: Duration = Duration::from_mins(10);

/// A request's body, with its media type.
type Body = (&'static str, Bytes);

/// Why there is no answer to a request.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The edge's address is none, or one that is not spoken to.
    #[error("`{url}` is not the address of an edge: {reason}")]
    Address {
        /// What was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No connection, or one that broke.
    #[error("could not reach the edge at {to}: {reason}")]
    Unreachable {
        /// The edge.
        to: String,
        /// Why.
        reason: String,
        /// What to do about it, where something can be said.
        hint: Option<String>,
    },
    /// TLS cannot be spoken from here.
    #[error("could not set up TLS: {reason}")]
    Tls {
        /// Why.
        reason: String,
    },
    /// No answer in time. Whether the edge did it is not known.
    #[error("the edge at {to} did not answer `{what}` within {seconds} s")]
    TimedOut {
        /// The edge.
        to: String,
        /// The request.
        what: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// An answer that is not one of the API.
    #[error("{to} did not answer `{what}` as an edge does: {reason}")]
    Unreadable {
        /// Who answered.
        to: String,
        /// The request.
        what: String,
        /// What is wrong with the answer.
        reason: String,
    },
    /// The edge said no.
    #[error(transparent)]
    Problem(#[from] Problem),
}

impl ClientError {
    /// How a command ends because of it.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Address { .. } => Kind::Usage,
            Self::Unreachable { .. }
            | Self::Tls { .. }
            | Self::TimedOut { .. }
            | Self::Unreadable { .. } => Kind::Failed,
            Self::Problem(problem) => problem.code.kind(),
        }
    }

    /// What to do about it, where something can be said.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Address { .. } => Some("give it as `https://HOST[:PORT]`"),
            Self::Unreachable { hint, .. } => hint.as_deref(),
            Self::Tls { .. } => Some(
                "the authorities' certificates are those of the system, or those in the PEM file that SSL_CERT_FILE names",
            ),
            Self::Problem(problem) => problem.hint.as_deref(),
            Self::TimedOut { .. } | Self::Unreadable { .. } => None,
        }
    }

    /// The problem's code, where the edge said no.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Problem(problem) => Some(problem.code),
            _ => None,
        }
    }
}

/// A client of one edge; cheap to clone, and clones share connections.
#[derive(Clone)]
pub struct Client {
    http: Http<Connector, Full<Bytes>>,
    base: Arc<str>,
    to: Arc<str>,
    token: Option<Arc<str>>,
    trace: Option<Arc<str>>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("to", &self.to).finish_non_exhaustive()
    }
}

impl Client {
    /// A client of the edge at `url`: `https://HOST[:PORT]`, or `http://` to a loopback address.
    /// Certificates are checked as the operating system does it.
    pub fn tcp(url: &str) -> Result<Self, ClientError> {
        Self::tcp_by(url, || {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            rustls::ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .and_then(rustls::ConfigBuilder::with_platform_verifier)
                .map(
                    rustls::ConfigBuilder::<_, rustls::client::WantsClientCert>::with_no_client_auth,
                )
                .map_err(|error| ClientError::Tls { reason: error.to_string() })
        })
    }

    /// The same with a TLS configuration of the caller's, for an edge whose certificate the
    /// operating system does not know.
    pub fn tcp_with(url: &str, config: rustls::ClientConfig) -> Result<Self, ClientError> {
        Self::tcp_by(url, || Ok(config))
    }

    /// The same with a configuration that is made where TLS is spoken: elsewhere no authority needs to be known.
    fn tcp_by(
        url: &str,
        config: impl FnOnce() -> Result<rustls::ClientConfig, ClientError>,
    ) -> Result<Self, ClientError> {
        let wrong = |reason: &str| ClientError::Address {
            url: oz0_listing::escape::line(url).into_owned(),
            reason: reason.to_owned(),
        };
        let parsed = url::Url::parse(url).map_err(|error| wrong(&error.to_string()))?;
        let host = parsed.host().ok_or_else(|| wrong("it names no host"))?.to_owned();
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(wrong("user information does not belong into it"));
        }
        if parsed.path() != "/" || parsed.query().is_some() || parsed.fragment().is_some() {
            return Err(wrong("it must end after the host and port"));
        }
        let loopback = match &host {
            url::Host::Domain(name) => name == "localhost",
            url::Host::Ipv4(ip) => ip.is_loopback(),
            url::Host::Ipv6(ip) => ip.is_loopback(),
        };
        let tls = match parsed.scheme() {
            "https" => Some(Arc::new(config()?)),
            "http" if loopback => None,
            "http" => {
                return Err(wrong(
                    "plain `http` is spoken to loopback addresses only; use `https`",
                ));
            }
            _ => return Err(wrong("its scheme must be `https`")),
        };
        let port = parsed.port_or_known_default().unwrap_or(443);
        let base = parsed.origin().ascii_serialization();
        Ok(Self::new(Connector::Tcp { host, port, tls }, &base, &base))
    }

    /// A client of the edge behind the Unix socket at `path`.
    pub fn unix(path: &Path) -> Self {
        let shown = path.display().to_string();
        Self::new(Connector::Unix(PathBuf::from(path)), "http://localhost", &shown)
    }

    /// A client of the edge in this process.
    pub fn memory(connector: MemoryConnector) -> Self {
        Self::new(Connector::Memory(connector), "http://localhost", "this process")
    }

    fn new(connector: Connector, base: &str, to: &str) -> Self {
        let http = Http::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_secs(20))
            .build(connector);
        Self { http, base: base.into(), to: to.into(), token: None, trace: None }
    }

    /// The same edge as somebody else: requests carry `token`.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.trim().into()), ..self.clone() }
    }

    /// The same client in the middle of a call: requests carry this `traceparent` (W3C Trace Context), so that the edge's log
    /// has the call's ID.
    #[must_use]
    pub fn in_trace(&self, trace_parent: &str) -> Self {
        Self { trace: Some(trace_parent.into()), ..self.clone() }
    }

    /// Who the edge takes the asker for.
    pub async fn whoami(&self) -> Result<Whoami, ClientError> {
        self.get("/v1/whoami").await
    }

    /// Installs a version, or registers a folder run in place. A plugin that is run from another folder is not
    /// replaced: that is [`Code::Conflict`](crate::Code::Conflict).
    pub async fn install(&self, plugin: &PluginDescription) -> Result<PluginStatus, ClientError> {
        self.put_plugin(plugin, &Install::default()).await
    }

    /// Installs a version, on terms.
    pub async fn install_on(
        &self,
        plugin: &PluginDescription,
        terms: &Install,
    ) -> Result<PluginStatus, ClientError> {
        self.put_plugin(plugin, terms).await
    }

    async fn put_plugin(
        &self,
        plugin: &PluginDescription,
        terms: &Install,
    ) -> Result<PluginStatus, ClientError> {
        let path = {
            let mut query = url::form_urlencoded::Serializer::new(String::new());
            if let Some(folder) = &terms.instead_of {
                query.append_pair("instead_of", folder);
            }
            if terms.update {
                query.append_pair("update", "true");
            }
            if let Some(rollout) = &terms.rollout {
                query.append_pair("rollout", &rollout.to_string());
            }
            if terms.downgrade {
                query.append_pair("downgrade", "true");
            }
            format!("/v1/plugins/{}?{}", plugin.name, query.finish())
        };
        self.send(Method::PUT, path.trim_end_matches('?'), Some(plugin), TIMEOUT).await
    }

    /// The installed plugins, by name.
    pub async fn plugins(&self) -> Result<Vec<PluginStatus>, ClientError> {
        self.get("/v1/plugins").await
    }

    /// One installed plugin.
    pub async fn plugin(&self, name: &PluginName) -> Result<PluginStatus, ClientError> {
        self.get(&format!("/v1/plugins/{name}")).await
    }

    /// Removes a plugin: nodes stop running it. Its snapshots stay.
    pub async fn remove(&self, name: &PluginName) -> Result<(), ClientError> {
        self.send(Method::DELETE, &format!("/v1/plugins/{name}"), None::<&()>, TIMEOUT).await
    }

    /// What waits for approval in a plugin.
    pub async fn changes(&self, name: &PluginName) -> Result<Changes, ClientError> {
        self.get(&format!("/v1/plugins/{name}/changes")).await
    }

    /// Approves the changes that were looked at.
    pub async fn approve(
        &self,
        name: &PluginName,
        approve: &Approve,
    ) -> Result<Approved, ClientError> {
        self.post(&format!("/v1/plugins/{name}/approve"), approve).await
    }

    /// What models and MCP clients read.
    pub async fn catalog(&self) -> Result<Catalog, ClientError> {
        self.get("/v1/catalog").await
    }

    /// Hands the edge a bundle, by its digest, so that a version with that digest can be installed.
    pub async fn put_bundle(&self, digest: Digest, bundle: Bytes) -> Result<(), ClientError> {
        let path = format!("/v1/bundles/{digest}");
        self.send_body(Method::PUT, &path, Some((BUNDLE_TYPE, bundle)), BUNDLE_TIMEOUT).await
    }

    /// The bundle with this digest, as the edge keeps it. Whoever gets it checks it: by its digest.
    pub async fn bundle(&self, digest: Digest) -> Result<Bytes, ClientError> {
        let path = format!("/v1/bundles/{digest}");
        self.exchange(Method::GET, &path, None, BUNDLE_TIMEOUT).await
    }

    /// Turns a token of kind [`TokenKind::Join`](crate::token::TokenKind::Join), which this client must have, into the token of the node
    /// that it is for. It works once.
    pub async fn join(&self) -> Result<CreatedToken, ClientError> {
        self.post("/v1/join", &()).await
    }

    /// Waits for what changed for this node.
    pub async fn poll(&self, query: &PollQuery) -> Result<Poll, ClientError> {
        let wait = Duration::from_secs(query.wait.unwrap_or(30));
        self.send(Method::POST, "/v1/poll", Some(query), TIMEOUT + wait).await
    }

    /// Tells the edge that this node ends: it counts as away until it polls again.
    pub async fn leave(&self) -> Result<(), ClientError> {
        self.post("/v1/leave", &()).await
    }

    /// Reports what a server listed.
    pub async fn report(&self, report: &Report) -> Result<Verdicts, ClientError> {
        self.post("/v1/listings", report).await
    }

    /// Asks for a call and waits for its end. One that names no node, and that its node does not take, is offered to
    /// another.
    pub async fn call(&self, ask: &Ask) -> Result<Call, ClientError> {
        self.call_telling(ask, |_| ()).await
    }

    /// Asks for a call and waits for its end; tells of each person's decision that it waits for meanwhile.
    pub async fn call_telling(
        &self,
        ask: &Ask,
        mut tell: impl FnMut(&Approval),
    ) -> Result<Call, ClientError> {
        let mut call: Call = self.post("/v1/calls", ask).await?;
        let mut told: Option<ApprovalId> = None;
        while !call.state.is_final() {
            if let Some(approval) = &call.approval
                && told.as_ref() != Some(&approval.id)
            {
                tell(approval);
                told = Some(approval.id.clone());
            }
            let known = told.iter().fold(String::new(), |_, id| format!("&known={id}"));
            let path =
                format!("/v1/calls/{}?wait=30&anywhere={}{known}", call.id, ask.node.is_none());
            call = self
                .send(Method::GET, &path, None::<&()>, TIMEOUT + Duration::from_secs(30))
                .await?;
        }
        Ok(call)
    }

    /// Asks for a call and does not wait.
    pub async fn ask(&self, ask: &Ask) -> Result<Call, ClientError> {
        self.post("/v1/calls", ask).await
    }

    /// How far an asked call has come.
    pub async fn asked(&self, id: &CallId) -> Result<Call, ClientError> {
        self.get(&format!("/v1/calls/{id}")).await
    }

    /// Answers a job.
    pub async fn answer(&self, id: &CallId, result: &JobResult) -> Result<(), ClientError> {
        self.post(&format!("/v1/calls/{id}/result"), result).await
    }

    /// A page of the audit log; with [`AuditQuery::wait`], the next entry when it comes.
    pub async fn audit(&self, query: &AuditQuery) -> Result<AuditPage, ClientError> {
        let mut path = format!("/v1/audit?after={}", query.after);
        if let Some(limit) = query.limit {
            let _ = write!(path, "&limit={limit}");
        }
        if let Some(wait) = query.wait {
            let _ = write!(path, "&wait={wait}");
        }
        let wait = Duration::from_secs(query.wait.unwrap_or(0));
        self.send(Method::GET, &path, None::<&()>, TIMEOUT + wait).await
    }

    /// Checks the audit log's chains.
    pub async fn verify_audit(&self) -> Result<AuditCheck, ClientError> {
        let long = Duration::from_mins(10);
        self.send(Method::GET, "/v1/audit/verify", None::<&()>, long).await
    }

    /// Makes a token.
    pub async fn create_token(&self, create: &CreateToken) -> Result<CreatedToken, ClientError> {
        self.post("/v1/tokens", create).await
    }

    /// The tokens.
    pub async fn tokens(&self) -> Result<Tokens, ClientError> {
        self.get("/v1/tokens").await
    }

    /// Revokes a token; it stops working at once.
    pub async fn revoke_token(&self, id: &TokenId) -> Result<TokenInfo, ClientError> {
        self.send(Method::DELETE, &format!("/v1/tokens/{id}"), None::<&()>, TIMEOUT).await
    }

    /// The MCP client that showed this token; none where the edge takes it for nobody's. For nodes.
    pub async fn check_client(&self, token: &str) -> Result<Option<ClientIdentity>, ClientError> {
        let check = CheckClient { token: token.to_owned() };
        let checked: CheckedClient = self.post("/v1/clients/check", &check).await?;
        Ok(checked.client)
    }

    /// The nodes that ever asked.
    pub async fn nodes(&self) -> Result<Vec<NodeStatus>, ClientError> {
        self.get("/v1/nodes").await
    }

    /// Whether the edge is in service, and answers at all. Nothing is written for it, so a command can begin with it.
    pub async fn healthy(&self) -> Result<(), ClientError> {
        self.get("/healthz").await
    }

    /// Whether the edge can do all of its work, of which writing is a part: something is written to see that.
    pub async fn ready(&self) -> Result<(), ClientError> {
        self.get("/readyz").await
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.send(Method::GET, path, None::<&()>, TIMEOUT).await
    }

    async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, ClientError> {
        self.send(Method::POST, path, Some(body), TIMEOUT).await
    }

    async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&impl Serialize>,
        timeout: Duration,
    ) -> Result<T, ClientError> {
        let body = match body {
            Some(body) => {
                let bytes = serde_json::to_vec(body).map_err(|error| {
                    self.unreadable(&method, path, format!("what is asked is no JSON: {error}"))
                })?;
                Some(("application/json", Bytes::from(bytes)))
            }
            None => None,
        };
        self.send_body(method, path, body, timeout).await
    }

    async fn send_body<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<Body>,
        timeout: Duration,
    ) -> Result<T, ClientError> {
        let bytes = self.exchange(method.clone(), path, body, timeout).await?;
        serde_json::from_slice(&bytes)
            .map_err(|error| self.unreadable(&method, path, error.to_string()))
    }

    /// Whether the edge is looked for on this machine, in a data folder.
    fn is_local(&self) -> bool {
        !self.to.starts_with("http")
    }

    fn unreadable(&self, method: &Method, path: &str, reason: String) -> ClientError {
        ClientError::Unreadable { to: self.to.to_string(), what: what(method, path), reason }
    }

    /// Sends a request and reads its answer whole.
    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<Body>,
        timeout: Duration,
    ) -> Result<Bytes, ClientError> {
        let unreadable = |reason: String| self.unreadable(&method, path, reason);
        let mut request = Request::builder()
            .method(method.clone())
            .uri(format!("{}{path}", self.base))
            .header(header::ACCEPT, "application/json");
        if let Some(token) = &self.token {
            let mut value =
                header::HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| {
                    Problem::new(Code::Malformed, "the token holds characters that no token has")
                })?;
            value.set_sensitive(true);
            request = request.header(header::AUTHORIZATION, value);
        }
        if let Some(trace) = &self.trace {
            request = request.header("traceparent", &**trace);
        }
        let bytes = match body {
            Some((kind, bytes)) => {
                request = request.header(header::CONTENT_TYPE, kind);
                bytes
            }
            None => Bytes::new(),
        };
        let request =
            request.body(Full::new(bytes)).map_err(|error| unreadable(error.to_string()))?;

        let exchange = async {
            let answer = self.http.request(request).await.map_err(|error| {
                let (reason, hint) = refusal::explain(&error, self.is_local());
                ClientError::Unreachable { to: self.to.to_string(), reason, hint }
            })?;
            let (head, body) = answer.into_parts();
            let body = Limited::new(body, ANSWER_LIMIT)
                .collect()
                .await
                .map_err(|error| unreadable(format!("its body could not be read: {error}")))?;
            Ok::<_, ClientError>((head.status, body.to_bytes()))
        };
        let (status, bytes) = tokio::time::timeout(timeout, exchange).await.map_err(|_| {
            ClientError::TimedOut {
                to: self.to.to_string(),
                what: what(&method, path),
                seconds: timeout.as_secs(),
            }
        })??;

        if status.is_success() {
            return Ok(match status {
                StatusCode::NO_CONTENT => Bytes::from_static(b"null"),
                _ => bytes,
            });
        }
        if status.is_redirection() {
            return Err(unreadable(format!(
                "it answered {status}, and redirects are not followed"
            )));
        }
        match serde_json::from_slice::<Problem>(&bytes) {
            Ok(problem) => Err(problem.into()),
            Err(_) => Err(unreadable(format!("it answered {status} without a problem in JSON"))),
        }
    }
}

/// A request as messages name it.
fn what(method: &Method, path: &str) -> String {
    format!("{method} {}", path.split('?').next().unwrap_or(path))
}
