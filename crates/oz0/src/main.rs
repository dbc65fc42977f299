//! The `oz0` command.
//!
//! This crate holds arguments, exit codes, progress and printing, one file a command group, and no logic: what a command does
//! is in the crate it calls.

mod approvals;
mod audit;
mod call;
mod catalog;
mod cli;
mod config;
mod connection;
mod edge;
mod edge_alone;
mod exit;
mod generate;
mod log;
mod login;
mod lsp;
mod machine;
mod mcp;
mod moment;
mod node;
mod output;
mod plugin;
mod policy;
mod progress;
mod secret;
mod serve;
mod share;
mod terminal;
mod token;
mod up;
mod words;
mod wrap;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::exit::Exit;

fn main() -> ExitCode {
    // A server's first process is this same executable. It must reach its sandbox before anything else runs: no argument
    // parser, no runtime, no thread.
    if let Some(code) = oz0_server::sandbox_if_asked() {
        return code;
    }
    // For the project's own use, and so no part of the command line that people see.
    if let Some(folder) = generate::asked() {
        return match generate::everything(&folder) {
            Ok(exit) => exit.into(),
            Err(error) => {
                output::Output::plain().failure(&error);
                Exit::Unreachable.into()
            }
        };
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, not mistakes; a reader that went away is no reason to panic.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() };
        }
    };
    run(cli).into()
}

fn run(cli: Cli) -> Exit {
    let settings = match config::Settings::read(&cli.global) {
        Ok(settings) => settings,
        Err(error) => {
            output::Output::plain().failure(&error);
            return Exit::Usage;
        }
    };
    let mut output = output::Output::new(settings.color, cli.global.quiet);
    // Until the end of whatever serves.
    let seen = match log::start(&cli.command, &settings) {
        Ok(seen) => seen,
        Err(error) => {
            output.failure(&error);
            return exit::of(&error);
        }
    };
    if seen.as_ref().is_some_and(|seen| seen.logged) {
        output = output.logged();
    }
    let done = match cli.command {
        Command::Up(arguments) => up::run(&arguments, &settings, output),
        Command::Edge(arguments) => edge_alone::run(&arguments, &settings, output),
        Command::Mcp(arguments) => mcp::run(&arguments, &settings, output),
        Command::Wrap(arguments) => wrap::run(&arguments, &settings, output),
        Command::Lsp(arguments) => lsp::run(&arguments, output),
        Command::Plugin(command) => plugin::run(command, &settings, output),
        Command::Catalog(arguments) => catalog::run(&arguments, &settings, output),
        Command::Call(arguments) => call::run(&arguments, &settings, output),
        Command::Policy(command) => policy::run(&command, &settings, output),
        Command::Approvals(command) => approvals::run(&command, &settings, output),
        Command::Secret(command) => secret::run(&command, &settings, output),
        Command::Connection(command) => connection::run(&command, &settings, output),
        Command::Audit(arguments) => audit::run(&arguments, &settings, output),
        Command::Token(command) => token::run(&command, &settings, output),
        Command::Login => login::run(&settings, output),
        Command::Node(arguments) => node::run(&arguments, &settings, output),
        Command::Completions { shell } => generate::completions(shell, output),
    };
    match done {
        Ok(exit) => exit,
        Err(error) if output::is_broken_pipe(&error) => Exit::Done,
        Err(error) => {
            output.failure(&error);
            exit::of(&error)
        }
    }
}
