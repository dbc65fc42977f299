//! The gateway in memory that the server's tests stand on, and clients written by hand.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use oz0_mcp::RpcError;
use oz0_mcp::server::{
    AskError, Call, Denied, Functions, Gateway, HttpOptions, Principal, Server, ServerOptions,
};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::net::TcpStream;
use tokio::sync::watch;

pub(crate) fn raw(text: impl Into<String>) -> Box<RawValue> {
    RawValue::from_string(text.into()).unwrap()
}

/// What each function does is in its name; see [`Gateway::call`] below.
pub(crate) struct Memory {
    pub(crate) revision: watch::Sender<u64>,
    pub(crate) functions: usize,
    pub(crate) tokens: bool,
    /// Whether `marked` is listed, whose arguments stand in headers too.
    pub(crate) marked: bool,
    /// Calls of `slow` that were cancelled.
    pub(crate) cancelled: Arc<AtomicUsize>,
    pub(crate) started: Arc<AtomicUsize>,
}

impl Memory {
    pub(crate) fn new() -> Self {
        Self {
            revision: watch::Sender::new(1),
            functions: 3,
            tokens: false,
            marked: false,
            cancelled: Arc::default(),
            started: Arc::default(),
        }
    }
}

const MARKED: &str = r#"{"name":"marked","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}}"#;

struct Cancelled(Arc<AtomicUsize>);

impl Drop for Cancelled {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

pub(crate) const FORM: &str = r#"{"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}"#;

impl Gateway for Memory {
    async fn authenticate(&self, token: Option<&str>) -> Result<Principal, Denied> {
        match token {
            _ if !self.tokens => Ok(Principal::local()),
            Some("one") => Ok(Principal::new("one")),
            Some("two") => Ok(Principal::new("two")),
            Some("none") => Err(Denied::Forbidden),
            _ => Err(Denied::Unauthenticated { resource_metadata: None }),
        }
    }

    async fn list(&self, _: &Principal) -> Result<Arc<Functions>, RpcError> {
        let items = (0..self.functions)
            .map(|index| {
                format!(r#"{{"name":"f{index}","inputSchema":{{"type":"object"}}}}"#).into()
            })
            .chain(self.marked.then(|| MARKED.into()))
            .collect();
        Ok(Arc::new(Functions { revision: *self.revision.borrow(), items, public: false }))
    }

    fn revision(&self, _: &Principal) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    async fn call(&self, call: Call) -> Result<Box<RawValue>, RpcError> {
        match call.name() {
            // Gives back what reached the gateway.
            "echo" | "marked" => {
                Ok(raw(format!(r#"{{"content":[],"got":{}}}"#, call.params().text())))
            }
            // Its arguments' `result` is its result.
            "result" => {
                #[derive(serde::Deserialize)]
                struct Arguments {
                    result: Box<RawValue>,
                }
                let arguments: Arguments =
                    serde_json::from_str(call.params().arguments().unwrap()).unwrap();
                Ok(arguments.result)
            }
            "big" => Ok(raw(format!(r#"{{"content":[],"big":"{}"}}"#, "x".repeat(1 << 20)))),
            "error" => Err(RpcError::new(-32_077, "no")),
            "slow" => {
                self.started.fetch_add(1, Ordering::SeqCst);
                let cancelled = Cancelled(Arc::clone(&self.cancelled));
                tokio::time::sleep(Duration::from_secs(20)).await;
                std::mem::forget(cancelled);
                Ok(raw(r#"{"content":[]}"#))
            }
            "log" => {
                call.log(&raw(r#"{"level":"info","data":1}"#));
                call.log(&raw(r#"{"level":"error", "data":2,"_meta":{"oz0/x":1}}"#));
                call.log(&raw(r#"{"level":"loud","data":3}"#));
                Ok(raw(r#"{"content":[]}"#))
            }
            "half" => {
                tokio::time::sleep(Duration::from_millis(600)).await;
                Ok(raw(r#"{"content":[],"half":true}"#))
            }
            "progress" => {
                if let Some(progress) = call.progress() {
                    for step in 1..=3 {
                        let params = format!(
                            r#"{{"progress":{step}.0,  "progressToken":77,"message":"s{step}","_meta":{{"oz0/x":1,"y":2}}}}"#
                        );
                        progress.forward(&raw(params));
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                }
                Ok(raw(r#"{"content":[]}"#))
            }
            // Asks as a legacy server behind it does.
            "ask" => match call.asker().ask("elicitation/create", Some(&raw(FORM))).await {
                Ok(answer) => Ok(raw(format!(r#"{{"content":[],"answer":{answer}}}"#))),
                Err(AskError::Unable(_)) => Ok(raw(r#"{"content":[],"unable":true}"#)),
                Err(error) => Err(RpcError::new(-32_078, error.to_string())),
            },
            // Asks as a modern server behind it does, twice.
            "rounds" => {
                let question = |state: &str| {
                    raw(format!(
                        r#"{{"resultType":"input_required","inputRequests":{{"k":{{"method":"elicitation/create","params":{FORM}}}}},"requestState":"{state}"}}"#
                    ))
                };
                match call.params().request_state().as_deref() {
                    None => Ok(question("first")),
                    Some("first") => Ok(question("second")),
                    Some("second") => Ok(raw(format!(
                        r#"{{"content":[],"resultType":"complete","answers":{}}}"#,
                        call.params().input_responses().unwrap_or("null")
                    ))),
                    Some(other) => Err(RpcError::new(-32_602, other)),
                }
            }
            _ => Err(RpcError::new(-32_602, "Unknown tool")),
        }
    }
}

pub(crate) fn server(memory: Memory) -> Server<Memory> {
    Server::new(Arc::new(memory), options())
}

pub(crate) fn options() -> ServerOptions {
    let mut options = ServerOptions::new("gate", "9");
    options.timeouts.plain = Duration::from_millis(100);
    options
}

/// A client's end of a stdio connection, line by line.
pub(crate) struct Lines {
    pub(crate) reader: tokio::io::Lines<BufReader<tokio::io::ReadHalf<DuplexStream>>>,
    pub(crate) writer: tokio::io::WriteHalf<DuplexStream>,
    pub(crate) served: tokio::task::JoinHandle<Result<(), oz0_mcp::server::StdioError>>,
}

impl Lines {
    pub(crate) fn open(server: &Server<Memory>) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let server = server.clone();
        let task = tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(theirs);
            server.stdio(Principal::local(), reader, writer).await
        });
        let (reader, writer) = tokio::io::split(ours);
        Self { reader: BufReader::new(reader).lines(), writer, served: task }
    }

    pub(crate) async fn send(&mut self, line: &str) {
        self.writer.write_all(line.as_bytes()).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    pub(crate) async fn line(&mut self) -> String {
        let line = tokio::time::timeout(Duration::from_secs(5), self.reader.next_line());
        line.await.expect("an answer in time").unwrap().expect("not the end")
    }

    pub(crate) async fn next(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    pub(crate) async fn ask(&mut self, line: &str) -> Value {
        self.send(line).await;
        self.next().await
    }

    pub(crate) async fn initialize(&mut self, version: &str) -> Value {
        let result = self.ask(&initialize(version)).await;
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        result
    }
}

pub(crate) fn initialize(version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{"elicitation":{{}}}},"clientInfo":{{"name":"t","version":"1"}}}}}}"#
    )
}

pub(crate) const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}"#;

/// A modern `tools/call`; `more` are further members of its parameters, each with a comma before it.
pub(crate) fn modern_call(id: u64, name: &str, more: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","_meta":{{{META}}}{more}}}}}"#
    )
}

/// An HTTP endpoint on loopback.
pub(crate) struct Endpoint {
    pub(crate) address: std::net::SocketAddr,
    pub(crate) server: Server<Memory>,
    pub(crate) served: tokio::task::JoinHandle<()>,
}

impl Endpoint {
    pub(crate) async fn open(server: Server<Memory>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = server.router(HttpOptions::default());
        let serving = server.clone();
        let task = tokio::spawn(async move {
            serving.serve(listener, router).await;
        });
        Self { address, server, served: task }
    }

    /// Sends a request written by hand and reads the whole answer; the connection is closed after it.
    pub(crate) async fn exchange(&self, head: &[(&str, &str)], method: &str, body: &str) -> Reply {
        let mut stream = self.begin(head, method, body).await;
        let mut bytes = Vec::new();
        let all = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut bytes));
        all.await.expect("an answer in time").unwrap();
        Reply::read(&String::from_utf8(bytes).unwrap())
    }

    pub(crate) async fn begin(&self, head: &[(&str, &str)], method: &str, body: &str) -> TcpStream {
        let mut text = format!("{method} /mcp HTTP/1.1\r\nConnection: close\r\n");
        let given = |name: &str| head.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        let own = format!("127.0.0.1:{}", self.address.port());
        let defaults = [
            ("Host", own.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        for (name, value) in defaults.iter().filter(|(name, _)| !given(name)).chain(head) {
            if !value.is_empty() {
                write!(text, "{name}: {value}\r\n").unwrap();
            }
        }
        write!(text, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    pub(crate) async fn post(&self, head: &[(&str, &str)], body: &str) -> Reply {
        self.exchange(head, "POST", body).await
    }

    /// A modern request with the headers that it needs.
    pub(crate) async fn modern(&self, method: &str, name: &str, body: &str) -> Reply {
        let head =
            [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method), ("Mcp-Name", name)];
        self.post(&head, body).await
    }

    /// Opens a session, and says that it is ready.
    pub(crate) async fn session(&self, version: &str, token: &str) -> String {
        let bearer = format!("Bearer {token}");
        let reply = self.post(&[("Authorization", &bearer)], &initialize(version)).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        let session = reply.header("mcp-session-id").unwrap().to_owned();
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let head = [("Authorization", bearer.as_str()), ("Mcp-Session-Id", &session)];
        assert_eq!(self.post(&head, ready).await.status, 202);
        session
    }
}

/// An HTTP answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").expect("a whole head");
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let head: Vec<(String, String)> = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let mut reply = Self { status, head, body: body.to_owned() };
        if reply.header("transfer-encoding") == Some("chunked") {
            reply.body = dechunked(body);
        }
        reply
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The events' IDs and data.
    pub(crate) fn events(&self) -> Vec<(Option<String>, String)> {
        events(&self.body)
    }
}

pub(crate) fn events(body: &str) -> Vec<(Option<String>, String)> {
    body.split("\n\n")
        .map(|event| {
            let field = |name: &str| {
                event
                    .lines()
                    .find_map(|line| line.strip_prefix(name))
                    .map(|text| text.trim().to_owned())
            };
            (field("id:"), field("data:"))
        })
        .filter_map(|(id, data)| Some((id, data?)))
        .collect()
}

pub(crate) fn dechunked(body: &str) -> String {
    let mut out = String::new();
    let mut rest = body;
    while let Some((size, after)) = rest.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size, 16) else { break };
        if size == 0 || after.len() < size {
            out.push_str(after.get(..size.min(after.len())).unwrap_or_default());
            break;
        }
        out.push_str(&after[..size]);
        rest = after[size..].strip_prefix("\r\n").unwrap_or_default();
    }
    out
}

/// Reads a stream until it holds this text.
pub(crate) async fn until(stream: &mut TcpStream, text: &str) -> String {
    let mut got = String::new();
    let mut chunk = vec![0; 4096];
    let read = async {
        while !got.contains(text) {
            let count = stream.read(&mut chunk).await.unwrap();
            assert!(count > 0, "the stream ended: {got}");
            got.push_str(std::str::from_utf8(&chunk[..count]).unwrap());
        }
    };
    tokio::time::timeout(Duration::from_secs(5), read).await.expect("it comes in time");
    got
}
