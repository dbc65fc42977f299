//! Copies: a program that looks at its folder sees the same in each, but for what varies on purpose.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use oz0_diagnostic::report::concise;
use oz0_plugin::{CopyOptions, LoadError};
use tempfile::TempDir;

use super::{LEAST, folder, load, paths};

const FILES: [(&str, &str); 8] = [
    ("oz0-plugin.yaml", LEAST),
    ("a", ""),
    ("b/one", ""),
    ("b/two", ""),
    ("b/three/x", ""),
    ("b-", ""),
    ("c", ""),
    ("d", ""),
];

/// Every file and folder below `root`, and `root` itself.
fn entries(root: &Path) -> Vec<std::path::PathBuf> {
    let mut found = vec![root.to_owned()];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        next += 1;
        if path.is_dir() {
            found.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found
}

fn assert_times(root: &Path, expected: SystemTime) {
    let entries = entries(root);
    assert!(entries.len() > FILES.len());
    for path in entries {
        assert_eq!(
            fs::metadata(&path).unwrap().modified().unwrap(),
            expected,
            "{}",
            path.display()
        );
    }
}

#[test]
fn every_file_and_folder_of_a_copy_has_the_one_time_that_was_asked_for() {
    let folder = folder(&FILES);
    let plugin = load(&folder);
    let to = tempfile::tempdir().unwrap();
    let day = Duration::from_hours(24);
    for (name, options, days) in
        [("one", CopyOptions::default(), 3_652), ("two", CopyOptions::other(), 10_957)]
    {
        let copy = to.path().join(name);
        plugin.copy(&copy, &options).unwrap();
        assert_times(&copy, SystemTime::UNIX_EPOCH + day * days);
    }
}

/// The names in a folder, in the order in which the file system lists them.
fn listed(folder: &Path) -> Vec<OsString> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

#[test]
fn a_copy_is_filled_in_the_order_of_the_paths_and_the_other_in_the_reverse_order() {
    let folder = folder(&FILES);
    let plugin = load(&folder);
    // A file system in memory lists a folder in the order in which it was filled, or its reverse.
    let memory = Path::new("/dev/shm");
    let to = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() }.unwrap();
    let mut names = ["a", "b", "b-", "c", "d", "oz0-plugin.yaml"];
    // In the order of the paths: `b-` before `b/one`.
    names.swap(1, 2);
    for (options, reversed) in [(CopyOptions::default(), false), (CopyOptions::other(), true)] {
        let by_hand = to.path().join(format!("by-hand-{reversed}"));
        fs::create_dir(&by_hand).unwrap();
        for at in 0..names.len() {
            let at = if reversed { names.len() - 1 - at } else { at };
            fs::write(by_hand.join(names[at]), "").unwrap();
        }
        let copy = to.path().join(format!("copy-{reversed}"));
        plugin.copy(&copy, &options).unwrap();
        assert_eq!(listed(&copy), listed(&by_hand));
    }
}

#[test]
fn a_copy_lacks_what_oz0_writes_unless_it_is_asked_for() {
    let folder = folder(&[
        ("oz0-plugin.yaml", LEAST),
        ("tools.listing.json", "{}"),
        ("tools.amplification.json", "{}"),
        ("sbom.cdx.json", "{}"),
        ("sub/tools.listing.json", "{}"),
    ]);
    let plugin = load(&folder);
    let to = tempfile::tempdir().unwrap();
    let copied = |name: &str, options: &CopyOptions| {
        let copy = to.path().join(name);
        plugin.copy(&copy, options).unwrap();
        let copy = oz0_plugin::Plugin::load(&copy).unwrap();
        paths(&copy).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    for (name, options) in [("one", CopyOptions::default()), ("two", CopyOptions::other())] {
        assert_eq!(copied(name, &options), ["oz0-plugin.yaml", "sub/tools.listing.json"]);
    }
    let all = CopyOptions { written: true, ..CopyOptions::default() };
    assert_eq!(copied("all", &all), paths(&plugin));
}

#[test]
fn the_root_of_a_copy_has_mode_755_where_it_was_there_before() {
    let folder = folder(&FILES);
    let to = tempfile::tempdir().unwrap();
    let copy = to.path().join("copy");
    fs::create_dir(&copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o2700)).unwrap();
    load(&folder).copy(&copy, &CopyOptions::default()).unwrap();
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o7777, 0o755);
}

/// Makes a file of `len` bytes that takes no room.
fn sparse(root: &Path, path: &str, len: u64) {
    fs::File::create(root.join(path)).unwrap().set_len(len).unwrap();
}

fn assert_too_large(folder: &TempDir) -> String {
    let plugin = load(folder);
    assert!(plugin.manifest().is_some(), "the manifest itself is right");
    let to = tempfile::tempdir().unwrap();
    let copy = to.path().join("copy");
    let error = plugin.copy(&copy, &CopyOptions::default()).unwrap_err();
    assert!(matches!(error, LoadError::TooLarge { .. }), "{error}");
    assert!(!copy.exists(), "nothing was copied");
    let finding = plugin.too_large().unwrap();
    assert_eq!(error.help(), finding.help);
    assert_eq!(concise(plugin.diagnostics()), concise(std::slice::from_ref(&finding)));
    format!("{}help: {}", concise(std::slice::from_ref(&finding)), finding.help.unwrap())
}

#[test]
fn more_than_256_mebibytes_are_a_finding_and_never_copied() {
    const MIB: u64 = 1024 * 1024;
    let folder = folder(&[("oz0-plugin.yaml", LEAST)]);
    let rest = 256 * MIB - LEAST.len() as u64;
    sparse(folder.path(), "data.bin", rest);
    assert!(load(&folder).too_large().is_none());
    sparse(folder.path(), "data.bin", rest + 1);
    for (path, len) in [("b", 3 * MIB / 2), ("c", 40 << 30), ("d", 2048), ("e", 7), ("f", 1000)] {
        sparse(folder.path(), path, len);
    }
    insta::assert_snapshot!(assert_too_large(&folder));
}

#[test]
fn more_than_20_000_files_are_a_finding_and_never_copied() {
    let folder = folder(&[("oz0-plugin.yaml", LEAST), ("node_modules/x", ""), ("src/x", "")]);
    for number in 0..19_997 {
        fs::write(folder.path().join(format!("node_modules/{number}")), "").unwrap();
    }
    assert!(load(&folder).too_large().is_none());
    fs::write(folder.path().join("src/y"), "").unwrap();
    insta::assert_snapshot!(assert_too_large(&folder));
}

#[test]
fn a_path_of_more_than_240_bytes_is_a_finding_and_never_copied() {
    let long = format!("{}/{}", "d".repeat(120), "é".repeat(59));
    assert_eq!(long.len(), 239);
    let folder = folder(&[("oz0-plugin.yaml", LEAST), (&format!("{long}f"), "")]);
    assert!(load(&folder).too_large().is_none());
    super::write(folder.path(), &format!("{long}ff"), "");
    super::write(folder.path(), &format!("{long}fff"), "");
    insta::assert_snapshot!(assert_too_large(&folder));
}
