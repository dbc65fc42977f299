//! A fleet of simulated nodes on real edges: how long it waits for a decision, and what it costs.
//!
//! `cargo bench -p oz0 --bench fleet [-- NODES…]`, with 200 and 2000 nodes where no number is given.
//!
//! The nodes are the real wire client, all in this process, without servers; the edge is the built `oz0 edge`. `OZ0_EDGES` is
//! how many edges there are; several need a store and a place for bundles that they share, in the variables that `oz0 edge`
//! reads. One edge has its own.
//! Beside the edge stands the least that any could do: the same bytes from one half of this process to the other, over as many
//! connections that wait.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]
#![expect(clippy::unwrap_used, reason = "a bench that meets the unexpected has failed")]
#![expect(clippy::cast_precision_loss, reason = "what is counted here is far below 2^52")]

mod edges;
mod floor;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use oz0_api::Client;
use oz0_api::change::Approve;
use oz0_listing::{FunctionId, Listing, ToolId};
use oz0_swarm::{Swarm, World};

use crate::edges::{Edges, PLUGINS};
use crate::floor::Floor;

/// Approvals that are measured, where `OZ0_ROUNDS` says nothing else.
const ROUNDS: usize = 15;
/// Functions of each plugin.
const FUNCTIONS: usize = 20;
/// How long a fleet is left alone: longer than a poll waits.
const QUIET: Duration = Duration::from_secs(35);
/// How long anything here may take.
const PATIENCE: Duration = Duration::from_mins(3);

/// What a run came to.
struct Measured {
    nodes: usize,
    set: Duration,
    reported: Duration,
    approved: Vec<Duration>,
    floor: Vec<Duration>,
    /// Of the edge's processes.
    working: Duration,
    quiet: Duration,
    resident: u64,
    peak: u64,
}

fn main() {
    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let sizes = if asked.is_empty() { vec![200, 2000] } else { asked };
    let load = std::fs::read_to_string("/proc/loadavg").unwrap();
    println!("load when it began: {}", load.trim());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let mut measured = Vec::new();
    for nodes in sizes {
        let one = runtime.block_on(measure(nodes));
        told(&one);
        measured.push(one);
    }
    if let [few, .., many] = measured.as_slice() {
        let each = |one: &Measured, time: Duration| time.as_secs_f64() / one.nodes as f64;
        println!("\nthe edge's processor time for a node, {} nodes to {}", many.nodes, few.nodes);
        for (title, ratio) in [
            ("starting, reporting, approvals", each(many, many.working) / each(few, few.working)),
            ("left alone", each(many, many.quiet) / each(few, few.quiet)),
            (
                "together",
                each(many, many.working + many.quiet) / each(few, few.working + few.quiet),
            ),
        ] {
            println!("  {title:<32} {ratio:.2}");
        }
    }
}

fn told(one: &Measured) {
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    let nth = |times: &[Duration], share: f64| {
        let mut times = times.to_vec();
        times.sort_unstable();
        let at = (share * (times.len() - 1) as f64).round();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        millis(times[at as usize])
    };
    let each = |time: Duration| millis(time) / one.nodes as f64;
    println!("\n{} nodes, {} plugins of {FUNCTIONS} functions", one.nodes, PLUGINS.len());
    println!("  all started at once, until the last has its set   {:>8.0} ms", millis(one.set));
    println!(
        "  and until the edge has what all of them list      {:>8.0} ms",
        millis(one.reported)
    );
    println!(
        "  approval to the last node   p50 {:>6.0} ms   max {:>6.0} ms",
        nth(&one.approved, 0.5),
        nth(&one.approved, 1.0)
    );
    println!(
        "  the same bytes alone        p50 {:>6.0} ms   max {:>6.0} ms   {:.1} times",
        nth(&one.floor, 0.5),
        nth(&one.floor, 1.0),
        nth(&one.approved, 0.5) / nth(&one.floor, 0.5)
    );
    println!(
        "  processor time of the edge for a node: {:.2} ms of work, {:.3} ms in {} s left alone",
        each(one.working),
        each(one.quiet),
        QUIET.as_secs()
    );
    println!(
        "  resident with all polls waiting {:.1} MiB, at most {:.1} MiB",
        one.resident as f64 / 1024.0,
        one.peak as f64 / 1024.0
    );
}

/// What a plugin's functions say of themselves.
fn functions(plugin: &str, round: usize) -> BTreeMap<String, String> {
    (0..FUNCTIONS)
        .map(|number| {
            let round = if number == 0 { round } else { 0 };
            let text = format!("Does what function {number} of {plugin} does, as of {round}. ");
            (format!("f{number}"), text.repeat(6))
        })
        .collect()
}

/// The hash of a function that says this, as simulated servers list it.
fn accepts(function: &FunctionId, text: &str) -> oz0_listing::ListingHash {
    let raw = serde_json::json!({
        "name": function.function(),
        "description": text,
        "annotations": {"readOnlyHint": true},
        "inputSchema": {"type": "object"},
    });
    Listing::read(&raw.to_string(), &[]).unwrap().hash()
}

async fn measure(nodes: usize) -> Measured {
    let edges = Edges::start();
    let admin = edges.admin();
    edges.install();
    let anyone = Client::tcp(&edges.urls()[0]).unwrap();
    let members = oz0_swarm::join(&admin, &anyone, "node", nodes).await.unwrap();
    let world = World::default();
    let tool = |plugin: &str| ToolId::try_from(plugin).unwrap();
    for plugin in PLUGINS {
        world.list(&tool(plugin), functions(plugin, 0));
    }
    let floor = Floor::lay(nodes).await;
    let before = edges.processor_time();

    let began = Instant::now();
    let swarm = Swarm::start(&members, &edges.urls(), &world).unwrap();
    swarm.all(PATIENCE, |view| view.plugins.len() == PLUGINS.len()).await.unwrap();
    let set = began.elapsed();
    let told = |swarm: &Swarm, what: BTreeMap<String, String>| {
        let nodes: Vec<_> = swarm.nodes().iter().map(oz0_swarm::Node::views).collect();
        async move {
            for mut node in nodes {
                let told = node.wait_for(|view| {
                    view.told.len() == PLUGINS.len()
                        && view.told.values().any(|told| told.texts == what)
                });
                tokio::time::timeout(PATIENCE, told).await.unwrap().unwrap();
            }
        }
    };
    told(&swarm, functions(PLUGINS[0], 0)).await;
    let reported = began.elapsed();
    println!("{nodes} nodes have their set after {set:?}, and have reported after {reported:?}");

    let function: FunctionId = format!("{}.f0", PLUGINS[0]).parse().unwrap();
    let name = PLUGINS[0].parse().unwrap();
    let (mut approved, mut floors) = (Vec::new(), Vec::new());
    let rounds = std::env::var("OZ0_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    for round in 1..=rounds {
        let listed = functions(PLUGINS[0], round);
        let hash = accepts(&function, &listed["f0"]);
        world.list(&tool(PLUGINS[0]), listed.clone());
        told(&swarm, listed).await;
        let changes = admin.changes(&name).await.unwrap().changes;
        assert_eq!(changes.len(), 1, "{changes:?}");
        assert_eq!(changes[0].nodes.len(), nodes, "every node sees it");
        let approve = Approve { changes: vec![changes[0].id.clone()] };
        let function = function.clone();
        let began = Instant::now();
        assert_eq!(admin.approve(&name, &approve).await.unwrap().approved.len(), 1);
        for node in swarm.nodes() {
            let mut views = node.views();
            let accepts = views.wait_for(|view| view.accepts_hash(&function, hash));
            tokio::time::timeout(PATIENCE, accepts).await.unwrap().unwrap();
        }
        approved.push(began.elapsed());
        println!("approved, and everywhere after {:?}", began.elapsed());
        floors.push(floor.measure().await);
    }
    let working = edges.processor_time() - before;
    let before = edges.processor_time();
    tokio::time::sleep(QUIET).await;
    Measured {
        nodes,
        set,
        reported,
        approved,
        floor: floors,
        working,
        quiet: edges.processor_time() - before,
        resident: edges.memory("VmRSS:"),
        peak: edges.memory("VmHWM:"),
    }
}
