//! The scripted server held to its own README, by a client that is nothing but lines.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected has failed")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::NamedTempFile;

struct Actor {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    _script: NamedTempFile,
}

impl Drop for Actor {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn started(script: &Value, environment: &[(&str, &str)]) -> Actor {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(script.to_string().as_bytes()).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_oz0-actor"))
        .arg(file.path())
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    Actor { child, stdin, stdout, _script: file }
}

impl Actor {
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn say(&mut self, id: u64, method: &str, params: &Value) {
        let text = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(self.stdin.as_mut().unwrap(), "{text}").unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.say(1, method, params);
        serde_json::from_str(&self.line()).unwrap()
    }
}

fn alive(pid: &str) -> bool {
    // A zombie has ended; only its parent has not looked yet.
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().starts_with(" Z"))
}

fn until(what: impl Fn() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(20);
    while Instant::now() < end {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

#[test]
fn functions_reach_the_wire_as_they_stand() {
    let functions = [r#"{"name":"a","n":1.0e2,"n":[]}"#, "not json", r#"{ "b" : 1 }"#];
    let mut actor = started(&json!({"functions": functions}), &[]);
    actor.say(1, "tools/list", &json!({}));
    let line = actor.line();
    assert_eq!(
        line,
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{}]}}}}"#, functions.join(","))
    );
}

#[test]
fn surroundings_are_filled_in() {
    let functions = ["{\"d\":\"${tz} ${env:ODD} ${hash_seed} ${unknown}\"}"];
    let environment = [("TZ", "Asia/Tokyo"), ("ODD", "a\"b\\"), ("PYTHONHASHSEED", "7")];
    let mut actor = started(&json!({"functions": functions}), &environment);
    let answer = actor.ask("tools/list", &json!({}));
    assert_eq!(answer["result"]["tools"][0]["d"], "Asia/Tokyo a\"b\\ 7 ${unknown}");
    let seed = |seed: &[(&str, &str)]| {
        let mut actor = started(&json!({"functions": ["\"${hash_seed}\""]}), seed);
        actor.ask("tools/list", &json!({}))["result"]["tools"][0].clone()
    };
    let random = [("PYTHONHASHSEED", "random")];
    assert_ne!(seed(&random), seed(&random));
}

#[test]
fn scenes_follow_their_count_and_functions_flip() {
    let script = json!({
        "functions": ["1"],
        "on": {
            "call fire": [{"to": 1, "steps": [
                {"functions": ["2"]},
                {"notify": {"method": "notifications/tools/list_changed"}},
            ]}],
            "tools/list": [{"from": 3, "steps": [{"exit": 9}]}],
        },
    });
    let mut actor = started(&script, &[]);
    assert_eq!(actor.ask("tools/list", &json!({}))["result"]["tools"], json!([1]));
    let told = actor.ask("tools/call", &json!({"name": "fire"}));
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert!(actor.line().contains("structuredContent"));
    assert!(actor.ask("tools/call", &json!({"name": "fire"}))["result"].is_object());
    assert_eq!(actor.ask("tools/list", &json!({}))["result"]["tools"], json!([2]));
    actor.say(2, "tools/list", &json!({}));
    assert_eq!(actor.child.wait().unwrap().code(), Some(9));
}

#[test]
fn each_era_refuses_the_other() {
    let modern = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}});
    let mut actor = started(&json!({"versions": ["2026-07-28"]}), &[]);
    let answer = actor.ask("initialize", &json!({"protocolVersion": "2025-11-25"}));
    assert_eq!(answer["error"]["code"], -32022);
    assert_eq!(answer["error"]["data"]["supported"], json!(["2026-07-28"]));
    assert_eq!(actor.ask("tools/list", &json!({}))["error"]["code"], -32602);
    assert_eq!(actor.ask("server/discover", &modern)["result"]["resultType"], "complete");
    let mut actor = started(&json!({"versions": ["2025-06-18"]}), &[]);
    assert_eq!(actor.ask("server/discover", &modern)["error"]["code"], -32601);
    let answer = actor.ask("initialize", &json!({"protocolVersion": "2026-07-28"}));
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
}

#[test]
fn it_ends_with_its_input_unless_it_is_stubborn() {
    let mut actor = started(&json!({"on": {"call a": [{"steps": ["never"]}]}}), &[]);
    actor.say(1, "tools/call", &json!({"name": "a"}));
    actor.stdin = None;
    assert!(actor.child.wait().unwrap().success());

    let mut actor = started(&json!({"stubborn": true}), &[]);
    actor.ask("ping", &json!({}));
    actor.stdin = None;
    let pid = actor.child.id().to_string();
    assert!(Command::new("kill").arg(&pid).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(300));
    assert!(actor.child.try_wait().unwrap().is_none());
}

#[test]
fn its_daemon_outlives_it_in_a_session_of_its_own_and_ignores_sigterm() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("pid");
    let script =
        json!({"on": {"start": [{"steps": [{"daemon": {"seconds": 60, "pid_file": file}}]}]}});
    let mut actor = started(&script, &[]);
    actor.ask("ping", &json!({}));
    let pid = std::fs::read_to_string(&file).unwrap();
    // The session is the sixth field: the daemon's own, once it has come so far.
    let own_session = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(3)) == Some(&pid)
    };
    assert!(until(own_session));
    // SIGTERM is caught right after that.
    let deaf = || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
        u64::from_str_radix(caught.trim(), 16).unwrap_or(0) & (1 << 14) != 0
    };
    assert!(until(deaf));
    actor.stdin = None;
    actor.child.wait().unwrap();
    assert!(Command::new("kill").arg(&pid).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(100));
    assert!(alive(&pid));
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    assert!(until(|| !alive(&pid)));
}

#[test]
fn a_script_with_an_unknown_member_is_refused() {
    for script in [
        json!({"fonctions": []}),
        json!({"paging": {"sise": 1}}),
        json!({"on": {"start": [{"step": []}]}}),
        json!({"on": {"start": [{"steps": ["dance"]}]}}),
        json!({"on": {"start": [{"steps": [{"error": {"code": 1, "message": "", "date": 1}}]}]}}),
    ] {
        let mut actor = started(&script, &[]);
        assert_eq!(actor.child.wait().unwrap().code(), Some(2), "{script}");
    }
}
