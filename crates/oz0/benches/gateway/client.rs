//! An MCP client over the stdio of a process that it starts, as plain as the server: what is measured is what stands
//! between them.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) struct Client {
    pub(crate) name: &'static str,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
    line: Vec<u8>,
    /// What the functions' names begin with here.
    prefix: &'static str,
    pub(crate) times: Vec<Duration>,
}

impl Client {
    /// Starts the process, opens the connection, and waits until the functions are listed.
    pub(crate) fn start(name: &'static str, prefix: &'static str, command: &mut Command) -> Self {
        let stderr = if std::env::var_os("OZ0_BENCH_TALK").is_some() {
            Stdio::inherit()
        } else {
            Stdio::null()
        };
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .unwrap_or_else(|error| panic!("{name}: {command:?}: {error}"));
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let output = BufReader::with_capacity(64 << 10, output);
        let mut client = Self {
            name,
            child,
            input,
            output,
            last: 0,
            line: Vec::new(),
            prefix,
            times: Vec::new(),
        };
        client.request("initialize", r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}"#);
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        let until = Instant::now() + Duration::from_secs(20);
        while !client.request("tools/list", "{}").contains(&format!("\"{prefix}hello\"")) {
            assert!(Instant::now() < until, "{name} lists no function: {}", client.text());
            std::thread::sleep(Duration::from_millis(20));
        }
        client
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.line).into_owned()
    }

    fn send(&mut self, message: &str) {
        self.input.as_mut().unwrap().write_all([message, "\n"].concat().as_bytes()).unwrap();
    }

    /// A request and its answer; what comes in between is passed over.
    pub(crate) fn request(&mut self, method: &str, params: &str) -> String {
        self.last += 1;
        let id = self.last;
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
        ));
        loop {
            self.receive();
            if self.text().contains(&format!("\"id\":{id}"))
                || self.text().contains(&format!("\"id\": {id}"))
            {
                return self.text();
            }
        }
    }

    fn receive(&mut self) {
        self.line.clear();
        let count = self.output.read_until(b'\n', &mut self.line).unwrap();
        assert!(count > 0, "{} has ended", self.name);
    }

    /// One timed call: written, and its answer read to the end. No two calls are the same, which some gateways would
    /// refuse.
    pub(crate) fn call(&mut self, function: &str) {
        self.last += 1;
        let (id, prefix) = (self.last, self.prefix);
        let arguments = match function {
            "hello" => format!(r#"{{"name":"you {id}"}}"#),
            _ => "{}".to_owned(),
        };
        let call = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{prefix}{function}\",\"arguments\":{arguments}}}}}\n"
        );
        let began = Instant::now();
        self.input.as_mut().unwrap().write_all(call.as_bytes()).unwrap();
        self.receive();
        // A notification is not what was asked for.
        while !self.line[..self.line.len().min(40)].windows(4).any(|four| four == b"\"id\"") {
            self.receive();
        }
        self.times.push(began.elapsed());
        assert!(self.is_accepted(), "{}: {}", self.name, self.text());
    }

    fn is_accepted(&self) -> bool {
        let head = String::from_utf8_lossy(&self.line[..self.line.len().min(400)]);
        let refused = ["isError\":true", "isError\": true"].iter().any(|text| head.contains(text));
        head.contains("\"result\"") && !refused
    }

    /// Calls, and says whether the call went through.
    pub(crate) fn accepts(&mut self, function: &str) -> bool {
        let name = format!("{}{function}", self.prefix);
        self.request("tools/call", &format!(r#"{{"name":"{name}","arguments":{{"name":"you"}}}}"#));
        self.is_accepted()
    }

    /// The time that this share of the calls did not take longer than, in microseconds.
    pub(crate) fn micros(&self, share: f64) -> f64 {
        percentile(&self.times, share).as_secs_f64() * 1e6
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        let until = Instant::now() + Duration::from_secs(5);
        while self.child.try_wait().unwrap().is_none() {
            if Instant::now() > until {
                let _ = self.child.kill();
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

pub(crate) fn percentile(times: &[Duration], share: f64) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a place in a list"
    )]
    let at = ((times.len() - 1) as f64 * share).round() as usize;
    times[at]
}
