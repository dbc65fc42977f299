//! `oz0 plugin …`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

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
