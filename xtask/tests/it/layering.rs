//! `crates/README.md` says which crate may depend on which; this holds it against `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// A crate and the crates it names.
type Arrows = BTreeMap<String, BTreeSet<String>>;

fn table() -> Arrows {
    let text = std::fs::read_to_string(oz0_peers::workspace().join("crates/README.md")).unwrap();
    let code = |cell: &str| -> Vec<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    text.lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<_> = line.split('|').collect();
            assert_eq!(cells.len(), 5, "three cells: {line}");
            assert!(!cells[2].trim().is_empty(), "one sentence: {line}");
            (code(cells[1]).concat(), code(cells[3]).into_iter().collect())
        })
        .collect()
}

struct Workspace {
    normal: Arrows,
    dev: Arrows,
    testing: BTreeSet<String>,
}

fn workspace() -> Workspace {
    let output = Command::new(env!("CARGO"))
        .current_dir(oz0_peers::workspace())
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
    let members: BTreeSet<String> = packages.iter().map(name).collect();
    let arrows = |wanted: fn(Option<&str>) -> bool| -> Arrows {
        packages
            .iter()
            .map(|package| {
                let to = package["dependencies"].as_array().unwrap();
                let to = to.iter().filter(|to| wanted(to["kind"].as_str())).map(name);
                (name(package), to.filter(|to| members.contains(to)).collect())
            })
            .collect()
    };
    let below_testing = |package: &&Value| {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        manifest.starts_with(oz0_peers::workspace().join("testing"))
    };
    Workspace {
        // A build script's arrow is an arrow.
        normal: arrows(|kind| kind != Some("dev")),
        dev: arrows(|kind| kind == Some("dev")),
        testing: packages.iter().filter(below_testing).map(name).collect(),
    }
}

#[test]
fn every_crate_has_a_row_and_every_row_a_crate() {
    let rows: Vec<_> = table().into_keys().collect();
    let crates: Vec<_> = workspace().normal.into_keys().collect();
    assert_eq!(rows, crates);
}

#[test]
fn a_crate_depends_only_on_what_its_row_names() {
    let table = table();
    for (from, to) in workspace().normal {
        let row = table.get(&from).cloned().unwrap_or_default();
        let strays: Vec<_> = to.difference(&row).collect();
        assert!(strays.is_empty(), "{from} depends on {strays:?}, which its row does not name");
    }
}

#[test]
fn a_crates_tests_use_only_its_row_and_the_test_crates() {
    let table = table();
    let workspace = workspace();
    for (from, to) in workspace.dev {
        let strays: Vec<_> = to
            .iter()
            .filter(|to| !table.get(&from).is_some_and(|row| row.contains(*to)))
            .filter(|to| !workspace.testing.contains(*to))
            .collect();
        assert!(strays.is_empty(), "the tests of {from} depend on {strays:?}");
    }
}

#[test]
fn every_arrow_between_product_crates_points_down_and_none_to_a_test_crate() {
    let table = table();
    let testing = workspace().testing;
    let order: Vec<_> = {
        let text =
            std::fs::read_to_string(oz0_peers::workspace().join("crates/README.md")).unwrap();
        let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
        rows.filter_map(|row| row.split('`').next().map(str::to_owned)).collect()
    };
    let place = |name: &str| order.iter().position(|row| row == name);
    for (from, to) in table.iter().filter(|(from, _)| !testing.contains(*from) && *from != "xtask")
    {
        for to in to {
            assert!(place(to).is_some(), "{from} names {to}, which has no row");
            assert!(place(to) > place(from), "{from} names {to}, which stands above it");
            assert!(
                !testing.contains(to) && to != "xtask",
                "{from} names {to}, which is for tests"
            );
        }
    }
}
