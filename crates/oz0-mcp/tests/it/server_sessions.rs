//! Sessions of the legacy eras over real loopback HTTP: whose they are, how they end, and how a client comes back.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use oz0_mcp::server::Server;
use serde_json::json;

use crate::server_gateway::{
    Endpoint, Memory, dechunked, events, initialize, options, server, until,
};

const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;

fn call(id: u64, name: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","_meta":{{"progressToken":"p"}}}}}}"#
    )
}

#[tokio::test]
async fn a_session_is_its_principals_alone_and_ends_once() {
    let memory = Memory { tokens: true, ..Memory::new() };
    let endpoint = Endpoint::open(server(memory)).await;
    let session = endpoint.session("2025-06-18", "one").await;
    assert_eq!(session.len(), 32);
    let with = |token: &'static str, session: &str| {
        vec![("Authorization", token.to_owned()), ("Mcp-Session-Id", session.to_owned())]
    };
    let send = |method: &'static str, head: Vec<(&'static str, String)>, body: &'static str| {
        let endpoint = &endpoint;
        async move {
            let head: Vec<(&str, &str)> = head.iter().map(|(n, v)| (*n, v.as_str())).collect();
            endpoint.exchange(&head, method, body).await.status
        }
    };
    assert_eq!(send("POST", with("Bearer one", &session), PING).await, 200);
    assert_eq!(send("POST", with("Bearer two", &session), PING).await, 404, "replayed by another");
    assert_eq!(send("GET", with("Bearer two", &session), "").await, 404);
    assert_eq!(send("DELETE", with("Bearer two", &session), "").await, 404);
    assert_eq!(send("POST", with("Bearer one", "x"), PING).await, 404);
    assert_eq!(send("POST", vec![("Authorization", "Bearer one".to_owned())], PING).await, 400);
    let mut versioned = with("Bearer one", &session);
    versioned.push(("MCP-Protocol-Version", "2025-11-25".to_owned()));
    assert_eq!(send("POST", versioned, PING).await, 400, "another version than was agreed on");
    assert_eq!(send("DELETE", with("Bearer one", &session), "").await, 204);
    assert_eq!(send("POST", with("Bearer one", &session), PING).await, 404);
    assert_eq!(send("DELETE", with("Bearer one", &session), "").await, 404);
}

#[tokio::test]
async fn sessions_expire() {
    let mut options = options();
    options.timeouts.session = Duration::from_millis(300);
    let endpoint = Endpoint::open(Server::new(Arc::new(Memory::new()), options)).await;
    let first = endpoint.session("2025-11-25", "").await;
    tokio::time::sleep(Duration::from_millis(350)).await;
    assert_eq!(endpoint.post(&[("Mcp-Session-Id", &first)], PING).await.status, 404);
}

#[tokio::test]
async fn a_full_house_makes_room_for_a_newcomer_by_the_session_that_only_pings() {
    const LIST: &str = r#"{"jsonrpc":"2.0","id":8,"method":"tools/list"}"#;
    let mut options = options();
    options.limits.sessions_each = 3;
    let endpoint = Endpoint::open(Server::new(Arc::new(Memory::new()), options)).await;
    let ask = async |session: &str, what: &str| {
        endpoint.post(&[("Mcp-Session-Id", session)], what).await.status
    };
    let early = endpoint.session("2025-11-25", "").await;
    let late = endpoint.session("2025-11-25", "").await;
    let pings = endpoint.session("2025-11-25", "").await;
    for session in [&early, &late] {
        assert_eq!(ask(session, LIST).await, 200);
    }
    assert_eq!(ask(&pings, PING).await, 200);
    let next = endpoint.session("2025-11-25", "").await;
    assert_eq!((ask(&pings, PING).await, ask(&early, PING).await), (404, 200));
    // Where all have asked for something it is the one that has not for the longest time.
    assert_eq!(ask(&next, LIST).await, 200);
    endpoint.session("2025-11-25", "").await;
    assert_eq!((ask(&early, PING).await, ask(&late, PING).await), (404, 200));
}

#[tokio::test]
async fn sessions_with_a_request_in_flight_do_not_give_way() {
    let mut options = options();
    options.limits.sessions_each = 1;
    let memory = Memory::new();
    let started = Arc::clone(&memory.started);
    let endpoint = Endpoint::open(Server::new(Arc::new(memory), options)).await;
    let session = endpoint.session("2025-11-25", "").await;
    let head = [("Mcp-Session-Id", session.as_str())];
    let stream = endpoint.begin(&head, "POST", &call(1, "slow")).await;
    while started.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let refused = endpoint.post(&[], &initialize("2025-11-25")).await;
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (503, &json!(-31001)));
    drop(stream);
}

#[tokio::test]
async fn batches_are_of_one_version() {
    let endpoint = Endpoint::open(server(Memory::new())).await;
    let session = endpoint.session("2025-03-26", "").await;
    let batch =
        format!(r#"[{PING},{{"jsonrpc":"2.0","method":"notifications/x"}},{}]"#, call(8, "echo"));
    let head = [("Mcp-Session-Id", session.as_str())];
    let reply = endpoint.post(&head, &batch).await;
    let ids: Vec<String> = reply.events().iter().map(|(_, data)| data.clone()).collect();
    assert_eq!(ids.len(), 2, "{reply:?}");
    assert!(ids[0].contains("\"id\":7") && ids[1].contains("\"id\":8"), "{ids:?}");
    let plain = endpoint.post(&head, &format!("[{PING},{PING}]")).await;
    assert_eq!(plain.json().as_array().unwrap().len(), 2);
    let told = endpoint.post(&head, r#"[{"jsonrpc":"2.0","method":"notifications/x"}]"#).await;
    assert_eq!(told.status, 202);
    let endless = format!("[{}]", vec![PING; 101].join(","));
    assert_eq!(endpoint.post(&head, &endless).await.status, 400);
    let session = endpoint.session("2025-06-18", "").await;
    assert_eq!(endpoint.post(&[("Mcp-Session-Id", &session)], &batch).await.status, 400);
}

#[tokio::test]
async fn a_broken_stream_is_taken_up_where_it_broke() {
    for (version, primed) in [("2025-11-25", true), ("2025-03-26", false)] {
        let endpoint = Endpoint::open(server(Memory::new())).await;
        let session = endpoint.session(version, "").await;
        let head = [("Mcp-Session-Id", session.as_str())];
        let mut stream = endpoint.begin(&head, "POST", &call(1, "progress")).await;
        let begun = until(&mut stream, "\"s1\"").await;
        drop(stream);
        let seen = events(&dechunked(begun.split_once("\r\n\r\n").unwrap().1));
        assert_eq!(seen.first().unwrap().1.is_empty(), primed, "{seen:?}");
        let last = seen.last().unwrap().0.clone().unwrap();
        let resume = [head[0], ("Last-Event-ID", last.as_str())];
        let rest = endpoint.exchange(&resume, "GET", "").await;
        let all: Vec<String> = seen
            .into_iter()
            .chain(rest.events())
            .map(|(_, data)| data)
            .filter(|data| !data.is_empty())
            .collect();
        assert_eq!(all.len(), 4, "each event once: {all:?}");
        assert!(
            all[1].contains("\"s2\"") && all[2].contains("\"s3\"") && all[3].contains("\"id\":1")
        );
        // It can be read again from the same place, until it is forgotten.
        assert_eq!(endpoint.exchange(&resume, "GET", "").await.events(), rest.events());
        for unknown in ["1-99", "77-0", "x", "1-+2", ""] {
            let resume = [head[0], ("Last-Event-ID", unknown)];
            if !unknown.is_empty() {
                assert_eq!(endpoint.exchange(&resume, "GET", "").await.status, 400, "{unknown}");
            }
        }
    }
}

#[tokio::test]
async fn a_legacy_call_outlives_its_connection_and_ends_by_cancellation() {
    let memory = Memory::new();
    let (cancelled, started) = (Arc::clone(&memory.cancelled), Arc::clone(&memory.started));
    let endpoint = Endpoint::open(server(memory)).await;
    let session = endpoint.session("2025-11-25", "").await;
    let head = [("Mcp-Session-Id", session.as_str())];
    let stream = endpoint.begin(&head, "POST", &call(1, "slow")).await;
    while started.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(stream);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(cancelled.load(Ordering::SeqCst), 0, "a lost connection is no cancellation");
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(endpoint.post(&head, cancel).await.status, 202);
    for _ in 0..400 {
        if cancelled.load(Ordering::SeqCst) == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(cancelled.load(Ordering::SeqCst), 1);
    // The end of a session ends what runs in it.
    let _stream = endpoint.begin(&head, "POST", &call(2, "slow")).await;
    while started.load(Ordering::SeqCst) == 1 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(endpoint.exchange(&head, "DELETE", "").await.status, 204);
    for _ in 0..400 {
        if cancelled.load(Ordering::SeqCst) == 2 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the call goes on");
}

#[tokio::test]
async fn changes_are_told_on_the_clients_own_stream_and_only_once() {
    let memory = Memory::new();
    let revision = memory.revision.clone();
    let endpoint = Endpoint::open(server(memory)).await;
    let session = endpoint.session("2025-06-18", "").await;
    let head = [("Mcp-Session-Id", session.as_str())];
    revision.send_replace(2);
    let mut stream = endpoint.begin(&head, "GET", "").await;
    let first = until(&mut stream, "list_changed").await;
    revision.send_replace(2);
    revision.send_replace(3);
    let second = until(&mut stream, "list_changed").await;
    let count = |text: &str| text.matches("list_changed").count();
    assert_eq!((count(&first), count(&second)), (1, 1));
    // A newer stream takes over, and what was told is not told again.
    let mut newer = endpoint.begin(&head, "GET", "").await;
    until(&mut newer, "text/event-stream").await;
    until(&mut stream, "0\r\n\r\n").await;
    revision.send_replace(4);
    let third = until(&mut newer, "list_changed").await;
    assert_eq!(count(&third), 1);
    assert!(third.contains("id: 0-3"), "{third}");
}

#[tokio::test]
async fn an_answer_that_is_never_read_does_not_pile_up() {
    let mut options = options();
    options.limits.unread = 3 << 20;
    options.limits.replay = 1 << 20;
    let endpoint = Endpoint::open(Server::new(Arc::new(Memory::new()), options)).await;
    let session = endpoint.session("2025-11-25", "").await;
    let head = [("Mcp-Session-Id", session.as_str())];
    for id in 0..12 {
        // Each is read to its end: only what is kept for a client that comes back is bounded here.
        let reply = endpoint.post(&head, &call(id, "big")).await;
        assert!(reply.body.len() > 1 << 20);
    }
    let mut stream = endpoint.begin(&head, "POST", &call(50, "progress")).await;
    until(&mut stream, "\"id\":50").await;
}
