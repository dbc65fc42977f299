//! Bundles in a bucket that speaks S3.
//!
//! Region, endpoint and credentials come from the environment, by the names that Amazon's own tools read, or from the
//! machine's role. The HTTP client is one of ours: certificates are checked as the operating system does it, no redirect is
//! followed, and the environment's proxy is not asked.

use std::collections::BTreeSet;
use std::env;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use futures_util::stream::TryStreamExt as _;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{HttpClient, HttpConnector};
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore as _, ObjectStoreExt as _, RetryConfig};
use rustls_platform_verifier::BuilderVerifierExt as _;
use url::{Host, Url};

use super::{Parts, boxed};
use crate::store::StoreError;

/// How long a request is tried again where the bucket does not answer.
const WITHIN: Duration = Duration::from_secs(20);
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// How long a bucket may say nothing in the middle of an answer.
const STALL: Duration = Duration::from_secs(30);

/// The variables that name another endpoint than Amazon's.
const ENDPOINTS: [&str; 3] = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];

/// A bucket, and what its objects' names begin with.
pub(crate) struct Bucket {
    s3: AmazonS3,
    name: String,
    prefix: String,
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}/{}", self.name, self.prefix)
    }
}

impl Bucket {
    pub(super) fn new(name: &str, prefix: &str) -> Result<Self, StoreError> {
        let place = format!("s3://{name}/{prefix}");
        let failed =
            |what: String| StoreError::Bundles { operation: "find", place: place.clone(), what };
        let plain = plain_endpoint().map_err(failed)?;
        let retry = RetryConfig { max_retries: 3, retry_timeout: WITHIN, ..RetryConfig::default() };
        let s3 = AmazonS3Builder::from_env()
            .with_bucket_name(name)
            .with_allow_http(plain)
            .with_retry(retry)
            .with_http_connector(Connector)
            .build()
            .map_err(|error| failed(error.to_string()))?;
        Ok(Self { s3, name: name.to_owned(), prefix: prefix.to_owned() })
    }

    fn path(&self, name: &str) -> Path {
        Path::from(format!("{}{name}", self.prefix))
    }

    pub(super) async fn put(&self, name: &str, bytes: Bytes) -> io::Result<()> {
        self.s3.put(&self.path(name), bytes.into()).await.map(drop).map_err(told)
    }

    pub(super) async fn open(&self, name: &str) -> io::Result<Parts> {
        let found = self.s3.get(&self.path(name)).await.map_err(told)?;
        Ok(boxed(found.into_stream().map_err(told)))
    }

    /// Removes objects of other names that are bundles by their names, and older than that.
    pub(super) async fn sweep(
        &self,
        names: &BTreeSet<String>,
        older: Duration,
    ) -> Result<(), StoreError> {
        let failed = |operation| {
            move |error: object_store::Error| StoreError::Bundles {
                operation,
                place: self.to_string(),
                what: said(&error),
            }
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let prefix = Path::from(self.prefix.as_str());
        let mut objects = self.s3.list(Some(&prefix));
        while let Some(object) = objects.try_next().await.map_err(failed("list"))? {
            let name = object.location.filename().unwrap_or_default();
            let is_bundle = name.strip_suffix(".oz0").is_some_and(|hex| {
                hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
            });
            let written = u64::try_from(object.last_modified.timestamp()).unwrap_or(u64::MAX);
            let is_old = now.saturating_sub(written) > older.as_secs();
            if is_bundle && is_old && self.path(name) == object.location && !names.contains(name) {
                self.s3.delete(&object.location).await.map_err(failed("clear"))?;
            }
        }
        Ok(())
    }
}

/// Whether bundles go over plain HTTP: on this machine alone.
fn plain_endpoint() -> Result<bool, String> {
    for name in ENDPOINTS {
        let Some(endpoint) = env::var(name).ok().filter(|value| !value.is_empty()) else {
            continue;
        };
        let url = Url::parse(&endpoint).map_err(|error| format!("{name} is no URL: {error}"))?;
        let near = match url.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            Some(Host::Domain(host)) => host == "localhost",
            None => false,
        };
        return match url.scheme() {
            "https" => Ok(false),
            "http" if near => Ok(true),
            _ => {
                Err(format!("{name} is not https, and plain http is spoken to this machine alone"))
            }
        };
    }
    Ok(false)
}

/// Our own HTTP client.
#[derive(Debug)]
struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| {
            object_store::Error::Generic { store: "S3", source }
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(rustls::ConfigBuilder::with_platform_verifier)
            .map(rustls::ConfigBuilder::<_, rustls::client::WantsClientCert>::with_no_client_auth)
            .map_err(|error| failed(error.into()))?;
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_WITHIN)
            .read_timeout(STALL)
            .build()
            .map_err(|error| failed(error.into()))?;
        Ok(HttpClient::new(client))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` hands it over")]
fn told(error: object_store::Error) -> io::Error {
    let kind = match error {
        object_store::Error::NotFound { .. } => io::ErrorKind::NotFound,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, said(&error))
}

/// What went wrong, on one line and not longer than people read.
fn said(error: &object_store::Error) -> String {
    oz0_listing::escape::line_within(&error.to_string(), 400).into_owned()
}
