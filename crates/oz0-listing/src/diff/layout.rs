//! Passages on a terminal.
//!
//! What is laid out was written by a server that nobody has approved, and the person who reads it decides about that server.
//! So every line begins with a margin that is ours, also where a line is longer than the terminal is wide: a text that could
//! begin a line of its own could pass for what oz0 says, such as the end of the change or the answer to the question below it.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar as _;

use super::words::{marked, unmarked};
use super::{Passage, PieceKind, WordDiff};
use crate::escape;

/// How passages are laid out.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Columns of the terminal; lines are as long as they are where there is none.
    pub width: Option<usize>,
    /// Whether colours mark what went and came; else `[-old-]{+new+}`.
    pub color: bool,
}

/// The fewest columns that are left to a text, however narrow the terminal is.
const NARROWEST: usize = 16;

/// A line with its marks.
#[derive(Default)]
struct Line {
    runs: Vec<(PieceKind, String)>,
    /// Columns, with marks.
    width: usize,
}

/// The length of the first word, run of blanks, or character that moves the cursor.
fn token_len(text: &str) -> usize {
    let moves = |c: char| matches!(c, '\n' | '\r' | '\t');
    let end = match text.chars().next() {
        Some(c) if moves(c) => Some(1),
        Some(c) if c.is_whitespace() => text.find(|c: char| !c.is_whitespace() || moves(c)),
        _ => text.find(char::is_whitespace),
    };
    end.unwrap_or(text.len())
}

impl Layout {
    /// One passage: its pointer, then its text, each line after a margin and `~` (edited), `-` or `+`.
    pub fn passage(self, passage: &Passage) -> String {
        let mut out = String::new();
        let pointer = passage.pointer.to_string();
        let pointer = if pointer.is_empty() { "the whole listing" } else { &pointer };
        for line in self.plain_lines(&escape::line(pointer), 2) {
            self.line(&mut out, "  ", "1", &line);
        }
        if let Some(words) = &passage.words {
            for line in self.lines(words, 6) {
                out.push_str("    ~ ");
                for (kind, text) in &line.runs {
                    out.push_str(&self.run(*kind, text));
                }
                out.push('\n');
            }
        } else {
            for (text, sign, color) in
                [(&passage.old, "    - ", "31"), (&passage.new, "    + ", "32")]
            {
                for line in text.iter().flat_map(|text| self.plain_lines(text, 6)) {
                    self.line(&mut out, sign, color, &line);
                }
            }
        }
        out
    }

    /// Text that only reads, in lines that fit beside a margin of so many columns.
    pub fn plain_lines(self, text: &str, margin: usize) -> Vec<String> {
        let mut words = WordDiff::default();
        words.push(PieceKind::Same, text);
        let join = |line: Line| line.runs.into_iter().map(|(_, text)| text).collect();
        self.lines(&words, margin).into_iter().map(join).collect()
    }

    fn line(self, out: &mut String, margin: &str, color: &str, text: &str) {
        out.push_str(margin);
        if self.color && !text.is_empty() {
            write!(out, "\u{1b}[{color}m{text}\u{1b}[0m").expect("writing to a String cannot fail");
        } else {
            out.push_str(text);
        }
        out.push('\n');
    }

    /// A run as it is printed. Blanks have no colour, so they have the marks of the plain form.
    fn run(self, kind: PieceKind, text: &str) -> String {
        let blank = text.trim().is_empty();
        match (self.color, kind) {
            (true, PieceKind::Same) => text.to_owned(),
            (false, kind) => marked(kind, &unmarked(text)),
            (true, PieceKind::Removed) if !blank => format!("\u{1b}[31;9m{text}\u{1b}[0m"),
            (true, PieceKind::Removed) => format!("\u{1b}[31m[-{text}-]\u{1b}[0m"),
            (true, _) if !blank => format!("\u{1b}[32m{text}\u{1b}[0m"),
            (true, _) => format!("\u{1b}[32m{{+{text}+}}\u{1b}[0m"),
        }
    }

    fn lines(self, words: &WordDiff, margin: usize) -> Vec<Line> {
        let room =
            self.width.map_or(usize::MAX, |width| width.saturating_sub(margin).max(NARROWEST));
        let mut lines = vec![Line::default()];
        for piece in &words.pieces {
            let edited = piece.kind != PieceKind::Same;
            let mut rest = piece.text.as_str();
            while !rest.is_empty() {
                let (token, after) = rest.split_at(token_len(rest));
                rest = after;
                // What moves the cursor is written out where it is what changed.
                let shown = match token {
                    "\n" if edited => "\\u{A}",
                    "\r" if edited => "\\u{D}",
                    "\t" if edited => "\\u{9}",
                    "\n" | "\r" => "",
                    "\t" => "    ",
                    other => other,
                };
                Self::push(&mut lines, piece.kind, shown, room);
                if token == "\n" {
                    lines.push(Line::default());
                }
            }
        }
        if lines.len() > 1 && lines.last().is_some_and(|line| line.runs.is_empty()) {
            lines.pop();
        }
        lines
    }

    fn push(lines: &mut Vec<Line>, kind: PieceKind, token: &str, room: usize) {
        let whole = token.chars().map(columns).sum();
        Self::make_room(lines, kind, whole, room);
        for c in token.chars() {
            // A word that is longer than a line is broken where the line ends.
            Self::make_room(lines, kind, columns(c), room);
            let Some(line) = lines.last_mut() else { return };
            line.width += columns(c) + line.marks(kind);
            match line.runs.last_mut() {
                Some((last, text)) if *last == kind => text.push(c),
                _ => line.runs.push((kind, c.to_string())),
            }
        }
    }

    /// Begins a line where the last one has too little room.
    fn make_room(lines: &mut Vec<Line>, kind: PieceKind, width: usize, room: usize) {
        let full = lines
            .last()
            .is_some_and(|line| line.width > 0 && line.width + width + line.marks(kind) > room);
        if full {
            lines.push(Line::default());
        }
    }
}

impl Line {
    /// Columns that the marks of a run of this kind take, where the line does not end with one. With colours only blanks have
    /// marks, and whether a run stays blank is not known when it begins.
    fn marks(&self, kind: PieceKind) -> usize {
        let open = self.runs.last().is_some_and(|(last, _)| *last == kind);
        if kind == PieceKind::Same || open { 0 } else { 4 }
    }
}

fn columns(c: char) -> usize {
    c.width().unwrap_or(1)
}
