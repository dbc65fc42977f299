//! Plugins made of texts: the folder, its measured listing and its snapshots, with right hashes and digests.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use oz0_lint::{Example, FileKind, Plugin, Report, Request, lint};
use oz0_listing::file::{ListingFile, SnapshotFile};
use oz0_listing::{Digest, Function, ToolId, read_tool};
use serde_json::{Map, Value};
use tempfile::TempDir;

/// What every manifest has, for the parts of one that a test gives.
const REST: [(&str, &str); 4] = [
    ("name", "example"),
    ("version", "1.0.0"),
    ("description", "Does what the example says."),
    ("license", "Apache-2.0"),
];

/// A manifest from a part of one: what every manifest has stands behind it, so no line of the part moves.
pub(crate) fn whole(part: &str) -> String {
    let mut text = part.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let has = |key: &str| {
        let key = format!("{key}:");
        part.lines().any(|line| line.trim_start_matches('\u{feff}').starts_with(&key))
    };
    let rest = REST.into_iter().filter(|(key, _)| !has(key));
    text.extend(rest.map(|(key, value)| format!("{key}: {value}\n")));
    text
}

/// The licence that [`REST`] names, and a README: without them a plugin is not handed to others.
const BESIDE: [(&str, &str); 2] = [
    ("LICENSE", include_str!("../../../../LICENSE")),
    ("README.md", "# Example\n\nDoes what it says.\n"),
];

/// A folder with these files, a README and a licence.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in BESIDE.iter().chain(files) {
        write(folder.path(), path, text);
    }
    folder
}

pub(crate) fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Writes a case's files: the measured listing last, since it is measured from the others.
pub(crate) fn build(example: &Example) -> TempDir {
    let folder = folder(&[]);
    let root = folder.path();
    for file in &example.files {
        match &file.kind {
            FileKind::Manifest => write(root, "oz0-plugin.yaml", &whole(&file.text)),
            FileKind::Path(path) => write(root, path, &file.text),
            FileKind::Snapshot(tool) => write_snapshot(root, tool, &file.text, None),
            FileKind::Listing { .. } => {}
        }
    }
    for file in &example.files {
        if let FileKind::Listing { stale } = &file.kind {
            write_listing(root, &file.text, *stale);
        }
    }
    folder
}

/// Functions as a server lists them, from an object of their IDs (`tool.function`) and what they list beside a name.
fn functions(text: &str, tool: Option<&str>) -> Vec<Function> {
    let listed: Map<String, Value> = serde_json::from_str(text).unwrap();
    let mut raw: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (id, mut listing) in listed {
        let (tool, name) = match tool {
            Some(tool) => (tool, id.as_str()),
            None => id.split_once('.').unwrap(),
        };
        listing["name"] = name.into();
        if listing.get("inputSchema").is_none() {
            listing["inputSchema"] = serde_json::json!({"type": "object"});
        }
        raw.entry(tool.to_owned()).or_default().push(listing.to_string());
    }
    let read = |(tool, raw): (String, Vec<String>)| {
        let tool = ToolId::try_from(tool.as_str()).unwrap();
        let raw: Vec<&str> = raw.iter().map(String::as_str).collect();
        let listed = read_tool(&tool, &raw, &BTreeMap::new());
        assert_eq!(listed.left_out, [], "every function of a test is listed");
        listed.functions
    };
    raw.into_iter().flat_map(read).collect()
}

/// Writes a tool's snapshot.
pub(crate) fn write_snapshot(root: &Path, tool: &str, listed: &str, url: Option<&str>) {
    let file = SnapshotFile {
        tool: ToolId::try_from(tool).unwrap(),
        listed_from: None,
        url: url.map(str::to_owned),
        functions: functions(listed, Some(tool)),
    };
    write(root, &format!("snapshots/{tool}.json"), &file.write());
}

/// Writes the measured listing, last of all files: its digest is over the others, or of nothing where it is to be stale.
pub(crate) fn write_listing(root: &Path, listed: &str, stale: bool) {
    let source_digest = if stale {
        Digest::of(b"something else")
    } else {
        Plugin::load(root).unwrap().source_digest().unwrap()
    };
    let file =
        ListingFile { source_digest, functions: functions(listed, None), left_out: Vec::new() };
    write(root, "tools.listing.json", &file.write());
}

pub(crate) fn lint_folder(root: &Path, verified: bool) -> Report {
    let plugin = Plugin::load(root).unwrap();
    lint(&plugin, &Request { verified, ..Request::default() }).unwrap()
}

/// The findings of one rule in a report, as `file:line: message`.
pub(crate) fn of<'r>(report: &'r Report, code: &str) -> Vec<&'r oz0_diagnostic::Diagnostic> {
    report.problems.iter().filter(|problem| problem.check.code == code).collect()
}
