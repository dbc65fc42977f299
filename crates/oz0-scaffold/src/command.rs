//! What kind of command it is.

use crate::package::{Fetched, fetched, program_name};
use crate::refusal::Refusal;

/// A command, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A package that is fetched and started.
    Fetched(Fetched),
    /// A bridge to a remote server, which oz0 reaches itself.
    Remote { url: String, headers: Vec<(String, String)> },
    /// `uv run`.
    UvRun(UvRun),
    /// Anything else.
    Program(Vec<String>),
}

/// What `uv run` is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct UvRun {
    /// The folder that it is to run in, as it is written.
    pub(crate) directory: Option<String>,
    /// The project's folder, where that is another one.
    pub(crate) project: Option<String>,
    /// Further requirements.
    pub(crate) with: Vec<String>,
    /// What is run, and its arguments; `-m MODULE` among them.
    pub(crate) words: Vec<String>,
}

/// A command, with the variables that it sets.
pub(crate) struct Understood {
    pub(crate) kind: Kind,
    /// It without the shells and the like in front of it.
    pub(crate) words: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
}

/// Programs that only start something elsewhere, and what is said of them.
const ELSEWHERE: [(&[&str], &str, &str); 6] = [
    (
        &["docker", "podman", "nerdctl", "finch", "container", "lima", "colima"],
        "it starts a container, and a server in oz0's sandbox reaches no container daemon",
        "look whether the server is published on npm or PyPI, or as a program, or runs at a URL: wrap that",
    ),
    (
        &["ssh", "kubectl", "wsl", "adb", "limactl", "multipass"],
        "it starts the server on another machine, where oz0 contains nothing",
        "run oz0 over there, or give the server a URL: oz0 wrap --url https://…",
    ),
    (
        &["sudo", "doas", "su", "pkexec", "runas"],
        "it takes rights that no server gets in oz0's sandbox",
        "wrap the command without it",
    ),
    (
        &["go", "cargo", "make", "dotnet-script", "nix", "flatpak", "snap", "brew"],
        "it builds or fetches the server at every start, so nobody knows what runs",
        "build it, and wrap the program that comes out",
    ),
    (
        &["npm", "pnpm", "yarn"],
        "it runs whatever its project's scripts say",
        "wrap the command that the script in package.json runs, such as: node build/index.js",
    ),
    (
        &[
            "uv",
            "poetry",
            "pdm",
            "hatch",
            "pipenv",
            "conda",
            "mamba",
            "micromamba",
            "pipx",
            "rye",
            "pixi",
        ],
        "it prepares an environment of its own, and servers have the one that is locked",
        "lock the project with uv, and wrap: uv run --directory PROJECT SERVER.py",
    ),
];

/// What a shell acts on, in whatever quotes. A line without any of it is words alone.
const SYNTAX: &str = "|&;<>()$`\\*?[]{}#~!^%\n\r";

pub(crate) fn understand(argv: &[String]) -> Result<Understood, Refusal> {
    let mut env = Vec::new();
    let mut words = argv.to_vec();
    loop {
        let Some(program) = words.first() else {
            return Err(Refusal::new("the command is empty"));
        };
        let program = program_name(program).to_owned();
        if SHELLS.contains(&program.as_str()) {
            let Some(line) = shell_line(&program, &words[1..])? else { break };
            words = one_command(&program, line)?;
            while let Some((name, value)) = words.first().and_then(|word| assignment(word)) {
                env.push((name.to_owned(), value.to_owned()));
                words.remove(0);
            }
            if words.first().is_some_and(|word| word == "exec") {
                words.remove(0);
            }
        } else if program == "env" && words.len() > 1 {
            words.remove(0);
            words = of_env(words, &mut env)?;
        } else if program == "cmd" && words.len() > 1 {
            words = of_cmd(&words[1..])?;
        } else if ["powershell", "pwsh"].contains(&program.as_str())
            && words.iter().any(|word| ["-c", "-command"].contains(&&*word.to_lowercase()))
        {
            return Err(shell_refusal(&program, "what it does, only PowerShell knows"));
        } else {
            break;
        }
    }
    let kind = kind(&words)?;
    Ok(Understood { kind, words, env })
}

/// The shells whose `-c` has a line of a POSIX shell.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];

fn shell_refusal(program: &str, why: &str) -> Refusal {
    Refusal::new(format!("{program} runs a line of its own language, and {why}"))
        .hint("wrap the one command in it that starts the server, without the shell, and give its variables with --env")
}

/// The line that `sh -c` runs. `None` where it is given no line but a script.
fn shell_line<'a>(program: &str, words: &'a [String]) -> Result<Option<&'a str>, Refusal> {
    let options = words.iter().take_while(|word| word.starts_with('-')).count();
    let (options, rest) = words.split_at(options);
    let is_line = |word: &String| !word.starts_with("--") && word.contains('c');
    if !options.iter().any(is_line) {
        // Behind another option's value; a script may have a -c of its own.
        return match words.iter().position(|word| word == "-c") {
            Some(_) if !options.is_empty() => {
                Err(shell_refusal(program, &format!("{} is an option not known here", options[0])))
            }
            _ => Ok(None),
        };
    }
    let known = |word: &String| {
        ["--login", "--norc", "--noprofile"].contains(&word.as_str())
            || word[1..].chars().all(|c| "cleiux".contains(c))
    };
    if let Some(option) = options.iter().find(|word| !known(word)) {
        return Err(shell_refusal(program, &format!("{option} is an option not known here")));
    }
    // What stands behind the line is named in it by a `$` alone, and no such line is taken.
    rest.first()
        .map(|line| Some(line.as_str()))
        .ok_or_else(|| Refusal::new(format!("{program} takes a line after -c")))
}

/// A line that is one command, as its words.
fn one_command(program: &str, line: &str) -> Result<Vec<String>, Refusal> {
    if let Some(c) = line.chars().find(|c| SYNTAX.contains(*c)) {
        let why = format!("`{}` in it is that language's, not a command's", c.escape_debug());
        return Err(shell_refusal(program, &why));
    }
    shlex::split(line)
        .filter(|words| !words.is_empty())
        .ok_or_else(|| shell_refusal(program, "it is no whole command"))
}

/// A variable that is set in front of a command.
fn assignment(word: &str) -> Option<(&str, &str)> {
    word.split_once('=').filter(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// What `env` starts, and with which variables.
fn of_env(mut words: Vec<String>, env: &mut Vec<(String, String)>) -> Result<Vec<String>, Refusal> {
    let inline = words[0].strip_prefix("--split-string=").or_else(|| words[0].strip_prefix("-S"));
    let split = match inline {
        Some("") => Some((words.get(1).cloned().unwrap_or_default(), 2)),
        Some(line) => Some((line.to_owned(), 1)),
        None => None,
    };
    if let Some((line, taken)) = split {
        let mut whole = one_command("env", &line)?;
        whole.extend(words.into_iter().skip(taken));
        words = whole;
    }
    while let Some((name, value)) = words.first().and_then(|word| word.split_once('=')) {
        env.push((name.to_owned(), value.to_owned()));
        words.remove(0);
    }
    match words.first().filter(|word| word.starts_with('-')) {
        Some(option) => {
            Err(Refusal::new(format!("what {option} of env asks for is not known here"))
                .hint("leave it out: servers have no variables but their own anyway"))
        }
        None => Ok(words),
    }
}

/// What `cmd /c` starts.
fn of_cmd(words: &[String]) -> Result<Vec<String>, Refusal> {
    let options = words.iter().take_while(|word| word.starts_with('/') && word.len() == 2).count();
    let (options, rest) = words.split_at(options);
    if !options.iter().any(|option| option.eq_ignore_ascii_case("/c")) {
        return Err(shell_refusal("cmd", "it has no /c"));
    }
    if let [line] = rest {
        return one_command("cmd", line);
    }
    let operator = |word: &&String| ["&", "&&", "|", "||", ">", "<"].contains(&word.as_str());
    match rest.iter().find(operator) {
        Some(word) => Err(shell_refusal(
            "cmd",
            &format!("`{word}` in it is that language's, not a command's"),
        )),
        None => Ok(rest.to_vec()),
    }
}

fn kind(words: &[String]) -> Result<Kind, Refusal> {
    let base = program_name(&words[0]);
    if let Some(fetched) = fetched(words) {
        let fetched = fetched?;
        return if fetched.package.name == "mcp-remote" && fetched.program.is_none() {
            bridge(&fetched.args)
        } else {
            Ok(Kind::Fetched(fetched))
        };
    }
    if base == "mcp-remote" {
        return bridge(&words[1..]);
    }
    if base == "uv"
        && let Some(run) = uv_run(&words[1..])?
    {
        return Ok(Kind::UvRun(run));
    }
    if let Some((_, why, hint)) = ELSEWHERE.iter().find(|(names, ..)| names.contains(&base)) {
        return Err(Refusal::new(format!("{base} cannot be wrapped: {why}")).hint(*hint));
    }
    Ok(Kind::Program(words.to_vec()))
}

/// `mcp-remote URL`, which makes a local server of a remote one for clients that know only those.
fn bridge(words: &[String]) -> Result<Kind, Refusal> {
    let mut words = words.iter();
    let mut url = None;
    let mut headers = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--header" => {
                let header = words.next().map_or("", String::as_str);
                headers.push(header_of(header)?);
            }
            "--transport" | "--host" | "--resource" | "--auth-timeout" | "--ignore-tool" => {
                words.next();
            }
            word if word.starts_with('-') => {}
            word if url.is_none() => url = Some(word.to_owned()),
            _ => {}
        }
    }
    let url = url.ok_or_else(|| Refusal::new("the command of mcp-remote names no URL"))?;
    Ok(Kind::Remote { url, headers })
}

/// `NAME: VALUE`.
pub(crate) fn header_of(text: &str) -> Result<(String, String), Refusal> {
    let (name, value) =
        text.split_once(':').ok_or_else(|| Refusal::new("a header is written as NAME: VALUE"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// What stands between `uv` and `run` and behind it. `None` where it is another command of uv's.
fn uv_run(words: &[String]) -> Result<Option<UvRun>, Refusal> {
    let mut run = UvRun::default();
    let mut running = false;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let (name, inline) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
            _ => (word.as_str(), None),
        };
        let mut value = || -> Result<String, Refusal> {
            if let Some(value) = &inline {
                return Ok(value.clone());
            }
            at += 1;
            let value = words.get(at - 1).cloned();
            value.ok_or_else(|| Refusal::new(format!("uv takes a value after {name}")))
        };
        match name {
            "--directory" => run.directory = Some(value()?),
            "--project" => run.project = Some(value()?),
            "--with" | "-w" if running => {
                run.with.extend(value()?.split(',').map(|one| one.trim().to_owned()));
            }
            "--python" | "-p" | "--cache-dir" => drop(value()?),
            "-q" | "--quiet" | "-v" | "--verbose" | "--frozen" | "--locked" | "--no-sync"
            | "--no-dev" | "--isolated" | "--no-project" | "--script" | "-s" | "--offline"
            | "--no-progress" | "--active" | "--no-cache" | "-n" | "--native-tls" | "--refresh" => {
            }
            "run" if !running => running = true,
            "-m" | "--module" if running => {
                run.words = vec!["-m".to_owned(), value()?];
                run.words.extend_from_slice(&words[at..]);
                return Ok(Some(run));
            }
            "--" if running => {
                run.words = words[at..].to_vec();
                break;
            }
            _ if name.starts_with('-') => {
                return Err(Refusal::new(format!(
                    "what {name} of uv run asks for is not known here"
                ))
                .hint("leave it out, or lock the project and wrap: python3 SERVER.py"));
            }
            _ if running => {
                run.words = words[at - 1..].to_vec();
                break;
            }
            _ => return Ok(None),
        }
    }
    if running && run.words.is_empty() {
        return Err(Refusal::new("the command of uv run names nothing to run"));
    }
    Ok(running.then_some(run))
}
