//! A file past 600 lines wants a reason, written in `xtask/long-files.txt`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

const LINES: usize = 600;
const REASONS: &str = "xtask/long-files.txt";

/// Long files without a reason, and reasons without a long file.
pub(crate) fn problems(root: &Path, files: &[PathBuf]) -> Result<Vec<String>> {
    let text =
        fs::read_to_string(root.join(REASONS)).with_context(|| format!("reading {REASONS}"))?;
    let mut reasons: BTreeMap<&Path, &str> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(": "))
        .map(|(path, reason)| (Path::new(path), reason))
        .collect();
    let mut problems = Vec::new();
    for file in files {
        let text = fs::read_to_string(root.join(file))
            .with_context(|| format!("reading {}", file.display()))?;
        let lines = text.lines().count();
        if lines > LINES && reasons.remove(file.as_path()).is_none() {
            problems.push(format!(
                "{}: {lines} lines, above {LINES}\nhint: split it, or give the reason in {REASONS}",
                file.display()
            ));
        }
    }
    problems.extend(
        reasons
            .keys()
            .map(|path| format!("{REASONS}: {} is not above {LINES} lines", path.display())),
    );
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_wants_a_reason_and_a_reason_wants_a_long_file() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("xtask")).unwrap();
        fs::write(root.join("long.rs"), "\n".repeat(601)).unwrap();
        fs::write(root.join("short.rs"), "\n".repeat(600)).unwrap();
        let files = ["long.rs".into(), "short.rs".into()];

        fs::write(root.join(REASONS), "# none\n").unwrap();
        let found = problems(root, &files).unwrap();
        assert!(matches!(&found[..], [one] if one.starts_with("long.rs: 601 lines")), "{found:?}");

        fs::write(root.join(REASONS), "long.rs: one table\n").unwrap();
        assert!(problems(root, &files).unwrap().is_empty());

        fs::write(root.join(REASONS), "long.rs: one table\nshort.rs: was long\n").unwrap();
        let found = problems(root, &files).unwrap();
        assert!(matches!(&found[..], [one] if one.contains("short.rs is not above")), "{found:?}");
    }
}
