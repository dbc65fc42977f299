//! The page of this rule, `s015_unpinned_tool.md`, says what it finds, what it must not find, and why.

use oz0_listing::file::SnapshotFile;
use oz0_listing::{Function, ToolId};
use oz0_plugin::Spanned;
use oz0_plugin::manifest::{Backend, PackageRef, Pin, Tool};

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::sink::{Finding, Sink};
use crate::view::{Snapshot, View};

mod takes_text;

const METADATA: Metadata = Metadata {
    code: "OZ-S015",
    name: "unpinned-tool",
    plain: Plain::Off,
    runs_on: RunsOn::EveryPlugin,
    reads_functions: false,
    fixable: false,
    exemptible: false,
    page: include_str!("s015_unpinned_tool.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

fn check(view: &View<'_>, sink: &mut Sink) {
    for (key, tool) in &view.manifest().tools {
        match tool.backend() {
            Backend::Mcp(_) => {}
            Backend::Package(package) => check_package(package, tool, sink),
            Backend::Url(_) => check_remote(view, key, tool, sink),
        }
    }
}

fn check_package(package: &PackageRef, tool: &Tool, sink: &mut Sink) {
    if package.exact().is_some() {
        return;
    }
    let Some(written) = &tool.package else { return };
    let how = match package {
        PackageRef::Pypi { name, .. } => format!("pypi:{name}==VERSION"),
        PackageRef::Npm { name, .. } => format!("npm:{name}@VERSION"),
        PackageRef::Oci { image, .. } => format!("oci:{image}@sha256:DIGEST"),
    };
    let why = match package.pin() {
        Pin::Floating(_) => "takes whatever a range or tag leads to",
        Pin::Absent | Pin::Exact(_) => "names no version",
    };
    let message = format!("`{package}` {why}, so what runs is not what was tested");
    sink.push(
        Finding::at(&written.span, message).help(format!("pin the version you tested: `{how}`")),
    );
}

fn check_remote(view: &View<'_>, key: &Spanned<ToolId>, tool: &Tool, sink: &mut Sink) {
    let id = &key.value;
    let help = format!(
        "commit snapshots/{id}.json with the functions that you expect the server to list, and a contract test that a fake lists exactly them"
    );
    match view.snapshot(id.as_str()) {
        None | Some(Snapshot::Missing) => {
            let message =
                format!("the remote tool `{id}` has no committed snapshot, snapshots/{id}.json");
            sink.push(Finding::at(&key.span, message).help(help));
        }
        Some(Snapshot::Unreadable(problem)) => {
            let message = format!(
                "the snapshot of the remote tool `{id}` does not hold: {}",
                problem.message
            );
            let finding = Finding::at(&problem.span, message).related(&key.span, "the tool");
            sink.push(finding.help(problem.help.clone().unwrap_or(help)));
        }
        Some(Snapshot::Present(file)) => {
            check_url(id, tool, file, sink);
            check_names(id, tool, file, sink);
        }
    }
}

/// A snapshot that names a URL names the manifest's.
fn check_url(id: &ToolId, tool: &Tool, file: &SnapshotFile, sink: &mut Sink) {
    let (Some(url), Some(named)) = (&tool.url, &file.url) else { return };
    if url.as_str() != named {
        let named = oz0_listing::escape::line_within(named, 200);
        let message = format!("snapshots/{id}.json is of `{named}`, and the tool's URL is another");
        sink.push(
            Finding::at(&url.span, message)
                .help("write the manifest's URL there, placeholders and all, or none"),
        );
    }
}

/// What the manifest says of functions, the snapshot has.
fn check_names(id: &ToolId, tool: &Tool, file: &SnapshotFile, sink: &mut Sink) {
    let find = |name: &str| file.functions.iter().find(|function| function.id.function() == name);
    let missing = |name: &str| {
        format!("snapshots/{id}.json lacks the function `{name}`, which the manifest names")
    };
    let help = "correct the name, or add the function to the snapshot";
    for name in &tool.requires_approval {
        if find(name.as_str()).is_none() {
            sink.push(Finding::at(&name.span, missing(name.as_str())).help(help));
        }
    }
    for (name, over) in &tool.overrides {
        let Some(function) = find(name.as_str()) else {
            sink.push(Finding::at(&name.span, missing(name.as_str())).help(help));
            continue;
        };
        let Some(label) = &over.ai_label else { continue };
        if !takes_text(function, label.pointer()) {
            let message = format!(
                "the snapshot's input schema of `{}` gives no string at `{}`",
                function.id,
                oz0_listing::escape::line(label.value.as_ref())
            );
            sink.push(Finding::at(&label.span, message).help(
                "point at an argument that the schema gives as a string, or into an object that names no properties and takes any \
                 key",
            ));
        }
    }
}

fn takes_text(function: &Function, pointer: &oz0_listing::Pointer) -> bool {
    let schema = function.listing.value().get("inputSchema");
    schema.is_some_and(|schema| takes_text::takes_text(schema, pointer))
}
