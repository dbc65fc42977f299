//! Calls over Streamable HTTP, many in flight.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use oz0_peers::Bench;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::peers::{Served, oz0};

const IN_FLIGHT: usize = 64;
const ROUNDS: usize = 5;
/// How long one round is.
const ROUND: Duration = Duration::from_millis(1500);

/// The same as the proxy's documentation has it, with what makes it fast: one connection to the server for all calls,
/// no sessions, plain JSON answers.
const FASTMCP: &str = r#"
import asyncio, socket, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

async def main():
    async with Client(StdioTransport(sys.argv[1], sys.argv[2:])) as client:
        proxy = create_proxy(client)
        listening = socket.create_server(("127.0.0.1", 0), backlog=256)
        print(listening.getsockname()[1], flush=True)
        await proxy.run_http_async(show_banner=False, log_level="error", path="/mcp", json_response=True, stateless_http=True, sockets=[listening])

asyncio.run(main())
"#;

struct Gateway {
    name: &'static str,
    child: Child,
    port: u16,
    function: &'static str,
    /// Calls a second, of each round.
    rates: Vec<f64>,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // In order, so that its servers end too.
        let pid = nix::unistd::Pid::from_raw(self.child.id().try_into().unwrap());
        let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM);
        let until = Instant::now() + Duration::from_secs(10);
        while self.child.try_wait().unwrap().is_none() {
            if Instant::now() > until {
                let _ = self.child.kill();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Starts it, and reads where it listens from its first line.
fn start(
    name: &'static str,
    function: &'static str,
    command: &mut Command,
    port: impl Fn(&str) -> u16,
) -> Gateway {
    let talk = std::env::var_os("OZ0_BENCH_TALK").is_some();
    let stderr = if talk { Stdio::inherit() } else { Stdio::null() };
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    Gateway { name, port: port(&line), child, function, rates: Vec::new() }
}

impl Gateway {
    fn request(&self) -> Vec<u8> {
        let function = self.function;
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{function}","arguments":{{"name":"you"}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"bench","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
        );
        format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {function}\r\nContent-Length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        )
        .into_bytes()
    }

    async fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// Until the function answers.
    async fn ready(&self) {
        let until = Instant::now() + Duration::from_secs(20);
        let request = self.request();
        loop {
            let mut stream = self.connect().await;
            let answer = exchange(&mut stream, &request, &mut vec![0; 64 << 10]).await;
            if is_good(&answer) {
                return;
            }
            assert!(Instant::now() < until, "{}: {answer}", self.name);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Calls a second, with a connection for each call in flight.
    async fn load(&self) -> f64 {
        let mut streams = Vec::new();
        for _ in 0..IN_FLIGHT {
            streams.push(self.connect().await);
        }
        let request = std::sync::Arc::new(self.request());
        let began = Instant::now();
        let mut tasks = tokio::task::JoinSet::new();
        for mut stream in streams {
            let request = std::sync::Arc::clone(&request);
            tasks.spawn(async move {
                let mut buffer = vec![0; 64 << 10];
                let mut calls = 0_u32;
                while began.elapsed() < ROUND {
                    let answer = exchange(&mut stream, &request, &mut buffer).await;
                    assert!(is_good(&answer), "{answer}");
                    calls += 1;
                }
                calls
            });
        }
        let calls: u32 = tasks.join_all().await.into_iter().sum();
        f64::from(calls) / began.elapsed().as_secs_f64()
    }
}

fn is_good(answer: &str) -> bool {
    answer.starts_with("HTTP/1.1 200")
        && answer.contains("Hello, you")
        && !answer.contains("\"isError\":true")
}

/// A request, and the whole of its answer.
async fn exchange(stream: &mut TcpStream, request: &[u8], buffer: &mut [u8]) -> String {
    stream.write_all(request).await.unwrap();
    let mut got = 0;
    loop {
        let count = stream.read(&mut buffer[got..]).await.unwrap();
        got += count;
        let text = String::from_utf8_lossy(&buffer[..got]);
        if count == 0 || is_whole(&text) {
            return text.into_owned();
        }
    }
}

fn is_whole(answer: &str) -> bool {
    let Some((head, body)) = answer.split_once("\r\n\r\n") else { return false };
    let head = head.to_ascii_lowercase();
    match head.split_once("content-length: ") {
        Some((_, rest)) => {
            let length: usize = rest.split("\r\n").next().unwrap().trim().parse().unwrap();
            body.len() >= length
        }
        None => body.ends_with("0\r\n\r\n"),
    }
}

pub(crate) fn measure(root: &Path, bench: &Bench) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let served = Served::compiled(root, 1);
    let mut up = oz0(&root.join("http"));
    up.args(["up", "--json", "--listen", "127.0.0.1:0", "--mcp-listen", "127.0.0.1:0"]);
    let mut proxy = Command::new(bench.program("python"));
    proxy.args(["-c", FASTMCP]).args(served.command());
    let mut gateways = [
        start("oz0 up", "bench__hello", up.arg(served.plugin()), |line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let address = line["mcp"].as_str().unwrap();
            address.trim_end_matches("/mcp").rsplit(':').next().unwrap().parse().unwrap()
        }),
        start("fastmcp proxy", "hello", &mut proxy, |line| line.trim().parse().unwrap()),
    ];
    runtime.block_on(async {
        for gateway in &gateways {
            gateway.ready().await;
            gateway.load().await;
        }
        for _ in 0..ROUNDS {
            for gateway in &mut gateways {
                let rate = gateway.load().await;
                gateway.rates.push(rate);
            }
        }
    });
    println!(
        "\nHTTP, {IN_FLIGHT} calls in flight, compiled server behind it, median of {ROUNDS} rounds"
    );
    for gateway in &mut gateways {
        gateway.rates.sort_unstable_by(f64::total_cmp);
        println!("  {:<16}{:>9.0} calls/s", gateway.name, gateway.rates[ROUNDS / 2]);
    }
    let ratio = gateways[0].rates[ROUNDS / 2] / gateways[1].rates[ROUNDS / 2];
    println!("  oz0 up makes {ratio:.1} x the calls of the proxy");
}
