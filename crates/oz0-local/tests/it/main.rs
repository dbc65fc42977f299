//! How a command finds its edge, and with what token. What runs an edge is tested through the built binary.

#![expect(clippy::unwrap_used, reason = "a test that fails should panic where it does")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use oz0_api::Kind;
use oz0_edge::{Edge, Options};
use oz0_local::{Credentials, DataFolder, LocalError, Target, find_edge};

async fn at(folder: &DataFolder, credentials: Option<&Path>, token: Option<&str>) -> String {
    let target = Target { folder, url: None, token, credentials };
    match find_edge(target).await.unwrap().whoami().await {
        Ok(who) => who.actor,
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn the_token_is_the_one_that_was_given_then_the_kept_one_then_the_folders() {
    let home = tempfile::tempdir().unwrap();
    let folder = DataFolder::at(&home.path().join("data")).unwrap();
    let missing = find_edge(Target { folder: &folder, url: None, token: None, credentials: None });
    let error = missing.await.unwrap_err();
    assert!(error.to_string().contains("oz0.sock"), "{error}");
    assert_eq!(error.kind(), Kind::Failed);
    assert_eq!(error.hint().as_deref(), Some("start it with: oz0 up, or without a node: oz0 edge"));

    folder.make().unwrap();
    let edge = Edge::open(&Options::new(folder.root())).await.unwrap();
    let listener = Edge::bind_unix(&folder.socket()).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(folder.root()), mode(&folder.socket())), (0o700, 0o600));
    let served = edge.clone();
    tokio::spawn(async move { served.serve_unix_on(listener, std::future::pending()).await });
    let created = edge
        .reissue_token(&oz0_api::token::CreateToken {
            kind: oz0_api::token::TokenKind::Admin,
            name: "kept".parse().unwrap(),
            may_approve: false,
        })
        .await
        .unwrap();
    let file = Credentials::path(&home.path().join("config"));
    let mut kept = Credentials::default();
    kept.set(&Credentials::of_socket(&folder.socket()), &format!("{}\n", created.secret));
    kept.write(&file).unwrap();
    assert_eq!(mode(&file), 0o600);

    assert_eq!(at(&folder, None, None).await, "token:admin");
    assert_eq!(at(&folder, Some(&file), None).await, "token:kept");
    assert!(at(&folder, Some(&file), Some("wrong")).await.contains("unknown or was revoked"));
    // Without any token it is still somebody at the socket, who may read.
    fs::write(folder.admin_token_file(), "\n").unwrap();
    assert_eq!(at(&folder, None, None).await, "local");
}

#[test]
fn tokens_are_kept_by_edge_and_never_shown() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("credentials.toml");
    let mut kept = Credentials::read(&file).unwrap();
    kept.set("https://Edge.example/", "one");
    kept.set("https://other.example", "two");
    kept.write(&file).unwrap();
    let mut again = Credentials::read(&file).unwrap();
    assert_eq!(again.get("https://edge.example"), Some("one"));
    assert!(!format!("{again:?}").contains("one"));
    assert!(again.remove("https://edge.example") && !again.remove("https://edge.example"));
    again.write(&file).unwrap();
    assert_eq!(Credentials::read(&file).unwrap().get("https://edge.example"), None);

    fs::write(&file, "[edges.\"x\"]\ntoken = s3cret\n").unwrap();
    let error = Credentials::read(&file).unwrap_err();
    assert!(matches!(error, LocalError::Credentials { .. }));
    assert!(
        error.to_string().contains("line 2") && !error.to_string().contains("s3cret"),
        "{error}"
    );
}

#[test]
fn a_path_that_no_socket_can_have_is_said_before_anything_is_made() {
    let home = tempfile::tempdir().unwrap();
    let folder = DataFolder::at(&home.path().join("d".repeat(120))).unwrap();
    let error = folder.make().unwrap_err();
    assert!(matches!(error, LocalError::SocketPath { .. }), "{error}");
    assert!(error.hint().unwrap().contains("--data"));
    assert!(!folder.root().exists());
}
