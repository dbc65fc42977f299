//! A plugin through the crate's public surface: what decodes, what is said when it does not, and what belongs to it.

#![expect(clippy::unwrap_used, reason = "a test's helper fails by panicking, as the test does")]

mod compiled;
mod copies;
mod corpus;
mod diagnostics;
mod digest;
mod errors;
mod folder;
mod full;
mod parts;
mod publishing;
mod schema;
mod tree;
mod unsaved;

use std::fs;
use std::path::Path;

use oz0_plugin::Plugin;
use tempfile::TempDir;

/// The least manifest.
const LEAST: &str =
    "name: team\nversion: 1.0.0\nkind: connector\ndescription: Says hello.\nlicense: MIT\n";

/// A folder with these files, and the folders that they need.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(folder.path(), path, text);
    }
    folder
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn load(folder: &TempDir) -> Plugin {
    Plugin::load(folder.path()).unwrap()
}

fn paths(plugin: &Plugin) -> Vec<&str> {
    plugin.packed().iter().map(|file| file.path.as_str()).collect()
}
