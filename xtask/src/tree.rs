//! The files of the checkout, as git knows them: tracked, or new and not ignored.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::process;

/// Every file of the tree, relative to the root, sorted; deleted ones are left out.
pub(crate) fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let listed = process::capture(Command::new("git").current_dir(root).args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]))?;
    let mut files: Vec<PathBuf> = listed
        .split('\0')
        .filter(|path| !path.is_empty() && root.join(path).is_file())
        .map(PathBuf::from)
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// Those with one of the extensions.
pub(crate) fn with_extension(root: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let mut files = files(root)?;
    files.retain(|path| {
        path.extension().is_some_and(|found| extensions.iter().any(|wanted| found == *wanted))
    });
    Ok(files)
}
