//! The laws of the source digest: it follows every path, byte and executable bit, and nothing else.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use oz0_listing::Digest;
use oz0_plugin::Plugin;
use proptest::prelude::*;

use super::{LEAST, write};

/// A plugin's files: path, bytes, whether executable.
type Files = BTreeMap<String, (String, bool)>;

fn digest_of(root: &Path) -> String {
    Plugin::load(root).unwrap().source_digest().unwrap().to_string()
}

fn make(root: &Path, files: &Files, reversed: bool) {
    write(root, "oz0-plugin.yaml", LEAST);
    let mut entries: Vec<_> = files.iter().collect();
    if reversed {
        entries.reverse();
    }
    for (path, (text, executable)) in entries {
        write(root, path, text);
        let mode = if *executable { 0o755 } else { 0o644 };
        fs::set_permissions(root.join(path), Permissions::from_mode(mode)).unwrap();
    }
}

fn digest(files: &Files) -> String {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), files, false);
    digest_of(folder.path())
}

/// As the text of the format says it, in other words than the crate's.
fn by_hand(files: &Files) -> String {
    let mut files = files.clone();
    files.insert("oz0-plugin.yaml".to_owned(), (LEAST.to_owned(), false));
    let mut lines = String::new();
    for (path, (text, executable)) in &files {
        let mode = if *executable { "755" } else { "644" };
        writeln!(lines, "{path}\0{mode}\0{}", Digest::of(text).hex()).unwrap();
    }
    Digest::of(lines).to_string()
}

/// The published vector (docs/reference): anyone can compute it with `sha256sum` and `printf`.
#[test]
fn the_published_vector() {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("oz0-plugin.yaml", "name: vector\n"),
        ("server.py", "print('hello')\n"),
        ("bin/run", "#!/bin/sh\n"),
        ("tools.listing.json", "not part of it\n"),
    ] {
        write(folder.path(), path, text);
    }
    fs::set_permissions(folder.path().join("bin/run"), Permissions::from_mode(0o755)).unwrap();
    assert_eq!(digest_of(folder.path()), VECTOR);
}

const VECTOR: &str = "sha256:7094f399e601bad96be80558a6916311ce0d72a25aa7580c88e4fedf5b9e70fd";

#[test]
fn what_oz0_writes_is_no_part_of_it_at_the_root_alone() {
    let files = Files::new();
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), &files, false);
    let before = digest_of(folder.path());
    for path in ["tools.listing.json", "tools.amplification.json", "sbom.cdx.json"] {
        write(folder.path(), path, "{}");
        assert_eq!(digest_of(folder.path()), before, "{path}");
        write(folder.path(), &format!("sub/{path}"), "{}");
        assert_ne!(digest_of(folder.path()), before, "sub/{path}");
        fs::remove_dir_all(folder.path().join("sub")).unwrap();
    }
}

fn files() -> impl Strategy<Value = Files> {
    // One letter a folder or file: `f` never is a folder, so no path is the folder of another.
    let path = prop::collection::vec("[a-cA-C.]é?[x-z]", 0..3).prop_flat_map(|folders| {
        "[a-c-]{0,2}f".prop_map(move |name| {
            let mut steps = folders.clone();
            steps.push(name);
            steps.join("/")
        })
    });
    prop::collection::btree_map(path, (".{0,20}", any::<bool>()), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn it_is_what_the_format_says(files in files()) {
        prop_assert_eq!(digest(&files), by_hand(&files));
    }

    #[test]
    fn place_order_times_and_other_mode_bits_never_change_it(files in files()) {
        let expected = digest(&files);
        let other = tempfile::tempdir().unwrap();
        let root = other.path().join("some where/else");
        make(&root, &files, true);
        for (index, (path, (_, executable))) in files.iter().enumerate() {
            let path = root.join(path);
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1000 * index as u64);
            File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
            let mode = if *executable { 0o700 } else { 0o666 };
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        }
        prop_assert_eq!(digest_of(&root), expected);
    }

    #[test]
    fn every_path_byte_and_executable_bit_changes_it(files in files(), which in any::<prop::sample::Index>()) {
        let expected = digest(&files);
        let path = files.keys().nth(which.index(files.len())).unwrap().clone();

        let mut changed = files.clone();
        changed.get_mut(&path).unwrap().0.push('!');
        prop_assert_ne!(digest(&changed), expected.clone(), "a byte more");

        let mut changed = files.clone();
        let executable = &mut changed.get_mut(&path).unwrap().1;
        *executable = !*executable;
        prop_assert_ne!(digest(&changed), expected.clone(), "the executable bit");

        let mut changed = files.clone();
        let file = changed.remove(&path).unwrap();
        prop_assert_ne!(digest(&changed), expected.clone(), "a file less");

        changed.insert(format!("{path}-renamed"), file);
        prop_assert_ne!(digest(&changed), expected, "another path");
    }
}

/// The process's umask is every test's, so a process of its own writes under another.
#[test]
fn the_umask_never_changes_it_nor_a_copy() {
    let files = Files::from([
        ("a/b.txt".to_owned(), ("text".to_owned(), false)),
        ("run".to_owned(), ("#!/bin/sh\n".to_owned(), true)),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("from");
    make(&from, &files, false);
    let expected = digest_of(&from);
    for umask in ["000", "022", "077"] {
        let copy = folder.path().join(format!("copied-{umask}"));
        let status = std::process::Command::new("sh")
            .args(["-c", "umask $1 && exec cp -R \"$2\" \"$3\"", "sh", umask])
            .arg(&from)
            .arg(&copy)
            .status()
            .unwrap();
        assert!(status.success());
        assert_eq!(digest_of(&copy), expected, "{umask}");
        let ours = folder.path().join(format!("ours-{umask}"));
        let status = std::process::Command::new("sh")
            .args(["-c", "umask $1 && shift && exec \"$@\"", "sh", umask])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "digest::copy_for_another_umask"])
            .env("OZ0_TEST_COPY_FROM", &from)
            .env("OZ0_TEST_COPY_TO", &ours)
            .output()
            .unwrap();
        assert!(status.status.success(), "{status:?}");
        assert_eq!(digest_of(&ours), expected, "{umask}");
        for (path, bits) in [("a", 0o755), ("a/b.txt", 0o644), ("run", 0o755)] {
            let mode = fs::metadata(ours.join(path)).unwrap().permissions().mode() & 0o7777;
            assert_eq!(mode, bits, "{path} under {umask}");
        }
    }
}

/// No test by itself: [`the_umask_never_changes_it_nor_a_copy`] runs it under another umask.
#[test]
fn copy_for_another_umask() {
    let Some(from) = std::env::var_os("OZ0_TEST_COPY_FROM") else { return };
    let to = std::env::var_os("OZ0_TEST_COPY_TO").expect("set by the other test");
    Plugin::load(Path::new(&from)).unwrap().copy_packed(Path::new(&to)).unwrap();
}
