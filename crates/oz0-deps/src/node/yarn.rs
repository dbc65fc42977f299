//! `yarn.lock`: the format of Yarn 1, which is its own, and the YAML of the later ones ("berry").

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::graph::Graph;
use super::specifier::{Place, address, dependency, name_of};
use super::yaml::{Document, documents};
use crate::file::{File, Sink};
use crate::{How, Package, Via};

const HELP: &str = "correct it, or have Yarn write it anew: yarn install";

pub(super) fn read(file: &File<'_>, text: &str, sink: &mut Sink) {
    let is_berry = text.lines().any(|line| line.trim_start_matches('\u{feff}') == "__metadata:");
    if is_berry {
        for document in documents(file, text, sink) {
            Berry { file, text, document: &document }.read(sink);
        }
    } else {
        match classic(text) {
            Ok(entries) => read_classic(file, text, &entries, sink),
            Err((range, problem)) => {
                let problem = format!("is no lock of Yarn's: {problem}");
                sink.unread(text, range, problem, Some(HELP.to_owned()));
            }
        }
    }
}

/// A word of Yarn 1's format.
#[derive(Debug)]
struct Word<'t> {
    value: Cow<'t, str>,
    /// Without its quotes.
    range: Range<usize>,
}

impl Word<'_> {
    fn place(&self, part: Range<usize>) -> Range<usize> {
        if self.range.len() == self.value.len() {
            self.range.start + part.start..self.range.start + part.end
        } else {
            self.range.clone()
        }
    }
}

/// An entry of Yarn 1's format.
#[derive(Debug, Default)]
struct Entry<'t> {
    /// `name@range`, each of which got this version.
    patterns: Vec<Word<'t>>,
    resolved: Option<Word<'t>>,
    needs: Vec<(Word<'t>, Word<'t>)>,
}

type Problem = (Range<usize>, &'static str);

fn classic(text: &str) -> Result<Vec<Entry<'_>>, Problem> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut in_list = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let body = line.trim_end_matches(['\n', '\r']);
        let mark = if start == 0 && body.starts_with('\u{feff}') { 3 } else { 0 };
        let body = &body[mark..];
        let start = start + mark;
        let whole = start..start + body.len();
        if body.trim().is_empty() || body.trim_start().starts_with('#') {
            continue;
        }
        if ["<<<<<<<", "=======", ">>>>>>>", "|||||||"].iter().any(|mark| body.starts_with(mark)) {
            return Err((whole, "a merge left both sides in it"));
        }
        let indent = body.len() - body.trim_start_matches(' ').len();
        let (words, opens) = words(text, start + indent, start + body.len())?;
        match (indent, opens, entries.last_mut()) {
            (0, true, _) => {
                in_list = false;
                entries.push(Entry { patterns: words, ..Entry::default() });
            }
            (2, true, Some(_)) if words.len() == 1 => {
                in_list = matches!(&*words[0].value, "dependencies" | "optionalDependencies");
            }
            (2, false, Some(entry)) if words.len() == 2 => {
                in_list = false;
                let mut words = words.into_iter();
                if let (Some(key), Some(value)) = (words.next(), words.next())
                    && key.value == "resolved"
                {
                    entry.resolved = Some(value);
                }
            }
            (4, false, Some(entry)) if words.len() == 2 => {
                let mut words = words.into_iter();
                if let (Some(key), Some(value)) = (words.next(), words.next())
                    && in_list
                {
                    entry.needs.push((key, value));
                }
            }
            _ => return Err((whole, "a line stands where it cannot")),
        }
    }
    Ok(entries)
}

/// The words of a line, and whether a `:` ends it, so that more belongs to it.
fn words(text: &str, from: usize, to: usize) -> Result<(Vec<Word<'_>>, bool), Problem> {
    let mut words = Vec::new();
    let mut at = from;
    let mut wants = true;
    while at < to {
        let rest = &text[at..to];
        match rest.as_bytes()[0] {
            b' ' => at += 1,
            b',' if !wants => {
                wants = true;
                at += 1;
            }
            b':' if at + 1 == to && !words.is_empty() => return Ok((words, true)),
            b'"' => {
                let mut end = 1;
                let bytes = rest.as_bytes();
                while end < bytes.len() && bytes[end] != b'"' {
                    end += if bytes[end] == b'\\' { 2 } else { 1 };
                }
                if end >= bytes.len() {
                    return Err((at..to, "a quote is left open"));
                }
                let range = at + 1..at + end;
                let value = unescape(&text[range.clone()])
                    .ok_or((range.clone(), "an escape is none of JSON's"))?;
                words.push(Word { value, range });
                wants = false;
                at += end + 1;
            }
            _ => {
                let end = rest.find([' ', ',', ':', '"']).unwrap_or(rest.len());
                if end == 0 {
                    return Err((at..to, "a sign stands where a word must"));
                }
                words.push(Word { value: Cow::Borrowed(&rest[..end]), range: at..at + end });
                wants = false;
                at += end;
            }
        }
    }
    Ok((words, false))
}

/// A string as JSON reads it, with which Yarn 1 writes and reads them.
fn unescape(inner: &str) -> Option<Cow<'_, str>> {
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    let mut high: Option<u32> = None;
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next()? {
            'u' => {
                let digits: String = chars.by_ref().take(4).collect();
                let unit = u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 4)?;
                match (high.take(), unit) {
                    (None, 0xd800..=0xdbff) => high = Some(unit),
                    (Some(high), 0xdc00..=0xdfff) => {
                        let c = 0x1_0000 + ((high - 0xd800) << 10) + (unit - 0xdc00);
                        out.push(char::from_u32(c)?);
                    }
                    _ => out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)),
                }
            }
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            c @ ('"' | '\\' | '/') => out.push(c),
            _ => return None,
        }
    }
    Some(Cow::Owned(out))
}

fn read_classic(file: &File<'_>, text: &str, entries: &[Entry<'_>], sink: &mut Sink) {
    let mut found: Vec<(usize, &Package, Range<usize>, Option<&str>)> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let by_pattern = entry.patterns.iter().find_map(|pattern| {
            let (key, versioned) = name_of(&pattern.value);
            let asked = if versioned { &pattern.value[key.len() + 1..] } else { "" };
            let (package, place) = dependency(file.wanted, key, asked)?;
            Some(match place {
                Place::Key => (package, pattern.place(0..key.len()), None),
                Place::Value(at) => {
                    let start = key.len() + 1;
                    (package, pattern.place(at.start + start..at.end + start), Some(key))
                }
            })
        });
        let by_address = || {
            let resolved = entry.resolved.as_ref()?;
            let (package, at) = address(file.wanted, &resolved.value)?;
            let key = entry.patterns.first().map(|pattern| name_of(&pattern.value).0);
            Some((package, resolved.place(at), key))
        };
        if let Some((package, place, alias)) = by_pattern.or_else(by_address) {
            found.push((index, package, place, alias));
        }
    }
    if found.is_empty() {
        return;
    }
    let mut graph = Graph::default();
    let mut indices: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in entries {
        let name = entry.patterns.first().map_or("", |pattern| name_of(&pattern.value).0);
        let index = graph.add(name);
        indices.extend(entry.patterns.iter().map(|pattern| (&*pattern.value, index)));
    }
    let mut needed = vec![false; entries.len()];
    for (from, entry) in entries.iter().enumerate() {
        for (name, range) in &entry.needs {
            if let Some(to) = indices.get(&*format!("{}@{}", name.value, range.value)) {
                graph.need(from, *to);
                needed[*to] = true;
            }
        }
    }
    // The lock does not say what the project asks for; it is what nothing else needs.
    for (index, _) in needed.iter().enumerate().filter(|(_, needed)| !**needed) {
        graph.ask(index, None);
    }
    for (index, package, place, alias) in found {
        let via = match (graph.via_unless(sink.is_full(), index), alias) {
            (None, Some(alias)) => Some(Via::Alias(alias.to_owned())),
            (via, _) => via,
        };
        sink.mention(package, How::Locked, text, place, via);
    }
}

struct Berry<'f> {
    file: &'f File<'f>,
    text: &'f str,
    document: &'f Document<'f>,
}

impl Berry<'_> {
    fn read(&self, sink: &mut Sink) {
        let document = self.document;
        let entries: Vec<_> = Document::entries(&document.root)
            .filter(|(key, _)| key.as_str() != Some("__metadata"))
            .collect();
        let mut found: Vec<(usize, &Package, Range<usize>, Option<String>)> = Vec::new();
        for (index, (key, entry)) in entries.iter().enumerate() {
            let resolution = entry.get("resolution").map(|entry| &entry.value);
            let named = resolution.unwrap_or(key);
            let text = document.scalar(named);
            // The keys of a lock without resolutions are `name@range, name@range`.
            let (name, versioned) = name_of(text);
            let asked = if versioned { &text[name.len() + 1..] } else { "" };
            // A workspace is the project's own.
            if asked.starts_with("workspace:") {
                continue;
            }
            let asked = asked.split(", ").next().unwrap_or(asked);
            let Some((package, place)) = dependency(self.file.wanted, name, asked) else {
                continue;
            };
            let place = match place {
                Place::Key => document.place(named, 0..name.len()),
                Place::Value(at) => {
                    let start = name.len() + 1;
                    document.place(named, at.start + start..at.end + start)
                }
            };
            let under = name_of(document.scalar(key)).0;
            let alias = (under != package.name).then(|| under.to_owned());
            found.push((index, package, place, alias));
        }
        if found.is_empty() {
            return;
        }
        let graph = self.graph(&entries);
        for (index, package, place, alias) in found {
            let via = match (graph.via_unless(sink.is_full(), index), alias) {
                (None | Some(Via::List(_)), Some(alias)) => Some(Via::Alias(alias)),
                (via, _) => via,
            };
            sink.mention(package, How::Locked, self.text, place, via);
        }
    }

    fn graph(&self, entries: &[(&oz0_yaml::Node, &oz0_yaml::Node)]) -> Graph {
        let document = self.document;
        let mut graph = Graph::default();
        let mut indices: BTreeMap<&str, usize> = BTreeMap::new();
        for (key, _) in entries {
            let key = document.scalar(key);
            let index = graph.add(name_of(key).0);
            indices.extend(key.split(", ").map(|descriptor| (descriptor, index)));
        }
        for (from, (key, entry)) in entries.iter().enumerate() {
            let is_project = document.scalar(key).contains("@workspace:");
            for list in ["dependencies", "optionalDependencies"] {
                for (name, range) in Document::of(entry, list) {
                    let (name, range) = (document.scalar(name), document.scalar(range));
                    // Older locks leave the `npm:` out.
                    let descriptors = [format!("{name}@{range}"), format!("{name}@npm:{range}")];
                    let to = descriptors.iter().find_map(|one| indices.get(one.as_str()));
                    match to {
                        Some(to) if is_project => graph.ask(*to, Some(list.to_owned())),
                        Some(to) => graph.need(from, *to),
                        None => {}
                    }
                }
            }
        }
        graph
    }
}
