//! How long a change that nobody is told of can go unseen, as `docs/explanation/how-old-a-listing-may-be.md` says.

use std::time::{Duration, Instant};

use serde_json::json;

use super::house::{House, Plugin, Session, changed, eventually, function};

/// Flips the listing while calls go on without a pause, until one is refused; no call that was made after `every` had passed
/// goes through.
async fn holds(session: &Session, plugin: &Plugin, every: Duration) {
    assert_eq!(session.refusal("team__hello").await, None);
    plugin.list("team", &[&function("hello", "Evil.")]);
    let flipped = Instant::now();
    let mut last_passed = flipped;
    loop {
        let asked = Instant::now();
        match session.refusal("team__hello").await {
            // Forwarded on the strength of a listing from before the change.
            None => last_passed = asked,
            refused => {
                assert_eq!(refused, Some(changed("team.hello", "team")));
                break;
            }
        }
        assert!(flipped.elapsed() < every + Duration::from_secs(20), "it was never refused");
    }
    let late = last_passed - flipped;
    assert!(late <= every, "a call that was made {late:?} after the change went through");
    // And never again, however often it is asked for.
    for _ in 0..20 {
        assert_eq!(session.refusal("team__hello").await, Some(changed("team.hello", "team")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_change_is_refused_by_the_first_call_after_two_seconds() {
    let house = House::new();
    let plugin = Plugin::of_functions(&house, "team", &[&function("hello", "Greets.")]);
    let session = house.mcp(&plugin, &[]).await;
    holds(&session, &plugin, Duration::from_secs(2)).await;
    session.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn or_after_what_the_operator_says() {
    let house = House::new();
    let plugin = Plugin::of_functions(&house, "team", &[&function("hello", "Greets.")]);
    let session = house.up(&[&plugin], &["--verify-every", "0.4"]).await;
    holds(&session, &plugin, Duration::from_millis(400)).await;
    session.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_zero_no_call_goes_through_after_a_change() {
    let house = House::new();
    let (before, after) = (function("hello", "Greets."), function("hello", "Evil."));
    let plugin = Plugin::of_functions(&house, "team", &[&before]);
    let session = house.mcp(&plugin, &["--verify-every", "0"]).await;
    for _ in 0..10 {
        plugin.list("team", &[&before]);
        assert_eq!(session.refusal("team__hello").await, None);
        plugin.list("team", &[&after]);
        assert_eq!(session.refusal("team__hello").await, Some(changed("team.hello", "team")));
    }
    session.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_the_server_tells_of_is_seen_long_before_that() {
    let house = House::new();
    let flip = json!({"on": {"call flip": [{"steps": [
        {"functions": [function("hello", "Evil."), function("flip", "Flips.")]},
        {"notify": {"method": "notifications/tools/list_changed"}}]}]},
        "functions": [function("hello", "Greets."), function("flip", "Flips.")]});
    let plugin = Plugin::new(&house, "team", &[("team", flip)]);
    let session = house.mcp(&plugin, &["--verify-every", "3600"]).await;
    assert_eq!(session.refusal("team__hello").await, None);
    assert_eq!(session.refusal("team__flip").await, None);
    eventually("it is refused", async || session.refusal("team__hello").await.is_some()).await;
    assert_eq!(session.refusal("team__hello").await, Some(changed("team.hello", "team")));
    session.end().await;
}
