//! An editor, as far as a language server can tell.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::oz0;

/// How long anything may take before a test fails: a loaded machine is slow.
const PATIENCE: Duration = Duration::from_mins(1);

/// An editor with its server.
pub(super) struct Editor {
    child: Child,
    stdin: Option<ChildStdin>,
    incoming: Receiver<Value>,
    next: i64,
    /// A message that waits for the next one.
    held: Option<Vec<u8>>,
    /// What is shown of each document: the last `publishDiagnostics`.
    pub(super) shown: BTreeMap<String, Value>,
    /// What the server said in a window or a log.
    pub(super) messages: Vec<String>,
    /// What the server asked for.
    pub(super) asked: Vec<Value>,
    /// What a question about the configuration is answered with.
    pub(super) settings: Value,
}

/// The address of a file.
pub(super) fn uri(path: &Path) -> String {
    format!("file://{}", path.to_str().unwrap())
}

impl Editor {
    /// Starts the server, and says nothing yet.
    pub(super) fn start(arguments: &[&str]) -> Self {
        let mut command = oz0(["lsp", "--quiet"].iter().chain(arguments));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, incoming) = channel();
        std::thread::spawn(move || {
            // Whatever is no message breaks the thread, and with it the test.
            loop {
                let mut header = String::new();
                if stdout.read_line(&mut header).unwrap() == 0 {
                    return;
                }
                let length = header.strip_prefix("Content-Length: ").expect(&header);
                let mut body = vec![0; length.trim_end().parse().unwrap()];
                let mut empty = String::new();
                stdout.read_line(&mut empty).unwrap();
                assert_eq!(empty, "\r\n");
                stdout.read_exact(&mut body).unwrap();
                let message: Value = serde_json::from_slice(&body).unwrap();
                assert_eq!(message["jsonrpc"], "2.0");
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            stdin,
            incoming,
            next: 0,
            held: None,
            shown: BTreeMap::new(),
            messages: Vec::new(),
            asked: Vec::new(),
            settings: Value::Null,
        }
    }

    /// Starts the server and meets it, as an editor that can do everything.
    pub(super) fn meet(arguments: &[&str]) -> Self {
        Self::meet_with(arguments, &json!({})).0
    }

    /// The same with parameters of `initialize` beside the usual ones, or in their place; and what the server answered.
    pub(super) fn meet_with(arguments: &[&str], parameters: &Value) -> (Self, Value) {
        let mut editor = Self::start(arguments);
        let mut all = json!({
            "processId": std::process::id(),
            "rootUri": null,
            "capabilities": {
                "workspace": {
                    "workspaceEdit": { "documentChanges": true },
                    "didChangeWatchedFiles": { "dynamicRegistration": true },
                    "configuration": true,
                },
                "textDocument": { "hover": { "contentFormat": ["markdown", "plaintext"] } },
            },
        });
        for (key, value) in parameters.as_object().unwrap() {
            all[key] = value.clone();
        }
        let answer = editor.request("initialize", &all);
        editor.notify("initialized", &json!({}));
        (editor, answer["result"].clone())
    }

    /// Keeps the next message back, and sends it with the one behind it.
    pub(super) fn hold(&mut self) {
        self.held = Some(Vec::new());
    }

    pub(super) fn send_raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).and_then(|()| stdin.flush()).unwrap();
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let bytes = format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes();
        match self.held.take() {
            Some(held) if held.is_empty() => self.held = Some(bytes),
            Some(held) => self.send_raw(&[held, bytes].concat()),
            None => self.send_raw(&bytes),
        }
    }

    /// Answers the server, if it is still there.
    fn answer(&mut self, id: &Value, result: &Value) {
        let body = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
        if let Some(stdin) = &mut self.stdin {
            let _ = write!(stdin, "Content-Length: {}\r\n\r\n{body}", body.len());
            let _ = stdin.flush();
        }
    }

    pub(super) fn notify(&mut self, method: &str, parameters: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": parameters }));
    }

    /// Asks, and waits for nothing; the number of the request.
    pub(super) fn post(&mut self, method: &str, parameters: &Value) -> i64 {
        self.next += 1;
        let mut message = json!({ "jsonrpc": "2.0", "id": self.next, "method": method });
        if !parameters.is_null() {
            message["params"] = parameters.clone();
        }
        self.send(&message);
        self.next
    }

    /// Asks, and waits for the answer: the whole message.
    pub(super) fn request(&mut self, method: &str, parameters: &Value) -> Value {
        let id = self.post(method, parameters);
        let deadline = Instant::now() + PATIENCE;
        loop {
            let message = self.receive(deadline).unwrap_or_else(|| panic!("no answer: {method}"));
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// What a request gave.
    pub(super) fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        let answer = self.request(method, parameters);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// The next message, with what it asks for done; `None` where the server has ended.
    fn receive(&mut self, deadline: Instant) -> Option<Value> {
        let left = deadline.saturating_duration_since(Instant::now());
        let message = match self.incoming.recv_timeout(left) {
            Ok(message) => message,
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing comes; shown: {:#?}", self.shown),
        };
        let parameters = &message["params"];
        match message["method"].as_str() {
            Some("textDocument/publishDiagnostics") => {
                let uri = parameters["uri"].as_str().unwrap().to_owned();
                self.shown.insert(uri, parameters.clone());
            }
            Some("window/showMessage" | "window/logMessage") => {
                self.messages.push(parameters["message"].as_str().unwrap().to_owned());
            }
            Some(method) => {
                let result = match method {
                    "workspace/configuration" => json!([self.settings]),
                    _ => Value::Null,
                };
                self.asked.push(message.clone());
                self.answer(&message["id"], &result);
            }
            None => {}
        }
        Some(message)
    }

    /// Waits until something holds.
    pub(super) fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(self.receive(deadline).is_some(), "the server ended, and not: {what}");
        }
    }

    pub(super) fn open(&mut self, path: &Path, text: &str) {
        self.open_as(&uri(path), 1, text);
    }

    pub(super) fn open_as(&mut self, uri: &str, version: i64, text: &str) {
        let document =
            json!({ "uri": uri, "languageId": "yaml", "version": version, "text": text });
        self.notify("textDocument/didOpen", &json!({ "textDocument": document }));
    }

    /// Opens a document and waits until the server has looked at it; its findings.
    pub(super) fn look_at(&mut self, path: &Path, text: &str) -> Vec<Value> {
        self.open(path, text);
        self.findings(path, 1)
    }

    /// Replaces the text of an open document.
    pub(super) fn replace(&mut self, path: &Path, version: i64, text: &str) {
        self.change(path, version, &json!([{ "text": text }]));
    }

    pub(super) fn change(&mut self, path: &Path, version: i64, changes: &Value) {
        let document = json!({ "uri": uri(path), "version": version });
        let parameters = json!({ "textDocument": document, "contentChanges": changes });
        self.notify("textDocument/didChange", &parameters);
    }

    pub(super) fn close(&mut self, path: &Path) {
        self.notify("textDocument/didClose", &json!({ "textDocument": { "uri": uri(path) } }));
    }

    /// Says that files changed on the disk.
    pub(super) fn changed_on_disk(&mut self, path: &Path) {
        let change = json!({ "uri": uri(path), "type": 2 });
        self.notify("workspace/didChangeWatchedFiles", &json!({ "changes": [change] }));
    }

    /// The findings of a version of an open document.
    pub(super) fn findings(&mut self, path: &Path, version: i64) -> Vec<Value> {
        let uri = uri(path);
        let is_shown =
            |editor: &Self| editor.shown.get(&uri).is_some_and(|shown| shown["version"] == version);
        self.until(&format!("version {version} of {uri}"), is_shown);
        self.shown[&uri]["diagnostics"].as_array().unwrap().clone()
    }

    /// Waits until a file has exactly these codes.
    pub(super) fn until_codes(&mut self, path: &Path, wanted: &[&str]) {
        let uri = uri(path);
        self.until(&format!("{wanted:?} in {uri}"), |editor| {
            editor.shown.get(&uri).is_some_and(|shown| codes(&shown["diagnostics"]) == wanted)
        });
    }

    /// Leaves in order; the exit code.
    pub(super) fn leave(mut self) -> Option<i32> {
        assert_eq!(self.ask("shutdown", &Value::Null), Value::Null);
        self.notify("exit", &Value::Null);
        self.ended()
    }

    /// Closes the end of the pipe.
    pub(super) fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// Waits for the server's end; its exit code.
    pub(super) fn ended(&mut self) -> Option<i32> {
        let deadline = Instant::now() + PATIENCE;
        while self.receive(deadline).is_some() {}
        self.child.wait().unwrap().code()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The codes of some findings.
pub(super) fn codes(findings: &Value) -> Vec<String> {
    let findings = findings.as_array().unwrap();
    findings.iter().map(|found| found["code"].as_str().unwrap().to_owned()).collect()
}

/// A place in a text, in UTF-16 code units: where `needle` begins, and `after` characters further.
pub(super) fn place(text: &str, needle: &str, after: usize) -> Value {
    let at = text.find(needle).unwrap_or_else(|| panic!("{needle:?} is in {text:?}"));
    let before: String = text[..at].chars().chain(text[at..].chars().take(after)).collect();
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap().encode_utf16().count();
    json!({ "line": line, "character": column })
}
