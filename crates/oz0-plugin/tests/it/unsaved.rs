//! A plugin with open documents is the one that it is once they are saved.

use std::fs;
use std::path::Path;

use oz0_diagnostic::report::concise;
use oz0_plugin::{LoadError, Mode, Plugin, Unsaved};
use proptest::prelude::*;
use tempfile::TempDir;

const MANIFEST: &str =
    "name: team\nversion: 1.0.0\ndescription: Says hello.\nlicense: Apache-2.0\n";

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        write(folder.path(), path, bytes);
    }
    folder
}

fn write(root: &Path, path: &str, bytes: &[u8]) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn unsaved(documents: &[(&str, &str)]) -> Unsaved {
    let mut unsaved = Unsaved::default();
    for (path, text) in documents {
        unsaved.insert(*path, *text);
    }
    unsaved
}

/// What can be told of a plugin: paths and modes, digest, findings.
fn told(plugin: &Plugin) -> (Vec<(String, Mode, u64)>, String, String) {
    let files = plugin.packed().iter().map(|file| (file.path.clone(), file.mode, file.len));
    let digest = plugin.source_digest().unwrap().to_string();
    (files.collect(), digest, concise(plugin.diagnostics()))
}

/// Paths in folders that are there, that are not, and that an ignore file may name.
fn path() -> impl Strategy<Value = String> {
    let names = prop::sample::select(vec!["a", "b.md", ".oz0ignore", "x.pyc", "evals/e.yaml"]);
    let folders =
        prop::sample::select(vec!["", "d/", "d/e/", "new/", "new/er/", "a-b/", "__pycache__/"]);
    (folders, names).prop_map(|(folder, name)| format!("{folder}{name}"))
}

fn text() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "",
        "a\n",
        "*.md\n",
        "d/\n!d/a\n",
        "new\n",
        "[z-a]\n",
        "agent: x\ncases: []\n",
    ])
    .prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn loading_with_documents_is_loading_what_saving_them_leaves(
        on_disk in prop::collection::vec((path(), text()), 0..6),
        open in prop::collection::vec((path(), text()), 0..6),
    ) {
        let folder = folder(&[("oz0-plugin.yaml", MANIFEST.as_bytes())]);
        // A path of one that is a folder of another cannot be saved.
        let clashes = |path: &str| {
            let all = on_disk.iter().chain(&open).map(|(other, _)| other.as_str());
            let mut all = all.filter(|other| *other != path);
            all.any(|other| other.starts_with(&format!("{path}/")) || path.starts_with(&format!("{other}/")))
        };
        for (path, text) in on_disk.iter().filter(|(path, _)| !clashes(path)) {
            write(folder.path(), path, text.as_bytes());
        }
        let mut documents = Unsaved::default();
        let open: Vec<_> = open.iter().filter(|(path, _)| !clashes(path)).collect();
        for (path, text) in &open {
            documents.insert(path.as_str(), text.as_str());
        }
        let before = told(&Plugin::load_unsaved(folder.path(), &documents).unwrap());
        for (path, text) in &open {
            write(folder.path(), path, text.as_bytes());
        }
        prop_assert_eq!(before, told(&Plugin::load(folder.path()).unwrap()));
    }
}

#[test]
fn the_manifests_document_counts_also_before_there_is_a_file() {
    let folder = folder(&[("README.md", b"# Team\n")]);
    let plugin =
        Plugin::load_unsaved(folder.path(), &unsaved(&[("oz0-plugin.yaml", MANIFEST)])).unwrap();
    assert_eq!(plugin.manifest().unwrap().name.value.as_str(), "team");
    write(folder.path(), "oz0-plugin.yaml", b"name: [");
    let open = unsaved(&[("oz0-plugin.yaml", MANIFEST)]);
    assert!(Plugin::load_unsaved(folder.path(), &open).unwrap().manifest().is_some());
    assert!(Plugin::load(folder.path()).unwrap().manifest().is_none());
}

#[test]
fn a_byte_order_mark_that_the_editor_hides_stays_in_the_file() {
    let marked = format!("\u{feff}{MANIFEST}");
    let folder = folder(&[("oz0-plugin.yaml", marked.as_bytes())]);
    let before = told(&Plugin::load(folder.path()).unwrap());
    for shown in [MANIFEST, &marked] {
        let open = unsaved(&[("oz0-plugin.yaml", shown)]);
        let plugin = Plugin::load_unsaved(folder.path(), &open).unwrap();
        assert_eq!(told(&plugin), before);
        assert_eq!(plugin.source().text(), marked);
    }
    let open = unsaved(&[("oz0-plugin.yaml", "name: x\n")]);
    let plugin = Plugin::load_unsaved(folder.path(), &open).unwrap();
    assert_eq!(plugin.source().text(), "\u{feff}name: x\n");
}

#[test]
fn a_file_in_another_encoding_stays_what_it_is() {
    let latin = [MANIFEST.as_bytes(), b"title: Gr\xfc\xdfe\n"].concat();
    let folder = folder(&[("oz0-plugin.yaml", &latin)]);
    let open = unsaved(&[("oz0-plugin.yaml", &format!("{MANIFEST}title: Grüße\n"))]);
    let plugin = Plugin::load_unsaved(folder.path(), &open).unwrap();
    assert_eq!(told(&plugin), told(&Plugin::load(folder.path()).unwrap()));
    assert!(!plugin.diagnostics().is_empty());
}

#[test]
fn a_document_of_what_is_no_file_is_no_file_either() {
    let folder = folder(&[("oz0-plugin.yaml", MANIFEST.as_bytes()), ("real.md", b"# Real\n")]);
    std::os::unix::fs::symlink("real.md", folder.path().join("link.md")).unwrap();
    let open = unsaved(&[("link.md", "# Something else\n")]);
    let plugin = Plugin::load_unsaved(folder.path(), &open).unwrap();
    assert!(plugin.file("link.md").is_none());
    assert_eq!(plugin.unpackable().len(), 1);
    fs::remove_file(folder.path().join("oz0-plugin.yaml")).unwrap();
    std::os::unix::fs::symlink("real.md", folder.path().join("oz0-plugin.yaml")).unwrap();
    let open = unsaved(&[("oz0-plugin.yaml", MANIFEST)]);
    let error = Plugin::load_unsaved(folder.path(), &open).unwrap_err();
    assert!(matches!(error, LoadError::NotAFile { .. }), "{error}");
}

#[test]
fn a_saved_document_is_read_from_the_disk_and_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = folder(&[("oz0-plugin.yaml", MANIFEST.as_bytes()), ("run", b"#!/bin/sh\n")]);
    let run = folder.path().join("run");
    fs::set_permissions(&run, fs::Permissions::from_mode(0o755)).unwrap();
    let open = unsaved(&[("run", "#!/bin/sh\nexit\n"), ("oz0-plugin.yaml", MANIFEST)]);
    let plugin = Plugin::load_unsaved(folder.path(), &open).unwrap();
    let file = plugin.file("run").unwrap();
    assert_eq!((file.mode, file.len), (Mode::Executable, 15));
    assert_eq!(plugin.read_file(file, 1000).unwrap(), b"#!/bin/sh\nexit\n");
    // The manifest is what it is on the disk, so its change is seen.
    write(folder.path(), "oz0-plugin.yaml", b"name: other\n");
    let manifest = plugin.file("oz0-plugin.yaml").unwrap();
    assert!(matches!(plugin.read_file(manifest, 1000), Err(LoadError::Changed { .. })));
}
