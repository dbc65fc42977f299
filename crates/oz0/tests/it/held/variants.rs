//! Every way in which a listing was seen to change: silently in mid-session, with its server started anew, and with all of
//! oz0 started anew.

use oz0_mcp::EraChoice;
use serde_json::{Value, json};

use super::house::{House, Plugin, Session, changed, eventually, function};

/// Lists before every call: what a call meets is what the server says now.
const NOW: [&str; 2] = ["--verify-every", "0"];

const T1: &str = r##"{"name":"t1","title":"One","description":"First.","inputSchema":{"type":"object","properties":{"x":{"type":"number","description":"A number.","minimum":1},"y":{"$ref":"#/$defs/y"}},"$defs":{"y":{"type":"string","description":"A text."}}},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"destructiveHint":false},"icons":[{"src":"https://example.com/a.png"}],"_meta":{"k":1}}"##;
const T2: &str = r#"{"name":"t2","description":"Second.","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}"#;
/// Says which script its server runs.
const WHICH: &str =
    r#"{"name":"which","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}"#;

/// What becomes of `t1`; `t2` is called whatever happens beside it.
#[derive(Clone, Copy)]
enum Then {
    Called,
    Changed,
    Gone,
    LeftOut,
}

struct Variant {
    name: &'static str,
    lists: Vec<String>,
    then: Then,
    /// A model name that is neither listed nor called.
    stranger: Option<&'static str>,
}

fn variants() -> Vec<Variant> {
    let lists = |name, lists: &[&str], then, stranger| Variant {
        name,
        lists: lists.iter().map(|text| (*text).to_owned()).collect(),
        then,
        stranger,
    };
    let with = |name, from: &str, to: &str, then| {
        assert!(T1.contains(from), "{from}");
        lists(name, &[&T1.replacen(from, to, 1), T2, WHICH], then, None)
    };
    let (called, changed) = (Then::Called, Then::Changed);
    let twin = function("t1\u{200B}", "Evil.");
    let evil = function("t1", "Evil.");
    let third = function("t3", "Evil.");
    vec![
        lists("the same", &[T1, T2, WHICH], called, None),
        with(
            "outer key order",
            r#""name":"t1","title":"One""#,
            r#""title":"One","name":"t1""#,
            called,
        ),
        with(
            "inner key order",
            r#""type":"number","description":"A number.""#,
            r#""description":"A number.","type":"number""#,
            called,
        ),
        lists("order of functions", &[WHICH, T2, T1], called, None),
        with("number notation", r#""minimum":1"#, r#""minimum":1.0"#, called),
        with("title", "One", "Evil", changed),
        with("annotations", r#""readOnlyHint":true"#, r#""readOnlyHint":false"#, changed),
        with(
            "output schema",
            r#""outputSchema":{"type":"object"}"#,
            r#""outputSchema":{"type":"object","required":[]}"#,
            changed,
        ),
        with("_meta", r#""k":1"#, r#""k":"Evil""#, called),
        with("icons", "a.png", "Evil.png", called),
        with("text in $defs", "A text.", "Evil.", changed),
        with("text of a parameter", "A number.", "Evil.", changed),
        with("tag characters", "First.", "First.\u{E0041}\u{E0042}", changed),
        with("zero width", "First.", "First.\u{200B}", changed),
        with("combining mark", "First.", "Fi\u{301}rst.", changed),
        lists("a new function", &[T1, T2, WHICH, &third], called, Some("tool__t3")),
        lists("a function gone", &[T2, WHICH], Then::Gone, None),
        with(
            "a keyword added",
            r#""inputSchema":{"type":"object","#,
            r#""inputSchema":{"type":"object","additionalProperties":false,"#,
            changed,
        ),
        lists("a name twice", &[T1, &evil, T2, WHICH], Then::LeftOut, None),
        with(
            "a member twice, the last as before",
            r#""description":"First.""#,
            r#""description":"Evil.","description":"First.""#,
            Then::LeftOut,
        ),
        lists(
            "a twin with a zero-width name",
            &[T1, &twin, T2, WHICH],
            called,
            Some("tool__t1\u{200B}"),
        ),
    ]
}

async fn check(session: &Session, variant: &Variant) {
    let name = variant.name;
    let text = session.refusal("tool__t1").await;
    let begins = |with: &str| {
        let text = text.as_deref().unwrap_or("it was called");
        assert!(text.starts_with(with), "{name}: {text}");
    };
    match variant.then {
        Then::Called => assert_eq!(text, None, "{name}"),
        Then::Changed => assert_eq!(text, Some(changed("tool.t1", "plugin")), "{name}"),
        Then::Gone => begins("tool.t1 is no longer listed by its server"),
        Then::LeftOut => begins("tool.t1 is left out of its tool's listing"),
    }
    assert_eq!(session.refusal("tool__t2").await, None, "{name}: the other function");
    let mut names = vec!["tool__t1", "tool__t2", "tool__which"];
    if !matches!(variant.then, Then::Called) {
        names.remove(0);
    }
    assert_eq!(session.names().await, names, "{name}");
    let listing = session.listing().await.concat();
    assert!(!listing.contains("Evil") && !listing.contains("_meta"), "{name}: {listing}");
    if let Some(stranger) = variant.stranger {
        let text = session.refusal(stranger).await.unwrap_or_default();
        assert!(!text.is_empty() && !text.contains("Evil"), "{name}: {text}");
    }
    assert!(!text.unwrap_or_default().contains("Evil"), "{name}");
}

fn script(number: usize) -> Value {
    let result = json!({"content": [{"type": "text", "text": number.to_string()}]});
    json!({"on": {"call which": [{"steps": [{"result": result.to_string()}]}]}})
}

fn plugin(house: &House) -> Plugin {
    let plugin = Plugin::new(house, "plugin", &[("tool", script(0))]);
    plugin.list("tool", &[T1, T2, WHICH]);
    plugin
}

fn list(plugin: &Plugin, variant: &Variant) {
    let lists: Vec<&str> = variant.lists.iter().map(String::as_str).collect();
    plugin.list("tool", &lists);
}

async fn in_mid_session(house: &House, plugin: &Plugin, session: Session) {
    for name in ["tool__t1", "tool__t2"] {
        assert_eq!(session.refusal(name).await, None);
    }
    for variant in variants() {
        list(plugin, &variant);
        check(&session, &variant).await;
        // The way back is open, and nothing stays behind on it.
        plugin.list("tool", &[T1, T2, WHICH]);
        assert_eq!(session.refusal("tool__t1").await, None, "after {}", variant.name);
        house.wait_for_changes("plugin", 0).await;
    }
    session.end().await;
    house.is_empty().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_change_in_mid_session_is_refused_or_passes_over_stdio() {
    let house = House::new();
    let plugin = plugin(&house);
    let session = house.mcp(&plugin, &NOW).await;
    in_mid_session(&house, &plugin, session).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_change_in_mid_session_is_refused_or_passes_over_http() {
    let house = House::new();
    let plugin = plugin(&house);
    let session = house.up(&[&plugin], &NOW).await;
    in_mid_session(&house, &plugin, session).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_with_the_server_started_anew_is_refused_or_passes() {
    let house = House::new();
    let plugin = plugin(&house);
    // The server is asked again only because it is another one.
    let session = house.up(&[&plugin], &["--verify-every", "3600"]).await;
    assert_eq!(session.refusal("tool__t1").await, None);
    for (number, variant) in variants().iter().enumerate() {
        list(&plugin, variant);
        plugin.script("tool", script(number + 1));
        let text = (number + 1).to_string();
        eventually("the new server answers", async || {
            let said = session.call("tool__which").await;
            said.is_ok_and(|said| said["content"][0]["text"] == text.as_str())
        })
        .await;
        check(&session, variant).await;
    }
    session.end().await;
    house.is_empty().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_with_all_of_oz0_started_anew_is_refused_or_passes() {
    let house = House::new();
    let plugin = plugin(&house);
    let session = house.mcp(&plugin, &[]).await;
    assert_eq!(session.refusal("tool__t1").await, None);
    session.end().await;
    for variant in variants() {
        list(&plugin, &variant);
        let session = house.mcp(&plugin, &[]).await;
        check(&session, &variant).await;
        session.end().await;
    }
    assert_eq!(house.servers(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_on_the_second_page_is_refused_and_the_first_page_is_called() {
    let house = House::new();
    let mut paged = script(0);
    paged["paging"] = json!({"size": 1});
    let plugin = Plugin::new(&house, "plugin", &[("tool", paged)]);
    plugin.list("tool", &[T1, T2]);
    let session = house.mcp(&plugin, &NOW).await;
    assert_eq!(session.names().await, ["tool__t1", "tool__t2"]);
    let evil = T2.replace("Second", "Evil");
    plugin.list("tool", &[T1, &evil]);
    assert_eq!(session.refusal("tool__t2").await, Some(changed("tool.t2", "plugin")));
    assert_eq!(session.refusal("tool__t1").await, None);
    session.end().await;
    let session = house.mcp(&plugin, &[]).await;
    assert_eq!(session.refusal("tool__t2").await, Some(changed("tool.t2", "plugin")));
    assert_eq!(session.refusal("tool__t1").await, None);
    session.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn both_eras_on_both_sides_are_refused_and_called_alike() {
    let modern = json!({"versions": ["2026-07-28"]});
    let legacy = json!({"versions": ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]});
    for script in [modern, legacy] {
        let house = House::new();
        let plugin = Plugin::new(&house, "plugin", &[("tool", script)]);
        for era in [EraChoice::Modern, EraChoice::Legacy] {
            plugin.list("tool", &[T1, T2]);
            let sessions =
                [house.up_in(&[&plugin], &NOW, era).await, house.mcp_in(&plugin, &NOW, era).await];
            for session in sessions {
                plugin.list("tool", &[T1, T2]);
                eventually("it is called", async || session.refusal("tool__t1").await.is_none())
                    .await;
                plugin.list("tool", &[&T1.replace("First", "Evil"), T2]);
                assert_eq!(session.refusal("tool__t1").await, Some(changed("tool.t1", "plugin")));
                assert_eq!(session.names().await, ["tool__t2"]);
                session.end().await;
            }
        }
    }
}
