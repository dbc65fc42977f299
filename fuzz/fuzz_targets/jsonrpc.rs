//! Any bytes as lines, and any line as a message: no panic, and chunks never show.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oz0_mcp::line::{Line, Lines};
use oz0_mcp::message::Message;

const CAP: usize = 4096;

fn lines(chunks: [&[u8]; 2]) -> Vec<(bool, Vec<u8>)> {
    let mut seen = Vec::new();
    let mut lines = Lines::new(CAP);
    let mut each = |line: Line<'_>| match line {
        Line::Whole(line) => seen.push((true, line.to_vec())),
        Line::TooLong(head) => seen.push((false, head.to_vec())),
    };
    for chunk in chunks {
        lines.feed(chunk, &mut each);
    }
    lines.finish(&mut each);
    seen
}

fuzz_target!(|bytes: &[u8]| {
    let at = bytes.first().map_or(0, |&first| usize::from(first) % bytes.len());
    let (left, right) = bytes.split_at(at);
    let seen = lines([bytes, &[]]);
    assert_eq!(lines([left, right]), seen);
    for (whole, line) in seen {
        if let (true, Ok(text)) = (whole, std::str::from_utf8(&line)) {
            let _ = Message::read(text);
        }
    }
});
