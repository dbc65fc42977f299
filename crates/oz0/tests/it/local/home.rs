//! A home of its own for each test: data folder, plugins of scripted servers, and the processes that run them.

use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use oz0_mcp::{
    BoundHeaders, CallError, Client, ClientOptions, Endpoint, EraChoice, Fault, HeaderName,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Said, oz0, run};

/// How long what must happen may take on a machine that does much else.
const PATIENCE: Duration = Duration::from_mins(1);

/// Waits until it holds.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "it never came to be: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) struct Home {
    pub(crate) folder: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// `oz0` with everything of it in this home.
    pub(crate) fn oz0(&self, arguments: &[&str]) -> Command {
        let mut command = oz0(arguments);
        command
            .env("OZ0_DATA", self.data())
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.folder.path().join("config"));
        for name in ["OZ0_EDGE", "OZ0_TOKEN", "OZ0_LISTEN", "OZ0_MCP_LISTEN", "OZ0_VERIFY_EVERY"] {
            command.env_remove(name);
        }
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        run(&mut self.oz0(arguments))
    }

    /// What a command that must do well prints.
    pub(crate) fn does(&self, arguments: &[&str]) -> String {
        let said = self.run(arguments);
        assert_eq!(said.code, Some(0), "{arguments:?}\n{}", said.all());
        said.stdout
    }

    /// `oz0 up` on ports of its own, which lists before every call.
    pub(crate) fn up(&self, arguments: &[&str], plugins: &[&Plugin]) -> Process {
        let mut command = self.up_command(arguments, plugins);
        let mut up = Process::start(&mut command);
        let line = up.line();
        up.first = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("{error}: {line}\n{}", up.said()));
        up
    }

    pub(crate) fn up_command(&self, arguments: &[&str], plugins: &[&Plugin]) -> Command {
        let mut command = self.oz0(&["up", "--json", "--verify-every", "0"]);
        command.args(["--listen", "127.0.0.1:0", "--mcp-listen", "127.0.0.1:0"]);
        command.args(arguments).args(plugins.iter().map(|plugin| &plugin.root));
        command.stdin(Stdio::null());
        command
    }

    /// `oz0 mcp` with a client of this era at its standard streams.
    pub(crate) async fn mcp(&self, plugin: &Plugin, era: EraChoice) -> (Process, Client) {
        let mut command = self.oz0(&["mcp", "--verify-every", "0"]);
        let mut process = Process::start(command.arg(&plugin.root).stdin(Stdio::piped()));
        let output = process.stdout.take().unwrap().into_inner();
        let input = process.child.stdin.take().unwrap();
        let reader = tokio::net::unix::pipe::Receiver::from_owned_fd(output.into()).unwrap();
        let writer = tokio::net::unix::pipe::Sender::from_owned_fd(input.into()).unwrap();
        let mut options = ClientOptions { era, ..ClientOptions::default() };
        options.timeouts.connect = PATIENCE;
        let client = Client::stdio(reader, writer, &options)
            .await
            .unwrap_or_else(|error| panic!("{error}\n{}", process.said()));
        (process, client)
    }

    /// The data folder's edge answers.
    pub(crate) fn has_edge(&self) -> bool {
        self.run(&["plugin", "list", "--json"]).code == Some(0)
    }

    pub(crate) fn changes(&self, plugin: &str) -> Vec<Value> {
        let text = self.does(&["plugin", "approve-tools", plugin, "--show", "--json"]);
        let value: Value = serde_json::from_str(&text).unwrap();
        value["changes"].as_array().unwrap().clone()
    }

    /// Approves everything that waits in a plugin, once something does.
    pub(crate) fn approve(&self, plugin: &str) {
        let mut changes = Vec::new();
        eventually("a change waits", || {
            changes = self.changes(plugin);
            !changes.is_empty()
        });
        for change in changes {
            let id = change["id"].as_str().unwrap();
            self.does(&["plugin", "approve-tools", plugin, "--yes", "--change", id]);
        }
    }

    /// Processes that have anything of this home in their command line, or were started by `oz0` for it.
    pub(crate) fn processes(&self) -> Vec<String> {
        let mark = self.folder.path().to_string_lossy().into_owned();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let read = |name: &str| {
                let bytes = fs::read(entry.path().join(name)).unwrap_or_default();
                String::from_utf8_lossy(&bytes).replace('\0', " ")
            };
            let line = read("cmdline");
            if line.contains(&mark) || read("environ").contains(&mark) {
                found.push(line);
            }
        }
        found
    }
}

/// A running `oz0`, killed where a test ends before it.
pub(crate) struct Process {
    pub(crate) child: std::process::Child,
    stdout: Option<BufReader<std::process::ChildStdout>>,
    stderr: Arc<Mutex<String>>,
    /// The first line of `oz0 up`.
    pub(crate) first: Value,
}

impl Process {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = Arc::new(Mutex::new(String::new()));
        let mut said = child.stderr.take().unwrap();
        let heard = Arc::clone(&stderr);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = said.read(&mut bytes) {
                heard.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        });
        let stdout = child.stdout.take().map(BufReader::new);
        Self { child, stdout, stderr, first: Value::Null }
    }

    /// The next line of its standard output.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.as_mut().unwrap().read_line(&mut line).unwrap();
        line
    }

    /// The rest of its standard output, to its end.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
        rest
    }

    /// What it said on standard error until now.
    pub(crate) fn said(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }

    /// Waits until it has said this.
    pub(crate) fn says(&self, text: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.said().contains(text) {
            assert!(Instant::now() < until, "`{text}` was expected:\n{}", self.said());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
    }

    /// Its exit code, once it ended by itself.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < until, "it does not end:\n{}", self.said());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends it as a service manager does.
    pub(crate) fn end(&mut self) -> Option<i32> {
        self.signal(Signal::SIGTERM);
        self.ended()
    }

    /// Its death at any point.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn url(&self, name: &str) -> String {
        self.first[name].as_str().unwrap().to_owned()
    }

    /// An MCP client of its endpoint.
    pub(crate) async fn client(&self, era: EraChoice, token: Option<&str>) -> Client {
        self.try_client(era, token).await.unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) async fn try_client(
        &self,
        era: EraChoice,
        token: Option<&str>,
    ) -> Result<Client, oz0_mcp::ConnectError> {
        let endpoint = Endpoint::new(&self.url("mcp")).unwrap();
        let headers = BoundHeaders::to(endpoint.origin().clone());
        if let Some(token) = token {
            let name = HeaderName::from_static("authorization");
            headers.set(name, format!("Bearer {token}").parse().unwrap());
        }
        let endpoint = endpoint.with(headers).unwrap();
        Client::http(&endpoint, &ClientOptions { era, ..ClientOptions::default() }).await
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// A plugin's folder with one tool of its own name. What `functions.txt` says, a function a line, its server lists anew
/// each time, and it is no part of the plugin: so a change of it is one that nobody is told of.
pub(crate) struct Plugin {
    pub(crate) root: PathBuf,
    pub(crate) name: String,
}

impl Plugin {
    pub(crate) fn new(home: &Home, name: &str) -> Self {
        Self::at(&home.folder.path().join("plugins").join(name), name)
    }

    pub(crate) fn at(root: &Path, name: &str) -> Self {
        fs::create_dir_all(root).unwrap();
        let plugin = Self { root: root.to_owned(), name: name.to_owned() };
        let actor = plugin.root.join("oz0-actor");
        if fs::hard_link(oz0_actor::binary(), &actor).is_err() {
            fs::copy(oz0_actor::binary(), &actor).unwrap();
        }
        plugin.write(".oz0ignore", "oz0-actor\n*.txt\n");
        plugin.script(&json!({}));
        plugin.list("Says hello.");
        plugin.write(
            "oz0-plugin.yaml",
            &format!(
                "name: {name}\nversion: 1.0.0\nkind: capability\ndescription: A test.\nlicense: MIT\ntools:\n  \
                 {name}:\n    mcp: {{command: [./oz0-actor, script.json]}}\n"
            ),
        );
        plugin
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        // As editors do: a reader sees the one or the other.
        let new = self.root.join(".new.txt");
        fs::write(&new, text).unwrap();
        fs::rename(new, self.root.join(path)).unwrap();
    }

    /// What its server does.
    pub(crate) fn script(&self, script: &Value) {
        let mut script = script.clone();
        script["functions_file"] = json!("functions.txt");
        self.write("script.json", &script.to_string());
    }

    /// Its one function, `hello`, with this description from now on.
    pub(crate) fn list(&self, description: &str) {
        let function = json!({"name": "hello", "description": description,
            "annotations": {"readOnlyHint": true},
        "inputSchema": {"type": "object", "properties": {"x": {"type": "integer"}}}});
        self.write("functions.txt", &format!("{function}\n"));
    }

    /// The name models know its function by.
    pub(crate) fn hello(&self) -> String {
        format!("{}__hello", self.name)
    }

    /// The refusal, as the documentation has it.
    pub(crate) fn refusal(&self) -> String {
        let name = &self.name;
        format!(
            "{name}.hello lists itself differently than when its plugin's tools were approved, so it is not called; \
             check the\nchange and approve it with: oz0 plugin approve-tools {name}"
        )
    }
}

/// What came of a call of a plugin's function: nothing where its server echoed it, else the refusal or error.
pub(crate) async fn refused(client: &Client, plugin: &Plugin) -> Option<String> {
    let params = format!(r#"{{"name":"{}","arguments":{{"x":1}}}}"#, plugin.hello());
    let params = RawValue::from_string(params).unwrap();
    match client.request("tools/call", &params).await {
        Ok(result) => {
            let value: Value = serde_json::from_str(result.get()).unwrap();
            if value["isError"] == json!(true) {
                return Some(value["content"][0]["text"].as_str().unwrap().to_owned());
            }
            assert!(value["structuredContent"].to_string().contains(r#""x""#), "{value}");
            None
        }
        Err(CallError { fault: Fault::Answered(error), .. }) => Some(error.message),
        Err(error) => Some(error.to_string()),
    }
}

/// Calls until the answer is as wanted.
pub(crate) async fn until(client: &Client, plugin: &Plugin, wanted: Option<&str>) {
    let end = Instant::now() + PATIENCE;
    loop {
        let got = refused(client, plugin).await;
        if got.as_deref() == wanted {
            return;
        }
        assert!(Instant::now() < end, "{wanted:?} was expected: {got:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The listed names.
pub(crate) async fn names(client: &Client) -> Vec<String> {
    let listed = client.list_functions().await.unwrap();
    let name = |function: &RawValue| {
        let value: Value = serde_json::from_str(function.get()).unwrap();
        value["name"].as_str().unwrap().to_owned()
    };
    listed.functions.iter().map(|function| name(function)).collect()
}
