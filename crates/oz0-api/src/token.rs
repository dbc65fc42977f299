//! Tokens and who somebody is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{NodeName, TokenId, UnixMillis};

/// What a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// A person who approves, installs and hands out tokens.
    Admin,
    /// A person who reads everything that an admin reads, and does nothing.
    Viewer,
    /// A node: it polls and reports.
    Node,
    /// An MCP client: it calls through a node's gateway, and nothing else.
    Client,
    /// Somebody who sets up a node: the first use of it, within an hour, makes the node's own token, and ends it.
    Join,
}

impl TokenKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Admin, Self::Viewer, Self::Node, Self::Client, Self::Join];

    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Viewer => "viewer",
            Self::Node => "node",
            Self::Client => "client",
            Self::Join => "join",
        }
    }
}

/// Asks for a new token.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "if" = { "properties": { "may_approve": { "const": true } }, "required": ["may_approve"] },
    "then" = { "properties": { "kind": { "const": "client" } } },
))]
pub struct CreateToken {
    /// What it is for.
    pub kind: TokenKind,
    /// A name for people and the audit log, formed as a node's name; a node goes by it.
    pub name: NodeName,
    /// Whether elicitation at this client may decide an asked call. Only for clients.
    #[serde(default)]
    pub may_approve: bool,
}

/// A new token. Its secret is here, and never again.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct CreatedToken {
    /// The token.
    pub token: TokenInfo,
    /// What to send as `Authorization: Bearer`.
    pub secret: String,
}

impl std::fmt::Debug for CreatedToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreatedToken").field("token", &self.token).finish_non_exhaustive()
    }
}

/// A token as `token list` shows it.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct TokenInfo {
    /// Its ID.
    pub id: TokenId,
    /// The start of the token, to tell it by.
    pub prefix: String,
    /// What it is for.
    pub kind: TokenKind,
    /// Its name.
    pub name: NodeName,
    /// Whether elicitation at this client may decide an asked call.
    pub may_approve: bool,
    /// When it was made.
    pub created_at: UnixMillis,
    /// Until when it counts, where it does not count for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<UnixMillis>,
    /// When it was revoked, or, of a token that is used once, used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<UnixMillis>,
}

/// The tokens.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Tokens {
    /// All, revoked ones included, the oldest first.
    pub tokens: Vec<TokenInfo>,
}

/// Asks for an MCP client by the token that it showed. For nodes.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckClient {
    /// What the client sent as `Authorization: Bearer`.
    pub token: String,
}

impl std::fmt::Debug for CheckClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckClient").finish_non_exhaustive()
    }
}

/// What stands on a token that a client showed.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct CheckedClient {
    /// The client; absent where the token is unknown, revoked, or no client's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientIdentity>,
}

/// An MCP client that the edge knows.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ClientIdentity {
    /// Its token's ID.
    pub id: TokenId,
    /// Its name.
    pub name: NodeName,
    /// Whether elicitation at this client may decide an asked call.
    pub may_approve: bool,
}

/// Who the edge takes the asker for.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Whoami {
    /// As it stands in the audit log.
    pub actor: String,
    /// The token; absent for somebody at the local socket without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<TokenInfo>,
}

/// A node as `node list` shows it.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct NodeStatus {
    /// Its name.
    pub node: NodeName,
    /// When it last asked or reported.
    pub seen_at: UnixMillis,
    /// Whether that is recent enough for it to count as alive, and it has not said since that it ends.
    pub live: bool,
    /// The sandbox tier that its servers run in, as it said to this edge since the edge was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<u8>,
    /// Why it is no higher one, escaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The version of oz0 that it said it is, escaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}
