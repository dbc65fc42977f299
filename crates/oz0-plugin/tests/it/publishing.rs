//! What a plugin must have before it is handed to others.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use oz0_diagnostic::Diagnostic;
use oz0_plugin::Plugin;
use tempfile::TempDir;

use super::{LEAST, folder, load, write};

/// `OZ-LNNN FILE:LINE:COLUMN "underlined": message; help`, a line a finding.
fn shown(findings: &[Diagnostic]) -> String {
    let line = |finding: &Diagnostic| {
        let at = finding.span.start();
        format!(
            "{} {}:{}:{} {:?}: {}; {}",
            finding.check.code,
            finding.span.file().path(),
            at.line,
            at.column,
            finding.span.text().chars().take(60).collect::<String>(),
            finding.message,
            finding.help.as_deref().unwrap_or("-")
        )
    };
    findings.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn findings(folder: &TempDir) -> String {
    shown(&load(folder).publishing_findings().unwrap())
}

fn mit() -> String {
    text("MIT")
}

fn text(id: &str) -> String {
    spdx::license_id(id).unwrap().text().to_owned()
}

/// A plugin that nothing is said against.
fn whole() -> TempDir {
    folder(&[("oz0-plugin.yaml", LEAST), ("README.md", "# Team\n"), ("LICENSE", &mit())])
}

fn with(path: &str, text: &str) -> String {
    let folder = whole();
    write(folder.path(), path, text);
    findings(&folder)
}

#[test]
fn every_example_may_be_handed_on() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut seen = 0;
    for entry in fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        if path.join("oz0-plugin.yaml").exists() {
            let plugin = Plugin::load(&path).unwrap();
            assert_eq!(shown(&plugin.publishing_findings().unwrap()), "", "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen >= 5);
}

#[test]
fn a_load_does_not_ask_for_what_only_others_need() {
    let folder = folder(&[("oz0-plugin.yaml", LEAST), ("A", ""), ("a", "")]);
    assert!(load(&folder).diagnostics().is_empty());
    insta::assert_snapshot!(findings(&folder));
}

#[test]
fn what_no_bundle_holds_is_told_with_its_place() {
    let folder = whole();
    let root = folder.path();
    for path in [
        "lib/A.py",
        "lib/a.py",
        "docs/\u{e9}.md",
        "docs/e\u{301}.md",
        "src/aux.c",
        "why?",
        "oz0-plugin.json",
        "end.",
        "Tests/x",
        "tests/y",
    ] {
        write(root, path, "");
    }
    symlink("README.md", root.join("link")).unwrap();
    fs::write(root.join(std::ffi::OsStr::from_bytes(b"caf\xE9")), "").unwrap();
    fs::write(root.join("two\nlines"), "").unwrap();
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    insta::assert_snapshot!(findings(&folder));
}

#[test]
fn a_readme_is_there_and_readable() {
    let cases = [
        ("none", None),
        ("empty", Some(" \u{feff}\n\t\n".as_bytes().to_vec())),
        ("too large", Some(vec![b'a'; 256 * 1024 + 1])),
        ("as large as may be", Some(vec![b'a'; 256 * 1024])),
        ("not UTF-8", Some(b"# Caf\xE9\n".to_vec())),
    ];
    let mut seen: Vec<String> = Vec::new();
    for (name, bytes) in cases {
        let folder = whole();
        let path = folder.path().join("README.md");
        fs::remove_file(&path).unwrap();
        if let Some(bytes) = bytes {
            fs::write(&path, bytes).unwrap();
        }
        seen.push(format!("{name}: {}", findings(&folder)));
    }
    let folder = whole();
    fs::rename(folder.path().join("README.md"), folder.path().join("readme.rst")).unwrap();
    seen.push(format!("another name: {}", findings(&folder)));
    symlink("readme.rst", folder.path().join("README.md")).unwrap();
    seen.push(format!("a link: {}", findings(&folder)));
    insta::assert_snapshot!(seen.join("\n"));
}

#[test]
fn what_a_readme_points_to_in_the_plugin_is_there() {
    let folder = whole();
    write(folder.path(), "docs/a b.md", "");
    write(folder.path(), "docs/pic.png", "");
    write(folder.path(), ".oz0ignore", "draft.md\n");
    write(folder.path(), "draft.md", "");
    let fine = "\
[a](docs/a%20b.md) [b](<docs/a b.md#part>) ![c](./docs/pic.png?raw=1 \"t\") [d](#team) [e](https://example.org/x)
<https://example.org> <me@example.org> [f](mailto:me@example.org) [g](//example.org/x) [h][ref] [unknown][nowhere]
<img src=\"docs/pic.png\" srcset=\"docs/pic.png 2x, https://example.org/a.png\"> [i](docs/../README.md)
`[code](no.md)` \\[escaped](no.md)

    [indented](no.md)

```md
![fenced](no.md)
```

<!-- <img src=\"no.png\"> -->

[ref]: docs/pic.png
";
    write(folder.path(), "README.md", fine);
    assert_eq!(findings(&folder), "");
    let wrong = "\
# Team
[a](docs/pic.jpg) ![b](../other/x.png) [c](/etc/passwd) [d](docs/) [e](draft.md)
[f][ref] [g](file:///etc/passwd) [h](C:\\x) [i](docs%2F..%2F..%2Fx) [j](bad%zz) [k]()
> quoted <a href=\"gone.html\">x</a> and ![l](gone\\_too.png)

<p align=\"center\">
  <img
    src='missing.png'>
</p>

[ref]: docs/nothing.md
";
    write(folder.path(), "README.md", &wrong.replace('\n', "\r\n"));
    insta::assert_snapshot!(findings(&folder));
}

#[test]
fn a_licence_may_differ_in_what_spdx_lets_differ() {
    let body = mit();
    let body = body.split_once("holders>\n\n").unwrap().1;
    let variants = [
        format!(
            "The MIT License (MIT)\n\nCopyright (c) 2014-2026 Ada Lovelace <ada@example.org>\nCopyright © 2020, The Team (https://example.org)\n\n{body}"
        ),
        format!("# MIT License\n\n© 2026 Acme GmbH & Co. KG. All rights reserved.\n\n{body}"),
        body.to_owned(),
        format!("SPDX-License-Identifier: MIT\n\nCopyright 2026 Acme\n\n{}", body.to_uppercase()),
        format!(
            "MIT License\r\n\r\nCopyright 2026 Acme\r\n\r\n{}",
            body.replace('\n', "\r\n").replace('"', "\u{201c}")
        ),
        format!(
            "Copyright (c) 2026 Acme\n\n{}",
            body.replace("AUTHORS OR COPYRIGHT HOLDERS", "ACME GMBH")
        ),
    ];
    for variant in variants {
        assert_eq!(with("LICENSE", &variant), "", "{variant}");
    }
    // List items with other marks, another organisation, and the other spelling.
    let bsd = text("BSD-3-Clause")
        .replace("<year> <owner>", "2026 Acme")
        .replace("1. Redist", "* Redist")
        .replace("2. Redist", " - Redist")
        .replace("3. Neither", "(c) Neither")
        .replace("the copyright holder nor", "Acme Inc. nor")
        .replace("THE COPYRIGHT HOLDERS AND CONTRIBUTORS", "ACME INC. AND CONTRIBUTORS");
    let folder = whole();
    write(folder.path(), "oz0-plugin.yaml", &LEAST.replace("MIT", "BSD-3-Clause"));
    write(folder.path(), "LICENSE", &bsd);
    assert_eq!(findings(&folder), "");
    // Apache's without its appendix, and with it filled in.
    let apache = text("Apache-2.0");
    write(folder.path(), "oz0-plugin.yaml", &LEAST.replace("MIT", "Apache-2.0"));
    let (terms, _) = apache.split_once("APPENDIX").unwrap();
    for variant in [
        terms.to_owned(),
        terms.replace("END OF TERMS AND CONDITIONS", ""),
        apache.replace("[yyyy] [name of copyright owner]", "2026 Acme"),
    ] {
        write(folder.path(), "LICENSE", &variant);
        assert_eq!(findings(&folder), "");
    }
}

#[test]
fn every_licence_of_the_list_is_its_own_text() {
    let mut wrong = Vec::new();
    for id in spdx::identifiers::LICENSES {
        let Some(id) = spdx::license_id(id.name) else { continue };
        if id.is_deprecated() || id.text().trim().is_empty() {
            continue;
        }
        let folder = whole();
        write(folder.path(), "oz0-plugin.yaml", &LEAST.replace("MIT", id.name));
        write(folder.path(), "LICENSE", id.text());
        let said = findings(&folder);
        if !said.is_empty() {
            wrong.push(format!("{}: {said}", id.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn words_left_over_count() {
    let mit = mit().replace("<year> <copyright holders>", "2026 Acme");
    let cases = [
        ("a clause behind", format!("{mit}\nNon-commercial use only.\n")),
        ("a clause before", format!("Non-commercial use only.\n\n{mit}")),
        ("a clause in the notice", mit.replace("2026 Acme", "2026 Acme. Not for commercial use.")),
        (
            "a sentence in the notice",
            mit.replace("2026 Acme", "2026 Acme. Military work is excluded."),
        ),
        ("one word", mit.replace("without restriction", "without any restriction")),
        ("one word less", mit.replace("free of charge, ", "")),
        ("another word", mit.replace("sublicense, and/or sell", "sublicense, and/or rent")),
        ("a paragraph less", mit.split_once("THE SOFTWARE IS").unwrap().0.to_owned()),
        (
            "a rewritten holder",
            mit.replace("AUTHORS OR COPYRIGHT HOLDERS", "AUTHORS, WHO ALONE MAY USE IT,"),
        ),
        ("good, not evil", text("JSON").replace("2002 JSON.org", "2026 Acme")),
        ("another licence", text("ISC")),
        ("its name alone", "MIT\n".to_owned()),
        ("nothing", "\n".to_owned()),
        ("its title alone", "MIT License\n\nCopyright 2026 Acme\n".to_owned()),
        ("two of them", format!("{mit}\n{}", text("ISC"))),
    ];
    let mut seen: Vec<String> = Vec::new();
    for (name, text) in cases {
        seen.push(format!("{name}: {}", with("LICENSE", &text)));
    }
    insta::assert_snapshot!(seen.join("\n"));
}

#[test]
fn a_licence_expression_says_which_texts_are_needed() {
    let apache = text("Apache-2.0");
    let llvm = spdx::exception_id("LLVM-exception").unwrap().text();
    let cases: [(&str, Vec<(&str, String)>); 12] = [
        ("MIT OR Apache-2.0", vec![("LICENSE", mit())]),
        ("MIT OR Apache-2.0", vec![("LICENSE-MIT", mit()), ("LICENSE-APACHE", apache.clone())]),
        ("MIT AND Apache-2.0", vec![("LICENSE", mit())]),
        ("MIT AND Apache-2.0", vec![("LICENCE.md", format!("{}\n{apache}", mit()))]),
        ("Apache-2.0 WITH LLVM-exception", vec![("LICENSE", apache.clone())]),
        ("Apache-2.0 WITH LLVM-exception", vec![("LICENSE", format!("{apache}\n{llvm}"))]),
        ("GPL-3.0-or-later", vec![("COPYING", text("GPL-3.0-only"))]),
        ("MIT", vec![("LICENSE", mit()), ("COPYING", text("GPL-3.0-only"))]),
        ("LicenseRef-Acme", vec![("LICENSE", "All mine.".to_owned())]),
        ("mit", vec![("LICENSE", mit())]),
        ("MIT", vec![("License.txt", mit())]),
        ("MIT", vec![]),
    ];
    let mut seen: Vec<String> = Vec::new();
    for (expression, files) in cases {
        let folder = whole();
        fs::remove_file(folder.path().join("LICENSE")).unwrap();
        write(folder.path(), "oz0-plugin.yaml", &LEAST.replace("MIT", expression));
        for (path, text) in &files {
            write(folder.path(), path, text);
        }
        let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        seen.push(format!("{expression} in {}: {}", paths.join(", "), findings(&folder)));
    }
    insta::assert_snapshot!(seen.join("\n"));
}

#[test]
fn a_licence_that_is_no_text_is_told() {
    let folder = whole();
    fs::write(folder.path().join("LICENSE"), b"Copyright \xA9 2026 Acme\n").unwrap();
    insta::assert_snapshot!(findings(&folder));
    let folder = whole();
    fs::remove_file(folder.path().join("LICENSE")).unwrap();
    symlink("/usr/share/common-licenses/GPL", folder.path().join("LICENSE")).unwrap();
    insta::assert_snapshot!(findings(&folder));
}
