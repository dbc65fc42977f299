//! What words name: a requirement of Python's, a package of npm's, a module.

use std::ops::Range;

use super::{Search, Word};
use crate::node::specifier;
use crate::{Ecosystem, Package, Wanted};

impl Search<'_> {
    /// A requirement as pip and uv take it on a command line; several with commas between, as uv's `--with`.
    pub(super) fn requirement(&mut self, word: &Word<'_>) {
        if let Some((package, part)) = requirement(self.wanted, &word.text) {
            self.name(package, word, part);
            return;
        }
        let mut at = 0;
        for part in word.text.split(',') {
            if let Some((package, range)) = requirement(self.wanted, part)
                && at > 0
            {
                self.name(package, word, range.start + at..range.end + at);
            }
            at += part.len() + 1;
        }
    }

    /// A package as `npm install` and `npx` take it: `name@1`, `alias@npm:name`, an address.
    pub(super) fn npm(&mut self, word: &Word<'_>) {
        let text = &*word.text;
        let (key, versioned) = specifier::name_of(text);
        if let Some((package, part)) = specifier::address(self.wanted, text) {
            self.name(package, word, part);
            return;
        }
        let value = if versioned { &text[key.len() + 1..] } else { "" };
        match specifier::dependency(self.wanted, key, value) {
            Some((package, specifier::Place::Key)) => self.name(package, word, 0..key.len()),
            Some((package, specifier::Place::Value(at))) => {
                let start = key.len() + 1;
                self.name(package, word, at.start + start..at.end + start);
            }
            None => self.npm_specifier(word),
        }
    }

    /// `npm:name@1/path`, as Deno and Bun take it.
    pub(super) fn npm_specifier(&mut self, word: &Word<'_>) {
        let Some(rest) = word.text.strip_prefix("npm:") else { return };
        let rest = rest.trim_start_matches('/');
        let name = rest.split(['/', '@']).next().unwrap_or(rest);
        if let Some(package) = self.wanted.package(Ecosystem::Npm, name) {
            let start = word.text.len() - rest.len();
            self.name(package, word, start..start + name.len());
        }
    }

    /// A module that `python -m` runs.
    pub(super) fn module(&mut self, word: &Word<'_>) {
        if !self.starts {
            return;
        }
        let first = word.text.split('.').next().unwrap_or_default();
        if let Some(package) = self.wanted.module(Ecosystem::PyPi, first) {
            self.name(package, word, 0..first.len());
        }
    }

    /// A program that is started by its name: packages bring programs that are called like them.
    pub(super) fn program(&mut self, word: &Word<'_>) {
        if !self.starts {
            return;
        }
        let text = &*word.text;
        let start = text.rfind(['/', '\\']).map_or(0, |at| at + 1);
        // A path of the plugin's own is the plugin's own program; in an environment it is a package's.
        let folders = &text[..start];
        let installed = ["venv", "site-packages", "node_modules", "__pypackages__"];
        if start > 0 && !installed.iter().any(|folder| folders.contains(folder)) {
            return;
        }
        let name = text[start..].trim_end_matches(".exe").trim_end_matches(".cmd");
        let wanted = self.wanted;
        let package =
            wanted.package(Ecosystem::PyPi, name).or_else(|| wanted.package(Ecosystem::Npm, name));
        if let Some(package) = package {
            self.name(package, word, start..start + name.len());
        }
    }
}

/// The package that a requirement names, by its name, its address or its file.
pub(crate) fn requirement<'w>(
    wanted: &'w Wanted,
    text: &str,
) -> Option<(&'w Package, Range<usize>)> {
    let start = text.len() - text.trim_start().len();
    let trimmed = text.trim();
    // conda takes a channel in front: `conda-forge::name`.
    if let Some((channel, name)) = trimmed.split_once("::")
        && channel.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
    {
        let at = start + channel.len() + "::".len();
        return requirement(wanted, name)
            .map(|(package, part)| (package, part.start + at..part.end + at));
    }
    // uv takes `name@1.0` and `name@latest` too.
    let end = trimmed
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .unwrap_or(trimmed.len());
    let rest = trimmed[end..].trim_start();
    let is_name =
        rest.is_empty() || rest.starts_with(['[', '=', '<', '>', '!', '~', ';', '@', '(', ',']);
    if is_name && let Some(package) = wanted.package(Ecosystem::PyPi, &trimmed[..end]) {
        return Some((package, start..start + end));
    }
    let offset = |range: Range<usize>| range.start + start..range.end + start;
    if let Some(at) = trimmed.find("#egg=").or_else(|| trimmed.find("&egg=")) {
        let name_at = at + "#egg=".len();
        let egg = &trimmed[name_at..];
        let end = egg.find(['[', '&', '=', '<', '>', '~', '!']).unwrap_or(egg.len());
        if let Some(package) = wanted.package(Ecosystem::PyPi, &egg[..end]) {
            return Some((package, offset(name_at..name_at + end)));
        }
    }
    repository(wanted, trimmed)
        .or_else(|| archive(wanted, trimmed))
        .map(|(package, range)| (package, offset(range)))
}

/// The package whose repository an address is of, or that the repository is called after.
fn repository<'w>(wanted: &'w Wanted, text: &str) -> Option<(&'w Package, Range<usize>)> {
    let end = text.find(['#', '?']).unwrap_or(text.len());
    let scheme = text[..end].find("://")?;
    let begin = scheme + 3;
    let host_start = text[begin..end].find('@').filter(|at| !text[begin..begin + at].contains('/'));
    let begin = host_start.map_or(begin, |at| begin + at + 1);
    let address = &text[begin..end];
    let mut parts = address.split('/');
    let host = parts.next()?.to_ascii_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host);
    let host = if host == "codeload.github.com" { "github.com" } else { host };
    let owner = parts.next()?;
    let last = parts.next()?;
    // A revision stands behind `@`.
    let name = last.split('@').next().unwrap_or(last);
    let name = name.strip_suffix(".git").unwrap_or(name);
    let start = begin + address.find(last)?;
    let range = start..start + name.len();
    let full = format!("{host}/{owner}/{name}");
    let mut packages = wanted.packages().iter();
    if let Some(package) = packages
        .find(|package| package.repositories.iter().any(|one| one.eq_ignore_ascii_case(&full)))
    {
        return Some((package, range));
    }
    let is_git = text.starts_with("git+") || last.contains(".git");
    if !is_git {
        return None;
    }
    wanted.package(Ecosystem::PyPi, name).map(|package| (package, range))
}

/// The package that a wheel or a source archive is of, by its file's name.
fn archive<'w>(wanted: &'w Wanted, text: &str) -> Option<(&'w Package, Range<usize>)> {
    let end = text.find(['#', '?']).unwrap_or(text.len());
    let start = text[..end].rfind('/').map_or(0, |at| at + 1);
    let file = &text[start..end];
    let endings = [".whl", ".tar.gz", ".zip", ".tar.bz2", ".tgz"];
    let stem = endings.iter().find_map(|ending| file.strip_suffix(ending))?;
    stem.match_indices('-').find_map(|(at, _)| {
        let is_version = stem[at + 1..].starts_with(|c: char| c.is_ascii_digit());
        let package = wanted.package(Ecosystem::PyPi, &stem[..at]).filter(|_| is_version)?;
        Some((package, start..start + at))
    })
}
