//! Commands that ask a running edge: the catalog, calls, the audit log, tokens, nodes.

use clap::{ArgGroup, Args, Subcommand};
use oz0_api::{NodeName, PluginName, TokenId};

/// `oz0 catalog`.
#[derive(Debug, Args)]
pub(crate) struct Catalog {
    /// Print it as JSON, with every accepted listing and every listing that waits
    #[arg(long)]
    pub(crate) json: bool,
}

/// `oz0 call`.
#[derive(Debug, Args)]
pub(crate) struct Call {
    /// The function, such as `team.hello`, or the name that models know it by, such as `team__hello`
    pub(crate) function: String,
    /// Its arguments, a JSON object: the text itself, `-` for standard input, or @FILE
    #[arg(value_name = "JSON", default_value = "{}", allow_hyphen_values = true)]
    pub(crate) arguments: String,
    /// Print the server's result as it came, in JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The node to call it on; any that lists the function otherwise
    #[arg(long)]
    pub(crate) node: Option<NodeName>,
    /// How long to wait for the result, in seconds [default: 60, and for as long as a person is asked about the call]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) timeout: Option<u64>,
}

/// `oz0 audit`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) command: Option<AuditCommand>,
    #[command(flatten)]
    pub(crate) read: ReadAudit,
}

/// What of the log to read.
#[derive(Debug, Args)]
pub(crate) struct ReadAudit {
    /// Go on with what is written from now on, until interrupted
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Only entries of this plugin
    #[arg(long, value_name = "NAME")]
    pub(crate) plugin: Option<PluginName>,
    /// Only entries about this function, such as `team.hello`
    #[arg(long, value_name = "FUNCTION")]
    pub(crate) function: Option<String>,
    /// Only these acts (repeatable): `plugin.tools.approve`, or `plugin.tools` for all that begin so
    #[arg(long, value_name = "ACTION")]
    pub(crate) action: Vec<String>,
    /// Only acts of this actor: `token:NAME`, `node:NAME`, `local` or `edge`
    #[arg(long)]
    pub(crate) actor: Option<String>,
    /// Only entries since then: a span such as `2h`, or a time such as `2026-05-01T12:00:00Z`
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only entries after this position, to go on where an earlier run ended
    #[arg(long, value_name = "POSITION", default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..))]
    pub(crate) after: i64,
    /// Only the last so many of them; with --follow, before what comes
    #[arg(short = 'n', long, value_name = "NUMBER")]
    pub(crate) last: Option<usize>,
}

/// `oz0 audit …`.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Check that no entry was edited, removed, inserted or moved
    ///
    /// Each entry holds the hash of the one before it. Prints the last hash of each edge's chain: whoever writes it down
    /// elsewhere can later tell whether anything before it was rewritten. What is accepted is held against what the entries
    /// say of it, too.
    #[command(after_help = "Examples:\n  oz0 audit verify\n  oz0 audit verify --json | jq .faults")]
    Verify {
        /// Print chains and faults as JSON
        #[arg(long)]
        json: bool,
    },
}

/// `oz0 token …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    /// Make a token, and print it: it is shown this once
    #[command(
        after_help = "Examples:\n  oz0 token create --client claude\n  oz0 token create --client claude --may-approve\n  oz0 token create --admin ana\n  oz0 token create --viewer ben\n  oz0 token create --node berlin-1"
    )]
    Create(CreateToken),
    /// Show the tokens, revoked ones included; never their secrets
    #[command(
        after_help = "Examples:\n  oz0 token list\n  oz0 token list --json | jq '.tokens[].name'"
    )]
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token: it stops working at once
    #[command(after_help = "Example:\n  oz0 token revoke 0123456789abcdef")]
    Revoke {
        /// Its ID, as `oz0 token list` shows it
        id: TokenId,
    },
}

/// `oz0 token create`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("who").required(true).args(["client", "admin", "viewer", "node"])))]
pub(crate) struct CreateToken {
    /// For an MCP client of this name: it calls functions, and nothing else
    #[arg(long, value_name = "NAME")]
    pub(crate) client: Option<NodeName>,
    /// For a person of this name, who approves, installs and makes tokens
    #[arg(long, value_name = "NAME")]
    pub(crate) admin: Option<NodeName>,
    /// For a person of this name, who reads what an admin reads, and does nothing
    #[arg(long, value_name = "NAME")]
    pub(crate) viewer: Option<NodeName>,
    /// For setting up a node of this name: it works once, within an hour, with `oz0 node join`; a node that has the name now
    /// is let go when it is used
    #[arg(long, value_name = "NAME")]
    pub(crate) node: Option<NodeName>,
    /// Elicitation at this client may decide a call that is asked about
    #[arg(long, conflicts_with_all = ["admin", "viewer", "node"])]
    pub(crate) may_approve: bool,
    /// Print the token with what is known of it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
