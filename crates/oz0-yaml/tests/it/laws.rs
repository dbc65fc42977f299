//! Laws over random texts.

use std::ops::Range;

use oz0_yaml::edit::{Change, EditError, PathStep, apply, splice, splices};
use oz0_yaml::{Data, Limits, Node, Value, parse};
use proptest::prelude::*;

use crate::documents::{Tree, data, dress, tree, write};

/// A place in a document: how to walk there, each number modulo what there is.
type Walk = Vec<usize>;

#[derive(Debug, Clone)]
enum Kind {
    Replace(Data),
    Insert(Data),
    Push(Data),
    Remove,
}

fn new_value() -> impl Strategy<Value = Data> {
    let leaf = prop_oneof![
        Just(Data::Null),
        any::<bool>().prop_map(Data::from),
        any::<i64>().prop_map(Data::from),
        any::<f64>().prop_map(Data::from),
        proptest::sample::select(
            &[
                "",
                "yes",
                "1",
                "- x",
                "a: b",
                "#",
                "two\nlines\n",
                "é\u{202e}",
                " x ",
                "null",
                "a\u{0}b",
                "'",
                "\"",
                "@x",
                "1.0",
                "0x1",
                "...",
                "-",
                "?",
                "*a",
                "&a",
                "!t",
                "%",
                "a #b",
                "x:",
                "[",
                "{}"
            ][..]
        )
        .prop_map(Data::from),
        "\\PC{0,12}".prop_map(Data::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Data::Sequence),
            proptest::collection::vec(inner, 0..3)
                .prop_map(|values| Data::mapping(["k", "'", "1"].into_iter().zip(values))),
        ]
    })
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        new_value().prop_map(Kind::Replace),
        new_value().prop_map(Kind::Insert),
        new_value().prop_map(Kind::Push),
        Just(Kind::Remove),
    ]
}

/// The path of a walk, with the nodes on it.
fn path<'n>(root: &'n Node, walk: &[usize]) -> (Vec<PathStep<'n>>, Vec<&'n Node>) {
    let (mut steps, mut nodes) = (Vec::new(), vec![root]);
    let mut node = root;
    for number in walk {
        match &node.value {
            Value::Mapping(entries) if !entries.is_empty() => {
                let entry = &entries[number % entries.len()];
                steps.push(PathStep::Key(entry.key.as_str().unwrap()));
                node = &entry.value;
            }
            Value::Sequence(items) if !items.is_empty() => {
                let index = number % items.len();
                steps.push(PathStep::Index(index));
                node = &items[index];
            }
            _ => break,
        }
        nodes.push(node);
    }
    (steps, nodes)
}

/// What the change does to a value, said a second time and in another way than the crate does.
fn model(value: &Data, path: &[PathStep<'_>], kind: &Kind) -> Option<Data> {
    match path {
        [] => match (kind, value) {
            (Kind::Replace(new), _) => Some(new.clone()),
            (Kind::Insert(new), Data::Mapping(entries)) => {
                Some(Data::Mapping([entries.clone(), vec![("new".into(), new.clone())]].concat()))
            }
            (Kind::Push(new), Data::Sequence(items)) => {
                Some(Data::Sequence([items.clone(), vec![new.clone()]].concat()))
            }
            _ => None,
        },
        [step, rest @ ..] => {
            let removed = rest.is_empty() && matches!(kind, Kind::Remove);
            let inner = |value: &Data| if removed { None } else { Some(model(value, rest, kind)) };
            match (value, step) {
                (Data::Mapping(entries), PathStep::Key(key)) => {
                    let mut out = Vec::new();
                    for (name, value) in entries {
                        if name != &Data::from(*key) {
                            out.push((name.clone(), value.clone()));
                        } else if let Some(value) = inner(value) {
                            out.push((name.clone(), value?));
                        }
                    }
                    Some(Data::Mapping(out))
                }
                (Data::Sequence(items), PathStep::Index(index)) => {
                    let mut out = Vec::new();
                    for (at, value) in items.iter().enumerate() {
                        if at != *index {
                            out.push(value.clone());
                        } else if let Some(value) = inner(value) {
                            out.push(value?);
                        }
                    }
                    Some(Data::Sequence(out))
                }
                _ => None,
            }
        }
    }
}

fn change<'a>(path: Vec<PathStep<'a>>, kind: &Kind) -> Change<'a> {
    match kind.clone() {
        Kind::Replace(value) => Change::Replace { path, value },
        Kind::Insert(value) => Change::Insert { path, key: "new", value },
        Kind::Push(value) => Change::Push { path, value },
        Kind::Remove => Change::Remove { path },
    }
}

/// The bytes that a change may touch: the lines of the entry, or of the collection that it is added
/// to or the last one of, with one line break before.
fn allowed(text: &str, nodes: &[&Node], kind: &Kind) -> Range<usize> {
    let target = nodes[nodes.len() - 1];
    let above = nodes.len().checked_sub(2).map(|index| nodes[index]);
    let mut from = target.range.clone();
    if let Some(parent) = above {
        let entry = match &parent.value {
            Value::Mapping(entries) => entries
                .iter()
                .find(|entry| std::ptr::eq(&raw const entry.value, target))
                .map(|entry| entry.key.range.start),
            _ => text[parent.range.start..target.range.start]
                .rfind('-')
                .map(|at| parent.range.start + at),
        };
        from.start = entry.unwrap_or(parent.range.start).min(from.start);
        let head = text[..from.start].rfind('\n').map_or(0, |at| at + 1);
        if matches!(kind, Kind::Remove) && !text[head..from.start].trim().is_empty() {
            // The next one moves up behind the dash.
            from.end = parent.range.end;
        }
        let alone = match &parent.value {
            Value::Mapping(entries) => entries.len() == 1,
            Value::Sequence(items) => items.len() == 1,
            _ => false,
        };
        if matches!(kind, Kind::Remove) && (alone || parent.style() == oz0_yaml::Style::Flow) {
            from = parent.range.clone();
            if alone && nodes.len() > 2 {
                // The collection's own key, whose `:` the brackets go behind.
                from.start = text[..from.start].rfind([':', '-']).unwrap_or(from.start);
            }
        }
    }
    let line = text[..from.start].rfind('\n').map_or(0, |at| at.saturating_sub(1));
    let rest = &text[from.end..];
    // A block scalar may have blank lines behind it.
    let blank = rest.len() - rest.trim_start_matches([' ', '\r', '\n']).len();
    let end = from.end + rest[blank..].find('\n').map_or(rest.len(), |at| blank + at + 1);
    line..end
}

fn comments(text: &str) -> Vec<String> {
    parse(text, &Limits::MANIFEST).comments.into_iter().map(|comment| comment.text).collect()
}

fn check(tree: &Tree, text: &str, walk: &Walk, kind: &Kind) -> Result<(), TestCaseError> {
    let parsed = parse(text, &Limits::MANIFEST);
    prop_assert_eq!(&parsed.problems, &vec![], "{}", text);
    let root = parsed.root.unwrap();
    let before = data(tree);
    prop_assert_eq!(&root.data(), &before, "{}", text);
    let (steps, nodes) = path(&root, walk);
    let change = change(steps.clone(), kind);
    let wanted = model(&before, &steps, kind);
    let made = splices(text, std::slice::from_ref(&change));
    let Some(wanted) = wanted else {
        prop_assert!(
            matches!(made, Err(EditError::WrongKind { .. } | EditError::Missing { .. })),
            "{:?}",
            made
        );
        return Ok(());
    };
    let made = match made {
        Ok(made) => made,
        Err(error) => return Err(TestCaseError::fail(format!("{error}: {change:?} in\n{text}"))),
    };
    let after = splice(text, &made).unwrap();
    prop_assert_eq!(&after, &apply(text, &[change]).unwrap());
    let again = parse(&after, &Limits::MANIFEST);
    prop_assert_eq!(&again.problems, &vec![], "{}", after);
    prop_assert_eq!(again.root.unwrap().data(), wanted, "{}\n---\n{}", text, after);

    let allowed = allowed(text, &nodes, kind);
    for (range, _) in &made {
        prop_assert!(
            allowed.start <= range.start && range.end <= allowed.end,
            "{range:?} of {allowed:?} in\n{text}"
        );
    }
    // Line breaks stay of one kind.
    let lone = |text: &str| text.replace("\r\n", "").contains('\n');
    if text.contains("\r\n") {
        prop_assert!(!lone(&after), "{:?}", after);
    }
    // What is outside of the touched lines is there byte by byte, so only its comments need a look;
    // inside, a comment may only go with what is replaced or removed.
    if matches!(kind, Kind::Insert(_) | Kind::Push(_)) {
        prop_assert_eq!(comments(text), comments(&after));
    } else {
        let outside = |comment: &oz0_yaml::Comment| {
            comment.range.end < allowed.start || comment.range.start >= allowed.end
        };
        let kept = parsed.comments.iter().filter(|comment| outside(comment));
        let after = comments(&after);
        for comment in kept {
            prop_assert!(after.contains(&comment.text), "{} in\n{}", comment.text, text);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn an_edit_gives_what_it_should_and_touches_nothing_else(
        tree in tree(), dress in dress(), walk in proptest::collection::vec(any::<usize>(), 0..5), kind in kind(),
    ) {
        check(&tree, &write(&tree, &dress), &walk, &kind)?;
    }

    #[test]
    fn edits_in_a_row_are_told_as_splices_of_the_first_text(
        tree in tree(), dress in dress(),
        changes in proptest::collection::vec((proptest::collection::vec(any::<usize>(), 0..4), kind()), 1..4),
    ) {
        let text = write(&tree, &dress);
        let mut now = text.clone();
        let mut all = Vec::new();
        let mut held = Vec::new();
        for (walk, kind) in changes {
            let root = parse(&now, &Limits::MANIFEST).root.unwrap();
            held.push((root, walk, kind));
            let (root, walk, kind) = held.last().unwrap();
            let one = change(path(root, walk).0, kind);
            let Ok(next) = apply(&now, std::slice::from_ref(&one)) else { held.pop(); continue };
            now = next;
        }
        for (root, walk, kind) in &held {
            all.push(change(path(root, walk).0, kind));
        }
        prop_assert_eq!(&splice(&text, &splices(&text, &all).unwrap()).unwrap(), &now);
        prop_assert_eq!(&apply(&text, &all).unwrap(), &now);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        crate::checks::read(&bytes);
    }

    #[test]
    fn any_yaml_like_text_is_read_without_a_panic(
        text in "([-?:,\\[\\]{}#&*!|>'\"%@` \t\r\na-c0-2~<é日\u{80}\u{0}]|\\.\\.\\.\n|---|: |- |\n  |\n    |&a|\\*a|!!str |!!map ){0,80}"
    ) {
        crate::checks::read(text.as_bytes());
    }

    #[test]
    fn a_broken_text_is_read_without_a_panic(
        tree in tree(), dress in dress(),
        cuts in proptest::collection::vec((any::<proptest::sample::Index>(), "[-?:,\\[\\]{}#&*!|>'\" \t\r\nab\u{0}]{0,3}", 0_usize..4), 1..4),
    ) {
        let mut text = write(&tree, &dress);
        for (at, put, gone) in cuts {
            let start = text.floor_char_boundary(at.index(text.len() + 1));
            let end = text.floor_char_boundary((start + gone).min(text.len())).max(start);
            text.replace_range(start..end, &put);
        }
        crate::checks::read(text.as_bytes());
    }

    #[test]
    fn every_scalar_is_written_so_that_it_reads_back(value in new_value(), flow in any::<bool>()) {
        let text = if flow { "{a: 0}" } else { "a: 0\n" };
        let path = vec![PathStep::Key("a")];
        let after = apply(text, &[Change::Replace { path, value: value.clone() }]).unwrap();
        let root = parse(&after, &Limits::MANIFEST).root.unwrap();
        prop_assert_eq!(root.get("a").unwrap().value.data(), value);
    }
}
