//! The protocol's own conformance suite, against a server and against oz0 in front of that server.
//!
//! A check that fails on both says nothing about oz0, and neither does one that passes on both for lack of a function to
//! call. So the suite runs against a server that has everything it asks for, where the direct run must pass whole; and
//! against the reference test server as npm has it. Each check's verdict is compared, and every difference stands in
//! `tests/conformance.toml` with its reason. A difference that is not listed fails the test, and so does a listed one that is
//! gone.

use std::collections::{BTreeMap, BTreeSet};
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

/// Runs the suite's server scenarios of one version of the protocol, or one of them.
fn suite(url: &str, version: &str, names: Option<&Names>, scenario: Option<&str>) -> Verdicts {
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
        .args(["server", "--spec-version", version, "--url", url, "--output-dir"])
        .arg(output.path());
    match scenario {
        Some(scenario) => command.args(["--scenario", scenario]),
        None => command.args(["--suite", "all"]),
    };
    let said = command.output().expect("the suite runs");
    let verdicts = read(output.path());
    assert!(
        verdicts.len() > if scenario.is_some() { 0 } else { 60 },
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

/// What is known to differ.
fn known(server: &str, version: &str) -> Vec<String> {
    let text = fs::read_to_string(checkout().join(BASELINE)).expect("the baseline can be read");
    let baseline: Baseline = toml::from_str(&text).expect("the baseline is TOML");
    baseline
        .differences
        .into_iter()
        .filter(|group| group.server == server && group.version == version)
        .inspect(|group| assert!(!group.reason.is_empty(), "a difference has a reason"))
        .flat_map(|group| group.checks)
        .collect()
}

/// The lines of one that are not in the other.
fn without<'a>(lines: &'a [String], others: &[String]) -> Vec<&'a str> {
    lines.iter().filter(|line| !others.contains(line)).map(String::as_str).collect()
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

/// One server as the suite sees it.
struct Front<'a> {
    url: String,
    names: Option<Names>,
    version: &'a str,
    verdicts: Verdicts,
}

impl<'a> Front<'a> {
    fn judge(url: &str, names: Option<Names>, version: &'a str) -> Self {
        let verdicts = suite(url, version, names.as_ref(), None);
        Self { url: url.to_owned(), names, version, verdicts }
    }

    /// The verdicts with those on some scenarios new.
    fn again(&mut self, scenarios: &BTreeSet<String>) {
        for scenario in scenarios {
            self.verdicts.retain(|check, _| scenario_of(check) != scenario);
            let again = suite(&self.url, self.version, self.names.as_ref(), Some(scenario));
            self.verdicts.extend(again);
        }
    }
}

fn scenario_of(check: &str) -> &str {
    check.split('/').next().unwrap_or_default()
}

/// Judges a server at a URL, and oz0 in front of another that is alike; what to say where the differences are not those
/// that are known.
///
/// The suite waits for some messages only for half a second, so on a busy machine it can miss one. A scenario with a
/// surprise is judged again on both sides: what is wrong stays wrong.
fn compare(server: &str, version: &str, direct: &str, through: &str) -> Result<Verdicts, String> {
    let mut direct = Front::judge(direct, None, version);
    let mut through = Front::judge(through, Some(names(through, server)), version);
    let known = known(server, version);
    for attempt in 1.. {
        let differ = differences(&direct.verdicts, &through.verdicts);
        let (new, gone) = (without(&differ, &known), without(&known, &differ));
        if new.is_empty() && gone.is_empty() {
            break;
        }
        if attempt == 3 {
            return Err(format!(
                "{server}, {version}:\nnew differences: {new:#?}\nlisted, and gone: {gone:#?}\nthe baseline is {BASELINE}"
            ));
        }
        let scenarios = new.iter().chain(&gone).map(|line| scenario_of(line).to_owned()).collect();
        direct.again(&scenarios);
        through.again(&scenarios);
    }
    Ok(direct.verdicts)
}

/// Compares a server with oz0 in front of it as a process and as a remote, in these versions of the protocol; each run has
/// a server of its own, since some functions change what it lists. The verdicts on the server itself.
fn judged_alike(
    server: &str,
    serve: impl Fn() -> (Running, String) + Sync,
    plugin: &Path,
    versions: &[&str],
) -> Vec<Verdicts> {
    let run = |version: &str, as_remote: bool| {
        let (_direct, direct) = serve();
        let (_behind, behind) = serve();
        let house = House::new();
        let plugin = if as_remote { remote(&house, server, &behind) } else { plugin.to_owned() };
        let (_up, through) = house.up(&plugin);
        let front = if as_remote { "in front of a remote" } else { "in front of a process" };
        compare(server, version, &direct, &through).map_err(|wrong| format!("{front}: {wrong}\n"))
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let run = &run;
        let runs: Vec<_> = versions
            .iter()
            .flat_map(|version| [(version, false), (version, true)])
            .map(|(version, as_remote)| scope.spawn(move || run(version, as_remote)))
            .collect();
        runs.into_iter().map(|run| run.join().expect("a run of the suite")).collect()
    });
    let wrong: String =
        results.iter().filter_map(|result| result.as_ref().err().cloned()).collect();
    assert!(wrong.is_empty(), "{wrong}");
    results.into_iter().flatten().collect()
}

#[test]
fn a_server_with_everything_is_judged_alike_through_oz0() {
    let source = checkout().join("tests/servers/conformance");
    let serve = || {
        let mut command = Command::new(peers().python());
        command.args(["-W", "ignore"]).arg(source.join("server.py")).arg("--http");
        let server = Running::start(&mut command);
        let url = server.line().expect("the server says where it listens");
        (server, url)
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(&source, folder.path());
    let direct = judged_alike("conformance", serve, folder.path(), &[HANDSHAKE, STATELESS]);
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
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(&checkout().join("examples/everything"), folder.path());
    judged_alike("everything", everything, folder.path(), &[HANDSHAKE]);
}
