//! The edges, and what they cost.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use oz0_api::Client;
use serde_json::Value;
use tempfile::TempDir;

/// The plugins that every node runs, each with one tool of its name.
pub(crate) const PLUGINS: [&str; 5] = ["alpha", "beta", "gamma", "delta", "epsilon"];

/// Running edges over one store.
pub(crate) struct Edges {
    folder: TempDir,
    running: Vec<(Child, String)>,
}

impl Drop for Edges {
    fn drop(&mut self) {
        for (child, _) in &mut self.running {
            let _ = kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGTERM);
            let _ = child.wait();
        }
    }
}

fn oz0(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oz0"));
    command
        .env("OZ0_DATA", data)
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env_remove("OZ0_EDGE")
        .env_remove("OZ0_TOKEN");
    command
}

impl Edges {
    pub(crate) fn start() -> Self {
        let count = std::env::var("OZ0_EDGES").map_or(1, |count| count.parse().unwrap());
        let folder = tempfile::tempdir().unwrap();
        let running = (0..count)
            .map(|number: usize| {
                let mut command = oz0(&folder.path().join(format!("edge-{number}")));
                command.args(["edge", "--json", "--listen", "127.0.0.1:0"]);
                let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
                let mut line = String::new();
                let mut stdout = BufReader::new(child.stdout.take().unwrap());
                stdout.read_line(&mut line).unwrap();
                let line: Value = serde_json::from_str(&line).unwrap();
                (child, line["edge"].as_str().unwrap().to_owned())
            })
            .collect();
        Self { folder, running }
    }

    pub(crate) fn urls(&self) -> Vec<String> {
        self.running.iter().map(|(_, url)| url.clone()).collect()
    }

    pub(crate) fn admin(&self) -> Client {
        let data = self.folder.path().join("edge-0");
        let token = fs::read_to_string(data.join("admin.token")).unwrap();
        Client::unix(&data.join("oz0.sock")).with_token(token.trim())
    }

    /// Installs every plugin, as an operator does.
    pub(crate) fn install(&self) {
        for plugin in PLUGINS {
            let root = self.folder.path().join(plugin);
            fs::create_dir_all(&root).unwrap();
            let manifest = format!(
                "name: {plugin}\nversion: 1.0.0\nkind: capability\ndescription: A bench.\nlicense: Apache-2.0\n\
                 tools:\n  {plugin}:\n    mcp: {{command: [./server]}}\n"
            );
            fs::write(root.join("oz0-plugin.yaml"), manifest).unwrap();
            fs::write(root.join("server"), "#!/bin/false\n").unwrap();
            for file in ["README.md", "LICENSE"] {
                fs::copy(oz0_peers::workspace().join("examples/team").join(file), root.join(file))
                    .unwrap();
            }
            let installed = oz0(&self.folder.path().join("edge-0"))
                .args(["plugin", "install", "--yes"])
                .arg(&root)
                .output()
                .unwrap();
            assert!(installed.status.success(), "{installed:?}");
        }
    }

    /// The processor time that they took until now, in user space and in the kernel.
    pub(crate) fn processor_time(&self) -> Duration {
        let ticks: u64 = self
            .running
            .iter()
            .map(|(child, _)| {
                let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
                // After the name, which is in brackets: utime and stime are fields 14 and 15.
                let (_, rest) = stat.rsplit_once(')').unwrap();
                let fields: Vec<&str> = rest.split_whitespace().collect();
                fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
            })
            .sum();
        Duration::from_millis(ticks * 10)
    }

    /// The memory of the one that has most, in KiB.
    pub(crate) fn memory(&self, which: &str) -> u64 {
        let of = |(child, _): &(Child, String)| -> u64 {
            let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
            let line = status.lines().find(|line| line.starts_with(which)).unwrap();
            line.split_whitespace().nth(1).unwrap().parse().unwrap()
        };
        self.running.iter().map(of).max().unwrap()
    }
}
