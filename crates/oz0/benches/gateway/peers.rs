//! How each gateway is started in front of the server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::client::Client;

fn this() -> PathBuf {
    std::env::current_exe().unwrap()
}

/// A plugin whose one tool is the server, `copies` times over.
pub(crate) fn plugin(root: &Path, copies: usize) -> PathBuf {
    let plugin = root.join(format!("plugin-{copies}"));
    if plugin.exists() {
        return plugin;
    }
    fs::create_dir_all(&plugin).unwrap();
    fs::copy(this(), plugin.join("server")).unwrap();
    let mut manifest = "name: bench\nversion: 1.0.0\nkind: capability\ndescription: A server to measure with.\nlicense: MIT\ntools:\n".to_owned();
    for copy in 0..copies {
        let tool = if copy == 0 { "bench".to_owned() } else { format!("bench{copy}") };
        manifest.extend(["  ", &tool, ":\n    mcp: {command: [./server, serve]}\n"]);
    }
    fs::write(plugin.join("oz0-plugin.yaml"), manifest).unwrap();
    fs::write(plugin.join(".oz0ignore"), "server\n*.txt\n").unwrap();
    plugin
}

pub(crate) fn direct() -> Client {
    Client::start("direct", "", Command::new(this()).arg("serve"))
}

pub(crate) fn relay() -> Client {
    Client::start("bare relay", "", Command::new(this()).arg("relay").arg(this()).arg("serve"))
}

pub(crate) fn oz0(root: &Path, copies: usize) -> Client {
    let program = std::env::var_os("OZ0_BENCH_PROGRAM").unwrap();
    let data = root.join(format!("data-{copies}"));
    Client::start("oz0 mcp", "bench__", Command::new(program).arg(data).arg(plugin(root, copies)))
}

fn python_program(name: &str) -> PathBuf {
    PathBuf::from("/tmp/speed-venv/v/bin").join(name)
}

pub(crate) fn vex_mcp(root: &Path) -> Client {
    let home = root.join("vex-mcp");
    fs::create_dir_all(&home).unwrap();
    let config = home.join("vex.toml");
    let text = format!(
        "[server]\nid = \"bench\"\npin_store = {pins:?}\n\n[policy]\ndefault_action = \"allow\"\n\n[audit]\npath = {audit:?}\n",
        pins = home.join("pins.json"),
        audit = home.join("audit.log"),
    );
    fs::write(&config, text).unwrap();
    let mut command = Command::new(python_program("vex-mcp"));
    Client::start("vex-mcp", "", command.arg(this()).arg("serve").env("VEX_CONFIG", config))
}

pub(crate) fn mcp_integrity(root: &Path) -> Client {
    let home = root.join("mcp-integrity");
    fs::create_dir_all(&home).unwrap();
    let mut command = Command::new(python_program("mcp-integrity"));
    command.args(["run", "--mode", "enforce", "--name", "bench", "--home"]).arg(&home);
    command.arg("--audit-log").arg(home.join("audit.log"));
    Client::start("mcp-integrity", "", command.arg("--").arg(this()).arg("serve"))
}

pub(crate) fn heldfast(root: &Path) -> Client {
    let home = root.join("heldfast");
    fs::create_dir_all(&home).unwrap();
    let server =
        serde_json::json!({"mcpServers": {"bench": {"command": this(), "args": ["serve"]}}});
    fs::write(home.join(".mcp.json"), server.to_string()).unwrap();
    let lock = home.join("lock");
    let approved = Command::new(python_program("heldfast"))
        .args([
            "approve",
            "--no-user-configs",
            "--no-skills",
            "--no-source",
            "--probe",
            "--yes",
            "--lock",
        ])
        .arg(&lock)
        .arg(&home)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(approved.status.success(), "{approved:?}");
    let mut command = Command::new(python_program("heldfast"));
    command.arg("guard").arg("--lock").arg(&lock).args(["--name", "bench", "--"]);
    Client::start("heldfast", "", command.arg(this()).arg("serve"))
}
