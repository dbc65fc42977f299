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
    diff.extend(PieceKind::Same, before);
    if old.len() > WORDS || new.len() > WORDS {
        diff.extend(PieceKind::Removed, old);
        diff.extend(PieceKind::Added, new);
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
    diff.extend(PieceKind::Same, after);
    diff
}

/// Runs of letters and digits, runs of blanks, escapes, and every other character by itself.
fn split(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let run = |of: fn(char) -> bool| rest.find(|c| !of(c)).unwrap_or(rest.len());
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = if is_word(first) {
            run(is_word)
        } else if first.is_whitespace() {
            run(char::is_whitespace)
        } else {
            escape_len(rest).unwrap_or(first.len_utf8())
        };
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after;
    }
    words
}

/// The length of the escape that the text begins with, so that it is never cut in two.
fn escape_len(text: &str) -> Option<usize> {
    let end = text.strip_prefix("\\u{")?.find(|c: char| !c.is_ascii_hexdigit())?;
    let end = "\\u{".len() + end;
    text[end..].starts_with('}').then_some(end + 1)
}

/// A text in the marks of its kind.
pub(super) fn marked(kind: PieceKind, text: &str) -> String {
    match kind {
        PieceKind::Same => text.to_owned(),
        PieceKind::Removed => format!("[-{text}-]"),
        PieceKind::Added => format!("{{+{text}+}}"),
    }
}

/// A text without the marks of the plain form: `{+` becomes `{\+`.
pub(super) fn unmarked(text: &str) -> Cow<'_, str> {
    const MARKS: [&str; 4] = ["[-", "-]", "{+", "+}"];
    if !MARKS.iter().any(|mark| text.contains(mark)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut last = None;
    for c in text.chars() {
        if matches!(
            (last, c),
            (Some('['), '-') | (Some('-'), ']') | (Some('{'), '+') | (Some('+'), '}')
        ) {
            out.push('\\');
        }
        out.push(c);
        last = Some(c);
    }
    Cow::Owned(out)
}

impl WordDiff {
    pub(super) fn push(&mut self, kind: PieceKind, text: &str) {
        match self.pieces.last_mut() {
            Some(last) if last.kind == kind => last.text.push_str(text),
            _ => self.pieces.push(Piece { kind, text: text.to_owned() }),
        }
    }

    fn extend(&mut self, kind: PieceKind, words: &[&str]) {
        for word in words {
            self.push(kind, word);
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

    /// As plain text: `[-old-]{+new+}`. A mark that the text itself has stands with a backslash in it ([`unmarked`]), so that
    /// no text can pass for what was there before.
    pub fn plain(&self) -> String {
        self.render(|kind, text| marked(kind, &unmarked(text)).into())
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
