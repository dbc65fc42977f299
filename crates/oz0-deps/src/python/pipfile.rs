//! Pipenv's `Pipfile` and `Pipfile.lock`.

use super::decode::{Node, Value};
use super::reader::Reader;
use crate::{How, Via};

/// The tables of a Pipfile that are no category of packages.
const OTHERS: [&str; 5] = ["source", "requires", "scripts", "pipenv", "pipfile"];

pub(super) fn read(reader: &mut Reader<'_, '_, '_>, root: &Node<'_>) {
    for entry in root.entries() {
        if OTHERS.contains(&&*entry.key) || !matches!(entry.value.value, Value::Table(_)) {
            continue;
        }
        let via = (entry.key != "packages").then(|| Via::List(entry.key.to_string()));
        reader.table(Some(&entry.value), How::Direct, via.as_ref());
    }
}

/// Everything but `_meta` is a category of locked packages. Which of them needs which, this lock does not say.
pub(super) fn read_lock(reader: &mut Reader<'_, '_, '_>, root: &Node<'_>) {
    if !matches!(root.value, Value::Table(_)) {
        reader.unread(root.range.clone(), "is no lock of Pipenv's: it is no JSON object", None);
        return;
    }
    for category in root.entries().iter().filter(|entry| entry.key != "_meta") {
        let via = (category.key != "default").then(|| Via::List(category.key.to_string()));
        reader.table(Some(&category.value), How::Locked, via.as_ref());
    }
}
