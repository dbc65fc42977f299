//! The arguments of every command.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Runs MCP plugins so that what was approved is what gets called.
#[derive(Debug, Parser)]
#[command(name = "oz0", version, styles = STYLES, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 findings or refused, 2 wrong usage, 3 could not read or reach what was given"
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
    /// When to colour what is printed
    #[arg(long, global = true, value_name = "WHEN", env = "OZ0_COLOR")]
    pub(crate) color: Option<Color>,
    /// Where locked environments are kept [default: ~/.cache/oz0]
    #[arg(long, global = true, value_name = "DIR", env = "OZ0_CACHE", value_hint = ValueHint::DirPath)]
    pub(crate) cache: Option<PathBuf>,
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
    /// Measure and look at plugins
    #[command(subcommand)]
    Plugin(Plugin),
    /// Print the completions of a shell
    #[command(
        after_help = "Example:\n  oz0 completions bash > ~/.local/share/bash-completion/completions/oz0"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the generated files of the project
    #[command(name = "__generate", hide = true)]
    Generate {
        /// The folder to write them to
        folder: PathBuf,
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
pub(crate) struct Test {
    /// The plugin's folder
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Resolve the dependencies of package: tools anew, and write their locks
    #[arg(long)]
    pub(crate) relock: bool,
    /// Leave out the contract tests in tests/
    #[arg(long)]
    pub(crate) no_contract_tests: bool,
    /// Give a declared secret its value from this environment; without it a required secret is a placeholder
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
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
