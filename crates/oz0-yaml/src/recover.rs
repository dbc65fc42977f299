//! Reading on after a syntax error.
//!
//! The parser stops at its first error. To find what else is wrong, the part that it stumbled over is
//! overwritten with blanks of the same length, so that every place stays what it was, and the text is
//! read again. An error that is likely just the echo of the one before is not reported: reports begin
//! again once a line has been reached that is indented no deeper than the broken one.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::ErrorKind;

use crate::node::Style;
use crate::place::{after_break, indentation, line_end, line_start};
use crate::problem::{Problem, ProblemKind};
use crate::read::Failure;
use crate::syntax;

/// How often a text is read at most, and how many of its bytes all the readings may take together.
const READINGS: usize = 32;
const BYTES: usize = 8 * 1024 * 1024;

pub(crate) struct Recovery<'a> {
    original: &'a str,
    text: Cow<'a, str>,
    problems: Vec<Problem>,
    readings: usize,
    /// Lines (their start) that a problem was reported for.
    reported: Vec<usize>,
    /// The last part that was blanked out.
    blanked: Option<Range<usize>>,
}

impl<'a> Recovery<'a> {
    pub(crate) fn new(original: &'a str) -> Self {
        let mut problems = Vec::new();
        let text = replace_forbidden(original, &mut problems);
        Self { original, text, problems, readings: 1, reported: Vec::new(), blanked: None }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    /// Reports a failure and takes its cause out of the text. Whether to read again.
    pub(crate) fn repair(&mut self, failure: &Failure) -> bool {
        if matches!(failure.kind, ErrorKind::RecursionLimitExceeded) {
            let range = self.character(failure.offset);
            let message = "collections lie too deep in each other";
            self.problems.push(Problem::new(ProblemKind::TooDeep, range, message));
            return false;
        }
        self.readings += 1;
        let again = self.readings <= READINGS && self.readings * self.original.len() <= BYTES;
        if syntax::is_tab(&failure.kind)
            && let Some(tab) = self.tab_of_indentation(failure.offset)
        {
            self.tabs(tab);
            return again;
        }
        let place = self.culprit(failure);
        let line = line_start(&self.text, place);
        if !self.reported.contains(&line) && !self.is_echo(place) {
            let (message, help) = syntax::explain(&failure.kind, &failure.words);
            let mut problem =
                Problem::new(ProblemKind::Syntax, self.character(failure.offset), message);
            problem.help = help.map(str::to_owned);
            self.problems.push(problem);
            self.reported.push(line);
        }
        again && self.blank(line)
    }

    /// The place whose line is to go: where the parser stumbled, or, at the end of the text or on a
    /// line that is blank already, where the innermost open flow collection begins.
    fn culprit(&self, failure: &Failure) -> usize {
        let line = line_start(&self.text, failure.offset);
        let empty = self.text[line..line_end(&self.text, line)].trim().is_empty();
        let flow = failure.open.iter().rev().find(|(style, _)| *style == Style::Flow);
        match flow {
            Some((_, start)) if empty => *start,
            _ if empty => line_start(&self.text, self.text[..line].trim_end().len()),
            _ => failure.offset,
        }
    }

    fn is_echo(&self, place: usize) -> bool {
        let Some(blanked) = &self.blanked else { return false };
        if place < blanked.start {
            return true;
        }
        let depth = indentation(self.original, line_start(self.original, blanked.start));
        let mut at = blanked.end;
        while at <= place && at < self.original.len() {
            let end = line_end(self.original, at);
            let line = &self.original[at..end];
            if !line.trim().is_empty() && indentation(self.original, at) <= depth {
                return false;
            }
            at = after_break(self.original, end);
            if at == end {
                break;
            }
        }
        true
    }

    /// Blanks out a line and what is indented deeper below it. Whether that changed anything.
    fn blank(&mut self, line: usize) -> bool {
        let text = &*self.text;
        let depth = indentation(text, line);
        let mut end = line_end(text, line);
        if text[line..end].trim().is_empty() {
            return false;
        }
        loop {
            let next = after_break(text, end);
            if next == end {
                break;
            }
            let next_end = line_end(text, next);
            let content = &text[next..next_end];
            if content.trim().is_empty() || indentation(text, next) <= depth {
                break;
            }
            end = next_end;
        }
        let blank: String = text[line..end]
            .bytes()
            .map(|byte| if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { ' ' })
            .collect();
        self.blanked = Some(line..end);
        self.text.to_mut().replace_range(line..end, &blank);
        true
    }

    /// The first tab in the indentation of the failing line or one below it.
    fn tab_of_indentation(&self, offset: usize) -> Option<usize> {
        let mut line = line_start(&self.text, offset);
        loop {
            let end = line_end(&self.text, line);
            let length = indentation(&self.text, line);
            if line + length < end
                && let Some(tab) = self.text[line..line + length].find('\t')
            {
                return Some(line + tab);
            }
            let next = after_break(&self.text, end);
            if next == end {
                return None;
            }
            line = next;
        }
    }

    /// Reports the tabs in a line's indentation and makes each a space: a text that indents by tabs
    /// alone has the same structure then.
    fn tabs(&mut self, tab: usize) {
        let line = line_start(&self.text, tab);
        let end = line + indentation(&self.text, line);
        let last = self.text[tab..end].rfind('\t').map_or(tab, |last| tab + last);
        let problem = Problem::new(ProblemKind::Tab, tab..last + 1, "a tab is no indentation in YAML");
        self.problems.push(problem.help("indent with spaces"));
        self.reported.push(line);
        let spaces = self.text[line..end].replace('\t', " ");
        self.text.to_mut().replace_range(line..end, &spaces);
    }

    /// The character at a place, or the empty place where the line or the text ends.
    fn character(&self, offset: usize) -> Range<usize> {
        let end = line_end(self.original, offset);
        let length = self.original[offset..end].chars().next().map_or(0, char::len_utf8);
        offset..offset + length
    }
}

/// Reports the characters that YAML 1.2.2 section 5.1 leaves out of a text, and replaces them: a NUL
/// would end the text for the parser.
fn replace_forbidden<'a>(text: &'a str, problems: &mut Vec<Problem>) -> Cow<'a, str> {
    /// How many runs of them are reported one by one.
    const REPORTED: usize = 20;
    let forbidden = |c: char| {
        matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}')
            || matches!(c, '\u{fffe}' | '\u{ffff}')
    };
    let mut fixed = Cow::Borrowed(text);
    let mut at = 0;
    let mut found = 0;
    while let Some(start) = text[at..].find(forbidden).map(|start| at + start) {
        let rest = &text[start..];
        let length = rest.find(|c| !forbidden(c)).unwrap_or(rest.len());
        let code = rest.chars().next().map_or(0, u32::from);
        if found < REPORTED {
            let message = format!("the character U+{code:04X} is not allowed in YAML");
            problems.push(
                Problem::new(ProblemKind::Character, start..start + length, message)
                    .help("remove it, or write it as an escape in double quotes"),
            );
        }
        found += 1;
        fixed.to_mut().replace_range(start..start + length, &"_".repeat(length));
        at = start + length;
    }
    fixed
}
