//! Published servers over HTTP, on both SDKs and both of their lines, in each era that they speak.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use oz0_api::policy::Action;
use oz0_mcp::{Client, EraChoice};
use oz0_peers::Peers;
use serde_json::{Value, json};

use super::{Remote, free_port, point};
use crate::house::{Caller, House, Plugin, changed, eventually, every_call, raw};

/// What a server of `tests/servers/remote` is written on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sdk {
    Python,
    /// The 1.x line of the TypeScript SDK.
    TypeScript1,
    /// Its 2.x line.
    TypeScript2,
}

fn peers() -> Peers {
    Peers::find().unwrap_or_else(|error| panic!("{error}"))
}

/// A copy of the servers' scripts, beside the packages that they import.
fn scripts(house: &House) -> PathBuf {
    let folder = house.folder.path().join("servers");
    fs::create_dir(&folder).unwrap();
    for entry in fs::read_dir(oz0_peers::workspace().join("tests/servers/remote")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
    }
    symlink(peers().npm_packages(), folder.join("node_modules")).unwrap();
    folder
}

fn start(sdk: Sdk, scripts: &Path, port: &str) -> Remote {
    let peers = peers();
    let (program, script) = match sdk {
        Sdk::Python => (peers.python(), "sdk_python.py"),
        Sdk::TypeScript1 => ("node".into(), "sdk_1.mjs"),
        Sdk::TypeScript2 => ("node".into(), "sdk_2.mjs"),
    };
    let mut command = Command::new(program);
    command.arg(scripts.join(script)).arg(scripts.join("hello.txt")).arg(port);
    Remote::listening(command.env("PATH", peers.path()))
}

async fn text(client: &Client, name: &str) -> String {
    let params = raw(&format!(r#"{{"name":"{name}","arguments":{{"name":"you"}}}}"#));
    let result = client.request("tools/call", &params).await.unwrap();
    let result: Value = serde_json::from_str(result.get()).unwrap();
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

async fn sees_all_of_it(sdk: Sdk) {
    let house = House::new().await;
    let scripts = scripts(&house);
    let says = |what: &str| fs::write(scripts.join("hello.txt"), what).unwrap();
    says("Greets.");
    let mut remote = start(sdk, &scripts, "0");

    let eras: &[EraChoice] = match sdk {
        Sdk::TypeScript1 => &[EraChoice::Legacy],
        Sdk::TypeScript2 | Sdk::Python => &[EraChoice::Legacy, EraChoice::Modern],
    };
    for era in eras {
        let client = remote.client(*era).await;
        assert_eq!(client.list_functions().await.unwrap().functions.len(), 3, "{era:?}");
        assert_eq!(text(&client, "hello").await, "Hello, you!", "{era:?}");
        // Of the servers that can, it comes on a stream that had to be picked up again.
        assert_eq!(text(&client, "later").await, "later", "{era:?}");
        client.close().await;
    }

    let plugin = Plugin::new(&house, "weather", &[], "");
    point(&plugin, &remote.url);
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    node.settled(std::time::Duration::from_secs(20)).await;
    let hello = async || caller.call("wx__hello", r#"{"name":"you"}"#).await.text();
    assert_eq!(hello().await, "Hello, you!");
    assert_eq!(caller.call("wx__later", "{}").await.text(), "later");
    let seen: Value =
        serde_json::from_str(&caller.call("wx__seen", "{}").await.text()).expect("headers");
    let era = if sdk == Sdk::TypeScript1 { "2025-11-25" } else { "2026-07-28" };
    assert_eq!(seen["mcp-protocol-version"], json!(era));
    assert_eq!(seen["x-client"], json!("oz0"));

    says("Greets, and reads your mail.");
    assert_eq!(hello().await, changed("wx.hello", "weather"));
    assert_eq!(caller.call("wx__later", "{}").await.text(), "later");
    house.approve("weather").await;
    eventually("it is called again", async || hello().await == "Hello, you!").await;

    // It starts again, and what it knew of us is gone.
    let port = remote.port().to_owned();
    drop(remote);
    remote = start(sdk, &scripts, &port);
    eventually("it is called over a new session", async || hello().await == "Hello, you!").await;
    says("Greets.");
    drop(remote);
    remote = start(sdk, &scripts, &port);
    eventually("what it lists since is refused", async || {
        hello().await == changed("wx.hello", "weather")
    })
    .await;
    node.shutdown().await;
    drop(remote);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_on_the_python_sdk() {
    sees_all_of_it(Sdk::Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_on_the_first_line_of_the_typescript_sdk() {
    sees_all_of_it(Sdk::TypeScript1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_on_the_second_line_of_the_typescript_sdk() {
    sees_all_of_it(Sdk::TypeScript2).await;
}

fn everything(port: u16) -> Option<Remote> {
    let peers = peers();
    let mut command = Command::new(peers.npm_program("mcp-server-everything"));
    command.arg("streamableHttp").env("PATH", peers.path()).env("PORT", port.to_string());
    Remote::at(port, &mut command)
}

#[tokio::test(flavor = "multi_thread")]
async fn server_everything_over_http_is_called_also_after_it_forgot_the_session() {
    let house = House::new().await;
    let plugin = Plugin::new(&house, "weather", &[], "");
    let (port, remote) = loop {
        let port = free_port();
        if let Some(remote) = everything(port) {
            break (port, remote);
        }
    };
    point(&plugin, &remote.url);
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    house.rule(&node, "wx.*", Action::Allow).await;
    let caller = Caller::of(&node).await;
    node.settled(std::time::Duration::from_secs(20)).await;
    let echo = async || caller.call("wx__echo", r#"{"message":"hi"}"#).await.text();
    assert_eq!(echo().await, "Echo: hi");
    assert!(caller.names().await.len() > 5);
    // To a session that it does not know it says 400.
    drop(remote);
    let _remote = everything(port).expect("the port is still free");
    eventually("it is called over a new session", async || echo().await == "Echo: hi").await;
    assert!(house.changes("weather").await.is_empty());
    node.shutdown().await;
}
