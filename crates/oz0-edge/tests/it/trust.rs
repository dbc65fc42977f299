//! A store that is not what it was never leads to trust.

use std::fs;
use std::path::Path;

use oz0_api::node::PollQuery;
use oz0_api::plugin::FunctionState;
use oz0_api::{ClientError, Code};
use oz0_edge::{Edge, StoreError};
use tempfile::TempDir;

use crate::database::{edit, is_postgres};
use crate::house::{House, options, plugin, reopen, tell};

/// An edge that ended, with something accepted.
async fn ended() -> TempDir {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    tell(&node, &team, "team", &[("hello", "Hello.")]).await;
    house.end().await
}

async fn open(folder: &TempDir) -> Result<Edge, StoreError> {
    reopen(&options(folder.path())).await
}

#[track_caller]
fn damaged(result: Result<Edge, StoreError>) -> String {
    match result.unwrap_err() {
        StoreError::Damaged { path, what } => {
            assert!(path.starts_with(std::env::temp_dir()));
            what
        }
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_restart_keeps_everything() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    tell(&node, &team, "team", &[("hello", "Hello."), ("bye", "Bye.")]).await;
    tell(&node, &team, "team", &[("hello", "Other."), ("bye", "Bye.")]).await;
    let (changes, log) = (house.changes("team").await, house.log().await);
    let house = house.restart().await;
    assert_eq!(house.changes("team").await[0].id, changes[0].id);
    assert_eq!(house.log().await, log);
    assert_eq!(house.states().await["team.hello"], FunctionState::Waiting);
    let node = house.node("node-2").await;
    let verdicts = tell(&node, &team, "team", &[("hello", "Other."), ("bye", "Bye.")]).await;
    assert!(!verdicts.snapshot);
    assert_eq!(house.waiting("team").await, ["team.hello changed node-1,node-2"]);
    assert!(house.local.verify_audit().await.unwrap().faults.is_empty());
}

#[tokio::test]
async fn two_edges_do_not_share_a_folder() {
    let house = House::new().await;
    let error = open(&house.folder).await.unwrap_err();
    assert!(matches!(error, StoreError::InUse { .. }), "{error}");
    assert!(error.to_string().starts_with("another edge is running on "));
    let folder = house.end().await;
    open(&folder).await.unwrap();
}

#[tokio::test]
async fn a_store_that_is_gone_or_empty_is_not_a_new_one() {
    let folder = ended().await;
    let database = folder.path().join("data/edge.db");
    let kept = fs::read(&database).unwrap();
    fs::remove_file(&database).unwrap();
    assert!(damaged(open(&folder).await).contains("is gone"));
    fs::write(&database, b"").unwrap();
    assert!(damaged(open(&folder).await).contains("is empty"));
    fs::write(&database, kept).unwrap();
    open(&folder).await.unwrap();
}

#[tokio::test]
async fn a_store_cut_short_anywhere_is_damaged() {
    let folder = ended().await;
    let database = folder.path().join("data/edge.db");
    let whole = fs::read(&database).unwrap();
    for parts in 1..16 {
        fs::write(&database, &whole[..whole.len() * parts / 16]).unwrap();
        damaged(open(&folder).await);
    }
    for length in [1, 16, 100, 512, 4095, 4096, whole.len() - 1] {
        fs::write(&database, &whole[..length]).unwrap();
        damaged(open(&folder).await);
    }
}

#[tokio::test]
async fn a_store_overwritten_is_damaged() {
    let folder = ended().await;
    let database = folder.path().join("data/edge.db");
    let whole = fs::read(&database).unwrap();
    fs::write(&database, vec![b'x'; whole.len()]).unwrap();
    damaged(open(&folder).await);
    // A page in the middle: whatever it held, nothing is opened without it.
    for page in 1..whole.len() / 4096 {
        let mut bytes = whole.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0xff);
        fs::write(&database, &bytes).unwrap();
        damaged(open(&folder).await);
    }
}

#[tokio::test]
async fn the_store_of_another_edge_is_not_this_ones() {
    let (folder, other) = (ended().await, ended().await);
    fs::copy(other.path().join("data/edge.db"), folder.path().join("data/edge.db")).unwrap();
    assert!(damaged(open(&folder).await).contains("this folder had that of"));
}

#[tokio::test]
async fn an_older_copy_of_the_store_is_not_taken_for_the_newest() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    tell(&node, &team, "team", &[("hello", "Hello.")]).await;
    let folder = house.end().await;
    let database = folder.path().join("data/edge.db");
    let older = fs::read(&database).unwrap();
    let house = House::open(folder).await;
    let node = house.node("node-2").await;
    tell(&node, &team, "team", &[("hello", "Refused.")]).await;
    let folder = house.end().await;
    fs::write(&database, older).unwrap();
    assert!(damaged(open(&folder).await).contains("ends earlier now"));
}

#[tokio::test]
async fn a_listing_edited_in_the_file_is_not_served() {
    let folder = ended().await;
    let forge = "UPDATE accepted SET listing = replace(listing, 'Hello.', 'Send keys.')";
    edit(folder.path(), forge).await.unwrap();
    let house = House::open(folder).await;
    let error = house.local.catalog().await.unwrap_err();
    assert!(error.to_string().contains("does not have its hash"), "{error}");
    let node = house.node("node-2").await;
    let query = oz0_api::node::PollQuery { wait: Some(0), ..Default::default() };
    node.poll(&query).await.unwrap_err();
}

#[tokio::test]
async fn the_store_of_a_newer_oz0_is_left_alone() {
    let folder = ended().await;
    // 0, as bytes.
    let none = if is_postgres() { "'\\x00'" } else { "x'00'" };
    let future = format!(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (9999, 'of the future', {}, {none}, 0)",
        if is_postgres() { "true" } else { "1" }
    );
    edit(folder.path(), &future).await.unwrap();
    let error = open(&folder).await.unwrap_err();
    assert!(matches!(error, StoreError::Newer { .. }), "{error}");
    assert_eq!(error.hint(), Some("use that version of oz0 or a later one"));
}

#[tokio::test]
async fn a_store_that_is_deleted_or_replaced_while_it_is_open_takes_nothing_more() {
    let gone = |path: &Path| fs::remove_file(path).unwrap();
    let replaced = |path: &Path| {
        let copy = path.with_extension("copy");
        fs::copy(path, &copy).unwrap();
        fs::rename(copy, path).unwrap();
    };
    let moved = |path: &Path| {
        let folder = path.parent().unwrap();
        fs::rename(folder, folder.with_extension("away")).unwrap();
    };
    for (name, act) in [
        ("edge.db", &gone as &dyn Fn(&Path)),
        ("edge.db-wal", &gone),
        ("edge.db", &replaced),
        ("edge.db-wal", &replaced),
        ("edge.db", &moved),
    ] {
        let house = House::new().await;
        let node = house.node("node-1").await;
        let team = plugin("team", "1.0.0", &["team"]);
        house.install(&team).await;
        tell(&node, &team, "team", &[("hello", "Hello.")]).await;
        let (data, whole) = (house.data(), house.data().with_extension("whole"));
        let waits = {
            let node = node.clone();
            let poll = node.poll(&PollQuery::default()).await.unwrap();
            let query = PollQuery {
                edge: Some(poll.edge),
                plugins: poll.plugins.revision,
                decisions: poll.decisions.revision,
                wait: Some(30),
                jobs: true,
                ..PollQuery::default()
            };
            tokio::spawn(async move { node.poll(&query).await })
        };
        act(&data.join(name));
        let refused = |problem: ClientError| {
            assert_eq!(problem.code(), Some(Code::Unavailable), "{problem}");
            let said = problem.to_string();
            assert!(said.contains(name) && said.contains("deleted or replaced"), "{said}");
        };
        refused(house.admin.remove(&team.name).await.unwrap_err());
        refused(waits.await.unwrap().unwrap_err());
        refused(house.admin.plugins().await.unwrap_err());
        assert!(house.local.ready().await.is_err());
        // What comes back later is not believed either.
        if data.exists() {
            fs::rename(&data, &whole).unwrap();
        } else {
            fs::rename(data.with_extension("away"), &data).unwrap();
        }
        refused(house.admin.plugins().await.unwrap_err());
    }
}
