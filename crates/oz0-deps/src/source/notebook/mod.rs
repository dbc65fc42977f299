//! Jupyter's notebooks.
//!
//! A notebook is JSON whose code cells are sources, each in one string or in a list of lines. A cell is read as `IPython` reads it:
//! Python with lines for the shell (`!`, `!!`) and for `IPython` (`%`) in it, or all of it for what its first line names (`%%bash`).
//! `IPython` takes a line that begins with a magic's name for one without the `%`, so `pip install a` installs.
//!
//! Files that such a line gives to pip (`-r`) are read where their names say that they are requirements.

pub(crate) mod json;

use std::ops::Range;

use ruff_python_ast::IpyEscapeKind;
use ruff_python_parser::Mode;

use self::json::Value;
use super::javascript;
use super::python::{self, Problem, constant::Constant};
use crate::command;
use crate::file::{File, Sink};
use crate::{How, Package, Via, Wanted};

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Python,
    Shell,
    JavaScript,
    Other,
}

/// Reads a notebook.
pub(crate) fn read(file: &File<'_>, sink: &mut Sink) {
    let text = match file.text() {
        Ok(text) => text,
        Err(error) => {
            let text = String::from_utf8_lossy(file.bytes);
            sink.unread(
                &text,
                error.valid_up_to()..error.valid_up_to(),
                "is no UTF-8, and so no notebook",
                None,
            );
            return;
        }
    };
    let notebook = match json::parse(text, file.limits.depth) {
        Ok(notebook) => notebook,
        Err(wrong) => {
            let problem = format!("is no notebook, since it is no JSON: {}", wrong.problem);
            sink.unread(text, wrong.at..wrong.at, problem, None);
            return;
        }
    };
    let kernel = kernel(&notebook, text);
    // Format 3 has its cells in worksheets.
    let sheets = notebook.get("worksheets").map_or(&[][..], Value::items);
    for holder in sheets.iter().chain([&notebook]) {
        for cell in holder.get("cells").map_or(&[][..], Value::items) {
            let is_code = cell
                .get("cell_type")
                .and_then(|kind| kind.string(text))
                .is_some_and(|kind| kind == "code");
            if !is_code {
                continue;
            }
            let mut source = Constant::default();
            match cell.get("source").or_else(|| cell.get("input")) {
                Some(Value::String(place)) => json::decode(text, place.clone(), &mut source),
                Some(Value::Array(lines)) => {
                    for line in lines {
                        if let Value::String(place) = line {
                            json::decode(text, place.clone(), &mut source);
                        }
                    }
                }
                _ => continue,
            }
            let mut found = Found::default();
            read_cell(
                &source.text,
                language(cell, text).unwrap_or(kernel),
                file.wanted,
                &mut found,
            );
            for (package, how, range, via) in found.mentions {
                sink.mention(package, how, text, source.source(&range), via);
            }
            for problem in found.problems {
                sink.unread(
                    text,
                    source.source(&problem.range),
                    format!("has a cell that {}", problem.text),
                    None,
                );
            }
        }
    }
}

/// What the cells of a notebook hold that say nothing else.
fn kernel(notebook: &Value, json: &str) -> Language {
    let metadata = notebook.get("metadata");
    let name = |of: &str, key: &str| metadata?.get(of)?.get(key)?.string(json);
    name("kernelspec", "language")
        .or_else(|| name("language_info", "name"))
        .map_or(Language::Python, |name| named(&name))
}

/// What a cell says that it holds: Visual Studio Code's, and format 3's.
fn language(cell: &Value, json: &str) -> Option<Language> {
    let code = cell
        .get("metadata")
        .and_then(|metadata| metadata.get("vscode"))
        .and_then(|code| code.get("languageId"));
    code.or_else(|| cell.get("language"))?.string(json).map(|name| named(&name))
}

fn named(name: &str) -> Language {
    match &*name.to_ascii_lowercase() {
        "bash" | "sh" | "shell" | "shellscript" | "zsh" | "ksh" | "dash" => Language::Shell,
        "javascript" | "js" | "typescript" | "ts" => Language::JavaScript,
        "r" | "julia" | "scala" | "markdown" | "html" | "latex" | "sql" | "c++" | "rust" | "go"
        | "java" | "kotlin" | "ruby" | "perl" | "octave" | "matlab" | "haskell" | "csharp"
        | "c#" | "f#" | "fsharp" | "powershell" => Language::Other,
        // A kernel of a name that nobody knows is read as Python: what is none says nothing to it.
        _ => Language::Python,
    }
}

/// A mention in a cell.
type Mentioned<'w> = (&'w Package, How, Range<usize>, Option<Via>);

#[derive(Debug, Default)]
struct Found<'w> {
    mentions: Vec<Mentioned<'w>>,
    problems: Vec<Problem>,
}

impl<'w> Found<'w> {
    fn install(&mut self, script: &str, at: usize, wanted: &'w Wanted) {
        for (package, range) in command::installs(script, wanted) {
            self.mentions.push((package, How::InstallLine, at + range.start..at + range.end, None));
        }
    }

    fn python(&mut self, source: &str, at: usize, wanted: &'w Wanted) {
        let findings = python::analyze(source, wanted, Mode::Ipython);
        for import in findings.imports {
            let range = at + import.range.start..at + import.range.end;
            self.mentions.push((import.package, How::Import, range, import.via));
        }
        for (package, range) in findings.installs {
            let range = at + range.start..at + range.end;
            self.mentions.push((package, How::InstallLine, range, None));
        }
        for problem in findings.problems {
            let range = at + problem.range.start..at + problem.range.end;
            self.problems.push(Problem { range, ..problem });
        }
        for command in findings.commands {
            let line = &source[command.range.clone()];
            let start = at + command.range.start;
            match command.kind {
                IpyEscapeKind::Shell | IpyEscapeKind::ShCap => {
                    let script = line.trim_start_matches(['!', ' ', '\t']);
                    self.install(script, start + line.len() - script.len(), wanted);
                }
                IpyEscapeKind::Magic | IpyEscapeKind::Magic2 => {
                    let magic = line.trim_start_matches(['%', ' ', '\t']);
                    self.magic(magic, start + line.len() - magic.len(), wanted);
                }
                _ => {}
            }
        }
    }

    /// A line for `IPython`, without its `%`.
    fn magic(&mut self, line: &str, at: usize, wanted: &'w Wanted) {
        let name = &line[..line.find(char::is_whitespace).unwrap_or(line.len())];
        let rest = &line[name.len()..];
        match name {
            "pip" | "conda" | "mamba" | "micromamba" | "uv" => self.install(line, at, wanted),
            "sx" | "system" | "sc" | "!" => self.install(rest, at + name.len(), wanted),
            "time" | "timeit" | "prun" | "memit" | "mprun" | "lprun" => {
                let code = behind_options(rest);
                self.python(code, at + line.len() - code.len(), wanted);
            }
            _ => {}
        }
    }
}

/// What stands behind the options of a magic that runs a line of Python.
fn behind_options(mut line: &str) -> &str {
    loop {
        line = line.trim_start();
        let Some(option) = line.strip_prefix('-') else { return line };
        let behind = option.trim_start_matches(|c: char| !c.is_whitespace()).trim_start();
        line = behind.trim_start_matches(|c: char| c.is_ascii_digit());
    }
}

fn read_cell<'w>(source: &str, language: Language, wanted: &'w Wanted, found: &mut Found<'w>) {
    let mut language = language;
    let mut at = 0;
    // `%%capture` over `%%time` over what runs.
    while language == Language::Python {
        let rest = source[at..].trim_start();
        let start = source.len() - rest.len();
        let Some(magic) = rest.strip_prefix("%%") else { break };
        let line = &magic[..magic.find(['\n', '\r']).unwrap_or(magic.len())];
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default();
        language = match name {
            "bash" | "sh" | "zsh" | "dash" | "ksh" | "!" | "sx" | "system" | "shell" => {
                Language::Shell
            }
            "script" => {
                let program = words.find(|word| !word.starts_with('-')).unwrap_or_default();
                let program = program.rsplit('/').next().unwrap_or(program);
                if program.starts_with("python") || program.starts_with("pypy") {
                    Language::Python
                } else {
                    named(program)
                }
            }
            "javascript" | "js" => Language::JavaScript,
            "html" | "HTML" | "svg" | "SVG" | "latex" | "markdown" | "writefile" | "file"
            | "perl" | "ruby" | "R" | "sql" | "bigquery" => Language::Other,
            "pip" | "conda" | "mamba" | "uv" => {
                found.install(&source[start + 2..], start + 2, wanted);
                return;
            }
            _ => {
                found.magic(line, start + 2, wanted);
                Language::Python
            }
        };
        at = start + 2 + line.len();
    }
    let body = &source[at..];
    match language {
        Language::Python => found.python(body, at, wanted),
        Language::Shell => found.install(body, at, wanted),
        Language::JavaScript => {
            let findings = javascript::analyze(body, javascript::Dialect::TypeScript, wanted);
            found.mentions.extend(findings.imports.into_iter().map(|(package, range)| {
                (package, How::Import, at + range.start..at + range.end, None)
            }));
            found.problems.extend(findings.problems.into_iter().map(|problem| Problem {
                range: at + problem.range.start..at + problem.range.end,
                ..problem
            }));
        }
        Language::Other => {}
    }
}
