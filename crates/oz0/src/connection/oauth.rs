//! `oz0 connection connect` by an authorization server: where it is, who asks, and a person's word in a browser.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Result;
use oz0_api::credential::{self, Grant, OauthGrant, Renewal, Sensitive};
use oz0_api::plugin::ConnectionDescription;
use oz0_oauth::{
    Auth, Authorization, Callback, Client, Endpoints, Http, Issuer, OauthError, Tokens,
    client_credentials, discover_issuer, discover_resource, endpoint, register,
};
use secrecy::{ExposeSecret as _, SecretString};

use crate::cli::{ClientAuth, ConnectConnection};
use crate::exit::{Refused, WrongUsage};
use crate::output::Output;
use crate::secret;

/// How long somebody has in the browser.
const WITHIN: Duration = Duration::from_mins(5);

/// An authorization server, as far as it is known.
struct Server {
    issuer: Option<Issuer>,
    authorization: Option<url::Url>,
    endpoints: Endpoints,
}

/// Has tokens made. `urls` are those of the remote servers that the connection is for.
pub(super) async fn grant(
    arguments: &ConnectConnection,
    description: &ConnectionDescription,
    urls: &[String],
    output: Output,
) -> Result<Grant> {
    let http = Http::new()?;
    let server = find(&http, arguments, urls).await?;
    let scopes: BTreeSet<String> = if arguments.scope.is_empty() {
        description.scopes.keys().cloned().collect()
    } else {
        arguments.scope.iter().cloned().collect()
    };
    let (client, tokens) = if arguments.client_credentials {
        let client = own_client(arguments, &server)?.expect("clap asks for its ID");
        let tokens = client_credentials(&http, &server.endpoints, &client, &scopes).await?;
        (client, tokens)
    } else {
        by_a_person(&http, arguments, &server, &scopes, output).await?
    };
    Ok(made(arguments, &server, &client, &tokens, scopes))
}

/// What the edge is to keep.
fn made(
    arguments: &ConnectConnection,
    server: &Server,
    client: &Client,
    tokens: &Tokens,
    asked: BTreeSet<String>,
) -> Grant {
    let keep = |secret: &SecretString| Sensitive::new(secret.expose_secret());
    let renewal = match &tokens.refresh {
        Some(refresh) => Renewal::RefreshToken(keep(refresh)),
        None if arguments.client_credentials => Renewal::ClientCredentials,
        None => Renewal::None,
    };
    Grant::Oauth(Box::new(OauthGrant {
        token_endpoint: server.endpoints.token.to_string(),
        revocation_endpoint: server.endpoints.revocation.as_ref().map(ToString::to_string),
        client_id: client.id.clone(),
        client_secret: client.secret.as_ref().map(keep),
        client_auth: match client.auth {
            Auth::None => credential::ClientAuth::None,
            Auth::Basic => credential::ClientAuth::Basic,
            Auth::Post => credential::ClientAuth::Post,
        },
        resource: server.endpoints.resource.clone(),
        access_token: keep(&tokens.access),
        expires_in: tokens.expires_in,
        renewal,
        scopes: tokens.scopes.clone().unwrap_or(asked),
    }))
}

/// Where the authorization server is: where the person here says, else where the remote server says.
async fn find(http: &Http, arguments: &ConnectConnection, urls: &[String]) -> Result<Server> {
    if let Some(token) = &arguments.token_url {
        let maybe = |url: &Option<String>| url.as_deref().map(endpoint).transpose();
        let endpoints = Endpoints {
            token: endpoint(token)?,
            revocation: maybe(&arguments.revoke_url)?,
            resource: None,
        };
        let authorization = maybe(&arguments.authorize_url)?;
        return Ok(Server { issuer: None, authorization, endpoints });
    }
    let (issuer, resource) = match (&arguments.issuer, urls) {
        (Some(issuer), _) => (endpoint(issuer)?, None),
        (None, [url]) => {
            let found = discover_resource(http, &endpoint(url)?).await?;
            let issuer = found.issuers.into_iter().next().expect("there is one at least");
            (issuer, Some(found.resource))
        }
        (None, _) => {
            return Err(WrongUsage(
                "the plugin has no one remote server that could name its authorization server: name it with --issuer, or \
                 its URLs with --authorize-url and --token-url"
                    .to_owned(),
            )
            .into());
        }
    };
    let issuer = discover_issuer(http, &issuer).await?;
    Ok(Server {
        authorization: issuer.authorization.clone(),
        endpoints: Endpoints {
            token: issuer.token.clone(),
            revocation: issuer.revocation.clone(),
            resource,
        },
        issuer: Some(issuer),
    })
}

/// The client that the person here names.
fn own_client(arguments: &ConnectConnection, server: &Server) -> Result<Option<Client>> {
    let Some(id) = &arguments.client_id else { return Ok(None) };
    let secret = if arguments.client_secret {
        let secret = secret::read("the client's secret")?;
        Some(SecretString::from(secret.expose()))
    } else {
        None
    };
    let auth = match (&secret, arguments.client_auth) {
        (None, _) => Auth::None,
        (Some(_), Some(ClientAuth::Basic)) => Auth::Basic,
        (Some(_), Some(ClientAuth::Post)) => Auth::Post,
        (Some(_), None) => {
            let takes = |how: &str| {
                server.issuer.as_ref().is_none_or(|issuer| issuer.auth_methods.contains(how))
            };
            if takes("client_secret_basic") || !takes("client_secret_post") {
                Auth::Basic
            } else {
                Auth::Post
            }
        }
    };
    Ok(Some(Client { id: id.clone(), secret, auth }))
}

/// Has a person authorize it in a browser.
async fn by_a_person(
    http: &Http,
    arguments: &ConnectConnection,
    server: &Server,
    scopes: &BTreeSet<String>,
    output: Output,
) -> Result<(Client, Tokens)> {
    let authorization = server.authorization.clone().ok_or_else(|| {
        Refused::new("the authorization server has no place where people authorize")
            .hint("name it with --authorize-url, or use --client-credentials")
    })?;
    // Without it a code that somebody reads on the way is theirs.
    if server.issuer.as_ref().is_some_and(|issuer| !issuer.has_s256) {
        return Err(Refused::new(
            "the authorization server does not say that it holds codes to whom they were made for (PKCE with S256)",
        )
        .into());
    }
    let callback = Callback::listen(arguments.redirect_port).await?;
    let client = match own_client(arguments, server)? {
        Some(client) => client,
        None => {
            let place = server.issuer.as_ref().and_then(|issuer| issuer.registration.as_ref());
            let place = place.ok_or_else(|| {
                Refused::new("the authorization server registers no clients by itself")
                    .hint("register one there, and name it with --client-id")
            })?;
            register(http, place, &callback.redirect()).await?
        }
    };
    let asked = Authorization {
        authorization,
        token: server.endpoints.token.clone(),
        issuer: server.issuer.as_ref().map(|issuer| issuer.issuer.clone()),
        names_itself: server.issuer.as_ref().is_some_and(|issuer| issuer.names_itself),
        resource: server.endpoints.resource.clone(),
        scopes: scopes.clone(),
    };
    let pending = callback.begin(asked, client.clone())?;
    output.error_line(&format!(
        "open this in a browser on this machine, and authorize oz0:\n{}",
        pending.url()
    ));
    if !arguments.no_browser {
        open(pending.url());
    }
    let tokens = pending.finish(http, WITHIN).await.map_err(|error| match error {
        late @ OauthError::Late { .. } => Refused::new(late.to_string())
            .hint("the browser must be one of this machine: it comes back to a port of loopback's")
            .into(),
        denied @ OauthError::Denied(_) => Refused::new(denied.to_string()).into(),
        other => anyhow::Error::from(other),
    })?;
    Ok((client, tokens))
}

/// Opens a page, where this machine has a way to. No shell reads the address.
fn open(url: &url::Url) {
    let _ = Command::new("xdg-open")
        .arg(url.as_str())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
}
