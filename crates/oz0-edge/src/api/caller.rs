//! Who asks, and what they may do.

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use oz0_api::token::TokenKind;
use oz0_api::{Code, NodeName, Problem, TokenId};

use super::{Answer, Api};
use crate::serve::Surface;
use crate::store::{Actor, Identity};

/// Somebody the edge knows, or somebody at the local socket.
pub(super) struct Caller(pub(super) Option<Identity>);

impl Caller {
    pub(super) fn actor(&self) -> Actor {
        self.0.as_ref().map_or(Actor::Local, Identity::actor)
    }
}

/// Somebody who may read and call: a person with an admin token, or anyone at the local socket.
pub(super) struct Reader(pub(super) Actor);

/// A person who may approve, install and hand out tokens.
pub(super) struct Admin(pub(super) Actor);

/// A node.
pub(super) struct Node {
    pub(super) name: NodeName,
    /// The token that says so.
    pub(super) token: TokenId,
}

impl FromRequestParts<Api> for Caller {
    type Rejection = Answer;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Answer> {
        let Some(value) = parts.headers.get(header::AUTHORIZATION) else {
            return match api.surface {
                Surface::Local => Ok(Self(None)),
                Surface::Tcp { .. } => Err(unauthenticated("the request has no token")),
            };
        };
        // A token that is wrong is never taken for none: somebody meant to be somebody.
        let secret = value
            .to_str()
            .ok()
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, secret)| secret.trim())
            .ok_or_else(|| unauthenticated("the request's token is no bearer token"))?;
        match api.edge.store.identify(secret).await? {
            Some(identity) => Ok(Self(Some(identity))),
            None => Err(unknown_token()),
        }
    }
}

/// A token that nobody has, or nobody has any more.
pub(super) fn unknown_token() -> Answer {
    unauthenticated("the token is unknown or was revoked")
}

fn unauthenticated(what: &str) -> Answer {
    Problem::new(Code::Unauthenticated, what)
        .hint("`oz0 login` keeps a token; `oz0 token create` makes one")
        .into()
}

fn forbidden(what: &str) -> Answer {
    Problem::new(Code::Forbidden, what)
        .hint("use a person's admin token: `oz0 login`, or `admin.token` in the data folder")
        .into()
}

impl FromRequestParts<Api> for Reader {
    type Rejection = Answer;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Answer> {
        let caller = Caller::from_request_parts(parts, api).await?;
        match caller.0.as_ref().map(|identity| identity.token.kind) {
            None | Some(TokenKind::Admin) => Ok(Self(caller.actor())),
            Some(TokenKind::Node) => Err(forbidden("a node's token does not read this")),
            Some(TokenKind::Client) => Err(forbidden("an MCP client's token does not read this")),
        }
    }
}

impl FromRequestParts<Api> for Admin {
    type Rejection = Answer;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Answer> {
        let caller = Caller::from_request_parts(parts, api).await?;
        match caller.0.as_ref().map(|identity| identity.token.kind) {
            Some(TokenKind::Admin) => Ok(Self(caller.actor())),
            None => Err(forbidden("this needs an admin token, also over the local socket")),
            Some(TokenKind::Node) => Err(forbidden("a node's token may not do this")),
            Some(TokenKind::Client) => Err(forbidden("an MCP client's token may not do this")),
        }
    }
}

impl FromRequestParts<Api> for Node {
    type Rejection = Answer;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Answer> {
        match Caller::from_request_parts(parts, api).await?.0 {
            Some(identity) if identity.token.kind == TokenKind::Node => {
                Ok(Self { name: identity.token.name, token: identity.token.id })
            }
            _ => Err(Problem::new(Code::Forbidden, "this needs a node's token").into()),
        }
    }
}
