//! Edits as an author would see them.

use oz0_yaml::edit::{Change, EditError, PathStep, apply, splice, splices};
use oz0_yaml::{Data, Limits};

const MANIFEST: &str = "\
# The manifest
name: github   # the name
version: \"1.4.0\"
egress: [api.github.com]   # exact
tools:
  # Our own server
  git:
    mcp: {command: [python3, server.py]}
    requires_approval:
    - merge   # a person decides
    - close
  # A pinned one
  pkg:
    package: 'pypi:x'
    args: []
notes: |   # long
  one
  two

policy:
  - match: '*'
    action: ask
  - {match: a.b, action: allow}
last:
  only: 1  # one
";

fn path(words: &'static str) -> Vec<PathStep<'static>> {
    words
        .split(' ')
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().map_or(PathStep::Key(word), PathStep::Index))
        .collect()
}

fn replace(words: &'static str, value: impl Into<Data>) -> Change<'static> {
    Change::Replace { path: path(words), value: value.into() }
}

fn insert(words: &'static str, key: &'static str, value: impl Into<Data>) -> Change<'static> {
    Change::Insert { path: path(words), key, value: value.into() }
}

fn push(words: &'static str, value: impl Into<Data>) -> Change<'static> {
    Change::Push { path: path(words), value: value.into() }
}

fn remove(words: &'static str) -> Change<'static> {
    Change::Remove { path: path(words) }
}

/// The lines that a change takes away and brings, as a diff without context.
fn diff(text: &str, change: Change<'_>) -> String {
    let after = match apply(text, &[change]) {
        Ok(after) => after,
        Err(error) => return format!("error: {error}\n"),
    };
    let (old, new): (Vec<&str>, Vec<&str>) = (text.lines().collect(), after.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail =
        old[same..].iter().rev().zip(new[same..].iter().rev()).take_while(|(a, b)| a == b).count();
    let mut out = String::new();
    old[same..old.len() - tail].iter().for_each(|line| out.push_str(&format!("-{line}\n")));
    new[same..new.len() - tail].iter().for_each(|line| out.push_str(&format!("+{line}\n")));
    out
}

#[test]
fn a_manifest_is_edited_as_its_author_would() {
    let changes = [
        replace("name", "gitlab"),
        replace("name", "yes"),
        replace("version", "2"),
        replace("version", 2),
        replace("egress", Data::sequence(["a.example", "b.example"])),
        replace("egress 0", "*.example"),
        replace("tools git", Data::mapping([("url", "https://{host}/mcp")])),
        replace("tools git mcp", Data::mapping([("command", Data::sequence(["node", "x.js"]))])),
        replace("tools pkg package", "npm:@a/b"),
        replace("tools pkg package", "it's"),
        replace("tools pkg args", Data::mapping([("a", Data::mapping([("b", 1)]))])),
        replace("notes", "short"),
        replace("notes", "new\n\nlines\n"),
        replace("policy 1", Data::mapping([("match", "c.d")])),
        replace("last", Data::Null),
        replace("name", Data::mapping([("nested", "x")])),
        insert("", "license", "MIT"),
        insert("tools", "new", Data::mapping([("url", "https://x")])),
        insert("tools git", "approval", "always"),
        insert("tools git mcp", "env", Data::mapping([("A", "1")])),
        insert("policy 0", "reason", "because: yes"),
        insert("policy 1", "reason", "x, y"),
        insert("last", "second", Data::sequence(["a"])),
        push("egress", "b.example"),
        push("tools pkg args", "--flag"),
        push("tools git requires_approval", "delete"),
        push("policy", Data::mapping([("match", "*"), ("action", "refuse")])),
        remove("name"),
        remove("egress 0"),
        remove("tools git"),
        remove("tools git requires_approval 0"),
        remove("tools git mcp"),
        remove("notes"),
        remove("policy 0"),
        remove("policy 0 match"),
        remove("policy 1 match"),
        remove("policy 1 action"),
        remove("last only"),
        remove("last"),
    ];
    let mut out = String::new();
    for change in changes {
        out.push_str(&format!("{change:?}\n{}\n", diff(MANIFEST, change.clone())));
    }
    insta::assert_snapshot!(out);
}

#[test]
fn edits_that_cannot_be_are_refused_with_a_reason() {
    let anchors = "a: &a {x: 1}\nb: *a\nc: &c\n  y: 1\nd: {e: &e 1, f: *e}\ng: [*e, 1]\n";
    let mut out = String::new();
    for (text, change) in [
        (MANIFEST, replace("nowhere", 1)),
        (MANIFEST, replace("egress 1", 1)),
        (MANIFEST, replace("name x", 1)),
        (MANIFEST, remove("")),
        (MANIFEST, insert("tools", "git", 1)),
        (MANIFEST, insert("egress", "a", 1)),
        (MANIFEST, push("tools", 1)),
        (anchors, replace("b x", 2)),
        (anchors, insert("b", "y", 2)),
        (anchors, insert("a", "y", 2)),
        (anchors, replace("a x", 2)),
        (anchors, replace("a", 2)),
        (anchors, remove("c y")),
        (anchors, remove("a")),
        (anchors, remove("d")),
        // What an alias stands for may be replaced and removed, and an unused anchor too.
        (anchors, replace("b", 2)),
        (anchors, remove("b")),
        (anchors, remove("c")),
        (anchors, remove("g 0")),
        ("a: 1\na: 2\n", replace("a", 3)),
        ("a: [\n", replace("a", 3)),
        ("# nothing\n", insert("", "a", 1)),
    ] {
        out.push_str(&format!("{change:?}\n{}\n", diff(text, change.clone())));
    }
    insta::assert_snapshot!(out);
}

#[test]
fn an_edit_keeps_crlf_and_a_missing_last_line_break() {
    let text = "\u{feff}a: 1 # x\r\nb:\r\n  - 1";
    assert_eq!(apply(text, &[push("b", 2)]).unwrap(), "\u{feff}a: 1 # x\r\nb:\r\n  - 1\r\n  - 2");
    assert_eq!(
        apply(text, &[insert("", "c", 3)]).unwrap(),
        "\u{feff}a: 1 # x\r\nb:\r\n  - 1\r\nc: 3"
    );
    assert_eq!(apply(text, &[remove("b")]).unwrap(), "\u{feff}a: 1 # x");
    assert_eq!(apply(text, &[remove("a")]).unwrap(), "\u{feff}b:\r\n  - 1");
    assert_eq!(
        apply(text, &[replace("a", Data::mapping([("x", "two\nlines")]))]).unwrap(),
        "\u{feff}a: # x\r\n  x: \"two\\nlines\"\r\nb:\r\n  - 1"
    );
}

#[test]
fn a_block_scalar_with_its_blank_lines_stays_what_it_is() {
    let text = "a:\n  b: |+\n    x\n\n\nc: 1\n";
    assert_eq!(
        apply(text, &[insert("a", "d", 2)]).unwrap(),
        "a:\n  b: |+\n    x\n\n\n  d: 2\nc: 1\n"
    );
    assert_eq!(apply(text, &[replace("a b", "y")]).unwrap(), "a:\n  b: y\n\n\nc: 1\n");
    let kept = "a: |+\n  x\nb: |+\n  y\n\nc: 1\n";
    assert_eq!(apply(kept, &[remove("b")]).unwrap(), "a: |+\n  x\nc: 1\n");
}

#[test]
fn values_that_are_not_written_are_filled_in() {
    assert_eq!(apply("a:\n", &[replace("a", 1)]).unwrap(), "a: 1\n");
    assert_eq!(apply("a: # c\nb: 1", &[replace("a", "x")]).unwrap(), "a: x # c\nb: 1");
    assert_eq!(
        apply("a: # c\nb: 1", &[replace("a", Data::mapping([("x", 1)]))]).unwrap(),
        "a: # c\n  x: 1\nb: 1"
    );
    assert_eq!(apply("- # c\n- b", &[replace("0", 1)]).unwrap(), "- 1 # c\n- b");
    assert_eq!(apply("{a, b: }", &[replace("a", 1), replace("b", 2)]).unwrap(), "{a: 1, b: 2 }");
}

#[test]
fn indentation_follows_the_text() {
    let four = "a:\n    b: 1\nc:\n- 1\n";
    let nested = Data::mapping([("x", Data::mapping([("y", 1)]))]);
    assert_eq!(
        apply(four, &[insert("a", "n", nested)]).unwrap(),
        "a:\n    b: 1\n    n:\n        x:\n            y: 1\nc:\n- 1\n"
    );
    let long =
        Data::sequence(["a sequence that is too long", "to stand on one line of its own", "x"]);
    assert_eq!(
        apply(four, &[insert("a", "n", long)]).unwrap(),
        "a:\n    b: 1\n    n:\n    - a sequence that is too long\n    - to stand on one line of its own\n    - x\nc:\n- 1\n"
    );
}

#[test]
fn a_flow_collection_over_lines_gets_its_entry_on_a_line() {
    let text = "a: [\n  x, # c\n  y # d\n]\n";
    assert_eq!(apply(text, &[push("a", "z")]).unwrap(), "a: [\n  x, # c\n  y,\n  z # d\n]\n");
    assert_eq!(apply(text, &[remove("a 0")]).unwrap(), "a: [\n  y # d\n]\n");
    assert_eq!(apply("{ }", &[insert("", "a", 1)]).unwrap(), "{a: 1}");
    assert_eq!(apply("{ # c\n}", &[insert("", "a", 1)]).unwrap(), "{a: 1 # c\n}");
    assert_eq!(apply("[a, ]", &[push("", "b")]).unwrap(), "[a, b, ]");
}

#[test]
fn changes_in_a_row_see_each_other() {
    let changes = [
        insert("", "b", Data::mapping([("c", 1)])),
        insert("b", "d", 2),
        remove("b c"),
        remove("a"),
    ];
    let text = "a: 1\n";
    assert_eq!(apply(text, &changes).unwrap(), "b:\n  d: 2\n");
    assert_eq!(splice(text, &splices(text, &changes).unwrap()).unwrap(), "b:\n  d: 2\n");
    assert_eq!(splices(text, &[]).unwrap(), []);
}

#[test]
fn splices_must_fit() {
    let bad = |edits: &[(std::ops::Range<usize>, String)]| {
        matches!(splice("aé", edits), Err(EditError::Splice { .. }))
    };
    assert!(bad(&[(0..9, String::new())]));
    assert!(bad(&[(2..3, String::new())]));
    assert!(bad(&[(0..1, String::new()), (0..3, String::new())]));
    #[expect(clippy::reversed_empty_ranges, reason = "what is refused")]
    let backwards = 1..0;
    assert!(bad(&[(backwards, String::new())]));
    assert_eq!(splice("aé", &[(3..3, "c".into()), (1..1, "b".into())]).unwrap(), "abéc");
}

#[test]
fn a_value_too_deep_or_too_large_is_refused() {
    let deep = (0..70).fold(Data::Null, |inner, _| Data::sequence([inner]));
    assert!(matches!(apply("a: 1\n", &[replace("a", deep)]), Err(EditError::Unsafe { .. })));
    let large = "x".repeat(Limits::MANIFEST.bytes);
    assert!(matches!(apply("a: 1\n", &[replace("a", large)]), Err(EditError::Unsafe { .. })));
}
