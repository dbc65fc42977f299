//! Python sources, read as Python's tokenizer reads them.
//!
//! A source is decoded as PEP 263 says, and parsed by a parser that goes on behind a mistake; a broken source's tokens are read
//! as well. Python would refuse such a file, but which Python: a file of Python 2, a template, a syntax of tomorrow is broken for
//! one and runs in another. Behind triple quotes that nothing closes there is only string; what stands there is read as if the
//! quotes were not, since a source that somebody is still writing is the likeliest of these.
//!
//! A string that is given to `exec`, `eval` or `compile` is a source of its own, down to [`NESTING`] of these in each other.

pub(crate) mod constant;
mod depth;
mod imports;
mod requirement_strings;
mod script;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::visitor::Visitor as _;
use ruff_python_ast::{Mod, token::Tokens};
use ruff_python_parser::{
    LexicalErrorType, Mode, ParseError, ParseErrorType, ParseOptions, parse_unchecked,
};
use ruff_text_size::Ranged;

use super::decode;
use crate::file::{File, Sink};
use crate::{How, Package, Wanted, command, stack};

pub(crate) use imports::{EscapeCommand, Import};
pub(crate) use requirement_strings::{RequirementString, requirement_strings};

/// How many sources in strings may lie in each other.
const NESTING: usize = 8;

/// How often a source is read anew behind quotes that nothing closes.
const RESUMPTIONS: usize = 16;

/// How many bytes are read anew behind such quotes, before it ends.
const REREAD: usize = 64 * 1024 * 1024;

/// Something that could not be read, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

/// What a source says.
#[derive(Debug, Default)]
pub(crate) struct Findings<'w> {
    pub(crate) imports: Vec<Import<'w>>,
    pub(crate) commands: Vec<EscapeCommand>,
    /// What it installs through `IPython`.
    pub(crate) installs: Vec<(&'w Package, Range<usize>)>,
    pub(crate) problems: Vec<Problem>,
}

/// Reads a source file.
pub(crate) fn read(file: &File<'_>, sink: &mut Sink) {
    let text = match decode::python(file.bytes) {
        Ok(text) => text,
        Err(undecodable) => {
            let text = String::from_utf8_lossy(file.bytes);
            let at =
                String::from_utf8_lossy(&file.bytes[..undecodable.at.min(file.bytes.len())]).len();
            let help = "save it as UTF-8, which Python reads without being told".to_owned();
            sink.unread(&text, at..at, undecodable.problem, Some(help));
            return;
        }
    };
    match script::requirements(&text) {
        Ok(requirements) => {
            for one in requirements {
                if let Some((package, part)) = command::requirement(file.wanted, &one.text) {
                    let via = Some(crate::Via::List(format!("script.{}", one.list)));
                    sink.mention(package, one.how, &text, one.source(&part), via);
                }
            }
        }
        Err(unreadable) => sink.unread(&text, unreadable.place, unreadable.problem, None),
    }
    if !file.wanted.traces().python(&text) {
        return;
    }
    let findings = analyze(&text, file.wanted, Mode::Module);
    for import in findings.imports {
        sink.mention(import.package, How::Import, &text, import.range, import.via);
    }
    for (package, range) in findings.installs {
        sink.mention(package, How::InstallLine, &text, range, None);
    }
    for problem in findings.problems {
        sink.unread(&text, problem.range, problem.text, None);
    }
}

/// What a source says.
pub(crate) fn analyze<'w>(text: &str, wanted: &'w Wanted, mode: Mode) -> Findings<'w> {
    let mut findings = stack::deep(|| source(text, wanted, mode, NESTING));
    let key = |import: &Import<'_>| (import.range.start, import.range.end);
    findings.imports.sort_by_key(key);
    findings.imports.dedup_by(|later, earlier| {
        key(later) == key(earlier) && later.package.name == earlier.package.name
    });
    findings
}

/// How many imports a source has, whatever trace its bytes have of them.
#[cfg(test)]
pub(crate) fn without_trace(text: &str, wanted: &Wanted) -> usize {
    analyze(text, wanted, Mode::Module).imports.len()
}

fn source<'w>(text: &str, wanted: &'w Wanted, mode: Mode, nesting: usize) -> Findings<'w> {
    let mut findings = Findings::default();
    let mut from = 0;
    let mut reread = 0;
    for _ in 0..RESUMPTIONS {
        let rest = &text[from..];
        if reread > REREAD {
            break;
        }
        reread += rest.len();
        if depth::check(rest, mode).is_err() {
            findings.problems.push(Problem {
                range: from..from,
                text: "is nested too deeply to be read".to_owned(),
            });
            return findings;
        }
        let parsed = catch_unwind(AssertUnwindSafe(|| module(rest, wanted, mode, nesting)));
        let Ok((found, hidden)) = parsed else {
            findings.problems.push(Problem {
                range: from..from,
                text: "could not be parsed: the parser failed".to_owned(),
            });
            return findings;
        };
        findings.take(found, |range| from + range.start..from + range.end);
        match hidden {
            Some(at) => from += at,
            None => return findings,
        }
    }
    let text = "has more quotes that nothing closes than are looked behind".to_owned();
    findings.problems.push(Problem { range: from..from, text });
    findings
}

/// What one source says, and where it goes on behind quotes that nothing closes.
fn module<'w>(
    text: &str,
    wanted: &'w Wanted,
    mode: Mode,
    nesting: usize,
) -> (Findings<'w>, Option<usize>) {
    let parsed = parse_unchecked(text, ParseOptions::from(mode));
    let mut search = imports::Search::new(text, wanted);
    match parsed.syntax() {
        Mod::Module(module) => search.visit_body(&module.body),
        Mod::Expression(expression) => search.visit_expr(&expression.body),
    }
    let nested = search.finish();
    if parsed.has_invalid_syntax() {
        search.tokens(parsed.tokens());
    }
    let mut findings =
        Findings { imports: search.imports, commands: search.commands, ..Findings::default() };
    for script in &search.scripts {
        let installed = command::installs(&script.text, wanted).into_iter();
        findings
            .installs
            .extend(installed.map(|(package, range)| (package, script.source(&range))));
    }
    findings.problems.extend(search.unknown.into_iter().map(|range| Problem {
        range,
        text: "imports or runs one of more strings of its constants than are followed".to_owned(),
    }));
    for code in &nested {
        if !wanted.traces().python(&code.text) {
            continue;
        }
        let Some(nesting) = nesting.checked_sub(1) else {
            let text = format!("runs strings in strings, more than {NESTING} deep");
            findings.problems.push(Problem { range: code.source(&(0..code.text.len())), text });
            continue;
        };
        findings
            .take(source(&code.text, wanted, Mode::Module, nesting), |range| code.source(&range));
    }
    (findings, hidden(text, parsed.errors(), parsed.tokens()))
}

impl<'w> Findings<'w> {
    /// Adds those of a part, whose places `place` finds.
    fn take(&mut self, part: Findings<'w>, place: impl Fn(Range<usize>) -> Range<usize>) {
        self.imports.extend(
            part.imports.into_iter().map(|import| Import { range: place(import.range), ..import }),
        );
        self.commands.extend(
            part.commands
                .into_iter()
                .map(|command| EscapeCommand { range: place(command.range), ..command }),
        );
        self.installs
            .extend(part.installs.into_iter().map(|(package, range)| (package, place(range))));
        self.problems.extend(
            part.problems
                .into_iter()
                .map(|problem| Problem { range: place(problem.range), ..problem }),
        );
    }
}

/// Where the text begins that lies behind triple quotes that nothing closes.
fn hidden(text: &str, errors: &[ParseError], tokens: &Tokens) -> Option<usize> {
    let string = errors.iter().filter_map(|error| {
        let ParseErrorType::Lexical(LexicalErrorType::UnclosedStringError) = error.error else {
            return None;
        };
        let start = error.location.start().to_usize();
        let literal = &text[start..];
        let quotes = literal.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let triple = quotes.starts_with("'''") || quotes.starts_with("\"\"\"");
        triple.then(|| start + (literal.len() - quotes.len()) + 3)
    });
    let interpolated = |error: &ParseError| {
        let ParseErrorType::Lexical(lexical) = &error.error else { return false };
        matches!(lexical, LexicalErrorType::FStringError(_) | LexicalErrorType::TStringError(_))
    };
    let mut open = Vec::new();
    if errors.iter().any(interpolated) {
        for token in tokens {
            match token.kind() {
                TokenKind::FStringStart | TokenKind::TStringStart => {
                    open.push(token.range().end().to_usize());
                }
                TokenKind::FStringEnd | TokenKind::TStringEnd => drop(open.pop()),
                _ => {}
            }
        }
    }
    string.chain(open.first().copied()).min()
}
