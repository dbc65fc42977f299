//! OZ-L010: the README, which is the plugin's documentation on its page.
//!
//! What of it points into the plugin must be there for whoever reads that page: images and links, in Markdown as in the
//! HTML that Markdown allows. An address of somebody else's is not looked at, and nothing is fetched.

use std::sync::Arc;

use html5gum::{Token, Tokenizer};
use oz0_diagnostic::{Diagnostic, SourceFile, Span, did_you_mean};
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

use super::start_of;
use crate::check::OZ_L010;
use crate::decode::brief;
use crate::{LoadError, Plugin};

/// The file's name, at the plugin's root.
const README: &str = "README.md";

/// The largest README, in bytes: 256 KiB.
const LIMIT: u64 = 256 * 1024;

pub(super) fn check(plugin: &Plugin) -> Result<Vec<Diagnostic>, LoadError> {
    let Some(file) = plugin.file(README) else {
        // One that is there and cannot be packed is OZ-L020's.
        let is_there = plugin.unpackable().iter().any(|found| found.path == README);
        return Ok(if is_there { Vec::new() } else { vec![missing(plugin)] });
    };
    let bytes = plugin.read_file(file, LIMIT)?;
    let whole = |message: String, help: &str| {
        Ok(vec![Diagnostic::new(&OZ_L010, start_of(README), message).help(help)])
    };
    if file.len > LIMIT {
        let message =
            format!("the README has {} bytes, and at most {} KiB are shown", file.len, LIMIT >> 10);
        return whole(message, "move what is long into other files, and link to them");
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let source = SourceFile::new(README, String::from_utf8_lossy(error.as_bytes()));
            let span = Span::new(&source, at..at + char::REPLACEMENT_CHARACTER.len_utf8());
            let message = format!("byte {at} of the README is not UTF-8");
            return Ok(vec![
                Diagnostic::new(&OZ_L010, span, message).help("save the file as UTF-8"),
            ]);
        }
    };
    if text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty() {
        return whole(
            "the README is empty".to_owned(),
            "say what the plugin does and what it needs",
        );
    }
    let source = SourceFile::new(README, text);
    Ok(addresses(&source)
        .into_iter()
        .filter_map(|(address, span)| {
            let (message, help) = fault(plugin, &address)?;
            let shown = brief(&address);
            let shown = if shown.is_empty() { "an empty address" } else { &shown };
            let message = format!("{shown} {message}");
            Some(Diagnostic::new(&OZ_L010, span, message).help(help))
        })
        .collect())
}

fn missing(plugin: &Plugin) -> Diagnostic {
    let near = plugin.packed().iter().find(|file| {
        let stem = file.path.split('.').next().unwrap_or_default();
        !file.path.contains('/') && stem.eq_ignore_ascii_case("readme")
    });
    let help = match near {
        Some(near) => format!("rename {} to {README}, written in Markdown", brief(&near.path)),
        None => "write one: it is the plugin's documentation on its page".to_owned(),
    };
    Diagnostic::new(&OZ_L010, start_of(README), "the plugin has no README.md").help(help)
}

/// Each address that the text's images and links give, with its place, in file order.
fn addresses(source: &Arc<SourceFile>) -> Vec<(String, Span)> {
    let text = source.text();
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_GFM;
    let mut found: Vec<(String, std::ops::Range<usize>)> = Vec::new();
    let parser = Parser::new_ext(text, options);
    // A definition that several links refer to is one place with one mistake.
    for (_, definition) in parser.reference_definitions().iter() {
        found.push((definition.dest.to_string(), definition.span.clone()));
    }
    for (event, range) in parser.into_offset_iter() {
        match event {
            Event::Start(
                Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. },
            ) if matches!(link_type, LinkType::Inline) => {
                found.push((dest_url.to_string(), range));
            }
            Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) => {
                let html = &text[range.clone()];
                found.extend(html_addresses(html).into_iter().map(|one| (one, range.clone())));
            }
            _ => {}
        }
    }
    found.sort_by_key(|(_, range)| range.start);
    found
        .into_iter()
        .map(|(address, range)| {
            // The address stands last in what Markdown writes; where escapes hide it, all of it is underlined.
            let place = match text[range.clone()].rfind(&address) {
                Some(at) if !address.is_empty() => {
                    range.start + at..range.start + at + address.len()
                }
                _ => range,
            };
            (address, Span::new(source, place))
        })
        .collect()
}

/// The addresses in HTML: what it shows, plays, or links to.
fn html_addresses(html: &str) -> Vec<String> {
    let mut found = Vec::new();
    for token in Tokenizer::new(html) {
        let Ok(Token::StartTag(tag)) = token else { continue };
        for (name, value) in &tag.attributes {
            let value = String::from_utf8_lossy(value);
            match &***name {
                b"src" | b"href" | b"poster" => found.push(value.into_owned()),
                b"data" if &**tag.name == b"object" => found.push(value.into_owned()),
                b"srcset" => found.extend(
                    value
                        .split(',')
                        .filter_map(|one| one.split_whitespace().next())
                        .map(str::to_owned),
                ),
                _ => {}
            }
        }
    }
    found
}

/// What is wrong with an address, and what to do, if it is one into the plugin.
fn fault(plugin: &Plugin, address: &str) -> Option<(String, String)> {
    let outside = || {
        Some((
            "points outside the plugin".to_owned(),
            "link to a file of the plugin, or write the whole https address".to_owned(),
        ))
    };
    let nothing = "points to no file".to_owned();
    // As browsers read an address: blanks around it go, and a backslash is a slash.
    let plain = address.trim().replace('\\', "/");
    if plain.starts_with(['#', '?']) || plain.starts_with("//") {
        return None;
    }
    if plain.is_empty() {
        return Some((nothing, "write the path of a file of the plugin".to_owned()));
    }
    if let Some(scheme) = scheme(&plain) {
        // `file:` and a drive's letter lead into somebody's own machine.
        return if scheme.eq_ignore_ascii_case("file") || scheme.len() == 1 {
            outside()
        } else {
            None
        };
    }
    if plain.starts_with('/') {
        return outside();
    }
    let path = plain.split(['?', '#']).next().unwrap_or_default();
    let Some(path) = percent_decoded(path) else {
        return Some((nothing, "write its `%` signs as RFC 3986 has them".to_owned()));
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return outside();
                }
            }
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    if !plain.split(['?', '#']).next().unwrap_or_default().ends_with('/')
        && plugin.file(&path).is_some()
    {
        return None;
    }
    if let Some(found) = plugin.unpackable().iter().find(|found| found.holds(&path)) {
        let message = format!("leads to {}, which is {}", brief(&found.path), found.reason);
        return Some((message, "put a file in its place".to_owned()));
    }
    if path.is_empty() || plugin.has_folder(&path) {
        let message = "points to a folder, of which the page shows nothing".to_owned();
        return Some((message, "link to a file in it".to_owned()));
    }
    let known: Vec<&str> =
        plugin.packed().iter().map(|file| file.path.as_str()).take(1000).collect();
    let help = match did_you_mean(&path, known) {
        Some(near) => format!("did you mean {}?", brief(near)),
        None => {
            "add the file, or correct the path; what `.oz0ignore` names is no part of the plugin"
                .to_owned()
        }
    };
    Some((nothing, help))
}

/// The scheme of an absolute address (RFC 3986, section 3.1).
fn scheme(address: &str) -> Option<&str> {
    let (scheme, _) = address.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    is_scheme.then_some(scheme)
}

/// The text with its `%HH` read; `None` where they are none, or what they give is no UTF-8.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = rest.get(..2).filter(|two| two.iter().all(u8::is_ascii_hexdigit))?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}
