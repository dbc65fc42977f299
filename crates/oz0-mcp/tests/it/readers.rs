//! The readers of lines, events and messages: how bytes were cut never shows, and no bytes make them panic.

use std::path::Path;

use oz0_mcp::line::{Line, Lines};
use oz0_mcp::message::Message;
use oz0_mcp::sse::{Event, Item, Reader};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Debug, PartialEq)]
enum Seen {
    Whole(Vec<u8>),
    TooLong(Vec<u8>),
}

fn lines(chunks: &[&[u8]], cap: usize) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut lines = Lines::new(cap);
    let mut each = |line: Line<'_>| {
        seen.push(match line {
            Line::Whole(line) => Seen::Whole(line.to_vec()),
            Line::TooLong(head) => Seen::TooLong(head.to_vec()),
        });
    };
    for chunk in chunks {
        lines.feed(chunk, &mut each);
    }
    lines.finish(&mut each);
    seen
}

fn items(chunks: &[&[u8]], cap: usize) -> (Vec<Item>, Option<String>) {
    let mut seen = Vec::new();
    let mut reader = Reader::new(cap);
    for chunk in chunks {
        reader.feed(chunk, |item| seen.push(item));
    }
    (seen, reader.last_id().map(str::to_owned))
}

fn events(text: &str) -> Vec<Event> {
    items(&[text.as_bytes()], 1 << 20)
        .0
        .into_iter()
        .map(|item| match item {
            Item::Event(event) => event,
            Item::TooLarge => panic!("too large"),
        })
        .collect()
}

fn cut<'a>(bytes: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
    let mut rest = bytes;
    let mut chunks = Vec::new();
    for size in sizes.iter().cycle() {
        if rest.is_empty() || sizes.is_empty() {
            break;
        }
        let (chunk, tail) = rest.split_at((*size).min(rest.len()));
        chunks.push(chunk);
        rest = tail;
    }
    chunks.push(rest);
    chunks
}

/// Text rich in what the readers treat specially.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"data: ".to_vec()),
        Just(b"data".to_vec()),
        Just(b"id: 7".to_vec()),
        Just(b"event: x".to_vec()),
        Just(b"retry: 10".to_vec()),
        Just(b": comment".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\n\n".to_vec()),
        Just(b"\xEF\xBB\xBF".to_vec()),
        Just(b"\xEF\xBB".to_vec()),
        vec(any::<u8>(), 0..40),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn lines_do_not_depend_on_chunks(bytes in stream(), sizes in vec(1_usize..9, 1..6), cap in 0_usize..64) {
        prop_assert_eq!(lines(&cut(&bytes, &sizes), cap), lines(&[&bytes], cap));
    }

    #[test]
    fn lines_are_the_text_split_at_its_line_ends(text in "[a-z\r]{0,8}(\n[a-z\r]{0,8}){0,6}") {
        let mut wanted: Vec<&str> = text.split('\n').collect();
        if wanted.last() == Some(&"") {
            wanted.pop();
        }
        let wanted: Vec<Seen> = wanted
            .into_iter()
            .map(|line| Seen::Whole(line.strip_suffix('\r').unwrap_or(line).into()))
            .collect();
        prop_assert_eq!(lines(&[text.as_bytes()], 64), wanted);
    }

    #[test]
    fn events_do_not_depend_on_chunks(bytes in stream(), sizes in vec(1_usize..9, 1..6), cap in 0_usize..64) {
        prop_assert_eq!(items(&cut(&bytes, &sizes), cap), items(&[&bytes], cap));
    }

    #[test]
    fn a_message_in_an_event_comes_back_whole(lines in vec("[a-zé{}:\" ]{0,12}", 1..5), end in prop_oneof!["\n", "\r", "\r\n"]) {
        let mut text = String::new();
        for line in &lines {
            text.extend(["data: ", line, &end]);
        }
        text.push_str(&end);
        let seen = events(&text);
        prop_assert_eq!(seen.len(), 1);
        let wanted = lines.join("\n");
        prop_assert_eq!(&seen[0].data, wanted.as_bytes());
    }

    #[test]
    fn no_text_makes_a_message_panic(text in any::<String>()) {
        let _ = Message::read(&text);
    }
}

#[test]
fn line_ends_may_be_mixed_and_a_byte_order_mark_leads() {
    let seen = events("\u{feff}data: a\rdata:b\r\ndata\n\n: note\rid: 1\revent: e\rdata: {\n\r\n");
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0], Event { data: b"a\nb\n".to_vec(), ..Event::default() });
    assert_eq!(seen[1], Event { kind: "e".into(), data: b"{".to_vec(), id: Some("1".into()) });
}

#[test]
fn an_event_that_is_cut_off_is_no_event_and_moves_no_position() {
    let (seen, last) = items(&[b"id: 1\ndata: a\n\nid: 2\ndata: b\n"], 100);
    assert_eq!((seen.len(), last.as_deref()), (1, Some("1")));
}

#[test]
fn an_event_above_the_limit_is_skipped_whole() {
    let text = format!("data: a\n\ndata: {}\ndata: more\n\ndata: b\n\n", "x".repeat(100));
    let (seen, _) = items(&[text.as_bytes()], 50);
    let [Item::Event(a), Item::TooLarge, Item::Event(b)] = &seen[..] else { panic!("{seen:?}") };
    assert_eq!((&*a.data, &*b.data), (&b"a"[..], &b"b"[..]));
}

#[test]
fn a_line_as_long_as_the_limit_is_taken() {
    assert_eq!(
        lines(&[b"abcd\nabcde\nab"], 4),
        [
            Seen::Whole(b"abcd".to_vec()),
            Seen::TooLong(b"abcd".to_vec()),
            Seen::Whole(b"ab".to_vec()),
        ]
    );
}

/// What the fuzzers started from and what they found, as ordinary tests.
#[test]
fn the_corpora_hold() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut count = 0;
    for target in ["jsonrpc", "sse"] {
        for entry in std::fs::read_dir(corpus.join(target)).expect("the corpus is there") {
            let bytes = std::fs::read(entry.expect("an entry").path()).expect("it can be read");
            let halves = bytes.split_at(bytes.len() / 2);
            assert_eq!(lines(&[halves.0, halves.1], 1 << 16), lines(&[&bytes], 1 << 16));
            assert_eq!(items(&[halves.0, halves.1], 1 << 16), items(&[&bytes], 1 << 16));
            if let Ok(text) = std::str::from_utf8(&bytes) {
                let _ = Message::read(text);
            }
            count += 1;
        }
    }
    assert!(count > 20, "{count} entries");
}
