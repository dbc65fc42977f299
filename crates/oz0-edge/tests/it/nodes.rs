//! The poll: deltas, resets, and what is served.

use std::path::Path;
use std::time::{Duration, Instant};

use oz0_api::node::{Poll, PollQuery};
use oz0_api::plugin::{FunctionState, Override};
use oz0_api::token::{CreateToken, TokenKind};
use oz0_listing::Listing;
use serde_json::json;
use tempfile::TempDir;

use crate::house::{House, complete, dev, digest, hash, listed, plugin, refused, tell};

fn at(poll: &Poll) -> PollQuery {
    PollQuery {
        edge: Some(poll.edge.clone()),
        plugins: poll.plugins.revision,
        decisions: poll.decisions.revision,
        head: poll.head.clone(),
        wait: Some(0),
        ..PollQuery::default()
    }
}

fn start() -> PollQuery {
    PollQuery { wait: Some(0), ..PollQuery::default() }
}

#[tokio::test]
async fn a_poll_carries_what_changed_and_only_that() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let empty = node.poll(&start()).await.unwrap();
    assert!(empty.plugins.changed.is_empty() && !empty.reset, "a new node learns that it has none");

    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    let first = node.poll(&at(&empty)).await.unwrap();
    assert_eq!(first.plugins.changed[0].description.as_ref(), Some(&team));
    assert!(first.decisions.changed.is_empty());

    tell(&node, &team, "team", &[("hello", "Hello."), ("bye", "Bye.")]).await;
    let second = node.poll(&at(&first)).await.unwrap();
    assert!(second.plugins.changed.is_empty());
    assert_eq!(second.decisions.changed.len(), 2);

    tell(&node, &team, "team", &[("hello", "Other."), ("bye", "Bye.")]).await;
    let third = node.poll(&at(&second)).await.unwrap();
    assert!(third.decisions.changed.is_empty(), "a change that waits decides nothing");
    house.approve_all("team").await;
    let fourth = node.poll(&at(&third)).await.unwrap();
    let decision = &fourth.decisions.changed;
    assert_eq!(decision.len(), 1);
    assert_eq!(decision[0].accepted.len(), 1, "the old text is dropped");
    assert!(decision[0].accepted[0].served.as_ref().unwrap().get().contains("Other."));

    house.admin.remove(&team.name).await.unwrap();
    let fifth = node.poll(&at(&fourth)).await.unwrap();
    assert!(fifth.plugins.changed[0].description.is_none());
    assert!(node.poll(&start()).await.unwrap().plugins.changed.is_empty());
}

#[tokio::test]
async fn a_poll_wakes_at_an_approval() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    tell(&node, &team, "team", &[("hello", "Hello.")]).await;
    tell(&node, &team, "team", &[("hello", "Other.")]).await;
    let now = node.poll(&start()).await.unwrap();
    let waiting = tokio::spawn({
        let (node, mut query) = (node.clone(), at(&now));
        query.wait = Some(20);
        async move { (node.poll(&query).await.unwrap(), Instant::now()) }
    });
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert!(!waiting.is_finished());
    let approved = Instant::now();
    house.approve_all("team").await;
    let (poll, woken) = waiting.await.unwrap();
    assert_eq!(poll.decisions.changed.len(), 1);
    assert!(woken - approved < Duration::from_secs(2), "{:?}", woken - approved);
}

#[tokio::test]
async fn a_node_of_another_history_is_told_to_forget() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    let poll = node.poll(&start()).await.unwrap();

    let mut ahead = at(&poll);
    ahead.decisions.0 += 1000;
    let answer = node.poll(&ahead).await.unwrap();
    assert!(answer.reset);
    assert_eq!(answer.plugins.changed.len(), 1);

    let mut foreign = at(&poll);
    foreign.edge = Some("00000000000000000000000000000000".parse().unwrap());
    assert!(node.poll(&foreign).await.unwrap().reset);
    assert!(!node.poll(&at(&poll)).await.unwrap().reset);
}

#[tokio::test]
async fn a_restored_store_that_came_further_by_another_way_tells_a_node_to_forget() {
    let house = House::new().await;
    let create =
        CreateToken { kind: TokenKind::Node, name: "node-1".parse().unwrap(), may_approve: false };
    let token = house.admin.create_token(&create).await.unwrap().secret;
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    tell(&house.local.with_token(&token), &team, "team", &[("hello", "Hello.")]).await;
    let folder = house.end().await;
    let copy = TempDir::new().unwrap();
    copy_all(folder.path(), copy.path());

    let house = House::open(folder).await;
    let node = house.local.with_token(&token);
    tell(&node, &team, "team", &[("hello", "Other.")]).await;
    house.approve_all("team").await;
    let lost = node.poll(&start()).await.unwrap();
    let accepted = |poll: &Poll| poll.decisions.changed[0].accepted[0].hash;
    assert_eq!(accepted(&lost), hash("hello", "Other."));
    house.end().await;

    let house = House::open(copy).await;
    let node = house.local.with_token(&token);
    let mut revision = lost.decisions.revision;
    for version in 1..6 {
        house.install(&plugin("other", &format!("1.0.{version}"), &["other"])).await;
        revision = node.poll(&start()).await.unwrap().decisions.revision;
    }
    assert!(revision > lost.decisions.revision, "it came further: {revision:?}");
    let answer = node.poll(&at(&lost)).await.unwrap();
    assert!(answer.reset, "{answer:?}");
    assert_eq!(accepted(&answer), hash("hello", "Hello."));
    assert!(!node.poll(&at(&answer)).await.unwrap().reset);
}

fn copy_all(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&to).unwrap();
            copy_all(&entry.path(), &to);
        } else if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[tokio::test]
async fn a_node_comes_as_far_as_its_edge_also_where_nothing_is_its_own() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let poll = node.poll(&start()).await.unwrap();
    let waiting = tokio::spawn({
        let (node, query) = (node.clone(), PollQuery { wait: Some(20), ..at(&poll) });
        async move { node.poll(&query).await.unwrap() }
    });
    // One that comes and goes between two polls is nobody's any more.
    house.install(&plugin("team", "1.0.0", &["team"])).await;
    let came = waiting.await.unwrap();
    assert!(came.decisions.revision > poll.decisions.revision);
    let again = node.poll(&at(&came)).await.unwrap();
    assert_eq!(again.decisions.revision, came.decisions.revision);
}

#[tokio::test]
async fn what_is_served_is_the_snapshot_with_the_overrides_over_it_escaped() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let mut team = dev(plugin("team", "1.0.0", &["team"]));
    let tool = team.tools.values_mut().next().unwrap();
    let hints = json!({"readOnlyHint": false, "title": "Hid\u{200b}den"});
    tool.overrides.insert(
        "hello".to_owned(),
        Override {
            annotations: Some(hints.as_object().unwrap().clone()),
            output_schema: Some(json!({"type": "object"})),
            ai_label: None,
        },
    );
    house.install(&team).await;
    let raw = json!({
        "name": "hello", "description": "Hello.", "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": true, "openWorldHint": false},
        "outputSchema": {"type": "string"},
    });
    let listing = Listing::read(&raw.to_string(), &[]).unwrap();
    node.report(&complete(&team, "team", vec![listed("team", &listing)], Vec::new()))
        .await
        .unwrap();

    let catalog = house.local.catalog().await.unwrap();
    let accepted = &catalog.functions[0].accepted[0];
    assert_eq!(accepted.hash, listing.hash(), "overrides are not hashed");
    assert_eq!(accepted.snapshot.get(), listing.canonical());
    let served: serde_json::Value =
        serde_json::from_str(accepted.served.as_ref().unwrap().get()).unwrap();
    assert_eq!(
        served["annotations"],
        json!({"readOnlyHint": false, "openWorldHint": false, "title": "Hid\\u{200B}den"})
    );
    assert_eq!(served["outputSchema"], json!({"type": "object"}));
    let poll = node.poll(&start()).await.unwrap();
    let decided = &poll.decisions.changed[0].accepted[0];
    assert_eq!(decided.served.as_ref().unwrap().get(), accepted.served.as_ref().unwrap().get());

    // Another override of the same snapshot: nodes are told, and nothing waits.
    let mut edited = team.clone();
    edited.digest = digest("edited");
    edited.tools.values_mut().next().unwrap().overrides.clear();
    house.install(&edited).await;
    assert!(house.waiting("team").await.is_empty());
    let told = node.poll(&at(&poll)).await.unwrap();
    let decided = &told.decisions.changed[0].accepted[0];
    assert_eq!(decided.served.as_ref().unwrap().get(), listing.canonical());
}

#[tokio::test]
async fn a_function_that_only_a_dead_node_listed_is_not_said_to_be_callable() {
    let house = House::forgetful(Duration::from_millis(200)).await;
    let node = house.node("node-1").await;
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    tell(&node, &team, "team", &[("hello", "Hello.")]).await;
    tokio::time::sleep(Duration::from_millis(250)).await;
    assert_eq!(house.states().await["team.hello"], FunctionState::NotListed);
    let nodes = house.local.nodes().await.unwrap();
    assert_eq!(nodes.len(), 1);
    assert!(!nodes[0].live);
}

#[tokio::test]
async fn a_poll_that_waits_ends_when_its_token_is_revoked() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let first = node.poll(&start()).await.unwrap();
    let query = PollQuery { wait: Some(30), ..at(&first) };
    let token = house.admin.tokens().await.unwrap().tokens;
    let token = token.iter().find(|token| token.name.as_str() == "node-1").unwrap();
    let began = Instant::now();
    let (polled, _) = tokio::join!(node.poll(&query), house.admin.revoke_token(&token.id));
    assert_eq!(refused(polled), oz0_api::Code::Unauthenticated);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[tokio::test]
async fn what_a_node_says_of_its_sandbox_is_shown_escaped() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let first = node.poll(&start()).await.unwrap();
    let status = house.local.nodes().await.unwrap().remove(0);
    assert_eq!((status.tier, status.reason), (None, None));
    let reason = Some("no user\u{1b}[2J namespaces".to_owned());
    node.poll(&PollQuery { tier: Some(0), reason, ..at(&first) }).await.unwrap();
    // A poll that says nothing of it takes nothing back.
    node.poll(&at(&first)).await.unwrap();
    let status = house.local.nodes().await.unwrap().remove(0);
    assert_eq!(status.tier, Some(0));
    assert_eq!(status.reason.as_deref(), Some("no user\\u{1B}[2J namespaces"));
}

/// What a node saw that does not come back waits for nobody.
#[tokio::test]
async fn a_node_whose_token_is_revoked_leaves_nothing_open() {
    let house = House::new().await;
    let (paris, berlin) = (house.node("paris").await, house.node("berlin").await);
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    let listed = [("hello", "Hello."), ("bye", "Bye.")];
    tell(&berlin, &team, "team", &listed).await;
    tell(&paris, &team, "team", &listed).await;
    tell(&paris, &team, "team", &[("hello", "Send keys."), ("bye", "Bye."), ("spy", "Spy.")]).await;
    tell(&berlin, &team, "team", &[("hello", "Hello."), ("bye", "Good bye.")]).await;
    assert_eq!(
        house.waiting("team").await,
        ["team.bye changed berlin", "team.hello changed paris", "team.spy new paris"]
    );
    let tokens = house.admin.tokens().await.unwrap();
    let token = tokens.tokens.iter().find(|token| token.name.as_str() == "paris").unwrap();
    house.admin.revoke_token(&token.id).await.unwrap();
    assert_eq!(house.waiting("team").await, ["team.bye changed berlin"]);
    assert_eq!(house.count("plugin.tools.reverted").await, 1);
    let status = house.admin.plugin(&team.name).await.unwrap();
    let nodes: Vec<_> = status.tools[0].nodes.iter().map(|on| on.node.as_str()).collect();
    assert_eq!(nodes, ["berlin"]);
    let nodes = house.admin.nodes().await.unwrap();
    assert!(nodes.iter().all(|node| node.node.as_str() != "paris"), "{nodes:?}");

    // One of that name that joins later is compared with what is accepted, as any other.
    let paris = house.node("paris").await;
    tell(&paris, &team, "team", &[("hello", "Send keys."), ("bye", "Bye.")]).await;
    assert_eq!(
        house.waiting("team").await,
        ["team.bye changed berlin", "team.hello changed paris"]
    );
    assert!(house.local.verify_audit().await.unwrap().faults.is_empty());
}
