//! What a lock says: enough of both formats to know that it locks.
//!
//! A lock is text from a plugin's folder, so it is judged before an installer sees it: every
//! requirement is one exact version with a hash, nothing points at another file, another index or
//! a source that would have to be built, and the package that the manifest names is in it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::error::DependencyProblem;

/// A line of a requirements file that names a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Requirement {
    /// From 1, of its first line.
    pub(crate) line: usize,
    /// Normalised (PEP 503).
    pub(crate) name: String,
    pub(crate) version: String,
}

/// Reads a requirements file in which every line has a hash.
pub(crate) fn requirements(file: &str, text: &str) -> Result<Vec<Requirement>, DependencyProblem> {
    let mut found = Vec::new();
    for (line, text) in logical_lines(text) {
        let problem = |message: String, help: &str| DependencyProblem {
            file: file.to_owned(),
            line: Some(line),
            message,
            help: help.to_owned(),
        };
        if text.starts_with('-') {
            let option = shown(text.split([' ', '=']).next().unwrap_or_default());
            return Err(problem(
                format!("{option} has no place in a locked requirements file"),
                "keep to lines of NAME==VERSION --hash=…, as uv pip compile --generate-hashes writes \
                 them",
            ));
        }
        let specification = text.split(" --hash").next().unwrap_or_default();
        let specification = specification.split(';').next().unwrap_or_default().trim();
        if text.contains("@ ") || text.contains("://") || text.contains(" @") {
            return Err(problem(
                format!(
                    "{} is taken from an address, which may need to be built",
                    shown(specification)
                ),
                "require a release of a registry by NAME==VERSION",
            ));
        }
        let Some((name, version)) = specification.split_once("==") else {
            return Err(problem(
                format!("{} is not locked to one version", shown(specification)),
                "write NAME==VERSION with its hashes, or have uv pip compile --generate-hashes write \
                 the file",
            ));
        };
        let version = version.trim_start_matches('=').trim();
        let name = normal(without_extras(name).trim());
        if version.contains(['*', ',']) || version.is_empty() || name.is_empty() {
            return Err(problem(
                format!("{} is not locked to one version", shown(specification)),
                "write one exact version after ==",
            ));
        }
        if !text.split_whitespace().any(is_hash) {
            return Err(problem(
                format!("{}=={} has no hash", shown(&name), shown(version)),
                "have the hashes written with: uv pip compile --generate-hashes",
            ));
        }
        found.push(Requirement { line, name, version: version.to_owned() });
    }
    Ok(found)
}

/// Text of a file as a message shows it: nothing invisible, and 80 characters at most.
fn shown(text: &str) -> String {
    text.chars().take(80).flat_map(char::escape_debug).collect()
}

fn is_hash(word: &str) -> bool {
    word.strip_prefix("--hash=").and_then(|hash| hash.split_once(':')).is_some_and(
        |(algorithm, digits)| {
            matches!((algorithm, digits.len()), ("sha256", 64) | ("sha384", 96) | ("sha512", 128))
                && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        },
    )
}

/// Lines joined where they end in a backslash, without comments and empty ones.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (index, raw) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let raw = raw.trim_end_matches('\r');
        let comment = if raw.trim_start().starts_with('#') { Some(0) } else { raw.find(" #") };
        let content = comment.map_or(raw, |at| &raw[..at]);
        let (content, continues) = match content.trim_end().strip_suffix('\\') {
            Some(content) => (content, true),
            None => (content, false),
        };
        let (_, joined) = open.get_or_insert_with(|| (index + 1, String::new()));
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(content.trim());
        if !continues {
            lines.extend(open.take());
        }
    }
    lines.extend(open);
    lines.retain(|(_, text)| !text.is_empty());
    lines
}

/// `name[extra]` without the brackets.
pub(crate) fn without_extras(name: &str) -> &str {
    name.split('[').next().unwrap_or_default()
}

/// A name of a Python package in the one way to write it (PEP 503).
pub(crate) fn normal(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for character in name.chars() {
        if matches!(character, '-' | '_' | '.') {
            if !normal.ends_with('-') {
                normal.push('-');
            }
        } else {
            normal.extend(character.to_lowercase());
        }
    }
    normal
}

/// Checks that a requirements lock holds exactly the version that the manifest names.
pub(crate) fn names_pypi(
    file: &str,
    found: &[Requirement],
    name: &str,
    version: &str,
) -> Result<(), DependencyProblem> {
    // A lock names the package without its extras, whose packages it lists like any other.
    let bare = normal(without_extras(name));
    let mine: Vec<&Requirement> =
        found.iter().filter(|requirement| requirement.name == bare).collect();
    match mine.as_slice() {
        [one] if one.version == version => Ok(()),
        [] => Err(other(file, None, format!("the lock does not hold {name}=={version}"))),
        [one, ..] => Err(other(
            file,
            Some(one.line),
            format!(
                "the lock holds {name}=={}, and the manifest names {version}",
                shown(&one.version)
            ),
        )),
    }
}

fn other(file: &str, line: Option<usize>, message: String) -> DependencyProblem {
    DependencyProblem {
        file: file.to_owned(),
        line,
        message,
        help: "lock it anew with: oz0 plugin test --relock".to_owned(),
    }
}

/// The part of a `package-lock.json` that is looked at (npm's lockfile version 2 and 3).
#[derive(Debug, Deserialize)]
struct PackageLock {
    #[serde(rename = "lockfileVersion")]
    version: u64,
    #[serde(default)]
    packages: BTreeMap<String, LockedPackage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LockedPackage {
    version: Option<String>,
    integrity: Option<String>,
    link: bool,
    #[serde(rename = "inBundle")]
    in_bundle: bool,
    dependencies: BTreeMap<String, String>,
}

/// Reads a `package-lock.json` in which every package has an integrity, and gives the direct
/// dependencies.
pub(crate) fn package_lock(
    file: &str,
    text: &str,
) -> Result<BTreeMap<String, String>, DependencyProblem> {
    let problem = |line, message: String, help: &str| DependencyProblem {
        file: file.to_owned(),
        line,
        message,
        help: help.to_owned(),
    };
    let lock: PackageLock = serde_json::from_str(text).map_err(|error| {
        problem(
            Some(error.line().max(1)),
            format!("this is no lock of npm: {error}"),
            "have npm write it: npm install --package-lock-only",
        )
    })?;
    if lock.version < 2 {
        return Err(problem(
            None,
            format!("lockfile version {} does not list every package", lock.version),
            "have a current npm write it anew: npm install --package-lock-only",
        ));
    }
    for (path, package) in &lock.packages {
        if path.is_empty() || package.in_bundle {
            continue;
        }
        if package.link || !path.contains("node_modules/") {
            return Err(problem(
                None,
                format!("{} is a folder, not a package of a registry", shown(path)),
                "require releases of a registry only",
            ));
        }
        if package.integrity.is_none() {
            return Err(problem(
                None,
                format!("{} has no integrity hash", shown(path)),
                "require a release of a registry, and have npm write the lock anew",
            ));
        }
    }
    Ok(lock
        .packages
        .into_iter()
        .find(|(path, _)| path.is_empty())
        .map(|(_, root)| root.dependencies)
        .unwrap_or_default())
}

/// Checks that an npm lock holds exactly the version that the manifest names, and that alone.
pub(crate) fn names_npm(
    file: &str,
    text: &str,
    name: &str,
    version: &str,
) -> Result<(), DependencyProblem> {
    let direct = package_lock(file, text)?;
    if direct.len() != 1 || direct.get(name).is_none_or(|wanted| wanted != version) {
        return Err(other(file, None, format!("the lock is not one of {name}@{version} alone")));
    }
    let lock: PackageLock = serde_json::from_str(text).map_err(|error| {
        other(file, Some(error.line().max(1)), format!("this is no lock of npm: {error}"))
    })?;
    let locked = lock
        .packages
        .get(&format!("node_modules/{name}"))
        .and_then(|package| package.version.as_deref());
    match locked {
        Some(locked) if locked == version => Ok(()),
        Some(locked) => Err(other(
            file,
            None,
            format!("the lock holds {name}@{}, and the manifest names {version}", shown(locked)),
        )),
        None => Err(other(file, None, format!("the lock does not hold {name}@{version}"))),
    }
}
