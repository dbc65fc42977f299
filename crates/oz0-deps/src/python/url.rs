//! Addresses that a package is installed from: of a wheel, of an archive, of a repository, of a path.
//!
//! An address names a package by its fragment (`#egg=`, `#subdirectory=`), by the file at its end, or by being that of a
//! repository of it. A folder on the way says nothing.

use std::borrow::Cow;
use std::ops::Range;

use super::requirement;
use crate::{Ecosystem, Package, Wanted};

/// What an address is known to be by the place where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Anything that an installer takes: a repository has a scheme that says so.
    Any,
    /// A repository, without a scheme that says so: poetry's and Pipfile's `git =`.
    Repository,
}

/// The package that an address names, and where in the address.
pub(super) fn package<'w>(
    address: &str,
    kind: Kind,
    wanted: &'w Wanted,
) -> Option<(&'w Package, Range<usize>)> {
    let (rest, fragment) = address.split_once('#').unwrap_or((address, ""));
    let named = |written: &str| wanted.package(Ecosystem::PyPi, written);
    let fragment_at = rest.len() + 1;
    if let Some((egg, at)) = parameter(fragment, "egg") {
        let decoded = decode(egg);
        let length = requirement::name(&decoded).unwrap_or(0);
        // Old fragments carry a version behind a hyphen.
        let found =
            named(&decoded[..length]).or_else(|| named(without_version(&decoded[..length])));
        if let Some(package) = found {
            let shown = if matches!(decoded, Cow::Borrowed(_)) { length } else { egg.len() };
            return Some((package, fragment_at + at..fragment_at + at + shown));
        }
    }
    if let Some(found) = path_package(rest, kind, wanted) {
        return Some(found);
    }
    let (folder, at) = parameter(fragment, "subdirectory")?;
    let trimmed = folder.trim_end_matches('/');
    let last = trimmed.rsplit('/').next().unwrap_or(trimmed);
    let start = fragment_at + at + trimmed.len() - last.len();
    named(&decode(last)).map(|package| (package, start..start + last.len()))
}

/// A fragment's parameter and where its value begins.
fn parameter<'t>(fragment: &'t str, name: &str) -> Option<(&'t str, usize)> {
    let mut at = 0;
    for part in fragment.split('&') {
        let value = part.strip_prefix(name).and_then(|part| part.strip_prefix('='));
        if let Some(value) = value {
            return Some((value, at + name.len() + 1));
        }
        at += part.len() + 1;
    }
    None
}

/// What is in front of the fragment.
fn path_package<'w>(
    address: &str,
    kind: Kind,
    wanted: &'w Wanted,
) -> Option<(&'w Package, Range<usize>)> {
    let (scheme, host, path_at) = front(address);
    let repository = kind == Kind::Repository || is_repository(&scheme, address);
    let path = &address[path_at..];
    let path = path.split(['?', '#']).next().unwrap_or(path);
    // What stands behind the last `@` of a repository's path is a branch, a tag or a commit.
    let path = if repository { path.rsplit_once('@').map_or(path, |(path, _)| path) } else { path };
    let segments = segments(path, path_at);
    let (last, last_at) = segments.last()?;
    if !repository && let Some(name) = file_name(last) {
        let shown = if address.get(last_at.start..last_at.start + name.len()) == Some(name) {
            last_at.start..last_at.start + name.len()
        } else {
            last_at.clone()
        };
        return wanted.package(Ecosystem::PyPi, name).map(|package| (package, shown));
    }
    let name = |index: usize| {
        let (segment, range): &(Cow<'_, str>, Range<usize>) = segments.get(index)?;
        let bare = segment.strip_suffix(".git").unwrap_or(segment);
        let cut = segment.len() - bare.len();
        let end = if range.len() == segment.len() { range.end - cut } else { range.end };
        Some((bare, range.start..end))
    };
    let index = if repository { Some(segments.len() - 1) } else { archive_of(&host, &segments) };
    if let Some((bare, range)) = index.and_then(name)
        && let Some(package) = wanted.package(Ecosystem::PyPi, bare)
    {
        return Some((package, range));
    }
    // A package's own repository, whatever it is called.
    let host = host.strip_prefix("www.").unwrap_or(&host);
    let known = |index: usize| {
        let (owner, _) = segments.get(index.checked_sub(1)?)?;
        let (bare, range) = name(index)?;
        let written = format!("{host}/{owner}/{bare}");
        let of = |package: &&Package| {
            package.ecosystem == Ecosystem::PyPi
                && package.repositories.iter().any(|known| known.eq_ignore_ascii_case(&written))
        };
        wanted.packages().iter().find(of).map(|package| (package, range))
    };
    match index {
        Some(index) => known(index),
        None if segments.len() == 2 => known(1),
        None => None,
    }
}

/// The scheme, the host, and where the path begins.
fn front(address: &str) -> (String, String, usize) {
    let host_of = |authority: &str| {
        let host = authority.rsplit('@').next().unwrap_or(authority);
        host.split(':').next().unwrap_or(host).to_ascii_lowercase()
    };
    if let Some(at) = address.find("://") {
        let scheme = address[..at].to_ascii_lowercase();
        let rest = &address[at + 3..];
        let length = rest.find(['/', '?']).unwrap_or(rest.len());
        // `ssh://git@host:owner/name`, which git does not take, but people write.
        let authority = &rest[..length];
        let owner = authority.rsplit_once(':').filter(|(_, port)| !is_number(port));
        return match owner {
            Some((host, owner))
                if !host.is_empty() && !owner.is_empty() && !owner.contains('@') =>
            {
                (scheme, host_of(host), at + 3 + host.len() + 1)
            }
            _ => (scheme, host_of(authority), at + 3 + length),
        };
    }
    // `git@host:owner/name`.
    if let Some((user, rest)) = address.split_once('@')
        && !user.contains('/')
        && let Some((host, _)) = rest.split_once(':')
        && !host.contains('/')
    {
        return (String::new(), host_of(host), user.len() + 1 + host.len() + 1);
    }
    let scheme = address.split_once(':').map_or("", |(scheme, _)| scheme);
    let at = if scheme.is_empty() { 0 } else { scheme.len() + 1 };
    (scheme.to_ascii_lowercase(), String::new(), at)
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// What the addresses of git's repositories end with.
const REPOSITORY: &str = ".git";

fn is_repository(scheme: &str, address: &str) -> bool {
    let first = scheme.split('+').next().unwrap_or(scheme);
    matches!(first, "git" | "hg" | "svn" | "bzr" | "ssh")
        || scheme.is_empty() && address.starts_with("git@")
        || address.split(['?', '#']).next().is_some_and(|path| path.ends_with(REPOSITORY))
}

/// Which segment is the repository's name, where the address is that of an archive that a forge makes of one.
fn archive_of(host: &str, segments: &[(Cow<'_, str>, Range<usize>)]) -> Option<usize> {
    if host == "codeload.github.com" {
        return Some(1);
    }
    let first = usize::from(segments.first().is_some_and(|(word, _)| word == "repos"));
    let made = |(word, _): &(Cow<'_, str>, Range<usize>)| {
        matches!(&**word, "archive" | "tarball" | "zipball" | "get" | "-")
    };
    segments.iter().skip(first + 2).position(made).map(|position| position + first + 1)
}

/// The segments of a path, decoded, with their places in the address.
fn segments(path: &str, path_at: usize) -> Vec<(Cow<'_, str>, Range<usize>)> {
    let mut at = path_at;
    let mut segments = Vec::new();
    for segment in path.split('/') {
        if !segment.is_empty() {
            segments.push((decode(segment), at..at + segment.len()));
        }
        at += segment.len() + 1;
    }
    segments
}

/// The endings of source archives, and conda's.
const ARCHIVES: [&str; 14] = [
    ".tar.gz",
    ".tgz",
    ".tar.bz2",
    ".tbz",
    ".tar.xz",
    ".txz",
    ".tlz",
    ".tar.lz",
    ".tar.lzma",
    ".tar.zst",
    ".tar",
    ".zip",
    ".conda",
    ".egg",
];

/// The package's name in the name of a wheel or of a source archive.
pub(super) fn file_name(file: &str) -> Option<&str> {
    let ends = |ending: &str| {
        let at = file.len().checked_sub(ending.len())?;
        let (stem, end) = file.split_at_checked(at)?;
        end.eq_ignore_ascii_case(ending).then_some(stem)
    };
    if let Some(stem) = ends(".whl") {
        return stem.split('-').next();
    }
    let stem = ARCHIVES.iter().find_map(|ending| ends(ending))?;
    let name = without_version(stem);
    // An archive of a branch or a tag alone does not name anything.
    (name.len() < stem.len()).then_some(name)
}

/// What stands in front of the first hyphen that a digit follows.
fn without_version(stem: &str) -> &str {
    let bytes = stem.as_bytes();
    let version =
        |&at: &usize| bytes[at] == b'-' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
    (0..bytes.len()).find(version).map_or(stem, |at| &stem[..at])
}

/// A segment with its `%` escapes read.
fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = (first == b'%')
            .then(|| after.get(..2))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escaped {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}
