//! The paths of other files of the tree, as a file names them.

/// A path from the root that `path` leads to from `folder`. Nothing, when it leads out of the tree.
pub(crate) fn join(folder: &str, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut joined: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                joined.pop()?;
            }
            part => joined.push(part),
        }
    }
    Some(joined.join("/"))
}

/// The file beside another one.
pub(super) fn beside(path: &str, name: &str) -> String {
    path.rsplit_once('/').map_or_else(|| name.to_owned(), |(folder, _)| format!("{folder}/{name}"))
}
