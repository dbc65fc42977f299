//! What the examples promise whoever copies them, apart from what oz0 itself measures of them.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

fn examples() -> Vec<PathBuf> {
    let folder = oz0_peers::workspace().join("examples");
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    assert!(found.len() >= 5, "{found:?}");
    found
}

#[test]
fn every_example_has_a_manifest_a_readme_and_the_projects_licence() {
    let licence = fs::read(oz0_peers::workspace().join("LICENSE")).unwrap();
    for example in examples() {
        let of = |name: &str| example.join(name);
        assert!(of("oz0-plugin.yaml").is_file(), "{}", example.display());
        assert!(of("README.md").is_file(), "{}", example.display());
        assert_eq!(fs::read(of("LICENSE")).unwrap(), licence, "{}", example.display());
    }
}

/// `examples/team` in a folder of its own, running.
struct Team {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Team {
    fn start(folder: &Path) -> Self {
        for file in ["server.py", "functions.py", "texts.json", "rota.json"] {
            let from = oz0_peers::workspace().join("examples/team").join(file);
            fs::copy(from, folder.join(file)).unwrap();
        }
        let mut child = Command::new("python3")
            .arg("server.py")
            .current_dir(folder)
            .env("HOME", folder)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stderr(Stdio::null())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    fn ask(&mut self, message: &str) -> Value {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.ask(&request.to_string())
    }

    fn modern(&mut self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        self.request(method, &params)
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.child.wait();
    }
}

#[test]
fn the_team_server_lists_alike_in_both_eras() {
    let folder = tempfile::tempdir().unwrap();
    let mut team = Team::start(folder.path());
    let discovered = team.modern("server/discover", json!({}));
    assert_eq!(discovered["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(discovered["result"]["resultType"], "complete");
    let modern = team.modern("tools/list", json!({}))["result"]["tools"].take();
    for version in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let opened = team.request("initialize", &json!({"protocolVersion": version}));
        assert_eq!(opened["result"]["protocolVersion"], version);
        let listed = team.request("tools/list", &json!({}));
        assert_eq!(listed["result"]["tools"], modern);
        assert!(listed["result"].get("resultType").is_none(), "{listed}");
    }
    assert_eq!(modern.as_array().map(Vec::len), Some(4));
}

#[test]
fn an_edit_of_its_texts_shows_without_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let mut team = Team::start(folder.path());
    let before = team.modern("tools/list", json!({}));
    let texts = fs::read_to_string(folder.path().join("texts.json")).unwrap();
    let edited = texts.replace("Greet somebody of the team by name.", "Greet somebody, briefly.");
    assert_ne!(texts, edited);
    fs::write(folder.path().join("texts.json"), edited).unwrap();
    let after = team.modern("tools/list", json!({}));
    assert_eq!(after["result"]["tools"][0]["description"], "Greet somebody, briefly.");
    assert_eq!(after["result"]["tools"][1], before["result"]["tools"][1]);
}

#[test]
fn a_bad_message_gets_its_error_and_the_server_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut team = Team::start(folder.path());
    let code = |answer: &Value| answer["error"]["code"].as_i64();
    assert_eq!(code(&team.ask("junk")), Some(-32700));
    assert_eq!(code(&team.ask(&"[".repeat(100_000))), Some(-32700));
    assert_eq!(code(&team.ask("[]")), Some(-32600));
    assert_eq!(code(&team.request("tools/list", &json!([]))), Some(-32602));
    assert_eq!(code(&team.request("server/discover", &json!({}))), Some(-32602));
    assert_eq!(code(&team.request("nope", &json!({}))), Some(-32601));
    let unknown = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2030-01-01"}});
    assert_eq!(code(&team.request("tools/list", &unknown)), Some(-32022));
    // A file that the server needs is broken by an edit: said, and mended without a restart.
    let texts = fs::read_to_string(folder.path().join("texts.json")).unwrap();
    fs::write(folder.path().join("texts.json"), "{").unwrap();
    assert_eq!(code(&team.modern("tools/list", json!({}))), Some(-32603));
    fs::write(folder.path().join("texts.json"), texts).unwrap();
    assert!(team.modern("tools/list", json!({}))["result"]["tools"].is_array());
}

#[test]
fn a_note_with_one_key_is_added_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut team = Team::start(folder.path());
    let mut add = |text: &str| {
        let arguments = json!({"name": "add_note", "arguments": {"key": "k", "text": text}});
        team.modern("tools/call", arguments)["result"].take()
    };
    assert_eq!(add("milk \u{1F95B}")["structuredContent"], json!({"added": true, "notes": 1}));
    assert_eq!(add("milk \u{1F95B}")["structuredContent"], json!({"added": false, "notes": 1}));
    assert_eq!(add("bread")["isError"], true);
}
