//! The page of this rule, `s003_credentials_in_capability.md`, says what it finds, what it must not find, and why.

use std::collections::{HashMap, HashSet};

use oz0_diagnostic::Level;
use oz0_plugin::Spanned;
use oz0_plugin::manifest::EnvName;

use crate::exemption::Exemption;
use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::sink::{Finding, Sink};
use crate::view::{Kind, View};

const METADATA: Metadata = Metadata {
    code: "OZ-S003",
    name: "credentials-in-capability",
    plain: Plain::On(Level::Warning),
    runs_on: RunsOn::Capabilities,
    reads_functions: false,
    fixable: false,
    exemptible: true,
    page: include_str!("s003_credentials_in_capability.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

const HELP: &str = "reach the system through its connector, with its exact functions under `uses:`; a system without a \
                    connector gets one";

fn check(view: &View<'_>, sink: &mut Sink) {
    let manifest = view.manifest();
    let capability = view.kind() == Some(Kind::Capability);
    let requires = manifest.requires.as_ref();
    if capability {
        for key in manifest.connections.keys() {
            let message = format!("the capability has a connection of its own, `{}`", key.value);
            sink.push(Finding::at(&key.span, message).help(HELP));
        }
        for key in requires.iter().flat_map(|requires| requires.inject.keys()) {
            let message = format!("the capability binds the secret `{}` to hosts", key.value);
            sink.push(Finding::at(&key.span, message).help(HELP));
        }
    }
    let mut secrets: Vec<&Spanned<EnvName>> = Vec::new();
    if let Some(requires) = requires {
        secrets.extend(requires.secrets.iter().chain(&requires.optional_secrets));
    }
    let receiver = receiver(view).filter(|_| capability);
    let mut used = vec![false; view.exemptions().len()];
    // Of two exemptions of one secret the first counts.
    let mut exempting: HashMap<&str, usize> = HashMap::new();
    for (index, exemption) in view.exemptions().iter().enumerate() {
        if exemption.code == METADATA.code && exemption.mistake().is_none() {
            exempting.entry(&exemption.name).or_insert(index);
        }
    }
    for secret in receiver.iter().flat_map(|_| &secrets) {
        let exempting = exempting.get(secret.as_str()).copied();
        match exempting {
            Some(index) => {
                used[index] = true;
                let exemption = &view.exemptions()[index];
                let reason = oz0_listing::escape::line(&exemption.reason);
                let message = format!("the secret `{}` is exempted: {reason}", secret.value);
                let finding =
                    Finding::at(&secret.span, message).related(&exemption.span, "the exemption");
                sink.push(
                    finding
                        .help("check that the plugin's servers send it nowhere")
                        .verified_warning(),
                );
            }
            None => {
                let receiver = receiver.as_deref().unwrap_or_default();
                let message = format!(
                    "the capability holds the secret `{}`, which {receiver} receives",
                    secret.value
                );
                let help = format!(
                    "{HELP}. A secret that is data and no credential says so on a line of its own: `# OZ-S003 allow {}: REASON`",
                    secret.value
                );
                sink.push(Finding::at(&secret.span, message).help(help));
            }
        }
    }
    let names: HashSet<&str> = secrets.iter().map(|secret| secret.as_str()).collect();
    for (exemption, used) in view.exemptions().iter().zip(used) {
        if exemption.code == METADATA.code && !used {
            check_exemption(exemption, &names, sink);
        }
    }
}

/// Who receives the plugin's secrets: a server or a harness of its own, or a session of an agent with egress of its own.
/// A remote server is not the plugin's own.
fn receiver(view: &View<'_>) -> Option<String> {
    let manifest = view.manifest();
    let server = manifest.tools.iter().find(|(_, tool)| !tool.is_remote());
    if let Some((key, _)) = server {
        return Some(format!("the server of the tool `{}`", key.value));
    }
    if let Some(key) = manifest.harnesses.keys().next() {
        return Some(format!("the harness `{}`", key.value));
    }
    let agent = manifest.agents.iter().find(|(_, agent)| !agent.egress.is_empty());
    agent.map(|(key, _)| {
        format!("a session of the agent `{}`, which has egress of its own,", key.value)
    })
}

/// An exemption that exempts nothing.
fn check_exemption(exemption: &Exemption, names: &HashSet<&str>, sink: &mut Sink) {
    let help = "write `# OZ-S003 allow NAME: REASON` on a line of its own, with a secret of `requires:` and a reason of 10 to \
                300 characters, or remove the comment";
    let name = oz0_listing::escape::line_within(&exemption.name, 64);
    let message = match exemption.mistake() {
        Some(mistake) => format!("the exemption {mistake}"),
        None if !names.contains(exemption.name.as_str()) => {
            format!("the exemption names `{name}`, which is no secret of `requires:`")
        }
        None => format!("the exemption of `{name}` exempts nothing"),
    };
    sink.push(Finding::at(&exemption.span, message).help(help));
}
