//! From the approval of a change to the first call that goes through.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::percentile;
use crate::peers::{Served, oz0};

const ROUNDS: usize = 250;

fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// In each round the server says something else of a function, the call is refused, the change is approved by the
/// command line, and the function is called until it answers. The listing is read before each call, which is the
/// slowest that an operator can choose.
pub(crate) fn measure(root: &Path) {
    let served = Served::compiled(root, 1);
    let data = root.join("approval");
    let describe = |text: &str| {
        let new = served.plugin().join("new.txt");
        fs::write(&new, text).unwrap();
        fs::rename(new, served.plugin().join("description.txt")).unwrap();
    };
    describe("Says hello, round 0.");
    let mut client = served.oz0_with(&data, &["--verify-every", "0"]);
    let (mut from_command, mut from_answer) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        describe(&format!("Says hello, round {round}."));
        assert!(!client.accepts("hello"), "a change that nobody approved was called");
        let until = Instant::now() + Duration::from_secs(10);
        let change = loop {
            let shown =
                said(oz0(&data).args(["plugin", "approve-tools", "bench", "--show", "--json"]));
            let shown: Value = serde_json::from_str(&shown).unwrap();
            if let Some(id) = shown["changes"][0]["id"].as_str() {
                break id.to_owned();
            }
            assert!(Instant::now() < until, "the edge did not hear of the change: {shown}");
        };
        let began = Instant::now();
        said(oz0(&data).args(["plugin", "approve-tools", "bench", "--yes", "--change", &change]));
        let approved = Instant::now();
        while !client.accepts("hello") {}
        from_command.push(began.elapsed());
        from_answer.push(approved.elapsed());
    }
    fs::remove_file(served.plugin().join("description.txt")).unwrap();
    println!("\napproval to the first call that is accepted, {ROUNDS} rounds");
    for (title, times) in
        [("from the start of the command", &from_command), ("from its end", &from_answer)]
    {
        let millis = |share| percentile(times, share).as_secs_f64() * 1e3;
        println!("  {title:<32} p50 {:>7.1} ms   p99 {:>7.1} ms", millis(0.5), millis(0.99));
    }
}
