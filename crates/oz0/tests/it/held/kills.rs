//! `kill -9` at every step of a first snapshot, of a change and of an approval: what is left is a history that could have
//! been, and nothing is called that nobody approved.
//!
//! Each step is killed at points that lie closer than the step's own parts take, from before it begins to after it has
//! ended; where it has ended is measured by the run itself, so the sweep fits the machine. Then another `oz0` starts on
//! what is left.

use std::time::{Duration, Instant};

use oz0_api::ClientError;
use oz0_api::change::{Approve, Approved};
use oz0_listing::FunctionId;

use super::house::{House, Plugin, Session, call, changed, function};

const NOW: [&str; 2] = ["--verify-every", "0"];

/// Points of time in each sweep.
const POINTS: u32 = 14;

fn hello() -> FunctionId {
    "team.hello".parse().expect("an ID")
}

fn greets() -> String {
    function("hello", "Greets.")
}

fn evil() -> String {
    function("hello", "Evil.")
}

/// What has to hold of a folder, whatever was killed on it: the audit log is whole, and there is one snapshot at most.
async fn is_sound(house: &House) {
    let said = house.run(&["audit", "verify"]).await;
    assert_eq!(said.code, Some(0), "{}", said.all());
    let snapshots = house.audit("plugin.tools.snapshot").await;
    assert!(snapshots.len() <= 1, "{snapshots:#?}");
}

/// The times after which to kill something that takes `whole`: evenly from the start to a little after its end.
fn times(whole: Duration) -> impl Iterator<Item = Duration> {
    let whole = whole.mul_f64(1.2);
    (0..POINTS).map(move |point| whole * point / (POINTS - 1))
}

#[tokio::test(flavor = "multi_thread")]
async fn at_every_step_of_a_first_snapshot() {
    let whole = {
        let house = House::new();
        let plugin = Plugin::of_functions(&house, "team", &[&greets()]);
        let began = Instant::now();
        let session = house.mcp(&plugin, &NOW).await;
        assert_eq!(session.refusal("team__hello").await, None);
        let whole = began.elapsed();
        session.end().await;
        whole
    };
    let mut with_snapshot = 0;
    for (number, after) in times(whole).enumerate() {
        let house = House::new();
        let plugin = Plugin::of_functions(&house, "team", &[&greets()]);
        house.kill_after(&plugin, &NOW, after).await;
        // Only what the first process took down can be what is accepted now.
        plugin.list("team", &[&evil()]);
        house.is_empty().await;
        let session = house.mcp(&plugin, &NOW).await;
        let refused = session.refusal("team__hello").await;
        is_sound(&house).await;
        let snapshots = house.audit("plugin.tools.snapshot").await;
        assert_eq!(snapshots.len(), 1, "killed after {after:?}");
        let session = if refused.is_some() {
            with_snapshot += 1;
            assert_eq!(refused, changed("team.hello", "team"), "killed after {after:?}");
            plugin.list("team", &[&greets()]);
            session
        } else {
            // The second process made the snapshot: of what its own server lists.
            plugin.list("team", &[&greets()]);
            assert_eq!(session.refusal("team__hello").await, changed("team.hello", "team"));
            plugin.list("team", &[&evil()]);
            session
        };
        assert_eq!(session.refusal("team__hello").await, None, "killed after {after:?}, {number}");
        session.kill().await;
        house.is_empty().await;
    }
    println!("of {POINTS} first snapshots in {whole:?} {with_snapshot} were taken");
    // The sweep began before there was anything, and went on until all was done.
    assert!((1..POINTS).contains(&with_snapshot), "{with_snapshot} of {POINTS} had a snapshot");
}

/// Calls without a pause until the process is gone, and says how many of those that were made after the flip went
/// through.
async fn call_on(session: &Session, until: Instant) -> u32 {
    let mut passed = 0;
    while Instant::now() < until {
        match call(&session.client, "team__hello").await {
            Ok(Ok(_)) => passed += 1,
            Ok(Err(text)) => assert_eq!(Some(text), changed("team.hello", "team")),
            Err(_) => break,
        }
    }
    passed
}

#[tokio::test(flavor = "multi_thread")]
async fn at_every_step_of_a_change() {
    let house = House::new();
    let plugin = Plugin::of_functions(&house, "team", &[&greets()]);
    let session = house.up(&[&plugin], &NOW).await;
    assert_eq!(session.refusal("team__hello").await, None);
    plugin.list("team", &[&evil()]);
    let began = Instant::now();
    assert_eq!(session.refusal("team__hello").await, changed("team.hello", "team"));
    house.wait_for_changes("team", 1).await;
    let whole = began.elapsed();
    session.kill().await;

    for after in times(whole) {
        plugin.list("team", &[&greets()]);
        let session = house.up(&[&plugin], &NOW).await;
        assert_eq!(session.refusal("team__hello").await, None, "killed after {after:?}");
        house.wait_for_changes("team", 0).await;
        plugin.list("team", &[&evil()]);
        let passed = call_on(&session, Instant::now() + after).await;
        assert_eq!(passed, 0, "calls after the change, killed after {after:?}");
        session.kill().await;
        house.is_empty().await;
        // Refused by whoever comes next, whether or not the edge heard of it.
        let session = house.mcp(&plugin, &NOW).await;
        assert_eq!(session.refusal("team__hello").await, changed("team.hello", "team"));
        is_sound(&house).await;
        assert_eq!(house.wait_for_changes("team", 1).await[0].function, Some(hello()));
        session.kill().await;
        house.is_empty().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn at_every_step_of_an_approval() {
    let mut acknowledged = 0;
    let mut done = 0;
    let mut whole = Duration::from_millis(20);
    for point in 0..POINTS {
        let house = House::new();
        let plugin = Plugin::of_functions(&house, "team", &[&greets()]);
        let session = house.up(&[&plugin], &NOW).await;
        assert_eq!(session.refusal("team__hello").await, None);
        plugin.list("team", &[&evil()]);
        assert_eq!(session.refusal("team__hello").await, changed("team.hello", "team"));
        let change = house.wait_for_changes("team", 1).await.remove(0);
        let approve = Approve { changes: vec![change.id] };
        let approving = tokio::spawn({
            let (admin, name) = (house.admin(), "team".parse().expect("a name"));
            async move { admin.approve(&name, &approve).await }
        });
        // The first one is killed when it has ended: it says how long the whole takes.
        let after = whole.mul_f64(1.2) * point / (POINTS - 1);
        let answer: Result<Approved, ClientError> = if point == 0 {
            let began = Instant::now();
            let answer = approving.await.expect("nobody panicked");
            whole = began.elapsed();
            session.kill().await;
            answer
        } else {
            tokio::time::sleep(after).await;
            session.kill().await;
            approving.await.expect("nobody panicked")
        };
        house.is_empty().await;

        let session = house.mcp(&plugin, &NOW).await;
        let refused = session.refusal("team__hello").await;
        is_sound(&house).await;
        let entries = house.audit("plugin.tools.approve").await.len();
        assert!(entries <= 1, "approved once, killed after {after:?}");
        if answer.is_ok() {
            acknowledged += 1;
            assert_eq!(refused, None, "an approval that was acknowledged, killed after {after:?}");
        }
        // What is called is what the log says, and nothing between.
        if entries == 1 {
            done += 1;
            assert_eq!(refused, None, "killed after {after:?}");
            plugin.list("team", &[&greets()]);
            assert_eq!(session.refusal("team__hello").await, changed("team.hello", "team"));
        } else {
            assert_eq!(refused, changed("team.hello", "team"), "killed after {after:?}");
            assert_eq!(house.wait_for_changes("team", 1).await.len(), 1);
        }
        session.kill().await;
        house.is_empty().await;
    }
    println!("of {POINTS} approvals in {whole:?} {done} were done and {acknowledged} acknowledged");
    assert!(done >= acknowledged && acknowledged >= 1, "{done} done, {acknowledged} acknowledged");
    assert!(done < POINTS, "the sweep began before anything was done");
}
