//! Numbers: they count what happened, as a strict reader has them, and the documentation has each.

use std::collections::{BTreeMap, BTreeSet};

use oz0_mcp::EraChoice;
use serde_json::json;

use super::openmetrics::{self, Labels};
use super::{call, get};
use crate::local::home::{Home, Plugin, Process, eventually, until};
use crate::support::checkout;

const HERE: &str = "Host: localhost\r\n";

/// One sample of a counter or a gauge, or how often a histogram was added to, by its name and labels.
type Numbers = BTreeMap<(String, Labels), f64>;

fn read(text: &str) -> Numbers {
    let mut numbers = Numbers::new();
    for (name, family) in openmetrics::read(text) {
        for ((suffix, labels), value) in family.samples {
            if ["", "_total", "_count"].contains(&suffix.as_str()) {
                numbers.insert((name.clone(), labels), value);
            }
        }
    }
    numbers
}

fn numbers(up: &Process) -> Numbers {
    let (status, text) = get(&up.url("metrics"), "/metrics", HERE);
    assert_eq!(status, 200, "{text}");
    read(&text)
}

fn one(numbers: &Numbers, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let labels: BTreeMap<String, String> =
        labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    numbers.get(&(name.to_owned(), labels)).copied()
}

fn calls(numbers: &Numbers, function: &str, outcome: &str) -> Option<f64> {
    let plugin = if function.is_empty() { "" } else { "team" };
    let labels = [("plugin", plugin), ("function", function), ("outcome", outcome)];
    one(numbers, "oz0_node_calls", &labels)
}

#[tokio::test]
async fn each_call_is_counted_once_as_what_became_of_it() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let error = json!({"content": [], "isError": true}).to_string();
    // The first call is the one that finds out whether it may be called; what comes then has its number.
    team.script(&json!({"on": {"call hello": [
        {"from": 5, "to": 6, "steps": [{"result": error}]},
        {"from": 7, "to": 7, "steps": [{"error": {"code": -32000, "message": "no"}}]},
    ]}}));
    let up = home.up(&["--metrics-listen", "127.0.0.1:0"], &[&team]);
    let client = up.client(EraChoice::Legacy, None).await;
    until(&client, &team, None).await;
    let tools_call = ("mcp_method_name", "tools/call");
    let whole = "mcp_server_operation_duration_seconds";
    let plugin = [tools_call, ("plugin", "team")];
    // Before the node had what was accepted, some may have been refused.
    let before = numbers(&up);
    assert_eq!(calls(&before, "team.hello", "answered"), Some(1.0));
    let before = one(&before, whole, &plugin).unwrap();
    let hello = format!(r#"{{"name":"{}","arguments":{{"x":1}}}}"#, team.hello());
    for _ in 0..3 {
        call(&client, &hello).await.unwrap();
    }
    for _ in 0..2 {
        assert_eq!(call(&client, &hello).await.unwrap()["isError"], true);
    }
    call(&client, &hello).await.unwrap_err();
    let wrong = hello.replace(":1}", ":\"one\"}");
    for _ in 0..4 {
        assert_eq!(call(&client, &wrong).await.unwrap()["isError"], true);
    }
    for name in ["none__such", "another__one", "x\\ny"] {
        call(&client, &format!(r#"{{"name":"{name}","arguments":{{}}}}"#)).await.unwrap_err();
    }
    home.does(&["policy", "set", "team.hello", "refuse"]);
    eventually("the node goes by the rule", || {
        let numbers = numbers(&up);
        one(&numbers, "oz0_node_revision", &[]) == one(&numbers, "oz0_edge_revision", &[])
    });
    for _ in 0..5 {
        assert_eq!(call(&client, &hello).await.unwrap()["isError"], true);
    }
    team.list("Says something else.");
    for _ in 0..2 {
        assert_eq!(call(&client, &hello).await.unwrap()["isError"], true);
    }

    let numbers = numbers(&up);
    let counted: Vec<(&str, f64)> =
        ["answered", "tool_error", "server_error", "arguments", "policy", "changed"]
            .into_iter()
            .filter_map(|outcome| Some((outcome, calls(&numbers, "team.hello", outcome)?)))
            .collect();
    let expected = [
        ("answered", 4.0),
        ("tool_error", 2.0),
        ("server_error", 1.0),
        ("arguments", 4.0),
        ("policy", 5.0),
        ("changed", 2.0),
    ];
    assert_eq!(counted, expected, "{numbers:#?}");
    assert_eq!(calls(&numbers, "", "unknown"), Some(3.0), "{numbers:#?}");
    assert_eq!(one(&numbers, whole, &plugin), Some(before + 17.0));
    let served = "mcp_client_operation_duration_seconds";
    let of = [tools_call, ("plugin", "team"), ("tool", "team")];
    assert_eq!(one(&numbers, served, &of), Some(7.0));
    assert_eq!(one(&numbers, "oz0_node_call_added_seconds", &[("plugin", "team")]), Some(7.0));
    let tool = [("plugin", "team"), ("tool", "team")];
    assert_eq!(one(&numbers, "oz0_node_calls_in_flight", &tool), Some(0.0));
    assert_eq!(one(&numbers, "oz0_node_server_up", &tool), Some(1.0));
    assert_eq!(one(&numbers, "oz0_node_edge_up", &[]), Some(1.0));
    assert_eq!(one(&numbers, "oz0_edge_node_up", &[("node", "node-1")]), Some(1.0));
    // What clients call that is nothing here makes no series of its own.
    let functions: BTreeSet<&str> = numbers
        .keys()
        .filter_map(|(_, labels)| labels.get("function").map(String::as_str))
        .collect();
    assert_eq!(functions, BTreeSet::from(["", "team.hello"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_for_a_person_is_counted_on_both_sides_while_it_does() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let up = home.up(&["--metrics-listen", "127.0.0.1:0"], &[&team]);
    // A client of this era takes its call back by going away.
    let client = up.client(EraChoice::Modern, None).await;
    until(&client, &team, None).await;
    home.does(&["policy", "set", "team.hello", "ask"]);
    let both = |wanted: f64| {
        eventually(&format!("{wanted} calls wait"), || {
            let numbers = numbers(&up);
            ["oz0_node_approvals_waiting", "oz0_edge_approvals_waiting"]
                .iter()
                .all(|name| one(&numbers, name, &[]) == Some(wanted))
        });
    };
    let hello = format!(r#"{{"name":"{}","arguments":{{}}}}"#, team.hello());
    // Until the node goes by the rule, calls are answered.
    let waits = tokio::spawn(async move { while call(&client, &hello).await.is_ok() {} });
    both(1.0);
    waits.abort();
    let _ = waits.await;
    both(0.0);
    eventually("it is counted as what became of it", || {
        calls(&numbers(&up), "team.hello", "cancelled") == Some(1.0)
    });
}

#[test]
fn numbers_are_for_who_may_read_them() {
    let home = Home::new();
    let up = home.up(&["--mcp-auth", "--metrics-listen", "127.0.0.1:0"], &[]);
    let own = up.url("metrics");
    assert_eq!(get(&own, "/metrics", HERE).0, 200);
    assert_eq!(get(&own, "/", HERE).0, 404);
    assert_eq!(get(&own, "/metrics", "Host: evil.example\r\n").0, 403);
    let page = format!("{HERE}Origin: http://localhost\r\n");
    assert_eq!(get(&own, "/metrics", &page).0, 403);

    let bearer = |token: &str| format!("{HERE}Authorization: Bearer {}\r\n", token.trim());
    let admin = std::fs::read_to_string(home.data().join("admin.token")).unwrap();
    let client = home.does(&["token", "create", "--client", "prometheus"]);
    let (edge, mcp) = (up.url("edge"), up.url("mcp"));
    for (url, token, status) in [
        (&edge, None, 401),
        (&edge, Some(&client), 403),
        (&edge, Some(&admin), 200),
        (&mcp, None, 401),
        (&mcp, Some(&admin), 401),
        (&mcp, Some(&client), 200),
    ] {
        let headers = token.map_or(HERE.to_owned(), |token| bearer(token));
        let (answered, body) = get(url, "/metrics", &headers);
        assert_eq!(answered, status, "{url} {body}");
        if status == 200 {
            read(&body);
        }
    }
}

/// Each family of the page stands in the reference with its type, and the other way round. One that never counted anything
/// is not on the page, so each has something to count here.
#[tokio::test]
async fn the_reference_has_each_metric_with_its_type_and_no_other() {
    let home = Home::new();
    let team = Plugin::new(&home, "team");
    let up = home.up(&["--mcp-auth", "--metrics-listen", "127.0.0.1:0"], &[&team]);
    assert!(up.try_client(EraChoice::Legacy, Some("nobody's")).await.is_err());
    let token = home.does(&["token", "create", "--client", "agent"]);
    let client = up.client(EraChoice::Legacy, Some(token.trim())).await;
    until(&client, &team, None).await;
    let (_, page) = get(&up.url("metrics"), "/metrics", HERE);
    let told: BTreeMap<String, (String, Option<String>)> = openmetrics::read(&page)
        .into_iter()
        .map(|(name, family)| (name, (family.kind, family.unit)))
        .collect();
    let document = std::fs::read_to_string(checkout().join("docs/reference/metrics.md")).unwrap();
    let written: BTreeMap<String, (String, Option<String>)> = document
        .lines()
        .filter_map(|line| {
            let (name, rest) = line.strip_prefix("| `")?.split_once('`')?;
            let cells: Vec<&str> = rest.split('|').map(str::trim).collect();
            let kind = *cells.get(2)?;
            let unit = cells.get(3).filter(|unit| **unit == "seconds");
            let unit = unit.map(|unit| (*unit).to_owned());
            ["counter", "gauge", "histogram", "info"]
                .contains(&kind)
                .then(|| (name.to_owned(), (kind.to_owned(), unit)))
        })
        .collect();
    assert_eq!(told, written);
}
