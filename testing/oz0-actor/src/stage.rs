//! The server itself, whatever carries its messages: what it answers, and the scenes that its script plays instead.

use std::collections::HashMap;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::HeaderMap;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, oneshot};

use crate::script::{PagingFault, Scene, Script, Step};

/// What goes to the client.
#[derive(Debug)]
pub(crate) enum Piece {
    /// A message, framed as the transport does.
    Message(String),
    /// Bytes, as they are.
    Raw(Vec<u8>),
    /// An HTTP response instead of any message.
    Status { code: u16, headers: Vec<(String, String)>, body: String },
}

pub(crate) type Sink = mpsc::Sender<Piece>;

/// A message from the client, as far as the server looks into it.
#[derive(Debug, Deserialize)]
pub(crate) struct Incoming {
    pub(crate) id: Option<Box<RawValue>>,
    pub(crate) method: Option<String>,
    params: Option<Box<RawValue>>,
    result: Option<Box<RawValue>>,
    error: Option<Box<RawValue>>,
    /// Over HTTP, what it came with.
    #[serde(skip)]
    pub(crate) headers: HeaderMap,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    pub(crate) name: Option<String>,
    cursor: Option<String>,
    arguments: Option<Box<RawValue>>,
    #[serde(rename = "_meta")]
    meta: Option<Box<RawValue>>,
    #[serde(rename = "protocolVersion")]
    version: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Meta {
    #[serde(rename = "progressToken")]
    progress: Option<Box<RawValue>>,
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<String>,
}

impl Incoming {
    pub(crate) fn params(&self) -> Params {
        let params = self.params.as_ref().map_or("{}", |params| params.get());
        serde_json::from_str(params).unwrap_or_default()
    }

    /// The version that a modern request names.
    pub(crate) fn modern(&self) -> Option<String> {
        self.params().meta().version
    }
}

impl Params {
    fn meta(&self) -> Meta {
        let meta = self.meta.as_ref().map_or("{}", |meta| meta.get());
        serde_json::from_str(meta).unwrap_or_default()
    }
}

#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) script: Script,
    functions: Mutex<Vec<String>>,
    counts: Mutex<HashMap<String, u64>>,
    received: Mutex<Vec<serde_json::Value>>,
    /// The last page that was listed.
    listed: Mutex<Vec<String>>,
    asked: Mutex<HashMap<String, oneshot::Sender<String>>>,
    pub(crate) sessions: Mutex<Vec<String>>,
    next: AtomicU64,
    started: u128,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn nanos() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}

/// What a scene came to.
enum Played {
    /// It answered, or will not.
    Answered,
    /// The usual follows.
    GoOn,
}

impl Stage {
    pub(crate) fn new(script: Script) -> Arc<Self> {
        Arc::new(Self {
            functions: Mutex::new(script.functions.clone()),
            counts: Mutex::default(),
            received: Mutex::default(),
            listed: Mutex::default(),
            asked: Mutex::default(),
            sessions: Mutex::default(),
            next: AtomicU64::new(1),
            started: nanos(),
            script,
        })
    }

    pub(crate) fn log(&self, entry: serde_json::Value) {
        lock(&self.received).push(entry);
    }

    pub(crate) fn unique(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Runs the timers for as long as the sink takes what they send.
    pub(crate) fn start_timers(self: &Arc<Self>, sink: &Sink) {
        for timer in self.script.timers.clone() {
            let (stage, sink) = (Arc::clone(self), sink.clone());
            tokio::spawn(async move {
                while !sink.is_closed() {
                    tokio::time::sleep(Duration::from_millis(timer.every_ms)).await;
                    stage.perform(&timer.steps, None, &sink).await;
                }
            });
        }
    }

    /// Plays an event's scene.
    pub(crate) async fn event(&self, name: &str, sink: &Sink) {
        self.play(name, None, sink).await;
    }

    async fn play(&self, name: &str, request: Option<&Incoming>, sink: &Sink) -> Played {
        let Some(scenes) = self.script.on.get(name) else { return Played::GoOn };
        let count = {
            let mut counts = lock(&self.counts);
            let count = counts.entry(name.to_owned()).or_default();
            *count += 1;
            *count
        };
        let now = |scene: &&Scene| scene.from <= count && scene.to.is_none_or(|to| count <= to);
        for scene in scenes.iter().filter(now) {
            if let Played::Answered = self.perform(&scene.steps, request, sink).await {
                return Played::Answered;
            }
        }
        Played::GoOn
    }

    /// Takes a message and answers it.
    pub(crate) async fn take(&self, message: Incoming, sink: &Sink) {
        let Some(method) = message.method.clone() else {
            let id = message.id.as_ref().map_or("null", |id| id.get());
            let answer = message.result.as_ref().or(message.error.as_ref());
            if let Some(waiting) = lock(&self.asked).remove(id) {
                let answer = answer.map_or("null", |answer| answer.get()).to_owned();
                // The scene that asked may be over.
                let _ = waiting.send(answer);
            }
            return;
        };
        let params = message.params();
        if let Played::Answered = self.play(&method, Some(&message), sink).await {
            return;
        }
        if method == "tools/call" {
            let event = format!("call {}", params.name.as_deref().unwrap_or_default());
            if let Played::Answered = self.play(&event, Some(&message), sink).await {
                return;
            }
        }
        if message.id.is_none() {
            return;
        }
        let answer = self.usual(&message, &method, &params).await;
        send(sink, &message, answer).await;
    }

    async fn usual(&self, message: &Incoming, method: &str, params: &Params) -> Answer {
        let modern = message.modern();
        if let Some(version) = &modern
            && (!self.script.versions.contains(version) || version.as_str() != MODERN)
            && self.speaks(MODERN)
        {
            return self.unsupported(version);
        }
        if method == "initialize" {
            let Some(latest) = self.latest_legacy() else {
                return self.unsupported(params.version.as_deref().unwrap_or("none"));
            };
            let asked =
                params.version.clone().filter(|asked| asked != MODERN && self.speaks(asked));
            return Answer::Result(format!(
                r#"{{"protocolVersion":"{}","capabilities":{},"serverInfo":{}}}"#,
                asked.unwrap_or_else(|| latest.to_owned()),
                self.script.capabilities,
                self.script.server
            ));
        }
        if modern.is_none() && self.latest_legacy().is_none() {
            return Answer::Error(-32602, "the request names no protocol version".to_owned(), None);
        }
        let is_modern = modern.is_some() && self.speaks(MODERN);
        match method {
            "ping" if !is_modern => Answer::Result("{}".to_owned()),
            "server/discover" if is_modern => {
                let versions: Vec<&String> =
                    self.script.versions.iter().filter(|version| *version == MODERN).collect();
                Answer::Result(format!(
                    r#"{{"resultType":"complete","supportedVersions":{},"capabilities":{},"ttlMs":0,"cacheScope":"private","_meta":{{"io.modelcontextprotocol/serverInfo":{}}}}}"#,
                    json!(versions),
                    self.script.capabilities,
                    self.script.server
                ))
            }
            "tools/list" => self.list(params, is_modern, &message.headers).await,
            "tools/call" => Answer::Result(echo(params, is_modern)),
            "subscriptions/listen" if is_modern => Answer::Silence,
            _ => Answer::Error(-32601, format!("Method not found: {method}"), None),
        }
    }

    fn speaks(&self, version: &str) -> bool {
        self.script.versions.iter().any(|known| known == version)
    }

    pub(crate) fn latest_legacy(&self) -> Option<&str> {
        // Written oldest first by default; a script may order them as it likes.
        self.script.versions.iter().rev().map(String::as_str).find(|version| *version != MODERN)
    }

    fn unsupported(&self, asked: &str) -> Answer {
        let data = json!({"supported": self.script.versions, "requested": asked}).to_string();
        Answer::Error(-32022, "Unsupported protocol version".to_owned(), Some(data))
    }

    async fn list(&self, params: &Params, modern: bool, headers: &HeaderMap) -> Answer {
        let functions = match &self.script.functions_file {
            None => lock(&self.functions).clone(),
            Some(file) => match tokio::fs::read_to_string(self.filled_in(file, headers)).await {
                Ok(text) => {
                    text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
                }
                Err(error) => return Answer::Error(-32603, error.to_string(), None),
            },
        };
        let paging = &self.script.paging;
        let size = paging.size.unwrap_or(usize::MAX).max(1);
        let at = match (params.cursor.as_deref(), paging.fault) {
            (None, _) | (_, Some(PagingFault::Endless | PagingFault::RepeatedCursor)) => 0,
            (Some(""), Some(PagingFault::EmptyCursor)) => size,
            (Some(cursor), _) => match cursor.parse() {
                Ok(at) => at,
                Err(_) => return Answer::Error(-32602, "Invalid cursor".to_owned(), None),
            },
        };
        let page: Vec<String> = functions
            .iter()
            .skip(at)
            .take(size)
            .map(|text| self.filled_in(text, headers))
            .collect();
        lock(&self.listed).clone_from(&page);
        let next = match paging.fault {
            Some(PagingFault::Endless) => Some(format!("c{}", self.unique())),
            Some(PagingFault::RepeatedCursor) => Some("again".to_owned()),
            _ if at.saturating_add(size) >= functions.len() => None,
            Some(PagingFault::EmptyCursor) if at == 0 => Some(String::new()),
            _ => Some((at + size).to_string()),
        };
        let kind = if modern {
            let ttl = self.script.ttl_ms;
            format!(r#""resultType":"complete","ttlMs":{ttl},"cacheScope":"private","#)
        } else {
            String::new()
        };
        let next = next.map_or(String::new(), |next| format!(r#","nextCursor":{}"#, json!(next)));
        Answer::Result(format!(r#"{{{kind}"tools":[{}]{next}}}"#, page.join(",")))
    }

    /// Puts in what a text says of its surroundings.
    fn filled_in(&self, text: &str, headers: &HeaderMap) -> String {
        if !text.contains("${") {
            return text.to_owned();
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            out.push_str(before);
            let Some((name, after)) = after.split_once('}') else {
                out.push_str("${");
                rest = after;
                continue;
            };
            rest = after;
            let header = name.strip_prefix("header:").map(|name| {
                let value = headers.get(name).and_then(|value| value.to_str().ok());
                value.unwrap_or_default().to_owned()
            });
            match header.or_else(|| self.surrounding(name)) {
                Some(value) => {
                    let quoted = json!(value).to_string();
                    out.push_str(&quoted[1..quoted.len() - 1]);
                }
                None => out.push_str(&["${", name, "}"].concat()),
            }
        }
        out.push_str(rest);
        out
    }

    fn surrounding(&self, name: &str) -> Option<String> {
        let env = |name: &str| std::env::var(name).unwrap_or_default();
        Some(match name {
            "tz" => env("TZ"),
            "home" => env("HOME"),
            // As Python does: a fixed seed where one is set, else another one each start.
            "hash_seed" => match env("PYTHONHASHSEED").as_str() {
                "" | "random" => self.started.to_string(),
                seed => seed.to_owned(),
            },
            "cwd" => std::env::current_dir().ok()?.display().to_string(),
            "clock" => (nanos() / 1_000_000_000).to_string(),
            "started" => self.started.to_string(),
            "pid" => std::process::id().to_string(),
            "unique" => self.unique().to_string(),
            _ => env(name.strip_prefix("env:")?),
        })
    }

    async fn perform(&self, steps: &[Step], request: Option<&Incoming>, sink: &Sink) -> Played {
        let params = request.map(Incoming::params).unwrap_or_default();
        let modern = request.is_some_and(|request| request.modern().is_some());
        for step in steps {
            let answer = match step {
                Step::Echo => Answer::Result(echo(&params, modern)),
                Step::Result(text) => {
                    let none = HeaderMap::new();
                    let headers = request.map_or(&none, |request| &request.headers);
                    Answer::Result(self.filled_in(text, headers))
                }
                Step::Error { code, message, data } => {
                    let data = data.as_ref().map(|data| data.get().to_owned());
                    Answer::Error(*code, message.clone(), data)
                }
                Step::Huge(bytes) => Answer::Result(text_result(&"x".repeat(*bytes), modern)),
                Step::Received => {
                    let all = serde_json::Value::from(lock(&self.received).clone());
                    Answer::Result(text_result(&all.to_string(), modern))
                }
                Step::Ask { method, params } => {
                    let answer = self.ask(method, params.as_deref(), sink).await;
                    Answer::Result(text_result(&answer, modern))
                }
                Step::Never => Answer::Silence,
                Step::Exit(code) => {
                    // What was said before reaches the pipe first.
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    std::process::exit(*code);
                }
                Step::Status { code, headers, body } => {
                    let headers = headers.clone().into_iter().collect();
                    let (code, body) = (*code, body.clone());
                    put(sink, Piece::Status { code, headers, body }).await;
                    return Played::Answered;
                }
                deed => {
                    self.act(deed, request, &params, sink).await;
                    continue;
                }
            };
            if let Some(request) = request {
                send(sink, request, answer).await;
            }
            return Played::Answered;
        }
        Played::GoOn
    }

    async fn act(&self, deed: &Step, request: Option<&Incoming>, params: &Params, sink: &Sink) {
        match deed {
            Step::DelayMs(ms) => tokio::time::sleep(Duration::from_millis(*ms)).await,
            Step::Progress { count, every_ms } => {
                let Some(token) = params.meta().progress else { return };
                for done in 1..=*count {
                    let params =
                        format!(r#"{{"progressToken":{token},"progress":{done},"total":{count}}}"#);
                    notify(sink, "notifications/progress", Some(&params)).await;
                    tokio::time::sleep(Duration::from_millis(*every_ms)).await;
                }
            }
            Step::Notify { method, params } => {
                notify(sink, method, params.as_ref().map(|params| params.get())).await;
            }
            Step::Functions(functions) => lock(&self.functions).clone_from(functions),
            Step::Line(line) => {
                let id =
                    request.and_then(|request| request.id.as_ref()).map_or("null", |id| id.get());
                put(sink, Piece::Message(line.replace("${id}", id))).await;
            }
            Step::Bytes(hex) => put(sink, Piece::Raw(unhex(hex))).await,
            Step::Repeat { text, count } => {
                put(sink, Piece::Raw(text.repeat(*count).into_bytes())).await;
            }
            Step::Stderr { text, count } => {
                let mut stderr = tokio::io::stderr();
                // A reader that is gone is the reader's affair.
                let _ = stderr.write_all(text.repeat(*count).as_bytes()).await;
                let _ = stderr.flush().await;
            }
            Step::Daemon { seconds, pid_file, keeps_pipes } => {
                let pipe = || if *keeps_pipes { Stdio::inherit() } else { Stdio::null() };
                let child = std::env::current_exe().and_then(|actor| {
                    Command::new(actor)
                        .args(["--daemon", &seconds.to_string()])
                        .stdin(Stdio::null())
                        .stdout(pipe())
                        .stderr(pipe())
                        .spawn()
                });
                if let (Ok(child), Some(file)) = (child, pid_file) {
                    let _ = tokio::fs::write(file, child.id().to_string()).await;
                }
            }
            Step::Record(file) => {
                let arguments = params.arguments.as_ref().map_or("null", |raw| raw.get());
                let listed = lock(&self.listed).join(",");
                let line = format!("{{\"arguments\":{arguments},\"listed\":[{listed}]}}\n");
                // One write, so that lines of several processes do not mix.
                let path = self.filled_in(file, &HeaderMap::new());
                let file = std::fs::File::options().append(true).open(path);
                if file.and_then(|mut file| file.write_all(line.as_bytes())).is_err() {
                    // A call that is not recorded must not be answered.
                    std::process::exit(3);
                }
            }
            Step::DropSessions => lock(&self.sessions).clear(),
            _ => {}
        }
    }

    async fn ask(&self, method: &str, params: Option<&RawValue>, sink: &Sink) -> String {
        let id = format!("\"ask-{}\"", self.unique());
        let (sender, receiver) = oneshot::channel();
        lock(&self.asked).insert(id.clone(), sender);
        let params = params.map_or("{}", RawValue::get);
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        put(sink, Piece::Message(text)).await;
        receiver.await.unwrap_or_default()
    }
}

pub(crate) const MODERN: &str = "2026-07-28";

pub(crate) enum Answer {
    Result(String),
    Error(i64, String, Option<String>),
    Silence,
}

impl Answer {
    pub(crate) fn text(&self, id: &str) -> Option<String> {
        Some(match self {
            Self::Result(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
            Self::Error(code, message, data) => {
                let data = data.as_ref().map_or(String::new(), |data| format!(r#","data":{data}"#));
                let message = json!(message);
                format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}{data}}}}}"#
                )
            }
            Self::Silence => return None,
        })
    }
}

async fn send(sink: &Sink, request: &Incoming, answer: Answer) {
    let id = request.id.as_ref().map_or("null", |id| id.get());
    match answer.text(id) {
        Some(text) => put(sink, Piece::Message(text)).await,
        // The transport must not take the end of this task for the end of the answer.
        None => sink.closed().await,
    }
}

async fn put(sink: &Sink, piece: Piece) {
    // A client that is gone reads nothing.
    let _ = sink.send(piece).await;
}

async fn notify(sink: &Sink, method: &str, params: Option<&str>) {
    let params = params.map_or(String::new(), |params| format!(r#","params":{params}"#));
    put(sink, Piece::Message(format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#))).await;
}

fn text_result(text: &str, modern: bool) -> String {
    let kind = if modern { r#""resultType":"complete","# } else { "" };
    format!(r#"{{{kind}"content":[{{"type":"text","text":{}}}]}}"#, json!(text))
}

fn echo(params: &Params, modern: bool) -> String {
    let raw = |value: &Option<Box<RawValue>>| {
        value.as_ref().map_or("null".to_owned(), |value| value.get().to_owned())
    };
    let echoed =
        format!(r#"{{"arguments":{},"_meta":{}}}"#, raw(&params.arguments), raw(&params.meta));
    let kind = if modern { r#""resultType":"complete","# } else { "" };
    format!(
        r#"{{{kind}"content":[{{"type":"text","text":{}}}],"structuredContent":{echoed}}}"#,
        json!(echoed)
    )
}

fn unhex(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.chars().filter_map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect();
    digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect()
}
