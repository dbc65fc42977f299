//! What holds for any bytes. The fuzz targets `yaml_parse` and `yaml_edit` include this file, so that
//! they and the tests check the same.

use oz0_yaml::edit::{Change, EditError, PathStep, apply};
use oz0_yaml::{Data, Limits, Node, Value, parse_bytes};

/// What the target `yaml_parse` checks.
pub(crate) fn read(bytes: &[u8]) {
    let limits = Limits { bytes: 64 * 1024, depth: 16, alias_nodes: 100 };
    let Ok((text, parsed)) = parse_bytes(bytes, &limits) else { return };
    for problem in &parsed.problems {
        assert!(text.get(problem.range.clone()).is_some(), "{problem:?}");
        if let Some((range, _)) = &problem.related {
            assert!(text.get(range.clone()).is_some(), "{problem:?}");
        }
    }
    for comment in &parsed.comments {
        assert!(text[comment.range.clone()].starts_with('#'), "{comment:?}");
    }
    if let Some(root) = &parsed.root {
        ranges(root, &text, 0);
    }
}

fn ranges(node: &Node, text: &str, depth: usize) {
    assert!(depth <= 17);
    assert!(text.get(node.range.clone()).is_some(), "{:?}", node.range);
    match &node.value {
        Value::Sequence(items) => items.iter().for_each(|item| ranges(item, text, depth + 1)),
        Value::Mapping(entries) => {
            for entry in entries {
                ranges(&entry.key, text, depth + 1);
                ranges(&entry.value, text, depth + 1);
            }
        }
        _ => {}
    }
}

/// What the target `yaml_edit` checks: the first line says the change, the rest is the text.
pub(crate) fn edit(bytes: &[u8]) {
    let Ok(input) = std::str::from_utf8(bytes) else { return };
    let Some((line, text)) = input.split_once('\n') else { return };
    let mut words = line.split(' ');
    let verb = words.next().unwrap_or_default();
    let path: Vec<PathStep<'_>> =
        words.map(|word| word.parse().map_or(PathStep::Key(word), PathStep::Index)).collect();
    let value = Data::sequence(["1", "two\nlines"]);
    let change = match verb {
        "insert" => Change::Insert { path, key: "new key", value },
        "push" => Change::Push { path, value },
        "remove" => Change::Remove { path },
        _ => Change::Replace { path, value: Data::from(verb) },
    };
    match apply(text, std::slice::from_ref(&change)) {
        // The edit itself proves its outcome; it can be read, and so be edited, again.
        Ok(after) => assert!(!matches!(
            apply(&after, &[change]),
            Err(EditError::Unreadable(_) | EditError::Splice { .. })
        )),
        Err(error) => assert!(!matches!(error, EditError::Splice { .. }), "{error}"),
    }
}
