//! The reporter for people.

use std::sync::Arc;

use oz0_diagnostic::report::{Color, pretty};
use oz0_diagnostic::{Check, Diagnostic, Edit, Fix, Level, Safety, SourceFile, Span};
use proptest::prelude::*;

static DECODE: Check = Check { code: "OZ-L001", name: "undecodable-manifest", level: Level::Error };
static HOST: Check = Check { code: "OZ-S022", name: "known-host", level: Level::Note };

fn file(text: &str) -> Arc<SourceFile> {
    SourceFile::new("oz0-plugin.yaml", text)
}

fn at(file: &Arc<SourceFile>, text: &str) -> Span {
    let start = file.text().find(text).unwrap();
    Span::new(file, start..start + text.len())
}

fn finding(span: Span, message: &str) -> Diagnostic {
    Diagnostic::new(&DECODE, span, message)
}

fn plain(diagnostic: Diagnostic) -> String {
    pretty(&[diagnostic], Color::Never)
}

#[test]
fn a_finding_shows_its_line_its_help_and_where_to_read_more() {
    let file = file("name: github\nverison: 1.0.0\nkind: connector\n");
    let finding = finding(at(&file, "verison"), "unknown key `verison`")
        .help("did you mean `version`?")
        .url("https://example.org/OZ-L001");
    insta::assert_snapshot!(plain(finding));
}

#[test]
fn related_places_near_and_far_and_in_other_files_are_shown() {
    let file = file(&format!("name: a\nname: b\n{}name: c\n", "# line\n".repeat(40)));
    let other = SourceFile::new("hub/listing.yaml", "# x\nname: pub/a\n");
    let last = Span::new(&file, file.text().rfind("name").unwrap()..file.text().len() - 4);
    let finding = finding(Span::new(&file, 8..12), "the key `name` stands twice")
        .related(at(&file, "name"), "the first one is here")
        .related(last, "and one more")
        .related(at(&other, "pub/a"), "the listing's name")
        .help("keep one of them");
    insta::assert_snapshot!(plain(finding));
}

#[test]
fn the_underline_stands_right_in_any_text() {
    let hostile = "a: \u{1b}[31mred\u{1b}[0m \u{202e}evil\u{202c} \u{200b}x\u{ad}y # end\n";
    let mut out = String::new();
    for (text, part) in [
        ("tools:\n\t\tgit: x\n", "git"),
        ("a:\t1\tbad\n", "bad"),
        ("größe: 日本語テキスト: x\n", "テキスト"),
        ("emoji: 👩‍👩‍👧 family\n", "family"),
        ("a: e\u{301}\u{301} bad\n", "bad"),
        ("name: x\r\nkind: bad\r\n", "bad"),
        ("name: x\rkind: bad\r", "bad"),
        ("\u{feff}name: bad\n", "bad"),
        ("\u{feff}name: bad\n", "name"),
        (hostile, "evil"),
        (hostile, "red"),
        (hostile, "# end"),
        ("a: b\u{a0}c\u{3000}d \u{2800}e\n", "e\n"),
        ("a: \u{0}\u{7f}\u{9b}x\n", "x"),
    ] {
        let file = file(text);
        out.push_str(&plain(finding(at(&file, part), "bad")));
    }
    assert!(!out.contains(['\u{1b}', '\u{202e}', '\u{200b}', '\u{9b}', '\r']));
    insta::assert_snapshot!(out);
}

#[test]
fn edges_of_a_file_are_shown() {
    let mut out = String::new();
    for (text, range) in [
        ("", 0..0),
        ("\u{feff}", 0..3),
        ("a: 1", 4..4),
        ("a: 1\n", 5..5),
        ("a: 1\n", 4..5),
        ("a: 1\r\n", 4..6),
        ("\n\n", 1..1),
        ("a:\n  b: 1\n", 2..2),
    ] {
        let file = file(text);
        out.push_str(&plain(finding(Span::new(&file, range), "here")));
    }
    insta::assert_snapshot!(out);
}

#[test]
fn spans_over_lines_are_shown_whole_or_from_their_first_line() {
    let few = file("a:\r\n  b: 1\r\n  c: \u{1b}2\r\nd: 3\r\n");
    let many = file(&"key: value\n".repeat(30));
    let out = [
        plain(finding(Span::new(&few, 4..few.text().find("d: 3").unwrap() - 2), "a mapping")),
        plain(finding(Span::new(&many, 0..many.text().len()), "long")),
    ];
    insta::assert_snapshot!(out.concat());
}

#[test]
fn a_very_long_line_is_cut_around_the_span() {
    let text = format!("a: {}BAD{} # end\n", "日x".repeat(5000), "\u{1b}y".repeat(50_000));
    let long = file(&text);
    let out = plain(finding(at(&long, "BAD"), "bad").related(at(&long, "# end"), "the end"));
    assert!(out.lines().all(|line| line.chars().count() < 900), "{out}");
    let span = Span::new(&long, 0..text.len());
    let out = [out, plain(finding(span, "all of it"))].concat();
    insta::assert_snapshot!(out);
}

#[test]
fn messages_and_paths_cannot_write_to_the_terminal() {
    let file = SourceFile::new("a\u{1b}]0;x\u{7}\n.yaml", "x: 1\n");
    let finding = finding(Span::new(&file, 0..1), "unknown key `\u{1b}[2J\r\n\u{202e}error: fake`")
        .help("first\nsecond \u{1b}[1m")
        .related(Span::new(&file, 3..4), "\u{9b}31m\nhere")
        .url("https://example.org/\u{202e}");
    let out = plain(finding.clone());
    insta::assert_snapshot!(out);
    // With colours, only ours are there.
    let colored = pretty(&[finding], Color::Always);
    let stripped = colored.split('\u{1b}').skip(1).all(|part| {
        part.strip_prefix('[').is_some_and(|rest| {
            rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
        })
    });
    assert!(stripped && !colored.contains(['\u{7}', '\u{202e}', '\u{9b}']), "{colored:?}");
}

#[test]
fn every_level_and_a_fix_are_named() {
    let file = file("egress: ['*']\n");
    let star = at(&file, "'*'");
    let edit = Edit { file: file.clone(), range: star.range(), replacement: "x".to_owned() };
    let fix = Fix { title: "name the host".to_owned(), safety: Safety::Safe, edits: vec![edit] };
    let findings = [
        Diagnostic::new(&HOST, star.clone(), "a note"),
        Diagnostic::new(&HOST, star.clone(), "a warning").level(Level::Warning),
        Diagnostic::new(&HOST, star, "an error").level(Level::Error).fix(fix),
    ];
    insta::assert_snapshot!(pretty(&findings, Color::Never));
    insta::assert_snapshot!(pretty(&findings[1..2], Color::Always).replace('\u{1b}', "ESC"));
    assert_eq!(pretty(&[], Color::Never), "");
}

proptest! {
    #[test]
    fn any_text_is_shown_without_a_hidden_character(
        text in "([ab日\u{301}\u{1b}\u{202e}\u{200b}\u{e000}\t\r\n\u{feff} ]|\\PC){0,60}",
        start in 0_usize..80, length in 0_usize..40, other in 0_usize..80,
    ) {
        let file = SourceFile::new(text.clone(), text.clone());
        let finding = finding(Span::new(&file, start..start + length), &text)
            .help(text.clone())
            .related(Span::new(&file, other..other + length), text.clone());
        let out = plain(finding);
        prop_assert!(!out.contains(['\u{1b}', '\u{202e}', '\u{200b}', '\u{e000}', '\r', '\t', '\u{feff}']), "{:?}", out);
        prop_assert!(out.contains(" --> "));
    }

    #[test]
    fn the_underline_is_as_long_and_as_far_as_the_text(
        // Short enough not to be cut.
        before in "[a-z日\u{202e}\u{1b} ]{0,5}", marked in "[a-z日本\u{200b}]{1,4}", after in "[a-z日\u{202e}]{0,3}",
    ) {
        let file = SourceFile::new("f", format!("x{before}{marked}{after}\n"));
        let start = 1 + before.len();
        let out = plain(finding(Span::new(&file, start..start + marked.len()), "m"));
        let lines: Vec<&str> = out.lines().collect();
        let (source, underline) = (lines[3], lines[4]);
        let wide = |text: &str| text.chars().map(|c| if matches!(c, '日' | '本') { 2 } else { 1 }).sum::<usize>();
        let shown = |text: &str| text.chars().map(|c| match c {
            '\u{202e}' | '\u{1b}' | '\u{200b}' => 8,
            '日' | '本' => 2,
            _ => 1,
        }).sum::<usize>();
        prop_assert_eq!(underline.matches('^').count(), shown(&marked), "{}", out);
        let bar = "1 | ".len();
        prop_assert_eq!(underline.find('^').unwrap(), bar + shown(&format!("x{before}")), "{}", out);
        prop_assert_eq!(wide(source), bar + shown(file.text().trim_end()), "{}", out);
    }
}
