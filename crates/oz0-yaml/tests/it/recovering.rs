//! What is read of a text with a syntax error in it.

use oz0_yaml::{Data, Limits, ProblemKind, parse};

fn rest(text: &str) -> Data {
    let parsed = parse(text, &Limits::MANIFEST);
    let kinds: Vec<_> = parsed.problems.iter().map(|problem| problem.kind).collect();
    assert_eq!(kinds, [ProblemKind::Syntax], "{:?}", parsed.problems);
    parsed.root.map_or(Data::Null, |root| root.data())
}

#[test]
fn what_stands_around_a_broken_line_is_read() {
    let around = Data::mapping([("a", 1), ("c", 3)]);
    for broken in [
        "b: @x",
        "b: x: y",
        "b",
        "b: \"x",
        "b: 'x",
        "b: [1, 2",
        "b: {x: 1",
        "b: [1}",
        "b: ]",
        "b: %x",
        "b: `x`",
        "b: - x",
        "b: \"x\" y",
        "b: !u!x y",
        "b: \"\\q\"",
        "b: {x: 1\n  y: 2\n  z",
        "b: |x",
        "- b",
        "b: [x]y",
        "b: *",
        "b: &",
    ] {
        assert_eq!(rest(&format!("a: 1\n{broken}\nc: 3\n")), around, "{broken}");
    }
}

#[test]
fn what_is_left_open_at_the_end_costs_only_itself() {
    for broken in ["b: [1, 2", "b: {x", "b: \"x", "b: 'x\n\n"] {
        assert_eq!(rest(&format!("a: 1\n{broken}")), Data::mapping([("a", 1)]), "{broken}");
    }
}

#[test]
fn one_mistake_is_reported_once() {
    for text in [
        "a:\n  b: 1\n c: 2\nd: 3\n",
        "a: [\n  1,\n  2\nb: 3\nc: 4\nd: 5\n",
        "- a\n- b\nc: 1\nd: 2\n",
        "a: {\n  x: 1\n  y: 2\n  z: 3\n}\nb: 1\n",
    ] {
        let parsed = parse(text, &Limits::MANIFEST);
        assert_eq!(parsed.problems.len(), 1, "{text:?} {:?}", parsed.problems);
    }
}

#[test]
fn an_open_bracket_is_named_where_it_opened() {
    let problem = &parse("a: 1\nb: [1, 2\nc: 3\n", &Limits::MANIFEST).problems[0];
    assert_eq!(problem.related.as_ref().unwrap().0, 8..9);
}
