//! The time of day jumps, at the edge and at a node: who is there stays there, who waits goes on waiting, and what was
//! approved stays approved.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use oz0_api::approval::Decide;
use oz0_api::policy::Action;

use super::fleet::{Fleet, eventually, greet, refused, started};

/// What gives a process a time of day of its own.
struct Clock {
    library: PathBuf,
    offset: PathBuf,
}

impl Clock {
    fn new(folder: &Path) -> Self {
        let (source, library) = (folder.join("clock.c"), folder.join("clock.so"));
        fs::write(&source, include_str!("clock.c")).expect("it can be written");
        // Whatever links Rust's programs.
        let mut compile = Command::new("cc");
        compile.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).arg("-ldl");
        assert!(compile.status().expect("cc runs").success());
        let clock = Self { library, offset: folder.join("offset") };
        clock.set(0);
        clock
    }

    fn set(&self, seconds: i64) {
        let new = self.offset.with_extension("new");
        fs::write(&new, seconds.to_string()).expect("it can be written");
        fs::rename(new, &self.offset).expect("it can be renamed");
    }

    fn wind(&self, command: &mut Command) {
        command.env("LD_PRELOAD", &self.library).env("OZ0_TEST_CLOCK", &self.offset);
    }
}

const HOURS: i64 = 3 * 3600;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_time_of_day_at_the_edge_may_jump() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Clock::new(folder.path());
    let (fleet, _edge) = Fleet::with_edge(|command| clock.wind(command));
    for node in ["berlin", "paris"] {
        fleet.machines.join(node, &fleet.url());
        fleet.list(node, &[greet("Greets.")]);
    }
    fleet.install("1.0.0");
    let _berlin = fleet.node("berlin");
    let _paris = fleet.node("paris");
    fleet.callable("berlin").await;
    fleet.callable("paris").await;
    let mut at = fleet.log().await.last().expect("something happened").at.0;
    for (round, jump) in [HOURS, -HOURS, HOURS].into_iter().enumerate() {
        let rule = fleet.rule(Action::Ask).await.expect("it is set");
        let number = 100 + u64::try_from(round).expect("few");
        let waits = fleet.try_call("berlin", number, Duration::from_mins(1));
        tokio::pin!(waits);
        // It waits for somebody, and one of two nodes lists something else, when the clock is set.
        let asked = loop {
            tokio::select! {
                call = &mut waits => panic!("{:?}", call.map(|call| refused(&call))),
                () = tokio::time::sleep(Duration::from_millis(50)) => {}
            }
            let mut waiting = fleet.admin().approvals().await.expect("the edge answers").approvals;
            if let Some(asked) = waiting.pop() {
                break asked;
            }
        };
        clock.set(if round % 2 == 0 { jump } else { 0 });
        let live = fleet.admin().nodes().await.expect("the edge answers");
        assert!(live.iter().all(|node| node.live), "{live:?}");
        let text = format!("Greets in Paris, for the {round}. time.");
        fleet.list("paris", &[greet(&text)]);
        let paris = fleet.try_call("paris", 1, Duration::from_secs(30)).await;
        assert!(refused(&paris.expect("the edge answers")).is_some(), "it lists something else");
        let changes = fleet.waiting(1).await;
        fleet.approve(&changes).await.expect("it is what is listed");
        // The other node is there, and what it lists stays accepted.
        assert!(
            fleet.accepted().await.contains(&"Greets.".to_owned()),
            "{:?}",
            fleet.accepted().await
        );
        let decided = fleet.admin().approve_call(&asked.id, &Decide::default()).await;
        decided.expect("it still waits");
        let call = waits.await.expect("the edge answers");
        assert_eq!(refused(&call), None);
        fleet.admin().unset_rule(&rule.id).await.expect("it is there");
        fleet.callable("berlin").await;
        fleet.callable("paris").await;
        // The log has the time of day, whatever it was.
        let last = fleet.log().await.last().expect("something happened").at.0;
        let went = last - at;
        at = last;
        let set = if round == 0 { jump } else { jump.signum() * HOURS };
        assert!((went / 1000 - set).abs() < 600, "{went} ms for a jump of {set} s");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_time_of_day_at_a_node_may_jump() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Clock::new(folder.path());
    let (fleet, _edge) = Fleet::new();
    fleet.machines.join("berlin", &fleet.url());
    fleet.list("berlin", &[greet("Greets.")]);
    fleet.install("1.0.0");
    let mut command = fleet.node_command("berlin", &["--verify-every", "1"]);
    clock.wind(&mut command);
    let _berlin = started(&mut command);
    fleet.callable("berlin").await;
    for (round, offset) in [HOURS, 0, -HOURS, 0].into_iter().enumerate() {
        clock.set(offset);
        fleet.callable("berlin").await;
        // A listing is no younger for it.
        fleet.list("berlin", &[greet(&format!("Greets, for the {round}. time."))]);
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        let refusal = fleet.refusal("berlin").await.expect("it lists itself differently");
        assert!(refusal.starts_with("team.greet lists itself differently"), "{refusal}");
        let changes = fleet.waiting(1).await;
        fleet.approve(&changes).await.expect("it is what is listed");
        eventually("it is called again", async || fleet.refusal("berlin").await.is_none()).await;
    }
    fleet.log().await;
}
