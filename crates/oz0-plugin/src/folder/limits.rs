//! How large a plugin may be, which is known before a byte of it is copied.

use std::sync::Arc;

use oz0_diagnostic::{Diagnostic, SourceFile, Span};

use super::PackedFile;
use crate::check::OZ_L021;
use crate::decode::brief;

/// The most bytes that the packed files have together: 256 MiB.
pub const BYTES: u64 = 256 * 1024 * 1024;

/// The most bytes of a bundle, compressed: 64 MiB.
pub const PACKED: u64 = 64 * 1024 * 1024;

/// The most packed files.
pub const FILES: usize = 20_000;

/// The longest path of a packed file, in bytes.
pub const PATH: usize = 240;

/// The finding that `packed` is more than a plugin may be, in one: which limits, by how much, and through which files.
pub(crate) fn too_large(packed: &[PackedFile], manifest: &Arc<SourceFile>) -> Option<Diagnostic> {
    let mut excesses = Vec::new();
    let mut helps = Vec::new();
    let bytes = packed.iter().fold(0, |sum: u64, file| sum.saturating_add(file.len));
    if bytes > BYTES {
        excesses.push(format!(
            "its files have {}, and at most {} are packed",
            size(bytes),
            size(BYTES)
        ));
        helps.push(format!("the largest are {}", largest(packed)));
    }
    if packed.len() > FILES {
        excesses.push(format!("it has {} files, and at most {FILES} are packed", packed.len()));
        helps.push(format!("the folder with the most is {}", fullest(packed)));
    }
    let mut long = packed.iter().filter(|file| file.path.len() > PATH);
    if let Some(file) = long.next() {
        let others = match long.count() {
            0 => String::new(),
            1 => " and one more".to_owned(),
            others => format!(" and {others} more"),
        };
        excesses
            .push(format!("the path {}{others} is longer than {PATH} bytes", brief(&file.path)));
        helps.push("shorten it".to_owned());
    }
    if excesses.is_empty() {
        return None;
    }
    helps.push("name what is no part of the plugin in .oz0ignore".to_owned());
    let message = format!("the plugin is too large: {}", excesses.join("; "));
    Some(Diagnostic::new(&OZ_L021, Span::start_of(manifest), message).help(helps.join("; ")))
}

/// The finding that the bundle of these files is larger than a bundle may be.
pub(crate) fn bundle_too_large(packed: &[PackedFile], manifest: &Arc<SourceFile>) -> Diagnostic {
    let message = format!(
        "the plugin is too large: its bundle has more than {}, and that is the most",
        size(PACKED)
    );
    Diagnostic::new(&OZ_L021, Span::start_of(manifest), message).help(format!(
        "the largest are {}; name what is no part of the plugin in .oz0ignore",
        largest(packed)
    ))
}

/// The five largest files, the larger first.
fn largest(packed: &[PackedFile]) -> String {
    let mut files: Vec<&PackedFile> = packed.iter().collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.len));
    let shown: Vec<String> = files
        .iter()
        .take(5)
        .map(|file| format!("{} ({})", brief(&file.path), size(file.len)))
        .collect();
    shown.join(", ")
}

/// The folder at the plugin's root with the most files below it; files at the root itself count as one folder.
fn fullest(packed: &[PackedFile]) -> String {
    let mut counts = std::collections::BTreeMap::new();
    for file in packed {
        let folder = file.path.split_once('/').map_or(".", |(folder, _)| folder);
        *counts.entry(folder).or_insert(0_usize) += 1;
    }
    // The last of equals would be the maximum, so they are gone through backwards.
    match counts.iter().rev().max_by_key(|(_, count)| **count) {
        Some((folder, count)) => format!("{}/ ({count} files)", brief(folder)),
        None => "none".to_owned(),
    }
}

/// Bytes as people read them, never rounded down to a limit that they exceed.
fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => {
            let tenths = (u128::from(bytes) * 10).div_ceil(u128::from(unit));
            if tenths % 10 == 0 {
                format!("{} {name}", tenths / 10)
            } else {
                format!("{}.{} {name}", tenths / 10, tenths % 10)
            }
        }
        None => format!("{bytes} bytes"),
    }
}
