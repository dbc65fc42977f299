//! The one thread that starts every server.
//!
//! Linux sends a parent-death signal when the *thread* that started a process ends, not when its
//! process does (prctl(2), `PR_SET_PDEATHSIG`). A worker of an async runtime may end at any time,
//! and would take its servers with it; so there is one thread that starts them all, and it ends
//! with the process.

use std::io;
use std::process::{Child, Command};
use std::sync::{OnceLock, mpsc};

use tokio::sync::oneshot;

type Job = (Command, oneshot::Sender<io::Result<Child>>);

static QUEUE: OnceLock<mpsc::Sender<Job>> = OnceLock::new();

/// Starts a process from the thread that never ends. The command is dropped there once it has
/// started, and the descriptors that it holds with it.
pub(crate) async fn spawn(command: Command) -> io::Result<Child> {
    let (answer, started) = oneshot::channel();
    queue()?.send((command, answer)).map_err(|_| gone())?;
    started.await.map_err(|_| gone())?
}

fn gone() -> io::Error {
    io::Error::other("the thread that starts servers has ended")
}

fn queue() -> io::Result<mpsc::Sender<Job>> {
    if let Some(queue) = QUEUE.get() {
        return Ok(queue.clone());
    }
    let (queue, jobs) = mpsc::channel::<Job>();
    std::thread::Builder::new().name("oz0-spawner".to_owned()).spawn(move || {
        while let Ok((mut command, answer)) = jobs.recv() {
            let child = command.spawn();
            drop(command);
            if let Err(Ok(mut unwanted)) = answer.send(child) {
                // Whoever wanted it was cancelled; its stdio closes with it, and it ends.
                let _ = unwanted.kill();
                let _ = unwanted.wait();
            }
        }
    })?;
    // Where two raced, the loser's thread ends at once, having started nothing.
    Ok(QUEUE.get_or_init(|| queue).clone())
}
