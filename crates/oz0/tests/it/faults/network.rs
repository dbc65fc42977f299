//! What lies between a node and its edge: cut in one direction or both, silent, slow.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use oz0_api::policy::Action;
use oz0_mcp::Client;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::fleet::{Fleet, client, eventually, greet, refused};

/// What becomes of the bytes that go one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Open,
    /// They wait, as those on a wire that is cut for a while.
    Cut,
    /// They go in small pieces, each so much later.
    Slow(Duration),
}

/// A wire to the edge.
pub(super) struct Wire {
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    to_edge: watch::Sender<Way>,
    to_node: watch::Sender<Way>,
    /// Connections of an earlier life are open at both ends, and nothing goes over them any more.
    life: watch::Sender<u64>,
}

impl Wire {
    /// To whoever listens there.
    fn to(listen: &str) -> Self {
        Self::to_any(&[listen.to_owned()])
    }

    /// To the first of these who takes a connection, each connection beginning with the next one.
    pub(super) fn to_any(listen: &[String]) -> Self {
        let state = Arc::new(State {
            to_edge: watch::Sender::new(Way::Open),
            to_node: watch::Sender::new(Way::Open),
            life: watch::Sender::new(0),
        });
        let mut targets: Vec<SocketAddr> =
            listen.iter().map(|listen| listen.parse().expect("an address")).collect();
        let (sender, address) = std::sync::mpsc::channel();
        let wires = Arc::clone(&state);
        // Its own thread: what a test does in between must not hold it up.
        thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("one");
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
                sender.send(listener.local_addr().expect("it has one")).expect("it is waited for");
                while let Ok((near, _)) = listener.accept().await {
                    let wires = Arc::clone(&wires);
                    targets.rotate_left(1);
                    let targets = targets.clone();
                    tokio::spawn(async move {
                        let Ok(far) = TcpStream::connect(&targets[..]).await else { return };
                        Box::pin(wires.join(near, far)).await;
                    });
                }
            });
        });
        Self { address: address.recv().expect("it listens"), state }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn set(&self, to_edge: Way, to_node: Way) {
        self.state.to_edge.send_replace(to_edge);
        self.state.to_node.send_replace(to_node);
    }

    /// Lets go of every connection and tells neither end.
    fn forget(&self) {
        self.state.life.send_modify(|life| *life += 1);
    }
}

impl State {
    async fn join(&self, near: TcpStream, far: TcpStream) {
        let (mut life, born) = (self.life.subscribe(), *self.life.borrow());
        let (from_node, to_node) = near.into_split();
        let (from_edge, to_edge) = far.into_split();
        let carried = async {
            tokio::join!(
                carry(from_node, to_edge, self.to_edge.subscribe()),
                carry(from_edge, to_node, self.to_node.subscribe()),
            )
        };
        tokio::pin!(carried);
        tokio::select! {
            _ = &mut carried => return,
            _ = life.wait_for(|life| *life != born) => {}
        }
        // Neither end hears of anything, for as long as the test runs.
        std::future::pending::<()>().await;
    }
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut way: watch::Receiver<Way>) {
    let mut bytes = [0; 16 << 10];
    loop {
        let slow = match *way.borrow() {
            Way::Slow(later) => Some(later),
            Way::Open | Way::Cut => None,
        };
        let room = if slow.is_some() { 512 } else { bytes.len() };
        let Ok(read @ 1..) = from.read(&mut bytes[..room]).await else { break };
        if let Some(later) = slow {
            tokio::time::sleep(later).await;
        }
        if way.wait_for(|way| *way != Way::Cut).await.is_err() {
            return;
        }
        if to.write_all(&bytes[..read]).await.is_err() {
            break;
        }
    }
    let _ = way.wait_for(|way| *way != Way::Cut).await;
    let _ = to.shutdown().await;
}

/// Calls `team.greet` at the node itself; the refusal's text, or nothing where it went through.
async fn call(client: &Client, number: u64) -> Option<String> {
    let params = format!(r#"{{"name":"team__greet","arguments":{{"n":{number}}}}}"#);
    let params = RawValue::from_string(params).expect("JSON");
    match client.request("tools/call", &params).await {
        Ok(result) => {
            let value: Value = serde_json::from_str(result.get()).expect("JSON");
            let text = value["content"][0]["text"].as_str().unwrap_or_default();
            (value["isError"] == true).then(|| text.to_owned())
        }
        Err(error) => Some(error.to_string()),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_node_that_is_cut_off_goes_on_and_hears_of_everything_when_it_is_not() {
    let (fleet, _edge) = Fleet::new();
    let wire = Wire::to(&fleet.listen);
    fleet.machines.join("berlin", &wire.url());
    fleet.list("berlin", &[greet("Greets.")]);
    fleet.install("1.0.0");
    let berlin = fleet.node("berlin");
    fleet.callable("berlin").await;
    let claude = client(&berlin.mcp, &fleet.client_token("claude")).await;
    assert_eq!(call(&claude, 1).await, None);

    let cuts = [(Way::Cut, Way::Open), (Way::Open, Way::Cut), (Way::Cut, Way::Cut)];
    for (round, (to_edge, to_node)) in cuts.into_iter().enumerate() {
        let what = format!("to the edge {to_edge:?}, to the node {to_node:?}");
        wire.set(to_edge, to_node);
        // Also when the edge's last word on who the client is is old.
        let until = Instant::now() + Duration::from_secs(7);
        // More than there are calls in a round lie between the numbers of two rounds.
        let mut number = 1_000_000 * (u64::try_from(round).expect("few") + 1);
        while Instant::now() < until {
            number += 1;
            assert_eq!(call(&claude, number).await, None, "{what}");
        }
        // What changes meanwhile is refused, and no approval at the edge is heard of before the wire is whole.
        let text = format!("Greets, for the {round}. time.");
        fleet.list("berlin", &[greet(&text)]);
        let refusal = call(&claude, 99).await.expect("it lists itself differently");
        assert!(refusal.starts_with("team.greet lists itself differently"), "{what}: {refusal}");
        wire.set(Way::Open, Way::Open);
        let changes = fleet.waiting(1).await;
        fleet.approve(&changes).await.expect("it is what is listed");
        eventually(&format!("it is called again: {what}"), async || {
            call(&claude, 98).await.is_none()
        })
        .await;
    }
    // Each call was made once, whatever became of the wire.
    let made: Vec<u64> = fleet.made().iter().map(super::fleet::Made::number).collect();
    for number in made.iter().filter(|number| **number > 100) {
        let times = made.iter().filter(|other| *other == number).count();
        assert_eq!(times, 1, "call {number}");
    }
    fleet.log().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_node_without_its_edge_asks_nobody_and_stops_when_its_time_is_over() {
    let (fleet, edge) = Fleet::new();
    fleet.machines.join("berlin", &fleet.url());
    fleet.list("berlin", &[greet("Greets.")]);
    fleet.install("1.0.0");
    let berlin = fleet.node_with("berlin", &["--edge-grace", "3"]);
    fleet.callable("berlin").await;
    let claude = client(&berlin.mcp, &fleet.client_token("claude")).await;
    let rule = fleet.rule(Action::Ask).await.expect("it is set");
    eventually("the policy asks", async || {
        let call = call(&claude, 1);
        tokio::time::timeout(Duration::from_millis(500), call).await.is_err()
    })
    .await;
    eventually("who gave up took it back", async || {
        fleet.admin().approvals().await.expect("the edge answers").approvals.is_empty()
    })
    .await;
    edge.kill();
    let asked = Instant::now();
    let refusal = call(&claude, 2).await.expect("nobody is there to ask");
    let nobody = "team.greet is not called: a person is to be asked about it";
    assert!(refusal.starts_with(nobody), "{refusal}");
    assert!(asked.elapsed() < Duration::from_secs(6), "refused after {:?}", asked.elapsed());
    let edge = fleet.edge();
    fleet.admin().unset_rule(&rule.id).await.expect("it is there");
    eventually("it is called", async || call(&claude, 3).await.is_none()).await;
    edge.kill();
    assert_eq!(call(&claude, 4).await, None, "it goes on with what it holds");
    eventually("its time is over", async || call(&claude, 5).await.is_some()).await;
    let _edge = fleet.edge();
    eventually("it is called", async || call(&claude, 6).await.is_none()).await;
    fleet.log().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_slow_wire_is_only_slow() {
    let (fleet, _edge) = Fleet::new();
    let wire = Wire::to(&fleet.listen);
    fleet.machines.join("berlin", &wire.url());
    fleet.list("berlin", &[greet("Greets.")]);
    let berlin = fleet.node("berlin");
    wire.set(Way::Slow(Duration::from_millis(40)), Way::Slow(Duration::from_micros(200)));
    fleet.install("1.0.0");
    fleet.callable("berlin").await;
    fleet.list("berlin", &[greet("Greets anew.")]);
    fleet.refused("berlin", "team.greet lists itself differently").await;
    let changes = fleet.waiting(1).await;
    fleet.approve(&changes).await.expect("it is what is listed");
    fleet.callable("berlin").await;
    fleet.log().await;
    drop(berlin);
}

/// Takes as long as a node may wait for its edge's word: a minute.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "it takes minutes; docs/reliability.md has the command"]
async fn connections_that_are_half_open_are_given_up_and_no_call_is_made_twice() {
    let (fleet, _edge) = Fleet::new();
    let wire = Wire::to(&fleet.listen);
    fleet.machines.join("berlin", &wire.url());
    fleet.list("berlin", &[greet("Greets.")]);
    fleet.install("1.0.0");
    let _berlin = fleet.node("berlin");
    fleet.callable("berlin").await;
    for number in 1..4 {
        // Its poll waits at the edge over a connection that is not there any more: the call that is handed out there is
        // lost, and nobody runs it a second time on the strength of that.
        wire.forget();
        let call = fleet.try_call("berlin", number, Duration::from_secs(5)).await;
        if let Some(refusal) = refused(&call.expect("the edge answers")) {
            assert!(refusal.contains("did not"), "{refusal}");
        }
        let began = Instant::now();
        fleet.callable("berlin").await;
        println!("it was back after {:?}", began.elapsed());
    }
    let made = fleet.made();
    for number in 1..4 {
        let times = made.iter().filter(|made| made.number() == number).count();
        assert!(times <= 1, "call {number} was made {times} times");
    }
    fleet.log().await;
}
