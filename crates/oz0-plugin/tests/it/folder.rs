//! What belongs to a plugin, what cannot, and copies of it.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use oz0_diagnostic::report::concise;
use oz0_plugin::{LoadError, Mode, Plugin, Reason};

use super::{LEAST, folder, load, paths, write};

#[test]
fn everything_is_packed_but_what_no_plugin_carries() {
    let folder = folder(&[
        ("oz0-plugin.yaml", LEAST),
        ("README.md", ""),
        (".hidden/.file", ""),
        (".gitignore", "README.md\n"),
        (".ignore", "README.md\n"),
        (".git/HEAD", ""),
        ("sub/.git", "gitdir: elsewhere\n"),
        ("sub/__pycache__/a.txt", ""),
        ("sub/.pytest_cache/x", ""),
        ("sub/a.pyc", ""),
        ("sub/.DS_Store", ""),
        ("sub/a.py", ""),
        ("node_modules/x/index.js", ""),
        ("team-1.0.0.oz0", ""),
        ("dist/team-0.9.0-rc.1.oz0", ""),
        ("team-mates-1.0.0.oz0", ""),
        ("team-notes.oz0", ""),
        ("other-1.0.0.oz0", ""),
    ]);
    let plugin = load(&folder);
    assert_eq!(
        paths(&plugin),
        [
            ".gitignore",
            ".hidden/.file",
            ".ignore",
            "README.md",
            "node_modules/x/index.js",
            "other-1.0.0.oz0",
            "oz0-plugin.yaml",
            "sub/a.py",
            "team-mates-1.0.0.oz0",
            "team-notes.oz0",
        ]
    );
    assert!(plugin.unpackable().is_empty());
}

#[test]
fn ignore_files_have_gitignores_syntax_and_hold_below_their_folder() {
    let folder = folder(&[
        ("oz0-plugin.yaml", LEAST),
        (".oz0ignore", "# notes\n*.log\n/build/\n!keep.log\ndata/**/raw\noz0-plugin.yaml\n"),
        ("a.log", ""),
        ("keep.log", ""),
        ("build/out", ""),
        ("sub/build/out", ""),
        ("data/x/raw", ""),
        ("data/x/fine", ""),
        ("sub/.oz0ignore", "!a.log\n*.txt\n"),
        ("sub/a.log", ""),
        ("sub/b.txt", ""),
        ("b.txt", ""),
    ]);
    assert_eq!(
        paths(&load(&folder)),
        [
            ".oz0ignore",
            "b.txt",
            "data/x/fine",
            "keep.log",
            "oz0-plugin.yaml",
            "sub/.oz0ignore",
            "sub/a.log",
            "sub/build/out",
        ]
    );
}

#[test]
fn no_setting_outside_the_plugin_has_a_say() {
    let outer = folder(&[
        (".oz0ignore", "*.py\n"),
        (".gitignore", "*.py\n"),
        (".git/info/exclude", "*.py\n"),
        ("plugin/oz0-plugin.yaml", LEAST),
        ("plugin/a.py", ""),
    ]);
    let plugin = Plugin::load(&outer.path().join("plugin")).unwrap();
    assert_eq!(paths(&plugin), ["a.py", "oz0-plugin.yaml"]);
}

#[test]
fn a_line_that_is_no_pattern_is_a_diagnostic() {
    let folder = folder(&[("oz0-plugin.yaml", LEAST), (".oz0ignore", "*.log\n[z-a]\n")]);
    let said = concise(load(&folder).diagnostics());
    assert!(said.starts_with(".oz0ignore:2:1: error[OZ-L001] this line is no pattern"), "{said}");
}

#[test]
fn what_cannot_be_packed_is_listed_and_neither_followed_nor_waited_for() {
    let outside = folder(&[("secret", "secret")]);
    let folder = folder(&[("oz0-plugin.yaml", LEAST), ("a/b.txt", "")]);
    let root = folder.path();
    symlink(outside.path().join("secret"), root.join("a/link")).unwrap();
    symlink(outside.path(), root.join("folder-link")).unwrap();
    symlink("..", root.join("a/loop")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    let pipe = root.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(Command::new("mkfifo").arg(root.join(".oz0ignore")).status().unwrap().success());
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    fs::write(root.join(OsStr::from_bytes(b"bad-\xff")), "").unwrap();
    fs::write(root.join("line\nbreak"), "").unwrap();

    let plugin = load(&folder);
    assert_eq!(paths(&plugin), ["a/b.txt", "oz0-plugin.yaml"]);
    let found: Vec<(&str, Reason)> =
        plugin.unpackable().iter().map(|found| (found.path.as_str(), found.reason)).collect();
    assert_eq!(
        found,
        [
            (".oz0ignore", Reason::Pipe),
            ("a/link", Reason::Link),
            ("a/loop", Reason::Link),
            ("bad-\u{FFFD}", Reason::NotUtf8),
            ("dangling", Reason::Link),
            ("folder-link", Reason::Link),
            ("line\nbreak", Reason::ControlCharacter),
            ("pipe", Reason::Pipe),
            ("socket", Reason::Socket),
        ]
    );
}

#[test]
fn a_manifest_that_is_no_file_is_an_error_that_says_so() {
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(Plugin::load(empty.path()), Err(LoadError::NoManifest { .. })));
    assert!(matches!(Plugin::load(&empty.path().join("nowhere")), Err(LoadError::NoFolder { .. })));
    let manifest = empty.path().join("oz0-plugin.yaml");
    symlink("/etc/hostname", &manifest).unwrap();
    assert!(matches!(Plugin::load(empty.path()), Err(LoadError::NotAFile { kind: "a link", .. })));
    fs::remove_file(&manifest).unwrap();
    assert!(Command::new("mkfifo").arg(&manifest).status().unwrap().success());
    assert!(matches!(
        Plugin::load(empty.path()),
        Err(LoadError::NotAFile { kind: "a named pipe", .. })
    ));
}

#[test]
fn a_manifest_of_more_than_a_mebibyte_is_a_diagnostic() {
    let text = format!("{LEAST}# {}\n", "x".repeat(1024 * 1024));
    let folder = folder(&[("oz0-plugin.yaml", &text)]);
    let plugin = load(&folder);
    assert!(plugin.manifest().is_none());
    assert_eq!(plugin.diagnostics().len(), 1);
}

#[test]
fn only_the_owners_executable_bit_makes_a_mode() {
    let folder = folder(&[("oz0-plugin.yaml", LEAST)]);
    for (mode, expected) in [
        (0o644, Mode::Plain),
        (0o600, Mode::Plain),
        (0o655, Mode::Plain),
        (0o755, Mode::Executable),
        (0o744, Mode::Executable),
        (0o500, Mode::Executable),
    ] {
        let path = folder.path().join("run");
        let _ = fs::remove_file(&path);
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        assert_eq!(load(&folder).file("run").unwrap().mode, expected, "{mode:o}");
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_copy_has_the_packed_files_with_their_modes_and_nothing_else() {
    let folder = folder(&[
        ("oz0-plugin.yaml", LEAST),
        ("bin/run", "#!/bin/sh\n"),
        ("bin/deep/er/x", "x"),
        (".git/HEAD", ""),
    ]);
    fs::set_permissions(folder.path().join("bin/run"), Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(folder.path().join("bin/deep/er/x"), Permissions::from_mode(0o666))
        .unwrap();
    let plugin = load(&folder);
    let to = tempfile::tempdir().unwrap();
    let copy = to.path().join("made/for/it");
    plugin.copy_packed(&copy).unwrap();

    let copied = Plugin::load(&copy).unwrap();
    assert_eq!(paths(&copied), paths(&plugin));
    assert_eq!(copied.source_digest().unwrap(), plugin.source_digest().unwrap());
    assert_eq!(mode(&copy.join("bin/run")), 0o755);
    assert_eq!(mode(&copy.join("bin/deep/er/x")), 0o644);
    assert_eq!(mode(&copy.join("bin/deep/er")), 0o755);

    assert!(matches!(plugin.copy_packed(&copy), Err(LoadError::Io { .. })), "over a copy");
}

#[test]
fn a_file_that_changed_since_it_was_loaded_is_an_error_for_copy_and_digest() {
    let folder = folder(&[("oz0-plugin.yaml", LEAST), ("a", "one")]);
    let changes: [&dyn Fn(&Path); 4] = [
        &|path| fs::write(path, "longer").unwrap(),
        &|path| fs::remove_file(path).unwrap(),
        &|path| {
            fs::remove_file(path).unwrap();
            symlink("oz0-plugin.yaml", path).unwrap();
        },
        // The same length and the same time of modification.
        &|path| {
            let times = fs::metadata(path).unwrap().modified().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(20));
            fs::write(path, "two").unwrap();
            fs::File::options().write(true).open(path).unwrap().set_modified(times).unwrap();
        },
    ];
    for (index, change) in changes.iter().enumerate() {
        let path = folder.path().join("a");
        let _ = fs::remove_file(&path);
        fs::write(&path, "one").unwrap();
        let plugin = load(&folder);
        plugin.source_digest().unwrap();
        change(&path);
        let error = plugin.source_digest().unwrap_err();
        assert!(
            matches!(&error, LoadError::Changed { path } if path.ends_with("a")),
            "{index}: {error}"
        );
        let to = tempfile::tempdir().unwrap();
        assert!(matches!(plugin.copy_packed(to.path()), Err(LoadError::Changed { .. })), "{index}");
    }
}

#[test]
fn files_are_written_whole_with_mode_644_and_nothing_beside_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tools.listing.json");
    oz0_plugin::write_atomically(&path, b"one").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    oz0_plugin::write_atomically(&path, b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(mode(&path), 0o644);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    let nowhere = folder.path().join("no/folder");
    let error = oz0_plugin::write_atomically(&nowhere, b"").unwrap_err().to_string();
    assert!(error.contains("could not write") && error.contains("no/folder"), "{error}");
}

#[test]
fn a_file_that_the_manifest_names_must_be_the_plugins() {
    let manifest = format!(
        "{LEAST}agents: {{a: {{instructions: prompts/a.md}}, b: {{instructions: link/b.md}}, c: {{instructions: c.log}}}}\nskills: {{s: {{path: skills/s}}}}\n"
    );
    let folder =
        folder(&[("oz0-plugin.yaml", &manifest), ("c.log", ""), (".oz0ignore", "*.log\n")]);
    symlink("/", folder.path().join("link")).unwrap();
    let plugin = load(&folder);
    assert!(plugin.manifest().is_none());
    insta::assert_snapshot!(concise(plugin.diagnostics()));

    let _ = fs::remove_file(folder.path().join("link"));
    for (path, text) in
        [("prompts/a.md", ""), ("link/b.md", ""), (".oz0ignore", ""), ("skills/s/SKILL.md", "")]
    {
        write(folder.path(), path, text);
    }
    let plugin = load(&folder);
    assert_eq!(concise(plugin.diagnostics()), "");
    assert!(plugin.manifest().is_some());
}
