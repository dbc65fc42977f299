//! The handles on published clients in `tests/servers/clients`, driven line by line.

use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::running::{Running, eventually, node, peers};
use crate::support::{checkout, copy};

/// A published client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sdk {
    Python,
    /// The 1.x line of the TypeScript SDK.
    TypeScript1,
    /// Its 2.x line.
    TypeScript2,
}

/// Which of the protocol's two ways it is told to speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

/// The clients' scripts beside the packages that they import.
pub(crate) fn scripts() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(&checkout().join("tests/servers/clients"), folder.path());
    let packages = peers().npm_packages();
    symlink(packages, folder.path().join("node_modules")).expect("a link can be made");
    folder
}

/// A connected client.
pub(crate) struct Handle {
    running: Running,
    /// The protocol version that was agreed.
    pub(crate) protocol: String,
    _scripts: TempDir,
}

impl Handle {
    pub(crate) fn http(sdk: Sdk, era: Era, url: &str) -> Self {
        Self::start(sdk, era, &["http".to_owned(), url.to_owned()])
    }

    pub(crate) fn stdio(sdk: Sdk, era: Era, command: &[String]) -> Self {
        let mut arguments = vec!["stdio".to_owned()];
        arguments.extend_from_slice(command);
        Self::start(sdk, era, &arguments)
    }

    fn start(sdk: Sdk, era: Era, arguments: &[String]) -> Self {
        let scripts = scripts();
        let script = |name: &str| scripts.path().join(name);
        let of = |mut program: Command, script: &Path| {
            program.arg(script);
            program
        };
        let mut command = match sdk {
            Sdk::Python => of(Command::new(peers().python()), &script("sdk_python.py")),
            Sdk::TypeScript1 => of(node(), &script("sdk_1.mjs")),
            Sdk::TypeScript2 => of(node(), &script("sdk_2.mjs")),
        };
        command
            .arg(match era {
                Era::Legacy => "legacy",
                Era::Modern => "modern",
            })
            .args(arguments)
            // For the `oz0` that a client starts on its stdio.
            .env("PATH", peers().path())
            .env("XDG_CONFIG_HOME", "/nonexistent");
        let mut handle = Self {
            running: Running::start(&mut command),
            protocol: String::new(),
            _scripts: scripts,
        };
        let first = handle.hear();
        first["protocol"]
            .as_str()
            .expect("the first line says it")
            .clone_into(&mut handle.protocol);
        handle
    }

    fn hear(&mut self) -> Value {
        let line = self.running.line().expect("the client answers: see its stderr above");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn say(&mut self, command: &Value) -> Value {
        writeln!(self.running.stdin(), "{command}").expect("the client reads");
        self.hear()
    }

    /// Every function, and how many pages they came on.
    pub(crate) fn list(&mut self) -> (Vec<Value>, u64) {
        // A list that changes between two of its pages is refused from there on, and read from its beginning.
        let answer = eventually("the functions are listed", || {
            let answer = self.say(&json!({"list": {}}));
            match answer["error"].as_str() {
                None => Some(answer),
                Some(error) => {
                    assert!(error.contains("cursor"), "{error}");
                    None
                }
            }
        });
        let tools = answer["tools"].as_array().expect("a list").clone();
        (tools, answer["pages"].as_u64().expect("a number"))
    }

    /// The functions' names.
    pub(crate) fn names(&mut self) -> Vec<String> {
        let named = |tool: &Value| tool["name"].as_str().expect("a name").to_owned();
        self.list().0.iter().map(named).collect()
    }

    /// What came of a call: `result` or `error`, `progress`, `asked`.
    pub(crate) fn call(&mut self, name: &str, arguments: &Value) -> Value {
        self.say(&json!({"call": {"name": name, "arguments": arguments}}))
    }

    /// Calls, and gives up at the first progress.
    pub(crate) fn give_up(&mut self, name: &str) -> Value {
        self.say(&json!({"call": {"name": name, "arguments": {}}, "cancel": true}))
    }

    /// Waits for word that the list has changed, and lists, until the list is as it should be: each look follows a
    /// notification that none followed before.
    pub(crate) fn changed_until(&mut self, holds: impl Fn(&[Value]) -> bool) {
        loop {
            assert_eq!(self.say(&json!({"changed": {}})), json!({"changed": true}));
            if holds(&self.list().0) {
                return;
            }
        }
    }

    /// Closes the connection.
    pub(crate) fn close(self) {
        self.running.finish();
    }
}
