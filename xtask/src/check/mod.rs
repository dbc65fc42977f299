//! `cargo xtask check`: everything that must hold of the tree and is not a test.
//!
//! Every step runs even when an earlier one failed, so one run shows all there is to mend.

mod links;
mod names;
mod sizes;

use std::time::Instant;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use crate::{generate, process, setup, tree};

#[derive(Args)]
pub(crate) struct Options {
    /// Run these steps only
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Step {
    /// rustfmt
    Fmt,
    /// Clippy, warnings as errors
    Clippy,
    /// Licences, sources and duplicates of the dependencies
    Deny,
    /// The generated files are what is generated now
    Generate,
    /// Relative links and anchors of the Markdown files
    Links,
    /// No registry's host and no path of this machine in any file
    Names,
    /// Source files above 600 lines have a reason
    Sizes,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let steps: Vec<Step> = Step::value_variants()
        .iter()
        .copied()
        .filter(|step| options.only.is_empty() || options.only.contains(step))
        .collect();
    let mut failed = Vec::new();
    for step in &steps {
        let started = Instant::now();
        let result = step.run();
        let outcome = if result.is_ok() { "ok" } else { "FAILED" };
        eprintln!("check {step:?}: {outcome} in {:.1?}", started.elapsed());
        if let Err(error) = result {
            eprintln!("error: {error:#}");
            failed.push(format!("{step:?}").to_lowercase());
        }
    }
    println!("{} checks passed, {} failed", steps.len() - failed.len(), failed.len());
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

impl Step {
    fn run(self) -> Result<()> {
        let root = oz0_peers::workspace();
        match self {
            Self::Fmt => process::run(process::cargo().args(["fmt", "--all", "--check"])),
            // With what is off by default: the tests compile it without.
            Self::Clippy => process::run(process::cargo().args([
                "clippy",
                "--workspace",
                "--all-targets",
                "--features=oz0/otel",
                "--locked",
                "--quiet",
                "--",
                "-Dwarnings",
            ])),
            // Its advisory database is no crate, and so cannot be fetched where only registries are reached.
            Self::Deny => process::run(
                process::cargo()
                    .env("PATH", setup::peers()?.path())
                    .args(["deny", "--locked", "--all-features", "check"])
                    .args(["bans", "licenses", "sources"]),
            ),
            Self::Generate => generate::run(&generate::Options { check: true }),
            Self::Links => report(&links::problems(root, &tree::with_extension(root, &["md"])?)?),
            Self::Names => report(&names::problems(root, &tree::files(root)?)?),
            Self::Sizes => {
                report(&sizes::problems(root, &tree::with_extension(root, &["rs", "py"])?)?)
            }
        }
    }
}

fn report(problems: &[String]) -> Result<()> {
    for problem in problems {
        eprintln!("{problem}");
    }
    match problems.len() {
        0 => Ok(()),
        1 => bail!("1 problem"),
        many => bail!("{many} problems"),
    }
}
