//! A scripted MCP server for tests: both eras, both transports, and every misbehaviour that a client must survive.
//!
//! It is real where it matters (a process with pipes or sockets) and scripted where a test needs to decide. The
//! README beside this crate describes the script.

mod http;
mod script;
mod stage;
mod stdio;

use std::process::ExitCode;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use crate::script::Script;
use crate::stage::Stage;

const USAGE: &str = "usage: oz0-actor SCRIPT.json [--http ADDR]";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["--daemon", seconds] => daemon(seconds).await,
        [script] => match load(script) {
            Ok(script) => stdio::run(Stage::new(script)).await,
            Err(error) => Err(error),
        },
        [script, "--http", address] => match load(script) {
            Ok(script) => http::run(Stage::new(script), address).await,
            Err(error) => Err(error),
        },
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::from(2)
        }
    }
}

#[expect(clippy::print_stderr, reason = "this is a program's main")]
fn complain(error: &str) {
    eprintln!("oz0-actor: {error}");
}

fn load(path: &str) -> Result<Script, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{path}: {error}"))
}

/// What a server leaves behind: its own session, deaf to SIGTERM.
async fn daemon(seconds: &str) -> Result<(), String> {
    let seconds = seconds.parse().map_err(|_| USAGE.to_owned())?;
    rustix::process::setsid().map_err(|error| format!("setsid: {error}"))?;
    ignore_sigterm()?;
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    Ok(())
}

fn ignore_sigterm() -> Result<(), String> {
    let mut deaf = signal(SignalKind::terminate()).map_err(|error| format!("SIGTERM: {error}"))?;
    tokio::spawn(async move { while deaf.recv().await.is_some() {} });
    Ok(())
}
