//! Server-sent events (WHATWG HTML, section 9.2.6), read by hand.
//!
//! Three line ends, a byte order mark, comments as keep-alives, data over several lines, `id` and `retry`. Like the
//! line splitter it is fed chunks of any size and is independent of how they were cut. It differs from a browser in
//! two places, both because what it carries is JSON-RPC: an event has a size cap, and data that is not UTF-8 is
//! reported instead of being mended.

use std::time::Duration;

/// One dispatched event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The `event` field; empty means `message`.
    pub kind: String,
    /// The `data` lines, joined by LF.
    pub data: Vec<u8>,
    /// The last `id` seen on the stream up to this event, for `Last-Event-ID`.
    pub id: Option<String>,
}

/// What [`Reader`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// An event with data.
    Event(Event),
    /// An event longer than the cap. Said once; the rest of it is skipped.
    TooLarge,
}

/// Reads a stream of server-sent events.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts about where the stream stands"
)]
#[derive(Debug)]
pub struct Reader {
    line: Vec<u8>,
    kind: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    id: Option<String>,
    /// `id` as of the last blank line: an event that was cut off must be asked for again.
    ended_id: Option<String>,
    retry: Option<Duration>,
    cap: usize,
    /// Bytes of the stream's first three that may still be a byte order mark.
    start: u8,
    after_cr: bool,
    /// The event being read is too large: nothing of it is kept until its blank line.
    skipping: bool,
    /// Bytes of the current line seen while skipping, to tell a blank line.
    line_seen: bool,
}

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

impl Reader {
    /// A reader for events of at most `cap` bytes, counting every line of an event.
    pub const fn new(cap: usize) -> Self {
        Self {
            line: Vec::new(),
            kind: Vec::new(),
            data: Vec::new(),
            has_data: false,
            id: None,
            ended_id: None,
            retry: None,
            cap,
            start: 0,
            after_cr: false,
            skipping: false,
            line_seen: false,
        }
    }

    /// The last `id` that an ended event carried: what a resumed stream names.
    pub fn last_id(&self) -> Option<&str> {
        self.ended_id.as_deref()
    }

    /// How long the server asks a client to wait before it comes back.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Takes the next bytes and hands each item they complete to `each`. An event that the stream's end cuts off is
    /// dropped, as the standard says.
    pub fn feed(&mut self, chunk: &[u8], mut each: impl FnMut(Item)) {
        let mut rest = chunk;
        while let Some((&first, tail)) = rest.split_first() {
            if self.start < 3 {
                if first == BOM[usize::from(self.start)] {
                    self.start += 1;
                    rest = tail;
                    continue;
                }
                // Not a mark after all: what was held back belongs to the first line.
                let held = usize::from(std::mem::replace(&mut self.start, 3));
                self.line.extend_from_slice(&BOM[..held]);
            }
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                rest = tail;
                continue;
            }
            match rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
                Some(at) => {
                    self.keep(&rest[..at], &mut each);
                    self.after_cr = rest[at] == b'\r';
                    rest = &rest[at + 1..];
                    self.end_line(&mut each);
                }
                None => {
                    self.keep(rest, &mut each);
                    rest = &[];
                }
            }
        }
    }

    fn keep(&mut self, piece: &[u8], each: &mut impl FnMut(Item)) {
        self.line_seen |= !piece.is_empty();
        if self.skipping {
            return;
        }
        if self.line.len() + self.data.len() + self.kind.len() + piece.len() > self.cap {
            self.skipping = true;
            self.line = Vec::new();
            self.data = Vec::new();
            each(Item::TooLarge);
        } else {
            self.line.extend_from_slice(piece);
        }
    }

    fn end_line(&mut self, each: &mut impl FnMut(Item)) {
        let blank = !std::mem::take(&mut self.line_seen) && self.line.is_empty();
        if self.skipping {
            if blank {
                self.skipping = false;
                self.clear();
            }
            return;
        }
        let line = std::mem::take(&mut self.line);
        if blank {
            self.ended_id.clone_from(&self.id);
            if self.has_data {
                let event = Event {
                    kind: String::from_utf8_lossy(&self.kind).into_owned(),
                    data: std::mem::take(&mut self.data),
                    id: self.id.clone(),
                };
                each(Item::Event(event));
            }
            self.clear();
        } else {
            self.field(&line);
            self.line = line;
            self.line.clear();
            self.line.shrink_to(64 << 10);
        }
    }

    fn clear(&mut self) {
        self.kind.clear();
        self.data = Vec::new();
        self.has_data = false;
    }

    fn field(&mut self, line: &[u8]) {
        let (name, value) = match line.iter().position(|&byte| byte == b':') {
            Some(0) => return,
            Some(at) => {
                let value = &line[at + 1..];
                (&line[..at], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        match name {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.kind.clear();
                self.kind.extend_from_slice(value);
            }
            b"id" if !value.contains(&0) => {
                // It goes back in a header: anything that could not stand there is not an ID we can name.
                self.id = std::str::from_utf8(value)
                    .ok()
                    .filter(|id| !id.is_empty() && id.len() <= 4096)
                    .map(ToOwned::to_owned);
            }
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                self.retry = std::str::from_utf8(value)
                    .ok()
                    .and_then(|digits| digits.parse().ok())
                    .map(Duration::from_millis);
            }
            _ => {}
        }
    }
}
