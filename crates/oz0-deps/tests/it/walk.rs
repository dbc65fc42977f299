//! Which files are read, and where links lead.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use oz0_deps::{Format, Request, Tree, read};
use proptest::prelude::*;

use super::support::{mentions, of_files, of_folder, unread, wanted, write};

const NONE: [String; 0] = [];

/// A file that is found by its content.
const PTH: &str = "/src/litellm\n";

fn found(path: &str) -> String {
    format!("{path}:1:6 litellm Vendored PyPi litellm")
}

#[test]
fn every_folder_is_read_hidden_and_ignored_ones_too() {
    let root = tempfile::tempdir().unwrap();
    let paths =
        [".hidden/.deep/x.pth", ".venv/x.pth", "build/x.pth", "node_modules/.cache/x.pth", "x.pth"];
    for path in paths {
        write(root.path(), path, PTH);
    }
    for ignore in [".gitignore", ".oz0ignore", ".ignore", ".rgignore"] {
        write(root.path(), ignore, "*\n");
    }
    let reading = of_folder(root.path());
    assert_eq!(mentions(&reading), paths.map(found));
    assert_eq!((unread(&reading), reading.files), (NONE.to_vec(), 9));
}

#[test]
fn a_checkouts_git_folder_is_not_read_and_another_of_the_name_is() {
    let checkout = |root: &Path, head: &str| {
        write(root, ".git/HEAD", head);
        write(root, ".git/x.pth", PTH);
        write(root, ".git/objects/pack/x.pth", PTH);
        write(root, ".git/refs/heads/main", "0123456789abcdef0123456789abcdef01234567\n");
    };
    for (head, is) in [
        ("ref: refs/heads/main\n", true),
        ("0123456789abcdef0123456789abcdef01234567\n", true),
        ("hello\n", false),
    ] {
        let root = tempfile::tempdir().unwrap();
        checkout(root.path(), head);
        checkout(&root.path().join("sub"), head);
        write(root.path(), "y.pth", PTH);
        let all = [
            ".git/objects/pack/x.pth",
            ".git/x.pth",
            "sub/.git/objects/pack/x.pth",
            "sub/.git/x.pth",
            "y.pth",
        ];
        let expected: Vec<String> =
            all.into_iter().filter(|path| !is || *path == "y.pth").map(found).collect();
        assert_eq!(mentions(&of_folder(root.path())), expected, "{head}");
        let files: Vec<(&str, &[u8])> = all
            .into_iter()
            .map(|path| (path, PTH.as_bytes()))
            .chain([".git/HEAD", "sub/.git/HEAD"].map(|path| (path, head.as_bytes())))
            .chain([".git/refs/x", "sub/.git/refs/x"].map(|path| (path, &b""[..])))
            .collect();
        assert_eq!(mentions(&of_files(&files)), expected, "{head}, in memory");
    }
    // No objects; no refs.
    for missing in ["objects", "refs"] {
        let root = tempfile::tempdir().unwrap();
        checkout(root.path(), "ref: refs/heads/main\n");
        fs::remove_dir_all(root.path().join(".git").join(missing)).unwrap();
        assert!(mentions(&of_folder(root.path())).contains(&found(".git/x.pth")), "{missing}");
    }
}

#[test]
fn a_real_checkout_is_known_and_a_linked_worktree_too() {
    let git = |at: &Path, args: &[&str]| {
        let done = std::process::Command::new("git")
            .args(["-c", "user.name=x", "-c", "user.email=x@example.com", "-C"])
            .arg(at)
            .args(args)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output()
            .expect("there is git");
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let root = tempfile::tempdir().unwrap();
    git(root.path(), &["init", "-q"]);
    write(root.path(), ".git/info/x.pth", PTH);
    assert_eq!(mentions(&of_folder(root.path())), NONE, "before the first commit");
    git(root.path(), &["commit", "-q", "--allow-empty", "-m", "x"]);
    git(root.path(), &["pack-refs", "--all"]);
    git(root.path(), &["worktree", "add", "-q", "--detach", "linked"]);
    assert!(root.path().join("linked/.git").is_file());
    assert_eq!(mentions(&of_folder(root.path())), NONE);
    let linked = of_folder(&root.path().join("linked"));
    assert_eq!((mentions(&linked), unread(&linked), linked.files), (vec![], vec![], 1));
}

#[test]
fn a_script_without_an_ending_is_read_by_its_first_line() {
    // What the readers of sources find in it is theirs; that it was read at all shows by its size.
    let mut limits = Request::new(&wanted()).limits;
    limits.file_bytes = 40;
    let wanted = wanted();
    let mut asked = Request::new(&wanted);
    asked.limits = limits;
    let padding = " ".repeat(40);
    let python = format!("#!/usr/bin/env python3\n{padding}");
    let shell = format!("#!/bin/sh\n{padding}");
    let root = tempfile::tempdir().unwrap();
    for (path, text) in
        [("bin/run", &python), ("bin/run3.11", &python), ("bin/sh", &shell), ("x.so", &python)]
    {
        write(root.path(), path, text);
    }
    symlink("../x.so", root.path().join("bin/linked")).unwrap();
    let reading = read(&Tree::Folder(root.path()), &asked);
    assert_eq!(
        unread(&reading),
        [
            "bin/linked: is larger than 40 bytes",
            "bin/run: is larger than 40 bytes",
            "bin/run3.11: is larger than 40 bytes"
        ]
    );
    let large: Vec<&str> = reading.large.iter().map(|large| large.span.file().path()).collect();
    assert_eq!(large, ["bin/sh", "x.so"]);
}

#[test]
fn a_format_that_the_caller_knows_is_read() {
    let wanted = wanted();
    let mut request = Request::new(&wanted);
    request.formats.insert("start.cfg".to_owned(), Format::Pth);
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "start.cfg", PTH);
    write(root.path(), "other.cfg", PTH);
    assert_eq!(mentions(&read(&Tree::Folder(root.path()), &request)), [found("start.cfg")]);
}

#[test]
fn a_link_inside_is_read_once_where_it_leads() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "real/x.pth", PTH);
    symlink("real", root.path().join("folder")).unwrap();
    symlink("real/x.pth", root.path().join("file.pth")).unwrap();
    symlink(root.path().join("real"), root.path().join("absolute")).unwrap();
    symlink("folder/x.pth", root.path().join("chain.pth")).unwrap();
    let reading = of_folder(root.path());
    assert_eq!(mentions(&reading), [found("real/x.pth")]);
    assert_eq!((unread(&reading), reading.links_out, reading.files), (NONE.to_vec(), 0, 1));
}

#[test]
fn a_link_gives_a_file_another_format_and_a_folder_another_name() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "data/start.cfg", PTH);
    symlink("data/start.cfg", root.path().join("x.pth")).unwrap();
    write(root.path(), "stuff/litellm/x.txt", "");
    symlink("stuff", root.path().join("vendor")).unwrap();
    write(root.path(), "packages/mine/package.json", "{}");
    fs::create_dir(root.path().join("node_modules")).unwrap();
    symlink("../packages/mine", root.path().join("node_modules/litellm")).unwrap();
    symlink("data/start.cfg", root.path().join("litellm-1.0-py3-none-any.whl")).unwrap();
    let reading = of_folder(root.path());
    assert_eq!(
        mentions(&reading),
        [
            "litellm-1.0-py3-none-any.whl Archive PyPi litellm",
            "node_modules/litellm Vendored Npm litellm",
            "vendor/litellm Vendored PyPi litellm",
            &found("x.pth"),
        ]
    );
    assert_eq!(unread(&reading), NONE);
}

#[test]
fn a_link_into_a_checkouts_git_folder_is_read_there() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), ".git/HEAD", "ref: refs/heads/main\n");
    write(root.path(), ".git/objects/x", "");
    write(root.path(), ".git/refs/x", "");
    write(root.path(), ".git/hidden/x.pth", PTH);
    write(root.path(), ".git/y.pth", PTH);
    assert_eq!(mentions(&of_folder(root.path())), NONE);
    symlink(".git/hidden", root.path().join("a")).unwrap();
    symlink(".git/hidden", root.path().join("b")).unwrap();
    symlink(".git/y.pth", root.path().join("c.pth")).unwrap();
    let reading = of_folder(root.path());
    assert_eq!(mentions(&reading), [found(".git/hidden/x.pth"), found(".git/y.pth")]);
    assert_eq!(unread(&reading), NONE);
}

#[test]
fn a_link_that_leads_outside_is_unread_where_it_would_be_packed_and_counted_elsewhere() {
    let outside = tempfile::tempdir().unwrap();
    write(outside.path(), "x.pth", PTH);
    let root = tempfile::tempdir().unwrap();
    for folder in ["src", ".venv/bin"] {
        fs::create_dir_all(root.path().join(folder)).unwrap();
    }
    symlink(outside.path(), root.path().join("src/folder")).unwrap();
    symlink(outside.path().join("x.pth"), root.path().join("src/x.pth")).unwrap();
    symlink(outside.path().join("none"), root.path().join("src/none")).unwrap();
    symlink("../../..", root.path().join("src/up")).unwrap();
    symlink("/no/such/python3", root.path().join(".venv/bin/python3")).unwrap();
    symlink("python3", root.path().join(".venv/bin/python")).unwrap();
    let every = of_folder(root.path());
    let of = |path: &str| format!("{path}: is a link that leads out of the folder");
    let inner = ["src/folder", "src/none", "src/up", "src/x.pth"];
    let all = [".venv/bin/python", ".venv/bin/python3"].into_iter().chain(inner).map(of);
    assert_eq!((mentions(&every), unread(&every)), (vec![], all.collect::<Vec<_>>()));
    assert_eq!((every.links_out, every.files), (0, 0));
    let wanted = wanted();
    let mut request = Request::new(&wanted);
    request.packed_links =
        Some(inner.iter().map(|path| (*path).to_owned()).collect::<BTreeSet<_>>());
    let packed = read(&Tree::Folder(root.path()), &request);
    assert_eq!((unread(&packed), packed.links_out), (inner.map(of).to_vec(), 2));
}

#[test]
fn loops_of_links_end() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "a/x.pth", PTH);
    symlink(".", root.path().join("here")).unwrap();
    symlink("..", root.path().join("a/up")).unwrap();
    symlink("../a", root.path().join("a/again")).unwrap();
    symlink("..", root.path().join("a/vendor")).unwrap();
    symlink(".", root.path().join("requirements")).unwrap();
    symlink("self", root.path().join("self")).unwrap();
    symlink("pong", root.path().join("ping")).unwrap();
    symlink("ping", root.path().join("pong")).unwrap();
    symlink("nothing", root.path().join("dangling")).unwrap();
    let reading = of_folder(root.path());
    assert_eq!(mentions(&reading), [found("a/x.pth")]);
    let of = |path: &str| format!("{path}: is a link that leads to itself");
    assert_eq!(
        (unread(&reading), reading.links_out),
        (["ping", "pong", "self"].map(of).to_vec(), 0)
    );
}

#[test]
fn a_name_that_is_not_utf_8_is_read_all_the_same() {
    use std::os::unix::ffi::OsStrExt as _;
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join(std::ffi::OsStr::from_bytes(b"\xff.pth")), PTH).unwrap();
    write(root.path(), "line\nbreak/tab\t.pth", PTH);
    let reading = of_folder(root.path());
    assert_eq!(
        mentions(&reading),
        [found("caf\u{fffd}/\u{fffd}.pth"), found("line\nbreak/tab\t.pth")]
    );
    assert_eq!(unread(&reading), NONE);
}

#[test]
fn a_path_in_memory_that_no_folder_has_is_unread() {
    for path in ["", "/x.pth", "a//x.pth", "../x.pth", "a/./x.pth", "a/"] {
        let reading = of_files(&[(path, PTH.as_bytes()), ("b/x.pth", PTH.as_bytes())]);
        assert_eq!(mentions(&reading), [found("b/x.pth")], "{path:?}");
        assert_eq!(
            unread(&reading),
            [format!("{path}: was not read: no file in a folder has such a path")]
        );
    }
}

#[test]
fn the_order_is_that_of_the_paths_whatever_the_threads_do() {
    let root = tempfile::tempdir().unwrap();
    for number in 0..300 {
        write(root.path(), &format!("{}/{}/x{number}.pth", number % 7, number % 5), PTH);
    }
    let wanted = wanted();
    let answers: BTreeSet<Vec<String>> = [1, 2, 8, 8, 8]
        .into_iter()
        .map(|threads| {
            let mut request = Request::new(&wanted);
            request.threads = Some(threads);
            mentions(&read(&Tree::Folder(root.path()), &request))
        })
        .collect();
    assert_eq!(answers.len(), 1);
    let lines = answers.into_iter().next().unwrap();
    assert!(lines.is_sorted() && lines.len() == 300);
}

/// A path of names that mean something, and a content.
fn file() -> impl Strategy<Value = (String, &'static [u8])> {
    let part = prop::sample::select(vec![
        "a",
        "a-b",
        "a.b",
        "node_modules",
        "site-packages",
        "vendor",
        "lib",
        "litellm",
        ".git",
        "objects",
        "refs",
        "litellm-1.0.dist-info",
        "requirements",
        "@scope",
        ".venv",
        "é",
    ]);
    let name = prop::sample::select(vec![
        "HEAD",
        "x.pth",
        "main.py",
        "utils.py",
        "__init__.py",
        "package.json",
        "litellm-1.0.tar.gz",
        "litellm_init.pth",
        "x.txt",
        "requirements.txt",
        "run",
        "litellm",
    ]);
    let bytes = prop::sample::select(vec![
        &b"/src/litellm\n"[..],
        b"ref: refs/heads/main\n",
        b"#!/usr/bin/python\nimport litellm\n",
        b"",
        b"\xff\xfe",
        b"import litellm\n",
        b"litellm\n",
        b"{\"dependencies\": {\"litellm\": \"1\"}}",
    ]);
    (prop::collection::vec(part, 0..4), name, bytes).prop_map(|(parts, name, bytes)| {
        (parts.iter().copied().chain([name]).collect::<Vec<_>>().join("/"), bytes)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_folder_and_the_same_files_in_memory_give_the_same_answer(
        files in prop::collection::vec(file(), 0..12),
        threads in 1..4usize,
        most in 1..20usize,
    ) {
        let root = tempfile::tempdir().unwrap();
        let mut held: BTreeMap<String, &[u8]> = BTreeMap::new();
        for (path, bytes) in files {
            // A path may not be a file and a folder.
            let clash = held.keys().any(|other| {
                other.starts_with(&format!("{path}/")) || path.starts_with(&format!("{other}/"))
            });
            if !clash {
                write(root.path(), &path, bytes);
                held.insert(path, bytes);
            }
        }
        let wanted = wanted();
        let mut request = Request::new(&wanted);
        request.threads = Some(threads);
        request.limits.files = most;
        let disk = read(&Tree::Folder(root.path()), &request);
        let memory = read(&Tree::Files(&held), &request);
        prop_assert_eq!(mentions(&disk), mentions(&memory));
        prop_assert_eq!(unread(&disk), unread(&memory));
        prop_assert_eq!((disk.files, disk.in_copies), (memory.files, memory.in_copies));
        // Nothing of it written, or something else, and all of it in an editor.
        let unwritten = tempfile::tempdir().unwrap();
        for (index, path) in held.keys().enumerate() {
            write(unwritten.path(), path, b"import litellm\n");
            if index % 2 == 0 {
                std::fs::remove_file(unwritten.path().join(path)).unwrap();
            }
        }
        let unsaved = Tree::Unsaved { folder: unwritten.path(), files: &held };
        let unsaved = read(&unsaved, &request);
        prop_assert_eq!(mentions(&unsaved), mentions(&memory));
        prop_assert_eq!(unread(&unsaved), unread(&memory));
        request.threads = Some(1);
        let one = read(&Tree::Folder(root.path()), &request);
        prop_assert_eq!(mentions(&disk), mentions(&one));
        prop_assert_eq!(unread(&disk), unread(&one));
    }
}
