//! Python sources: what is an import of a package, and what only looks like one.

use oz0_deps::{How, Reading};

use crate::support::of_files;

/// Mentions of one file: place, text, and how.
pub(crate) fn mentions(path: &str, bytes: impl AsRef<[u8]>) -> Vec<String> {
    lines(&of_files(&[(path, bytes.as_ref())]))
}

pub(crate) fn lines(reading: &Reading) -> Vec<String> {
    let unread = reading
        .unread
        .iter()
        .map(|unread| format!("{} unread: {}", unread.span.start(), unread.problem));
    let mention = |mention: &oz0_deps::Mention| {
        format!("{} {} {:?}", mention.span.start(), mention.span.text(), mention.how)
    };
    reading.mentions.iter().map(mention).chain(unread).collect()
}

fn python(text: impl AsRef<[u8]>) -> Vec<String> {
    mentions("a.py", text)
}

/// Each of these is one import, which the marked text names.
#[test]
fn imports_are_found_where_they_stand() {
    let cases = [
        "import «litellm»",
        "import «litellm».proxy.main as m",
        "import os, «litellm».x as y, re",
        "from «litellm» import completion",
        "from «litellm».proxy import (\n  a,\n  b,\n)",
        "from «litellm» import *",
        "try: import «litellm»\nexcept ImportError: pass",
        "x = 1; import «litellm»",
        "if TYPE_CHECKING:\n    from «litellm» import x",
        "def f():\n\treturn lambda: 1\n\n\timport «litellm»\n",
        "import \\\n  «litellm»",
        "from \\\n  «litellm» \\\n  import x",
        "import a\rimport «litellm»\r",
        "import a\r\nimport «litellm»\r\n",
        "\x0cimport «litellm»",
        "\u{feff}import «litellm»",
        "import «litellm» . proxy",
        "lazy import «litellm»",
        "lazy from «litellm» import x",
        "import «litellm_enterprise»",
        "from «litellm_proxy_extras».utils import x",
        "import «litellm_cli»",
        "import «ｌitellm»",
        "import «𝐥𝐢𝐭𝐞𝐥𝐥𝐦».x",
        "match x:\n case 1: import «litellm»",
        "type A = int\nimport «litellm»",
        "f'{x!r:{y}}'; import «litellm»",
        "t'{x}'; import «litellm»",
        "import importlib\nimportlib.import_module('«litellm».proxy')",
        "from importlib import import_module as load\nload(\"«litellm»\")",
        "import importlib as i\ni.import_module(name='«litellm»')",
        "load = importlib.import_module\nload('«litellm»')",
        "import_module('.main', '«litellm»')",
        "__import__('«litellm»')",
        "builtins.__import__('«litellm».x')",
        "__import__('«lite' 'llm»')",
        "__import__('«lite' + \"llm».x\")",
        "__import__('«\\x6citellm»')",
        "__import__('«\\N{LATIN SMALL LETTER L}itellm»')",
        "__import__(f'«litellm»')",
        "__import__(R'«litellm»')",
        "NAME = '«litellm»'\n__import__(NAME)",
        "for name in ('os', '«litellm»'):\n    __import__(name)",
        "exec('import «litellm»')",
        "exec('''\nimport os\nfrom «litellm» import x\n''')",
        "exec(b'import «litellm»')",
        "exec('import «lite' 'llm»')",
        "exec('import ' + '«litellm»')",
        "exec('«import \\154itellm»')",
        "CODE = 'import «litellm»'\nif x:\n    exec(CODE, {})",
        "eval(\"__import__('«litellm»')\")",
        "exec(compile('import «litellm»', 'a', 'exec'))",
        "import builtins as b\nb.exec('import «litellm»')",
        "from builtins import exec as run\nrun('import «litellm»')",
        "run = exec\nrun('import «litellm»')",
        "exec(textwrap.dedent('''\n    import «litellm»\n'''))",
        "exec('exec(\"import «litellm»\")')",
        "ｅxec('import «litellm»')",
        "exec('import «ｌitellm»')",
    ];
    for marked in cases {
        let (before, rest) = marked.split_once('«').unwrap();
        let (name, after) = rest.split_once('»').unwrap();
        let text = format!("{before}{name}{after}");
        let reading = of_files(&[("a.py", text.as_bytes())]);
        let found: Vec<_> =
            reading.mentions.iter().map(|mention| (mention.span.range(), mention.how)).collect();
        let range = before.len()..before.len() + name.len();
        assert_eq!(
            (found.as_slice(), reading.unread.len()),
            ([(range, How::Import)].as_slice(), 0),
            "{marked}"
        );
    }
}

/// None of these brings the package in.
#[test]
fn mere_mentions_are_not_found() {
    for text in [
        "# import litellm",
        "'import litellm'",
        "\"\"\"\nimport litellm\n\"\"\"",
        "from .litellm import x",
        "from . import litellm",
        "from .. import litellm",
        "from ... .litellm import x",
        "from sample import litellm",
        "import sample.litellm",
        "import LiteLLM",
        "import lite_llm",
        "import litellms",
        "import litellm_utils",
        "litellm = None",
        "importlib.util.find_spec('litellm')",
        "pytest.importorskip('litellm')",
        "mock.patch('litellm.completion')",
        "re.compile('import litellm')",
        "compiled = re.compile(r'import litellm')",
        "from re import compile\ncompile('import litellm')",
        "model.eval('import litellm')",
        "self.exec('import litellm')",
        "exec('# import litellm')",
        "exec('x = \"import litellm\"')",
        "exec('from .litellm import x')",
        "importlib.import_module('.litellm', 'sample')",
        "importlib.import_module('litellms')",
        "importlib.import_module('ｌitellm')",
        "import_module(f'{x}litellm')",
        "getattr(importlib, 'import_module')('litellm')",
        "raise X from litellm",
        "print('pip install litellm')",
        "subprocess.run(['pip', 'install', 'litellm'])",
        "x = '''a''' '''import litellm'''",
    ] {
        assert_eq!(python(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn broken_sources_are_found_by_their_tokens() {
    for text in [
        "def f(:\n    pass\nimport litellm",
        "print 'a'\nimport litellm",
        "x = (1, 2\nimport litellm\n",
        "x = 'abc\nimport litellm\n",
        "  x = 1\n import litellm\n",
        "class A\n    import litellm",
        "x = $\nimport litellm",
        "exec 'a'\nfrom litellm import x",
        "x = 1\0\nimport litellm",
        "x = {{{\nimport litellm, os",
        "\"\"\"a doc that nothing closes\nimport litellm\n",
        "x = f'''a {b}\nimport litellm\n",
        "x = f'''a {b\nimport litellm\n",
        "x = r'''a\ny = \"\"\"b\nimport litellm\n",
        "<<<<<<< HEAD\nimport litellm\n=======\nimport os\n>>>>>>> x",
    ] {
        let found = python(text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].contains(" litellm Import"), "{text}: {found:?}");
    }
}

#[test]
fn sources_are_decoded_as_python_decodes_them() {
    let latin = b"# coding: latin-1\nx = '\xe9'; import litellm".as_slice();
    assert_eq!(python(latin), ["2:17 litellm Import"]);
    let koi = b"#!/usr/bin/python\n# -*- coding: koi8_r -*-\nx = '\xc1'; import litellm".as_slice();
    assert_eq!(python(koi), ["3:17 litellm Import"]);
    assert_eq!(python(b"\xef\xbb\xbf# coding: utf-8\nimport litellm"), ["2:8 litellm Import"]);
    assert_eq!(
        python(b"# vim: set fileencoding=cp1252 :\n# \x93\nimport litellm"),
        ["3:8 litellm Import"]
    );
    // The third line's comment says nothing to Python, nor does one behind code.
    assert_eq!(python(b"#\n#\n# coding: nope\nimport litellm"), ["4:8 litellm Import"]);
    assert_eq!(python(b"x\n# coding: nope\nimport litellm"), ["3:8 litellm Import"]);
    for (bytes, place) in [
        (b"x = '\xe9'".as_slice(), "1:6"),
        (b"# coding: nope\n", "1:11"),
        (b"# coding: utf-7\n+AGkAbQ-", "1:11"),
        (b"# coding: ascii\nx = '\xc3\xa9'", "2:6"),
        (b"\xef\xbb\xbf# coding: latin-1\n", "1:11"),
        (b"\xff\xfei\0m\0p\0", "1:1"),
        (b"#\r# coding: rot13\rvzcbeg yvgryyz", "2:11"),
    ] {
        let got = python(bytes);
        assert_eq!(got.len(), 1, "{got:?}");
        assert!(got[0].starts_with(&format!("{place} unread: ")), "{got:?}");
    }
}

#[test]
fn a_script_block_is_read_as_uv_reads_it() {
    let script = "#!/usr/bin/env -S uv run --script\n# /// script\n# dependencies = [\n#   \"rich\",\n#   \"LiteLLM[proxy]>=1\",\n# ]\n# ///\n";
    assert_eq!(python(script), ["5:6 LiteLLM Direct"]);
    let escaped = "# /// script\n# dependencies = [\"\\u006citellm\"]\n# ///\n";
    assert_eq!(python(escaped), ["2:19 \"\\u006citellm\" Direct"]);
    let url = "# /// script\n# dependencies = [\"x @ git+https://github.com/BerriAI/litellm@main\"]\n# ///\n";
    assert_eq!(python(url).len(), 1);
    for text in [
        "# /// script\n# dependencies = [\"rich\"]\n# ///\n# litellm",
        "# /// pyproject\n# dependencies = [\"litellm\"]\n# ///\n",
        "# /// script\n# dependencies = [\"litellm\"]\n",
        "x = '''\n /// script\n'''",
    ] {
        assert_eq!(python(text), Vec::<String>::new(), "{text}");
    }
    let broken = python("# /// script\n# dependencies = [\n# ///\n");
    assert!(
        broken.len() == 1
            && broken[0].contains("unread: holds a script block (PEP 723) that is no TOML"),
        "{broken:?}"
    );
    let wrong = python("# /// script\n# dependencies = \"litellm\"\n# ///\n");
    assert!(wrong.len() == 1 && wrong[0].contains("unread: "), "{wrong:?}");
}

#[test]
fn every_ending_and_scripts_without_one_are_read() {
    for path in ["a.py", "a.PY", "a.pyi", "a.pyw", "a/b.Py", ".venv/lib/x.py"] {
        assert_eq!(mentions(path, "import litellm").len(), 1, "{path}");
    }
    assert_eq!(mentions("tool", "#!/usr/bin/env python3\nimport litellm").len(), 1);
    assert_eq!(mentions("tool", "#!/bin/sh\nimport litellm").len(), 0);
    assert_eq!(mentions("tool.md", "import litellm").len(), 0);
}

#[test]
fn an_alias_is_told() {
    let reading = of_files(&[("a.py", b"import litellm as llm")]);
    assert_eq!(reading.mentions[0].via, Some(oz0_deps::Via::Alias("llm".to_owned())));
}
