//! The page of this rule, `s006_name_off_format.md`, says what it finds, what it must not find, and why.

use oz0_diagnostic::{Level, Span};

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::sink::{Finding, Sink};
use crate::view::{HubListing, View};

const METADATA: Metadata = Metadata {
    code: "OZ-S006",
    name: "name-off-format",
    plain: Plain::On(Level::Warning),
    runs_on: RunsOn::EveryPlugin,
    reads_functions: false,
    fixable: false,
    exemptible: false,
    page: include_str!("s006_name_off_format.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

/// The endings that say what a plugin is, the longer ones first.
const ENDINGS: [&str; 5] = ["-mcp-server", "-integration", "-connector", "-plugin", "-mcp"];

const HELP: &str = "name a connector for its system and a capability for its job, before you publish; a published name stays";

fn check(view: &View<'_>, sink: &mut Sink) {
    let name = &view.manifest().name;
    if let Some(label) = publisher_in(name.as_str(), view.hub()) {
        let message = format!(
            "the name `{}` carries the publisher `{label}`, which the hub adds",
            name.value
        );
        sink.push(Finding::at(&name.span, message).help(HELP));
    }
    if let Some(ending) = ENDINGS.into_iter().find(|ending| name.as_str().ends_with(ending)) {
        let message =
            format!("the name `{}` ends in `{ending}`, which repeats what it is", name.value);
        sink.push(Finding::at(&name.span, message).help(HELP));
    }
    if let Some(hub) = view.hub() {
        check_hub(name.as_str(), &name.span, hub, sink);
    }
}

/// The publisher that a name carries: `oz0-` before it, or a label of the listing's publisher at either end or between. A
/// name that is just the label says nothing twice.
fn publisher_in<'n>(name: &str, hub: Option<&'n HubListing>) -> Option<&'n str> {
    let labels = hub.and_then(HubListing::publisher).unwrap_or_default().split('.');
    let between = format!("-{name}-");
    let mut carried = labels.filter(|label| {
        !label.is_empty() && *label != name && between.contains(&format!("-{label}-"))
    });
    carried.next().or_else(|| name.starts_with("oz0-").then_some("oz0"))
}

/// A name without what this rule finds in any plugin's: `tracker` of `oz0-tracker-mcp-server`. Of a name that says nothing
/// else, something is left that is no name, or nothing.
pub fn bare_name(name: &str) -> &str {
    let mut bare = name;
    loop {
        let ending = ENDINGS.into_iter().find_map(|ending| bare.strip_suffix(ending));
        match bare.strip_prefix("oz0-").or(ending) {
            Some(rest) => bare = rest,
            None => return bare,
        }
    }
}

fn check_hub(name: &str, name_span: &Span, hub: &HubListing, sink: &mut Sink) {
    let (message, span) = match &hub.name {
        None => ("the hub listing has no `name`".to_owned(), Span::start_of(&hub.source)),
        Some((listed, span)) => {
            let is_right = listed.split_once('/').is_some_and(|(publisher, part)| {
                part == name && publisher.split('.').all(is_label)
            });
            if is_right {
                return;
            }
            let listed = oz0_listing::escape::line_within(listed, 128);
            (format!("the hub listing's name `{listed}` is not <publisher>/{name}"), span.clone())
        }
    };
    let publisher =
        hub.publisher().filter(|name| name.split('.').all(is_label)).unwrap_or("PUBLISHER");
    let finding = Finding::at(&span, message).help(format!("write `name: {publisher}/{name}`"));
    sink.push(finding.related(name_span, "the plugin's name"));
}

fn is_label(label: &str) -> bool {
    !label.is_empty()
        && label
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}
