//! What is read, what is reported, and where.

use oz0_yaml::{Data, Limits, NotUtf8, ProblemKind, Style, Value, decode, parse};

fn read(text: &str) -> Data {
    let parsed = parse(text, &Limits::MANIFEST);
    assert_eq!(parsed.problems, [], "{text:?}");
    parsed.root.map_or(Data::Null, |root| root.data())
}

/// Every problem as `kind "place" message`, with its related place.
fn problems(text: &str) -> Vec<String> {
    let show = |range: &std::ops::Range<usize>| {
        let before = &text[..range.start];
        let line = before.split('\n').count();
        format!(
            "{line}:{} {:?}",
            before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1,
            &text[range.clone()]
        )
    };
    parse(text, &Limits::MANIFEST)
        .problems
        .iter()
        .map(|problem| {
            let related = problem
                .related
                .as_ref()
                .map_or(String::new(), |(range, message)| format!(" ({message}: {})", show(range)));
            format!("{:?} {} {}{related}", problem.kind, show(&problem.range), problem.message)
        })
        .collect()
}

fn kinds(text: &str, limits: &Limits) -> Vec<ProblemKind> {
    parse(text, limits).problems.iter().map(|problem| problem.kind).collect()
}

#[test]
fn scalars_resolve_by_the_core_schema() {
    let table: [(&str, Data); 44] = [
        ("yes", "yes".into()),
        ("no", "no".into()),
        ("on", "on".into()),
        ("off", "off".into()),
        ("NO", "NO".into()),
        ("y", "y".into()),
        ("null", Data::Null),
        ("~", Data::Null),
        ("NULL", Data::Null),
        ("nULL", "nULL".into()),
        ("true", true.into()),
        ("TRUE", true.into()),
        ("tRUE", "tRUE".into()),
        ("false", false.into()),
        ("0", 0.into()),
        ("-7", (-7).into()),
        ("+7", 7.into()),
        ("007", 7.into()),
        ("0o17", 15.into()),
        ("0O17", "0O17".into()),
        ("0x1F", 31.into()),
        ("-0x1", "-0x1".into()),
        ("0x", "0x".into()),
        ("0x+1", "0x+1".into()),
        ("0b1", "0b1".into()),
        ("1_000", "1_000".into()),
        ("1.", 1.0.into()),
        (".5", 0.5.into()),
        ("1e3", 1000.0.into()),
        ("-1.5E-1", (-0.15).into()),
        ("1e", "1e".into()),
        (".", ".".into()),
        (".inf", f64::INFINITY.into()),
        ("-.INF", f64::NEG_INFINITY.into()),
        ("+.inf", f64::INFINITY.into()),
        (".nan", f64::NAN.into()),
        ("inf", "inf".into()),
        ("nan", "nan".into()),
        ("-.nan", "-.nan".into()),
        ("9223372036854775807", i64::MAX.into()),
        ("9223372036854775808", Data::BigInt("9223372036854775808".into())),
        ("-0009223372036854775809", Data::BigInt("-9223372036854775809".into())),
        ("12:30:45", "12:30:45".into()),
        ("2026-01-01", "2026-01-01".into()),
    ];
    for (text, says) in table {
        assert_eq!(read(text), says, "{text}");
        assert_eq!(read(&format!("'{text}'")), Data::from(text), "{text} in quotes");
    }
}

#[test]
fn core_tags_are_honoured_and_others_are_a_problem() {
    assert_eq!(read("!!str 1"), "1".into());
    assert_eq!(read("!!str"), "".into());
    assert_eq!(read("! 1"), "1".into());
    assert_eq!(read("! [1]"), Data::sequence([1]));
    assert_eq!(read("!!int '0x1F'"), 31.into());
    assert_eq!(read("!!float 1"), 1.0.into());
    assert_eq!(read("!!null ''"), Data::Null);
    assert_eq!(read("!!bool true"), true.into());
    assert_eq!(read("!<tag:yaml.org,2002:str> 1"), "1".into());
    assert_eq!(read("!!map {a: !!seq [1]}"), Data::mapping([("a", Data::sequence([1]))]));
    insta::assert_debug_snapshot!(problems(
        "a: !local 1\nb: !!set {x}\nc: !!int x\nd: !!seq {}\ne: !!map\n"
    ));
}

#[test]
fn a_merge_key_is_a_key_like_any_other() {
    assert_eq!(
        read("a: &a {x: 1}\nb: {<<: *a}\n"),
        Data::mapping([
            ("a", Data::mapping([("x", 1)])),
            ("b", Data::mapping([("<<", Data::mapping([("x", 1)]))])),
        ])
    );
}

#[test]
fn keys_that_resolve_to_one_value_are_duplicates() {
    insta::assert_debug_snapshot!(problems(
        "a: 1\n'a': 2\nb: {x: 1, \"x\": 2}\n0x10: 1\n16: 2\n1: a\n1.0: b\n'1': c\n[1, {a: 1, b: 2}]: 1\n[1, {b: 2, a: 1}]: 2\n~: 1\n: 2\na: 3\n"
    ));
}

#[test]
fn many_mistakes_are_all_reported_in_one_run() {
    insta::assert_debug_snapshot!(problems(
        "name: a\nname: b\nversion 1.4\nkind: a: b\ntools:\n\tgit: *nowhere\n\thub: !x y\nlicense: @MIT\negress: [a, b\ntitle: \"x\nflows: {a: 1}}\nname: c\n---\nb: 1\n"
    ));
}

#[test]
fn a_text_of_tabs_is_read_as_if_they_were_spaces() {
    let parsed = parse("a:\n\tb:\n\t\tc: 1\n\td: [\n\t\tx]\n", &Limits::MANIFEST);
    assert_eq!(
        parsed.root.unwrap().data(),
        Data::mapping([(
            "a",
            Data::mapping([
                ("b", Data::mapping([("c", Data::from(1))])),
                ("d", Data::sequence(["x"])),
            ])
        )])
    );
    assert!(parsed.problems.iter().all(|problem| problem.kind == ProblemKind::Tab));
    assert_eq!(parsed.problems.len(), 4);
    // A tab that indents nothing is none of these.
    assert_eq!(
        read("a:\t1\t# c\nb: |\n  x\n  \ty\n"),
        Data::mapping([("a", Data::from(1)), ("b", "x\n\ty\n".into())])
    );
}

#[test]
fn a_second_document_is_a_problem_and_an_end_is_not() {
    assert_eq!(read("%YAML 1.2\n---\na: 1\n...\n# end\n"), Data::mapping([("a", 1)]));
    insta::assert_debug_snapshot!(problems("a: 1\n---\na: 2\n---\na: 3\n"));
    assert_eq!(kinds("---\n---\n", &Limits::MANIFEST), [ProblemKind::Documents]);
}

#[test]
fn a_text_without_a_document_has_no_root() {
    for text in ["", "# only a comment\n", "\u{feff}", "\n\n"] {
        let parsed = parse(text, &Limits::MANIFEST);
        assert!(parsed.root.is_none() && parsed.problems.is_empty(), "{text:?}");
    }
    assert_eq!(read("---\n"), Data::Null);
}

#[test]
fn places_count_bytes_with_bom_and_every_line_break() {
    for line_break in ["\n", "\r\n", "\r"] {
        let text = "\u{feff}größe: 日本 # c\nlist:\n- a\n-\n- b: |\n    x\n  c:\n"
            .replace('\n', line_break);
        let parsed = parse(&text, &Limits::MANIFEST);
        let root = parsed.root.unwrap();
        let entry = root.get("größe").unwrap();
        assert_eq!(&text[entry.key.range.clone()], "größe");
        assert_eq!(&text[entry.value.range.clone()], "日本");
        let list = &root.get("list").unwrap().value;
        assert!(text[list.range.clone()].starts_with("- a"));
        let items = list.as_sequence().unwrap();
        assert!(text[..items[1].range.start].ends_with('-') && items[1].range.is_empty());
        let literal = &items[2].get("b").unwrap().value;
        assert_eq!(text[literal.range.clone()], format!("|{line_break}    x"));
        let absent = &items[2].get("c").unwrap().value;
        assert!(text[..absent.range.start].ends_with("c:") && absent.range.is_empty());
        assert_eq!(absent.style(), Style::Absent);
        assert_eq!(&text[parsed.comments[0].range.clone()], "# c");
    }
}

#[test]
fn comments_are_told_with_their_place() {
    let text = "# one\na: 1 # two\n  # three\nb: | # four\n  # no comment\nc: 'x # none'\n# five";
    let parsed = parse(text, &Limits::MANIFEST);
    let told: Vec<_> = parsed.comments.iter().map(|c| (c.text.as_str(), c.own_line)).collect();
    assert_eq!(
        told,
        [(" one", true), (" two", false), (" three", true), (" four", false), (" five", true)]
    );
}

#[test]
fn many_comments_in_a_row_are_no_problem() {
    let text = format!("a: 1\n{}b: 2\n", "# comment\n".repeat(1000));
    let parsed = parse(&text, &Limits::MANIFEST);
    assert_eq!((parsed.problems.len(), parsed.comments.len()), (0, 1000));
}

#[test]
fn an_alias_has_its_own_place_and_knows_its_anchors() {
    let text = "a: &x {b: 1}\nc: *x\n";
    let root = parse(text, &Limits::MANIFEST).root.unwrap();
    let alias = &root.get("c").unwrap().value;
    assert_eq!(&text[alias.range.clone()], "*x");
    assert_eq!(&text[alias.anchored().unwrap()], "{b: 1}");
    assert_eq!(&text[alias.get("b").unwrap().value.range.clone()], "1");
}

#[test]
fn aliases_to_nothing_and_to_themselves_are_problems() {
    insta::assert_debug_snapshot!(problems("a: *x\nb: &x [1, *x, {c: *x}]\nd: *x\ne: &e *x\n"));
}

#[test]
fn a_billion_laughs_are_cut_short() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..60 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    let parsed = parse(&text, &Limits::MANIFEST);
    let expansions =
        parsed.problems.iter().filter(|problem| problem.kind == ProblemKind::AliasExpansion);
    assert_eq!(expansions.count(), 1);
}

#[test]
fn the_limit_of_aliases_counts_exactly() {
    let limits = Limits { alias_nodes: 4, ..Limits::MANIFEST };
    // Each alias adds the sequence and its item.
    assert_eq!(kinds("a: &a [1]\nb: [*a, *a]\n", &limits), []);
    assert_eq!(kinds("a: &a [1]\nb: [*a, *a, *a]\n", &limits), [ProblemKind::AliasExpansion]);
}

#[test]
fn aliases_of_long_texts_are_bounded_too() {
    let text = format!("a: &a {}\nb: [{}]\n", "x".repeat(500_000), "*a,".repeat(9_000));
    assert_eq!(kinds(&text, &Limits::MANIFEST), [ProblemKind::AliasExpansion]);
}

#[test]
fn nesting_is_bounded_in_every_style() {
    let flow = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let block = |depth: usize| "- ".repeat(depth) + "x";
    let mapping = |depth: usize| (0..depth).map(|d| " ".repeat(d) + "a:\n").collect::<String>();
    for build in [&flow as &dyn Fn(usize) -> String, &block, &mapping] {
        assert_eq!(kinds(&build(64), &Limits::MANIFEST), []);
        assert_eq!(kinds(&build(65), &Limits::MANIFEST), [ProblemKind::TooDeep]);
        assert_eq!(
            kinds(
                &build(3_000),
                &Limits { bytes: usize::MAX, depth: usize::MAX, ..Limits::MANIFEST }
            ),
            [ProblemKind::TooDeep]
        );
    }
    // Through aliases, nesting that is not to be seen in the text.
    let mut text = "a0: &a0 x\n".to_owned();
    for level in 1..70 {
        text.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
    }
    assert!(kinds(&text, &Limits::MANIFEST).contains(&ProblemKind::TooDeep));
}

#[test]
fn a_text_above_the_limit_is_not_read() {
    let limits = Limits { bytes: 5, ..Limits::MANIFEST };
    assert_eq!(kinds("a: 12", &limits), []);
    let parsed = parse("a: 123é", &limits);
    assert!(parsed.root.is_none());
    assert_eq!(parsed.problems[0].kind, ProblemKind::TooLarge);
    assert_eq!(parsed.problems[0].range, 5..6);
}

#[test]
fn characters_that_yaml_leaves_out_are_reported_and_hide_nothing() {
    let text = "a: x\u{0}\u{1b}y\nb: \"\u{7f}\"\nc: \u{85}\u{2028}ok\n";
    insta::assert_debug_snapshot!(problems(text));
    assert!(parse(text, &Limits::MANIFEST).root.unwrap().get("c").is_some());
}

#[test]
fn bytes_that_are_no_utf_8_are_named() {
    assert_eq!(decode(b"a: \xff"), Err(NotUtf8::Invalid { offset: 3 }));
    assert_eq!(decode(b"\xff\xfea\0"), Err(NotUtf8::Utf16 { big_endian: false }));
    assert_eq!(decode(b"\xfe\xff\0a"), Err(NotUtf8::Utf16 { big_endian: true }));
    assert_eq!(decode(b"a\0:\0"), Err(NotUtf8::Utf16 { big_endian: false }));
    assert_eq!(decode(b"\0a\0:"), Err(NotUtf8::Utf16 { big_endian: true }));
    assert_eq!(
        NotUtf8::Utf16 { big_endian: false }.to_string(),
        "encoded as UTF-16 (little-endian), not UTF-8"
    );
    assert_eq!(decode("\u{feff}a".as_bytes()), Ok("\u{feff}a"));
}

#[test]
fn keys_of_any_kind_are_kept() {
    let root = parse("1: a\n[x]: b\n? {y: z}\n: c\n~: d\n", &Limits::MANIFEST).root.unwrap();
    let kinds: Vec<_> = root.as_mapping().unwrap().iter().map(|entry| entry.key.kind()).collect();
    assert_eq!(kinds, ["an integer", "a sequence", "a mapping", "null"]);
    assert!(root.get("1").is_none());
    assert!(matches!(root.value, Value::Mapping(_)));
}
