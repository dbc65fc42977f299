//! Lines from a byte stream, with a cap.
//!
//! The stdio transport is one message a line. The splitter is fed whatever the pipe gave and keeps a partial line
//! inside itself, so a read that is cancelled loses nothing, and how the bytes were cut into chunks never shows.

/// What [`Lines`] found.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line without its LF, and without a CR right before it. May be empty.
    Whole(&'a [u8]),
    /// A line longer than the cap: its first bytes. Said once, when the cap is passed; the rest is skipped.
    TooLong(&'a [u8]),
}

/// How many bytes of an overlong line are shown.
const HEAD: usize = 256;

/// Splits a stream of bytes at LF, keeping at most a cap's worth of a line.
#[derive(Debug)]
pub struct Lines {
    partial: Vec<u8>,
    cap: usize,
    skipping: bool,
}

impl Lines {
    /// A splitter for lines of at most `cap` bytes.
    pub const fn new(cap: usize) -> Self {
        Self { partial: Vec::new(), cap, skipping: false }
    }

    /// Takes the next bytes and hands each line that they end to `each`.
    pub fn feed(&mut self, mut chunk: &[u8], mut each: impl FnMut(Line<'_>)) {
        while !chunk.is_empty() {
            let (piece, ended) = match memchr::memchr(b'\n', chunk) {
                Some(at) => {
                    let piece = &chunk[..at];
                    chunk = &chunk[at + 1..];
                    (piece, true)
                }
                None => (std::mem::take(&mut chunk), false),
            };
            if self.skipping {
                self.skipping = !ended;
                continue;
            }
            if self.partial.len() + piece.len() > self.cap {
                let room = HEAD.min(self.cap).saturating_sub(self.partial.len());
                self.partial.extend_from_slice(&piece[..room.min(piece.len())]);
                self.partial.truncate(HEAD);
                each(Line::TooLong(&self.partial));
                self.partial = Vec::new();
                self.skipping = !ended;
            } else if !ended {
                self.partial.extend_from_slice(piece);
            } else if self.partial.is_empty() {
                each(Line::Whole(without_cr(piece)));
            } else {
                self.partial.extend_from_slice(piece);
                each(Line::Whole(without_cr(&self.partial)));
                self.partial.clear();
                // One huge line must not pin its memory for the life of the connection.
                self.partial.shrink_to(64 << 10);
            }
        }
    }

    /// What stands after the last LF once the stream has ended: a last line, where it is not empty.
    pub fn finish(&mut self, each: impl FnOnce(Line<'_>)) {
        let rest = std::mem::take(&mut self.partial);
        if !self.skipping && !rest.is_empty() {
            each(Line::Whole(without_cr(&rest)));
        }
    }
}

fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
