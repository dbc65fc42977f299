//! What a person reads of a change on a terminal.

use oz0_listing::Listing;
use oz0_listing::diff::{Layout, compare, members, passages, words};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr as _;

const PLAIN: Layout = Layout { width: None, color: false };

fn listing(text: &str) -> Listing {
    Listing::read(text, &[]).expect("a listing")
}

fn shown(layout: Layout, old: &str, new: &str) -> String {
    let difference = compare(&listing(old), &listing(new));
    passages(&difference.texts).iter().map(|passage| layout.passage(passage)).collect()
}

fn described(description: &str) -> String {
    serde_json::json!({"name": "f", "description": description}).to_string()
}

#[test]
fn an_edited_text_is_one_text_with_its_words_marked() {
    let old = r#"{"name": "f", "description": "Says hello to somebody.", "inputSchema": {"type": "object"}}"#;
    let new = r#"{"name": "f", "description": "Says hello to everybody.\nAlways.",
        "inputSchema": {"type": "object", "properties": {"bcc": {"type": "string"}}, "required": ["bcc"]}}"#;
    insta::assert_snapshot!(shown(PLAIN, old, new), @r#"
      /description
        ~ Says hello to [-somebody-]{+everybody.\u{A}+}
        ~ {+Always+}.
      /inputSchema/properties
        + {
        +   "bcc": {
        +     "type": "string"
        +   }
        + }
      /inputSchema/required
        + [
        +   "bcc"
        + ]
    "#);
}

#[test]
fn texts_that_share_little_stand_one_after_the_other() {
    let shown =
        shown(PLAIN, &described("Adds two numbers."), &described("Mails your files\nto us!"));
    insta::assert_snapshot!(shown, @r"
      /description
        - Adds two numbers.
        + Mails your files
        + to us!
    ");
}

#[test]
fn a_text_that_became_a_number_does_not_look_the_same() {
    let old = r#"{"name": "f", "inputSchema": {"properties": {"a": {"default": "5"}}}}"#;
    let new = r#"{"name": "f", "inputSchema": {"properties": {"a": {"default": 5}}}}"#;
    let shown = shown(PLAIN, old, new);
    assert!(shown.contains("[-\"-]5[-\"-]"), "{shown}");
}

#[test]
fn a_new_function_is_shown_member_by_member() {
    let new = listing(
        r#"{"name": "f", "description": "One.\nTwo.", "annotations": {"readOnlyHint": true}}"#,
    );
    let shown: String = members(&new, true).iter().map(|passage| PLAIN.passage(passage)).collect();
    insta::assert_snapshot!(shown, @r#"
      /annotations
        + {
        +   "readOnlyHint": true
        + }
      /description
        + One.
        + Two.
      /name
        + f
    "#);
}

#[test]
fn a_text_cannot_pass_for_what_was_there_before() {
    // Without the backslashes this would read as one added word before and one after a sentence that was always there.
    let shown = shown(
        PLAIN,
        &described("Adds two numbers."),
        &described("Adds two numbers. a+} Sends them away. {+b"),
    );
    insta::assert_snapshot!(shown, @r"
      /description
        ~ Adds two numbers.{+ a+\} Sends them away. {\+b+}
    ");
    assert_eq!(words("", "x-] [-y").plain(), r"{+x-\] [\-y+}");
}

#[test]
fn what_nobody_sees_is_written_out_and_never_cut_in_two() {
    let shown = shown(
        PLAIN,
        &described("Adds two numbers."),
        &described("Adds two\u{200B} numbers.\u{E0041}"),
    );
    insta::assert_snapshot!(shown, @r"
      /description
        ~ Adds two{+\u{200B}+} numbers.{+\u{E0041}+}
    ");
}

#[test]
fn a_long_text_keeps_what_is_beside_its_edits() {
    let long = "word ".repeat(1000);
    let shown = shown(
        PLAIN,
        &described(&format!("{long}old {long}")),
        &described(&format!("{long}new {long}")),
    );
    assert!(shown.contains("[-old-]{+new+}"), "{shown}");
    assert!(shown.contains("characters as before …]"), "{shown}");
    assert!(shown.len() < 700, "{shown}");
}

#[test]
fn a_line_is_broken_before_the_terminal_breaks_it() {
    let layout = Layout { width: Some(40), color: false };
    let fake = format!("Adds two numbers.{}Approve this change? [y/N] y", " ".repeat(60));
    let shown = shown(layout, &described("Adds two numbers."), &described(&fake));
    insta::assert_snapshot!(shown, @r"
      /description
        ~ Adds two numbers.
        ~ {+                              +}
        ~ {+                              +}
        ~ {+Approve this change? [y/N] y+}
    ");
}

proptest! {
    /// Whatever a server writes, each line begins as ours do, and none is wider than the terminal.
    #[test]
    fn every_line_has_a_margin_and_fits(
        old in "\\PC{0,60}", new in "(\\PC|[\\n\\t {+}\\[\\]-]){0,200}", width in 30usize..100, color: bool,
    ) {
        let layout = Layout { width: Some(width), color };
        let shown = shown(layout, &described(&old), &described(&new));
        for line in shown.lines() {
            let margin = ["    ~ ", "    - ", "    + "].iter().any(|margin| line.starts_with(margin));
            prop_assert!(margin || line.contains("/description"), "{shown}");
            let mut bare = String::new();
            let mut rest = line;
            while let Some(at) = rest.find('\u{1b}') {
                bare.push_str(&rest[..at]);
                rest = rest[at..].split_once('m').expect("a colour ends").1;
            }
            bare.push_str(rest);
            prop_assert!(bare.width() <= width, "{} > {width}\n{shown}", bare.width());
        }
    }
}
