//! Commands that run plugins: `oz0 up` and `oz0 mcp`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use oz0_local::Network;

#[derive(Debug, Args)]
pub(crate) struct Up {
    /// Folders of plugins to run in place
    #[arg(value_name = "PLUGIN", value_hint = ValueHint::DirPath)]
    pub(crate) plugins: Vec<PathBuf>,
    /// Where the edge listens; port 0 picks a free one [variable: `OZ0_LISTEN`] [default: 127.0.0.1:7070]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Where the MCP endpoint listens; port 0 picks a free one [variable: `OZ0_MCP_LISTEN`] [default: 127.0.0.1:7071]
    #[arg(long, value_name = "ADDR")]
    pub(crate) mcp_listen: Option<SocketAddr>,
    /// Let only MCP clients in that show a token: oz0 token create --client NAME
    #[arg(long)]
    pub(crate) mcp_auth: bool,
    /// Another name that this machine is reached by (repeatable); requests for other names are refused
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    #[command(flatten)]
    pub(crate) front: FrontFlags,
    /// Print the first line as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) node: NodeFlags,
    #[command(flatten)]
    pub(crate) metrics: MetricsFlags,
    #[command(flatten)]
    pub(crate) log: LogFlags,
}

/// Where the console is reached, when something stands in front of it.
#[derive(Debug, Args)]
pub(crate) struct FrontFlags {
    /// Where people reach the console, of a proxy that stands in front: `https://oz0.example` [variable: `OZ0_PUBLIC_URL`]
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) public_url: Option<String>,
    /// A proxy that is believed when it says whom it stands for: an address, or a network (repeatable)
    #[arg(long, value_name = "NETWORK")]
    pub(crate) trusted_proxy: Vec<Network>,
}

/// `oz0 edge`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Edge {
    #[command(subcommand)]
    pub(crate) command: Option<EdgeCommand>,
    #[command(flatten)]
    pub(crate) run: RunEdge,
}

/// Where an edge keeps what it keeps.
#[derive(Debug, Args)]
pub(crate) struct KeptFlags {
    /// The PostgreSQL database to keep the store in, which other edges may use as well; a file in the data folder otherwise.
    /// An address with a password is better given in the variable, which other users do not see [variable: `OZ0_STORE`]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// Where bundles are kept: a folder, or `s3://BUCKET[/PREFIX]` with region, endpoint and credentials in the variables
    /// that Amazon's tools read [variable: `OZ0_BUNDLES`] [default: `bundles` in the data folder]
    #[arg(long, value_name = "PLACE")]
    pub(crate) bundles: Option<String>,
}

/// `oz0 edge …`.
#[derive(Debug, Subcommand)]
pub(crate) enum EdgeCommand {
    /// Bring a store's schema to what this oz0 reads
    ///
    /// An edge that starts does so as well; before an update of several edges over one database, this does it once, and says
    /// what it did. An oz0 that is older than the schema does not start on it any more, so make a backup first.
    #[command(
        after_help = "Examples:\n  oz0 edge migrate\n  oz0 edge migrate --store postgres://oz0@db.example/oz0"
    )]
    Migrate {
        #[command(flatten)]
        kept: KeptFlags,
    },
    /// Write the store and its bundles into a new file, also while an edge runs
    ///
    /// The file is a tar that holds one moment of the store: plugins, approvals, policy, tokens as hashes, the audit log, and
    /// the bundles. It is restored into a file or into PostgreSQL, whichever it came from. Whoever has it knows what your
    /// edge knows: keep it as you keep the data folder.
    #[command(
        after_help = "Examples:\n  oz0 edge backup oz0.backup\n  oz0 edge backup --store postgres://oz0@db.example/oz0 oz0.backup"
    )]
    Backup {
        /// The file to make
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
        #[command(flatten)]
        kept: KeptFlags,
    },
    /// Bring a backup into a store that is not there yet
    ///
    /// Nothing is changed where the backup is not whole, or where a store is there already. The data folder then has a new
    /// admin token, and the one named `admin` that was in the backup counts no more. Nodes that came further than the backup
    /// forget what they knew and begin from it.
    #[command(
        after_help = "Examples:\n  oz0 edge restore oz0.backup --data ./edge\n  oz0 edge restore oz0.backup --store postgres://oz0@db.example/oz0"
    )]
    Restore {
        /// The backup
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
        #[command(flatten)]
        kept: KeptFlags,
    },
}

/// `oz0 edge` by itself.
#[derive(Debug, Args)]
pub(crate) struct RunEdge {
    /// Where it listens; port 0 picks a free one [variable: `OZ0_LISTEN`] [default: 127.0.0.1:7070]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Another name that this machine is reached by (repeatable); requests for other names are refused
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    #[command(flatten)]
    pub(crate) front: FrontFlags,
    /// The certificate to show, with its chain, in PEM
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Its private key, in PEM
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) kept: KeptFlags,
    /// Print the first line as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) metrics: MetricsFlags,
    #[command(flatten)]
    pub(crate) log: LogFlags,
}

/// `oz0 node`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Node {
    #[command(subcommand)]
    pub(crate) command: Option<NodeCommand>,
    #[command(flatten)]
    pub(crate) run: RunNode,
}

/// `oz0 node` by itself.
#[derive(Debug, Args)]
pub(crate) struct RunNode {
    /// Where the MCP endpoint listens; port 0 picks a free one [variable: `OZ0_MCP_LISTEN`] [default: 127.0.0.1:7071]
    #[arg(long, value_name = "ADDR")]
    pub(crate) mcp_listen: Option<SocketAddr>,
    /// Another name that this machine is reached by (repeatable); requests for other names are refused
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// Print the first line as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) node: NodeFlags,
    #[command(flatten)]
    pub(crate) metrics: MetricsFlags,
    #[command(flatten)]
    pub(crate) log: LogFlags,
}

/// `oz0 node …`.
#[derive(Debug, Subcommand)]
pub(crate) enum NodeCommand {
    /// Join an edge, with a token that `oz0 token create --node NAME` printed
    ///
    /// The token comes from standard input, or is asked for on a terminal, where it is not shown. It works once: the node has
    /// a token of its own from then on, in the data folder. Certificates are checked as the system does it; `SSL_CERT_FILE`
    /// names another file of authorities.
    #[command(
        after_help = "Examples:\n  oz0 node join https://edge.example:7070\n  oz0 node join https://edge.example:7070 < token.txt"
    )]
    Join(JoinNode),
    /// Show the nodes, and whether they are there now
    #[command(
        after_help = "Examples:\n  oz0 node list\n  oz0 node list --json | jq '.nodes[].node'"
    )]
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
}

/// `oz0 node join`.
#[derive(Debug, Args)]
pub(crate) struct JoinNode {
    /// The edge's URL: https, or http to a loopback address
    #[arg(value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) url: String,
}

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// The plugin's folder
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) node: NodeFlags,
    #[command(flatten)]
    pub(crate) log: LogFlags,
}

/// What a command that serves tells of itself.
#[derive(Debug, Args)]
pub(crate) struct LogFlags {
    /// Log to standard error, in place of what is said there otherwise: a level, or directives such as
    /// `info,oz0::call=debug` [variable: `OZ0_LOG`] [default: off, and info where a format is given]
    #[arg(long, value_name = "FILTER")]
    pub(crate) log: Option<String>,
    /// How the log is written; json is an object a line [variable: `OZ0_LOG_FORMAT`] [default: text]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
}

/// How a log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// For programs
    Json,
}

/// A port for whoever gathers numbers.
#[derive(Debug, Args)]
pub(crate) struct MetricsFlags {
    /// Serve /metrics, /healthz and /readyz on a port of their own, to anyone who reaches it [variable:
    /// `OZ0_METRICS_LISTEN`] [default: none]
    #[arg(long, value_name = "ADDR")]
    pub(crate) metrics_listen: Option<SocketAddr>,
}

/// How a node behaves: the operator's to say, and never a manifest's.
#[derive(Debug, Args)]
pub(crate) struct NodeFlags {
    /// Give a secret its value from this environment, to each plugin that declares it when it is started (repeatable); to
    /// one plugin alone: PLUGIN=NAME
    #[arg(long, value_name = "NAME")]
    pub(crate) secret: Vec<String>,
    /// Let a plugin's servers read and write this folder, at the same path (repeatable); where several plugins run, say
    /// which: NAME=DIR
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) share: Vec<OsString>,
    /// Let a plugin's servers read this folder, at the same path (repeatable); NAME=DIR as with --share
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) share_read: Vec<OsString>,
    /// How old a server's listing may be when a call relies on it, in seconds; 0 lists before each call [variable:
    /// `OZ0_VERIFY_EVERY`] [default: 2, and 30 for remote servers]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) verify_every: Option<Duration>,
    /// What becomes of structured results that do not match the output schema [variable: `OZ0_VALIDATE`] [default: warn]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) validate: Option<Validate>,
    /// Which arguments are let through [variable: `OZ0_ARGUMENTS`] [default: as-listed]
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) arguments: Option<Arguments>,
    /// How long calls go on when the edge is lost, in seconds [variable: `OZ0_EDGE_GRACE`] [default: 3600]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) edge_grace: Option<Duration>,
    /// How long a call waits for a person who is asked about it, in seconds; a day at most [variable:
    /// `OZ0_APPROVAL_TIMEOUT`] [default: 600]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) approval_timeout: Option<Duration>,
    /// The line put under text that a plugin marks as written for people by a machine [variable: `OZ0_AI_LABEL`] [default:
    /// [AI-generated]]
    #[arg(long, value_name = "TEXT")]
    pub(crate) ai_label: Option<String>,
}

/// A time in seconds, whole or not, of at most a week.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is a number of seconds".to_owned())?;
    within_a_week(seconds).ok_or_else(|| "it is at least 0 and at most 604800".to_owned())
}

pub(crate) fn within_a_week(seconds: f64) -> Option<Duration> {
    (0.0..=604_800.0).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

/// What becomes of results that do not match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Validate {
    /// Nothing is checked
    Off,
    /// They pass, and it is said
    Warn,
    /// They are refused
    Refuse,
}

/// Which arguments are let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Arguments {
    /// What the pinned input schema allows
    AsListed,
    /// Only what it names
    Strict,
}
