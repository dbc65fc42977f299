//! Sources that are nested as deeply as their bytes allow: each is found or unread, and none ends the process.

use std::fmt::Write as _;

use crate::sources::mentions;

/// Levels that are surely parsed, and some that are surely not.
const DEEP: [usize; 2] = [10_000, 200_000];

/// A source that repeats `open`, has `middle`, and repeats `close`.
fn nested(open: &str, middle: &str, close: &str, levels: usize) -> String {
    let mut text = open.repeat(levels);
    text.push_str(middle);
    text.push_str(&close.repeat(levels));
    text
}

/// What became of a source that also imports: found, or unread.
fn outcome(path: &str, text: &str) -> &'static str {
    let got = mentions(path, text);
    assert!(
        !got.is_empty(),
        "silence about a source that begins with {}",
        &text[..text.floor_char_boundary(40)]
    );
    if got.iter().any(|line| line.ends_with(" litellm Import")) { "found" } else { "unread" }
}

#[test]
fn python_of_any_depth_is_found_or_unread() {
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("[", "", "]"),
        ("{", "", "}"),
        ("{1:", "1", "}"),
        ("1+", "1", ""),
        ("a.", "b", ""),
        ("a", "", "()"),
        ("a", "", "[0]"),
        ("-", "1", ""),
        ("not ", "1", ""),
        ("await ", "1", ""),
        ("lambda:", "1", ""),
        ("lambda a,b:", "1", ""),
        ("1 if 1 else ", "1", ""),
        ("a**", "1", ""),
        ("a<", "1", ""),
        ("a and b or ", "1", ""),
        ("f(", "1", ")"),
        ("f(a=", "1", ")"),
        ("f'{", "1", "}'"),
        ("[x for x in ", "y", "]"),
        ("*", "a", ""),
        ("(yield ", "1", ")"),
        ("(a:=", "1", ")"),
        ("x = ", "1", ""),
        ("@", "", ""),
        ("((", "", ""),
        ("'a' ", "'b'", ""),
        ("'a' + ", "'b'", ""),
    ] {
        for levels in DEEP {
            let text = format!("import litellm\n{}\n", nested(open, middle, close, levels));
            let found = outcome("a.py", &text);
            // Python takes no more than 150 f-strings in each other, and none this deep.
            if levels == DEEP[0] && open != "f'{" {
                assert_eq!(found, "found", "{open}");
            }
        }
    }
    let mut blocks = String::from("import litellm\n");
    for level in 0..5000 {
        writeln!(blocks, "{:level$}if 1:", "").unwrap();
    }
    assert_eq!(outcome("a.py", &blocks), "found");
    for statement in ["if 1: ", "class A: ", "match a:\n case ", "def f(a=", "else: ", "try: "] {
        for levels in DEEP {
            outcome("a.py", &format!("import litellm\n{}", statement.repeat(levels)));
        }
    }
    let patterns =
        format!("import litellm\nmatch a:\n case {}:\n  pass", nested("[", "a", "]", 20_000));
    assert_eq!(outcome("a.py", &patterns), "found");
}

#[test]
fn large_files_of_the_worst_shapes_are_found_or_unread() {
    const BYTES: usize = 2 * 1024 * 1024;
    for open in ["(", "a.", "1+", "f'{", "lambda:", "\"\"\"'''", "exec("] {
        outcome("a.py", &format!("import litellm\n{}", open.repeat(BYTES / open.len())));
    }
    for open in ["(", "a.", "`${", "a=>", "<a>", "\"", "\\u{"] {
        outcome("a.js", &format!("import 'litellm'\n{}", open.repeat(BYTES / open.len())));
    }
    for open in ["<!--", "<script>", "<script '", "(*/'litellm'", "{import('litellm')"] {
        let text = open.repeat(100_000 / open.len());
        outcome("a.vue", &format!("<script>import 'litellm'</script>{text}"));
    }
}

#[test]
fn long_but_flat_python_is_read() {
    let mut table = String::from("import litellm\nx = [\n");
    for row in 0..300_000 {
        writeln!(table, " ('a', {row}, f(b.c)),").unwrap();
    }
    table.push_str("]\n");
    assert_eq!(outcome("a.py", &table), "found");
    let strings = format!("import litellm\nx = (\n{})", "'abc'\n".repeat(500_000));
    assert_eq!(outcome("a.py", &strings), "found");
}

#[test]
fn strings_run_in_strings_are_found_or_unread() {
    let mut code = String::from("import litellm");
    for _ in 0..12 {
        code = format!("exec({code:?})");
        let got = mentions("a.py", &code);
        assert_eq!(got.len(), 1, "{got:?}");
    }
    // Constants that double each other, and a name with many values.
    let mut doubling = String::from("a0 = 'litellm '\n");
    for level in 0..60 {
        writeln!(doubling, "a{} = a{level} + a{level}", level + 1).unwrap();
    }
    doubling.push_str("exec(a60)");
    assert!(mentions("a.py", &doubling)[0].contains("unread"));
    assert!(mentions("a.py", doubling.replace("litellm", "x")).is_empty());
}

#[test]
fn javascript_of_any_depth_is_found_or_unread() {
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("[", "", "]"),
        ("{", "", "}"),
        ("x={a:", "1", "}"),
        ("1+", "1", ""),
        ("a.", "b", ""),
        ("a", "", "()"),
        ("a", "", "[0]"),
        ("a", "", "?.b"),
        ("a", "", "``"),
        ("!", "1", ""),
        ("- ", "1", ""),
        ("typeof ", "1", ""),
        ("new ", "a", ""),
        ("void ", "1", ""),
        ("a=>", "1", ""),
        ("a?", "1", ":1"),
        ("a?1:", "1", ""),
        ("a**", "1", ""),
        ("a??", "1", ""),
        ("a=", "1", ""),
        ("`${", "1", "}`"),
        ("f(", "1", ")"),
        ("<a>", "", "</a>"),
        ("<a b={", "1", "}/>"),
        ("if(1)", ";", ""),
        ("if(1);else ", ";", ""),
        ("for(;;)", ";", ""),
        ("while(1)", ";", ""),
        ("do ", ";", " while(1)"),
        ("a:", ";", ""),
        ("with(a)", ";", ""),
        ("function f(){", "", "}"),
        ("class A{a(){", "", "}}"),
        ("class A extends ", "B{}", ""),
        ("try{", "", "}catch{}"),
        ("switch(1){case 1:", "", "}"),
        ("async()=>", "1", ""),
        ("let [", "a", "]=1"),
        ("({a:", "1", "})"),
    ] {
        for levels in DEEP {
            let text = format!("import 'litellm'\n{}\n", nested(open, middle, close, levels));
            let found = outcome("a.js", &text);
            assert!(levels != DEEP[0] || found == "found" || found == "unread");
        }
    }
    for (open, middle, close) in [
        ("A<", "B", ">"),
        ("A|", "B", ""),
        ("(", "A", ")"),
        ("[", "A", "]"),
        ("{a:", "A", "}"),
        ("keyof ", "A", ""),
        ("A", "", "[]"),
        ("A extends B ? C : ", "D", ""),
        ("()=>", "A", ""),
        ("`${", "A", "}`"),
    ] {
        for levels in DEEP {
            outcome(
                "a.ts",
                &format!("import 'litellm'\ntype X = {}\n", nested(open, middle, close, levels)),
            );
        }
    }
    for (open, close) in
        [("namespace A{", "}"), ("a as ", "b"), ("<A>", "1"), ("a satisfies ", "b")]
    {
        for levels in DEEP {
            outcome("a.ts", &format!("import 'litellm'\n{}\n", nested(open, "", close, levels)));
        }
    }
}
