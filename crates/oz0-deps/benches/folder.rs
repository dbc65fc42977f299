//! Reading a plugin that carries a `.venv` and `node_modules`, beside ripgrep looking for the bare word, in turn in one run.
//!
//! `cargo xtask setup && cargo bench -p oz0-deps --bench folder`. The folder is made of what the tests' servers are installed
//! from: the whole Python environment and the whole `node_modules`, without the files above 16 MiB, which would only cost
//! ripgrep time. It is warm. Each reading is a process of its own, this very program, as each search is; its memory is what the
//! kernel says was resident at most. The larger folders hold the same one several times, by hard links, so that they are as
//! warm. Without a program called `rg` (or `OZ0_RG`) there is nothing to compare with, and it fails.
#![expect(clippy::print_stdout, reason = "a bench prints its results")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use oz0_deps::{Ecosystem, Limits, Package, Request, Tree, Wanted, read};
use oz0_peers::Peers;

/// Counted runs of each, after one that is not.
const RUNS: usize = 15;
/// How often the folder is in the folders that show how it grows.
const TIMES: [usize; 3] = [1, 4, 16];
/// What this program is called with to read a folder.
const READ: &str = "--read";

fn main() {
    let mut args = std::env::args().skip_while(|arg| arg != READ).skip(1);
    match args.next() {
        Some(folder) => report(Path::new(&folder)),
        None => compare(),
    }
}

fn compare() {
    let peers = Peers::find().expect("the tests' servers are installed: cargo xtask setup");
    let python = peers.python().ancestors().nth(2).expect("a folder with bin in it").to_owned();
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder");
    let once = place.path().join("1");
    let mut files = copy(&python, &once.join(".venv"), false);
    files += copy(&peers.npm_packages(), &once.join("node_modules"), false);
    fs::write(once.join("server.py"), "import json\n").expect("a file");
    println!(
        "| files | oz0 | per file | `rg` | ratio (goal: at most 2) | resident at most (goal: 150 MiB) |"
    );
    println!("|---|---|---|---|---|---|");
    for times in TIMES {
        let folder = if times == 1 { once.clone() } else { place.path().join(times.to_string()) };
        if times > 1 {
            for number in 0..times {
                copy(&once, &folder.join(format!("part{number:02}")), true);
            }
        }
        row(&folder, (files + 1) * times, if times == 16 { 5 } else { RUNS });
    }
}

/// Measures one folder, and prints a row of the table.
fn row(folder: &Path, files: usize, runs: usize) {
    let (mut reads, mut searches, mut most) = (Vec::new(), Vec::new(), 0);
    let mut last = String::new();
    for run in 0..=runs {
        let (read, output) = timed(
            Command::new(std::env::current_exe().expect("this program")).arg(READ).arg(folder),
        );
        last = String::from_utf8(output.stdout).expect("a line of its own");
        let mut words = last.split_whitespace();
        most =
            most.max(words.next().and_then(|word| word.parse::<u64>().ok()).expect("the memory"));
        let read_files = words.next().and_then(|word| word.parse::<usize>().ok());
        assert_eq!(read_files, Some(files), "every file was looked at: {last}");
        let rg = std::env::var_os("OZ0_RG").unwrap_or_else(|| "rg".into());
        let (search, found) =
            timed(Command::new(rg).args(["-uuu", "-i", "-c", "litellm"]).arg(folder));
        // 1: it found nothing.
        assert!(matches!(found.status.code(), Some(0 | 1)), "rg: {found:?}");
        if run > 0 {
            reads.push(read);
            searches.push(search);
        }
    }
    let (read, search) = (median(reads).as_secs_f64(), median(searches).as_secs_f64());
    println!(
        "| {files} | {:.0} ms | {:.1} µs | {:.0} ms | {:.2} | {:.0} MiB |",
        read * 1e3,
        read * 1e6 / f64::from(u32::try_from(files).expect("so many files")),
        search * 1e3,
        read / search,
        f64::from(u32::try_from(most).expect("so much memory")) / 1024.0,
    );
    eprint_found(&last);
}

#[expect(clippy::print_stderr, reason = "what was found is no result of the bench")]
fn eprint_found(line: &str) {
    eprintln!("(memory in KiB, files, mentions, unread: {})", line.trim());
}

/// Reads a folder, and says how much memory that took, in KiB, and what was read.
fn report(folder: &Path) {
    let wanted = wanted();
    let mut request = Request::new(&wanted);
    let mut limits = Limits::default();
    limits.files = usize::MAX;
    request.limits = limits;
    let reading = read(&Tree::Folder(folder), &request);
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|line| line.split_whitespace().next()).expect("a number of KiB");
    println!("{peak} {} {} {}", reading.files, reading.mentions.len(), reading.unread.len());
    if std::env::var_os("OZ0_BENCH_FOUND").is_some() {
        for mention in &reading.mentions {
            println!("{mention:?}");
        }
        for unread in &reading.unread {
            println!("{unread:?}");
        }
    }
}

/// The packages of `litellm`.
fn wanted() -> Wanted {
    let package = |ecosystem, name: &str, modules: &[&str]| Package {
        ecosystem,
        name: name.to_owned(),
        modules: modules.iter().map(|name| (*name).to_owned()).collect(),
        repositories: vec!["github.com/berriai/litellm".to_owned()],
        contents: ["main.py", "router.py", "utils.py", "proxy"].map(str::to_owned).to_vec(),
        startup_files: vec!["litellm_init.pth".to_owned()],
    };
    Wanted::new(vec![
        package(Ecosystem::PyPi, "litellm", &["litellm", "litellm_cli"]),
        package(Ecosystem::PyPi, "litellm-proxy-extras", &["litellm_proxy_extras"]),
        package(Ecosystem::PyPi, "litellm-enterprise", &["litellm_enterprise"]),
        package(Ecosystem::Npm, "litellm", &["litellm"]),
    ])
}

/// Copies a folder, and says how many files that are: their bytes, or the same ones by another name.
fn copy(from: &Path, to: &Path, linked: bool) -> usize {
    fs::create_dir_all(to).expect("a folder");
    let mut files = 0;
    for entry in fs::read_dir(from).expect("it can be read") {
        let entry = entry.expect("it can be read");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let metadata = entry.metadata().expect("it can be read");
        if metadata.is_dir() {
            files += copy(&from, &to, linked);
        } else if metadata.is_symlink() {
            symlink(fs::read_link(&from).expect("a link"), to).expect("a link");
        } else if metadata.len() <= 16 << 20 {
            if linked {
                fs::hard_link(from, to).expect("a link");
            } else {
                fs::copy(from, to).expect("a copy");
            }
            files += 1;
        }
    }
    files
}

fn timed(command: &mut Command) -> (Duration, Output) {
    let start = Instant::now();
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    (start.elapsed(), output)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
