//! Asked calls: run at most once, and an end in any case.

use std::time::Duration;

use oz0_api::call::{Ask, CallState, JobResult};
use oz0_api::node::PollQuery;
use oz0_api::{Client, Code, Problem};
use serde_json::value::RawValue;

use crate::house::{House, plugin, refused, tell};

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn ask(timeout_ms: u64) -> Ask {
    Ask {
        function: "team.hello".parse().unwrap(),
        arguments: raw(r#"{"name": 1.50}"#),
        timeout_ms: Some(timeout_ms),
        node: None,
    }
}

fn jobs(wait: u64) -> PollQuery {
    PollQuery { jobs: true, wait: Some(wait), ..PollQuery::default() }
}

async fn ready() -> (House, Client) {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    tell(&node, &team, "team", &[("hello", "Hello.")]).await;
    (house, node)
}

#[tokio::test]
async fn a_call_reaches_a_node_and_its_answer_comes_back_byte_for_byte() {
    let (house, node) = ready().await;
    let answer = r#"{"content":[{"type":"text","text":"hi"}],"structuredContent":{"n":1.50}}"#;
    let worker = tokio::spawn(async move {
        let now = node.poll(&PollQuery { jobs: false, ..jobs(0) }).await.unwrap();
        let query = PollQuery {
            edge: Some(now.edge),
            plugins: now.plugins.revision,
            decisions: now.decisions.revision,
            ..jobs(10)
        };
        let poll = node.poll(&query).await.unwrap();
        let job = &poll.jobs[0];
        assert_eq!(job.arguments.get(), r#"{"name": 1.50}"#);
        assert!(job.timeout_ms > 0 && job.timeout_ms <= 10_000);
        node.answer(&job.id, &JobResult::Result(raw(answer))).await.unwrap();
        let twice = node.answer(&job.id, &JobResult::Result(raw("{}"))).await;
        assert_eq!(refused(twice), Code::Stale);
        node
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    let call = house.local.call(&ask(10_000)).await.unwrap();
    assert_eq!(call.state, CallState::Done);
    assert_eq!(call.result.unwrap().get(), answer);
    let node = worker.await.unwrap();
    assert!(node.poll(&jobs(0)).await.unwrap().jobs.is_empty());
    let entry = house.log().await.into_iter().find(|entry| entry.action == "call.ask").unwrap();
    assert_eq!(entry.actor, "local");
    let hash = entry.subject.functions[&"team.hello".parse().unwrap()].as_ref();
    assert_eq!(hash, Some(&crate::house::hash("hello", "Hello.").to_string()), "what is accepted");
    assert!(!serde_json::to_string(&entry).unwrap().contains("1.50"), "arguments are not logged");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_job_is_handed_out_once_however_many_polls_race_for_it() {
    let (house, node) = ready().await;
    let mut ids = Vec::new();
    for _ in 0..10 {
        ids.push(house.local.ask(&ask(10_000)).await.unwrap().id);
    }
    let mut polls = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let node = node.clone();
        polls.spawn(async move { node.poll(&jobs(0)).await.unwrap().jobs });
    }
    let mut taken: Vec<_> =
        polls.join_all().await.into_iter().flatten().map(|job| job.id).collect();
    taken.sort();
    ids.sort();
    assert_eq!(taken, ids);
}

#[tokio::test]
async fn a_call_that_nobody_takes_ends_and_was_not_run() {
    let (house, node) = ready().await;
    let call = house.local.call(&ask(80)).await.unwrap();
    assert_eq!(call.state, CallState::Failed);
    let problem = call.problem.unwrap();
    assert_eq!(problem.code, Code::TimedOut);
    assert!(problem.message.contains("it was not run"), "{problem}");
    assert!(node.poll(&jobs(0)).await.unwrap().jobs.is_empty());
}

#[tokio::test]
async fn a_call_whose_answer_does_not_come_may_have_run() {
    let (house, node) = ready().await;
    let asked = house.local.ask(&ask(1_000)).await.unwrap();
    let job = node.poll(&jobs(5)).await.unwrap().jobs.remove(0);
    tokio::time::sleep(Duration::from_millis(1_050)).await;
    let late = node.answer(&job.id, &JobResult::Result(raw("{}"))).await;
    assert_eq!(refused(late), Code::Stale);
    let call = house.local.asked(&asked.id).await.unwrap();
    assert!(call.problem.unwrap().message.contains("it may have run"));
}

#[tokio::test]
async fn a_nodes_refusal_is_the_answer_and_other_nodes_have_no_say() {
    let (house, node) = ready().await;
    let other = house.node("node-2").await;
    other.poll(&jobs(0)).await.unwrap();
    let asked = house.local.ask(&ask(5_000)).await.unwrap();
    assert_eq!(asked.node, Some("node-1".parse().unwrap()), "the one that lists it");
    assert!(other.poll(&jobs(0)).await.unwrap().jobs.is_empty());
    node.poll(&jobs(0)).await.unwrap();
    let refusal =
        JobResult::Problem(Problem::new(Code::Conflict, "team.hello lists itself differently"));
    assert_eq!(refused(other.answer(&asked.id, &refusal).await), Code::Stale);
    node.answer(&asked.id, &refusal).await.unwrap();
    let call = house.local.asked(&asked.id).await.unwrap();
    assert_eq!(call.problem.unwrap().code, Code::Conflict);
}

#[tokio::test]
async fn a_call_that_cannot_go_anywhere_is_refused_at_once() {
    let house = House::new().await;
    assert_eq!(refused(house.local.ask(&ask(100)).await), Code::NotFound);
    house.install(&plugin("team", "1.0.0", &["team"])).await;
    assert_eq!(refused(house.local.ask(&ask(100)).await), Code::Unavailable);
    let array = Ask { arguments: raw("[1]"), ..ask(100) };
    assert_eq!(refused(house.local.ask(&array).await), Code::Malformed);
    let node = house.node("node-1").await;
    node.poll(&jobs(0)).await.unwrap();
    house.local.ask(&ask(100)).await.unwrap();
    let elsewhere = Ask { node: Some("node-9".parse().unwrap()), ..ask(100) };
    assert_eq!(refused(house.local.ask(&elsewhere).await), Code::Unavailable);
    assert_eq!(refused(node.ask(&ask(100)).await), Code::Forbidden);
}

#[tokio::test]
async fn a_call_that_runs_when_the_edge_ends_is_not_handed_out_again() {
    let (house, node) = ready().await;
    let asked = house.local.ask(&ask(60_000)).await.unwrap();
    assert_eq!(node.poll(&jobs(0)).await.unwrap().jobs.len(), 1);
    drop(node);
    let house = house.restart().await;
    assert_eq!(house.local.asked(&asked.id).await.unwrap().state, CallState::Running);
}

/// Polls until there is a job.
async fn next_job(node: &Client) -> oz0_api::node::Job {
    let mut query = jobs(10);
    loop {
        let poll = node.poll(&query).await.unwrap();
        if let Some(job) = poll.jobs.into_iter().next() {
            return job;
        }
        query = PollQuery {
            edge: Some(poll.edge),
            plugins: poll.plugins.revision,
            decisions: poll.decisions.revision,
            ..jobs(10)
        };
    }
}

/// Two nodes that list the same function, and neither polls.
async fn two_nodes() -> (House, Client, Client) {
    let (house, first) = ready().await;
    let second = house.node("node-2").await;
    tell(&second, &plugin("team", "1.0.0", &["team"]), "team", &[("hello", "Hello.")]).await;
    (house, first, second)
}

#[tokio::test]
async fn a_call_that_its_node_does_not_take_is_offered_to_another() {
    let (house, _first, second) = two_nodes().await;
    let asked = house.local.ask(&ask(30_000)).await.unwrap();
    assert_eq!(asked.node, Some("node-1".parse().unwrap()), "it is believed to be there");
    let asks = house.local.clone();
    let call = tokio::spawn(async move { asks.call(&ask(30_000)).await.unwrap() });
    // The one that was only asked for stays where it is.
    let mut named = ask(600);
    named.node = Some("node-1".parse().unwrap());
    let named = house.local.call(&named).await.unwrap();
    assert_eq!(named.problem.unwrap().code, Code::TimedOut);
    let job = next_job(&second).await;
    second.answer(&job.id, &JobResult::Result(raw("{}"))).await.unwrap();
    let call = call.await.unwrap();
    assert_eq!((call.state, call.node), (CallState::Done, Some("node-2".parse().unwrap())));
    let still = house.local.asked(&asked.id).await.unwrap();
    assert_eq!((still.state, still.node), (CallState::Waiting, Some("node-1".parse().unwrap())));
}

/// Waits until a call was asked for.
async fn eventually_asked(house: &House) {
    let query = oz0_api::audit::AuditQuery { after: 0, ..Default::default() };
    let began = std::time::Instant::now();
    loop {
        let page = house.admin.audit(&query).await.unwrap();
        if page.entries.iter().any(|entry| entry.action == "call.ask") {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_node_that_leaves_is_away_at_once_and_what_waits_for_it_goes_elsewhere() {
    let (house, first, second) = two_nodes().await;
    let asks = house.local.clone();
    let call = tokio::spawn(async move { asks.call(&ask(30_000)).await.unwrap() });
    eventually_asked(&house).await;
    first.leave().await.unwrap();
    let job = next_job(&second).await;
    second.answer(&job.id, &JobResult::Result(raw("{}"))).await.unwrap();
    assert_eq!(call.await.unwrap().node, Some("node-2".parse().unwrap()));
    let live = async || -> Vec<bool> {
        house.local.nodes().await.unwrap().iter().map(|node| node.live).collect()
    };
    assert_eq!(live().await, [false, true]);
    second.leave().await.unwrap();
    assert_eq!(refused(house.local.ask(&ask(1_000)).await), Code::Unavailable);
    // Back, it is there.
    first.poll(&jobs(0)).await.unwrap();
    assert_eq!(live().await, [true, false]);
    assert_eq!(house.local.ask(&ask(1_000)).await.unwrap().node, Some("node-1".parse().unwrap()));
}
