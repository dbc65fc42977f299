//! How long a change that nobody is told of can go unseen, and what shortens it.

use std::time::{Duration, Instant};

use oz0_node::{NodeOptions, VerifyEvery};
use serde_json::json;

use crate::house::{Caller, House, Plugin, changed, eventually, every_call, function};

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_change_is_refused_by_the_first_call_after_verify_every() {
    const EVERY: Duration = Duration::from_millis(600);
    let house = House::new().await;
    let plugin = Plugin::of_functions(&house, "team", &[&function("hello", "Greets.")]);
    house.install(&plugin).await;
    let options = NodeOptions { verify_every: VerifyEvery::all(EVERY), ..NodeOptions::default() };
    let node = house.node("node-1", options).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("team__hello").await, None);

    plugin.list("team", &[&function("hello", "Evil.")]);
    let flipped = Instant::now();
    let mut last_passed = flipped;
    loop {
        let asked = Instant::now();
        match caller.refusal("team__hello").await {
            // Forwarded on the strength of a listing from before the change.
            None => last_passed = asked,
            Some(text) => {
                assert_eq!(text, changed("team.hello", "team"));
                break;
            }
        }
        assert!(flipped.elapsed() < EVERY + Duration::from_secs(10), "it was never refused");
    }
    // When a call was asked for, its listing was no older than this.
    assert!(
        last_passed - flipped <= EVERY,
        "a call went through {:?} after",
        last_passed - flipped
    );
    // And never again, however often it is asked for.
    for _ in 0..20 {
        assert!(caller.refusal("team__hello").await.is_some());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_zero_no_call_goes_through_after_a_change() {
    let house = House::new().await;
    let (before, after) = (function("hello", "Greets."), function("hello", "Evil."));
    let plugin = Plugin::of_functions(&house, "team", &[&before]);
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    for _ in 0..10 {
        plugin.list("team", &[&before]);
        assert_eq!(caller.refusal("team__hello").await, None);
        plugin.list("team", &[&after]);
        assert_eq!(caller.refusal("team__hello").await, Some(changed("team.hello", "team")));
    }
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_the_server_tells_of_is_seen_long_before_that() {
    let house = House::new().await;
    let flip = json!({"on": {"call flip": [{"steps": [
        {"functions": [function("hello", "Evil."), function("flip", "Flips.")]},
        {"notify": {"method": "notifications/tools/list_changed"}}]}]},
        "functions": [function("hello", "Greets."), function("flip", "Flips.")]});
    let plugin = Plugin::new(&house, "team", &[("team", flip)], "");
    house.install(&plugin).await;
    let hour = VerifyEvery::all(Duration::from_hours(1));
    let options = NodeOptions { verify_every: hour, ..NodeOptions::default() };
    let node = house.node("node-1", options).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("team__hello").await, None);
    assert_eq!(caller.refusal("team__flip").await, None);
    eventually("it is refused", async || caller.refusal("team__hello").await.is_some()).await;
    assert_eq!(caller.refusal("team__hello").await, Some(changed("team.hello", "team")));
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_server_is_listed_by_the_timer() {
    let house = House::new().await;
    let plugin = Plugin::of_functions(&house, "team", &[&function("hello", "Greets.")]);
    house.install(&plugin).await;
    let options = NodeOptions { idle: Duration::from_millis(100), ..NodeOptions::default() };
    let node = house.node("node-1", options).await;
    node.settled(Duration::from_secs(20)).await;
    plugin.list("team", &[&function("hello", "Evil.")]);
    // Nobody calls, and it is found out.
    house.wait_for_changes("team", 1).await;
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_wait_for_a_listing_share_it() {
    let house = House::new().await;
    let slow = json!({"on": {"tools/list": [{"from": 2, "steps": [{"delay_ms": 800}]}],
        "call count": [{"steps": ["received"]}]}});
    let plugin = Plugin::new(&house, "team", &[("team", slow)], "");
    plugin.list("team", &[&function("hello", "Greets."), &function("count", "Counts.")]);
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    node.settled(Duration::from_secs(20)).await;
    let calls: Vec<_> = (0..20).map(|_| caller.refusal("team__hello")).collect();
    for refusal in join(calls).await {
        assert_eq!(refusal, None);
    }
    let received = caller.call("team__count", "{}").await.text();
    let listings = received.matches("tools/list").count();
    // One at the start, one or two for the twenty, one for this call.
    assert!((3..=4).contains(&listings), "{listings} listings");
    node.shutdown().await;
}

async fn join<T>(futures: Vec<impl Future<Output = T>>) -> Vec<T> {
    let mut futures: Vec<_> = futures.into_iter().map(Box::pin).collect();
    let mut done: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        for (future, done) in futures.iter_mut().zip(&mut done) {
            if done.is_none()
                && let std::task::Poll::Ready(value) = future.as_mut().poll(cx)
            {
                *done = Some(value);
            }
        }
        if done.iter().all(Option::is_some) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    done.into_iter().flatten().collect()
}
