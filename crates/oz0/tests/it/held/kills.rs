//! `kill -9` at every step of a first snapshot, of a change and of an approval: what is left is a history that could have
//! been, and nothing is called that nobody approved.
//!
//! The store's log grows with each write, so its length says how far oz0 has come. A first run measures by how much it grows,
//! and how long that takes; then oz0 is killed at lengths on the way, at times before, between and after them, and when a file
//! of the data folder turns up; and another oz0 starts on what is left.

use std::time::{Duration, Instant};

use oz0_api::change::Approve;
use oz0_listing::FunctionId;

use super::house::{House, Plugin, Point, Session, call, changed, eventually, function};

const NOW: [&str; 2] = ["--verify-every", "0"];

/// A frame of `SQLite`'s write-ahead log: a header, and a page.
const FRAME: u64 = 24 + 4096;

/// What oz0 makes in its data folder before and while it opens its store.
const FILES: [&str; 6] =
    ["seat.lock", "edge.db", "edge.id", "admin.token", "oz0.sock", "nodes/node-1/token"];

fn hello() -> FunctionId {
    "team.hello".parse().expect("an ID")
}

fn greets() -> String {
    function("hello", "Greets.")
}

fn evil() -> String {
    function("hello", "Evil.")
}

/// Where to kill something that lengthens a log of so many bytes by so many, and takes so long: at lengths (evenly, and at the
/// last frames, which hold what is done last), at times from before it begins until after its end, and after all.
fn points(before: u64, growth: u64, took: Duration) -> Vec<Point> {
    assert!(growth >= FRAME, "the log grew by {growth} bytes");
    let frames = growth / FRAME;
    let mut lengths: Vec<u64> = (0..6).map(|point| frames * point / 6).collect();
    lengths.extend(frames.saturating_sub(4)..frames);
    lengths.sort_unstable();
    lengths.dedup();
    // A frame is begun before it is whole: one byte more than the frames before it.
    let lengths = lengths.into_iter().map(|frames| Point::Log(before + frames * FRAME + 1));
    let times = (0..8).map(|point| Point::After(took.mul_f64(1.4) * point / 7));
    lengths.chain(times).chain([Point::Last]).collect()
}

/// What has to hold of a folder, whatever was killed on it: the audit log is whole, and there is one snapshot.
async fn is_sound(house: &House) {
    let said = house.run(&["audit", "verify"]).await;
    assert_eq!(said.code, Some(0), "{}", said.all());
    let snapshots = house.audit("plugin.tools.snapshot").await;
    assert_eq!(snapshots.len(), 1, "{snapshots:#?}");
}

async fn is_refused(session: &Session) {
    assert_eq!(session.refusal("team__hello").await, Some(changed("team.hello", "team")));
}

#[tokio::test(flavor = "multi_thread")]
async fn at_every_step_of_a_first_snapshot() {
    let (growth, took) = {
        let house = House::new();
        let plugin = Plugin::of_functions(&house, "team", &[&greets()]);
        let began = Instant::now();
        let session = house.mcp(&plugin, &NOW).await;
        assert_eq!(session.refusal("team__hello").await, None);
        let measured = (house.log_length(), began.elapsed());
        session.kill().await;
        measured
    };
    let files = FILES.into_iter().map(Point::File);
    let points: Vec<Point> = files.chain(points(0, growth, took)).collect();
    let mut snapshots = 0;
    for point in &points {
        let house = House::new();
        let plugin = Plugin::of_functions(&house, "team", &[&greets()]);
        house.kill_mcp_at(&plugin, &NOW, point.clone()).await;
        house.is_empty().await;
        // Only what the first process took down can be what is accepted now.
        plugin.list("team", &[&evil()]);
        let session = house.mcp(&plugin, &NOW).await;
        let refused = session.refusal("team__hello").await;
        is_sound(&house).await;
        let (accepted, other) = if refused.is_some() {
            snapshots += 1;
            assert_eq!(refused, Some(changed("team.hello", "team")), "{point:?}");
            (greets(), evil())
        } else {
            // The second process took the snapshot, of what its own server lists.
            (evil(), greets())
        };
        plugin.list("team", &[&accepted]);
        assert_eq!(session.refusal("team__hello").await, None, "{point:?}");
        plugin.list("team", &[&other]);
        is_refused(&session).await;
        session.kill().await;
        house.is_empty().await;
    }
    println!("killed at {} points; {snapshots} of them left a snapshot", points.len());
    assert!((1..points.len()).contains(&snapshots), "some before there was one, and some after");
}

/// An `oz0 up` whose `team.hello` was called.
async fn called(house: &House, plugin: &Plugin) -> Session {
    let session = house.up(&[plugin], &NOW).await;
    assert_eq!(session.refusal("team__hello").await, None);
    session
}

#[tokio::test(flavor = "multi_thread")]
async fn at_every_step_of_a_change() {
    let (growth, took) = {
        let house = House::new();
        let plugin = Plugin::of_functions(&house, "team", &[&greets()]);
        let session = called(&house, &plugin).await;
        let (before, began) = (house.log_length(), Instant::now());
        plugin.list("team", &[&evil()]);
        is_refused(&session).await;
        house.wait_for_changes("team", 1).await;
        let measured = (house.log_length() - before, began.elapsed());
        session.kill().await;
        measured
    };
    let (mut told, count) = (0, points(0, growth, took).len());
    for number in 0..count {
        let house = House::new();
        let plugin = Plugin::of_functions(&house, "team", &[&greets()]);
        let session = called(&house, &plugin).await;
        let point = points(house.log_length(), growth, took).swap_remove(number);
        let killer = session.killer(&house, point);
        plugin.list("team", &[&evil()]);
        let mut refused = false;
        while let Ok(called) = call(&session.client, "team__hello").await {
            let text = called.expect_err("a call after the change goes through");
            assert_eq!(Some(text), Some(changed("team.hello", "team")));
            refused = true;
            killer.is_due();
        }
        killer.done().await;
        house.is_empty().await;
        // Refused by whoever comes next, whether or not the edge had heard of it.
        let session = house.mcp(&plugin, &NOW).await;
        is_refused(&session).await;
        is_sound(&house).await;
        assert_eq!(house.wait_for_changes("team", 1).await[0].function, Some(hello()));
        assert_eq!(house.audit("plugin.tools.changed").await.len(), 1);
        told += usize::from(refused);
        session.kill().await;
        house.is_empty().await;
    }
    println!("killed at {count} points; at {told} of them a call had been refused");
    assert!((1..count).contains(&told), "some before a call was refused, and some after");
}

#[tokio::test(flavor = "multi_thread")]
async fn at_every_step_of_an_approval() {
    let (growth, took) = {
        let house = House::new();
        let (session, approve) = waiting(&house).await;
        let (before, began) = (house.log_length(), Instant::now());
        let name = "team".parse().expect("a name");
        house.admin().approve(&name, &approve).await.expect("it is approved");
        let measured = (house.log_length() - before, began.elapsed());
        session.kill().await;
        measured
    };
    let (mut acknowledged, mut done, count) = (0, 0, points(0, growth, took).len());
    for number in 0..count {
        let house = House::new();
        let (session, approve) = waiting(&house).await;
        let point = points(house.log_length(), growth, took).swap_remove(number);
        let what = format!("killed at {point:?}");
        let killer = session.killer(&house, point);
        let name = "team".parse().expect("a name");
        let answer = house.admin().approve(&name, &approve).await;
        killer.is_due();
        killer.done().await;
        house.is_empty().await;
        drop(session);

        let plugin = Plugin::again(&house, "team");
        let session = house.mcp(&plugin, &NOW).await;
        let refused = session.refusal("team__hello").await;
        is_sound(&house).await;
        let entries = house.audit("plugin.tools.approve").await.len();
        assert!(entries <= 1, "approved once, {what}");
        if answer.is_ok() {
            acknowledged += 1;
            assert_eq!(refused, None, "an approval that was acknowledged, {what}");
        }
        // What is called is what the log says, and nothing between.
        if entries == 1 {
            done += 1;
            assert_eq!(refused, None, "{what}");
            plugin.list("team", &[&greets()]);
            is_refused(&session).await;
        } else {
            assert_eq!(refused, Some(changed("team.hello", "team")), "{what}");
            assert_eq!(house.wait_for_changes("team", 1).await.len(), 1);
        }
        session.kill().await;
        house.is_empty().await;
    }
    println!("killed at {count} points; {done} done, {acknowledged} acknowledged");
    assert!(done >= acknowledged && (1..count).contains(&acknowledged));
}

/// An `oz0 up` with a change that waits, and its approval.
async fn waiting(house: &House) -> (Session, Approve) {
    let plugin = Plugin::of_functions(house, "team", &[&greets()]);
    let session = called(house, &plugin).await;
    plugin.list("team", &[&evil()]);
    is_refused(&session).await;
    let change = house.wait_for_changes("team", 1).await.remove(0);
    (session, Approve { changes: vec![change.id] })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_edge_moves_to_another_process_when_its_own_is_killed() {
    let house = House::new();
    let plugin = Plugin::of_functions(&house, "team", &[&greets()]);
    let first = house.mcp(&plugin, &NOW).await;
    let second = house.mcp(&plugin, &NOW).await;
    assert_eq!(first.refusal("team__hello").await, None);
    assert_eq!(second.refusal("team__hello").await, None);
    first.kill().await;
    let began = Instant::now();
    // The other one goes on with what it holds, and what changed waits for the edge that it is now.
    assert_eq!(second.refusal("team__hello").await, None);
    plugin.list("team", &[&evil()]);
    is_refused(&second).await;
    eventually("it is the edge", async || {
        let name = "team".parse().expect("a name");
        house.admin().changes(&name).await.is_ok_and(|open| open.changes.len() == 1)
    })
    .await;
    assert!(began.elapsed() < Duration::from_secs(30), "it took {:?}", began.elapsed());
    house.approve("team").await;
    eventually("it is called", async || second.refusal("team__hello").await.is_none()).await;
    is_sound(&house).await;
    second.end().await;
    house.is_empty().await;
}
