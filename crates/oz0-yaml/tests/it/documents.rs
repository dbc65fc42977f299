//! Random documents in every style, with comments, and the value each one says.

use oz0_yaml::Data;
use proptest::prelude::*;

/// A document before it is written.
#[derive(Debug, Clone)]
pub(crate) enum Tree {
    /// A scalar on one line as it is written, and what it says.
    Scalar(&'static str, Data),
    /// Nothing at all.
    Absent,
    /// A block scalar: header, lines, what it says.
    Lines(&'static str, &'static [&'static str], &'static str),
    Flow(Flow),
    Mapping(Vec<Item>),
    Sequence(Vec<Item>),
}

/// A document on one line, or on several inside of brackets.
#[derive(Debug, Clone)]
pub(crate) enum Flow {
    Scalar(&'static str, Data),
    Mapping(Vec<Flow>, bool),
    Sequence(Vec<Flow>, bool),
}

#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub above: bool,
    pub behind: bool,
    pub value: Tree,
}

/// How a document is written.
#[derive(Debug, Clone)]
pub(crate) struct Dress {
    pub step: usize,
    pub dash: usize,
    pub line_break: &'static str,
    pub final_break: bool,
    pub bom: bool,
    pub start: bool,
}

/// Keys in order: each in another notation.
pub(crate) const KEYS: [(&str, &str); 8] = [
    ("alpha", "alpha"),
    ("'b c'", "b c"),
    ("\"d: e\"", "d: e"),
    ("größe", "größe"),
    ("x-y_z", "x-y_z"),
    ("\"1\"", "1"),
    ("p/q", "p/q"),
    ("\"#\"", "#"),
];

const SCALARS: [(&str, &str); 9] = [
    ("plain text", "plain text"),
    ("\"1\"", "1"),
    ("'it''s'", "it's"),
    ("\"a: b # c\"", "a: b # c"),
    ("日本", "日本"),
    ("http://x/y#z", "http://x/y#z"),
    ("no", "no"),
    ("''", ""),
    ("\"\\t\\u00e9\"", "\t\u{e9}"),
];

fn scalar() -> impl Strategy<Value = (&'static str, Data)> {
    prop_oneof![
        4 => proptest::sample::select(&SCALARS[..]).prop_map(|(text, says)| (text, Data::from(says))),
        1 => Just(("1", Data::Int(1))),
        1 => Just(("0x1F", Data::Int(31))),
        1 => Just(("1.5", Data::Float(1.5))),
        1 => Just(("true", Data::Bool(true))),
        1 => Just(("~", Data::Null)),
    ]
}

fn flow() -> impl Strategy<Value = Flow> {
    let leaf = scalar().prop_map(|(text, says)| Flow::Scalar(text, says));
    leaf.prop_recursive(2, 8, 3, |inner| {
        let items = proptest::collection::vec(inner, 0..4);
        (items, any::<bool>(), any::<bool>()).prop_map(|(items, mapping, lines)| {
            if mapping { Flow::Mapping(items, lines) } else { Flow::Sequence(items, lines) }
        })
    })
}

pub(crate) fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        5 => scalar().prop_map(|(text, says)| Tree::Scalar(text, says)),
        1 => Just(Tree::Absent),
        1 => Just(Tree::Lines("|", &["one", "", "  two # no comment"], "one\n\n  two # no comment\n")),
        1 => Just(Tree::Lines("|-", &["one"], "one")),
        1 => Just(Tree::Lines(">", &["one", "two"], "one two\n")),
        2 => flow().prop_map(Tree::Flow),
    ];
    let value = leaf.prop_recursive(3, 24, 4, |inner| {
        (items(inner), any::<bool>()).prop_map(|(items, mapping)| {
            if mapping { Tree::Mapping(items) } else { Tree::Sequence(items) }
        })
    });
    items(value).prop_map(Tree::Mapping)
}

fn items(value: impl Strategy<Value = Tree>) -> impl Strategy<Value = Vec<Item>> {
    let item = (any::<bool>(), any::<bool>(), value).prop_map(|(above, behind, value)| Item {
        above,
        behind,
        value,
    });
    proptest::collection::vec(item, 1..5)
}

pub(crate) fn dress() -> impl Strategy<Value = Dress> {
    (
        proptest::sample::select(&[2_usize, 4][..]),
        any::<bool>(),
        proptest::sample::select(&["\n", "\r\n"][..]),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(step, indent, line_break, final_break, bom, start)| Dress {
            step,
            dash: if indent { step } else { 0 },
            line_break,
            final_break,
            bom,
            start,
        })
}

pub(crate) fn data(tree: &Tree) -> Data {
    match tree {
        Tree::Scalar(_, says) => says.clone(),
        Tree::Absent => Data::Null,
        Tree::Lines(_, _, says) => Data::from(*says),
        Tree::Flow(flow) => flow_data(flow),
        Tree::Mapping(items) => {
            Data::mapping(KEYS.iter().zip(items).map(|((_, key), item)| (*key, data(&item.value))))
        }
        Tree::Sequence(items) => Data::sequence(items.iter().map(|item| data(&item.value))),
    }
}

fn flow_data(flow: &Flow) -> Data {
    match flow {
        Flow::Scalar(_, says) => says.clone(),
        Flow::Mapping(items, _) => {
            Data::mapping(KEYS.iter().zip(items).map(|((_, key), item)| (*key, flow_data(item))))
        }
        Flow::Sequence(items, _) => Data::sequence(items.iter().map(flow_data)),
    }
}

pub(crate) fn write(tree: &Tree, dress: &Dress) -> String {
    let mut out = String::new();
    if dress.bom {
        out.push('\u{feff}');
    }
    if dress.start {
        out.push_str("--- # start\n");
    }
    let mut writer = Writer { out, dress, comments: 0 };
    writer.block(tree, 0, true);
    let mut out = writer.out;
    if dress.final_break {
        out.push('\n');
    }
    out.replace('\n', dress.line_break)
}

struct Writer<'d> {
    out: String,
    dress: &'d Dress,
    comments: usize,
}

impl Writer<'_> {
    fn comment(&mut self) {
        self.comments += 1;
        self.out.push_str(&format!("# comment {}", self.comments));
    }

    fn block(&mut self, tree: &Tree, column: usize, fresh: bool) {
        let (items, mapping) = match tree {
            Tree::Mapping(items) => (items, true),
            Tree::Sequence(items) => (items, false),
            _ => return,
        };
        for (index, (item, (key, _))) in items.iter().zip(KEYS).enumerate() {
            // The first item of a collection behind a dash begins on the dash's line.
            let first = index == 0 && !fresh;
            if index > 0 {
                self.out.push('\n');
            }
            if !first {
                if item.above {
                    self.out.push_str(&" ".repeat(column));
                    self.comment();
                    self.out.push('\n');
                }
                self.out.push_str(&" ".repeat(column));
            }
            self.out.push_str(&if mapping { format!("{key}:") } else { "-".to_owned() });
            self.value(item, column, mapping);
        }
    }

    fn value(&mut self, item: &Item, column: usize, mapping: bool) {
        let comment = |writer: &mut Self| {
            if item.behind {
                writer.out.push(' ');
                writer.comment();
            }
        };
        match &item.value {
            Tree::Scalar(text, _) => {
                self.out.push_str(&format!(" {text}"));
                comment(self);
            }
            Tree::Absent => comment(self),
            Tree::Flow(flow) => {
                self.out.push(' ');
                self.flow(flow, column + self.dress.step);
                comment(self);
            }
            Tree::Lines(header, lines, _) => {
                self.out.push_str(&format!(" {header}"));
                comment(self);
                for line in *lines {
                    let indent = if line.is_empty() { 0 } else { column + self.dress.step };
                    self.out.push_str(&format!("\n{}{line}", " ".repeat(indent)));
                }
            }
            tree if mapping => {
                comment(self);
                self.out.push('\n');
                let sequence = matches!(tree, Tree::Sequence(_));
                let step = if sequence { self.dress.dash } else { self.dress.step };
                self.block(tree, column + step, true);
            }
            tree => {
                self.out.push(' ');
                self.block(tree, column + 2, false);
            }
        }
    }

    fn flow(&mut self, flow: &Flow, column: usize) {
        let (items, lines, brackets) = match flow {
            Flow::Scalar(text, _) => return self.out.push_str(text),
            Flow::Mapping(items, lines) => (items, *lines && !items.is_empty(), ['{', '}']),
            Flow::Sequence(items, lines) => (items, *lines && !items.is_empty(), ['[', ']']),
        };
        self.out.push(brackets[0]);
        for (index, (item, (key, _))) in items.iter().zip(KEYS).enumerate() {
            if lines {
                self.out.push_str(&format!("\n{}", " ".repeat(column + 2)));
            } else if index > 0 {
                self.out.push(' ');
            }
            if brackets[0] == '{' {
                self.out.push_str(&format!("{key}: "));
            }
            self.flow(item, column + 2);
            if index + 1 < items.len() || lines {
                self.out.push(',');
            }
            if lines {
                self.out.push(' ');
                self.comment();
            }
        }
        if lines {
            self.out.push_str(&format!("\n{}", " ".repeat(column)));
        }
        self.out.push(brackets[1]);
    }
}
