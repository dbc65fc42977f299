//! `DEPENDENCIES.md` has a line for every crate that a manifest of the workspace names, with its licence, and no other line.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// The rows of the tables whose first cell is a crate's name: the name and the licence.
fn rows() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(oz0_peers::workspace().join("DEPENDENCIES.md")).unwrap();
    let mut rows = BTreeMap::new();
    let mut in_crates = false;
    for line in text.lines() {
        if line.starts_with("| crate |") {
            in_crates = true;
        } else if !line.starts_with('|') {
            in_crates = false;
        } else if in_crates && !line.starts_with("|---") {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let twice = rows.insert(cells[1].to_owned(), cells[cells.len() - 2].to_owned());
            assert!(twice.is_none(), "two lines: {line}");
        }
    }
    rows
}

#[test]
fn every_dependency_has_its_line_and_its_licence() {
    let output = Command::new(env!("CARGO"))
        .current_dir(oz0_peers::workspace())
        .args(["metadata", "--format-version=1", "--locked", "--all-features"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let is_ours = |package: &&Value| package["source"].is_null();
    let named: BTreeSet<&str> = packages
        .iter()
        .filter(is_ours)
        .flat_map(|package| package["dependencies"].as_array().unwrap())
        .filter(|dependency| dependency["path"].is_null())
        .map(|dependency| dependency["name"].as_str().unwrap())
        .collect();
    let rows = rows();
    let listed: BTreeSet<&str> = rows.keys().map(String::as_str).collect();
    assert_eq!(listed, named);

    for (name, licence) in &rows {
        let licences: BTreeSet<String> = packages
            .iter()
            .filter(|package| package["name"] == name.as_str())
            .map(|package| package["license"].as_str().unwrap_or("none").replace('/', " OR "))
            .collect();
        // The order of alternatives says nothing.
        let parts = |text: &str| -> BTreeSet<String> {
            text.split(" OR ").map(|part| part.trim().to_owned()).collect()
        };
        assert!(
            licences.iter().any(|found| parts(found) == parts(licence)),
            "{name}: {licence} is written, {licences:?} is so"
        );
    }
}
