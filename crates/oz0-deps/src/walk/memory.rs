//! Files in memory, seen as folders.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::listing::{Kind, Listing};

/// Puts what is in the folder `path` into `listing`.
pub(super) fn list(files: &BTreeMap<String, &[u8]>, path: &str, listing: &mut Listing) {
    let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
    let mut from = prefix.clone();
    while let Some((file, _)) = next(files, &from) {
        let Some(rest) = file.strip_prefix(&*prefix) else { break };
        match rest.split_once('/') {
            Some((folder, _)) => {
                if is_plain(folder) {
                    listing.push(folder.as_bytes(), Kind::Folder);
                }
                // The first path behind all that begin with the folder's and `/`.
                from = format!("{prefix}{folder}0");
            }
            None => {
                if is_plain(rest) {
                    listing.push(rest.as_bytes(), Kind::File);
                }
                from = format!("{file}\0");
            }
        }
    }
}

/// Puts what is in the folder `path`, and not in its `listing` yet, there as well: a document that was never written. A folder
/// for it alone is none before it is.
pub(super) fn list_new(files: &BTreeMap<String, &[u8]>, path: &str, listing: &mut Listing) {
    let mut held = Listing::default();
    list(files, path, &mut held);
    for (name, kind) in held.iter() {
        let is_new = std::str::from_utf8(name).is_ok_and(|name| !listing.has(name));
        if kind == Kind::File && is_new {
            listing.push(name, kind);
        }
    }
}

/// Whether a file lies in the folder `path`.
pub(super) fn has_folder(files: &BTreeMap<String, &[u8]>, path: &str) -> bool {
    let prefix = format!("{path}/");
    next(files, &prefix).is_some_and(|(path, _)| path.starts_with(&prefix))
}

/// Whether a path is one that a file in a folder has.
pub(super) fn is_plain(path: &str) -> bool {
    path.split('/').all(|part| !matches!(part, "" | "." | "..")) && !path.contains('\0')
}

/// The first file whose path is `from`, or behind it.
fn next<'f>(files: &'f BTreeMap<String, &[u8]>, from: &str) -> Option<(&'f String, &'f [u8])> {
    let from = (Bound::Included(from), Bound::Unbounded);
    files.range::<str, _>(from).next().map(|(path, bytes)| (path, *bytes))
}
