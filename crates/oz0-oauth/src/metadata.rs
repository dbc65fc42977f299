//! What a protected resource and an authorization server say of themselves.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

use crate::endpoint::endpoint;
use crate::error::OauthError;
use crate::http::{Http, place};

/// A protected resource (RFC 9728).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its identifier, which tokens are asked for (RFC 8707).
    pub resource: String,
    /// The issuers of the tokens that it takes, the first first.
    pub issuers: Vec<Url>,
    /// The scopes that it knows.
    pub scopes: BTreeSet<String>,
}

/// An authorization server (RFC 8414).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issuer {
    /// Its identifier.
    pub issuer: String,
    /// Where a person authorizes.
    pub authorization: Option<Url>,
    /// Where tokens are made.
    pub token: Url,
    /// Where they are revoked (RFC 7009).
    pub revocation: Option<Url>,
    /// Where clients register (RFC 7591).
    pub registration: Option<Url>,
    /// How clients may say who they are at the token endpoint.
    pub auth_methods: BTreeSet<String>,
    /// Whether it holds a code to whom it was made for (RFC 7636, with S256).
    pub has_s256: bool,
    /// Whether it names itself when it sends a code (RFC 9207).
    pub names_itself: bool,
}

#[derive(Deserialize)]
struct ResourceDocument {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: BTreeSet<String>,
}

#[derive(Deserialize)]
struct IssuerDocument {
    issuer: String,
    #[serde(default)]
    authorization_endpoint: Option<String>,
    token_endpoint: String,
    #[serde(default)]
    revocation_endpoint: Option<String>,
    #[serde(default)]
    registration_endpoint: Option<String>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Option<BTreeSet<String>>,
    #[serde(default)]
    code_challenge_methods_supported: BTreeSet<String>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

/// The metadata of the protected resource at a URL, from its own origin: first those of its path, then those of its host.
pub async fn discover_resource(http: &Http, url: &Url) -> Result<Resource, OauthError> {
    const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
    let path = url.path().trim_end_matches('/');
    let mut places = vec![format!("{WELL_KNOWN}{path}")];
    if !path.is_empty() {
        places.push(WELL_KNOWN.to_owned());
    }
    for path in places {
        let at = beside(url, &path);
        let Some(found) = read::<ResourceDocument>(http, &at).await? else { continue };
        let wrong =
            |reason: &str| OauthError::Metadata { at: place(&at), reason: reason.to_owned() };
        let named = endpoint(&found.resource)?;
        let within = named.origin() == url.origin()
            && url
                .path()
                .strip_prefix(named.path().trim_end_matches('/'))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if !within {
            return Err(wrong("they are of another resource"));
        }
        let issuers = found.authorization_servers.iter().map(|issuer| endpoint(issuer));
        let issuers = issuers.collect::<Result<Vec<Url>, _>>()?;
        if issuers.is_empty() {
            return Err(wrong("they name no authorization server"));
        }
        return Ok(Resource { resource: found.resource, issuers, scopes: found.scopes_supported });
    }
    Err(OauthError::NoMetadata { at: place(url), what: "a protected resource" })
}

/// The metadata of an issuer, from its own origin, of which every endpoint must be.
pub async fn discover_issuer(http: &Http, issuer: &Url) -> Result<Issuer, OauthError> {
    let path = issuer.path().trim_end_matches('/');
    let places = [
        format!("/.well-known/oauth-authorization-server{path}"),
        format!("/.well-known/openid-configuration{path}"),
        format!("{path}/.well-known/openid-configuration"),
    ];
    for path in places {
        let at = beside(issuer, &path);
        let Some(found) = read::<IssuerDocument>(http, &at).await? else { continue };
        let wrong = |reason: String| OauthError::Metadata { at: place(&at), reason };
        // One that says it is another would have its codes redeemed there (RFC 8414, section 3.3).
        if found.issuer.trim_end_matches('/') != issuer.as_str().trim_end_matches('/') {
            return Err(wrong("they are of another issuer".to_owned()));
        }
        let own = |what: &str, text: &str| {
            let url = endpoint(text)?;
            if url.origin() == issuer.origin() {
                Ok(url)
            } else {
                Err(wrong(format!("their {what} is at another origin, {}", place(&url))))
            }
        };
        let maybe = |what: &str, text: &Option<String>| {
            text.as_deref().map(|text| own(what, text)).transpose()
        };
        return Ok(Issuer {
            authorization: maybe("authorization endpoint", &found.authorization_endpoint)?,
            token: own("token endpoint", &found.token_endpoint)?,
            revocation: maybe("revocation endpoint", &found.revocation_endpoint)?,
            registration: maybe("registration endpoint", &found.registration_endpoint)?,
            auth_methods: found
                .token_endpoint_auth_methods_supported
                .unwrap_or_else(|| BTreeSet::from(["client_secret_basic".to_owned()])),
            has_s256: found.code_challenge_methods_supported.contains("S256"),
            names_itself: found.authorization_response_iss_parameter_supported,
            issuer: found.issuer,
        });
    }
    Err(OauthError::NoMetadata { at: place(issuer), what: "an authorization server" })
}

fn beside(url: &Url, path: &str) -> Url {
    let mut at = url.clone();
    at.set_path(path);
    at.set_query(None);
    at
}

/// A document, where there is one.
async fn read<T: DeserializeOwned>(http: &Http, at: &Url) -> Result<Option<T>, OauthError> {
    let answered = http.get(at).await?;
    if answered.status.is_client_error() {
        return Ok(None);
    }
    let unreadable = |reason: String| OauthError::Unreadable { at: place(at), reason };
    if !answered.status.is_success() {
        return Err(unreadable(format!("HTTP {}", answered.status.as_u16())));
    }
    serde_json::from_slice(&answered.body)
        .map(Some)
        .map_err(|error| unreadable(oz0_escape::line_within(&error.to_string(), 200).into_owned()))
}
