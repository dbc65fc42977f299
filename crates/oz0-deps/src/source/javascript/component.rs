//! Components whose files hold scripts beside markup: Vue's, Svelte's and Astro's.
//!
//! A script's block is parsed as what its `lang` says. Between the blocks stands markup with expressions in it, which can call
//! `import()` too; there, a string that is given to `import(` or `require(` is taken for what it says.

use std::ops::Range;

use super::{Dialect, Findings, analyze, candidates, report, specifier};
use crate::file::{File, Sink};
use crate::source::decode;
use crate::source::python::Problem;

/// Reads a component.
pub(crate) fn read(file: &File<'_>, sink: &mut Sink) {
    let wide = matches!(file.bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
    if !wide && !file.wanted.traces().javascript(file.bytes) {
        return;
    }
    let text = decode::javascript(file.bytes);
    let astro = file.name().to_ascii_lowercase().ends_with(".astro");
    let mut findings = Findings::default();
    let blocks = blocks(&text, astro);
    for block in &blocks {
        if let Some(source) = &block.source
            && let Some((package, part)) = specifier::package(&text[source.clone()], file.wanted)
        {
            findings.imports.push((package, source.start + part.start..source.start + part.end));
        }
        let Some(dialect) = block.dialect else { continue };
        let part = analyze(&text[block.range.clone()], dialect, file.wanted);
        let place =
            |range: Range<usize>| block.range.start + range.start..block.range.start + range.end;
        findings
            .imports
            .extend(part.imports.into_iter().map(|(package, range)| (package, place(range))));
        findings.problems.extend(
            part.problems
                .into_iter()
                .map(|problem| Problem { range: place(problem.range), ..problem }),
        );
    }
    for (package, range) in candidates(&text, file.wanted) {
        let behind = blocks.partition_point(|block| block.range.start <= range.start);
        let in_block = behind.checked_sub(1).is_some_and(|at| range.end <= blocks[at].range.end);
        if !in_block && is_argument(&text[..range.start]) {
            findings.imports.push((package, range));
        }
    }
    findings.imports.sort_by_key(|(_, range)| range.start);
    report(&findings, &text, sink);
}

/// Whether the string in which the text ends is the argument of `import` or `require`.
fn is_argument(before: &str) -> bool {
    let Some(quote) = before.rfind(['"', '\'', '`']) else { return false };
    let before = before[..quote].trim_end();
    // A comment in between is a bundler's word on the chunk's name, and short.
    let comment = before.strip_suffix("*/").and_then(|before| {
        let start = before.floor_char_boundary(before.len().saturating_sub(1024));
        before[start..].rfind("/*").map(|at| before[..start + at].trim_end())
    });
    let before = comment.unwrap_or(before);
    before.strip_suffix('(').is_some_and(|before| {
        before.trim_end().ends_with("import") || before.trim_end().ends_with("require")
    })
}

/// A script's block.
#[derive(Debug)]
struct Block {
    range: Range<usize>,
    /// None, where its type says that it is no script.
    dialect: Option<Dialect>,
    /// The value of its `src`.
    source: Option<Range<usize>>,
}

fn blocks(text: &str, astro: bool) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut at = 0;
    let mut unclosed = false;
    if astro {
        let start = text.len() - text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).len();
        if text[start..].starts_with("---") {
            let body = start + 3;
            let end = text[body..]
                .find("\n---")
                .or_else(|| text[body..].find("\r---"))
                .map_or(text.len(), |length| body + length);
            blocks.push(Block {
                range: body..end,
                dialect: Some(Dialect::TypeScript),
                source: None,
            });
            at = end;
        }
    }
    while let Some(next) = text[at..].find('<') {
        at += next;
        let rest = &text[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            // A comment that nothing closes hides nothing: some of the compilers go on behind it.
            let end = if unclosed { None } else { comment.find("-->") };
            unclosed = end.is_none();
            at += 4 + end.map_or(0, |length| length + 3);
            continue;
        }
        let is_script = rest.len() > 7
            && rest.as_bytes()[1..7].eq_ignore_ascii_case(b"script")
            && rest[7..].starts_with(|c: char| c.is_whitespace() || matches!(c, '>' | '/'));
        if !is_script {
            at += 1;
            continue;
        }
        let tag = tag(text, at + 7);
        let lower = text.as_bytes();
        let mut end = tag.end;
        if !tag.closed {
            end = memchr::memmem::find_iter(&lower[tag.end..], b"</")
                .map(|close| tag.end + close)
                .find(|close| {
                    lower
                        .get(close + 2..close + 8)
                        .is_some_and(|name| name.eq_ignore_ascii_case(b"script"))
                })
                .unwrap_or(text.len());
        }
        let dialect =
            dialect(tag.lang.map(|range| &text[range]), tag.kind.map(|range| &text[range]), astro);
        blocks.push(Block { range: tag.end..end, dialect, source: tag.source });
        at = end.max(at + 1);
    }
    blocks
}

fn dialect(lang: Option<&str>, kind: Option<&str>, astro: bool) -> Option<Dialect> {
    let lower = |text: &str| text.trim().to_ascii_lowercase();
    match (lang.map(lower).as_deref(), kind.map(lower).as_deref()) {
        (Some("ts" | "typescript"), _) => Some(Dialect::TypeScript),
        (Some("tsx"), _) => Some(Dialect::Tsx),
        (None, Some(kind))
            if !(kind.is_empty()
                || kind == "module"
                || kind.contains("javascript")
                || kind.contains("ecmascript")
                || kind.contains("babel")
                || kind.contains("typescript")) =>
        {
            None
        }
        _ if astro => Some(Dialect::TypeScript),
        _ => Some(Dialect::JavaScript),
    }
}

#[derive(Debug)]
struct Tag {
    /// Behind its `>`.
    end: usize,
    /// Whether it closes itself.
    closed: bool,
    lang: Option<Range<usize>>,
    kind: Option<Range<usize>>,
    source: Option<Range<usize>>,
}

/// Reads a start tag from behind its name.
fn tag(text: &str, mut at: usize) -> Tag {
    let bytes = text.as_bytes();
    let mut tag = Tag { end: text.len(), closed: false, lang: None, kind: None, source: None };
    loop {
        while bytes.get(at).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/') {
            tag.closed = bytes[at] == b'/';
            at += 1;
        }
        match bytes.get(at) {
            None => return tag,
            Some(b'>') => {
                tag.closed = bytes[at - 1] == b'/';
                tag.end = at + 1;
                return tag;
            }
            Some(_) => {}
        }
        let name = at;
        while bytes
            .get(at)
            .is_some_and(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'=' | b'>' | b'/'))
        {
            at += 1;
        }
        let named = &text[name..at];
        let mut value = None;
        let after = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if bytes.get(after) == Some(&b'=') {
            at = after + 1;
            at += bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            match bytes.get(at) {
                Some(quote @ (b'"' | b'\'')) => {
                    let end = memchr::memchr(*quote, &bytes[at + 1..])
                        .map_or(text.len(), |length| at + 1 + length);
                    value = Some(at + 1..end);
                    at = (end + 1).min(text.len());
                }
                _ => {
                    let length = bytes[at..]
                        .iter()
                        .take_while(|byte| !byte.is_ascii_whitespace() && **byte != b'>')
                        .count();
                    value = Some(at..at + length);
                    at += length;
                }
            }
        } else if at == name {
            // A stray `=`.
            at += 1;
        }
        match &*named.to_ascii_lowercase() {
            "lang" => tag.lang = value,
            "type" => tag.kind = value,
            "src" => tag.source = value,
            _ => {}
        }
    }
}
