//! How old a remote server's listing may be when a call relies on it: what the operator says, and never what the server says.

use std::time::{Duration, Instant};

use oz0_node::{NodeOptions, VerifyEvery};
use serde_json::json;

use super::{Remote, point};
use crate::house::{Caller, House, Plugin, changed, every_call, function};

const A_DAY_IN_MS: u64 = 86_400_000;

/// A remote server that says for how long its listing is fresh, and a change of it that it tells nobody of.
async fn house_of(ttl_ms: u64) -> (House, Plugin, Remote) {
    let house = House::new().await;
    let plugin = Plugin::new(&house, "weather", &[], "");
    plugin.list("wx", &[&function("today", "Now.")]);
    let script = json!({"versions": ["2026-07-28"], "functions_file": "wx.txt", "ttl_ms": ttl_ms});
    let remote = Remote::start(&plugin, "wx", &script);
    point(&plugin, &remote.url);
    house.install(&plugin).await;
    (house, plugin, remote)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servers_ttl_makes_no_listing_last_longer() {
    let (house, plugin, _remote) = house_of(A_DAY_IN_MS).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("wx__today").await, None);
    plugin.list("wx", &[&function("today", "Evil.")]);
    assert_eq!(caller.refusal("wx__today").await, Some(changed("wx.today", "weather")));
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn remote_servers_are_listed_again_by_their_own_setting() {
    let (house, plugin, _remote) = house_of(0).await;
    let (process, remote) = (Duration::ZERO, Duration::from_hours(1));
    let verify_every = VerifyEvery { process, remote };
    let node = house.node("node-1", NodeOptions { verify_every, ..NodeOptions::default() }).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("wx__today").await, None);
    plugin.list("wx", &[&function("today", "Evil.")]);
    for _ in 0..20 {
        assert_eq!(caller.refusal("wx__today").await, None, "its listing is not an hour old");
    }
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn by_default_a_call_relies_on_a_remote_listing_of_30_s_at_most() {
    let default = VerifyEvery::default();
    assert_eq!(
        (default.process, default.remote),
        (Duration::from_secs(2), Duration::from_secs(30))
    );
    // One that is fresh for a day, it says, and one that is never.
    let (lasting, fleeting) = (house_of(A_DAY_IN_MS).await, house_of(0).await);
    let until_refused = async |(house, plugin, _remote): (House, Plugin, Remote)| {
        let began = Instant::now();
        let node = house.node("node-1", NodeOptions::default()).await;
        let caller = Caller::of(&node).await;
        assert_eq!(caller.refusal("wx__today").await, None);
        plugin.list("wx", &[&function("today", "Evil.")]);
        let refusal = loop {
            if let Some(refusal) = caller.refusal("wx__today").await {
                break refusal;
            }
            assert!(began.elapsed() < Duration::from_mins(2), "it is called for ever");
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        assert_eq!(refusal, changed("wx.today", "weather"));
        node.shutdown().await;
        began.elapsed()
    };
    let (lasting, fleeting) = tokio::join!(until_refused(lasting), until_refused(fleeting));
    for took in [lasting, fleeting] {
        // An idle server's minute is later, and a busy machine sooner than that.
        let bound = Duration::from_secs(30)..Duration::from_secs(55);
        assert!(bound.contains(&took), "{took:?}");
    }
}
