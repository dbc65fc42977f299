//! Commands that fetch a package and start it: `npx`, `bunx`, `pnpm dlx`, `uvx`, `pipx run`.
//!
//! Each has options of its own before the package's name, and they decide what is run, so one that is
//! not known here is refused by name and never skipped over.

use oz0_server::Registry;

use crate::refusal::Refusal;

/// A package as a command names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) registry: Registry,
    /// For `PyPI` without its extras.
    pub(crate) name: String,
    pub(crate) extras: Vec<String>,
    /// The version, a range, a tag, or nothing.
    pub(crate) version: String,
}

/// What such a command starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fetched {
    pub(crate) package: Package,
    /// The program of the package, where the command names one that is not the package's own.
    pub(crate) program: Option<String>,
    /// Further requirements, as PEP 508 has them.
    pub(crate) with: Vec<String>,
    pub(crate) args: Vec<String>,
    /// What the command asks for and is not done.
    pub(crate) ignored: Vec<String>,
}

impl Package {
    /// The one version, where it is one.
    pub(crate) fn exact(&self) -> Option<&str> {
        match self.registry {
            Registry::Npm => {
                semver::Version::parse(&self.version).is_ok().then_some(self.version.as_str())
            }
            Registry::Pypi => self.version.strip_prefix("==").filter(|version| {
                version.starts_with(|c: char| c.is_ascii_digit())
                    && version.chars().all(|c| c.is_ascii_alphanumeric() || ".!+_-".contains(c))
            }),
        }
    }

    /// The name, with the extras of one of `PyPI`.
    pub(crate) fn full_name(&self) -> String {
        if self.extras.is_empty() {
            self.name.clone()
        } else {
            format!("{}[{}]", self.name, self.extras.join(","))
        }
    }

    /// It with this version, as a manifest names it.
    pub(crate) fn reference(&self, version: &str) -> String {
        match self.registry {
            Registry::Pypi => format!("pypi:{}=={version}", self.full_name()),
            Registry::Npm => format!("npm:{}@{version}", self.name),
        }
    }
}

/// The command's last path segment: `/usr/bin/npx` is `npx`, and so is `npx.cmd`.
pub(crate) fn program_name(program: &str) -> &str {
    let base = program.rsplit(['/', '\\']).next().unwrap_or(program);
    [".cmd", ".exe", ".bat"].iter().find_map(|end| base.strip_suffix(end)).unwrap_or(base)
}

/// What a command fetches; `None` where it is no such command.
pub(crate) fn fetched(argv: &[String]) -> Option<Result<Fetched, Refusal>> {
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    let (program, rest) = words.split_first()?;
    let npm = |rest| Some(npm_runner(&argv[0], rest));
    match (program_name(program), rest) {
        ("npx" | "bunx" | "pnpx", rest)
        | ("npm", ["exec" | "x", rest @ ..])
        | ("pnpm" | "yarn", ["dlx", rest @ ..])
        | ("bun", ["x", rest @ ..]) => npm(rest),
        ("uvx", rest) | ("uv", ["tool", "run", rest @ ..]) => Some(uvx(rest)),
        ("pipx", ["run", rest @ ..]) => Some(pipx(rest)),
        _ => None,
    }
}

/// Options of a command: those without a value that change nothing here, those with one, and the rest.
struct Options<'a> {
    program: &'a str,
    words: &'a [&'a str],
}

enum Word<'a> {
    Option(&'a str, Option<&'a str>),
    Plain(&'a str),
}

impl<'a> Options<'a> {
    fn next(&mut self) -> Option<Word<'a>> {
        let (word, rest) = self.words.split_first()?;
        self.words = rest;
        if *word == "--" {
            let (word, rest) = rest.split_first()?;
            self.words = rest;
            return Some(Word::Plain(word));
        }
        if !word.starts_with('-') || *word == "-" {
            return Some(Word::Plain(word));
        }
        Some(match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => Word::Option(name, Some(value)),
            _ => Word::Option(word, None),
        })
    }

    fn value(&mut self, option: &str, inline: Option<&'a str>) -> Result<&'a str, Refusal> {
        if let Some(value) = inline {
            return Ok(value);
        }
        let (value, rest) = self.words.split_first().ok_or_else(|| {
            Refusal::new(format!("{} takes a value after {option}", self.program))
        })?;
        self.words = rest;
        Ok(value)
    }

    fn unknown(&self, option: &str) -> Refusal {
        Refusal::new(format!("what {option} of {} asks for is not known here", self.program))
            .hint("leave it out, or write the plugin by hand")
    }

    fn nothing(&self) -> Refusal {
        Refusal::new(format!("the command of {} names no package", self.program))
    }
}

fn npm_runner(program: &str, words: &[&str]) -> Result<Fetched, Refusal> {
    let mut options = Options { program: program_name(program), words };
    let mut packages = Vec::new();
    let mut command = None;
    while let Some(word) = options.next() {
        match word {
            Word::Plain(word) => {
                command = Some(word);
                break;
            }
            Word::Option(
                "-y"
                | "--yes"
                | "-q"
                | "--quiet"
                | "--silent"
                | "-s"
                | "--prefer-offline"
                | "--prefer-online"
                | "--offline"
                | "--bun"
                | "--no-install"
                | "--no-update-notifier",
                _,
            ) => {}
            Word::Option(name @ ("-p" | "--package"), value) => {
                packages.push(options.value(name, value)?);
            }
            Word::Option(name @ ("-c" | "--call" | "--shell-mode"), _) => {
                return Err(Refusal::new(format!(
                    "{name} of {} runs a shell line, and not one package's server",
                    options.program
                ))
                .hint("name the package and its arguments"));
            }
            Word::Option(name, _) => return Err(options.unknown(name)),
        }
    }
    let command = command.or_else(|| packages.first().copied()).ok_or_else(|| options.nothing())?;
    let args = options.words.iter().map(|word| (*word).to_owned()).collect();
    let (spec, program) = match packages.as_slice() {
        [] => (command, None),
        [package] => (*package, Some(command)),
        _ => {
            return Err(Refusal::new("the command fetches several packages at once")
                .hint("write a plugin with a package.json and a package-lock.json of its own"));
        }
    };
    let package = npm(spec)?;
    let short = package.name.rsplit('/').next().unwrap_or_default();
    let program = program.filter(|program| *program != spec && *program != short);
    let program = program.map(str::to_owned);
    Ok(Fetched { package, program, with: Vec::new(), args, ignored: Vec::new() })
}

/// A package of npm, as npm's own commands name it.
fn npm(spec: &str) -> Result<Package, Refusal> {
    let at = spec.get(1..).and_then(|rest| rest.find('@')).map(|at| at + 1);
    let (name, version) = match at {
        Some(at) => (&spec[..at], &spec[at + 1..]),
        None => (spec, ""),
    };
    let word = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphanumeric() || "~_-".contains(c))
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "._~-".contains(c))
    };
    let named = match name.strip_prefix('@') {
        Some(rest) => rest.split_once('/').is_some_and(|(scope, own)| word(scope) && word(own)),
        None => word(name),
    };
    let ranged = version.chars().all(|c| c.is_ascii_alphanumeric() || ".^~<>=|*+- ".contains(c));
    if !named || !ranged {
        return Err(elsewhere(spec, "npm"));
    }
    Ok(Package {
        registry: Registry::Npm,
        name: name.to_owned(),
        extras: Vec::new(),
        version: version.to_owned(),
    })
}

fn elsewhere(spec: &str, registry: &str) -> Refusal {
    Refusal::new(format!("`{spec}` is no release of {registry}'s registry"))
        .hint("a release has a hash that can be locked; of anything else, make a folder and wrap that: oz0 wrap --dir FOLDER -- COMMAND")
}

fn uvx(words: &[&str]) -> Result<Fetched, Refusal> {
    let mut options = Options { program: "uvx", words };
    let (mut from, mut with, mut ignored, mut command) = (None, Vec::new(), Vec::new(), None);
    while let Some(word) = options.next() {
        match word {
            Word::Plain(word) => {
                command = Some(word);
                break;
            }
            Word::Option("--from", value) => from = Some(options.value("--from", value)?),
            Word::Option(name @ ("--with" | "-w"), value) => {
                with.extend(
                    options.value(name, value)?.split(',').map(|one| one.trim().to_owned()),
                );
            }
            Word::Option(name @ ("--python" | "-p"), value) => {
                let version = options.value(name, value)?;
                ignored.push(format!("{name} {version}: servers run with this machine's python3"));
            }
            Word::Option(
                "-q"
                | "--quiet"
                | "-v"
                | "--verbose"
                | "--isolated"
                | "--refresh"
                | "-U"
                | "--upgrade"
                | "--no-cache"
                | "-n"
                | "--offline"
                | "--no-progress"
                | "--native-tls"
                | "--no-config"
                | "--managed-python"
                | "--no-managed-python"
                | "--reinstall",
                _,
            ) => {}
            Word::Option(name, _) => return Err(options.unknown(name)),
        }
    }
    let command = command.or(from).ok_or_else(|| options.nothing())?;
    finish_pypi(command, from, with, &options, ignored)
}

fn pipx(words: &[&str]) -> Result<Fetched, Refusal> {
    let mut options = Options { program: "pipx run", words };
    let (mut from, mut with, mut ignored, mut command) = (None, Vec::new(), Vec::new(), None);
    while let Some(word) = options.next() {
        match word {
            Word::Plain(word) => {
                command = Some(word);
                break;
            }
            Word::Option("--spec", value) => from = Some(options.value("--spec", value)?),
            Word::Option("--with", value) => with.push(options.value("--with", value)?.to_owned()),
            Word::Option("--python", value) => {
                let version = options.value("--python", value)?;
                ignored
                    .push(format!("--python {version}: servers run with this machine's python3"));
            }
            Word::Option("-q" | "--quiet" | "--verbose" | "--no-cache" | "--pypackages", _) => {}
            Word::Option(name, _) => return Err(options.unknown(name)),
        }
    }
    let command = command.or(from).ok_or_else(|| options.nothing())?;
    finish_pypi(command, from, with, &options, ignored)
}

fn finish_pypi(
    command: &str,
    from: Option<&str>,
    with: Vec<String>,
    options: &Options<'_>,
    ignored: Vec<String>,
) -> Result<Fetched, Refusal> {
    let args = options.words.iter().map(|word| (*word).to_owned()).collect();
    let package = pypi(from.unwrap_or(command))?;
    for one in &with {
        pypi(one)?;
    }
    let same =
        |program: &str| oz0_plugin::normal_name(program) == oz0_plugin::normal_name(&package.name);
    let program = from.map(|_| command).filter(|program| !same(program) && Some(*program) != from);
    if let Some(program) = program
        && !program.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    {
        return Err(Refusal::new(format!("`{program}` is no program of a package")));
    }
    let program = program.map(str::to_owned);
    Ok(Fetched { package, program, with, args, ignored })
}

/// A package of `PyPI`: PEP 508's name, extras and versions, or uv's `name@version`.
pub(crate) fn pypi(spec: &str) -> Result<Package, Refusal> {
    let bad = || elsewhere(spec, "PyPI");
    let spec = spec.trim();
    let end = spec
        .find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)))
        .unwrap_or(spec.len());
    let (name, mut rest) = spec.split_at(end);
    let valid = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.ends_with(|c: char| c.is_ascii_alphanumeric());
    let mut extras = Vec::new();
    if let Some((inside, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        extras = inside.split(',').map(|extra| extra.trim().to_owned()).collect();
        rest = after;
    }
    let word = |text: &String| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    if !valid || !extras.iter().all(word) {
        return Err(bad());
    }
    let rest = rest.trim();
    let version = match rest.strip_prefix('@').map(str::trim) {
        Some("latest") => String::new(),
        Some(version) if version.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("=={version}")
        }
        Some(_) => return Err(bad()),
        None => rest.replace(' ', ""),
    };
    let ranged = version.is_empty()
        || version.starts_with(['=', '<', '>', '!', '~'])
            && version.chars().all(|c| c.is_ascii_alphanumeric() || "=<>!~.,*+_-".contains(c));
    if !ranged {
        return Err(bad());
    }
    Ok(Package { registry: Registry::Pypi, name: name.to_owned(), extras, version })
}
