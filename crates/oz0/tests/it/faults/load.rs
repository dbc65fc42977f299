//! Many clients, slow servers beside fast ones, servers that flood; and very many calls.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use oz0_mcp::{CallError, Client, Fault};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::fleet::{Fleet, client, eventually, greet, started};

/// Calls until its server has room for it. The number that came back, or the error.
async fn call(client: &Client, number: u64) -> Result<u64, CallError> {
    let params = format!(r#"{{"name":"team__greet","arguments":{{"n":{number}}}}}"#);
    let params = RawValue::from_string(params).expect("JSON");
    loop {
        match client.request("tools/call", &params).await {
            Ok(result) => {
                let value: Value = serde_json::from_str(result.get()).expect("JSON");
                let echoed = value["structuredContent"]["arguments"]["n"].as_u64();
                return Ok(echoed.unwrap_or_else(|| panic!("{value}")));
            }
            Err(CallError { fault: Fault::Answered(error), .. })
                if error.message.contains("in flight") =>
            {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// The memory that a process has, in KiB.
fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("it says so");
    line.split_whitespace().nth(1).expect("a number").parse().expect("a number")
}

#[expect(clippy::print_stdout, reason = "what the long run measured is for people")]
/// So many calls by so many clients of one node: each is answered with its own answer, and was made once.
async fn calls(total: u64, clients: u64) {
    let (fleet, edge) = Fleet::new();
    fleet.machines.join("berlin", &fleet.url());
    fleet.list("berlin", &[greet("Greets.")]);
    fleet.install("1.0.0");
    let berlin = started(&mut fleet.node_command("berlin", &[]));
    fleet.callable("berlin").await;
    let before = fleet.made().len();
    let log = fleet.log().await.len();
    let token = fleet.client_token("claude");
    let next = Arc::new(AtomicU64::new(1));
    let began = Instant::now();
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..clients {
        let (mcp, token, next) = (berlin.mcp.clone(), token.clone(), Arc::clone(&next));
        callers.spawn(async move {
            let client = client(&mcp, &token).await;
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number > total {
                    return;
                }
                let answered = call(&client, number).await;
                assert_eq!(answered.unwrap_or_else(|error| panic!("{number}: {error}")), number);
            }
        });
    }
    let mut samples = Vec::new();
    let mut beat = tokio::time::interval(Duration::from_millis(100));
    loop {
        tokio::select! {
            joined = callers.join_next() => match joined {
                Some(joined) => joined.expect("no caller fails"),
                None => break,
            },
            _ = beat.tick() => {
                let done = next.load(Ordering::Relaxed);
                samples.push((done, resident(berlin.running.id()), resident(edge.id())));
            }
        }
    }
    let took = began.elapsed();
    let rate = u128::from(total) * 1000 / took.as_millis().max(1);
    println!("{total} calls by {clients} clients in {took:?}: {rate} a second");
    let every = (samples.len() / 10).max(1);
    for (done, node, edge) in samples.iter().step_by(every) {
        println!("after {done} calls the node has {node} KiB, the edge {edge} KiB");
    }
    // Warm after a fifth of them.
    let warm = samples.iter().find(|(done, ..)| *done > total / 5).or(samples.last());
    let warm = *warm.expect("it took a while");
    let last = (0, resident(berlin.running.id()), resident(edge.id()));
    println!("at the end the node has {} KiB, the edge {} KiB", last.1, last.2);
    let flat = |warm: u64, last: u64| last <= warm + warm / 4 + 8 * 1024;
    assert!(flat(warm.1, last.1), "the node grew from {} to {} KiB", warm.1, last.1);
    assert!(flat(warm.2, last.2), "the edge grew from {} to {} KiB", warm.2, last.2);

    let mut times: HashMap<u64, u32> = HashMap::new();
    for made in fleet.made().into_iter().skip(before) {
        *times.entry(made.number()).or_default() += 1;
    }
    assert_eq!(times.len() as u64, total, "every call was made");
    assert!(times.values().all(|times| *times == 1), "and made once");
    assert!(fleet.log().await.len() <= log + 2, "calls of clients write nothing at the edge");
    drop(berlin);
    fleet.is_empty().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_of_256_clients_has_its_own_answers() {
    calls(1_280, 256).await;
}

/// A million calls; `OZ0_CALLS` is another number of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "it takes minutes; docs/reliability.md has the command"]
async fn a_million_calls_are_answered_once_each_and_memory_stays_flat() {
    let total = std::env::var("OZ0_CALLS").map_or(1_000_000, |calls| calls.parse().expect("one"));
    calls(total, 64).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn servers_that_flood_or_dawdle_delay_nobody_else() {
    let (fleet, edge) = Fleet::new();
    fleet.machines.join("berlin", &fleet.url());
    fleet.list("berlin", &[greet("Greets.")]);
    let folder = fleet.plugin("1.0.0");
    // Beside the one that greets, one that floods in every way that it has, and one that is slow.
    let flood = |name: &str| {
        json!({"name": name, "annotations": {"readOnlyHint": true}, "inputSchema": {"type": "object"}})
            .to_string()
    };
    let changed = json!({"notify": {"method": "notifications/tools/list_changed"}});
    let message = json!({"notify": {"method": "notifications/message",
        "params": {"level": "info", "data": "x".repeat(1000)}}});
    let noise: Vec<Value> =
        (0..200).flat_map(|_| [changed.clone(), message.clone()]).chain([json!("echo")]).collect();
    let floods = ["stderr", "progress", "notify", "huge"].map(flood);
    let scripts = [
        (
            "flood",
            json!({
                "functions": floods,
                "on": {
                    "call stderr": [{"steps": [{"stderr": {"text": "no end of it\n", "count": 400_000}}]}],
                    "call progress": [{"steps": [{"progress": {"count": 5_000, "every_ms": 0}}]}],
                    "call notify": [{"steps": noise}],
                    // Just under the limit of a result.
                    "call huge": [{"steps": [{"huge": (16 << 20) - 4096}]}],
                },
            }),
        ),
        (
            "slow",
            json!({"functions": [flood("wait")], "on": {"call wait": [{"steps": [{"delay_ms": 3_000}]}]}}),
        ),
    ];
    let mut manifest = fs::read_to_string(folder.join("oz0-plugin.yaml")).expect("it was written");
    for (tool, script) in &scripts {
        fs::write(folder.join(format!("{tool}.json")), script.to_string()).expect("a file");
        let entry =
            format!("tools:\n  {tool}:\n    mcp: {{command: [./oz0-actor, {tool}.json]}}\n");
        manifest = manifest.replace("tools:\n", &entry);
    }
    fs::write(folder.join("oz0-plugin.yaml"), manifest).expect("a file");
    let installed = fleet.machines.install_with(&folder, &["--yes"]);
    assert_eq!(installed.code, Some(0), "{}", installed.all());
    let berlin = started(&mut fleet.node_command("berlin", &[]));
    fleet.callable("berlin").await;
    let token = fleet.client_token("claude");
    let flooded = Arc::new(client(&berlin.mcp, &token).await);
    let quiet = client(&berlin.mcp, &token).await;
    let request = |name: &str, number: usize| {
        let client = Arc::clone(&flooded);
        let params = format!(
            r#"{{"name":"{name}","arguments":{{"n":{number}}},"_meta":{{"progressToken":"{name}-{number}"}}}}"#
        );
        let params = RawValue::from_string(params).expect("JSON");
        tokio::spawn(async move { client.request("tools/call", &params).await })
    };
    eventually("its other servers have listed", async || {
        let listed = quiet.list_functions().await.expect("it lists");
        listed.functions.len() == 6
    })
    .await;
    let before = resident(berlin.running.id());
    let mut pending = Vec::new();
    for number in 0..3 {
        for name in
            ["flood__stderr", "flood__progress", "flood__notify", "flood__huge", "slow__wait"]
        {
            pending.push((name, request(name, number)));
        }
    }
    let (began, mut longest, mut number) = (Instant::now(), Duration::ZERO, 0);
    while pending.iter().any(|(_, call)| !call.is_finished()) {
        number += 1;
        let asked = Instant::now();
        assert_eq!(call(&quiet, number).await.expect("it is answered"), number);
        longest = longest.max(asked.elapsed());
        assert!(began.elapsed() < super::fleet::PATIENCE, "the floods have no end");
    }
    println!("{number} calls beside the floods, the longest took {longest:?}");
    assert!(number > 20, "{number} calls went through meanwhile, the longest took {longest:?}");
    for (name, call) in pending {
        let result = call.await.expect("it ends").unwrap_or_else(|error| panic!("{name}: {error}"));
        if name == "flood__huge" {
            assert!(result.get().len() > 15 << 20, "{} bytes", result.get().len());
        } else {
            assert!(result.get().contains("structuredContent"), "{name}: {}", result.get());
        }
    }
    let after = resident(berlin.running.id());
    println!("the node had {before} KiB before, and has {after} KiB");
    assert!(after < before + 256 * 1024, "from {before} to {after} KiB");
    fleet.log().await;
    drop((berlin, edge));
    fleet.is_empty().await;
}
