//! Approval: bound to what was looked at, and what it does where nodes list differently.

use std::time::Duration;

use oz0_api::change::Approve;
use oz0_api::node::Verdict;
use oz0_api::plugin::FunctionState;
use oz0_api::{ChangeId, Code};
use oz0_listing::FunctionId;

use crate::house::{House, hash, plugin, refused, tell};

fn hello() -> FunctionId {
    "team.hello".parse().unwrap()
}

#[tokio::test]
async fn an_approval_takes_the_named_changes_and_the_old_text_is_a_change_then() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    tell(&node, &team, "team", &[("hello", "Hello."), ("bye", "Bye.")]).await;
    tell(&node, &team, "team", &[("hello", "Hello!"), ("bye", "Bye!")]).await;
    let changes = house.changes("team").await;
    let wanted = changes.iter().find(|c| c.function == Some(hello())).unwrap();
    let answer = house.approve("team", std::slice::from_ref(&wanted.id)).await;
    assert_eq!(answer.approved[0].function, Some(hello()));
    assert!(answer.stale.is_empty());
    assert_eq!(house.states().await["team.hello"], FunctionState::Callable);
    assert_eq!(house.waiting("team").await, ["team.bye changed node-1"]);

    let log = house.log().await;
    let entry = log.iter().find(|entry| entry.action == "plugin.tools.approve").unwrap();
    assert_eq!(entry.actor, "token:admin");
    assert_eq!(entry.subject.functions[&hello()], Some(hash("hello", "Hello!").to_string()));
    assert_eq!(entry.subject.detail["change"], wanted.id.to_string());
    assert!(log.iter().any(|entry| entry.action == "plugin.tools.drop"
        && entry.subject.functions[&hello()] == Some(hash("hello", "Hello.").to_string())));

    let verdicts = tell(&node, &team, "team", &[("hello", "Hello."), ("bye", "Bye!")]).await;
    assert!(matches!(verdicts.functions[&hello()], Verdict::Waiting { .. }), "{verdicts:?}");
}

#[tokio::test]
async fn an_approval_says_which_ids_were_stale_and_does_the_rest() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let team = plugin("team", "1.0.0", &["team"]);
    let other = plugin("other", "1.0.0", &["other"]);
    house.install(&team).await;
    house.install(&other).await;
    tell(&node, &team, "team", &[("hello", "Hello."), ("bye", "Bye.")]).await;
    tell(&node, &other, "other", &[("it", "It.")]).await;
    tell(&node, &team, "team", &[("hello", "One."), ("bye", "One.")]).await;
    tell(&node, &other, "other", &[("it", "That.")]).await;
    let looked_at: Vec<ChangeId> =
        house.changes("team").await.into_iter().map(|change| change.id).collect();
    let foreign = house.changes("other").await[0].id.clone();
    tell(&node, &team, "team", &[("hello", "Two."), ("bye", "One.")]).await;

    let unknown = ChangeId::over(&["nothing"]);
    let mut ids = looked_at.clone();
    ids.extend([foreign.clone(), unknown.clone()]);
    let answer = house.approve("team", &ids).await;
    assert_eq!(answer.approved.len(), 1);
    assert_eq!(answer.approved[0].function, Some("team.bye".parse().unwrap()));
    let mut stale = vec![looked_at[1].clone(), foreign, unknown];
    stale.sort();
    assert_eq!(answer.stale, stale);
    assert_eq!(house.waiting("other").await, ["other.it changed node-1"]);
    // Once approved, an ID is stale as well.
    assert_eq!(house.approve("team", &looked_at).await.approved.len(), 0);
}

#[tokio::test]
async fn only_a_person_with_an_admin_token_approves() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    tell(&node, &team, "team", &[("hello", "Hello.")]).await;
    tell(&node, &team, "team", &[("hello", "Other.")]).await;
    let approve = Approve { changes: vec![house.changes("team").await[0].id.clone()] };
    let client = house
        .admin
        .create_token(&oz0_api::token::CreateToken {
            kind: oz0_api::token::TokenKind::Client,
            name: "agent".parse().unwrap(),
            may_approve: true,
        })
        .await
        .unwrap();
    let client = house.local.with_token(&client.secret);
    for who in [&house.local, &node, &client] {
        assert_eq!(refused(who.approve(&team.name, &approve).await), Code::Forbidden);
        assert_eq!(refused(who.install(&team).await), Code::Forbidden);
        assert_eq!(refused(who.remove(&team.name).await), Code::Forbidden);
    }
    assert_eq!(house.waiting("team").await, ["team.hello changed node-1"]);
    assert_eq!(house.count("plugin.tools.approve").await, 0);
}

#[tokio::test]
async fn where_nodes_list_differently_each_keeps_its_accepted_listing() {
    let house = House::new().await;
    let (one, two) = (house.node("node-1").await, house.node("node-2").await);
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    tell(&one, &team, "team", &[("hello", "On Linux.")]).await;
    tell(&two, &team, "team", &[("hello", "On macOS.")]).await;
    assert_eq!(house.waiting("team").await, ["team.hello changed node-2"]);
    house.approve_all("team").await;
    for (node, text) in [(&one, "On Linux."), (&two, "On macOS.")] {
        let verdicts = tell(node, &team, "team", &[("hello", text)]).await;
        assert_eq!(verdicts.functions[&hello()], Verdict::Accepted);
    }
    let catalog = house.local.catalog().await.unwrap();
    assert_eq!(catalog.functions[0].accepted.len(), 2);

    // The first node moves on to the other accepted one: nobody lists the old one any more.
    tell(&one, &team, "team", &[("hello", "On macOS.")]).await;
    assert_eq!(house.local.catalog().await.unwrap().functions[0].accepted.len(), 1);
    tell(&two, &team, "team", &[("hello", "On Linux.")]).await;
    assert_eq!(house.waiting("team").await, ["team.hello changed node-2"]);
}

#[tokio::test]
async fn one_approval_can_take_two_listings_of_one_function() {
    let house = House::new().await;
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    let mut nodes = Vec::new();
    for (number, text) in ["One.", "Two.", "Three."].into_iter().enumerate() {
        let node = house.node(&format!("node-{number}")).await;
        tell(&node, &team, "team", &[("hello", text)]).await;
        nodes.push((node, text));
    }
    assert_eq!(house.approve_all("team").await.approved.len(), 2);
    for (node, text) in &nodes {
        let verdicts = tell(node, &team, "team", &[("hello", text)]).await;
        assert_eq!(verdicts.functions[&hello()], Verdict::Accepted, "{text}");
    }
    assert_eq!(house.local.catalog().await.unwrap().functions[0].accepted.len(), 3);
    assert!(house.local.verify_audit().await.unwrap().faults.is_empty());
}

#[tokio::test]
async fn a_node_that_is_away_drops_nothing_by_being_away() {
    let house = House::forgetful(Duration::from_millis(500)).await;
    let (one, two) = (house.node("node-1").await, house.node("node-2").await);
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    tell(&one, &team, "team", &[("hello", "Old.")]).await;
    tell(&two, &team, "team", &[("hello", "New.")]).await;
    // The first node is gone when the second one's text is approved.
    tokio::time::sleep(Duration::from_millis(700)).await;
    tell(&two, &team, "team", &[("hello", "New.")]).await;
    house.approve_all("team").await;
    assert_eq!(house.local.catalog().await.unwrap().functions[0].accepted.len(), 2);
    let verdicts = tell(&one, &team, "team", &[("hello", "Old.")]).await;
    assert_eq!(verdicts.functions[&hello()], Verdict::Accepted);
}

#[tokio::test]
async fn a_removal_on_one_node_leaves_the_function_on_the_other() {
    let house = House::new().await;
    let (one, two) = (house.node("node-1").await, house.node("node-2").await);
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    tell(&one, &team, "team", &[("hello", "Hello."), ("bye", "Bye.")]).await;
    tell(&two, &team, "team", &[("hello", "Hello.")]).await;
    assert_eq!(house.waiting("team").await, ["team.bye gone node-2"]);
    house.approve_all("team").await;
    let verdicts = tell(&one, &team, "team", &[("hello", "Hello."), ("bye", "Bye.")]).await;
    assert_eq!(verdicts.functions[&"team.bye".parse().unwrap()], Verdict::Accepted);
    assert_eq!(house.states().await["team.bye"], FunctionState::Callable);
    // Gone on both: now it is gone, and back it is new.
    tell(&one, &team, "team", &[("hello", "Hello.")]).await;
    tell(&two, &team, "team", &[("hello", "Hello."), ("bye", "Bye.")]).await;
    assert_eq!(house.waiting("team").await, ["team.bye new node-2"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_approval_that_races_with_a_new_listing_accepts_what_was_looked_at_or_nothing() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    tell(&node, &team, "team", &[("hello", "Start.")]).await;
    for round in 0..20 {
        let (shown, hidden) = (format!("Shown {round}."), format!("Hidden {round}."));
        tell(&node, &team, "team", &[("hello", &shown)]).await;
        let ids = [house.changes("team").await[0].id.clone()];
        let functions = [("hello", hidden.as_str())];
        let (answer, _) =
            tokio::join!(house.approve("team", &ids), tell(&node, &team, "team", &functions));
        assert_eq!(answer.approved.len() + answer.stale.len(), 1);
        let catalog = house.local.catalog().await.unwrap();
        let accepted = &catalog.functions[0].accepted;
        assert!(accepted.iter().all(|one| one.hash != hash("hello", &hidden)));
        assert_eq!(catalog.functions[0].state, FunctionState::Waiting);
    }
    assert!(house.local.verify_audit().await.unwrap().faults.is_empty());
}
