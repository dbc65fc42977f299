//! Ways in which a package comes that are easily overlooked, and names that look like one of them.

use std::fmt::Write as _;

use oz0_deps::{Via, command};

use crate::sources::{lines, mentions};
use crate::support::{of_files, wanted};

/// The texts that name the package in a file, and whether all of it was read.
fn named(path: &str, text: &str) -> Vec<String> {
    let reading = of_files(&[(path, text.as_bytes())]);
    let unread = reading.unread.iter().map(|unread| format!("unread: {}", unread.problem));
    let named = reading.mentions.iter().map(|mention| mention.span.text().to_owned());
    named.chain(unread).collect()
}

#[test]
fn partly_constant_strings_say_what_they_hold() {
    for text in [
        "exec(f'import litellm\\nprint({x})')",
        "exec(f'x = {x}; import litellm')",
        "exec('import litellm; x = %s' % x)",
        "exec('import litellm; x = %(a)s' % x)",
        "exec('import litellm; x = {}'.format(x))",
        "exec('import litellm\\n' + body)",
        "CODE = f'import litellm\\n{x}'\nexec(CODE)",
        "eval(compile('import litellm\\n' + body, 'a', 'exec'))",
        "import_module('litellm.' + x)",
        "import_module(f'litellm.{x}')",
        "import_module('litellm.%s' % x)",
        "import_module(f'.{x}', 'litellm')",
    ] {
        let found = named("a.py", text);
        // Where a literal has escapes, all of it is the place.
        assert!(matches!(&*found, [one] if one.contains("litellm")), "{text}: {found:?}");
    }
    for text in [
        "exec(f'import {x}')",
        "exec(f'import litellm{x}')",
        "exec('import %s' % x)",
        "exec(body + x)",
        "import_module(f'litellm{x}')",
        "import_module(x + 'litellm')",
        "import_module(f'{x}.litellm')",
    ] {
        assert!(named("a.py", text).is_empty(), "{text}: {:?}", named("a.py", text));
    }
}

/// One name with many constants, in a file that runs something else, is an ordinary file.
#[test]
fn strings_that_are_too_many_matter_only_where_they_are_run() {
    let mut many = String::from("import litellm_x\n");
    for at in 0..40 {
        writeln!(many, "line = line + 'part {at}'\nother = line + 'lite' + line").unwrap();
    }
    assert!(named("a.py", &format!("{many}exec(script)\neval(x)\n")).is_empty());
    let run = lines(&of_files(&[("a.py", format!("{many}exec(other)\n").as_bytes())]));
    assert_eq!(
        run,
        ["82:6 unread: imports or runs one of more strings of its constants than are followed"]
    );
    let harmless = many.replace("litellm_x", "attr").replace("'lite'", "'a'");
    assert!(named("a.py", &format!("{harmless}exec(other)\n")).is_empty());
}

#[test]
fn a_setup_py_s_lists_may_be_made() {
    for text in [
        "setup(install_requires=[f'litellm>={MIN}'])",
        "setup(install_requires=['litellm>=' + MIN])",
        "setup(install_requires=['litellm>=%s' % MIN])",
        "def needs():\n    return ['litellm']\nsetup(install_requires=needs())",
        "setup(install_requires=needs())\ndef needs():\n    x = ['litellm']\n    return x",
        "def needs():\n    return ['litellm']\nsetup(extras_require={'a': needs()})",
        "setup(install_requires='litellm')",
        "requirements = '''a\nlitellm'''.split()\nsetup()",
        "deps = 'litellm'\nsetup(install_requires=[deps])",
    ] {
        assert_eq!(named("setup.py", text), ["litellm"], "{text}");
    }
    for text in [
        "requirements_url = 'litellm'",
        "setup(requirements_file='litellm')",
        "x = {'requirements_url': 'litellm'}",
        "setup(install_requires=[f'litellm-{x}'])",
        "def names():\n    return ['litellm']\nsetup(keywords=names())",
    ] {
        assert!(named("setup.py", text).is_empty(), "{text}: {:?}", named("setup.py", text));
    }
}

#[test]
fn uv_s_sources_count_for_what_is_asked_for() {
    let source = "[tool.uv.sources]\nx = {git = 'https://github.com/BerriAI/litellm'}\n";
    let project = |needs: &str| format!("[project]\ndependencies = ['{needs}']\n{source}");
    assert_eq!(named("pyproject.toml", &project("x>=1")), ["litellm"]);
    assert_eq!(named("pyproject.toml", &project("X")), ["litellm"]);
    assert!(named("pyproject.toml", &project("y")).is_empty());
    let script = |toml: &str| {
        let mut text = String::from("# /// script\n");
        for line in toml.lines() {
            writeln!(text, "# {line}").unwrap();
        }
        text + "# ///\n"
    };
    assert_eq!(named("a.py", &script(&format!("dependencies = ['x']\n{source}"))), ["litellm"]);
    assert!(named("a.py", &script(&format!("dependencies = ['y']\n{source}"))).is_empty());
    for list in ["override-dependencies", "constraint-dependencies"] {
        let text = script(&format!("dependencies = []\n[tool.uv]\n{list} = ['litellm<2']"));
        let found = mentions("a.py", &text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].ends_with("litellm Constraint"), "{found:?}");
    }
}

#[test]
fn commands_are_followed_in_one_text_and_however_deep_they_are() {
    let servers =
        |command: &str| format!(r#"{{"mcpServers": {{"a": {{"command": "{command}"}}}}}}"#);
    assert_eq!(named(".mcp.json", &servers("uvx litellm")), ["litellm"]);
    assert_eq!(named(".mcp.json", &servers("uvx  --from litellm x")), ["litellm"]);
    assert!(named(".mcp.json", &servers("echo litellm")).is_empty());
    let behind = r#"{"a": {"command": "my proxy", "args": ["--", "uvx", "litellm"]}}"#;
    assert_eq!(named(".mcp.json", behind), ["litellm"]);
    let args = r#"{"a": {"command": "uvx --from", "args": ["litellm", "x"]}}"#;
    assert_eq!(named(".mcp.json", args), ["litellm"]);
    for depth in [1, 15, 16, 17, 40] {
        let mut words = vec!["env"; depth];
        words.extend(["uvx", "litellm"]);
        let wanted = wanted();
        assert_eq!(command(&words, &wanted).named.len(), 1, "{depth}");
    }
}

#[test]
fn scripts_without_an_ending_are_known_by_their_first_line() {
    for line in
        ["#!/usr/bin/env -S pipx run", "#!/usr/bin/env ipython", "\u{feff}#!/usr/bin/env python3"]
    {
        assert_eq!(named("bin/x", &format!("{line}\nimport litellm\n")), ["litellm"], "{line}");
    }
    assert!(named("bin/x", "#!/bin/sh\nimport litellm\n").is_empty());
}

#[test]
fn what_ipython_is_told_by_calls_installs() {
    for text in [
        "get_ipython().system('pip install litellm')",
        "get_ipython().run_line_magic('pip', 'install litellm')",
        "x = get_ipython().getoutput('pip install litellm')",
    ] {
        assert_eq!(mentions("a.py", text).len(), 1, "{text}");
        assert!(mentions("a.py", text)[0].ends_with("litellm InstallLine"), "{text}");
    }
    assert!(mentions("a.py", "get_ipython().system('echo litellm')").is_empty());
    assert!(mentions("a.py", "x.system('pip install litellm')").is_empty());
}

#[test]
fn a_url_counts_on_a_host_that_serves_packages() {
    for url in [
        "https://esm.sh/litellm",
        "https://unpkg.com/litellm@1/x.js",
        "https://cdn.skypack.dev/litellm",
        "//cdn.jsdelivr.net/npm/litellm/+esm",
        "https://x.example/npm:litellm@1/x.js",
    ] {
        assert_eq!(named("a.js", &format!("import x from '{url}'")), ["litellm"], "{url}");
    }
    for url in [
        "https://x.example/litellm/client.js",
        "https://x.example/npm/litellm/client.js",
        "https://notesm.sh/litellm",
        "https://cdn.jsdelivr.net/gh/x/litellm",
    ] {
        assert!(named("a.js", &format!("import x from '{url}'")).is_empty(), "{url}");
    }
}

#[test]
fn a_dependency_s_archive_and_patch_name_it() {
    let package = |key: &str, value: &str| format!(r#"{{"dependencies": {{"{key}": "{value}"}}}}"#);
    for value in [
        "file:litellm-0.12.0.tgz",
        "patch:litellm@npm%3A0.12.0#./x.patch",
        "patch:x@npm%3Alitellm@0.12.0#./x.patch",
    ] {
        assert_eq!(named("package.json", &package("x", value)), ["litellm"], "{value}");
    }
    for value in ["file:litellm-x.tgz", "patch:y@npm%3A0.12.0#./litellm.patch"] {
        assert!(named("package.json", &package("x", value)).is_empty(), "{value}");
    }
}

#[test]
fn comments_of_a_compiled_file_say_who_needs_a_requirement() {
    for (text, by) in [
        ("litellm==1\n    # via langchain-litellm\n", Some("langchain-litellm")),
        ("litellm==1  # via a\n", Some("a")),
        ("litellm==1 \\\n    --hash=sha256:aa\n    # via\n    #   -r x.in\n    #   b\n", Some("b")),
        ("litellm==1\n    # via -r requirements.in\n", None),
        ("litellm==1\nother==1\n    # via b\n", None),
        ("litellm==1\n\n# via nobody knows\n", None),
        ("litellm==1\n# viable\n", None),
    ] {
        let reading = of_files(&[("requirements.txt", text.as_bytes())]);
        let by = by.map(|by| Via::Packages(vec![by.to_owned()]));
        assert_eq!(reading.mentions.len(), 1, "{text}");
        assert_eq!(reading.mentions[0].via, by, "{text}");
    }
}

/// A file that is made to cost much is answered soon and briefly.
#[test]
fn of_one_file_no_more_is_listed_than_anybody_reads() {
    let reading = of_files(&[("requirements.txt", "litellm\n".repeat(40_000).as_bytes())]);
    assert_eq!((reading.mentions.len(), reading.unread.len()), (100, 1));
    assert_eq!(
        reading.unread[0].problem,
        "names what is looked for in 39900 more places, not listed"
    );
    let reading = of_files(&[("requirements.txt", "${A}\n".repeat(40_000).as_bytes())]);
    assert_eq!(reading.mentions.len(), 0);
    assert_eq!(reading.unread.len(), 101);
    assert_eq!(reading.unread[100].problem, "has 39900 more parts that are not read, not listed");
}

/// Who needs what is looked for where something is found, and not for each of a lock's thousands of packages.
#[test]
fn a_large_lock_is_read_soon() {
    let mut lock = String::from("version = 1\n");
    for at in 0..6000 {
        let next = at + 1;
        let source = if at == 0 { "source = {virtual = '.'}\n" } else { "" };
        writeln!(
            lock,
            "[[package]]\nname = 'p{at}'\n{source}dependencies = [{{name = 'p{next}'}}]"
        )
        .unwrap();
    }
    lock.push_str(
        "[[package]]\nname = 'p6000'\nsource = {git = 'https://github.com/BerriAI/litellm'}\n",
    );
    let reading = of_files(&[("uv.lock", lock.as_bytes())]);
    assert_eq!((reading.mentions.len(), reading.unread.len()), (1, 0));
    let Some(Via::Packages(way)) = &reading.mentions[0].via else { panic!("{reading:?}") };
    assert_eq!((way.len(), &*way[0]), (5999, "p1"));
}

#[test]
fn f_strings_in_each_other_are_bounded() {
    let text = format!("import litellm\n{}", "f\"{".repeat(5000));
    assert_eq!(
        named("a.py", &text).last().map(String::as_str),
        Some("unread: is nested too deeply to be read")
    );
    let flat = "x = f'{a}'\n".repeat(500);
    assert_eq!(named("a.py", &format!("{flat}import litellm\n")), ["litellm"]);
}
