//! No file names a package registry's host, or a path of the machine it was written on.
//!
//! A lock that records a host cannot be installed from a mirror, and a path of one machine means nothing on the next.
//! The patterns are built from pieces, or this file would be its own first finding.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Every line with a forbidden name in it, as `path:line: what`.
pub(crate) fn problems(root: &Path, files: &[PathBuf]) -> Result<Vec<String>> {
    let patterns = patterns(root, std::env::var_os("HOME").map(PathBuf::from).as_deref());
    let mut problems = Vec::new();
    for file in files {
        let bytes =
            fs::read(root.join(file)).with_context(|| format!("reading {}", file.display()))?;
        let text = String::from_utf8_lossy(&bytes);
        for (number, line) in text.lines().enumerate() {
            for (pattern, what) in &patterns {
                if line.contains(pattern.as_str()) {
                    problems.push(format!("{}:{}: names {what}", file.display(), number + 1));
                }
            }
        }
    }
    Ok(problems)
}

fn patterns(root: &Path, home: Option<&Path>) -> Vec<(String, String)> {
    let hosts = [
        ["registry", "npmjs", "org"].join("."),
        ["registry", "yarnpkg", "com"].join("."),
        ["pythonhosted", "org"].join("."),
        ["pypi", "org"].join("."),
        ["index", "crates", "io"].join("."),
        ["static", "crates", "io"].join("."),
        ["proxy", "golang", "org"].join("."),
        ["deb", "debian", "org"].join("."),
    ];
    let mut patterns: Vec<(String, String)> =
        hosts.into_iter().map(|host| (host, "a package registry's host".to_owned())).collect();
    let mut path = |path: &Path, end: &str, what: &str| {
        // A folder right below the root, such as a home of `/`, says nothing.
        if path.components().count() > 1 {
            patterns.push((format!("{}{end}", path.display()), what.to_owned()));
        }
    };
    path(root, "", "the folder of this checkout");
    if let Some(home) = home {
        path(home, "/.", "the home folder of this machine");
    }
    patterns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registry_host_and_the_checkouts_own_path_are_found_with_their_line() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let host = ["files", "pythonhosted", "org"].join(".");
        fs::write(root.join("a.txt"), format!("fine\nhttps://{host}/x\n{}/y\n", root.display()))
            .unwrap();
        fs::write(root.join("b.txt"), "PyPI, npm and crates.io by name are fine\n").unwrap();
        let found = problems(root, &["a.txt".into(), "b.txt".into()]).unwrap();
        assert_eq!(
            found,
            [
                "a.txt:2: names a package registry's host",
                "a.txt:3: names the folder of this checkout"
            ]
        );
    }

    #[test]
    fn a_home_is_found_by_its_hidden_files_and_a_home_of_slash_is_not_looked_for() {
        let with = |home: &str| patterns(Path::new("/a/b"), Some(Path::new(home)));
        assert!(with("/home/ann").iter().any(|(pattern, _)| pattern == "/home/ann/."));
        assert!(!with("/").iter().any(|(pattern, _)| pattern == "//."));
    }
}
