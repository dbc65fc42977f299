//! `oz0 wrap`, and the real work that wrapped servers do behind `oz0 mcp` in folders that are shared with them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use oz0_mcp::{Client, ClientOptions, EraChoice};
use serde_json::{Value, json};

use crate::support::{OZ0, Said, cache, checkout, folder, let_all_through, oz0, run, write};

/// The versions whose locks lie beside this file.
const GIT: &str = "mcp-server-git==2026.10.19";
const FILESYSTEM: &str = "@modelcontextprotocol/server-filesystem@2026.8.31";

/// `oz0 wrap` in a working folder.
fn wrap(working: &Path, arguments: &[&str]) -> Said {
    run(oz0(["wrap"]).args(arguments).current_dir(working))
}

/// A lock that was made before, so that nothing has to be resolved.
fn lock(plugin: &Path, tool: &str) {
    let from = checkout().join("crates/oz0/tests/it/locks").join(format!("{tool}.lock"));
    write(plugin, &format!("locks/{tool}.lock"), &fs::read_to_string(from).expect("a lock"));
}

/// A temporary folder by its own name, without a link on the way.
fn folder_of(base: &tempfile::TempDir) -> PathBuf {
    base.path().canonicalize().expect("it is there")
}

fn git(repository: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// What `oz0 mcp` runs, and the client that started it.
struct Session {
    client: Client,
    child: tokio::process::Child,
}

impl Session {
    async fn open(arguments: &[&str], plugin: &Path, data: &Path, era: EraChoice) -> Self {
        let mut child = tokio::process::Command::new(OZ0)
            .arg("mcp")
            .args(arguments)
            .arg("--data")
            .arg(data)
            .arg(plugin)
            .env("OZ0_CACHE", cache())
            .env("XDG_CONFIG_HOME", "/nonexistent")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .expect("oz0 starts");
        let (stdin, stdout) =
            (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let options = ClientOptions { era, ..ClientOptions::default() };
        let client = Client::stdio(stdout, stdin, &options).await.expect("oz0 speaks MCP");
        Self { client, child }
    }

    /// The names that it lists, once the server is installed and has listed.
    async fn names(&self) -> Vec<String> {
        let deadline = std::time::Instant::now() + Duration::from_mins(4);
        loop {
            let listed = self.client.list_functions().await.expect("a listing").functions;
            let name = |raw: &str| -> Value {
                serde_json::from_str::<Value>(raw).expect("JSON")["name"].clone()
            };
            let names: Vec<String> = listed
                .iter()
                .map(|raw| name(raw.get()).as_str().expect("a name").to_owned())
                .collect();
            if !names.is_empty() {
                return names;
            }
            assert!(std::time::Instant::now() < deadline, "nothing is listed");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// A call's text, and whether it is an error's.
    async fn call(&self, name: &str, arguments: &Value) -> (String, bool) {
        let params = json!({"name": name, "arguments": arguments}).to_string();
        let params = serde_json::value::RawValue::from_string(params).expect("JSON");
        let result = self.client.request("tools/call", &params).await.expect("a result");
        let result: Value = serde_json::from_str(result.get()).expect("JSON");
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        (text, result["isError"] == true)
    }

    async fn done(&self, name: &str, arguments: &Value) -> String {
        let (text, is_error) = self.call(name, arguments).await;
        assert!(!is_error, "{name}: {text}");
        text
    }

    async fn close(mut self) {
        self.client.close().await;
        let ended = tokio::time::timeout(Duration::from_secs(30), self.child.wait()).await;
        assert!(ended.expect("it ends with its client").expect("it is waited for").success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_server_git_commits_to_a_shared_repository_and_reads_its_log() {
    let base = folder(&[("project/README", "first\n")]);
    let here = folder_of(&base);
    let project = here.join("project");
    git(&project, &["init", "--quiet", "--initial-branch", "main"]);
    let repository = project.to_str().expect("UTF-8");
    let said = wrap(&here, &["--", "uvx", GIT, "--repository", repository]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    let next = format!("claude mcp add git -- oz0 mcp {}/git --share {repository}", here.display());
    assert!(said.stdout.contains(&next), "{}", said.all());
    let plugin = here.join("git");
    lock(&plugin, "git");
    let shown = run(oz0(["plugin", "inspect"]).arg(&plugin));
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""), "{}", shown.all());

    let_all_through(&here.join("data"));
    for (number, era) in [EraChoice::Legacy, EraChoice::Modern].into_iter().enumerate() {
        let share = ["--share", repository];
        let session = Session::open(&share, &plugin, &here.join("data"), era).await;
        assert!(session.names().await.contains(&"git__git_commit".to_owned()));
        fs::write(project.join("README"), format!("edit {number}\n")).expect("a file");
        session.done("git__git_add", &json!({"repo_path": repository, "files": ["README"]})).await;
        let message = format!("Commit {number} from behind the gateway");
        session
            .done("git__git_commit", &json!({"repo_path": repository, "message": message}))
            .await;
        let log = session.done("git__git_log", &json!({"repo_path": repository})).await;
        assert!(log.contains(&message), "{log}");
        session.close().await;
        assert_eq!(git(&project, &["log", "-1", "--format=%s"]).trim(), message);
        assert_eq!(git(&project, &["show", "HEAD:README"]), format!("edit {number}\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn server_filesystem_writes_edits_and_reads_what_is_shared_and_nothing_else() {
    let base = folder(&[
        ("notes/old", "old text\n"),
        ("books/old", "a book\n"),
        ("private/key", "secret\n"),
    ]);
    let here = folder_of(&base);
    let path = |name: &str| here.join(name).to_str().expect("UTF-8").to_owned();
    // It is allowed everything by its arguments: what it is not given, the sandbox alone keeps from it.
    let (notes, books, private) = (path("notes"), path("books"), path("private"));
    let command = ["--", "npx", "-y", FILESYSTEM, &notes, &books, &private];
    let said = wrap(&here, &command);
    assert_eq!(said.code, Some(0), "{}", said.all());
    let plugin = here.join("filesystem");
    lock(&plugin, "filesystem");
    let_all_through(&here.join("data"));
    for (number, era) in [EraChoice::Legacy, EraChoice::Modern].into_iter().enumerate() {
        let shares = ["--share", &notes, "--share-read", &books];
        let session = Session::open(&shares, &plugin, &here.join("data"), era).await;
        session.names().await;
        let new = path(&format!("notes/new-{number}"));
        session
            .done("filesystem__write_file", &json!({"path": new, "content": "one line\n"}))
            .await;
        let edits = json!([{"oldText": "one line", "newText": "another line"}]);
        session.done("filesystem__edit_file", &json!({"path": new, "edits": edits})).await;
        let read = session.done("filesystem__read_text_file", &json!({"path": new})).await;
        assert_eq!(read, "another line\n");
        assert_eq!(fs::read_to_string(&new).expect("a file"), "another line\n");
        let read =
            session.done("filesystem__read_text_file", &json!({"path": path("books/old")})).await;
        assert_eq!(read, "a book\n");
        let write = json!({"path": path("books/new"), "content": "x"});
        let (text, is_error) = session.call("filesystem__write_file", &write).await;
        assert!(is_error, "{text}");
        let (text, is_error) =
            session.call("filesystem__read_text_file", &json!({"path": path("private/key")})).await;
        assert!(is_error && !text.contains("secret\n"), "{text}");
        session.close().await;
    }
    assert!(!here.join("books/new").exists());
    assert_eq!(fs::read_to_string(here.join("private/key")).expect("a file"), "secret\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_a_clients_configuration_is_wrapped_and_runs_with_its_secret() {
    let script = "import json, os, sys\n\
        for line in sys.stdin:\n    \
        m = json.loads(line)\n    \
        if 'id' not in m: continue\n    \
        r = {'initialize': {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}}, 'serverInfo': {'name': 'n', 'version': '1'}},\n         \
        'tools/list': {'tools': [{'name': 'tell', 'annotations': {'readOnlyHint': True}, 'inputSchema': {'type': 'object'}}]},\n         \
        'tools/call': {'content': [{'type': 'text', 'text': os.environ['API_TOKEN'] + ' ' + os.environ['LEVEL']}]}}.get(m['method'])\n    \
        a = {'result': r} if r else {'error': {'code': -32601, 'message': 'no'}}\n    \
        print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], **a}), flush=True)\n";
    let base = folder(&[("elsewhere/teller.py", script)]);
    let here = folder_of(&base);
    let server = json!({
        "command": "python3", "args": [here.join("elsewhere/teller.py")],
        "env": {"API_TOKEN": "sk-0123456789abcdef", "LEVEL": "low"},
    });
    let config = json!({"mcpServers": {"My Teller": server, "other": {"command": "docker", "args": ["run", "x"]}}});
    write(&here, ".mcp.json", &config.to_string());
    let said = wrap(&here, &["--from", ".mcp.json", "My Teller"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    let plugin = here.join("my-teller");
    let manifest = fs::read_to_string(plugin.join("oz0-plugin.yaml")).expect("a manifest");
    assert!(
        !manifest.contains("sk-0123456789abcdef") && manifest.contains("API_TOKEN"),
        "{manifest}"
    );
    assert!(!said.all().contains("sk-0123456789abcdef"), "{}", said.all());

    // As the client that has the secret hands it over.
    let mut command = tokio::process::Command::new(OZ0);
    command.args(["mcp", "--secret", "API_TOKEN", "--data"]).arg(here.join("data")).arg(&plugin);
    command
        .env("OZ0_CACHE", cache())
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env("API_TOKEN", "handed over");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("oz0 starts");
    let (stdin, stdout) =
        (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    let client = Client::stdio(stdout, stdin, &ClientOptions::default()).await.expect("MCP");
    let session = Session { client, child };
    session.names().await;
    assert_eq!(session.done("my-teller__tell", &json!({})).await, "handed over low");
    session.close().await;

    let refused = wrap(&here, &["--from", ".mcp.json", "other"]);
    assert_eq!(refused.code, Some(1), "{}", refused.all());
    assert!(
        refused.stderr.contains("error: docker cannot be wrapped: it starts a container"),
        "{}",
        refused.all()
    );
    let unnamed = wrap(&here, &["--from", ".mcp.json"]);
    assert_eq!(unnamed.code, Some(1), "{}", unnamed.all());
    assert!(
        unnamed.stderr.contains("hint: name one of them: My Teller, other"),
        "{}",
        unnamed.all()
    );
}

#[test]
fn a_server_of_claude_codes_own_file_is_the_working_folders() {
    let base = folder(&[("project/src/x", ""), ("other/x", "")]);
    let here = folder_of(&base);
    let project = here.join("project");
    let own = json!({"projects": {project.to_str().expect("UTF-8"): {"mcpServers": {
        "time": {"type": "stdio", "command": "cat", "args": ["-u"], "env": {}},
    }}}, "mcpServers": {}});
    write(&here, ".claude.json", &own.to_string());
    let file = here.join(".claude.json");
    let from = ["--from", file.to_str().expect("UTF-8"), "time"];
    let said = wrap(&project.join("src"), &from);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(project.join("src/time/oz0-plugin.yaml").is_file(), "{}", said.all());
    let said = wrap(&here.join("other"), &from);
    assert_eq!(said.code, Some(1), "{}", said.all());
    let hint = format!(
        "hint: it has time for {0} alone; give the command there: cd {0}\n",
        project.display()
    );
    assert!(said.stderr.ends_with(&hint), "{}", said.all());
}

#[test]
fn what_is_not_shared_is_said_before_anything_runs() {
    let base = folder(&[
        ("plugin/oz0-plugin.yaml", "name: p\nversion: 1.0.0\ndescription: d\nlicense: MIT\n"),
        ("data/x", ""),
        ("file", ""),
    ]);
    let here = folder_of(&base);
    let path = |name: &str| here.join(name).to_str().expect("UTF-8").to_owned();
    for (flag, share, code, reason) in [
        ("--share", "/".to_owned(), 1, "cannot share /: everything on the machine is in it"),
        ("--share-read", "/proc".to_owned(), 1, "cannot share /proc"),
        ("--share-read", path("data"), 1, "it belongs to oz0's data folder"),
        ("--share-read", path(""), 1, "oz0's data folder is in it"),
        ("--share", path("plugin"), 1, "it belongs to a plugin's own folder"),
        ("--share", path("file"), 3, "it is no folder"),
        ("--share", path("gone"), 3, "cannot share"),
    ] {
        let said = run(oz0(["mcp", flag, &share, "--data", &path("data"), &path("plugin")])
            .stdin(Stdio::null()));
        assert_eq!(said.code, Some(code), "{share}: {}", said.all());
        assert!(said.stderr.contains(reason), "{share}: {}", said.all());
        assert!(said.stderr.contains("\nhint: "), "{share}: {}", said.all());
    }
    let (data, plugin, other) = (path("data"), path("plugin"), path("other"));
    let said = run(&mut oz0(["up", "--share", "/srv", "--data", &data, &plugin, &other]));
    assert_eq!(said.code, Some(2), "{}", said.all());
    assert!(said.stderr.contains("--share NAME=/srv"), "{}", said.all());
}

#[test]
fn wrong_usage_is_told_from_a_refusal() {
    let base = folder(&[]);
    for (arguments, code) in [
        (&["--env", "A", "--", "cat"][..], 2),
        (&[], 2),
        (&["--url", "https://a.example/", "--", "cat"], 2),
        (&["--header", "A: b", "--", "cat"], 2),
        (&["--from", "nowhere.json"], 3),
        (&["--", "docker", "run", "x"], 1),
        (&["--name", "No Name", "--", "cat"], 1),
    ] {
        let said = wrap(base.path(), arguments);
        assert_eq!(said.code, Some(code), "{arguments:?}: {}", said.all());
    }
    let word = OsStr::from_bytes(b"\xff");
    let said = run(oz0(["wrap", "--", "cat"]).arg(word).current_dir(base.path()));
    assert_eq!(said.code, Some(2), "{}", said.all());
    assert!(said.stderr.contains("is not UTF-8"), "{}", said.all());
    assert_eq!(fs::read_dir(base.path()).expect("a folder").count(), 0);
}
