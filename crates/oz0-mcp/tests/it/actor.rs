//! Starting the scripted server.

use std::io::Write as _;
use std::process::Stdio;

use oz0_mcp::{Client, ClientOptions, ConnectError, Endpoint};
use serde_json::Value;
use serde_json::value::RawValue;
use tempfile::NamedTempFile;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// A running actor; killed when it is dropped.
pub(crate) struct Actor {
    pub(crate) child: Child,
    _script: NamedTempFile,
}

fn command(script: &Value) -> (Command, NamedTempFile) {
    let mut file = NamedTempFile::new().expect("a temporary file");
    file.write_all(script.to_string().as_bytes()).expect("the script is written");
    let mut command = Command::new(oz0_actor::binary());
    command.arg(file.path()).kill_on_drop(true);
    (command, file)
}

/// Starts the actor on pipes and opens a connection to it.
pub(crate) async fn stdio(
    script: Value,
    options: &ClientOptions,
) -> (Result<Client, ConnectError>, Actor) {
    let (mut command, script) = command(&script);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the actor starts");
    let (stdout, stdin) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let mut stderr = child.stderr.take().unwrap();
    // Somebody must read it, as whoever owns the process does.
    tokio::spawn(async move { tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await });
    (Client::stdio(stdout, stdin, options).await, Actor { child, _script: script })
}

/// Starts the actor over HTTP; the URL is that of its `/mcp`.
pub(crate) async fn serve(script: Value) -> (String, Actor) {
    let (mut command, script) = command(&script);
    let mut child = command
        .args(["--http", "127.0.0.1:0"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the actor starts");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next_line().await.expect("stdout is read").expect("a first line");
    let url = first.strip_prefix("listening ").expect("it says where").to_owned();
    (url, Actor { child, _script: script })
}

pub(crate) async fn http(url: &str, options: &ClientOptions) -> Result<Client, ConnectError> {
    let endpoint = Endpoint::new(url).expect("the URL is one");
    Client::http(&endpoint, options).await
}

pub(crate) fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).expect("the text is JSON")
}

/// What the actor's `received` step answers: everything that the client sent, parsed.
pub(crate) async fn received(client: &Client) -> Vec<Value> {
    let result = client
        .request("tools/call", &raw(r#"{"name":"received"}"#))
        .await
        .expect("the actor answers");
    let result: Value = serde_json::from_str(result.get()).unwrap();
    let text = result["content"][0]["text"].as_str().unwrap();
    let entries: Vec<Value> = serde_json::from_str(text).unwrap();
    entries
        .into_iter()
        .map(|mut entry| {
            let body = serde_json::from_str(entry["body"].as_str().unwrap()).unwrap_or_default();
            entry["body"] = body;
            entry
        })
        .collect()
}
