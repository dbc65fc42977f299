//! A disk that is full, under the edge: nothing is acknowledged that is not kept, and all goes on when there is room.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use oz0_api::Client as Edge;

use super::fleet::{Fleet, client, eventually, greet};
use crate::apart::said;
use crate::running::Running;

const MOUNT: &str = r#"mount -t tmpfs -o size=48m,mode=700 tmpfs "$1" && shift && exec "$@""#;

/// The same command in namespaces of its own, with a small disk at `folder`.
fn on_a_small_disk(folder: &Path, command: &Command) -> Command {
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c", MOUNT, "sh"]);
    unshare.arg(folder).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => unshare.env(name, value),
            None => unshare.env_remove(name),
        };
    }
    unshare
}

fn fill(folder: &Path) -> PathBuf {
    let path = folder.join("filler");
    let mut file = File::create(&path).expect("a file can be made");
    for size in [1 << 16, 4096, 1] {
        loop {
            match file.write_all(&vec![b'x'; size]) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::StorageFull => break,
                Err(error) => panic!("{error}"),
            }
        }
    }
    path
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_edge_without_room_says_so_keeps_what_it_has_and_goes_on_when_there_is_some() {
    let (fleet, first) = Fleet::new();
    drop(first);
    let data = fleet.machines.path("edge");
    let flags = ["edge", "--json", "--listen", &fleet.listen];
    let mut command = on_a_small_disk(&data, &fleet.machines.oz0("edge", &flags));
    let edge = Running::start(&mut command);
    let url = said(&edge, "edge");
    // Its disk, as it has it.
    let seen = PathBuf::from(format!("/proc/{}/root{}", edge.id(), data.display()));
    let token = std::fs::read_to_string(seen.join("admin.token")).expect("there is a token");
    let admin = Edge::tcp(&url).expect("a URL").with_token(token.trim());
    let run = |machine: &str, arguments: &[&str]| {
        let mut command = fleet.machines.oz0(machine, arguments);
        command.env("OZ0_EDGE", &url).env("OZ0_TOKEN", token.trim());
        crate::support::run(&mut command)
    };
    let join = run("anybody", &["token", "create", "--node", "berlin"]).stdout;
    let joined = fleet.machines.join_with("berlin", &url, &join);
    assert_eq!(joined.code, Some(0), "{}", joined.all());
    fleet.list("berlin", &[greet("Greets.")]);
    let folder = fleet.plugin("1.0.0");
    let install = ["plugin", "install", "--yes", folder.to_str().expect("a path")];
    assert_eq!(run("anybody", &install).code, Some(0));
    let berlin = fleet.node("berlin");
    let claude = run("anybody", &["token", "create", "--client", "claude"]).stdout;
    let caller = client(&berlin.mcp, claude.trim()).await;
    let call = async || {
        let params = r#"{"name":"team__greet","arguments":{"n":1}}"#.to_owned();
        let params = serde_json::value::RawValue::from_string(params).expect("JSON");
        let result = caller.request("tools/call", &params).await.expect("it answers");
        let value: serde_json::Value = serde_json::from_str(result.get()).expect("JSON");
        let text = value["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        (value["isError"] == true).then_some(text)
    };
    eventually("it is called", async || call().await.is_none()).await;
    let name = "team".parse().expect("a name");
    fleet.list("berlin", &[greet("Greets anew.")]);
    assert!(call().await.is_some(), "it lists itself differently");
    let mut ids = Vec::new();
    eventually("a change waits", async || {
        let changes = admin.changes(&name).await.expect("the edge answers").changes;
        ids = changes.into_iter().map(|change| change.id).collect();
        !ids.is_empty()
    })
    .await;

    let filler = fill(&seen);
    // The log of the store may have room left of an earlier write, and no more than that.
    let approve = oz0_api::change::Approve { changes: ids };
    let mut tokens = 0;
    let full = loop {
        let create =
            ["token", "create", "--client", &format!("client-{tokens}")].map(str::to_owned);
        let create: Vec<&str> = create.iter().map(String::as_str).collect();
        let said = run("anybody", &create);
        if said.code != Some(0) {
            break said;
        }
        tokens += 1;
        assert!(tokens < 200, "the disk is never full");
    };
    assert_eq!(full.code, Some(3), "{}", full.all());
    assert!(full.stderr.contains("is full, and nothing was changed"), "{}", full.all());
    assert!(full.stderr.contains("hint: make room"), "{}", full.all());
    assert!(admin.ready().await.is_err(), "an edge that cannot write is not ready");
    let read = run("anybody", &["plugin", "list"]);
    assert_eq!(read.code, Some(0), "what is only read is answered: {}", read.all());
    admin.approve(&name, &approve).await.expect_err("nothing can be written");
    let other = fleet.plugin("1.1.0");
    let install = ["plugin", "install", "--yes", other.to_str().expect("a path")];
    let refused = run("anybody", &install);
    assert_ne!(refused.code, Some(0), "{}", refused.all());
    let refusal = call().await.expect("nobody approved it");
    assert!(refusal.starts_with("team.greet lists itself differently"), "{refusal}");
    // What was accepted before is called.
    fleet.list("berlin", &[greet("Greets.")]);
    assert_eq!(call().await, None);
    fleet.list("berlin", &[greet("Greets anew.")]);
    assert!(call().await.is_some());

    std::fs::remove_file(filler).expect("it is there");
    // What the node could not report waits with it, and is told first: until the edge knows again what is listed now,
    // there is nothing to approve.
    eventually("it is approved", async || match admin.approve(&name, &approve).await {
        Ok(answer) => answer.stale.is_empty(),
        Err(error) => {
            println!("{error}");
            false
        }
    })
    .await;
    eventually("what was approved is called", async || call().await.is_none()).await;
    let listed = run("anybody", &["token", "list", "--json"]).stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    let kept = listed["tokens"].as_array().expect("a list");
    let kept = kept
        .iter()
        .filter(|token| token["name"].as_str().is_some_and(|name| name.starts_with("client-")));
    assert_eq!(kept.count(), tokens, "what was acknowledged is there, and nothing else");
    assert_eq!(run("anybody", &install).code, Some(0));
    eventually("the new version is called", async || call().await.is_none()).await;
    let check = admin.verify_audit().await.expect("the edge answers");
    assert_eq!(check.faults, []);
}
