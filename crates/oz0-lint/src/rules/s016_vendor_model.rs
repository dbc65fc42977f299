//! The page of this rule, `s016_vendor_model.md`, says what it finds, what it must not find, and why.

use oz0_plugin::Spanned;
use oz0_plugin::manifest::{Label, ModelChoice};

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::sink::{Finding, Sink};
use crate::view::View;

const METADATA: Metadata = Metadata {
    code: "OZ-S016",
    name: "vendor-model",
    plain: Plain::Off,
    runs_on: RunsOn::EveryPlugin,
    reads_functions: false,
    fixable: false,
    exemptible: false,
    page: include_str!("s016_vendor_model.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

/// The aliases that every tenant maps to a model.
const ALIASES: [&str; 3] = ["default", "fast", "smart"];

fn check(view: &View<'_>, sink: &mut Sink) {
    for (key, agent) in &view.manifest().agents {
        let Some(choice) = &agent.model else { continue };
        let (name, span) = match &choice.value {
            ModelChoice::Name(name) if is_vendors(name) => (name, &choice.span),
            ModelChoice::Name(_) => continue,
            ModelChoice::Model(model) => match (&model.alias, &model.primary) {
                (Some(alias), _) if is_vendors(alias) => (&alias.value, &alias.span),
                (_, Some(Spanned { value, span }))
                    if model.vendor_reason.is_none() && !ALIASES.contains(&value.as_str()) =>
                {
                    (value, span)
                }
                _ => continue,
            },
        };
        let message = format!(
            "the agent `{}` names the vendor's model `{name}` and gives no reason, so it runs only for tenants who pay that vendor",
            key.value
        );
        sink.push(Finding::at(span, message).help(format!(
            "ask for an alias, `model: {{use: default}}`, or say why: `model: {{primary: {name}, vendor_reason: \"...\"}}`"
        )));
    }
}

/// Whether a name is a vendor's model, and no alias: `openai/gpt-5.5`.
fn is_vendors(name: &Label) -> bool {
    name.as_str().contains('/')
}
