//! Nothing of a plugin runs when it is linted, inspected or packed: each file of the plugin here is a trap that leaves a mark
//! of its own when something runs it, and the traps are shown to work first.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{OZ0, checkout, copy, oz0, run, write};

/// Scripts that a shell, a tool or a person's habit would start: run by their `#!` line or by name.
const SCRIPTS: &[&str] = &[
    "server",
    "configure",
    "install.sh",
    ".envrc",
    ".git/hooks/pre-commit",
    ".git/hooks/post-checkout",
    ".git/hooks/fsmonitor",
    ".husky/pre-commit",
    "hooks/before_call",
    "node_modules/.bin/mcp-server",
    "tests/run",
];

/// Programs that somebody may have put first on the PATH.
const PROGRAMS: &[&str] = &[
    "python", "python3", "node", "npm", "npx", "uv", "uvx", "pip", "pipx", "pytest", "git", "sh",
    "bash", "env", "cc", "docker", "tar", "zstd", "oz0", "ssh", "curl",
];

/// What a Python or a Node.js that starts here would read.
const PYTHON: &[&str] = &[
    "server.py",
    "setup.py",
    "conftest.py",
    "tests/conftest.py",
    "tests/test_contract.py",
    "sitecustomize.py",
    "usercustomize.py",
    "backend.py",
    "pythonstartup.py",
    "json.py",
    "encodings/__init__.py",
];
const JAVASCRIPT: &[&str] = &["index.js", "preload.cjs", ".pnp.cjs", "tests/contract.test.js"];

/// A plugin of traps, and the folder in which they leave their marks.
struct Trap {
    folder: tempfile::TempDir,
}

impl Trap {
    fn set() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let trap = Self { folder };
        fs::create_dir(trap.marks()).expect("a folder");
        copy(&checkout().join("examples/team"), &trap.plugin());
        for path in SCRIPTS {
            trap.script(path);
        }
        for name in PROGRAMS {
            trap.script(&format!("bin/{name}"));
        }
        for path in PYTHON {
            write(&trap.plugin(), path, &format!("open('{}', 'w')\n", trap.mark(path).display()));
        }
        // A line of a .pth file that begins with `import` is run.
        let pth = format!("import os; open('{}', 'w')\n", trap.mark("trap.pth").display());
        write(&trap.plugin(), "trap.pth", &pth);
        for path in JAVASCRIPT {
            let text =
                format!("require('fs').writeFileSync('{}', '')\n", trap.mark(path).display());
            write(&trap.plugin(), path, &text);
        }
        trap.configuration();
        trap
    }

    /// Files by which tools are told to run something.
    fn configuration(&self) {
        let touch = |name: &str| format!("touch {}", self.mark(name).display());
        let package = serde_json::json!({
            "name": "trap",
            "scripts": {
                "preinstall": touch("preinstall"), "postinstall": touch("postinstall"), "prepare": touch("prepare"),
                "test": touch("npm-test"), "pretest": touch("pretest"),
            },
        });
        for (path, text) in [
            ("package.json", package.to_string()),
            ("pyproject.toml", "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n".to_owned()),
            ("Makefile", format!("all:\n\t{}\n", touch("make"))),
            ("binding.gyp", format!("{{'targets': [{{'target_name': '<!({})'}}]}}", touch("gyp"))),
            (
                ".git/config",
                format!(
                    "[core]\n\tfsmonitor = {fsmonitor}\n\tsshCommand = {ssh}\n[diff]\n\texternal = {diff}\n[alias]\n\tstatus = !{alias}\n",
                    fsmonitor = self.plugin().join(".git/hooks/fsmonitor").display(),
                    ssh = touch("git-ssh"),
                    diff = touch("git-diff"),
                    alias = touch("git-alias"),
                ),
            ),
            (".git/HEAD", "ref: refs/heads/main\n".to_owned()),
            (".gitattributes", "* filter=trap\n".to_owned()),
            (".npmrc", format!("script-shell={}\n", self.plugin().join("bin/sh").display())),
            (".mcp.json", r#"{"mcpServers": {"trap": {"command": "./server"}}}"#.to_owned()),
            (".pre-commit-config.yaml", "repos: [{repo: local, hooks: [{id: t, name: t, entry: ./server, language: system}]}]\n".to_owned()),
            (".vscode/tasks.json", r#"{"tasks": [{"command": "./server", "runOptions": {"runOn": "folderOpen"}}]}"#.to_owned()),
            (".cargo/config.toml", "[target.'cfg(all())']\nrunner = './server'\n".to_owned()),
            ("oz0.toml", "[hooks]\nlint = './server'\n".to_owned()),
        ] {
            write(&self.plugin(), path, &text);
        }
    }

    fn plugin(&self) -> PathBuf {
        self.folder.path().join("team")
    }

    fn marks(&self) -> PathBuf {
        self.folder.path().join("marks")
    }

    fn mark(&self, of: &str) -> PathBuf {
        self.marks().join(of.replace('/', "-"))
    }

    /// A script without any program that could itself be a trap: the shell's redirection makes the mark.
    fn script(&self, path: &str) {
        write(&self.plugin(), path, &format!("#!/bin/sh\n: > {}\n", self.mark(path).display()));
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.plugin().join(path), mode).expect("a mode");
    }

    /// The marks that there are; they are taken away.
    fn sprung(&self) -> Vec<String> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.marks()).expect("a folder") {
            let entry = entry.expect("an entry");
            names.push(entry.file_name().into_string().expect("UTF-8"));
            fs::remove_file(entry.path()).expect("a file");
        }
        names.sort();
        names
    }

    /// In the plugin's folder, with everything of it where a program that starts something would find it first.
    fn inside<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let path = std::env::var("PATH").expect("a PATH");
        let plugin = self.plugin();
        command
            .current_dir(&plugin)
            .env("PATH", format!("{}:{path}", plugin.join("bin").display()))
            .env("PYTHONPATH", &plugin)
            .env("PYTHONSTARTUP", plugin.join("pythonstartup.py"))
            .env("NODE_OPTIONS", format!("--require {}", plugin.join("preload.cjs").display()))
            .env("BASH_ENV", plugin.join(".envrc"))
            .env("ENV", plugin.join(".envrc"))
            .env("GIT_DIR", plugin.join(".git"))
            .env("EDITOR", plugin.join("server"))
            .env("PAGER", plugin.join("server"))
            .env("HOME", &plugin)
            .stdin(Stdio::null())
    }

    /// Every file with its bytes.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(folder: &Path, into: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    walk(&path, into);
                } else {
                    let bytes = fs::read(&path).expect("a file");
                    into.insert(path, bytes);
                }
            }
        }
        let mut files = BTreeMap::new();
        walk(&self.plugin(), &mut files);
        files
    }
}

#[test]
fn the_traps_work() {
    let trap = Trap::set();
    for path in SCRIPTS
        .iter()
        .map(|path| (*path).to_owned())
        .chain(PROGRAMS.iter().map(|name| format!("bin/{name}")))
    {
        assert!(run(&mut Command::new(trap.plugin().join(&path))).code == Some(0));
        assert_eq!(trap.sprung(), [path.replace('/', "-")]);
    }
    let mut by_name = Command::new("/bin/sh");
    run(trap.inside(&mut by_name).args(["-c", "python3 x; git status"]));
    assert_eq!(trap.sprung(), ["bin-git", "bin-python3"]);
    for path in PYTHON {
        let found = run(Command::new("python3").args(["-I", "-S"]).arg(trap.plugin().join(path)));
        assert_eq!(found.code, Some(0), "{path}: {}", found.all());
        assert_eq!(trap.sprung(), [path.replace('/', "-")]);
    }
    let site = format!("import site; site.addsitedir('{}')", trap.plugin().display());
    run(Command::new("python3").args(["-I", "-c", &site]));
    assert_eq!(trap.sprung(), ["trap.pth"]);
}

#[test]
fn linting_inspecting_and_packing_spring_no_trap_and_write_what_they_say() {
    let trap = Trap::set();
    let bundle = trap.folder.path().join("a.oz0");
    let bundle = bundle.to_str().expect("UTF-8");
    let before = trap.files();
    let pack = ["plugin", "pack", "-o", bundle, "."];
    for arguments in [
        &["plugin", "lint"][..],
        &["plugin", "lint", "--verified", "."],
        &["plugin", "lint", "--json", "."],
        &["plugin", "lint", "--verified", "--format", "sarif", "."],
        &["plugin", "lint", "--format", "github", "."],
        &["plugin", "lint", "--fix", "--diff", "."],
        &["plugin", "lint", "--fix", "."],
        &["plugin", "inspect", "."],
        &["plugin", "inspect", "--json", "."],
        &["plugin", "explain", "OZ-S001"],
        &["plugin", "schema"],
        &pack,
        &["plugin", "inspect", bundle],
    ] {
        let said = run(trap.inside(&mut oz0(arguments)));
        let found = said.code == Some(1) && arguments.contains(&"--verified");
        assert!(said.code == Some(0) || found, "{arguments:?}: {}", said.all());
        assert_eq!(trap.sprung(), Vec::<String>::new(), "{arguments:?}");
        let mut after = trap.files();
        if arguments == pack {
            assert!(after.remove(&trap.plugin().join("sbom.cdx.json")).is_some());
        }
        after.remove(&trap.plugin().join("sbom.cdx.json"));
        let mut changed: Vec<&PathBuf> =
            after.keys().filter(|path| after.get(*path) != before.get(*path)).collect();
        changed.extend(before.keys().filter(|path| !after.contains_key(*path)));
        assert_eq!(changed, Vec::<&PathBuf>::new(), "{arguments:?}");
    }
}

/// The same from outside, as somebody looks at a folder that they do not trust: no surroundings help it.
#[test]
fn a_plugin_with_broken_files_springs_no_trap_either() {
    let trap = Trap::set();
    write(&trap.plugin(), "hub/listing.yaml", "name: [");
    write(&trap.plugin(), "tools.listing.json", "{");
    write(&trap.plugin(), "evals/e.yaml", "agent: !!python/object/apply:os.system [touch x]\n");
    for verb in ["lint", "inspect", "pack"] {
        let mut command = Command::new(OZ0);
        let said =
            run(command.args(["plugin", verb]).arg(trap.plugin()).current_dir(trap.folder.path()));
        assert!(said.code.is_some_and(|code| code > 0), "{verb}: {}", said.all());
        assert_eq!(trap.sprung(), Vec::<String>::new(), "{verb}");
    }
    assert!(!trap.plugin().join("x").exists() && !trap.folder.path().join("x").exists());
}
