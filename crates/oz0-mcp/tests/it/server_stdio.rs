//! The server over stdio, with this crate's own client in both eras and with clients written by hand.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use oz0_mcp::server::{Principal, Server, StdioError};
use oz0_mcp::{Client, ClientOptions, Era, EraChoice, ProtocolVersion};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;

use crate::server_gateway::{
    FORM, Lines, META, Memory, initialize, modern_call, options, raw, server,
};

pub(crate) async fn client(server: &Server<Memory>, options: &ClientOptions) -> Client {
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    let server = server.clone();
    tokio::spawn(async move {
        let (reader, writer) = tokio::io::split(theirs);
        server.stdio(Principal::local(), reader, writer).await
    });
    let (reader, writer) = tokio::io::split(ours);
    Client::stdio(reader, writer, options).await.unwrap()
}

pub(crate) fn era(era: EraChoice) -> ClientOptions {
    ClientOptions { era, ..ClientOptions::default() }
}

pub(crate) fn value(result: &serde_json::value::RawValue) -> Value {
    serde_json::from_str(result.get()).unwrap()
}

#[tokio::test]
async fn our_own_client_lists_and_calls_in_both_eras() {
    for (choice, version) in [
        (EraChoice::Probe, ProtocolVersion::V2026_07_28),
        (EraChoice::Legacy, ProtocolVersion::V2025_11_25),
    ] {
        let client = client(&server(Memory::new()), &era(choice)).await;
        assert_eq!(client.protocol(), version);
        assert_eq!(client.server_info().name.as_deref(), Some("gate"));
        let listing = client.list_functions().await.unwrap();
        assert_eq!(listing.functions.len(), 3);
        let params = raw(r#"{"name":"echo","arguments":{"n": 1.00,"n":2,"s":"\u0041"}}"#);
        let result = client.request("tools/call", &params).await.unwrap();
        assert!(
            result.get().contains(r#""arguments":{"n": 1.00,"n":2,"s":"\u0041"}"#),
            "the server behind gets the client's own bytes: {result}"
        );
        assert_eq!(value(&result)["resultType"] == "complete", client.era() == Era::Modern);
        let error = client.request("tools/call", &raw(r#"{"name":"error"}"#)).await.unwrap_err();
        assert!(error.to_string().contains("-32077: no"), "{error}");
        client.close().await;
    }
}

#[tokio::test]
async fn every_page_is_read_and_a_bad_cursor_refused() {
    let mut options = options();
    options.page = 2;
    let memory = Memory { functions: 7, ..Memory::new() };
    let server = Server::new(Arc::new(memory), options);
    let listing = client(&server, &era(EraChoice::Legacy)).await.list_functions().await.unwrap();
    assert_eq!((listing.pages, listing.functions.len()), (4, 7));
    let mut lines = Lines::open(&server);
    lines.initialize("2025-06-18").await;
    for cursor in ["\"\"", "\"x\"", "\"1-0\"", "\"2-2\"", "\"1-99\"", "\"1-+2\"", "7"] {
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"cursor":{cursor}}}}}"#
        );
        assert_eq!(lines.ask(&request).await["error"]["code"], -32602, "{cursor}");
    }
}

#[tokio::test]
async fn each_version_is_agreed_on_and_an_unknown_one_gets_the_latest() {
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut lines = Lines::open(&server(Memory::new()));
        assert_eq!(
            lines.ask(r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#).await["result"],
            json!({})
        );
        let result = lines.initialize(asked).await;
        assert_eq!(result["result"]["protocolVersion"], agreed);
        assert_eq!(result["result"]["capabilities"]["tools"]["listChanged"], true);
        let unknown = lines.ask(r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list"}"#).await;
        assert_eq!(unknown["error"]["code"], -32601);
        let again = lines.ask(&initialize(asked)).await;
        assert_eq!(again["error"]["code"], -32600);
    }
}

#[tokio::test]
async fn a_modern_request_must_say_who_asks() {
    let mut lines = Lines::open(&server(Memory::new()));
    let bare = lines.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    assert_eq!(bare["error"]["code"], -32602);
    let other = META.replace("2026-07-28", "2099-01-01");
    let request = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{{"_meta":{{{other}}}}}}}"#
    );
    let refused = lines.ask(&request).await;
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(
        refused["error"]["data"],
        json!({"supported": ["2026-07-28"], "requested": "2099-01-01"})
    );
    let request =
        format!(r#"{{"jsonrpc":"2.0","id":3,"method":"ping","params":{{"_meta":{{{META}}}}}}}"#);
    assert_eq!(lines.ask(&request).await["error"]["code"], -32601);
    let request = format!(
        r#"{{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{{"_meta":{{{META}}}}}}}"#
    );
    let listed = lines.ask(&request).await;
    assert_eq!(listed["result"]["ttlMs"], 0);
    assert_eq!(listed["result"]["cacheScope"], "private");
    assert_eq!(listed["result"]["resultType"], "complete");
}

#[tokio::test]
async fn malformed_messages_are_answered_and_change_nothing() {
    let mut lines = Lines::open(&server(Memory::new()));
    lines.initialize("2025-11-25").await;
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}1{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    for (line, code, id) in [
        ("{", -32700, Value::Null),
        ("\u{feff}{}", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        ("[1,2]", -32600, Value::Null),
        (r#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#, -32600, json!(5)),
        (r#"{"jsonrpc":"2.0","id":5,"id":6,"method":"ping"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":5,"method":"ping","method":"x"}"#, -32600, json!(5)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null),
        (&deep, -32600, Value::Null),
    ] {
        let answer = lines.ask(line).await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{line}");
    }
    lines.send("").await;
    lines.writer.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":\xff}\n").await.unwrap();
    assert_eq!(lines.next().await["error"]["code"], -32700);
    assert_eq!(lines.ask(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await["result"], json!({}));
}

#[tokio::test]
async fn a_line_above_the_limit_is_refused_and_skipped() {
    let mut options = options();
    options.limits.message = 1000;
    let mut lines = Lines::open(&Server::new(Arc::new(Memory::new()), options));
    lines.initialize("2025-11-25").await;
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{}"}}}}"#,
        "x".repeat(5000)
    );
    assert_eq!(lines.ask(&long).await["error"]["code"], -32600);
    assert_eq!(lines.ask(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await["id"], 2);
}

#[tokio::test]
async fn batches_are_of_one_version_and_end() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo"}},7]"#;
    let mut lines = Lines::open(&server(Memory::new()));
    lines.initialize("2025-03-26").await;
    let answers = lines.ask(batch).await;
    let ids: Vec<&Value> = answers.as_array().unwrap().iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(1), &json!("a"), &Value::Null]);
    let endless =
        format!("[{}]", vec![r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#; 101].join(","));
    assert_eq!(lines.ask(&endless).await["error"]["code"], -32600);
    let inner = format!("[{}]", initialize("2025-03-26"));
    assert_eq!(lines.ask(&inner).await[0]["error"]["code"], -32600);

    let mut lines = Lines::open(&server(Memory::new()));
    lines.initialize("2025-06-18").await;
    assert_eq!(lines.ask(batch).await["error"]["code"], -32600);
}

#[tokio::test]
async fn progress_carries_the_clients_token_and_comes_before_the_answer() {
    for modern in [false, true] {
        let mut lines = Lines::open(&server(Memory::new()));
        let meta = if modern {
            format!(r#"{META},"progressToken":"t é""#)
        } else {
            lines.initialize("2024-11-05").await;
            r#""progressToken":"t é""#.to_owned()
        };
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"progress","_meta":{{{meta}}}}}}}"#
        );
        lines.send(&request).await;
        for step in 1..=3 {
            assert_eq!(
                lines.line().await,
                format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progress":{step}.0,  "progressToken":"t é","message":"s{step}","_meta":{{"y":2}}}}}}"#
                )
            );
        }
        assert_eq!(lines.next().await["id"], 1);
    }
}

#[tokio::test]
async fn a_cancelled_call_is_dropped_and_not_answered() {
    let memory = Memory::new();
    let (cancelled, started) = (Arc::clone(&memory.cancelled), Arc::clone(&memory.started));
    let mut lines = Lines::open(&server(memory));
    lines.initialize("2025-11-25").await;
    lines
        .send(r#"{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"slow"}}"#)
        .await;
    let again = lines.ask(r#"{"jsonrpc":"2.0","id":"s","method":"ping"}"#).await;
    assert_eq!(again["error"]["code"], -32600, "the ID is in use");
    assert_eq!(started.load(Ordering::SeqCst), 1);
    lines
        .send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}}"#)
        .await;
    let next = lines.ask(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await;
    assert_eq!(next["id"], 2);
    assert_eq!(cancelled.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn requests_in_flight_are_bounded_and_the_end_of_input_lets_them_end() {
    let mut options = options();
    options.limits.in_flight = 2;
    let mut lines = Lines::open(&Server::new(Arc::new(Memory::new()), options));
    lines.initialize("2025-11-25").await;
    for id in 1..=3 {
        lines
            .send(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"half"}}}}"#
            ))
            .await;
    }
    let refused = lines.next().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(3), &json!(-31001)));
    lines.writer.shutdown().await.unwrap();
    assert_eq!(lines.next().await["result"]["half"], true);
    assert_eq!(lines.next().await["result"]["half"], true);
    assert!(lines.reader.next_line().await.unwrap().is_none());
    lines.served.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_call_that_hangs_does_not_outlive_the_end_of_input() {
    let memory = Memory::new();
    let (cancelled, started) = (Arc::clone(&memory.cancelled), Arc::clone(&memory.started));
    let mut lines = Lines::open(&Server::new(Arc::new(memory), options()));
    lines.initialize("2025-11-25").await;
    lines.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}"#).await;
    while started.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let closed = std::time::Instant::now();
    lines.writer.shutdown().await.unwrap();
    lines.served.await.unwrap().unwrap();
    assert!(closed.elapsed() < Duration::from_secs(5), "{:?}", closed.elapsed());
    assert_eq!(cancelled.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_legacy_client_is_asked_whichever_era_the_server_behind_has() {
    let (requests, mut asked) = mpsc::channel(4);
    let options = ClientOptions { requests: Some(requests), ..era(EraChoice::Legacy) };
    let client = client(&server(Memory::new()), &options).await;
    tokio::spawn(async move {
        let mut count = 0;
        while let Some(request) = asked.recv().await {
            assert_eq!(request.method, "elicitation/create");
            assert_eq!(request.params.as_ref().unwrap().get(), FORM);
            count += 1;
            let answer = format!(r#"{{"action":"accept", "content":{{"name":"n{count}"}}}}"#);
            request.answer(&Ok(raw(answer)));
        }
    });
    let result = client.request("tools/call", &raw(r#"{"name":"ask"}"#)).await.unwrap();
    assert!(
        result.get().contains(r#""answer":{"action":"accept", "content":{"name":"n1"}}"#),
        "{result}"
    );
    let result = client.request("tools/call", &raw(r#"{"name":"rounds"}"#)).await.unwrap();
    assert_eq!(value(&result)["answers"]["k"]["content"]["name"], "n3", "{result}");
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_not() {
    let mut lines = Lines::open(&server(Memory::new()));
    let without = initialize("2025-11-25").replace(r#""elicitation":{}"#, "");
    lines.ask(&without).await;
    let result = lines
        .ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}"#)
        .await;
    assert_eq!(result["result"]["unable"], true);
    let result = lines
        .ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rounds"}}"#)
        .await;
    assert_eq!(result["result"]["answers"]["k"]["action"], "cancel", "{result}");
    // Elicitation came with 2025-06-18, whatever a client declares.
    let mut lines = Lines::open(&server(Memory::new()));
    lines.initialize("2025-03-26").await;
    let result = lines
        .ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}"#)
        .await;
    assert_eq!(result["result"]["unable"], true);
    let mut lines = Lines::open(&server(Memory::new()));
    let without = modern_call(1, "rounds", "").replace(r#""elicitation":{}"#, "");
    let result = lines.ask(&without).await;
    assert_eq!(result["error"]["code"], -32021);
    assert_eq!(result["error"]["data"]["requiredCapabilities"], json!({"elicitation": {}}));
}

#[tokio::test]
async fn a_modern_client_brings_the_answer_with_its_next_request() {
    let mut lines = Lines::open(&server(Memory::new()));
    for name in ["ask", "rounds"] {
        let mut id = 1;
        let mut more = String::new();
        let rounds = if name == "ask" { 1 } else { 2 };
        for round in 0..rounds {
            let wanted = lines.ask(&modern_call(id, name, &more)).await;
            let result = &wanted["result"];
            assert_eq!(result["resultType"], "input_required", "{wanted}");
            let (key, request) =
                result["inputRequests"].as_object().unwrap().iter().next().unwrap();
            assert_eq!(request["method"], "elicitation/create");
            assert_eq!(request["params"], serde_json::from_str::<Value>(FORM).unwrap());
            more = format!(
                r#","inputResponses":{{"{key}":{{"action":"accept","content":{{"name":"r{round}"}}}}}},"requestState":{}"#,
                result["requestState"]
            );
            id += 1;
        }
        let done = lines.ask(&modern_call(id, name, &more)).await;
        assert_eq!(done["result"]["resultType"], "complete", "{done}");
        assert!(done.to_string().contains(&format!("r{}", rounds - 1)), "{done}");
    }
}

#[tokio::test]
async fn state_that_was_tampered_with_or_is_of_another_call_is_refused() {
    let mut lines = Lines::open(&server(Memory::new()));
    for name in ["ask", "rounds"] {
        let wanted = lines.ask(&modern_call(1, name, r#","arguments":{"b":1,"a":2}"#)).await;
        let state = wanted["result"]["requestState"].as_str().unwrap().to_owned();
        let key =
            wanted["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
        let retry = |name: &str, arguments: &str, state: &str| {
            let more = format!(
                r#","arguments":{arguments},"inputResponses":{{"{key}":{{"action":"decline"}}}},"requestState":"{state}""#
            );
            modern_call(2, name, &more)
        };
        let mut flipped = state.clone().into_bytes();
        flipped[20] = if flipped[20] == b'A' { b'B' } else { b'A' };
        let flipped = String::from_utf8(flipped).unwrap();
        let other = if name == "ask" { "echo" } else { "ask" };
        for (why, request) in [
            ("tampered", retry(name, r#"{"a":2,"b":1}"#, &flipped)),
            ("another function", retry(other, r#"{"a":2,"b":1}"#, &state)),
            ("other arguments", retry(name, r#"{"a":3,"b":1}"#, &state)),
            ("cut short", retry(name, r#"{"a":2,"b":1}"#, &state[..8])),
            ("none of ours", retry(name, r#"{"a":2,"b":1}"#, "first")),
        ] {
            let refused = lines.ask(&request).await;
            assert_eq!(refused["error"]["code"], -32602, "{why}: {refused}");
        }
        // The same arguments in another order are the same.
        let taken = lines.ask(&retry(name, r#"{"a": 2, "b": 1}"#, &state)).await;
        assert!(taken["result"].is_object(), "{taken}");
    }
}

#[tokio::test]
async fn a_question_nobody_answers_ends() {
    let mut options = options();
    options.timeouts.ask = Duration::from_millis(50);
    let mut lines = Lines::open(&Server::new(Arc::new(Memory::new()), options));
    lines.initialize("2025-11-25").await;
    let asked = lines
        .ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}"#)
        .await;
    assert_eq!(asked["method"], "elicitation/create");
    let back = lines.next().await;
    assert_eq!(back["method"], "notifications/cancelled");
    assert_eq!(back["params"]["requestId"], asked["id"]);
    let failed = lines.next().await;
    assert_eq!(failed["error"]["code"], -32078, "{failed}");
    // An answer that comes too late, or to nothing, does no harm.
    lines.send(r#"{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}"#).await;
    lines.send(r#"{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":""}}"#).await;
    assert_eq!(lines.ask(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await["id"], 2);
}

#[tokio::test]
async fn keys_of_ours_never_reach_a_client() {
    let mut lines = Lines::open(&server(Memory::new()));
    lines.initialize("2025-11-25").await;
    let result = r#"{"_meta":{"oz0/a":1,"k": 1.0},"content":[{"type":"text","text":"oz0/","_meta":{"o\u007a0/b":2}},{"type":"resource","resource":{"uri":"x","_meta":{"oz0/c":3,"z":1}}}],"structuredContent":{"_meta":{"oz0/d":4}}}"#;
    let request = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"result","arguments":{{"result":{result}}}}}}}"#
    );
    lines.send(&request).await;
    assert_eq!(
        lines.line().await,
        r#"{"jsonrpc":"2.0","id":1,"result":{"_meta":{"k": 1.0},"content":[{"type":"text","text":"oz0/","_meta":{}},{"type":"resource","resource":{"uri":"x","_meta":{"z":1}}}],"structuredContent":{"_meta":{"oz0/d":4}}}}"#,
        "structured content is the server's own, and has no `_meta`"
    );
}

#[tokio::test]
async fn a_result_with_line_ends_stays_one_line_and_an_id_stays_as_written() {
    let mut lines = Lines::open(&server(Memory::new()));
    lines.initialize("2025-11-25").await;
    let big = "y".repeat(40 << 10);
    for text in ["a", &big] {
        let batch = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"tools/call\",\"params\":{{\"name\":\"result\",\"arguments\":{{\"result\":{{\\n \"x\" : \"{text}\\\\n\"}}}}}}}}"
        );
        // A line cannot carry a line end, so the result's comes from a carriage return between its tokens.
        lines.send(&batch.replace("\\n \"x\"", "\r \"x\"")).await;
        assert_eq!(
            lines.line().await,
            format!(r#"{{"jsonrpc":"2.0","id":1.0,"result":{{  "x" : "{text}\\n"}}}}"#)
        );
    }
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_cut_off() {
    let mut options = options();
    options.timeouts.stall = Duration::from_millis(200);
    options.limits.unread = 2 << 20;
    let mut lines = Lines::open(&Server::new(Arc::new(Memory::new()), options));
    lines.initialize("2025-11-25").await;
    for id in 0..20 {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"big"}}}}"#
        );
        lines.send(&call).await;
    }
    let end = tokio::time::timeout(Duration::from_secs(5), lines.served).await.unwrap().unwrap();
    match end {
        Err(StdioError::Stalled(_, waiting)) => {
            assert!(waiting < 4 << 20, "no more than the limit and one answer waits: {waiting}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn log_messages_follow_the_level() {
    let error = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error", "data":2,"_meta":{}}}"#;
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"log"}}"#;
    let level = |level: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{{"level":"{level}"}}}}"#
        )
    };
    let mut lines = Lines::open(&server(Memory::new()));
    lines.initialize("2025-11-25").await;
    assert_eq!(lines.ask(call).await["id"], 2, "nothing before a level is set");
    assert_eq!(lines.ask(&level("loud")).await["error"]["code"], -32602);
    assert_eq!(lines.ask(&level("warning")).await["result"], json!({}));
    lines.send(call).await;
    assert_eq!(lines.line().await, error);
    assert_eq!(lines.next().await["id"], 2);

    let mut lines = Lines::open(&server(Memory::new()));
    assert_eq!(lines.ask(&modern_call(1, "log", "")).await["id"], 1);
    let asks = r#""_meta":{"io.modelcontextprotocol/logLevel":"error","#;
    lines.send(&modern_call(2, "log", "").replace(r#""_meta":{"#, asks)).await;
    assert_eq!(lines.line().await, error);
    assert_eq!(lines.next().await["id"], 2);
}

#[tokio::test]
async fn a_result_is_passed_byte_for_byte_but_for_what_its_era_needs() {
    let mut lines = Lines::open(&server(Memory::new()));
    let big = "\\n ü \\u0041 ".repeat(4000);
    for (result, wanted) in [
        (r#"{ "a" : 1.0}"#.to_owned(), r#"{"resultType":"complete", "a" : 1.0}"#.to_owned()),
        ("{ }".to_owned(), r#"{"resultType":"complete" }"#.to_owned()),
        (
            r#"{"n\u0061me":1,"resultTyp\u0065":"complete"}"#.to_owned(),
            r#"{"n\u0061me":1,"resultTyp\u0065":"complete"}"#.to_owned(),
        ),
        (
            format!(r#"{{"_meta":{{"oz0/a":1}},"x":"{big}", "n":1e2}}"#),
            format!(r#"{{"resultType":"complete","_meta":{{}},"x":"{big}", "n":1e2}}"#),
        ),
    ] {
        let more = format!(r#","arguments":{{"result":{result}}}"#);
        lines.send(&modern_call(1, "result", &more)).await;
        assert_eq!(lines.line().await, format!(r#"{{"jsonrpc":"2.0","id":1,"result":{wanted}}}"#));
    }
}

#[tokio::test]
async fn calls_that_wait_for_their_client_are_bounded_and_end() {
    let mut options = options();
    options.limits.parked = 2;
    options.timeouts.ask = Duration::from_millis(1500);
    let mut lines = Lines::open(&Server::new(Arc::new(Memory::new()), options));
    let mut states = Vec::new();
    for id in 1..=2 {
        let wanted = lines.ask(&modern_call(id, "ask", "")).await;
        states.push(wanted["result"]["requestState"].to_string());
    }
    assert_eq!(lines.ask(&modern_call(3, "ask", "")).await["error"]["code"], -31001);
    let retry = |state: &str| {
        let more = format!(
            r#","inputResponses":{{"input-1":{{"action":"decline"}}}},"requestState":{state}"#
        );
        modern_call(4, "ask", &more)
    };
    let done = lines.ask(&retry(&states[0])).await;
    assert_eq!(done["result"]["answer"]["action"], "decline", "{done}");
    tokio::time::sleep(Duration::from_secs(2)).await;
    let late = lines.ask(&retry(&states[1])).await;
    assert_eq!(late["error"]["code"], -32602, "{late}");
    let again = lines.ask(&modern_call(5, "ask", "")).await;
    assert_eq!(again["result"]["resultType"], "input_required", "there is room again");
}

#[tokio::test]
async fn a_client_that_closes_both_ends_while_something_is_to_be_said_has_ended_in_order() {
    let mut lines = Lines::open(&server(Memory::new()));
    lines.initialize("2025-11-25").await;
    for id in 0..20 {
        lines
            .send(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"big"}}}}"#
            ))
            .await;
    }
    drop((lines.reader, lines.writer));
    let end = tokio::time::timeout(Duration::from_secs(5), lines.served).await.unwrap().unwrap();
    assert!(end.is_ok(), "{end:?}");
}

#[tokio::test]
async fn a_legacy_client_may_write_anything_into_its_arguments() {
    let mut lines = Lines::open(&server(Memory::new()));
    lines.initialize("2025-06-18").await;
    for text in [r"t\u006f", r"\u0065vil", "io.modelcontextprotocol/protocolVersion"] {
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{"s":"{text}"}}}}}}"#
        );
        let answer = lines.ask(&request).await;
        assert!(answer["result"].is_object(), "{text}: {answer}");
    }
}
