//! The page of this rule, `s017_provider_key.md`, says what it finds, what it must not find, and why.

use oz0_policy::providers;

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::sink::{Finding, Sink};
use crate::view::View;

const METADATA: Metadata = Metadata {
    code: "OZ-S017",
    name: "provider-key",
    plain: Plain::Off,
    runs_on: RunsOn::EveryPlugin,
    reads_functions: false,
    fixable: false,
    exemptible: false,
    page: include_str!("s017_provider_key.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

fn check(view: &View<'_>, sink: &mut Sink) {
    let Some(requires) = &view.manifest().requires else { return };
    for secret in requires.secrets.iter().chain(&requires.optional_secrets) {
        let Some(provider) = providers::of_variable(secret.as_str()) else { continue };
        let message = format!(
            "`{}` is {}'s key: with it the plugin's processes call models around the gateway",
            secret.value, provider.name
        );
        sink.push(Finding::at(&secret.span, message).help(
            "take it out, and ask the platform for models: `requires: {models: {sampling: default}}`, or `gateway:` for what \
             sampling cannot express",
        ));
    }
}
