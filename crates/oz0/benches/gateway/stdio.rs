//! Calls over stdio, one after the other, and what the process takes.

use std::path::Path;

use oz0_peers::Bench;

use crate::client::Client;
use crate::peers::Served;

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
            // Nobody always follows the same neighbour.
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
        "  {:<16}{:>10}{:>10}{:>10}{:>14}{:>10}{:>9}",
        "", "p50 us", "p99 us", "added us", "added/direct", "x direct", "x relay"
    );
    let direct = clients[0].micros(0.5);
    let relay = clients[1].micros(0.5);
    for client in clients {
        let p50 = client.micros(0.5);
        println!(
            "  {:<16}{p50:>10.1}{:>10.1}{:>10.1}{:>14.2}{:>10.2}{:>9.2}",
            client.name,
            client.micros(0.99),
            p50 - direct,
            (p50 - direct) / direct,
            p50 / direct,
            p50 / relay,
        );
    }
}

/// A small result, behind the server of `examples/team` and behind the compiled one.
pub(crate) fn small(root: &Path, bench: &Bench) {
    for (title, name, served) in [
        ("stdio, small result, the server of examples/team (Python)", "team", Served::team()),
        ("stdio, small result, compiled server", "compiled", Served::compiled(root, 1)),
    ] {
        let home = root.join(name);
        let mut clients = [
            served.direct(),
            served.relay(),
            served.oz0(&home.join("oz0")),
            served.vex_mcp(bench, &home.join("vex-mcp")),
            served.mcp_integrity(bench, &home.join("mcp-integrity")),
            served.heldfast(bench, &home.join("heldfast")),
        ];
        in_turn(&mut clients, "hello", 200, BLOCK);
        table(title, &clients);
    }
}

/// A result of 1 MiB.
pub(crate) fn large(root: &Path) {
    let served = Served::compiled(root, 1);
    let mut clients = [served.direct(), served.relay(), served.oz0(&root.join("large"))];
    in_turn(&mut clients, "large", 100, 5);
    table("stdio, 1 MiB result, compiled server", &clients);
}

/// Resident memory.
pub(crate) fn memory(root: &Path) {
    println!();
    for copies in [1, 10] {
        let mut client = Served::compiled(root, copies).oz0(&root.join(format!("memory-{copies}")));
        for _ in 0..1000 {
            client.call("hello");
        }
        let status = std::fs::read_to_string(format!("/proc/{}/status", client.pid())).unwrap();
        let mebibytes = |name: &str| -> f64 {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap();
            let kibibytes: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
            kibibytes / 1024.0
        };
        println!(
            "oz0 mcp with {copies} servers: {:.1} MiB resident ({:.1} MiB of it the program's own file), {:.1} MiB at its peak",
            mebibytes("VmRSS:"),
            mebibytes("RssFile:"),
            mebibytes("VmHWM:"),
        );
    }
}
