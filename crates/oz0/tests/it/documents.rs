//! The documents do what they print.
//!
//! A block marked `console` holds commands (`$ …`, continued by `> …`) with what they print. The commands of one document run
//! in one shell, in a fresh folder with a copy of the examples, and print what stands there: `…` on a line of its own stands
//! for any lines, inside a line for any text. A block marked `console fails` has commands that end with an error. The command
//! of a block marked `console stays` goes on in another terminal until the document ends: what it prints first stands there.
//! Beside such a command, one that prints something else is given again for a while: a person is slower than a script.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::support::{OZ0, cache, checkout, copy};

/// A last line of a command's output, with its exit code behind it.
const MARK: char = '\u{1e}';

/// How long a command may print something else while another one is still at work.
const PATIENCE: Duration = Duration::from_mins(1);

/// The addresses that a document shows, of an MCP endpoint, an edge and its console, and what stands before a port in any.
const SHOWN: [(&str, &str); 3] =
    [("/mcp", "7071/mcp"), (", and at ", "7070, and at "), ("; sign in", "7070; sign in")];
const HOST: &str = "http://127.0.0.1:";

/// What becomes of a block's commands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Ends,
    Fails,
    Stays,
}

/// One command of a document.
struct Step {
    line: usize,
    command: String,
    prints: Vec<String>,
    block: Block,
}

fn steps(document: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut block: Option<Block> = None;
    for (index, line) in document.lines().enumerate() {
        match (block, line) {
            (None, "```console") => block = Some(Block::Ends),
            (None, "```console fails") => block = Some(Block::Fails),
            (None, "```console stays") => block = Some(Block::Stays),
            (None, _) => {}
            (Some(_), "```") => block = None,
            (Some(block), line) => {
                if let Some(command) = line.strip_prefix("$ ") {
                    let command = command.to_owned();
                    steps.push(Step { line: index + 1, command, prints: Vec::new(), block });
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

/// A line with the ports that documents show, where it has an address of an MCP endpoint or of an edge.
fn with_shown_port(line: &str) -> String {
    let mut parts = line.split(HOST);
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        let known = SHOWN.iter().find_map(|(end, port)| Some((rest.strip_prefix(end)?, port)));
        match known {
            Some((rest, port)) => shown.extend([HOST, *port, rest]),
            None => shown.extend([HOST, part]),
        }
    }
    shown
}

/// The shell that a document's commands run in.
struct Shell {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Shell {
    fn start(folder: &Path) -> Self {
        let bin = Path::new(OZ0).parent().expect("the binary is in a folder");
        let path = std::env::var("PATH").expect("PATH is set");
        let mut process = Command::new("bash")
            .current_dir(folder)
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("OZ0_CACHE", cache())
            .env("OZ0_DATA", folder.join("data"))
            // Somebody else may listen on the ports that a document shows.
            .env("OZ0_LISTEN", "127.0.0.1:0")
            .env("OZ0_MCP_LISTEN", "127.0.0.1:0")
            .env("XDG_CONFIG_HOME", folder.join("config"))
            .env("NO_COLOR", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("bash starts");
        let mut input = process.stdin.take().expect("its input is a pipe");
        let output = process.stdout.take().expect("its output is a pipe");
        input.write_all(b"exec 2>&1\n").expect("bash reads");
        Self { process, input: Some(input), output: BufReader::new(output) }
    }

    /// Gives a command; answers what it printed, and its exit code.
    fn give(&mut self, command: &str) -> (Vec<String>, String) {
        // Its input is not the shell's, which holds the next commands.
        let script = format!("{{ {command}\n}} < /dev/null\nprintf '\\n{MARK}%d\\n' $?\n");
        let input = self.input.as_mut().expect("it has not ended");
        input.write_all(script.as_bytes()).expect("bash reads");
        let mut printed = Vec::new();
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).expect("the commands print UTF-8");
            assert!(read != 0, "bash ended at: {command}\n{}", printed.join("\n"));
            if let Some(code) = line.strip_prefix(MARK) {
                while printed.last().is_some_and(String::is_empty) {
                    printed.pop();
                }
                return (printed, code.trim_end().to_owned());
            }
            printed.push(with_shown_port(line.trim_end()));
        }
    }

    /// Ends what stays, then the shell.
    fn end(mut self) {
        let (said, code) = self.give("for job in $(jobs -p); do kill $job; wait $job; done");
        assert_eq!(code, "0", "what stayed did not end well: {}", said.join("\n"));
        drop(self.input.take());
        assert!(self.process.wait().expect("bash ends").success());
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // A document that does not hold leaves nothing running.
        let group = i32::try_from(self.process.id()).expect("a process ID fits");
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        let _ = self.process.wait();
    }
}

fn holds(document: &Path) {
    let text = fs::read_to_string(document).expect("the document can be read");
    let steps = steps(&text);
    assert!(!steps.is_empty(), "{} shows no command", document.display());

    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(&checkout().join("examples"), &folder.path().join("examples"));
    let mut shell = Shell::start(folder.path());
    let mut stays = 0;
    for step in &steps {
        let command = match step.block {
            Block::Ends | Block::Fails => &step.command,
            Block::Stays => {
                stays += 1;
                let log = folder.path().join(format!("stays-{stays}"));
                let log = log.display();
                shell.give(&format!("{} > {log} 2>&1 &", step.command));
                &format!("cat {log}")
            }
        };
        let mut shown = step.prints.clone();
        while shown.last().is_some_and(String::is_empty) {
            shown.pop();
        }
        if step.block == Block::Stays {
            shown.push("…".to_owned());
        }
        let until = Instant::now() + if stays == 0 { Duration::ZERO } else { PATIENCE };
        loop {
            let (said, code) = shell.give(command);
            let lines: Vec<&str> = said.iter().map(String::as_str).collect();
            let ended_well = (code != "0") == (step.block == Block::Fails);
            if ended_well && matches(&shown, &lines) {
                break;
            }
            assert!(
                Instant::now() < until,
                "{}:{}: $ {}\nis shown to print:\n{}\nbut ended with {code} and printed:\n{}",
                document.display(),
                step.line,
                step.command,
                shown.join("\n"),
                said.join("\n")
            );
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    shell.end();
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
