//! The dependency files of a plugin's own servers: which of them can be installed frozen.
//!
//! What a server imports must be what was tested, so only files that fix every byte count: a lockfile with its project,
//! or requirements in which every line has a hash. What is there and does not count is said, not passed over.

/// What the plugin's `mcp:` servers need installed. All files stand at the plugin's root.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Dependencies {
    /// Python's.
    pub python: Option<PythonDependencies>,
    /// Node.js's.
    pub node: Option<NodeDependencies>,
    /// Dependency files that cannot be installed frozen.
    pub unusable: Vec<Unusable>,
}

/// How Python dependencies are fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PythonDependencies {
    /// `uv.lock`, with its `pyproject.toml`.
    UvLock,
    /// A `requirements.txt` whose every line has a hash.
    HashedRequirements,
}

/// How Node.js dependencies are fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeDependencies {
    /// `package-lock.json`, with its `package.json`.
    PackageLock,
}

/// A dependency file that cannot be installed frozen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// Its path from the plugin's root.
    pub path: &'static str,
    /// The line that is at fault, from 1, where one is.
    pub line: Option<usize>,
    /// Why, in words that follow the path.
    pub reason: String,
    /// What to do.
    pub help: &'static str,
}

/// `has` says whether a file is packed; `requirements` is the text of `requirements.txt`.
pub(crate) fn detect(has: impl Fn(&str) -> bool, requirements: Option<&str>) -> Dependencies {
    let mut found = Dependencies::default();
    if has("uv.lock") {
        if has("pyproject.toml") {
            found.python = Some(PythonDependencies::UvLock);
        } else {
            found.unusable.push(Unusable {
                path: "uv.lock",
                line: None,
                reason: "has no pyproject.toml beside it".to_owned(),
                help: "add the pyproject.toml that it was locked from",
            });
        }
    }
    if let (None, Some(text)) = (found.python, requirements) {
        match unhashed(text) {
            None => found.python = Some(PythonDependencies::HashedRequirements),
            Some((line, reason)) => found.unusable.push(Unusable {
                path: "requirements.txt",
                line: Some(line),
                reason,
                help: "write it with hashes: uv pip compile --generate-hashes",
            }),
        }
    }
    if has("package-lock.json") {
        if has("package.json") {
            found.node = Some(NodeDependencies::PackageLock);
        } else {
            found.unusable.push(Unusable {
                path: "package-lock.json",
                line: None,
                reason: "has no package.json beside it".to_owned(),
                help: "add the package.json that it was locked from",
            });
        }
    }
    found
}

/// The first line of a requirements file that is not fixed by a hash, and why (pip's requirements file format).
fn unhashed(text: &str) -> Option<(usize, String)> {
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let mut logical = line.trim_start_matches('\u{FEFF}').to_owned();
        // A comment line takes no continuation.
        while logical.ends_with('\\') && !logical.trim_start().starts_with('#') {
            logical.pop();
            let Some((_, next)) = lines.next() else { break };
            logical.push_str(next);
        }
        let requirement = match logical.find('#') {
            Some(at) if at == 0 || logical[..at].ends_with(char::is_whitespace) => &logical[..at],
            _ => logical.as_str(),
        };
        let mut words = requirement.split_whitespace();
        let Some(first) = words.next() else { continue };
        if ["-r", "--requirement", "-c", "--constraint", "-e", "--editable"]
            .iter()
            .any(|option| first == *option || first.starts_with(&format!("{option}=")))
            || ["-r", "-c", "-e"].iter().any(|option| first.starts_with(option))
        {
            return Some((index + 1, format!("has `{first}`, which reads what no hash fixes")));
        }
        if first.starts_with('-') {
            continue;
        }
        if !words.any(|word| word.starts_with("--hash=") || word == "--hash") {
            return Some((
                index + 1,
                format!("has `{}` without a hash", crate::decode::brief(first)),
            ));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::unhashed;

    #[test]
    fn a_hash_may_stand_on_a_continued_line() {
        let text = "# made by hand \\\nmcp==1.9.0 ; python_version > '3' \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb # both\n\n";
        assert_eq!(unhashed(text), None);
    }

    #[test]
    fn the_first_requirement_without_a_hash_is_named_with_its_line() {
        let text = "a==1 --hash=sha256:aa\n\nb==2 # --hash=sha256:bb\n";
        assert_eq!(unhashed(text), Some((3, "has `b==2` without a hash".to_owned())));
    }

    #[test]
    fn another_file_is_not_read() {
        for line in ["-r other.txt", "-rother.txt", "--requirement=other.txt", "-c c.txt", "-e ."] {
            assert!(unhashed(line).is_some(), "{line}");
        }
        assert_eq!(unhashed("--only-binary :all:\n"), None);
    }
}
