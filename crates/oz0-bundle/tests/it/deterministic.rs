//! Equal files give equal bytes, and other programs read them too.

use std::fs::{self, File, FileTimes};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::{Duration, SystemTime};

use oz0_bundle::{COMPILED_MANIFEST, PackError};
use oz0_listing::Digest;
use oz0_plugin::{CopyOptions, Plugin};

use super::support::{folder, make_executable, pack, put, read, untar};

const LONG: &str = "a/very/deep/folder/that/somebody/made/because/a/generator/of/code/likes/long/names/and/nobody/looks/at/them/before/they/are/packed/with/everything/else/that/is/there.txt";

fn files() -> tempfile::TempDir {
    let one_long_name = format!("{}.txt", "n".repeat(180));
    let folder = folder(&[
        ("b/empty", b""),
        ("b/full", &[7; 512]),
        ("b/over", &[7; 513]),
        ("large", &vec![42; 3 << 20]),
        ("\u{fc}ber/\u{65e5}\u{672c}.md", b"text"),
        (LONG, b"deep"),
        (&one_long_name, b"long"),
        ("run.sh", b"#!/bin/sh\n"),
    ]);
    make_executable(&folder.path().join("run.sh"));
    folder
}

#[test]
fn two_packs_in_two_places_are_the_same_bytes() {
    let first = files();
    let (bytes, packed) = pack(first.path());
    // The same files, copied: other inodes, times, order of entries, and bits of modes that do not count.
    let second = tempfile::tempdir().unwrap();
    let to = second.path().join("elsewhere");
    Plugin::load(first.path())
        .unwrap()
        .copy(&to, &CopyOptions { written: true, ..CopyOptions::other() })
        .unwrap();
    fs::set_permissions(to.join("run.sh"), fs::Permissions::from_mode(0o711)).unwrap();
    fs::set_permissions(to.join("b/full"), fs::Permissions::from_mode(0o666)).unwrap();
    let then = SystemTime::UNIX_EPOCH + Duration::from_hours(1);
    File::open(to.join("b/over")).unwrap().set_times(FileTimes::new().set_modified(then)).unwrap();
    let (again, packed_again) = pack(&to);
    assert_eq!(packed, packed_again);
    assert!(bytes == again, "the bytes differ");
    assert_eq!(Digest::of(untar(&bytes)), packed.digest);
    assert_eq!(packed.packed, bytes.len() as u64);
    assert_eq!(packed.files, 12);
}

#[test]
fn a_bundle_reads_as_it_was_packed() {
    let folder = files();
    let (bytes, packed) = pack(folder.path());
    let bundle = read(&bytes).unwrap();
    assert_eq!(bundle.digest, packed.digest);
    assert_eq!(bundle.packed, packed.packed);
    let plugin = Plugin::load(folder.path()).unwrap();
    assert_eq!(bundle.plugin.source_digest().unwrap(), plugin.source_digest().unwrap());
    assert_eq!(Some(bundle.compiled), plugin.compiled_manifest());
    let seen = |plugin: &Plugin| {
        let file = |file: &oz0_plugin::PackedFile| {
            (file.path.clone(), file.mode, plugin.read_file(file, u64::MAX).unwrap())
        };
        plugin.packed().iter().map(file).collect::<Vec<_>>()
    };
    assert_eq!(seen(&bundle.plugin), seen(&plugin));
    // And what is unpacked is that plugin once more.
    let to = tempfile::tempdir().unwrap();
    bundle
        .plugin
        .copy(to.path(), &CopyOptions { written: true, ..CopyOptions::default() })
        .unwrap();
    assert!(pack(to.path()).0 == bytes);
}

#[test]
fn the_archive_is_one_that_other_programs_read() {
    let folder = files();
    let tar = untar(&pack(folder.path()).0);
    let mut archive = tar::Archive::new(tar.as_slice());
    let mut seen = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let header = entry.header();
        assert_eq!(
            (header.mtime().unwrap(), header.uid().unwrap(), header.gid().unwrap()),
            (0, 0, 0)
        );
        let mode = header.mode().unwrap();
        let path = entry.path().unwrap().to_str().unwrap().to_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        if path == COMPILED_MANIFEST {
            assert!(seen.is_empty(), "it stands first");
        } else {
            assert_eq!(bytes, fs::read(folder.path().join(&path)).unwrap(), "{path}");
        }
        assert_eq!(mode, if path == "run.sh" { 0o755 } else { 0o644 }, "{path}");
        seen.push(path);
    }
    assert_eq!(seen.len(), 13);
    assert!(seen[1..].is_sorted_by(|a, b| a.as_bytes() < b.as_bytes()));

    // tar itself, where there is one.
    let place = tempfile::tempdir().unwrap();
    put(place.path(), "a.tar", &tar);
    let Ok(listed) = Command::new("tar")
        .arg("tf")
        .arg(place.path().join("a.tar"))
        .env("LC_ALL", "C.UTF-8")
        .arg("--quoting-style=literal")
        .output()
    else {
        return;
    };
    assert!(listed.status.success(), "{listed:?}");
    let names: Vec<&str> = std::str::from_utf8(&listed.stdout).unwrap().lines().collect();
    assert_eq!(names, seen);
}

#[test]
fn what_the_loader_has_against_a_plugin_is_not_packed() {
    let folder = files();
    put(folder.path(), "README.md", b"see [this](gone.md)");
    put(folder.path(), "B/x", b"");
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link")).unwrap();
    let plugin = Plugin::load(folder.path()).unwrap();
    let Err(PackError::Findings(findings)) = oz0_bundle::pack(&plugin, Vec::new()) else {
        panic!("it was packed");
    };
    let codes: Vec<&str> = findings.iter().map(|finding| finding.check.code).collect();
    assert_eq!(codes, ["OZ-L020", "OZ-L020", "OZ-L010"]);
}

#[test]
fn a_bundle_above_its_limit_names_the_largest_files() {
    let folder = files();
    // Bytes that nothing makes smaller.
    let mut state = 1_u64;
    let mut noise = || {
        let mut bytes = Vec::with_capacity(33 << 20);
        while bytes.len() < 33 << 20 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            bytes.extend_from_slice(&state.to_le_bytes());
        }
        bytes
    };
    put(folder.path(), "models/a.bin", &noise());
    put(folder.path(), "models/b.bin", &noise());
    let plugin = Plugin::load(folder.path()).unwrap();
    let Err(PackError::Findings(findings)) = oz0_bundle::pack(&plugin, std::io::sink()) else {
        panic!("it was packed");
    };
    let said: Vec<String> = findings
        .iter()
        .map(|finding| {
            format!(
                "{}: {} ({})",
                finding.check.code,
                finding.message,
                finding.help.as_deref().unwrap_or_default()
            )
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"), @"OZ-L021: the plugin is too large: its bundle has more than 64 MiB, and that is the most (the largest are models/a.bin (33 MiB), models/b.bin (33 MiB), large (3 MiB), LICENSE (643 bytes), b/over (513 bytes); name what is no part of the plugin in .oz0ignore)");
}
