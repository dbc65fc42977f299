//! What the operator's tests share: a running `oz0 up`, plugins whose servers are scripted, commands, and a terminal.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Said, oz0, run};

/// A folder for everything of one test, and the process that serves it.
pub(crate) struct House {
    pub(crate) folder: TempDir,
    up: Option<Up>,
}

struct Up {
    child: Child,
    first: Value,
    heard: Arc<Mutex<String>>,
}

/// Waits until it holds.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_mins(1);
    while !holds() {
        assert!(Instant::now() < until, "{what}: not within a minute");
        sleep(Duration::from_millis(20));
    }
}

impl House {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().expect("a folder"), up: None }
    }

    /// A house with this plugin running in it, and everything of it listed.
    pub(crate) fn with(name: &str, functions: &[&str]) -> (Self, Plugin) {
        let mut house = Self::new();
        let plugin = Plugin::new(&house, name);
        plugin.list(functions);
        house.up(&[&plugin]);
        (house, plugin)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// `oz0` with the given arguments, on this house's data folder.
    pub(crate) fn oz0(&self, arguments: &[&str]) -> Command {
        let mut command = oz0(arguments);
        command
            .env("OZ0_DATA", self.data())
            .env("XDG_CONFIG_HOME", self.folder.path().join("config"))
            .env("HOME", self.folder.path())
            .env_remove("OZ0_EDGE")
            .env_remove("OZ0_TOKEN")
            .env_remove("COLUMNS");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        run(&mut self.oz0(arguments))
    }

    /// What a command that must do well prints, as JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let said = self.run(arguments);
        assert_eq!(said.code, Some(0), "{}", said.all());
        serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}\n{}", said.all()))
    }

    /// Starts `oz0 up`, and waits until every tool was listed.
    pub(crate) fn up(&mut self, plugins: &[&Plugin]) {
        let mut command = self.oz0(&[
            "up",
            "--json",
            "--listen",
            "127.0.0.1:0",
            "--mcp-listen",
            "127.0.0.1:0",
            "--verify-every",
            "0",
        ]);
        command.args(plugins.iter().map(|plugin| &plugin.root));
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("oz0 starts");
        let stderr = Arc::new(Mutex::new(String::new()));
        let mut said = child.stderr.take().expect("it is piped");
        let heard = Arc::clone(&stderr);
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = said.read(&mut bytes) {
                heard
                    .lock()
                    .expect("nobody panicked")
                    .push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        });
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        stdout.read_line(&mut line).expect("it says where it is");
        let first = serde_json::from_str(&line).unwrap_or_else(|error| {
            panic!("{error}: {line}\n{}", stderr.lock().expect("nobody panicked"))
        });
        keep_reading(stdout);
        self.up = Some(Up { child, first, heard: stderr });
        let listed = |value: &Value| {
            let tools = value["plugins"]
                .as_array()
                .expect("a list")
                .iter()
                .flat_map(|plugin| plugin["tools"].as_array().expect("a list").clone());
            tools.into_iter().all(|tool| tool["nodes"] != json!([]))
        };
        eventually("every tool was listed", || listed(&self.json(&["plugin", "list", "--json"])));
    }

    /// The edge's URL.
    pub(crate) fn edge(&self) -> String {
        self.up.as_ref().expect("it is up").first["edge"].as_str().expect("a URL").to_owned()
    }

    /// The open changes of a plugin.
    pub(crate) fn changes(&self, plugin: &str) -> Vec<Value> {
        let value = self.json(&["plugin", "approve-tools", plugin, "--show", "--json"]);
        value["changes"].as_array().expect("a list").clone()
    }

    /// Waits until so many changes wait.
    pub(crate) fn wait_for_changes(&self, plugin: &str, count: usize) -> Vec<Value> {
        let mut changes = Vec::new();
        eventually(&format!("{count} changes wait"), || {
            changes = self.changes(plugin);
            changes.len() == count
        });
        changes
    }

    pub(crate) fn call(&self, function: &str) -> Said {
        self.run(&["call", function, r#"{"x": 1}"#])
    }

    /// What `oz0 up` said until now.
    pub(crate) fn heard(&self) -> String {
        self.up.as_ref().expect("it is up").heard.lock().expect("nobody panicked").clone()
    }

    /// Ends `oz0 up` as nobody expects.
    pub(crate) fn kill(&mut self) {
        if let Some(mut up) = self.up.take() {
            up.child.kill().expect("it can be killed");
            up.child.wait().expect("it ends");
        }
    }

    /// Ends `oz0 up` as Ctrl-C does.
    pub(crate) fn down(&mut self) {
        if let Some(mut up) = self.up.take() {
            let id = up.child.id().to_string();
            let _ = Command::new("kill").args(["-TERM", &id]).status();
            let until = Instant::now() + Duration::from_secs(20);
            while Instant::now() < until {
                if matches!(up.child.try_wait(), Ok(Some(_))) {
                    return;
                }
                sleep(Duration::from_millis(20));
            }
            let _ = up.child.kill();
            let _ = up.child.wait();
        }
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.down();
    }
}

fn keep_reading(mut stdout: BufReader<ChildStdout>) {
    thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
}

/// A plugin's folder with one tool of the plugin's name. Its server lists anew each time what `functions.txt` says, a function a line, and
/// that file is no part of the plugin: so a change of it is one that nobody is told of.
pub(crate) struct Plugin {
    pub(crate) root: PathBuf,
    pub(crate) name: String,
}

impl Plugin {
    pub(crate) fn new(house: &House, name: &str) -> Self {
        let root = house.folder.path().join("plugins").join(name);
        fs::create_dir_all(&root).expect("a folder");
        let plugin = Self { root, name: name.to_owned() };
        let actor = plugin.root.join("oz0-actor");
        if fs::hard_link(oz0_actor::binary(), &actor).is_err() {
            fs::copy(oz0_actor::binary(), &actor).expect("the server can be copied");
        }
        plugin.manifest("mcp: {command: [./oz0-actor, script.json]}", "");
        plugin.write(".oz0ignore", "oz0-actor\n*.txt\n");
        plugin.script(&json!({}));
        plugin.list(&[]);
        plugin
    }

    /// Writes the manifest, with this line for its tool and these after it.
    pub(crate) fn manifest(&self, backend: &str, more: &str) {
        let name = &self.name;
        self.write("oz0-plugin.yaml", &format!(
            "name: {name}\nversion: 1.0.0\nkind: capability\ndescription: A test.\nlicense: MIT\ntools:\n  {name}:\n    {backend}\n{more}"
        ));
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        // As editors do: a reader sees the one or the other.
        let new = self.root.join(".new.txt");
        fs::write(&new, text).expect("it can be written");
        fs::rename(new, self.root.join(path)).expect("it can be renamed");
    }

    /// What the server does. It says ten times a second that its list may have changed, so that nobody waits until the node
    /// asks it again by itself.
    pub(crate) fn script(&self, script: &Value) {
        let mut script = script.clone();
        script["functions_file"] = json!("functions.txt");
        let changed = json!({"notify": {"method": "notifications/tools/list_changed"}});
        script["timers"] = json!([{"every_ms": 100, "steps": [changed]}]);
        self.write("script.json", &script.to_string());
    }

    /// What the server lists from now on.
    pub(crate) fn list(&self, functions: &[&str]) {
        self.write(
            "functions.txt",
            &functions.iter().flat_map(|function| [*function, "\n"]).collect::<String>(),
        );
    }
}

/// A function's text.
pub(crate) fn function(name: &str, description: &str) -> String {
    json!({"name": name, "description": description,
        "annotations": {"readOnlyHint": true},
        "inputSchema": {"type": "object", "properties": {"x": {"type": "integer"}}}})
    .to_string()
}

/// The seed's refusal.
pub(crate) fn refusal(function: &str, plugin: &str) -> String {
    format!(
        "{function} lists itself differently than when its plugin's tools were approved, so it is not called; check the\nchange and approve it with: oz0 plugin approve-tools {plugin}\n"
    )
}

/// A scripted server over HTTP.
pub(crate) struct Remote {
    child: Child,
    pub(crate) url: String,
}

impl Remote {
    pub(crate) fn start(folder: &Path, name: &str, script: &Value) -> Self {
        let path = folder.join(format!("{name}.remote.json"));
        fs::write(&path, script.to_string()).expect("it can be written");
        let mut child = Command::new(oz0_actor::binary())
            .arg(path)
            .args(["--http", "127.0.0.1:0"])
            .current_dir(folder)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped"))
            .read_line(&mut line)
            .expect("a line");
        let url = line.trim().strip_prefix("listening ").expect("its address").to_owned();
        Self { child, url }
    }

    pub(crate) fn origin(&self) -> &str {
        self.url.strip_suffix("/mcp").expect("its path")
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command on a terminal of its own.
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    pub(crate) fn start(command: &mut Command, columns: u16) -> Self {
        let size = nix::pty::Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = nix::pty::openpty(&size, None).expect("a terminal");
        let end = || Stdio::from(pty.slave.try_clone().expect("it can be shared"));
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().expect("it starts");
        // What the command holds of its own goes with it.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        drop(pty.slave);
        let master: OwnedFd = pty.master;
        let mut output = File::from(master.try_clone().expect("it can be shared"));
        let screen = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&screen);
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                seen.lock().expect("nobody panicked").extend_from_slice(&bytes[..read]);
            }
        });
        Self { child, keyboard: File::from(master), screen }
    }

    /// What was printed until now, with plain line ends.
    pub(crate) fn screen(&self) -> String {
        let bytes = self.screen.lock().expect("nobody panicked").clone();
        String::from_utf8_lossy(&bytes).replace("\r\n", "\n")
    }

    pub(crate) fn wait_for(&self, text: &str) {
        let until = Instant::now() + Duration::from_mins(1);
        while !self.screen().contains(text) {
            assert!(Instant::now() < until, "`{text}` was expected:\n{}", self.screen());
            sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn enter(&mut self, text: &str) {
        write!(self.keyboard, "{text}").expect("it can be typed");
    }

    /// Whether what is typed is shown.
    pub(crate) fn echoes(&self) -> bool {
        let modes = nix::sys::termios::tcgetattr(&self.keyboard).expect("it is a terminal");
        modes.local_flags.contains(nix::sys::termios::LocalFlags::ECHO)
    }

    /// How it ended, and everything that was printed.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let mut code = None;
        eventually("the command ends", || {
            let ended = self.child.try_wait().expect("it can be waited for");
            code = ended.and_then(|status| status.code());
            ended.is_some()
        });
        // The last of it is read when the terminal's other side is gone, which the reader sees as an end.
        let mut last = usize::MAX;
        eventually("everything was read", || {
            sleep(Duration::from_millis(20));
            let now = self.screen.lock().expect("nobody panicked").len();
            std::mem::replace(&mut last, now) == now
        });
        (code, self.screen())
    }
}

/// What differs from run to run in what is printed.
pub(crate) fn filters() -> Vec<(&'static str, &'static str)> {
    vec![
        (r"[0-9a-f]{64}", "[64 digits]"),
        (r"\b[0-9a-f]{32}\b", "[32 digits]"),
        (r"\bsha256:[0-9a-f]{12}\b", "sha256:[12 digits]"),
        (r"change [0-9a-f]{12}\b", "change [12 digits]"),
        (r"change=[0-9a-f]{12}\b", "change=[12 digits]"),
        (r"oz0_(admin|client)_[0-9a-f]{16}", "oz0_${1}_[16 digits]"),
        (r#""[0-9a-f]{16}""#, r#""[16 digits]""#),
        (r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", "[time]"),
        (r"\b1[789]\d{11}\b", "[millis]"),
        (r#""(position|seq)": \d+"#, r#""$1": [number]"#),
        (r#"/[^\s"]*/plugins/"#, "[folder]/plugins/"),
    ]
}
