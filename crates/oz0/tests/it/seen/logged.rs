//! The log: one event a line, one ID a call, and nothing that is nobody's business.

use oz0_mcp::EraChoice;
use serde_json::{Value, json};

use super::{call, event, events, get};
use crate::local::home::{Home, Plugin, eventually, until};

const LOG: [&str; 4] = ["--log", "info,oz0::call=debug", "--log-format", "json"];
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

fn params(plugin: &Plugin, meta: &str) -> String {
    format!(r#"{{"name":"{}","arguments":{{"x":7}},"_meta":{meta}}}"#, plugin.hello())
}

fn given() -> String {
    format!(r#"{{"traceparent":"00-{TRACE}-{SPAN}-01","tracestate":"a=b"}}"#)
}

/// The `_meta` that a server was called with: it echoes that.
fn meta(result: &Value) -> &Value {
    &result["structuredContent"]["_meta"]
}

fn parts(trace_parent: &Value) -> [String; 4] {
    let parts: Vec<String> = trace_parent.as_str().unwrap().split('-').map(str::to_owned).collect();
    parts.try_into().unwrap()
}

fn of_call(id: &str) -> impl Fn(&Value) -> bool {
    move |event| event["target"] == "oz0::call" && event["span"]["call_id"] == id
}

/// Whoever makes events of one kind without end fills no disk, ends nothing, and hides nothing that is of another kind.
#[test]
fn a_flood_of_refused_requests_is_counted_and_everything_else_goes_on() {
    for format in ["json", "text"] {
        let home = Home::new();
        let up = home.up(&["--log", "info", "--log-format", format], &[]);
        let wrong = "Host: localhost\r\nAuthorization: Bearer oz0_admin_nobody\r\n";
        for _ in 0..450 {
            assert_eq!(get(&up.url("edge"), "/v1/tokens", wrong).0, 401);
        }
        assert_eq!(get(&up.url("edge"), "/healthz", "Host: localhost\r\n").0, 200);
        let refused = || up.said().lines().filter(|line| line.contains("request refused")).count();
        assert!((200..450).contains(&refused()), "{}", refused());
        home.does(&["token", "create", "--client", "desk"]);
        eventually("what is of another kind is logged", || up.said().contains("token.create"));
        eventually("what was left out is counted", || {
            up.said().contains("more events of one kind came than are written")
        });
        assert!(!up.said().contains("panicked"), "{}", up.said());
    }
}

#[tokio::test]
async fn one_id_follows_a_call_from_its_client_to_the_server() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let up = home.up(&LOG, &[&team]);
    for era in [EraChoice::Legacy, EraChoice::Modern] {
        let client = up.client(era, None).await;
        until(&client, &team, None).await;

        // The client's, where it counts the call in a trace of its own.
        let result = call(&client, &params(&team, &given())).await.unwrap();
        let [version, trace, span, flags] = parts(&meta(&result)["traceparent"]);
        assert_eq!([version.as_str(), &trace, &flags], ["00", TRACE, "01"], "{result}");
        assert_ne!(span, SPAN, "the server's parent is the gateway");
        assert_eq!(meta(&result)["tracestate"], "a=b");
        let logged = event(&up, "the call is logged", of_call(TRACE));
        assert_eq!(logged["span"]["function"], "team.hello", "{logged}");
        assert_eq!(logged["span"]["parent_id"], SPAN, "{logged}");
        assert_eq!(logged["outcome"], "answered", "{logged}");

        // Else one that is drawn here; and what is none is replaced.
        for meta_of in ["{}", r#"{"traceparent":"mine"}"#] {
            let result = call(&client, &params(&team, meta_of)).await.unwrap();
            let [_, drawn, _, _] = parts(&meta(&result)["traceparent"]);
            assert_ne!(drawn, TRACE);
            event(&up, "the call is logged under the ID that its server saw", of_call(&drawn));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_for_a_person_and_one_from_the_edge_have_their_id_there_too() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let up = home.up(&LOG, &[&team]);
    let client = up.client(EraChoice::Legacy, None).await;
    until(&client, &team, None).await;

    let said = home.does(&["call", "team.hello", "{\"x\": 1}", "--json"]);
    let result: Value = serde_json::from_str(&said).unwrap();
    let [_, trace, _, _] = parts(&meta(&result)["traceparent"]);
    event(&up, "the edge has the job under the call's ID", |event| {
        event["action"] == "call.ask" && event["call"] == trace.as_str()
    });
    event(&up, "the node too", of_call(&trace));

    home.does(&["policy", "set", "team.*", "ask"]);
    let asked = params(&team, &given());
    // Until the node goes by the rule, calls are answered.
    let waits = tokio::spawn(async move {
        loop {
            let answer = call(&client, &asked).await.unwrap();
            if answer["isError"] == true {
                return answer;
            }
        }
    });
    let ask =
        event(&up, "the edge logs what it is asked", |event| event["action"] == "approval.ask");
    assert_eq!(ask["span"]["call_id"], TRACE, "{ask}");
    let approval = ask["approval"].as_str().unwrap().to_owned();
    event(&up, "the node logs that it asked", |event| {
        event["message"] == "approval asked"
            && event["approval"] == approval.as_str()
            && event["span"]["call_id"] == TRACE
    });
    home.does(&["approvals", "deny", &approval, "--reason", "not\u{202e} today"]);
    let refused = waits.await.unwrap();
    assert!(refused.to_string().contains("denied this call"), "{refused}");
    let ended = event(&up, "how it ended is logged", |event| {
        of_call(TRACE)(event) && event["outcome"] == "denied"
    });
    assert_eq!(ended["message"], "call not made", "{ended}");
    let said = up.said();
    assert!(!said.contains("today") && !said.contains('\u{202e}'), "reasons are the audit log's");
}

#[tokio::test]
async fn where_the_server_fails_the_error_says_which_call_it_was() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    team.script(&json!({"on": {"call hello": [{"from": 2, "steps": [{"exit": 1}]}]}}));
    let up = home.up(&LOG, &[&team]);
    let client = up.client(EraChoice::Legacy, None).await;
    until(&client, &team, None).await;
    let failed = call(&client, &params(&team, &given())).await.unwrap_err();
    assert!(failed.ends_with(&format!("(call {TRACE})")), "{failed}");
    let logged = event(&up, "it is logged", |event| {
        of_call(TRACE)(event) && event["outcome"] == "server_failed"
    });
    assert_eq!(logged["level"], "WARN", "{logged}");
    let again = event(&up, "its next start is logged", |event| {
        event["message"] == "server is started again"
    });
    assert_eq!([&again["plugin"], &again["tool"]], ["team", "team"], "{again}");
    // The client's own mistake needs no number.
    let unknown = call(&client, r#"{"name":"none__such","arguments":{}}"#).await.unwrap_err();
    assert!(!unknown.contains("(call"), "{unknown}");
}

/// Everything is logged at the finest level, and what passes through is in none of it.
#[tokio::test]
async fn nothing_that_passes_through_is_logged_at_any_level() {
    const ARGUMENT: &str = "argument-nobody-logs";
    const RESULT: &str = "result-nobody-logs";
    const STDERR: &str = "stderr-nobody-logs";
    const SECRET: &str = "secret-nobody-logs";
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let listed = json!({"name": "hello", "description": "x",
        "annotations": {"readOnlyHint": true}, "inputSchema": {"type": "object"}});
    team.write("functions.txt", &format!("{listed}\n"));
    let manifest = std::fs::read_to_string(team.root.join("oz0-plugin.yaml")).unwrap();
    team.write("oz0-plugin.yaml", &format!("{manifest}requires:\n  secrets: [KEY]\n"));
    let result = json!({"content": [{"type": "text", "text": RESULT}]}).to_string();
    team.script(&json!({"on": {"call hello": [
        {"to": 1, "steps": [{"stderr": {"text": STDERR, "count": 3}}, {"result": result}]},
        {"from": 2, "steps": [{"line": RESULT}, {"stderr": {"text": STDERR, "count": 3}}, {"exit": 1}]}]}}));
    let mut command = home.up_command(
        &["--log", "trace", "--log-format", "json", "--secret", "KEY", "--mcp-auth"],
        &[&team],
    );
    let mut up = crate::local::home::Process::start(command.env("KEY", SECRET));
    up.first = serde_json::from_str(&up.line()).unwrap();
    let token = home.does(&["token", "create", "--client", "agent"]);
    let token = token.trim();
    let admin = std::fs::read_to_string(home.data().join("admin.token")).unwrap();
    let client = up.client(EraChoice::Modern, Some(token)).await;
    let params = format!(r#"{{"name":"team__hello","arguments":{{"text":"{ARGUMENT}"}}}}"#);
    // Until the node has what the edge accepted, the server is not reached.
    let until = std::time::Instant::now() + std::time::Duration::from_mins(1);
    loop {
        let first = call(&client, &params).await.unwrap_or_default();
        if first.to_string().contains(RESULT) {
            break;
        }
        assert!(std::time::Instant::now() < until, "{first}\n{}", up.said());
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let second = call(&client, &params).await.unwrap_err();
    assert!(second.contains("ended while team.hello was called"), "{second}");
    home.does(&["policy", "set", "team.*", "refuse", "--reason", ARGUMENT]);
    assert!(up.try_client(EraChoice::Modern, Some("token-nobody-has")).await.is_err());
    event(&up, "a client that is not let in is logged", |event| {
        event["message"] == "MCP client not let in" && event["why"] == "unknown token"
    });
    event(&up, "the server's end is logged", |event| event["message"] == "server failed");
    let said = up.said();
    for secret in [ARGUMENT, RESULT, STDERR, SECRET, token, admin.trim(), "token-nobody-has"] {
        let line = said.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
    assert!(events(&up).len() > 20, "{said}");
}

/// Names and reasons of clients and servers, with what would be a line of its own, or a command to a terminal.
#[tokio::test]
async fn nobody_writes_a_line_of_their_own_into_the_log() {
    const EVIL: &str = "x\n{\"level\":\"INFO\",\"message\":\"forged\"}\r\u{1b}[2J\u{202e}";
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let json = home.up(&LOG, &[&team]);
    let client = json.client(EraChoice::Legacy, None).await;
    until(&client, &team, None).await;
    let name = serde_json::to_string(EVIL).unwrap();
    let _ = call(&client, &format!(r#"{{"name":{name},"arguments":{{}}}}"#)).await;
    let _ = call(&client, &format!(r#"{{"name":"team__{}","arguments":{{}}}}"#, "y\\n{}")).await;
    let trace = format!(r#"{{"traceparent":{name}}}"#);
    call(&client, &params(&team, &trace)).await.unwrap();
    team.list(EVIL);
    let changed = call(&client, &params(&team, "{}")).await.unwrap();
    assert_eq!(changed["isError"], true, "{changed}");
    event(&json, "the change is logged", |event| {
        event["message"] == "functions changed and wait for approval"
    });
    let visible = |said: &str| {
        assert!(!said.contains("forged"), "{said}");
        assert!(
            said.chars().all(|c| c == '\n' || !c.is_control()) && !said.contains('\u{202e}'),
            "{said}"
        );
    };
    events(&json);
    visible(&json.said());
    drop(json);

    let mut text = home.up(&["--log", "info"], &[]);
    let _ = super::get(&text.url("edge"), "/v1/nodes", "Host: x\u{202e}y\r\n");
    text.says("request refused");
    assert_eq!(text.end(), Some(0));
    visible(&text.said());
    for line in text.said().lines() {
        assert!(line.starts_with("20"), "{line}");
    }
}

#[test]
fn what_cannot_be_logged_is_wrong_usage_and_nothing_is_logged_by_default() {
    let home = Home::new();
    let wrong = home.run(&["edge", "--log", "oz0=loud"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.all());
    assert!(wrong.stderr.contains("`oz0=loud` does not say what to log"), "{}", wrong.all());
    let mut plain = home.up(&[], &[]);
    assert_eq!(plain.end(), Some(0));
    assert!(!plain.said().contains("INFO"), "{}", plain.said());

    // The variable and the file say it too; `-q` keeps the talk out, and the log goes on.
    let mut command = home.up_command(&["-q"], &[]);
    let mut up = crate::local::home::Process::start(command.env("OZ0_LOG_FORMAT", "json"));
    up.first = serde_json::from_str(&up.line()).unwrap();
    event(&up, "it listens", |event| event["message"] == "edge listens");
    assert_eq!(up.end(), Some(0));
    let last = events(&up).pop().unwrap();
    assert_eq!(last["message"], "edge and node stopped", "{last}");
}
