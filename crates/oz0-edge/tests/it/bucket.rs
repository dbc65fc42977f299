//! Bundles in a bucket, at a real server that speaks S3, and in a folder that edges share.
//!
//! Where a bucket is and who may use it is in the environment, which a test cannot change for itself alone: this test binary
//! runs itself with it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use oz0_api::Code;
use oz0_edge::{BundlesAt, Edge, Options, StoreError};
use oz0_peers::Peers;
use tempfile::TempDir;

use crate::database::{server, store_at};
use crate::house::{House, bring, bundle, plugin, refused};

const CHILD: &str = "OZ0_EDGE_TEST_BUCKET";

/// A server that speaks S3.
struct Bucket {
    child: Child,
    url: String,
}

impl Bucket {
    fn start() -> Self {
        let peers = Peers::find().unwrap();
        let mut child = Command::new(peers.python_program("moto_server"))
            .args(["--host", "127.0.0.1", "--port", "0"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let url = lines
            .find_map(|line| Some(line.split_once("Running on ")?.1.trim().to_owned()))
            .expect("it says where it is");
        // Whoever logs into a pipe that nobody reads stands still.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url }
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a test of this binary with a bucket in its environment.
fn with_a_bucket(test: &str) {
    let bucket = Bucket::start();
    let made = Command::new("curl")
        .args(["-sf", "-X", "PUT", &format!("{}/bundles", bucket.url)])
        .status()
        .unwrap();
    assert!(made.success());
    let ended = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--include-ignored", "--nocapture"])
        .env(CHILD, &bucket.url)
        .env("AWS_ENDPOINT_URL", &bucket.url)
        .env("AWS_REGION", "eu-central-1")
        .env("AWS_ACCESS_KEY_ID", "key")
        .env("AWS_SECRET_ACCESS_KEY", "secret")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&ended.stderr));
}

fn options(folder: &Path, bundles: &str) -> Options {
    let store = store_at(folder, server().folder());
    Options { store, bundles: bundles.parse().unwrap(), ..Options::new(folder.join("data")) }
}

/// What one edge is brought, another hands out; what no version is known by, neither does.
async fn is_shared(bundles: &str) {
    let folder = TempDir::new().unwrap();
    let options = options(folder.path(), bundles);
    let one = House::open_with(folder, options.clone()).await;
    let two = one.beside(&options).await;
    let team = plugin("team", "1.0.0", &["team"]);
    one.install(&team).await;
    let create = oz0_api::token::CreateToken {
        kind: oz0_api::token::TokenKind::Node,
        name: "node-1".parse().unwrap(),
        may_approve: false,
    };
    let token = one.admin.create_token(&create).await.unwrap().secret;
    let node = two.local.with_token(&token);
    let bytes = node.bundle(team.digest).await.unwrap();
    let read = oz0_bundle::read(&bytes[..], Path::new("it")).unwrap();
    assert_eq!(read.digest, team.digest);

    // One that was only brought is there for the other edge to install.
    let other = plugin("other", "1.0.0", &["other"]);
    bring(&one.admin, &other).await;
    two.admin.install(&other).await.unwrap();
    let missing = bundle("missing", "1.0.0", "");
    assert_eq!(refused(node.bundle(missing).await.map(drop)), Code::NotFound);

    // Nothing of it is in the edges' own folders, and an edge that starts anew takes nothing away.
    assert!(!one.data().join("bundles").exists());
    drop(two.end().await);
    let folder = one.end().await;
    let file = folder.path().join("oz0.backup");
    let one = House::open_with(folder, options.clone()).await;
    let node = one.local.with_token(&token);
    node.bundle(team.digest).await.unwrap();

    // A backup has them, wherever they are.
    assert_eq!(Edge::back_up(&options, &file).await.unwrap().bundles, 2);
    let elsewhere = TempDir::new().unwrap();
    Edge::restore(&Options::new(elsewhere.path().join("data")), &file).await.unwrap();
    assert_eq!(std::fs::read_dir(elsewhere.path().join("data/bundles")).unwrap().count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "what the other test runs with a bucket"]
async fn shares_a_bucket() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    is_shared("s3://bundles").await;
    is_shared("s3://bundles/below/here").await;
    let missing = TempDir::new().unwrap();
    let error = Edge::open(&options(missing.path(), "s3://nowhere")).await.unwrap_err();
    assert!(matches!(error, StoreError::Bundles { .. }), "{error}");
    assert!(error.to_string().contains("s3://nowhere/"), "{error}");
}

#[test]
fn edges_share_a_bucket_that_speaks_s3() {
    with_a_bucket("bucket::shares_a_bucket");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "what the other test runs with a bucket"]
async fn misses_a_bundle() {
    let Some(url) = std::env::var_os(CHILD) else { return };
    let folder = TempDir::new().unwrap();
    let bundles = "s3://bundles".parse().unwrap();
    let options = Options { bundles, ..Options::new(folder.path().join("data")) };
    let house = House::open_with(folder, options.clone()).await;
    let team = plugin("team", "1.0.0", &["team"]);
    house.install(&team).await;
    let gone = Command::new("curl")
        .args(["-sf", "-X", "DELETE", "--user", "key:secret"])
        .args(["--aws-sigv4", "aws:amz:eu-central-1:s3"])
        .arg(format!("{}/bundles/{}.oz0", url.to_string_lossy(), team.digest.hex()))
        .status();
    assert!(gone.unwrap().success());
    let node = house.node("node-1").await;
    assert_eq!(refused(node.bundle(team.digest).await.map(drop)), Code::NotFound);
    house.local.ready().await.unwrap();
    let backup = Edge::back_up(&options, &house.folder.path().join("oz0.backup")).await.unwrap();
    assert_eq!(backup.missing, [team.digest]);
}

#[test]
fn a_bundle_that_is_gone_from_its_bucket_is_said_to_be() {
    with_a_bucket("bucket::misses_a_bundle");
}

#[tokio::test(flavor = "multi_thread")]
async fn edges_share_a_folder() {
    let shared = TempDir::new().unwrap();
    is_shared(shared.path().to_str().unwrap()).await;
}

#[test]
fn a_bucket_is_not_spoken_to_in_plain_over_a_network() {
    let ended = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "bucket::refuses_plain_http", "--include-ignored", "--nocapture"])
        .env("AWS_ENDPOINT_URL", "http://s3.example")
        .env("AWS_ALLOW_HTTP", "true")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&ended.stderr));
}

#[tokio::test]
#[ignore = "what the other test runs with an endpoint"]
async fn refuses_plain_http() {
    if std::env::var_os("AWS_ALLOW_HTTP").is_none() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let bundles: BundlesAt = "s3://bundles".parse().unwrap();
    let options = Options { bundles, ..Options::new(folder.path().join("data")) };
    let error = Edge::open(&options).await.unwrap_err();
    assert!(error.to_string().contains("plain http is spoken to this machine alone"), "{error}");
}
