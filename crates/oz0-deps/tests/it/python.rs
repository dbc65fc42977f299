//! Python's dependency files: what is found, what is not, and what is unread.

use std::fmt::Write as _;

use oz0_deps::{Reading, Via};

use crate::support::{of_files, of_folder, write};

/// What a reading found, as `path:line:column text how [via]`.
pub(crate) fn found(reading: &Reading) -> Vec<String> {
    let line = |mention: &oz0_deps::Mention| {
        let via = match &mention.via {
            None => String::new(),
            Some(Via::List(list)) => format!(" in {list}"),
            Some(Via::Packages(packages)) => format!(" by {}", packages.join(" → ")),
            Some(Via::Files(files)) => format!(" through {}", files.join(" → ")),
            Some(via) => format!(" {via:?}"),
        };
        let (span, at) = (&mention.span, mention.span.start());
        format!("{}:{at} {} {:?}{via}", span.file().path(), span.text(), mention.how)
    };
    reading.mentions.iter().map(line).collect()
}

/// What is unread, as `path:line:column text: problem`.
pub(crate) fn unread(reading: &Reading) -> Vec<String> {
    let line = |unread: &oz0_deps::Unread| {
        let (span, at) = (&unread.span, unread.span.start());
        format!("{}:{at} {}: {}", span.file().path(), span.text(), unread.problem)
    };
    reading.unread.iter().map(line).collect()
}

/// A file names these, and all of it is read.
#[track_caller]
pub(crate) fn names(path: &str, text: &str, expected: &[&str]) {
    let reading = of_files(&[(path, text.as_bytes())]);
    let expected: Vec<String> = expected.iter().map(|line| format!("{path}:{line}")).collect();
    assert_eq!(found(&reading), expected, "in {text}");
    assert_eq!(unread(&reading), [""; 0], "in {text}");
}

/// A file names nothing, and all of it is read.
#[track_caller]
pub(crate) fn names_nothing(path: &str, text: &str) {
    names(path, text, &[]);
}

/// A file is unread at a place, for a reason that holds these words.
#[track_caller]
pub(crate) fn is_unread(path: &str, bytes: impl AsRef<[u8]>, place: &str, words: &str) {
    let reading = of_files(&[(path, bytes.as_ref())]);
    let unread = unread(&reading);
    let begin = format!("{path}:{place}");
    let expected = |line: &String| {
        let rest = line.strip_prefix(&begin);
        // A place that is a whole one, and not the beginning of a longer one.
        let whole = |rest: &str| !place.ends_with(char::is_numeric) || rest.starts_with(' ');
        rest.is_some_and(whole) && line.contains(words)
    };
    assert!(unread.iter().any(expected), "{unread:?} has no {words:?} at {place}");
}

#[test]
fn a_project_s_requirements_are_found_in_each_of_its_lists() {
    let text = r#"
[project]
name = "litellm-adapter"
keywords = ["litellm"]
dependencies = ["httpx", "LiteLLM[proxy]>=1.0; python_version > '3'", 'lite-llm']
[project.optional-dependencies]
litellm = ["httpx"]
proxy = ["a", "litellm_proxy.extras (>=1)"]
[project.scripts]
litellm = "litellm:main"
[project.entry-points.litellm]
litellm = "litellm:main"
[build-system]
requires = ["hatchling", "litellm"]
[dependency-groups]
dev = ["pytest", "litellm", {include-group = "lint"}]
lint = ["litellm-enterprise==1"]
"#;
    names(
        "pyproject.toml",
        text,
        &[
            "5:27 LiteLLM Direct",
            "8:16 litellm_proxy.extras Direct in optional-dependencies.proxy",
            "14:27 litellm Direct in build-system.requires",
            "16:19 litellm Direct in dependency-groups.dev",
            "17:10 litellm-enterprise Direct in dependency-groups.lint",
        ],
    );
}

#[test]
fn extras_longer_names_and_other_spellings_are_other_packages() {
    for requirement in [
        "crewai[litellm]",
        "smolagents[litellm]>=1",
        "langchain-litellm",
        "llama-index-llms-litellm",
        "litellm-utils",
        "openinference-instrumentation-litellm",
        "lite-llm",
        "litellmx",
        "xlitellm",
        "pkg @ https://example.com/litellm/pkg-1.0-py3-none-any.whl",
        "pkg @ git+https://github.com/other/pkg@litellm",
        "pkg; extra == 'litellm'",
    ] {
        names_nothing("pyproject.toml", &format!("project.dependencies = [\"{requirement}\"]\n"));
        names_nothing("requirements.txt", &format!("{requirement}\n"));
    }
}

#[test]
fn a_group_that_includes_nothing_or_itself_is_unread() {
    let missing = "[dependency-groups]\na = [{include-group = \"b\"}]\n";
    is_unread("pyproject.toml", missing, "2:24", "a group of dependencies that is not there");
    let itself =
        "[dependency-groups]\na = [{include-group = \"B\"}]\nb = [{include-group = \"a\"}]\n";
    is_unread("pyproject.toml", itself, "2:1", "includes itself");
}

#[test]
fn what_is_no_requirement_in_a_list_of_them_is_unread() {
    is_unread("pyproject.toml", "project.dependencies = [\"-e .\"]", "1:26", "which is none");
    is_unread("pyproject.toml", "project.dependencies = [1]", "1:25", "no string");
    is_unread("pyproject.toml", "project.dependencies = \"litellm\"", "1:25", "something else");
}

#[test]
fn poetry_names_packages_by_the_keys_of_its_tables() {
    let text = r#"
[tool.poetry]
name = "litellm-adapter"
[tool.poetry.dependencies]
python = "^3.11"
LiteLLM = {version = "^1", optional = true}
a = {git = "https://github.com/BerriAI/litellm.git", branch = "main"}
b = {url = "https://example.com/litellm-1.0-py3-none-any.whl"}
c = {path = "wheels/litellm-1.0.tar.gz"}
d = [{version = "1"}, {git = "https://github.com/someone/litellm"}]
e = {git = "https://github.com/someone/other", subdirectory = "packages/litellm"}
f = {path = "../litellm"}
[tool.poetry.dev-dependencies]
litellm = "*"
[tool.poetry.group.test.dependencies.litellm]
version = "*"
[tool.poetry.requires-plugins]
"litellm" = ">1"
[tool.poetry.extras]
litellm = ["litellm"]
"#;
    names(
        "pyproject.toml",
        text,
        &[
            "6:1 LiteLLM Direct",
            "7:40 litellm Direct",
            "8:33 litellm Direct",
            "9:21 litellm Direct",
            "10:58 litellm Direct",
            "11:73 litellm Direct",
            "14:1 litellm Direct in tool.poetry.dev-dependencies",
            "15:38 litellm Direct in tool.poetry.group.test.dependencies",
            "18:2 litellm Direct in tool.poetry.requires-plugins",
        ],
    );
}

#[test]
fn uv_s_lists_are_requirements_or_bounds_and_its_sources_neither() {
    let text = r#"
[tool.uv]
dev-dependencies = ["litellm"]
constraint-dependencies = ["litellm<2"]
override-dependencies = ["litellm==1"]
build-constraint-dependencies = ["litellm==1"]
[tool.uv.sources]
litellm = {git = "https://github.com/BerriAI/litellm"}
[tool.uv.extra-build-dependencies]
a = ["litellm", {requirement = "litellm", match-runtime = true}]
[[tool.uv.dependency-metadata]]
name = "b"
requires-dist = ["litellm"]
"#;
    let expected = [
        "3:22 litellm Direct in tool.uv.dev-dependencies",
        "4:29 litellm Constraint in tool.uv.constraint-dependencies",
        "5:27 litellm Constraint in tool.uv.override-dependencies",
        "6:35 litellm Constraint in tool.uv.build-constraint-dependencies",
        "10:7 litellm Direct in tool.uv.extra-build-dependencies.a",
        "10:33 litellm Direct in tool.uv.extra-build-dependencies.a",
        "13:19 litellm Direct by b",
    ];
    names("pyproject.toml", text, &expected);
    let alone = "constraint-dependencies = [\"litellm\"]\nindex-url = \"litellm\"\n";
    names("uv.toml", alone, &["1:29 litellm Constraint in tool.uv.constraint-dependencies"]);
}

#[test]
fn pdm_flit_rye_and_hatch_have_lists_of_their_own() {
    let text = r#"
[tool.pdm.dev-dependencies]
test = ["litellm", "-e git+https://github.com/BerriAI/litellm#egg=x"]
[tool.pdm.resolution.overrides]
litellm = "1"
[tool.pdm]
plugins = ["litellm", "-e ."]
[tool.flit.metadata]
requires = ["litellm"]
dev-requires = ["litellm"]
requires-extra.doc = ["litellm"]
[tool.rye]
dev-dependencies = ["litellm"]
[tool.hatch.env]
requires = ["litellm"]
[tool.hatch.envs.litellm]
features = ["litellm"]
extra-dependencies = ["litellm"]
scripts.litellm = ["litellm"]
[tool.hatch.envs.x.overrides]
platform.windows.dependencies = ["a", {value = "litellm", if = ["x"]}]
[tool.hatch.build.targets.wheel.hooks.y]
dependencies = ["litellm"]
"#;
    names(
        "pyproject.toml",
        text,
        &[
            "3:10 litellm Direct in tool.pdm.dev-dependencies.test",
            "3:55 litellm Direct in tool.pdm.dev-dependencies.test",
            "5:1 litellm Constraint in tool.pdm.resolution.overrides",
            "7:13 litellm Direct in tool.pdm.plugins",
            "9:14 litellm Direct",
            "10:18 litellm Direct in tool.flit.metadata.dev-requires",
            "11:24 litellm Direct in tool.flit.metadata.requires-extra.doc",
            "13:22 litellm Direct in tool.rye.dev-dependencies",
            "15:14 litellm Direct in env.requires",
            "18:24 litellm Direct in envs.litellm.extra-dependencies",
            "21:49 litellm Direct in envs.x.overrides.platform.windows.dependencies",
            "23:18 litellm Direct in build.targets.wheel.hooks.y.dependencies",
        ],
    );
    let alone = "[envs.a]\ndependencies = [\"litellm\"]\n";
    names("hatch.toml", alone, &["2:18 litellm Direct in envs.a.dependencies"]);
}

#[test]
fn pixi_s_tables_are_of_conda_and_of_pypi() {
    let text = r#"
[workspace]
name = "litellm"
channels = ["litellm"]
[dependencies]
litellm = "*"
[pypi-dependencies]
LiteLLM = {version = "*", extras = ["proxy"]}
x = {git = "https://github.com/BerriAI/litellm"}
[feature.litellm.dependencies]
a = "*"
[feature.y.target.linux-64.host-dependencies]
litellm = "*"
[pypi-options.dependency-overrides]
litellm = "1"
[tasks]
litellm = "litellm"
"#;
    let expected = [
        "6:1 litellm Direct",
        "8:1 LiteLLM Direct",
        "9:40 litellm Direct",
        "13:1 litellm Direct in feature.y.target.linux-64.host-dependencies",
        "15:1 litellm Constraint in pypi-options.dependency-overrides",
    ];
    names("pixi.toml", text, &expected);
    let nested = "[tool.pixi.dependencies]\nlitellm = \"*\"\n";
    names("pyproject.toml", nested, &["2:1 litellm Direct"]);
}

#[test]
fn a_pipfile_s_categories_are_all_its_tables_of_packages() {
    let text = r#"
[[source]]
name = "litellm"
url = "https://example.com/litellm"
[packages]
litellm = "*"
a = {git = "https://github.com/BerriAI/litellm.git", ref = "main"}
b = {file = "https://example.com/litellm-1.0.zip"}
[dev-packages]
LITELLM = {version = "*"}
[docs]
litellm = "*"
[scripts]
litellm = "litellm"
"#;
    names(
        "Pipfile",
        text,
        &[
            "6:1 litellm Direct",
            "7:40 litellm Direct",
            "8:34 litellm Direct",
            "10:1 LITELLM Direct in dev-packages",
            "12:1 litellm Direct in docs",
        ],
    );
}

#[test]
fn a_dynamic_list_of_setuptools_is_a_requirements_file() {
    let project = br#"[tool.setuptools.dynamic]
dependencies = {file = ["deps.lst"]}
optional-dependencies.x = {file = "more.lst"}
version = {file = "litellm.txt"}
"#;
    let files: [(&str, &[u8]); 3] = [
        ("p/pyproject.toml", project),
        ("p/deps.lst", b"litellm\n"),
        ("p/more.lst", b"a\nlitellm\n"),
    ];
    let reading = of_files(&files);
    assert_eq!(
        found(&reading),
        [
            "p/deps.lst:1:1 litellm Direct through p/pyproject.toml → p/deps.lst",
            "p/more.lst:2:1 litellm Direct through p/pyproject.toml → p/more.lst",
        ],
    );
    let missing = "[tool.setuptools.dynamic]\ndependencies = {file = \"deps.lst\"}\n";
    is_unread("pyproject.toml", missing, "2:25", "which is not there");
}

#[test]
fn setup_cfg_is_read_as_its_parser_reads_it() {
    let text = "\
# litellm
[metadata]
name = litellm
keywords = litellm
[options]
install-requires =
    httpx
  # litellm
    LiteLLM>=1 ; python_version > '3'

    litellm_enterprise # why
setup_requires: litellm; wheel
[options.extras_require]
litellm = httpx
proxy =
    a
    litellm [proxy] >= 1
[options.entry_points]
console_scripts =
    litellm
";
    names(
        "setup.cfg",
        text,
        &[
            "9:5 LiteLLM Direct",
            "11:5 litellm_enterprise Direct",
            "12:17 litellm Direct in setup_requires",
            "17:5 litellm Direct in options.extras_require.proxy",
        ],
    );
}

#[test]
fn setup_cfg_may_name_requirements_files() {
    let text = b"[options]\ninstall_requires = file: a.lst, b.lst\n";
    let reading = of_files(&[
        ("setup.cfg", text),
        ("a.lst", b"litellm"),
        ("b.lst", b"-r c.lst"),
        ("c.lst", b"litellm"),
    ]);
    assert_eq!(
        found(&reading),
        [
            "a.lst:1:1 litellm Direct through setup.cfg → a.lst",
            "c.lst:1:1 litellm Direct through setup.cfg → b.lst → c.lst",
        ],
    );
    is_unread("setup.cfg", text, "2:26", "which is not there");
}

#[test]
fn setup_cfg_that_its_parser_refuses_is_unread() {
    is_unread("setup.cfg", "litellm\n[options]\n", "1:1", "no section");
    is_unread("setup.cfg", "[options]\nlitellm\n", "2:1", "neither a section nor an option");
    is_unread("setup.cfg", "[options]\n[options]\n", "2:1", "twice");
    is_unread("setup.cfg", "[options]\na=1\na=2\n", "3:1", "twice");
    is_unread("setup.cfg", b"[options]\nx = \xff\n", "2:5", "UTF-8");
}

#[test]
fn setup_py_s_lists_of_requirements_are_found_and_its_keywords_not() {
    let text = "\
from setuptools import setup
deps = ['httpx']
setup(
    name='litellm',
    keywords=['litellm'],
    install_requires=['a', 'lite' 'llm>=1', \"b @ git+https://github.com/BerriAI/litellm\"],
    extras_require={'litellm': ['a'], 'proxy': ['litellm[proxy]']},
)
";
    let reading = of_files(&[("setup.py", text.as_bytes())]);
    let direct: Vec<String> =
        found(&reading).into_iter().filter(|line| line.contains("Direct")).collect();
    assert_eq!(
        direct,
        [
            "setup.py:6:29 lite' 'llm Direct",
            "setup.py:6:81 litellm Direct",
            "setup.py:7:50 litellm Direct in extras_require.proxy",
        ],
    );
}

#[test]
fn conda_s_environments_name_packages_of_channels_and_of_pip() {
    let text = "\
name: litellm
channels: [conda-forge, litellm]
dependencies:
  - python=3.11
  - litellm=1.0=py_0
  - conda-forge::LiteLLM >=1
  - 'conda-forge/linux-64::litellm[version=\">=1\"]'
  - https://conda.anaconda.org/conda-forge/noarch/litellm-1.0-py_0.conda
  - other
  - litellm-utils
  - pip
  - pip:
    - httpx
    - litellm[proxy]>=1  # why
    - -r deps.lst
    - git+https://github.com/BerriAI/litellm
variables:
  litellm: 1
";
    let reading = of_files(&[("environment.yml", text.as_bytes()), ("deps.lst", b"litellm\n")]);
    assert_eq!(
        found(&reading),
        [
            "deps.lst:1:1 litellm Direct through environment.yml → deps.lst",
            "environment.yml:5:5 litellm Direct",
            "environment.yml:6:18 LiteLLM Direct",
            "environment.yml:7:28 litellm Direct",
            "environment.yml:8:51 litellm Direct",
            "environment.yml:14:7 litellm Direct in pip",
            "environment.yml:16:38 litellm Direct in pip",
        ],
    );
    assert_eq!(unread(&reading), [""; 0]);
    is_unread("environment.yml", text, "15:10", "which is not there");
}

#[test]
fn conda_s_aliases_merge_keys_and_quotes_are_read() {
    let text = "\
base: &base
  dependencies: [\"\\x6citellm\"]
<<: *base
";
    names("environment.yml", text, &["2:19 \\x6citellm Direct"]);
    let alias = "x: &x litellm\ndependencies: [*x]\n";
    names("environment.yml", alias, &["1:7 litellm Direct"]);
}

#[test]
fn toml_is_read_with_its_escapes_its_mark_and_the_forms_of_1_1() {
    names(
        "pyproject.toml",
        "project.dependencies = [\"\\u006citellm\"]",
        &["1:26 \\u006citellm Direct"],
    );
    names(
        "pyproject.toml",
        "project.dependencies = [\"\\x6citellm\"]",
        &["1:26 \\x6citellm Direct"],
    );
    names(
        "pyproject.toml",
        "project = {\n  dependencies = ['litellm'],\n}\n",
        &["2:20 litellm Direct"],
    );
    names("pyproject.toml", "\u{feff}project.dependencies = ['litellm']", &["1:26 litellm Direct"]);
    names(
        "pyproject.toml",
        "[project]\r\ndependencies = ['''\r\nlitellm''']",
        &["3:1 litellm Direct"],
    );
    names(
        "pyproject.toml",
        "[project]\n\"depen\\u0064encies\" = ['litellm']",
        &["2:25 litellm Direct"],
    );
}

#[test]
fn what_does_not_decode_is_unread_at_its_place() {
    is_unread("pyproject.toml", "a = 1\na = 2\n", "2:1", "is no TOML: duplicate key");
    is_unread("pyproject.toml", "a = [\n", "", "is no TOML");
    is_unread("pyproject.toml", b"a = \"\xff\"", "1:6", "is not UTF-8");
    is_unread("pyproject.toml", "\u{feff}a = [1", "1:7", "is no TOML");
    is_unread("environment.yml", "a: 1\na: 2\n", "2:1", "is no YAML");
    is_unread("environment.yml", "a: [\n", "1:", "");
    is_unread("environment.yml", "--- 1\n--- 2\n", "2:1", "is no YAML");
    is_unread("environment.yml", "[]", "1:1", "no mapping");
    is_unread("Pipfile.lock", "{", "1:", "is no JSON");
    is_unread("Pipfile.lock", "{'a': 1}", "1:", "is no JSON");
    is_unread("Pipfile.lock", "", "1:1", "is no JSON");
}

#[test]
fn nesting_and_aliases_are_bounded() {
    let deep = |count: usize, open: &str, close: &str| open.repeat(count) + &close.repeat(count);
    for count in [66, 5_000, 200_000] {
        let toml = format!("a = {}", deep(count, "[", "]"));
        is_unread("pyproject.toml", toml, "1:", "");
        is_unread("pyproject.toml", format!("{}a = 1", "a.".repeat(count)), "1:", "");
        is_unread("pyproject.toml", format!("[{}a]", "a.".repeat(count)), "1:", "");
        is_unread("Pipfile.lock", deep(count, "[", "]"), "1:", "");
        is_unread("environment.yml", deep(count, "[", "]"), "1:", "");
    }
    let mut bomb = "a0: &a0 [litellm]\n".to_owned();
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 12].join(", ");
        writeln!(bomb, "a{level}: &a{level} [{aliases}]").unwrap();
    }
    bomb += "dependencies: *a11\n";
    is_unread("environment.yml", bomb, "", "is no YAML");
}

#[test]
fn a_folder_and_its_files_in_memory_say_the_same() {
    let files = [
        ("a/requirements.txt", "-r ../b/x.lst\nlitellm\n"),
        ("b/x.lst", "-c y.lst\nlitellm\n"),
        ("b/y.lst", "litellm<2\n"),
        ("pyproject.toml", "project.dependencies = ['litellm', 1]\n"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(folder.path(), path, text);
    }
    let on_disk = of_folder(folder.path());
    let bytes: Vec<(&str, &[u8])> =
        files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    let in_memory = of_files(&bytes);
    assert_eq!(found(&on_disk), found(&in_memory));
    assert_eq!(unread(&on_disk), unread(&in_memory));
    assert_eq!(found(&on_disk).len(), 4);
}

/// What the fuzzers begin with is read on every run of the tests.
#[test]
fn the_corpora_of_the_fuzz_targets_are_read() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let targets: [(&str, &[&str]); 4] = [
        ("deps_requirements", &["requirements.txt", "constraints.txt", "setup.cfg"]),
        ("deps_toml", &["pyproject.toml", "Pipfile", "pixi.toml", "hatch.toml", "uv.toml"]),
        ("deps_conda", &["environment.yml", "conda-lock.yml", "pixi.lock"]),
        ("deps_locks", &["uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "Pipfile.lock"]),
    ];
    for (target, paths) in targets {
        let mut found = 0;
        for entry in std::fs::read_dir(corpus.join(target)).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            let (first, rest) = bytes.split_first().unwrap();
            let path = paths[usize::from(*first) % paths.len()];
            found += of_files(&[(path, rest)]).mentions.len();
        }
        assert!(found > 0, "{target} begins with nothing that is found");
    }
}
