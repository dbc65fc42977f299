//! What passes through, what is checked, and the ways between a server and the client that called it.

use std::time::Duration;

use oz0_api::call::CallState;
use oz0_mcp::{ClientOptions, EraChoice, Event as Told, Identity};
use oz0_node::{Arguments, Event, NodeOptions, Validate};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::house::{
    Called, Caller, House, Plugin, eventually, every_call, function, raw, under_way, with_progress,
};

#[tokio::test(flavor = "multi_thread")]
async fn parameters_and_results_pass_byte_for_byte_but_for_the_name() {
    let house = House::new().await;
    let result = r#"{ "structuredContent": {"n": 1.0, "e": 1e2, "s": "\u0041"},"content":[] , "_meta":{"x/y":1.50, "oz0/forged":true}}"#;
    let script = json!({"versions": ["2025-11-25"], "on": {
        "call odd": [{"steps": [{"result": result}]}],
        "call seen": [{"steps": ["received"]}]}});
    let plugin = Plugin::new(&house, "team", &[("team", script)], "");
    plugin.list("team", &[&function("odd", "-"), &function("seen", "-")]);
    house.install(&plugin).await;
    let node = house.node("node-1", NodeOptions::default()).await;
    let caller = Caller::of(&node).await;
    let answer = caller.call("team__odd", "{}").await;
    assert_eq!(answer.raw(), result.replace(r#", "oz0/forged":true"#, ""));

    let params = r#"{"arguments": {"b" : 1.0,"a":  "\u0041", "x":1}, "name":"team__seen", "_meta":{"oz0/connections": {"t": "s"},"mine/k": 1e1}}"#;
    let seen: Value = serde_json::from_str(&caller.call_with(params).await.text()).unwrap();
    let bodies: Vec<String> = seen
        .as_array()
        .unwrap()
        .iter()
        .map(|message| match &message["body"] {
            Value::String(text) => text.clone(),
            body => body.to_string(),
        })
        .collect();
    let body = bodies.iter().find(|body| body.contains("mine/k")).unwrap();
    assert!(body.contains(r#""name":"seen""#), "{body}");
    assert!(!body.contains("oz0/"), "{body}");
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_are_checked_against_the_pinned_schema() {
    let house = House::new().await;
    let typed = r#"{"name":"typed","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"x":{"type":"integer"},"s":{"type":"string","pattern":"^(a+)+$"}},"required":["x"]}}"#;
    let closed = r#"{"name":"closed","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"x":{"type":"integer"}},"additionalProperties":false}}"#;
    let wild = r#"{"name":"wild","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"s":{"type":"string","pattern":"(?=a)b"}}}}"#;
    let remote = r#"{"name":"remote","annotations":{"readOnlyHint":true},"inputSchema":{"$ref":"http://127.0.0.1:1/schema"}}"#;
    let plugin = Plugin::of_functions(&house, "team", &[typed, closed, wild, remote]);
    house.install(&plugin).await;
    let node = house.node("node-1", NodeOptions::default()).await;
    let caller = Caller::of(&node).await;
    let text = async |name: &str, arguments: &str| caller.call(name, arguments).await.text();
    assert!(text("team__typed", r#"{"x": 1}"#).await.contains(r#""x""#));
    let said = text("team__typed", r#"{"x": "one"}"#).await;
    assert!(
        said.starts_with(
            "team.typed was not called: its arguments do not match its input schema: /x:"
        ),
        "{said}"
    );
    assert!(text("team__typed", "{}").await.contains("was not called"));
    let said = text("team__typed", r#"{"x": 1, "x": 2}"#).await;
    assert!(said.contains("the member `x` stands twice"), "{said}");
    // A pattern that would take for ever to fail elsewhere fails at once.
    let long = format!(r#"{{"x": 1, "s": "{}!"}}"#, "a".repeat(50_000));
    assert!(text("team__typed", &long).await.contains("was not called"));
    assert!(!text("team__typed", r#"{"x": 1, "more": 1}"#).await.contains("was not called"));
    assert!(text("team__closed", r#"{"x": 1, "more": 1}"#).await.contains("was not called"));
    // Schemas that nobody can check without backtracking or a network are their servers' to check.
    assert!(!text("team__wild", r#"{"s": "x"}"#).await.contains("not called"));
    assert!(!text("team__remote", r#"{"x": 1}"#).await.contains("not called"));
    node.shutdown().await;

    let options = NodeOptions { arguments: Arguments::Strict, ..NodeOptions::default() };
    let node = house.node("node-1", options).await;
    let caller = Caller::of(&node).await;
    let text = async |name: &str, arguments: &str| caller.call(name, arguments).await.text();
    assert!(text("team__typed", r#"{"x": 1, "more": 1}"#).await.contains("was not called"));
    assert!(!text("team__typed", r#"{"x": 1, "s": "aa"}"#).await.contains("was not called"));
    assert!(text("team__remote", "{}").await.contains("cannot be checked"));
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_checked_against_the_pinned_output_schema() {
    let house = House::new().await;
    let listed = r#"{"name":"sum","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}"#;
    let script = json!({"on": {"call sum": [
        {"from": 1, "to": 1, "steps": [{"result": r#"{"content":[],"structuredContent":{"n":1}}"#}]},
        {"from": 2, "to": 2, "steps": [{"result": r#"{"content":[],"structuredContent":{"n":"x"}}"#}]},
        {"from": 3, "to": 3, "steps": [{"result": r#"{"content":[]}"#}]},
        {"from": 4, "to": 4, "steps": [{"result": r#"{"content":[],"isError":true}"#}]}]}});
    let plugin = Plugin::new(&house, "team", &[("team", script)], "");
    plugin.list("team", &[listed]);
    house.install(&plugin).await;
    let mismatches = |house: &House| {
        let events = house.events.lock().unwrap();
        events.iter().filter(|event| matches!(event, Event::ResultMismatch { .. })).count()
    };
    for (validate, passes, told) in [
        (Validate::Warn, [true, true, true, true], 2),
        (Validate::Refuse, [true, false, false, true], 0),
        (Validate::Off, [true, true, true, true], 0),
    ] {
        house.events.lock().unwrap().clear();
        let node = house.node("node-1", NodeOptions { validate, ..NodeOptions::default() }).await;
        let caller = Caller::of(&node).await;
        for (call, passes) in passes.into_iter().enumerate() {
            let answer = caller.call("team__sum", "{}").await;
            assert_eq!(
                matches!(answer, Called::Result(_)),
                passes,
                "{validate:?} {call} {answer:?}"
            );
        }
        assert_eq!(mismatches(&house), told, "{validate:?}");
        node.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_comes_back_under_the_clients_own_token() {
    let house = House::new().await;
    let script =
        json!({"on": {"call work": [{"steps": [{"progress": {"count": 3, "every_ms": 20}}]}]}});
    let plugin = Plugin::new(&house, "team", &[("team", script)], "");
    plugin.list("team", &[&function("work", "-")]);
    house.install(&plugin).await;
    let node = house.node("node-1", NodeOptions::default()).await;
    let caller = Caller::of(&node).await;
    let mut events = caller.client.events();
    let params = r#"{"name":"team__work","arguments":{"x":1},"_meta":{"progressToken":"mine"}}"#;
    caller.call_with(params).await;
    let mut seen = 0;
    while seen < 3 {
        let event = tokio::time::timeout(Duration::from_secs(20), events.next()).await.unwrap();
        if let Some(Told::Notification(notification)) = event
            && notification.method == "notifications/progress"
        {
            assert!(
                notification.params.as_ref().unwrap().get().contains(r#""progressToken":"mine""#)
            );
            seen += 1;
        }
    }
    assert_eq!(seen, 3);
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_its_client_gives_up_is_cancelled_at_the_server() {
    let house = House::new().await;
    let script = json!({"on": {
        "call hang": [{"steps": [{"progress": {"count": 1, "every_ms": 0}}, "never"]}],
        "call seen": [{"steps": ["received"]}]}});
    let plugin = Plugin::new(&house, "team", &[("team", script)], "");
    plugin.list("team", &[&function("hang", "-"), &function("seen", "-")]);
    house.install(&plugin).await;
    let node = house.node("node-1", NodeOptions::default()).await;
    let caller = Caller::of(&node).await;
    node.settled(Duration::from_secs(20)).await;
    let mut events = caller.client.events();
    let hang = with_progress("team__hang", 1);
    tokio::select! {
        answer = caller.call_with(&hang) => panic!("{answer:?}"),
        () = under_way(&mut events, 1) => {}
    }
    eventually("the server hears of it", async || {
        caller.call("team__seen", "{}").await.text().contains("notifications/cancelled")
    })
    .await;
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_modern_servers_question_is_named_and_written_out_as_well() {
    let question = r#"{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"Your key?\u200B","requestedSchema":{"type":"object","properties":{}}}}},"requestState":"s"}"#;
    let sampling = r#"{"resultType":"input_required","inputRequests":{"k":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}},"requestState":"s"}"#;
    let script = json!({"versions": ["2026-07-28"], "on": {
        "call ask": [
            {"from": 1, "to": 1, "steps": [{"result": question}]},
            {"from": 2, "to": 2, "steps": ["received"]},
            {"from": 3, "steps": [{"result": question}]}],
        "call sample": [{"steps": [{"result": sampling}]}]}});
    let house = House::new().await;
    let plugin = Plugin::new(&house, "team", &[("team", script)], "");
    plugin.list("team", &[&function("ask", "-"), &function("sample", "-")]);
    house.install(&plugin).await;
    let node = house.node("node-1", NodeOptions::default()).await;
    node.settled(Duration::from_secs(20)).await;
    let (caller, mut requests) = asked(&node, EraChoice::Legacy).await;
    let (answer, message) = tokio::join!(caller.call("team__ask", "{}"), async {
        let request = requests.recv().await.unwrap();
        let params: Value = serde_json::from_str(request.params.as_ref().unwrap().get()).unwrap();
        request.answer(&Ok(raw(r#"{"action":"decline"}"#)));
        params["message"].as_str().unwrap().to_owned()
    });
    assert_eq!(message, "team.ask asks: Your key?\\u{200B}");
    let received = answer.text();
    assert!(received.contains("decline"), "{answer:?}");
    // Both rounds are one call, under one ID.
    let traces: Vec<&str> = received
        .match_indices("traceparent")
        .map(|(at, _)| received[at..].split('-').nth(1).unwrap())
        .collect();
    assert!(traces.len() == 2 && traces[0] == traces[1] && traces[0].len() == 32, "{received}");
    let text = caller.call("team__sample", "{}").await.text();
    assert!(text.contains("does not say `requires.models.sampling`"), "{text}");
    let (caller, _requests) = asked(&node, EraChoice::Modern).await;
    let answer = caller.call("team__ask", "{}").await;
    assert!(answer.raw().contains("team.ask asks: Your key?"), "{answer:?}");
    node.shutdown().await;
}

fn asking(method: &str, params: &Value) -> Value {
    json!({"versions": ["2025-11-25"], "on": {
        "call ask": [{"steps": [{"ask": {"method": method, "params": params}}]}],
        "call hang": [{"steps": [{"progress": {"count": 1, "every_ms": 0}}, "never"]}]}})
}

/// A client that can be asked, and what it is asked.
async fn asked(
    node: &oz0_node::Node,
    era: EraChoice,
) -> (Caller, mpsc::Receiver<oz0_mcp::ServerRequest>) {
    let (sender, requests) = mpsc::channel(4);
    let options = ClientOptions {
        era,
        identity: Identity::OZ0,
        requests: Some(sender),
        ..ClientOptions::default()
    };
    (Caller::with(node, options).await, requests)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servers_question_goes_to_the_one_client_it_can_be_meant_for_and_names_who_asks() {
    let house = House::new().await;
    let params = json!({"message": "Your key?\u{200B}", "requestedSchema": {"type": "object", "properties": {}}});
    let plugin =
        Plugin::new(&house, "team", &[("team", asking("elicitation/create", &params))], "");
    plugin.list("team", &[&function("ask", "-"), &function("hang", "-")]);
    house.install(&plugin).await;
    let node = house.node("node-1", NodeOptions::default()).await;
    node.settled(Duration::from_secs(20)).await;
    let (caller, mut requests) = asked(&node, EraChoice::Legacy).await;
    let (answer, message) = tokio::join!(caller.call("team__ask", "{}"), async {
        let request = requests.recv().await.unwrap();
        let params: Value = serde_json::from_str(request.params.as_ref().unwrap().get()).unwrap();
        request.answer(&Ok(raw(r#"{"action":"decline"}"#)));
        params["message"].as_str().unwrap().to_owned()
    });
    assert_eq!(message, "team.ask asks: Your key?\\u{200B}");
    assert!(answer.text().contains("decline"), "{answer:?}");

    // Whose question would it be, with two calls in flight?
    let (other, mut others) = asked(&node, EraChoice::Legacy).await;
    let mut events = other.client.events();
    let hang = with_progress("team__hang", 1);
    let mut pending = Box::pin(other.call_with(&hang));
    tokio::select! {
        answer = &mut pending => panic!("{answer:?}"),
        () = under_way(&mut events, 1) => {}
    }
    let answer = caller.call("team__ask", "{}").await;
    assert!(answer.text().contains("cancel"), "{answer:?}");
    assert!(requests.try_recv().is_err() && others.try_recv().is_err());
    drop(pending);
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_may_ask_a_model_only_where_its_manifest_says_so() {
    let params = json!({"messages": [], "maxTokens": 5});
    for (more, reaches) in [("", false), ("requires:\n  models: {sampling: default}\n", true)] {
        let house = House::new().await;
        let script = asking("sampling/createMessage", &params);
        let plugin = Plugin::new(&house, "team", &[("team", script)], more);
        plugin.list("team", &[&function("ask", "-")]);
        house.install(&plugin).await;
        let node = house.node("node-1", NodeOptions::default()).await;
        node.settled(Duration::from_secs(20)).await;
        let (caller, mut requests) = asked(&node, EraChoice::Legacy).await;
        tokio::spawn(async move {
            if let Some(request) = requests.recv().await {
                request.answer(&Ok(raw(r#"{"model":"m","role":"assistant","content":{"type":"text","text":"sampled"}}"#)));
            }
        });
        let answer = caller.call("team__ask", "{}").await;
        assert_eq!(answer.text().contains("sampled"), reaches, "{answer:?}");
        node.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_is_the_snapshot_with_the_overrides_and_changes_are_told_only_when_it_changes() {
    let house = House::new().await;
    let plugin = Plugin::new(&house, "team", &[("team", json!({}))], "");
    let manifest = std::fs::read_to_string(plugin.root.join("oz0-plugin.yaml")).unwrap();
    let overrides = "    overrides:\n      hello: {annotations: {readOnlyHint: false}, outputSchema: {type: object}}\n";
    plugin.write("oz0-plugin.yaml", &(manifest + overrides));
    let hello = r#"{"name":"hello","description":"Hid\u200Bden.","annotations":{"readOnlyHint":true,"openWorldHint":true},"inputSchema":{"type":"object"},"icons":[]}"#;
    let hidden = r#"{"name":"hidden","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"a\u200B":{}}}}"#;
    let bare = r#"{"name":"bare"}"#;
    plugin.list("team", &[hello, hidden, bare]);
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    node.settled(Duration::from_secs(20)).await;
    let caller = Caller::of(&node).await;
    let mut events = caller.client.events();
    let listed = caller.client.list_functions().await.unwrap();
    let texts: Vec<&str> = listed.functions.iter().map(|function| function.get()).collect();
    assert_eq!(
        texts[1],
        r#"{"annotations":{"openWorldHint":true,"readOnlyHint":false},"description":"Hid\\u{200B}den.","inputSchema":{"type":"object"},"name":"team__hello","outputSchema":{"type":"object"}}"#
    );
    // MCP wants one, and clients refuse a whole listing for a function without.
    assert_eq!(texts[0], r#"{"name":"team__bare","inputSchema":{"type":"object"}}"#);
    let text = caller.refusal("team__hidden").await.unwrap();
    assert!(text.starts_with("team.hidden is listed and cannot be called:"), "{text}");

    // What nobody sees is not told: another order, another icon, a new function that waits.
    let icon = hello.replace(r#""icons":[]"#, r#""icons":[1]"#);
    plugin.list("team", &[bare, hidden, &icon, &function("new", "-")]);
    assert_eq!(caller.refusal("team__hello").await, None);
    house.wait_for_changes("team", 1).await;
    let told = tokio::time::timeout(Duration::from_millis(200), events.next()).await;
    assert!(told.is_err(), "{told:?}");
    plugin.list("team", &[bare, hidden]);
    assert!(caller.refusal("team__hello").await.is_some());
    let told = tokio::time::timeout(Duration::from_secs(5), events.next()).await.unwrap();
    assert!(
        matches!(told, Some(Told::Notification(told)) if told.method == "notifications/tools/list_changed")
    );
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_takes_the_path_of_every_call() {
    let house = House::new().await;
    let hello = function("hello", "Greets.");
    let odd = r#"{"content":[],"_meta":{"mine": 1.0, "oz0/forged": true}}"#;
    let script = json!({"on": {"call odd": [{"steps": [{"result": odd}]}]}});
    let plugin = Plugin::new(&house, "team", &[("team", script)], "");
    plugin.list("team", &[&hello, &function("odd", "-")]);
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    node.settled(Duration::from_secs(20)).await;
    let call = house.ask("team.hello", r#"{"x": 5}"#).await;
    assert_eq!(call.state, CallState::Done, "{call:?}");
    assert!(call.result.unwrap().get().contains('5'));
    let call = house.ask("team.odd", "{}").await;
    assert_eq!(call.result.unwrap().get(), r#"{"content":[],"_meta":{"mine": 1.0}}"#);
    let call = house.ask("team.hello", r#"{"x": "five"}"#).await;
    assert!(call.result.unwrap().get().contains("its arguments do not match its input schema"));
    let call = house.ask("team.nobody", "{}").await;
    assert_eq!(call.problem.unwrap().message, "no plugin here has a function team.nobody");
    plugin.list("team", &[&function("hello", "Evil.")]);
    let call = house.ask("team.hello", r#"{"x": 5}"#).await;
    assert!(call.result.unwrap().get().contains("lists itself differently"));
    node.shutdown().await;
}
