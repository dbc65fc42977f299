//! Remote servers: listed over HTTP, pinned at their origin, refused like any other.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::house::{Caller, House, Plugin, changed, eventually, every_call, function};

/// A scripted server over HTTP.
struct Remote {
    child: Child,
    url: String,
}

impl Remote {
    fn start(plugin: &Plugin, name: &str, script: &Value) -> Self {
        plugin.write(&format!("{name}.remote.txt"), &script.to_string());
        let mut child = Command::new(oz0_actor::binary())
            .arg(plugin.root.join(format!("{name}.remote.txt")))
            .args(["--http", "127.0.0.1:0"])
            .current_dir(&plugin.root)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening ").unwrap().to_owned();
        Self { child, url }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn point(plugin: &Plugin, url: &str) {
    let manifest = format!(
        "name: weather\nversion: 1.0.0\nkind: connector\ndescription: A test.\nlicense: MIT\ntools:\n  \
         wx:\n    url: {url}\n    headers: {{X-Client: oz0}}\n"
    );
    plugin.write("oz0-plugin.yaml", &manifest);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_servers_change_is_refused_and_its_other_functions_are_called() {
    for versions in [json!(["2026-07-28"]), json!(["2025-06-18"])] {
        let house = House::new().await;
        let plugin = Plugin::new(&house, "weather", &[], "");
        let script = json!({"versions": versions, "functions_file": "wx.txt"});
        plugin.list("wx", &[&function("today", "Now."), &function("soon", "Later.")]);
        let remote = Remote::start(&plugin, "wx", &script);
        point(&plugin, &remote.url);
        house.install(&plugin).await;
        let node = house.node("node-1", every_call()).await;
        let caller = Caller::of(&node).await;
        assert_eq!(caller.refusal("wx__today").await, None);
        plugin.list("wx", &[&function("today", "Evil."), &function("soon", "Later.")]);
        assert_eq!(caller.refusal("wx__today").await, Some(changed("wx.today", "weather")));
        assert_eq!(caller.refusal("wx__soon").await, None);
        node.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_moved_is_not_called_and_gets_no_header_until_the_move_is_approved() {
    let house = House::new().await;
    let plugin = Plugin::new(&house, "weather", &[], "");
    let script = json!({"functions": [function("today", "Now."), function("seen", "-")],
        "on": {"call seen": [{"steps": ["received"]}]}});
    let (old, new) =
        (Remote::start(&plugin, "old", &script), Remote::start(&plugin, "new", &script));
    point(&plugin, &old.url);
    house.install(&plugin).await;
    let node = house.node("node-1", every_call()).await;
    let caller = Caller::of(&node).await;
    assert_eq!(caller.refusal("wx__today").await, None);

    point(&plugin, &new.url);
    house.install(&plugin).await;
    eventually("it is refused", async || caller.refusal("wx__today").await.is_some()).await;
    eventually("the new endpoint is listed", async || {
        let changes = house.changes("weather").await;
        changes.iter().any(|change| !change.functions.is_empty())
    })
    .await;
    let text = caller.refusal("wx__today").await.unwrap();
    assert!(
        text.starts_with("wx.today has moved to another endpoint than the approved one"),
        "{text}"
    );
    assert!(!text.contains("127.0.0.1"), "{text}");
    assert!(caller.names().await.is_empty());

    house.approve("weather").await;
    eventually("it is called", async || caller.refusal("wx__today").await.is_none()).await;
    let seen: Value =
        serde_json::from_str(&caller.call("wx__seen", r#"{"x":1}"#).await.text()).unwrap();
    let headers: Vec<bool> = seen
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["headers"].to_string().to_lowercase().contains("x-client"))
        .collect();
    // Without the header before the approval, and with it from then on.
    assert!(!headers[0] && *headers.last().unwrap(), "{headers:?}");
    node.shutdown().await;
}
