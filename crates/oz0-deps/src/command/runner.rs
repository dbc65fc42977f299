//! One simple command: which program it is, and what that starts or installs.

use super::options::{ENV, Kind, NPX, Options, PIP, PIPX, PREFIX, PYTHON, RUN, SHELL, UV, UV_RUN};
use super::{Search, Word};

/// Looks through a program and its arguments.
pub(super) fn run(words: &[Word<'_>], search: &mut Search<'_>) {
    let words = without_assignments(words);
    let Some((first, rest)) = words.split_first() else { return };
    let program = program_name(&first.text);
    match program.as_str() {
        "uvx" => tool_run(rest, search),
        "uv" => uv(rest, search),
        "pipx" => pipx(rest, search),
        _ if is_pip(&program) => install(rest, search),
        "npx" | "pnpx" | "bunx" => dlx(rest, search),
        "npm" | "pnpm" | "yarn" | "bun" => npm(&program, rest, search),
        "deno" => rest.iter().for_each(|word| search.npm_specifier(word)),
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" | "ash" => shell(rest, search),
        "cmd" => {
            let start = rest.iter().position(|word| word.text.eq_ignore_ascii_case("/c"));
            search.below(start.map_or(&[], |at| &rest[at + 1..]));
        }
        "powershell" | "pwsh" => {
            let is_command = |word: &Word<'_>| {
                ["-command", "-c"].iter().any(|name| word.text.eq_ignore_ascii_case(name))
            };
            if let Some(at) = rest.iter().position(is_command) {
                rest[at + 1..].iter().for_each(|text| search.shell(text));
            }
        }
        "env" => {
            let options = Options::read(rest, &[ENV], true);
            for (kind, value) in &options.values {
                if *kind == Kind::Shell {
                    search.shell(value);
                }
            }
            search.below(options.rest);
        }
        "nohup" | "nice" | "time" | "exec" | "command" | "setsid" | "stdbuf" | "sudo" | "doas"
        | "xargs" | "ionice" | "cross-env" | "eval" | "builtin" | "then" | "do" | "else" | "!"
        | "{" | "if" | "while" | "until" => {
            search.below(Options::read(rest, &[PREFIX], false).rest);
        }
        "timeout" => {
            let options = Options::read(rest, &[PREFIX], false);
            search.below(options.rest.get(1..).unwrap_or_default());
        }
        "poetry" | "pdm" | "pipenv" | "hatch" | "rye" | "pixi" | "conda" | "mamba"
        | "micromamba" => managed(rest, search),
        _ if is_python(&program) => python(rest, search),
        // IPython's `{sys.executable} -m pip`, a shell's `$PYTHON -m pip` and `$(which python) -m pip`.
        "-m" => python(words, search),
        _ if first.text.starts_with(['{', '$']) => python(rest, search),
        _ => {
            search.program(first);
            // Programs that start another one, such as proxies of MCP, have its command behind `--`.
            if let Some(at) = rest.iter().position(|word| word.text == "--") {
                search.below(&rest[at + 1..]);
            }
        }
    }
}

/// The program's name, without folders and endings of Windows.
fn program_name(text: &str) -> String {
    let name = text.rsplit(['/', '\\']).next().unwrap_or(text).to_ascii_lowercase();
    let endings = [".exe", ".cmd", ".bat", ".ps1"];
    let bare = endings.iter().find_map(|ending| name.strip_suffix(ending));
    bare.map_or_else(|| name.clone(), str::to_owned)
}

/// `python`, `python3`, `python3.12`, `pypy3`, `py`.
fn is_python(program: &str) -> bool {
    let rest = ["python", "pypy", "py"].iter().find_map(|name| program.strip_prefix(name));
    rest.is_some_and(|rest| {
        let rest = rest.strip_suffix('t').unwrap_or(rest);
        let rest = if rest == "w" { "" } else { rest };
        rest.chars().all(|c| c.is_ascii_digit() || c == '.')
    })
}

/// `pip`, `pip3`, `pip3.12`.
fn is_pip(program: &str) -> bool {
    program
        .strip_prefix("pip")
        .is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

fn without_assignments<'o, 't>(words: &'o [Word<'t>]) -> &'o [Word<'t>] {
    let is_assignment = |word: &Word<'_>| {
        word.text.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    };
    let skipped = words.iter().take_while(|word| is_assignment(word)).count();
    &words[skipped..]
}

fn python(words: &[Word<'_>], search: &mut Search<'_>) {
    let options = Options::read(words, &[PYTHON], true);
    for (kind, value) in &options.values {
        if *kind == Kind::Module {
            search.module(value);
            // `python -m pip install`, `python -m uv`, `python -m pipx`
            if matches!(&*value.text, "pip" | "uv" | "pipx") {
                let mut below = vec![value.clone()];
                below.extend(options.rest.iter().cloned());
                search.below(&below);
            }
        }
    }
}

fn shell(words: &[Word<'_>], search: &mut Search<'_>) {
    let options = Options::read(words, &[SHELL], false);
    // `-c` takes no value of its own: the text is the first word behind all options.
    let runs_text = options.flags.iter().any(|flag| !flag.starts_with("--") && flag.contains('c'));
    if let (true, Some(text)) = (runs_text, options.rest.first()) {
        search.shell(text);
    }
}

/// `uvx`, and `uv tool run`.
fn tool_run(words: &[Word<'_>], search: &mut Search<'_>) {
    let options = Options::read(words, &[UV], false);
    packages(&options, search);
    // With `--from`, the first word is a program of that package, and may still be called like another one.
    if let Some(first) = options.rest.first() {
        search.requirement(first);
    }
}

fn uv(words: &[Word<'_>], search: &mut Search<'_>) {
    let options = Options::read(words, &[UV], false);
    let Some((verb, rest)) = options.rest.split_first() else { return };
    let second = rest.first().map_or("", |word| &*word.text);
    match (&*verb.text, second) {
        ("tool", "run") => tool_run(&rest[1..], search),
        ("x", _) => tool_run(rest, search),
        ("tool" | "pip", "install" | "upgrade") => install(rest, search),
        ("add", _) => install(options.rest, search),
        ("run", _) => {
            let options = Options::read(rest, &[UV, UV_RUN], false);
            packages(&options, search);
            for (kind, value) in &options.values {
                if *kind == Kind::Module {
                    search.module(value);
                }
            }
            if !options.has(Kind::Module) {
                search.below(options.rest);
            }
        }
        _ => {}
    }
}

fn pipx(words: &[Word<'_>], search: &mut Search<'_>) {
    let options = Options::read(words, &[PIPX], false);
    let Some((verb, rest)) = options.rest.split_first() else { return };
    match &*verb.text {
        "run" => {
            let options = Options::read(rest, &[PIPX], false);
            packages(&options, search);
            if let Some(first) = options.rest.first() {
                search.requirement(first);
            }
        }
        "install" | "inject" | "upgrade" => install(options.rest, search),
        _ => {}
    }
}

/// `install` or `add`, options and packages in any order.
fn install(words: &[Word<'_>], search: &mut Search<'_>) {
    let options = Options::read(words, &[PIP], false);
    let Some((verb, mut rest)) = options.rest.split_first() else { return };
    if !matches!(&*verb.text, "install" | "add" | "upgrade" | "inject" | "run") {
        return;
    }
    loop {
        let options = Options::read(rest, &[PIP, PIPX, UV], false);
        packages(&options, search);
        let Some((package, more)) = options.rest.split_first() else { return };
        search.requirement(package);
        rest = more;
    }
}

/// `npx` and its like.
fn dlx(words: &[Word<'_>], search: &mut Search<'_>) {
    let options = Options::read(words, &[NPX], false);
    for (kind, value) in &options.values {
        match kind {
            Kind::Package => search.npm(value),
            Kind::Shell => search.shell(value),
            _ => {}
        }
    }
    let Some(first) = options.rest.first() else { return };
    search.npm(first);
    // Programs that start another one, such as proxies of MCP, have its command behind `--`, or in a text.
    if let Some(at) = options.rest.iter().position(|word| word.text == "--") {
        search.below(&options.rest[at + 1..]);
    }
}

fn npm(program: &str, words: &[Word<'_>], search: &mut Search<'_>) {
    let options = Options::read(words, &[NPX], false);
    let Some((verb, rest)) = options.rest.split_first() else { return };
    for (kind, value) in &options.values {
        if *kind == Kind::Package {
            search.npm(value);
        }
    }
    match (program, &*verb.text) {
        ("npm", "exec" | "x") | ("pnpm" | "yarn", "dlx") | ("bun", "x") => dlx(rest, search),
        ("pnpm" | "yarn" | "bun", "exec" | "run") => {
            search.below(Options::read(rest, &[NPX], false).rest);
        }
        (_, "install" | "i" | "add" | "in" | "ins" | "isntall" | "a") => {
            let mut rest = rest;
            loop {
                let options = Options::read(rest, &[NPX], false);
                let Some((package, more)) = options.rest.split_first() else { return };
                search.npm(package);
                rest = more;
            }
        }
        ("yarn", "global") => npm(program, rest, search),
        _ => {}
    }
}

/// `poetry run`, `conda run`, `pixi exec` and their like.
fn managed(words: &[Word<'_>], search: &mut Search<'_>) {
    let options = Options::read(words, &[RUN], false);
    let Some((verb, rest)) = options.rest.split_first() else { return };
    match &*verb.text {
        "run" | "exec" | "x" => {
            let options = Options::read(rest, &[RUN], false);
            packages(&options, search);
            search.below(options.rest);
        }
        "add" | "install" | "create" => install(options.rest, search),
        _ => {}
    }
}

/// The packages that options name, and the files of such.
fn packages(options: &Options<'_, '_>, search: &mut Search<'_>) {
    for (kind, value) in &options.values {
        match kind {
            Kind::Package => search.requirement(value),
            Kind::Requirements => search.file(value),
            _ => {}
        }
    }
}
