//! Calls that wait for a person: decided once, for the one call, while its node still asks.

use std::time::{Duration, Instant};

use oz0_api::approval::{Approval, ApprovalState, AskApproval, Decide, Elicited};
use oz0_api::token::{CreateToken, TokenKind};
use oz0_api::{ApprovalId, Client, Code};
use oz0_listing::Digest;
use serde_json::value::RawValue;
use tokio::task::JoinHandle;

use crate::house::{House, hash, refused};

pub(crate) fn ask(arguments: &str) -> AskApproval {
    AskApproval {
        plugin: "team".parse().unwrap(),
        version: "1.0.0".parse().unwrap(),
        function: "team.send".parse().unwrap(),
        listing: hash("send", "Sends."),
        arguments: RawValue::from_string(arguments.to_owned()).unwrap(),
        client: "claude".to_owned(),
        kind: "Sends out".to_owned(),
        why: "the tool's approval".to_owned(),
        requires_approval: false,
        timeout_ms: 60_000,
        call: None,
    }
}

/// A node that asks, and what comes of it.
async fn asked(node: &Client, ask: &AskApproval) -> (Approval, JoinHandle<Approval>) {
    let approval = node.ask_approval(ask).await.unwrap();
    let (node, id) = (node.clone(), approval.id.clone());
    let waiting = tokio::spawn(async move {
        loop {
            let approval = node.await_approval(&id).await.unwrap();
            if approval.state != ApprovalState::Pending {
                return approval;
            }
        }
    });
    (approval, waiting)
}

async fn waiting(house: &House) -> Vec<ApprovalId> {
    house.local.approvals().await.unwrap().approvals.into_iter().map(|one| one.id).collect()
}

fn because(reason: &str) -> Decide {
    Decide { reason: Some(reason.to_owned()) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_reaches_the_node_that_waits_at_once_and_one_time() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let (approval, waits) = asked(&node, &ask(r#"{"b": 1.50, "a": "x"}"#)).await;
    let began = Instant::now();
    let listed = house.local.approvals().await.unwrap().approvals;
    assert!(began.elapsed() < Duration::from_millis(100));
    assert_eq!(listed, std::slice::from_ref(&approval));
    assert_eq!(approval.arguments, "{\n  \"a\": \"x\",\n  \"b\": 1.5\n}");
    assert_eq!(approval.digest, Digest::of(r#"{"a":"x","b":1.5}"#));

    assert_eq!(
        refused(house.local.approve_call(&approval.id, &because("ok")).await),
        Code::Forbidden
    );
    assert_eq!(refused(node.approve_call(&approval.id, &because("ok")).await), Code::Forbidden);
    let approved = house.admin.approve_call(&approval.id, &because("ok")).await.unwrap();
    let decided = Instant::now();
    assert_eq!(approved.decided_by.as_deref(), Some("token:admin"));
    assert_eq!(waits.await.unwrap().state, ApprovalState::Approved);
    assert!(decided.elapsed() < Duration::from_millis(200));

    // It was handed out, and is never handed out again.
    let again = node.await_approval(&approval.id).await.unwrap();
    assert_eq!(again.state, ApprovalState::Used);
    assert!(again.arguments.is_empty(), "arguments are not kept");
    for decided in [
        house.admin.approve_call(&approval.id, &Decide::default()).await,
        house.admin.deny_call(&approval.id, &Decide::default()).await,
    ] {
        let error = decided.unwrap_err();
        assert_eq!(error.code(), Some(Code::Stale));
        assert!(error.to_string().contains("was approved by token:admin already"), "{error}");
    }
    assert!(waiting(&house).await.is_empty());

    let log = house.log().await;
    let told = |action: &str| log.iter().find(|entry| entry.action == action).unwrap();
    assert_eq!(told("approval.ask").actor, "node:node-1");
    let entry = told("approval.approve");
    assert_eq!(entry.actor, "token:admin");
    assert_eq!(entry.subject.detail["arguments"], approval.digest.to_string());
    assert_eq!(entry.subject.detail["reason"], "ok");
    assert_eq!(entry.subject.detail["client"], "claude");
    let listing = entry.subject.functions[&"team.send".parse().unwrap()].as_ref();
    assert_eq!(listing, Some(&hash("send", "Sends.").to_string()));
    assert!(!serde_json::to_string(&log).unwrap().contains("1.5"), "arguments are not logged");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_who_decide_at_once_one_wins() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    for _ in 0..10 {
        let (approval, waits) = asked(&node, &ask("{}")).await;
        let (yes, no) = (Decide::default(), because("no"));
        let (one, other) = tokio::join!(
            house.admin.approve_call(&approval.id, &yes),
            house.admin.deny_call(&approval.id, &no),
        );
        let state = waits.await.unwrap().state;
        match (one, other) {
            (Ok(_), Err(lost)) => {
                assert_eq!(state, ApprovalState::Approved);
                assert_eq!(lost.code(), Some(Code::Stale));
            }
            (Err(lost), Ok(_)) => {
                assert_eq!(state, ApprovalState::Denied);
                assert_eq!(lost.code(), Some(Code::Stale));
            }
            both => panic!("{both:?}"),
        }
    }
    let (yes, no) = (house.count("approval.approve").await, house.count("approval.deny").await);
    assert_eq!(yes + no, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_decides_about_a_call_whose_time_is_over_or_that_was_taken_back() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let (approval, waits) = asked(&node, &AskApproval { timeout_ms: 100, ..ask("{}") }).await;
    let began = Instant::now();
    assert_eq!(waits.await.unwrap().state, ApprovalState::Expired);
    assert!(began.elapsed() < Duration::from_secs(2));
    assert_eq!(
        refused(house.admin.approve_call(&approval.id, &Decide::default()).await),
        Code::Stale
    );
    assert_eq!(house.count("approval.expire").await, 1);

    let (approval, waits) = asked(&node, &ask("{}")).await;
    node.withdraw_approval(&approval.id).await.unwrap();
    assert_eq!(waits.await.unwrap().state, ApprovalState::Withdrawn);
    assert_eq!(
        refused(house.admin.approve_call(&approval.id, &Decide::default()).await),
        Code::Stale
    );
    assert_eq!(house.count("approval.withdraw").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_node_is_gone_is_lost() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let (approval, waits) = asked(&node, &ask("{}")).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    waits.abort();
    let until = Instant::now() + Duration::from_secs(20);
    while house.count("approval.lose").await == 0 {
        assert!(Instant::now() < until, "nobody noticed");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(waiting(&house).await.is_empty());
    assert_eq!(
        refused(house.admin.approve_call(&approval.id, &Decide::default()).await),
        Code::Stale
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_approval_outlives_the_edge_that_was_asked() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let (pending, waits) = asked(&node, &ask("{}")).await;
    let untaken = node.ask_approval(&ask(r#"{"x": 1}"#)).await.unwrap();
    house.admin.approve_call(&untaken.id, &Decide::default()).await.unwrap();
    waits.abort();
    assert!(waits.await.is_err());
    drop(node);
    let house = house.restart().await;
    assert!(waiting(&house).await.is_empty());
    for id in [&pending.id, &untaken.id] {
        assert_eq!(refused(house.admin.approve_call(id, &Decide::default()).await), Code::Stale);
    }
    assert_eq!(house.count("approval.lose").await, 1);
    assert!(house.local.verify_audit().await.unwrap().faults.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_calls_wait_side_by_side_and_each_gets_its_own_decision() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let mut all = Vec::new();
    for number in 0..64 {
        all.push(asked(&node, &ask(&format!(r#"{{"n": {number}}}"#))).await);
    }
    assert_eq!(waiting(&house).await.len(), 64);
    for (number, (approval, _)) in all.iter().enumerate() {
        assert!(approval.arguments.contains(&number.to_string()));
        if number % 2 == 0 {
            house.admin.approve_call(&approval.id, &Decide::default()).await.unwrap();
        } else {
            house.admin.deny_call(&approval.id, &Decide::default()).await.unwrap();
        }
    }
    for (number, (_, waits)) in all.into_iter().enumerate() {
        let wanted = if number % 2 == 0 { ApprovalState::Approved } else { ApprovalState::Denied };
        assert_eq!(waits.await.unwrap().state, wanted);
    }
}

#[tokio::test]
async fn what_nobody_could_read_nobody_is_asked_about() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    for hostile in [r#"{"a": 1, "a": 2}"#, r#"{"a": "\ud800"}"#, "[1]", "null"] {
        let error = node.ask_approval(&ask(hostile)).await;
        assert_eq!(refused(error), Code::Malformed, "{hostile}");
    }
    let long = format!(r#"{{"a": "{}"}}"#, "x".repeat(70_000));
    assert_eq!(refused(node.ask_approval(&ask(&long)).await), Code::TooLarge);
    let mut hidden = ask("{\"to\u{202e}\": \"a\u{e0041}\\u001b[2Jb\u{200b}\"}");
    hidden.client = "cl\u{202e}aude\n\u{1b}[2J".to_owned();
    hidden.why = "be\ncause\u{200b}".to_owned();
    let shown = node.ask_approval(&hidden).await.unwrap();
    assert_eq!(shown.arguments, "{\n  \"to\\u{202E}\": \"a\\u{E0041}\\u001b[2Jb\\u{200B}\"\n}");
    assert_eq!(shown.client, "cl\\u{202E}aude\\u{A}\\u{1B}[2J");
    assert_eq!(shown.why, "be\\u{A}cause\\u{200B}");
    assert_eq!(refused(house.local.ask_approval(&ask("{}")).await), Code::Forbidden);
    assert_eq!(refused(house.admin.ask_approval(&ask("{}")).await), Code::Forbidden);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clients_answer_counts_where_its_token_says_so_and_never_where_a_person_must() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let other = house.node("node-2").await;
    let token = async |name: &str, may_approve| {
        let create =
            CreateToken { kind: TokenKind::Client, name: name.parse().unwrap(), may_approve };
        house.admin.create_token(&create).await.unwrap().token.id
    };
    let (may, may_not) = (token("desk", true).await, token("bot", false).await);
    let said = |client: &oz0_api::TokenId, accepted| Elicited { client: client.clone(), accepted };

    let (approval, waits) = asked(&node, &ask("{}")).await;
    assert_eq!(refused(node.elicited(&approval.id, &said(&may_not, true)).await), Code::Forbidden);
    assert_eq!(refused(other.elicited(&approval.id, &said(&may, true)).await), Code::Forbidden);
    assert_eq!(
        refused(house.admin.elicited(&approval.id, &said(&may, true)).await),
        Code::Forbidden
    );
    node.elicited(&approval.id, &said(&may, true)).await.unwrap();
    assert_eq!(waits.await.unwrap().state, ApprovalState::Approved);
    let log = house.log().await;
    let entry = log.iter().find(|entry| entry.action == "approval.approve").unwrap();
    assert_eq!(entry.actor, "token:desk");

    let (approval, waits) = asked(&node, &ask("{}")).await;
    node.elicited(&approval.id, &said(&may, false)).await.unwrap();
    assert_eq!(waits.await.unwrap().state, ApprovalState::Denied);

    let person = AskApproval { requires_approval: true, ..ask("{}") };
    let (approval, waits) = asked(&node, &person).await;
    assert_eq!(refused(node.elicited(&approval.id, &said(&may, true)).await), Code::Forbidden);
    house.admin.revoke_token(&may).await.unwrap();
    let (plain, _plain_waits) = asked(&node, &ask("{}")).await;
    assert_eq!(refused(node.elicited(&plain.id, &said(&may, true)).await), Code::Forbidden);
    house.admin.approve_call(&approval.id, &Decide::default()).await.unwrap();
    assert_eq!(waits.await.unwrap().state, ApprovalState::Approved);
}
