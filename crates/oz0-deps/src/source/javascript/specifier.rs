//! What a module specifier names.

use std::ops::Range;

use crate::{Ecosystem, Package, Wanted};

/// The package that a specifier brings in, and the part of the text that names it.
///
/// A bare name with or without a path (`a/b`), `npm:a@1`, a bundler's `loader!a?query`, a path into a `node_modules`, and the URLs
/// of [what serves packages as modules](SERVERS): those have the name, with or without a version, as their path's first part or behind what
/// such servers put in front of it (`/npm/a@1`, `/v135/a`, `/stable/a`, `/npm:a@1`). A relative path or an own `#import` is local.
pub(crate) fn package<'w>(text: &str, wanted: &'w Wanted) -> Option<(&'w Package, Range<usize>)> {
    let start = text.rfind('!').map_or(0, |loader| loader + 1);
    let rest = &text[start..];
    let lower = rest.to_ascii_lowercase();
    let found =
        |at: usize| name(&text[at..], wanted).map(|(package, length)| (package, at..at + length));
    if let Some(at) = rest.rfind("node_modules/") {
        return found(start + at + "node_modules/".len());
    }
    if lower.starts_with("npm:") {
        let slashes = rest["npm:".len()..].bytes().take_while(|byte| *byte == b'/').count();
        return found(start + "npm:".len() + slashes);
    }
    let scheme = if lower.starts_with("//") { Some(2) } else { lower.find("://").map(|at| at + 3) };
    if let Some(scheme) = scheme {
        let path = start + scheme + rest[scheme..].find('/')? + 1;
        let host = &lower[scheme..path - start - 1];
        let first = text[path..].split('/').next().unwrap_or_default();
        // `npm:` says of itself what it is.
        return (first.starts_with("npm:") || serves(host, first))
            .then(|| in_url(text, path, wanted))
            .flatten();
    }
    if rest.starts_with(['.', '/', '#']) {
        return None;
    }
    found(start)
}

/// Hosts that serve npm's packages as modules: a domain, labels in front of it, and what a path to a package begins with.
const SERVERS: [(&str, &[&str], &str); 5] = [
    ("sh", &["esm"], ""),
    ("run", &["esm"], ""),
    ("dev", &["cdn.skypack", "jspm"], ""),
    ("com", &["unpkg"], ""),
    ("jsdelivr.net", &["cdn", "fastly", "gcore"], "npm"),
];

/// Whether a host serves packages under a path that begins like this.
fn serves(host: &str, first: &str) -> bool {
    let host = host.rsplit('@').next().unwrap_or(host);
    let host = host.split(':').next().unwrap_or(host);
    SERVERS.iter().any(|(domain, labels, begins)| {
        let label = host.strip_suffix(domain).and_then(|label| label.strip_suffix('.'));
        label.is_some_and(|label| labels.contains(&label))
            && (begins.is_empty() || first == *begins)
    })
}

/// The package in a URL's path, which begins at `at`.
fn in_url<'w>(
    text: &str,
    mut at: usize,
    wanted: &'w Wanted,
) -> Option<(&'w Package, Range<usize>)> {
    loop {
        let rest = &text[at..];
        for mark in ["npm:", "*", "gh:"] {
            if rest.starts_with(mark) {
                at += mark.len();
            }
        }
        if let Some((package, length)) = name(&text[at..], wanted) {
            return Some((package, at..at + length));
        }
        let rest = &text[at..];
        let (part, _) = rest.split_once('/')?;
        let is_prefix = matches!(
            part,
            "npm" | "stable" | "pin" | "-" | "bundle" | "esm" | "es" | "dev" | "next" | "latest"
        ) || part.strip_prefix('v').is_some_and(|version| {
            !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit())
        });
        if !is_prefix {
            return None;
        }
        at += part.len() + 1;
    }
}

/// The package whose name the text begins with, and the name's length.
fn name<'w>(text: &str, wanted: &'w Wanted) -> Option<(&'w Package, usize)> {
    let part = |from: usize| {
        text[from..].find(['/', '@', '?', '#', '&']).map_or(text.len(), |at| from + at)
    };
    let length = match text.strip_prefix('@') {
        Some(_) => part(text.find('/')? + 1),
        None => part(0),
    };
    let name = &text[..length];
    wanted.module(Ecosystem::Npm, name).map(|package| (package, length))
}
