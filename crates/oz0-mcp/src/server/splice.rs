//! Byte-exact edits of JSON text.
//!
//! A gateway that parses a message and writes it anew changes it: number notation, member order, repeated names,
//! escapes. So nothing here is ever rebuilt. An edit names a range of bytes of the text that came in, and what is to
//! stand there; every byte outside the ranges goes out as it came.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use bytes::Bytes;
use memchr::memchr_iter;
use memchr::memmem::Finder;
use serde_json::value::RawValue;

use crate::message::{Members, quote};

/// Edits of one text, applied all at once.
///
/// ```
/// use oz0_mcp::server::Splice;
/// let text = r#"{"id": 1.0, "x": 2}"#;
/// let mut splice = Splice::new(text);
/// splice.replace(7..10, "\"a\"").unwrap();
/// assert_eq!(splice.apply(), r#"{"id": "a", "x": 2}"#);
/// ```
#[derive(Clone, Debug)]
pub struct Splice<'a> {
    text: &'a str,
    /// In order, and never overlapping.
    edits: Vec<(Range<usize>, Cow<'a, str>)>,
}

/// An edit that cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpliceError {
    /// The range is not one of this text, or cuts a character in two.
    #[error("the range {start}..{end} is not one of the text")]
    Outside {
        /// Where it starts.
        start: usize,
        /// Where it ends.
        end: usize,
    },
    /// The range overlaps one that is edited already.
    #[error("the range {start}..{end} overlaps another edit")]
    Overlaps {
        /// Where it starts.
        start: usize,
        /// Where it ends.
        end: usize,
    },
}

impl<'a> Splice<'a> {
    /// No edits yet.
    pub const fn new(text: &'a str) -> Self {
        Self { text, edits: Vec::new() }
    }

    /// Puts `with` where `range` is. An empty range inserts; insertions at one place stand in the order they were made.
    pub fn replace(
        &mut self,
        range: Range<usize>,
        with: impl Into<Cow<'a, str>>,
    ) -> Result<(), SpliceError> {
        let Range { start, end } = range;
        if start > end || self.text.get(range.clone()).is_none() {
            return Err(SpliceError::Outside { start, end });
        }
        // Insertions stand before what replaces the text at their place.
        let at = self.edits.partition_point(|(edit, _)| {
            edit.start < start || (edit.start == start && edit.is_empty())
        });
        let before = at.checked_sub(1).and_then(|at| self.edits.get(at));
        let overlaps = before.is_some_and(|(edit, _)| edit.end > start)
            || self.edits.get(at).is_some_and(|(edit, _)| edit.start < end);
        if overlaps {
            return Err(SpliceError::Overlaps { start, end });
        }
        self.edits.insert(at, (range, with.into()));
        Ok(())
    }

    /// Puts `with` where `value`, a part of this text, stands.
    pub fn replace_value(
        &mut self,
        value: &RawValue,
        with: impl Into<Cow<'a, str>>,
    ) -> Result<(), SpliceError> {
        self.replace(range_in(self.text, value.get()), with)
    }

    /// Takes a range out.
    pub fn remove(&mut self, range: Range<usize>) -> Result<(), SpliceError> {
        self.replace(range, "")
    }

    /// Whether anything changes.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The text with its edits made.
    pub fn apply(&self) -> String {
        let grown: usize = self.edits.iter().map(|(_, with)| with.len()).sum();
        let mut out = String::with_capacity(self.text.len() + grown);
        let mut at = 0;
        for (range, with) in &self.edits {
            out.push_str(&self.text[at..range.start]);
            out.push_str(with);
            at = range.end;
        }
        out.push_str(&self.text[at..]);
        out
    }

    /// The edits, freed from the text.
    pub(crate) fn edits(&self) -> Vec<(Range<usize>, String)> {
        let free = |(range, with): &(Range<usize>, Cow<'_, str>)| {
            (range.clone(), with.as_ref().to_owned())
        };
        self.edits.iter().map(free).collect()
    }

    /// What [`apply`](Self::apply) gives, as slices of `whole`: nothing of it is copied.
    pub(crate) fn pieces(whole: &Bytes, edits: &[(Range<usize>, String)], out: &mut Vec<Bytes>) {
        let mut at = 0;
        let mut put = |piece: Bytes| {
            if !piece.is_empty() {
                out.push(piece);
            }
        };
        for (range, with) in edits {
            put(whole.slice(at..range.start));
            put(Bytes::copy_from_slice(with.as_bytes()));
            at = range.end;
        }
        put(whole.slice(at..));
    }
}

/// Where `part`, a slice of `text`, stands in it. A slice of another text gives a range that [`Splice`] refuses.
pub(crate) fn range_in(text: &str, part: &str) -> Range<usize> {
    let outside = usize::MAX..usize::MAX;
    let Some(start) = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize) else {
        return outside;
    };
    let end = start.saturating_add(part.len());
    if end <= text.len() { start..end } else { outside }
}

/// The ranges that take members out of an object: with each its comma, and nothing else.
///
/// `object` is the object's text, from its brace; `members` is what was read from it.
pub(crate) fn removals(
    object: &str,
    members: &Members<'_>,
    goes: impl Fn(&str) -> bool,
) -> Vec<Range<usize>> {
    let open = object.find('{').map_or(0, |at| at + 1);
    // A member is everything after the comma (or brace) before it, up to the end of its value.
    let mut spans: Vec<(Range<usize>, bool)> = Vec::new();
    let mut start = open;
    for (name, value) in members.iter() {
        let end = range_in(object, value.get()).end;
        spans.push((start..end, goes(name)));
        start = object[end.min(object.len())..].find(',').map_or(end, |comma| end + comma + 1);
    }
    let mut kept_before: Option<usize> = None;
    let mut out = Vec::new();
    for (index, (span, gone)) in spans.iter().enumerate() {
        if !gone {
            kept_before = Some(index);
            continue;
        }
        let (from, to) = if kept_before.is_some() {
            // The comma before goes with it.
            (spans[index - 1].0.end, span.end)
        } else {
            // Everything before is gone too: the comma after goes with it.
            (span.start, spans.get(index + 1).map_or(span.end, |next| next.0.start))
        };
        out.push(from..to);
    }
    out
}

/// The edit that adds a member at the front of an object: where, and what.
pub(crate) fn insertion(object: &str, name: &str, value: &str) -> (usize, String) {
    let open = object.find('{').map_or(0, |at| at + 1);
    let empty = object[open..].trim_start_matches([' ', '\t', '\r', '\n']).starts_with('}');
    let comma = if empty { "" } else { "," };
    (open, format!("{}:{value}{comma}", quote(name)))
}

/// Whether a key under `oz0/` can stand anywhere in this text. Never says no wrongly: a name that begins with `oz0` is
/// either spelled so, or one of its letters is an escape.
pub(crate) fn may_name_ours(text: &str) -> bool {
    static OURS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"oz0"));
    let bytes = text.as_bytes();
    OURS.find(bytes).is_some() || may_spell(bytes, b"oz0")
}

/// Whether the name that is looked for can stand in this text as a member's name, spelled plainly or with escapes.
pub(crate) fn may_have(text: &str, name: &Finder<'_>) -> bool {
    let bytes = text.as_bytes();
    name.find(bytes).is_some() || may_spell(bytes, name.needle())
}

/// Whether an escape of one of these ASCII letters stands in the text.
fn may_spell(text: &[u8], letters: &[u8]) -> bool {
    memchr_iter(b'\\', text).any(|at| {
        let digits = text[at + 1..].strip_prefix(b"u00").and_then(|rest| rest.get(..2));
        digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
            .is_some_and(|letter| letters.contains(&letter))
    })
}

/// How deep arrays and objects nest in a text that is known to be JSON.
pub(crate) fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0usize);
    let (mut quoted, mut escaped) = (false, false);
    for byte in text.bytes() {
        if quoted {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => quoted = false,
                _ => {}
            }
        } else {
            match byte {
                b'"' => quoted = true,
                b'{' | b'[' => {
                    depth += 1;
                    deepest = deepest.max(depth);
                }
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
    deepest
}
