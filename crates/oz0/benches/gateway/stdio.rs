//! Calls over stdio, one after the other.

use std::path::Path;

use crate::client::Client;
use crate::peers;

/// Calls of one client before it is the next one's turn.
const BLOCK: usize = 25;

fn in_turn(clients: &mut [Client], function: &str, blocks: usize, block: usize) {
    for client in &mut *clients {
        for _ in 0..block {
            client.call(function);
        }
        client.times.clear();
    }
    for round in 0..blocks {
        for at in 0..clients.len() {
            // Nobody is always behind the same neighbour's heels.
            let at = (at + round) % clients.len();
            for _ in 0..block {
                clients[at].call(function);
            }
        }
    }
}

fn table(title: &str, clients: &[Client]) {
    println!("\n{title}");
    println!(
        "  {:<16}{:>11}{:>11}{:>11}{:>10}{:>10}",
        "", "p50 us", "p99 us", "added us", "x direct", "x relay"
    );
    let direct = clients[0].micros(0.5);
    let relay = clients[1].micros(0.5);
    for client in clients {
        let p50 = client.micros(0.5);
        println!(
            "  {:<16}{p50:>11.1}{:>11.1}{:>11.1}{:>10.2}{:>10.2}",
            client.name,
            client.micros(0.99),
            p50 - direct,
            p50 / direct,
            p50 / relay,
        );
    }
}

/// A small result.
pub(crate) fn small(root: &Path) {
    let mut clients = vec![peers::direct(), peers::relay(), peers::oz0(root, 1)];
    if std::env::var_os("OZ0_BENCH_ALONE").is_none() {
        clients.extend([peers::vex_mcp(root), peers::mcp_integrity(root), peers::heldfast(root)]);
    }
    in_turn(&mut clients, "hello", 200, BLOCK);
    table("stdio, small result", &clients);
    let (direct, oz0) = (clients[0].micros(0.5), clients[2].micros(0.5));
    println!("  oz0 adds {:.2} x a direct call (goal: at most 1.6)", (oz0 - direct) / direct);
}

/// A result of 1 MiB.
pub(crate) fn large(root: &Path) {
    let mut clients = vec![peers::direct(), peers::relay(), peers::oz0(root, 1)];
    in_turn(&mut clients, "large", 60, 5);
    table("stdio, 1 MiB result", &clients);
    let (relay, oz0) = (clients[1].micros(0.5), clients[2].micros(0.5));
    println!("  oz0 takes {:.2} x the bare relay's time (goal: at most 4)", oz0 / relay);
}

/// Resident memory.
pub(crate) fn memory(root: &Path) {
    for copies in [1, 10] {
        let mut client = peers::oz0(root, copies);
        for _ in 0..1000 {
            client.call("hello");
        }
        let status = std::fs::read_to_string(format!("/proc/{}/status", client.pid())).unwrap();
        let kib = |name: &str| -> f64 {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().nth(1).unwrap().parse().unwrap()
        };
        println!(
            "\nmemory with {copies} servers: {:.1} MiB resident, {:.1} MiB at its peak (goal with ten: under 30 MiB); of it {:.1} MiB of files",
            kib("VmRSS:") / 1024.0,
            kib("VmHWM:") / 1024.0,
            kib("RssFile:") / 1024.0,
        );
    }
}
