//! Scalars of the core schema: what a plain one means, and how one is written so that it means what
//! it should (YAML 1.2.2 section 10.3.2).

use crate::node::Value;

/// What a plain scalar means.
pub(crate) fn resolve(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" => Value::Float(f64::NAN),
        _ => {
            // No number begins with any other character; most scalars are words.
            let number = text
                .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
                .then(|| integer(text).or_else(|| float(text)))
                .flatten();
            number.unwrap_or_else(|| Value::String(text.to_owned()))
        }
    }
}

fn integer(text: &str) -> Option<Value> {
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            // from_str_radix would take a sign.
            let all = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
            return all.then(|| match i64::from_str_radix(digits, radix) {
                Ok(value) => Value::Int(value),
                Err(_) => Value::BigInt(text.to_ascii_lowercase()),
            });
        }
    }
    let (sign, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (if text.starts_with('-') { "-" } else { "" }, digits),
        None => ("", text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(match text.parse() {
        Ok(value) => Value::Int(value),
        Err(_) => Value::BigInt(format!("{sign}{}", digits.trim_start_matches('0'))),
    })
}

/// A float, also where an integer stands: `!!float 1` is one.
pub(crate) fn float(text: &str) -> Option<Value> {
    let (negative, rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if matches!(rest, ".inf" | ".Inf" | ".INF") {
        return Some(Value::Float(if negative { f64::NEG_INFINITY } else { f64::INFINITY }));
    }
    // Rust reads more than the schema allows ("inf", "1e"), and less ("1." it does read).
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (rest, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let good = digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| {
            let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
            !exponent.is_empty() && digits(exponent)
        });
    if good { text.parse().ok().map(Value::Float) } else { None }
}

/// A float as a plain scalar that reads as the same float again.
pub(crate) fn write_float(value: f64) -> String {
    if value.is_nan() {
        ".nan".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { ".inf".to_owned() } else { "-.inf".to_owned() }
    } else {
        // Debug prints the shortest text that reads back, always with `.` or an exponent.
        format!("{value:?}")
    }
}

/// How a string is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// Plain where that is safe, else double quotes.
    Free,
    /// Single quotes where they can hold it, else double quotes.
    Single,
    /// Double quotes.
    Double,
}

/// A string on one line, in any context: block or flow, as a key or a value.
pub(crate) fn write_string(text: &str, quoting: Quoting) -> String {
    match quoting {
        Quoting::Free if plain_is_safe(text) => text.to_owned(),
        Quoting::Single if single_can_hold(text) => format!("'{}'", text.replace('\'', "''")),
        _ => double_quoted(text),
    }
}

/// Whether a plain scalar would be read as this very string everywhere. Stricter than the grammar:
/// what also other readers (YAML 1.1) would take for another type is not plain.
fn plain_is_safe(text: &str) -> bool {
    if !matches!(resolve(text), Value::String(_)) || other_readers_differ(text) {
        return false;
    }
    let Some(first) = text.chars().next() else { return false };
    let starts_well = first.is_alphanumeric() || matches!(first, '_' | '/' | '.' | '$' | '+' | '(');
    let dash = first == '-' && text.chars().nth(1).is_some_and(|c| c == '-' || c.is_alphanumeric());
    if !(starts_well || dash) || text.ends_with([' ', ':']) {
        return false;
    }
    let inside = |c: char| !matches!(c, '[' | ']' | '{' | '}' | ',') && !needs_escape(c);
    text.chars().all(inside)
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.starts_with("...")
        && !text.starts_with("---")
}

/// Words and forms that YAML 1.1 resolves to something else than a string.
fn other_readers_differ(text: &str) -> bool {
    let word = text.to_ascii_lowercase();
    matches!(word.as_str(), "yes" | "no" | "on" | "off" | "=" | "<<" | "null" | "true" | "false")
        // Dates, times, 1_000, 0b1, 190:20:30, 1e3: anything of digits and these.
        || (text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
            && text.chars().any(|c| c.is_ascii_digit())
            && text.chars().all(|c| {
                c.is_ascii_hexdigit() || matches!(c, '+' | '-' | '.' | '_' | ':' | 'T' | 't' | 'Z' | 'z' | ' ' | 'x' | 'o')
            })
            && text.matches('.').count() < 2)
}

fn single_can_hold(text: &str) -> bool {
    !text.chars().any(needs_escape)
}

/// Characters that only an escape writes safely: controls and breaks, what cannot be seen, and what
/// changes the direction of text.
fn needs_escape(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{ad}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{61c}' | '\u{180e}' | '\u{e0000}'..='\u{e0fff}')
}

fn double_quoted(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            '\u{1b}' => out.push_str("\\e"),
            c if needs_escape(c) => {
                let code = u32::from(c);
                // Writing to a String cannot fail.
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02X}"),
                    0x100..=0xffff => write!(out, "\\u{code:04X}"),
                    _ => write!(out, "\\U{code:08X}"),
                };
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
