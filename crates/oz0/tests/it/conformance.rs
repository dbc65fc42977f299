//! The protocol's own conformance suite, against a server and against oz0 in front of that server.
//!
//! A check that fails on both says nothing about oz0, and neither does one that passes on both for lack of a function to
//! call. So the suite runs against a server that has everything it asks for, where the direct run must pass whole; and
//! against the reference test server as npm has it. Each check's verdict is compared, and every difference stands in
//! `tests/conformance.toml` with its reason. A difference that is not listed fails the test, and so does a listed one that is
//! gone.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

use crate::clients::{Era, Handle, Sdk, scripts};
use crate::running::{House, Running, eventually, node, peers};
use crate::support::{checkout, copy};

const HANDSHAKE: &str = "2025-11-25";
const STATELESS: &str = "2026-07-28";
const BASELINE: &str = "crates/oz0/tests/conformance.toml";

/// Each check's verdicts, by `scenario/check`: a check that is made more than once has more than one.
type Verdicts = BTreeMap<String, String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Baseline {
    differences: Vec<Differences>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Differences {
    server: String,
    version: String,
    reason: String,
    checks: Vec<String>,
}

/// What a server's functions are called, and what stands before that in the names that oz0 lists.
struct Names {
    prefix: String,
    names: Vec<String>,
}

/// Runs the suite's server scenarios of one version of the protocol.
fn suite(url: &str, version: &str, names: Option<&Names>) -> Verdicts {
    let output = tempfile::tempdir().expect("a temporary folder");
    let scripts = scripts();
    let mut command = node();
    if let Some(Names { prefix, names }) = names {
        command
            .arg("--import")
            .arg(scripts.path().join("names.mjs"))
            .env("TOOL_PREFIX", prefix)
            .env("TOOL_NAMES", names.join(","));
    }
    command
        .arg(peers().npm_packages().join("@modelcontextprotocol/conformance/dist/index.js"))
        .args(["server", "--suite", "all", "--spec-version", version, "--url", url])
        .arg("--output-dir")
        .arg(output.path());
    let said = command.output().expect("the suite runs");
    let verdicts = read(output.path());
    assert!(
        verdicts.len() > 60,
        "the suite broke off\n{}\n{}",
        String::from_utf8_lossy(&said.stdout),
        String::from_utf8_lossy(&said.stderr)
    );
    verdicts
}

/// The suite writes one folder a scenario, `server-SCENARIO-TIME`, with one file.
fn read(output: &Path) -> Verdicts {
    const TIME: usize = "-2026-11-30T14-49-40-029Z".len();
    let mut verdicts = Verdicts::new();
    for entry in fs::read_dir(output).expect("there are results") {
        let folder = entry.expect("an entry").path();
        let name = folder.file_name().and_then(|name| name.to_str()).expect("a name");
        let scenario = &name["server-".len()..name.len() - TIME];
        let text = fs::read_to_string(folder.join("checks.json")).expect("a scenario has checks");
        let checks: Vec<Value> = serde_json::from_str(&text).expect("they are JSON");
        for check in checks {
            let word = |member: &str| check[member].as_str().expect("a word");
            let status = word("status");
            // A note on what was seen, and no verdict.
            if status == "INFO" {
                continue;
            }
            verdicts
                .entry(format!("{scenario}/{}", word("id")))
                .and_modify(|all| {
                    all.push('+');
                    all.push_str(status);
                })
                .or_insert_with(|| status.to_owned());
        }
    }
    verdicts
}

fn differences(direct: &Verdicts, through: &Verdicts) -> Vec<String> {
    let mut checks: Vec<&String> = direct.keys().chain(through.keys()).collect();
    checks.sort_unstable();
    checks.dedup();
    let verdict = |of: &Verdicts, check| of.get(check).map_or("absent", String::as_str).to_owned();
    checks
        .into_iter()
        .map(|check| (check, verdict(direct, check), verdict(through, check)))
        .filter(|(_, direct, through)| direct != through)
        .map(|(check, direct, through)| format!("{check}: {direct} -> {through}"))
        .collect()
}

/// Holds what differs against what is known to: what to say, where they are not the same.
fn hold(server: &str, version: &str, front: &str, differ: &[String]) -> Option<String> {
    let path = checkout().join(BASELINE);
    let text = fs::read_to_string(&path).expect("the baseline can be read");
    let baseline: Baseline = toml::from_str(&text).expect("the baseline is TOML");
    let known: Vec<&String> = baseline
        .differences
        .iter()
        .filter(|group| group.server == server && group.version == version)
        .inspect(|group| assert!(!group.reason.is_empty(), "a difference has a reason"))
        .flat_map(|group| &group.checks)
        .collect();
    let new: Vec<&String> = differ.iter().filter(|line| !known.contains(line)).collect();
    let gone: Vec<&&String> = known.iter().filter(|line| !differ.contains(line)).collect();
    (!new.is_empty() || !gone.is_empty()).then(|| {
        format!(
            "{server}, {version}, in front of {front}:\nnew differences: {new:#?}\nlisted, and gone: {gone:#?}\n"
        )
    })
}

/// What oz0 lists, once it lists anything.
fn names(url: &str, tool: &str) -> Names {
    let prefix = format!("{tool}__");
    let mut handle = Handle::http(Sdk::TypeScript2, Era::Modern, url);
    let listed = eventually("oz0 lists the functions", || {
        let names = handle.names();
        (!names.is_empty()).then_some(names)
    });
    handle.close();
    let names = listed
        .iter()
        .map(|name| name.strip_prefix(&prefix).expect("one tool's functions").to_owned())
        .collect();
    Names { prefix, names }
}

/// A plugin whose one tool is a remote server.
fn remote(house: &House, tool: &str, url: &str) -> PathBuf {
    let plugin = house.folder().join("plugin");
    let manifest = format!(
        "name: {tool}\nversion: 1.0.0\nkind: connector\ndescription: A remote server.\nlicense: MIT\n\
         requires:\n  models: {{sampling: default}}\ntools:\n  {tool}:\n    url: {url}\n"
    );
    crate::support::write(&plugin, "oz0-plugin.yaml", &manifest);
    plugin
}

/// The verdicts on oz0 in front of a plugin's server.
fn through(house: &House, plugin: &Path, tool: &str, versions: &[&str]) -> Vec<Verdicts> {
    let (_up, url) = house.up(plugin);
    let names = names(&url, tool);
    versions.iter().map(|version| suite(&url, version, Some(&names))).collect()
}

/// Runs the suite against a server at a URL, and against oz0 in front of it, as a process and as a remote.
fn compare(tool: &str, url: &str, plugin: &Path, versions: &[&str]) -> Vec<Verdicts> {
    std::thread::scope(|scope| {
        let direct = scope
            .spawn(|| versions.iter().map(|version| suite(url, version, None)).collect::<Vec<_>>());
        let process = scope.spawn(|| through(&House::new(), plugin, tool, versions));
        let house = House::new();
        let remote = remote(&house, tool, url);
        let remote = scope.spawn(move || through(&house, &remote, tool, versions));
        let join = "a run of the suite";
        let direct = direct.join().expect(join);
        let mut wrong = String::new();
        for (front, through) in
            [("a process", process.join().expect(join)), ("a remote", remote.join().expect(join))]
        {
            for ((version, direct), through) in versions.iter().zip(&direct).zip(&through) {
                let differ = differences(direct, through);
                wrong.extend(hold(tool, version, front, &differ));
            }
        }
        assert!(wrong.is_empty(), "{wrong}the baseline is {BASELINE}");
        direct
    })
}

#[test]
fn a_server_with_everything_is_judged_alike_through_oz0() {
    let source = checkout().join("tests/servers/conformance");
    let mut command = Command::new(peers().python());
    command.args(["-W", "ignore"]).arg(source.join("server.py")).arg("--http");
    let server = Running::start(&mut command);
    let url = server.line().expect("the server says where it listens");
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(&source, folder.path());
    let direct = compare("conformance", &url, folder.path(), &[HANDSHAKE, STATELESS]);
    let failed: Vec<_> = direct
        .iter()
        .flatten()
        .filter(|(_, verdict)| verdict.contains("FAILURE") || verdict.contains("WARNING"))
        .collect();
    assert!(
        failed.is_empty(),
        "the direct run fails, which makes the comparison blind: {failed:#?}"
    );
}

/// The reference test server over HTTP, and its URL.
fn everything() -> (Running, String) {
    // It takes no port 0. Another process may take the free one in between, and then this one ends.
    for _ in 0..10 {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("it");
        let mut command = Command::new("sh");
        command
            .args(["-c", "exec \"$0\" streamableHttp 2>&1"])
            .arg(peers().npm_program("mcp-server-everything"))
            .env("PATH", peers().path())
            .env("PORT", free.port().to_string());
        let server = Running::start(&mut command);
        while let Some(line) = server.line() {
            if line.contains("listening on port") {
                return (server, format!("http://{free}/mcp"));
            }
        }
    }
    panic!("the reference test server did not start")
}

#[test]
fn the_reference_test_server_is_judged_alike_through_oz0() {
    let (_server, url) = everything();
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(&checkout().join("examples/everything"), folder.path());
    compare("everything", &url, folder.path(), &[HANDSHAKE]);
}
