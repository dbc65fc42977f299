//! An edge, a node and its server killed at every step of what they do, while a client calls all the time.
//!
//! What each step came to is held against what everybody was told: an answer belongs to one call that was made, a refusal
//! to none, and where nobody knows, it was made once at most. No call was made under a listing that nobody approved, and
//! what was acknowledged is there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use oz0_api::policy::Action;
use oz0_mcp::Client;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::watch;

use super::fleet::{Fleet, Member, PATIENCE, client, eventually, greet};
use crate::running::Running;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Edge,
    Node,
    Server,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// A version is installed, and listed for the first time.
    Install,
    /// A server lists something else.
    Change,
    /// Somebody approves that.
    Approve,
    /// A rule is set by which a person is asked, a call is approved, and the rule is taken away.
    Policy,
}

const VICTIMS: [Victim; 3] = [Victim::Edge, Victim::Node, Victim::Server];
const STEPS: [Step; 4] = [Step::Install, Step::Change, Step::Approve, Step::Policy];

/// What a caller was told of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Told {
    Answer,
    Refusal(String),
    Nothing,
}

/// What is killed, and what happened.
struct Model {
    fleet: Arc<Fleet>,
    edge: Option<Running>,
    node: Option<Member>,
    mcp: watch::Sender<String>,
    told: Arc<Mutex<BTreeMap<u64, Told>>>,
    /// Texts that a snapshot had, or that somebody tried to approve.
    approved: BTreeSet<String>,
    /// The last that was acknowledged as accepted.
    accepted: Option<String>,
    version: u32,
    text: u32,
    /// Numbers of calls through the edge.
    asked: u64,
}

impl Model {
    fn new() -> (Self, tokio::task::JoinHandle<()>) {
        let (fleet, edge) = Fleet::new();
        fleet.machines.join("berlin", &fleet.url());
        fleet.list("berlin", &[greet("Text 0.")]);
        let node = fleet.node("berlin");
        let token = fleet.client_token("claude");
        let (mcp, at) = watch::channel(node.mcp.clone());
        let told = Arc::default();
        let calling = tokio::spawn(keep_calling(at, token, Arc::clone(&told)));
        let model = Self {
            fleet: Arc::new(fleet),
            edge: Some(edge),
            node: Some(node),
            mcp,
            told,
            approved: BTreeSet::from(["Text 0.".to_owned()]),
            accepted: None,
            version: 0,
            text: 0,
            asked: 1_000_000,
        };
        (model, calling)
    }

    /// Kills it, and starts it again where nobody else does.
    fn kill(&mut self, victim: Victim) {
        match victim {
            Victim::Edge => {
                self.edge.take().expect("it runs").kill();
                self.edge = Some(self.fleet.edge());
            }
            Victim::Node => {
                self.node.take().expect("it runs").running.kill();
                let node = self.fleet.node("berlin");
                self.mcp.send_replace(node.mcp.clone());
                self.node = Some(node);
            }
            Victim::Server => {
                for server in self.fleet.servers() {
                    let pid = Pid::from_raw(i32::try_from(server).expect("small"));
                    // It may have ended by itself since.
                    let _ = kill(pid, Signal::SIGKILL);
                }
            }
        }
    }

    /// Does a step to its end, whatever is killed meanwhile: each try may fail, and the next one finds how far it came.
    async fn step(&mut self, step: Step, victim: Option<(Victim, Duration)>) -> Duration {
        self.prepare(step);
        let began = Instant::now();
        let doing = tokio::spawn(do_it(
            Arc::clone(&self.fleet),
            step,
            self.version,
            self.text,
            self.asked + 1,
        ));
        if let Some((victim, after)) = victim {
            tokio::time::sleep(after).await;
            self.kill(victim);
        }
        let asked = doing.await.unwrap_or_else(|error| panic!("{step:?}, {victim:?}: {error}"));
        self.told.lock().expect("nobody panicked").extend(asked.iter().cloned());
        self.asked += u64::try_from(asked.len()).expect("few");
        let took = began.elapsed();
        if matches!(step, Step::Install | Step::Approve) {
            self.accepted = Some(format!("Text {}.", self.text));
        }
        self.check(&format!("{step:?}, {victim:?}")).await;
        took
    }

    fn prepare(&mut self, step: Step) {
        match step {
            Step::Install => self.version += 1,
            Step::Change => {
                self.text += 1;
                self.fleet.list("berlin", &[greet(&format!("Text {}.", self.text))]);
            }
            Step::Approve => {
                self.approved.insert(format!("Text {}.", self.text));
            }
            Step::Policy => {}
        }
    }

    /// What was acknowledged is there, and what waits is not called.
    async fn check(&mut self, what: &str) {
        if let Some(accepted) = &self.accepted {
            assert_eq!(self.fleet.accepted().await, std::slice::from_ref(accepted), "{what}");
        }
        self.fleet.log().await;
        let what = format!("one server is left: {what}");
        eventually(&what, async || self.fleet.servers().len() <= 1).await;
    }

    #[expect(clippy::print_stdout, reason = "what the long run came to is for people")]
    /// Every call is what its caller was told, and no listing but an approved one was called.
    async fn end(mut self, calling: tokio::task::JoinHandle<()>) {
        calling.abort();
        let _ = calling.await;
        let fleet = &self.fleet;
        for made in fleet.made() {
            assert!(self.approved.contains(made.text()), "{made:?} was called, and never approved");
        }
        let mut times: BTreeMap<u64, u32> = BTreeMap::new();
        for made in fleet.made() {
            *times.entry(made.number()).or_default() += 1;
        }
        let told = self.told.lock().expect("nobody panicked").clone();
        let mut counts = [0; 3];
        for (number, told) in &told {
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
        let log = fleet.log().await;
        let mut snapshots = BTreeSet::new();
        let mut approvals = BTreeSet::new();
        for entry in &log {
            match entry.action.as_str() {
                "plugin.tools.snapshot" => {
                    let version = entry.subject.version.clone().expect("it is of a version");
                    assert!(snapshots.insert(version.to_string()), "a second snapshot: {entry:?}");
                }
                "plugin.tools.approve" => {
                    let functions = serde_json::to_string(&entry.subject.functions).expect("JSON");
                    let version = entry.subject.version.as_ref().map(ToString::to_string);
                    assert!(approvals.insert((version, functions)), "approved twice: {entry:?}");
                }
                _ => {}
            }
        }
        assert_eq!(snapshots.len(), self.version as usize);
        drop((self.node.take(), self.edge.take()));
        self.fleet.is_empty().await;
    }
}

/// Calls `team.greet` at the node, one call after the other, for ever.
async fn keep_calling(
    mut at: watch::Receiver<String>,
    token: String,
    told: Arc<Mutex<BTreeMap<u64, Told>>>,
) {
    let mut number = 0;
    loop {
        let mcp = at.borrow_and_update().clone();
        // A node that was killed meanwhile is somewhere else by then.
        let client = tokio::select! {
            client = client(&mcp, &token) => client,
            _ = at.changed() => continue,
        };
        loop {
            number += 1;
            let called = call(&client, number).await;
            let lost = called == Told::Nothing;
            told.lock().expect("nobody panicked").insert(number, called);
            if lost {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn call(client: &Client, number: u64) -> Told {
    let params = format!(r#"{{"name":"team__greet","arguments":{{"n":{number}}}}}"#);
    let params = RawValue::from_string(params).expect("JSON");
    // Nobody is there to approve the one that a rule asks about.
    let within = Duration::from_secs(1);
    let called = client.request_within("tools/call", &params, within).await;
    let Ok(result) = called else { return Told::Nothing };
    let value: Value = serde_json::from_str(result.get()).expect("JSON");
    if value["isError"] == true {
        let text = value["content"][0]["text"].as_str().unwrap_or_default();
        return Told::Refusal(text.to_owned());
    }
    assert_eq!(value["structuredContent"]["arguments"]["n"], number, "the answer of another call");
    Told::Answer
}

/// Does a step, again and again until it is done; and what came of the calls that it made.
async fn do_it(
    fleet: Arc<Fleet>,
    step: Step,
    version: u32,
    text: u32,
    number: u64,
) -> Vec<(u64, Told)> {
    let text = format!("Text {text}.");
    let mut asked = Vec::new();
    let until = Instant::now() + PATIENCE;
    loop {
        let number = number + u64::try_from(asked.len()).expect("few");
        if tried(&fleet, step, version, &text, number, &mut asked).await.is_some() {
            return asked;
        }
        assert!(Instant::now() < until, "{step:?} is never done");
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

/// Tries it once; nothing where it is not done.
async fn tried(
    fleet: &Fleet,
    step: Step,
    version: u32,
    text: &str,
    number: u64,
    asked: &mut Vec<(u64, Told)>,
) -> Option<()> {
    let name = "team".parse().expect("a name");
    match step {
        Step::Install => {
            let folder = fleet.plugin(&format!("1.0.{version}"));
            // Blocks, while others go on.
            let said =
                tokio::task::block_in_place(|| fleet.machines.install_with(&folder, &["--yes"]));
            (said.code == Some(0)).then_some(())?;
            let accepted = || async {
                let catalog = fleet.admin().catalog().await.ok()?;
                let function = catalog.functions.iter().find(|one| one.id.function() == "greet")?;
                (function.version.to_string() == format!("1.0.{version}")
                    && !function.accepted.is_empty())
                .then_some(())
            };
            let until = Instant::now() + PATIENCE;
            while accepted().await.is_none() {
                assert!(Instant::now() < until, "no snapshot is ever taken");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Some(())
        }
        Step::Change => {
            let changes = fleet.admin().changes(&name).await.ok()?.changes;
            changes.iter().any(|change| lists(change, text)).then_some(())
        }
        Step::Approve => {
            let changes = fleet.admin().changes(&name).await.ok()?.changes;
            let of_it: Vec<_> = changes.into_iter().filter(|change| lists(change, text)).collect();
            if of_it.is_empty() {
                // An earlier try was heard, and its answer was lost.
                let catalog = fleet.admin().catalog().await.ok()?;
                let catalog = serde_json::to_string(&catalog).expect("JSON");
                return catalog.contains(text).then_some(());
            }
            fleet.approve(&of_it).await.ok()
        }
        Step::Policy => {
            fleet.rule(Action::Ask).await.ok()?;
            let call = fleet.try_call("berlin", number, Duration::from_secs(10));
            let approving = async {
                loop {
                    if let Ok(waiting) = fleet.admin().approvals().await {
                        let sign = format!("\"n\": {number}");
                        let ours =
                            waiting.approvals.iter().find(|one| one.arguments.contains(&sign));
                        if let Some(ours) = ours {
                            let decide = oz0_api::approval::Decide::default();
                            let _ = fleet.admin().approve_call(&ours.id, &decide).await;
                        }
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            };
            let called = tokio::select! {
                called = call => called,
                () = approving => unreachable!("it never ends"),
            };
            let told = match called {
                Ok(call) if call.result.is_some() => match super::fleet::refused(&call) {
                    None => Told::Answer,
                    Some(text) => Told::Refusal(text),
                },
                _ => Told::Nothing,
            };
            asked.push((number, told.clone()));
            let rules = fleet.admin().policy().await.ok()?.rules;
            for rule in rules {
                fleet.admin().unset_rule(&rule.id).await.ok()?;
            }
            (told == Told::Answer).then_some(())
        }
    }
}

/// Whether this is what a change would accept.
fn lists(change: &oz0_api::change::Change, text: &str) -> bool {
    let listing = change.listed.as_ref().and_then(|shown| shown.listing.as_ref());
    listing.is_some_and(|listing| listing.get().contains(text))
}

#[expect(clippy::print_stdout, reason = "what the long run came to is for people")]
/// Kills each of them at so many points of each step.
async fn kills(points: u32) {
    let (mut model, calling) = Model::new();
    let mut took = Vec::new();
    for step in STEPS {
        took.push(model.step(step, None).await);
    }
    println!("the steps take {took:?}");
    for point in 0..points {
        for victim in VICTIMS {
            for (step, took) in STEPS.into_iter().zip(&took) {
                // From its first moment to a little past its last.
                let after = took.mul_f64(1.1 * f64::from(2 * point + 1) / f64::from(2 * points));
                model.step(step, Some((victim, after))).await;
                if step == Step::Approve {
                    model.never_approved().await;
                }
            }
        }
    }
    model.end(calling).await;
}

impl Model {
    /// Lists what nobody ever approves, for long enough that the caller meets it.
    async fn never_approved(&self) {
        self.fleet.list("berlin", &[greet("Greets, and sends your keys along.")]);
        self.fleet.refused("berlin", "team.greet lists itself differently").await;
        self.fleet.list("berlin", &[greet(&format!("Text {}.", self.text))]);
        self.fleet.callable("berlin").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn kills_at_the_middle_of_each_step_lose_nothing_and_double_nothing() {
    kills(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "it takes minutes; docs/reliability.md has the command"]
async fn kills_at_many_points_of_each_step_lose_nothing_and_double_nothing() {
    kills(std::env::var("OZ0_KILLS").map_or(12, |points| points.parse().expect("a number"))).await;
}
