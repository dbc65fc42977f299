//! `oz0 plugin pack` and `oz0 plugin inspect` of what it wrote.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{OZ0, Said, checkout, copy, oz0, run, write};

/// A copy of an example, alone in a folder.
fn example(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let plugin = folder.path().join(name);
    copy(&checkout().join("examples").join(name), &plugin);
    (folder, plugin)
}

fn pack(plugin: &Path, to: &Path) -> Said {
    run(oz0(["plugin", "pack", "-o"]).arg(to).arg(plugin))
}

/// The names in a folder.
fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect()
}

#[test]
fn every_example_is_packed_and_the_bundle_shows_what_the_folder_shows() {
    for name in ["everything", "notes-sdk", "team", "time", "weather-remote"] {
        let (folder, plugin) = example(name);
        let bundle = folder.path().join("a.oz0");
        let said = pack(&plugin, &bundle);
        assert_eq!(said.code, Some(0), "{name}\n{}", said.all());
        assert!(said.stderr.contains("wrote sbom.cdx.json"), "{name}\n{}", said.all());
        let shown = run(oz0(["plugin", "inspect"]).arg(&bundle));
        assert_eq!(shown.code, Some(0), "{name}\n{}", shown.all());
        let of_folder = run(oz0(["plugin", "inspect"]).arg(&plugin));
        let (text, of_bundle) = shown.stdout.rsplit_once("\nbundle: ").expect("it says which");
        assert_eq!(format!("{text}\n"), of_folder.stdout, "{name}");
        let digest = of_bundle.trim_end().rsplit("; ").next().expect("a digest");
        assert!(said.stdout.trim_end().ends_with(digest), "{name}\n{}", said.all());
    }
}

#[test]
fn a_second_pack_elsewhere_in_other_surroundings_gives_the_same_bytes() {
    let (first, plugin) = example("team");
    let bundle = first.path().join("first.oz0");
    let said = pack(&plugin, &bundle);
    assert_eq!(said.code, Some(0), "{}", said.all());
    let (second, other) = example("team");
    let again = second.path().join("second.oz0");
    let said = run(Command::new("sh")
        .args(["-c", "umask 077; exec \"$0\" plugin pack -o \"$1\" \"$2\""])
        .arg(OZ0)
        .arg(&again)
        .arg(&other)
        .env("TZ", "Asia/Kathmandu")
        .env("LC_ALL", "tr_TR.UTF-8")
        .env("XDG_CONFIG_HOME", "/nonexistent"));
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(fs::read(&bundle).expect("a bundle") == fs::read(&again).expect("a bundle"));
    let mode = fs::metadata(&again).expect("a bundle").permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
    // And with the bundle of before in the folder.
    fs::copy(&bundle, plugin.join("team-1.0.0.oz0")).expect("a copy");
    let third = first.path().join("third.oz0");
    assert_eq!(pack(&plugin, &third).code, Some(0));
    assert!(fs::read(&bundle).expect("a bundle") == fs::read(&third).expect("a bundle"));
}

#[test]
fn the_bundle_is_called_by_name_and_version_and_stands_in_the_working_folder() {
    let (folder, plugin) = example("team");
    let said = run(oz0(["plugin", "pack"]).arg(&plugin).current_dir(folder.path()));
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stdout.starts_with("Packed team-1.0.0.oz0: "), "{}", said.all());
    assert_eq!(names(folder.path()), ["team".to_owned(), "team-1.0.0.oz0".to_owned()].into());
    // A folder to write into; and a folder that is not there.
    let out = folder.path().join("out");
    fs::create_dir(&out).expect("a folder");
    assert_eq!(pack(&plugin, &out).code, Some(0));
    assert!(out.join("team-1.0.0.oz0").is_file());
    let said = pack(&plugin, &folder.path().join("nowhere/a.oz0"));
    assert_eq!(said.code, Some(3), "{}", said.all());
}

#[test]
fn listing_first_says_what_was_written_and_packs_it() {
    let (folder, plugin) = example("team");
    fs::remove_file(plugin.join("tools.listing.json")).expect("it has one");
    let bundle = folder.path().join("a.oz0");
    let without = pack(&plugin, &bundle);
    assert_eq!(without.code, Some(0), "{}", without.all());
    assert!(without.stderr.contains("listing: not measured"), "{}", without.all());
    let said = run(oz0(["plugin", "pack", "--list-tools", "-o"]).arg(&bundle).arg(&plugin));
    assert_eq!(said.code, Some(0), "{}", said.all());
    let listing = fs::read_to_string(plugin.join("tools.listing.json")).expect("a listing");
    let listing: Value = serde_json::from_str(&listing).expect("JSON");
    let functions = listing["functions"].as_array().expect("a list").len();
    let first = format!(
        "Wrote tools.listing.json: {functions} functions as the test node listed them; commit it, so inspect and the hub can show them\n"
    );
    assert!(said.stdout.starts_with(&first), "{}", said.all());
    let shown = run(oz0(["plugin", "inspect", "--json"]).arg(&bundle));
    let report: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    assert_eq!(report["listing"], "fresh");
    assert_eq!(report["functions"].as_array().expect("a list").len(), functions);
    assert!(report["bundle"]["digest"].as_str().expect("a digest").starts_with("sha256:"));
}

#[test]
fn a_stale_listing_is_told() {
    let (folder, plugin) = example("team");
    write(&plugin, "more.py", "");
    let said = pack(&plugin, &folder.path().join("a.oz0"));
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stderr.contains("listing: stale"), "{}", said.all());
}

#[test]
fn what_may_not_be_handed_on_is_not_packed_and_nothing_is_written() {
    let (folder, plugin) = example("team");
    write(&plugin, "README.md", "[gone](gone.md)\n");
    write(&plugin, "LICENSE", "All mine.\n");
    write(&plugin, "Server.py", "");
    symlink("/etc/passwd", plugin.join("link")).expect("a link");
    let before = names(&plugin);
    let bundle = folder.path().join("a.oz0");
    let said = pack(&plugin, &bundle);
    assert_eq!(said.code, Some(1), "{}", said.all());
    for code in ["OZ-L010", "OZ-L011", "OZ-L020"] {
        assert!(said.stderr.contains(code), "{code}\n{}", said.all());
    }
    assert!(said.stderr.contains("nothing was packed"), "{}", said.all());
    assert!(said.stdout.is_empty());
    assert!(!bundle.exists());
    assert_eq!(names(&plugin), before);
    assert_eq!(names(folder.path()), ["team".to_owned()].into());
    // The same plugin is still measured and shown: nobody is kept from writing one.
    assert_eq!(run(oz0(["plugin", "inspect"]).arg(&plugin)).code, Some(0));
}

#[test]
fn what_was_packed_is_held_to_the_house_rules() {
    let (folder, plugin) = example("team");
    let manifest = plugin.join("oz0-plugin.yaml");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    fs::write(&manifest, text.replace("kind: capability\n", "")).expect("it can be written");
    let said = pack(&plugin, &folder.path().join("a.oz0"));
    assert_eq!(said.code, Some(0), "a warning holds nothing up: {}", said.all());
    assert!(said.stderr.contains("OZ-S001"), "{}", said.all());
}

#[test]
fn a_bundle_that_was_changed_is_refused() {
    let (folder, plugin) = example("team");
    let bundle = folder.path().join("a.oz0");
    assert_eq!(pack(&plugin, &bundle).code, Some(0));
    let bytes = fs::read(&bundle).expect("a bundle");
    let changed: [(&str, Vec<u8>); 4] = [
        ("cut", bytes[..bytes.len() / 2].to_vec()),
        ("longer", [&bytes[..], b"x"].concat()),
        ("another", b"PK\x03\x04".to_vec()),
        ("empty", Vec::new()),
    ];
    for (what, bytes) in changed {
        fs::write(&bundle, bytes).expect("the file can be written");
        let said = run(oz0(["plugin", "inspect"]).arg(&bundle));
        assert_eq!(said.code, Some(1), "{what}\n{}", said.all());
        assert!(said.stdout.is_empty(), "{what}\n{}", said.all());
        assert!(said.stderr.contains("a.oz0 is refused: "), "{what}\n{}", said.all());
    }
    fs::remove_file(&bundle).expect("it is there");
    assert_eq!(run(oz0(["plugin", "inspect"]).arg(&bundle)).code, Some(3));
}

#[test]
fn nothing_that_is_there_for_something_else_is_replaced() {
    let (folder, plugin) = example("team");
    let readme = fs::read(plugin.join("README.md")).expect("it is there");
    let pipe = folder.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRUSR).expect("a pipe can be made");
    let link = folder.path().join("link");
    symlink("README.md", &link).expect("a link can be made");
    for (target, why) in [
        (plugin.join("README.md"), "README.md is a file of the plugin"),
        (pipe.clone(), "pipe is no regular file"),
        (link.clone(), "link is no regular file"),
    ] {
        let said = pack(&plugin, &target);
        assert_eq!(said.code, Some(1), "{}", said.all());
        assert!(said.stderr.contains(why), "{}", said.all());
    }
    let mut linting = oz0(["plugin", "lint", "--output"]);
    let manifest = plugin.join("oz0-plugin.yaml");
    let said = run(linting.arg(format!("sarif:{}", manifest.display())).arg(&plugin));
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stderr.contains("oz0-plugin.yaml is a file of the plugin"), "{}", said.all());
    assert_eq!(fs::read(plugin.join("README.md")).expect("it is there"), readme);
    assert!(fs::read_to_string(&manifest).expect("it is there").starts_with("name: team"));
    assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
    // A pipe is not waited for, either.
    let said = run(oz0(["plugin", "install"]).arg(&pipe));
    assert_eq!(said.code, Some(3), "{}", said.all());
    let said = run(oz0(["plugin", "inspect"]).arg(&pipe));
    assert_eq!(said.code, Some(3), "{}", said.all());
}

#[test]
fn a_file_of_a_terabyte_is_a_finding_and_is_not_read() {
    let (_folder, plugin) = example("team");
    let large = fs::File::create(plugin.join("large.bin")).expect("a file can be made");
    large.set_len(1 << 40).expect("it can be sparse");
    let said = run(oz0(["plugin", "lint"]).arg(&plugin));
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert_eq!(said.stdout.matches("error[OZ-L021]").count(), 1, "{}", said.all());
    let said = run(oz0(["plugin", "inspect", "--json"]).arg(&plugin));
    let seen: Value = serde_json::from_str(&said.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", said.all()));
    assert_eq!(seen["source_digest"], Value::Null);
    let said = pack(&plugin, &plugin.with_extension("oz0"));
    assert_eq!(said.code, Some(1), "{}", said.all());
}
