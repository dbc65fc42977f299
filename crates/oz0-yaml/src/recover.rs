//! Reading on after a syntax error.
//!
//! The parser stops at its first error. To find what else is wrong, the part that it stumbled over is
//! overwritten with blanks of the same length, so that every place stays what it was, and the text is
//! read again. An error that is likely just the echo of the one before is not reported: reports begin
//! again once a line has been reached that is indented no deeper than the broken one.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use granit_parser::ErrorKind;

use crate::node::Style;
use crate::place::{after_break, floor, indentation, line_end, line_start};
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
    reported: BTreeSet<usize>,
    /// The last part that was blanked out.
    blanked: Option<Range<usize>>,
    /// Where nesting was too deep for the parser, which is deeper than any limit of ours.
    too_deep: Option<Problem>,
}

impl<'a> Recovery<'a> {
    pub(crate) fn new(original: &'a str) -> Self {
        let mut problems = Vec::new();
        let text = replace_forbidden(original, &mut problems);
        Self {
            original,
            text,
            problems,
            readings: 1,
            reported: BTreeSet::new(),
            blanked: None,
            too_deep: None,
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The problems of the syntax, and the one that counts only where none of its kind is found in
    /// what was read.
    pub(crate) fn into_problems(self) -> (Vec<Problem>, Option<Problem>) {
        (self.problems, self.too_deep)
    }

    /// Reports a failure and takes its cause out of the text. Whether to read again.
    pub(crate) fn repair(&mut self, failure: &Failure) -> bool {
        if matches!(failure.kind, ErrorKind::RecursionLimitExceeded) {
            let range = self.character(failure.offset);
            let message = "collections lie too deep in each other";
            self.too_deep = Some(Problem::new(ProblemKind::TooDeep, range, message));
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
        let expected = syntax::is_indentation(&failure.kind) && self.reported.contains(&line);
        if !expected && !self.is_echo(place, &failure.kind) {
            let (message, help) = syntax::explain(&failure.kind, &failure.words);
            let mut problem =
                Problem::new(ProblemKind::Syntax, self.character(failure.offset), message);
            problem.help = help.map(str::to_owned);
            if place < failure.offset
                && let Some(bracket) =
                    self.original.get(place..).and_then(|rest| rest.chars().next())
                && matches!(bracket, '[' | '{')
            {
                problem =
                    problem.related(place..place + 1, format!("this `{bracket}` is still open"));
            }
            self.problems.push(problem);
            self.reported.insert(line);
        }
        again && self.blank(line)
    }

    /// The place whose line is to go: where the parser stumbled, but where a bracket is still open from
    /// a line before, that bracket. A line that is blank already stands for the one above it.
    fn culprit(&self, failure: &Failure) -> usize {
        let line = line_start(&self.text, failure.offset);
        let flow = failure.open.iter().find(|(style, _)| *style == Style::Flow);
        if let Some((_, start)) = flow
            && *start < line
            && self.text[*start..].starts_with(['[', '{'])
        {
            return *start;
        }
        if self.text[line..line_end(&self.text, line)].trim().is_empty() {
            return line_start(&self.text, self.text[..line].trim_end().len());
        }
        failure.offset
    }

    fn is_echo(&self, place: usize, kind: &ErrorKind) -> bool {
        let Some(blanked) = &self.blanked else { return false };
        if place < blanked.start {
            return true;
        }
        // Keys after items, or items after keys, line after line.
        let between = self.text.get(blanked.end..line_start(&self.text, place)).unwrap_or_default();
        if syntax::is_other_collection(kind) && between.trim().is_empty() {
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
            let closes = content.trim_start().starts_with([']', '}']);
            let deeper = indentation(text, next) > depth && !content.trim().is_empty();
            let last = closes && indentation(text, next) == depth;
            if !deeper && !last {
                break;
            }
            end = next_end;
            if !deeper {
                break;
            }
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

    /// Reports the tabs in a line's indentation, and in that of the lines right below which begin with
    /// one too, and makes each a space: a text that indents by tabs alone has the same structure then.
    fn tabs(&mut self, tab: usize) {
        let mut line = line_start(&self.text, tab);
        let mut first = tab;
        loop {
            let end = line + indentation(&self.text, line);
            let last = self.text[first..end].rfind('\t').map_or(first, |last| first + last);
            let message = "a tab is no indentation in YAML";
            let problem = Problem::new(ProblemKind::Tab, first..last + 1, message);
            self.problems.push(problem.help("indent with spaces"));
            self.reported.insert(line);
            let spaces = self.text[line..end].replace('\t', " ");
            self.text.to_mut().replace_range(line..end, &spaces);
            let line_end = line_end(&self.text, line);
            line = after_break(&self.text, line_end);
            first = line;
            if line == line_end || !self.text[line..].starts_with('\t') {
                return;
            }
        }
    }

    /// The character at a place, or the empty place where the line or the text ends.
    fn character(&self, offset: usize) -> Range<usize> {
        // What was blanked out was blanked byte by byte.
        let offset = floor(self.original, offset);
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
