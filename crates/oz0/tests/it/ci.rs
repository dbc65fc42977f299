//! What others run in their repositories: the hooks of pre-commit, by pre-commit itself, and the GitHub Action, whose steps
//! are run as a runner runs them. On GitHub's own machines nothing of this has run.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use oz0_peers::Peers;
use oz0_yaml::{Limits, Node, Value as Yaml};
use serde_json::Value;

use crate::support::{OZ0, Said, checkout, folder, run, write};

const CLEAN: &str =
    "name: team\nversion: 1.0.0\nkind: capability\ndescription: Says hello.\nlicense: Apache-2.0\n";
const WARNED: &str = "name: team\nversion: 1.0.0\nkind: capability\ndescription: Says hello.\nlicense: Apache-2.0\n\
                      agents:\n  greeter:\n    tools: [oz0_chat.post]  # says hello\nuses:\n  chat: {version: '1', tools: [oz0_chat.post]}\n";

fn peers() -> Peers {
    Peers::find().expect("cargo xtask setup was run")
}

fn git(at: &Path, arguments: &[&str]) -> String {
    let said = run(Command::new("git")
        .args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.com",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .current_dir(at)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env_remove("GIT_DIR"));
    assert_eq!(said.code, Some(0), "git {arguments:?}: {}", said.all());
    said.stdout.trim().to_owned()
}

/// A repository that uses the hooks of the project, and one of its own with a plugin in `plugins/team`.
struct Repository {
    folder: tempfile::TempDir,
}

impl Repository {
    fn new(hooks: &str) -> Self {
        let folder = folder(&[]);
        let project = folder.path().join("project");
        fs::create_dir(&project).expect("a folder");
        fs::copy(checkout().join(".pre-commit-hooks.yaml"), project.join(".pre-commit-hooks.yaml"))
            .expect("a copy");
        git(&project, &["init", "--quiet"]);
        git(&project, &["add", "."]);
        git(&project, &["commit", "--quiet", "-m", "Hooks"]);
        let revision = git(&project, &["rev-parse", "HEAD"]);
        let repository = Self { folder };
        let work = repository.work();
        write(&work, "plugins/team/README.md", "# Team\n\nSays hello.\n");
        fs::copy(checkout().join("LICENSE"), work.join("plugins/team/LICENSE")).expect("a copy");
        write(&work, "README.md", "# Ours\n");
        write(
            &work,
            ".pre-commit-config.yaml",
            &format!(
                "repos:\n  - repo: {}\n    rev: {revision}\n    hooks:\n{hooks}",
                project.display()
            ),
        );
        git(&work, &["init", "--quiet"]);
        repository
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// What `pre-commit run` says about a manifest that is about to be committed.
    fn pre_commit(&self, manifest: &str) -> Said {
        write(&self.work(), "plugins/team/oz0-plugin.yaml", manifest);
        git(&self.work(), &["add", "."]);
        let oz0 = Path::new(OZ0).parent().expect("a folder");
        run(Command::new(peers().python_program("pre-commit"))
            .args(["run", "--color=never", "--verbose"])
            .current_dir(self.work())
            .env("PRE_COMMIT_HOME", self.folder.path().join("cache"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("PATH", oz0_peers::path_with(oz0))
            .env_remove("GIT_DIR"))
    }
}

#[test]
fn pre_commit_runs_the_hook_and_fails_on_an_error() {
    let repository = Repository::new("      - {id: oz0-lint, args: [plugins/team]}\n");
    let said = repository.pre_commit(CLEAN);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stdout.contains("team: 0 errors, 0 warnings"), "{}", said.all());
    let said = repository.pre_commit(WARNED);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stdout.contains("[OZ-S019]"), "{}", said.all());
    let said = repository.pre_commit(&CLEAN.replace("kind", "kinds"));
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(
        said.stdout.contains("[OZ-L001]") && said.stdout.contains("did you mean `kind`"),
        "{}",
        said.all()
    );
}

#[test]
fn pre_commit_holds_a_plugin_to_the_verified_level_and_only_where_its_files_change() {
    let repository = Repository::new(
        "      - {id: oz0-lint, args: [--verified, plugins/team], files: ^plugins/team/}\n",
    );
    let said = repository.pre_commit(WARNED);
    assert_eq!(said.code, Some(1), "{}", said.all());
    git(&repository.work(), &["commit", "--quiet", "--no-verify", "-m", "Plugin"]);
    write(&repository.work(), "README.md", "# Ours, changed\n");
    let said = repository.pre_commit(WARNED);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.stdout.contains("no files to check"), "{}", said.all());
}

#[test]
fn pre_commit_mends_what_has_a_safe_fix_and_fails_until_that_is_added() {
    let repository = Repository::new("      - {id: oz0-lint-fix, args: [plugins/team]}\n");
    let said = repository.pre_commit(WARNED);
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stdout.contains("files were modified by this hook"), "{}", said.all());
    let mended = fs::read_to_string(repository.work().join("plugins/team/oz0-plugin.yaml"))
        .expect("a manifest");
    assert_eq!(
        mended,
        WARNED.replacen("[oz0_chat.post]  # says", "[chat/oz0_chat.post]  # says", 1)
    );
    let said = repository.pre_commit(&mended);
    assert_eq!(said.code, Some(0), "{}", said.all());
}

#[test]
fn the_hooks_and_the_action_are_of_the_shapes_that_their_readers_want() {
    let said = run(Command::new(peers().python_program("pre-commit"))
        .arg("validate-manifest")
        .arg(checkout().join(".pre-commit-hooks.yaml")));
    assert_eq!(said.code, Some(0), "{}", said.all());
    let check = |file: &Path| {
        run(Command::new(peers().python_program("check-jsonschema"))
            .args(["--builtin-schema", "vendor.github-actions"])
            .arg(file))
    };
    let said = check(&checkout().join("action.yml"));
    assert_eq!(said.code, Some(0), "{}", said.all());
    let broken = folder(&[("action.yml", &action().replace("using: composite", "using: compost"))]);
    assert_eq!(check(&broken.path().join("action.yml")).code, Some(1));
}

fn action() -> String {
    fs::read_to_string(checkout().join("action.yml")).expect("the action")
}

fn text<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    node.get(key)?.value.as_str()
}

/// One step of the action, run by the command that GitHub documents for `shell: bash`.
struct Runner {
    folder: tempfile::TempDir,
    inputs: BTreeMap<&'static str, String>,
}

impl Runner {
    fn new(inputs: &[(&'static str, &str)]) -> Self {
        let mut all = BTreeMap::from(
            [("path", "."), ("verified", "false"), ("sarif", ""), ("oz0", OZ0)]
                .map(|(name, value)| (name, value.to_owned())),
        );
        all.extend(inputs.iter().map(|(name, value)| (*name, (*value).to_owned())));
        let folder = folder(&[("work/plugins/team/README.md", "# Team\n\nSays hello.\n")]);
        fs::create_dir(folder.path().join("temp")).expect("a folder");
        fs::copy(checkout().join("LICENSE"), folder.path().join("work/plugins/team/LICENSE"))
            .expect("a copy");
        Self { folder, inputs: all }
    }

    fn temp(&self) -> PathBuf {
        self.folder.path().join("temp")
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.temp().join(path)).unwrap_or_default()
    }

    /// The value of an expression. One that the action does not have today has no value here, so it cannot be mistaken.
    fn evaluate(&self, expression: &str) -> String {
        let temp = self.temp().display().to_string();
        match expression.trim() {
            "github.action_path" => checkout().display().to_string(),
            "runner.temp" => temp,
            "inputs.oz0 || format('{0}/oz0/bin/oz0', runner.temp)" => {
                match self.inputs["oz0"].as_str() {
                    "" => format!("{temp}/oz0/bin/oz0"),
                    given => given.to_owned(),
                }
            }
            other => match other.strip_prefix("inputs.").and_then(|name| self.inputs.get(name)) {
                Some(value) => value.clone(),
                None => panic!("the action has a new expression: {other}"),
            },
        }
    }

    fn expand(&self, text: &str) -> String {
        let mut parts = text.split("${{");
        let mut expanded = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (expression, rest) = part.split_once("}}").expect("an expression ends");
            expanded.push_str(&self.evaluate(expression));
            expanded.push_str(rest);
        }
        expanded
    }

    fn step(&self, id: &str, path_first: Option<&Path>) -> Said {
        let source = action();
        let parsed = oz0_yaml::parse(&source, &Limits::MANIFEST);
        assert!(parsed.problems.is_empty(), "{:?}", parsed.problems);
        let root = parsed.root.expect("a document");
        let steps = &root.get("runs").expect("runs").value.get("steps").expect("steps").value;
        let Yaml::Sequence(steps) = &steps.value else { panic!("steps are a list") };
        let step = steps.iter().find(|step| text(step, "id") == Some(id)).expect("a step");
        assert_eq!(text(step, "shell"), Some("bash"));
        let script = text(step, "run").expect("a script");
        assert!(!script.contains("${{"), "an input in a script would be run");
        let file = self.temp().join("step.sh");
        fs::write(&file, script).expect("a file");
        let mut command = Command::new("bash");
        command
            .args(["--noprofile", "--norc", "-e", "-o", "pipefail"])
            .arg(&file)
            .current_dir(self.work())
            .env("GITHUB_OUTPUT", self.temp().join("output"))
            .env("GITHUB_STEP_SUMMARY", self.temp().join("summary"))
            .stdin(Stdio::null());
        let Yaml::Mapping(env) = &step.get("env").expect("env").value.value else {
            panic!("env is a mapping")
        };
        for entry in env {
            let (key, value) =
                (entry.key.as_str().expect("a name"), entry.value.as_str().expect("a text"));
            command.env(key, self.expand(value));
        }
        if let Some(first) = path_first {
            command.env("PATH", oz0_peers::path_with(first));
        }
        run(&mut command)
    }
}

#[test]
fn the_action_annotates_summarises_and_reports() {
    let runner = Runner::new(&[("path", "plugins/team"), ("sarif", "lint.sarif")]);
    write(&runner.work(), "plugins/team/oz0-plugin.yaml", WARNED);
    let said = runner.step("lint", None);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(
        said.stdout.starts_with("::warning file=plugins/team/oz0-plugin.yaml,line=8"),
        "{}",
        said.all()
    );
    let report = runner.read("output");
    let report = report.trim().strip_prefix("report=").expect("an output");
    let report: Value =
        serde_json::from_str(&fs::read_to_string(report).expect("a report")).expect("JSON");
    assert_eq!(report["summary"]["warnings"], 1);
    let sarif = fs::read_to_string(runner.work().join("lint.sarif")).expect("a file");
    let sarif: Value = serde_json::from_str(&sarif).expect("JSON");
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
        ["uri"];
    assert_eq!(place, "plugins/team/oz0-plugin.yaml");
    assert!(
        runner.read("summary").contains("\n    oz0-plugin.yaml:8:13: warning[OZ-S019]"),
        "{}",
        runner.read("summary")
    );
}

#[test]
fn the_action_fails_as_the_lint_does() {
    let runner = Runner::new(&[("path", "plugins/team"), ("verified", "true")]);
    write(&runner.work(), "plugins/team/oz0-plugin.yaml", WARNED);
    let said = runner.step("lint", None);
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.stdout.starts_with("::error "), "{}", said.all());
    assert!(runner.read("output").starts_with("report="));
    // A folder without a plugin, and a word that is no answer.
    let runner = Runner::new(&[("path", "nowhere; touch ran")]);
    let said = runner.step("lint", None);
    assert_eq!((said.code, runner.read("output").as_str()), (Some(3), ""), "{}", said.all());
    assert!(!runner.work().join("ran").exists());
    let runner = Runner::new(&[("verified", "yes\n::error::x")]);
    let said = runner.step("lint", None);
    assert_eq!(said.code, Some(2), "{}", said.all());
    assert_eq!(said.stderr.lines().count(), 1, "{}", said.all());
}

/// Building takes minutes, so here the step's cargo says what it was asked for.
#[test]
fn the_action_builds_the_command_line_of_its_own_commit() {
    let runner = Runner::new(&[("oz0", "")]);
    let bin = runner.temp().join("bin");
    write(&bin, "cargo", "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
    fs::set_permissions(bin.join("cargo"), fs::Permissions::from_mode(0o755)).expect("a mode");
    let said = runner.step("build", Some(&bin));
    let package = checkout().join("crates/oz0");
    assert!(package.join("Cargo.toml").is_file());
    let root = runner.temp().join("oz0");
    let wanted = format!(
        "install\n--quiet\n--locked\n--path\n{}\n--root\n{}\n",
        package.display(),
        root.display()
    );
    assert_eq!(said.stdout, wanted, "{}", said.all());
    assert_eq!(
        runner.evaluate("inputs.oz0 || format('{0}/oz0/bin/oz0', runner.temp)"),
        root.join("bin/oz0").display().to_string()
    );
}

/// What an editor knows of a manifest is the published schema, read by a validator that is not the project's.
#[test]
fn every_example_is_valid_by_the_published_schema_and_a_broken_manifest_is_not() {
    let schema = checkout().join("docs/reference/schema/oz0-plugin.schema.json");
    let said = run(&mut crate::support::oz0(["plugin", "schema"]));
    assert_eq!(
        said.stdout,
        fs::read_to_string(&schema).expect("the schema"),
        "cargo xtask generate"
    );
    let check = |manifests: &[PathBuf]| {
        run(Command::new(peers().python_program("check-jsonschema"))
            .args(["--color", "never", "--output-format", "json", "--schemafile"])
            .arg(&schema)
            .args(manifests))
    };
    let examples: Vec<PathBuf> = fs::read_dir(checkout().join("examples"))
        .expect("examples")
        .map(|entry| entry.expect("an entry").path().join("oz0-plugin.yaml"))
        .filter(|manifest| manifest.is_file())
        .collect();
    assert!(examples.len() > 4, "{examples:?}");
    let said = check(&examples);
    assert_eq!(said.code, Some(0), "{}", said.all());
    let broken = [
        ("unknown", CLEAN.replace("kind", "kinds")),
        ("missing", CLEAN.replace("license: Apache-2.0\n", "")),
        ("mistyped", CLEAN.replace("Says hello.", "[Says hello.]")),
        ("name", CLEAN.replace("name: team", "name: Team")),
        ("nested", format!("{CLEAN}tools:\n  t: {{mcp: {{command: x}}}}\n")),
        (
            "two",
            format!("{CLEAN}tools:\n  t: {{mcp: {{command: [x]}}, url: 'https://example.com'}}\n"),
        ),
        ("choice", format!("{CLEAN}policy: [{{match: '*', action: asks}}]\n")),
        ("host", format!("{CLEAN}egress: ['https://example.com']\n")),
    ];
    let folder = folder(&[]);
    let mut manifests = Vec::new();
    for (name, text) in &broken {
        write(folder.path(), &format!("{name}.yaml"), text);
        manifests.push(folder.path().join(format!("{name}.yaml")));
    }
    let said = check(&manifests);
    assert_eq!(said.code, Some(1), "{}", said.all());
    for (name, _) in broken {
        assert!(said.stdout.contains(&format!("/{name}.yaml")), "{name} passes: {}", said.all());
    }
}
