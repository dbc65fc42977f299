//! Locked environments, from the registries. They need the network once, and are therefore asked
//! for: `cargo test -p oz0-launch -- --ignored`.

use std::path::Path;
use std::sync::{Arc, Mutex};

use oz0_plugin::{Dependencies, Plugin};
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

/// The bench's folder as a plugin, which is how its files are read.
fn plugin(bench: &Bench) -> Plugin {
    bench.write("oz0-plugin.yaml", "name: p\nversion: 1.0.0\ndescription: d\nlicense: MIT\n");
    Plugin::load(&bench.folder()).unwrap()
}

/// The bench's dependency files, with which nothing is wrong.
fn dependencies(bench: &Bench) -> Dependencies {
    let found = plugin(bench).dependencies().unwrap();
    assert!(found.unusable.is_empty(), "{:?}", found.unusable);
    found
}

fn prepare(
    environments: &Environments,
    bench: &Bench,
    tool: &PackageTool<'_>,
) -> Result<Prepared, PrepareError> {
    let lock = plugin(bench).lock_text(&tool.tool.try_into().unwrap()).unwrap()?;
    environments.prepare_package(&bench.folder(), tool, lock.as_ref())
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

#[test]
fn a_registry_is_asked_for_the_version_that_a_range_stands_for() {
    let bench = Bench::new();
    let (environments, _) = environments(&bench.cache());
    let time = environments.newest(Registry::Pypi, TIME.name, "==2026.10.19,>2026").unwrap();
    assert_eq!(time, "2026.10.19");
    let everything = environments.newest(Registry::Npm, EVERYTHING.name, "2026.8.31 - 2026.8.31");
    assert_eq!(everything.unwrap(), "2026.8.31");
    // Whatever is the newest, it is one version.
    let newest = environments.newest(Registry::Npm, EVERYTHING.name, "").unwrap();
    assert!(newest.split('.').count() == 3 && newest.starts_with(|c: char| c.is_ascii_digit()));
    for (registry, range) in [(Registry::Pypi, "<0.0.0"), (Registry::Npm, "<0.0.0")] {
        let name = if registry == Registry::Pypi { TIME.name } else { EVERYTHING.name };
        let error = environments.newest(registry, name, range).unwrap_err();
        assert!(error.is_refusal(), "{error}");
    }
    // Files that make a package a dependency of a plugin's own server are such that the loader takes them.
    for (path, text) in
        environments.python_files(&["mcp-server-time==2026.10.19".to_owned()]).unwrap()
    {
        bench.write(path, &text);
    }
    for (path, text) in environments.node_files(EVERYTHING.name, EVERYTHING.version).unwrap() {
        bench.write(path, &text);
    }
    let found = dependencies(&bench);
    assert!(found.python.is_some() && found.node.is_some());
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
    let prepared = environments.prepare_command(&dependencies(&bench), &argv).unwrap();
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
    let prepared = environments.prepare_command(&dependencies(&bench), &argv).unwrap();
    let [tier, _] = tiers();
    let running = bench.launcher(&tier).start(&prepared.launch(bench.folder())).await.unwrap();
    assert_eq!(crate::output(running).await.trim(), "/oz0/environment/python");
}

#[test]
fn a_package_that_does_not_exist_is_the_plugins_problem() {
    let bench = Bench::new();
    let (environments, _) = environments(&bench.cache());
    for tool in [
        PackageTool { version: "1999.1.1", ..TIME },
        PackageTool { version: "1999.1.1", ..EVERYTHING },
    ] {
        let PrepareError::Plugin(problem) = prepare(&environments, &bench, &tool).unwrap_err()
        else {
            panic!("the registry was reached")
        };
        let text = problem.to_string();
        assert!(text.contains(": could not lock ") && text.contains("1999.1.1"), "{text}");
        assert!(!bench.folder().join("locks").exists());
    }
}

/// A wheel of this name with these files, in a folder of its own, and its requirement.
fn wheel(folder: &Path, name: &str, files: &[(&str, &str)]) -> String {
    let script = "import hashlib, sys, zipfile\n\
        folder, name, *files = sys.argv[1:]\n\
        path = f'{folder}/{name}-1.0-py3-none-any.whl'\n\
        info = f'{name}-1.0.dist-info/'\n\
        all = dict(zip(files[::2], files[1::2]))\n\
        all[info + 'METADATA'] = f'Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n'\n\
        all[info + 'WHEEL'] = 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n'\n\
        all[info + 'RECORD'] = ''.join(f'{file},,\\n' for file in [*all, info + 'RECORD'])\n\
        with zipfile.ZipFile(path, 'w') as wheel:\n    \
            for file, text in all.items(): wheel.writestr(file, text)\n\
        print(hashlib.sha256(open(path, 'rb').read()).hexdigest(), end='')\n";
    let mut command = std::process::Command::new("python3");
    command.args(["-c", script]).arg(folder).arg(name);
    for (file, text) in files {
        command.args([file, text]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    format!("{name}==1.0 --hash=sha256:{}\n", String::from_utf8(output.stdout).unwrap())
}

/// A package runs for the first time in its sandbox: a `.pth` file and a `sitecustomize` are run by every start of an
/// environment's Python, so there is none while it is made.
#[test]
fn nothing_of_an_environment_is_started_while_it_is_made() {
    let bench = Bench::new();
    let ran = bench.folder().join("ran");
    let marker = format!("import pathlib; pathlib.Path({ran:?}).touch()\n");
    let index = bench.folder().join("index");
    std::fs::create_dir_all(index.join("hostile")).unwrap();
    let files = [("hostile.pth", &*marker), ("sitecustomize.py", &*marker), ("hostile.py", "")];
    let requirement = wheel(&index.join("hostile"), "hostile", &files);
    let file = "hostile-1.0-py3-none-any.whl";
    let page = format!("<a href=\"{file}\">{file}</a>");
    std::fs::write(index.join("hostile/index.html"), page).unwrap();
    bench.write("requirements.txt", &requirement);
    bench.write(".oz0ignore", "index\n");
    // Another process, for an index of its own.
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "environments::as_another_process", "--ignored"])
        .env("UV_INDEX_URL", format!("file://{}", index.display()))
        .env("UV_COMPILE_BYTECODE", "1")
        .env("OZ0_TEST_FOLDER", bench.root.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let environments = std::fs::read_dir(bench.cache().join("environments")).unwrap().flatten();
    let installed = environments
        .flat_map(|entry| std::fs::read_dir(entry.path().join("lib")).into_iter().flatten())
        .flatten()
        .any(|python| python.path().join("site-packages/hostile.pth").is_file());
    assert!(installed, "{said}");
    assert!(!ran.exists(), "a package ran outside the sandbox");
}

#[test]
#[ignore = "it is run by another test, with variables set"]
fn as_another_process() {
    let root = std::path::PathBuf::from(std::env::var_os("OZ0_TEST_FOLDER").unwrap());
    let (environments, _) = environments(&root.join("cache"));
    let found = {
        let folder = root.join("plugin");
        std::fs::write(
            folder.join("oz0-plugin.yaml"),
            "name: p\nversion: 1.0.0\ndescription: d\nlicense: MIT\n",
        )
        .unwrap();
        Plugin::load(&folder).unwrap().dependencies().unwrap()
    };
    environments.prepare_command(&found, &["python3".to_owned()]).unwrap();
}

#[test]
fn a_lock_of_uv_sets_up_nothing_and_installs_what_it_names() {
    let bench = Bench::new();
    let (environments, _) = environments(&bench.cache());
    let elsewhere = bench.root.path().join("elsewhere");
    bench.write("uv.toml", &format!("cache-dir = {elsewhere:?}\n"));
    let project = format!(
        "[project]\nname = 'p'\nversion = '1.0'\n[tool.uv]\ncache-dir = {elsewhere:?}\nrequired-version = '==0.0.1'\n"
    );
    bench.write("pyproject.toml", &project);
    let package = "[[package]]\nname = 'p'\nversion = '1.0'\nsource = { virtual = '.' }\n";
    bench.write("uv.lock", &format!("version = 1\nrequires-python = '>=3.8'\n{package}"));
    environments.prepare_command(&dependencies(&bench), &["python3".to_owned()]).unwrap();
    assert!(!elsewhere.exists());
    // What uv does not take for a lock is said of the file.
    bench.write("uv.lock", "version = 1\npackage = 'x'\n");
    let error =
        environments.prepare_command(&dependencies(&bench), &["python3".to_owned()]).unwrap_err();
    assert_eq!(error.to_string(), "uv.lock: could not read the plugin's uv.lock");
}

#[test]
fn a_lock_is_not_written_through_a_link() {
    let bench = Bench::new();
    let (environments, said) = environments(&bench.cache());
    let outside = bench.root.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, bench.folder().join("locks")).unwrap();
    for error in [
        environments.prepare_package(&bench.folder(), &TIME, None).unwrap_err(),
        prepare(&environments, &bench, &TIME).unwrap_err(),
    ] {
        assert!(matches!(error, PrepareError::Plugin(_)), "{error}");
        assert!(error.to_string().ends_with("a link, which is not followed"), "{error}");
    }
    assert_eq!(*said.lock().unwrap(), [""; 0]);
    assert_eq!(std::fs::read_dir(outside).unwrap().count(), 0);
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
        // OZ-S012, whoever pulls it in.
        format!(
            "mcp-server-time==2026.10.19 --hash=sha256:{hash}\nLiteLLM_Proxy==1.82.7 --hash=sha256:{hash}\n"
        ),
        format!(
            "mcp-server-time==2026.10.19 --hash=sha256:{hash}\nLiteLLM==1.82.7 --hash=sha256:{hash}\n"
        ),
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
        locked(&format!(
            r#", "node_modules/{name}": {{"version": "2026.8.31", "integrity": "{integrity}"}},
            "node_modules/router": {{"name": "litellm", "version": "1.0.0", "integrity": "{integrity}"}}"#,
            name = EVERYTHING.name,
            integrity = format!("sha512-{}==", "A".repeat(86)),
        )),
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
