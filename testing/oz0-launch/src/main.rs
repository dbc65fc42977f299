//! Starts one server in its sandbox from a command line, for tests.
//!
//!     oz0-launch CACHE SPEC [REASON]
//!
//! SPEC is a `LaunchSpec` in JSON; with REASON, the server is started in tier 0 for that reason.
//! Stdin and stdout are the server's. On stderr, one JSON object a line: `ready` with the tier and
//! what is missing, `ended`, or `failed`; then what the server wrote to stderr. An interrupt or a
//! termination signal stops the server in order. The exit code is the server's, 128 and the
//! signal's number, or 3 when it did not start.
//!
//! It is also the program that the launcher re-executes, as oz0 itself is elsewhere.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use oz0_server::{Ended, LaunchSpec, Launcher, Running, StopBounds, Tier, TierChoice};
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

fn main() -> ExitCode {
    if let Some(code) = oz0_server::sandbox_if_asked() {
        return code;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime of one thread can be built");
    let code = runtime.block_on(run());
    // Stdin may still be read by a thread that nothing wakes.
    runtime.shutdown_background();
    ExitCode::from(code)
}

fn say(event: &Value) {
    let _ = writeln!(std::io::stderr(), "{event}");
}

async fn run() -> u8 {
    match start().await {
        Ok(running) => attend(running).await,
        Err(error) => {
            say(&json!({"failed": error.to_string()}));
            3
        }
    }
}

async fn start() -> Result<Running, Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(cache), Some(spec)) = (arguments.next(), arguments.next()) else {
        return Err("usage: oz0-launch CACHE SPEC [REASON]".into());
    };
    let choice = match arguments.next() {
        None => TierChoice::Best,
        Some(reason) => TierChoice::Zero { reason },
    };
    let spec: LaunchSpec = serde_json::from_str(&spec)?;
    let launcher = Launcher::new(std::env::current_exe()?, &PathBuf::from(cache), choice)?;
    Ok(launcher.start(&spec).await?)
}

async fn attend(mut running: Running) -> u8 {
    let missing: Vec<String> = running.missing().iter().map(ToString::to_string).collect();
    let (tier, reason) = match running.tier() {
        Tier::One => (1, None),
        Tier::Zero { reason } => (0, Some(reason)),
    };
    say(&json!({"ready": {"tier": tier, "reason": reason, "missing": missing}}));
    let stderr = running.stderr().clone();
    let (mut stdin, mut stdout) = running.take_stdio().expect("it is taken once");
    let write = tokio::spawn(async move {
        let _ = tokio::io::copy(&mut tokio::io::stdin(), &mut stdin).await;
    });
    let read = tokio::spawn(async move {
        let _ = tokio::io::copy(&mut stdout, &mut tokio::io::stdout()).await;
    });
    let mut interrupt = signal(SignalKind::interrupt()).expect("signals can be listened for");
    let mut terminate = signal(SignalKind::terminate()).expect("signals can be listened for");
    let ended = tokio::select! {
        ended = running.wait() => ended,
        _ = interrupt.recv() => stop(running, write).await,
        _ = terminate.recv() => stop(running, write).await,
    };
    let _ = read.await;
    stderr.ended().await;
    say(&json!({"ended": ended, "stderr": stderr.text(), "stderr_bytes": stderr.total()}));
    match ended {
        Ended::Exited(code) => u8::try_from(code).unwrap_or(u8::MAX),
        Ended::Signalled(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
    }
}

async fn stop(running: Running, write: tokio::task::JoinHandle<()>) -> Ended {
    write.abort();
    let _ = write.await;
    running.stop(StopBounds::default()).await
}
