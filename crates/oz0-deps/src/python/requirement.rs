//! One requirement, as PEP 508 writes it.
//!
//! Only the name, and the address where one stands in a version's place, say what is installed. The rest (versions, extras,
//! markers) is looked at as far as needed to know that the name ends where it seems to. A crate for PEP 508 would parse
//! versions and markers too, and would not say where the name stands.

use std::ops::Range;

use super::url;
use crate::{Ecosystem, Package, Wanted};

/// What a requirement says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Requirement {
    /// Where its name stands.
    pub(super) name: Range<usize>,
    /// Where its extras stand, without the brackets.
    pub(super) extras: Option<Range<usize>>,
    /// Where its address stands: `name @ address`.
    pub(super) address: Option<Range<usize>>,
}

impl Requirement {
    /// Reads a requirement. Nothing, when an installer would refuse it for more than its versions and markers.
    pub(super) fn read(text: &str) -> Option<Self> {
        let start = text.len() - text.trim_start().len();
        let name = name(&text[start..])?;
        let name = start..start + name;
        let mut at = blanks(text, name.end);
        let mut extras = None;
        if text[at..].starts_with('[') {
            let end = at + text[at..].find(']')?;
            extras = Some(at + 1..end);
            at = blanks(text, end + 1);
        }
        let mut address = None;
        match text[at..].chars().next() {
            None | Some('<' | '>' | '=' | '!' | '~' | ';' | '(') => {}
            Some('@') => {
                let from = blanks(text, at + 1);
                let rest = &text[from..];
                let to = from + rest.find(char::is_whitespace).unwrap_or(rest.len());
                if from == to {
                    return None;
                }
                address = Some(from..to);
            }
            Some(_) => return None,
        }
        Some(Self { name, extras, address })
    }

    /// The package that it brings in, and what names it.
    pub(super) fn package<'w>(
        &self,
        text: &str,
        wanted: &'w Wanted,
    ) -> Option<(&'w Package, Range<usize>)> {
        if let Some(package) = wanted.package(Ecosystem::PyPi, &text[self.name.clone()]) {
            return Some((package, self.name.clone()));
        }
        let address = self.address.clone()?;
        let (package, range) = url::package(&text[address.clone()], url::Kind::Any, wanted)?;
        Some((package, address.start + range.start..address.start + range.end))
    }
}

/// How many bytes of a text's beginning are a project's name (PEP 508): letters and digits, with `-`, `_` and `.` inside.
pub(super) fn name(text: &str) -> Option<usize> {
    let inside = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if !text.as_bytes().first()?.is_ascii_alphanumeric() {
        return None;
    }
    let length = text.bytes().take_while(inside).count();
    let name = text[..length].trim_end_matches(['-', '_', '.']);
    Some(name.len())
}

fn blanks(text: &str, at: usize) -> usize {
    at + (text[at..].len() - text[at..].trim_start().len())
}
