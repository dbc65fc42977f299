//! Secrets that an operator sets, and connections to outside systems: what people say of them, and what nodes are given.
//!
//! A value goes into the edge and out to the nodes that run the plugin it is for, and to nobody else: no answer to a person
//! has one in it. In memory a value is a [`Sensitive`], which no `Debug` shows and which is wiped when it is dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::{ConnectionName, PluginName, Revision, SecretName, UnixMillis};
use crate::plugin::{ConnectionDescription, Need};

/// The longest value of a secret, in bytes.
pub const LONGEST_VALUE: usize = 64 * 1024;

/// The longest value of a param, in bytes.
pub const LONGEST_PARAM: usize = 1000;

/// A text that nobody is to see: it is written where it is sent, and nowhere else.
#[derive(Clone)]
pub struct Sensitive(SecretString);

impl Sensitive {
    /// Keeps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(SecretString::from(text.into()))
    }

    /// The text. Whoever asks for it answers for where it goes.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl PartialEq for Sensitive {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

impl Eq for Sensitive {}

impl fmt::Debug for Sensitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[sensitive]")
    }
}

impl Serialize for Sensitive {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.expose())
    }
}

impl<'de> Deserialize<'de> for Sensitive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // What is no text must not be quoted in the error.
        String::deserialize(deserializer)
            .map(Self::new)
            .map_err(|_| serde::de::Error::custom("a value that is to be kept secret is a string"))
    }
}

impl JsonSchema for Sensitive {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sensitive".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A text that nobody is to see.",
            "type": "string",
            "format": "password",
        })
    }
}

/// Asks for a secret to be kept for a plugin.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetSecret {
    /// Its value: not empty, without NUL, at most 64 KiB.
    pub value: Sensitive,
}

/// A secret, without its value.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct SecretInfo {
    /// The plugin that it is for.
    pub plugin: PluginName,
    /// Its name: that of the variable which the plugin's processes get.
    pub name: SecretName,
    /// What the plugin says of it; absent where no version of it that is run declares it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<Need>,
    /// When it was set; absent where this edge keeps no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_at: Option<UnixMillis>,
    /// By whom, as it stands in the audit log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_by: Option<String>,
}

/// The secrets that plugins declare, or that are kept for them.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Secrets {
    /// By plugin, then by name.
    pub secrets: Vec<SecretInfo>,
}

/// Asks for a connection to be connected: its params are stored, and what it is connected with.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connect {
    /// The params' values; one that is left out has the manifest's default, as it is now.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// What it is connected with.
    pub with: Grant,
}

/// What a connection is connected with.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Grant {
    /// The values of the secrets that the manifest's connection names: all of them, and no others.
    Secrets(BTreeMap<SecretName, Sensitive>),
    /// Tokens of an authorization server.
    Oauth(Box<OauthGrant>),
}

/// What an authorization server granted, and how it is asked for more (RFC 6749).
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OauthGrant {
    /// Where tokens are made and renewed: `https`, or `http` to the edge's own machine.
    pub token_endpoint: String,
    /// Where they are revoked (RFC 7009), if anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revocation_endpoint: Option<String>,
    /// The client that they were made for.
    pub client_id: String,
    /// What it shows of itself, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<Sensitive>,
    /// How it shows that.
    #[serde(default)]
    pub client_auth: ClientAuth,
    /// The resource that they are for (RFC 8707).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// The token that calls get.
    pub access_token: Sensitive,
    /// How long it counts, in seconds; without it, until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 3_153_600_000_u64))]
    pub expires_in: Option<u64>,
    /// How another one is got.
    pub renewal: Renewal,
    /// The scopes that were granted.
    #[serde(default)]
    pub scopes: BTreeSet<String>,
}

/// How a client says who it is (RFC 6749, section 2.3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientAuth {
    /// It has no secret.
    #[default]
    None,
    /// In the header `Authorization`.
    Basic,
    /// In the request's body.
    Post,
}

/// How another access token is got.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Renewal {
    /// With a refresh token.
    RefreshToken(Sensitive),
    /// As the first one, by the client for itself.
    ClientCredentials,
    /// By connecting again.
    None,
}

/// A connection, without anything secret.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ConnectionInfo {
    /// The plugin.
    pub plugin: PluginName,
    /// Its name in the plugin's manifest.
    pub name: ConnectionName,
    /// What the manifest says of it; absent where no version of the plugin that is run has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<ConnectionDescription>,
    /// The URLs of the remote servers that are reached with it, as the manifest has them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub urls: BTreeSet<String>,
    /// What it is connected with; absent where it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connected: Option<Connected>,
}

/// How a connection is connected.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Connected {
    /// With what.
    pub with: With,
    /// The params that were stored with it.
    pub params: BTreeMap<String, String>,
    /// The scopes that were granted; absent where whoever gave its secrets alone knows them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<BTreeSet<String>>,
    /// When its token ends, unless it is renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<UnixMillis>,
    /// Whether the edge renews its token.
    pub renews: bool,
    /// Why that failed the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Since when.
    pub at: UnixMillis,
    /// By whom, as it stands in the audit log.
    pub by: String,
}

/// With what a connection is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum With {
    /// With secrets that somebody gave.
    Secrets,
    /// With tokens of an authorization server.
    Oauth,
}

impl With {
    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Secrets => "secrets",
            Self::Oauth => "oauth",
        }
    }
}

/// The connections that plugins declare, or that are kept for them.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Connections {
    /// By plugin, then by name.
    pub connections: Vec<ConnectionInfo>,
}

/// What came of disconnecting.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Disconnected {
    /// What was there.
    pub connection: ConnectionInfo,
    /// What the authorization server made of its tokens.
    pub revocation: Revocation,
}

/// Whether tokens were revoked where they were made.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Revocation {
    /// They were.
    Revoked,
    /// There was nothing to revoke, or nowhere to do it.
    NotOffered,
    /// They were not, and count for as long as they would have.
    Failed {
        /// Why.
        reason: String,
    },
}

/// What a node is given for one plugin that it runs: the secrets of its processes, and what its calls carry.
#[derive(Debug, Clone, Default, JsonSchema, Serialize, Deserialize)]
pub struct Credentials {
    /// The secrets that are set, of those that the plugin declares.
    pub secrets: BTreeMap<SecretName, Sensitive>,
    /// The connections that are connected, of those that it declares.
    pub connections: BTreeMap<ConnectionName, Credential>,
}

/// One connection, as a node is given it.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Credential {
    /// Since when it is connected as it is: another account may be behind it from another time on.
    pub connected_at: UnixMillis,
    /// The params that were stored when it was connected.
    pub params: BTreeMap<String, String>,
    /// The one token that calls get: the access token, or the one secret that there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Sensitive>,
    /// The secrets, where there are several.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<SecretName, Sensitive>,
    /// The scopes that were granted; all that the manifest names, where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<BTreeSet<String>>,
    /// How long the token still counts, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_for_ms: Option<u64>,
    /// Why there is no token that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// The plugins whose secrets or connections changed, in a node's poll.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ChangedCredentials {
    /// To ask with next time.
    pub revision: Revision,
    /// Those that the node may run.
    pub plugins: BTreeSet<PluginName>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_debug_shows_a_value() {
        let value = Sensitive::new("s3cr3t-value");
        let grant = OauthGrant {
            token_endpoint: "https://as.example/token".to_owned(),
            revocation_endpoint: None,
            client_id: "client".to_owned(),
            client_secret: Some(value.clone()),
            client_auth: ClientAuth::Post,
            resource: None,
            access_token: value.clone(),
            expires_in: None,
            renewal: Renewal::RefreshToken(value.clone()),
            scopes: BTreeSet::new(),
        };
        let connect = Connect { params: BTreeMap::new(), with: Grant::Oauth(Box::new(grant)) };
        let set = SetSecret { value };
        let shown = format!("{connect:?} {connect:#?} {set:?}");
        assert!(!shown.contains("s3cr3t"), "{shown}");
        assert!(shown.contains("[sensitive]"));
    }

    #[test]
    fn what_is_no_text_is_not_quoted() {
        let error = serde_json::from_str::<SetSecret>(r#"{"value": 424242}"#).unwrap_err();
        assert!(!error.to_string().contains("424242"), "{error}");
    }
}
