use oz0_diagnostic::{Position, SourceFile, Span};
use proptest::prelude::*;

#[test]
fn positions_count_characters_from_one_and_no_bom() {
    let file = SourceFile::new("a.yaml", "\u{feff}aé\r\n\t日x\rlast\n");
    let at = |text: &str| file.position(file.text().find(text).unwrap());
    let place = |line, column| Position { line, column };
    assert_eq!(file.position(0), place(1, 1));
    assert_eq!(at("a"), place(1, 1));
    assert_eq!(at("é"), place(1, 2));
    assert_eq!(at("日"), place(2, 2));
    assert_eq!(at("x"), place(2, 3));
    assert_eq!(at("last"), place(3, 1));
    assert_eq!(file.position(file.text().len()), place(4, 1));
    assert_eq!(file.position(usize::MAX), place(4, 1));
    assert_eq!(file.position(file.text().find('日').unwrap() + 1), place(2, 2));
    assert_eq!(at("last").to_string(), "3:1");
}

#[test]
fn the_start_of_a_file_is_behind_its_bom() {
    let file = SourceFile::new("a", "\u{feff}x");
    assert_eq!(Span::start_of(&file).range(), 3..3);
    let empty = SourceFile::new("a", "");
    assert_eq!(Span::start_of(&empty).start(), Position { line: 1, column: 1 });
}

#[test]
fn a_span_is_made_to_fit_its_file() {
    let file = SourceFile::new("a", "aéb");
    assert_eq!(Span::new(&file, 2..2).range(), 1..3);
    assert_eq!(Span::new(&file, 2..90).text(), "éb");
    #[expect(clippy::reversed_empty_ranges, reason = "what is made to fit")]
    let backwards = 3..1;
    assert_eq!(Span::new(&file, backwards).range(), 3..3);
}

proptest! {
    #[test]
    fn every_offset_has_a_place(text in "\\PC{0,5}[\r\n\u{feff}aé\t]{0,20}", offset in 0_usize..60) {
        let file = SourceFile::new("a", text.clone());
        let position = file.position(offset);
        let lines = text.replace("\r\n", "\n").replace('\r', "\n").matches('\n').count() + 1;
        prop_assert!((1..=lines).contains(&position.line));
        let span = Span::new(&file, offset..offset + 3);
        prop_assert!(span.start() <= span.end());
    }
}
