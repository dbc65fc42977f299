//! `oz0 plugin …`.

use std::ffi::OsString;
use std::path::PathBuf;

use super::{Explain, Lint};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use oz0_api::PluginName;
use oz0_listing::FunctionId;

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
    /// Check a plugin against the house rules; runs nothing of it
    ///
    /// What the loader finds is an error. What a rule finds is a warning, or a note; with --verified the plugin is held to the
    /// level of verified plugins, where each rule's findings are errors and the rules that only those must pass run too. Errors
    /// make the command fail, warnings and notes do not.
    #[command(
        after_help = "Examples:\n  oz0 plugin lint ./acme-github\n  oz0 plugin lint --verified ./acme-github\n  oz0 plugin lint --fix --diff ./acme-github\n  oz0 plugin lint --json . | jq '.problems[] | select(.code | startswith(\"OZ-S\"))'\n  oz0 plugin lint --output sarif:lint.sarif --format github .\n  oz0 plugin lint --list-rules"
    )]
    Lint(Lint),
    /// Print a rule's page: what it finds, why, and what to do
    #[command(
        after_help = "Examples:\n  oz0 plugin explain OZ-S003\n  oz0 plugin explain wildcard-egress"
    )]
    Explain(Explain),
    /// Show a plugin, a folder or a bundle, and its measured listing; runs nothing of it
    #[command(
        after_help = "Examples:\n  oz0 plugin inspect ./acme-github\n  oz0 plugin inspect acme-github-1.4.0.oz0\n  oz0 plugin inspect --json . | jq '.functions[].name'"
    )]
    Inspect(Inspect),
    /// Pack a plugin into one file, NAME-VERSION.oz0, for others to install
    ///
    /// Equal files give equal bytes, wherever and by whomever they are packed. First what the loader asks of a plugin that is
    /// handed on is checked: its README, its licence file, its paths, its size. Then sbom.cdx.json is written: the list of
    /// what the plugin's locks hold. What is packed is read back, strictly, before the bundle gets its name.
    #[command(
        after_help = "Examples:\n  oz0 plugin pack ./acme-github --list-tools\n  oz0 plugin pack . -o dist/"
    )]
    Pack(Pack),
    /// Show the installed plugins: what runs where, what waits for approval, what is left out, what failed
    #[command(
        after_help = "Examples:\n  oz0 plugin list\n  oz0 plugin list --json | jq '.plugins[].changes[].labels'"
    )]
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Look at what changed in a plugin's tools, and approve it
    ///
    /// On a terminal each change is shown with what moved in it, word for word, and asked about. Only what was shown is
    /// approved: a function that lists itself differently again in the meantime is shown anew, and stays refused.
    /// Elsewhere, `--yes` approves the changes that `--change` names, by their whole IDs, as `--show` prints them.
    #[command(
        after_help = "Examples:\n  oz0 plugin approve-tools team\n  oz0 plugin approve-tools team --function team.hello\n  oz0 plugin approve-tools team --show --json | jq -r '.changes[].id'\n  oz0 plugin approve-tools team --yes --change 64_HEX_DIGITS\n\nExit codes: 0 all of it was approved or nothing waits, 1 something was not approved, 2 wrong usage, 3 not reached"
    )]
    ApproveTools(ApproveTools),
    /// Remove a plugin: nodes stop running it, and what was approved of it stays known
    #[command(after_help = "Example:\n  oz0 plugin remove team")]
    Remove {
        /// The plugin's name
        name: PluginName,
    },
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
    /// Let the servers read and write this folder, at the same path (repeatable)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) share: Vec<OsString>,
    /// Let the servers read this folder, at the same path (repeatable)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) share_read: Vec<OsString>,
    /// Which era of the protocol to open connections in: try the modern one first, or just one
    #[arg(long, value_enum, default_value_t = Era::Probe)]
    pub(crate) era: Era,
    /// How long a server may take to start and list, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
}

#[derive(Debug, Args)]
pub(crate) struct Pack {
    /// The plugin's folder
    #[arg(value_hint = ValueHint::DirPath, default_value = ".")]
    pub(crate) dir: PathBuf,
    /// First start the plugin's servers, and write what they list into tools.listing.json
    #[arg(long)]
    pub(crate) list_tools: bool,
    /// With --list-tools, give a secret of requires its value from this environment (repeatable)
    #[arg(long, value_name = "NAME", requires = "list_tools")]
    pub(crate) secret: Vec<String>,
    /// Where to write the bundle: a file, or a folder for NAME-VERSION.oz0 [default: the working folder]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,
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
    /// The plugin's folder, or its bundle
    #[arg(value_name = "PLUGIN", value_hint = ValueHint::AnyPath, default_value = ".")]
    pub(crate) plugin: PathBuf,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveTools {
    /// The plugin's name
    pub(crate) name: PluginName,
    /// Only show what waits
    #[arg(long, conflicts_with = "yes")]
    pub(crate) show: bool,
    /// Approve without asking what --change names
    #[arg(long, requires = "change")]
    pub(crate) yes: bool,
    /// Take this change (repeatable): its ID; where it is shown first, 8 digits that begin no other's are enough
    #[arg(long, value_name = "ID", value_parser = change)]
    pub(crate) change: Vec<String>,
    /// Take what waits of this function (repeatable)
    #[arg(long, value_name = "FUNCTION")]
    pub(crate) function: Vec<FunctionId>,
    /// Print as JSON: what waits with --show, what was approved with --yes
    #[arg(long)]
    pub(crate) json: bool,
}

/// A change's ID, or the start of one.
fn change(text: &str) -> Result<String, String> {
    if (8..=64).contains(&text.len())
        && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    {
        Ok(text.to_owned())
    } else {
        Err("a change's ID is 64 lower-case hex digits, of which at least 8 are given".to_owned())
    }
}
