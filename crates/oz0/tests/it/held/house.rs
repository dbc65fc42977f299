//! A data folder, plugins made of scripted servers, and MCP clients of `oz0 up` and `oz0 mcp`.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use oz0_api::Client as Edge;
use oz0_api::audit::AuditEntry;
use oz0_api::change::Change;
use oz0_mcp::{CallError, Client, ClientOptions, Endpoint, EraChoice, Fault, Limits, Timeouts};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::support::{Said, audit_log, oz0, run};

/// How long anything may take before a test says that it does not happen.
const PATIENCE: Duration = Duration::from_mins(1);

/// A data folder with everything of one test beside it.
pub(crate) struct House {
    folder: TempDir,
    /// What the command line of each of its servers holds, and no other process's.
    mark: String,
}

impl House {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mark = format!("held-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self { folder: TempDir::new().expect("a folder"), mark }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// `oz0` in this house.
    fn oz0(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = oz0(arguments);
        command
            .env("OZ0_DATA", self.data())
            .env("XDG_CONFIG_HOME", self.folder.path().join("config"))
            .env("HOME", self.folder.path())
            .env_remove("OZ0_EDGE")
            .env_remove("OZ0_TOKEN");
        command
    }

    /// Runs a command of the operator's.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Said {
        let mut command = self.oz0(arguments);
        tokio::task::spawn_blocking(move || run(&mut command)).await.expect("it runs")
    }

    /// `oz0 mcp` with a client of its own.
    pub(crate) async fn mcp(&self, plugin: &Plugin, flags: &[&str]) -> Session {
        self.mcp_in(plugin, flags, EraChoice::Legacy).await
    }

    pub(crate) async fn mcp_in(&self, plugin: &Plugin, flags: &[&str], era: EraChoice) -> Session {
        let mut command = self.oz0(&["mcp"]);
        command.arg(&plugin.root).args(flags);
        let mut running = Running::start(command, Stdio::piped());
        let stdin = running.child.stdin.take().expect("it is piped");
        let stdout = running.child.stdout.take().expect("it is piped");
        let client = Client::stdio(stdout, stdin, &options(era)).await;
        let client = client.unwrap_or_else(|error| panic!("{error}\n{}", running.said()));
        Session { client, running }
    }

    /// Starts `oz0 mcp` with a client that calls `team.hello` at once and again and again, and kills it at a point.
    pub(crate) async fn kill_mcp_at(&self, plugin: &Plugin, flags: &[&str], point: Point) {
        let mut command = self.oz0(&["mcp"]);
        command.arg(&plugin.root).args(flags);
        let mut running = Running::start(command, Stdio::piped());
        let killer = Killer::start(self, running.child.id().expect("it runs"), point);
        let stdin = running.child.stdin.take().expect("it is piped");
        let stdout = running.child.stdout.take().expect("it is piped");
        if let Ok(client) = Client::stdio(stdout, stdin, &options(EraChoice::Legacy)).await {
            while let Ok(called) = call(&client, "team__hello").await {
                assert_eq!(called.err(), None, "what is not there yet is waited for");
                killer.is_due();
            }
        }
        killer.done().await;
    }

    /// How long the store's log is.
    pub(crate) fn log_length(&self) -> u64 {
        fs::metadata(self.data().join("edge.db-wal")).map_or(0, |file| file.len())
    }

    /// `oz0 up` with a client of its own.
    pub(crate) async fn up(&self, plugins: &[&Plugin], flags: &[&str]) -> Session {
        self.up_in(plugins, flags, EraChoice::Modern).await
    }

    pub(crate) async fn up_in(
        &self,
        plugins: &[&Plugin],
        flags: &[&str],
        era: EraChoice,
    ) -> Session {
        let address = "127.0.0.1:0";
        let mut command = self.oz0(&["up", "--json", "--listen", address, "--mcp-listen", address]);
        command.args(plugins.iter().map(|plugin| &plugin.root)).args(flags);
        let mut running = Running::start(command, Stdio::null());
        let stdout = running.child.stdout.take().expect("it is piped");
        let mut lines = BufReader::new(stdout).lines();
        let line = lines.next_line().await.expect("it can be read");
        let line = line.unwrap_or_else(|| panic!("it says where it is\n{}", running.said()));
        let first: Value = serde_json::from_str(&line).expect("the first line is JSON");
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let url = first["mcp"].as_str().expect("a URL");
        let endpoint = Endpoint::new(url).expect("an endpoint");
        let client = Client::http(&endpoint, &options(era)).await;
        let client = client.unwrap_or_else(|error| panic!("{error}\n{}", running.said()));
        Session { client, running }
    }

    /// The edge as its administrator, while somebody is the edge.
    pub(crate) fn admin(&self) -> Edge {
        let data = self.data();
        let token = fs::read_to_string(data.join("admin.token")).expect("there is a token");
        Edge::unix(&data.join("oz0.sock")).with_token(token.trim())
    }

    pub(crate) async fn changes(&self, plugin: &str) -> Vec<Change> {
        let name = plugin.parse().expect("a name");
        self.admin().changes(&name).await.expect("the edge answers").changes
    }

    pub(crate) async fn wait_for_changes(&self, plugin: &str, count: usize) -> Vec<Change> {
        let until = Instant::now() + PATIENCE;
        loop {
            let changes = self.changes(plugin).await;
            if changes.len() == count {
                return changes;
            }
            assert!(Instant::now() < until, "{count} changes were expected: {changes:#?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Approves with the command exactly what waits now.
    pub(crate) async fn approve(&self, plugin: &str) {
        let changes = self.changes(plugin).await;
        let ids: Vec<String> = changes.iter().map(|change| change.id.to_string()).collect();
        let mut arguments = vec!["plugin", "approve-tools", plugin, "--yes"];
        for id in &ids {
            arguments.extend(["--change", id]);
        }
        let said = self.run(&arguments).await;
        assert_eq!(said.code, Some(0), "{}", said.all());
    }

    /// The whole audit log.
    pub(crate) async fn log(&self) -> Vec<AuditEntry> {
        audit_log(&self.admin()).await
    }

    /// The entries of this action.
    pub(crate) async fn audit(&self, action: &str) -> Vec<AuditEntry> {
        let mut entries = self.log().await;
        entries.retain(|entry| entry.action == action);
        entries
    }

    /// Its servers that run, whoever started them.
    pub(crate) fn servers(&self) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").expect("/proc is there").flatten() {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            if line.contains(&self.mark) {
                found.push(line);
            }
        }
        found
    }

    /// Waits until none of its servers is left.
    pub(crate) async fn is_empty(&self) {
        eventually(&format!("no server is left of {}", self.mark), async || {
            self.servers().is_empty()
        })
        .await;
    }
}

fn options(era: EraChoice) -> ClientOptions {
    let timeouts =
        Timeouts { connect: PATIENCE, call: PATIENCE, listing: PATIENCE, ..Timeouts::default() };
    ClientOptions { era, timeouts, limits: Limits::default(), ..ClientOptions::default() }
}

/// A running `oz0`.
struct Running {
    child: Child,
    stderr: Arc<Mutex<String>>,
}

impl Running {
    fn start(command: std::process::Command, stdin: Stdio) -> Self {
        let mut command = Command::from(command);
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().expect("oz0 starts");
        let stderr = Arc::new(Mutex::new(String::new()));
        let mut said = child.stderr.take().expect("it is piped");
        let heard = Arc::clone(&stderr);
        tokio::spawn(async move {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = said.read(&mut bytes).await {
                let text = String::from_utf8_lossy(&bytes[..read]);
                heard.lock().expect("nobody panicked").push_str(&text);
            }
        });
        Self { child, stderr }
    }

    fn said(&self) -> String {
        self.stderr.lock().expect("nobody panicked").clone()
    }
}

/// A running `oz0` and an MCP client of it.
pub(crate) struct Session {
    pub(crate) client: Client,
    running: Running,
}

impl Session {
    /// What it said on standard error until now.
    pub(crate) fn said(&self) -> String {
        self.running.said()
    }

    /// The listed names.
    pub(crate) async fn names(&self) -> Vec<String> {
        let name = |function: &String| {
            let value: Value = serde_json::from_str(function).expect("a function is JSON");
            value["name"].as_str().expect("it has a name").to_owned()
        };
        self.listing().await.iter().map(name).collect()
    }

    /// The listed functions, as they came.
    pub(crate) async fn listing(&self) -> Vec<String> {
        let listed = self.client.list_functions().await;
        let listed = listed.unwrap_or_else(|error| panic!("{error}\n{}", self.said()));
        listed.functions.iter().map(|function| function.get().to_owned()).collect()
    }

    /// Calls with `{"x": 1}`: what the server answered, or the text of the refusal.
    pub(crate) async fn call(&self, name: &str) -> Result<Value, String> {
        let called = call(&self.client, name).await;
        called.unwrap_or_else(|error| panic!("{error}\n{}", self.said()))
    }

    /// The text of the refusal; nothing where the call went through.
    pub(crate) async fn refusal(&self, name: &str) -> Option<String> {
        self.call(name).await.err()
    }

    /// Ends it in order.
    pub(crate) async fn end(mut self) {
        self.client.clone().close().await;
        let id = self.running.child.id().expect("it runs").to_string();
        let _ = Command::new("kill").args(["-TERM", &id]).status().await;
        let ended = tokio::time::timeout(PATIENCE, self.running.child.wait()).await;
        let status = ended.expect("it ends").expect("it can be waited for");
        assert!(status.success(), "{status}\n{}", self.said());
    }

    /// What kills it at a point.
    pub(crate) fn killer(&self, house: &House, point: Point) -> Killer {
        Killer::start(house, self.running.child.id().expect("it runs"), point)
    }

    /// Kills it, as `kill -9` does.
    pub(crate) async fn kill(mut self) {
        self.running.child.kill().await.expect("it can be killed");
    }
}

/// When to kill.
#[derive(Debug, Clone)]
pub(crate) enum Point {
    /// When this is in the data folder.
    File(&'static str),
    /// When the store's log is so long.
    Log(u64),
    /// After so long.
    After(Duration),
    /// When everything is over.
    Last,
}

/// How long after it was due a point is waited for: not every run comes as far as the first.
const LATE: Duration = Duration::from_millis(500);

/// Kills a process when a point is reached, from a thread that does nothing else.
pub(crate) struct Killer {
    due: Arc<OnceLock<Instant>>,
    thread: thread::JoinHandle<()>,
}

impl Killer {
    fn start(house: &House, process: u32, point: Point) -> Self {
        let (data, due) = (house.data(), Arc::new(OnceLock::new()));
        let began = Instant::now();
        let is_there = move || match point {
            Point::File(name) => data.join(name).exists(),
            Point::Log(length) => {
                fs::metadata(data.join("edge.db-wal")).is_ok_and(|file| file.len() >= length)
            }
            Point::After(time) => began.elapsed() >= time,
            Point::Last => false,
        };
        let process = i32::try_from(process).ok().and_then(Pid::from_raw).expect("a process");
        let since = Arc::clone(&due);
        let thread = thread::spawn(move || {
            let until = Instant::now() + PATIENCE;
            while !is_there() {
                let due: Option<&Instant> = since.get();
                if due.is_some_and(|due| due.elapsed() > LATE) {
                    break;
                }
                assert!(Instant::now() < until, "the point is never reached");
                thread::sleep(Duration::from_micros(50));
            }
            kill_process(process, Signal::KILL).expect("it can be killed");
        });
        Self { due, thread }
    }

    /// The point should have been reached by now.
    pub(crate) fn is_due(&self) {
        self.due.get_or_init(Instant::now);
    }

    /// Waits until it has killed.
    pub(crate) async fn done(self) {
        let joined = tokio::task::spawn_blocking(move || self.thread.join()).await;
        assert!(joined.is_ok_and(|joined| joined.is_ok()), "it killed");
    }
}

/// Calls a function; the outer error is a connection that is over.
pub(crate) async fn call(client: &Client, name: &str) -> Result<Result<Value, String>, CallError> {
    let name = Value::from(name);
    let params = RawValue::from_string(format!(r#"{{"name":{name},"arguments":{{"x": 1}}}}"#))
        .expect("it is JSON");
    match client.request("tools/call", &params).await {
        Ok(result) => {
            let value: Value = serde_json::from_str(result.get()).expect("a result is JSON");
            if value["isError"] == json!(true) {
                return Ok(Err(value["content"][0]["text"].as_str().expect("a text").to_owned()));
            }
            Ok(Ok(value))
        }
        Err(CallError { fault: Fault::Answered(error), .. }) => {
            Ok(Err(format!("{}: {}", error.code, error.message)))
        }
        Err(error) => Err(error),
    }
}

/// A plugin's folder. Its servers are scripted; what `TOOL.txt` says, a function a line, they list anew each time, and it
/// is no part of the plugin: so a change of it is one that nobody is told of.
pub(crate) struct Plugin {
    pub(crate) root: PathBuf,
    mark: String,
}

impl Plugin {
    /// A plugin with one tool of its own name.
    pub(crate) fn of_functions(house: &House, name: &str, functions: &[&str]) -> Self {
        let plugin = Self::new(house, name, &[(name, json!({}))]);
        plugin.list(name, functions);
        plugin
    }

    /// One that is there.
    pub(crate) fn again(house: &House, name: &str) -> Self {
        Self { root: house.folder.path().join("plugins").join(name), mark: house.mark.clone() }
    }

    /// A plugin with these tools' scripts.
    pub(crate) fn new(house: &House, name: &str, tools: &[(&str, Value)]) -> Self {
        let root = house.folder.path().join("plugins").join(name);
        fs::create_dir_all(&root).expect("a folder");
        let plugin = Self { root, mark: house.mark.clone() };
        let actor = plugin.root.join("oz0-actor");
        if fs::hard_link(oz0_actor::binary(), &actor).is_err() {
            fs::copy(oz0_actor::binary(), &actor).expect("the server can be copied");
        }
        let mut manifest = format!(
            "name: {name}\nversion: 1.0.0\nkind: capability\ndescription: A test.\nlicense: MIT\ntools:\n"
        );
        for (tool, script) in tools {
            let file = plugin.script_file(tool);
            manifest.extend(["  ", tool, ":\n    mcp: {command: [./oz0-actor, ", &file, "]}\n"]);
            plugin.script(tool, script.clone());
            plugin.list(tool, &[]);
        }
        plugin.write("oz0-plugin.yaml", &manifest);
        plugin.write(".oz0ignore", "oz0-actor\n*.txt\n");
        plugin
    }

    fn script_file(&self, tool: &str) -> String {
        format!("{}-{tool}.json", self.mark)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        // As editors do: a reader sees the one or the other.
        let new = self.root.join(".new.txt");
        fs::write(&new, text).expect("it can be written");
        fs::rename(new, self.root.join(path)).expect("it can be renamed");
    }

    /// What the tool's server does. A change of it starts the server anew.
    pub(crate) fn script(&self, tool: &str, mut script: Value) {
        if script.get("functions").is_none() {
            script["functions_file"] = json!(format!("{tool}.txt"));
        }
        self.write(&self.script_file(tool), &script.to_string());
    }

    /// What the tool's server lists from now on.
    pub(crate) fn list(&self, tool: &str, functions: &[&str]) {
        let text: String = functions.iter().flat_map(|function| [*function, "\n"]).collect();
        self.write(&format!("{tool}.txt"), &text);
    }
}

/// A function's text.
pub(crate) fn function(name: &str, description: &str) -> String {
    json!({"name": name, "description": description,
        "annotations": {"readOnlyHint": true},
        "inputSchema": {"type": "object", "properties": {"x": {"type": "integer"}}}})
    .to_string()
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
    let until = Instant::now() + PATIENCE;
    while !holds().await {
        assert!(Instant::now() < until, "it never came to be: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
