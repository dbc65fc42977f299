//! `oz0 plugin new`: what each template writes is tested, linted, packed and run as it stands.

#![expect(clippy::unwrap_used, reason = "a test that fails should panic where it does")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::local::home::{Home, Process, eventually};
use crate::support::{OZ0, Said, checkout, copy, folder, oz0, run};

/// Each template, and a name for a plugin from it.
const TEMPLATES: [(&str, &str); 4] = [
    ("mcp-connector", "my-tracker"),
    ("stdio", "to-do"),
    ("capability", "issue-reports"),
    ("policy", "no-secrets"),
];

fn new(here: &Path, arguments: &[&str]) -> Said {
    run(oz0(["plugin", "new"]).args(arguments).current_dir(here))
}

/// A new plugin from a template.
fn made(template: &str, name: &str) -> (tempfile::TempDir, PathBuf) {
    let here = tempfile::tempdir().unwrap();
    let said = new(here.path(), &[name, "--template", template]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    let plugin = here.path().join(name);
    (here, plugin)
}

fn plugin(command: &[&str], folder: &Path) -> Said {
    run(oz0(["plugin"]).args(command).arg(folder))
}

/// Every file below a folder, by its path, with its bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, found);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}

/// Nothing is found at either level, by any rule, and every rule ran.
fn is_clean(folder: &Path) {
    for level in [&["lint", "--json"][..], &["lint", "--json", "--verified"]] {
        let said = plugin(level, folder);
        assert_eq!(said.code, Some(0), "{}", said.all());
        let report: Value = serde_json::from_str(&said.stdout).unwrap();
        assert_eq!(report["problems"], serde_json::json!([]), "{}", said.all());
        assert_eq!(report["summary"]["not_run"], serde_json::json!([]), "{}", said.all());
    }
}

#[test]
fn every_template_is_clean_measured_and_tested_as_it_is_written_and_so_is_its_bundle() {
    for (template, name) in TEMPLATES {
        let (here, folder) = made(template, name);
        let written = files(&folder);
        is_clean(&folder);
        let said = plugin(&["test", "--check"], &folder);
        assert_eq!(said.code, Some(0), "{template}: {}", said.all());
        assert!(said.stdout.contains("tools.listing.json is as it was measured"), "{}", said.all());
        let said = plugin(&["test"], &folder);
        assert_eq!(said.code, Some(0), "{template}: {}", said.all());
        assert!(said.stdout.contains(" passed in "), "{template}: {}", said.all());
        let not_run = ["skipped", "xfailed", "deselected", "warning"];
        assert!(!not_run.iter().any(|word| said.stdout.contains(word)), "{}", said.all());
        assert_eq!(files(&folder), written, "{template}: measuring changed something");
        let bundle = here.path().join("a.oz0");
        let said = run(oz0(["plugin", "pack", "-o"]).arg(&bundle).arg(&folder));
        assert_eq!(said.code, Some(0), "{template}: {}", said.all());
        let said = plugin(&["inspect", "--json"], &bundle);
        assert_eq!(said.code, Some(0), "{template}: {}", said.all());
        let shown: Value = serde_json::from_str(&said.stdout).unwrap();
        assert_eq!((&shown["name"], &shown["listing"]), (&name.into(), &"fresh".into()));
        is_clean(&folder);
    }
}

#[test]
fn every_template_itself_has_the_listing_that_its_server_lists() {
    for (template, _) in TEMPLATES {
        let here = tempfile::tempdir().unwrap();
        let folder = here.path().join("template");
        copy(&checkout().join("crates/oz0-scaffold/templates").join(template), &folder);
        let said = plugin(&["test", "--check"], &folder);
        assert_eq!(said.code, Some(0), "{template}: {}", said.all());
    }
}

/// What a contract test of a template is for fails it.
#[test]
fn a_plugin_that_breaks_its_contract_fails_its_tests() {
    for (template, file, was, is, fails) in [
        (
            "mcp-connector",
            "tests/fake_server.py",
            "List the open issues",
            "List the closed issues",
            "test_the_fake_lists_exactly_the_snapshot",
        ),
        (
            "mcp-connector",
            "oz0-plugin.yaml",
            "        ai_label: /body\n\nconnections",
            "\nconnections",
            "test_every_function_that_sends_to_people_is_labelled_and_no_other",
        ),
        (
            "mcp-connector",
            "tests/fake_server.py",
            "        if key not in self.done:\n            self.done",
            "        self.done",
            "test_a_repeated_write_does_it_once",
        ),
        (
            "mcp-connector",
            "tests/fake_server.py",
            "self.mail.append(arguments[\"body\"])\n        return {\"comments\"",
            "self.mail.append(arguments[\"body\"].splitlines()[0])\n        return {\"comments\"",
            "test_the_label_is_on_what_people_read[add_comment]",
        ),
        (
            "stdio",
            "server.py",
            "        if task[\"key\"] == key:",
            "        if False:",
            "test_a_repeated_write_does_it_once",
        ),
        (
            "capability",
            "evals/cassettes/reports/asks-for-what-is-missing.jsonl",
            "{\"answer\": {\"asked\": [2]}}",
            "{\"answer\": {\"asked\": [3]}}",
            "test_a_case_replays_as_it_was_recorded[asks-for-what-is-missing]",
        ),
        (
            "capability",
            "oz0-plugin.yaml",
            "      - tracker/tracker.add_comment\n",
            "",
            "test_a_case_replays_as_it_was_recorded[asks-for-what-is-missing]",
        ),
        ("policy", "server.py", "AKIA|", "", "[an AWS access key]"),
    ] {
        let name = if template == "mcp-connector" { "my-tracker" } else { "some" };
        let (_here, folder) = made(template, name);
        let path = folder.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(was), "{template}: {file} has no {was}");
        fs::write(&path, text.replacen(was, is, 1)).unwrap();
        let said = plugin(&["test"], &folder);
        assert_eq!(said.code, Some(1), "{template}, {is}: {}", said.all());
        assert!(said.stdout.contains("FAILED tests/"), "{}", said.all());
        assert!(said.stdout.contains(fails), "{template}, {is}: {}", said.all());
    }
}

#[test]
fn the_commands_that_are_shown_next_do_what_they_say() {
    for (template, name) in TEMPLATES {
        let here = tempfile::tempdir().unwrap();
        let said = new(here.path(), &[name, "--template", template, "--dir", "a b/c"]);
        assert_eq!(said.code, Some(0), "{}", said.all());
        let (wrote, next) = said.stdout.split_once("\n\nNext:\n").unwrap();
        assert!(wrote.starts_with(&format!("Wrote a b/c from the template {template}: ")));
        let has_server = ["stdio", "policy"].contains(&template);
        assert_eq!(next.contains("  oz0 up "), has_server, "{}", said.all());
        let bin = Path::new(OZ0).parent().unwrap().display();
        for line in next.lines().filter(|line| !line.contains("oz0 up")) {
            let script = format!("PATH={bin}:$PATH; {line}");
            let mut command = Command::new("sh");
            command.args(["-c", &script]).current_dir(here.path());
            let said = run(command.env("OZ0_CACHE", crate::support::cache()));
            assert_eq!(said.code, Some(0), "{line}: {}", said.all());
        }
    }
}

#[test]
fn a_server_of_a_template_runs_behind_oz0_and_is_called() {
    let home = Home::new();
    let plugins = home.folder.path().join("plugins");
    fs::create_dir(&plugins).unwrap();
    for name in ["to-do", "no-secrets"] {
        let template = if name == "to-do" { "stdio" } else { "policy" };
        let said = new(&plugins, &[name, "--template", template]);
        assert_eq!(said.code, Some(0), "{}", said.all());
    }
    let mut command = home.up_command(&[], &[]);
    command.args([plugins.join("to-do"), plugins.join("no-secrets")]).stdin(Stdio::null());
    let mut up = Process::start(&mut command);
    up.line();
    up.says("snapshot of to-do (to-do 0.1.0) taken: 3 functions as they are listed now");
    up.says("snapshot of no-secrets (no-secrets 0.1.0) taken: 1 function as they are listed now");
    let call = |function: &str, arguments: &str| -> Value {
        serde_json::from_str(&home.does(&["call", function, arguments])).unwrap()
    };
    // Its policy asks about a write; nobody is there to be asked.
    home.does(&["policy", "set", "to-do.add_task", "allow"]);
    let added = call("to-do.add_task", r#"{"text": "Water the plants", "key": "1"}"#);
    assert_eq!(added, serde_json::json!({"added": true}));
    let listed = call("to-do.list_tasks", "{}");
    assert_eq!(listed["tasks"][0]["text"], "Water the plants");
    let secret = format!("AKIA{}", "ABCD".repeat(4));
    let arguments = format!(r#"{{"text": "{secret}", "key": "2"}}"#);
    let refused = home.run(&["call", "to-do.add_task", &arguments]);
    assert_eq!(refused.code, Some(1), "{}", refused.all());
    assert!(refused.all().contains("holds an AWS access key"), "{}", refused.all());
    assert_eq!(up.end(), Some(0), "{}", up.said());
    eventually("no process is left", || home.processes().is_empty());
}

#[test]
fn the_same_name_gives_the_same_bytes_in_any_surroundings_and_another_name_stands_everywhere() {
    for (template, name) in TEMPLATES {
        let (_one, first) = made(template, name);
        let here = tempfile::tempdir().unwrap();
        let script = r#"umask 077; exec "$0" plugin new "$1" -t "$2" --dir deep/below/here"#;
        let said = run(Command::new("sh")
            .args(["-c", script, OZ0, name, template])
            .current_dir(here.path())
            .envs([("TZ", "Asia/Kathmandu"), ("LC_ALL", "tr_TR.UTF-8"), ("HOME", "/nonexistent")]));
        assert_eq!(said.code, Some(0), "{}", said.all());
        assert!(files(&first) == files(&here.path().join("deep/below/here")), "{template}");
        for (path, bytes) in files(&first) {
            let text = (path + &String::from_utf8(bytes).unwrap()).to_lowercase();
            assert!(!text.replace(['-', '_'], " ").contains("template name"));
            assert!(!text.contains(here.path().to_str().unwrap()));
        }
    }
}

#[test]
fn without_a_template_it_is_a_server_of_its_own() {
    let here = tempfile::tempdir().unwrap();
    let said = new(here.path(), &["to-do"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stdout.starts_with("Wrote to-do from the template stdio: "), "{}", said.all());
    let said = new(here.path(), &["other", "--template", "stdoi"]);
    assert_eq!(said.code, Some(2), "{}", said.all());
    assert!(said.stderr.contains("mcp-connector, stdio, capability, policy"), "{}", said.all());
    assert_eq!(new(here.path(), &[]).code, Some(2));
}

#[test]
fn a_name_that_is_not_taken_is_refused_and_nothing_is_written() {
    let here = tempfile::tempdir().unwrap();
    for (name, other) in [
        ("tracker-mcp", "tracker"),
        ("oz0-tracker", "tracker"),
        ("My Tracker", "my-tracker"),
        ("plugins/tracker", "tracker"),
        ("oz", "oz-server"),
    ] {
        let said = new(here.path(), &["--template", "mcp-connector", "--", name]);
        assert_eq!(said.code, Some(1), "{}", said.all());
        let hint = format!("such as: oz0 plugin new {other} --template mcp-connector");
        assert!(said.stderr.contains(&hint), "{}", said.all());
    }
    for (name, why) in [
        ("oz", "as a tool's ID it is the platform's own (OZ-L003)"),
        ("aux", "to Windows it is the name of a device"),
        ("com1", "to Windows it is the name of a device"),
    ] {
        for template in ["stdio", "mcp-connector", "capability", "policy"] {
            let said = new(here.path(), &["--template", template, "--", name]);
            assert_eq!(said.code, Some(1), "{}", said.all());
            assert!(said.stderr.contains(why), "{}", said.all());
            assert!(!said.stderr.contains("begins with a lower-case letter"), "{}", said.all());
            assert!(
                said.stderr.contains(&format!("such as: oz0 plugin new {name}-")),
                "{}",
                said.all()
            );
        }
    }
    for name in ["", "null", "con", "\u{1b}[2J", "--"] {
        let said = new(here.path(), &["--template", "mcp-connector", "--", name]);
        assert_eq!(said.code, Some(1), "{}", said.all());
        assert!(said.stderr.contains("error: ") && !said.stderr.contains('\u{1b}'));
    }
    assert_eq!(files(here.path()), BTreeMap::new());
}

#[test]
fn only_a_folder_that_is_new_or_empty_is_written() {
    let here = folder(&[("full/mine.txt", "mine"), ("file", "mine")]);
    symlink("nowhere", here.path().join("link")).unwrap();
    let before = files(&here.path().join("full"));
    for (place, why) in [
        ("full", "full is there already, and is not empty"),
        ("file", "file is there already, and is no folder"),
        ("link", "link is a link that leads nowhere"),
        (".", "is there already, and is not empty"),
    ] {
        let said = new(here.path(), &["tracker", "--dir", place]);
        assert_eq!(said.code, Some(1), "{place}: {}", said.all());
        assert!(said.stderr.contains(why) && said.stderr.contains("--dir"), "{}", said.all());
    }
    assert_eq!(files(&here.path().join("full")), before);
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 3);
    let said = new(here.path(), &["tracker", "--dir", "file/below"]);
    assert_eq!(said.code, Some(3), "{}", said.all());
    // One that is empty is filled, in place.
    let empty = here.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let said = new(&empty, &["tracker", "--dir", "."]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    is_clean(&empty);
    assert_eq!(files(&empty).len(), 10, "and nothing beside the plugin is left");
}

#[test]
fn a_write_that_fails_on_the_way_leaves_nothing() {
    let here = tempfile::tempdir().unwrap();
    fs::create_dir(here.path().join("empty")).unwrap();
    for place in ["new", "above/new", "empty"] {
        // No file may be longer than 4 KiB, and the licence is.
        let script = r#"trap '' XFSZ; ulimit -f 8; exec "$0" plugin new tracker --dir "$1""#;
        let said =
            run(Command::new("sh").args(["-c", script, OZ0, place]).current_dir(here.path()));
        assert_eq!(said.code, Some(3), "{}", said.all());
        assert!(
            said.stderr.contains(&format!("could not write {}", here.path().join(place).display()))
        );
        let left: Vec<_> = fs::read_dir(here.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{place}: {left:?}");
        assert_eq!(fs::read_dir(here.path().join("empty")).unwrap().count(), 0, "{place}");
    }
}
