//! What is too much, and what cannot be read: each with its place, in bounded time.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use oz0_deps::{Reading, Request, Tree, read};

use super::support::{mentions, of_folder, unread, wanted, write};

const PTH: &str = "/src/litellm\n";

fn of_folder_with(root: &Path, change: impl Fn(&mut Request<'_>)) -> Reading {
    let wanted = wanted();
    let mut request = Request::new(&wanted);
    change(&mut request);
    read(&Tree::Folder(root), &request)
}

#[test]
fn a_file_above_16_mib_is_unread_and_one_of_16_mib_is_read() {
    let root = tempfile::tempdir().unwrap();
    let sized = |path: &str, len: u64| {
        let mut file = fs::File::create(root.path().join(path)).unwrap();
        file.write_all(PTH.as_bytes()).unwrap();
        file.write_all(b"#").unwrap();
        file.set_len(len).unwrap();
    };
    sized("exact.pth", 16 << 20);
    sized("above.pth", (16 << 20) + 1);
    sized("picture.png", (16 << 20) + 1);
    let reading = of_folder(root.path());
    assert_eq!(mentions(&reading), ["exact.pth:1:6 litellm Vendored PyPi litellm"]);
    assert_eq!(unread(&reading), ["above.pth: is larger than 16 MiB"]);
    assert!(reading.unread[0].help.is_some());
    // No reader would look into a picture of any size: it is told apart.
    assert_eq!(reading.large.len(), 1);
    assert_eq!(reading.large[0].span.file().path(), "picture.png");
}

#[test]
fn more_files_than_may_be_are_said_at_the_first_that_is_not_read() {
    let root = tempfile::tempdir().unwrap();
    for number in 0..40 {
        write(root.path(), &format!("{}/{number:02}.pth", number / 10), PTH);
    }
    for threads in [1, 2, 8] {
        let at_most = |most: usize| {
            of_folder_with(root.path(), |request| {
                request.limits.files = most;
                request.threads = Some(threads);
            })
        };
        let all = at_most(40);
        assert_eq!((all.mentions.len(), all.files, unread(&all)), (40, 40, vec![]), "{threads}");
        let some = at_most(25);
        assert_eq!((some.mentions.len(), some.files), (25, 25), "{threads}");
        let problem =
            "2/25.pth: was not read, nor what comes after it: there are more than 25 files";
        assert_eq!(unread(&some), [problem]);
        assert_eq!(some.mentions.last().unwrap().span.file().path(), "2/24.pth");
    }
}

#[test]
fn more_found_than_may_be_kept_is_said_where_it_begins() {
    let root = tempfile::tempdir().unwrap();
    for number in 10..40 {
        write(root.path(), &format!("{}/{number}.pth", number / 10), PTH);
        write(root.path(), &format!("{}/{number}.txt", number / 10), "x".repeat(100));
    }
    for threads in [1, 2, 8] {
        let reading = of_folder_with(root.path(), |request| {
            request.limits.found_bytes = 15 * PTH.len();
            request.threads = Some(threads);
        });
        let problem = format!(
            "2/25.pth: was not read, nor what comes after it: the files with findings are larger than {} bytes together",
            15 * PTH.len()
        );
        assert_eq!((reading.mentions.len(), unread(&reading)), (15, vec![problem]), "{threads}");
    }
}

#[test]
fn more_folders_than_files_may_be_are_said_too() {
    let root = tempfile::tempdir().unwrap();
    for number in 0..20 {
        fs::create_dir(root.path().join(format!("{number:02}"))).unwrap();
    }
    let reading = of_folder_with(root.path(), |request| request.limits.files = 10);
    assert_eq!(
        unread(&reading),
        ["09: was not read, nor what comes after it: there are more than 10 folders"]
    );
}

#[test]
fn folders_5000_deep_are_unread_from_where_they_are_too_deep() {
    let root = tempfile::tempdir().unwrap();
    // A path of that length is no path to any call, so it is made step by step.
    let open = |at: &std::os::fd::OwnedFd, name: &str| {
        use rustix::fs::{Mode, OFlags, mkdirat, openat};
        mkdirat(at, name, Mode::RWXU).unwrap();
        openat(at, name, OFlags::DIRECTORY | OFlags::RDONLY, Mode::empty()).unwrap()
    };
    let mut at: std::os::fd::OwnedFd = fs::File::open(root.path()).unwrap().into();
    for depth in 1..=5000 {
        at = open(&at, "d");
        if matches!(depth, 1000 | 1024 | 1025 | 5000) {
            use rustix::fs::{Mode, OFlags, openat};
            let file = openat(&at, "x.pth", OFlags::CREATE | OFlags::WRONLY, Mode::RWXU).unwrap();
            fs::File::from(file).write_all(PTH.as_bytes()).unwrap();
        }
    }
    drop(at);
    let start = Instant::now();
    let reading = of_folder(root.path());
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert_eq!(reading.mentions.len(), 2);
    let path = vec!["d"; 1025].join("/");
    assert_eq!(unread(&reading), [format!("{path}: lies in more than 1024 folders")]);
    // All of it, when that is asked for.
    let reading = of_folder_with(root.path(), |request| request.limits.folders_deep = 10_000);
    assert_eq!((reading.mentions.len(), unread(&reading)), (4, vec![]));
    // A library that removes what is in a temporary folder may not go that deep.
    remove_deep(root.path());
}

fn remove_deep(root: &Path) {
    let done = std::process::Command::new("rm").arg("-rf").arg(root.join("d")).status().unwrap();
    assert!(done.success());
}

#[test]
fn what_is_no_file_is_unread_and_nobody_waits_for_it() {
    let root = tempfile::tempdir().unwrap();
    let pipe = root.path().join("requirements.txt");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let socket = root.path().join("agent.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    std::os::unix::fs::symlink("requirements.txt", root.path().join("x.pth")).unwrap();
    let reading = of_folder(root.path());
    assert_eq!(
        unread(&reading),
        [
            "agent.sock: is a socket, which cannot be read",
            "requirements.txt: is a named pipe, which cannot be read",
        ]
    );
}

#[test]
fn a_root_that_is_no_folder_is_unread() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "file", "");
    for name in ["file", "missing"] {
        let reading = of_folder(&root.path().join(name));
        assert_eq!(reading.unread.len(), 1, "{name}");
        assert!(
            reading.unread[0].problem.ends_with("is no folder"),
            "{}",
            reading.unread[0].problem
        );
    }
}

/// Whether permissions bind this process: they do not bind root.
fn is_bound(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let probe = folder.join("probe");
    fs::write(&probe, "").unwrap();
    fs::set_permissions(&probe, fs::Permissions::from_mode(0o000)).unwrap();
    let bound = fs::read(&probe).is_err();
    fs::remove_file(&probe).unwrap();
    bound
}

/// What `read_for_another` is told by its environment.
const FOLDER: &str = "OZ0_DEPS_UNREADABLE";

#[test]
fn what_may_not_be_read_is_unread() {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    let root = tempfile::tempdir().unwrap();
    for path in ["closed/x.pth", "open/closed.pth", "open/x.pth"] {
        write(root.path(), path, PTH);
    }
    let mode = |path: &str, mode: u32| {
        fs::set_permissions(root.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    let expected = vec![
        "closed: cannot be read: Permission denied (os error 13)".to_owned(),
        "open/closed.pth: cannot be read: Permission denied (os error 13)".to_owned(),
    ];
    let bound = is_bound(root.path());
    mode("closed", 0o000);
    mode("open/closed.pth", 0o000);
    if bound {
        let reading = of_folder(root.path());
        assert_eq!((unread(&reading), reading.mentions.len()), (expected, 1));
    } else {
        // Permissions do not bind root, so somebody else reads: this very program, as nobody.
        for path in [".", "closed", "open", "open/closed.pth", "open/x.pth"] {
            chown(root.path().join(path), Some(65534), Some(65534)).unwrap();
        }
        let told = as_nobody(root.path());
        assert_eq!(told, [expected, vec!["1".to_owned()]].concat());
    }
    mode("closed", 0o700);
}

/// Runs `read_for_another` in a process of the user nobody.
fn as_nobody(folder: &Path) -> Vec<String> {
    use std::os::unix::process::CommandExt as _;
    // The program may lie where nobody comes: it is given as an open file.
    let program = fs::File::open(std::env::current_exe().unwrap()).unwrap();
    let copy = folder.with_extension("program");
    std::io::copy(&mut &program, &mut fs::File::create(&copy).unwrap()).unwrap();
    fs::set_permissions(&copy, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let done = std::process::Command::new(&copy)
        .args(["--exact", "bounds::read_for_another", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .current_dir("/")
        .uid(65534)
        .gid(65534)
        .output()
        .unwrap();
    fs::remove_file(&copy).unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{text}{}", String::from_utf8_lossy(&done.stderr));
    text.lines().filter_map(|line| Some(line.split_once("told ")?.1.to_owned())).collect()
}

#[test]
#[ignore = "a part of another test, which starts it as another user"]
fn read_for_another() {
    let folder = std::env::var_os(FOLDER).expect("the other test sets it");
    let reading = of_folder(Path::new(&folder));
    let mut out = std::io::stdout();
    for line in unread(&reading) {
        writeln!(out, "\ntold {line}").unwrap();
    }
    writeln!(out, "\ntold {}", reading.mentions.len()).unwrap();
}

#[test]
fn the_bounds_hold_in_memory_too() {
    let wanted = wanted();
    let mut request = Request::new(&wanted);
    request.limits.file_bytes = 20;
    request.limits.folders_deep = 2;
    let long = [PTH, "/src/litellm\n"].concat();
    let files: BTreeMap<String, &[u8]> =
        [("a/b/x.pth", PTH), ("a/b/c/x.pth", PTH), ("long.pth", &long), ("long.png", &long)]
            .into_iter()
            .map(|(path, text)| (path.to_owned(), text.as_bytes()))
            .collect();
    let reading = read(&Tree::Files(&files), &request);
    assert_eq!(mentions(&reading), ["a/b/x.pth:1:6 litellm Vendored PyPi litellm"]);
    assert_eq!(
        unread(&reading),
        ["a/b/c: lies in more than 2 folders", "long.pth: is larger than 20 bytes"]
    );
    assert_eq!(reading.large.len(), 1);
}
