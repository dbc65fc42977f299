//! Running other programs: each is shown before it runs, and a failure names it.

use std::env;
use std::ffi::OsStr;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The cargo that runs this program, started at the checkout's root.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(oz0_peers::workspace());
    command
}

/// Runs a program to its end; anything but success is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = show(command);
    eprintln!("$ {line}");
    let status = command.status().with_context(|| format!("starting {line}"))?;
    if !status.success() {
        bail!("{line}: {status}");
    }
    Ok(())
}

/// Runs a program and gives what it wrote to stdout.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let line = show(command);
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("starting {line}"))?;
    if !output.status.success() {
        bail!("{line}: {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("{line} printed what is not UTF-8"))
}

/// Whether a program can be started and says success, silently.
pub(crate) fn succeeds(program: impl AsRef<OsStr>, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// A command line for people: not quoted for a shell.
pub(crate) fn show(command: &Command) -> String {
    let mut words = vec![command.get_program()];
    words.extend(command.get_args());
    words.iter().map(|word: &&OsStr| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
