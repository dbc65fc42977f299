//! Locked environments, from the registries. They need the network once, and are therefore asked
//! for: `cargo test -p oz0-launch -- --ignored`.

use std::path::Path;
use std::sync::{Arc, Mutex};

use oz0_server::{
    Environments, LaunchSpec, PackageTool, PrepareError, Prepared, Registry, TierChoice,
};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::{Bench, PROGRAM, tiers};

/// What was said, and the environments that said it.
fn environments(cache: &Path) -> (Environments, Arc<Mutex<Vec<String>>>) {
    let said = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&said);
    let progress = Arc::new(move |line: &str| heard.lock().unwrap().push(line.to_owned()));
    (Environments::new(PROGRAM, cache, progress), said)
}

/// The names that a server lists, asked in the era that every published server speaks.
async fn functions(bench: &Bench, spec: &LaunchSpec, tier: &TierChoice) -> Vec<String> {
    let mut running = bench.launcher(tier).start(spec).await.unwrap();
    let (mut stdin, stdout) = running.take_stdio().unwrap();
    let messages = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"oz0","version":"0"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    ];
    for message in messages {
        stdin.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
    let mut lines = BufReader::new(stdout).lines();
    let mut names = Vec::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        let message: serde_json::Value = serde_json::from_str(&line).unwrap();
        if message["id"] == 2 {
            let tools = message["result"]["tools"].as_array().unwrap();
            names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
            break;
        }
    }
    drop(stdin);
    running.stop(oz0_server::StopBounds::default()).await;
    names.sort();
    names
}

const TIME: PackageTool<'_> = PackageTool {
    tool: "time",
    registry: Registry::Pypi,
    name: "mcp-server-time",
    version: "2026.10.19",
    args: &[],
};

const EVERYTHING: PackageTool<'_> = PackageTool {
    tool: "everything",
    registry: Registry::Npm,
    name: "@modelcontextprotocol/server-everything",
    version: "2026.8.31",
    args: &[],
};

fn prepare(
    environments: &Environments,
    bench: &Bench,
    tool: &PackageTool<'_>,
) -> Result<Prepared, PrepareError> {
    environments.prepare_package(&bench.folder(), tool, false)
}

#[tokio::test]
async fn a_pypi_package_is_locked_installed_and_lists_in_both_tiers() {
    let bench = Bench::new();
    let (environments, said) = environments(&bench.cache());
    let prepared = prepare(&environments, &bench, &TIME).unwrap();
    assert_eq!(prepared.argv, ["mcp-server-time"]);
    let lock = std::fs::read_to_string(bench.folder().join("locks/time.lock")).unwrap();
    assert!(lock.contains("mcp-server-time==2026.10.19 \\\n    --hash=sha256:"), "{lock}");
    assert!(!lock.contains("://"), "{lock}");
    assert!(said.lock().unwrap().contains(&"wrote locks/time.lock".to_owned()));
    for tier in tiers() {
        let names = functions(&bench, &prepared.launch(bench.folder()), &tier).await;
        assert_eq!(names, ["convert_time", "get_current_time"]);
    }
    // A second time, nothing is installed and nothing is said.
    let heard = said.lock().unwrap().len();
    assert_eq!(prepare(&environments, &bench, &TIME).unwrap(), prepared);
    assert_eq!(said.lock().unwrap().len(), heard);
    // An install that was interrupted is done again.
    let environment = prepared.python_environment.clone().unwrap();
    std::fs::remove_file(environment.join(".oz0-ready")).unwrap();
    std::fs::remove_file(environment.join("bin/mcp-server-time")).unwrap();
    assert_eq!(prepare(&environments, &bench, &TIME).unwrap(), prepared);
    assert!(environment.join("bin/mcp-server-time").exists());
    // Another version than the lock's is the author's to settle.
    let other = PackageTool { version: "2026.1.1", ..TIME };
    let error = prepare(&environments, &bench, &other).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("locks/time.lock:")
            && text.ends_with(
                "the lock holds mcp-server-time==2026.10.19, and the manifest names 2026.1.1"
            ),
        "{text}"
    );
}

#[tokio::test]
async fn an_npm_package_is_locked_installed_and_lists_in_both_tiers() {
    let bench = Bench::new();
    let (environments, _) = environments(&bench.cache());
    let prepared = prepare(&environments, &bench, &EVERYTHING).unwrap();
    assert_eq!(prepared.argv, ["mcp-server-everything"]);
    let lock = std::fs::read_to_string(bench.folder().join("locks/everything.lock")).unwrap();
    assert!(!lock.contains("resolved"), "{lock}");
    for tier in tiers() {
        let names = functions(&bench, &prepared.launch(bench.folder()), &tier).await;
        assert!(names.contains(&"echo".to_owned()), "{names:?}");
    }
    assert_eq!(prepare(&environments, &bench, &EVERYTHING).unwrap(), prepared);
}

#[tokio::test]
async fn a_plugins_own_node_server_finds_its_locked_packages() {
    let bench = Bench::new();
    let (environments, _) = environments(&bench.cache());
    let lock = environments.lock(&EVERYTHING).unwrap();
    bench.write("package-lock.json", &lock);
    let manifest = serde_json::json!({
        "name": "oz0-tool", "version": "0.0.0", "type": "module",
        "scripts": {"postinstall": "touch ran"},
        "dependencies": {EVERYTHING.name: EVERYTHING.version},
    });
    bench.write("package.json", &manifest.to_string());
    let module = "import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';\n\
                  console.log(typeof McpServer);\n";
    bench.write("src/server.js", module);
    let argv = ["node".to_owned(), "src/server.js".to_owned()];
    let prepared = environments.prepare_command(&bench.folder(), &argv).unwrap();
    for tier in tiers() {
        let running = bench.launcher(&tier).start(&prepared.launch(bench.folder())).await.unwrap();
        assert_eq!(crate::output(running).await.trim(), "function");
    }
}

#[tokio::test]
async fn a_plugins_own_python_server_finds_its_locked_packages() {
    let bench = Bench::new();
    let (environments, _) = environments(&bench.cache());
    // With an extra, whose packages are locked like any other.
    let sdk = PackageTool { name: "mcp[cli]", version: "1.28.0", ..TIME };
    bench.write("requirements.txt", &environments.lock(&sdk).unwrap());
    bench.write("server.py", "import sys, mcp, typer\nprint(sys.prefix)\n");
    let argv = ["python3".to_owned(), "server.py".to_owned()];
    let prepared = environments.prepare_command(&bench.folder(), &argv).unwrap();
    let [tier, _] = tiers();
    let running = bench.launcher(&tier).start(&prepared.launch(bench.folder())).await.unwrap();
    assert_eq!(crate::output(running).await.trim(), "/oz0/environment/python");
}

#[test]
fn a_package_that_does_not_exist_says_what_the_installer_said() {
    let bench = Bench::new();
    let (environments, _) = environments(&bench.cache());
    let tool = PackageTool { version: "1999.1.1", ..TIME };
    let PrepareError::Failed(error) = prepare(&environments, &bench, &tool).unwrap_err() else {
        panic!("that is no problem of a file")
    };
    let text = error.to_string();
    assert!(text.starts_with("could not lock mcp-server-time==1999.1.1: "), "{text}");
    assert!(text.contains("exit code 1\n  | "), "{text}");
    assert!(!bench.folder().join("locks").exists());
}

#[test]
fn a_requirement_without_a_hash_is_named_by_its_line() {
    let bench = Bench::new();
    let (environments, _) = environments(&bench.cache());
    let hash = "0".repeat(64);
    bench.write("requirements.txt", &format!("# mine\na==1 \\\n  --hash=sha256:{hash}\nb==2\n"));
    let argv = ["python3".to_owned()];
    let error = environments.prepare_command(&bench.folder(), &argv).unwrap_err();
    assert_eq!(error.to_string(), "requirements.txt:4: b==2 has no hash");
    assert!(!bench.cache().exists(), "nothing was installed");
}

#[test]
fn locks_that_do_not_lock_are_refused_before_anything_is_installed() {
    let hash = "0".repeat(64);
    let python = [
        "mcp-server-time==2026.10.19\n".to_owned(),
        format!("mcp-server-time>=1 --hash=sha256:{hash}\n"),
        format!("mcp-server-time==1.* --hash=sha256:{hash}\n"),
        "mcp-server-time==2026.10.19 --hash=sha256:00\n".to_owned(),
        "mcp-server-time==2026.10.19 --hash=md5:00000000000000000000000000000000\n".to_owned(),
        "-r other.txt\n".to_owned(),
        "--index-url=elsewhere\n".to_owned(),
        format!("mcp-server-time @ file:///x.whl --hash=sha256:{hash}\n"),
        format!("other==1 --hash=sha256:{hash}\n"),
        format!("Mcp.Server_Time==1 --hash=sha256:{hash}\n"),
        String::new(),
        "\u{feff}# only a comment \\\n".to_owned(),
        "\0\u{202e}\n".to_owned(),
    ];
    let locked = |packages: &str| {
        let name = EVERYTHING.name;
        format!(
            r#"{{"lockfileVersion": 3, "packages": {{"": {{"dependencies": {{"{name}": "2026.8.31"}}}}{packages}}}}}"#
        )
    };
    let entry = |version: &str, rest: &str| {
        let name = EVERYTHING.name;
        locked(&format!(r#", "node_modules/{name}": {{"version": "{version}"{rest}}}"#))
    };
    let node = [
        "{".to_owned(),
        "[]".to_owned(),
        r#"{"lockfileVersion": 1}"#.to_owned(),
        locked(""),
        entry("2026.8.31", ""),
        entry("1.0.0", r#", "integrity": "sha512-x""#),
        entry("2026.8.31", r#", "link": true"#),
        locked(r#", "packages/own": {"version": "1.0.0"}"#),
        r#"{"lockfileVersion": 3, "packages": {"": {"dependencies": {"left-pad": "1.3.0"}}}}"#
            .to_owned(),
    ];
    let bench = Bench::new();
    let (environments, said) = environments(&bench.cache());
    let mut messages = Vec::new();
    let tools =
        python.iter().map(|text| (text, &TIME)).chain(node.iter().map(|text| (text, &EVERYTHING)));
    for (text, tool) in tools {
        bench.write(&tool.lock_file(), text);
        match prepare(&environments, &bench, tool).unwrap_err() {
            PrepareError::Plugin(problem) => {
                messages.push(format!("{problem}\n  hint: {}", problem.help));
            }
            PrepareError::Failed(error) => panic!("{text:?}: {error}"),
        }
    }
    insta::assert_snapshot!(messages.join("\n"));
    assert_eq!(*said.lock().unwrap(), [""; 0]);
    assert!(!bench.cache().exists());
}
