//! Remote servers: listed over HTTP, pinned at their origin, refused like any other.

mod age;
mod hostile;
mod sdks;

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use oz0_mcp::{Client, ClientOptions, Endpoint, EraChoice};
use serde_json::{Value, json};

use crate::house::{Caller, House, Plugin, changed, eventually, every_call, function, raw};

/// A server over HTTP on this machine.
struct Remote {
    child: Child,
    url: String,
}

impl Remote {
    /// A scripted one.
    fn start(plugin: &Plugin, name: &str, script: &Value) -> Self {
        let mut script = Self::script(plugin, name, script);
        Self::listening(script.args(["--http", "127.0.0.1:0"]))
    }

    fn script(plugin: &Plugin, name: &str, script: &Value) -> Command {
        let file = format!("{name}.remote.txt");
        plugin.write(&file, &script.to_string());
        let mut command = Command::new(oz0_actor::binary());
        command.arg(plugin.root.join(file)).current_dir(&plugin.root);
        command
    }

    /// One whose first line says where it listens.
    fn listening(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening ").expect("it says where").to_owned();
        spawn(move || stdout.read_to_end(&mut Vec::new()));
        Self { child, url }
    }

    /// One that has to be told a port, and listens there when it can be connected to.
    fn at(port: u16, command: &mut Command) -> Option<Self> {
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut remote = Self { child, url: format!("http://127.0.0.1:{port}/mcp") };
        let until = Instant::now() + Duration::from_mins(1);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if remote.child.try_wait().unwrap().is_some() {
                return None;
            }
            assert!(Instant::now() < until, "nobody listens at {}", remote.url);
            sleep(Duration::from_millis(20));
        }
        // Whoever took the port in between is not it.
        remote.child.try_wait().unwrap().is_none().then_some(remote)
    }

    fn port(&self) -> &str {
        self.url.rsplit_once(':').unwrap().1.strip_suffix("/mcp").unwrap()
    }

    /// A connection of the test's own.
    async fn client(&self, era: EraChoice) -> Client {
        let options = ClientOptions { era, ..ClientOptions::default() };
        Client::http(&Endpoint::new(&self.url).unwrap(), &options).await.unwrap()
    }

    /// Everything that a scripted one received, until a connection of the test's own asked.
    async fn received(&self) -> Vec<Value> {
        let client = self.client(EraChoice::Probe).await;
        let params = raw(r#"{"name":"received","arguments":{}}"#);
        let result = client.request("tools/call", &params).await.unwrap();
        let result: Value = serde_json::from_str(result.get()).unwrap();
        let text = result["content"][0]["text"].as_str().unwrap();
        let mut entries: Vec<Value> = serde_json::from_str(text).unwrap();
        for entry in &mut entries {
            let body = entry["body"].as_str().unwrap_or_default();
            entry["body"] = serde_json::from_str(body).unwrap_or_default();
        }
        entries
    }
}

/// A port that nobody listens at just now.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the edge was told of why a tool is not listed.
async fn failure(house: &House, tool: &str) -> String {
    let weather = house.admin.plugin(&"weather".parse().unwrap()).await.unwrap();
    let status = weather.tools.iter().find(|status| status.tool.as_ref() == tool).unwrap();
    status.nodes.iter().find_map(|node| node.failure.clone()).unwrap_or_default()
}

/// A scripted server that says what it received, whatever else it does.
fn telling(mut script: Value) -> Value {
    script["on"]["call received"] = json!([{"steps": ["received"]}]);
    script
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

#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_that_was_edited_sends_nothing_to_where_it_goes_now() {
    let house = House::new().await;
    let plugin = Plugin::new(&house, "weather", &[], "");
    let script = telling(json!({"functions": [function("today", "Now.")]}));
    let (old, new) =
        (Remote::start(&plugin, "old", &script), Remote::start(&plugin, "new", &script));
    point(&plugin, &old.url);
    house.install(&plugin).await;
    // The edge knows of the old place, and pins are its to give; the folder says another by now.
    point(&plugin, &new.url);
    let node = house.node("node-1", every_call()).await;
    eventually("it is held back", async || {
        failure(&house, "wx").await.contains("its manifest was edited meanwhile")
    })
    .await;
    assert!(Caller::of(&node).await.refusal("wx__today").await.is_some());
    for place in [&old, &new] {
        let received = place.received().await.into_iter();
        let headers: Vec<Value> =
            received.map(|entry| entry["headers"]["x-client"].clone()).collect();
        assert!(headers.iter().all(Value::is_null), "{headers:?}");
    }
    house.install(&plugin).await;
    eventually("the edge was told, and it is listed there", async || {
        new.received().await.iter().any(|entry| entry["body"]["method"] == "tools/list")
    })
    .await;
    node.shutdown().await;
}
