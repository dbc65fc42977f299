//! A full disk stops writes for as long as it is full, and no longer.
//!
//! The disk is a small one in memory, which a child process mounts where only it sees it: the child
//! is this test binary itself, in namespaces of its own, and the mount ends with it.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use oz0_api::token::{CreateToken, TokenKind};
use oz0_api::{Client, ClientError, Problem};
use tempfile::TempDir;

use crate::house::House;

const FOLDER: &str = "OZ0_EDGE_TEST_DISK";
const MOUNT: &str = r#"mount -t tmpfs -o size=4m,mode=700 tmpfs "$1" && shift && exec "$@""#;

/// A command in namespaces of its own, with a small disk at `folder`.
fn on_a_small_disk(folder: &Path, command: &Path, arguments: &[&str]) -> Command {
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c", MOUNT, "sh"]);
    unshare.arg(folder).arg(command).args(arguments);
    unshare
}

fn fill(folder: &Path) -> PathBuf {
    let path = folder.join("filler");
    let mut file = File::create(&path).unwrap();
    for size in [4096, 1] {
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

fn problem<T: std::fmt::Debug>(result: Result<T, ClientError>) -> Problem {
    match result.unwrap_err() {
        ClientError::Problem(problem) => problem,
        other => panic!("{other}"),
    }
}

async fn name(admin: &Client, name: &str) -> Result<oz0_api::token::CreatedToken, ClientError> {
    let create =
        CreateToken { kind: TokenKind::Client, name: name.parse().unwrap(), may_approve: false };
    admin.create_token(&create).await
}

#[test]
#[ignore = "what the other test runs on a small disk"]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let house = House::open(TempDir::new_in(&folder).unwrap()).await;
        let alice = name(&house.admin, "alice").await.unwrap();
        for round in 0..3 {
            let filler = fill(&folder);
            // What the log has room for from before is still written.
            let mut written = 0;
            let refused = loop {
                match name(&house.admin, &format!("more-{round}-{written}")).await {
                    Ok(_) => written += 1,
                    Err(error) => break problem::<()>(Err(error)),
                }
            };
            for problem in [refused, problem(name(&house.admin, "again").await)] {
                assert!(problem.message.contains("is full"), "{}", problem.message);
                assert!(problem.message.contains("edge.db"), "{}", problem.message);
                assert!(problem.hint.unwrap().contains("make room"));
            }
            if round == 0 {
                // It is not ready, as soon as what the log has room for is written too: a page at each look.
                let until = Instant::now() + Duration::from_mins(1);
                while house.local.ready().await.is_ok() {
                    assert!(Instant::now() < until, "an edge whose disk is full says it is ready");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
            std::fs::remove_file(filler).unwrap();
            house.local.ready().await.unwrap();
            let created = name(&house.admin, &format!("after-{round}")).await.unwrap();
            house.admin.revoke_token(&created.token.id).await.unwrap();
        }
        house.admin.revoke_token(&alice.token.id).await.unwrap();
        assert!(house.local.with_token(&alice.secret).whoami().await.is_err());
        assert!(house.local.verify_audit().await.unwrap().faults.is_empty());
        house.end().await;
    });
}

#[test]
fn writes_go_on_once_a_full_disk_has_room_again() {
    let folder = TempDir::new().unwrap();
    let probe = on_a_small_disk(folder.path(), Path::new("true"), &[]).output();
    if !probe.as_ref().is_ok_and(|probe| probe.status.success()) {
        eprintln!("skipped: this machine lets no test mount a disk of its own: {probe:?}");
        return;
    }
    let binary = std::env::current_exe().unwrap();
    let ended = on_a_small_disk(
        folder.path(),
        &binary,
        &["--exact", "full::child", "--include-ignored", "--nocapture"],
    )
    .env(FOLDER, folder.path())
    .output()
    .unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{told}");
    assert!(String::from_utf8_lossy(&ended.stdout).contains("1 passed"), "{told}");
}
