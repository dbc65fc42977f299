//! Peers in memory, for the cases where the bytes and their order are the point. Their clock only moves when everybody
//! waits, so no time-out here depends on the machine.

use std::time::Duration;

use oz0_mcp::{
    Client, ClientOptions, Closed, ConnectError, Era, EraChoice, Event, Fault, Limits, Timeouts,
};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::sync::mpsc;

use crate::actor::raw;

/// The server's end of the pipes.
struct Peer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
}

impl Peer {
    async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().expect("the client still writes");
        serde_json::from_str(&line).unwrap()
    }

    async fn write(&mut self, text: &str) {
        self.out.write_all(text.as_bytes()).await.unwrap();
        self.out.flush().await.unwrap();
    }

    async fn line(&mut self, text: &str) {
        self.write(&format!("{text}\n")).await;
    }

    async fn answer(&mut self, request: &Value, result: &str) {
        let id = &request["id"];
        self.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)).await;
    }

    /// Takes the legacy handshake.
    async fn greet(&mut self, version: &str) {
        let request = self.next().await;
        assert_eq!(request["method"], "initialize");
        self.answer(&request, &format!(r#"{{"protocolVersion":"{version}","capabilities":{{}}}}"#))
            .await;
        assert_eq!(self.next().await["method"], "notifications/initialized");
    }
}

fn pipes() -> (DuplexStream, Peer) {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (read, out) = tokio::io::split(theirs);
    (ours, Peer { lines: BufReader::new(read).lines(), out })
}

async fn connect(ours: DuplexStream, options: &ClientOptions) -> Result<Client, ConnectError> {
    let (reader, writer) = tokio::io::split(ours);
    Client::stdio(reader, writer, options).await
}

fn legacy() -> ClientOptions {
    ClientOptions { era: EraChoice::Legacy, ..ClientOptions::default() }
}

/// A connection that is open, with its peer.
async fn open(options: &ClientOptions) -> (Client, Peer) {
    open_as("2025-11-25", options).await
}

async fn open_as(version: &str, options: &ClientOptions) -> (Client, Peer) {
    let (ours, mut peer) = pipes();
    let (client, ()) = tokio::join!(connect(ours, options), peer.greet(version));
    (client.unwrap(), peer)
}

async fn call(client: Client, name: &'static str) -> Result<String, Fault> {
    let params = raw(&json!({"name": name}).to_string());
    match client.request("tools/call", &params).await {
        Ok(result) => Ok(result.get().to_owned()),
        Err(error) => Err(error.fault),
    }
}

#[tokio::test(start_paused = true)]
async fn answers_find_their_requests_in_any_order() {
    let (client, mut peer) = open(&legacy()).await;
    let calls: Vec<_> = ["a", "b", "c"].map(|name| tokio::spawn(call(client.clone(), name))).into();
    let mut requests = vec![peer.next().await, peer.next().await, peer.next().await];
    requests.reverse();
    for request in &requests {
        let name = &request["params"]["name"];
        peer.answer(request, &format!(r#"{{"is":{name}}}"#)).await;
    }
    for (call, name) in calls.into_iter().zip(["a", "b", "c"]) {
        assert_eq!(call.await.unwrap().unwrap(), format!(r#"{{"is":"{name}"}}"#));
    }
}

#[tokio::test(start_paused = true)]
async fn late_duplicate_and_unknown_answers_are_counted_and_harm_nobody() {
    let mut options = legacy();
    options.timeouts.call = Duration::from_millis(100);
    let (client, mut peer) = open(&options).await;
    let (lost, given_up) = tokio::join!(call(client.clone(), "slow"), peer.next());
    assert!(matches!(lost, Err(Fault::TimedOut { .. })), "{lost:?}");
    let cancelled = peer.next().await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], given_up["id"]);
    peer.answer(&given_up, "1").await;
    peer.line(r#"{"jsonrpc":"2.0","id":999,"result":2}"#).await;
    peer.line(r#"{"jsonrpc":"2.0","id":"1","result":3}"#).await;
    let second = tokio::spawn(call(client.clone(), "quick"));
    let request = peer.next().await;
    peer.answer(&request, "4").await;
    peer.answer(&request, "5").await;
    assert_eq!(second.await.unwrap().unwrap(), "4");
    let third = tokio::spawn(call(client.clone(), "quick"));
    let request = peer.next().await;
    peer.answer(&request, "6").await;
    assert_eq!(third.await.unwrap().unwrap(), "6");
    let stats = client.stats();
    assert_eq!(
        (stats.late_answers, stats.unknown_answers, stats.duplicate_answers),
        (1, 2, 1),
        "{stats:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_dropped_request_is_cancelled_at_the_server() {
    let (client, mut peer) = open(&legacy()).await;
    let waiting = tokio::spawn(call(client.clone(), "a"));
    let request = peer.next().await;
    waiting.abort();
    let cancelled = peer.next().await;
    assert_eq!(cancelled["params"], json!({"requestId": request["id"]}));
}

#[tokio::test(start_paused = true)]
async fn death_in_the_middle_of_an_answer_ends_every_request() {
    let (client, mut peer) = open(&legacy()).await;
    let calls = [tokio::spawn(call(client.clone(), "a")), tokio::spawn(call(client.clone(), "b"))];
    let request = peer.next().await;
    peer.next().await;
    peer.write(&format!(r#"{{"jsonrpc":"2.0","id":{},"resu"#, request["id"])).await;
    drop(peer);
    for call in calls {
        let fault = call.await.unwrap().unwrap_err();
        assert!(matches!(fault, Fault::Closed(_)), "{fault}");
    }
    let fault = call(client.clone(), "after").await.unwrap_err();
    assert_eq!(fault.to_string(), "the server ended the connection");
    assert!(client.events().next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_last_answer_without_a_line_end_counts() {
    let (client, mut peer) = open(&legacy()).await;
    let waiting = tokio::spawn(call(client.clone(), "a"));
    let request = peer.next().await;
    peer.write(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":7}}"#, request["id"])).await;
    drop(peer);
    assert_eq!(waiting.await.unwrap().unwrap(), "7");
}

#[tokio::test(start_paused = true)]
async fn junk_is_kept_as_a_bounded_escaped_sample() {
    let (client, mut peer) = open(&legacy()).await;
    for n in 0..20 {
        peer.line(&format!("starting up \u{1b}[31m{n} {}", "x".repeat(1000))).await;
    }
    peer.line("").await;
    peer.out.write_all(b"\xff\xfe\n").await.unwrap();
    let waiting = tokio::spawn(call(client.clone(), "a"));
    let request = peer.next().await;
    peer.write(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{}}}}\r\n", request["id"]))
        .await;
    assert_eq!(waiting.await.unwrap().unwrap(), "{}");
    let junk = client.junk();
    assert_eq!(junk.lines, 21);
    assert_eq!(junk.sample.len(), 8);
    assert!(junk.sample[0].starts_with(r"starting up \u{1b}[31m0 xxx"), "{}", junk.sample[0]);
    assert!(junk.sample.iter().all(|sample| sample.chars().count() < 500));
}

/// What one malformed answer does to its request. `$` stands for the request's ID.
async fn malformed(answer: &str) -> String {
    let (client, mut peer) = open(&legacy()).await;
    let waiting = tokio::spawn(call(client.clone(), "a"));
    let request = peer.next().await;
    peer.line(&answer.replace('$', &request["id"].to_string())).await;
    waiting.await.unwrap().unwrap_err().to_string()
}

#[tokio::test(start_paused = true)]
async fn a_malformed_answer_fails_its_request_at_once_and_says_why() {
    let said = "the server's answer is malformed: ";
    for (answer, why) in [
        (
            r#"{"jsonrpc":"2.0","id":$,"result":1,"error":{"code":1,"message":""}}"#,
            "both a `result` and an `error`",
        ),
        (r#"{"jsonrpc":"2.0","id":$,"result":1,"result":2}"#, "the member `result` stands twice"),
        (r#"{"jsonrpc":"1.0","id":$,"result":1}"#, "`jsonrpc` is not \"2.0\""),
        (r#"{"id":$,"result":1}"#, "`jsonrpc` is not \"2.0\""),
        (r#"{"jsonrpc":"2.0","id":$}"#, "neither a `method` nor a `result` nor an `error`"),
        (r#"[{"jsonrpc":"2.0","id":$,"result":1}]"#, "it stands in a batch"),
    ] {
        assert_eq!(malformed(answer).await, format!("{said}{why}"), "{answer}");
    }
    let fault = malformed(r#"{"jsonrpc":"2.0","id":$,"error":"no"}"#).await;
    assert!(fault.starts_with(&format!("{said}`error`: ")), "{fault}");
}

#[tokio::test(start_paused = true)]
async fn a_null_result_is_a_result_and_an_error_keeps_its_data() {
    let (client, mut peer) = open(&legacy()).await;
    let waiting = tokio::spawn(call(client.clone(), "a"));
    let request = peer.next().await;
    peer.answer(&request, "null").await;
    assert_eq!(waiting.await.unwrap().unwrap(), "null");
    let waiting = tokio::spawn(call(client.clone(), "a"));
    let id = peer.next().await["id"].clone();
    peer.line(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-5,"message":"bad\u001b[0m","data":{{"a":1.0,"a":2}}}}}}"#
    ))
    .await;
    let Err(Fault::Answered(error)) = waiting.await.unwrap() else { panic!("an error") };
    assert_eq!(error.data.as_ref().unwrap().get(), r#"{"a":1.0,"a":2}"#);
    assert_eq!(error.to_string(), r"-5: bad\u{1b}[0m");
}

#[tokio::test(start_paused = true)]
async fn batches_are_read_in_the_one_version_that_has_them() {
    let (client, mut peer) = open_as("2025-03-26", &legacy()).await;
    let calls = ["a", "b"].map(|name| tokio::spawn(call(client.clone(), name)));
    let (one, two) = (peer.next().await, peer.next().await);
    peer.line(&format!(
        r#"[{{"jsonrpc":"2.0","id":{},"result":"x"}},{{"jsonrpc":"2.0","id":{},"result":"x"}}]"#,
        one["id"], two["id"]
    ))
    .await;
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap(), "\"x\"");
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_above_the_limit_fails_the_request_that_waits() {
    let mut options = legacy();
    options.limits.message = 4096;
    let (client, mut peer) = open(&options).await;
    let waiting = tokio::spawn(call(client.clone(), "a"));
    let request = peer.next().await;
    peer.answer(&request, &format!("\"{}\"", "x".repeat(10_000))).await;
    let fault = waiting.await.unwrap().unwrap_err();
    assert_eq!(fault.to_string(), "the server sent a line above the limit of 4096 bytes");
    let waiting = tokio::spawn(call(client.clone(), "b"));
    let request = peer.next().await;
    peer.answer(&request, "1").await;
    assert_eq!(waiting.await.unwrap().unwrap(), "1");
    assert_eq!(client.stats().oversized, 1);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_costs_a_time_out_and_no_memory() {
    let mut options = legacy();
    options.timeouts.call = Duration::from_millis(200);
    options.limits.pending = 16;
    let (client, peer) = open(&options).await;
    let big = raw(&json!({"name": "x".repeat(1 << 20)}).to_string());
    let calls: Vec<_> = (0..32)
        .map(|_| {
            let (client, big) = (client.clone(), big.clone());
            tokio::spawn(async move { client.request("tools/call", &big).await })
        })
        .collect();
    let (mut busy, mut timed_out) = (0, 0);
    for call in calls {
        match call.await.unwrap().unwrap_err().fault {
            Fault::Busy { limit: 16 } => busy += 1,
            Fault::TimedOut { .. } => timed_out += 1,
            other => panic!("{other}"),
        }
    }
    assert_eq!((busy, timed_out), (16, 16));
    drop(peer);
}

#[tokio::test(start_paused = true)]
async fn pings_are_answered_and_other_requests_are_refused_properly() {
    let (client, mut peer) = open(&legacy()).await;
    for (method, answer) in [
        ("ping", json!({"jsonrpc": "2.0", "id": "p", "result": {}})),
        (
            "elicitation/create",
            json!({"jsonrpc": "2.0", "id": "p", "result": {"action": "cancel"}}),
        ),
        (
            "sampling/createMessage",
            json!({"jsonrpc": "2.0", "id": "p", "error": {"code": -1, "message": "Sampling request rejected"}}),
        ),
        (
            "roots/list",
            json!({"jsonrpc": "2.0", "id": "p", "error": {"code": -32601, "message": "Method not found"}}),
        ),
    ] {
        peer.line(&json!({"jsonrpc": "2.0", "id": "p", "method": method}).to_string()).await;
        assert_eq!(peer.next().await, answer);
    }
    assert_eq!(client.stats().refused_requests, 3);
}

#[tokio::test(start_paused = true)]
async fn a_servers_request_reaches_its_handler_untouched() {
    let (sender, mut requests) = mpsc::channel(1);
    let options = ClientOptions { requests: Some(sender), ..legacy() };
    let (_client, mut peer) = open(&options).await;
    peer.line(
        r#"{"jsonrpc":"2.0","id":-3,"method":"elicitation/create","params":{"b":1.0,"a":2}}"#,
    )
    .await;
    let request = requests.recv().await.unwrap();
    assert_eq!(request.method, "elicitation/create");
    assert_eq!(request.params.as_ref().unwrap().get(), r#"{"b":1.0,"a":2}"#);
    request.answer(&Ok(raw(r#"{"action":"decline"}"#)));
    assert_eq!(
        peer.next().await,
        json!({"jsonrpc": "2.0", "id": -3, "result": {"action": "decline"}})
    );
    // One that its handler drops is still answered.
    peer.line(r#"{"jsonrpc":"2.0","id":4,"method":"elicitation/create"}"#).await;
    drop(requests.recv().await.unwrap());
    assert_eq!(peer.next().await["result"]["action"], "cancel");
}

#[tokio::test(start_paused = true)]
async fn notifications_are_handed_out_and_a_slow_reader_learns_of_its_loss() {
    let mut options = legacy();
    options.limits = Limits { notifications: 4, notification: 64, ..Limits::default() };
    let (client, mut peer) = open(&options).await;
    let mut events = client.events();
    peer.line(&format!(
        r#"{{"jsonrpc":"2.0","method":"big","params":{{"x":"{}"}}}}"#,
        "x".repeat(100)
    ))
    .await;
    for n in 0..10 {
        peer.line(&format!(r#"{{"jsonrpc":"2.0","method":"n{n}","params":{{"x":1.0}}}}"#)).await;
    }
    let waiting = tokio::spawn(call(client.clone(), "a"));
    let request = peer.next().await;
    peer.answer(&request, "1").await;
    waiting.await.unwrap().unwrap();
    assert!(matches!(events.next().await, Some(Event::Lagged(6))));
    let Some(Event::Notification(first)) = events.next().await else { panic!("a notification") };
    assert_eq!(first.method, "n6");
    assert_eq!(first.params.as_ref().unwrap().get(), r#"{"x":1.0}"#);
    assert_eq!(client.stats().dropped_notifications, 1);
}

#[tokio::test(start_paused = true)]
async fn close_writes_what_is_queued_and_ends_the_stream() {
    let (client, mut peer) = open(&legacy()).await;
    client.notify("notifications/roots/list_changed", None).await.unwrap();
    let other = client.clone();
    client.close().await;
    assert_eq!(peer.next().await["method"], "notifications/roots/list_changed");
    assert!(peer.lines.next_line().await.unwrap().is_none());
    let fault = call(other, "a").await.unwrap_err();
    assert!(matches!(fault, Fault::Closed(Closed::ByUs)), "{fault}");
}

#[tokio::test(start_paused = true)]
async fn dropping_the_last_handle_ends_the_stream() {
    let (client, mut peer) = open(&legacy()).await;
    drop(client);
    assert!(peer.lines.next_line().await.unwrap().is_none());
}

// Opening, in the right era or with an error that says which.

fn quick(era: EraChoice) -> ClientOptions {
    let timeouts = Timeouts {
        probe: Duration::from_millis(50),
        connect: Duration::from_millis(300),
        ..Timeouts::default()
    };
    ClientOptions { era, timeouts, ..ClientOptions::default() }
}

/// Opens against a peer that answers its requests from this table; anything else is met with silence.
async fn opened(era: EraChoice, answers: &[(&str, &str)]) -> Result<Client, ConnectError> {
    let (ours, mut peer) = pipes();
    let answers: Vec<(String, String)> = answers
        .iter()
        .map(|(method, answer)| ((*method).to_owned(), (*answer).to_owned()))
        .collect();
    tokio::spawn(async move {
        while let Ok(Some(line)) = peer.lines.next_line().await {
            let request: Value = serde_json::from_str(&line).unwrap();
            for (method, answer) in &answers {
                if request["method"] == **method {
                    let id = &request["id"];
                    peer.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#)).await;
                }
            }
        }
    });
    connect(ours, &quick(era)).await
}

const DISCOVERED: &str = r#""result":{"resultType":"complete","supportedVersions":["2027-01-01","2026-07-28"],"capabilities":{},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"9"}}}"#;
const INITIALIZED: &str = r#""result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"old","version":"2"}}"#;

#[tokio::test(start_paused = true)]
async fn the_probe_finds_the_era() {
    let client = opened(EraChoice::Probe, &[("server/discover", DISCOVERED)]).await.unwrap();
    assert_eq!((client.era(), client.protocol().as_str()), (Era::Modern, "2026-07-28"));
    assert_eq!(client.server_info().name.as_deref(), Some("new"));
    for probe in [
        r#""error":{"code":-32601,"message":"Method not found"}"#,
        r#""error":{"code":-32602,"message":"Invalid request parameters"}"#,
        r#""error":{"code":-32022,"message":"no","data":{"supported":["2025-06-18"]}}"#,
        r#""result":{}"#,
    ] {
        let answers = [("server/discover", probe), ("initialize", INITIALIZED)];
        let client = opened(EraChoice::Probe, &answers).await.unwrap();
        assert_eq!((client.era(), client.protocol().as_str()), (Era::Legacy, "2025-06-18"));
        assert_eq!(client.server_info().name.as_deref(), Some("old"));
    }
    // Silence.
    let client = opened(EraChoice::Probe, &[("initialize", INITIALIZED)]).await.unwrap();
    assert_eq!(client.era(), Era::Legacy);
}

#[tokio::test(start_paused = true)]
async fn every_legacy_version_is_taken_back() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let (client, _peer) = open_as(version, &legacy()).await;
        assert_eq!(client.protocol().as_str(), version);
    }
}

async fn refusal(era: EraChoice, answers: &[(&str, &str)]) -> String {
    opened(era, answers).await.expect_err("it does not open").to_string()
}

#[tokio::test(start_paused = true)]
async fn the_wrong_era_or_an_unknown_version_is_said() {
    let mut said = Vec::new();
    for (era, answers) in [
        (
            EraChoice::Modern,
            [("server/discover", r#""error":{"code":-32601,"message":"Method not found"}"#)],
        ),
        (
            EraChoice::Modern,
            [("server/discover", r#""result":{"supportedVersions":["2025-11-25"]}"#)],
        ),
        (
            EraChoice::Probe,
            [(
                "server/discover",
                r#""error":{"code":-32022,"message":"no","data":{"supported":["2027-01-01","x\u001b[2J"]}}"#,
            )],
        ),
        (
            EraChoice::Legacy,
            [(
                "initialize",
                r#""error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}"#,
            )],
        ),
        (EraChoice::Legacy, [("initialize", r#""result":{"protocolVersion":"2026-07-28"}"#)]),
        (EraChoice::Legacy, [("initialize", r#""result":{"protocolVersion":"1999-01-01"}"#)]),
        (EraChoice::Legacy, [("initialize", r#""result":{"capabilities":{}}"#)]),
        (EraChoice::Legacy, [("nothing", "")]),
        (EraChoice::Probe, [("nothing", "")]),
    ] {
        said.push(refusal(era, &answers).await);
    }
    insta::assert_snapshot!(said.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_of_the_probe_is_said_to() {
    let (ours, mut peer) = pipes();
    let options = quick(EraChoice::Probe);
    let (client, ()) = tokio::join!(connect(ours, &options), async move {
        peer.next().await;
        drop(peer);
    });
    insta::assert_snapshot!(client.unwrap_err().to_string());
}

#[tokio::test(start_paused = true)]
async fn a_modern_request_carries_its_meta_beside_the_callers() {
    let (ours, mut peer) = pipes();
    let options = quick(EraChoice::Modern);
    let (client, ()) = tokio::join!(connect(ours, &options), async {
        let request = peer.next().await;
        let id = &request["id"];
        peer.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},{DISCOVERED}}}"#)).await;
    });
    let client = client.unwrap();
    let params = raw(
        r#"{"name":"a", "_meta" : {"io.modelcontextprotocol/clientInfo":{"name":"other"},"b":1.0,"progressToken":"t"},"arguments":{"z":1e2,"a":2}}"#,
    );
    let waiting = tokio::spawn(async move { client.request("tools/call", &params).await });
    let line = peer.lines.next_line().await.unwrap().unwrap();
    insta::assert_snapshot!(line);
    drop(peer);
    assert!(waiting.await.unwrap().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_request_of_the_servers_has_no_place_in_the_modern_era() {
    let (ours, mut peer) = pipes();
    let options = quick(EraChoice::Modern);
    let (client, ()) = tokio::join!(connect(ours, &options), async {
        let request = peer.next().await;
        let id = &request["id"];
        peer.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},{DISCOVERED}}}"#)).await;
        peer.line(r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}"#).await;
    });
    let client = client.unwrap();
    let waiting = tokio::spawn(call(client.clone(), "a"));
    // The next line is the call, and not an answer.
    let request = peer.next().await;
    assert_eq!(request["method"], "tools/call");
    peer.answer(&request, "1").await;
    waiting.await.unwrap().unwrap();
    assert_eq!(client.stats().foreign_requests, 1);
}

#[tokio::test(start_paused = true)]
async fn parameters_that_are_no_object_are_not_sent() {
    let (client, _peer) = open(&legacy()).await;
    let error = client.request("tools/call", &raw("[1]")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "tools/call: the request cannot be sent: its parameters are not an object"
    );
}
