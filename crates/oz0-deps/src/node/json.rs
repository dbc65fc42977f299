//! JSON with places, as the programs read it that act upon it.
//!
//! npm reads strict JSON and lets the last of two equal members win; bun's lock and some clients' lists of servers have
//! comments and trailing commas. Names are compared after their escapes, so `"\u006c…"` hides nothing.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use jsonc_parser::ast::{Object, ObjectPropName, StringLit, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::file::{File, Sink};

/// Which JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// RFC 8259.
    Strict,
    /// With comments and trailing commas.
    Commented,
}

impl Dialect {
    fn options(self) -> ParseOptions {
        let commented = self == Self::Commented;
        ParseOptions {
            allow_comments: commented,
            allow_trailing_commas: commented,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        }
    }
}

/// The file's text with its byte order mark, when it is UTF-8; else it is unread.
pub(crate) fn text<'a>(file: &File<'a>, sink: &mut Sink) -> Option<&'a str> {
    match file.text() {
        Ok(text) => Some(text),
        Err(error) => {
            let lossy = String::from_utf8_lossy(file.bytes);
            // All before the first wrong byte stands in the text as it was.
            let at = error.valid_up_to();
            sink.unread(&lossy, at..at + 1, "is not UTF-8", Some("save it as UTF-8".to_owned()));
            None
        }
    }
}

/// Reads a text, and hands its value to `take`. What does not decode is unread.
pub(crate) fn read(
    file: &File<'_>,
    text: &str,
    dialect: Dialect,
    sink: &mut Sink,
    take: impl FnOnce(&Value<'_>, &mut Sink),
) {
    let help = || Some("correct it, or have the program that wrote it write it anew".to_owned());
    if let Some(at) = too_deep(text, dialect, file.limits.depth) {
        let problem = format!("nests deeper than {} levels", file.limits.depth);
        sink.unread(text, at..at + 1, problem, None);
        return;
    }
    // A byte order mark is no JSON, and programs skip it; spaces in its place move nothing.
    let marked = text.strip_prefix('\u{feff}').map(|rest| format!("   {rest}"));
    let body = marked.as_deref().unwrap_or(text);
    let parse = || parse_to_ast(body, &CollectOptions::default(), &dialect.options());
    match catch_unwind(AssertUnwindSafe(parse)) {
        Ok(Ok(parsed)) => match parsed.value {
            Some(value) => take(&value, sink),
            None => sink.unread(text, 0..0, "is no JSON: it is empty", help()),
        },
        Ok(Err(error)) => {
            let range = error.range();
            let problem = format!("is no JSON: {}", lower(&error.kind().to_string()));
            sink.unread(text, range.start..range.end, problem, help());
        }
        Err(_) => sink.unread(text, 0..0, "could not be read as JSON", help()),
    }
}

/// The parser's words as the end of a sentence.
fn lower(words: &str) -> String {
    let words = words.trim_end_matches('.');
    let mut chars = words.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// Where collections begin to lie deeper than `limit`.
fn too_deep(text: &str, dialect: Dialect, limit: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'/' if dialect == Dialect::Commented => match bytes.get(at + 1) {
                Some(b'/') => {
                    at += text[at..].find('\n').unwrap_or(text.len() - at);
                    continue;
                }
                Some(b'*') => {
                    at += text[at..].find("*/").map_or(text.len() - at, |end| end + 2);
                    continue;
                }
                _ => {}
            },
            b'{' | b'[' => {
                depth += 1;
                if depth > limit {
                    return Some(at);
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// A member's name, and where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'v> {
    pub(crate) value: &'v str,
    /// With its quotes.
    start: usize,
    end: usize,
}

impl<'v> Text<'v> {
    pub(crate) fn of(value: &'v Value<'_>) -> Option<Self> {
        match value {
            Value::StringLit(literal) => Some(Self::literal(literal)),
            _ => None,
        }
    }

    fn literal(literal: &'v StringLit<'_>) -> Self {
        Self { value: &literal.value, start: literal.range.start, end: literal.range.end }
    }

    /// Where a part of it stands in the file; all of it, where escapes keep that from being told.
    pub(crate) fn place(&self, part: Range<usize>) -> Range<usize> {
        let (start, end) = (self.start + 1, self.end.saturating_sub(1).max(self.start + 1));
        if end - start == self.value.len() {
            start + part.start..start + part.end
        } else {
            start..end
        }
    }

    /// Where all of it stands, without its quotes.
    pub(crate) fn whole(&self) -> Range<usize> {
        self.place(0..self.value.len())
    }
}

/// The members of an object, of each name the last; empty for anything else.
pub(crate) fn members<'v>(value: &'v Value<'_>) -> Vec<(Text<'v>, &'v Value<'v>)> {
    let Value::Object(object) = value else { return Vec::new() };
    let mut last: std::collections::HashMap<&str, usize> =
        std::collections::HashMap::with_capacity(object.properties.len());
    for (index, property) in object.properties.iter().enumerate() {
        last.insert(name(&property.name), index);
    }
    let kept = object.properties.iter().enumerate();
    let kept = kept.filter(|(index, property)| last[name(&property.name)] == *index);
    kept.map(|(_, property)| {
        let text = match &property.name {
            ObjectPropName::String(literal) => Text::literal(literal),
            ObjectPropName::Word(word) => {
                Text { value: word.value, start: word.range.start, end: word.range.end }
            }
        };
        (text, &property.value)
    })
    .collect()
}

fn name<'v>(name: &'v ObjectPropName<'_>) -> &'v str {
    match name {
        ObjectPropName::String(literal) => &literal.value,
        ObjectPropName::Word(word) => word.value,
    }
}

/// The last member of this name.
pub(crate) fn member<'v>(value: &'v Value<'_>, wanted: &str) -> Option<&'v Value<'v>> {
    let Value::Object(Object { properties, .. }) = value else { return None };
    properties
        .iter()
        .rev()
        .find(|property| name(&property.name) == wanted)
        .map(|property| &property.value)
}

/// The text of the last member of this name.
pub(crate) fn string<'v>(value: &'v Value<'_>, wanted: &str) -> Option<Text<'v>> {
    member(value, wanted).and_then(Text::of)
}

/// The items of an array; empty for anything else.
pub(crate) fn items<'v>(value: &'v Value<'_>) -> &'v [Value<'v>] {
    match value {
        Value::Array(array) => &array.elements,
        _ => &[],
    }
}

/// Where a value stands.
pub(crate) fn range(value: &Value<'_>) -> Range<usize> {
    let range = value.range();
    range.start..range.end
}
