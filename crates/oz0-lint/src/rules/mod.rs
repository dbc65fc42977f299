//! The registry: every rule, in the order of the codes.
//!
//! A rule is two files in this folder, and a test holds the folder against [`rules`].

mod s001_wrong_kind;
mod s002_logic_in_connector;
mod s003_credentials_in_capability;
mod s004_unmarked_write;
mod s005_wildcard_egress;
mod s006_name_off_format;
mod s007_pasted_secret;
mod s008_no_output_schema;
mod s009_too_many_functions;
mod s010_whole_tool_grant;
mod s011_untested_connector;
mod s012_litellm;
mod s013_annex_iii_area;
mod s014_unmeasured_tool;
mod s015_unpinned_tool;
mod s016_vendor_model;
mod s017_provider_key;
mod s018_unasked_write;
mod s019_bare_reference;
mod s020_open_combination;
mod s021_unbounded_range;
mod s022_content_host;

use oz0_diagnostic::{Check, Level};
use oz0_plugin::Plugin;

pub use s006_name_off_format::bare_name;

use crate::metadata::{Metadata, Plain};
use crate::sink::Sink;
use crate::view::View;

/// A rule.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rule {
    /// What is known of it.
    pub metadata: Metadata,
    /// What its findings are an instance of, one for each level that they have at the plain level.
    checks: [Check; 3],
    pub(crate) run: Run,
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Run {
    /// The plugin as its manifest says it, which it needs without errors.
    View(fn(&View<'_>, &mut Sink)),
    /// The plugin's files, whatever the manifest says.
    Files(fn(&Plugin, &mut Sink)),
}

impl Rule {
    const fn new(metadata: Metadata, run: fn(&View<'_>, &mut Sink)) -> Self {
        Self::that(metadata, Run::View(run))
    }

    /// A rule that runs on the plugin's files, also when the manifest has errors.
    const fn of_files(metadata: Metadata, run: fn(&Plugin, &mut Sink)) -> Self {
        Self::that(metadata, Run::Files(run))
    }

    const fn that(metadata: Metadata, run: Run) -> Self {
        const fn check(metadata: &Metadata, level: Level) -> Check {
            Check { code: metadata.code, name: metadata.name, level }
        }
        let checks = [
            check(&metadata, Level::Note),
            check(&metadata, Level::Warning),
            check(&metadata, Level::Error),
        ];
        Self { metadata, checks, run }
    }

    /// Whether it runs on plugins that are held to the verified level, or on those that are not.
    pub(crate) fn runs_at(&self, verified: bool) -> bool {
        verified || self.metadata.plain != Plain::Off
    }

    pub(crate) fn check(&'static self, level: Level) -> &'static Check {
        match level {
            Level::Note => &self.checks[0],
            Level::Warning => &self.checks[1],
            Level::Error => &self.checks[2],
        }
    }
}

static RULES: &[&Rule] = &[
    &s001_wrong_kind::RULE,
    &s002_logic_in_connector::RULE,
    &s003_credentials_in_capability::RULE,
    &s004_unmarked_write::RULE,
    &s005_wildcard_egress::RULE,
    &s006_name_off_format::RULE,
    &s007_pasted_secret::RULE,
    &s008_no_output_schema::RULE,
    &s009_too_many_functions::RULE,
    &s010_whole_tool_grant::RULE,
    &s011_untested_connector::RULE,
    &s012_litellm::RULE,
    &s013_annex_iii_area::RULE,
    &s014_unmeasured_tool::RULE,
    &s015_unpinned_tool::RULE,
    &s016_vendor_model::RULE,
    &s017_provider_key::RULE,
    &s018_unasked_write::RULE,
    &s019_bare_reference::RULE,
    &s020_open_combination::RULE,
    &s021_unbounded_range::RULE,
    &s022_content_host::RULE,
];

/// Every rule, in the order of the codes.
pub fn rules() -> &'static [&'static Rule] {
    RULES
}

/// The rule with this code, in any case, with or without `OZ-`; or with this name.
pub fn find(code: &str) -> Option<&'static Rule> {
    let wanted = code.to_ascii_uppercase();
    let wanted = wanted.strip_prefix("OZ-").unwrap_or(&wanted);
    let is = |rule: &&&Rule| {
        rule.metadata.code.trim_start_matches("OZ-") == wanted || rule.metadata.name == code
    };
    RULES.iter().find(is).copied()
}
