//! Backups: of a running edge, whole or refused, and restored into either kind of store.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use oz0_api::approval::ApprovalState;
use oz0_api::node::PollQuery;
use oz0_api::plugin::FunctionState;
use oz0_api::token::{CreateToken, TokenKind};
use oz0_edge::{Edge, Options, StoreAt, StoreError};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use tempfile::TempDir;

use crate::database::{edit, server, store_at};
use crate::house::{House, plugin, tell};

/// The two kinds of store.
const KINDS: [bool; 2] = [false, true];

/// A new folder, with a store of a kind that is not there yet.
fn nowhere(postgres: bool) -> (TempDir, Options) {
    let folder = TempDir::new().unwrap();
    let store = if postgres { store_at(folder.path(), server().folder()) } else { StoreAt::Folder };
    let options = Options { store, ..Options::new(folder.path().join("data")) };
    (folder, options)
}

/// An edge with something of everything.
async fn full(postgres: bool) -> (House, Options) {
    let (folder, options) = nowhere(postgres);
    let house = House::open_with(folder, options.clone()).await;
    let node = house.node("node-1").await;
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    tell(&node, &team, "team", &[("hello", "Hello."), ("bye", "Bye.")]).await;
    tell(&node, &team, "team", &[("hello", "Zażółć 'other' \"text\".\n"), ("bye", "Bye.")]).await;
    node.poll(&PollQuery { wait: Some(0), ..PollQuery::default() }).await.unwrap();
    (house, options)
}

/// What a person sees of an edge.
async fn seen(house: &House) -> (String, Vec<oz0_api::audit::AuditEntry>) {
    let catalog = house.local.catalog().await.unwrap();
    let plugin = house.local.plugin(&"team".parse().unwrap()).await.unwrap();
    let seen =
        serde_json::json!({"catalog": catalog, "tools": plugin.tools, "changes": plugin.changes});
    (seen.to_string(), house.log().await)
}

async fn back_up(house: &House, options: &Options) -> PathBuf {
    let file = house.folder.path().join("oz0.backup");
    let backup = Edge::back_up(options, &file).await.unwrap();
    assert_eq!((backup.bundles, backup.missing.len(), backup.rows["versions"]), (1, 0, 1));
    file
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_edge_is_backed_up_and_restored_into_either_kind() {
    for from in KINDS {
        let (house, options) = full(from).await;
        let file = back_up(&house, &options).await;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let (before, log) = seen(&house).await;
        for to in KINDS {
            let (folder, options) = nowhere(to);
            let backup = Edge::restore(&options, &file).await.unwrap();
            assert_eq!(backup.bundles, 1);
            let restored = House::open_with(folder, options.clone()).await;
            let (after, told) = seen(&restored).await;
            assert_eq!(after, before, "from {from} to {to}");
            assert_eq!(told[..log.len()], log[..], "from {from} to {to}");
            // The restore is told of, and the token in the folder is one that counts.
            let acts: Vec<_> = told[log.len()..].iter().map(|entry| &*entry.action).collect();
            assert_eq!(acts, ["edge.restore", "token.revoke", "token.create"]);
            assert!(restored.local.verify_audit().await.unwrap().faults.is_empty());
            assert_eq!(restored.states().await["team.hello"], FunctionState::Waiting);
            restored.approve_all("team").await;
            restored.admin.remove(&"team".parse().unwrap()).await.unwrap();
            assert!(house.admin.whoami().await.is_ok(), "the edge that it was made of goes on");
            // It is a store like any other.
            let again = restored.folder.path().join("again.backup");
            Edge::back_up(&options, &again).await.unwrap();
            drop(restored.end().await);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_one_moment_of_an_edge_that_writes() {
    for postgres in KINDS {
        let (house, options) = full(postgres).await;
        let admin = house.admin.clone();
        let writes = tokio::spawn(async move {
            for number in 0.. {
                let name = format!("client-{number}").parse().unwrap();
                let create = CreateToken { kind: TokenKind::Client, name, may_approve: false };
                if admin.create_token(&create).await.is_err() {
                    return;
                }
            }
        });
        for round in 0..5 {
            let file = house.folder.path().join(format!("{round}.backup"));
            Edge::back_up(&options, &file).await.unwrap();
            let (folder, options) = nowhere(false);
            Edge::restore(&options, &file).await.unwrap();
            let restored = House::open_with(folder, options).await;
            let check = restored.local.verify_audit().await.unwrap();
            assert!(check.faults.is_empty(), "{check:?}");
            let log = restored.log().await;
            let tokens = restored.admin.tokens().await.unwrap().tokens.len();
            let told = log.iter().filter(|entry| entry.action == "token.create").count();
            assert_eq!(told, tokens, "every token with its entry");
        }
        writes.abort();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_restored_over_a_store() {
    let (house, options) = full(false).await;
    let file = back_up(&house, &options).await;
    for postgres in KINDS {
        let (other, into) = full(postgres).await;
        let before = seen(&other).await;
        // In its own folder while it runs, and after; and from another folder, where there is one database for both.
        let error = Edge::restore(&into, &file).await.unwrap_err();
        assert!(matches!(error, StoreError::InUse { .. }), "{error}");
        if postgres {
            let elsewhere = TempDir::new().unwrap();
            let into = Options { data: elsewhere.path().join("data"), ..into.clone() };
            let error = Edge::restore(&into, &file).await.unwrap_err();
            assert!(matches!(error, StoreError::NotEmpty { .. }), "{error}");
        }
        let folder = other.end().await;
        let error = Edge::restore(&into, &file).await.unwrap_err();
        assert!(matches!(error, StoreError::NotEmpty { .. }), "{error}");
        assert!(error.to_string().contains("holds a store already"), "{error}");
        let other = House::open_with(folder, into).await;
        assert_eq!(seen(&other).await, before);
    }
    // Nor is a file written over.
    let error = Edge::back_up(&options, &file).await.unwrap_err();
    assert!(error.to_string().contains("could not make"), "{error}");
}

async fn restores(file: &Path) -> Result<(), StoreError> {
    let (_folder, options) = nowhere(false);
    let restored = Edge::restore(&options, file).await.map(drop);
    if restored.is_err() {
        // What was refused left a place for one that is not.
        assert!(!options.data.join("edge.id").exists());
        assert!(!options.data.join("admin.token").exists());
    }
    restored
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_is_not_whole_is_refused() {
    let (house, options) = full(false).await;
    let file = back_up(&house, &options).await;
    let whole = fs::read(&file).unwrap();
    restores(&file).await.unwrap();
    let changed = house.folder.path().join("changed.backup");
    for parts in 0..16 {
        fs::write(&changed, &whole[..whole.len() * parts / 16]).unwrap();
        let error = restores(&changed).await.unwrap_err();
        assert!(matches!(error, StoreError::Backup { .. }), "{parts}: {error}");
    }
    // A text in a row, and a byte in the bundle.
    let find = |text: &[u8]| whole.windows(text.len()).position(|at| at == text).unwrap();
    for at in [find(b"Hello."), find(b"bundles/") + 700, find(b"\"format\"") + 2] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&changed, &bytes).unwrap();
        let error = restores(&changed).await.unwrap_err();
        assert!(matches!(error, StoreError::Backup { .. }), "{at}: {error}");
    }
    fs::write(&changed, "not a tar at all").unwrap();
    assert!(matches!(restores(&changed).await.unwrap_err(), StoreError::Backup { .. }));
}

/// Writes a tar as a backup is one, with these files in place of those of the same name.
fn with(whole: &Path, file: &Path, name: &str, edit: impl Fn(String) -> String) {
    use sha2::Digest as _;
    use std::io::Read as _;
    let mut tar = tar::Builder::new(Vec::new());
    let (mut hash, mut files) = (sha2::Sha256::new(), 0);
    for entry in tar::Archive::new(fs::File::open(whole).unwrap()).entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().to_str().unwrap().to_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        if path == name {
            bytes = edit(String::from_utf8(bytes).unwrap()).into_bytes();
        }
        if path == "end.json" {
            let hash: [u8; 32] = hash.clone().finalize().into();
            let hash = oz0_listing::Digest::from_bytes(hash).hex();
            bytes = serde_json::json!({"files": files, "sha256": hash}).to_string().into_bytes();
        }
        hash.update(format!("{path}\0{}\n", bytes.len()));
        hash.update(&bytes);
        files += 1;
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o600);
        tar.append_data(&mut header, path, &bytes[..]).unwrap();
    }
    fs::write(file, tar.into_inner().unwrap()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_backup_names_becomes_no_statement() {
    let (house, options) = full(false).await;
    let file = back_up(&house, &options).await;
    let edited = house.folder.path().join("edited.backup");
    with(&file, &edited, "", |text| text);
    restores(&edited).await.unwrap();
    let refused = async |name: &str, from: &str, to: &str| {
        with(&file, &edited, name, |text| {
            assert!(text.contains(from), "{text}");
            text.replacen(from, to, 1)
        });
        restores(&edited).await.unwrap_err()
    };
    let error = refused("tables/nodes.jsonl", "seen_at", "seen_at) VALUES (1); --").await;
    assert!(error.to_string().contains("a column that this oz0 does not know"), "{error}");
    let error = refused("tables/nodes.jsonl", "\"there\"", "7").await;
    assert!(error.to_string().contains("a value is of another kind"), "{error}");
    let error = refused("backup.json", "\"steps\":[1", "\"steps\":[9999,1").await;
    assert!(matches!(error, StoreError::Newer { .. }), "{error}");
    let error = refused("backup.json", "oz0.edge-backup.v1", "oz0.edge-backup.v2").await;
    assert!(error.to_string().contains("a format that this oz0 does not know"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waited_when_the_backup_was_made_is_lost() {
    let (house, options) = full(false).await;
    let node = house.node("node-2").await;
    let ask = crate::approvals::ask("{\"secret\": 1}");
    let approval = node.ask_approval(&ask).await.unwrap();
    let file = back_up(&house, &options).await;
    let (folder, options) = nowhere(false);
    Edge::restore(&options, &file).await.unwrap();
    let restored = House::open_with(folder, options).await;
    let error = restored
        .admin
        .approve_call(&approval.id, &oz0_api::approval::Decide::default())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("is lost"), "{error}");
    assert!(restored.local.approvals().await.unwrap().approvals.is_empty());
    assert_eq!(approval.state, ApprovalState::Pending);
}

/// Brings the schema of an empty database to an earlier step, as an older oz0 left it.
async fn older(options: &Options, folder: &Path, step: i64) {
    let (sqlite, postgres) =
        (sqlx::migrate!("migrations/sqlite"), sqlx::migrate!("migrations/postgres"));
    match &options.store {
        StoreAt::Folder => {
            fs::create_dir_all(&options.data).unwrap();
            let file = options.data.join("edge.db");
            let options = SqliteConnectOptions::new().filename(file).create_if_missing(true);
            let pool = SqlitePool::connect_with(options).await.unwrap();
            sqlite.run_to(step, &pool).await.unwrap();
            pool.close().await;
        }
        StoreAt::Postgres(_) => {
            let address = fs::read_to_string(folder.join("store.url")).unwrap();
            let pool = sqlx::PgPool::connect(&address).await.unwrap();
            postgres.run_to(step, &pool).await.unwrap();
            pool.close().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_schema_is_brought_to_the_newest() {
    let newest = {
        let (_folder, options) = nowhere(false);
        let made = Edge::migrate(&options).await.unwrap();
        assert!(made.before.is_empty());
        made.after
    };
    for postgres in KINDS {
        let (folder, options) = nowhere(postgres);
        older(&options, folder.path(), 5).await;
        // What an edge of that time wrote.
        edit(folder.path(), "INSERT INTO nodes (node, seen_at) VALUES ('berlin', 7)")
            .await
            .unwrap();
        let wrote = "INSERT INTO counters (name, value) VALUES ('of before', 41)";
        edit(folder.path(), wrote).await.unwrap();
        let done = Edge::migrate(&options).await.unwrap();
        assert_eq!((done.before.last(), &done.after), (Some(&5), &newest));
        let again = Edge::migrate(&options).await.unwrap();
        assert_eq!(again.before, again.after);
        let house = House::open_with(folder, options).await;
        let nodes = house.local.nodes().await.unwrap();
        assert_eq!((nodes[0].node.as_str(), nodes[0].live), ("berlin", false));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_an_older_schema_is_restored_and_brought_to_the_newest() {
    for from in KINDS {
        let (folder, options) = nowhere(from);
        older(&options, folder.path(), 5).await;
        let wrote =
            "INSERT INTO meta (name, value) VALUES ('edge', '0123456789abcdef0123456789abcdef');
             INSERT INTO nodes (node, seen_at) VALUES ('berlin', 7);
             UPDATE counters SET value = 41 WHERE name = 'revision';";
        edit(folder.path(), wrote).await.unwrap();
        let file = folder.path().join("old.backup");
        let backup = Edge::back_up(&options, &file).await.unwrap();
        assert_eq!(backup.store.as_str(), "0123456789abcdef0123456789abcdef");
        for to in KINDS {
            let (folder, options) = nowhere(to);
            Edge::restore(&options, &file).await.unwrap();
            let house = House::open_with(folder, options).await;
            assert_eq!(house.local.nodes().await.unwrap()[0].node.as_str(), "berlin");
            let node = house.node("node-1").await;
            let poll = node.poll(&PollQuery { wait: Some(0), ..PollQuery::default() }).await;
            assert_eq!(poll.unwrap().plugins.revision.0, 41);
        }
    }
}
