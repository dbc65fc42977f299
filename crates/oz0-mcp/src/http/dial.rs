//! One HTTP request, under the rules that protect a pinned origin.
//!
//! Every request that this crate makes over HTTP is made here: no redirect leaves the origin or changes the method, no
//! proxy from the environment is asked, plain `http` goes to this machine only, and no answer is taken encoded.
//! hyper takes at most some 400 KiB of response head.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Once;
use std::time::Duration;

use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Method, Response, StatusCode};
use url::{Host, Url};

use super::endpoint::Endpoint;
use super::{EVENTS, JSON};
use crate::error::{Fault, shown};
use crate::origin::resolved;

/// Redirects followed one after another.
const HOPS: usize = 5;

/// Makes requests to one endpoint.
#[derive(Debug)]
pub(super) struct Dialer {
    client: reqwest::Client,
    pub(super) endpoint: Endpoint,
}

impl Dialer {
    pub(super) fn new(endpoint: &Endpoint, connect: Duration) -> Result<Self, Fault> {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            // Fails only where the process has chosen one, which is as good.
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let mut builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .connect_timeout(connect);
        if let Host::Domain(name) = endpoint.origin().host()
            && endpoint.origin().is_loopback()
        {
            // RFC 6761: these names are this machine, whatever a resolver says.
            let port = endpoint.origin().port();
            let here = [(Ipv4Addr::LOCALHOST, port).into(), (Ipv6Addr::LOCALHOST, port).into()];
            builder = builder.resolve_to_addrs(name, &here);
        }
        let client = builder.build().map_err(unreachable)?;
        Ok(Self { client, endpoint: endpoint.clone() })
    }

    /// One HTTP request, with redirects followed where that is allowed; the URL that answered comes back with it.
    pub(super) async fn send(
        &self,
        method: &Method,
        url: Url,
        headers: HeaderMap,
        body: Option<&str>,
    ) -> Result<(Response, Url), Fault> {
        let mut at = url;
        for _ in 0..=HOPS {
            let mut request = self
                .client
                .request(method.clone(), at.clone())
                .headers(self.endpoint.headers_at(&at))
                .headers(headers.clone());
            if let Some(body) = body {
                request = request.body(body.to_owned());
            }
            let response = request.send().await.map_err(unreachable)?;
            let status = response.status();
            if !status.is_redirection() || status == StatusCode::NOT_MODIFIED {
                let encoding = response.headers().get(CONTENT_ENCODING);
                if encoding.is_some_and(|encoding| encoding != "identity") {
                    return Err(Fault::Refused("it is encoded (Content-Encoding)".to_owned()));
                }
                return Ok((response, at));
            }
            at = self.follow(&response, &at)?;
        }
        Err(Fault::Refused(format!("more than {HOPS} redirects")))
    }

    fn follow(&self, response: &Response, from: &Url) -> Result<Url, Fault> {
        let status = response.status();
        let location = response.headers().get(LOCATION).map(HeaderValue::to_str);
        let refused =
            |to: &str, why| Fault::Redirect { status: status.as_u16(), to: shown(to, 200), why };
        let Some(Ok(location)) = location else {
            return Err(refused("nowhere", "it names no target"));
        };
        if !matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT) {
            return Err(refused(location, "only 307 and 308 keep the method"));
        }
        let (to, origin) = resolved(from, location)
            .map_err(|_| refused(location, "its target is not a plain http or https URL"))?;
        if origin != *self.endpoint.origin() {
            return Err(refused(location, "it leaves the server's origin"));
        }
        Ok(to)
    }
}

/// The media type that is one of the two we take, or the header as it stands.
pub(super) fn content_type(response: &Response) -> Option<&str> {
    let whole = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    let kind = whole.split(';').next().unwrap_or(whole).trim();
    [JSON, EVENTS].into_iter().find(|known| kind.eq_ignore_ascii_case(known)).or(Some(whole))
}

/// A whole body of at most `limit` bytes.
pub(super) async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    while let Some(chunk) =
        response.chunk().await.map_err(|error| Fault::BrokeOff(described(error)))?
    {
        if body.len() + chunk.len() > limit {
            return Err(Fault::TooLarge { what: "a body", limit });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// What went wrong below HTTP, without the URL, whose query may hold a secret.
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
    shown(&text, 400)
}

fn unreachable(error: reqwest::Error) -> Fault {
    Fault::Unreachable(described(error))
}
