//! Python's locks: what is locked, and through whom it comes.

use crate::python::{found, is_unread, names, names_nothing};
use crate::support::of_files;

#[test]
fn uv_s_lock_says_through_whom_a_package_comes() {
    let text = r#"
version = 1
[[package]]
name = "plugin"
source = { virtual = "." }
dependencies = [{ name = "crewai", extra = ["tools"] }]
[package.dev-dependencies]
dev = [{ name = "pytest" }, { name = "litellm-enterprise" }]
[package.metadata]
requires-dist = [{ name = "litellm" }]
[[package]]
name = "crewai"
dependencies = [{ name = "httpx" }]
[package.optional-dependencies]
litellm = [{ name = "httpx" }]
tools = [{ name = "langchain-x" }]
[[package]]
name = "langchain-x"
dependencies = [{ name = "litellm" }, { name = "crewai" }]
[[package]]
name = "litellm"
version = "1"
source = { registry = "https://example.com/litellm" }
wheels = [{ url = "https://example.com/litellm-1-py3-none-any.whl" }]
[[package]]
name = "litellm-enterprise"
[[package]]
name = "odd"
source = { git = "https://github.com/BerriAI/litellm?rev=main#0123" }
"#;
    names(
        "uv.lock",
        text,
        &[
            "21:9 litellm Locked by crewai[tools] → langchain-x",
            "26:9 litellm-enterprise Locked in dependency-groups.dev",
            "29:46 litellm Locked",
        ],
    );
}

#[test]
fn what_a_lock_mentions_and_does_not_lock_is_not_found() {
    let uv = "[[package]]\nname = \"a\"\ndependencies = [{name = \"litellm\"}]\n[package.metadata]\nprovides-extras = [\"litellm\"]\n";
    names_nothing("uv.lock", uv);
    let poetry = "[[package]]\nname = \"a\"\n[package.dependencies]\nlitellm = {version = \"*\", optional = true}\n[package.extras]\nlitellm = [\"litellm\"]\n";
    names_nothing("poetry.lock", poetry);
    names_nothing("pdm.lock", "[[package]]\nname = \"a\"\ndependencies = [\"litellm\"]\n");
    names_nothing(
        "pylock.toml",
        "[[packages]]\nname = \"a\"\ndependencies = [{name = \"litellm\"}]\n",
    );
    names_nothing(
        "Pipfile.lock",
        r#"{"_meta": {"litellm": {}}, "default": {"a": {"index": "litellm"}}}"#,
    );
    names_nothing("conda-lock.yml", "package:\n- name: a\n  dependencies: {litellm: '*'}\n");
}

#[test]
fn poetry_s_lock_is_read_with_the_project_beside_it() {
    let lock = r#"
[[package]]
name = "smol"
optional = false
[package.dependencies]
litellm = {version = ">=1", optional = true, markers = "extra == \"llm\""}
[package.extras]
llm = ["litellm (>=1)"]
[[package]]
name = "LiteLLM"
version = "1"
optional = true
[[package]]
name = "other"
[package.source]
type = "git"
url = "https://github.com/BerriAI/litellm.git"
"#;
    let project =
        "[tool.poetry.group.dev.dependencies]\nsmol = {version = \"*\", extras = [\"llm\"]}\n";
    let reading =
        of_files(&[("poetry.lock", lock.as_bytes()), ("pyproject.toml", project.as_bytes())]);
    assert_eq!(
        found(&reading),
        ["poetry.lock:10:9 LiteLLM Locked by smol[llm]", "poetry.lock:17:35 litellm Locked"],
    );
    // Without it, what nobody needs is what was asked for.
    let alone = of_files(&[("poetry.lock", lock.as_bytes())]);
    assert_eq!(found(&alone)[0], "poetry.lock:10:9 LiteLLM Locked");
    let direct = "[tool.poetry.group.dev.dependencies]\nlitellm = \"*\"\n";
    let reading =
        of_files(&[("poetry.lock", lock.as_bytes()), ("pyproject.toml", direct.as_bytes())]);
    assert_eq!(
        found(&reading)[0],
        "poetry.lock:10:9 LiteLLM Locked in tool.poetry.group.dev.dependencies"
    );
}

#[test]
fn pdm_s_lock_has_entries_of_extras() {
    let text = r#"
[[package]]
name = "smol"
dependencies = ["httpx"]
[[package]]
name = "smol"
extras = ["llm"]
dependencies = ["litellm>=1; python_version > '3'", "smol==1"]
[[package]]
name = "root"
dependencies = ["smol[llm]"]
[[package]]
name = "litellm"
[[package]]
name = "x"
git = "https://github.com/BerriAI/litellm.git"
"#;
    names("pdm.lock", text, &["13:9 litellm Locked by root → smol[llm]", "16:35 litellm Locked"]);
}

#[test]
fn a_pylock_names_packages_and_addresses() {
    let text = r#"
lock-version = "1.0"
[[packages]]
name = "a"
dependencies = [{ name = "litellm" }]
[[packages]]
name = "litellm"
[[packages]]
name = "b"
vcs = { type = "git", url = "https://github.com/BerriAI/litellm.git", commit-id = "0" }
[[packages]]
name = "c"
archive = { url = "https://example.com/litellm-1.tar.gz" }
"#;
    let expected = ["7:9 litellm Locked by a", "10:57 litellm Locked", "13:40 litellm Locked"];
    names("pylock.toml", text, &expected);
    names("pylock.dev.toml", text, &expected);
}

#[test]
fn a_pipfile_lock_s_last_member_counts() {
    let text = r#"{"_meta": {}, "default": {"lite\u006clm": {"version": "==1"}},
"develop": {"litellm": {}, "x": {"git": "https://github.com/BerriAI/litellm.git"}}}"#;
    names(
        "Pipfile.lock",
        text,
        &[
            r"1:28 lite\u006clm Locked",
            "2:14 litellm Locked in develop",
            "2:69 litellm Locked in develop",
        ],
    );
    names_nothing("Pipfile.lock", r#"{"default": {"litellm": {}}, "default": {}}"#);
    is_unread("Pipfile.lock", "[]", "1:1", "no JSON object");
}

#[test]
fn conda_s_and_pixi_s_locks_hold_packages_of_both_worlds() {
    let conda = "\
version: 1
package:
- name: root
  manager: conda
  dependencies: {litellm: '>=1'}
- name: litellm
  manager: pip
  url: https://example.com/litellm-1.whl
";
    names("conda-lock.yml", conda, &["6:9 litellm Locked by root"]);
    let pixi = "\
version: 6
packages:
- conda: https://conda.anaconda.org/conda-forge/noarch/litellm-1.0-py_0.conda
  depends: [python >=3]
- pypi: https://example.com/x/LiteLLM-1-py3-none-any.whl
  name: litellm
- pypi: https://example.com/x/app-1-py3-none-any.whl
  name: app
  requires_dist:
  - litellm ; extra == 'proxy'
  - litellm-enterprise
- pypi: git+https://github.com/BerriAI/litellm
  name: enterprise
- conda: https://example.com/litellm-enterprise-1-0.tar.bz2
";
    names(
        "pixi.lock",
        pixi,
        &[
            "3:56 litellm Locked",
            "6:9 litellm Locked",
            "12:40 litellm Locked",
            "14:30 litellm-enterprise Locked by app",
        ],
    );
    is_unread("pixi.lock", "[]", "1:1", "no mapping");
}

#[test]
fn a_lock_that_is_none_is_unread() {
    is_unread("uv.lock", "package = 1", "1:11", "no list of packages");
    is_unread("poetry.lock", "[[package]]\nname = \"a\"\nname = \"b\"\n", "3:1", "is no TOML");
    is_unread("pdm.lock", "<<<<<<< HEAD\n", "1:9", "is no TOML");
}
