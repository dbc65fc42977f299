//! Two texts as one, with the words that went and came marked.

use std::borrow::Cow;
use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

use crate::escape;

/// What happened to a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// It is in both.
    Same,
    /// It is in the old text only.
    Removed,
    /// It is in the new text only.
    Added,
}

/// A run of words with one fate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Its fate.
    pub kind: PieceKind,
    /// Its text, with invisible characters written out.
    pub text: String,
}

/// Two texts as one. The pieces that are not added make the old text, those that are not removed
/// the new one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WordDiff {
    /// The pieces in order; neighbours differ in kind.
    pub pieces: Vec<Piece>,
}

/// Above this many words on one side, between what both begin and end with, the whole of it counts
/// as replaced: the comparison takes their product in the worst case.
const WORDS: usize = 4_000;

/// Compares two texts by words.
pub fn words(old: &str, new: &str) -> WordDiff {
    let (old, new) = (escape::text(old), escape::text(new));
    let (old, new) = (split(&old), split(&new));
    let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (before, old) = old.split_at(start);
    let new = &new[start..];
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, after) = old.split_at(old.len() - end);
    let new = &new[..new.len() - end];

    let mut diff = WordDiff::default();
    before.iter().for_each(|word| diff.push(PieceKind::Same, word));
    if old.len() > WORDS || new.len() > WORDS {
        old.iter().for_each(|word| diff.push(PieceKind::Removed, word));
        new.iter().for_each(|word| diff.push(PieceKind::Added, word));
    } else {
        for change in TextDiff::from_slices(old, new).iter_all_changes() {
            let kind = match change.tag() {
                ChangeTag::Equal => PieceKind::Same,
                ChangeTag::Delete => PieceKind::Removed,
                ChangeTag::Insert => PieceKind::Added,
            };
            diff.push(kind, change.value());
        }
    }
    after.iter().for_each(|word| diff.push(PieceKind::Same, word));
    diff
}

/// Runs of letters and digits, runs of blanks, and every other character by itself.
fn split(text: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        if last.is_some_and(|last| last != kind(c) || last == 2) {
            words.push(&text[start..at]);
            start = at;
        }
        last = Some(kind(c));
    }
    if last.is_some() {
        words.push(&text[start..]);
    }
    words
}

impl WordDiff {
    fn push(&mut self, kind: PieceKind, text: &str) {
        match self.pieces.last_mut() {
            Some(last) if last.kind == kind => last.text.push_str(text),
            _ => self.pieces.push(Piece { kind, text: text.to_owned() }),
        }
    }

    /// One of the two texts, with invisible characters written out.
    pub fn side(&self, without: PieceKind) -> String {
        self.pieces
            .iter()
            .filter(|piece| piece.kind != without)
            .map(|piece| piece.text.as_str())
            .collect()
    }

    /// As plain text: `[-old-]{+new+}`.
    pub fn plain(&self) -> String {
        self.render(|kind, text| match kind {
            PieceKind::Same => Cow::Borrowed(text),
            PieceKind::Removed => Cow::Owned(format!("[-{text}-]")),
            PieceKind::Added => Cow::Owned(format!("{{+{text}+}}")),
        })
    }

    /// For a terminal: what went in red and struck through, what came in green; blanks, which have
    /// no colour, with the marks of the plain form.
    pub fn ansi(&self) -> String {
        self.render(|kind, text| {
            let blank = text.trim().is_empty();
            match kind {
                PieceKind::Same => Cow::Borrowed(text),
                PieceKind::Removed if blank => Cow::Owned(format!("\u{1b}[31m[-{text}-]\u{1b}[0m")),
                PieceKind::Removed => Cow::Owned(format!("\u{1b}[31;9m{text}\u{1b}[0m")),
                PieceKind::Added if blank => Cow::Owned(format!("\u{1b}[32m{{+{text}+}}\u{1b}[0m")),
                PieceKind::Added => Cow::Owned(format!("\u{1b}[32m{text}\u{1b}[0m")),
            }
        })
    }

    fn render<'s>(&'s self, mark: impl Fn(PieceKind, &'s str) -> Cow<'s, str>) -> String {
        self.pieces.iter().fold(String::new(), |mut out, piece| {
            write!(out, "{}", mark(piece.kind, &piece.text))
                .expect("writing to a String cannot fail");
            out
        })
    }
}
