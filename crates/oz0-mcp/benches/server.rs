//! What the server side adds to a call, beside what the same bytes cost without it.
//!
//! Everything is measured in one run, interleaved, so that a busy machine slows all of it alike; read the ratios. Run
//! with `cargo bench -p oz0-mcp --bench server`.

#![expect(clippy::print_stdout, reason = "a bench prints")]
#![expect(clippy::unwrap_used, reason = "a bench that meets the unexpected has failed")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::post;
use oz0_mcp::server::{Call, Functions, Gateway, HttpOptions, Principal, Server, ServerOptions};
use oz0_mcp::{Client, ClientOptions, EraChoice, Fault, RpcError};
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;

/// A gateway that calls one server, as a node does, or that answers by itself.
struct Through {
    server: Option<Client>,
    result: Box<RawValue>,
    revision: watch::Sender<u64>,
}

impl Gateway for Through {
    async fn list(&self, _: &Principal) -> Result<Arc<Functions>, RpcError> {
        Ok(Arc::default())
    }

    fn revision(&self, _: &Principal) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    async fn call(&self, call: Call) -> Result<Box<RawValue>, RpcError> {
        let Some(server) = &self.server else { return Ok(self.result.clone()) };
        let params = call.params().forward().name("f").build();
        server.request("tools/call", &params).await.map_err(|error| match error.fault {
            Fault::Answered(error) => error,
            fault => RpcError::new(-32_000, fault.to_string()),
        })
    }
}

fn through(server: Option<Client>, result: &str) -> Server<Through> {
    let result = RawValue::from_string(result.to_owned()).unwrap();
    let gateway = Through { server, result, revision: watch::Sender::new(1) };
    Server::new(Arc::new(gateway), ServerOptions::new("bench", "1"))
}

/// The barest server: the ID is spliced into a fixed answer.
async fn bare(stream: UnixStream, result: String) {
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::with_capacity(64 << 10, reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Some(at) = line.find("\"id\":") else { continue };
        let id: String = line[at + 5..].chars().take_while(char::is_ascii_digit).collect();
        let result = if line.contains("\"initialize\"") {
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"b","version":"1"}}"#
        } else {
            &result
        };
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
        if writer.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

fn spawn_bare(result: &str) -> UnixStream {
    let (ours, theirs) = UnixStream::pair().unwrap();
    tokio::spawn(bare(theirs, result.to_owned()));
    ours
}

/// A bare server behind something that only copies bytes.
fn spawn_relayed(result: &str) -> UnixStream {
    let mut behind = spawn_bare(result);
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    tokio::spawn(async move {
        let _ =
            tokio::io::copy_bidirectional_with_sizes(&mut theirs, &mut behind, 64 << 10, 64 << 10)
                .await;
    });
    ours
}

async fn spawn_served(result: &str, behind: bool) -> UnixStream {
    let client = if behind {
        let (reader, writer) = spawn_bare(result).into_split();
        let options = ClientOptions { era: EraChoice::Legacy, ..ClientOptions::default() };
        Some(Client::stdio(reader, writer, &options).await.unwrap())
    } else {
        None
    };
    let server = through(client, result);
    let (ours, theirs) = UnixStream::pair().unwrap();
    tokio::spawn(async move {
        let (reader, writer) = theirs.into_split();
        server.stdio(Principal::local(), reader, writer).await.unwrap();
    });
    ours
}

struct Caller {
    name: &'static str,
    reader: BufReader<tokio::net::unix::OwnedReadHalf>,
    writer: tokio::net::unix::OwnedWriteHalf,
    times: Vec<Duration>,
    line: Vec<u8>,
}

impl Caller {
    async fn new(name: &'static str, stream: UnixStream) -> Self {
        let (reader, writer) = stream.into_split();
        let reader = BufReader::with_capacity(64 << 10, reader);
        let mut caller = Self { name, reader, writer, times: Vec::new(), line: Vec::new() };
        let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}"#;
        caller.ask(initialize).await;
        caller
    }

    async fn ask(&mut self, line: &str) {
        self.writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        self.line.clear();
        self.reader.read_until(b'\n', &mut self.line).await.unwrap();
    }

    async fn call(&mut self, id: usize) {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"team.f","arguments":{{"name":"you","n":3}}}}}}"#
        );
        let begun = Instant::now();
        self.ask(&call).await;
        self.times.push(begun.elapsed());
        assert!(
            self.line
                .starts_with(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\"").as_bytes())
        );
    }

    fn p50(&mut self) -> Duration {
        self.times.sort_unstable();
        self.times[self.times.len() / 2]
    }
}

async fn stdio(title: &str, size: usize, calls: usize) {
    let result = format!(
        r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#,
        "line of text ".repeat(size / 13 + 1)
    );
    let mut callers = [
        Caller::new("direct", spawn_bare(&result)).await,
        Caller::new("bare relay", spawn_relayed(&result)).await,
        Caller::new("server side alone", spawn_served(&result, false).await).await,
        Caller::new("server side and client", spawn_served(&result, true).await).await,
    ];
    for id in 1..=calls {
        for caller in &mut callers {
            caller.call(id).await;
        }
    }
    println!("{title}");
    let p50: Vec<f64> = callers.iter_mut().map(|caller| caller.p50().as_secs_f64() * 1e6).collect();
    for (caller, time) in callers.iter().zip(&p50) {
        println!(
            "  {:<24} p50 {time:8.1} us   {:5.2} x direct   {:5.2} x relay   {:+7.1} us",
            caller.name,
            time / p50[0],
            time / p50[1],
            time - p50[0]
        );
    }
}

async fn spawn_http(router: Router) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = through(None, "{}");
    tokio::spawn(async move { server.serve(listener, router).await });
    address
}

/// Calls a second, with as many connections as calls are in flight.
async fn load(
    address: std::net::SocketAddr,
    head: &str,
    body: &str,
    in_flight: usize,
    calls: usize,
) -> f64 {
    let request = Arc::new(format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{head}Content-Length: {}\r\n\r\n{body}",
        body.len()
    ));
    let begun = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..in_flight {
        let request = Arc::clone(&request);
        tasks.spawn(async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.set_nodelay(true).unwrap();
            let mut buffer = vec![0; 16 << 10];
            for _ in 0..calls / in_flight {
                stream.write_all(request.as_bytes()).await.unwrap();
                let mut got = 0;
                while !buffer[..got].ends_with(b"}}") {
                    let count = stream.read(&mut buffer[got..]).await.unwrap();
                    assert!(count > 0, "{}", String::from_utf8_lossy(&buffer[..got]));
                    got += count;
                }
                assert!(buffer.starts_with(b"HTTP/1.1 200"));
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    f64::from(u32::try_from(calls).unwrap()) / begun.elapsed().as_secs_f64()
}

async fn http() {
    let result = r#"{"content":[{"type":"text","text":"hello"}]}"#;
    let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    let plain = Router::new().route(
        "/mcp",
        post(move |body: String| {
            let answer = answer.clone();
            async move {
                assert!(!body.is_empty());
                ([("content-type", "application/json")], answer)
            }
        }),
    );
    let served = through(None, result).router(HttpOptions::default());
    let (plain, served) = (spawn_http(plain).await, spawn_http(served).await);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","arguments":{"name":"you"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let head = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: f\r\n";
    let (mut fast, mut ours): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        fast.push(load(plain, head, body, 64, 12_800).await);
        ours.push(load(served, head, body, 64, 12_800).await);
    }
    fast.sort_unstable_by(f64::total_cmp);
    ours.sort_unstable_by(f64::total_cmp);
    println!("HTTP, 64 calls in flight, modern era (load and server share the cores)");
    println!("  {:<24} {:8.0} calls/s", "bare axum handler", fast[2]);
    println!("  {:<24} {:8.0} calls/s   {:4.2} x bare", "server side", ours[2], ours[2] / fast[2]);
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    stdio("stdio, 0.2 KB result", 200, 20_000).await;
    stdio("stdio, 16 KB result", 16 << 10, 4_000).await;
    stdio("stdio, 1 MiB result", 1 << 20, 300).await;
    http().await;
}
