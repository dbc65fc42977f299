//! A whole fleet: edges over one store, nodes with servers, and simulated nodes by the hundred or thousand; and what fails
//! under them at random.
//!
//! Every node lists the same function of the same plugin, and all of them the same text at a time. Again and again the text
//! changes, to one that nobody approves and then to one that somebody does, or another version is installed, while calls are
//! asked for all the time; and in the middle of each of these an edge is killed, or nodes are cut off. What everybody was told
//! is then held against what was done: the same laws as those of one node in `kills`, of all of them at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use oz0_api::call::Ask;
use oz0_api::change::{Approve, Change};
use oz0_api::{Client as Edge, ClientError, NodeName};
use oz0_listing::{FunctionId, Listing, ListingHash};
use oz0_swarm::{Swarm, View, World};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::task::JoinSet;

use super::fleet::{ANYWHERE, Fleet, Member, PATIENCE, eventually, greet, refused};
use super::network::{Way, Wire};
use crate::apart::said;
use crate::running::Running;

/// How big a run is.
struct Size {
    edges: usize,
    /// Where the edges keep what they share, as variables; one edge keeps it in its data folder.
    kept: Vec<(&'static str, String)>,
    real: usize,
    simulated: usize,
    faults: usize,
}

/// Numbers that look random, and are the same for the same seed.
struct Dice(u64);

impl Dice {
    /// One below `sides`.
    fn roll(&mut self, sides: usize) -> usize {
        // Marsaglia's xorshift64.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }

    fn millis(&mut self, most: usize) -> Duration {
        Duration::from_millis(u64::try_from(self.roll(most)).expect("few"))
    }
}

/// Who calls at once.
const CALLERS: usize = 8;

/// What a caller was told.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Told {
    Answer,
    Refusal(String),
    Nothing,
}

type Calls = Arc<Mutex<BTreeMap<u64, Told>>>;

/// Edges that are killed and started again where they were.
struct Edges {
    fleet: Arc<Fleet>,
    kept: Vec<(&'static str, String)>,
    running: Vec<(String, Option<Running>)>,
    token: String,
}

impl Edges {
    fn start(size: &Size) -> Self {
        let kept = size.kept.clone();
        let (fleet, first) = Fleet::with_edge(|command| {
            command.envs(kept.iter().cloned());
        });
        let data = fleet.machines.path("edge");
        let token = std::fs::read_to_string(data.join("admin.token")).expect("there is a token");
        let token = token.trim().to_owned();
        let mut running = vec![(fleet.listen.clone(), Some(first))];
        let mut edges = Self { fleet: Arc::new(fleet), kept, running: Vec::new(), token };
        for number in 1..size.edges {
            let edge = edges.run(number, ANYWHERE);
            let listen = said(&edge, "edge").trim_start_matches("http://").to_owned();
            running.push((listen, Some(edge)));
        }
        edges.running = running;
        edges
    }

    fn run(&self, number: usize, listen: &str) -> Running {
        let machine = if number == 0 { "edge".to_owned() } else { format!("edge-{number}") };
        let mut command =
            self.fleet.machines.oz0(&machine, &["edge", "--json", "--listen", listen]);
        command.envs(self.kept.iter().cloned());
        Running::start(&mut command)
    }

    fn kill(&mut self, number: usize) {
        self.running[number].1.take().expect("it runs").kill();
    }

    fn start_again(&mut self, number: usize) {
        let edge = self.run(number, &self.running[number].0);
        said(&edge, "edge");
        self.running[number].1 = Some(edge);
    }

    fn urls(&self) -> Vec<String> {
        self.running.iter().map(|(listen, _)| format!("http://{listen}")).collect()
    }

    /// Each edge, as its administrator.
    fn admins(&self) -> Vec<Edge> {
        let admin = |url: &String| Edge::tcp(url).expect("an address").with_token(&self.token);
        self.urls().iter().map(admin).collect()
    }
}

/// Asks one edge after the other until one answers.
async fn of_any<T>(
    admins: &[Edge],
    ask: impl AsyncFn(&Edge) -> Result<T, ClientError>,
) -> Result<T, ClientError> {
    let mut answer = ask(&admins[0]).await;
    for admin in &admins[1..] {
        if answer.is_ok() {
            break;
        }
        answer = ask(admin).await;
    }
    answer
}

fn function() -> FunctionId {
    "team.greet".parse().expect("a function")
}

/// Calls `team.greet` on one node after the other, for ever.
async fn keep_calling(
    admins: Vec<Edge>,
    nodes: Vec<NodeName>,
    told: Calls,
    next: Arc<AtomicU64>,
    mut at: usize,
) {
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        at += 1;
        let ask = Ask {
            function: function(),
            arguments: RawValue::from_string(json!({ "n": number }).to_string()).expect("JSON"),
            timeout_ms: Some(3_000),
            // One in eight goes to whichever node the edge chooses.
            node: (at % 8 != 0).then(|| nodes[at * 7 % nodes.len()].clone()),
        };
        let called = admins[at % admins.len()].call(&ask).await;
        let heard = match called {
            Ok(call) if call.result.is_some() => match refused(&call) {
                None => Told::Answer,
                Some(text) => Told::Refusal(text),
            },
            Ok(_) | Err(_) => Told::Nothing,
        };
        // Where nobody answers, another call would not be either.
        let pause = if heard == Told::Nothing { 100 } else { 10 };
        told.lock().expect("nobody panicked").insert(number, heard);
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
}

/// Does an operator's deed, again and again until it is done, whatever fails meanwhile.
async fn done(what: &str, mut deed: impl AsyncFnMut() -> Option<()>) {
    eventually(what, async || deed().await.is_some()).await;
}

/// What fails.
#[derive(Debug, Clone, Copy)]
enum Fault {
    Edge(usize),
    /// Every so many of the simulated nodes, and the nodes with servers whose numbers are such.
    Cut(usize),
}

#[expect(clippy::print_stdout, reason = "what the run came to is for people")]
async fn run(size: Size, seed: u64) {
    println!("seed {seed}: OZ0_SEED={seed} does it again");
    let mut dice = Dice(seed | 1);
    let mut edges = Edges::start(&size);
    let fleet = Arc::clone(&edges.fleet);
    let admins = edges.admins();
    let (world, tool) = (World::default(), function().tool());
    let real: Vec<String> = (0..size.real).map(|number| format!("real-{number}")).collect();
    let list = |text: &str| {
        world.list(&tool, BTreeMap::from([("greet".to_owned(), text.to_owned())]));
        for node in &real {
            fleet.list(node, &[greet(text)]);
        }
    };
    list("Text 0.");

    let listens: Vec<String> = edges.running.iter().map(|(listen, _)| listen.clone()).collect();
    let wires: Vec<Wire> = real.iter().map(|_| Wire::to_any(&listens)).collect();
    for (node, wire) in real.iter().zip(&wires) {
        fleet.machines.join(node, &wire.url());
    }
    let members = oz0_swarm::join(&admins[0], &admins[0], "simulated", size.simulated)
        .await
        .expect("every node joins");
    fleet.install("1.0.0");
    let running: Vec<Member> = real.iter().map(|node| fleet.node(node)).collect();
    let swarm = Swarm::start(&members, &edges.urls(), &world).expect("addresses");
    let mut approved = BTreeSet::from(["Text 0.".to_owned()]);
    converged(&swarm, &fleet, &real, &admins, "Text 0.").await;

    let (told, next) = (Calls::default(), Arc::new(AtomicU64::new(1)));
    let nodes = real.iter().map(|node| node.parse().expect("a name"));
    let nodes: Vec<NodeName> = nodes.chain(members.iter().map(|one| one.name.clone())).collect();
    let mut calling = JoinSet::new();
    for caller in 0..CALLERS {
        let (admins, nodes) = (admins.clone(), nodes.clone());
        let first = caller * nodes.len() / CALLERS;
        calling.spawn(keep_calling(admins, nodes, Arc::clone(&told), Arc::clone(&next), first));
    }

    let (mut version, mut text) = (0, 0);
    let began = Instant::now();
    for round in 0..size.faults {
        let fault = match dice.roll(3) {
            // The first is an edge, however short the run.
            _ if round == 0 => Fault::Edge(0),
            0 => Fault::Cut(2 + dice.roll(3)),
            _ => Fault::Edge(dice.roll(size.edges)),
        };
        let (after, lasts) = (dice.millis(1_000), dice.millis(1_500));
        // Every third time another version; its text is another one as well, and nobody has to approve it.
        let installs = round % 3 == 2;
        text += 1;
        let says = format!("Text {text}.");
        approved.insert(says.clone());
        if installs {
            version += 1;
        }
        let (admins, at_work) = (admins.clone(), Arc::clone(&fleet));
        let folder = fleet.plugin(&format!("1.0.{version}"));
        let never = format!("Sends your keys along, {text}.");
        let deed = async {
            // What nobody ever approves, for long enough that callers meet it.
            list(&never);
            done("it waits", async || waits(&admins, &never).await).await;
            list(&says);
            if installs {
                done("it is installed", async || {
                    let (fleet, folder) = (Arc::clone(&at_work), folder.clone());
                    let install = move || fleet.machines.install_with(&folder, &["--yes"]);
                    let said = tokio::task::spawn_blocking(install).await.expect("it runs");
                    (said.code == Some(0)).then_some(())
                })
                .await;
            }
            done("it is approved", async || approve(&admins, &says).await).await;
        };
        let failing = async {
            tokio::time::sleep(after).await;
            match fault {
                Fault::Edge(number) => {
                    edges.kill(number);
                    tokio::time::sleep(lasts).await;
                    edges.start_again(number);
                }
                Fault::Cut(each) => {
                    let set = |off: bool| {
                        swarm.cut(|number| number % each == 0, off);
                        let way = if off { Way::Cut } else { Way::Open };
                        for wire in wires.iter().step_by(each) {
                            wire.set(way, way);
                        }
                    };
                    set(true);
                    tokio::time::sleep(lasts).await;
                    set(false);
                }
            }
        };
        println!("{fault:?} after {after:?} for {lasts:?}");
        tokio::join!(deed, failing);
        let healed = Instant::now();
        converged(&swarm, &fleet, &real, &edges.admins(), &says).await;
        println!(
            "{fault:?} in {}, whole again in {:?}",
            if installs { "an install" } else { "an approval" },
            healed.elapsed()
        );
    }
    println!("{} faults in {:?}", size.faults, began.elapsed());

    calling.shutdown().await;
    let told = told.lock().expect("nobody panicked").clone();
    calls_are_what_was_told(&fleet, &world, &told, &approved);
    for node in swarm.nodes() {
        let view = node.view();
        assert_eq!(view.went_back, 0, "{} was told of an earlier state", node.name());
        assert_eq!(view.resets, 0, "{} was told to forget", node.name());
    }
    the_log_holds(&edges.admins()[0], version + 1, nodes.len()).await;
    drop(swarm);
    drop((running, edges));
    fleet.is_empty().await;
}

/// Whether this text waits to be approved.
async fn waits(admins: &[Edge], says: &str) -> Option<()> {
    let name = "team".parse().expect("a name");
    let changes = of_any(admins, async |edge| edge.changes(&name).await).await.ok()?.changes;
    changes.iter().any(|change| lists(change, says)).then_some(())
}

/// Whether this is what a change would accept.
fn lists(change: &Change, says: &str) -> bool {
    let listing = change.listed.as_ref().and_then(|shown| shown.listing.as_ref());
    listing.is_some_and(|listing| listing.get().contains(says))
}

/// Approves the text where it waits; nothing is left to do where it is accepted, and waits nowhere.
async fn approve(admins: &[Edge], says: &str) -> Option<()> {
    let name = "team".parse().expect("a name");
    let changes = of_any(admins, async |edge| edge.changes(&name).await).await.ok()?.changes;
    let of_it = changes.into_iter().filter(|change| lists(change, says));
    let changes: Vec<_> = of_it.map(|change| change.id).collect();
    if !changes.is_empty() {
        let approve = Approve { changes };
        let done = of_any(admins, async |edge| edge.approve(&name, &approve).await).await.ok()?;
        return done.stale.is_empty().then_some(());
    }
    let catalog = of_any(admins, async |edge| edge.catalog().await).await.ok()?;
    let mut accepted = catalog.functions.iter().flat_map(|function| &function.accepted);
    accepted.any(|accepted| accepted.hash == hash(says)).then_some(())
}

/// Waits until every node has come to this text, and calls it.
async fn converged(swarm: &Swarm, fleet: &Fleet, real: &[String], admins: &[Edge], says: &str) {
    let (function, hash, text) = (function(), hash(says), says.to_owned());
    let has_come = move |view: &View| {
        view.accepts_hash(&function, hash)
            && view.told.len() == 1
            && view.told.values().all(|told| told.texts["greet"] == text)
    };
    if let Err(late) = swarm.all(PATIENCE, has_come).await {
        panic!("{} nodes never came to {says}: {:?}", late.len(), &late[..late.len().min(5)]);
    }
    for node in real {
        eventually(&format!("{node} is called with {says}"), async || {
            let before = fleet.made().len();
            let ask = Ask {
                function: "team.greet".parse().expect("a function"),
                arguments: RawValue::from_string("{\"n\":0}".to_owned()).expect("JSON"),
                timeout_ms: Some(5_000),
                node: Some(node.parse().expect("a name")),
            };
            let called = of_any(admins, async |edge| edge.call(&ask).await).await;
            called.is_ok_and(|call| call.result.is_some() && refused(&call).is_none())
                && fleet.made()[before..].iter().any(|made| made.text() == says)
        })
        .await;
    }
}

fn hash(text: &str) -> ListingHash {
    Listing::read(&greet(text), &[]).expect("a listing").hash()
}

/// Every call is what its caller was told, and none was made under a text that nobody approved.
#[expect(clippy::print_stdout, reason = "what the run came to is for people")]
fn calls_are_what_was_told(
    fleet: &Fleet,
    world: &World,
    told: &BTreeMap<u64, Told>,
    approved: &BTreeSet<String>,
) {
    let mut times: BTreeMap<u64, u32> = BTreeMap::new();
    let real = fleet.made();
    let real = real.iter().map(|made| (made.number(), made.text().to_owned()));
    let simulated = world.made();
    let simulated = simulated
        .iter()
        .map(|made| (made.arguments["n"].as_u64().expect("calls are numbered"), made.text.clone()));
    for (number, text) in real.chain(simulated) {
        assert!(approved.contains(&text), "call {number} was made under {text}");
        *times.entry(number).or_default() += 1;
    }
    let mut counts = [0; 3];
    for (number, told) in told {
        let times = times.get(number).copied().unwrap_or(0);
        match told {
            Told::Answer => {
                counts[0] += 1;
                assert_eq!(times, 1, "call {number} was answered");
            }
            Told::Refusal(why) => {
                counts[1] += 1;
                assert_eq!(times, 0, "call {number} was refused: {why}");
            }
            Told::Nothing => {
                counts[2] += 1;
                assert!(times <= 1, "call {number} was made {times} times");
            }
        }
    }
    println!("calls answered, refused, unknown: {counts:?}");
    assert!(counts[0] > 20, "something was called: {counts:?}");
}

/// Every chain of the log verifies, each version has one snapshot, nothing was approved twice, and each node joined once.
async fn the_log_holds(admin: &Edge, versions: u32, nodes: usize) {
    let check = admin.verify_audit().await.expect("the edge answers");
    assert_eq!(check.faults, [], "the audit log's chains");
    let (mut snapshots, mut approvals, mut joined) = (0, BTreeSet::new(), BTreeSet::new());
    for entry in crate::support::audit_log(admin).await {
        match entry.action.as_str() {
            "plugin.tools.snapshot" => snapshots += 1,
            "plugin.tools.approve" => {
                let functions = serde_json::to_string(&entry.subject.functions).expect("JSON");
                let version = entry.subject.version.as_ref().map(ToString::to_string);
                assert!(approvals.insert((version, functions)), "approved twice: {entry:?}");
            }
            "node.join" => {
                let node = entry.subject.node.clone().expect("it is of a node");
                assert!(joined.insert(node), "joined twice: {entry:?}");
            }
            _ => {}
        }
    }
    assert_eq!(snapshots, versions, "one snapshot a version");
    assert_eq!(joined.len(), nodes, "every node is there");
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

fn seed() -> u64 {
    std::env::var("OZ0_SEED").map_or_else(
        |_| {
            let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            u64::try_from(since.expect("after 1970").as_nanos() & u128::from(u64::MAX))
                .expect("64 bits")
        },
        |text| text.parse().expect("a number"),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_fleet_whose_edge_is_killed_and_whose_nodes_are_cut_off_comes_to_one_state() {
    run(Size { edges: 1, kept: Vec::new(), real: 5, simulated: 100, faults: 3 }, seed()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "it takes minutes; docs/reliability.md has the command"]
async fn a_large_fleet_whose_edges_are_killed_at_random_comes_to_one_state() {
    let size = Size {
        edges: number("OZ0_EDGES", 1),
        // Given to the edges with everything else in the environment: `OZ0_STORE`, `OZ0_BUNDLES`.
        kept: Vec::new(),
        real: number("OZ0_REAL", 20),
        simulated: number("OZ0_SIMULATED", 2_000),
        faults: number("OZ0_FAULTS", 20),
    };
    run(size, seed()).await;
}
