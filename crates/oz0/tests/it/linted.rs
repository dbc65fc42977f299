//! `oz0 plugin lint` and `oz0 plugin explain`, by the built binary.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Said, checkout, folder, oz0, run, write};

const FINE: &str =
    "name: team\nversion: 1.0.0\nkind: capability\ndescription: Says hello.\nlicense: Apache-2.0\n";
/// Two warnings, one of which a fix mends.
const TWO: &str = "\
name: team
version: 1.0.0
kind: capability
description: Says hello.
license: Apache-2.0
egress: ['*.example.com']
agents:
  greeter:
    tools: [oz0_chat.post]  # says hello
uses:
  chat: {version: '>=1.1, <2', tools: [oz0_chat.post]}
";

/// A plugin with this manifest, a README and its licence.
fn plugin(manifest: &str) -> tempfile::TempDir {
    let folder = folder(&[("oz0-plugin.yaml", manifest)]);
    add_the_rest(folder.path());
    folder
}

fn add_the_rest(folder: &Path) {
    fs::copy(checkout().join("LICENSE"), folder.join("LICENSE")).expect("it can be copied");
    write(folder, "README.md", "# Team\n\nSays hello.\n");
}

fn lint(folder: &Path, arguments: &[&str]) -> Said {
    let folder = folder.to_str().expect("it is UTF-8");
    run(&mut oz0(["plugin", "lint"].iter().chain(arguments).chain([&folder])))
}

fn codes(text: &str) -> Vec<String> {
    let report: Value = serde_json::from_str(text).expect("it is JSON");
    let problems = report["problems"].as_array().expect("it has problems");
    problems.iter().map(|problem| problem["code"].as_str().expect("a code").to_owned()).collect()
}

#[test]
fn warnings_leave_zero_and_errors_one() {
    let folder = plugin(TWO);
    for (arguments, code) in [(vec![], 0), (vec!["--verified"], 1)] {
        let said = lint(folder.path(), &arguments);
        assert_eq!(said.code, Some(code), "{}", said.all());
        assert!(
            said.stdout.contains("[OZ-S005]") && said.stdout.contains("'*.example.com'"),
            "{}",
            said.all()
        );
        assert!(said.stderr.contains("team: "), "{}", said.all());
    }
    write(folder.path(), "oz0-plugin.yaml", "name: [");
    assert_eq!(lint(folder.path(), &[]).code, Some(1));
    assert_eq!(lint(&folder.path().join("nowhere"), &[]).code, Some(3));
}

#[test]
fn every_form_lists_the_same_findings_in_one_run() {
    let folder = folder(&[("plugin/oz0-plugin.yaml", TWO)]);
    add_the_rest(&folder.path().join("plugin"));
    let mut command = oz0([
        "plugin",
        "lint",
        "plugin",
        "--verified",
        "--format",
        "github",
        "--output",
        "json:a.json",
        "--output",
        "sarif:a.sarif",
        "--output",
        "concise:a.txt",
        "--output",
        "pretty:a.log",
    ]);
    let said = run(command.current_dir(folder.path()));
    assert_eq!(said.code, Some(1), "{}", said.all());
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let wanted = codes(&read("a.json"));
    assert_eq!(wanted, ["OZ-S005", "OZ-S019"]);
    let concise: Vec<String> = read("a.txt")
        .lines()
        .map(|line| line.split(['[', ']']).nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(concise, wanted);
    let pretty: Vec<String> = read("a.log")
        .lines()
        .filter(|line| line.starts_with("error["))
        .map(|line| line.split(['[', ']']).nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(pretty, wanted);
    let sarif: Value = serde_json::from_str(&read("a.sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let ids: Vec<&str> = results.iter().map(|result| result["ruleId"].as_str().unwrap()).collect();
    assert_eq!(ids, wanted);
    assert_eq!(
        results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
        "plugin/oz0-plugin.yaml"
    );
    let github: Vec<&str> = said.stdout.lines().collect();
    assert_eq!(github.len(), wanted.len());
    for (line, code) in github.iter().zip(&wanted) {
        assert!(line.starts_with("::error file=plugin/oz0-plugin.yaml,line="), "{line}");
        assert!(line.contains(&format!("title={code}::")), "{line}");
    }
}

#[test]
fn sarif_is_valid_against_the_published_schema() {
    let schema = checkout().join("crates/oz0-diagnostic/tests/data/sarif/sarif-schema-2.1.0.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let validator = jsonschema::options().build(&schema).unwrap();
    for manifest in [FINE, TWO, "name: ["] {
        let folder = plugin(manifest);
        let said = lint(folder.path(), &["--format", "sarif"]);
        let log: Value = serde_json::from_str(&said.stdout).unwrap();
        let problems: Vec<String> = validator
            .iter_errors(&log)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(problems.is_empty(), "{problems:#?}");
    }
}

#[test]
fn a_fix_is_shown_by_a_diff_and_made_without_one() {
    let folder = plugin(TWO);
    let read = || fs::read_to_string(folder.path().join("oz0-plugin.yaml")).unwrap();
    let said = lint(folder.path(), &["--fix", "--diff"]);
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stdout.contains("-    tools: [oz0_chat.post]  # says hello\n+    tools: [chat/oz0_chat.post]  # says hello"), "{}", said.all());
    assert_eq!(read(), TWO, "a diff writes nothing");
    let said = lint(folder.path(), &["--fix", "--json"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert_eq!(codes(&said.stdout), ["OZ-S005"]);
    assert!(said.stderr.contains("1 finding mended"), "{}", said.all());
    assert_eq!(read(), TWO.replace("[oz0_chat.post]  #", "[chat/oz0_chat.post]  #"));
    let again = lint(folder.path(), &["--fix", "--diff"]);
    assert_eq!((again.code, again.stdout.as_str()), (Some(0), ""), "{}", again.all());
}

#[test]
fn one_rule_alone_can_be_asked_for_and_an_unknown_one_is_wrong_usage() {
    let folder = plugin(TWO);
    for rule in ["OZ-S019", "s019", "bare-reference"] {
        assert_eq!(codes(&lint(folder.path(), &["--json", "--rule", rule]).stdout), ["OZ-S019"]);
    }
    let said = lint(folder.path(), &["--rule", "OZ-S91"]);
    assert_eq!(said.code, Some(2), "{}", said.all());
    assert!(
        said.stderr.contains("there is no rule OZ-S91") && said.stderr.contains("--list-rules"),
        "{}",
        said.all()
    );
    let said = lint(folder.path(), &["--rule", "bare-refernce"]);
    assert!(said.stderr.contains("did you mean bare-reference?"), "{}", said.all());
}

#[test]
fn a_rule_that_the_level_leaves_out_is_no_silent_pass() {
    let folder = plugin(TWO);
    let said = lint(folder.path(), &["--json", "--rule", "OZ-S018"]);
    assert_eq!(said.code, Some(2), "{}", said.all());
    assert!(said.stderr.contains("OZ-S018 does not run without --verified"), "{}", said.all());
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(report["summary"]["rules"], 0);
    assert_eq!(
        report["summary"]["not_run"],
        serde_json::json!([
            {"code": "OZ-S018", "reason": "runs at the verified level only; give --verified"}
        ])
    );
    let said = lint(folder.path(), &["--rule", "OZ-S018", "--rule", "OZ-S005"]);
    assert_eq!(said.code, Some(2), "{}", said.all());
    assert!(said.stdout.contains("[OZ-S005]"), "the other one runs: {}", said.all());
    assert!(said.stderr.contains("not run: OZ-S018: runs at the verified level"), "{}", said.all());
    let said = lint(folder.path(), &["--verified", "--rule", "OZ-S018"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    // A rule about another kind of plugin has nothing to say of this one, and says so.
    let said = lint(folder.path(), &["--rule", "OZ-S002"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stderr.contains("not run: OZ-S002: runs on connectors"), "{}", said.all());
    // What the loader finds is an error, whatever else was asked for.
    write(folder.path(), "oz0-plugin.yaml", "name: team\nlicence: MIT\n");
    let said = lint(folder.path(), &["--rule", "OZ-S018"]);
    assert_eq!(said.code, Some(1), "{}", said.all());
}

#[test]
fn a_diff_tells_what_no_fix_mends() {
    let folder = plugin(TWO);
    let said = lint(folder.path(), &["--fix", "--diff", "--verified"]);
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stdout.starts_with("--- a/") && !said.stdout.contains("OZ-S"), "{}", said.all());
    assert!(said.stderr.contains("error[OZ-S005]"), "{}", said.all());
    assert!(!said.stderr.contains("error[OZ-S019]"), "the diff mends it: {}", said.all());
    assert!(said.stderr.contains("1 finding would be mended; 1 would be left"), "{}", said.all());
    write(folder.path(), "oz0-plugin.yaml", &TWO.replace("license:", "licence:"));
    for arguments in [&["--fix", "--diff"][..], &["--fix"]] {
        let said = lint(folder.path(), arguments);
        assert_eq!(said.code, Some(1), "{}", said.all());
        assert!(said.all().contains("did you mean `license`?"), "{}", said.all());
        assert!(said.stderr.contains("not run: OZ-S001 to OZ-S022"), "{}", said.all());
    }
}

#[test]
fn a_format_that_is_none_is_told_the_formats() {
    let folder = plugin(FINE);
    let said = lint(folder.path(), &["--output", "xml:lint.xml"]);
    assert_eq!(said.code, Some(2), "{}", said.all());
    let formats = "there is no format `xml`; the formats are pretty, concise, json, sarif, github";
    assert!(said.stderr.contains(formats), "{}", said.all());
}

#[test]
fn the_rules_are_listed_and_each_is_explained_by_its_page() {
    let said = run(&mut oz0(["plugin", "lint", "--list-rules", "--json"]));
    let listed: Value = serde_json::from_str(&said.stdout).unwrap();
    let listed = listed["rules"].as_array().unwrap();
    assert_eq!(listed.len(), 22);
    for rule in listed {
        let code = rule["code"].as_str().unwrap();
        let said = run(&mut oz0(["plugin", "explain", code]));
        assert_eq!(said.code, Some(0), "{}", said.all());
        let page = checkout().join("docs/reference/rules").join(format!("{code}.md"));
        assert_eq!(said.stdout.trim_end(), fs::read_to_string(page).unwrap().trim_end(), "{code}");
    }
    for code in ["OZ-L001", "OZ-L002", "OZ-L003", "OZ-L010", "OZ-L011", "OZ-L020", "OZ-L021"] {
        let said = run(&mut oz0(["plugin", "explain", &code.to_lowercase()]));
        let page = checkout().join("docs/reference/rules").join(format!("{code}.md"));
        assert_eq!(said.stdout.trim_end(), fs::read_to_string(page).unwrap().trim_end(), "{code}");
    }
    let said = run(&mut oz0(["plugin", "explain", "not-the-license"]));
    assert_eq!(said.code, Some(2), "{}", said.all());
    assert!(said.stderr.contains("did you mean not-the-licence?"), "{}", said.all());
    let said = run(&mut oz0(["plugin", "explain", "not-the-licence", "--json"]));
    let code: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&code["code"], &code["plain"]), (&"OZ-L011".into(), &"error".into()));
    let said = run(&mut oz0(["plugin", "explain", "wildcard-egress", "--json"]));
    let rule: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(rule["code"], "OZ-S005");
    let said = run(&mut oz0(["plugin", "explain", "OZ-S023"]));
    assert_eq!(said.code, Some(2), "{}", said.all());
}

#[test]
fn text_of_the_plugin_moves_no_cursor() {
    let manifest = "name: team\nversion: 1.0.0\nkind: \"\\e[2Jnone\\u202e\"\ndescription: Says hello.\nlicense: Apache-2.0\n";
    let folder = plugin(manifest);
    for format in ["pretty", "concise", "github", "json", "sarif"] {
        let said = lint(folder.path(), &["--format", format]);
        let hidden = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(
            !said.stdout.contains(hidden) && !said.stderr.contains(hidden),
            "{format}: {}",
            said.all()
        );
        assert!(said.stdout.contains("OZ-S001"), "{}", said.all());
    }
}

#[test]
fn the_examples_lint_without_an_error() {
    for entry in fs::read_dir(checkout().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let said = lint(&path, &[]);
            assert_eq!(said.code, Some(0), "{}: {}", path.display(), said.all());
        }
    }
}

#[test]
fn a_plugin_that_brings_litellm_in_fails_by_every_way_and_is_not_packed() {
    for (path, text) in [
        (
            "pyproject.toml",
            "[project]\nname = \"a\"\nversion = \"1\"\ndependencies = [\"litellm\"]\n",
        ),
        ("requirements/base.in", "litellm\n"),
        ("poetry.lock", "[[package]]\nname = \"litellm\"\nversion = \"1.83.0\"\n"),
        ("package.json", "{\"dependencies\": {\"a\": \"npm:litellm@1\"}}"),
        ("web/yarn.lock", "\"a@npm:litellm@1\":\n  version \"0.12.0\"\n"),
        (".mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"uvx\", \"args\": [\"litellm\"]}}}"),
        ("server.py", "import litellm\n"),
        ("web/a.ts", "import a from 'litellm';\n"),
        ("vendor/litellm/__init__.py", ""),
        ("locks/a.lock", "litellm==1.83.0 --hash=sha256:00\n"),
        ("pnpm-lock.yaml", "lockfileVersion: ["),
    ] {
        let folder = plugin(FINE);
        write(folder.path(), path, text);
        let said = lint(folder.path(), &["--format", "concise"]);
        assert_eq!(said.code, Some(1), "{path}\n{}", said.all());
        assert!(said.stdout.contains("[OZ-S012]"), "{path}\n{}", said.all());
        let bundle = folder.path().join("a.oz0");
        let said = run(oz0(["plugin", "pack", "-o"]).arg(&bundle).arg(folder.path()));
        assert_eq!(said.code, Some(1), "{path}\n{}", said.all());
        assert!(said.all().contains("OZ-S012") && !bundle.exists(), "{path}\n{}", said.all());
    }
}
