//! Names that hold a package's name, and its version behind it.

use crate::{Ecosystem, Package, Wanted};

/// Words that follow a version's numbers behind a `-`: `1.65.4-stable`, `1.0.0-rc.1`.
const RELEASES: [&str; 17] = [
    "a", "alpha", "b", "beta", "c", "canary", "dev", "next", "nightly", "post", "pre", "preview",
    "r", "rc", "rev", "stable", "patch",
];
/// What a code host's archive of a branch has in its version's place.
const BRANCHES: [&str; 8] =
    ["main", "master", "head", "dev", "develop", "latest", "stable", "nightly"];

/// The package of a source archive, an egg, metadata: `litellm-1.82.7`, `litellm_proxy-1.0-py3.11`, `litellm`.
pub(super) fn distribution<'w>(
    wanted: &'w Wanted,
    ecosystem: Ecosystem,
    stem: &str,
) -> Option<&'w Package> {
    // An egg's name goes on with the version of Python.
    let egg = stem.find("-py2").or_else(|| stem.find("-py3"));
    let stem = egg.map_or(stem, |at| &stem[..at]);
    let versioned = stem
        .match_indices('-')
        .filter(|(at, _)| is_version(&stem[at + 1..]))
        .find_map(|(at, _)| wanted.package(ecosystem, &stem[..at]));
    versioned.or_else(|| wanted.package(ecosystem, stem))
}

/// The package of a wheel: the name ends at the first `-`, since a `-` of its own is written `_`.
pub(super) fn wheel<'w>(wanted: &'w Wanted, stem: &str) -> Option<&'w Package> {
    let (name, rest) = stem.split_once('-')?;
    match rest.split('-').count() {
        4 | 5 => wanted.package(Ecosystem::PyPi, name),
        // No name that pip takes, unless somebody wrote the `-`.
        _ => stem
            .match_indices('-')
            .filter(|(at, _)| stem[at + 1..].starts_with(|c: char| c.is_ascii_digit()))
            .find_map(|(at, _)| wanted.package(Ecosystem::PyPi, &stem[..at])),
    }
}

/// The package of conda's `NAME-VERSION-BUILD`.
pub(super) fn conda<'w>(wanted: &'w Wanted, stem: &str) -> Option<&'w Package> {
    let (rest, _build) = stem.rsplit_once('-')?;
    let (name, _version) = rest.rsplit_once('-')?;
    wanted.package(Ecosystem::PyPi, name)
}

/// The package of yarn's cache: `NAME-npm-VERSION-HASH-CHECKSUM`.
pub(super) fn yarn_cached<'w>(wanted: &'w Wanted, stem: &str) -> Option<&'w Package> {
    let (name, version) = stem.split_once("-npm-")?;
    is_version(version.split('-').next()?).then(|| wanted.package(Ecosystem::Npm, name))?
}

/// The package that a `.pth` file is called after: each builder that installs in place has its own way.
pub(super) fn editable<'w>(wanted: &'w Wanted, stem: &str) -> Option<&'w Package> {
    // setuptools, hatchling; the one underscore of flit, pdm and poetry comes last.
    let stem = ["__editable__.", "__editable__", "_editable_impl_", "_"]
        .iter()
        .find_map(|prefix| stem.strip_prefix(prefix))
        .unwrap_or(stem);
    let stem = ["-nspkg", "_editable", "-editable"]
        .iter()
        .find_map(|suffix| stem.strip_suffix(suffix))
        .unwrap_or(stem);
    distribution(wanted, Ecosystem::PyPi, stem).or_else(|| wanted.module(Ecosystem::PyPi, stem))
}

/// The package of setuptools' finder, `__editable___litellm_1_2_3_finder`: here every separator is `_`.
pub(super) fn finder<'w>(wanted: &'w Wanted, stem: &str) -> Option<&'w Package> {
    let stem = stem.strip_prefix("__editable___")?.strip_suffix("_finder")?;
    stem.match_indices('_')
        .filter(|(at, _)| stem[at + 1..].starts_with(|c: char| c.is_ascii_digit()))
        .find_map(|(at, _)| wanted.package(Ecosystem::PyPi, &stem[..at]))
}

/// Whether this stands where a version does: a version, a branch, a commit.
fn is_version(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let is_commit = || lower.len() >= 7 && lower.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_release(lower.strip_prefix('v').unwrap_or(&lower))
        || BRANCHES.contains(&&*lower)
        || is_commit()
}

/// Whether it begins with a number, and what a `-` leads to in it is a number or a word of releases: so that `2-mini-1.0` is none,
/// and `x-2-mini-1.0` not the package `x`.
fn is_release(text: &str) -> bool {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let public = text.split('+').next().unwrap_or(text);
    // A platform may follow a built archive's version, with `-` in it: `1.0.linux-x86_64`.
    let Some((numbers, rest)) = public.split_once('-') else { return true };
    if numbers.contains(|c: char| c.is_ascii_alphabetic()) {
        return true;
    }
    rest.split(['-', '.', '_']).all(|part| {
        let word = part.trim_end_matches(|c: char| c.is_ascii_digit());
        word.is_empty() || RELEASES.contains(&word)
    })
}
