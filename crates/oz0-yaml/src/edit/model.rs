//! What a change does to the value of a text.

use super::{Change, EditError, PathStep, Shown};
use crate::data::Data;
use crate::node::Node;

/// The value that the text shall have.
pub(super) fn changed(root: &Node, change: &Change<'_>) -> Result<Data, EditError> {
    let mut data = root.data();
    let path = change.path();
    let shown = || Shown(path).to_string();
    let missing = || EditError::Missing { path: shown() };
    match change {
        Change::Replace { value, .. } => {
            *at(&mut data, path).ok_or_else(missing)? = value.clone();
        }
        Change::Insert { key, value, .. } => match at(&mut data, path).ok_or_else(missing)? {
            Data::Mapping(entries) => {
                let key = Data::from(*key);
                if let Some((Data::String(key), _)) = entries.iter().find(|entry| entry.0 == key) {
                    return Err(EditError::KeyExists { path: shown(), key: key.clone() });
                }
                entries.push((key, value.clone()));
            }
            other => {
                let kind = other.kind();
                return Err(EditError::WrongKind { path: shown(), kind, wanted: "a mapping" });
            }
        },
        Change::Push { value, .. } => match at(&mut data, path).ok_or_else(missing)? {
            Data::Sequence(items) => items.push(value.clone()),
            other => {
                let kind = other.kind();
                return Err(EditError::WrongKind { path: shown(), kind, wanted: "a sequence" });
            }
        },
        Change::Remove { .. } => {
            let (last, above) = path.split_last().ok_or_else(missing)?;
            match (at(&mut data, above).ok_or_else(missing)?, last) {
                (Data::Mapping(entries), PathStep::Key(key)) => {
                    let key = Data::from(*key);
                    let index = entries.iter().position(|entry| entry.0 == key);
                    entries.remove(index.ok_or_else(missing)?);
                }
                (Data::Sequence(items), PathStep::Index(index)) if *index < items.len() => {
                    items.remove(*index);
                }
                _ => return Err(missing()),
            }
        }
    }
    Ok(data)
}

fn at<'d>(data: &'d mut Data, path: &[PathStep<'_>]) -> Option<&'d mut Data> {
    path.iter().try_fold(data, |data, step| match (data, step) {
        (Data::Mapping(entries), PathStep::Key(wanted)) => entries
            .iter_mut()
            .find(|(key, _)| matches!(key, Data::String(key) if key == wanted))
            .map(|(_, value)| value),
        (Data::Sequence(items), PathStep::Index(index)) => items.get_mut(*index),
        _ => None,
    })
}
