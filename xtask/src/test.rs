//! `cargo xtask test`: everything that must pass, from a fresh clone on a fresh machine.

use std::io::{BufRead, BufReader, Write, stdout};
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::{process, setup};

#[derive(Args)]
pub(crate) struct Options {
    /// Arguments of `cargo test` in place of `--workspace`, such as `-p oz0-yaml`
    #[arg(last = true)]
    cargo: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let peers = setup::peers()?;
    let mut command = process::cargo();
    command.args(["test", "--locked", "--no-fail-fast"]).env("PATH", peers.path());
    if options.cargo.is_empty() {
        command.arg("--workspace");
    } else {
        command.args(&options.cargo);
    }
    let line = process::show(&command);
    eprintln!("$ {line}");
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("starting {line}"))?;
    let mut tally = Tally::default();
    if let Some(output) = child.stdout.take() {
        let mut out = stdout().lock();
        for line in BufReader::new(output).lines() {
            let line = line.context("reading what the tests print")?;
            tally.add(&line);
            writeln!(out, "{line}")?;
        }
    }
    let status = child.wait()?;
    println!("\n{} passed, {} failed, {} skipped", tally.passed, tally.failed, tally.ignored);
    if !status.success() {
        bail!("{line}: {status}");
    }
    Ok(())
}

/// The sum of the closing lines, one of each test binary.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Tally {
    fn add(&mut self, line: &str) {
        let Some(rest) = line.strip_prefix("test result: ") else { return };
        let Some((_, counts)) = rest.split_once(". ") else { return };
        for count in counts.split("; ") {
            let Some((number, what)) = count.split_once(' ') else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_add_up_and_other_lines_do_not_count() {
        let mut tally = Tally::default();
        for line in [
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s",
            "a test printed: 7 passed; 7 failed",
        ] {
            tally.add(line);
        }
        assert_eq!(tally, Tally { passed: 15, failed: 2, ignored: 1 });
    }
}
