//! The ID of a call: W3C Trace Context, level 1.
//!
//! MCP lets `traceparent` stand in the `_meta` of any message (2026-07-28, *basic*, `_meta`), so the ID of a call is a
//! trace's: that of the client where it names one, else one that is drawn here. The server gets it in the same place, with
//! the gateway's own span as its parent. What is read here came from a client, and is taken only in the one form that it
//! may have.

use std::cell::Cell;
use std::fmt;

/// Which call it is: a trace's ID, 32 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId([u8; 16]);

/// One step of it: 16 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanId([u8; 8]);

/// Where in which trace something happens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TraceContext {
    /// The trace.
    pub trace: TraceId,
    /// The span in it.
    pub span: SpanId,
    /// Whether whoever began it may have recorded it.
    pub sampled: bool,
}

impl TraceContext {
    /// The beginning of a trace of its own.
    pub fn new() -> Self {
        let bytes: [u8; 24] = drawn();
        let (trace, span) = bytes.split_at(16);
        let (trace, span) = (trace.try_into(), span.try_into());
        Self {
            trace: TraceId(named(trace.expect("16 of 24 bytes"))),
            span: SpanId(named(span.expect("8 of 24 bytes"))),
            sampled: true,
        }
    }

    /// The beginning of a trace with this ID, of 32 lower-case hex digits that are not all zero.
    pub fn of(id: &str) -> Option<Self> {
        let trace = TraceId(hex(id.as_bytes())?);
        Some(Self { trace, span: SpanId(drawn()), sampled: true })
    }

    /// A span of a trace whose ID was drawn before ([`TraceId::bytes`]).
    pub fn within(trace: [u8; 16]) -> Self {
        Self { trace: TraceId(named(trace)), span: SpanId(drawn()), sampled: true }
    }

    /// Reads a `traceparent`. A later version is read as far as this one goes, as the recommendation asks for.
    pub fn read(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if !text.is_ascii() || bytes.len() < 55 {
            return None;
        }
        let (version, rest) = (&text[..2], &bytes[55..]);
        let known = version == "00" && rest.is_empty();
        let later = version != "ff" && version != "00" && (rest.is_empty() || rest[0] == b'-');
        let digits = |text: &[u8]| text.iter().all(|byte| digit(*byte).is_some());
        let dashes = [2, 35, 52].iter().all(|at| bytes[*at] == b'-');
        if !(known || later) || !dashes || !digits(&bytes[..2]) || !digits(&bytes[53..55]) {
            return None;
        }
        Some(Self {
            trace: TraceId(hex(&bytes[3..35])?),
            span: SpanId(hex(&bytes[36..52])?),
            sampled: digit(bytes[54])? & 1 == 1,
        })
    }

    /// Another span of the same trace.
    #[must_use]
    pub fn next(self) -> Self {
        Self { span: SpanId(drawn()), ..self }
    }
}

impl Default for TraceContext {
    fn default() -> Self {
        Self::new()
    }
}

/// As a `traceparent`.
impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-{:02x}", self.trace, self.span, u8::from(self.sampled))
    }
}

macro_rules! id {
    ($name:ident, $bytes:literal) => {
        impl $name {
            /// Its bytes.
            pub const fn bytes(self) -> [u8; $bytes] {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut digits = [0; 2 * $bytes];
                for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
                    pair[0] = DIGITS[usize::from(byte >> 4)];
                    pair[1] = DIGITS[usize::from(byte & 15)];
                }
                f.write_str(str::from_utf8(&digits).expect("hex digits are ASCII"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = ();

            fn from_str(text: &str) -> Result<Self, ()> {
                hex(text.as_bytes()).map(Self).ok_or(())
            }
        }
    };
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// How many random bytes are drawn from the system at a time.
const AT_A_TIME: usize = 256;

id!(TraceId, 16);
id!(SpanId, 8);

/// Bytes that nobody has drawn before. They are names and no secrets: where the system gives no randomness, a call has the
/// same name as another one, and is made all the same.
///
/// A call draws three of them, so the system is asked for many at a time.
fn drawn<const N: usize>() -> [u8; N] {
    const { assert!(N <= AT_A_TIME) };
    thread_local! {
        static DRAWN: Cell<([u8; AT_A_TIME], usize)> = const { Cell::new(([0; AT_A_TIME], 0)) };
    }
    DRAWN.with(|drawn| {
        let (mut bytes, mut left) = drawn.get();
        if left < N {
            let _ = getrandom::fill(&mut bytes);
            left = AT_A_TIME;
        }
        let (_, taken) = bytes[..left].split_last_chunk().expect("at least N are left");
        let taken = named(*taken);
        drawn.set((bytes, left - N));
        taken
    })
}

/// All zeros are no ID.
fn named<const N: usize>(mut bytes: [u8; N]) -> [u8; N] {
    if bytes.iter().all(|byte| *byte == 0) {
        bytes[N - 1] = 1;
    }
    bytes
}

/// Lower-case hex digits that are not all zero.
fn hex<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = (digit(pair[0])? << 4) | digit(pair[1])?;
    }
    bytes.iter().any(|byte| *byte != 0).then_some(bytes)
}

const fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn the_form_of_the_recommendation_is_read() {
        let read = TraceContext::read(GIVEN).unwrap();
        assert_eq!(read.trace.to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(read.span.to_string(), "00f067aa0ba902b7");
        assert!(read.sampled);
        assert_eq!(read.to_string(), GIVEN);
        let later = "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-what-comes";
        assert!(!TraceContext::read(later).unwrap().sampled);
    }

    #[test]
    fn every_other_form_is_none() {
        for wrong in [
            "",
            "00",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
            "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01",
            "0\u{430}-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(TraceContext::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn one_that_is_drawn_is_read_as_itself_and_its_next_is_of_the_same_trace() {
        let one = TraceContext::new();
        assert_eq!(TraceContext::read(&one.to_string()), Some(one));
        let next = one.next();
        assert_eq!(next.trace, one.trace);
        assert_ne!(next.span, one.span);
        assert_ne!(TraceContext::new().trace, one.trace);
        assert_eq!(TraceContext::of(&one.trace.to_string()).unwrap().trace, one.trace);
    }

    #[test]
    fn none_is_drawn_twice_on_any_thread() {
        let draw = || {
            (0..500).flat_map(|_| {
                let drawn = TraceContext::new();
                [drawn.trace.to_string(), drawn.span.to_string()]
            })
        };
        let threads: Vec<_> =
            (0..4).map(|_| std::thread::spawn(move || draw().collect::<Vec<_>>())).collect();
        let mut seen = std::collections::HashSet::new();
        for id in threads.into_iter().flat_map(|thread| thread.join().unwrap()) {
            assert!(seen.insert(id.clone()), "{id} was drawn twice");
        }
        assert_eq!(seen.len(), 4 * 1_000);
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_no_panic(text in "\\PC{0,80}", at in 0usize..55, put in any::<char>()) {
            let _ = TraceContext::read(&text);
            let mut near: Vec<char> = GIVEN.chars().collect();
            near[at] = put;
            let near: String = near.into_iter().collect();
            if let Some(read) = TraceContext::read(&near) {
                prop_assert_eq!(TraceContext::read(&read.to_string()), Some(read));
            }
        }
    }
}
