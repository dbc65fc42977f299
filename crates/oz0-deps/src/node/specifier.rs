//! What a dependency of npm's kind names: its key, or, where it is an alias or an address, what that leads to.
//!
//! `"x": "npm:name@1"` installs `name` as `x`; an address of a repository or of an archive installs what is there, whatever
//! the key says. `npm:` followed by a range is Yarn's way to say the registry, and the key's own package.

use std::ops::Range;

use crate::{Ecosystem, Package, Wanted};

/// Where a dependency names a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// Its key is the name.
    Key,
    /// Its value is, at these bytes.
    Value(Range<usize>),
}

/// The package that the dependency `key: value` installs, when it is one that is looked for.
pub(crate) fn dependency<'w>(
    wanted: &'w Wanted,
    key: &str,
    value: &str,
) -> Option<(&'w Package, Place)> {
    let by_key = || wanted.package(Ecosystem::Npm, key).map(|package| (package, Place::Key));
    let offset = value.len() - value.trim_start().len();
    let at = |range: Range<usize>| Place::Value(range.start + offset..range.end + offset);
    let text = value.trim();
    if let Some(target) = text.strip_prefix("npm:") {
        let (name, versioned) = name_of(target);
        if let Some(package) = wanted.package(Ecosystem::Npm, name) {
            return Some((package, at(4..4 + name.len())));
        }
        // Yarn's `npm:^1.0.0` and `npm:latest` are the key's own package.
        let is_range = !versioned && !target.starts_with('@');
        return if is_range { by_key() } else { None };
    }
    if let Some(target) = text.strip_prefix("patch:") {
        // Yarn's `patch:name@npm%3A1.0.0#…`, and of an alias `patch:alias@npm%3Aname@1.0.0#…`.
        let (name, _) = name_of(target);
        let behind = target[name.len()..].trim_start_matches('@');
        let aliased = ["npm:", "npm%3A", "npm%3a"]
            .iter()
            .find_map(|prefix| behind.strip_prefix(prefix))
            .map(|aliased| &aliased[..aliased.find(['@', '%', '#']).unwrap_or(aliased.len())]);
        for name in aliased.into_iter().chain([name]) {
            if let Some(package) = wanted.package(Ecosystem::Npm, name) {
                let start = name.as_ptr() as usize - text.as_ptr() as usize;
                return Some((package, at(start..start + name.len())));
            }
        }
        return by_key();
    }
    if text.starts_with("jsr:") {
        return None;
    }
    if let Some((package, range)) = address(wanted, text) {
        return Some((package, at(range)));
    }
    by_key()
}

/// The package's name at the beginning of `name@version`, a scope included; and whether a version follows.
pub(crate) fn name_of(text: &str) -> (&str, bool) {
    match text.get(1..).and_then(|rest| rest.find('@')) {
        Some(at) => (&text[..=at], true),
        None => (text, false),
    }
}

/// The package that an address leads to: one of its repositories or a fork of the same name, or an archive of it.
pub(crate) fn address<'w>(wanted: &'w Wanted, text: &str) -> Option<(&'w Package, Range<usize>)> {
    let has_scheme = text.contains("://");
    let path_only = ["file:", "link:", "portal:", "./", "../", "/", "~/"];
    let hosted = ["github:", "gitlab:", "bitbucket:"];
    if path_only.iter().any(|prefix| text.starts_with(prefix)) {
        return archive(wanted, text);
    }
    if text.starts_with("workspace:") || text.starts_with("catalog:") || text.starts_with('@') {
        return None;
    }
    if let Some(prefix) = hosted.iter().find(|prefix| text.starts_with(*prefix)) {
        let host = match *prefix {
            "github:" => "github.com",
            "gitlab:" => "gitlab.com",
            _ => "bitbucket.org",
        };
        return repository(wanted, host, text, prefix.len());
    }
    if has_scheme {
        let start = text.find("://").map_or(0, |at| at + 3);
        let rest = &text[start..];
        let host_end = rest.find(['/', ':']).unwrap_or(rest.len());
        let authority = &rest[..host_end];
        // A name or token may stand before the host; a port behind it.
        let (user, host) = match rest[..rest.find('/').unwrap_or(rest.len())].rsplit_once('@') {
            Some((user, host)) => (user.len() + 1, host.split(':').next().unwrap_or(host)),
            None => (0, authority),
        };
        let path = rest[user..].find(['/', ':']).map_or(text.len(), |at| start + user + at + 1);
        return repository(wanted, host, text, path).or_else(|| archive(wanted, text));
    }
    if let Some((host, _)) = text.strip_prefix("git@").and_then(|rest| rest.split_once(':')) {
        return repository(wanted, host, text, "git@".len() + host.len() + 1);
    }
    // `owner/name`, which npm takes for GitHub's.
    let shorthand = text.split('#').next().unwrap_or(text);
    let parts: Vec<&str> = shorthand.split('/').collect();
    let plain = |part: &&str| {
        !part.is_empty()
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    if parts.len() == 2 && parts.iter().all(plain) {
        return repository(wanted, "github.com", text, 0);
    }
    // What pnpm's older locks write: `github.com/owner/name/commit`.
    if parts.len() >= 3 && parts[0].contains('.') && parts[1..3].iter().all(plain) {
        return repository(wanted, parts[0], text, parts[0].len() + 1);
    }
    None
}

/// The package whose repository is at `text[path..]` on a host, or that a repository there is called after.
fn repository<'w>(
    wanted: &'w Wanted,
    host: &str,
    text: &str,
    path: usize,
) -> Option<(&'w Package, Range<usize>)> {
    let host = host.to_ascii_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host);
    let host = if host == "codeload.github.com" { "github.com" } else { host };
    let rest = text.get(path..)?;
    let end = rest.find(['#', '?']).unwrap_or(rest.len());
    let mut parts = rest[..end].split('/').filter(|part| !part.is_empty());
    let (owner, name) = (parts.next()?, parts.next()?);
    let name = name.strip_suffix(".git").unwrap_or(name);
    let start = name.as_ptr() as usize - text.as_ptr() as usize;
    let range = start..start + name.len();
    let full = format!("{host}/{owner}/{name}").to_ascii_lowercase();
    let is_its = |package: &&Package| {
        package.repositories.iter().any(|known| known.eq_ignore_ascii_case(&full))
    };
    if let Some(package) = wanted.packages().iter().find(is_its) {
        return Some((package, range));
    }
    // A registry's address has the package first: `/name/-/name-1.0.0.tgz`, which is an archive's.
    let is_code_host = ["github.com", "gitlab.com", "bitbucket.org", "codeberg.org"];
    let is_git = text.starts_with("git") || rest[..end].strip_suffix(".git").is_some();
    if !is_git && !is_code_host.contains(&host) {
        return None;
    }
    let last = if is_code_host.contains(&host) {
        name
    } else {
        rest[..end]
            .rsplit('/')
            .next()
            .map_or(name, |last| last.strip_suffix(".git").unwrap_or(last))
    };
    let start = last.as_ptr() as usize - text.as_ptr() as usize;
    wanted.package(Ecosystem::Npm, last).map(|package| (package, start..start + last.len()))
}

/// The package that an archive of npm's is of, by its name: `name-1.0.0.tgz`.
fn archive<'w>(wanted: &'w Wanted, text: &str) -> Option<(&'w Package, Range<usize>)> {
    let end = text.find(['#', '?']).unwrap_or(text.len());
    let file = text[..end].rsplit(['/', ':']).next()?;
    let stem = [".tgz", ".tar.gz", ".tar"].iter().find_map(|ending| file.strip_suffix(ending))?;
    let start = file.as_ptr() as usize - text.as_ptr() as usize;
    stem.match_indices('-').find_map(|(at, _)| {
        let version = stem[at + 1..].trim_start_matches('v');
        let is_version = version.starts_with(|c: char| c.is_ascii_digit());
        let package = wanted.package(Ecosystem::Npm, &stem[..at]).filter(|_| is_version)?;
        // `@scope/name` has its archive under the same file name.
        let scoped = text[..start].rsplit('/').any(|part| part.starts_with('@'))
            && text[..start].contains(&format!("/{}/", &stem[..at]))
            && text[..start]
                .split('/')
                .zip(text[..start].split('/').skip(1))
                .any(|(scope, name)| scope.starts_with('@') && name == &stem[..at]);
        (!scoped).then_some((package, start..start + at))
    })
}
