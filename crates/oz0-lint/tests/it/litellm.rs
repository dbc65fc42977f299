//! OZ-S012 beyond its page: folders and bundles alike, manifests with errors, what is summed up and what is unread.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use oz0_diagnostic::Level;
use oz0_lint::{Plugin, Report, Request, lint};
use oz0_plugin::{Mode, PluginFile};

use crate::plugins::{folder, lint_folder, of, whole, write};

/// Its findings, as `FILE:LINE MESSAGE`.
fn found(report: &Report) -> Vec<String> {
    let line = |problem: &&oz0_diagnostic::Diagnostic| {
        let span = &problem.span;
        format!("{}:{} {}", span.file().path(), span.start().line, problem.message)
    };
    of(report, "OZ-S012").iter().map(line).collect()
}

/// The plugin of a folder as a bundle's files, which stand in no folder.
fn in_memory(root: &Path) -> Plugin {
    let plugin = Plugin::load(root).unwrap();
    let file = |file: &oz0_plugin::PackedFile| PluginFile {
        path: file.path.clone(),
        mode: Mode::Plain,
        bytes: Arc::from(plugin.read_file(file, file.len).unwrap()),
    };
    let files = plugin.packed().iter().map(file).collect();
    Plugin::from_files(Path::new("a.oz0"), files).unwrap()
}

#[test]
fn a_folder_and_its_bundle_have_the_same_findings_at_each_level() {
    let manifest = whole("tools: {a: {mcp: {command: [npx, -y, 'litellm@0.12.0']}}}\n");
    let folder = folder(&[
        ("oz0-plugin.yaml", &manifest),
        ("package.json", r#"{"dependencies": {"x": "npm:litellm@1"}}"#),
        ("requirements.txt", "litellm\n"),
        ("server.py", "import litellm\n"),
        ("web/yarn.lock", "broken\n"),
        ("vendor/litellm/main.py", "import litellm\n"),
    ]);
    let bundle = in_memory(folder.path());
    for verified in [false, true] {
        let of_folder = lint_folder(folder.path(), verified);
        let of_bundle = lint(&bundle, &Request { verified, ..Request::default() }).unwrap();
        assert_eq!(found(&of_folder), found(&of_bundle));
        let problems = of(&of_folder, "OZ-S012");
        assert_eq!(problems.len(), 6, "{:#?}", found(&of_folder));
        assert!(problems.iter().all(|problem| problem.level == Level::Error && !problem.strict));
        assert!(problems.iter().all(|problem| problem.help.is_some()));
        assert!(of_folder.failed());
    }
}

#[test]
fn it_runs_when_the_manifest_has_errors() {
    let folder = folder(&[
        ("oz0-plugin.yaml", "name: [\ntools:\n  a:\n    package: pypi:litellm==1\n"),
        ("requirements.txt", "litellm\n"),
    ]);
    let found = found(&lint_folder(folder.path(), false));
    assert!(found.iter().any(|line| line.starts_with("requirements.txt:1 ")), "{found:#?}");
    let mistyped = folder_with("version: one\ntools: {a: {package: 'pypi:litellm==1'}}\n");
    let report = lint_folder(mistyped.path(), false);
    assert_eq!(of(&report, "OZ-S012").len(), 1);
    assert!(report.problems.iter().any(|problem| problem.check.code.starts_with("OZ-L")));
}

#[test]
fn a_file_that_a_command_installs_from_is_read_by_any_name() {
    for (command, files, expected) in [
        (
            "[uvx, --with-requirements, deps/all.lst, x]",
            [("deps/all.lst", "a\nlitellm>=1\n")],
            "deps/all.lst:2 ",
        ),
        (
            "[uv, run, --with-requirements=./all.lst, server.py]",
            [("all.lst", "litellm\n")],
            "all.lst:1 ",
        ),
        (
            "[sh, -c, 'pip install -r deps/../all.lst && exec python server.py']",
            [("all.lst", "-r more\n")],
            "all.lst:1 ",
        ),
        (
            "[sh, -c, 'pip install -r \"all these.lst\"']",
            [("all these.lst", "x\nlitellm\n")],
            "all these.lst:2 ",
        ),
        ("[python, -m, pip, install, -r, all.lst]", [("all.lst", "x\nlitellm\n")], "all.lst:2 "),
        ("[uvx, --with-requirements, ../all.lst, x]", [("all.lst", "x\n")], "oz0-plugin.yaml:"),
        (
            "[uvx, --with-requirements, 'https://example.com/all.lst', x]",
            [("all.lst", "x\n")],
            "oz0-plugin.yaml:",
        ),
        ("[uvx, --with-requirements, none.lst, x]", [("all.lst", "x\n")], "oz0-plugin.yaml:"),
    ] {
        let manifest = whole(&format!("tools: {{a: {{mcp: {{command: {command}}}}}}}\n"));
        let folder = folder(&[&[("oz0-plugin.yaml", &*manifest)], files.as_slice()].concat());
        let found = found(&lint_folder(folder.path(), false));
        assert_eq!(found.len(), 1, "{command}: {found:#?}");
        assert!(found[0].starts_with(expected), "{command}: {found:#?}");
    }
    for command in [
        "[uvx, --with-requirements, all.lst, x]",
        "[uv, run, --env-file, other.lst, server.py]",
        "[cat, -r, other.lst]",
    ] {
        let manifest = whole(&format!("tools: {{a: {{mcp: {{command: {command}}}}}}}\n"));
        let folder = folder(&[
            ("oz0-plugin.yaml", &*manifest),
            ("all.lst", "litellm-free\n"),
            ("other.lst", "litellm\n"),
        ]);
        assert_eq!(found(&lint_folder(folder.path(), false)), [""; 0], "{command}");
    }
}

fn folder_with(manifest: &str) -> tempfile::TempDir {
    folder(&[("oz0-plugin.yaml", &whole(manifest))])
}

#[test]
fn what_the_manifests_tools_start_is_found() {
    for (tool, wanted) in [
        (
            "package: 'pypi:LiteLLM[proxy]==1.83.0'",
            "a tool's server is LiteLLM (`litellm` of PyPI)",
        ),
        (
            "package: 'pypi:litellm-proxy==1'",
            "a tool's server is `litellm-proxy` of PyPI, which is LiteLLM's",
        ),
        ("package: 'npm:litellm@0.12.0'", "a tool's server is LiteLLM (`litellm` of npm)"),
        (
            "package: 'oci:registry.example.com/berriai/litellm-database:main'",
            "a tool's server is LiteLLM (`litellm` of PyPI)",
        ),
        (
            "package: 'pypi:mcp-proxy==1'\n    args: [--, uvx, litellm]",
            "a command of the manifest starts LiteLLM",
        ),
        (
            "mcp: {command: [python3, -m, litellm.proxy]}",
            "a command of the manifest starts LiteLLM",
        ),
        (
            "mcp: {command: [sh, -c, 'cd x && exec uvx --with litellm y']}",
            "a command of the manifest starts LiteLLM",
        ),
        ("package: 'npm:@acme/litellm@1.0.0'", ""),
        ("package: 'oci:acme/litellm:main'", ""),
        ("package: 'pypi:langchain-litellm==1'", ""),
        ("mcp: {command: [python3, server.py, litellm]}", ""),
    ] {
        let folder = folder_with(&format!("tools:\n  a:\n    {tool}\n"));
        let found = found(&lint_folder(folder.path(), false));
        match wanted {
            "" => assert_eq!(found, Vec::<String>::new(), "{tool}"),
            wanted => {
                assert_eq!(found.len(), 1, "{tool}: {found:?}");
                assert!(found[0].contains(wanted), "{tool}: {found:?}");
            }
        }
    }
}

#[test]
fn a_tools_lock_is_read_by_the_tools_package_or_by_its_beginning() {
    let npm = "{\"lockfileVersion\": 3, \"packages\": {\n\"\": {\"dependencies\": {\"a\": \"1\"}},\n\"node_modules/a\": {\"dependencies\": {\"litellm\": \"1\"}},\n\"node_modules/litellm\": {\"version\": \"0.12.0\"}}}";
    let pypi =
        "# locked\na==1.0.0 \\\n    --hash=sha256:00\nlitellm==1.83.0 \\\n    --hash=sha256:00\n";
    for (package, lock, line) in [
        (
            "npm:a@1.0.0",
            npm,
            "locks/t.lock:4 LiteLLM (`litellm` of npm) is locked; `a` pulls it in",
        ),
        (
            "pypi:a==1.0.0",
            pypi,
            "locks/t.lock:4 LiteLLM (`litellm` of PyPI) is locked for the tool's package",
        ),
    ] {
        for manifest in [format!("tools: {{t: {{package: '{package}'}}}}\n"), String::new()] {
            let folder = folder_with(&manifest);
            write(folder.path(), "locks/t.lock", lock);
            assert_eq!(found(&lint_folder(folder.path(), false)), [line], "{manifest}");
        }
    }
}

#[test]
fn a_copy_and_an_installed_package_are_a_finding_each() {
    let folder = folder_with("");
    let site = ".venv/lib/python3.12/site-packages";
    for at in 0..50 {
        write(folder.path(), &format!("{site}/litellm/a{at}.py"), "import litellm\n");
        write(folder.path(), &format!("{site}/agents/a{at}.py"), "import litellm\n");
    }
    write(folder.path(), &format!("{site}/litellm_init.pth"), "import os\n");
    let report = lint_folder(folder.path(), false);
    let found = found(&report);
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(
        found.iter().any(|line| line
            .contains("the installed `agents` imports LiteLLM (`litellm` of PyPI), in 50 places")),
        "{found:#?}"
    );
    assert!(
        found.iter().any(|line| line.contains("a copy of LiteLLM (`litellm` of PyPI) is in")),
        "{found:#?}"
    );
    assert!(
        found.iter().any(|line| line.contains("compromised releases 1.82.7 and 1.82.8")),
        "{found:#?}"
    );
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_are_counted_or_an_error() {
    let folder = folder_with("");
    fs::create_dir_all(folder.path().join(".venv/bin")).unwrap();
    fs::write(folder.path().join(".oz0ignore"), ".venv\n").unwrap();
    std::os::unix::fs::symlink("/bin/sh", folder.path().join(".venv/bin/python")).unwrap();
    let report = lint_folder(folder.path(), false);
    assert_eq!((report.summary.links_out, found(&report)), (1, Vec::new()));
    let text = report.summary_text();
    assert!(text.ends_with("not followed: 1 link leads out of the plugin's folder"), "{text}");
    std::os::unix::fs::symlink("/bin/sh", folder.path().join("sh")).unwrap();
    let report = lint_folder(folder.path(), false);
    assert_eq!((report.summary.links_out, found(&report).len()), (1, 1));
}
