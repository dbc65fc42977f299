//! The strict parser.
//!
//! Own code, though `serde_json` is at hand: that one keeps the last of repeated members, and its
//! generic data model costs several times the work for what a listing needs. It is held to
//! `serde_json` by tests (what both accept, both read alike), and refuses more: repeated member
//! names at any depth, compared after unescaping.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{Json, Object, Repeated};
use crate::{Pointer, escape, scan};

/// How deep arrays and objects may stand in each other; the outermost one counts as 1.
pub const MAX_DEPTH: usize = 128;

/// Text that is not the JSON that [`parse`] takes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct JsonError {
    /// What is wrong.
    pub kind: JsonErrorKind,
    /// Where, in bytes from the start of the text.
    pub offset: usize,
}

/// What is wrong with some JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonErrorKind {
    /// The text breaks JSON's grammar (RFC 8259).
    #[error("not JSON: expected {expected}")]
    Syntax {
        /// What could stand here, as a noun phrase.
        expected: &'static str,
    },
    /// A member name that an object has twice; escaped for one line and bounded.
    #[error("the member `{0}` is repeated in one object")]
    RepeatedMember(String),
    /// Half of a surrogate pair, which is no character.
    #[error("a lone surrogate (`\\u{0:04x}`) in a string")]
    LoneSurrogate(u16),
    /// A number too large for a double.
    #[error("a number outside the range of a double")]
    NumberOutOfRange,
    /// Arrays and objects in each other, deeper than allowed.
    #[error("nested deeper than {0} levels")]
    TooDeep(usize),
}

/// Reads one JSON value, with nothing but whitespace around it.
pub fn parse(text: &str) -> Result<Json, JsonError> {
    parse_borrowed(text, MAX_DEPTH).map(Json::into_owned)
}

/// As [`parse`], borrowing the strings that hold no escapes.
pub(crate) fn parse_borrowed(
    text: &str,
    max_depth: usize,
) -> Result<Json<Cow<'_, str>>, JsonError> {
    Parser::new(text, max_depth).whole()
}

/// As [`parse_borrowed`], and whether every string in it is certainly plain: printable ASCII, TAB
/// and LF. Saves looking at each of them once more.
pub(crate) fn parse_noting_plain(
    text: &str,
    max_depth: usize,
) -> Result<(Json<Cow<'_, str>>, bool)> {
    let mut parser = Parser::new(text, max_depth);
    let value = parser.whole()?;
    Ok((value, parser.plain_escapes && scan::is_plain(text.as_bytes())))
}

/// Where the value at `pointer` begins in a text that parses, or the nearest one around it. A
/// second walk, so that only those who must complain pay for positions.
pub(crate) fn locate(text: &str, pointer: &Pointer, max_depth: usize) -> usize {
    let mut parser = Parser::new(text, max_depth);
    parser.whitespace();
    let mut found = parser.at;
    for segment in pointer.segments() {
        match parser.step_into(segment) {
            Ok(true) => found = parser.at,
            Ok(false) | Err(_) => break,
        }
    }
    found
}

type Result<T, E = JsonError> = std::result::Result<T, E>;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    max_depth: usize,
    /// No escape so far that wrote another character than plain text holds.
    plain_escapes: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, max_depth: usize) -> Self {
        Self { text, at: 0, depth: 0, max_depth, plain_escapes: true }
    }

    fn whole(&mut self) -> Result<Json<Cow<'a, str>>> {
        self.whitespace();
        let value = self.value()?;
        self.whitespace();
        if self.at < self.text.len() {
            return Err(self.expected("the end of the text"));
        }
        Ok(value)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn error<T>(&self, kind: JsonErrorKind) -> Result<T> {
        Err(JsonError { kind, offset: self.at })
    }

    fn expected(&self, expected: &'static str) -> JsonError {
        JsonError { kind: JsonErrorKind::Syntax { expected }, offset: self.at }
    }

    fn value(&mut self) -> Result<Json<Cow<'a, str>>> {
        match self.peek() {
            Some(b'"') => self.string().map(Json::String),
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            _ => Err(self.expected("a value")),
        }
    }

    fn word(
        &mut self,
        word: &'static str,
        value: Json<Cow<'a, str>>,
    ) -> Result<Json<Cow<'a, str>>> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.expected("a value"))
        }
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == self.max_depth {
            return self.error(JsonErrorKind::TooDeep(self.max_depth));
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn array(&mut self) -> Result<Json<Cow<'a, str>>> {
        self.at += 1;
        self.whitespace();
        let mut items = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value()?);
            if !self.another(b']', "`,` or `]`")? {
                return Ok(Json::Array(items));
            }
        }
    }

    /// After an item: whether another one follows.
    fn another(&mut self, end: u8, expected: &'static str) -> Result<bool> {
        self.whitespace();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                self.whitespace();
                Ok(true)
            }
            Some(byte) if byte == end => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.expected(expected)),
        }
    }

    fn object(&mut self) -> Result<Json<Cow<'a, str>>> {
        let start = self.at;
        self.at += 1;
        self.whitespace();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(Object::default()));
        }
        let mut members = Vec::with_capacity(4);
        loop {
            let name = self.name()?;
            members.push((name, self.value()?));
            if !self.another(b'}', "`,` or `}`")? {
                break;
            }
        }
        Object::from_members(members)
            .map(Json::Object)
            .map_err(|Repeated(name)| self.repeated_in(start, &name))
    }

    /// A member's name and its colon, up to the value.
    fn name(&mut self) -> Result<Cow<'a, str>> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("a member's name in double quotes"));
        }
        let name = self.string()?;
        self.whitespace();
        if self.peek() != Some(b':') {
            return Err(self.expected("`:`"));
        }
        self.at += 1;
        self.whitespace();
        Ok(name)
    }

    /// Where the object at `start`, which was read once already, repeats a name.
    #[cold]
    fn repeated_in(&mut self, start: usize, name: &str) -> JsonError {
        let kind = JsonErrorKind::RepeatedMember(escape::line_within(name, 128).into_owned());
        let mut seen = HashSet::new();
        self.at = start + 1;
        let mut offset = start;
        loop {
            self.whitespace();
            offset = if self.peek() == Some(b'"') { self.at } else { offset };
            match self.name() {
                Ok(name) if seen.contains(&name) => return JsonError { kind, offset },
                Ok(name) => seen.insert(name),
                Err(error) => return error,
            };
            if let Err(error) = self.value() {
                return error;
            }
            if !self.another(b'}', "`,` or `}`").unwrap_or(false) {
                return JsonError { kind, offset };
            }
        }
    }

    /// From the start of a value to the start of what `segment` names in it.
    fn step_into(&mut self, segment: &str) -> Result<bool> {
        let (end, index) = match self.peek() {
            Some(b'{') => (b'}', None),
            Some(b'[') => match super::array_index(segment) {
                Some(index) => (b']', Some(index)),
                None => return Ok(false),
            },
            _ => return Ok(false),
        };
        self.at += 1;
        self.whitespace();
        if self.peek() == Some(end) {
            return Ok(false);
        }
        for at in 0.. {
            let here = match index {
                None => self.name()? == segment,
                Some(index) => index == at,
            };
            if here {
                return Ok(true);
            }
            self.value()?;
            if !self.another(end, "`,` or the end")? {
                break;
            }
        }
        Ok(false)
    }

    fn string(&mut self) -> Result<Cow<'a, str>> {
        self.at += 1;
        let start = self.at;
        self.plain();
        if self.peek() == Some(b'"') {
            let text = &self.text[start..self.at];
            self.at += 1;
            return Ok(Cow::Borrowed(text));
        }
        let mut out = String::with_capacity(2 * (self.at - start) + 16);
        out.push_str(&self.text[start..self.at]);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(out));
                }
                Some(b'\\') => self.escape(&mut out)?,
                Some(_) => return Err(self.expected("an escape instead of a control character")),
                None => return Err(self.expected("`\"` at the end of a string")),
            }
            let start = self.at;
            self.plain();
            out.push_str(&self.text[start..self.at]);
        }
    }

    /// Over what stands for itself in a string. Stops at ASCII, so at a character's boundary.
    fn plain(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += scan::special(rest).unwrap_or(rest.len());
    }

    fn escape(&mut self, out: &mut String) -> Result<()> {
        let start = self.at;
        self.at += 1;
        let c = match self.peek() {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{C}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                let unit = self.four_hex()?;
                out.push(self.code_point(unit, start)?);
                self.plain_escapes = false;
                return Ok(());
            }
            _ => return Err(self.expected("one of the escapes that JSON has")),
        };
        self.at += 1;
        self.plain_escapes &= !matches!(c, '\u{8}' | '\u{C}' | '\r');
        out.push(c);
        Ok(())
    }

    fn four_hex(&mut self) -> Result<u16> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = match self.peek() {
                Some(byte @ b'0'..=b'9') => byte - b'0',
                Some(byte @ b'a'..=b'f') => byte - b'a' + 10,
                Some(byte @ b'A'..=b'F') => byte - b'A' + 10,
                _ => return Err(self.expected("four hexadecimal digits")),
            };
            unit = unit << 4 | u16::from(digit);
            self.at += 1;
        }
        Ok(unit)
    }

    fn code_point(&mut self, unit: u16, start: usize) -> Result<char> {
        let lone = |unit| JsonError { kind: JsonErrorKind::LoneSurrogate(unit), offset: start };
        if let Some(c) = char::from_u32(u32::from(unit)) {
            return Ok(c);
        }
        if unit >= 0xDC00 || !self.text.as_bytes()[self.at..].starts_with(b"\\u") {
            return Err(lone(unit));
        }
        self.at += 2;
        let low = self.four_hex()?;
        char::decode_utf16([unit, low])
            .next()
            .and_then(std::result::Result::ok)
            .ok_or_else(|| lone(unit))
    }

    fn digits(&mut self) -> Result<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.expected("a digit"));
        }
        Ok(())
    }

    fn number(&mut self) -> Result<f64> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if let Some(b'0'..=b'9') = self.peek() {
                return Err(self.expected("a number without leading zeros"));
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        // The standard library rounds every decimal text to the nearest double. Adding zero turns
        // negative zero, which RFC 8785 writes as 0, into zero.
        match self.text[start..self.at].parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number + 0.0),
            _ => Err(JsonError { kind: JsonErrorKind::NumberOutOfRange, offset: start }),
        }
    }
}
