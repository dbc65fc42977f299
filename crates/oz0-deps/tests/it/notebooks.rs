//! Notebooks: what their cells import and install.

use serde_json::json;

use crate::sources::mentions;

/// The mentions of a notebook with one code cell.
fn cell(source: &str) -> Vec<String> {
    let lines: Vec<&str> = source.split_inclusive('\n').collect();
    let notebook = json!({
        "cells": [
            {"cell_type": "markdown", "source": ["import litellm\n", "!pip install litellm"]},
            {"cell_type": "code", "source": lines, "outputs": [{"text": "import litellm"}], "metadata": {}},
        ],
        "metadata": {"kernelspec": {"language": "python", "name": "python3"}},
        "nbformat": 4,
    });
    mentions("a.ipynb", notebook.to_string())
}

/// What was found, without its place.
fn found(source: &str) -> Vec<String> {
    cell(source).into_iter().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect()
}

#[test]
fn imports_and_install_lines_are_found() {
    let install = "litellm InstallLine";
    let import = "litellm Import";
    for (source, expected) in [
        ("import litellm", import),
        ("import os\nfrom litellm import x", import),
        ("exec('import litellm')", import),
        ("!pip install litellm", install),
        ("!pip install -q --upgrade 'litellm[proxy]>=1.0' os", install),
        ("!pip3.12 install rich litellm==1.2", install),
        ("! pip install litellm>=1", install),
        ("%pip install litellm", install),
        ("  %pip install --quiet litellm", install),
        ("!!pip install litellm", install),
        ("x = !pip install litellm", install),
        ("x = %pip install litellm", install),
        ("if True:\n    !pip install litellm", install),
        ("!pip install \\\n  rich \\\n  litellm", install),
        ("!{sys.executable} -m pip install litellm", install),
        ("!python -m pip install litellm", install),
        ("!$PY -m pip install litellm", install),
        ("!$(which python3) -m pip install litellm", install),
        ("!sudo -H pip install litellm", install),
        ("!cd x && pip install litellm", install),
        ("!FOO=1 pip install litellm", install),
        ("!bash -c 'pip install litellm'", install),
        ("!uv pip install litellm", install),
        ("!uv add litellm", install),
        ("!uvx litellm", install),
        ("!uv run --with litellm python x.py", install),
        ("!pipx install litellm", install),
        ("%conda install -c conda-forge litellm", install),
        ("!conda install -y conda-forge::litellm", install),
        ("!mamba install litellm=1.0", install),
        ("!pip install git+https://github.com/BerriAI/litellm.git@main", install),
        ("!pip install ./dist/litellm-1.82.0-py3-none-any.whl", install),
        ("!pip install -e git+https://example.com/x#egg=litellm", install),
        ("%sx pip install litellm", install),
        ("%system pip install litellm", install),
        ("pip install litellm", install),
        ("import os\npip install rich litellm", install),
        ("conda install litellm", install),
        ("%%bash\npip install litellm", install),
        ("\n\n%%bash\nset -e\npip install rich\npip install litellm", install),
        ("%%sh -e\npip install litellm", install),
        ("%%script bash\npip install litellm", install),
        ("%%script --bg /bin/sh\npip install litellm", install),
        ("%%!\npip install litellm", install),
        ("%%sx\npip install litellm", install),
        ("%%capture\n!pip install litellm", install),
        ("%%capture out\n%%time\n%pip install litellm", install),
        ("%%capture\nimport litellm", import),
        ("%%time\nimport litellm", import),
        ("%%time import litellm\nx = 1", import),
        ("%time import litellm", import),
        ("%timeit -n 1 import litellm", import),
        ("%%python3\nimport litellm", import),
        ("%%script python3\nimport litellm", import),
        ("%load_ext x\nimport litellm", import),
        ("x?\nimport litellm", import),
        ("%%js\nimport('litellm')", import),
    ] {
        let got = found(source);
        assert_eq!(got.len(), 1, "{source}: {got:?}");
        let (name, how) = got[0].rsplit_once(' ').unwrap();
        assert!(name.contains("litellm") || name == "BerriAI/litellm", "{source}: {got:?}");
        assert_eq!(how, expected.rsplit_once(' ').unwrap().1, "{source}");
    }
}

#[test]
fn other_lines_are_not_found() {
    for source in [
        "!pip uninstall -y litellm",
        "!pip show litellm",
        "!pip download litellm",
        "!pip freeze | grep litellm",
        "!echo litellm",
        "!echo pip install litellm",
        "# !pip install litellm",
        "# pip install litellm",
        "'''\n!pip install litellm\n'''",
        "x = '!pip install litellm'",
        "print('pip install litellm')",
        "!pip install rich # litellm",
        "!pip install --no-binary litellm rich",
        "!pip install -t litellm rich",
        "!pip install langchain-litellm",
        "!pip install a/x#b://github.com/BerriAI/litellm",
        "!pip install 'crewai[litellm]'",
        "!python -m litellm",
        "!litellm --port 1",
        "%%bash\n# pip install litellm\necho litellm",
        "%%html\nimport litellm",
        "%%writefile a.txt\nimport litellm",
        "pip = install",
        "%env X=litellm",
        "litellm?",
    ] {
        assert_eq!(cell(source), Vec::<String>::new(), "{source}");
    }
}

#[test]
fn places_are_those_of_the_json() {
    let notebook = "{\n \"cells\": [\n  {\"cell_type\": \"code\",\n   \"source\": [\n    \"x = \\\"\\u00e9\\\"\\n\",\n    \"import os, litellm\"]},\n  {\"cell_type\": \"code\", \"source\": \"\\u0021pip install lite\\u006clm\"},\n  {\"source\": \"from litell\\u006d import x\", \"cell_type\": \"code\"}\n ]}";
    assert_eq!(
        mentions("a.ipynb", notebook),
        ["6:17 litellm Import", "7:54 lite\\u006clm InstallLine", "8:20 litell\\u006d Import"]
    );
    let split = r#"{"cells": [{"cell_type": "code", "source": ["import lite", "llm"]}]}"#;
    assert_eq!(mentions("a.ipynb", split), ["1:53 lite\", \"llm Import"]);
}

#[test]
fn every_format_and_kernel_is_read() {
    let three = r#"{"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "language": "python", "input": ["import litellm"]}]}]}"#;
    assert_eq!(mentions("a.ipynb", three).len(), 1);
    let kernel = |language: &str, source: &str| {
        let notebook = json!({
            "cells": [{"cell_type": "code", "source": source}],
            "metadata": {"language_info": {"name": language}},
        });
        mentions("a.ipynb", notebook.to_string()).len()
    };
    assert_eq!(kernel("bash", "pip install litellm"), 1);
    assert_eq!(kernel("typescript", "import x from 'npm:litellm'"), 1);
    assert_eq!(kernel("R", "import litellm"), 0);
    assert_eq!(kernel("ipython", "import litellm"), 1);
    let mixed = json!({"cells": [{"cell_type": "code", "source": "import 'litellm'", "metadata": {"vscode": {"languageId": "javascript"}}}]});
    assert_eq!(mentions("a.ipynb", mixed.to_string()).len(), 1);
}

#[test]
fn what_is_no_notebook_is_unread() {
    for text in [
        "",
        "{",
        "{\"cells\": [}",
        "{\"cells\": []} x",
        "{\"a\": 01}",
        "{\"a\": \"\n\"}",
        "{\"a\": \"\\x\"}",
        "{'a': 1}",
        "{\"a\": 1,}",
    ] {
        let got = mentions("a.ipynb", text);
        assert!(
            got.len() == 1 && got[0].contains("unread: is no notebook, since it is no JSON"),
            "{text}: {got:?}"
        );
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(mentions("a.ipynb", deep)[0].contains("nested too deeply"));
    assert!(mentions("a.ipynb", b"{\"a\": \"\xff\"}")[0].contains("no UTF-8"));
    // Python's own JSON takes these, and outputs hold them.
    let loose = r#"{"a": NaN, "b": [-Infinity, 1e5, -0.5], "c": "\ud800", "cells": 1, "cells": [{"cell_type": "code", "source": "import litellm"}]}"#;
    assert_eq!(mentions("a.ipynb", loose).len(), 1);
    assert_eq!(mentions("a.ipynb", "\u{feff}{}").len(), 0);
}

/// `ruff_python_parser` 0.0.10 panics at this cell.
#[test]
fn a_cell_that_the_parser_fails_at_is_unread() {
    assert_eq!(
        cell("import litellm\n[}\n/"),
        ["1:172 unread: has a cell that could not be parsed: the parser failed"]
    );
}
