//! First listings, missing ones, and ones of nothing.

use oz0_listing::FunctionId;
use serde_json::json;

use super::house::{House, Plugin, changed, function};

#[tokio::test(flavor = "multi_thread")]
async fn a_call_before_any_listing_waits_for_one_and_is_judged_by_it() {
    let house = House::new();
    let plugin = Plugin::of_functions(&house, "team", &[&function("hello", "Greets.")]);
    // Nobody has listed anything: neither this client, nor any before it.
    let session = house.mcp(&plugin, &[]).await;
    assert_eq!(session.refusal("team__hello").await, None);
    session.end().await;

    plugin.list("team", &[&function("hello", "Evil.")]);
    for _ in 0..2 {
        let session = house.mcp(&plugin, &[]).await;
        assert_eq!(session.refusal("team__hello").await, Some(changed("team.hello", "team")));
        let unknown = Some("-32602: Unknown tool: team__hi".to_owned());
        assert_eq!(session.refusal("team__hi").await, unknown);
        session.end().await;
        let session = house.up(&[&plugin], &[]).await;
        assert_eq!(session.refusal("team__hello").await, Some(changed("team.hello", "team")));
        // One change, however often and by whomever it is seen.
        assert_eq!(house.audit("plugin.tools.changed").await.len(), 1);
        session.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_listing_erases_nothing_and_is_no_snapshot() {
    let house = House::new();
    let hello = function("hello", "Greets.");
    let plugin = Plugin::of_functions(&house, "team", &[]);
    let flags = ["--verify-every", "0"];
    let session = house.mcp(&plugin, &flags).await;
    assert_eq!(session.names().await, Vec::<String>::new());
    assert!(house.audit("plugin.tools.snapshot").await.is_empty());
    plugin.list("team", &[&hello]);
    assert_eq!(session.refusal("team__hello").await, None);
    assert_eq!(house.audit("plugin.tools.snapshot").await.len(), 1);

    plugin.list("team", &[]);
    let gone = session.refusal("team__hello").await.unwrap_or_default();
    assert!(gone.starts_with("team.hello is no longer listed by its server"), "{gone}");
    session.end().await;
    // Nor where the first listing of a process is the empty one.
    let session = house.up(&[&plugin], &flags).await;
    let gone = session.refusal("team__hello").await.unwrap_or_default();
    assert!(gone.starts_with("team.hello is no longer listed by its server"), "{gone}");
    plugin.list("team", &[&function("hello", "Evil.")]);
    assert_eq!(session.refusal("team__hello").await, Some(changed("team.hello", "team")));
    plugin.list("team", &[&hello]);
    assert_eq!(session.refusal("team__hello").await, None);
    assert_eq!(house.audit("plugin.tools.snapshot").await.len(), 1);
    session.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_first_listings_that_race_one_is_the_snapshot() {
    let house = House::new();
    // Each start lists something else, so that only one of them can be the one.
    let started = r#"{"name":"start","description":"${started}","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"x":{}}}}"#;
    let plugin = Plugin::of_functions(&house, "team", &[started, &function("same", "-")]);
    let starts = || house.mcp(&plugin, &[]);
    let (a, b, c, d) = tokio::join!(starts(), starts(), starts(), starts());
    let sessions = [a, b, c, d];
    let first = tokio::join!(
        sessions[0].refusal("team__start"),
        sessions[1].refusal("team__start"),
        sessions[2].refusal("team__start"),
        sessions[3].refusal("team__start"),
    );
    let first = [first.0, first.1, first.2, first.3];
    let refused = first.iter().filter(|text| **text == Some(changed("team.start", "team"))).count();
    let called = first.iter().filter(|text| text.is_none()).count();
    assert_eq!((called, refused), (1, 3), "{first:?}");
    for session in &sessions {
        assert_eq!(session.refusal("team__same").await, None);
    }
    let snapshots = house.audit("plugin.tools.snapshot").await;
    assert_eq!(snapshots.len(), 1);
    let id: FunctionId = "team.start".parse().expect("an ID");
    assert!(snapshots[0].subject.functions.contains_key(&id));

    // What the other three list can be approved beside it, and then each is called as it lists itself.
    assert_eq!(house.wait_for_changes("team", 3).await.len(), 3);
    house.approve("team").await;
    for session in &sessions {
        super::house::eventually("it is called", async || {
            session.refusal("team__start").await.is_none()
        })
        .await;
    }
    for session in sessions {
        session.end().await;
    }
    house.is_empty().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_comes_back_from_its_death_is_listed_before_it_is_called() {
    let house = House::new();
    let script = json!({"on": {"call die": [{"steps": [{"exit": 7}]}]}});
    let plugin = Plugin::new(&house, "team", &[("team", script)]);
    let (hello, die) = (function("hello", "Greets."), function("die", "Dies."));
    plugin.list("team", &[&hello, &die]);
    let session = house.mcp(&plugin, &["--verify-every", "3600"]).await;
    assert_eq!(session.refusal("team__hello").await, None);
    let text = session.refusal("team__die").await.unwrap_or_default();
    assert!(text.contains("the server of team ended while team.die was called"), "{text}");
    assert_eq!(session.refusal("team__hello").await, None);
    plugin.list("team", &[&function("hello", "Evil."), &die]);
    assert!(session.refusal("team__die").await.is_some());
    assert_eq!(session.refusal("team__hello").await, Some(changed("team.hello", "team")));
    session.end().await;
}
