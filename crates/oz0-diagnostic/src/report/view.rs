//! A few lines of a file, made fit to be shown: hidden characters as escapes, long lines cut, line
//! breaks as LF, and byte ranges that follow.

use std::ops::Range;

use crate::escape;
use crate::source::{SourceFile, Span};

/// The longest part of a line that is shown, and how much of it stands before what is marked, in
/// columns.
const WIDTH: usize = 120;
const BEFORE: usize = 40;
/// The most lines that a span is underlined over.
pub(super) const LINES: usize = 12;

/// Lines of a file as they are shown.
pub(super) struct View {
    pub(super) text: String,
    /// The first line's number, from 1.
    pub(super) first_line: usize,
    /// The marks, in `text`. Nothing for one that lies in what was cut off.
    pub(super) marks: Vec<Option<Range<usize>>>,
}

/// The lines of a span, from 0. One that reaches over too many lines is marked on its first alone.
pub(super) fn lines(span: &Span) -> (usize, usize) {
    let range = span.range();
    let first = span.file().line_of(range.start);
    let last = span.file().line_of(range.end.saturating_sub(1).max(range.start));
    if last - first >= LINES { (first, first) } else { (first, last) }
}

/// The lines that some spans of one file stand on. Where a line has to be cut, the first span counts.
pub(super) fn view(file: &SourceFile, spans: &[&Span]) -> View {
    let all = || spans.iter().map(|span| lines(span));
    let first = all().map(|(first, _)| first).min().unwrap_or(0);
    let last = all().map(|(_, last)| last).max().unwrap_or(first);
    let mut text = String::new();
    let mut marks: Vec<Option<Range<usize>>> = vec![None; spans.len()];
    for index in first..=last {
        let line = file.line(index);
        let here: Vec<Option<Range<usize>>> = spans
            .iter()
            .map(|span| {
                let (from, to) = lines(span);
                (from..=to).contains(&index).then(|| {
                    let range = span.range();
                    let start = range.start.clamp(line.start, line.end);
                    start..range.end.clamp(start, line.end)
                })
            })
            .collect();
        let window = window(file.text(), &line, here.iter().flatten());
        if window.start > line.start {
            text.push('…');
        }
        // Where each byte of the window went.
        let mut placed: Vec<Option<Range<usize>>> = vec![None; spans.len()];
        let place = |text: &str, at: usize, placed: &mut Vec<Option<Range<usize>>>| {
            for (mark, placed) in here.iter().zip(placed.iter_mut()) {
                let Some(mark) = mark else { continue };
                let (start, end) = (mark.start.max(window.start), mark.end.min(window.end));
                if at == start {
                    *placed = Some(text.len()..text.len());
                }
                if let Some(placed) = placed
                    && at <= end
                {
                    placed.end = text.len();
                }
            }
        };
        for (at, c) in file.text()[window.clone()].char_indices() {
            place(&text, window.start + at, &mut placed);
            match c {
                // The renderer shows a tab as four spaces and keeps the underline right.
                '\t' => text.push('\t'),
                c => escape::push(&mut text, c),
            }
        }
        place(&text, window.end, &mut placed);
        if window.end < line.end {
            text.push('…');
        }
        for (mark, placed) in marks.iter_mut().zip(placed) {
            let Some(placed) = placed else { continue };
            match mark {
                Some(mark) => mark.end = placed.end,
                None => *mark = Some(placed),
            }
        }
        text.push('\n');
    }
    View { text, first_line: first + 1, marks }
}

/// The part of a line that is shown: all of it where it is short enough, else what begins a little
/// before the first span that stands on it.
fn window<'a>(
    text: &str,
    line: &Range<usize>,
    mut marks: impl Iterator<Item = &'a Range<usize>>,
) -> Range<usize> {
    if fitting(text[line.clone()].chars(), WIDTH) == line.len() {
        return line.clone();
    }
    let mark = marks.next().map_or(line.start, |mark| mark.start);
    let start = mark - fitting(text[line.start..mark].chars().rev(), BEFORE);
    start..start + fitting(text[start..line.end].chars(), WIDTH)
}

/// How many bytes of some characters fit into a number of columns.
fn fitting(chars: impl Iterator<Item = char>, columns: usize) -> usize {
    let (mut width, mut bytes) = (0, 0);
    for c in chars {
        width += match c {
            '\t' => 4,
            c if escape::is_hidden(c) => "\\u{0000}".len(),
            _ => 1,
        };
        if width > columns {
            break;
        }
        bytes += c.len_utf8();
    }
    bytes
}
