//! Spans as a collector gets them: OTLP over HTTP, to a receiver that keeps what comes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use oz0_mcp::EraChoice;

use super::call;
use crate::local::home::{Home, Plugin, Process, eventually, until};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

/// A request: its first line, its content type, its body.
type Got = Arc<Mutex<Vec<(String, String, Vec<u8>)>>>;

fn collector() -> (String, Got) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let got = Got::default();
    let keep = Arc::clone(&got);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let keep = Arc::clone(&keep);
            std::thread::spawn(move || take(stream, &keep));
        }
    });
    (url, got)
}

fn take(stream: TcpStream, keep: &Got) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut first, mut kind, mut length) = (String::new(), String::new(), 0);
        if reader.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-type: ") {
                value.clone_into(&mut kind);
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        keep.lock().unwrap().push((first.trim_end().to_owned(), kind, body));
        let answer =
            b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n";
        reader.get_mut().write_all(answer).unwrap();
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn holds(body: &[u8], part: &[u8]) -> bool {
    body.windows(part.len()).any(|window| window == part)
}

#[tokio::test]
async fn a_collector_gets_a_call_under_its_id() {
    let (url, got) = collector();
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let mut command = home.up_command(&[], &[&team]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &url).env("OTEL_BSP_SCHEDULE_DELAY", "100");
    let mut up = Process::start(&mut command);
    up.first = serde_json::from_str(&up.line()).unwrap();
    let client = up.client(EraChoice::Legacy, None).await;
    until(&client, &team, None).await;
    let params = format!(
        r#"{{"name":"{}","arguments":{{"x":1}},"_meta":{{"traceparent":"00-{TRACE}-{SPAN}-01"}}}}"#,
        team.hello()
    );
    let result = call(&client, &params).await.unwrap();
    let to_server = result["structuredContent"]["_meta"]["traceparent"].as_str().unwrap();
    let to_server = to_server.split('-').nth(2).unwrap().to_owned();
    eventually("the call's spans came", || {
        got.lock().unwrap().iter().any(|(first, kind, body)| {
            first.starts_with("POST /v1/traces ")
                && kind == "application/x-protobuf"
                && holds(body, &bytes(TRACE))
                && holds(body, &bytes(SPAN))
                && holds(body, &bytes(&to_server))
        })
    });
    let all: Vec<u8> = got.lock().unwrap().iter().flat_map(|(_, _, body)| body.clone()).collect();
    for part in [
        "tools/call team.hello",
        "mcp.method.name",
        "gen_ai.tool.name",
        "oz0.outcome",
        "service.name",
    ] {
        assert!(holds(&all, part.as_bytes()), "{part}");
    }
    // Who is not sampled is not sent, and nothing is said but spans: no log was asked for.
    let unsampled =
        params.replace("-01\"", "-00\"").replace(TRACE, "0af7651916cd43dd8448eb211c80319c");
    call(&client, &unsampled).await.unwrap();
    assert_eq!(up.end(), Some(0));
    let all: Vec<u8> = got.lock().unwrap().iter().flat_map(|(_, _, body)| body.clone()).collect();
    assert!(!holds(&all, &bytes("0af7651916cd43dd8448eb211c80319c")));
    assert!(!up.said().contains("INFO"), "{}", up.said());
}
