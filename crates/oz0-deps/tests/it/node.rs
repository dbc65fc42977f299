//! `package.json` and lists of servers: what is found in them, and what is not.

use std::collections::BTreeMap;

use oz0_deps::{Ecosystem, Package, Reading, Request, Tree, Via, Wanted, read};

/// The packages that these tests look for.
pub(crate) fn wanted() -> Wanted {
    let package = |ecosystem, name: &str, modules: &[&str], repositories: &[&str]| Package {
        ecosystem,
        name: name.to_owned(),
        modules: modules.iter().map(|module| (*module).to_owned()).collect(),
        repositories: repositories.iter().map(|one| (*one).to_owned()).collect(),
        contents: vec!["main.py".to_owned(), "router.py".to_owned()],
        startup_files: Vec::new(),
    };
    Wanted::new(vec![
        package(Ecosystem::PyPi, "litellm", &["litellm"], &["github.com/berriai/litellm"]),
        package(Ecosystem::PyPi, "litellm-proxy-extras", &["litellm_proxy_extras"], &[]),
        package(Ecosystem::Npm, "litellm", &["litellm"], &["github.com/zya/litellmjs"]),
    ])
}

pub(crate) fn reading(path: &str, text: &[u8]) -> Reading {
    let files = BTreeMap::from([(path.to_owned(), text)]);
    read(&Tree::Files(&files), &Request::new(&wanted()))
}

pub(crate) fn via(via: Option<&Via>) -> String {
    match via {
        None => String::new(),
        Some(Via::List(list)) => format!(" in {list}"),
        Some(Via::Packages(packages)) => format!(" through {}", packages.join(" → ")),
        Some(Via::Files(files)) => format!(" from {}", files.join(" → ")),
        Some(Via::Alias(alias)) => format!(" as {alias}"),
        Some(_) => " ?".to_owned(),
    }
}

/// What a file mentions, as `HOW LINE:COLUMN TEXT VIA`. Everything in it can be read.
pub(crate) fn found(path: &str, text: &str) -> Vec<String> {
    let reading = reading(path, text.as_bytes());
    assert!(reading.unread.is_empty(), "{path}: {:?}\n{text}", reading.unread);
    lines(&reading)
}

pub(crate) fn lines(reading: &Reading) -> Vec<String> {
    let line = |mention: &oz0_deps::Mention| {
        let span = &mention.span;
        format!("{:?} {} {}{}", mention.how, span.start(), span.text(), via(mention.via.as_ref()))
    };
    reading.mentions.iter().map(line).collect()
}

/// What a file says that cannot be read, as `LINE:COLUMN PROBLEM`.
pub(crate) fn unread(path: &str, text: &[u8]) -> Vec<String> {
    let reading = reading(path, text);
    let line = |unread: &oz0_deps::Unread| format!("{} {}", unread.span.start(), unread.problem);
    reading.unread.iter().map(line).collect()
}

#[test]
fn each_list_of_dependencies_counts() {
    for list in ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"] {
        let text = format!(r#"{{"{list}": {{"a": "1", "litellm": "^0.12.0"}}}}"#);
        let at = list.len() + 18;
        assert_eq!(found("package.json", &text), [format!("Direct 1:{at} litellm in {list}")]);
    }
    for list in ["bundleDependencies", "bundledDependencies"] {
        let text = format!(r#"{{"{list}": ["litellm"]}}"#);
        let at = list.len() + 8;
        assert_eq!(found("web/package.json", &text), [format!("Direct 1:{at} litellm in {list}")]);
    }
}

/// Each dependency alone, and what it is found as; empty where it is not.
#[test]
fn a_dependency_names_what_it_installs() {
    for (key, value, wanted) in [
        ("litellm", "*", "litellm in dependencies"),
        ("litellm", "", "litellm in dependencies"),
        ("litellm", "latest", "litellm in dependencies"),
        ("litellm", "catalog:", "litellm in dependencies"),
        ("litellm", "workspace:*", "litellm in dependencies"),
        ("litellm", "file:../x", "litellm in dependencies"),
        ("litellm", "npm:^0.12.0", "litellm in dependencies"),
        ("litellm", "npm:other@1", ""),
        ("litellm", "npm:@a/other@1", ""),
        ("litellm", "jsr:@a/b@1", ""),
        ("x", "npm:litellm@^0.12.0", "litellm as x"),
        ("x", "npm:litellm", "litellm as x"),
        ("x", "npm:@a/litellm@1", ""),
        ("@a/litellm", "1", ""),
        ("LiteLLM", "1", ""),
        ("lite-llm", "1", ""),
        ("litellm-utils", "1", ""),
        ("x", "zya/litellmjs", "litellmjs as x"),
        ("x", "github:zya/LiteLLMjs#main", "LiteLLMjs as x"),
        ("x", "github:BerriAI/litellm", "litellm as x"),
        ("x", "git+https://github.com/zya/litellmjs.git#v1", "litellmjs as x"),
        ("x", "git+ssh://git@github.com/zya/litellmjs.git", "litellmjs as x"),
        ("x", "git@github.com:zya/litellmjs.git", "litellmjs as x"),
        ("x", "https://github.com/zya/litellmjs/archive/main.tar.gz", "litellmjs as x"),
        ("x", "https://codeload.github.com/zya/litellmjs/tar.gz/main", "litellmjs as x"),
        ("x", "git+https://github.com/fork/litellm.git", "litellm as x"),
        ("x", "git+https://git.example.com/team/litellm.git", "litellm as x"),
        ("x", "https://files.example.com/litellm/-/litellm-0.12.0.tgz", "litellm as x"),
        ("x", "file:vendor/litellm-0.12.0.tgz", "litellm as x"),
        ("x", "https://files.example.com/litellm/other-1.0.0.tgz", ""),
        ("x", "https://files.example.com/@a/litellm/-/litellm-0.12.0.tgz", ""),
        ("x", "file:vendor/litellm-helper-1.0.0.tgz", ""),
        ("x", "a/b", ""),
    ] {
        let text = format!(r#"{{"dependencies": {{"{key}": "{value}"}}}}"#);
        let found = found("package.json", &text);
        let short: Vec<&str> =
            found.iter().map(|line| line.splitn(3, ' ').nth(2).unwrap()).collect();
        let wanted: Vec<&str> =
            Some(wanted).filter(|wanted| !wanted.is_empty()).into_iter().collect();
        assert_eq!(short, wanted, "{key}: {value}");
    }
}

#[test]
fn an_override_counts_where_it_puts_the_package_in_anothers_place() {
    for (text, wanted) in [
        (r#"{"overrides": {"litellm": "0.12.0"}}"#, ""),
        (r#"{"overrides": {"litellm": {".": "npm:litellm@1", "x": "2"}}}"#, ""),
        (r#"{"overrides": {"x": "npm:litellm@0.12.0"}}"#, "litellm in overrides"),
        (r#"{"overrides": {"a": {"x": "npm:litellm@0.12.0"}}}"#, "litellm in overrides"),
        (r#"{"overrides": {"a": {".": "npm:litellm@0.12.0"}}}"#, "litellm in overrides"),
        (r#"{"resolutions": {"litellm": "1"}}"#, ""),
        (r#"{"resolutions": {"**/litellm": "npm:litellm@1"}}"#, ""),
        (r#"{"resolutions": {"**/@s/x": "npm:litellm@1"}}"#, "litellm in resolutions"),
        (r#"{"resolutions": {"x": "npm:litellm@1"}}"#, "litellm in resolutions"),
        (r#"{"pnpm": {"overrides": {"a>x": "npm:litellm@1"}}}"#, "litellm in pnpm.overrides"),
        (r#"{"pnpm": {"overrides": {"a>litellm@1": "npm:litellm@2"}}}"#, ""),
        (
            r#"{"pnpm": {"packageExtensions": {"a": {"dependencies": {"litellm": "1"}}}}}"#,
            "litellm in pnpm.packageExtensions.a.dependencies",
        ),
        (r#"{"dependencies": {"x": "npm:x@1"}, "overrides": {"litellm": "$x"}}"#, ""),
    ] {
        let found = found("package.json", text);
        let short: Vec<&str> =
            found.iter().map(|line| line.splitn(3, ' ').nth(2).unwrap()).collect();
        let wanted: Vec<&str> =
            Some(wanted).filter(|wanted| !wanted.is_empty()).into_iter().collect();
        assert_eq!(short, wanted, "{text}");
    }
}

#[test]
fn a_mere_mention_is_none() {
    for text in [
        r#"{"name": "litellm", "description": "litellm", "keywords": ["litellm"]}"#,
        r#"{"scripts": {"litellm": "npx litellm"}, "bin": {"litellm": "x.js"}}"#,
        r#"{"peerDependenciesMeta": {"litellm": {"optional": true}}, "engines": {"litellm": "1"}}"#,
        r#"{"workspaces": {"packages": [], "catalog": {"litellm": "1"}}}"#,
        r#"{"dependencies": {"openai": "1"}, "dependencies2": {"litellm": "1"}}"#,
        r#"{"dependencies": {"litellm": "1"}, "dependencies": {"openai": "1"}}"#,
        "[]",
        "null",
    ] {
        assert_eq!(found("package.json", text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_catalogs_alias_counts_where_a_dependency_refers_to_it() {
    let text = r#"{"workspaces": {"catalog": {"x": "npm:litellm@1"}, "catalogs": {"b": {"y": "npm:litellm@2"}}},
"dependencies": {"x": "catalog:", "y": "catalog:b", "z": "catalog:b"}}"#;
    assert_eq!(
        found("package.json", text),
        ["Direct 2:24 catalog: as x", "Direct 2:41 catalog:b as y"]
    );
}

#[test]
fn escapes_equal_members_and_a_mark_hide_nothing() {
    let text = "\u{feff}{\"dependencies\": {\"\\u006citellm\": \"1\"}}";
    assert_eq!(found("package.json", text), ["Direct 1:20 \\u006citellm in dependencies"]);
    let text = r#"{"dependencies": {"a": "1"}, "dep\u0065ndencies": {"x": "npm:lite\u006clm@1"}}"#;
    assert_eq!(found("package.json", text), [r"Direct 1:58 npm:lite\u006clm@1 as x"]);
}

#[test]
fn of_an_installed_package_only_what_is_installed_for_it_counts() {
    let text = r#"{"name": "a", "devDependencies": {"litellm": "1"}, "overrides": {"x": "npm:litellm@1"}}"#;
    assert_eq!(found("node_modules/a/package.json", text), Vec::<String>::new());
    let text = r#"{"name": "a", "dependencies": {"litellm": "1"}}"#;
    assert_eq!(
        found("x/node_modules/@s/a/package.json", text),
        ["Direct 1:33 litellm in dependencies"]
    );
    assert_eq!(
        found("node_modules/x/package.json", r#"{"name": "litellm"}"#),
        ["Vendored 1:11 litellm as x"]
    );
    assert_eq!(
        found("node_modules/x/test/package.json", r#"{"name": "litellm"}"#),
        Vec::<String>::new()
    );
    assert_eq!(found("packages/x/package.json", r#"{"name": "litellm"}"#), Vec::<String>::new());
}

#[test]
fn what_npm_would_refuse_is_unread() {
    for (text, wanted) in [
        ("", "1:1 is no JSON: it is empty"),
        ("{", "1:1 is no JSON: unterminated object"),
        ("{\n  // a comment\n}", "2:3 is no JSON: comments are not allowed"),
        ("{\"a\": 1,}", "1:8 is no JSON: trailing commas are not allowed"),
    ] {
        assert_eq!(unread("package.json", text.as_bytes()), [wanted], "{text}");
    }
    assert_eq!(unread("package.json", b"{\"a\": \"\xff\"}"), ["1:8 is not UTF-8"]);
    assert_eq!(unread("package.json", b"\xff\xfe{\0}\0"), ["1:1 is not UTF-8"]);
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    assert_eq!(unread("package.json", deep.as_bytes()), ["1:70 nests deeper than 64 levels"]);
    let fine = format!("{{\"dependencies\": {}{}}}", "[".repeat(63), "]".repeat(63));
    assert_eq!(unread("package.json", fine.as_bytes()), Vec::<String>::new());
}

#[test]
fn a_server_that_starts_the_package_is_found() {
    let text = r#"{
  // of a client
  "mcpServers": {
    "a": {"command": "uvx", "args": ["--with", "x", "litellm[proxy]==1.80", "--port", "1"]},
    "b": {"command": "sh", "args": ["-c", "exec npx -y litellm@0.12"]},
    "c": {"command": ["python3", "-m", "litellm.proxy"]},
    "d": {"url": "https://example.com/litellm", "args": ["litellm"]},
    "e": {"command": "uvx", "args": ["other", "litellm"], "env": {"X": "litellm"}},
  },
}"#;
    for path in [
        ".mcp.json",
        ".vscode/mcp.json",
        "claude_desktop_config.json",
        "a/.claude-plugin/plugin.json",
    ] {
        assert_eq!(
            found(path, text),
            ["Command 4:54 litellm", "Command 5:56 litellm", "Command 6:41 litellm"],
            "{path}"
        );
    }
    assert_eq!(found("servers.json", text), Vec::<String>::new());
    assert_eq!(unread(".mcp.json", b"{\"mcpServers\": ").len(), 1);
}
