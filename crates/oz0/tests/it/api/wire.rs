//! Requests as bytes, since what strangers send no client of ours would.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

/// How long an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// Where a server is.
#[derive(Clone)]
pub(super) enum Address {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl Address {
    /// That of `http://IP:PORT`, whatever the path.
    pub(super) fn of(url: &str) -> Self {
        let rest = url.strip_prefix("http://").expect("plain HTTP");
        let authority = rest.split('/').next().expect("an authority");
        Self::Tcp(authority.parse().expect("an address"))
    }

    /// Sends these bytes, and gives what comes until the server closes.
    pub(super) fn exchange(&self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Tcp(address) => {
                let stream = TcpStream::connect(address).expect("it listens");
                stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
                stream.set_write_timeout(Some(PATIENCE)).expect("a time-out");
                exchange(stream, bytes)
            }
            Self::Unix(path) => {
                let stream = UnixStream::connect(path).expect("it listens");
                stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
                exchange(stream, bytes)
            }
        }
    }
}

/// A server that turns a request away before it read all of it resets the connection: what came until then is the answer.
fn exchange(mut stream: impl Read + Write, bytes: &[u8]) -> Vec<u8> {
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let mut part = [0; 8192];
    loop {
        match stream.read(&mut part) {
            Ok(0) => return answer,
            Ok(more) => answer.extend_from_slice(&part[..more]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                panic!("no end of the answer within {PATIENCE:?}")
            }
            Err(_) => return answer,
        }
    }
}

/// A request that is well formed but for what a test does to it.
#[derive(Clone)]
pub(super) struct Request {
    line: String,
    host: String,
    head: String,
    body: String,
}

impl Request {
    pub(super) fn new(method: &str, path: &str) -> Self {
        Self {
            line: format!("{method} {path} HTTP/1.1"),
            host: "Host: localhost\r\n".to_owned(),
            head: String::new(),
            body: String::new(),
        }
    }

    pub(super) fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    pub(super) fn post(path: &str, json: &str) -> Self {
        Self::new("POST", path).body("application/json", json)
    }

    pub(super) fn host(mut self, lines: &str) -> Self {
        lines.clone_into(&mut self.host);
        self
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        let _ = write!(self.head, "{name}: {value}\r\n");
        self
    }

    pub(super) fn token(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    pub(super) fn body(mut self, media: &str, body: &str) -> Self {
        body.clone_into(&mut self.body);
        let length = body.len().to_string();
        self.header("Content-Type", media).header("Content-Length", &length)
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let Self { line, host, head, body } = self;
        format!("{line}\r\n{host}{head}Connection: close\r\n\r\n{body}").into_bytes()
    }

    pub(super) fn send(&self, to: &Address) -> Answer {
        Answer::of(&to.exchange(&self.bytes()))
    }
}

/// An answer.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Answer {
    /// The first one of what a server said; status 0 where it said nothing.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}\n\n{}", self.head, self.body))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.head.lines().filter_map(|line| line.split_once(": "));
        fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}
