//! Writing: RFC 8785, and the same with line breaks for files.

use super::{Json, Object};
use crate::scan;

pub(super) fn canonical<S: AsRef<str>>(value: &Json<S>, capacity: usize) -> String {
    let mut out = String::with_capacity(capacity);
    let mut numbers = ryu_js::Buffer::new();
    write(value, &mut out, &mut numbers);
    out
}

fn write<S: AsRef<str>>(value: &Json<S>, out: &mut String, numbers: &mut ryu_js::Buffer) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        // ECMAScript's Number::toString, which RFC 8785 section 3.2.2.3 asks for.
        Json::Number(number) => out.push_str(numbers.format_finite(*number)),
        Json::String(text) => string(text.as_ref(), out),
        Json::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item, out, numbers);
            }
            out.push(']');
        }
        Json::Object(Object(members)) => {
            out.push('{');
            for (at, (name, value)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                string(name.as_ref(), out);
                out.push(':');
                write(value, out, numbers);
            }
            out.push('}');
        }
    }
}

pub(super) fn pretty<S: AsRef<str>>(value: &Json<S>) -> String {
    let mut out = String::with_capacity(256);
    write_pretty(value, 0, &mut out);
    out
}

fn write_pretty<S: AsRef<str>>(value: &Json<S>, level: usize, out: &mut String) {
    fn new_line(level: usize, out: &mut String) {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", level));
    }
    match value {
        Json::Array(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                out.push(if at == 0 { '[' } else { ',' });
                new_line(level + 1, out);
                write_pretty(item, level + 1, out);
            }
            new_line(level, out);
            out.push(']');
        }
        Json::Object(Object(members)) if !members.is_empty() => {
            for (at, (name, value)) in members.iter().enumerate() {
                out.push(if at == 0 { '{' } else { ',' });
                new_line(level + 1, out);
                string(name.as_ref(), out);
                out.push_str(": ");
                write_pretty(value, level + 1, out);
            }
            new_line(level, out);
            out.push('}');
        }
        flat => write(flat, out, &mut ryu_js::Buffer::new()),
    }
}

/// RFC 8785 section 3.2.2.2: the short escapes where there is one, `\u00xx` in lower case for the
/// other controls of ASCII, and everything else as it is.
fn string(text: &str, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push('"');
    let mut rest = text;
    while let Some(at) = scan::special(rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let byte = rest.as_bytes()[at];
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\x08' => out.push_str("\\b"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            b'\x0C' => out.push_str("\\f"),
            b'\r' => out.push_str("\\r"),
            control => {
                out.push_str("\\u00");
                out.push(char::from(HEX[usize::from(control >> 4)]));
                out.push(char::from(HEX[usize::from(control & 15)]));
            }
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}
