//! Values as text.

use super::layout::Layout;
use crate::data::Data;
use crate::scalar::{Quoting, write_float, write_string};

/// The longest collection that is written in brackets where there is the choice, in bytes.
pub(super) const SHORT: usize = 60;

/// A value on one line: valid in any place.
pub(super) fn inline(value: &Data, quoting: Quoting) -> String {
    match value {
        Data::Null => "null".to_owned(),
        Data::Bool(value) => value.to_string(),
        Data::Int(value) => value.to_string(),
        Data::BigInt(digits) => digits.clone(),
        Data::Float(value) => write_float(*value),
        Data::String(text) => write_string(text, quoting),
        Data::Sequence(items) => {
            let items: Vec<String> = items.iter().map(|item| inline(item, Quoting::Free)).collect();
            format!("[{}]", items.join(", "))
        }
        Data::Mapping(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| {
                    format!("{}: {}", inline(key, Quoting::Free), inline(value, Quoting::Free))
                })
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// Whether a value is written on lines of its own where that can be done.
pub(super) fn wants_lines(value: &Data) -> bool {
    match value {
        Data::Mapping(entries) => !entries.is_empty(),
        Data::Sequence(items) => {
            let scalars = items.iter().all(|item| item.levels() == 0);
            let short = scalars && inline(value, Quoting::Free).len() <= SHORT;
            !items.is_empty() && !short
        }
        _ => false,
    }
}

/// A collection's lines, indented by `column` but for the first line, which begins where it is put.
pub(super) fn block(value: &Data, column: usize, layout: &Layout) -> String {
    let lines: Vec<String> = match value {
        Data::Mapping(entries) => {
            entries.iter().map(|(key, value)| entry(key, value, column, layout)).collect()
        }
        Data::Sequence(items) => items.iter().map(|value| item(value, column, layout)).collect(),
        scalar => vec![inline(scalar, Quoting::Free)],
    };
    lines.join(&format!("{}{}", layout.line_break, " ".repeat(column)))
}

/// An entry of a block mapping whose keys stand in `column`.
pub(super) fn entry(key: &Data, value: &Data, column: usize, layout: &Layout) -> String {
    let key = inline(key, Quoting::Free);
    format!("{key}:{}", behind_colon(value, column, layout))
}

/// What follows the `:` of a key in `column`.
pub(super) fn behind_colon(value: &Data, column: usize, layout: &Layout) -> String {
    if !wants_lines(value) {
        return format!(" {}", inline(value, Quoting::Free));
    }
    let step = if matches!(value, Data::Sequence(_)) { layout.dash } else { layout.step };
    let inner = column + step;
    format!("{}{}{}", layout.line_break, " ".repeat(inner), block(value, inner, layout))
}

/// An item of a block sequence whose dashes stand in `column`.
pub(super) fn item(value: &Data, column: usize, layout: &Layout) -> String {
    format!("-{}", behind_dash(value, column, layout))
}

/// What follows a `-` in `column`.
pub(super) fn behind_dash(value: &Data, column: usize, layout: &Layout) -> String {
    let text = if wants_lines(value) {
        block(value, column + 2, layout)
    } else {
        inline(value, Quoting::Free)
    };
    format!(" {text}")
}

/// A string as a `|` block scalar: its header, and its lines each behind a line break. Nothing where
/// that could not hold it.
pub(super) fn literal(text: &str, indent: usize, line_break: &str) -> Option<(String, String)> {
    let body = text.trim_end_matches('\n');
    let fits = !body.is_empty()
        && !body.starts_with([' ', '\n'])
        && body.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{feff}');
    if !fits {
        return None;
    }
    let breaks = text.len() - body.len();
    let header = ["|-", "|"].get(breaks).copied().unwrap_or("|+");
    let mut lines = String::new();
    for line in body.split('\n') {
        lines.push_str(line_break);
        if !line.is_empty() {
            lines.push_str(&" ".repeat(indent));
            lines.push_str(line);
        }
    }
    for _ in 1..breaks {
        lines.push_str(line_break);
    }
    Some((header.to_owned(), lines))
}
