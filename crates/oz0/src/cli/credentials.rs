//! Commands about secrets and connections.

use std::fmt;
use std::str::FromStr;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use oz0_api::{ConnectionName, PluginName, SecretName};

/// `PLUGIN/NAME`.
#[derive(Debug, Clone)]
pub(crate) struct Of<T> {
    pub(crate) plugin: PluginName,
    pub(crate) name: T,
}

impl<T: FromStr<Err = oz0_api::IdError>> FromStr for Of<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (plugin, name) = text.split_once('/').ok_or_else(|| "it is PLUGIN/NAME".to_owned())?;
        let said = |error: oz0_api::IdError| error.to_string();
        Ok(Self { plugin: plugin.parse().map_err(said)?, name: name.parse().map_err(said)? })
    }
}

impl<T: fmt::Display> fmt::Display for Of<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.plugin, self.name)
    }
}

/// `oz0 secret …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Secret {
    /// Keep the value of a secret that a plugin declares
    ///
    /// The value comes from standard input, as it is but for one line end after it, or is asked for on a terminal, where it is
    /// not shown. The edge seals it, and gives it to the nodes that run the plugin, whose processes are started anew with it.
    /// No command shows it again.
    #[command(
        after_help = "Examples:\n  oz0 secret set acme-github/GITHUB_TOKEN\n  oz0 secret set acme-github/GITHUB_TOKEN < token.txt"
    )]
    Set {
        /// Whose, and which
        #[arg(value_name = "PLUGIN/NAME")]
        secret: Of<SecretName>,
    },
    /// Show which secrets plugins declare, and which of them are set
    #[command(
        after_help = "Examples:\n  oz0 secret list\n  oz0 secret list --json | jq -r '.secrets[] | select(.set_at == null).name'"
    )]
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget the value of a secret
    ///
    /// The plugin's processes are started anew without it.
    #[command(after_help = "Example:\n  oz0 secret unset acme-github/GITHUB_TOKEN")]
    Unset {
        /// Whose, and which
        #[arg(value_name = "PLUGIN/NAME")]
        secret: Of<SecretName>,
    },
}

/// `oz0 connection …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Connection {
    /// Connect a plugin's connection to your account at its system
    ///
    /// Its params are stored with it as they are now. Without --oauth each secret that the manifest's connection names is
    /// asked for on a terminal, where it is not shown, or comes from standard input: as it is where there is one, as a JSON
    /// object of names and values where there are several. With --oauth you authorize oz0 in a browser, which comes back to
    /// this machine; where its authorization server is, the plugin's remote server says, or --issuer, or the URLs that you
    /// name. The edge seals what comes of it, renews the token before it ends, and gives it to calls of the functions that
    /// stand under the connection's scopes.
    #[command(
        after_help = "Examples:\n  oz0 connection connect acme-github/github\n  oz0 connection connect acme-github/github --param host=github.example < token.txt\n  oz0 connection connect acme-tracker/tracker --oauth\n  oz0 connection connect acme-tracker/tracker --oauth --issuer https://login.example --client-id oz0\n  oz0 connection connect acme-tracker/tracker --client-credentials --client-id oz0 --client-secret < secret.txt"
    )]
    Connect(Box<ConnectConnection>),
    /// Show the connections, and what they are connected with
    #[command(
        after_help = "Examples:\n  oz0 connection list\n  oz0 connection list --json | jq '.connections[] | select(.connected == null)'"
    )]
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget what a connection is connected with, and have its tokens revoked
    ///
    /// Calls that need it are refused within seconds, on every node that reaches the edge.
    #[command(after_help = "Example:\n  oz0 connection disconnect acme-github/github")]
    Disconnect {
        /// Whose, and which
        #[arg(value_name = "PLUGIN/NAME")]
        connection: Of<ConnectionName>,
    },
}

/// `oz0 connection connect`.
#[derive(Debug, Args)]
pub(crate) struct ConnectConnection {
    /// Whose, and which
    #[arg(value_name = "PLUGIN/NAME")]
    pub(crate) connection: Of<ConnectionName>,
    /// The value of a param (repeatable); one that is left out has the manifest's default
    #[arg(long, value_name = "NAME=VALUE", value_parser = param)]
    pub(crate) param: Vec<(String, String)>,
    /// Authorize oz0 in a browser, instead of giving secrets
    #[arg(long)]
    pub(crate) oauth: bool,
    /// Have a token made for a client of the system, without a person
    #[arg(long, requires = "client_id", conflicts_with = "oauth")]
    pub(crate) client_credentials: bool,
    /// The authorization server's issuer, where the plugin's remote server does not name it
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) issuer: Option<String>,
    /// Where people authorize, of an authorization server without metadata
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url, conflicts_with = "issuer", requires = "token_url")]
    pub(crate) authorize_url: Option<String>,
    /// Where tokens are made, of an authorization server without metadata
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url, conflicts_with = "issuer")]
    pub(crate) token_url: Option<String>,
    /// Where tokens are revoked, of an authorization server without metadata
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url, requires = "token_url")]
    pub(crate) revoke_url: Option<String>,
    /// The client that was registered for oz0 there; without it, oz0 registers one where that is offered
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// Take the client's secret from standard input, or ask for it
    #[arg(long, requires = "client_id")]
    pub(crate) client_secret: bool,
    /// How the client shows its secret [default: what the server says, else basic]
    #[arg(long, value_enum, value_name = "HOW", requires = "client_secret")]
    pub(crate) client_auth: Option<ClientAuth>,
    /// A scope to ask for (repeatable); without it, those that the manifest names
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Vec<String>,
    /// The port of this machine that the browser comes back to, where the client was registered with one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) redirect_port: u16,
    /// Only print the address to open
    #[arg(long)]
    pub(crate) no_browser: bool,
}

/// How a client shows its secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientAuth {
    /// In the header `Authorization`
    Basic,
    /// In the request's body
    Post,
}

fn param(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| "it is NAME=VALUE".to_owned())?;
    Ok((name.to_owned(), value.to_owned()))
}
