//! The page of this rule, `s014_unmeasured_tool.md`, says what it finds, what it must not find, and why.

use oz0_diagnostic::Level;
use oz0_listing::ToolId;
use oz0_plugin::{ListingState, Spanned};

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::sink::{Finding, Sink};
use crate::view::{Listed, Snapshot, View, find};

const METADATA: Metadata = Metadata {
    code: "OZ-S014",
    name: "unmeasured-tool",
    plain: Plain::On(Level::Note),
    runs_on: RunsOn::EveryPlugin,
    reads_functions: false,
    fixable: false,
    exemptible: false,
    page: include_str!("s014_unmeasured_tool.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

const HELP: &str = "run `oz0 plugin test` after your last change, and commit what it writes with the files it was measured from";

fn check(view: &View<'_>, sink: &mut Sink) {
    let manifest = view.manifest();
    if manifest.tools.is_empty() {
        return;
    }
    // A snapshot that cannot be read has a finding of its own.
    let is_read = |tool: &str| {
        matches!(view.snapshot(tool), Some(Snapshot::Present(_) | Snapshot::Unreadable(_)))
    };
    let unread = || manifest.tools.iter().filter(|(key, _)| !is_read(key.value.as_str()));
    match view.listed() {
        // What keeps it from being read is a finding of its own, an error at each level.
        Listed::Unreadable => return,
        Listed::Missing => {
            if let Some((key, _)) = unread().find(|(_, tool)| !tool.is_remote()) {
                let message = "there is no tools.listing.json, so OZ-S004, OZ-S008, OZ-S018 and OZ-S020 could not look at the functions";
                sink.push(Finding::at(&key.span, message).help(HELP));
            } else if let Some((key, _)) = unread().next() {
                sink.push(without_snapshot(key));
            }
            return;
        }
        Listed::Fresh | Listed::Stale => {}
    }
    for (key, tool) in unread() {
        let id = &key.value;
        if tool.is_remote() {
            sink.push(without_snapshot(key));
        } else if view.functions_of(id).next().is_none() && !is_left_out(view.state(), id.as_str())
        {
            let message = format!(
                "tools.listing.json holds no function of the tool `{id}`, so no rule looked at them"
            );
            sink.push(Finding::at(&key.span, message).help(HELP));
        }
    }
    if view.listed() == Listed::Stale
        && let Some(source) = view.listing_source()
    {
        let span = find(source, "\"source_digest\"");
        let finding = Finding::at(
            &span,
            "tools.listing.json was measured from other files than the plugin's now",
        );
        sink.push(finding.help(HELP));
    }
}

/// A tool of which nothing is listed, but something is left out, was measured.
fn is_left_out(state: &ListingState, tool: &str) -> bool {
    let listing = state.listing().into_iter();
    listing.flat_map(|listing| &listing.left_out).any(|left_out| left_out.tool.as_str() == tool)
}

/// A remote tool is never measured, and has nothing that stands for it.
fn without_snapshot(key: &Spanned<ToolId>) -> Finding {
    let id = &key.value;
    let message =
        format!("the remote tool `{id}` has no snapshot, so no rule looked at its functions");
    Finding::at(&key.span, message).help(format!(
        "commit snapshots/{id}.json with the functions that you expect the server to list"
    ))
}
