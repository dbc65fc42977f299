//! Who asks, and what they may do.

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use oz0_api::token::TokenKind;
use oz0_api::{Code, NodeName, Problem, TokenId};

use super::described::{Input, Operation, Who};
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

/// Somebody who may read: a person with a token, or anyone at the local socket.
pub(super) struct Reader;

/// Somebody who may call: a person with an admin token, or anyone at the local socket.
pub(super) struct Asker(pub(super) Actor);

/// A person who may approve, install and hand out tokens.
pub(super) struct Admin(pub(super) Actor);

/// A node.
pub(super) struct Node {
    pub(super) name: NodeName,
    /// The token that says so.
    pub(super) token: TokenId,
}

/// Somebody who has a join token.
pub(super) struct Joining(pub(super) Identity);

impl FromRequestParts<Api> for Caller {
    type Rejection = Answer;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Answer> {
        let mut values = parts.headers.get_all(header::AUTHORIZATION).iter();
        let (value, more) = (values.next(), values.next());
        if more.is_some() {
            return Err(unauthenticated("the request has more than one token"));
        }
        let Some(value) = value else {
            return match api.surface {
                Surface::Local => Ok(Self(None)),
                Surface::Tcp(_) => Err(unauthenticated("the request has no token")),
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

/// What a viewer is told who wants to do something.
pub(crate) const VIEWS: &str = "a viewer's token reads, and does nothing";

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
            None | Some(TokenKind::Admin | TokenKind::Viewer) => Ok(Self),
            Some(TokenKind::Node) => Err(forbidden("a node's token does not read this")),
            Some(TokenKind::Client) => Err(forbidden("an MCP client's token does not read this")),
            Some(TokenKind::Join) => Err(forbidden("a join token does not read this")),
        }
    }
}

impl FromRequestParts<Api> for Asker {
    type Rejection = Answer;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Answer> {
        let caller = Caller::from_request_parts(parts, api).await?;
        match caller.0.as_ref().map(|identity| identity.token.kind) {
            None | Some(TokenKind::Admin) => Ok(Self(caller.actor())),
            Some(TokenKind::Viewer) => Err(forbidden(VIEWS)),
            Some(TokenKind::Node) => Err(forbidden("a node's token may not ask for a call")),
            Some(TokenKind::Client) => {
                Err(forbidden("an MCP client's token calls at a node, and not here"))
            }
            Some(TokenKind::Join) => Err(forbidden("a join token may not ask for a call")),
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
            Some(TokenKind::Viewer) => Err(forbidden(VIEWS)),
            Some(TokenKind::Node) => Err(forbidden("a node's token may not do this")),
            Some(TokenKind::Client) => Err(forbidden("an MCP client's token may not do this")),
            Some(TokenKind::Join) => Err(forbidden("a join token may not do this")),
        }
    }
}

/// Somebody who may have a plugin's files: a node that runs it, or a person who installs plugins.
pub(super) struct Keeper;

impl FromRequestParts<Api> for Keeper {
    type Rejection = Answer;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Answer> {
        match Caller::from_request_parts(parts, api).await?.0.map(|who| who.token.kind) {
            Some(TokenKind::Node | TokenKind::Admin) => Ok(Self),
            _ => Err(forbidden("this needs a node's token, or an admin token")),
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

/// A token that nobody can join with. Which of the reasons it is, nobody is told who does not have a token.
fn unusable() -> Problem {
    Problem::new(
        Code::Unauthenticated,
        "the token is none to join with: it is unknown, was used before, was revoked, or is older than an hour",
    )
    .hint("make another one with: oz0 token create --node NAME")
}

impl FromRequestParts<Api> for Joining {
    type Rejection = Answer;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Answer> {
        let caller = Caller::from_request_parts(parts, api).await;
        let caller = caller.map_err(|Answer(problem)| match problem.code {
            Code::Unauthenticated => Answer(unusable()),
            _ => Answer(problem),
        })?;
        let joining = caller.0.filter(|identity| identity.token.kind == TokenKind::Join);
        joining.map(Self).ok_or_else(|| {
            Problem::new(Code::Forbidden, "this needs a token for a node to join with")
                .hint("make one with: oz0 token create --node NAME")
                .into()
        })
    }
}

// Beside each extractor, what it says of itself in the API's description.

impl Input for Caller {
    fn describe(operation: &mut Operation<'_>) {
        let tokens = &["admin", "viewer", "node", "client", "join"];
        let said = "Needs a token of any kind; over the socket, none.";
        operation.by(Who { tokens, socket: true, said });
    }
}

impl Input for Reader {
    fn describe(operation: &mut Operation<'_>) {
        let said = "Needs a person's token, an admin's or a viewer's; over the socket, none.";
        operation.by(Who { tokens: &["admin", "viewer"], socket: true, said });
    }
}

impl Input for Asker {
    fn describe(operation: &mut Operation<'_>) {
        let said = "Needs a person's admin token; over the socket, none.";
        operation.by(Who { tokens: &["admin"], socket: true, said });
    }
}

impl Input for Admin {
    fn describe(operation: &mut Operation<'_>) {
        let said = "Needs a person's admin token, over the socket as well.";
        operation.by(Who { tokens: &["admin"], socket: false, said });
    }
}

impl Input for Keeper {
    fn describe(operation: &mut Operation<'_>) {
        let said = "Needs a node's token, or a person's admin token.";
        operation.by(Who { tokens: &["admin", "node"], socket: false, said });
    }
}

impl Input for Node {
    fn describe(operation: &mut Operation<'_>) {
        let said = "Needs a node's token.";
        operation.by(Who { tokens: &["node"], socket: false, said });
    }
}

impl Input for Joining {
    fn describe(operation: &mut Operation<'_>) {
        let said = "Needs a join token, which this ends.";
        operation.by(Who { tokens: &["join"], socket: false, said });
    }
}
