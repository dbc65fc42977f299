//! OZ-L011: the licence file holds the licence that the manifest declares, and nothing else.
//!
//! A score of likeness cannot tell a harmless title from "non-commercial use only", which changes one word in a hundred
//! and all of the licence. So words are compared, every one: what is left over in the file counts, and so does what is
//! missing. What may differ is what SPDX's matching guidelines let differ (see [`text`]).
//!
//! Several licence files, or several texts in one, are fine where `license:` names them. For `A OR B` one text is
//! enough; for `A AND B`, and for `A WITH E`, both must be there.

mod compare;
mod text;

use std::sync::Arc;

use oz0_diagnostic::{Diagnostic, SourceFile, Span};
use spdx::{Expression, LicenseReq};

use super::start_of;
use crate::check::OZ_L011;
use crate::decode::brief;
use crate::{LoadError, PackedFile, Plugin};
use compare::{Candidate, Rest, compare};

/// The largest licence file: 1 MiB.
const LIMIT: u64 = 1024 * 1024;

/// Where the texts are to be had.
const TEXTS: &str = "take the text as spdx.org/licenses has it, and fill in year and holder only";

pub(super) fn check(plugin: &Plugin) -> Result<Vec<Diagnostic>, LoadError> {
    let files: Vec<&PackedFile> =
        plugin.packed().iter().filter(|file| is_licence_file(&file.path)).collect();
    if files.is_empty() {
        // One that is there and cannot be packed is OZ-L020's.
        let is_there = plugin.unpackable().iter().any(|found| is_licence_file(&found.path));
        return Ok(if is_there { Vec::new() } else { vec![missing(plugin)] });
    }
    let Some(manifest) = plugin.manifest() else { return Ok(Vec::new()) };
    let (declared, place) = (manifest.license.as_str(), &manifest.license.span);
    let expression = match Expression::parse(declared) {
        Ok(expression) => expression,
        Err(error) => {
            let message =
                format!("`{}` is no SPDX licence expression: {}", brief(declared), error.reason);
            return Ok(vec![Diagnostic::new(&OZ_L011, place.clone(), message).help(
                "write the identifiers as spdx.org/licenses has them, such as `Apache-2.0`",
            )]);
        }
    };
    let mut findings = Vec::new();
    let mut candidates: Vec<Candidate> = Vec::new();
    for requirement in expression.requirements() {
        let named = names(&requirement.req);
        if named.is_empty() {
            let message = format!(
                "`{}` is no licence of SPDX's list, so nothing says whether a file holds it",
                brief(&requirement.req.to_string())
            );
            findings.push(
                Diagnostic::new(&OZ_L011, place.clone(), message)
                    .help("declare a licence of spdx.org/licenses"),
            );
        }
        for (name, text) in named {
            let candidate = Candidate::new(name, text);
            if !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        }
    }
    if !findings.is_empty() {
        return Ok(findings);
    }
    let mut held: Vec<&str> = Vec::new();
    for file in files {
        match read(plugin, file)? {
            Err(finding) => findings.push(*finding),
            Ok(source) => findings.extend(check_file(&source, &candidates, &mut held)),
        }
    }
    let is_held =
        |requirement: &LicenseReq| names(requirement).iter().all(|(name, _)| held.contains(name));
    if findings.is_empty() && !expression.evaluate(is_held) {
        let mut lacking: Vec<&str> = candidates
            .iter()
            .map(|candidate| candidate.name)
            .filter(|name| !held.contains(name))
            .collect();
        lacking.dedup();
        let message = format!("no licence file has the text of {}", lacking.join(" and "));
        findings.push(Diagnostic::new(&OZ_L011, place.clone(), message).help(TEXTS));
    }
    Ok(findings)
}

/// What a requirement names of SPDX's lists, each with its text; empty when something of it is on none.
fn names(requirement: &LicenseReq) -> Vec<(&'static str, &'static str)> {
    // The list has identifiers that stand for no licence, and have no text.
    let has_text = |id: &spdx::LicenseId| !id.text().trim().is_empty();
    let Some(licence) = requirement.license.id().filter(has_text) else { return Vec::new() };
    let mut named = vec![(licence.name, licence.text())];
    // Whether later versions may be chosen is said beside GNU's texts, not in them; the list has some as they were at
    // different times.
    let twin = match licence.name.strip_suffix("-only") {
        Some(stem) => spdx::license_id(&format!("{stem}-or-later")),
        None => licence
            .name
            .strip_suffix("-or-later")
            .and_then(|stem| spdx::license_id(&format!("{stem}-only"))),
    };
    named.extend(twin.map(|twin| (licence.name, twin.text())));
    if let Some(addition) = &requirement.addition {
        let Some(exception) = addition.id() else { return Vec::new() };
        named.push((exception.name, exception.text()));
    }
    named
}

/// `LICENSE`, `LICENSE.md`, `LICENSE.txt`, `LICENSE-MIT`, `LICENCE*` and `COPYING*`, at the root.
fn is_licence_file(path: &str) -> bool {
    matches!(path, "LICENSE" | "LICENSE.md" | "LICENSE.txt")
        || !path.contains('/')
            && ["LICENSE-", "LICENCE", "COPYING"].iter().any(|start| path.starts_with(start))
}

fn missing(plugin: &Plugin) -> Diagnostic {
    let near = plugin.packed().iter().find(|file| {
        let stem = file.path.split(['.', '-']).next().unwrap_or_default();
        !file.path.contains('/')
            && ["license", "licence", "copying", "unlicense"]
                .iter()
                .any(|name| stem.eq_ignore_ascii_case(name))
    });
    let help = match near {
        Some(near) => format!("rename {} to LICENSE", brief(&near.path)),
        None => "add LICENSE with the text of the licence that `license:` declares".to_owned(),
    };
    Diagnostic::new(&OZ_L011, start_of("LICENSE"), "the plugin has no licence file").help(help)
}

type Read = Result<Arc<SourceFile>, Box<Diagnostic>>;

fn read(plugin: &Plugin, file: &PackedFile) -> Result<Read, LoadError> {
    let bytes = plugin.read_file(file, LIMIT)?;
    if file.len > LIMIT {
        let message = format!("the file has more than {} MiB, and no licence has", LIMIT >> 20);
        return Ok(Err(Box::new(
            Diagnostic::new(&OZ_L011, start_of(&file.path), message).help(TEXTS),
        )));
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => Ok(SourceFile::new(file.path.as_str(), text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let source =
                SourceFile::new(file.path.as_str(), String::from_utf8_lossy(error.as_bytes()));
            let span = Span::new(&source, at..at + char::REPLACEMENT_CHARACTER.len_utf8());
            let message = format!("byte {at} of the file is not UTF-8");
            Err(Box::new(Diagnostic::new(&OZ_L011, span, message).help("save the file as UTF-8")))
        }
    })
}

/// Takes one text after the other from the file, and reports the first words that are of none.
fn check_file(
    source: &Arc<SourceFile>,
    candidates: &[Candidate],
    held: &mut Vec<&'static str>,
) -> Option<Diagnostic> {
    let words = text::Text::of(source.text());
    if words.is_empty() {
        let message = "the licence file is empty";
        return Some(Diagnostic::new(&OZ_L011, Span::start_of(source), message).help(TEXTS));
    }
    let mut all: Vec<&str> = candidates.iter().map(|candidate| candidate.name).collect();
    all.dedup();
    let all = all.join(" or ");
    let mut at = 0;
    loop {
        // The text that goes furthest is the one that was meant; of several that are whole, the longest.
        let mut best: Option<(usize, &Candidate, Rest)> = None;
        for candidate in candidates {
            let (reached, rest) = compare(&words, at, candidate);
            let better = best.as_ref().is_none_or(|(known, _, known_rest)| {
                (rest.is_whole(), reached) > (known_rest.is_whole(), *known)
            });
            if better {
                best = Some((reached, candidate, rest));
            }
        }
        let (reached, candidate, rest) = best?;
        match rest {
            Rest::Whole => {
                if !held.contains(&candidate.name) {
                    held.push(candidate.name);
                }
                let next = words.skip_notices(reached);
                if next == words.len() {
                    return None;
                }
                if next <= at {
                    // A text without a word of its own would be found at every place.
                    let rest = Rest::Added(words.len());
                    return Some(left_over(source, &words, at, candidate, &all, at, &rest));
                }
                at = next;
            }
            rest => return Some(left_over(source, &words, at, candidate, &all, reached, &rest)),
        }
    }
}

/// So many words in common, and that text was meant.
const MEANT: usize = 8;

fn left_over(
    source: &Arc<SourceFile>,
    words: &text::Text,
    from: usize,
    candidate: &Candidate,
    all: &str,
    reached: usize,
    rest: &Rest,
) -> Diagnostic {
    let name = candidate.name;
    let span = |range: std::ops::Range<usize>| Span::new(source, words.bytes(range));
    let line = |at: usize| at..at + words.line(at).len().max(1);
    let (message, place) = match rest {
        Rest::Added(until) => {
            (format!("words are left over, which {name} has not"), span(reached..*until))
        }
        _ if reached < from + MEANT && from == 0 => {
            let at = if reached < words.len() { reached } else { 0 };
            (format!("the file does not begin with the text of {all}"), span(line(at)))
        }
        _ if reached < from + MEANT => {
            (format!("words are left over, which are not of {all}"), span(from..words.len()))
        }
        Rest::Missing(missing) => (
            format!("the text of {name} is not whole: `{}` is missing here", brief(missing)),
            span(reached.saturating_sub(1)..reached),
        ),
        Rest::Changed(expected) => (
            format!("the words are not those of {name}, which goes on with `{}`", brief(expected)),
            span(reached..(reached + 1).min(words.len())),
        ),
        Rest::Whole => (String::new(), Span::start_of(source)),
    };
    Diagnostic::new(&OZ_L011, place, message).help(TEXTS)
}
