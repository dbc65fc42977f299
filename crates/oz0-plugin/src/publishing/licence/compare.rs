//! One text held against a file's words, from a place on.

use super::text::Text;

/// A licence or an exception that `license:` names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) name: &'static str,
    /// Its words, without notices.
    pattern: Vec<Part>,
    /// How many parts of it are its title, which a file may leave out.
    title: usize,
    /// From where on it may be left out: what tells how to apply it.
    end: usize,
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Word(String),
    /// The holders, who have a name in each file: the words as SPDX has them, or up to [`HOLDER`] of a name.
    Holder(Vec<String>),
}

/// The most words of a holder's name inside a text.
const HOLDER: usize = 12;

/// Where a text names its holders: what stands before, and what after.
const HOLDERS: [(&[&str], &[&str]); 4] = [
    (&["the", "name", "of"], &["nor", "the", "names"]),
    (&["provided", "by"], &["as", "is"]),
    (&["event", "shall"], &["be", "liable"]),
    (&["as", "is", "and"], &["disclaims"]),
];

/// Marks from which on a text only tells how to apply it.
const ENDS: [&[&str]; 2] =
    [&["end", "of", "terms", "and", "conditions"], &["how", "to", "apply", "these", "terms"]];

/// Words that titles have beside the licence's own name.
const TITLE: [&str; 12] = [
    "the",
    "license",
    "version",
    "v",
    "software",
    "text",
    "of",
    "agreement",
    "source",
    "code",
    "and",
    "spdx",
];

/// How a comparison ended.
#[derive(Debug)]
pub(super) enum Rest {
    /// The whole text is there.
    Whole,
    /// Words up to this one stand in between, or behind the end.
    Added(usize),
    /// These words are missing.
    Missing(String),
    /// The words go on in another way: these were expected.
    Changed(String),
}

impl Rest {
    pub(super) fn is_whole(&self) -> bool {
        matches!(self, Self::Whole)
    }
}

impl Candidate {
    pub(super) fn new(name: &'static str, text: &str) -> Self {
        let words = Text::of(text).without_notices();
        let own: Vec<String> = name_words(name);
        let mut title = 0;
        // Lines of the title only, with their numbers and addresses.
        while title < words.len() {
            let line = words.line(title);
            let is_title = line.len() <= 12
                && line.iter().all(|word| {
                    let word = word.text.as_str();
                    own.iter().any(|one| one == word)
                        || TITLE.contains(&word)
                        || word.chars().all(|c| c.is_ascii_digit())
                });
            if !is_title {
                break;
            }
            title += line.len();
        }
        let all: Vec<&str> = (0..words.len()).filter_map(|at| words.word(at)).collect();
        let mut end = all.len();
        for mark in ENDS {
            if let Some(at) = all.windows(mark.len()).position(|window| window == mark) {
                // In the GPL the mark is the first of the two, in Apache's the only one.
                end = end.min(at);
            }
        }
        // A mark at the very beginning is the text's own heading.
        if end <= title + super::MEANT {
            end = all.len();
        }
        let mut pattern: Vec<Part> = Vec::new();
        let mut at = 0;
        let (mut part_title, mut part_end) = (title, None);
        while at < all.len() {
            if at == title {
                part_title = pattern.len();
            }
            if at == end {
                part_end = Some(pattern.len());
            }
            match holder(&all, at) {
                Some(len) => {
                    let holder = all[at..at + len].iter().map(|word| (*word).to_owned()).collect();
                    pattern.push(Part::Holder(holder));
                    at += len;
                }
                None => {
                    pattern.push(Part::Word(all[at].to_owned()));
                    at += 1;
                }
            }
        }
        let end = part_end.unwrap_or(pattern.len());
        Self { name, pattern, title: part_title, end }
    }
}

/// The words of a licence's identifier and full name.
fn name_words(name: &str) -> Vec<String> {
    let full = spdx::license_id(name).map_or("", |id| id.full_name);
    let text = Text::of(&format!("x {name} {full}"));
    let mut words: Vec<String> =
        (0..text.len()).filter_map(|at| text.word(at)).map(str::to_owned).collect();
    // Some are called otherwise than by their names.
    for (id, others) in [
        ("MIT", "expat"),
        ("BSD", "new revised simplified modified clause"),
        ("Apache", "january http www apache org licenses"),
    ] {
        if name.starts_with(id) {
            words.extend(others.split(' ').map(str::to_owned));
        }
    }
    words
}

/// How many words at `at` name the holders.
fn holder(words: &[&str], at: usize) -> Option<usize> {
    HOLDERS.iter().find_map(|(before, after)| {
        if !words[..at].ends_with(before) {
            return None;
        }
        (1..=8).find(|len| words.get(at + len..).is_some_and(|rest| rest.starts_with(after)))
    })
}

/// Compares the file's words from `from` on with a text, and says up to which word they agree.
pub(super) fn compare(words: &Text, from: usize, candidate: &Candidate) -> (usize, Rest) {
    let start = skip_titles(words, from, candidate);
    let whole = follow(words, from, candidate, 0);
    let bare = follow(words, start, candidate, candidate.title);
    if (whole.1.is_whole(), whole.0) >= (bare.1.is_whole(), bare.0) { whole } else { bare }
}

/// Passes over lines that are the licence's title, and notices.
fn skip_titles(words: &Text, from: usize, candidate: &Candidate) -> usize {
    let own = name_words(candidate.name);
    let titled: Vec<&str> = candidate.pattern[..candidate.title]
        .iter()
        .filter_map(|part| match part {
            Part::Word(word) => Some(word.as_str()),
            Part::Holder(_) => None,
        })
        .collect();
    let mut at = from;
    loop {
        let next = words.skip_notices(at);
        let line = words.line(next);
        let is_title = !line.is_empty()
            && words.starts_line(next)
            && line.len() <= 12
            && line.iter().all(|word| {
                let word = word.text.as_str();
                own.iter().any(|one| one == word)
                    || titled.contains(&word)
                    || TITLE.contains(&word)
                    || word.chars().all(|c| c.is_ascii_digit())
            });
        if !is_title {
            return next;
        }
        at = next + line.len();
    }
}

/// So many notices begin with the very word that the text goes on with, and are tried both ways.
const CHOICES: usize = 64;

fn follow(words: &Text, from: usize, candidate: &Candidate, begin: usize) -> (usize, Rest) {
    let (mut at, mut part) = (from, begin);
    // Where a line could have been passed over as a notice, and was taken for the text's own words.
    let mut choices: Vec<(usize, usize)> = Vec::new();
    let mut made = 0;
    // The comparison that went furthest, to report.
    let mut furthest: Option<(usize, usize)> = None;
    while let Some(expected) = candidate.pattern.get(part) {
        let taken = match expected {
            Part::Word(word) => usize::from(words.word(at) == Some(word)),
            Part::Holder(usual) => {
                holder_len(words, at, usual, candidate.pattern.get(part + 1)).unwrap_or(0)
            }
        };
        if taken > 0 {
            let next = words.skip_notices(at);
            if next > at && made < CHOICES {
                choices.push((next, part));
                made += 1;
            }
            at += taken;
            part += 1;
            continue;
        }
        let next = words.skip_notices(at);
        if next > at {
            at = next;
            continue;
        }
        if part >= candidate.end {
            break;
        }
        if furthest.is_none_or(|(known, _)| at > known) {
            furthest = Some((at, part));
        }
        match choices.pop() {
            Some(choice) => (at, part) = choice,
            None => {
                let (at, part) = furthest.unwrap_or((at, part));
                return (at, difference(words, at, &candidate.pattern[part..]));
            }
        }
    }
    (at, Rest::Whole)
}

/// How many words are the holders' name: the usual ones, or a name up to the next word of the text.
fn holder_len(words: &Text, at: usize, usual: &[String], next: Option<&Part>) -> Option<usize> {
    let is_usual = usual
        .iter()
        .enumerate()
        .all(|(offset, word)| words.word(at + offset) == Some(word.as_str()));
    if is_usual {
        return Some(usual.len());
    }
    let Some(Part::Word(next)) = next else { return None };
    (1..=HOLDER)
        .take_while(|len| words.word(at + len - 1).is_some_and(|word| !super::text::is_term(word)))
        .find(|len| words.word(at + len) == Some(next))
}

/// So many words in a row say where two texts meet again.
const MEET: usize = 4;

fn difference(words: &Text, at: usize, pattern: &[Part]) -> Rest {
    let expected: Vec<&str> = pattern
        .iter()
        .flat_map(|part| match part {
            Part::Word(word) => vec![word.as_str()],
            Part::Holder(words) => words.iter().map(String::as_str).collect(),
        })
        .take(400)
        .collect();
    let meets = |at: usize, expected: &[&str]| {
        let some = expected.len().min(MEET);
        some > 0 && (0..some).all(|offset| words.word(at + offset) == Some(expected[offset]))
    };
    if words.word(at).is_none() {
        return Rest::Missing(shown(&expected));
    }
    for distance in 1..400 {
        if at + distance < words.len() && meets(at + distance, &expected) {
            return Rest::Added(at + distance);
        }
        if let Some(later) = expected.get(distance..)
            && later.len() >= MEET
            && meets(at, later)
        {
            return Rest::Missing(shown(&expected[..distance]));
        }
    }
    Rest::Changed(shown(&expected))
}

fn shown(words: &[&str]) -> String {
    let more = if words.len() > 6 { " …" } else { "" };
    format!("{}{more}", words[..words.len().min(6)].join(" "))
}
