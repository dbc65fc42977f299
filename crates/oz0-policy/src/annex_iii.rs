//! Words that point at an area of the AI Act's Annex III.
//!
//! A system's class turns on what it is meant for, which no list of words can tell. So what is found here is a question to
//! a person, and never a classification. Plain software says *recruit*, *border*, *candidate* and *election* all day: the
//! data file has the phrases that point at an area, and beside them the phrases that only look alike.

use std::ops::Range;
use std::sync::LazyLock;

use serde::Deserialize;

/// How many words `...` may stand for.
const GAP: usize = 3;

/// An area of Annex III.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Area {
    /// Its point in the annex, from 1 to 8.
    pub number: u8,
    /// Its name, as a noun phrase without an article.
    pub name: &'static str,
    phrases: Vec<Phrase>,
    look_alikes: Vec<Phrase>,
}

/// Words of a text that point at an area.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// The area.
    pub area: &'static Area,
    /// The words, as bytes of the text.
    pub range: Range<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File<'t> {
    /// Where the words are known from.
    #[serde(borrow)]
    #[cfg_attr(not(test), expect(dead_code, reason = "for whoever reads the data file"))]
    sources: Vec<&'t str>,
    #[serde(borrow)]
    area: Vec<Row<'t>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row<'t> {
    number: u8,
    name: &'t str,
    phrases: Vec<&'t str>,
    look_alikes: Vec<&'t str>,
}

/// A phrase, as the words that a text must have.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Phrase(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Word(&'static str),
    Gap,
}

impl Phrase {
    fn read(text: &'static str) -> Self {
        let part = |word| if word == "..." { Part::Gap } else { Part::Word(word) };
        Self(text.split_whitespace().map(part).collect())
    }

    /// How many of `words`, from the first, the phrase takes.
    fn take(&self, words: &[Word]) -> Option<usize> {
        take(&self.0, words)
    }
}

fn take(parts: &[Part], words: &[Word]) -> Option<usize> {
    let Some((first, rest)) = parts.split_first() else { return Some(0) };
    match first {
        Part::Word(word) => {
            words.first().filter(|found| found.is(word))?;
            take(rest, &words[1..]).map(|taken| taken + 1)
        }
        Part::Gap => (0..=GAP.min(words.len()))
            .find_map(|skipped| take(rest, &words[skipped..]).map(|taken| taken + skipped)),
    }
}

/// A word of a text, in lower case.
struct Word {
    text: String,
    range: Range<usize>,
}

impl Word {
    /// Whether it is this word, or its plural.
    fn is(&self, word: &str) -> bool {
        let Some(end) = self.text.strip_prefix(word) else {
            return word
                .strip_suffix('y')
                .is_some_and(|stem| self.text.strip_prefix(stem).is_some_and(|end| end == "ies"));
        };
        matches!(end, "" | "s" | "es")
    }
}

fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_alphanumeric() || c == '_', start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push(Word { text: text[from..at].to_lowercase(), range: from..at });
                start = None;
            }
            _ => {}
        }
    }
    // `workers'` and `student's` are the words without their marks.
    words.retain(|word| word.text != "s");
    words
}

/// The data file.
const TEXT: &str = include_str!("../data/annex-iii.toml");

static AREAS: LazyLock<Vec<Area>> = LazyLock::new(|| {
    let file: File<'static> = toml::from_str(TEXT).expect("a test reads the data file");
    let phrases = |texts: Vec<&'static str>| texts.into_iter().map(Phrase::read).collect();
    file.area
        .into_iter()
        .map(|row| Area {
            number: row.number,
            name: row.name,
            phrases: phrases(row.phrases),
            look_alikes: phrases(row.look_alikes),
        })
        .collect()
});

/// The areas, in the annex's order.
pub fn areas() -> &'static [Area] {
    &AREAS
}

/// The words of a text that point at an area, by area and then in the order of the text. Of mentions of one area that
/// overlap, the one that begins first stands, and of those the longest. Takes time in the length of the text.
pub fn mentions(text: &str) -> Vec<Mention> {
    let words = words(text);
    let mut mentions = Vec::new();
    for area in areas() {
        let longest = |phrases: &[Phrase], at: usize| {
            phrases.iter().filter_map(|phrase| phrase.take(&words[at..])).max()
        };
        // How far the look-alikes reach that begin at a word or before it.
        let mut reach = 0;
        let reaches: Vec<usize> = (0..words.len())
            .map(|at| {
                reach = reach.max(longest(&area.look_alikes, at).map_or(0, |taken| at + taken));
                reach
            })
            .collect();
        let mut at = 0;
        while at < words.len() {
            let Some(taken) = longest(&area.phrases, at) else {
                at += 1;
                continue;
            };
            let found = at..at + taken;
            if found.end <= reaches[found.start] {
                at += 1;
                continue;
            }
            let range = words[found.start].range.start..words[found.end - 1].range.end;
            mentions.push(Mention { area, range });
            at = found.end;
        }
    }
    mentions
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_areas_are_the_annexs_eight_in_its_order() {
        let numbers: Vec<u8> = areas().iter().map(|area| area.number).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn each_phrase_stands_there_once_and_begins_and_ends_with_a_word() {
        let file: File<'_> = toml::from_str(TEXT).unwrap();
        assert!(!file.sources.is_empty());
        for row in &file.area {
            let mut seen = BTreeSet::new();
            for phrase in row.phrases.iter().chain(&row.look_alikes) {
                assert!(seen.insert(phrase), "{phrase} stands there twice");
                assert!(!phrase.starts_with("...") && !phrase.ends_with("..."), "{phrase}");
                assert_eq!(*phrase, phrase.to_lowercase());
                let words = words(&phrase.replace("...", " "));
                assert!(
                    !words.is_empty() && words.iter().all(|word| phrase.contains(&word.text)),
                    "{phrase}"
                );
            }
        }
    }
}
