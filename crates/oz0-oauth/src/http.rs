//! The one place that makes requests.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Once;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, StatusCode};
use url::{Host, Url};
use zeroize::Zeroizing;

use crate::endpoint::{endpoint, is_loopback};
use crate::error::OauthError;

/// For a whole exchange.
const WITHIN: Duration = Duration::from_secs(10);

/// The longest answer that is read, in bytes.
const ANSWER: usize = 256 * 1024;

/// Makes requests to authorization servers; cheap to clone, and clones share connections.
#[derive(Debug, Clone)]
pub struct Http {
    client: reqwest::Client,
}

/// What a server answered.
pub(crate) struct Answered {
    pub(crate) status: StatusCode,
    pub(crate) body: Zeroizing<Vec<u8>>,
}

impl Http {
    /// A client that follows no redirect and asks no proxy of the environment.
    pub fn new() -> Result<Self, OauthError> {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            // Fails only where the process has chosen one, which is as good.
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        // RFC 6761: this name is this machine, whatever a resolver says.
        let here = [(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 0).into()];
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .timeout(WITHIN)
            .resolve_to_addrs("localhost", &here)
            .build()
            .map_err(|error| OauthError::System {
                operation: "set up HTTP",
                reason: described(error),
            })?;
        Ok(Self { client })
    }

    pub(crate) async fn get(&self, url: &Url) -> Result<Answered, OauthError> {
        self.exchange(Method::GET, url, None, None).await
    }

    /// Posts a form, as the client that the header names.
    pub(crate) async fn form(
        &self,
        url: &Url,
        form: Zeroizing<String>,
        authorization: Option<HeaderValue>,
    ) -> Result<Answered, OauthError> {
        let body = ("application/x-www-form-urlencoded", form);
        self.exchange(Method::POST, url, Some(body), authorization).await
    }

    /// Posts JSON.
    pub(crate) async fn json(&self, url: &Url, json: String) -> Result<Answered, OauthError> {
        let body = ("application/json", Zeroizing::new(json));
        self.exchange(Method::POST, url, Some(body), None).await
    }

    async fn exchange(
        &self,
        method: Method,
        url: &Url,
        body: Option<(&'static str, Zeroizing<String>)>,
        authorization: Option<HeaderValue>,
    ) -> Result<Answered, OauthError> {
        // Whoever made the URL, nothing goes out that the rule does not allow.
        let url = endpoint(url.as_str())?;
        if let Some(Host::Domain(name)) = url.host()
            && is_loopback(&url)
            && name != "localhost"
        {
            // Only the one name is resolved here.
            return Err(unreachable_at(&url, "use `localhost` or an address".to_owned()));
        }
        let mut request = self
            .client
            .request(method, url.clone())
            .header(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(authorization) = authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        if let Some((kind, body)) = body {
            request = request.header(CONTENT_TYPE, kind).body(body.to_string());
        }
        let mut response =
            request.send().await.map_err(|error| unreachable_at(&url, described(error)))?;
        let status = response.status();
        let mut body = Zeroizing::new(Vec::new());
        while let Some(chunk) =
            response.chunk().await.map_err(|error| unreachable_at(&url, described(error)))?
        {
            if body.len() + chunk.len() > ANSWER {
                return Err(OauthError::Unreadable {
                    at: place(&url),
                    reason: format!("it is above {ANSWER} bytes"),
                });
            }
            body.extend_from_slice(&chunk);
        }
        if status.is_redirection() {
            return Err(OauthError::Unreadable {
                at: place(&url),
                reason: format!("HTTP {}, and redirects are not followed", status.as_u16()),
            });
        }
        Ok(Answered { status, body })
    }
}

/// A URL as messages name it: without its query, which may hold something secret.
pub(crate) fn place(url: &Url) -> String {
    let mut place = url.origin().ascii_serialization();
    let _ = write!(place, "{}", url.path());
    oz0_escape::line_within(&place, 200).into_owned()
}

fn unreachable_at(url: &Url, reason: String) -> OauthError {
    OauthError::Unreachable { at: place(url), reason }
}

/// What went wrong below HTTP, without the URL.
fn described(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(&error);
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        cause = inner.source();
    }
    oz0_escape::line_within(&text, 300).into_owned()
}
