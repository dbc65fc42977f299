//! The arguments of every command.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const MAIN_HELP: &str = "\
Examples:
  oz0 up ./acme-github
  oz0 mcp ./acme-github
  oz0 plugin test ./acme-github

Exit codes: 0 done, 1 findings or refused, 2 wrong usage, 3 could not read or reach what was given";

/// Runs MCP plugins so that what was approved is what gets called.
#[derive(Debug, Parser)]
#[command(name = "oz0", version, styles = STYLES, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = MAIN_HELP
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Say only what went wrong, and the result
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]
    #[arg(long, global = true, value_name = "WHEN")]
    pub(crate) color: Option<Color>,
    /// Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cache: Option<PathBuf>,
    /// Where plugins, approvals and tokens are kept, and the edge's socket [variable: `OZ0_DATA`] [default:
    /// ~/.local/share/oz0]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,
    /// The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]
    #[arg(long, global = true, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) edge: Option<String>,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run plugins, with an MCP endpoint for clients
    ///
    /// An edge, a node and the MCP endpoint in one process, on this machine. The folders given are run in place, and each
    /// edit starts their servers anew; plugins that were installed earlier go on. The first line on standard output says
    /// where it listens; what happens then is said on standard error. A signal (Ctrl-C) ends it in order, a second one at
    /// once.
    #[command(
        after_help = "Examples:\n  oz0 up ./acme-github\n  oz0 up --mcp-listen 127.0.0.1:0 --json ./acme-github | head -1 | jq -r .mcp"
    )]
    Up(Up),
    /// Run one plugin for the MCP client that starts this command, over its standard input and output
    ///
    /// No port is opened. The plugins, approvals and tokens are those of the data folder, also while other clients run the
    /// same command, or `oz0 up` runs, on it.
    #[command(
        after_help = "Examples:\n  claude mcp add acme -- oz0 mcp ./acme-github\n  oz0 mcp ./acme-github"
    )]
    Mcp(Mcp),
    /// Measure and look at plugins
    #[command(subcommand, after_help = "Example:\n  oz0 plugin test ./acme-github")]
    Plugin(Plugin),
    /// Print the completions of a shell
    #[command(
        after_help = "Example:\n  oz0 completions bash > ~/.local/share/bash-completion/completions/oz0"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Plugin {
    /// Start a plugin's servers, and write what they list into tools.listing.json
    ///
    /// Each server is started three times: a second time a second later, to find a listing that differs from start to start,
    /// and a third time in other surroundings (time zone, hash seed, folders), to find one that depends on where it runs.
    /// Then the contract tests in tests/ run. Servers and tests run on a copy of the packed files, in a sandbox where the
    /// system allows one. The file is written only when every server listed, and is replaced as a whole.
    #[command(
        after_help = "Examples:\n  oz0 plugin test ./acme-github\n  oz0 plugin test ./acme-github --relock\n  oz0 plugin test --json . | jq .functions"
    )]
    Test(Test),
    /// Show a plugin and its measured listing; runs nothing of it
    #[command(
        after_help = "Examples:\n  oz0 plugin inspect ./acme-github\n  oz0 plugin inspect --json . | jq '.functions[].name'"
    )]
    Inspect(Inspect),
    /// Print the JSON Schema of oz0-plugin.yaml
    #[command(after_help = "Example:\n  oz0 plugin schema > oz0-plugin.schema.json")]
    Schema,
}

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
    /// Print the first line as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) node: NodeFlags,
}

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// The plugin's folder
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) node: NodeFlags,
}

/// How a node behaves: the operator's to say, and never a manifest's.
#[derive(Debug, Args)]
pub(crate) struct NodeFlags {
    /// Give a secret that plugins declare its value from this environment (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) secret: Vec<String>,
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

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Test {
    /// The plugin's folder
    #[arg(value_hint = ValueHint::DirPath, default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Resolve the dependencies of package: tools anew, and write their locks
    #[arg(long)]
    pub(crate) relock: bool,
    /// Write nothing, and fail if tools.listing.json or a lock is not what would be written
    #[arg(long, conflicts_with = "relock")]
    pub(crate) check: bool,
    /// Leave out the contract tests in tests/
    #[arg(long)]
    pub(crate) no_contract_tests: bool,
    /// Give a secret of requires its value from this environment (repeatable); a required one is a placeholder otherwise
    #[arg(long, value_name = "NAME")]
    pub(crate) secret: Vec<String>,
    /// Which era of the protocol to open connections in: try the modern one first, or just one
    #[arg(long, value_enum, default_value_t = Era::Probe)]
    pub(crate) era: Era,
    /// How long a server may take to start and list, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
}

/// An era of the Model Context Protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Era {
    /// The modern one, and the legacy one where the server does not answer
    Probe,
    /// 2026-07-28 and later, without a handshake
    Modern,
    /// 2025-11-25 and earlier, with one
    Legacy,
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// The plugin's folder
    #[arg(value_hint = ValueHint::DirPath, default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
