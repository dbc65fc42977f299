//! The era of a server does not follow how fast it starts.
//!
//! In memory, where the clock only moves when everybody waits, for every kind of server and every delay; and once more
//! with the scripted server, as a process and over HTTP.

use std::time::Duration;

use oz0_mcp::{Client, ClientOptions, ConnectError, Era, EraChoice};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::{Instant, sleep};

use crate::actor;

const DISCOVERED: &str =
    r#""result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}"#;
const INITIALIZED: &str = r#""result":{"protocolVersion":"2025-11-25","capabilities":{}}"#;
const UNKNOWN_METHOD: &str = r#""error":{"code":-32601,"message":"Method not found"}"#;
const UNSUPPORTED: &str =
    r#""error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}"#;

/// What a server does with the first messages, in the order in which it reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    ModernOnly,
    /// Has no method `initialize`.
    ModernWithoutInitialize,
    /// Ends at `initialize`.
    ModernThatDiesOfInitialize,
    /// Answers `initialize` in no way at all.
    ModernThatIgnoresInitialize,
    /// Both, at any time.
    Dual,
    /// Both, answering `initialize` first where both have come.
    DualOutOfOrder,
    /// Both, and the last opening message decides what it serves.
    DualThatLatches,
    LegacyOnly,
    /// Ignores what it does not know.
    LegacyAndSilent,
    /// Ends at what it does not know.
    LegacyThatDiesOfTheProbe,
}

impl Kind {
    const ALL: [Self; 10] = [
        Self::ModernOnly,
        Self::ModernWithoutInitialize,
        Self::ModernThatDiesOfInitialize,
        Self::ModernThatIgnoresInitialize,
        Self::Dual,
        Self::DualOutOfOrder,
        Self::DualThatLatches,
        Self::LegacyOnly,
        Self::LegacyAndSilent,
        Self::LegacyThatDiesOfTheProbe,
    ];

    fn era(self) -> Era {
        match self {
            Self::LegacyOnly | Self::LegacyAndSilent | Self::LegacyThatDiesOfTheProbe => {
                Era::Legacy
            }
            _ => Era::Modern,
        }
    }
}

/// What the server does at a message.
enum Deed {
    Answer(&'static str),
    /// This answer behind the next one.
    AnswerLater(&'static str),
    Ignore,
    Die,
}

fn deed(kind: Kind, method: &str, serves: &mut Era) -> Deed {
    match method {
        "server/discover" => match kind {
            Kind::LegacyOnly => Deed::Answer(UNKNOWN_METHOD),
            Kind::LegacyAndSilent => Deed::Ignore,
            Kind::LegacyThatDiesOfTheProbe => Deed::Die,
            Kind::DualOutOfOrder => Deed::AnswerLater(DISCOVERED),
            _ => {
                *serves = Era::Modern;
                Deed::Answer(DISCOVERED)
            }
        },
        "initialize" => match kind {
            Kind::ModernOnly => Deed::Answer(UNSUPPORTED),
            Kind::ModernWithoutInitialize => Deed::Answer(UNKNOWN_METHOD),
            Kind::ModernThatDiesOfInitialize => Deed::Die,
            Kind::ModernThatIgnoresInitialize => Deed::Ignore,
            _ => {
                *serves = Era::Legacy;
                Deed::Answer(INITIALIZED)
            }
        },
        "tools/list" if kind == Kind::DualThatLatches && *serves == Era::Legacy => {
            Deed::Answer(r#""result":{"tools":[{"name":"legacy"}]}"#)
        }
        "tools/list" => Deed::Answer(r#""result":{"tools":[{"name":"a"}]}"#),
        _ => Deed::Ignore,
    }
}

/// A server of this kind that reads its first message after `delay`.
fn start(kind: Kind, delay: Duration) -> tokio::io::DuplexStream {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move {
        sleep(delay).await;
        let (read, mut out) = tokio::io::split(theirs);
        let mut lines = BufReader::new(read).lines();
        let mut serves = Era::Modern;
        let mut held: Option<String> = None;
        loop {
            let line = match held.take() {
                None => lines.next_line().await,
                // What nothing follows is not held back for ever.
                Some(text) => tokio::select! {
                    biased;
                    line = lines.next_line() => {
                        held = Some(text);
                        line
                    }
                    () = sleep(Duration::from_millis(1)) => {
                        out.write_all(text.as_bytes()).await.unwrap();
                        continue;
                    }
                },
            };
            let Ok(Some(line)) = line else { return };
            let request: Value = serde_json::from_str(&line).unwrap();
            let id = &request["id"];
            let said = |answer: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{answer}}}\n");
            match deed(kind, request["method"].as_str().unwrap(), &mut serves) {
                Deed::Answer(answer) => {
                    let text = said(answer) + &held.take().unwrap_or_default();
                    if out.write_all(text.as_bytes()).await.is_err() {
                        return;
                    }
                }
                Deed::AnswerLater(answer) => held = Some(said(answer)),
                Deed::Ignore => {}
                Deed::Die => return,
            }
        }
    });
    ours
}

async fn connect(
    kind: Kind,
    delay: Duration,
    options: &ClientOptions,
) -> Result<Client, ConnectError> {
    let (reader, writer) = tokio::io::split(start(kind, delay));
    Client::stdio(reader, writer, options).await
}

/// Opens as whoever owns the server does: by a probe, and once more where that is the answer.
async fn opened(kind: Kind, delay: Duration) -> Client {
    let options = ClientOptions::default();
    match connect(kind, delay, &options).await {
        Ok(client) => client,
        Err(error) => {
            let era = error.reopen().unwrap_or_else(|| panic!("{kind:?} {delay:?}: {error}"));
            let options = ClientOptions { era, ..options };
            connect(kind, delay, &options)
                .await
                .unwrap_or_else(|error| panic!("{kind:?} {delay:?} again: {error}"))
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_starts_slowly_is_of_the_era_that_it_is_of() {
    for kind in Kind::ALL {
        for delay in [0, 300, 1_900, 2_000, 2_100, 3_000, 6_000, 12_000, 29_000] {
            let client = opened(kind, Duration::from_millis(delay)).await;
            assert_eq!(client.era(), kind.era(), "{kind:?} after {delay} ms");
            let listed = client.list_functions().await.unwrap();
            assert_eq!(listed.functions[0].get(), r#"{"name":"a"}"#.to_owned(), "{kind:?} {delay}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_that_refuses_initialize_is_not_opened_again() {
    for kind in [Kind::ModernOnly, Kind::ModernWithoutInitialize] {
        let client = connect(kind, Duration::from_secs(6), &ClientOptions::default()).await;
        assert_eq!(client.unwrap().era(), Era::Modern, "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_took_both_openings_is_opened_again_in_the_modern_era() {
    for kind in [Kind::Dual, Kind::DualOutOfOrder, Kind::DualThatLatches] {
        let error = connect(kind, Duration::from_secs(6), &ClientOptions::default())
            .await
            .expect_err("it was addressed in both eras");
        assert!(matches!(&error, ConnectError::Reopen { era: Era::Modern, .. }), "{error}");
        assert_eq!(error.reopen(), Some(EraChoice::Modern));
    }
    let error = connect(Kind::Dual, Duration::from_secs(6), &ClientOptions::default()).await;
    insta::assert_snapshot!(error.unwrap_err().to_string());
}

/// A server that hears nothing of the modern probe, but refuses `initialize` as only a modern one does.
#[tokio::test(start_paused = true)]
async fn a_refusal_of_initialize_proves_the_modern_era() {
    for refusal in [UNSUPPORTED, UNKNOWN_METHOD, r#""result":{"protocolVersion":"2026-07-28"}"#] {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(async move {
            let (read, mut out) = tokio::io::split(theirs);
            let mut lines = BufReader::new(read).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let request: Value = serde_json::from_str(&line).unwrap();
                if request["method"] == "initialize" {
                    let id = &request["id"];
                    let text = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{refusal}}}\n");
                    out.write_all(text.as_bytes()).await.unwrap();
                }
            }
        });
        let (reader, writer) = tokio::io::split(ours);
        let error = Client::stdio(reader, writer, &ClientOptions::default()).await.unwrap_err();
        assert_eq!(error.reopen(), Some(EraChoice::Modern), "{refusal}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn silence_at_both_ends_with_the_connect_time() {
    for seconds in [1, 3, 30] {
        let mut options = ClientOptions::default();
        options.timeouts.connect = Duration::from_secs(seconds);
        let (ours, _theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(ours);
        let began = Instant::now();
        let error = Client::stdio(reader, writer, &options).await.unwrap_err();
        let took = began.elapsed();
        assert!(took <= Duration::from_millis(seconds * 1000 + 10), "{took:?}");
        assert_eq!(error.reopen(), None);
        assert_eq!(
            error.to_string(),
            format!(
                "could not open the MCP connection: server/discover, then initialize: \
                 the server did not answer within {seconds}s"
            )
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_short_connect_time_leaves_time_for_initialize() {
    let mut options = ClientOptions::default();
    options.timeouts.connect = Duration::from_secs(1);
    let client = connect(Kind::LegacyAndSilent, Duration::ZERO, &options).await.unwrap();
    assert_eq!(client.era(), Era::Legacy);
}

const MODERN: [&str; 1] = ["2026-07-28"];
const LEGACY: [&str; 2] = ["2025-06-18", "2025-11-25"];
const BOTH: [&str; 2] = ["2025-11-25", "2026-07-28"];

fn scripts() -> [(Value, Era); 3] {
    [
        (json!({"versions": MODERN, "functions": ["{\"name\":\"a\"}"]}), Era::Modern),
        (json!({"versions": BOTH, "functions": ["{\"name\":\"a\"}"]}), Era::Modern),
        (json!({"versions": LEGACY, "functions": ["{\"name\":\"a\"}"]}), Era::Legacy),
    ]
}

fn shortly() -> ClientOptions {
    let mut options = ClientOptions::default();
    options.timeouts.probe = Duration::from_millis(200);
    options
}

#[tokio::test]
async fn a_process_that_starts_slowly_is_of_the_era_that_it_is_of() {
    for (script, era) in scripts() {
        for delay in [0, 190, 300, 1_000] {
            let mut script = script.clone();
            script["on"] = json!({"start": [{"steps": [{"delay_ms": delay}]}]});
            let (mut client, mut process) = actor::stdio(script.clone(), &shortly()).await;
            if let Err(error) = &client {
                let era = error.reopen().unwrap_or_else(|| panic!("{script}: {error}"));
                let options = ClientOptions { era, ..shortly() };
                (client, process) = actor::stdio(script.clone(), &options).await;
            }
            let client = client.unwrap_or_else(|error| panic!("{script}: {error}"));
            assert_eq!(client.era(), era, "{script}");
            assert_eq!(client.list_functions().await.unwrap().functions.len(), 1, "{script}");
            drop(process);
        }
    }
}

#[tokio::test]
async fn an_http_server_that_answers_slowly_is_of_the_era_that_it_is_of() {
    for (script, era) in scripts() {
        for delay in [0, 300, 1_000] {
            let mut script = script.clone();
            let scene = json!([{"steps": [{"delay_ms": delay}]}]);
            script["on"] = json!({"server/discover": scene, "initialize": scene});
            let (url, _actor) = actor::serve(script.clone()).await;
            let client = actor::http(&url, &shortly())
                .await
                .unwrap_or_else(|error| panic!("{script}: {error}"));
            assert_eq!(client.era(), era, "{script}");
            assert_eq!(client.list_functions().await.unwrap().functions.len(), 1, "{script}");
        }
    }
}
