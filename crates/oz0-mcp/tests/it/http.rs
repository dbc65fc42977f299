//! The HTTP transports against the scripted server.

use std::time::{Duration, Instant};

use oz0_mcp::{
    BoundHeaders, Client, ClientOptions, ConnectError, Endpoint, EraChoice, Event, Fault,
    HeaderName, HeaderValue, ProtocolVersion,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::actor::{self, raw, received};

fn options(era: EraChoice) -> ClientOptions {
    ClientOptions { era, ..ClientOptions::default() }
}

fn base(url: &str) -> &str {
    url.strip_suffix("/mcp").unwrap()
}

const CALLS: &str = r#"{"call received": [{"steps": ["received"]}], "call work": [{"steps": [{"progress": {"count": 2, "every_ms": 1}}, "echo"]}], "call stuck": [{"steps": ["never"]}]}"#;

fn script() -> Value {
    let on: Value = serde_json::from_str(CALLS).unwrap();
    json!({"functions": [r#"{"name":"a"}"#], "on": on})
}

const CANCELLED: &str = "notifications/cancelled";

/// Everything that the server received, once this is among it.
async fn sent(client: &Client, what: impl Fn(&Value) -> bool) -> Vec<Value> {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let all = received(client).await;
        if all.iter().any(&what) {
            return all;
        }
        assert!(Instant::now() < end, "it never arrived: {all:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn echo(client: &Client) -> Result<String, Fault> {
    let params = raw(r#"{"name":"work","arguments":{"n":1.0},"_meta":{"progressToken":5}}"#);
    match client.request("tools/call", &params).await {
        Ok(result) => Ok(result.get().to_owned()),
        Err(error) => Err(error.fault),
    }
}

#[tokio::test]
async fn calls_pass_untouched_whatever_carries_the_answers() {
    for era in [EraChoice::Modern, EraChoice::Legacy] {
        for http in [
            json!({"answers": "json"}),
            json!({"answers": "events"}),
            json!({"sessions": false, "listens": false}),
            json!({"line_end": "cr", "drip": {"bytes": 1, "every_ms": 0}}),
            json!({"line_end": "crlf", "drip": {"bytes": 7, "every_ms": 0}}),
            json!({"polls": true}),
        ] {
            let mut script = script();
            script["http"] = http.clone();
            let (url, _actor) = actor::serve(script).await;
            let client = actor::http(&url, &options(era)).await.unwrap();
            let mut events = client.events();
            let result =
                echo(&client).await.unwrap_or_else(|fault| panic!("{http} {era:?}: {fault}"));
            assert!(result.contains(r#""arguments":{"n":1.0}"#), "{http}: {result}");
            let Some(Event::Notification(progress)) = events.next().await else { panic!("{http}") };
            assert_eq!(progress.method, "notifications/progress");
            assert!(progress.during.is_some() || http["polls"] == true);
            client.close().await;
        }
    }
}

#[tokio::test]
async fn legacy_requests_carry_session_and_version_and_the_session_is_deleted() {
    let (url, _actor) = actor::serve(script()).await;
    let client = actor::http(&url, &options(EraChoice::Legacy)).await.unwrap();
    client.list_functions().await.unwrap();
    let other = actor::http(&url, &options(EraChoice::Legacy)).await.unwrap();
    let mut all = sent(&client, |entry| entry["method"] == "GET").await;
    assert!(all[0]["headers"].get("mcp-protocol-version").is_none());
    let session = all
        .iter()
        .find(|entry| entry["body"]["method"] == "tools/list")
        .map(|entry| {
            assert_eq!(entry["headers"]["mcp-protocol-version"], "2025-11-25");
            entry["headers"]["mcp-session-id"].clone()
        })
        .unwrap();
    client.close().await;
    all = received(&other).await;
    let deleted = all.iter().find(|entry| entry["method"] == "DELETE").expect("a DELETE");
    assert_eq!(deleted["headers"]["mcp-session-id"], session);
}

#[tokio::test]
async fn modern_requests_carry_their_routing_headers_and_no_session() {
    let mut script = script();
    script["functions"] = json!([json!({
        "name": "schön",
        "inputSchema": {"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            "flag": {"type": "boolean", "x-mcp-header": "Flag"},
            "none": {"type": "string", "x-mcp-header": "None"},
            "default": {"type": "object", "default": {"x-mcp-header": "no schema"}},
        }},
    })
    .to_string()]);
    let (url, _actor) = actor::serve(script).await;
    let client = actor::http(&url, &options(EraChoice::Modern)).await.unwrap();
    let listing = client.list_functions().await.unwrap();
    assert_eq!((listing.functions.len(), listing.left_out.len()), (1, 0));
    let params = raw(
        r#"{"name":"schön","arguments":{"region":" ü","deep":{"n":42.0},"flag":true,"none":null}}"#,
    );
    client.request("tools/call", &params).await.unwrap();
    let all = received(&client).await;
    assert!(all.iter().all(|entry| entry["method"] == "POST"));
    let headers =
        &all.iter().find(|entry| entry["body"]["params"]["name"] == "schön").unwrap()["headers"];
    assert_eq!(headers["mcp-protocol-version"], "2026-07-28");
    assert_eq!(headers["mcp-method"], "tools/call");
    assert_eq!(headers["mcp-name"], "=?base64?c2Now7Zu?=");
    assert_eq!(headers["mcp-param-region"], "=?base64?IMO8?=");
    assert_eq!(headers["mcp-param-n"], "42");
    assert_eq!(headers["mcp-param-flag"], "true");
    assert!(headers.get("mcp-param-none").is_none());
    assert!(headers.get("mcp-session-id").is_none());
    assert_eq!(headers["accept"], "application/json, text/event-stream");
}

#[tokio::test]
async fn a_function_with_an_invalid_header_mark_is_left_out_over_modern_http_only() {
    let bad = |schema: Value| json!({"name": "bad", "inputSchema": schema}).to_string();
    let marked = |kind: &str, name: &str| json!({"type": kind, "x-mcp-header": name});
    let functions = [
        bad(json!({"properties": {"a": marked("number", "A")}})),
        bad(json!({"properties": {"a": marked("string", "A B")}})),
        bad(json!({"properties": {"a": marked("string", "A"), "b": marked("string", "a")}})),
        bad(json!({"properties": {"a": {"items": marked("string", "A")}}})),
        bad(json!({"$defs": {"a": marked("string", "A")}})),
        bad(json!({"x-mcp-header": "A", "type": "string"})),
        bad(json!({"properties": {"x-mcp-header": {"type": "string"}}})),
    ];
    let (url, _actor) = actor::serve(json!({"functions": functions})).await;
    let modern = actor::http(&url, &options(EraChoice::Modern)).await.unwrap();
    let listing = modern.list_functions().await.unwrap();
    // The last one only has a parameter of that name.
    assert_eq!(listing.functions.len(), 1);
    let reasons: Vec<&str> = listing.left_out.iter().map(|left| &*left.reason).collect();
    insta::assert_snapshot!(reasons.join("\n"));
    let legacy = actor::http(&url, &options(EraChoice::Legacy)).await.unwrap();
    assert_eq!(legacy.list_functions().await.unwrap().functions.len(), functions.len());
}

#[tokio::test]
async fn a_lost_session_is_opened_anew_once_for_all() {
    let mut script = script();
    script["on"]["call forget"] = json!([{"steps": ["drop_sessions", "echo"]}]);
    let (url, _actor) = actor::serve(script).await;
    let client = actor::http(&url, &options(EraChoice::Legacy)).await.unwrap();
    let mut events = client.events();
    client.request("tools/call", &raw(r#"{"name":"forget"}"#)).await.unwrap();
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.list_functions().await.map(|l| l.functions.len()) })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap(), 1);
    }
    assert!(matches!(events.next().await, Some(Event::Reinitialized)));
    let opened = received(&client)
        .await
        .iter()
        .filter(|entry| entry["body"]["method"] == "initialize")
        .count();
    assert_eq!(opened, 2);
}

#[tokio::test]
async fn a_session_that_is_lost_again_and_again_is_an_error() {
    let mut script = script();
    script["on"]["tools/list"] = json!([{"steps": [{"status": {"code": 404}}]}]);
    let (url, _actor) = actor::serve(script).await;
    let client = actor::http(&url, &options(EraChoice::Legacy)).await.unwrap();
    let error = client.list_functions().await.unwrap_err().to_string();
    assert!(error.ends_with("the server answered HTTP 404"), "{error}");
}

#[tokio::test]
async fn redirects_are_followed_inside_the_origin_with_the_method_kept() {
    let (url, _actor) = actor::serve(script()).await;
    let base = base(&url);
    for era in [EraChoice::Modern, EraChoice::Legacy] {
        for hops in ["hop/308/mcp", "hop/307/hop/308/mcp"] {
            let client = actor::http(&format!("{base}/{hops}"), &options(era)).await.unwrap();
            assert!(echo(&client).await.is_ok());
            client.close().await;
        }
    }
    let (other, _other) = actor::serve(script()).await;
    let port = url.rsplit_once(':').unwrap().1.split('/').next().unwrap();
    let mut said = Vec::new();
    for target in [
        "hop/302/mcp".to_owned(),
        "hop/301/mcp".to_owned(),
        "hop/303/mcp".to_owned(),
        format!("hop/308/{other}"),
        format!("hop/308/http://localhost:{port}/mcp"),
        format!("hop/308/https://127.0.0.1:{port}/mcp"),
        format!("hop/307/http://user@127.0.0.1:{port}/mcp"),
        "hop/307/http://evil.example/mcp".to_owned(),
        "hop/308/hop/308/hop/308/hop/308/hop/308/hop/308/mcp".to_owned(),
    ] {
        for era in [EraChoice::Probe, EraChoice::Modern, EraChoice::Legacy] {
            let error = actor::http(&format!("{base}/{target}"), &options(era)).await.unwrap_err();
            if era == EraChoice::Legacy {
                said.push(error.to_string());
            }
        }
    }
    let other_port = other.rsplit_once(':').unwrap().1.split('/').next().unwrap();
    insta::assert_snapshot!(said.join("\n").replace(port, "PORT").replace(other_port, "OTHER"));
}

#[tokio::test]
async fn a_redirect_during_a_call_is_held_to_the_same_rule() {
    let (other, _other) = actor::serve(script()).await;
    let mut script = script();
    let away = json!([{"steps": [{"status": {"code": 307, "headers": {"location": other}}}]}]);
    script["on"]["call work"] = away.clone();
    script["on"]["tools/list"] = away;
    let (url, _actor) = actor::serve(script).await;
    let client = actor::http(&url, &options(EraChoice::Legacy)).await.unwrap();
    assert!(matches!(echo(&client).await, Err(Fault::Redirect { status: 307, .. })));
    let error = client.list_functions().await.unwrap_err().to_string();
    assert!(error.contains("it leaves the server's origin"), "{error}");
    // A request that failed is over: there is nothing to cancel.
    let all = received(&client).await;
    assert!(all.iter().all(|entry| entry["body"]["method"] != "notifications/cancelled"));
    let client = actor::http(&other, &options(EraChoice::Legacy)).await.unwrap();
    // Nothing but our own connection ever arrived there.
    assert!(received(&client).await.iter().all(|entry| entry["body"]["method"] != "tools/list"));
}

#[tokio::test]
async fn the_two_endpoints_stay_on_their_origin() {
    let mut script = script();
    script["versions"] = json!(["2024-11-05", "2025-03-26"]);
    script["http"] = json!({"two_endpoints": true});
    let (url, _actor) = actor::serve(script.clone()).await;
    let client = actor::http(&url, &ClientOptions::default()).await.unwrap();
    assert_eq!(client.protocol(), ProtocolVersion::V2025_03_26);
    assert!(echo(&client).await.unwrap().contains(r#""arguments":{"n":1.0}"#));
    client.close().await;
    for place in
        ["http://127.0.0.1:1/messages", "https://evil.example/messages", "//evil.example/m"]
    {
        script["http"]["endpoint"] = json!(place);
        let (url, _actor) = actor::serve(script.clone()).await;
        let error = actor::http(&url, &ClientOptions::default()).await.unwrap_err().to_string();
        assert!(error.contains("its message endpoint is at"), "{error}");
    }
}

#[tokio::test]
async fn unasked_notifications_arrive_on_the_legacy_stream() {
    let mut script = script();
    script["timers"] = json!([{"every_ms": 30, "steps": [{"notify": {"method": "notifications/tools/list_changed"}}]}]);
    let (url, _actor) = actor::serve(script).await;
    let client = actor::http(&url, &options(EraChoice::Legacy)).await.unwrap();
    let Some(Event::Notification(told)) = client.events().next().await else {
        panic!("a notification")
    };
    assert_eq!((&*told.method, told.during), ("notifications/tools/list_changed", None));
}

#[tokio::test]
async fn a_servers_request_is_answered_over_http() {
    let mut script = script();
    script["on"]["call ask"] =
        json!([{"steps": [{"ask": {"method": "elicitation/create", "params": {}}}]}]);
    let (url, _actor) = actor::serve(script).await;
    let client = actor::http(&url, &options(EraChoice::Legacy)).await.unwrap();
    let result = client.request("tools/call", &raw(r#"{"name":"ask"}"#)).await.unwrap();
    assert!(result.get().contains("cancel"), "{result}");
}

#[tokio::test]
async fn a_call_given_up_is_cancelled_by_message_or_by_closing() {
    let (url, _actor) = actor::serve(script()).await;
    for (era, told) in [(EraChoice::Legacy, true), (EraChoice::Modern, false)] {
        let client = actor::http(&url, &options(era)).await.unwrap();
        let before = received(&client).await.len();
        let stuck = client
            .request_within("tools/call", &raw(r#"{"name":"stuck"}"#), Duration::from_millis(100))
            .await
            .unwrap_err();
        assert!(matches!(stuck.fault, Fault::TimedOut { .. }), "{stuck}");
        if told {
            let after = sent(&client, |entry| entry["body"]["method"] == CANCELLED).await;
            assert!(after.len() > before);
        } else {
            tokio::time::sleep(Duration::from_millis(200)).await;
            let all = received(&client).await;
            assert!(all.iter().skip(before).all(|entry| entry["body"]["method"] != CANCELLED));
        }
        client.close().await;
    }
}

#[tokio::test]
async fn a_slow_drip_ends_at_the_time_out() {
    let mut script = script();
    script["http"] = json!({"drip": {"bytes": 1, "every_ms": 50}, "sessions": false});
    let (url, _actor) = actor::serve(script).await;
    let mut options = options(EraChoice::Modern);
    options.timeouts.connect = Duration::from_millis(400);
    let start = Instant::now();
    let error = actor::http(&url, &options).await.unwrap_err();
    assert!(
        matches!(&error, ConnectError::Handshake { fault: Fault::TimedOut { .. }, .. }),
        "{error}"
    );
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// Answers every connection with these bytes.
async fn canned(answer: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                let mut request = vec![0; 64 << 10];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(&answer).await;
                // Closing with something unread would reset the connection, and the answer with it.
                let _ = stream.shutdown().await;
                while stream.read(&mut request).await.is_ok_and(|count| count > 0) {}
            });
        }
    });
    url
}

async fn refused(answer: impl Into<Vec<u8>>) -> String {
    let mut options = options(EraChoice::Legacy);
    options.limits.message = 1000;
    let url = canned(answer.into()).await;
    actor::http(&url, &options).await.unwrap_err().to_string()
}

#[tokio::test]
async fn answers_outside_the_rules_are_refused_and_said() {
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\n";
    let long = "x".repeat(2000);
    let mut said = Vec::new();
    for answer in [
        format!("{head}content-type: application/json\r\ncontent-encoding: gzip\r\n\r\n{{}}"),
        format!("{head}content-type: text/html\r\n\r\n<h1>Hello</h1>"),
        format!("{head}\r\n{{}}"),
        format!("{head}content-type: application/json\r\n\r\n{{\"x\":\"{long}\"}}"),
        format!("{head}content-type: text/event-stream\r\n\r\ndata: {long}\n\n"),
        format!("{head}content-type: text/event-stream\r\n\r\n: nothing\n\n"),
        format!("{head}content-type: application/json\r\n\r\n{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{{}}}}"),
        format!("{head}content-type: application/json\r\nmcp-session-id: a b\r\n\r\n{{}}"),
        "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_owned(),
        "HTTP/1.1 401 Unauthorized\r\ncontent-length: 8\r\n\r\nlog in \u{7}".to_owned(),
        "HTTP/1.1 500 Oh\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,\"message\":\"broken\"}}".to_owned(),
    ] {
        said.push(refused(answer).await);
    }
    insta::assert_snapshot!(said.join("\n"));
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx: {}\r\n\r\n{{}}",
        "y".repeat(2 << 20)
    );
    let error = refused(head).await;
    assert!(error.contains("cannot be reached"), "{error}");
}

#[tokio::test]
async fn nobody_listening_is_said_without_the_query() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let url = format!("http://{address}/mcp?key=secret");
    let error = actor::http(&url, &ClientOptions::default()).await.unwrap_err().to_string();
    assert!(error.contains("cannot be reached") && !error.contains("secret"), "{error}");
}

#[tokio::test]
async fn the_endpoints_headers_go_with_every_request() {
    let (url, _actor) = actor::serve(script()).await;
    let authorization = HeaderName::from_static("authorization");
    let headers = BoundHeaders::to(url.parse().unwrap());
    headers.set(authorization.clone(), HeaderValue::from_static("Bearer t"));
    let endpoint = Endpoint::new(&format!("{}/hop/308/mcp", base(&url))).unwrap();
    let endpoint = endpoint.with(headers.clone()).unwrap();
    let client = Client::http(&endpoint, &options(EraChoice::Legacy)).await.unwrap();
    client.list_functions().await.unwrap();
    let all = sent(&client, |entry| entry["method"] == "GET").await;
    assert!(all.iter().all(|entry| entry["headers"]["authorization"] == "Bearer t"));
    // A token that is renewed goes over the connection that is open, and so does its end.
    headers.set(authorization.clone(), HeaderValue::from_static("Bearer u"));
    client.list_functions().await.unwrap();
    headers.unset(&authorization);
    let all = received(&client).await;
    let of = |entry: &Value| entry["headers"]["authorization"].clone();
    let lists: Vec<Value> =
        all.iter().filter(|entry| entry["body"]["method"] == "tools/list").map(of).collect();
    assert_eq!(lists, ["Bearer t", "Bearer u"]);
    assert_eq!(all.last().map(of), Some(Value::Null));
}

#[tokio::test]
async fn a_name_that_stands_twice_is_not_sent_beside_a_header_that_says_one() {
    let (url, _actor) = actor::serve(script()).await;
    let client = actor::http(&url, &options(EraChoice::Modern)).await.unwrap();
    let error = client
        .request("tools/call", &raw(r#"{"name":"a","name":"b"}"#))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("the member `name` stands twice"), "{error}");
}
