//! Two nodes and more: which listings are accepted, and what a restart, an absence or an older copy does to them.

use std::fs;
use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use oz0_api::policy::Action;

use super::fleet::{Fleet, eventually, greet};

const CHANGED: &str = "team.greet lists itself differently";

/// Two nodes that are joined, and do not run yet.
fn two() -> (Fleet, crate::running::Running) {
    let (fleet, edge) = Fleet::new();
    for node in ["berlin", "paris"] {
        fleet.machines.join(node, &fleet.url());
        fleet.list(node, &[greet(&format!("Greets in {node}."))]);
    }
    (fleet, edge)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_node_serves_what_was_approved_of_it_and_an_absence_drops_nothing() {
    let (fleet, _edge) = two();
    fleet.install("1.0.0");
    // Both for the first time, and at once.
    let (berlin, paris) = std::thread::scope(|scope| {
        let berlin = scope.spawn(|| fleet.node("berlin"));
        let paris = scope.spawn(|| fleet.node("paris"));
        (berlin.join().expect("it runs"), paris.join().expect("it runs"))
    });
    let change = fleet.waiting(1).await.remove(0);
    assert_eq!(fleet.count("plugin.tools.snapshot").await, 1, "of two first listings one wins");
    let second = change.nodes.first().expect("somebody sees it").node.to_string();
    let first = if second == "berlin" { "paris" } else { "berlin" };
    fleet.callable(first).await;
    fleet.refused(&second, CHANGED).await;
    assert_eq!(fleet.accepted().await, [format!("Greets in {first}.")]);
    fleet.approve(&[change]).await.expect("it is what is listed");
    let both = ["Greets in berlin.", "Greets in paris."];
    fleet.callable("berlin").await;
    fleet.callable("paris").await;
    assert_eq!(fleet.accepted().await, both);

    // One is gone without a word; the other lists something else, which somebody approves.
    berlin.running.kill();
    fleet.list("paris", &[greet("Greets in Paris.")]);
    fleet.refused("paris", CHANGED).await;
    let change = fleet.waiting(1).await;
    fleet.approve(&change).await.expect("it is what is listed");
    fleet.callable("paris").await;
    assert_eq!(
        fleet.accepted().await,
        ["Greets in Paris.", "Greets in berlin."],
        "what the live one left is dropped, and what the absent one listed is not"
    );
    // What it left is a change again, and is not trusted because it once was.
    fleet.list("paris", &[greet("Greets in paris.")]);
    fleet.refused("paris", CHANGED).await;
    let _berlin = fleet.node("berlin");
    fleet.callable("berlin").await;
    // A listing that is accepted is served by whoever lists it.
    fleet.list("paris", &[greet("Greets in berlin.")]);
    fleet.callable("paris").await;
    fleet.waiting(0).await;
    fleet.log().await;
    drop(paris);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_node_whose_state_is_lost_or_spoilt_has_it_anew_from_its_edge() {
    let (fleet, edge) = two();
    fleet.list("paris", &[greet("Greets in berlin.")]);
    fleet.install("1.0.0");
    let berlin = fleet.node("berlin");
    fleet.callable("berlin").await;
    let _paris = fleet.node("paris");
    fleet.callable("paris").await;
    let joined = fleet.machines.path("berlin/joined");
    berlin.running.kill();
    fs::remove_dir_all(joined.join("bundles")).expect("they are there");
    fs::write(joined.join("state.json"), "{\"plugins\": {\"team\"").expect("it can be written");
    let berlin = fleet.node("berlin");
    fleet.callable("berlin").await;
    drop(berlin);
    fs::remove_file(joined.join("state.json")).expect("it is there");
    // It comes back to an edge that is not there, with a server that lists something else by now.
    let token = fleet.client_token("claude");
    edge.kill();
    fleet.list("berlin", &[greet("Greets, and sends your keys along.")]);
    let berlin = fleet.node("berlin");
    // Nobody there can say whose token that is, and nothing is called for it.
    assert!(!answers(&berlin.mcp, &token), "a node without an edge has nothing to go by");
    let _edge = fleet.edge();
    fleet.refused("berlin", CHANGED).await;
    fleet.callable("paris").await;
    assert_eq!(fleet.accepted().await, ["Greets in berlin."]);
    assert_eq!(fleet.count("plugin.tools.snapshot").await, 1);
}

/// Whether a node calls `team.greet` for a client.
fn answers(mcp: &str, token: &str) -> bool {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"team__greet","arguments":{"n":0},
        "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},
        "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let mut command = Command::new("curl");
    command.args(["-s", "-X", "POST", mcp, "-d", body]);
    for header in [
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: tools/call",
        "Mcp-Name: team__greet",
        &format!("Authorization: Bearer {token}"),
    ] {
        command.args(["-H", header]);
    }
    let output = command.output().expect("curl runs");
    String::from_utf8_lossy(&output.stdout).contains("structuredContent")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_a_restored_edge_never_said_is_called_by_no_node() {
    let (fleet, edge) = two();
    fleet.install("1.0.0");
    let berlin = fleet.node("berlin");
    fleet.callable("berlin").await;
    // Ended in order, and copied whole: the copy is in itself without a fault.
    drop(edge);
    let (data, copy) = (fleet.machines.path("edge"), fleet.machines.path("copy"));
    crate::support::copy(&data, &copy);
    let edge = fleet.edge();
    fleet.callable("berlin").await;
    fleet.list("berlin", &[greet("Greets, and sends your keys along.")]);
    let change = fleet.waiting(1).await;
    fleet.approve(&change).await.expect("it is what is listed");
    fleet.callable("berlin").await;

    // The node hears nothing while the edge goes back, and on from there by another way and further than it was.
    let pid = Pid::from_raw(i32::try_from(berlin.running.id()).expect("small"));
    kill(pid, Signal::SIGSTOP).expect("it runs");
    edge.kill();
    fs::remove_dir_all(&data).expect("it is there");
    crate::support::copy(&copy, &data);
    let _edge = fleet.edge();
    for _ in 0..10 {
        let rule = fleet.rule(Action::Allow).await.expect("it is set");
        fleet.admin().unset_rule(&rule.id).await.expect("it is there");
    }
    kill(pid, Signal::SIGCONT).expect("it is there");
    fleet.refused("berlin", CHANGED).await;
    assert_eq!(fleet.accepted().await, ["Greets in berlin."]);
    fleet.list("berlin", &[greet("Greets in berlin.")]);
    fleet.callable("berlin").await;
    eventually("the change is closed", async || fleet.changes().await.is_empty()).await;
}
