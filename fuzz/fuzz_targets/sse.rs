//! Any bytes as server-sent events: no panic, bounded events, and chunks never show.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oz0_mcp::sse::{Item, Reader};

const CAP: usize = 4096;

fn items(chunks: [&[u8]; 2]) -> Vec<Item> {
    let mut seen = Vec::new();
    let mut reader = Reader::new(CAP);
    for chunk in chunks {
        reader.feed(chunk, |item| seen.push(item));
    }
    seen
}

fuzz_target!(|bytes: &[u8]| {
    let at = bytes.first().map_or(0, |&first| usize::from(first) % bytes.len());
    let (left, right) = bytes.split_at(at);
    let seen = items([bytes, &[]]);
    assert_eq!(items([left, right]), seen);
    for item in &seen {
        if let Item::Event(event) = item {
            assert!(event.data.len() <= CAP);
        }
    }
});
