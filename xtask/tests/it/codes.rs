//! Every code that a diagnostic can have is explained in the reference.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn text_below(folder: &Path, extension: &str) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text += &text_below(&path, extension);
        } else if path.extension().is_some_and(|found| found == extension) {
            text += &fs::read_to_string(path).unwrap();
        }
    }
    text
}

#[test]
fn every_code_has_its_row_in_the_reference() {
    let root = oz0_peers::workspace();
    let crates = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    // Sources only: tests make codes up.
    let sources: String = crates
        .map(|folder| folder.join("src"))
        .filter(|folder| folder.is_dir())
        .map(|folder| text_below(&folder, "rs"))
        .collect();
    let codes: BTreeSet<&str> =
        sources.split("code: \"OZ-").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(codes.contains("L001"), "{codes:?}");
    let reference = text_below(&root.join("docs/reference"), "md");
    let missing: Vec<_> =
        codes.into_iter().filter(|code| !reference.contains(&format!("| OZ-{code} |"))).collect();
    assert!(missing.is_empty(), "not in docs/reference: {missing:?}");
}
