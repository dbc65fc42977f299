//! A notebook's JSON, with the place of every string.
//!
//! It is what Jupyter reads with Python's `json`: RFC 8259, and beside it `NaN` and `Infinity`, which outputs hold; of members with
//! one name the last counts; half a surrogate pair is let through. No JSON library at hand takes all of these and keeps the places.

use std::ops::Range;

use crate::source::python::constant::Constant;

/// A value.
#[derive(Debug)]
pub(crate) enum Value {
    Object(Vec<(String, Value)>),
    Array(Vec<Value>),
    /// A string's place, quotes and all.
    String(Range<usize>),
    Other,
}

/// Not JSON, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) at: usize,
    pub(crate) problem: String,
}

impl Value {
    /// The member of that name which counts.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => {
                members.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    pub(crate) fn items(&self) -> &[Self] {
        match self {
            Self::Array(items) => items,
            _ => &[],
        }
    }

    /// A string's text.
    pub(crate) fn string(&self, json: &str) -> Option<String> {
        match self {
            Self::String(place) => {
                let mut text = Constant::default();
                decode(json, place.clone(), &mut text);
                Some(text.text)
            }
            _ => None,
        }
    }
}

/// Reads a whole text with at most `depth` collections in each other.
pub(crate) fn parse(json: &str, depth: usize) -> Result<Value, Malformed> {
    let mut reader = Reader { json, at: if json.starts_with('\u{feff}') { 3 } else { 0 } };
    let value = reader.value(depth)?;
    reader.blanks();
    if reader.at < json.len() {
        Err(reader.wrong("something stands behind the value"))
    } else {
        Ok(value)
    }
}

struct Reader<'a> {
    json: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn wrong(&self, problem: impl Into<String>) -> Malformed {
        Malformed { at: self.at, problem: problem.into() }
    }

    fn peek(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_it = self.peek() == Some(byte);
        self.at += usize::from(is_it);
        is_it
    }

    fn value(&mut self, depth: usize) -> Result<Value, Malformed> {
        self.blanks();
        match self.peek() {
            Some(b'{') => {
                let depth = self.deeper(depth)?;
                let mut members = Vec::new();
                self.blanks();
                if self.take(b'}') {
                    return Ok(Value::Object(members));
                }
                loop {
                    self.blanks();
                    let name = self.string()?;
                    let mut text = Constant::default();
                    decode(self.json, name, &mut text);
                    self.blanks();
                    if !self.take(b':') {
                        return Err(self.wrong("a colon is missing"));
                    }
                    members.push((text.text, self.value(depth)?));
                    self.blanks();
                    if self.take(b'}') {
                        return Ok(Value::Object(members));
                    }
                    if !self.take(b',') {
                        return Err(self.wrong("a comma or the object's end is missing"));
                    }
                }
            }
            Some(b'[') => {
                let depth = self.deeper(depth)?;
                let mut items = Vec::new();
                self.blanks();
                if self.take(b']') {
                    return Ok(Value::Array(items));
                }
                loop {
                    items.push(self.value(depth)?);
                    self.blanks();
                    if self.take(b']') {
                        return Ok(Value::Array(items));
                    }
                    if !self.take(b',') {
                        return Err(self.wrong("a comma or the array's end is missing"));
                    }
                }
            }
            Some(b'"') => self.string().map(Value::String),
            Some(_) => self.scalar(),
            None => Err(self.wrong("it ends too soon")),
        }
    }

    fn deeper(&mut self, depth: usize) -> Result<usize, Malformed> {
        let deeper = depth.checked_sub(1).ok_or_else(|| self.wrong("it is nested too deeply"))?;
        self.at += 1;
        Ok(deeper)
    }

    fn scalar(&mut self) -> Result<Value, Malformed> {
        let rest = &self.json[self.at..];
        let word = &rest[..rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
            .unwrap_or(rest.len())];
        if matches!(word, "true" | "false" | "null" | "NaN" | "Infinity" | "-Infinity")
            || is_number(word)
        {
            self.at += word.len();
            return Ok(Value::Other);
        }
        Err(self.wrong("a value is missing"))
    }

    /// The place of a string, quotes and all.
    fn string(&mut self) -> Result<Range<usize>, Malformed> {
        let start = self.at;
        if !self.take(b'"') {
            return Err(self.wrong("a string is missing"));
        }
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(start..self.at);
                }
                Some(b'\\') => {
                    let escape = &self.json.as_bytes()[self.at + 1..];
                    match escape {
                        [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => {
                            self.at += 2;
                        }
                        [b'u', hex @ ..]
                            if hex.len() >= 4 && hex[..4].iter().all(u8::is_ascii_hexdigit) =>
                        {
                            self.at += 6;
                        }
                        _ => return Err(self.wrong("an escape of no meaning")),
                    }
                }
                Some(..=0x1f) => return Err(self.wrong("a control character in a string")),
                Some(_) => self.at += 1,
                None => {
                    self.at = start;
                    return Err(self.wrong("a string that nothing closes"));
                }
            }
        }
    }
}

fn is_number(word: &str) -> bool {
    let word = word.strip_prefix('-').unwrap_or(word);
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = word.split_at(digits);
    if whole.is_empty() || (whole.len() > 1 && whole.starts_with('0')) {
        return false;
    }
    let rest = match rest.strip_prefix('.') {
        Some(fraction) => {
            let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0 {
                return false;
            }
            &fraction[digits..]
        }
        None => rest,
    };
    match rest.strip_prefix(['e', 'E']) {
        Some(exponent) => {
            let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            !exponent.is_empty() && exponent.bytes().all(|byte| byte.is_ascii_digit())
        }
        None => rest.is_empty(),
    }
}

/// Adds what the string at `place` says, with the places of its characters.
pub(crate) fn decode(json: &str, place: Range<usize>, out: &mut Constant) {
    let mut at = place.start + 1;
    let end = place.end - 1;
    let unit = |at: usize| json.get(at..at + 4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    while at < end {
        let plain = memchr::memchr(b'\\', &json.as_bytes()[at..end]).unwrap_or(end - at);
        if plain > 0 {
            out.push(json, &json[at..at + plain], at..at + plain);
            at += plain;
            continue;
        }
        let (c, length) = match json.as_bytes()[at + 1] {
            b'b' => ('\u{8}', 2),
            b'f' => ('\u{c}', 2),
            b'n' => ('\n', 2),
            b'r' => ('\r', 2),
            b't' => ('\t', 2),
            b'u' => match unit(at + 2) {
                Some(high @ 0xd800..0xdc00) if json[at + 6..end].starts_with("\\u") => {
                    match unit(at + 8) {
                        Some(low @ 0xdc00..0xe000) => {
                            let c =
                                char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
                            (c.unwrap_or('\u{fffd}'), 12)
                        }
                        _ => ('\u{fffd}', 6),
                    }
                }
                Some(unit) => (char::from_u32(unit).unwrap_or('\u{fffd}'), 6),
                None => ('\u{fffd}', 6),
            },
            other => (char::from(other), 2),
        };
        out.push(json, c.encode_utf8(&mut [0; 4]), at..at + length);
        at += length;
    }
}
