//! The server over real loopback HTTP: the modern era, and what every request must pass first.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use oz0_mcp::server::Server;
use oz0_mcp::{Client, ClientOptions, EraChoice, ProtocolVersion};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::server_gateway::{
    Endpoint, FORM, META, Memory, initialize, modern_call, options, raw, server, until,
};

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{META}}}"#;

fn list() -> String {
    LIST.replace("META", META)
}

#[tokio::test]
async fn our_own_client_lists_calls_and_is_asked_in_both_eras() {
    let endpoint = Endpoint::open(server(Memory::new())).await;
    let url = format!("http://{}/mcp", endpoint.address);
    for (era, version) in [
        (EraChoice::Probe, ProtocolVersion::V2026_07_28),
        (EraChoice::Legacy, ProtocolVersion::V2025_11_25),
    ] {
        let (requests, mut asked) = mpsc::channel(4);
        let options = ClientOptions { requests: Some(requests), era, ..ClientOptions::default() };
        let target = oz0_mcp::Endpoint::new(&url).unwrap();
        let client = Client::http(&target, &options).await.unwrap();
        assert_eq!(client.protocol(), version);
        assert_eq!(client.list_functions().await.unwrap().functions.len(), 3);
        let params = raw(r#"{"name":"echo","arguments":{"n": 1.00,"n":2}}"#);
        let result = client.request("tools/call", &params).await.unwrap();
        assert!(result.get().contains(r#""arguments":{"n": 1.00,"n":2}"#), "{result}");
        let result = client.request("tools/call", &raw(r#"{"name":"big"}"#)).await.unwrap();
        assert!(result.get().len() > 1 << 20);
        if era == EraChoice::Legacy {
            tokio::spawn(async move {
                while let Some(request) = asked.recv().await {
                    assert_eq!(request.params.as_ref().unwrap().get(), FORM);
                    request.answer(&Ok(raw(r#"{"action":"decline"}"#)));
                }
            });
            for name in ["ask", "rounds"] {
                let call = raw(format!(r#"{{"name":"{name}"}}"#));
                let result = client.request("tools/call", &call).await.unwrap();
                assert!(result.get().contains("decline"), "{result}");
            }
        }
        client.close().await;
    }
}

#[tokio::test]
async fn a_stranger_to_this_host_is_turned_away() {
    let endpoint = Endpoint::open(server(Memory::new())).await;
    let status = |head: Vec<(&'static str, &'static str)>| {
        let endpoint = &endpoint;
        async move { endpoint.post(&head, &initialize("2025-11-25")).await.status }
    };
    for host in [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example:80",
        "[::2]",
        "localhost:x",
        "127.0.0.1@evil",
        "127.1",
    ] {
        assert_eq!(status(vec![("Host", host)]).await, 403, "{host}");
    }
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1:65535", "[::1]:7071", "localhost."] {
        assert_eq!(status(vec![("Host", host)]).await, 200, "{host}");
    }
    assert_eq!(status(vec![("Host", "localhost"), ("Host", "localhost")]).await, 400);
    for origin in [
        "http://evil.example",
        "null",
        "http://localhost.evil.example",
        "file://localhost",
        "http://",
        "http://localhost/x",
    ] {
        assert_eq!(status(vec![("Origin", origin)]).await, 403, "{origin}");
    }
    for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:5"] {
        assert_eq!(status(vec![("Origin", origin)]).await, 200, "{origin}");
    }
}

#[tokio::test]
async fn forms_that_are_not_taken_have_their_status() {
    let mut options = options();
    options.limits.message = 4096;
    let endpoint = Endpoint::open(Server::new(Arc::new(Memory::new()), options)).await;
    let body = initialize("2025-11-25");
    let post = |head: Vec<(&'static str, &'static str)>| {
        let (endpoint, body) = (&endpoint, &body);
        async move { endpoint.post(&head, body).await.status }
    };
    assert_eq!(post(vec![("Content-Type", "text/plain")]).await, 415);
    assert_eq!(post(vec![("Content-Type", "")]).await, 415);
    assert_eq!(post(vec![("Content-Encoding", "gzip")]).await, 415);
    assert_eq!(post(vec![("Accept", "text/html")]).await, 406);
    assert_eq!(post(vec![("Accept", "application/json;q=0, text/event-stream")]).await, 406);
    assert_eq!(
        post(vec![("Accept", "*/*"), ("Content-Type", "application/json; charset=utf-8")]).await,
        200
    );
    let big = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(5000));
    assert_eq!(endpoint.post(&[], &big).await.status, 413);
    assert_eq!(endpoint.post(&[], "{").await.json()["error"]["code"], -32700);
    assert_eq!(endpoint.exchange(&[], "PUT", "").await.status, 405);
    let gone = endpoint.exchange(&[("MCP-Protocol-Version", "2026-07-28")], "GET", "").await;
    assert_eq!((gone.status, gone.header("allow")), (405, Some("POST")));
    let many: Vec<(String, String)> = (0..80).map(|n| (format!("X-{n}"), "1".to_owned())).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    assert_eq!(endpoint.post(&many, &body).await.status, 431);
}

#[tokio::test]
async fn a_client_needs_its_token() {
    let memory = Memory { tokens: true, ..Memory::new() };
    let endpoint = Endpoint::open(server(memory)).await;
    for (token, status, challenge) in [
        (None, 401, "Bearer"),
        (Some("Bearer x"), 401, "Bearer error=\"invalid_token\""),
        (Some("Basic b25l"), 401, "Bearer error=\"invalid_token\""),
        (Some("Bearer none"), 403, "Bearer error=\"insufficient_scope\""),
    ] {
        let head: Vec<(&str, &str)> = token.iter().map(|token| ("Authorization", *token)).collect();
        let reply = endpoint.post(&head, &initialize("2025-11-25")).await;
        assert_eq!((reply.status, reply.header("www-authenticate")), (status, Some(challenge)));
    }
    let reply = endpoint.post(&[("Authorization", "bearer one")], &initialize("2025-11-25")).await;
    assert_eq!(reply.status, 200);
}

#[tokio::test]
async fn headers_and_body_must_say_the_same() {
    let endpoint = Endpoint::open(server(Memory::new())).await;
    let call = modern_call(1, "echo", "");
    let code = |version: &'static str, method: &'static str, name: &'static str, body: String| {
        let endpoint = &endpoint;
        async move {
            let head =
                [("MCP-Protocol-Version", version), ("Mcp-Method", method), ("Mcp-Name", name)];
            let reply = endpoint.post(&head, &body).await;
            (reply.status, reply.json()["error"]["code"].clone())
        }
    };
    let mismatch = (400, json!(-32020));
    let v = "2026-07-28";
    assert_eq!(code(v, "tools/call", "echo", call.clone()).await, (200, Value::Null));
    assert_eq!(
        code(v, "tools/call", "=?base64?ZWNobw==?=", call.clone()).await,
        (200, Value::Null)
    );
    assert_eq!(code(v, "tools/call", "=?base64?ZWN!bw==?=", call.clone()).await, mismatch);
    assert_eq!(code("", "tools/call", "echo", call.clone()).await, mismatch);
    assert_eq!(code("2025-11-25", "tools/call", "echo", call.clone()).await, mismatch);
    assert_eq!(code(v, "", "echo", call.clone()).await, mismatch);
    assert_eq!(code(v, "tools/list", "echo", call.clone()).await, mismatch);
    assert_eq!(code(v, "tools/call", "", call.clone()).await, mismatch);
    assert_eq!(code(v, "tools/call", "Echo", call.clone()).await, mismatch);
    let twice = call.replace(r#""name":"echo","#, r#""name":"echo","name":"error","#);
    assert_eq!(code(v, "tools/call", "echo", twice).await, (400, json!(-32602)));
    let other = call.replace(v, "2099-01-01");
    assert_eq!(code("2099-01-01", "tools/call", "echo", other).await, (400, json!(-32022)));
    let bare = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_owned();
    assert_eq!(code(v, "tools/list", "", bare.clone()).await, (400, json!(-32602)));
    assert_eq!(code("2099-01-01", "tools/list", "", bare).await, (400, json!(-32022)));
    let unknown = list().replace("tools/list", "prompts/list");
    assert_eq!(code(v, "prompts/list", "", unknown).await, (404, json!(-32601)));
    assert_eq!(
        code(v, "tools/call", "nope", modern_call(1, "nope", "")).await,
        (400, json!(-32602))
    );
    assert_eq!(
        code(v, "tools/call", "error", modern_call(1, "error", "")).await,
        (200, json!(-32077))
    );
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let head = [("MCP-Protocol-Version", v)];
    assert_eq!(endpoint.post(&head, answer).await.status, 400);
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    assert_eq!(endpoint.post(&head, notification).await.status, 202);
    assert_eq!(endpoint.post(&head, &format!("[{call}]")).await.status, 400);
}

#[tokio::test]
async fn headers_that_copy_arguments_must_say_what_they_say() {
    let memory = Memory { marked: true, ..Memory::new() };
    let endpoint = Endpoint::open(server(memory)).await;
    let code = |arguments: &'static str, region: &'static str, number: &'static str| {
        let endpoint = &endpoint;
        async move {
            let call = modern_call(1, "marked", &format!(r#","arguments":{arguments}"#));
            let head = [
                ("MCP-Protocol-Version", "2026-07-28"),
                ("Mcp-Method", "tools/call"),
                ("Mcp-Name", "marked"),
                ("Mcp-Param-Region", region),
                ("mcp-param-n", number),
                ("Mcp-Param-Unknown", "is ignored"),
            ];
            let reply = endpoint.post(&head, &call).await;
            (reply.status, reply.json()["error"]["code"].clone())
        }
    };
    let (fine, mismatch) = ((200, Value::Null), (400, json!(-32020)));
    assert_eq!(code(r#"{"region":"eu","deep":{"n":7}}"#, "eu", "7").await, fine);
    assert_eq!(code(r#"{"region":"eu","deep":{"n":7.0}}"#, "=?base64?ZXU=?=", "7").await, fine);
    assert_eq!(code(r#"{"region":null}"#, "", "").await, fine);
    assert_eq!(code("{}", "", "").await, fine);
    assert_eq!(code("{}", "eu", "").await, mismatch);
    assert_eq!(code(r#"{"region":"eu"}"#, "", "").await, mismatch);
    assert_eq!(code(r#"{"region":"eu"}"#, "us", "").await, mismatch);
    assert_eq!(code(r#"{"region":"eu","deep":{"n":7}}"#, "eu", "8").await, mismatch);
    assert_eq!(code(r#"{"region":"us","region":"eu"}"#, "us", "").await, mismatch);
}

#[tokio::test]
async fn an_answer_is_json_until_there_is_something_to_say_before_it() {
    let endpoint = Endpoint::open(server(Memory::new())).await;
    let listed = endpoint.modern("tools/list", "", &list()).await;
    assert_eq!(listed.header("content-type"), Some("application/json"));
    assert_eq!(listed.header("mcp-session-id"), None);
    assert_eq!(listed.json()["result"]["tools"].as_array().unwrap().len(), 3);
    let call =
        modern_call(1, "progress", "").replace(r#""_meta":{"#, r#""_meta":{"progressToken":"p","#);
    let told = endpoint.modern("tools/call", "progress", &call).await;
    assert_eq!(told.header("content-type"), Some("text/event-stream"));
    assert_eq!(told.header("x-accel-buffering"), Some("no"));
    let events = told.events();
    assert_eq!(events.len(), 4);
    assert!(events.iter().all(|(id, _)| id.is_none()), "there is nothing to come back to");
    assert!(events[0].1.contains(r#""progressToken":"p""#), "{events:?}");
    assert!(events[3].1.contains(r#""resultType":"complete""#), "{events:?}");
}

#[tokio::test]
async fn closing_the_connection_cancels_a_modern_call() {
    let memory = Memory::new();
    let (cancelled, started) = (Arc::clone(&memory.cancelled), Arc::clone(&memory.started));
    let endpoint = Endpoint::open(server(memory)).await;
    let head = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "slow"),
    ];
    let stream = endpoint.begin(&head, "POST", &modern_call(1, "slow", "")).await;
    while started.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(stream);
    for _ in 0..400 {
        if cancelled.load(Ordering::SeqCst) == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the call goes on");
}

#[tokio::test]
async fn a_subscription_brings_changes_and_ends_with_the_server() {
    let memory = Memory::new();
    let revision = memory.revision.clone();
    let endpoint = Endpoint::open(server(memory)).await;
    let listen = format!(
        r#"{{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{{"_meta":{{{META}}},"notifications":{{"toolsListChanged":true}}}}}}"#
    );
    let head = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "subscriptions/listen")];
    let plain =
        endpoint.post(&[&head[..], &[("Accept", "application/json")]].concat(), &listen).await;
    assert_eq!(plain.status, 406);
    let mut stream = endpoint.begin(&head, "POST", &listen).await;
    let first = until(&mut stream, "\n\n").await;
    assert!(first.contains("text/event-stream"), "{first}");
    let first = if first.contains("acknowledged") {
        first
    } else {
        until(&mut stream, "acknowledged").await
    };
    assert!(!first.contains("list_changed"), "{first}");
    revision.send_replace(2);
    let told = until(&mut stream, "list_changed").await;
    assert!(told.contains(r#""io.modelcontextprotocol/subscriptionId":"sub""#), "{told}");
    endpoint.server.shutdown();
    let ended = until(&mut stream, "resultType").await;
    assert!(ended.contains(r#""id":"sub","result""#), "{ended}");
    tokio::time::timeout(Duration::from_secs(5), endpoint.served).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_modern_client_is_asked_across_requests_and_only_itself() {
    let memory = Memory { tokens: true, ..Memory::new() };
    let endpoint = Endpoint::open(server(memory)).await;
    let post = |token: &'static str, name: &'static str, more: String| {
        let endpoint = &endpoint;
        async move {
            let head = [
                ("MCP-Protocol-Version", "2026-07-28"),
                ("Mcp-Method", "tools/call"),
                ("Mcp-Name", name),
                ("Authorization", token),
            ];
            let reply = endpoint.post(&head, &modern_call(1, name, &more)).await;
            (reply.status, reply.json())
        }
    };
    for name in ["ask", "rounds"] {
        let (_, wanted) = post("Bearer one", name, String::new()).await;
        let result = &wanted["result"];
        let key = result["inputRequests"].as_object().unwrap().keys().next().unwrap();
        let more = format!(
            r#","inputResponses":{{"{key}":{{"action":"decline"}}}},"requestState":{}"#,
            result["requestState"]
        );
        let (status, stolen) = post("Bearer two", name, more.clone()).await;
        assert_eq!((status, &stolen["error"]["code"]), (400, &json!(-32602)));
        // A retry that answers nothing is asked again, and nothing is lost.
        if name == "ask" {
            let (_, again) =
                post("Bearer one", name, format!(r#","requestState":{}"#, result["requestState"]))
                    .await;
            assert_eq!(again["result"]["resultType"], "input_required");
            let more = more.replace(
                &result["requestState"].to_string(),
                &again["result"]["requestState"].to_string(),
            );
            let (_, done) = post("Bearer one", name, more.clone()).await;
            assert_eq!(done["result"]["answer"]["action"], "decline", "{done}");
            let (status, replayed) = post("Bearer one", name, more).await;
            assert_eq!((status, &replayed["error"]["code"]), (400, &json!(-32602)));
        } else {
            let (_, next) = post("Bearer one", name, more).await;
            assert_eq!(next["result"]["resultType"], "input_required");
        }
    }
}

#[tokio::test]
async fn requests_in_flight_of_one_client_are_bounded() {
    let mut options = options();
    options.limits.in_flight = 1;
    let memory = Memory { tokens: true, ..Memory::new() };
    let started = Arc::clone(&memory.started);
    let endpoint = Endpoint::open(Server::new(Arc::new(memory), options)).await;
    let head = |token| {
        [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "slow"),
            ("Authorization", token),
        ]
    };
    let busy = endpoint.begin(&head("Bearer one"), "POST", &modern_call(1, "slow", "")).await;
    while started.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let refused = endpoint.post(&head("Bearer one"), &modern_call(2, "slow", "")).await;
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (429, &json!(-31001)));
    let other = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/list"),
        ("Authorization", "Bearer two"),
    ];
    assert_eq!(endpoint.post(&other, &list()).await.status, 200);
    drop(busy);
}

#[tokio::test]
async fn slow_senders_and_slow_readers_are_cut_off() {
    let mut options = options();
    options.timeouts.stall = Duration::from_millis(300);
    let endpoint = Endpoint::open(Server::new(Arc::new(Memory::new()), options)).await;
    let ended = |mut stream: TcpStream| async move {
        let mut rest = Vec::new();
        let all = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest));
        let _ = all.await.expect("the connection is closed");
        String::from_utf8_lossy(&rest).into_owned()
    };
    let mut begun = TcpStream::connect(endpoint.address).await.unwrap();
    begun.write_all(b"POST /mcp HTTP/1.1\r\nHost: local").await.unwrap();
    ended(begun).await;
    let mut body = TcpStream::connect(endpoint.address).await.unwrap();
    body.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{")
        .await
        .unwrap();
    assert!(ended(body).await.starts_with("HTTP/1.1 408"));
    // Answers of 20 MiB together, of which nothing is read.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut deaf = socket.connect(endpoint.address).await.unwrap();
    let call = modern_call(1, "big", "");
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: big\r\nContent-Length: {}\r\n\r\n{call}",
        call.len()
    );
    let sent = async {
        loop {
            deaf.write_all(request.as_bytes()).await?;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        #[expect(unreachable_code, reason = "it gives the block its type")]
        Ok::<(), std::io::Error>(())
    };
    let cut = tokio::time::timeout(Duration::from_secs(10), sent).await.expect("it is cut off");
    assert!(cut.is_err());
}

#[tokio::test]
async fn a_server_that_shuts_down_lets_calls_end() {
    let endpoint = Endpoint::open(server(Memory::new())).await;
    let head = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "half"),
    ];
    let mut call = endpoint.begin(&head, "POST", &modern_call(1, "half", "")).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    endpoint.server.shutdown();
    assert!(until(&mut call, "\"half\":true").await.starts_with("HTTP/1.1 200"));
    tokio::time::timeout(Duration::from_secs(5), endpoint.served).await.unwrap().unwrap();
    assert!(TcpStream::connect(endpoint.address).await.is_err());
}
