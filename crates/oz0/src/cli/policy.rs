//! Commands that decide what may be called: rules, and single calls that wait.

use clap::{Args, Subcommand, ValueEnum};
use oz0_api::{PolicyMatch, RuleId};

/// `oz0 policy …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// Show the rules, in the order in which they count
    #[command(
        after_help = "Examples:\n  oz0 policy list\n  oz0 policy list --json | jq -r '.rules[].match'"
    )]
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Say what happens to the calls of some functions
    ///
    /// The first rule that matches a call decides. A rule about functions that have one without a condition takes its place;
    /// a new one is put before the first rule that would take every call from it. Nodes go by it within moments.
    #[command(
        after_help = "Examples:\n  oz0 policy set team.hello allow\n  oz0 policy set 'jira.*' ask --reason 'tickets are read by customers'\n  oz0 policy set mail.send refuse --when '{\"/to\": {\"not\": {\"pattern\": \"@example\\\\.com$\"}}}'\n  oz0 policy set '*' refuse --before first"
    )]
    Set(SetPolicy),
    /// Take a rule away
    #[command(after_help = "Example:\n  oz0 policy unset 0123456789abcdef")]
    Unset {
        /// Its ID, as `oz0 policy list` shows it, or the start of it
        #[arg(value_name = "ID")]
        id: String,
    },
}

/// `oz0 policy set`.
#[derive(Debug, Args)]
pub(crate) struct SetPolicy {
    /// The functions: `<tool>.<function>`, `<tool>.*` or `*`
    #[arg(value_name = "MATCH")]
    pub(crate) matches: PolicyMatch,
    /// What happens to their calls
    #[arg(value_enum)]
    pub(crate) action: Action,
    /// Why, for people and for whoever is refused
    #[arg(long)]
    pub(crate) reason: Option<String>,
    /// Only for some arguments: a JSON object of JSON pointers and the JSON Schemas that must all hold there
    #[arg(long, value_name = "JSON")]
    pub(crate) when: Option<String>,
    /// Where it stands: before the rule with this ID, or `first`
    #[arg(long, value_name = "ID")]
    pub(crate) before: Option<Place>,
}

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Action {
    /// They go through
    Allow,
    /// A person is asked about each
    Ask,
    /// They are refused
    Refuse,
    /// A judge decides; for now a person is asked
    Judge,
}

/// A place among the rules.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    First,
    Rule(RuleId),
}

impl std::str::FromStr for Place {
    type Err = oz0_api::IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "first" { Ok(Self::First) } else { text.parse().map(Self::Rule) }
    }
}

/// `oz0 approvals …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Approvals {
    /// Show the calls that wait for a person, with their arguments
    #[command(
        after_help = "Examples:\n  oz0 approvals list\n  oz0 approvals list --json | jq -r '.approvals[].id'"
    )]
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Let one call through that waits, this once
    ///
    /// On a terminal the call is shown, with every argument as it would be sent, and asked about. Elsewhere --yes says that
    /// it was looked at. It counts for this call with these arguments, and for no other.
    #[command(
        after_help = "Examples:\n  oz0 approvals approve 0123456789ab\n  oz0 approvals approve 0123456789ab --yes --reason 'as agreed'"
    )]
    Approve(DecideCall),
    /// Refuse one call that waits
    #[command(
        after_help = "Example:\n  oz0 approvals deny 0123456789ab --reason 'not to this address'"
    )]
    Deny(DecideCall),
}

/// `oz0 approvals approve` and `deny`.
#[derive(Debug, Args)]
pub(crate) struct DecideCall {
    /// Its ID, as `oz0 approvals list` shows it, or the start of it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Why; whoever called is told where it is denied
    #[arg(long)]
    pub(crate) reason: Option<String>,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}
