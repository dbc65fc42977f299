//! Connections at work: tokens renewed before they end, revoked when somebody disconnects, and handed to the nodes that run the
//! plugin.
//!
//! One renewal of a connection goes on at a time, whoever asks: with servers that give another refresh token each time, a
//! second one would be shown a token that was used, and lose the connection. It runs to its end once it began, also when the
//! node that asked is gone: what the server answered is kept before anything else happens.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use oz0_api::credential::{
    ClientAuth, Credential, Credentials, Disconnected, Grant, OauthGrant, Renewal, Revocation,
    Sensitive,
};
use oz0_api::{Code, ConnectionName, NodeName, PluginName, Problem};
use oz0_oauth::{Auth, Endpoints, Http, OauthError, Revoked, Tokens};
use oz0_telemetry::target;
use secrecy::{ExposeSecret as _, SecretString};

use crate::store::{Actor, Answer, Kept, Refusal, Store, now};

/// A token that ends within that time, or within the last third of its life, is renewed; in milliseconds.
const AHEAD: i64 = 60_000;

/// Before a renewal that failed is tried again: one that may do better, and one that was refused.
const AGAIN: Duration = Duration::from_secs(5);
const REFUSED_AGAIN: Duration = Duration::from_mins(1);

/// How long a server is waited for that is to revoke a token.
const REVOKE: Duration = Duration::from_secs(20);

/// Who renews what.
#[derive(Default)]
pub(crate) struct Accounts {
    http: OnceLock<Http>,
    turns: Mutex<BTreeMap<(PluginName, ConnectionName), Arc<Turn>>>,
}

/// Whose turn it is to speak to an authorization server about a connection, and how it went the last time.
#[derive(Default)]
struct Turn {
    failed: tokio::sync::Mutex<Option<Failed>>,
}

struct Failed {
    generation: String,
    at: Instant,
    wait: Duration,
    reason: String,
}

impl Accounts {
    fn http(&self) -> Result<&Http, OauthError> {
        if let Some(http) = self.http.get() {
            return Ok(http);
        }
        let http = Http::new()?;
        Ok(self.http.get_or_init(|| http))
    }

    fn turn(&self, plugin: &PluginName, name: &ConnectionName) -> Arc<Turn> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(turns.entry((plugin.clone(), name.clone())).or_default())
    }

    /// What a node is given for a plugin that it may run.
    pub(crate) async fn credentials(
        &self,
        store: &Store,
        node: &NodeName,
        plugin: &PluginName,
    ) -> Answer<Credentials> {
        let Some(given) = store.given(node, plugin).await? else {
            return Err(Problem::new(
                Code::NotFound,
                format!("{node} is to run no plugin named {plugin}"),
            )
            .into());
        };
        let connections = given.connections.into_iter().map(async |(name, kept)| {
            let credential = self.credential(store, plugin, &name, kept).await?;
            Ok::<_, Refusal>(credential.map(|credential| (name, credential)))
        });
        let connections: Vec<_> =
            join_all(connections).await.into_iter().collect::<Result<_, _>>()?;
        Ok(Credentials {
            secrets: given.secrets,
            connections: connections.into_iter().flatten().collect(),
        })
    }

    async fn credential(
        &self,
        store: &Store,
        plugin: &PluginName,
        name: &ConnectionName,
        kept: Kept,
    ) -> Answer<Option<Credential>> {
        let (kept, failure) =
            if is_due(&kept) { self.renew(store, plugin, name).await? } else { (Some(kept), None) };
        Ok(kept.map(|kept| credential(kept, failure)))
    }

    /// Renews a token that ends soon; gives what there is by then, and why it could not be renewed.
    async fn renew(
        &self,
        store: &Store,
        plugin: &PluginName,
        name: &ConnectionName,
    ) -> Answer<(Option<Kept>, Option<String>)> {
        let turn = self.turn(plugin, name);
        let mut failed = turn.failed.lock().await;
        // Somebody may have had the turn before.
        let Some(kept) = store.kept(plugin, name).await? else { return Ok((None, None)) };
        let Grant::Oauth(grant) = &kept.grant else { return Ok((Some(kept), None)) };
        if !is_due(&kept) {
            return Ok((Some(kept), None));
        }
        if let Some(failed) = &*failed
            && failed.generation == kept.generation
            && failed.at.elapsed() < failed.wait
        {
            return Ok((Some(kept), Some(failed.reason.clone())));
        }
        match self.ask(grant, &kept).await {
            Ok(tokens) => {
                let grant = renewed(grant, tokens);
                store.renewed(plugin, name, &kept.generation, Ok(&grant)).await?;
                tracing::info!(target: target::EDGE, %plugin, connection = %name, "token renewed");
                *failed = None;
                Ok((store.kept(plugin, name).await?, None))
            }
            Err(error) => {
                let reason = error.to_string();
                tracing::warn!(target: target::EDGE, %plugin, connection = %name, reason, "token not renewed");
                store.renewed(plugin, name, &kept.generation, Err(&reason)).await?;
                *failed = Some(Failed {
                    generation: kept.generation.clone(),
                    at: Instant::now(),
                    wait: if error.is_final() { REFUSED_AGAIN } else { AGAIN },
                    reason: reason.clone(),
                });
                Ok((Some(kept), Some(reason)))
            }
        }
    }

    async fn ask(&self, grant: &OauthGrant, kept: &Kept) -> Result<Tokens, OauthError> {
        let (endpoints, client) = (endpoints(grant)?, client(grant));
        let http = self.http()?;
        match &grant.renewal {
            Renewal::RefreshToken(token) => {
                oz0_oauth::refresh(http, &endpoints, &client, token.expose()).await
            }
            Renewal::ClientCredentials => {
                let scopes = kept.scopes.clone().unwrap_or_default();
                oz0_oauth::client_credentials(http, &endpoints, &client, &scopes).await
            }
            Renewal::None => Err(OauthError::Denied("it cannot be renewed".to_owned())),
        }
    }

    /// Ends a connection here, and then where its tokens were made.
    pub(crate) async fn disconnect(
        &self,
        store: &Store,
        actor: &Actor,
        plugin: &PluginName,
        name: &ConnectionName,
    ) -> Answer<Disconnected> {
        let turn = self.turn(plugin, name);
        // A renewal that is under way ends before: its tokens are the ones to revoke.
        let mut failed = turn.failed.lock().await;
        let (connection, kept) = store.disconnect(actor, plugin, name).await?;
        *failed = None;
        let revocation = match kept.map(|kept| kept.grant) {
            Ok(Grant::Secrets(_)) => Revocation::NotOffered,
            Ok(Grant::Oauth(grant)) => self.revoke(&grant).await,
            Err(error) => Revocation::Failed { reason: error.to_string() },
        };
        if let Revocation::Failed { reason } = &revocation {
            tracing::warn!(target: target::EDGE, %plugin, connection = %name, reason, "tokens not revoked");
        }
        Ok(Disconnected { connection, revocation })
    }

    async fn revoke(&self, grant: &OauthGrant) -> Revocation {
        let revoke = async {
            let (endpoints, client) = (endpoints(grant)?, client(grant));
            let http = self.http()?;
            // The one that makes others first.
            if let Renewal::RefreshToken(token) = &grant.renewal {
                oz0_oauth::revoke(http, &endpoints, &client, token.expose(), "refresh_token")
                    .await?;
            }
            let access = grant.access_token.expose();
            oz0_oauth::revoke(http, &endpoints, &client, access, "access_token").await
        };
        match tokio::time::timeout(REVOKE, revoke).await {
            Ok(Ok(Revoked::Done)) => Revocation::Revoked,
            Ok(Ok(Revoked::NotOffered)) => Revocation::NotOffered,
            Ok(Err(error)) => Revocation::Failed { reason: error.to_string() },
            Err(_) => Revocation::Failed {
                reason: format!("there was no answer within {} s", REVOKE.as_secs()),
            },
        }
    }
}

/// Whether a token is to be renewed.
fn is_due(kept: &Kept) -> bool {
    let Grant::Oauth(grant) = &kept.grant else { return false };
    let life = i64::try_from(grant.expires_in.unwrap_or(u64::MAX)).unwrap_or(i64::MAX);
    let ahead = AHEAD.min(life.saturating_mul(1000) / 3);
    let ends = |at: oz0_api::UnixMillis| at.0.saturating_sub(now().0) < ahead;
    grant.renewal != Renewal::None && kept.expires_at.is_some_and(ends)
}

fn credential(kept: Kept, failure: Option<String>) -> Credential {
    let left = kept.expires_at.map(|at| at.0.saturating_sub(now().0));
    let valid_for_ms = left.map(|left| u64::try_from(left).unwrap_or(0));
    let (token, secrets) = match kept.grant {
        Grant::Oauth(grant) => (Some(grant.access_token), BTreeMap::new()),
        Grant::Secrets(secrets) if secrets.len() == 1 => {
            (secrets.into_values().next(), BTreeMap::new())
        }
        Grant::Secrets(secrets) => (None, secrets),
    };
    Credential {
        connected_at: kept.connected_at,
        params: kept.params,
        token,
        secrets,
        scopes: kept.scopes,
        valid_for_ms,
        // A token that still counts is no failure yet.
        failure: failure.filter(|_| valid_for_ms == Some(0)),
    }
}

fn endpoints(grant: &OauthGrant) -> Result<Endpoints, OauthError> {
    let revocation = grant.revocation_endpoint.as_deref().map(oz0_oauth::endpoint);
    Ok(Endpoints {
        token: oz0_oauth::endpoint(&grant.token_endpoint)?,
        revocation: revocation.transpose()?,
        resource: grant.resource.clone(),
    })
}

fn client(grant: &OauthGrant) -> oz0_oauth::Client {
    oz0_oauth::Client {
        id: grant.client_id.clone(),
        secret: grant.client_secret.as_ref().map(|secret| SecretString::from(secret.expose())),
        auth: match grant.client_auth {
            ClientAuth::None => Auth::None,
            ClientAuth::Basic => Auth::Basic,
            ClientAuth::Post => Auth::Post,
        },
    }
}

fn renewed(grant: &OauthGrant, tokens: Tokens) -> OauthGrant {
    let keep = |secret: &SecretString| Sensitive::new(secret.expose_secret());
    let renewal = match (&grant.renewal, &tokens.refresh) {
        (Renewal::RefreshToken(_), Some(another)) => Renewal::RefreshToken(keep(another)),
        (as_before, _) => as_before.clone(),
    };
    OauthGrant {
        access_token: keep(&tokens.access),
        expires_in: tokens.expires_in,
        renewal,
        scopes: tokens.scopes.unwrap_or_else(|| grant.scopes.clone()),
        ..grant.clone()
    }
}
