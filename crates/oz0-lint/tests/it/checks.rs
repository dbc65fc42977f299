//! Any bytes as a plugin's files: a report, never a panic, every place inside its file, and fixes that leave a manifest
//! that can be read.
//!
//! The byte 255, which no UTF-8 has, stands between the files: the manifest, the hub's listing, an eval, the measured
//! listing, and the snapshot of the tool `wx`. A manifest of no bytes stands for one with that tool.

use std::path::Path;
use std::sync::Arc;

use oz0_lint::{Plugin, Request, fixes, lint};
use oz0_plugin::{Mode, PluginFile};

const PATHS: [&str; 5] = [
    "oz0-plugin.yaml",
    "hub/listing.yaml",
    "evals/e.yaml",
    "tools.listing.json",
    "snapshots/wx.json",
];

const MANIFEST: &str = "\
name: a
version: 1.0.0
kind: capability
description: A.
license: MIT
tools:
  t: {mcp: {command: [x]}, labels: {source: a}}
  wx: {url: 'https://mcp.example.com', requires_approval: [f], overrides: {f: {ai_label: /a/b}}}
agents:
  a: {tools: [t.*, wx.*, u.f]}
flows:
  f: {trigger: {webhook: w}, steps: [{agent: a}]}
uses:
  o: {tools: [u.f]}
";

fn check_at(bytes: &[u8], verified: bool) {
    let mut files = Vec::new();
    for (path, part) in PATHS.iter().zip(bytes.split(|byte| *byte == 255)) {
        let part = if *path == PATHS[0] && part.is_empty() { MANIFEST.as_bytes() } else { part };
        if *path == PATHS[0] || !part.is_empty() {
            let bytes = Arc::from(part);
            files.push(PluginFile { path: (*path).to_owned(), mode: Mode::Plain, bytes });
        }
    }
    let Ok(plugin) = Plugin::from_files(Path::new("a"), files) else { return };
    let request = Request { verified, ..Request::default() };
    let report = lint(&plugin, &request).expect("nothing is read from a disk");
    for problem in &report.problems {
        let related = problem.related.iter().map(|related| &related.span);
        for span in std::iter::once(&problem.span).chain(related) {
            assert!(span.file().text().get(span.range()).is_some());
        }
    }
    assert_eq!(report.failed(), report.summary.errors > 0);
    let _ =
        (report.to_json(), report.to_sarif("a/"), report.to_github("a/"), report.summary_text());
    for file in fixes(&report.problems) {
        if file.source.path() == PATHS[0] {
            let decoded = oz0_plugin::manifest::decode(PATHS[0], file.text.as_bytes());
            assert!(decoded.manifest.is_some(), "{}", file.text);
        }
    }
}

/// One input.
pub(crate) fn check(bytes: &[u8]) {
    check_at(bytes, false);
    check_at(bytes, true);
}
