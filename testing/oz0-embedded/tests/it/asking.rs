//! A call that waits for a person: approved, denied, given up; and whatever happens while it waits.

use std::sync::Arc;
use std::time::{Duration, Instant};

use oz0_api::Code;
use oz0_api::approval::{Approval, Decide};
use oz0_api::policy::Action;
use oz0_mcp::{ClientOptions, EraChoice, Event as Told, ServerRequest};
use oz0_node::{Node, NodeOptions};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::house::{
    Called, Caller, House, Plugin, annotated, eventually, every_call, raw, silent, with_progress,
};

/// A house with a function that asks, and one that reads.
async fn asking(options: NodeOptions) -> (House, Plugin, Node) {
    let house = House::new().await;
    let read = annotated("read", &json!({"readOnlyHint": true}));
    let plugin = Plugin::of_functions(&house, "team", &[&silent("send"), &read]);
    house.install(&plugin).await;
    let node = house.node("node-1", options).await;
    node.settled(Duration::from_secs(20)).await;
    (house, plugin, node)
}

fn call(caller: &Arc<Caller>, arguments: &str) -> JoinHandle<Called> {
    let (caller, arguments) = (Arc::clone(caller), arguments.to_owned());
    tokio::spawn(async move { caller.call("team__send", &arguments).await })
}

async fn approve(house: &House, approval: &Approval) {
    house.admin.approve_call(&approval.id, &Decide::default()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_call_is_made_once_with_the_bytes_that_were_shown() {
    let (house, _plugin, node) = asking(every_call()).await;
    let caller = Arc::new(Caller::of(&node).await);
    let began = Instant::now();
    let waits = call(&caller, r#"{"b": 1.50, "a": "x\u202ey"}"#);
    let asked = house.waiting(1).await.remove(0);
    assert!(began.elapsed() < Duration::from_millis(500), "seen after {:?}", began.elapsed());
    assert_eq!(asked.function.as_str(), "team.send");
    assert_eq!(asked.kind, "Unknown");
    assert_eq!(asked.client, "a client without a token, which calls itself oz0 1");
    assert_eq!(asked.arguments, "{\n  \"a\": \"x\\u{202E}y\",\n  \"b\": 1.5\n}");
    let status = house.admin.plugin(&"team".parse().unwrap()).await.unwrap();
    let send = status.functions.iter().find(|one| one.id == asked.function).unwrap();
    assert_eq!(send.accepted, [asked.listing]);
    assert!(!waits.is_finished());
    let approved = Instant::now();
    approve(&house, &asked).await;
    let result = waits.await.unwrap();
    assert!(approved.elapsed() < Duration::from_millis(500), "{:?}", approved.elapsed());
    assert!(result.raw().contains(r#"{"b": 1.50, "a": "x\u202ey"}"#), "{}", result.raw());

    // The same arguments again are another call.
    let again = call(&caller, r#"{"b": 1.50, "a": "x\u202ey"}"#);
    let other = house.waiting(1).await.remove(0);
    assert_ne!(other.id, asked.id);
    assert_eq!(other.digest, asked.digest);
    let deny = Decide { reason: Some("not\u{200b} twice".to_owned()) };
    house.admin.deny_call(&other.id, &deny).await.unwrap();
    assert_eq!(
        again.await.unwrap().text(),
        "team.send was not called: token:admin denied this call: not\\u{200B} twice"
    );
    assert_eq!(caller.refusal("team__read").await, None, "the other function goes on");
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn time_that_runs_out_and_a_client_that_goes_away_end_in_no_call() {
    let options =
        NodeOptions { approval_timeout: Duration::from_millis(300), ..NodeOptions::default() };
    let (house, _plugin, node) = asking(options).await;
    let caller = Arc::new(Caller::of(&node).await);
    let text = caller.refusal("team__send").await.unwrap();
    assert_eq!(
        text,
        "team.send was not called: a person was asked about it (its server does not say whether it changes anything), \
         and nobody decided within 0.3 s; calls that wait are shown by: oz0 approvals list"
    );
    assert_eq!(house.audit("approval.expire").await.len(), 1);
    node.shutdown().await;

    let node = house.node("node-1", NodeOptions::default()).await;
    node.settled(Duration::from_secs(20)).await;
    let caller = Arc::new(Caller::of(&node).await);
    // Cancelled by its client.
    let waits = call(&caller, "{}");
    let asked = house.waiting(1).await.remove(0);
    waits.abort();
    house.waiting(0).await;
    // Gone with its client.
    let waits = call(&caller, "{}");
    house.waiting(1).await;
    waits.abort();
    drop(caller);
    house.waiting(0).await;
    eventually("both are written down", async || house.audit("approval.withdraw").await.len() == 2)
        .await;
    let late = house.admin.approve_call(&asked.id, &Decide::default()).await.unwrap_err();
    assert_eq!(late.code(), Some(Code::Stale));
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_while_it_waits_counts() {
    let (house, plugin, node) = asking(every_call()).await;
    let caller = Arc::new(Caller::of(&node).await);

    // A rule that refuses, set meanwhile, wins over the approval.
    let waits = call(&caller, "{}");
    let asked = house.waiting(1).await.remove(0);
    let rule = house.rule(&node, "team.send", Action::Refuse).await;
    approve(&house, &asked).await;
    let text = waits.await.unwrap().text();
    assert!(text.starts_with("team.send is not called: the policy refuses it"), "{text}");
    house.unset(&node, &rule).await;

    // Another listing.
    let read = annotated("read", &json!({"readOnlyHint": true}));
    let waits = call(&caller, "{}");
    let asked = house.waiting(1).await.remove(0);
    plugin.list("team", &[&annotated("send", &json!({"readOnlyHint": true})), &read]);
    approve(&house, &asked).await;
    let text = waits.await.unwrap().text();
    assert!(text.starts_with("team.send lists itself differently"), "{text}");

    // Another listing that somebody approved: what was asked about is not what it is now.
    plugin.list("team", &[&silent("send"), &read]);
    eventually("it is asked about again", async || {
        // Which lists anew.
        caller.refusal("team__read").await.is_none() && house.changes("team").await.is_empty()
    })
    .await;
    let waits = call(&caller, "{}");
    let asked = house.waiting(1).await.remove(0);
    let other = annotated("read", &json!({"readOnlyHint": true, "title": "Reads"}));
    plugin.list("team", &[&annotated("send", &json!({"openWorldHint": true})), &other]);
    let refused = caller.refusal("team__read").await;
    assert!(refused.is_some(), "a call lists anew, and its function changed");
    house.wait_for_changes("team", 2).await;
    house.approve("team").await;
    // The node hears of both in its own time, and looks at the call by all that was decided before it.
    approve(&house, &asked).await;
    assert_eq!(
        waits.await.unwrap().text(),
        "team.send was not called: it was approved, and is no longer what it was when a person was asked; call it again \
         to ask anew"
    );
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_decided_before_counts_for_a_call_however_it_comes() {
    let (house, plugin, node) = asking(every_call()).await;
    let caller = Arc::new(Caller::of(&node).await);
    for round in 0..20 {
        let send = annotated("send", &json!({"openWorldHint": true, "title": round}));
        let read = annotated("read", &json!({"readOnlyHint": true, "title": round}));
        plugin.list("team", &[&send, &read]);
        assert!(caller.refusal("team__read").await.is_some(), "a call lists anew");
        house.wait_for_changes("team", 2).await;
        house.approve("team").await;
        // Whoever approved it may call it through the edge at once.
        let made = house.ask("team.read", r#"{"x": 1}"#).await;
        let result = made.result.unwrap_or_else(|| panic!("{:?}", made.problem));
        assert!(result.get().contains("structuredContent"), "round {round}: {}", result.get());

        let waits = call(&caller, "{}");
        let asked = house.waiting(1).await.remove(0);
        plugin.list("team", &[&annotated("send", &json!({"title": round})), &read]);
        assert_eq!(caller.refusal("team__read").await, None, "a call lists anew");
        house.wait_for_changes("team", 1).await;
        house.approve("team").await;
        approve(&house, &asked).await;
        assert_eq!(
            waits.await.unwrap().text(),
            "team.send was not called: it was approved, and is no longer what it was when a person was asked; call it \
             again to ask anew",
            "round {round}"
        );
    }
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_edge_a_node_refuses_what_is_asked_at_once_and_calls_the_rest() {
    let (house, _plugin, node) = asking(NodeOptions::default()).await;
    let caller = Arc::new(Caller::of(&node).await);
    let waits = call(&caller, "{}");
    house.waiting(1).await;
    let lost = Instant::now();
    house.lose_edge();
    let text = waits.await.unwrap().text();
    assert!(lost.elapsed() < Duration::from_secs(5), "{:?}", lost.elapsed());
    let begins = "team.send is not called: a person is to be asked about it (its server does not say whether it changes \
                  anything), and ";
    assert!(text.starts_with(begins), "{text}");
    let again = Instant::now();
    let text = caller.refusal("team__send").await.unwrap();
    assert!(again.elapsed() < Duration::from_secs(2), "{:?}", again.elapsed());
    assert!(text.starts_with(begins) && text.contains("edge"), "{text}");
    assert_eq!(caller.refusal("team__read").await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_calls_wait_and_each_gets_its_own_answer() {
    let (house, _plugin, node) = asking(NodeOptions::default()).await;
    let caller = Arc::new(Caller::of(&node).await);
    let calls: Vec<JoinHandle<Called>> =
        (0..64).map(|number| call(&caller, &format!(r#"{{"number": {number}}}"#))).collect();
    for asked in house.waiting(64).await {
        let arguments: Value = serde_json::from_str(&asked.arguments).unwrap();
        if arguments["number"].as_u64().unwrap().is_multiple_of(2) {
            approve(&house, &asked).await;
        } else {
            house.admin.deny_call(&asked.id, &Decide::default()).await.unwrap();
        }
    }
    for (number, waits) in calls.into_iter().enumerate() {
        let waits = waits.await.unwrap();
        if number % 2 == 0 {
            let value: Value = serde_json::from_str(waits.raw()).unwrap();
            assert_eq!(value["structuredContent"]["arguments"]["number"], json!(number));
        } else {
            assert_eq!(waits.text(), "team.send was not called: token:admin denied this call");
        }
    }
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_wants_progress_hears_that_its_call_waits() {
    let (house, _plugin, node) = asking(NodeOptions::default()).await;
    let caller = Arc::new(Caller::of(&node).await);
    let mut events = caller.client.events();
    let waiting = tokio::spawn({
        let caller = Arc::clone(&caller);
        async move { caller.call_with(&with_progress("team__send", 7)).await }
    });
    let asked = house.waiting(1).await.remove(0);
    let told = loop {
        let event = tokio::time::timeout(Duration::from_secs(20), events.next()).await;
        if let Some(Told::Notification(told)) = event.expect("progress is told")
            && told.method == "notifications/progress"
        {
            break told.params.clone().unwrap();
        }
    };
    let told: Value = serde_json::from_str(told.get()).unwrap();
    assert_eq!(told["progressToken"], json!(7));
    let message = told["message"].as_str().unwrap();
    assert_eq!(
        message,
        format!("team.send waits for a person: oz0 approvals approve {}", &asked.id.as_str()[..12])
    );
    approve(&house, &asked).await;
    waiting.await.unwrap().raw();
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_waits_on_the_same_path_and_whoever_asked_sees_for_what() {
    let (house, _plugin, node) = asking(NodeOptions::default()).await;
    let ask = oz0_api::call::Ask {
        function: "team.send".parse().unwrap(),
        arguments: raw(r#"{"x": 1}"#),
        timeout_ms: None,
        node: None,
    };
    let (tell, mut told) = mpsc::unbounded_channel();
    let waits = tokio::spawn({
        let admin = house.admin.clone();
        async move { admin.call_telling(&ask, |asked| tell.send(asked.clone()).unwrap()).await }
    });
    let asked = told.recv().await.unwrap();
    assert_eq!(house.waiting(1).await, std::slice::from_ref(&asked));
    assert_eq!(asked.client, "oz0 call");
    approve(&house, &asked).await;
    let result = waits.await.unwrap().unwrap().result.unwrap();
    assert!(result.get().contains(r#"{"x": 1}"#), "{}", result.get());

    // Whoever waits only so long takes the call back.
    let short = oz0_api::call::Ask {
        function: "team.send".parse().unwrap(),
        arguments: raw("{}"),
        timeout_ms: Some(500),
        node: None,
    };
    let problem = house.admin.call(&short).await.unwrap().problem.unwrap();
    assert_eq!(problem.code, Code::TimedOut);
    house.waiting(0).await;
    node.shutdown().await;
}

/// A client that showed a token and can be asked, and what it is asked.
async fn elicited(
    node: &Node,
    era: EraChoice,
    token: &str,
) -> (Arc<Caller>, mpsc::Receiver<ServerRequest>) {
    let (sender, requests) = mpsc::channel(4);
    let options = ClientOptions { era, requests: Some(sender), ..ClientOptions::default() };
    (Arc::new(Caller::with_token(node, options, token).await), requests)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_person_at_a_client_that_may_approve_is_asked_there() {
    let (house, _plugin, node) = asking(NodeOptions::default()).await;
    let (token, _) = house.client("desk", true).await;
    let (caller, mut requests) = elicited(&node, EraChoice::Legacy, &token).await;
    for (action, goes) in [("accept", true), ("decline", false)] {
        let waits = call(&caller, "{\"to\": \"a\u{202e}b\"}");
        let request = requests.recv().await.unwrap();
        assert_eq!(request.method, "elicitation/create");
        let params: Value = serde_json::from_str(request.params.as_ref().unwrap().get()).unwrap();
        assert_eq!(
            params["message"],
            "Call team.send (Unknown: its server does not say whether it changes anything)? Its arguments, \
             whole:\n{\n  \"to\": \"a\\u{202E}b\"\n}"
        );
        let asked = house.waiting(1).await.remove(0);
        assert_eq!(asked.client, "the client desk, which calls itself oz0 1");
        request.answer(&Ok(raw(&json!({"action": action, "content": {}}).to_string())));
        let waits = waits.await.unwrap();
        if goes {
            assert!(waits.raw().contains("structuredContent"), "{}", waits.raw());
        } else {
            assert_eq!(waits.text(), "team.send was not called: token:desk denied this call");
        }
    }
    assert_eq!(house.audit("approval.approve").await[0].actor, "token:desk");
    assert_eq!(house.audit("approval.deny").await[0].actor, "token:desk");

    // Somebody who does not want to say leaves it to others.
    let waits = call(&caller, "{}");
    requests.recv().await.unwrap().answer(&Ok(raw(r#"{"action":"cancel"}"#)));
    let asked = house.waiting(1).await.remove(0);
    approve(&house, &asked).await;
    waits.await.unwrap().raw();

    // One whose token does not say so is not asked.
    let (token, _) = house.client("bot", false).await;
    let (caller, mut requests) = elicited(&node, EraChoice::Legacy, &token).await;
    let waits = call(&caller, "{}");
    let asked = house.waiting(1).await.remove(0);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(requests.try_recv().is_err());
    approve(&house, &asked).await;
    waits.await.unwrap().raw();
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_modern_client_is_asked_by_a_result_that_wants_input() {
    let (house, _plugin, node) = asking(NodeOptions::default()).await;
    let (token, _) = house.client("desk", true).await;
    let (caller, _requests) = elicited(&node, EraChoice::Modern, &token).await;
    let first = caller.call("team__send", r#"{"x": 1}"#).await;
    let wants: Value = serde_json::from_str(first.raw()).unwrap();
    assert_eq!(wants["resultType"], "input_required");
    let question = &wants["inputRequests"]["input-1"];
    assert_eq!(question["method"], "elicitation/create");
    assert!(question["params"]["message"].as_str().unwrap().contains("\"x\": 1"));
    house.waiting(1).await;
    let answered = json!({"name": "team__send", "arguments": {"x": 1},
        "requestState": wants["requestState"],
        "inputResponses": {"input-1": {"action": "accept", "content": {}}}});
    let result = caller.call_with(&answered.to_string()).await;
    assert!(result.raw().contains(r#""x""#), "{}", result.raw());
    house.waiting(0).await;
    assert_eq!(house.audit("approval.approve").await[0].actor, "token:desk");
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_client_decides_what_a_person_must() {
    let house = House::new().await;
    let more = "    requires_approval: [send]\n";
    let plugin = Plugin::new(&house, "team", &[("team", json!({}))], more);
    plugin.list("team", &[&annotated("send", &json!({"readOnlyHint": true}))]);
    house.install(&plugin).await;
    let node = house.node("node-1", NodeOptions::default()).await;
    house.rule(&node, "*", Action::Allow).await;
    let (token, _) = house.client("desk", true).await;
    let (caller, mut requests) = elicited(&node, EraChoice::Legacy, &token).await;
    let waits = call(&caller, "{}");
    let asked = house.waiting(1).await.remove(0);
    assert!(asked.requires_approval);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(requests.try_recv().is_err());
    approve(&house, &asked).await;
    waits.await.unwrap().raw();
    node.shutdown().await;
}
