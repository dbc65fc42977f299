//! Command lines: which package one starts.

use oz0_deps::{Ecosystem, command};

use crate::node::wanted;

/// The names that a command line starts, with the word's index.
fn names(line: &str) -> Vec<(usize, String)> {
    // Words with blanks are written with `^`.
    let words: Vec<String> = line.split(' ').map(|word| word.replace('^', " ")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let wanted = wanted();
    let named = command(&words, &wanted).named;
    named
        .iter()
        .map(|named| (named.word, words[named.word][named.range.clone()].to_owned()))
        .collect()
}

#[test]
fn what_starts_or_installs_the_package_is_found() {
    for (line, word) in [
        ("uvx litellm", 1),
        ("/usr/bin/uvx LiteLLM[proxy]==1.82.7 --port 1", 1),
        ("uvx litellm@latest", 1),
        ("uvx --python 3.12 --from litellm[proxy] litellm-proxy", 4),
        ("uvx --from=litellm x", 1),
        ("uvx --with a,litellm x", 2),
        ("uvx -w litellm x", 2),
        ("uvx git+https://github.com/BerriAI/litellm@main", 1),
        ("uvx --from git+https://github.com/fork/litellm.git x", 2),
        ("uvx --from https://example.com/litellm-1.0-py3-none-any.whl x", 2),
        ("uv tool run litellm", 3),
        ("uv tool run --from litellm x", 4),
        ("uv tool install litellm", 3),
        ("uv --directory /x run --with litellm server.py", 5),
        ("uv run litellm", 2),
        ("uv run -m litellm.proxy", 3),
        ("uv run --no-sync -- python -Im litellm", 6),
        ("uv pip install --upgrade litellm", 4),
        ("uv add litellm", 2),
        ("pipx run litellm", 2),
        ("pipx run --spec litellm[proxy]==1 x", 3),
        ("pipx install litellm", 2),
        ("pip install -r a.txt litellm>=1", 4),
        ("python -m pip install litellm", 4),
        ("python -m litellm", 2),
        ("python3.12 -u -m litellm.proxy.proxy_cli", 3),
        ("/venv/bin/python -Wignore -mlitellm", 2),
        ("py -3 -m litellm", 3),
        ("npx litellm", 1),
        ("npx -y litellm@0.12.0 x", 2),
        ("npx --yes --package litellm other", 3),
        ("npx -p=litellm other", 1),
        ("npx -y github:zya/litellmjs", 2),
        ("npx.cmd litellm", 1),
        ("npm exec -- litellm", 3),
        ("npm exec --package=litellm -- x", 2),
        ("npm install -g litellm", 3),
        ("pnpm dlx litellm", 2),
        ("pnpm --package=litellm dlx x", 1),
        ("yarn dlx -p litellm x", 3),
        ("bunx litellm", 1),
        ("bun x litellm", 2),
        ("deno run -A npm:litellm@0.12/x", 3),
        ("litellm --port 4000", 0),
        (".venv/bin/litellm", 0),
        ("node_modules/.bin/litellm", 0),
        ("env -i -u X A=b uvx litellm", 6),
        ("env -S uvx^litellm", 2),
        ("A=b uvx litellm", 2),
        ("sh -c cd^x^&&^exec^uvx^litellm", 2),
        ("bash -lc A=b^'uvx'^\"litellm\"", 2),
        ("bash -c echo_$(uvx^litellm)", 2),
        ("cmd /c npx -y litellm", 4),
        ("nohup nice -n 5 timeout -s KILL 30 uvx litellm", 9),
        ("poetry run litellm", 2),
        ("conda run -n base python -m litellm", 6),
        ("mcp-proxy --port 1 -- uvx litellm", 5),
    ] {
        let found = names(line);
        assert!(found.iter().any(|(at, _)| *at == word), "{line}: {found:?}");
        for (_, name) in found {
            let known = ["litellm", "LiteLLM", "litellmjs"];
            assert!(known.contains(&&*name) || line.contains("https://"), "{line}: {name}");
        }
    }
}

#[test]
fn what_only_says_the_name_is_not() {
    for line in [
        "uvx other litellm",
        "uvx --from other x --model litellm",
        "uvx langchain-litellm",
        "uvx crewai[litellm]",
        "uvx --index-url https://example.com/litellm other",
        "uvx --with-requirements litellm other",
        "uv run server.py litellm",
        "uv run --group litellm server.py",
        "pipx uninstall litellm",
        "pip uninstall litellm",
        "pip show litellm",
        "pip download litellm",
        "pip install -c litellm other",
        "python litellm.py",
        "python server.py -m litellm",
        "python -m other litellm",
        "python -c print('litellm')",
        "npx other litellm",
        "npx -y @acme/litellm",
        "npm run litellm",
        "npm uninstall litellm",
        "./litellm",
        "bin/litellm",
        "node litellm.js",
        "sh litellm",
        "sh -c echo^litellm",
        "sh -c #^uvx^litellm",
        "sh -c 'uvx^litellm'",
        "env LITELLM=1 x litellm",
        "docker run example/litellm",
        "echo uvx litellm",
        "",
    ] {
        assert_eq!(names(line), [], "{line}");
    }
}

#[test]
fn a_shells_words_have_their_places_and_npm_is_told_from_pypi() {
    let wanted = wanted();
    let line = "cd x && uvx 'litellm[proxy]' | npx litellm";
    let words = ["sh", "-c", line];
    let found: Vec<_> = command(&words, &wanted)
        .named
        .into_iter()
        .map(|named| {
            (named.word, &line[named.range.clone()], named.range.start, named.package.ecosystem)
        })
        .collect();
    assert_eq!(found, [(2, "litellm", 13, Ecosystem::PyPi), (2, "litellm", 35, Ecosystem::Npm)]);
}

#[test]
fn of_programs_that_start_each_other_without_end_the_words_count() {
    let mut words = vec!["env"; 10_000];
    words.extend(["uvx", "litellm"]);
    let wanted = wanted();
    let found: Vec<_> = command(&words, &wanted).named.iter().map(|named| named.word).collect();
    assert_eq!(found, [10_001]);
    words.pop();
    assert_eq!(command(&words, &wanted).named, []);
}

proptest::proptest! {
    /// Any words, and any text of a shell, give places that lie in their words.
    #[test]
    fn every_place_lies_in_its_word(
        words in proptest::collection::vec("uvx|npx|sh|-c|uv|run|--with|litellm|python|-m|'|\"|[ -~é\\\\$`(;\"']{0,24}", 0..8)
    ) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        for named in command(&words, &wanted()).named {
            proptest::prop_assert!(words[named.word].get(named.range.clone()).is_some());
        }
    }
}
