//! How long a change that nobody is told of can go unseen, and what shortens it.

use std::time::Duration;

use oz0_node::NodeOptions;
use serde_json::json;

use crate::house::{Caller, House, Plugin, every_call, function};

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
