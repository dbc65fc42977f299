//! An edge that is killed in the middle: what it acknowledged is there, and nothing is half there.
//!
//! The edge is this test binary itself, started again as a process of its own. It is killed with
//! SIGKILL after a number of milliseconds that differs from round to round, while a node reports and
//! a person approves as fast as they can.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use oz0_api::change::Approve;
use oz0_api::token::{CreateToken, TokenKind};
use oz0_api::{Client, ClientError};
use tempfile::TempDir;

use crate::house::{House, bring, hash, options, plugin, reopen, report};

const FOLDER: &str = "OZ0_EDGE_TEST_FOLDER";

#[test]
#[ignore = "the edge that the other test starts and kills"]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let edge = reopen(&options(folder.parent().unwrap())).await.unwrap();
        edge.serve_unix(&folder.join("edge.sock"), std::future::pending()).await.unwrap();
    });
}

struct Process(Child);

impl Process {
    async fn start(folder: &Path) -> (Self, Client) {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kill::child", "--include-ignored"])
            .env(FOLDER, folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut process = Self(child);
        let client = Client::unix(&folder.join("edge.sock"));
        while client.ready().await.is_err() {
            assert!(process.0.try_wait().unwrap().is_none(), "the edge did not start");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        (process, client)
    }

    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What was acknowledged before the kill.
#[derive(Debug, Default)]
struct Acknowledged {
    accepted: Option<String>,
    waiting: Option<String>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_a_kill_at_any_time() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    let team = plugin("team", "1.0.0", &["team"]);
    let mut known = Acknowledged::default();
    let mut node_token = None;
    let mut number = 0_u32;
    for round in 0..12_u64 {
        let (mut process, local) = Process::start(&data).await;
        let admin = local.with_token(&std::fs::read_to_string(data.join("admin.token")).unwrap());

        check(&local, &known).await;
        if round == 0 {
            let create = CreateToken {
                kind: TokenKind::Node,
                name: "node-1".parse().unwrap(),
                may_approve: false,
            };
            node_token = Some(admin.create_token(&create).await.unwrap().secret);
            bring(&admin, &team).await;
            admin.install(&team).await.unwrap();
        }
        let node = local.with_token(node_token.as_deref().unwrap());
        let killer = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(3 + round * 12)).await;
            process.kill();
        });
        // Until the connection breaks: report another text, look, approve what was looked at.
        loop {
            number += 1;
            let text = format!("Text {number}.");
            let hashed = hash("hello", &text).to_string();
            let before = std::mem::take(&mut known);
            let verdicts = match node.report(&report(&team, "team", &[("hello", &text)])).await {
                Ok(verdicts) => verdicts,
                Err(error) => {
                    gone(&error);
                    // Whether it was taken is not known; what was accepted before is accepted.
                    known.accepted = before.accepted;
                    break;
                }
            };
            if verdicts.snapshot {
                assert!(before.accepted.is_none(), "a second first snapshot");
                known.accepted = Some(hashed);
                continue;
            }
            known = Acknowledged { accepted: before.accepted, waiting: Some(hashed.clone()) };
            let changes = match admin.changes(&team.name).await {
                Ok(changes) => changes.changes,
                Err(error) => {
                    gone(&error);
                    break;
                }
            };
            assert_eq!(changes.len(), 1);
            let approve = Approve { changes: vec![changes[0].id.clone()] };
            match admin.approve(&team.name, &approve).await {
                Ok(answer) => {
                    assert_eq!(answer.approved.len(), 1);
                    known = Acknowledged { accepted: Some(hashed), waiting: None };
                }
                Err(error) => {
                    gone(&error);
                    // It may have been approved; then it is no longer waiting.
                    known = Acknowledged::default();
                    break;
                }
            }
        }
        killer.await.unwrap();
    }
    let (_process, local) = Process::start(&data).await;
    check(&local, &known).await;
    assert!(number > 12, "the rounds did something: {number}");
}

#[track_caller]
fn gone(error: &ClientError) {
    assert!(error.code().is_none(), "{error}");
}

/// The store holds what was acknowledged, and its log tells the whole of it.
async fn check(local: &Client, known: &Acknowledged) {
    let check = local.verify_audit().await.unwrap();
    assert!(check.faults.is_empty(), "{check:?}");
    let catalog = local.catalog().await.unwrap();
    let function = catalog.functions.first();
    let accepted: Vec<String> = function
        .map(|function| function.accepted.iter().map(|one| one.hash.to_string()).collect())
        .unwrap_or_default();
    if let Some(hash) = &known.accepted {
        assert_eq!(accepted, std::slice::from_ref(hash), "{known:?}");
    }
    if let Some(hash) = &known.waiting {
        let waits = function.is_some_and(|function| {
            function.changes.iter().any(|change| {
                change.listed.as_ref().and_then(|side| side.hash).map(|hash| hash.to_string())
                    == Some(hash.clone())
            })
        });
        assert!(waits, "{known:?}");
    }
    // No acceptance without its entry, and no entry without its acceptance.
    let query = oz0_api::audit::AuditQuery { limit: Some(1000), ..Default::default() };
    let mut last = None;
    let mut page = local.audit(&query).await.unwrap();
    loop {
        for entry in &page.entries {
            if matches!(entry.action.as_str(), "plugin.tools.snapshot" | "plugin.tools.approve") {
                last = entry.subject.functions.values().next().cloned().flatten();
            }
        }
        if !page.more {
            break;
        }
        let next = oz0_api::audit::AuditQuery { after: page.next, ..query.clone() };
        page = local.audit(&next).await.unwrap();
    }
    assert_eq!(accepted.last(), last.as_ref());
}

/// The files of a data folder as they are now.
fn files(data: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let entries = std::fs::read_dir(data).unwrap().map(Result::unwrap);
    entries
        // The log's index is made anew by whoever opens it, as after a crash.
        .filter(|entry| !entry.file_name().to_string_lossy().ends_with("-shm"))
        // Bundles are brought before the write that names them.
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap()))
        .collect()
}

/// What a person sees of an edge.
async fn seen(house: &House) -> String {
    let check = house.local.verify_audit().await.unwrap();
    assert!(check.faults.is_empty(), "{check:?}");
    let catalog = house.local.catalog().await.unwrap();
    let log = house.log().await;
    let plugin = house.local.plugin(&"team".parse().unwrap()).await.unwrap();
    serde_json::json!({
        "catalog": catalog, "log": log, "tools": plugin.tools, "changes": plugin.changes,
    })
    .to_string()
}

/// A crash leaves a beginning of what was being written to the database's log. Each beginning is
/// tried, page by page and in the middle of each.
#[tokio::test]
async fn a_crash_at_any_step_of_a_write_is_before_it_or_after_it() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    // The node joins here, and so in no write below.
    node.poll(&oz0_api::node::PollQuery { wait: Some(0), ..Default::default() }).await.unwrap();
    for step in ["first snapshot", "change", "approval", "update"] {
        let (before, files_before) = (seen(&house).await, files(&house.data()));
        match step {
            "first snapshot" => {
                let report = report(&team, "team", &[("hello", "Hello."), ("bye", "Bye.")]);
                node.report(&report).await.map(drop)
            }
            "change" => {
                let report = report(&team, "team", &[("hello", "Other.")]);
                node.report(&report).await.map(drop)
            }
            "approval" => {
                assert_eq!(house.approve_all("team").await.approved.len(), 2);
                Ok(())
            }
            _ => {
                let other = plugin("team", "1.1.0", &["team"]);
                house.try_install(&other).await.map(drop)
            }
        }
        .unwrap();
        let after = seen(&house).await;
        assert_ne!(before, after, "{step}");

        let log = std::fs::read(house.data().join("edge.db-wal")).unwrap();
        let begin = files_before
            .iter()
            .find(|(name, _)| name == "edge.db-wal")
            .map(|(_, bytes)| bytes.len())
            .unwrap();
        assert!(log.len() > begin, "{step}: {begin} to {}", log.len());
        let frame = 4096 + 24;
        let cuts = (begin..log.len()).step_by(frame / 2).chain([log.len() - 1, log.len()]);
        let mut afters = 0;
        for cut in cuts {
            let folder = TempDir::new().unwrap();
            let data = folder.path().join("data");
            std::fs::create_dir(&data).unwrap();
            for (name, bytes) in &files_before {
                std::fs::write(data.join(name), bytes).unwrap();
            }
            std::fs::write(data.join("edge.db-wal"), &log[..cut]).unwrap();
            let crashed = House::open(folder).await;
            let found = seen(&crashed).await;
            if found == after {
                afters += 1;
            } else {
                assert_eq!(found, before, "{step} at {cut} of {}", log.len());
            }
            crashed.end().await;
        }
        assert!(afters >= 1, "{step}: the whole log is the whole write");
    }
}
