//! The documents do what they print.
//!
//! A block marked `console` holds commands (`$ …`, continued by `> …`) with what they print. The commands of one document run
//! in one shell, in a fresh folder with a copy of the examples, and print what stands there: `…` on a line of its own stands
//! for any lines, inside a line for any text. A block marked `console fails` has commands that end with an error.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{OZ0, cache, checkout, copy};

/// One command of a document.
struct Step {
    line: usize,
    command: String,
    prints: Vec<String>,
    fails: bool,
}

fn steps(document: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut block: Option<bool> = None;
    for (index, line) in document.lines().enumerate() {
        match (block, line) {
            (None, "```console") => block = Some(false),
            (None, "```console fails") => block = Some(true),
            (None, _) => {}
            (Some(_), "```") => block = None,
            (Some(fails), line) => {
                if let Some(command) = line.strip_prefix("$ ") {
                    let command = command.to_owned();
                    steps.push(Step { line: index + 1, command, prints: Vec::new(), fails });
                } else {
                    let step = steps.last_mut().expect("a console block begins with a command");
                    match line.strip_prefix("> ").or((line == ">").then_some("")) {
                        Some(more) if step.prints.is_empty() => {
                            let _ = write!(step.command, "\n{more}");
                        }
                        _ => step.prints.push(line.trim_end().to_owned()),
                    }
                }
            }
        }
    }
    steps
}

/// Whether the lines that a command printed are those that the document shows.
fn matches(shown: &[String], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first.trim() == "…" => {
            (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..]))
        }
        Some((first, rest)) => printed
            .split_first()
            .is_some_and(|(line, others)| fits(first, line) && matches(rest, others)),
    }
}

fn fits(shown: &str, printed: &str) -> bool {
    match shown.split_once('…') {
        None => shown == printed,
        Some((before, after)) => printed.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices()
                .map(|(at, _)| at)
                .chain([rest.len()])
                .any(|at| fits(after, &rest[at..]))
        }),
    }
}

fn holds(document: &Path) {
    const MARK: &str = "\u{1e}";
    let text = fs::read_to_string(document).expect("the document can be read");
    let steps = steps(&text);
    assert!(!steps.is_empty(), "{} shows no command", document.display());

    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(&checkout().join("examples"), &folder.path().join("examples"));
    let mut script = String::from("exec 2>&1\n");
    for step in &steps {
        let _ = write!(script, "{}\nprintf '\\n{MARK}%d\\n' $?\n", step.command);
    }

    let bin = Path::new(OZ0).parent().expect("the binary is in a folder");
    let path = std::env::var("PATH").expect("PATH is set");
    let mut shell = Command::new("bash")
        .current_dir(folder.path())
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("OZ0_CACHE", cache())
        .env("XDG_CONFIG_HOME", folder.path().join("config"))
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("bash starts");
    let mut input = shell.stdin.take().expect("its input is a pipe");
    let writer = std::thread::spawn(move || input.write_all(script.as_bytes()));
    let output = shell.wait_with_output().expect("bash ends");
    writer.join().expect("the writer ends").expect("bash reads its script");

    let printed = String::from_utf8(output.stdout).expect("the commands print UTF-8");
    let mut parts = printed.split(MARK);
    let mut said = parts.next().unwrap_or_default();
    for step in &steps {
        let next = parts.next().unwrap_or_default();
        let (code, rest) = next.split_once('\n').unwrap_or((next, ""));
        let lines: Vec<&str> = said.trim_end().lines().map(str::trim_end).collect();
        let place = format!("{}:{}: $ {}", document.display(), step.line, step.command);
        assert_eq!(code != "0", step.fails, "{place}\nended with {code}:\n{said}");
        let mut shown = step.prints.clone();
        while shown.last().is_some_and(String::is_empty) {
            shown.pop();
        }
        assert!(
            matches(&shown, &lines),
            "{place}\nis shown to print:\n{}\nbut printed:\n{}",
            shown.join("\n"),
            lines.join("\n")
        );
        said = rest;
    }
}

#[test]
fn the_readme_holds() {
    holds(&checkout().join("README.md"));
}

#[test]
fn the_tutorials_hold() {
    let folder = checkout().join("docs/tutorials");
    for entry in fs::read_dir(folder).expect("there are tutorials") {
        let path = entry.expect("the entry can be read").path();
        if path.file_name().is_some_and(|name| name != "index.md") {
            holds(&path);
        }
    }
}
