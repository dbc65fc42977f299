//! How long the server takes to make a page, with 200 plugins of 20 functions: from the request to the last byte, over a
//! connection of its own, on loopback.
//!
//! `cargo bench -p oz0-console`, which prints the median and the longest of each page.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that prints what it measured"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use oz0_api::Client;
use oz0_api::memory::pipe;
use oz0_api::node::{ListedFunction, Outcome, Report};
use oz0_api::plugin::{Backend, PluginDescription, Source, ToolDescription};
use oz0_api::token::{CreateToken, TokenKind};
use oz0_edge::serve::Front;
use oz0_edge::{Edge, Options};
use oz0_listing::{Digest, FunctionId, Listing};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const PLUGINS: usize = 200;
const FUNCTIONS: usize = 20;
const TIMES: usize = 30;

fn plugin(name: &str) -> PluginDescription {
    PluginDescription {
        name: name.parse().unwrap(),
        version: "1.0.0".parse().unwrap(),
        digest: Digest::of(name),
        source: Source::Dev { folder: format!("/plugins/{name}") },
        title: Some(format!("The plugin {name}")),
        description: "What it does, in a sentence of the usual length.".to_owned(),
        tools: BTreeMap::from([(name.try_into().unwrap(), ToolDescription::new(Backend::Process))]),
        policy: Vec::new(),
        hooks: Vec::new(),
        measured: None,
        uses: BTreeMap::new(),
        agents: BTreeSet::new(),
        skills: BTreeSet::new(),
        secrets: BTreeMap::new(),
        connections: BTreeMap::new(),
    }
}

fn function(tool: &str, number: usize) -> ListedFunction {
    let raw = json!({
        "name": format!("function_{number}"),
        "description": "Reads the records that match a query, and gives the newest first, in pages of a hundred. ".repeat(4),
        "annotations": {"readOnlyHint": true},
        "inputSchema": {"type": "object", "required": ["query"], "properties": {
            "query": {"type": "string", "description": "What is looked for"},
            "page": {"type": "integer", "minimum": 1, "description": "Which page"},
            "order": {"enum": ["newest", "oldest"], "description": "Which come first"}}},
        "outputSchema": {"type": "object", "properties": {"records": {"type": "array", "items": {"type": "object"}}}},
    });
    let listing = Listing::read(&raw.to_string(), &[]).unwrap();
    ListedFunction {
        id: FunctionId::new(&tool.try_into().unwrap(), listing.name()).unwrap(),
        hash: listing.hash(),
        listing: RawValue::from_string(listing.canonical().to_owned()).unwrap(),
        uncallable: None,
    }
}

async fn fill(edge: &Edge) {
    let (connector, listener) = pipe();
    let served = edge.clone();
    tokio::spawn(async move { served.serve_memory(listener, std::future::pending()).await });
    let local = Client::memory(connector);
    let admin = local.with_token(&std::fs::read_to_string(edge.admin_token_file()).unwrap());
    let create =
        CreateToken { kind: TokenKind::Node, name: "node-1".parse().unwrap(), may_approve: false };
    let node = local.with_token(&admin.create_token(&create).await.unwrap().secret);
    for number in 0..PLUGINS {
        let name = format!("plugin-{number}");
        let description = plugin(&name);
        admin.install(&description).await.unwrap();
        let functions = (0..FUNCTIONS).map(|number| function(&name, number)).collect();
        let report = Report {
            plugin: description.name.clone(),
            version: description.version.clone(),
            digest: description.digest,
            tool: name.as_str().try_into().unwrap(),
            endpoint: None,
            outcome: Outcome::Complete { functions, left_out: Vec::new() },
        };
        node.report(&report).await.unwrap();
    }
}

async fn send(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::main]
async fn main() {
    // A run of the tests builds it, and no more.
    if !std::env::args().any(|argument| argument == "--bench")
        && std::env::var_os("OZ0_BENCH").is_none()
    {
        return;
    }
    let folder = tempfile::TempDir::new().unwrap();
    let edge = Edge::open(&Options::new(folder.path().join("data"))).await.unwrap();
    fill(&edge).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let pages = oz0_console::pages(&edge);
    let served = edge.clone();
    tokio::spawn(async move {
        served.serve_tcp_with(listener, Front::default(), pages, std::future::pending()).await;
    });
    let token = std::fs::read_to_string(edge.admin_token_file()).unwrap();
    let form = format!("token={}", token.trim());
    let head = format!("Host: {address}\r\nConnection: close\r\n");
    let media = "Content-Type: application/x-www-form-urlencoded";
    let length = form.len();
    let request = format!(
        "POST /sign-in HTTP/1.1\r\n{head}{media}\r\nContent-Length: {length}\r\n\r\n{form}"
    );
    let answer = send(&address, &request).await;
    let cookie = answer.split("set-cookie: ").nth(1).unwrap().split(';').next().unwrap().to_owned();
    for path in [
        "/",
        "/plugins",
        "/plugins/plugin-7",
        "/tools",
        "/tools?q=newest",
        "/tools/plugin-7.function_3",
        "/audit",
    ] {
        let request = format!("GET {path} HTTP/1.1\r\n{head}Cookie: {cookie}\r\n\r\n");
        let mut took: Vec<Duration> = Vec::new();
        let mut bytes = 0;
        for _ in 0..TIMES {
            let began = Instant::now();
            let answer = send(&address, &request).await;
            took.push(began.elapsed());
            assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
            bytes = answer.len();
        }
        took.sort_unstable();
        let (median, longest) = (took[TIMES / 2], took[TIMES - 1]);
        println!("{path:<28} median {median:>9.1?}  longest {longest:>9.1?}  {bytes} bytes");
    }
}
