//! What is seen of a running `oz0` from outside: its log, the one ID of a call, numbers, health.

#![expect(clippy::unwrap_used, reason = "a test that fails should panic where it does")]

mod health;
mod logged;
mod numbers;
mod openmetrics;
#[cfg(feature = "otel")]
mod spans;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use oz0_mcp::{CallError, Client, Fault};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::local::home::{Process, eventually};

/// The status of a plain request, and the body.
pub(crate) fn get(url: &str, path: &str, headers: &str) -> (u16, String) {
    let address = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap_or_default();
    let status = status.parse().unwrap_or_else(|_| panic!("{answer}"));
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status, body.to_owned())
}

/// A call as it is written here; its result, or the error.
pub(crate) async fn call(client: &Client, params: &str) -> Result<Value, String> {
    let params = RawValue::from_string(params.to_owned()).unwrap();
    match client.request("tools/call", &params).await {
        Ok(result) => Ok(serde_json::from_str(result.get()).unwrap()),
        Err(CallError { fault: Fault::Answered(error), .. }) => Err(error.message),
        Err(error) => panic!("{error}"),
    }
}

/// The events that a process logged as JSON so far. A line that is none fails the test.
pub(crate) fn events(process: &Process) -> Vec<Value> {
    let said = process.said();
    let whole = said.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// Waits for an event.
pub(crate) fn event(process: &Process, what: &str, is: impl Fn(&Value) -> bool) -> Value {
    let mut found = None;
    eventually(what, || {
        found = events(process).into_iter().find(&is);
        found.is_some()
    });
    found.unwrap()
}
