//! From a call that a person is asked about to the moment at which `approvals` shows it.

use std::path::Path;
use std::time::{Duration, Instant};

use oz0_api::Client as Edge;
use oz0_api::approval::{ApprovalState, Decide};

use crate::client::percentile;
use crate::peers::{Served, oz0};

const ROUNDS: usize = 250;

/// In each round a client calls, and the edge is asked again and again which calls wait, as `oz0 approvals list` asks it.
/// The time of the answer that has the call is what counts: one question's own time is in it. Then it is denied, and the
/// client has its answer, before the next round begins.
pub(crate) fn measure(root: &Path) {
    let served = Served::compiled(root, 1);
    let data = root.join("asked");
    let mut client = served.oz0(&data);
    let set = oz0(&data).args(["policy", "set", "bench.*", "ask"]).output().unwrap();
    assert!(set.status.success(), "{set:?}");
    let token = std::fs::read_to_string(data.join("admin.token")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let edge = Edge::unix(&data.join("oz0.sock")).with_token(&token);
    let mut visible = Vec::new();
    let mut command = Vec::new();
    while visible.len() < ROUNDS {
        std::thread::scope(|scope| {
            let began = Instant::now();
            let calls = scope.spawn(|| client.accepts("hello"));
            let waits = loop {
                let approvals = runtime.block_on(edge.approvals()).unwrap().approvals;
                let mut pending =
                    approvals.into_iter().filter(|one| one.state == ApprovalState::Pending);
                if let Some(one) = pending.next() {
                    break one;
                }
                if calls.is_finished() {
                    // The node did not go by the rule yet.
                    assert!(visible.is_empty() && calls.join().unwrap(), "a call was not asked");
                    return;
                }
                assert!(began.elapsed() < Duration::from_secs(20), "no call waits");
            };
            visible.push(began.elapsed());
            if visible.len() % 25 == 0 {
                let began = Instant::now();
                let listed = oz0(&data).args(["approvals", "list", "--json"]).output().unwrap();
                assert!(String::from_utf8_lossy(&listed.stdout).contains(waits.id.as_str()));
                command.push(began.elapsed());
            }
            runtime.block_on(edge.deny_call(&waits.id, &Decide { reason: None })).unwrap();
            assert!(!calls.join().unwrap(), "a call that was denied went through");
        });
    }
    println!("\nan asked call is visible to approvals, {ROUNDS} rounds");
    for (title, times) in
        [("from the call", &visible), ("`oz0 approvals list` itself, as a process", &command)]
    {
        let millis = |share| percentile(times, share).as_secs_f64() * 1e3;
        println!(
            "  {title:<44} p50 {:>7.1} ms   p90 {:>7.1} ms   p99 {:>7.1} ms   max {:>7.1} ms",
            millis(0.5),
            millis(0.9),
            millis(0.99),
            millis(1.0)
        );
    }
}
