//! The scripted server as a child process.

use std::time::{Duration, Instant};

use oz0_mcp::{ClientOptions, EraChoice, Event, Fault};
use serde_json::{Value, json};

use crate::actor::{self, raw, received};

fn legacy() -> ClientOptions {
    ClientOptions { era: EraChoice::Legacy, ..ClientOptions::default() }
}

#[tokio::test]
async fn a_silent_probe_costs_its_time_out_and_no_more() {
    let script = json!({
        "versions": ["2025-11-25"],
        "on": {"server/discover": [{"steps": ["never"]}]},
        "functions": ["{}"],
    });
    let mut options = ClientOptions::default();
    options.timeouts.probe = Duration::from_millis(200);
    let start = Instant::now();
    let (client, _actor) = actor::stdio(script, &options).await;
    assert_eq!(client.unwrap().list_functions().await.unwrap().functions.len(), 1);
    assert!(start.elapsed() >= Duration::from_millis(200));
}

#[tokio::test]
async fn a_flood_on_stderr_and_junk_on_stdout_hold_nothing_up() {
    let script = json!({
        "on": {
            "start": [{"steps": [
                {"line": "Welcome to the server"},
                {"bytes": "fffe0a"},
                {"stderr": {"text": "0123456789abcdef", "count": 65536}},
            ]}],
            "tools/list": [{"steps": [{"stderr": {"text": "0123456789abcdef", "count": 65536}}]}],
        },
        "functions": ["{}"],
    });
    let (client, _actor) = actor::stdio(script, &ClientOptions::default()).await;
    let client = client.unwrap();
    assert_eq!(client.list_functions().await.unwrap().functions.len(), 1);
    assert_eq!(client.junk().lines, 2);
    assert_eq!(
        client.junk().sample[0],
        "Welcome to the server (not a JSON object: expected value at line 1 column 1)"
    );
}

#[tokio::test]
async fn a_huge_line_is_refused_and_the_next_answer_read() {
    let script = json!({
        "on": {"call flood": [{"steps": [{"repeat": {"text": "x", "count": 17_000_000}}, {"line": ""}, "echo"]}]},
    });
    let (client, _actor) = actor::stdio(script, &legacy()).await;
    let client = client.unwrap();
    let error = client.request("tools/call", &raw(r#"{"name":"flood"}"#)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "tools/call: the server sent a line above the limit of 16777216 bytes"
    );
    client.request("tools/call", &raw(r#"{"name":"other"}"#)).await.unwrap();
}

#[tokio::test]
async fn a_result_just_below_the_limit_is_taken() {
    let script = json!({"on": {"call big": [{"steps": [{"huge": 16_000_000}]}]}});
    let (client, _actor) = actor::stdio(script, &legacy()).await;
    let result = client.unwrap().request("tools/call", &raw(r#"{"name":"big"}"#)).await.unwrap();
    assert!(result.get().len() > 16_000_000);
}

#[tokio::test]
async fn a_server_that_exits_during_a_call_is_said_to() {
    let script = json!({"on": {"call end": [{"steps": [{"exit": 3}]}]}});
    let (client, mut actor) = actor::stdio(script, &legacy()).await;
    let error = client.unwrap().request("tools/call", &raw(r#"{"name":"end"}"#)).await.unwrap_err();
    assert_eq!(error.to_string(), "tools/call: the server ended the connection");
    assert_eq!(actor.child.wait().await.unwrap().code(), Some(3));
}

#[tokio::test]
async fn progress_and_cancellation_reach_the_right_side() {
    let script = json!({"on": {
        "call work": [{"steps": [{"progress": {"count": 3, "every_ms": 1}}, "echo"]}],
        "call stuck": [{"steps": ["never"]}],
        "call received": [{"steps": ["received"]}],
    }});
    for era in [EraChoice::Legacy, EraChoice::Modern] {
        let options = ClientOptions { era, ..ClientOptions::default() };
        let (client, _actor) = actor::stdio(script.clone(), &options).await;
        let client = client.unwrap();
        let mut events = client.events();
        let params = raw(
            r#"{"name":"work","arguments":{"n":1.0,"n2":1e2},"_meta":{"progressToken":"tok"}}"#,
        );
        let result = client.request("tools/call", &params).await.unwrap();
        assert!(result.get().contains(r#""arguments":{"n":1.0,"n2":1e2}"#), "{result}");
        for _ in 0..3 {
            let Some(Event::Notification(progress)) = events.next().await else {
                panic!("progress")
            };
            assert!(progress.params.as_ref().unwrap().get().contains(r#""progressToken":"tok""#));
        }
        let stuck = client
            .request_within("tools/call", &raw(r#"{"name":"stuck"}"#), Duration::from_millis(50))
            .await
            .unwrap_err();
        assert!(matches!(stuck.fault, Fault::TimedOut { .. }));
        let all = received(&client).await;
        let of = |method: &str| -> Vec<&Value> {
            all.iter().map(|entry| &entry["body"]).filter(|body| body["method"] == method).collect()
        };
        let stuck =
            of("tools/call").into_iter().find(|call| call["params"]["name"] == "stuck").unwrap();
        assert_eq!(of("notifications/cancelled")[0]["params"]["requestId"], stuck["id"]);
    }
}

#[tokio::test]
async fn the_client_says_the_same_of_itself_in_both_eras() {
    let script = json!({"on": {"call received": [{"steps": ["received"]}]}});
    let (client, _actor) = actor::stdio(script.clone(), &legacy()).await;
    let legacy = received(&client.unwrap()).await;
    let options = ClientOptions { era: EraChoice::Modern, ..ClientOptions::default() };
    let (client, _actor) = actor::stdio(script, &options).await;
    let modern = received(&client.unwrap()).await;
    let meta = &modern[0]["body"]["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"], json!({"name": "oz0", "version": "1"}));
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    let params = &legacy[0]["body"]["params"];
    assert_eq!(params["clientInfo"], meta["io.modelcontextprotocol/clientInfo"]);
    assert_eq!(params["capabilities"], meta["io.modelcontextprotocol/clientCapabilities"]);
    assert_eq!(params["capabilities"], json!({"elicitation": {}, "sampling": {}}));
}
