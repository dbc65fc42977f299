//! npm's, Yarn's, pnpm's and Bun's locks.

use std::fmt::Write as _;

use crate::node::{found, lines, reading, unread};

const NOTHING: [&str; 0] = [];

#[test]
fn npms_table_says_which_package_and_who_needs_it() {
    let text = r#"{"lockfileVersion": 3, "packages": {
"": {"dependencies": {"a": "1"}, "devDependencies": {"x": "npm:litellm@1"}},
"node_modules/a": {"version": "1.0.0", "dependencies": {"b": "1"}},
"node_modules/b": {"version": "1.0.0", "optionalDependencies": {"litellm": "1"}},
"node_modules/b/node_modules/litellm": {"version": "0.12.0"},
"node_modules/x": {"name": "litellm", "version": "0.12.0"},
"node_modules/litellm": {"name": "other", "version": "1.0.0"},
"node_modules/@a/litellm": {"version": "1.0.0"},
"packages/litellm": {"name": "litellm"}
}}"#;
    for path in ["package-lock.json", "a/npm-shrinkwrap.json", "node_modules/.package-lock.json"] {
        assert_eq!(
            found(path, text),
            ["Locked 5:30 litellm through a → b", "Locked 6:29 litellm as x"],
            "{path}"
        );
    }
}

#[test]
fn npms_tree_is_read_too_and_a_lock_with_both_says_it_once() {
    let text = r#"{"lockfileVersion": 1, "dependencies": {
"a": {"version": "1.0.0", "requires": {"litellm": "1"}, "dependencies": {
"litellm": {"version": "0.12.0"}}},
"x": {"version": "npm:litellm@0.12.0"},
"y": {"version": "github:zya/litellmjs#abc"},
"litellm": {"version": "npm:other@1.0.0"}
}}"#;
    assert_eq!(
        found("package-lock.json", text),
        ["Locked 3:2 litellm through a", "Locked 4:23 litellm as x", "Locked 5:30 litellmjs as y"]
    );
    let text = text.replace("\"lockfileVersion\": 1, ", "");
    assert_eq!(
        found("package-lock.json", &text).len(),
        3,
        "a lock without a version is of the first"
    );
    let both = r#"{"lockfileVersion": 2, "packages": {"node_modules/litellm": {"version": "0.12.0"}},
"dependencies": {"litellm": {"version": "0.12.0"}}}"#;
    assert_eq!(found("package-lock.json", both), ["Locked 1:51 litellm"]);
    let tree_alone = r#"{"lockfileVersion": 2, "packages": {}, "dependencies": {"litellm": {"version": "0.12.0"}}}"#;
    assert_eq!(found("package-lock.json", tree_alone), ["Locked 1:58 litellm"]);
}

#[test]
fn an_archive_under_another_key_is_found_in_npms_lock() {
    let text = r#"{"lockfileVersion": 3, "packages": {"node_modules/x": {"version": "0.12.0",
"resolved": "https://files.example.com/litellm/-/litellm-0.12.0.tgz"}}}"#;
    assert_eq!(found("package-lock.json", text), ["Locked 2:50 litellm as x"]);
}

#[test]
fn what_a_lock_says_without_locking_it_is_not_found() {
    let text = r#"{"lockfileVersion": 3, "packages": {
"": {"name": "litellm", "dependencies": {"litellm": "1"}},
"node_modules/a": {"version": "1.0.0", "peerDependencies": {"litellm": "1"}, "peerDependenciesMeta": {"litellm": {"optional": true}}}}}"#;
    assert_eq!(found("package-lock.json", text), NOTHING);
}

#[test]
fn npms_lock_of_another_version_is_unread() {
    for version in ["4", "\"3\"", "null", "-1", "99999999999999999999999"] {
        let text = format!("{{\"lockfileVersion\": {version}, \"packages\": {{}}}}");
        assert_eq!(
            unread("package-lock.json", text.as_bytes()),
            ["1:21 is no lock of npm's versions 1 to 3"],
            "{version}"
        );
    }
    assert_eq!(unread("package-lock.json", b"[]"), ["1:1 is no lock of npm's versions 1 to 3"]);
    let conflict = b"{\n<<<<<<< HEAD\n}";
    assert_eq!(unread("package-lock.json", conflict).len(), 1);
}

const CLASSIC: &str = r#"# yarn lockfile v1


a@^1.0.0, a@^1.1.0:
  version "1.1.0"
  resolved "https://files.example.com/a/-/a-1.1.0.tgz#0123"
  integrity sha512-x==
  dependencies:
    litellm "^0.12.0"

"@s/litellm@^1.0.0":
  version "1.0.0"

litellm@^0.12.0:
  version "0.12.0"

"litellm@npm:other@1":
  version "1.0.0"

"x@npm:\u006citellm@^0.11.0":
  version "0.11.0"

"y@https://files.example.com/litellm-0.10.0.tgz":
  version "0.10.0"
"#;

#[test]
fn yarns_first_format_is_read() {
    let wanted = [
        "Locked 14:1 litellm through a",
        r"Locked 20:2 x@npm:\u006citellm@^0.11.0 as x",
        "Locked 23:30 litellm as y",
    ];
    assert_eq!(found("yarn.lock", CLASSIC), wanted);
    assert_eq!(found("yarn.lock", &CLASSIC.replace('\n', "\r\n")), wanted);
    assert_eq!(found("yarn.lock", ""), NOTHING);
}

#[test]
fn yarns_lock_that_does_not_decode_is_unread() {
    for (text, wanted) in [
        ("a@1:\n  version \"1\n", "2:11 is no lock of Yarn's: a quote is left open"),
        ("a@1:\n version \"1\"\n", "2:1 is no lock of Yarn's: a line stands where it cannot"),
        ("<<<<<<< HEAD\na@1:\n", "1:1 is no lock of Yarn's: a merge left both sides in it"),
        ("\"a\\qb@1\":\n", "1:2 is no lock of Yarn's: an escape is none of JSON's"),
        ("{\"a\": 1}", "1:5 is no lock of Yarn's: a sign stands where a word must"),
        ("__metadata:\n  version: 6\n\"a@npm:1\":\n  resolution: \"a\n", ""),
    ] {
        let unread = unread("yarn.lock", text.as_bytes());
        assert_eq!(unread.len(), 1, "{text}");
        assert!(unread[0].contains(wanted), "{unread:?}");
    }
}

#[test]
fn yarns_later_format_is_read_by_its_resolutions() {
    let text = r#"__metadata:
  version: 8

"a@npm:^1.0.0":
  version: 1.0.0
  resolution: "a@npm:1.0.0"
  dependencies:
    litellm: "npm:^0.12.0"

"litellm@npm:^0.12.0, litellm@npm:~0.12.0":
  version: 0.12.0
  resolution: "litellm@npm:0.12.0"

"litellm@npm:other@^1.0.0":
  resolution: "other@npm:1.0.0"

"project@workspace:.":
  resolution: "project@workspace:."
  dependencies:
    a: "npm:^1.0.0"
    x: "npm:litellm@^0.11.0"

"litellm@workspace:packages/litellm":
  resolution: "litellm@workspace:packages/litellm"

"x@npm:litellm@^0.11.0":
  resolution: "litellm@npm:0.11.0"

"y@https://github.com/zya/litellmjs.git#commit=0123":
  resolution: "y@https://github.com/zya/litellmjs.git#commit=0123"
"#;
    assert_eq!(
        found("yarn.lock", text),
        [
            "Locked 12:16 litellm through a",
            "Locked 27:16 litellm as x",
            "Locked 30:41 litellmjs as y"
        ]
    );
}

#[test]
fn pnpms_versions_are_read_each_as_it_writes_keys() {
    let five = "lockfileVersion: 5.4
specifiers: {a: ^1, x: 'npm:litellm@1'}
dependencies:
  a: 1.0.0
  x: /litellm/0.11.0
packages:
  /a/1.0.0:
    dependencies: {litellm: 0.12.0_b@2.0.0}
  /litellm/0.12.0_b@2.0.0:
    resolution: {integrity: sha512-x}
  /litellm/0.11.0: {}
  /@s/litellm/1.0.0: {}
  host.example.com/litellm/0.10.0: {}
";
    assert_eq!(
        found("pnpm-lock.yaml", five),
        [
            "Locked 9:4 litellm through a",
            "Locked 11:4 litellm in dependencies",
            "Locked 13:20 litellm"
        ]
    );
    let six = "lockfileVersion: '6.0'
importers:
  .:
    dependencies:
      a: {specifier: ^1, version: 1.0.0(b@2.0.0)}
packages:
  /a@1.0.0(b@2.0.0):
    dependencies: {litellm: 0.12.0}
  /litellm@0.12.0:
    resolution: {integrity: sha512-x}
  '@github.com/zya/litellmjs/0123':
    name: litellm
    version: 0.9.0
  /@s/litellm@1.0.0: {}
";
    assert_eq!(
        found("pnpm-lock.yaml", six),
        ["Locked 9:4 litellm through a", "Locked 12:11 litellm"]
    );
    let nine = "lockfileVersion: '9.0'
importers:
  web:
    devDependencies:
      a:
        specifier: ^1
        version: 1.0.0(b@2.0.0)
packages:
  a@1.0.0:
    resolution: {integrity: sha512-x}
    peerDependencies: {litellm: '*'}
  litellm@0.12.0:
    resolution: {integrity: sha512-x}
snapshots:
  a@1.0.0(b@2.0.0):
    dependencies: {c: 3.0.0}
  c@3.0.0:
    dependencies: {litellm: 0.12.0(b@2.0.0)}
  litellm@0.12.0(b@2.0.0): {}
";
    assert_eq!(found("a/pnpm-lock.yaml", nine), ["Locked 12:3 litellm through a → c"]);
}

#[test]
fn pnpms_version_may_be_all_that_names_it() {
    let text = "lockfileVersion: '9.0'
importers:
  .:
    dependencies:
      x: {specifier: 'npm:litellm@1', version: litellm@0.12.0}
      litellm: {specifier: 'npm:other@1', version: other@1.0.0}
";
    assert_eq!(found("pnpm-lock.yaml", text), ["Locked 5:48 litellm as x"]);
    let own = "lockfileVersion: '9.0'
importers: {.: {dependencies: {litellm: {specifier: 'catalog:', version: 0.12.0}}}}
catalogs: {default: {litellm: {specifier: ^0.12.0, version: 0.12.0}}}
overrides: {litellm: ^0.12.0}
";
    assert_eq!(found("pnpm-lock.yaml", own), ["Locked 2:32 litellm"]);
}

#[test]
fn pnpms_documents_are_all_read() {
    let text = "---
lockfileVersion: '9.0'
importers:
  .: {configDependencies: {}}
packages: {pnpm@11.0.0: {}}
---
lockfileVersion: '9.0'
packages:
  litellm@0.12.0: {}
";
    assert_eq!(found("pnpm-lock.yaml", text), ["Locked 9:3 litellm"]);
    let first =
        "lockfileVersion: '9.0'\npackages: {litellm@0.12.0: {}}\n---\nlockfileVersion: '9.0'\n";
    assert_eq!(found("pnpm-lock.yaml", first), ["Locked 2:12 litellm"]);
    let broken = "lockfileVersion: '9.0'\npackages: {litellm@0.12.0: {}}\n---\nlockfileVersion: '9.0'\na: [\n";
    let reading = reading("pnpm-lock.yaml", broken.as_bytes());
    assert_eq!(lines(&reading), ["Locked 2:12 litellm"]);
    assert_eq!(reading.unread.len(), 1);
}

#[test]
fn pnpms_lock_that_does_not_decode_is_unread() {
    for text in [
        "",
        "a: 1\n",
        "lockfileVersion: '10.0'\n",
        "lockfileVersion: 4\n",
        "lockfileVersion: '9.0'\na: 1\na: 2\n",
        "lockfileVersion: '9.0'\na: *b\n",
        "lockfileVersion: '9.0'\n\ta: 1\n",
        "<<<<<<< HEAD\nlockfileVersion: '9.0'\n",
    ] {
        assert_eq!(unread("pnpm-lock.yaml", text.as_bytes()).len(), 1, "{text}");
    }
    assert_eq!(unread("pnpm-lock.yaml", b"lockfileVersion: '\xff'").len(), 1);
    let mut bomb = String::from("lockfileVersion: '9.0'\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for at in 1..10 {
        let alias = format!("*a{}", at - 1);
        let _ = writeln!(bomb, "a{at}: &a{at} [{}]", vec![alias; 10].join(", "));
    }
    assert_eq!(unread("pnpm-lock.yaml", bomb.as_bytes()).len(), 1);
    let deep = format!("lockfileVersion: '9.0'\na: {}{}\n", "[".repeat(5_000), "]".repeat(5_000));
    assert_eq!(unread("pnpm-lock.yaml", deep.as_bytes()).len(), 1);
}

#[test]
fn buns_lock_is_read_by_the_first_item_of_an_entry() {
    let text = r#"{
  // Bun writes commas where it likes
  "lockfileVersion": 1,
  "workspaces": {"": {"name": "litellm", "dependencies": {"a": "1", "x": "npm:litellm@1",},},},
  "packages": {
    "a": ["a@1.0.0", "", {"dependencies": {"litellm": "1"}}, "sha512-x"],
    "a/litellm": ["litellm@0.12.0", "", {}, "sha512-x"],
    "x": ["litellm@0.11.0", "", {}, "sha512-x"],
    "litellm": ["other@1.0.0", "", {}, "sha512-x"],
    "@s/litellm": ["@s/litellm@1.0.0", "", {}, "sha512-x"],
    "mine": ["litellm@workspace:packages/mine"],
    "y": ["y@github:zya/litellmjs#0123", {}, "zya-litellmjs-0123"],
  },
}"#;
    assert_eq!(
        found("bun.lock", text),
        [
            "Locked 7:20 litellm through a",
            "Locked 8:12 litellm as x",
            "Locked 12:25 litellmjs as y"
        ]
    );
}

#[test]
fn buns_lock_that_is_not_text_or_does_not_decode_is_unread() {
    assert_eq!(unread("bun.lock", b"{").len(), 1);
    assert_eq!(unread("bun.lock", b"[1]"), ["1:1 is no lock of Bun's"]);
    assert_eq!(
        unread("bun.lock", b"{\"packages\": {\"a\": [1]}}"),
        ["1:20 has an entry that names no package"]
    );
    assert_eq!(
        unread("bun.lockb", b"#!/usr/bin/env bun\n\0\0"),
        ["1:1 is Bun's binary lock, which is not read"]
    );
    assert_eq!(unread("node_modules/a/bun.lockb", b"\0"), NOTHING);
}

/// A lock of many packages is read in time that grows with its length.
#[test]
fn large_locks_are_read() {
    let mut pnpm = String::from("lockfileVersion: '9.0'\npackages:\n");
    let mut npm = String::from(
        "{\"lockfileVersion\": 3, \"packages\": {\"\": {\"dependencies\": {\"p0\": \"1\"}}",
    );
    let mut yarn = String::from("# yarn lockfile v1\n\n");
    for at in 0..20_000 {
        let next = if at == 19_999 { "litellm".to_owned() } else { format!("p{}", at + 1) };
        let _ = write!(pnpm, "  p{at}@1.0.0:\n    dependencies: {{{next}: 1.0.0}}\n");
        let _ = write!(
            npm,
            ",\n\"node_modules/p{at}\": {{\"version\": \"1.0.0\", \"dependencies\": {{\"{next}\": \"1\"}}}}"
        );
        let _ =
            write!(yarn, "p{at}@1:\n  version \"1.0.0\"\n  dependencies:\n    {next} \"1\"\n\n");
    }
    pnpm.push_str("  litellm@1.0.0: {}\n");
    npm.push_str(",\n\"node_modules/litellm\": {\"version\": \"1.0.0\"}}}");
    yarn.push_str("litellm@1:\n  version \"1.0.0\"\n");
    assert_eq!(found("pnpm-lock.yaml", &pnpm).len(), 1);
    assert_eq!(found("yarn.lock", &yarn).len(), 1);
    let found = found("package-lock.json", &npm);
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("through p0 → p1 → p2"), "{}", &found[0][..80]);
}
