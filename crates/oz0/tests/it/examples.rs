//! The example plugins: each is loaded, measured and shown, with the real third-party servers behind it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{OZ0, Said, cache, checkout, copy, oz0, run};

const EXAMPLES: [&str; 5] = ["everything", "notes-sdk", "team", "time", "weather-remote"];

/// A copy of an example that a test may write to.
fn example(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let plugin = folder.path().join(name);
    copy(&checkout().join("examples").join(name), &plugin);
    (folder, plugin)
}

fn test(plugin: &Path, more: &[&str]) -> Said {
    run(oz0(["plugin", "test"]).args(more).arg(plugin))
}

fn listing(plugin: &Path) -> String {
    fs::read_to_string(plugin.join("tools.listing.json")).expect("a listing was written")
}

#[test]
fn every_example_is_tried_here() {
    let mut names: Vec<String> = fs::read_dir(checkout().join("examples"))
        .expect("there are examples")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .filter(|name| checkout().join("examples").join(name).is_dir())
        .collect();
    names.sort();
    assert_eq!(names, EXAMPLES);
}

#[test]
fn the_committed_listing_of_every_example_is_what_its_server_lists() {
    for name in EXAMPLES {
        let (_folder, plugin) = example(name);
        let said = test(&plugin, &[]);
        assert_eq!(said.code, Some(0), "{name}\n{}", said.all());
        let committed =
            fs::read_to_string(checkout().join("examples").join(name).join("tools.listing.json"));
        assert_eq!(listing(&plugin), committed.expect("the example has a listing"), "{name}");
        let shown = run(oz0(["plugin", "inspect"]).arg(&plugin));
        assert_eq!(shown.code, Some(0), "{name}\n{}", shown.all());
        assert!(
            shown.stdout.contains("listing: measured from the files as they are"),
            "{name}\n{}",
            shown.all()
        );
    }
}

#[test]
fn another_folder_time_zone_and_umask_change_no_byte() {
    let (_one, here) = example("team");
    assert_eq!(test(&here, &[]).code, Some(0));
    let (elsewhere, there) = example("team");
    let renamed = elsewhere.path().join("another name");
    fs::rename(&there, &renamed).expect("it can be renamed");
    let script = r#"umask 0077; exec "$1" plugin test "$2""#;
    let said = run(Command::new("sh")
        .args(["-c", script, "sh", OZ0])
        .arg(&renamed)
        .env("TZ", "Pacific/Chatham")
        .env("LANG", "de_DE.UTF-8")
        .env("PYTHONHASHSEED", "99")
        .env("OZ0_CACHE", cache()));
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert_eq!(listing(&here), listing(&renamed));
}

#[test]
fn a_server_that_lists_its_time_zone_lists_the_same_in_two() {
    let (_one, here) = example("time");
    let (_two, there) = example("time");
    let in_zone = |plugin: &Path, zone: &str| {
        let said = run(oz0(["plugin", "test"]).arg(plugin).env("TZ", zone));
        assert_eq!(said.code, Some(0), "{}", said.all());
        assert!(said.stderr.contains("bound to its surroundings"), "{}", said.all());
        listing(plugin)
    };
    assert_eq!(in_zone(&here, "Europe/Berlin"), in_zone(&there, "America/Lima"));
}

#[test]
fn both_eras_of_the_protocol_give_one_listing() {
    for name in ["team", "time"] {
        let (_one, modern) = example(name);
        let (_two, legacy) = example(name);
        let said = test(&modern, &["--era", "modern"]);
        assert!(said.stderr.contains("over MCP 2026-07-28"), "{name}\n{}", said.all());
        let said = test(&legacy, &["--era", "legacy"]);
        assert!(said.stderr.contains("over MCP 2025-11-25"), "{name}\n{}", said.all());
        assert_eq!(listing(&modern), listing(&legacy), "{name}");
    }
}

#[test]
fn what_the_contract_tests_print_is_handed_through_and_their_failure_fails() {
    let (_folder, plugin) = example("notes-sdk");
    let said = test(&plugin, &[]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stdout.contains(" passed"), "{}", said.all());

    let broken =
        "def test_what_does_not_hold():\n    print('seen from outside')\n    assert 1 == 2\n";
    fs::write(plugin.join("tests/test_broken.py"), broken).expect("a test can be added");
    let said = test(&plugin, &[]);
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stdout.contains("seen from outside"), "{}", said.all());
    assert!(said.stderr.contains("OZ-T008"), "{}", said.all());
    assert_eq!(test(&plugin, &["--no-contract-tests"]).code, Some(0));
}

#[test]
fn a_lock_that_is_not_there_is_written_and_used() {
    let (_folder, plugin) = example("time");
    let lock = plugin.join("locks/time.lock");
    let committed = fs::read_to_string(&lock).expect("the example has its lock");
    fs::remove_file(&lock).expect("it can be removed");
    let said = test(&plugin, &[]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stderr.contains("wrote locks/time.lock"), "{}", said.all());
    let written = fs::read_to_string(&lock).expect("a lock was written");
    assert!(
        written.contains("mcp-server-time==") && written.contains("--hash=sha256:"),
        "{written}"
    );
    assert_eq!(written.lines().next(), committed.lines().next());
}

#[test]
fn a_lock_of_another_version_is_refused() {
    let (_folder, plugin) = example("time");
    let manifest = plugin.join("oz0-plugin.yaml");
    let text = fs::read_to_string(&manifest).expect("the manifest");
    let moved = text.replace("mcp-server-time==", "mcp-server-time==1999.");
    fs::write(&manifest, moved).expect("it can be written");
    let said = test(&plugin, &[]);
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(
        said.stderr.contains("OZ-T010") && said.stderr.contains("locks/time.lock"),
        "{}",
        said.all()
    );
}
