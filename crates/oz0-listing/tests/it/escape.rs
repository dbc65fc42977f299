//! The escape of format v1.

use oz0_listing::escape;
use proptest::prelude::*;

/// The whole set of format v1, computed from the Unicode 18 files' lists of each property, and not
/// by the crate that the implementation asks. If newer data differ, that is another format version.
const V1: [(u32, u32); 45] = [
    (0x0, 0x8),
    (0xB, 0x1F),
    (0x7F, 0x9F),
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x600, 0x605),
    (0x61C, 0x61C),
    (0x6DD, 0x6DD),
    (0x70F, 0x70F),
    (0x890, 0x891),
    (0x8E2, 0x8E2),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xE000, 0xF8FF),
    (0xFDD0, 0xFDEF),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0xFFFE, 0xFFFF),
    (0x0001_10BD, 0x0001_10BD),
    (0x0001_10CD, 0x0001_10CD),
    (0x0001_3430, 0x0001_343F),
    (0x0001_BCA0, 0x0001_BCA3),
    (0x0001_D173, 0x0001_D17A),
    (0x0001_FFFE, 0x0001_FFFF),
    (0x0002_FFFE, 0x0002_FFFF),
    (0x0003_FFFE, 0x0003_FFFF),
    (0x0004_FFFE, 0x0004_FFFF),
    (0x0005_FFFE, 0x0005_FFFF),
    (0x0006_FFFE, 0x0006_FFFF),
    (0x0007_FFFE, 0x0007_FFFF),
    (0x0008_FFFE, 0x0008_FFFF),
    (0x0009_FFFE, 0x0009_FFFF),
    (0x000A_FFFE, 0x000A_FFFF),
    (0x000B_FFFE, 0x000B_FFFF),
    (0x000C_FFFE, 0x000C_FFFF),
    (0x000D_FFFE, 0x000E_0FFF),
    (0x000E_FFFE, 0x0010_FFFF),
];

#[test]
fn the_set_is_that_of_format_v1() {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for c in (0..=0x0010_FFFF).filter_map(char::from_u32).filter(|c| escape::is_invisible(*c)) {
        let c = u32::from(c);
        match ranges.last_mut() {
            Some(last) if last.1 + 1 == c => last.1 = c,
            _ => ranges.push((c, c)),
        }
    }
    assert_eq!(ranges, V1);
    assert_eq!(V1.iter().map(|(from, to)| to - from + 1).sum::<u32>(), 141_806);
}

#[test]
fn each_kind_of_hidden_text_is_written_out() {
    for (text, shown) in [
        ("tag \u{E0041}", "tag \\u{E0041}"),
        ("zero\u{200B}width", "zero\\u{200B}width"),
        ("joiner \u{200D}", "joiner \\u{200D}"),
        ("bidi \u{202E}", "bidi \\u{202E}"),
        ("variation \u{FE0F}\u{E0100}", "variation \\u{FE0F}\\u{E0100}"),
        ("soft\u{AD}hyphen", "soft\\u{AD}hyphen"),
        ("private \u{E000}", "private \\u{E000}"),
        ("byte order mark \u{FEFF}", "byte order mark \\u{FEFF}"),
        ("line \u{2028} paragraph \u{2029}", "line \\u{2028} paragraph \\u{2029}"),
        ("filler \u{3164}\u{FFA0}\u{115F}", "filler \\u{3164}\\u{FFA0}\\u{115F}"),
        ("unassigned \u{E0002}\u{FFF0}", "unassigned \\u{E0002}\\u{FFF0}"),
        ("noncharacter \u{FFFF}\u{FDD0}\u{10FFFE}", "noncharacter \\u{FFFF}\\u{FDD0}\\u{10FFFE}"),
        ("braille \u{2800}", "braille \\u{2800}"),
        ("escape \u{1B}[31m \u{9B}m", "escape \\u{1B}[31m \\u{9B}m"),
        ("nul \0, delete \u{7F}", "nul \\u{0}, delete \\u{7F}"),
    ] {
        assert_eq!(escape::text(text), shown);
        assert!(escape::has_invisible(text));
    }
}

#[test]
fn visible_text_of_every_script_stays() {
    for text in [
        "plain",
        "caf\u{E9}, \u{4E2D}\u{6587}, \u{627}\u{644}, \u{1F602}, e\u{301}",
        "no-break\u{A0}space, ideographic\u{3000}space",
        "says \\u{200B} itself",
        "",
    ] {
        assert_eq!(escape::text(text), text);
        assert!(!escape::has_invisible(text));
    }
}

#[test]
fn a_carriage_return_stays_only_before_a_line_feed() {
    assert_eq!(escape::text("a\r\nb\tc\nd"), "a\r\nb\tc\nd");
    assert_eq!(escape::text("a\rb"), "a\\u{D}b");
    assert_eq!(escape::text("a\r\r\n"), "a\\u{D}\r\n");
    assert_eq!(escape::text("a\r"), "a\\u{D}");
    assert_eq!(escape::text("a\r\u{200B}\n"), "a\\u{D}\\u{200B}\n");
}

#[test]
fn a_line_cannot_start_another() {
    assert_eq!(escape::line("a\tb\r\nc"), "a\\u{9}b\\u{D}\\u{A}c");
    assert_eq!(escape::line("plain"), "plain");
    assert_eq!(escape::line_within("abcdef", 4), "abcd\u{2026}");
    assert_eq!(escape::line_within("abcd", 4), "abcd");
    assert_eq!(escape::line_within("\u{E9}\u{E9}", 1), "\u{E9}\u{2026}");
}

#[test]
fn written_out_finds_what_the_escape_wrote() {
    let found = |text: &str| escape::written_out(text).collect::<String>();
    assert_eq!(found(&escape::text("a\u{200B}b\u{E0041}")), "\u{200B}\u{E0041}");
    assert_eq!(found("\\u{41} \\u{0200B} \\u{200b} \\u{} \\u{110000} \\u{200B"), "");
}

proptest! {
    #[test]
    fn escaping_twice_is_escaping_once(text in any::<String>()) {
        let once = escape::text(&text).into_owned();
        prop_assert_eq!(escape::text(&once), once.as_str());
        prop_assert!(!escape::has_invisible(&once));
        let line = escape::line(&text).into_owned();
        prop_assert_eq!(escape::line(&line), line.as_str());
        prop_assert!(!line.contains(['\t', '\r', '\n']));
    }

    #[test]
    fn the_fast_path_changes_nothing(text in "[ -~\t\n\r\u{7F}\0\u{E9}\u{200B}]{0,80}") {
        let slowly: String = text
            .char_indices()
            .map(|(at, c)| match c {
                '\r' if text[at..].starts_with("\r\n") => "\r".to_owned(),
                c if escape::is_invisible(c) => format!("\\u{{{:X}}}", u32::from(c)),
                c => c.to_string(),
            })
            .collect();
        prop_assert_eq!(escape::text(&text), slowly);
    }
}
