//! A call through oz0 beside the same call without it and through other gateways that pin what a server lists.
//!
//! `cargo xtask setup --bench && cargo bench -p oz0 --bench gateway [-- stdio|large|http|approval|asked|memory]`
//!
//! Every process of a run is on one core, this one included, and everything is measured in turn in small blocks: a
//! machine that is busy slows all of it alike. So the ratios say something where the times alone do not. The server
//! is this very program in another role, compiled and blocking: behind a slow server a gateway's own cost would not
//! show.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]
#![expect(clippy::unwrap_used, reason = "a bench that meets the unexpected has failed")]

mod approval;
mod asked;
mod client;
mod http;
mod peers;
mod server;
mod stdio;

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("serve") => return server::serve(),
        Some("relay") => return server::relay(&arguments[1..]),
        _ => {}
    }
    let asked: Vec<&str> = arguments
        .iter()
        .map(String::as_str)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let wants = |section: &str| asked.is_empty() || asked.contains(&section);

    let mut core = CpuSet::new();
    core.set(std::thread::available_parallelism().unwrap().get() - 1).unwrap();
    sched_setaffinity(Pid::from_raw(0), &core).unwrap();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap();
    println!("load when it began: {}", load.trim());

    let folder = tempfile::tempdir().unwrap();
    let bench = || oz0_peers::Bench::find().unwrap_or_else(|error| panic!("{error}"));
    if wants("stdio") {
        stdio::small(folder.path(), &bench());
    }
    if wants("large") {
        stdio::large(folder.path());
    }
    if wants("http") {
        http::measure(folder.path(), &bench());
    }
    if wants("approval") {
        approval::measure(folder.path());
    }
    if wants("asked") {
        asked::measure(folder.path());
    }
    if wants("memory") {
        stdio::memory(folder.path());
    }
}
