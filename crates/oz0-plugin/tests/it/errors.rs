//! What is said when oz0 cannot read: what happened, to what, why, and what to do.

use std::error::Error as _;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use oz0_plugin::{LoadError, Plugin};

use super::{LEAST, folder, load, write};

fn error(path: &Path) -> LoadError {
    Plugin::load(path).unwrap_err()
}

/// The message, the causes and the help, with the folder's own place taken out.
fn told(error: &LoadError, root: &Path) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        write!(text, "\ncaused by: {next}").unwrap();
        cause = next.source();
    }
    if let Some(help) = error.help() {
        write!(text, "\nhelp: {help}").unwrap();
    }
    text.replace(root.to_str().unwrap(), "ROOT")
}

#[test]
fn a_file_instead_of_a_folder_is_called_one_and_its_folder_named() {
    let folder = folder(&[("oz0-plugin.yaml", LEAST), ("docs/notes.txt", "")]);
    let root = folder.path();
    assert_eq!(
        told(&error(&root.join("oz0-plugin.yaml")), root),
        "ROOT/oz0-plugin.yaml is not a folder, and a plugin is\nhelp: give the plugin's folder: ROOT"
    );
    assert_eq!(
        told(&error(&root.join("docs/notes.txt")), root),
        "ROOT/docs/notes.txt is not a folder, and a plugin is\n\
         help: give the folder that has the plugin's oz0-plugin.yaml"
    );
    for nowhere in ["nowhere", "oz0-plugin.yaml/x"] {
        let error = error(&root.join(nowhere));
        assert!(matches!(error, LoadError::NoFolder { .. }), "{error}");
    }
    // What cannot be looked at is not called missing.
    symlink("loop", root.join("loop")).unwrap();
    assert!(matches!(error(&root.join("loop")), LoadError::Io { .. }));
}

#[test]
fn a_manifest_under_nearly_its_name_is_named() {
    for name in ["oz0-plugin.yml", "OZ0-plugin.YAML", "oz0_plugin.yaml"] {
        let folder = folder(&[(name, LEAST)]);
        assert_eq!(
            told(&error(folder.path()), folder.path()),
            format!(
                "ROOT is not a plugin: it has no oz0-plugin.yaml\n\
                 help: the manifest's name is oz0-plugin.yaml: rename {name}"
            )
        );
    }
    let folder = folder(&[("plugin.txt", "")]);
    assert_eq!(
        told(&error(folder.path()), folder.path()),
        "ROOT is not a plugin: it has no oz0-plugin.yaml\n\
         help: write oz0-plugin.yaml, or give the folder that has it"
    );
}

#[test]
fn a_cause_stands_once() {
    let folder = folder(&[("oz0-plugin.yaml", LEAST)]);
    let root = folder.path();
    fs::create_dir_all(root.join("tools.listing.json/x")).unwrap();
    let failed = oz0_plugin::write_atomically(&root.join("tools.listing.json"), b"").unwrap_err();
    let said = told(&failed, root);
    assert_eq!(said.matches("s a directory").count(), 1, "{said}");
    assert!(said.starts_with("could not write ROOT/tools.listing.json\ncaused by: "), "{said}");
    assert!(
        said.ends_with("help: remove the folder that stands at ROOT/tools.listing.json"),
        "{said}"
    );
}

#[test]
fn a_file_that_changed_is_to_be_tried_again() {
    let folder = folder(&[("oz0-plugin.yaml", LEAST), ("a", "")]);
    let plugin = load(&folder);
    write(folder.path(), "a", "more");
    assert_eq!(
        told(&plugin.source_digest().unwrap_err(), folder.path()),
        "ROOT/a changed while it was read\nhelp: try again when nothing writes to the plugin"
    );
}
