//! The project's own commands, run as `cargo xtask …`.
//!
//! Whatever a person or CI does to this tree beyond `cargo build` stands here, so that it is one command, the same
//! everywhere, and checked by the compiler. The crate links nothing of the product: it must start within seconds on
//! a fresh machine, before anything else is built, and it calls the built `oz0` where it needs it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this program talks to a terminal")]

mod check;
mod docs;
mod fuzz;
mod generate;
mod new_rule;
mod process;
mod setup;
mod test;
mod tree;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The project's own commands
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install what the tests need: system packages that are missing, and the pinned servers and clients
    Setup(setup::Options),
    /// Set up, then run every test
    Test(test::Options),
    /// Write the generated files: man pages, completions, JSON Schemas, the rules' pages
    Generate(generate::Options),
    /// Check everything that is not a test: format, lints, licences, generated files, links, names, sizes
    Check(check::Options),
    /// Fuzz one target, or each in turn
    Fuzz(fuzz::Options),
    /// Make the files of a new rule of the linter, and its line in the registry
    NewRule(new_rule::Options),
    /// Build the documentation site into target/site
    Docs,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Setup(options) => setup::run(&options),
        Command::Test(options) => test::run(&options),
        Command::Generate(options) => generate::run(&options),
        Command::Check(options) => check::run(&options),
        Command::Fuzz(options) => fuzz::run(&options),
        Command::NewRule(options) => new_rule::run(&options),
        Command::Docs => docs::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
