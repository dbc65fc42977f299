//! How each gateway is started in front of a server.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use oz0_peers::Bench;

use crate::client::Client;

/// The server that is called, alone and as a plugin.
pub(crate) struct Served {
    command: Vec<OsString>,
    plugin: PathBuf,
    /// What its functions' names begin with behind oz0.
    prefix: &'static str,
}

impl Served {
    /// This program as a server, as so many tools of one plugin.
    pub(crate) fn compiled(root: &Path, copies: usize) -> Self {
        let this = std::env::current_exe().unwrap();
        let plugin = root.join(format!("plugin-{copies}"));
        if !plugin.exists() {
            fs::create_dir_all(&plugin).unwrap();
            fs::copy(&this, plugin.join("server")).unwrap();
            let mut manifest =
                "name: bench\nversion: 1.0.0\nkind: capability\ndescription: A server to measure with.\nlicense: MIT\ntools:\n".to_owned();
            for copy in 0..copies {
                let more = if copy == 0 { String::new() } else { copy.to_string() };
                manifest.extend(["  bench", &more, ":\n    mcp: {command: [./server, serve]}\n"]);
            }
            fs::write(plugin.join("oz0-plugin.yaml"), manifest).unwrap();
            fs::write(plugin.join(".oz0ignore"), "server\n*.txt\n").unwrap();
        }
        Self { command: vec![this.into(), "serve".into()], plugin, prefix: "bench__" }
    }

    /// The server of `examples/team`: Python without a library.
    pub(crate) fn team() -> Self {
        let plugin = oz0_peers::workspace().join("examples/team");
        let script = "import os, sys; print(os.path.realpath(sys.executable))";
        let output = Command::new("python3").args(["-c", script]).output().unwrap();
        let python = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        Self {
            command: vec![python.into(), plugin.join("server.py").into()],
            plugin,
            prefix: "team__",
        }
    }

    pub(crate) fn plugin(&self) -> &Path {
        &self.plugin
    }

    pub(crate) fn command(&self) -> &[OsString] {
        &self.command
    }

    pub(crate) fn direct(&self) -> Client {
        Client::start("direct", "", Command::new(&self.command[0]).args(&self.command[1..]))
    }

    pub(crate) fn relay(&self) -> Client {
        let mut command = Command::new(std::env::current_exe().unwrap());
        Client::start("bare relay", "", command.arg("relay").args(&self.command))
    }

    pub(crate) fn oz0(&self, data: &Path) -> Client {
        self.oz0_with(data, &[])
    }

    pub(crate) fn oz0_with(&self, data: &Path, flags: &[&str]) -> Client {
        let mut command = oz0(data);
        Client::start("oz0 mcp", self.prefix, command.arg("mcp").arg(&self.plugin).args(flags))
    }

    pub(crate) fn vex_mcp(&self, bench: &Bench, home: &Path) -> Client {
        fs::create_dir_all(home).unwrap();
        let config = home.join("vex.toml");
        let text = format!(
            "[server]\nid = \"bench\"\npin_store = {pins}\n\n[policy]\ndefault_action = \"allow\"\n\n[audit]\npath = {audit}\n",
            pins = quoted(&home.join("pins.json")),
            audit = quoted(&home.join("audit.log")),
        );
        fs::write(&config, text).unwrap();
        let mut command = Command::new(bench.program("vex-mcp"));
        Client::start("vex-mcp", "", command.args(&self.command).env("VEX_CONFIG", config))
    }

    pub(crate) fn mcp_integrity(&self, bench: &Bench, home: &Path) -> Client {
        fs::create_dir_all(home).unwrap();
        let mut command = Command::new(bench.program("mcp-integrity"));
        command.args(["run", "--mode", "enforce", "--name", "bench", "--home"]).arg(home);
        command.arg("--audit-log").arg(home.join("audit.log")).arg("--");
        Client::start("mcp-integrity", "", command.args(&self.command))
    }

    pub(crate) fn heldfast(&self, bench: &Bench, home: &Path) -> Client {
        fs::create_dir_all(home).unwrap();
        let text = |part: &OsString| part.to_str().unwrap().to_owned();
        let args: Vec<String> = self.command[1..].iter().map(text).collect();
        let servers = serde_json::json!({"mcpServers": {"bench": {"command": text(&self.command[0]), "args": args}}});
        fs::write(home.join(".mcp.json"), servers.to_string()).unwrap();
        let lock = home.join("lock");
        let approved = Command::new(bench.program("heldfast"))
            .args([
                "approve",
                "--no-user-configs",
                "--no-skills",
                "--no-source",
                "--probe",
                "--yes",
            ])
            .arg("--lock")
            .arg(&lock)
            .arg(home)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(approved.status.success(), "{approved:?}");
        let mut command = Command::new(bench.program("heldfast"));
        command.arg("guard").arg("--lock").arg(&lock).args(["--name", "bench", "--"]);
        Client::start("heldfast", "", command.args(&self.command))
    }
}

/// A path as a string of TOML, which JSON's are too.
fn quoted(path: &Path) -> String {
    serde_json::Value::from(path.to_str().unwrap()).to_string()
}

/// The built program, with a data folder of its own and nothing of the user's.
pub(crate) fn oz0(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oz0"));
    for name in ["OZ0_EDGE", "OZ0_TOKEN", "OZ0_CONFIG"] {
        command.env_remove(name);
    }
    command.env("OZ0_DATA", data).env("XDG_CONFIG_HOME", data.join("config"));
    command
}
