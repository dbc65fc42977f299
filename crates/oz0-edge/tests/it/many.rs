//! Many nodes at once: what is shared between them is each one's own all the same.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use oz0_api::call::{Ask, CallState, JobResult};
use oz0_api::node::{Poll, PollQuery};
use oz0_api::{Client, Code};
use serde_json::value::RawValue;

use crate::house::{House, plugin, refused, tell};

fn at(poll: &Poll, wait: u64) -> PollQuery {
    PollQuery {
        edge: Some(poll.edge.clone()),
        plugins: poll.plugins.revision,
        decisions: poll.decisions.revision,
        policy: poll.policy.as_ref().map_or(poll.decisions.revision, |policy| policy.revision),
        head: poll.head.clone(),
        wait: Some(wait),
        jobs: true,
        ..PollQuery::default()
    }
}

fn start() -> PollQuery {
    PollQuery { wait: Some(0), ..PollQuery::default() }
}

async fn nodes(house: &House, count: usize) -> Vec<Client> {
    let mut nodes = Vec::new();
    for number in 0..count {
        nodes.push(house.node(&format!("node-{number}")).await);
    }
    nodes
}

#[tokio::test]
async fn nodes_that_come_at_once_have_joined_once_each() {
    let house = House::new().await;
    let nodes = nodes(&house, 60).await;
    let query = start();
    for answer in join_all(nodes.iter().map(|node| node.poll(&query))).await {
        answer.unwrap();
    }
    let joined = house.log().await.into_iter().filter(|entry| entry.action == "node.join");
    let joined: Vec<(String, String)> =
        joined.map(|entry| (entry.actor, entry.subject.node.unwrap().to_string())).collect();
    assert_eq!(joined.len(), 60);
    assert_eq!(joined.iter().collect::<BTreeSet<_>>().len(), 60);
    assert!(joined.iter().all(|(actor, node)| *actor == format!("node:{node}")), "{joined:?}");
    assert!(house.admin.verify_audit().await.unwrap().faults.is_empty());
}

#[tokio::test]
async fn a_poll_is_answered_by_how_far_its_node_has_come_and_not_by_who_asked_before() {
    let house = House::new().await;
    let [ahead, behind, new] = nodes(&house, 3).await.try_into().unwrap();
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    let early = behind.poll(&start()).await.unwrap();
    tell(&ahead, &team, "team", &[("hello", "Hello."), ("bye", "Bye.")]).await;
    let later = ahead.poll(&start()).await.unwrap();
    tell(&ahead, &team, "team", &[("hello", "Other."), ("bye", "Bye.")]).await;
    house.approve_all("team").await;
    let changed = |poll: &Poll| {
        let decisions = poll.decisions.changed.iter();
        let decisions: Vec<_> = decisions.map(|one| one.function.to_string()).collect();
        (poll.plugins.changed.len(), decisions)
    };
    let all = vec!["team.bye".to_owned(), "team.hello".to_owned()];
    for _ in 0..2 {
        let last = ahead.poll(&at(&later, 0)).await.unwrap();
        assert_eq!(changed(&last), (0, vec!["team.hello".to_owned()]));
        assert_eq!(changed(&behind.poll(&at(&early, 0)).await.unwrap()), (0, all.clone()));
        assert_eq!(changed(&new.poll(&start()).await.unwrap()), (1, all.clone()));
        assert_eq!(changed(&ahead.poll(&at(&last, 0)).await.unwrap()), (0, Vec::new()));
    }
}

#[tokio::test]
async fn a_call_goes_to_its_node_alone_and_a_revoked_token_ends_its_own_poll_alone() {
    let house = House::new().await;
    let nodes = nodes(&house, 8).await;
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    let mut held = Vec::new();
    for node in &nodes {
        tell(node, &team, "team", &[("hello", "Hello.")]).await;
    }
    for node in &nodes {
        held.push(node.poll(&start()).await.unwrap());
    }
    let polling: Vec<_> = nodes
        .iter()
        .zip(&held)
        .map(|(node, held)| {
            let (node, query) = (node.clone(), at(held, 20));
            tokio::spawn(async move { node.poll(&query).await })
        })
        .collect();
    let ask = Ask {
        function: "team.hello".parse().unwrap(),
        arguments: RawValue::from_string("{}".to_owned()).unwrap(),
        timeout_ms: Some(20_000),
        node: Some("node-3".parse().unwrap()),
    };
    let asked = tokio::spawn({
        let local = house.local.clone();
        async move { local.call(&ask).await.unwrap() }
    });
    let mut polling: BTreeMap<usize, _> = polling.into_iter().enumerate().collect();
    let called = polling.remove(&3).unwrap().await.unwrap().unwrap();
    assert_eq!(called.jobs.len(), 1);
    let result = RawValue::from_string(r#"{"content": []}"#.to_owned()).unwrap();
    nodes[3].answer(&called.jobs[0].id, &JobResult::Result(result)).await.unwrap();
    assert_eq!(asked.await.unwrap().state, CallState::Done);

    let tokens = house.admin.tokens().await.unwrap().tokens;
    let token = tokens.iter().find(|token| token.name.as_str() == "node-5").unwrap();
    house.admin.revoke_token(&token.id).await.unwrap();
    assert_eq!(refused(polling.remove(&5).unwrap().await.unwrap()), Code::Unauthenticated);
    for (number, poll) in polling {
        assert!(!poll.is_finished(), "node-{number} was told of nothing that concerns it");
        poll.abort();
    }
}

#[tokio::test]
async fn a_hash_is_dropped_when_the_last_of_many_nodes_has_left_it() {
    let house = House::new().await;
    let nodes = nodes(&house, 20).await;
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    for node in &nodes {
        tell(node, &team, "team", &[("hello", "Hello."), ("bye", "Bye.")]).await;
        node.poll(&start()).await.unwrap();
    }
    let accepted = async || {
        let catalog = house.local.catalog().await.unwrap();
        catalog.functions.iter().map(|function| function.accepted.len()).collect::<Vec<_>>()
    };
    tell(&nodes[0], &team, "team", &[("hello", "Other."), ("bye", "Bye.")]).await;
    house.approve_all("team").await;
    for node in &nodes[1..] {
        assert_eq!(accepted().await, [1, 2], "somebody still lists the old one");
        let told = tell(node, &team, "team", &[("hello", "Other."), ("bye", "Bye.")]).await;
        assert!(house.changes("team").await.is_empty(), "{told:?}");
    }
    assert_eq!(accepted().await, [1, 1]);

    // Nor while some of those who listed it list what nobody accepted.
    for node in &nodes {
        tell(node, &team, "team", &[("hello", "Fourth."), ("bye", "Bye.")]).await;
    }
    tell(&nodes[0], &team, "team", &[("hello", "Fifth."), ("bye", "Bye.")]).await;
    let fifth = house.changes("team").await.into_iter().find(|change| change.nodes.len() == 1);
    house.approve("team", &[fifth.unwrap().id]).await;
    for node in &nodes[1..] {
        assert_eq!(accepted().await, [1, 2], "somebody who listed the old one lists what waits");
        tell(node, &team, "team", &[("hello", "Fifth."), ("bye", "Bye.")]).await;
    }
    assert_eq!(accepted().await, [1, 1]);
    assert!(house.changes("team").await.is_empty());
    for node in &nodes {
        tell(node, &team, "team", &[("hello", "Other."), ("bye", "Bye.")]).await;
    }
    house.approve_all("team").await;
    assert_eq!(accepted().await, [1, 1]);

    // One that goes back is a change of its own again, others join it, and the last to leave it closes it.
    for node in &nodes[..3] {
        tell(node, &team, "team", &[("hello", "Hello."), ("bye", "Bye.")]).await;
    }
    assert_eq!(house.waiting("team").await, ["team.hello changed node-0,node-1,node-2"]);
    tell(&nodes[1], &team, "team", &[("hello", "Third."), ("bye", "Bye.")]).await;
    tell(&nodes[0], &team, "team", &[("hello", "Other."), ("bye", "Bye.")]).await;
    let waiting: BTreeSet<String> = house.waiting("team").await.into_iter().collect();
    let expected = ["team.hello changed node-1", "team.hello changed node-2"];
    assert_eq!(waiting, expected.map(str::to_owned).into());
    for node in &nodes[1..3] {
        tell(node, &team, "team", &[("hello", "Other."), ("bye", "Bye.")]).await;
    }
    assert!(house.changes("team").await.is_empty());
    assert_eq!(house.count("plugin.tools.reverted").await, 3);
    assert!(house.admin.verify_audit().await.unwrap().faults.is_empty());
}
