//! The page of this rule, `s022_content_host.md`, says what it finds, what it must not find, and why.

use oz0_diagnostic::Level;
use oz0_plugin::manifest::HostPattern;
use oz0_plugin::{List, Spanned};
use oz0_policy::hosts::{ContentHost, reached_by};

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::sink::{Finding, Sink};
use crate::view::{Kind, View};

const METADATA: Metadata = Metadata {
    code: "OZ-S022",
    name: "content-host",
    plain: Plain::On(Level::Warning),
    runs_on: RunsOn::EveryPlugin,
    reads_functions: false,
    fixable: false,
    exemptible: false,
    page: include_str!("s022_content_host.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

fn check(view: &View<'_>, sink: &mut Sink) {
    let manifest = view.manifest();
    let connector = view.kind() == Some(Kind::Connector);
    for host in &manifest.egress {
        let companion = |found: &ContentHost<'_>| {
            connector.then(|| companion(host, found, &manifest.egress)).flatten()
        };
        check_host(host, companion, sink);
    }
    for host in manifest.agents.values().flat_map(|agent| &agent.egress) {
        check_host(host, |_| None, sink);
    }
}

fn check_host<'m>(
    host: &'m Spanned<HostPattern>,
    companion: impl Fn(&ContentHost<'_>) -> Option<&'m Spanned<HostPattern>>,
    sink: &mut Sink,
) {
    let found = reached_by(host.as_str());
    let Some(first) = found.first() else { return };
    let what = first.category.phrase();
    if let Some(companion) = companion(first) {
        let message = format!(
            "`{}` is {what}, which serves {}; the connector downloads its own system's files there",
            host.value, first.serves
        );
        let finding = Finding::at(&host.span, message).note();
        sink.push(
            finding
                .related(&companion.span, "the system that downloads from it")
                .help("say in the plugin's docs what it fetches there"),
        );
        return;
    }
    let message = if host.is_wildcard() {
        let more = match found.len() - 1 {
            0 => String::new(),
            1 => ", and one more such host".to_owned(),
            more => format!(", and {more} more such hosts"),
        };
        format!(
            "`{}` reaches `{}`, {what}, which serves {}{more}",
            host.value, first.pattern, first.serves
        )
    } else {
        format!("`{}` is {what}, which serves {}", host.value, first.serves)
    };
    sink.push(Finding::at(&host.span, message).help(
        "keep it only if the plugin must download from it, and say in its docs what it fetches there; a host that only some \
         customers need goes on the tenant's egress allowlist",
    ));
}

/// A companion of an exact host that the connector lists too.
fn companion<'m>(
    host: &HostPattern,
    found: &ContentHost<'_>,
    egress: &'m List<HostPattern>,
) -> Option<&'m Spanned<HostPattern>> {
    if host.is_wildcard() {
        return None;
    }
    egress.iter().find(|listed| {
        found.companions.iter().any(|companion| companion.eq_ignore_ascii_case(listed.as_str()))
    })
}
