//! `oz0 plugin …`.

use std::ffi::OsString;
use std::path::PathBuf;

use super::{Explain, Lint};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use oz0_api::rollout::Percent;
use oz0_api::{NodeName, PluginName};
use oz0_listing::FunctionId;
use oz0_scaffold::Template;

#[derive(Debug, Subcommand)]
pub(crate) enum Plugin {
    /// Write a new plugin from a template
    ///
    /// A template is a small plugin that works and keeps every house rule: its tests pass and it lints clean at the verified
    /// level as it is written. The comments in its manifest say what stands where, and why.
    #[command(
        after_help = "Examples:\n  oz0 plugin new my-tracker --template mcp-connector\n  oz0 plugin new to-do\n  oz0 plugin new guard --template policy --dir plugins/guard"
    )]
    New(New),
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
    /// Install a plugin, a folder or a bundle, on every node
    ///
    /// What the loader and the house rules find is shown; only the loader's errors refuse the plugin. The edge keeps the
    /// bundle, and each node fetches it. A version is one set of files: the same version with other files is refused.
    ///
    /// A new version's functions are called as soon as a node lists them, so whoever installs it is the one who looks: what its
    /// measured listing says otherwise than what is approved now is shown, and asked about. Where nobody can be asked, and
    /// where there is no fresh measured listing to compare, `--yes` installs it. `oz0 plugin inspect` shows a bundle whole.
    #[command(
        after_help = "Examples:\n  oz0 plugin install acme-github-1.4.0.oz0\n  oz0 plugin install acme-github-1.5.0.oz0 --show\n  oz0 plugin install ./acme-github --edge https://edge.example\n\nExit codes: 0 it is installed or shown, 1 it was refused or not agreed to, 2 wrong usage, 3 not read or reached"
    )]
    Install(Install),
    /// Run another version of an installed plugin, on every node or on some of them first
    ///
    /// On every node: each goes on with the version that it runs until the new one's servers have listed their functions, and
    /// for good where they do not. With --canary or --percent the version is a candidate: it runs on those nodes, with a snapshot
    /// and changes of its own, while the others go on, until `oz0 plugin promote` runs it everywhere or `oz0 plugin rollback`
    /// takes it back. The same version again, with other nodes, makes it the candidate of those.
    ///
    /// What the new version lists otherwise, and what it asks for beyond the installed one, is shown and asked about as by `oz0
    /// plugin install`. A version that an installed plugin's `uses:` has no place for is refused.
    #[command(
        after_help = "Examples:\n  oz0 plugin update acme-github-1.5.0.oz0\n  oz0 plugin update acme-github-1.5.0.oz0 --canary berlin\n  oz0 plugin update acme-github-1.5.0.oz0 --percent 10\n  oz0 plugin update acme-github-1.4.0.oz0 --downgrade\n\nExit codes: 0 it is installed, a candidate or shown, 1 it was refused or not agreed to, 2 wrong usage, 3 not read or reached"
    )]
    Update(Update),
    /// Run a plugin's candidate on every node
    ///
    /// The version before is kept for a rollback. Where something waits for approval in the candidate, or a node could not run it,
    /// that is said and asked about.
    #[command(
        after_help = "Examples:\n  oz0 plugin promote acme-github\n  oz0 plugin promote acme-github --yes"
    )]
    Promote(Promote),
    /// Take a plugin's candidate back, or without one go back to the version before
    ///
    /// The version that goes is called no more from the moment that a node hears of it.
    #[command(after_help = "Example:\n  oz0 plugin rollback acme-github")]
    Rollback(Rollback),
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
pub(crate) struct New {
    /// The plugin's name: a connector is named for its system, a capability for its job
    pub(crate) name: String,
    /// What to begin with
    #[arg(short, long, value_name = "TEMPLATE", value_parser = templates(), default_value = Template::Stdio.name())]
    pub(crate) template: Template,
    /// The folder to write, which is new or empty [default: one of the plugin's name here]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,
}

/// The templates, each with what it is.
fn templates() -> impl TypedValueParser<Value = Template> {
    let values =
        Template::ALL.map(|template| PossibleValue::new(template.name()).help(template.summary()));
    PossibleValuesParser::new(values)
        .map(|name| name.parse().expect("it is one of the possible values"))
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
pub(crate) struct Install {
    /// The plugin's folder, or its bundle
    #[arg(value_name = "DIR|BUNDLE", value_hint = ValueHint::AnyPath)]
    pub(crate) plugin: PathBuf,
    /// Only show what would be installed, and what differs from the version that is installed now
    #[arg(long, conflicts_with = "yes")]
    pub(crate) show: bool,
    /// Install without asking a version whose functions differ from the installed one's, or cannot be compared
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print as JSON: what is installed, or with --show what differs
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Update {
    /// The plugin's folder, or its bundle
    #[arg(value_name = "DIR|BUNDLE", value_hint = ValueHint::AnyPath)]
    pub(crate) plugin: PathBuf,
    /// Run it on these nodes only, as a candidate
    #[arg(long, value_name = "NODE", num_args = 1.., value_delimiter = ',', conflicts_with = "percent")]
    pub(crate) canary: Vec<NodeName>,
    /// Run it on so many of a hundred nodes only, as a candidate; a node that is in stays in when this grows
    #[arg(long, value_name = "N", value_parser = percent)]
    pub(crate) percent: Option<Percent>,
    /// Also in place of a newer version
    #[arg(long)]
    pub(crate) downgrade: bool,
    /// Only show what would be installed, and what differs from the version that is installed now
    #[arg(long, conflicts_with = "yes")]
    pub(crate) show: bool,
    /// Do not ask about a version whose functions differ from the installed one's, or cannot be compared, or that asks for more
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print as JSON: what is installed, or with --show what differs
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Promote {
    /// The plugin's name
    pub(crate) name: PluginName,
    /// Do not ask, whatever speaks against it
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print what is installed then as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Rollback {
    /// The plugin's name
    pub(crate) name: PluginName,
    /// Print what is installed then as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A share of the nodes.
fn percent(text: &str) -> Result<Percent, String> {
    let share: u8 = text.trim_end_matches('%').parse().map_err(|_| "it is no number".to_owned())?;
    share.try_into().map_err(|error: oz0_api::rollout::RolloutError| error.to_string())
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
