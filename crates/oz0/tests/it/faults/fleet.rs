//! An edge, nodes that joined it, and a plugin whose servers do as they are told.
//!
//! Each node's server lists what stands in a file of that node's name, so that a test decides what each node sees, and
//! when; and it writes down each call that it makes, with what it listed last before it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use oz0_api::audit::AuditEntry;
use oz0_api::call::{Ask, Call};
use oz0_api::change::{Approve, Change};
use oz0_api::policy::{Action, Rule, SetRule, TenantRule};
use oz0_api::{Client as Edge, ClientError};
use oz0_mcp::{BoundHeaders, Client, ClientOptions, Endpoint, HeaderName};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::apart::{Machines, said};
use crate::running::Running;
use crate::support::{audit_log, checkout, write};

/// How long anything here may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Lets the edge choose a port.
pub(crate) const ANYWHERE: &str = "127.0.0.1:0";

/// A node that runs.
pub(crate) struct Member {
    pub(crate) running: Running,
    /// Its MCP endpoint.
    pub(crate) mcp: String,
}

/// A call as its server wrote it down.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct Made {
    pub(crate) arguments: Value,
    pub(crate) listed: Vec<Value>,
}

impl Made {
    /// The number in its arguments, by which this test knows it.
    pub(crate) fn number(&self) -> u64 {
        self.arguments["n"].as_u64().expect("calls of these tests are numbered")
    }

    /// What its function said of itself when it was listed last.
    pub(crate) fn text(&self) -> &str {
        self.listed[0]["description"].as_str().expect("these functions say something")
    }
}

pub(crate) struct Fleet {
    pub(crate) machines: Machines,
    /// Where the edge listens.
    pub(crate) listen: String,
}

impl Fleet {
    /// A running edge, and nothing else yet.
    pub(crate) fn new() -> (Self, Running) {
        Self::with_edge(|_| {})
    }

    pub(crate) fn with_edge(change: impl FnOnce(&mut Command)) -> (Self, Running) {
        let mut fleet = Self { machines: Machines::new(), listen: ANYWHERE.to_owned() };
        fs::create_dir(fleet.lists()).expect("a folder can be made");
        fs::write(fleet.lists().join("calls"), "").expect("a file can be made");
        let (edge, url) = fleet.start_edge(change);
        url.trim_start_matches("http://").clone_into(&mut fleet.listen);
        (fleet, edge)
    }

    /// Starts the edge where it was.
    pub(crate) fn edge(&self) -> Running {
        self.start_edge(|_| {}).0
    }

    pub(crate) fn start_edge(&self, change: impl FnOnce(&mut Command)) -> (Running, String) {
        let mut command = self.machines.oz0("edge", &["edge", "--json", "--listen", &self.listen]);
        change(&mut command);
        let running = Running::start(&mut command);
        let url = said(&running, "edge");
        (running, url)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.listen)
    }

    /// Where its servers read what to list, and write down what they did.
    pub(crate) fn lists(&self) -> PathBuf {
        self.machines.path("lists")
    }

    /// What a node's server lists from now on.
    pub(crate) fn list(&self, node: &str, functions: &[String]) {
        // As editors do: a reader sees the one or the other.
        let new = self.lists().join(".new");
        fs::write(&new, functions.join("\n")).expect("it can be written");
        fs::rename(new, self.lists().join(node)).expect("it can be renamed");
    }

    /// The plugin's folder at a version.
    pub(crate) fn plugin(&self, version: &str) -> PathBuf {
        let lists = self.lists();
        let listed = lists.join("${env:NODE}");
        let calls = lists.join("calls");
        self.plugin_of(
            version,
            &json!({
                "functions_file": listed,
                "on": {"call greet": [{"steps": [{"record": calls}]}]},
            }),
        )
    }

    /// The plugin with this script.
    pub(crate) fn plugin_of(&self, version: &str, script: &Value) -> PathBuf {
        let root = self.machines.path(&format!("team-{version}"));
        let manifest = format!(
            "name: team\nversion: {version}\nkind: capability\ndescription: A test.\nlicense: Apache-2.0\n\
             tools:\n  team:\n    mcp: {{command: [./oz0-actor, team.json]}}\n\
             requires:\n  secrets: [NODE]\n"
        );
        write(&root, "oz0-plugin.yaml", &manifest);
        write(&root, "team.json", &script.to_string());
        for file in ["README.md", "LICENSE"] {
            let from = checkout().join("examples/team").join(file);
            fs::copy(from, root.join(file)).expect("it can be copied");
        }
        fs::copy(oz0_actor::binary(), root.join("oz0-actor")).expect("it can be copied");
        root
    }

    /// Installs the plugin at a version.
    pub(crate) fn install(&self, version: &str) {
        let said = self.machines.install_with(&self.plugin(version), &["--yes"]);
        assert_eq!(said.code, Some(0), "{}", said.all());
    }

    /// The command that runs a node.
    pub(crate) fn node_command(&self, name: &str, flags: &[&str]) -> Command {
        let shared = format!("team={}", self.lists().display());
        let begin = [
            "node",
            "--json",
            "--mcp-listen",
            ANYWHERE,
            "--secret",
            "team=NODE",
            "--share",
            &shared,
        ];
        let mut command = self.machines.oz0(name, &[&begin[..], flags].concat());
        command.env("NODE", name);
        command
    }

    /// Runs a node that lists before every call.
    pub(crate) fn node(&self, name: &str) -> Member {
        self.node_with(name, &[])
    }

    pub(crate) fn node_with(&self, name: &str, flags: &[&str]) -> Member {
        started(&mut self.node_command(name, &[&["--verify-every", "0"], flags].concat()))
    }

    /// The edge, as its administrator.
    pub(crate) fn admin(&self) -> Edge {
        let data = self.machines.path("edge");
        let token = fs::read_to_string(data.join("admin.token")).expect("there is a token");
        Edge::unix(&data.join("oz0.sock")).with_token(token.trim())
    }

    /// Calls `team.greet` through the edge.
    pub(crate) async fn try_call(
        &self,
        node: &str,
        number: u64,
        within: Duration,
    ) -> Result<Call, ClientError> {
        let arguments = json!({ "n": number }).to_string();
        let ask = Ask {
            function: "team.greet".parse().expect("a function"),
            arguments: RawValue::from_string(arguments).expect("JSON"),
            timeout_ms: Some(u64::try_from(within.as_millis()).expect("not long")),
            node: Some(node.parse().expect("a name")),
        };
        self.admin().call(&ask).await
    }

    /// Why `team.greet` is not called on a node; nothing where it is.
    pub(crate) async fn refusal(&self, node: &str) -> Option<String> {
        match self.try_call(node, 0, PATIENCE).await {
            Ok(call) => refused(&call),
            Err(error) => Some(error.to_string()),
        }
    }

    pub(crate) async fn callable(&self, node: &str) {
        let what = format!("{node} answers a call");
        eventually(&what, async || self.refusal(node).await.is_none()).await;
    }

    /// Waits until a call on a node is refused in words that begin so.
    pub(crate) async fn refused(&self, node: &str, begins: &str) {
        let what = format!("{node} refuses a call: {begins}…");
        eventually(&what, async || {
            self.refusal(node).await.is_some_and(|text| text.starts_with(begins))
        })
        .await;
    }

    pub(crate) async fn changes(&self) -> Vec<Change> {
        let name = "team".parse().expect("a name");
        self.admin().changes(&name).await.expect("the edge answers").changes
    }

    /// Waits until so many changes wait.
    pub(crate) async fn waiting(&self, count: usize) -> Vec<Change> {
        let what = format!("{count} changes wait");
        eventually(&what, async || self.changes().await.len() == count).await;
        self.changes().await
    }

    /// Approves these; nothing is approved of one that is not what is listed any more.
    pub(crate) async fn approve(&self, changes: &[Change]) -> Result<(), String> {
        let name = "team".parse().expect("a name");
        let changes = changes.iter().map(|change| change.id.clone()).collect();
        let answer = self.admin().approve(&name, &Approve { changes }).await;
        let approved = answer.map_err(|error| error.to_string())?;
        if approved.stale.is_empty() { Ok(()) } else { Err(format!("{approved:?}")) }
    }

    pub(crate) async fn rule(&self, action: Action) -> Result<TenantRule, ClientError> {
        let rule = Rule {
            matches: "team.greet".parse().expect("a match"),
            action,
            reason: None,
            when: BTreeMap::new(),
        };
        Ok(self.admin().set_rule(&SetRule { rule, before: None }).await?.rule)
    }

    /// The accepted texts of `team.greet`, sorted.
    pub(crate) async fn accepted(&self) -> Vec<String> {
        let catalog = self.admin().catalog().await.expect("the edge answers");
        let catalog = serde_json::to_value(catalog).expect("it is JSON");
        let mut texts: Vec<String> = catalog["functions"]
            .as_array()
            .expect("a list")
            .iter()
            .filter(|function| function["id"] == "team.greet")
            .flat_map(|function| function["accepted"].as_array().expect("a list"))
            .map(|accepted| accepted["served"]["description"].as_str().expect("a text").to_owned())
            .collect();
        texts.sort_unstable();
        texts
    }

    /// The whole audit log; every chain of it holds.
    pub(crate) async fn log(&self) -> Vec<AuditEntry> {
        let admin = self.admin();
        let check = admin.verify_audit().await.expect("the edge answers");
        assert_eq!(check.faults, [], "the audit log's chains");
        audit_log(&admin).await
    }

    /// How many entries of this action there are.
    pub(crate) async fn count(&self, action: &str) -> usize {
        self.log().await.iter().filter(|entry| entry.action == action).count()
    }

    /// What the servers wrote down.
    pub(crate) fn made(&self) -> Vec<Made> {
        let text = fs::read_to_string(self.lists().join("calls")).expect("it is there");
        text.lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect()
    }

    /// A token for MCP clients.
    pub(crate) fn client_token(&self, name: &str) -> String {
        self.machines.done("edge", &["token", "create", "--client", name]).trim().to_owned()
    }

    /// The processes of its servers that run, whoever started them.
    pub(crate) fn servers(&self) -> Vec<u32> {
        let lists = self.lists();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").expect("/proc is there").flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let environ = fs::read(entry.path().join("environ")).unwrap_or_default();
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let is_server = line.starts_with(b"./oz0-actor") || line.ends_with(b"team.json\0");
            let ours = mounts(&entry.path(), &lists);
            if is_server && !environ.is_empty() && ours {
                found.push(pid);
            }
        }
        found
    }

    /// Waits until none of them is left.
    pub(crate) async fn is_empty(&self) {
        eventually("no server is left", async || self.servers().is_empty()).await;
    }
}

/// Whether a process has this folder mounted, as each server of these tests has it.
fn mounts(process: &Path, folder: &Path) -> bool {
    let mounts = fs::read_to_string(process.join("mountinfo")).unwrap_or_default();
    mounts.contains(folder.to_str().expect("a path"))
}

/// A node that was started, and says where it is.
pub(crate) fn started(command: &mut Command) -> Member {
    let running = Running::start(command);
    let mcp = said(&running, "mcp");
    Member { running, mcp }
}

/// Why a call was not made.
pub(crate) fn refused(call: &Call) -> Option<String> {
    if let Some(problem) = &call.problem {
        return Some(problem.message.clone());
    }
    let result = call.result.as_ref().expect("a call ends with something");
    let value: Value = serde_json::from_str(result.get()).expect("JSON");
    let text = value["content"][0]["text"].as_str().unwrap_or_default();
    (value["isError"] == true).then(|| text.to_owned())
}

/// A function that says this of itself, and that its calls change nothing.
pub(crate) fn greet(text: &str) -> String {
    json!({
        "name": "greet", "description": text, "annotations": {"readOnlyHint": true},
        "inputSchema": {"type": "object"},
    })
    .to_string()
}

/// An MCP client of a node.
pub(crate) async fn client(mcp: &str, token: &str) -> Client {
    let endpoint = Endpoint::new(mcp).expect("an endpoint");
    let headers = BoundHeaders::to(endpoint.origin().clone());
    let value = format!("Bearer {token}").parse().expect("a token");
    headers.set(HeaderName::from_static("authorization"), value);
    let endpoint = endpoint.with(headers).expect("they are for it");
    let begun = Instant::now();
    loop {
        match Client::http(&endpoint, &ClientOptions::default()).await {
            Ok(client) => return client,
            Err(error) => assert!(begun.elapsed() < PATIENCE, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until it holds.
pub(crate) async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds().await {
        assert!(Instant::now() < until, "it never came to be: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
