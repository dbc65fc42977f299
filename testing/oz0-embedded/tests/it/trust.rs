//! What is trusted, and that nothing else becomes so by being seen.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use oz0_api::Client as Edge;
use oz0_api::credential::Sensitive;
use oz0_api::plugin::FunctionState;
use oz0_node::{Event, Node, NodeLimits, NodeOptions, Parts};
use oz0_server::{Environments, Launcher, TierChoice};
use serde_json::json;

use crate::house::{Caller, House, Plugin, changed, eventually, every_call, function, program};

#[tokio::test(flavor = "multi_thread")]
async fn without_the_edges_plugin_set_there_is_no_call_and_no_function() {
    let house = House::new().await;
    let cache = house.folder.path().join("cache");
    let parts = Parts {
        edge: Edge::unix(&house.folder.path().join("no.sock")),
        launcher: Launcher::new(program(), &cache, TierChoice::Best).unwrap(),
        environments: Environments::new(program(), &cache, Arc::new(|_| {})),
    };
    let limits = NodeLimits { patience: Duration::from_millis(300), ..NodeLimits::default() };
    let settle = Duration::from_millis(300);
    let node = Node::start(parts, NodeOptions { limits, settle, ..NodeOptions::default() });
    let caller = Caller::of(&node).await;
    assert!(caller.names().await.is_empty());
    let text = caller.refusal("team__hello").await.unwrap();
    assert!(text.contains("this node has no plugin set from its edge"), "{text}");
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_goes_on_without_its_edge_for_as_long_as_it_may_and_not_longer() {
    let house = House::new().await;
    let plugin = Plugin::of_functions(&house, "team", &[&function("hello", "Greets.")]);
    house.install(&plugin).await;
    let options = NodeOptions { edge_grace: Duration::from_secs(2), ..NodeOptions::default() };
    let node = house.node("node-1", options).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("team__hello").await, None);
    house.lose_edge();
    assert_eq!(caller.refusal("team__hello").await, None);
    eventually("it is refused", async || caller.refusal("team__hello").await.is_some()).await;
    let text = caller.refusal("team__hello").await.unwrap();
    assert!(text.contains("has not reached its edge for longer"), "{text}");
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_is_removed_is_called_no_more_and_comes_back_under_its_snapshot() {
    let house = House::new().await;
    let plugin = Plugin::of_functions(&house, "team", &[&function("hello", "Greets.")]);
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("team__hello").await, None);
    house.admin.remove(&"team".parse().unwrap()).await.unwrap();
    eventually("nobody knows it", async || {
        caller.refusal("team__hello").await == Some("-32602: Unknown tool: team__hello".to_owned())
    })
    .await;
    assert!(caller.names().await.is_empty());
    plugin.list("team", &[&function("hello", "Evil.")]);
    house.install(&plugin).await;
    eventually("it is back, and refused", async || {
        caller.refusal("team__hello").await == Some(changed("team.hello", "team"))
    })
    .await;
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_gets_the_secrets_it_declares_and_does_not_start_without_one() {
    let house = House::new().await;
    let more = "requires:\n  secrets: [TEAM_KEY]\n  optional_secrets: [TEAM_OTHER]\n";
    let says = r#"{"name":"hello","description":"${env:TEAM_KEY}${env:TEAM_OTHER}","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}"#;
    let plugin = Plugin::new(&house, "team", &[("team", json!({}))], more);
    plugin.list("team", &[says]);
    house.install(&plugin).await;
    let node = house.node("node-1", NodeOptions::default()).await;
    let caller = Caller::of(&node).await;
    eventually("it says what is missing", async || {
        assert!(caller.refusal("team__hello").await.is_some());
        let events = house.events.lock().unwrap();
        events.iter().any(|event| event.to_string().contains("it needs the secret TEAM_KEY"))
    })
    .await;
    node.shutdown().await;
    let secrets = BTreeMap::from([("TEAM_KEY".to_owned(), Sensitive::new("k"))]);
    let node = house.node("node-1", NodeOptions { secrets, ..NodeOptions::default() }).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("team__hello").await, None);
    let listed = caller.client.list_functions().await.unwrap();
    assert!(listed.functions[0].get().contains(r#""description":"k""#), "{listed:?}");
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_whose_token_is_revoked_calls_nothing_from_then_on_and_says_why() {
    let house = House::new().await;
    let plugin = Plugin::of_functions(&house, "team", &[&function("hello", "Greets.")]);
    house.install(&plugin).await;
    let node = house.node("node-1", NodeOptions::default()).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("team__hello").await, None);
    let tokens = house.admin.tokens().await.unwrap().tokens;
    let token = tokens.iter().find(|token| token.name.as_str() == "node-1").unwrap();
    house.admin.revoke_token(&token.id).await.unwrap();
    // Long before the hour for which a lost edge would be waited for.
    eventually("it is refused", async || caller.refusal("team__hello").await.is_some()).await;
    assert_eq!(
        caller.refusal("team__hello").await.unwrap(),
        "team.hello is not called: this node's edge does not know it as one of its nodes any more: the token is \
         unknown or was revoked"
    );
    assert!(caller.names().await.is_empty());
    let told = |event: &Event| matches!(event, Event::Dismissed { .. });
    assert_eq!(house.events.lock().unwrap().iter().filter(|event| told(event)).count(), 1);
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_that_was_there_for_a_moment_is_told() {
    let house = House::new().await;
    let (hello, evil) = (function("hello", "Greets."), function("hello", "Evil."));
    // It says so at once: the call that met the other text waits for the next listing, and goes through.
    let flip = json!({"on": {"tools/list": [
        {"from": 2, "to": 2, "steps": [{"functions": [evil]},
            {"notify": {"method": "notifications/tools/list_changed"}}]},
        {"from": 3, "to": 3, "steps": [{"functions": [hello]}]}]}, "functions": [hello]});
    let plugin = Plugin::new(&house, "team", &[("team", flip)], "");
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    node.settled(Duration::from_secs(20)).await;
    assert_eq!(caller.refusal("team__hello").await, None);
    eventually("it is in the log", async || {
        house.audit("plugin.tools.changed").await.len() == 1
            && house.audit("plugin.tools.reverted").await.len() == 1
    })
    .await;
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn functions_of_two_tools_with_one_model_name_are_neither_listed_nor_called() {
    let house = House::new().await;
    let tools = [("a", json!({})), ("a__b", json!({}))];
    let plugin = Plugin::new(&house, "team", &tools, "");
    plugin.list("a", &[&function("b__c", "One."), &function("free", "Free.")]);
    plugin.list("a__b", &[&function("c", "Two.")]);
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    node.settled(Duration::from_secs(20)).await;
    assert_eq!(caller.names().await, ["a__free"]);
    let text = caller.refusal("a__b__c").await.unwrap();
    assert!(text.contains("is left out of its tool's listing"), "{text}");
    let status = house.admin.plugin(&"team".parse().unwrap()).await.unwrap();
    let left_out = |state: &FunctionState| matches!(state, FunctionState::LeftOut { .. });
    let twins = status.functions.iter().filter(|function| left_out(&function.state));
    assert_eq!(twins.count(), 2, "{:?}", status.functions);
    node.shutdown().await;
}
