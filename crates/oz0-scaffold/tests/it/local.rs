//! Scripts, projects and programs of this machine.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::{executable, outcome, working, wrapping, write};

struct Place {
    /// Kept until the test is over.
    folder: tempfile::TempDir,
    /// Where the command is given.
    here: PathBuf,
    /// Where the server is.
    there: PathBuf,
}

fn place() -> Place {
    let (folder, root) = working();
    let (here, there) = (root.join("here"), root.join("there"));
    std::fs::create_dir(&here).unwrap();
    std::fs::create_dir(&there).unwrap();
    Place { folder, here, there }
}

impl Place {
    fn told(&self, dir: Option<&Path>, command: &[&str]) -> String {
        let command: Vec<String> = command
            .iter()
            .map(|word| word.replace("THERE", self.there.to_str().unwrap()))
            .collect();
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let wrapping = oz0_scaffold::Wrapping {
            folder: dir.map(Path::to_owned),
            ..wrapping(&self.here, &words)
        };
        let told = outcome(&wrapping).replace(self.there.to_str().unwrap(), "THERE");
        told.replace(
            "note: the server has no network; name the hosts that it reaches with --egress HOST\n",
            "",
        )
    }
}

#[test]
fn a_single_script_is_copied() {
    let place = place();
    write(&place.there, "weather.py", "print('hello')\n");
    write(&place.there, "unrelated.txt", "");
    insta::assert_snapshot!(place.told(None, &["python3", "THERE/weather.py", "--fast"]));
    assert_eq!(
        std::fs::read_to_string(place.here.join("weather/weather.py")).unwrap(),
        "print('hello')\n"
    );
}

#[test]
fn a_script_brings_the_packages_that_its_metadata_names() {
    let place = place();
    let text = "# /// script\n# dependencies = [\n#   \"mcp>=1.2\",\n#   \"httpx\",\n# ]\n# ///\nimport mcp\n";
    write(&place.there, "weather.py", text);
    let told = place.told(None, &["uv", "run", "--script", "THERE/weather.py"]);
    insta::assert_snapshot!(told);
    let input = std::fs::read_to_string(place.here.join("weather/requirements.in")).unwrap();
    assert_eq!(input, "mcp>=1.2\nhttpx\n");
    write(&place.there, "evil.py", "# /// script\n# dependencies = [\"--index-url=x\"]\n# ///\n");
    assert!(place.told(None, &["python", "THERE/evil.py"]).starts_with("refused: "));
}

#[test]
fn uv_run_with_packages_locks_them() {
    let place = place();
    write(&place.there, "server.py", "import mcp\n");
    let told =
        place.told(None, &["uv", "run", "--with", "mcp[cli]", "mcp", "run", "THERE/server.py"]);
    insta::assert_snapshot!(told);
}

#[test]
fn a_project_is_written_to_only_where_it_is_named_or_where_one_is() {
    let place = place();
    write(&place.there, "package.json", r#"{"name": "x"}"#);
    write(&place.there, "build/index.js", "");
    let command = ["node", "--no-warnings", "THERE/build/index.js", "--verbose"];
    let refused = place.told(None, &command);
    assert!(!place.there.join("oz0-plugin.yaml").exists());
    let named = place.told(Some(&place.there), &command);
    assert_eq!(
        std::fs::read_to_string(place.there.join(".oz0ignore")).unwrap().lines().nth(1),
        Some("node_modules/")
    );
    std::fs::remove_file(place.there.join("oz0-plugin.yaml")).unwrap();
    let inside =
        Place { here: place.there.clone(), there: place.there.clone(), folder: place.folder };
    let where_one_is = inside.told(None, &["node", "build/index.js"]);
    insta::assert_snapshot!([refused, named, where_one_is].join("\n"));
}

#[test]
fn a_project_of_uv() {
    let place = place();
    let project = "[project]\nname = \"weather\"\nversion = \"0.1.0\"\n[project.scripts]\nweather = \"weather.server:main\"\n";
    write(&place.there, "pyproject.toml", project);
    write(&place.there, "uv.lock", "version = 1\n");
    write(&place.there, "weather.py", "");
    write(&place.there, "src/weather/server.py", "");
    let script = ["uv", "--directory", "THERE", "run", "weather.py"];
    let told = [
        place.told(None, &script),
        place.told(Some(&place.there), &script),
        {
            std::fs::remove_file(place.there.join("oz0-plugin.yaml")).unwrap();
            std::fs::remove_file(place.there.join("weather.py")).unwrap();
            place
                .told(Some(&place.there), &["uv", "run", "--project", "THERE", "weather", "--fast"])
        },
        {
            std::fs::remove_file(place.there.join("oz0-plugin.yaml")).unwrap();
            place.told(Some(&place.there), &["uv", "run", "--project", "THERE", "fastmcp", "run"])
        },
    ];
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn packages_of_a_virtual_environment_want_a_lock() {
    let place = place();
    write(&place.there, ".venv/pyvenv.cfg", "");
    executable(&place.there, ".venv/bin/python", b"\x7fELF");
    write(&place.there, "server.py", "");
    let command = ["THERE/.venv/bin/python", "THERE/server.py"];
    let refused = place.told(None, &command);
    write(&place.there, "requirements.txt", "");
    let locked = place.told(Some(&place.there), &command);
    insta::assert_snapshot!([refused, locked].join("\n"));
}

#[test]
fn a_script_that_names_its_neighbours_is_not_torn_from_them() {
    let place = place();
    write(&place.there, "server.py", "import helpers\n");
    write(&place.there, "helpers.py", "");
    let told = place.told(None, &["python3", "THERE/server.py"]);
    assert!(told.starts_with("refused: THERE/server.py is part of a project"), "{told}");
}

#[test]
fn a_script_of_a_folder_taken_for_a_project_can_be_copied_alone() {
    let place = place();
    write(&place.here, "server.py", "import json\nimport helpers\n");
    write(&place.here, "helpers.py", "");
    let command = ["python3", "server.py"];
    let whole = place.told(None, &command);
    let alone = place.told(Some(&place.here.join("../alone")), &command);
    assert!(!place.here.join("../alone/helpers.py").exists());
    // With a project's packages it runs nowhere else, unless it names its own.
    write(&place.there, "requirements.txt", "");
    write(&place.there, "needs.py", "import mcp\n");
    write(
        &place.there,
        "names.py",
        "# /// script\n# dependencies = [\"mcp\"]\n# ///\nimport mcp\n",
    );
    let new = place.here.join("../new");
    let needs = place.told(Some(&new), &["python3", "THERE/needs.py"]);
    let names = place.told(Some(&new), &["python3", "THERE/names.py"]);
    let above = place.folder.path().canonicalize().unwrap();
    let told = [whole, alone, needs, names].join("\n");
    insta::assert_snapshot!(told.replace(above.to_str().unwrap(), "ABOVE"));
}

#[test]
fn a_script_whose_packages_nothing_names_is_warned_of() {
    let place = place();
    write(&place.there, "w2.py", "import json, httpx\nfrom mcp.server import FastMCP\n");
    let told = place.told(None, &["python3", "THERE/w2.py"]);
    assert!(told.contains("warning: w2.py imports httpx, mcp, and nothing says"), "{told}");
    let with = ["uv", "run", "--with", "mcp", "--with", "httpx", "THERE/w2.py"];
    let told = place.told(Some(&place.here.join("other")), &with);
    assert!(!told.contains("warning") && told.contains("requirements.txt"), "{told}");
}

#[test]
fn a_module_of_the_named_project_runs_there() {
    let place = place();
    write(&place.there, "src/weather/__main__.py", "");
    insta::assert_snapshot!(
        place.told(Some(&place.there), &["python3", "-m", "weather", "--fast"])
    );
}

#[test]
fn a_program_is_copied_and_one_of_the_system_is_named() {
    let place = place();
    executable(&place.there, "server", b"\x7fELF and more");
    executable(&place.here, "path/my-mcp-server", b"\x7fELF and more");
    let told = [
        place.told(None, &["THERE/server", "--port", "1"]),
        place.told(None, &["my-mcp-server"]),
        place.told(None, &["/usr/bin/env", "A=1", "cat", "-u"]),
    ];
    insta::assert_snapshot!(told.join("\n"));
    let copy = place.here.join("there/bin/server");
    let copy = if copy.exists() { copy } else { place.here.join("server/bin/server") };
    assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn a_launcher_of_an_installer_is_refused_with_its_package() {
    let place = place();
    executable(&place.here, "path/one", b"#!/home/me/.local/share/uv/tools/some-mcp/bin/python\n");
    executable(&place.there, "lib/node_modules/@acme/mcp/dist/index.js", b"#!/usr/bin/env node\n");
    let link = place.here.join("path/two");
    std::os::unix::fs::symlink(place.there.join("lib/node_modules/@acme/mcp/dist/index.js"), link)
        .unwrap();
    executable(&place.here, "path/three", b"\xcf\xfa\xed\xfe");
    write(&place.here, "four", "text");
    let told = [
        place.told(None, &["one"]),
        place.told(None, &["two"]),
        place.told(None, &["three"]),
        place.told(None, &["./four"]),
    ];
    insta::assert_snapshot!(told.join("\n"));
}
