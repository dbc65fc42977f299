//! The arguments of every command: what all of them take here, and one file a group.

mod credentials;
mod edge;
mod lint;
mod plugin;
mod policy;
mod run;
mod wrap;

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

pub(crate) use self::credentials::{ClientAuth, ConnectConnection, Connection, Of, Secret};
pub(crate) use self::edge::{Audit, AuditCommand, Call, Catalog, CreateToken, ReadAudit, Token};
pub(crate) use self::lint::{Explain, Format, Lint, Lsp};
pub(crate) use self::plugin::{
    ApproveTools, Era, Inspect, Install, New, Pack, Plugin, Promote, Rollback, Test, Update,
};
pub(crate) use self::policy::{Action, Approvals, DecideCall, Place, Policy, SetPolicy};
pub(crate) use self::run::{
    Arguments, Edge, EdgeCommand, FrontFlags, JoinNode, KeptFlags, LogFlags, LogFormat, Mcp,
    MetricsFlags, Node, NodeCommand, NodeFlags, RunEdge, RunNode, Up, Validate, seconds,
    within_a_week,
};
pub(crate) use self::wrap::Wrap;

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
  oz0 plugin lint ./acme-github
  oz0 plugin inspect ./acme-github
  oz0 plugin list
  oz0 plugin approve-tools acme-github

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

/// Where what every command takes stands in its help: after what is its own.
const GLOBAL: &str = "Options of every command";

/// What every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Say only what went wrong, and the result
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub(crate) quiet: bool,
    /// When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "WHEN")]
    pub(crate) color: Option<Color>,
    /// Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cache: Option<PathBuf>,
    /// Where plugins, approvals and tokens are kept, and the edge's socket [variable: `OZ0_DATA`] [default:
    /// ~/.local/share/oz0]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,
    /// The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "URL", value_hint = ValueHint::Url)]
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
    /// Run an edge: the control plane alone, for nodes on other machines
    ///
    /// It keeps plugins, approvals, tokens and the audit log, and starts no server itself: nodes join it with `oz0 node join`.
    /// On an address that other machines reach it needs a certificate. The first line on standard output says where it
    /// listens; a signal (Ctrl-C) ends it in order.
    #[command(
        after_help = "Examples:\n  oz0 edge\n  oz0 edge --listen 0.0.0.0:7070 --host edge.example --tls-cert edge.pem --tls-key edge.key\n  oz0 edge --store postgres://oz0@db.example/oz0 --bundles s3://oz0-bundles\n  oz0 edge backup oz0.backup"
    )]
    Edge(Edge),
    /// Make a plugin's folder around a server that you use
    ///
    /// Takes the command of a server as a client's configuration has it, and writes a folder with a manifest: a package of
    /// a registry becomes an exact version, a script or a program of this machine becomes part of the folder. Nothing of
    /// the server is run. What cannot run in the sandbox is refused, with the reason.
    #[command(after_help = wrap::HELP)]
    Wrap(Wrap),
    /// Measure plugins, look at them, and approve what changes in them
    #[command(subcommand, after_help = "Example:\n  oz0 plugin test ./acme-github")]
    Plugin(Plugin),
    /// Check plugins in an editor, as a language server on standard input and output
    ///
    /// The editor starts this command. It shows what `oz0 plugin lint` finds, of the text as it stands in the editor, saved or
    /// not, with quick fixes, the rules' pages, and completion in oz0-plugin.yaml. Nothing of a plugin is run.
    #[command(
        after_help = "Examples:\n  oz0 lsp\n  oz0 lsp --verified\n\nExit codes: 0 the editor said `shutdown` before it left, 1 it did not"
    )]
    Lsp(Lsp),
    /// Show every function as it was approved, and what waits beside it
    #[command(
        after_help = "Examples:\n  oz0 catalog\n  oz0 catalog --json | jq '.functions[] | select(.changes != []) | .id'"
    )]
    Catalog(Catalog),
    /// Call a function, as a client would
    #[command(
        after_help = "Examples:\n  oz0 call team.hello '{\"name\": \"you\"}'\n  oz0 call team.hello @arguments.json\n  echo '{}' | oz0 call team__hello - --json\n\nExit codes: 0 a result, 1 the function said that it failed or it was refused, 2 wrong usage, 3 not reached"
    )]
    Call(Call),
    /// Say what may be called, what a person is asked about, and what is refused
    #[command(subcommand, after_help = "Example:\n  oz0 policy set 'team.*' allow")]
    Policy(Policy),
    /// Look at the calls that wait for a person, and decide
    #[command(subcommand, after_help = "Example:\n  oz0 approvals list")]
    Approvals(Approvals),
    /// Keep the secrets that plugins' processes are given
    #[command(subcommand, after_help = "Example:\n  oz0 secret set acme-github/GITHUB_TOKEN")]
    Secret(Secret),
    /// Connect plugins to accounts at outside systems, whose tokens go with single calls
    #[command(subcommand, after_help = "Example:\n  oz0 connection connect acme-github/github")]
    Connection(Connection),
    /// Read the audit log: who approved what, and when
    #[command(
        after_help = "Examples:\n  oz0 audit --plugin team\n  oz0 audit --follow --action plugin.tools\n  oz0 audit --since 2h --json | jq -r .action\n  oz0 audit verify"
    )]
    Audit(Audit),
    /// Make, list and revoke tokens
    #[command(subcommand, after_help = "Example:\n  oz0 token create --client claude")]
    Token(Token),
    /// Keep a token for an edge, so that commands use it
    ///
    /// The token comes from standard input, or is asked for on a terminal, where it is not shown. It is checked before it is
    /// kept, in `credentials.toml` beside `config.toml`, which only you can read.
    #[command(
        after_help = "Examples:\n  oz0 login --edge https://edge.example\n  oz0 login --edge https://edge.example < token.txt"
    )]
    Login,
    /// Run a node, join an edge with it, or look at an edge's nodes
    ///
    /// Without a command: runs the plugins of the edge that was joined from this data folder, with an MCP endpoint whose clients
    /// show a token (`oz0 token create --client NAME`). The first line on standard output says where it listens.
    #[command(
        after_help = "Examples:\n  oz0 node join https://edge.example:7070 < token.txt\n  oz0 node\n  oz0 node list"
    )]
    Node(Node),
    /// Print the completions of a shell
    #[command(
        after_help = "Example:\n  oz0 completions bash > ~/.local/share/bash-completion/completions/oz0"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}
