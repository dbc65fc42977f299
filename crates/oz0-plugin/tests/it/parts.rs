//! The parts that other crates ask a plugin for.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;

use oz0_diagnostic::report::concise;
use oz0_listing::file::ListingFile;
use oz0_listing::{ToolId, merge, read_tool};
use oz0_plugin::manifest::{Backend, Manifest, PackageRef, Pin, UrlTemplate, decode};
use oz0_plugin::{ListingState, PythonDependencies, SnapshotState};

use super::{LEAST, folder, load, write};

fn manifest(more: &str) -> Manifest {
    let decoded = decode("oz0-plugin.yaml", format!("{LEAST}{more}").as_bytes());
    let said = concise(&decoded.diagnostics);
    decoded.manifest.unwrap_or_else(|| panic!("{said}"))
}

fn package(text: &str) -> PackageRef {
    let manifest = manifest(&format!("tools: {{t: {{package: '{text}'}}}}\n"));
    let Backend::Package(package) = manifest.tools.get("t").unwrap().backend() else { panic!() };
    package.clone()
}

#[test]
fn packages_are_pinned_or_float_as_their_registries_have_it() {
    let digest = format!("sha256:{}", "0a".repeat(32));
    let exact = |version: &str| Pin::Exact(version.to_owned());
    let floating = |version: &str| Pin::Floating(version.to_owned());
    for (text, name, pin) in [
        ("pypi:mcp-server-git==2026.1.14", "mcp-server-git", exact("2026.1.14")),
        ("pypi:a==1!2.0.post1+local", "a", exact("1!2.0.post1+local")),
        ("pypi:Foo_Bar[cli, http]==1.0rc1", "Foo_Bar", exact("1.0rc1")),
        ("pypi:a==1.*", "a", floating("==1.*")),
        ("pypi:a==latest", "a", floating("==latest")),
        ("pypi:a===1.0", "a", floating("===1.0")),
        ("pypi:a>=1,<2", "a", floating(">=1,<2")),
        ("pypi:a==1,!=1.0", "a", floating("==1,!=1.0")),
        ("pypi:a", "a", Pin::Absent),
        ("npm:server@1.2.3", "server", exact("1.2.3")),
        ("npm:@scope/server@1.2.3-rc.1+b", "@scope/server", exact("1.2.3-rc.1+b")),
        ("npm:@scope/server@^1.2", "@scope/server", floating("^1.2")),
        ("npm:@scope/server@latest", "@scope/server", floating("latest")),
        ("npm:@scope/server@1.2", "@scope/server", floating("1.2")),
        ("npm:@scope/server", "@scope/server", Pin::Absent),
        ("npm:server", "server", Pin::Absent),
        ("oci:ghcr.io/acme/guard:1.0", "ghcr.io/acme/guard", floating("1.0")),
        ("oci:localhost:5000/guard", "localhost:5000/guard", Pin::Absent),
        (&format!("oci:localhost:5000/guard:1@{digest}"), "localhost:5000/guard", exact(&digest)),
    ] {
        let package = package(text);
        assert_eq!(package.name(), name, "{text}");
        assert_eq!(package.pin(), &pin, "{text}");
    }
    assert!(matches!(
        package("pypi:a[b,c]==1"),
        PackageRef::Pypi { extras, .. } if extras == ["b", "c"]
    ));
}

#[test]
fn a_package_reads_back_as_it_was_written() {
    for text in [
        "pypi:a[b,c]==1.0",
        "pypi:a>=1,<2",
        "npm:@scope/server@^1.2",
        "npm:server",
        "oci:ghcr.io/acme/guard:1.0",
        "oci:ghcr.io/acme/guard",
    ] {
        assert_eq!(package(text).to_string(), text);
    }
}

fn url(text: &str) -> UrlTemplate {
    let manifest = manifest(&format!(
        "tools: {{t: {{url: '{text}', connection: c}}}}\nconnections: {{c: {{params: {{host: {{}}, path: {{}}}}}}}}\n"
    ));
    let Backend::Url(url) = manifest.tools.get("t").unwrap().backend() else { panic!() };
    url.clone()
}

#[test]
fn a_urls_params_are_filled_in_and_change_nothing_but_their_place() {
    let template = url("https://{host}/v1/{path}/mcp");
    assert_eq!(template.params(), ["host", "path"]);
    assert!(template.host_is_param());
    assert!(!url("https://mcp.example.com/{path}").host_is_param());
    let fill = |host: &'static str, path: &'static str| {
        template
            .fill(|name| Some(if name == "host" { host } else { path }))
            .map(|url| url.to_string())
    };
    assert_eq!(fill("mcp.example.com", "acme").unwrap(), "https://mcp.example.com/v1/acme/mcp");
    assert_eq!(fill("mcp.example.com:8443", "a").unwrap(), "https://mcp.example.com:8443/v1/a/mcp");
    for (host, path) in [
        ("evil.example/x", "a"),
        ("user@evil.example", "a"),
        ("a\\b", "a"),
        ("", "a"),
        ("a#b", "a"),
        ("mcp.example.com", "../.."),
        ("mcp.example.com", ".."),
        ("mcp.example.com", "a?b"),
        ("mcp.example.com", "%2e%2e"),
    ] {
        assert_eq!(fill(host, path), None, "{host} {path}");
    }
    assert_eq!(template.fill(|_| None), None);
    assert_eq!(url("http://{host}/").fill(|_| Some("mcp.example.com")), None, "plain http outside");
    assert!(url("http://{host}/").fill(|_| Some("localhost")).is_some());
}

#[test]
fn version_ranges_match_as_their_branches_do() {
    let manifest = manifest("uses: {a: {version: '>=1.1, <2 || ^3'}}\n");
    let range = manifest.uses.get("a").unwrap().version.as_ref().unwrap();
    assert_eq!(range.branches().len(), 2);
    let decoded = decode("oz0-plugin.yaml", LEAST.replace("1.0.0", "3.4.5").as_bytes());
    assert!(range.matches(&decoded.manifest.unwrap().version));
    let decoded = decode("oz0-plugin.yaml", LEAST.as_bytes());
    assert!(!range.matches(&decoded.manifest.unwrap().version));
}

#[test]
fn a_listing_is_missing_fresh_stale_or_unreadable() {
    let folder = folder(&[("oz0-plugin.yaml", LEAST), ("server.py", "")]);
    assert!(matches!(load(&folder).listing_state().unwrap(), ListingState::Missing));

    let listing = ListingFile {
        source_digest: load(&folder).source_digest().unwrap(),
        functions: Vec::new(),
        left_out: Vec::new(),
    };
    let path = folder.path().join("tools.listing.json");
    oz0_plugin::write_atomically(&path, listing.write().as_bytes()).unwrap();
    let state = load(&folder).listing_state().unwrap();
    assert!(matches!(&state, ListingState::Fresh(fresh) if *fresh == listing), "{state:?}");

    write(folder.path(), "server.py", "print()\n");
    let plugin = load(&folder);
    let state = plugin.listing_state().unwrap();
    assert!(
        matches!(&state, ListingState::Stale { now, .. } if *now == plugin.source_digest().unwrap()),
        "{state:?}"
    );
    assert_eq!(state.listing(), Some(&listing));

    for bytes in [&b"{"[..], b"", b"{\"format\": \"\xff\"}", b"[]"] {
        fs::write(&path, bytes).unwrap();
        let state = load(&folder).listing_state().unwrap();
        let ListingState::Unreadable(diagnostic) = state else { panic!("{state:?}") };
        assert_eq!(diagnostic.check.code, "OZ-L001");
        assert_eq!(diagnostic.span.file().path(), "tools.listing.json");
    }

    fs::remove_file(&path).unwrap();
    symlink("/dev/zero", &path).unwrap();
    assert!(matches!(load(&folder).listing_state().unwrap(), ListingState::Unreadable(_)));
}

#[test]
fn an_ignore_file_never_takes_the_listing_away() {
    for rules in ["tools.listing.json\n", "*\n", "*.json\n"] {
        let folder = folder(&[("oz0-plugin.yaml", LEAST), (".oz0ignore", rules)]);
        write(folder.path(), "tools.listing.json", "{");
        write(folder.path(), "sub/tools.listing.json", "{");
        let plugin = load(&folder);
        assert!(plugin.file("tools.listing.json").is_some(), "{rules}");
        assert!(plugin.file("sub/tools.listing.json").is_none(), "{rules}");
        assert!(matches!(plugin.listing_state().unwrap(), ListingState::Unreadable(_)), "{rules}");
        fs::remove_file(folder.path().join("tools.listing.json")).unwrap();
        symlink("/dev/zero", folder.path().join("tools.listing.json")).unwrap();
        let state = load(&folder).listing_state().unwrap();
        assert!(matches!(state, ListingState::Unreadable(_)), "{rules} {state:?}");
    }
}

#[test]
fn what_stands_where_a_listing_should_is_said() {
    let folder = folder(&[("oz0-plugin.yaml", LEAST)]);
    let outside = tempfile::tempdir().unwrap();
    let root = folder.path();
    let tool = ToolId::try_from("tracker").unwrap();
    fs::create_dir(root.join("tools.listing.json")).unwrap();
    fs::create_dir_all(root.join("snapshots/tracker.json/sub")).unwrap();
    let mut said = String::new();
    let mut say = || {
        let plugin = load(&folder);
        let ListingState::Unreadable(listing) = plugin.listing_state().unwrap() else { panic!() };
        let SnapshotState::Unreadable(snapshot) = plugin.snapshot(&tool).unwrap() else { panic!() };
        for finding in [*listing, *snapshot] {
            said.push_str(&concise(std::slice::from_ref(&finding)));
            writeln!(said, "  help: {}", finding.help.unwrap()).unwrap();
        }
    };
    say();
    fs::remove_dir(root.join("tools.listing.json")).unwrap();
    fs::remove_dir_all(root.join("snapshots")).unwrap();
    symlink(outside.path(), root.join("tools.listing.json")).unwrap();
    symlink(outside.path(), root.join("snapshots")).unwrap();
    say();
    insta::assert_snapshot!(said);
}

#[test]
fn functions_of_tools_that_the_plugin_does_not_start_are_a_warning() {
    let manifest = format!(
        "{LEAST}tools: {{team: {{mcp: {{command: [a]}}}}, far: {{url: 'https://far.example/mcp'}}}}\n"
    );
    let folder = folder(&[("oz0-plugin.yaml", &manifest)]);
    let tools = [("far", &["one"][..]), ("gone", &["one", "two"]), ("team", &["one"])];
    let tools = tools.map(|(tool, names)| {
        let raw: Vec<String> =
            names.iter().map(|name| format!("{{\"name\": \"{name}\"}}")).collect();
        let raw: Vec<&str> = raw.iter().map(String::as_str).collect();
        read_tool(&ToolId::try_from(tool).unwrap(), &raw, &BTreeMap::new())
    });
    let mut listing = ListingFile {
        source_digest: load(&folder).source_digest().unwrap(),
        functions: merge(tools.to_vec()).functions,
        left_out: Vec::new(),
    };
    let write = |listing: &ListingFile| {
        write(folder.path(), "tools.listing.json", &listing.write());
        let plugin = load(&folder);
        let state = plugin.listing_state().unwrap();
        plugin.foreign_functions(state.listing().unwrap()).unwrap()
    };
    let found = write(&listing);
    let help: Vec<&str> = found.iter().map(|found| found.help.as_deref().unwrap()).collect();
    insta::assert_snapshot!(format!("{}{}", concise(&found), help.join("\n")));
    listing.functions.retain(|function| function.id.as_str() == "team.one");
    assert!(write(&listing).is_empty());
}

#[test]
fn a_snapshot_is_of_its_own_tool() {
    let tool = ToolId::try_from("tracker").unwrap();
    let folder = folder(&[("oz0-plugin.yaml", LEAST)]);
    assert!(matches!(load(&folder).snapshot(&tool).unwrap(), SnapshotState::Missing));

    let text = "{\"format\": \"oz0.tool-snapshot.v1\", \"tool\": \"tracker\", \"functions\": []}\n";
    write(folder.path(), "snapshots/tracker.json", text);
    let state = load(&folder).snapshot(&tool).unwrap();
    assert!(
        matches!(&state, SnapshotState::Present(snapshot) if snapshot.tool == tool),
        "{state:?}"
    );

    write(folder.path(), "snapshots/tracker.json", &text.replace("\"tracker\"", "\"other\""));
    let state = load(&folder).snapshot(&tool).unwrap();
    let SnapshotState::Unreadable(diagnostic) = state else { panic!("{state:?}") };
    assert_eq!(
        concise(&[*diagnostic]).trim(),
        "snapshots/tracker.json:1:36: error[OZ-L002] the snapshot is of the tool `other`"
    );
}

/// What is said of the dependency files of this plugin.
fn said(folder: &tempfile::TempDir) -> Vec<String> {
    let found = load(folder).dependencies().unwrap();
    found.unusable.iter().map(|problem| format!("{:?} {problem}", problem.level)).collect()
}

#[test]
fn dependency_files_count_only_when_they_fix_everything() {
    let folder = folder(&[("oz0-plugin.yaml", LEAST)]);
    let detect = || load(&folder).dependencies().unwrap();
    let found = detect();
    assert!(found.python.is_none() && found.node.is_none() && found.unusable.is_empty());

    write(folder.path(), "requirements.txt", "# mine\nmcp==1.0\n");
    assert!(detect().python.is_none());
    assert_eq!(said(&folder), ["Error requirements.txt:2: mcp==1.0 has no hash"]);

    let hash = "0".repeat(64);
    write(folder.path(), "requirements.txt", &format!("mcp==1.0 \\\n  --hash=sha256:{hash}\n"));
    assert!(matches!(detect().python, Some(PythonDependencies::Requirements(_))));

    write(folder.path(), "uv.lock", "version = 1\n");
    assert_eq!(said(&folder), ["Error uv.lock: there is no pyproject.toml beside it"]);
    write(folder.path(), "pyproject.toml", "[project]\nname = 'p'\n[tool.uv]\ncache-dir = '/x'\n");
    let Some(PythonDependencies::UvLock(lock)) = detect().python else { panic!("it is a lock") };
    assert!(!lock.project_text().contains("cache-dir"), "{}", lock.project_text());

    write(folder.path(), "package-lock.json", r#"{"lockfileVersion": 3}"#);
    assert_eq!(said(&folder), ["Error package-lock.json: there is no package.json beside it"]);
    write(folder.path(), "package.json", "{}");
    assert!(detect().node.is_some());
    assert_eq!(said(&folder), [""; 0]);
}

#[test]
fn dependency_files_that_are_no_part_of_the_plugin_are_not_read() {
    let hash = "0".repeat(64);
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), format!("secret==1 --hash=sha256:{hash}\n")).unwrap();
    let folder = folder(&[
        ("oz0-plugin.yaml", LEAST),
        (".oz0ignore", "package-lock.json\n"),
        ("package.json", "{}"),
        ("package-lock.json", r#"{"lockfileVersion": 3}"#),
    ]);
    std::os::unix::fs::symlink(secret.path(), folder.path().join("requirements.txt")).unwrap();
    std::os::unix::fs::symlink(folder.path(), folder.path().join("locks")).unwrap();
    let found = load(&folder).dependencies().unwrap();
    assert!(found.python.is_none() && found.node.is_none());
    assert_eq!(
        said(&folder),
        [
            "Error requirements.txt: it is a link, which is not followed",
            "Error package-lock.json: it is no part of the plugin, so nothing is installed from it",
        ]
    );
    let lock = load(&folder).lock_text(&ToolId::try_from("x").unwrap()).unwrap();
    assert_eq!(
        lock.unwrap_err().to_string(),
        "locks/x.lock: locks is a link, which is not followed"
    );
}

#[test]
fn dependencies_that_nothing_locks_are_a_warning() {
    let folder = folder(&[
        ("oz0-plugin.yaml", LEAST),
        ("pyproject.toml", "[project]\nname = 'p'\ndependencies = ['mcp']\n"),
        ("package.json", r#"{"dependencies": {"a": "1"}}"#),
    ]);
    assert_eq!(
        said(&folder),
        [
            "Warning pyproject.toml:3: there is no uv.lock for these dependencies, so none is installed",
            "Warning package.json:1: there is no package-lock.json for these dependencies, so none is installed",
        ]
    );
}

#[test]
fn npm_locks_hold_nothing_but_hashed_releases() {
    let sha512 = format!("sha512-{}==", "A".repeat(86));
    let entry = |path: &str, rest: &str| {
        format!(r#""{path}": {{"version": "1.0.0", "integrity": "{sha512}"{rest}}}"#)
    };
    let bundler = entry("node_modules/b", r#", "bundleDependencies": ["c"]"#);
    let wrong = [
        entry("node_modules/a", r#", "resolved": "git+file:///x#1""#),
        entry("node_modules/a", r#", "resolved": "http://x/a.tgz""#),
        entry("node_modules/a", r#", "dependencies": {"b": "git+file:///x"}"#),
        entry("node_modules/a", r#", "dependencies": {"b": "owner/repository"}"#),
        entry("node_modules/a", r#", "optionalDependencies": {"b": "file:b"}"#),
        entry("node_modules/a", r#", "peerDependencies": {"b": "https://x/b.tgz"}"#),
        entry("node_modules/a", r#", "dependencies": {"b": "npm:git+ssh://x@1"}"#),
        entry("node_modules/a", r#", "dependencies": {"b": "./b.tgz"}"#),
        entry("node_modules/a", r#", "dependencies": {"b": ".."}"#),
        entry("node_modules/../../a", ""),
        entry("a", ""),
        entry("node_modules/a", r#", "link": true"#),
        entry("node_modules/a", r#", "bin": {"../a": "x"}"#),
        entry("node_modules/a", r#", "bin": {"a": "../../x"}"#),
        r#""node_modules/a": {"version": "1.0.0", "integrity": "sha512-abcd"}"#.to_owned(),
        r#""node_modules/a": {"version": "1.0.0", "integrity": "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="}"#.to_owned(),
        r#""node_modules/a": {"version": "1.0.0"}"#.to_owned(),
        r#""node_modules/a": {"version": "git+file:///x"}"#.to_owned(),
        r#""node_modules/a": {"version": "1.0.0", "inBundle": true}"#.to_owned(),
        r#""node_modules/a": {"version": "1.0.0", "inBundle": true, "resolved": "https://x/a.tgz"}"#.to_owned(),
        format!(r#"{bundler}, "node_modules/b/node_modules/c": {{"version": "1.0.0", "inBundle": true, "resolved": "https://x/c.tgz"}}"#),
        r#""": {"dependencies": {"a": "git@x:y"}}"#.to_owned(),
    ];
    let folder = folder(&[("oz0-plugin.yaml", LEAST), ("package.json", "{}")]);
    let mut messages = Vec::new();
    for packages in &wrong {
        let lock = format!(r#"{{"lockfileVersion": 3, "packages": {{{packages}}}}}"#);
        write(folder.path(), "package-lock.json", &lock);
        assert!(load(&folder).dependencies().unwrap().node.is_none(), "{lock}");
        messages.extend(said(&folder));
    }
    write(folder.path(), "package-lock.json", r#"{"lockfileVersion": 3}"#);
    for manifest in [
        r#"{"dependencies": {"a": "git+file:///x"}}"#,
        r#"{"devDependencies": {"a": "owner/repository#x"}}"#,
        r#"{"overrides": {"a": {"b@1": "file:x"}}}"#,
        r#"{"overrides": ["x"]}"#,
    ] {
        write(folder.path(), "package.json", manifest);
        assert!(load(&folder).dependencies().unwrap().node.is_none(), "{manifest}");
        messages.extend(said(&folder));
    }
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn npm_is_given_what_was_parsed() {
    let sha512 = format!("sha512-{}==", "A".repeat(86));
    let lock = format!(
        r#"{{"lockfileVersion": 3, "packages": {{
            "": {{"name": "x", "scripts": {{"install": "touch ran"}}, "dependencies": {{"@a/b": "^1.0.0 || 2.x", "z": "npm:@a/b@1"}}}},
            "node_modules/@a/b": {{"version": "1.0.0", "resolved": "https://x/b.tgz", "integrity": "{sha512}", "hasInstallScript": true, "hasShrinkwrap": true, "bundleDependencies": ["c"]}},
            "node_modules/@a/b/node_modules/c": {{"version": "1.0.0", "inBundle": true}}
        }}}}"#
    );
    let folder = folder(&[
        ("oz0-plugin.yaml", LEAST),
        (
            "package.json",
            r#"{"scripts": {"preinstall": "touch ran"}, "dependencies": {"@a/b": "^1.0.0 || 2.x"}}"#,
        ),
        ("package-lock.json", &lock),
    ]);
    let node = load(&folder).dependencies().unwrap().node.unwrap();
    insta::assert_snapshot!(format!("{}{}", node.manifest_text(), node.lock_text()));
}

#[test]
fn contract_tests_are_pytests_and_npms() {
    let folder = folder(&[("oz0-plugin.yaml", LEAST), ("package.json", "{}"), ("test_a.py", "")]);
    assert!(load(&folder).contract_tests().is_empty());
    for path in ["tests/test_b.py", "tests/sub/test_c.py", "tests/helper.py", "tests/test_d.txt"] {
        write(folder.path(), path, "");
    }
    let tests = load(&folder).contract_tests();
    assert_eq!(tests.pytest, ["tests/sub/test_c.py", "tests/test_b.py"]);
    assert_eq!(tests.npm, Some("package.json"));
    write(folder.path(), "tests/package.json", "{}");
    assert_eq!(load(&folder).contract_tests().npm, Some("tests/package.json"));
}

#[test]
fn evals_are_checked_for_shape_and_for_what_they_name() {
    let manifest = format!(
        "{LEAST}agents: {{triage: {{}}}}\nflows: {{nightly: {{steps: [{{agent: triage}}]}}}}\nuses: {{jira: {{agents: [helper]}}}}\n"
    );
    let cases = "cases: [{name: one, input: hello, expect: {contains: hi}}]\n";
    let folder = folder(&[
        ("oz0-plugin.yaml", &manifest),
        ("evals/agent.yaml", &format!("agent: triage\n{cases}")),
        ("evals/flow.yaml", &format!("flow: nightly\n{cases}")),
        ("evals/foreign.yaml", &format!("agent: jira/helper\n{cases}")),
        ("evals/cassettes/agent/one.jsonl", "{}\n"),
    ]);
    let plugin = load(&folder);
    assert_eq!(concise(plugin.diagnostics()), "");
    assert_eq!(plugin.evals().len(), 3);
    assert!(plugin.evals().iter().all(|file| file.eval.is_some()));

    for (path, text) in [
        ("evals/both.yaml", format!("agent: triage\nflow: nightly\n{cases}")),
        ("evals/dangling.yaml", format!("agent: triag\n{cases}")),
        ("evals/empty.yaml", String::new()),
        ("evals/no cases.yaml", "flow: nightlie\ncases: []\n".to_owned()),
        ("evals/shape.yaml", "flow: nightly\ncases: [{name: a, input: 1}, {nam: b, input: 1, expect: 1}]\n".to_owned()),
        ("evals/twice.yaml", "flow: nightly\ncases: [{name: a, input: 1, expect: 1}, {name: a, input: 1, expect: 1}]\n".to_owned()),
    ] {
        write(folder.path(), path, &text);
    }
    let plugin = load(&folder);
    assert!(plugin.manifest().is_some(), "the manifest itself is right");
    insta::assert_snapshot!(concise(plugin.diagnostics()));
    // The manifest's schema has nothing of evals.
    let helps: Vec<&str> =
        plugin.diagnostics().iter().filter_map(|found| found.help.as_deref()).collect();
    assert!(helps.iter().all(|help| !help.contains("plugin schema")), "{helps:?}");
    let keys = "an eval has `agent` or `flow`, and `cases`, each with `name`, `input` and `expect`";
    assert!(helps.contains(&format!("add `expect:`; {keys}").as_str()), "{helps:?}");
}
