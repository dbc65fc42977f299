//! An edge, a node, plugins made of scripted servers, and MCP clients.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use oz0_api::approval::Approval;
use oz0_api::audit::{AuditEntry, AuditQuery};
use oz0_api::call::{Ask, Call};
use oz0_api::change::{Approve, Approved, Change};
use oz0_api::memory::pipe;
use oz0_api::policy::{Action, Rule, SetRule, TenantRule};
use oz0_api::token::{CreateToken, TokenKind};
use oz0_api::{Client as Edge, PluginName, TokenId};
use oz0_mcp::server::{Principal, Server, ServerOptions};
use oz0_mcp::{
    CallError, Client, ClientOptions, EraChoice, Event as Told, Events, Fault, RpcError,
};
use oz0_node::{DevFolder, Event, Node, NodeOptions, Parts, Tell, VerifyEvery};
use oz0_server::{Environments, Launcher, TierChoice};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// The program that becomes the sandbox.
pub(crate) fn program() -> PathBuf {
    env!("CARGO_BIN_EXE_oz0-embedded").into()
}

/// An edge, and nodes of it.
pub(crate) struct House {
    pub(crate) folder: TempDir,
    pub(crate) admin: Edge,
    edge: oz0_edge::Edge,
    anyone: Edge,
    pub(crate) events: Arc<Mutex<Vec<Event>>>,
    keeping: Vec<JoinHandle<()>>,
    serving: Mutex<Option<tokio::runtime::Runtime>>,
}

/// Lists before every call: what a call meets is what the server says now.
pub(crate) fn every_call() -> NodeOptions {
    NodeOptions { verify_every: VerifyEvery::all(Duration::ZERO), ..NodeOptions::default() }
}

impl House {
    pub(crate) async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let edge = oz0_edge::Edge::open(&oz0_edge::Options::new(folder.path().join("data")))
            .await
            .unwrap();
        let (connector, listener) = pipe();
        // In a runtime of its own, which can be taken away with every connection that is open.
        let serving = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        serving.spawn({
            let edge = edge.clone();
            async move { edge.serve_memory(listener, std::future::pending()).await }
        });
        let anyone = Edge::memory(connector);
        let secret = fs::read_to_string(edge.admin_token_file()).unwrap();
        Self {
            admin: anyone.with_token(&secret),
            folder,
            edge,
            anyone,
            events: Arc::default(),
            keeping: Vec::new(),
            serving: Mutex::new(Some(serving)),
        }
    }

    /// A node of this name.
    pub(crate) async fn node(&self, name: &str, options: NodeOptions) -> Node {
        let create =
            CreateToken { kind: TokenKind::Node, name: name.parse().unwrap(), may_approve: false };
        let token = self.edge.reissue_token(&create).await.unwrap();
        let cache = self.folder.path().join("cache");
        let events = Arc::clone(&self.events);
        let tell = Tell::new(move |event| {
            events.lock().unwrap().push(event);
        });
        let parts = Parts {
            edge: self.anyone.with_token(&token.secret),
            launcher: Launcher::new(program(), &cache, TierChoice::Best).unwrap(),
            environments: Environments::new(program(), &cache, Arc::new(|_| {})),
        };
        Node::start(parts, NodeOptions { tell, ..options })
    }

    /// Installs a plugin's folder.
    pub(crate) async fn install(&self, plugin: &Plugin) {
        let description = DevFolder::new(&plugin.root).unwrap().describe().unwrap();
        self.admin.install(&description).await.unwrap();
    }

    /// Installs a plugin's folder and follows its files.
    pub(crate) async fn keep(&mut self, plugin: &Plugin) {
        let folder = DevFolder::new(&plugin.root).unwrap();
        let description = folder.describe().unwrap();
        self.admin.install(&description).await.unwrap();
        let task = folder.keep(self.admin.clone(), description, |_| {});
        self.keeping.push(tokio::spawn(task));
    }

    /// From now on the edge answers nobody, and what it was answering breaks off.
    pub(crate) fn lose_edge(&self) {
        if let Some(serving) = self.serving.lock().unwrap().take() {
            serving.shutdown_background();
        }
    }

    pub(crate) async fn changes(&self, plugin: &str) -> Vec<Change> {
        self.admin.changes(&plugin.parse().unwrap()).await.unwrap().changes
    }

    /// Waits until so many changes wait.
    pub(crate) async fn wait_for_changes(&self, plugin: &str, count: usize) -> Vec<Change> {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let changes = self.changes(plugin).await;
            if changes.len() == count {
                return changes;
            }
            assert!(Instant::now() < until, "{count} changes were expected: {changes:#?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Sets a rule of the tenant, and waits until the node goes by it.
    pub(crate) async fn rule(&self, node: &Node, matches: &str, action: Action) -> TenantRule {
        self.rule_when(node, matches, action, json!({})).await
    }

    pub(crate) async fn rule_when(
        &self,
        node: &Node,
        matches: &str,
        action: Action,
        when: Value,
    ) -> TenantRule {
        let rule = Rule {
            matches: matches.parse().unwrap(),
            action,
            reason: Some("as it was\u{200B} said".to_owned()),
            when: serde_json::from_value(when).unwrap(),
        };
        let set = self.admin.set_rule(&SetRule { rule, before: None }).await.unwrap();
        eventually("the node has the rule", async || node.has_rule(&set.rule.id)).await;
        set.rule
    }

    /// Takes a rule away, and waits until the node does without.
    pub(crate) async fn unset(&self, node: &Node, rule: &TenantRule) {
        self.admin.unset_rule(&rule.id).await.unwrap();
        eventually("the node has no such rule", async || !node.has_rule(&rule.id)).await;
    }

    /// Waits until so many calls wait for a person.
    pub(crate) async fn waiting(&self, count: usize) -> Vec<Approval> {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let waiting = self.admin.approvals().await.unwrap().approvals;
            if waiting.len() == count {
                return waiting;
            }
            assert!(Instant::now() < until, "{count} were to wait: {waiting:#?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// A client's token, and its ID.
    pub(crate) async fn client(&self, name: &str, may_approve: bool) -> (String, TokenId) {
        let create =
            CreateToken { kind: TokenKind::Client, name: name.parse().unwrap(), may_approve };
        let created = self.admin.create_token(&create).await.unwrap();
        (created.secret, created.token.id)
    }

    /// Approves everything that waits.
    pub(crate) async fn approve(&self, plugin: &str) -> Approved {
        let name: PluginName = plugin.parse().unwrap();
        let changes = self.changes(plugin).await.into_iter().map(|change| change.id).collect();
        self.admin.approve(&name, &Approve { changes }).await.unwrap()
    }

    pub(crate) async fn ask(&self, function: &str, arguments: &str) -> Call {
        let ask = Ask {
            function: function.parse().unwrap(),
            arguments: raw(arguments),
            timeout_ms: Some(20_000),
            node: None,
        };
        self.admin.call(&ask).await.unwrap()
    }

    /// The audit log's entries of this action.
    pub(crate) async fn audit(&self, action: &str) -> Vec<AuditEntry> {
        let query = AuditQuery { limit: Some(1000), ..AuditQuery::default() };
        self.admin
            .audit(&query)
            .await
            .unwrap()
            .entries
            .into_iter()
            .filter(|entry| entry.action == action)
            .collect()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.lose_edge();
        for task in &self.keeping {
            task.abort();
        }
    }
}

pub(crate) fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

/// A plugin's folder. Its servers are scripted; what `NAME.txt` says, a function a line, they list anew each time, and
/// it is no part of the plugin: so a change of it is one that nobody is told of.
pub(crate) struct Plugin {
    pub(crate) root: PathBuf,
}

impl Plugin {
    /// A plugin with one tool of its own name.
    pub(crate) fn of_functions(house: &House, name: &str, functions: &[&str]) -> Self {
        let plugin = Self::new(house, name, &[(name, json!({}))], "");
        plugin.list(name, functions);
        plugin
    }

    /// A plugin with these tools' scripts, and more text in its manifest.
    pub(crate) fn new(house: &House, name: &str, tools: &[(&str, Value)], more: &str) -> Self {
        let root = house.folder.path().join("plugins").join(name);
        fs::create_dir_all(&root).unwrap();
        let plugin = Self { root };
        let actor = plugin.root.join("oz0-actor");
        if fs::hard_link(oz0_actor::binary(), &actor).is_err() {
            fs::copy(oz0_actor::binary(), &actor).unwrap();
        }
        let mut manifest = format!(
            "name: {name}\nversion: 1.0.0\nkind: capability\ndescription: A test.\nlicense: MIT\ntools:\n"
        );
        for (tool, script) in tools {
            manifest.extend([
                "  ",
                tool,
                ":\n    mcp: {command: [./oz0-actor, ",
                tool,
                ".json]}\n",
            ]);
            plugin.script(tool, script.clone());
            plugin.list(tool, &[]);
        }
        plugin.write("oz0-plugin.yaml", &(manifest + more));
        plugin.write(".oz0ignore", "oz0-actor\n*.txt\n");
        plugin
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        // As editors do: a reader sees the one or the other.
        let new = self.root.join(".new.txt");
        fs::write(&new, text).unwrap();
        fs::rename(new, self.root.join(path)).unwrap();
    }

    /// What the tool's server does.
    pub(crate) fn script(&self, tool: &str, mut script: Value) {
        if script.get("functions").is_none() {
            script["functions_file"] = json!(format!("{tool}.txt"));
        }
        self.write(&format!("{tool}.json"), &script.to_string());
    }

    /// What the tool's server lists from now on.
    pub(crate) fn list(&self, tool: &str, functions: &[&str]) {
        let text: String = functions.iter().flat_map(|function| [*function, "\n"]).collect();
        self.write(&format!("{tool}.txt"), &text);
    }
}

/// A function's text.
pub(crate) fn function(name: &str, description: &str) -> String {
    format!(
        r#"{{"name":"{name}","description":"{description}","annotations":{{"readOnlyHint":true}},"inputSchema":{{"type":"object","properties":{{"x":{{"type":"integer"}}}}}}}}"#
    )
}

/// A function's text that says nothing of what it does.
pub(crate) fn silent(name: &str) -> String {
    format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#)
}

/// A function's text with these annotations.
pub(crate) fn annotated(name: &str, annotations: &Value) -> String {
    json!({"name": name, "annotations": annotations, "inputSchema": {"type": "object"}}).to_string()
}

/// An MCP client of a node's gateway.
pub(crate) struct Caller {
    pub(crate) client: Client,
}

/// What came of a call.
#[derive(Debug, Clone)]
pub(crate) enum Called {
    Result(Box<RawValue>),
    Error(RpcError),
}

impl Caller {
    pub(crate) async fn of(node: &Node) -> Self {
        Self::in_era(node, EraChoice::Legacy).await
    }

    pub(crate) async fn in_era(node: &Node, era: EraChoice) -> Self {
        Self::with(node, ClientOptions { era, ..ClientOptions::default() }).await
    }

    pub(crate) async fn with(node: &Node, options: ClientOptions) -> Self {
        Self::known(node, options, Principal::local()).await
    }

    /// A client that showed a token.
    pub(crate) async fn with_token(node: &Node, options: ClientOptions, token: &str) -> Self {
        let gateway = node.gateway();
        let principal = oz0_mcp::server::Gateway::authenticate(&*gateway, Some(token)).await;
        Self::known(node, options, principal.unwrap()).await
    }

    async fn known(node: &Node, options: ClientOptions, principal: Principal) -> Self {
        let server = Server::new(node.gateway(), ServerOptions::new("oz0", "test"));
        let (here, there) = tokio::io::duplex(1 << 20);
        tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(there);
            server.stdio(principal, reader, writer).await
        });
        let (reader, writer) = tokio::io::split(here);
        let client = Client::stdio(reader, writer, &options).await.unwrap();
        Self { client }
    }

    /// The listed names.
    pub(crate) async fn names(&self) -> Vec<String> {
        let listed = self.client.list_functions().await.unwrap();
        listed
            .functions
            .iter()
            .map(|function| {
                let value: Value = serde_json::from_str(function.get()).unwrap();
                value["name"].as_str().unwrap().to_owned()
            })
            .collect()
    }

    pub(crate) async fn call(&self, name: &str, arguments: &str) -> Called {
        self.call_with(&format!(r#"{{"name":"{name}","arguments":{arguments}}}"#)).await
    }

    pub(crate) async fn call_with(&self, params: &str) -> Called {
        match self.client.request("tools/call", &raw(params)).await {
            Ok(result) => Called::Result(result),
            Err(CallError { fault: Fault::Answered(error), .. }) => Called::Error(error),
            Err(error) => panic!("{error}"),
        }
    }

    /// Calls with `{"x": 1}`; the text of the refusal, or nothing where it went through to the server's echo.
    pub(crate) async fn refusal(&self, name: &str) -> Option<String> {
        match self.call(name, r#"{"x": 1}"#).await {
            Called::Result(result) => {
                let value: Value = serde_json::from_str(result.get()).unwrap();
                if value["isError"] == json!(true) {
                    return Some(value["content"][0]["text"].as_str().unwrap().to_owned());
                }
                let echoed = value["structuredContent"].to_string();
                assert!(echoed.contains(r#""x""#), "{echoed} is no echo of the call");
                None
            }
            Called::Error(error) => Some(format!("{}: {}", error.code, error.message)),
        }
    }
}

impl Called {
    /// What it says: a result's first text, an error's message.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Result(result) => {
                let value: Value = serde_json::from_str(result.get()).unwrap();
                value["content"][0]["text"].as_str().unwrap_or_default().to_owned()
            }
            Self::Error(error) => error.message.clone(),
        }
    }

    pub(crate) fn raw(&self) -> &str {
        match self {
            Self::Result(result) => result.get(),
            Self::Error(error) => panic!("{error}"),
        }
    }
}

/// The parameters of a call that tells of progress.
pub(crate) fn with_progress(name: &str, token: u32) -> String {
    format!(r#"{{"name":"{name}","arguments":{{}},"_meta":{{"progressToken":{token}}}}}"#)
}

/// Waits until so many calls have told of progress: their server works on them.
pub(crate) async fn under_way(events: &mut Events, calls: usize) {
    let mut seen = 0;
    while seen < calls {
        let event = tokio::time::timeout(Duration::from_secs(20), events.next()).await;
        if let Some(Told::Notification(told)) = event.expect("progress is told")
            && told.method == "notifications/progress"
        {
            seen += 1;
        }
    }
}

/// The refusal of a changed function, as the documentation has it.
pub(crate) fn changed(function: &str, plugin: &str) -> String {
    format!(
        "{function} lists itself differently than when its plugin's tools were approved, so it is not called; check \
         the\nchange and approve it with: oz0 plugin approve-tools {plugin}"
    )
}

/// Waits until it holds.
pub(crate) async fn eventually<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let until = Instant::now() + Duration::from_secs(20);
    while !holds().await {
        assert!(Instant::now() < until, "it never came to be: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
