//! `cargo xtask generate`: the committed files that a program writes.
//!
//! `oz0 __generate DIR` writes a tree of files below a folder, each at its place in the checkout; here the tree is
//! laid over the checkout, or compared with it. The folders in [`GENERATED`] hold generated files only, so one that
//! is generated no longer is removed (or reported) as well.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::process;

/// Folders of the checkout whose every file is generated, and single files that are.
const GENERATED: &[&str] = &[
    "completions",
    "docs/man",
    "docs/reference/api.md",
    "docs/reference/openapi.json",
    "docs/reference/rules",
    "docs/reference/schema",
    "schema",
];

#[derive(Args)]
pub(crate) struct Options {
    /// Write nothing; fail if a file would change
    #[arg(long)]
    pub(crate) check: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let root = oz0_peers::workspace();
    let fresh = root.join("target/generated");
    if fresh.exists() {
        fs::remove_dir_all(&fresh).with_context(|| format!("removing {}", fresh.display()))?;
    }
    fs::create_dir_all(&fresh).with_context(|| format!("creating {}", fresh.display()))?;
    process::run(
        process::cargo()
            .args(["run", "--quiet", "--locked", "--package=oz0", "--", "__generate"])
            .arg(&fresh),
    )?;
    let wanted = read_tree(&fresh)?;
    if wanted.is_empty() {
        bail!("oz0 __generate wrote nothing");
    }
    if let Some(stray) =
        wanted.keys().find(|path| !GENERATED.iter().any(|dir| path.starts_with(dir)))
    {
        bail!("oz0 __generate wrote {}, which is in no generated folder", stray.display());
    }
    let changes = changes(&committed(root)?, &wanted);
    if options.check {
        for (path, change) in &changes {
            eprintln!("{}: {change}", path.display());
        }
        if !changes.is_empty() {
            bail!("{} generated files differ\nhint: cargo xtask generate", changes.len());
        }
        return Ok(());
    }
    for (path, change) in &changes {
        let at = root.join(path);
        match change {
            Change::Gone => fs::remove_file(&at),
            Change::New | Change::Differs => at
                .parent()
                .map_or(Ok(()), fs::create_dir_all)
                .and_then(|()| fs::write(&at, &wanted[path])),
        }
        .with_context(|| format!("writing {}", at.display()))?;
        println!("{}: {change}", path.display());
    }
    Ok(())
}

/// How a committed file stands to what is generated now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    New,
    Differs,
    Gone,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::New => "new",
            Self::Differs => "differs",
            Self::Gone => "generated no longer",
        })
    }
}

type Tree = BTreeMap<PathBuf, Vec<u8>>;

fn changes(committed: &Tree, wanted: &Tree) -> Vec<(PathBuf, Change)> {
    let mut changes: Vec<_> = wanted
        .iter()
        .filter_map(|(path, bytes)| match committed.get(path) {
            None => Some((path.clone(), Change::New)),
            Some(old) if old != bytes => Some((path.clone(), Change::Differs)),
            Some(_) => None,
        })
        .collect();
    changes.extend(
        committed
            .keys()
            .filter(|path| !wanted.contains_key(*path))
            .map(|path| (path.clone(), Change::Gone)),
    );
    changes.sort_by(|left, right| left.0.cmp(&right.0));
    changes
}

fn committed(root: &Path) -> Result<Tree> {
    let mut tree = Tree::new();
    for folder in GENERATED {
        let at = root.join(folder);
        if at.is_file() {
            let bytes = fs::read(&at).with_context(|| format!("reading {}", at.display()))?;
            tree.insert(folder.into(), bytes);
        } else if at.is_dir() {
            tree.extend(
                read_tree(&at)?
                    .into_iter()
                    .map(|(path, bytes)| (Path::new(folder).join(path), bytes)),
            );
        }
    }
    Ok(tree)
}

fn read_tree(root: &Path) -> Result<Tree> {
    let mut tree = Tree::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in
            fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?
        {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes =
                    fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
                tree.insert(path.strip_prefix(root)?.to_owned(), bytes);
            }
        }
    }
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_changed_and_stale_files_are_each_seen() {
        let tree = |files: &[(&str, &str)]| -> Tree {
            files.iter().map(|(path, text)| (path.into(), text.as_bytes().to_vec())).collect()
        };
        let committed = tree(&[("schema/same", "1"), ("schema/old", "1"), ("docs/man/oz0.1", "1")]);
        let wanted =
            tree(&[("schema/same", "1"), ("docs/man/oz0.1", "2"), ("completions/oz0.bash", "1")]);
        assert_eq!(
            changes(&committed, &wanted),
            [
                ("completions/oz0.bash".into(), Change::New),
                ("docs/man/oz0.1".into(), Change::Differs),
                ("schema/old".into(), Change::Gone),
            ]
        );
    }
}
