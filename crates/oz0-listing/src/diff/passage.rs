//! Places that changed, as a person reads them: words marked where two texts are one text that was edited, else the old text
//! and the new one.

use super::{PieceKind, TextChange, WordDiff, as_text, words};
use crate::json::Json;
use crate::{Listing, Pointer, escape};

/// One place that changed. All its text has its invisible characters written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Where in the listing.
    pub pointer: Pointer,
    /// What stood there; none if nothing did.
    pub old: Option<String>,
    /// What stands there; none if nothing does.
    pub new: Option<String>,
    /// Both as one text, where they share enough for that to be read; long parts that both have are shortened.
    pub words: Option<WordDiff>,
}

/// Parts that both texts have, longer than this many characters, are shortened.
const LONG: usize = 480;

/// What is left of such a part beside each edit.
const CONTEXT: usize = 160;

/// The places of a change, in its order.
pub fn passages(texts: &[TextChange]) -> Vec<Passage> {
    texts
        .iter()
        .map(|text| of(text.pointer.clone(), text.old.as_deref(), text.new.as_deref()))
        .collect()
}

/// A listing that is new or gone as a whole, one place a member: a description is then read as text, not as JSON.
pub fn members(listing: &Listing, is_new: bool) -> Vec<Passage> {
    let members = listing.value().as_object().into_iter().flat_map(crate::json::Object::iter);
    members
        .map(|(name, value): (&str, &Json)| {
            let text = as_text(value);
            let pointer = Pointer::of([name]);
            if is_new { of(pointer, None, Some(&text)) } else { of(pointer, Some(&text), None) }
        })
        .collect()
}

fn of(pointer: Pointer, old: Option<&str>, new: Option<&str>) -> Passage {
    let words = match (old, new) {
        (Some(old), Some(new)) => Some(words(old, new)).filter(reads_as_one).map(shortened),
        _ => None,
    };
    let shown = |text: Option<&str>| text.map(|text| escape::text(text).into_owned());
    Passage { pointer, old: shown(old), new: shown(new), words }
}

/// Whether at least half of the shorter text is in both, which a text that was added to or cut down is: with less, there is
/// more mark than text.
fn reads_as_one(words: &WordDiff) -> bool {
    let count = |kind| -> usize {
        let pieces = words.pieces.iter().filter(|piece| piece.kind == kind);
        pieces.map(|piece| piece.text.chars().filter(|c| !c.is_whitespace()).count()).sum()
    };
    let same = count(PieceKind::Same);
    let edited = count(PieceKind::Removed).min(count(PieceKind::Added));
    same > 0 && same >= edited
}

fn shortened(words: WordDiff) -> WordDiff {
    let last = words.pieces.len().saturating_sub(1);
    let mut short = WordDiff::default();
    for (at, piece) in words.pieces.into_iter().enumerate() {
        let count = piece.text.chars().count();
        if piece.kind != PieceKind::Same || count <= LONG {
            short.pieces.push(piece);
            continue;
        }
        let head = if at == 0 { 0 } else { CONTEXT };
        let tail = if at == last { 0 } else { CONTEXT };
        let text: String = piece.text.chars().take(head).collect();
        short.push(PieceKind::Same, &text);
        short.push(PieceKind::Same, &format!("[… {} characters as before …]", count - head - tail));
        let text: String = piece.text.chars().skip(count - tail).collect();
        short.push(PieceKind::Same, &text);
    }
    short
}
