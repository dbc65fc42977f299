//! What became of a text after several rounds of splices, told as splices of the first text.

use std::ops::Range;

use super::Splices;

pub(super) struct Pieces {
    pieces: Vec<Piece>,
    /// The first text's length.
    length: usize,
}

#[derive(Clone)]
enum Piece {
    /// Bytes of the first text.
    Kept(Range<usize>),
    New(String),
}

impl Piece {
    fn length(&self) -> usize {
        match self {
            Self::Kept(range) => range.len(),
            Self::New(text) => text.len(),
        }
    }

    fn part(&self, from: usize, to: usize) -> Self {
        match self {
            Self::Kept(range) => Self::Kept(range.start + from..range.start + to),
            Self::New(text) => Self::New(text[from..to].to_owned()),
        }
    }
}

impl Pieces {
    pub(super) fn of(text: &str) -> Self {
        Self { pieces: vec![Piece::Kept(0..text.len())], length: text.len() }
    }

    /// Follows splices of the text as it is now, which were made and so fit it.
    pub(super) fn splice(&mut self, splices: &Splices) {
        let mut sorted: Vec<&(Range<usize>, String)> = splices.iter().collect();
        sorted.sort_by_key(|(range, _)| (range.start, range.end));
        // From the end, so that the places before stay what they are.
        for (range, text) in sorted.into_iter().rev() {
            self.replace(range, text);
        }
    }

    fn replace(&mut self, range: &Range<usize>, text: &str) {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut at = 0;
        for piece in &self.pieces {
            let length = piece.length();
            let cut = |offset: usize| offset.saturating_sub(at).min(length);
            let (first, last) = (cut(range.start), cut(range.end));
            if first > 0 {
                before.push(piece.part(0, first));
            }
            if last < length && at + length > range.end {
                after.push(piece.part(last, length));
            }
            at += length;
        }
        before.push(Piece::New(text.to_owned()));
        before.append(&mut after);
        self.pieces = before;
    }

    pub(super) fn splices(&self) -> Splices {
        let mut out = Splices::new();
        let mut at = 0;
        let mut new = String::new();
        let end = Piece::Kept(self.length..self.length);
        for piece in self.pieces.iter().chain([&end]) {
            match piece {
                Piece::New(text) => new.push_str(text),
                Piece::Kept(range) => {
                    if at < range.start || !new.is_empty() {
                        out.push((at..range.start, std::mem::take(&mut new)));
                    }
                    at = range.end;
                }
            }
        }
        out
    }
}
