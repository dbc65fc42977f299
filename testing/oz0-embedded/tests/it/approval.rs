//! Pinned at first sight, refused when it changes, called again when it is approved.

use std::time::{Duration, Instant};

use oz0_node::NodeOptions;
use serde_json::json;

use crate::house::{Caller, House, Plugin, changed, eventually, every_call, function};

#[tokio::test(flavor = "multi_thread")]
async fn new_and_gone_functions_wait_and_a_removal_that_was_approved_comes_back_as_new() {
    let house = House::new().await;
    let (one, two) = (function("one", "1"), function("two", "2"));
    let plugin = Plugin::of_functions(&house, "team", &[&one]);
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("team__one").await, None);

    plugin.list("team", &[&one, &two]);
    let text = caller.refusal("team__two").await.unwrap();
    assert!(
        text.starts_with("team.two was not listed when its plugin's tools were approved"),
        "{text}"
    );
    assert_eq!(caller.refusal("team__one").await, None);
    assert_eq!(caller.names().await, ["team__one"]);
    house.approve("team").await;
    eventually("it is called", async || caller.refusal("team__two").await.is_none()).await;

    plugin.list("team", &[&two]);
    let text = caller.refusal("team__one").await.unwrap();
    assert!(text.starts_with("team.one is no longer listed by its server"), "{text}");
    house.wait_for_changes("team", 1).await;
    house.approve("team").await;
    eventually("nobody knows it", async || {
        caller.refusal("team__one").await.unwrap() == "-32602: Unknown tool: team__one"
    })
    .await;

    plugin.list("team", &[&one, &two]);
    let text = caller.refusal("team__one").await.unwrap();
    assert!(text.starts_with("team.one was not listed when"), "{text}");
    assert_eq!(caller.refusal("team__two").await, None);
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_approval_wakes_the_node_at_once() {
    let house = House::new().await;
    let plugin = Plugin::of_functions(&house, "team", &[&function("hello", "0")]);
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("team__hello").await, None);
    let mut took = Vec::new();
    for round in 1..=20 {
        plugin.list("team", &[&function("hello", &round.to_string())]);
        assert!(caller.refusal("team__hello").await.is_some());
        house.approve("team").await;
        let began = Instant::now();
        while caller.refusal("team__hello").await.is_some() {
            assert!(began.elapsed() < Duration::from_secs(2), "round {round}");
        }
        took.push(began.elapsed());
    }
    took.sort();
    println!("approve to accepted call: median {:?}, worst {:?}", took[10], took[19]);
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_does_not_load_leaves_what_runs_alone() {
    let mut house = House::new().await;
    let hello = function("hello", "Greets.");
    let plugin = Plugin::new(&house, "team", &[("team", json!({"functions": [hello]}))], "");
    house.keep(&plugin).await;
    let node = house.node("node-1", NodeOptions::default()).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("team__hello").await, None);
    let manifest = std::fs::read_to_string(plugin.root.join("oz0-plugin.yaml")).unwrap();
    plugin.write("oz0-plugin.yaml", "name: [\n");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(caller.refusal("team__hello").await, None);
    plugin.write("oz0-plugin.yaml", &manifest);
    plugin.script("team", json!({"functions": [function("hello", "Evil.")]}));
    house.wait_for_changes("team", 1).await;
    assert_eq!(caller.refusal("team__hello").await.unwrap(), changed("team.hello", "team"));
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_version_is_not_called_while_it_installs_and_gets_a_snapshot_of_its_own() {
    let house = House::new().await;
    let plugin = Plugin::of_functions(&house, "team", &[&function("hello", "Greets.")]);
    house.install(&plugin).await;
    let limits = oz0_node::NodeLimits {
        patience: Duration::from_millis(300),
        ..oz0_node::NodeLimits::default()
    };
    let node = house.node("node-1", NodeOptions { limits, ..every_call() }).await;
    node.settled(Duration::from_secs(20)).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("team__hello").await, None);

    let manifest = std::fs::read_to_string(plugin.root.join("oz0-plugin.yaml")).unwrap();
    plugin.write("oz0-plugin.yaml", &manifest.replace("version: 1.0.0", "version: 2.0.0"));
    plugin.script("team", json!({"on": {"start": [{"steps": [{"delay_ms": 6000}]}]}}));
    house.install(&plugin).await;
    eventually("it installs", async || {
        let text = caller.refusal("team__hello").await.unwrap_or_default();
        text == "team.hello is not called: its plugin's version 2.0.0 is installing on this node"
    })
    .await;
    eventually("it is called", async || caller.refusal("team__hello").await.is_none()).await;
    assert_eq!(house.audit("plugin.tools.snapshot").await.len(), 2);
    assert!(house.changes("team").await.is_empty());
    node.shutdown().await;
}
