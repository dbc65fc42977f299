//! The page of this rule, `s005_wildcard_egress.md`, says what it finds, what it must not find, and why.

use oz0_diagnostic::Level;

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::sink::{Finding, Sink};
use crate::view::View;

const METADATA: Metadata = Metadata {
    code: "OZ-S005",
    name: "wildcard-egress",
    plain: Plain::On(Level::Warning),
    runs_on: RunsOn::EveryPlugin,
    reads_functions: false,
    fixable: false,
    exemptible: false,
    page: include_str!("s005_wildcard_egress.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

fn check(view: &View<'_>, sink: &mut Sink) {
    let manifest = view.manifest();
    let of_agents = manifest.agents.values().flat_map(|agent| &agent.egress);
    for host in manifest.egress.iter().chain(of_agents).filter(|host| host.is_wildcard()) {
        let message = format!("`{}` is a wildcard, and names no exact host", host.value);
        sink.push(Finding::at(&host.span, message).help(
            "name each host, with the vendor's EU regional host where it has one; a host that differs per customer goes on the \
             tenant's egress allowlist",
        ));
    }
}
